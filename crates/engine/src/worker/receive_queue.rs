//! The number of unread bytes in the sockets of a worker, which grows if the worker reads late.
//!
//! It costs a system call per connection, so that each interval checks some of them, in turn.

use client::Connection;
use net::Driver;

use super::connections::ConnectionEntry;

/// The number of connections that are checked in an interval.
const CHECKED: usize = 16;

/// Returns the bytes in the receive queues of all connections, estimated from some of them.
pub(super) fn receive_queue_bytes<D: Driver>(
    driver: &D,
    connections: &[ConnectionEntry<D::Socket>],
    turn: u64,
) -> u64 {
    let stride = connections.len().div_ceil(CHECKED).max(1);
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
