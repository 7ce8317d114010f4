//! A row of a feed, and where rows come from.

use net::Nanos;
use serde::{Deserialize, Serialize};

/// The memory of a row beside its cells, about.
const ROW_BYTES: u64 = 256;

/// The values of one request, and when it may start.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FeedRow {
    /// Its number, by which later rows name it in `after`.
    pub number: u64,
    /// The number of its session: its rows are sent by one worker, and share captured values.
    pub session: u64,
    /// The rows that must have ended before it starts. A row that never came counts as ended.
    pub after: Vec<u64>,
    /// How many later rows name it in `after`, if that is known.
    pub followers: Option<u32>,
    /// When it is due, from the start of the window; without meaning if rows have no times.
    pub due_ns: Nanos,
    /// How long it waits after the last row of `after` has ended. If it names none, and rows have no
    /// times: after its session was opened.
    pub pause_ns: Nanos,
    /// The number of its request within the group.
    pub request: u16,
    /// A value for each column.
    pub cells: Vec<Box<str>>,
    /// The planned tokens of prompt and output; 0 if nothing is planned.
    pub tokens: [u64; 2],
}

impl FeedRow {
    /// Returns how long it waits after its session was opened; rows after others wait for these.
    pub(crate) fn pause_from_opening(&self) -> Nanos {
        if self.after.is_empty() { self.pause_ns } else { 0 }
    }

    /// Returns how much memory it takes, about.
    pub(crate) fn weight(&self) -> u64 {
        ROW_BYTES + self.cells.iter().map(|cell| cell.len() as u64).sum::<u64>()
    }
}

/// The origin of rows.
pub trait RowSource: Send {
    /// Returns the next rows, none at the end; the error says why they cannot be read.
    fn next(&mut self) -> Result<Vec<FeedRow>, String>;
}

impl<I: Iterator<Item = FeedRow> + Send> RowSource for I {
    fn next(&mut self) -> Result<Vec<FeedRow>, String> {
        Ok(Iterator::next(self).into_iter().collect())
    }
}
