//! How much has come that the worker has not read yet: what a generator shows that is late in reading.
//!
//! Asking costs a system call a connection, so that only some are asked, others in each interval.

use client::Connection;
use net::Driver;

use super::connections::ConnectionEntry;

/// Connections that are asked in an interval.
const ASKED: usize = 16;

/// Bytes that wait in the receive queues of all connections, estimated from some of them.
pub(super) fn receive_queue_bytes<D: Driver>(
    driver: &D,
    connections: &[ConnectionEntry<D::Socket>],
    turn: u64,
) -> u64 {
    let stride = connections.len().div_ceil(ASKED).max(1);
    // The remainder is below a number of connections.
    let first = (turn % stride as u64) as usize;
    let unread = |entry: &ConnectionEntry<D::Socket>| {
        let connection = entry.connection.as_ref().filter(|connection| connection.is_connected());
        connection.map_or(0, |connection: &Connection<_>| connection.unread(driver))
    };
    let asked = connections.iter().skip(first).step_by(stride);
    let (count, bytes) = asked.fold((0, 0), |(count, sum), entry| (count + 1, sum + unread(entry)));
    bytes * connections.len() as u64 / u64::max(count, 1)
}
