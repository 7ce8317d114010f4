//! Rows that reach the workers while the load runs, such as those of a trace that memory cannot hold.
//!
//! A source gives rows in order. The feeder (`run/feeder.rs`) reads ahead as far as the workers have
//! room, and gives all rows of a session to the same worker.

mod inbox;
mod row;

pub use inbox::FeedInbox;
pub(crate) use inbox::{FeedBatch, FeedDemand, FeedLink, FeedSender, feed_channels};
pub use row::{FeedRow, RowSource};
