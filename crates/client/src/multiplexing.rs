//! What connections with several exchanges did, and what their servers allow.

use net::Nanos;
use serde::{Deserialize, Serialize};

/// Counts of one or more connections, for a part of their time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Multiplexing {
    /// Writes that began at least one request.
    pub writes: u64,
    /// The requests that they began.
    pub requests: u64,
    /// The time in which a connection could not send what it had to send: its socket was full, or the
    /// server allowed it no more bytes.
    pub stalled_ns: Nanos,
    /// The time in which a connection was open.
    pub open_ns: Nanos,
    /// The size of the largest head of a request, as limits of heads count it.
    #[serde(default)]
    pub head_bytes: u64,
    /// The limits of the servers; none before a server has sent them.
    pub limits: Option<ServerLimits>,
}

/// The limits that servers set for a connection; of several connections, the lowest of each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerLimits {
    /// Streams that may be open at once; none if there is no limit.
    pub streams: Option<u32>,
    /// Bytes of a body that may be sent on a stream before the server allows more.
    pub window_bytes: u32,
    /// The longest payload of a frame.
    pub frame_bytes: u32,
    /// The size of the table for header compression.
    pub header_table_bytes: u32,
    /// The largest head of a request; none if there is no limit.
    pub header_list_bytes: Option<u32>,
}

impl Multiplexing {
    /// Adds those of other connections, or of another time.
    pub fn merge(&mut self, other: &Self) {
        self.writes += other.writes;
        self.requests += other.requests;
        self.stalled_ns += other.stalled_ns;
        self.open_ns += other.open_ns;
        self.head_bytes = self.head_bytes.max(other.head_bytes);
        self.limits = match (self.limits, other.limits) {
            (Some(one), Some(two)) => Some(one.lowest(two)),
            (one, two) => one.or(two),
        };
    }
}

impl ServerLimits {
    fn lowest(self, other: Self) -> Self {
        let lowest = |one: Option<u32>, two: Option<u32>| one.into_iter().chain(two).min();
        Self {
            streams: lowest(self.streams, other.streams),
            window_bytes: self.window_bytes.min(other.window_bytes),
            frame_bytes: self.frame_bytes.min(other.frame_bytes),
            header_table_bytes: self.header_table_bytes.min(other.header_table_bytes),
            header_list_bytes: lowest(self.header_list_bytes, other.header_list_bytes),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_added_and_the_lowest_limits_remain() {
        let limits = ServerLimits {
            streams: None,
            window_bytes: 65_535,
            frame_bytes: 16_384,
            header_table_bytes: 4096,
            header_list_bytes: Some(100),
        };
        let mut sum = Multiplexing {
            writes: 1,
            requests: 2,
            stalled_ns: 3,
            open_ns: 4,
            head_bytes: 50,
            limits: None,
        };
        sum.merge(&Multiplexing { limits: Some(limits), ..sum });
        assert_eq!(sum.limits, Some(limits));
        let other =
            ServerLimits { streams: Some(8), window_bytes: 9, header_list_bytes: None, ..limits };
        sum.merge(&Multiplexing { limits: Some(other), ..Multiplexing::default() });
        let lowest = ServerLimits { streams: Some(8), window_bytes: 9, ..limits };
        let expected = Multiplexing {
            writes: 2,
            requests: 4,
            stalled_ns: 6,
            open_ns: 8,
            head_bytes: 50,
            limits: Some(lowest),
        };
        assert_eq!(sum, expected);
    }
}
