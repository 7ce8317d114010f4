//! Servers for tests of load generators: what they do is known, counted, and decided by a seed.
//!
//! A [`Target`] is started from a [`Spec`] and listens at once, on its own threads. Seven kinds:
//! `hello` answers as fast as it can, `delay` after a known time, `bytes` with a body of any size,
//! `faulty` breaks the protocol as its [`Fault`] says, `chat` streams answers as chat APIs do, `grpc` and
//! `ws` send the messages of calls and of WebSocket back.
//!
//! A test sends a load to a target, and compares the counts of the client with the [`TargetCounts`], and
//! its latencies with the log of the target. A target is no web server: it has no routes (`chat` has those
//! of its API), treats all methods alike (`HEAD` without the body), sends no `Date`, and writes a log only
//! if it has a path.
//!
//! ```
//! use std::io::{Read, Write};
//! use targets::{HelloSpec, Spec, Target};
//!
//! # fn main() -> std::io::Result<()> {
//! let target = Target::start(Spec::Hello(HelloSpec::default()))?;
//! let mut stream = std::net::TcpStream::connect(target.addr())?;
//! stream.write_all(b"GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n")?;
//! let mut answer = String::new();
//! stream.read_to_string(&mut answer)?;
//! assert!(answer.ends_with("\r\n\r\nHello world"));
//! target.stop()?;
//! assert_eq!(target.counts().answered, 1);
//! # Ok(())
//! # }
//! ```

mod alarm;
mod blackhole;
mod body;
mod bytes;
mod chat;
mod clock;
mod counted;
mod counts;
mod defect;
mod delay;
mod delayed;
mod fault;
mod faulty;
mod frames;
mod grpc;
mod grpc_script;
mod hello;
mod http;
mod http2_faulty;
mod http2_script;
mod listener;
mod luck;
mod peer;
mod places;
mod race;
mod random;
mod reflection;
mod request;
mod script;
mod settings;
mod spec;
mod step;
mod target;
mod truth;
mod websocket;
mod websocket_faulty;
mod websocket_script;

pub use chat::{AnswerLength, Chance, ChatDialect, ChatSpec};
pub use counts::TargetCounts;
pub use defect::Defect;
pub use delay::Delay;
pub use fault::{Fault, FaultVersion};
pub use settings::SpecError;
pub use spec::{BytesSpec, DelaySpec, FaultySpec, GrpcSpec, HelloSpec, Spec, WsSpec};
pub use target::{Target, serve_shared};
