//! What servers of WebSocket sent without being asked.

/// Counts of one or more connections, for a part of their time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MessageCounts {
    /// Messages that are no answers.
    pub unmatched: u64,
    /// Pings.
    pub pings: u64,
}
