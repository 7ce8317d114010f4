//! One exchange over one connection: what is stamped, and in which one class it ends.
//!
//! Nothing here decides when to start or what to send; that is the engine's. Failures are values
//! ([`Reason`]), never errors that stop a run.

mod connection;
mod exchange;
mod outcome;
mod scratch;
mod stamps;
mod tunnel;
mod watch;

pub use connection::{Connection, Opening};
pub use exchange::{Exchange, Outline, Step};
pub use outcome::{Class, Outcome, Reason};
pub use scratch::Scratch;
pub use stamps::{Stamps, UNSET};
pub use tunnel::Tunnel;
pub use watch::{Gap, Joined, Seen, Watch};
