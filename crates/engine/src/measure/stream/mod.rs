//! Answers that stream: their counts and durations.

mod alias;
mod counted;
mod definitions;
mod json;
mod tally;

pub(crate) use alias::chunks_of;
pub use counted::Counted;
pub(crate) use json::stream_json;
pub use tally::{StreamTally, Timed, Times};
