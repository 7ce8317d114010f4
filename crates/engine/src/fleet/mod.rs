//! A load of several processes: this one leads, light children fire.
//!
//! Each child gets its part of the plan and answers with what its workers report; here the reports
//! of all are merged as those of threads are. What passes between them is versioned bytes
//! ([`frame`], [`message`]), so that a child may one day live on another machine.

mod captain;
mod child;
mod frame;
#[cfg(feature = "fuzzing")]
pub(crate) mod fuzzing;
mod launch;
mod message;
mod news;
mod process;
mod rows;

pub(crate) use captain::{Preparing, crew_size};
pub use child::serve;
pub(crate) use message::Figures;
pub(crate) use news::{Inbox, Loss, News};
