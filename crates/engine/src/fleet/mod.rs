//! A load of several processes: a parent and its children, which send the requests.
//!
//! Each child receives its part of the plan, and replies with the reports of its workers; the coordinator
//! merges them as it merges those of threads. The messages have a version ([`frame`], [`message`]).

mod child;
mod event;
mod frame;
#[cfg(feature = "fuzzing")]
pub(crate) mod fuzzing;
mod launch;
mod message;
mod parent;
mod process;
mod rows;

pub use child::serve;
pub(crate) use event::{FleetEvent, Inbox, Loss};
pub(crate) use message::Figures;
pub(crate) use parent::{PreparingFleet, worker_count};
