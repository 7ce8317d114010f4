//! Sockets without a protocol: a driver that is epoll, and one that is a simulation.
//!
//! All code that depends on the platform is here; no other crate needs `unsafe` or `cfg`. Other crates
//! use time, readiness and bytes, and do not depend on the driver.

mod address;
mod alarm;
mod descriptor;
mod driver;
mod epoll;
mod layer;
mod limits;
mod listener;
mod punctual;
mod resolve;
mod simulated;
mod socket;
mod source_address;
mod timers;
mod tls;
mod tls_insecure;
mod tls_trust;
mod usage;

pub use address::Address;
pub use descriptor::tcp_stream_of;
pub use driver::{Driver, Ready};
pub use epoll::{Epoll, monotonic_ns};
pub use layer::{Layer, LayerError, LayerFault};
pub use limits::{allowed_cores, end_group, raise_descriptor_limit, return_large_memory};
pub use listener::listening_processes;
pub use punctual::{be_punctual, lower_priority};
pub use resolve::{is_own, resolve};
pub use simulated::{Act, Dial, Peer, Simulated, SimulatedSocket};
pub use source_address::SourceAddresses;
pub use timers::{Nanos, Timers};
pub use tls::{Alpn, TlsClient, TlsOptions};
pub use usage::{
    MachineUsage, ThreadMeter, ThreadUsage, cores_of, max_rss_bytes, process_cpu_ns, thread_cpu_ns,
    thread_times,
};
