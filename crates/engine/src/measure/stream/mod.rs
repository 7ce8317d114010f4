//! Answers that stream: what they add to the books.

mod alias;
mod counted;
mod json;
mod tally;

pub use counted::Counted;
pub(crate) use json::stream_json;
pub(crate) use tally::Times;
pub use tally::{StreamTally, Timed};
