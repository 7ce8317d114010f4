//! Deadlines in a heap. Cancelling is the caller's: a stale timer fires and is ignored.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::Nanos;

/// Timers that each carry a `T`; equal deadlines fire in the order of `T`.
#[derive(Debug)]
pub struct Timers<T: Ord> {
    heap: BinaryHeap<Reverse<(Nanos, T)>>,
}

impl<T: Ord> Default for Timers<T> {
    fn default() -> Self {
        Self { heap: BinaryHeap::new() }
    }
}

impl<T: Ord> Timers<T> {
    /// Fires `what` at `at`.
    pub fn set(&mut self, at: Nanos, what: T) {
        self.heap.push(Reverse((at, what)));
    }

    /// When the next timer fires.
    #[must_use]
    pub fn next_at(&self) -> Option<Nanos> {
        self.heap.peek().map(|Reverse((at, _))| *at)
    }

    /// Takes one timer whose time has come, with that time.
    pub fn pop_due(&mut self, now: Nanos) -> Option<(Nanos, T)> {
        if self.next_at()? > now {
            return None;
        }
        self.heap.pop().map(|Reverse(timer)| timer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fires_in_order_and_never_early() {
        let mut timers = Timers::default();
        for at in [30, 10, 20] {
            timers.set(at, at);
        }
        assert_eq!(timers.pop_due(9), None);
        assert_eq!(timers.next_at(), Some(10));
        assert_eq!(
            [timers.pop_due(20), timers.pop_due(20), timers.pop_due(20)],
            [Some((10, 10)), Some((20, 20)), None]
        );
    }
}
