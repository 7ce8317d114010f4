//! The queue before the places of a target. The start of a request is decided on its arrival, in planned
//! time.
//!
//! The start follows from the *planned* ends of earlier requests, so that the lateness of a timer does not
//! add up along the queue: this is the first-come-first-served queue of theory. The work for a client that
//! has closed its connection is done, as by servers whose handlers do not check their connection.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// At most `capacity` requests are served at any planned time.
#[derive(Debug)]
pub(crate) struct Places {
    capacity: usize,
    /// For each occupied place, when it becomes free; the earliest on top.
    free_at_ns: BinaryHeap<Reverse<u64>>,
}

impl Places {
    pub(crate) fn new(capacity: usize) -> Self {
        Places { capacity, free_at_ns: BinaryHeap::new() }
    }

    /// Reserves a place for a request received at `received_ns` that takes `delay_ns`; returns when
    /// it starts.
    pub(crate) fn book(&mut self, received_ns: u64, delay_ns: u64) -> u64 {
        let start_ns = self.next_free_ns().max(received_ns);
        self.free_at_ns.push(Reverse(start_ns + delay_ns));
        start_ns
    }

    fn next_free_ns(&mut self) -> u64 {
        if self.free_at_ns.len() < self.capacity {
            return 0;
        }
        self.free_at_ns.pop().map_or(0, |Reverse(free_at_ns)| free_at_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn books_by_the_table() {
        type Row = (u64, u64, u64); // received, delay, start
        let tables: [(usize, &[Row]); 4] = [
            (1, &[(10, 5, 10), (11, 5, 15), (12, 5, 20), (40, 5, 40)]),
            (2, &[(0, 10, 0), (1, 4, 1), (2, 10, 5), (3, 1, 10), (4, 1, 11)]),
            (3, &[(0, 9, 0), (0, 9, 0), (0, 9, 0), (0, 9, 9), (20, 9, 20)]),
            (1, &[(5, 0, 5), (5, 0, 5), (6, 1, 6), (6, 1, 7)]),
        ];
        for (capacity, rows) in tables {
            let mut places = Places::new(capacity);
            for &(received, delay, start) in rows {
                assert_eq!(places.book(received, delay), start, "{capacity} {received} {delay}");
            }
        }
    }
}
