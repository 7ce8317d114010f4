//! Answers that stream: what is asked of them, whether they held, and what they add to the books.

mod json;
mod observer;
mod tally;

pub(crate) use json::stream_json;
pub(crate) use observer::{StreamObserver, seen};
pub use tally::{Counted, StreamTally, Timed};
