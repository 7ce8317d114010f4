//! What connections of WebSocket did beside the exchanges.

use client::MessageCounts;
use net::Nanos;
use serde::{Deserialize, Serialize};

use super::metric::Metric;

/// Counts of connections, for a part of their time.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct WebSocketTally {
    /// Received messages that answer none.
    pub unmatched_messages: u64,
    /// Received pings.
    pub pings: u64,
    /// Connections that the server ended.
    pub closed_by_server: u64,
    /// How long connections were open that have ended.
    pub lifetime: Metric,
}

impl WebSocketTally {
    /// Adds what servers sent without being asked.
    pub(crate) fn add_messages(&mut self, counts: MessageCounts) {
        self.unmatched_messages += counts.unmatched;
        self.pings += counts.pings;
    }

    /// Counts a connection that has ended.
    pub(crate) fn ended(&mut self, lifetime: Nanos, by_server: bool) {
        self.closed_by_server += u64::from(by_server);
        self.lifetime.record(lifetime);
    }

    /// Adds those of other connections, or of another time.
    pub fn merge(&mut self, other: &Self) {
        self.unmatched_messages += other.unmatched_messages;
        self.pings += other.pings;
        self.closed_by_server += other.closed_by_server;
        self.lifetime.merge(&other.lifetime);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_and_lifetimes_are_added() {
        let mut sum = WebSocketTally::default();
        sum.ended(20, true);
        sum.add_messages(MessageCounts { unmatched: 2, pings: 3 });
        let mut other = sum.clone();
        other.ended(40, false);
        sum.merge(&other);
        let WebSocketTally { unmatched_messages, pings, closed_by_server, lifetime } = &sum;
        assert_eq!((*unmatched_messages, *pings, *closed_by_server), (4, 6, 2));
        assert_eq!((lifetime.count(), lifetime.quantile(1.0)), (3, 40));
    }
}
