//! One exchange over one connection: what is stamped, and in which one class it ends.
//!
//! Nothing here decides when to start or what to send; that is the engine's, or a caller's of the
//! [`Reactor`]. Failures are values
//! ([`Reason`]), never errors that stop a run.

mod budget;
mod byte_channel;
mod chunks;
mod connection;
mod exchange;
mod exchange_sink;
mod outcome;
mod reactor;
mod scratch;
mod seen;
mod session;
mod stamps;
mod told;
mod tunnel;
mod watch;

pub use budget::{Budget, FREE_BYTES, WORKER_BYTES};
pub use byte_channel::Opening;
pub use chunks::Chunks;
pub use connection::{Connection, Step};
pub use exchange::{Exchange, Outline};
pub use outcome::{Class, Outcome, Reason};
pub use reactor::{
    Answer, Destination, ExchangeEvent, ExchangeId, ExchangeRequest, PoolId, Reactor, Timeouts,
};
pub use scratch::Scratch;
pub use seen::{Gap, Joined, Seen};
pub use session::{Ended, Protocol, Slots};
pub use stamps::{Stamps, UNSET};
pub use told::Told;
pub use tunnel::Tunnel;
pub use watch::Watch;
