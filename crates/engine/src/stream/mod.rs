//! Answers that stream: what is asked of them, whether they held, and what they add to the books.

mod alias;
mod counted;
mod json;
mod observer;
mod tally;

pub use counted::Counted;
pub(crate) use json::stream_json;
pub(crate) use observer::{StreamObserver, seen};
pub(crate) use tally::Times;
pub use tally::{StreamTally, Timed};
