//! The requests of a group that wait for a connection.
//!
//! They leave in the order in which they were added. Of the requests with the same timeout, the first
//! that was added also times out first: with a queue for each timeout, no search is needed. A group has
//! few timeouts, mostly one.

use std::collections::VecDeque;

use net::Nanos;

use super::group::Attempt;

/// Requests in the order in which they were added, each with its number.
#[derive(Debug, Default)]
pub(super) struct WaitingQueue {
    queues: Vec<(Nanos, VecDeque<(u64, Attempt)>)>,
    /// The number of all requests that were added.
    added: u64,
}

impl WaitingQueue {
    /// Adds a request with a timeout; times never decrease.
    pub(super) fn push(&mut self, attempt: Attempt, timeout_ns: Nanos) {
        self.added += 1;
        let entry = (self.added, attempt);
        match self.queues.iter_mut().find(|(timeout, _)| *timeout == timeout_ns) {
            Some((_, queue)) => queue.push_back(entry),
            None => self.queues.push((timeout_ns, VecDeque::from([entry]))),
        }
    }

    /// Takes the request that was added first.
    pub(super) fn pop(&mut self) -> Option<Attempt> {
        self.pop_by(|number, _| number)
    }

    /// Takes the request that timed out first, if one has at `now`.
    pub(super) fn pop_late(&mut self, now: Nanos) -> Option<Attempt> {
        if self.next_timeout()? > now {
            return None;
        }
        self.pop_by(|_, attempt| attempt.timeout_at)
    }

    /// Returns when the next request times out.
    pub(super) fn next_timeout(&self) -> Option<Nanos> {
        let first = self.queues.iter().filter_map(|(_, queue)| queue.front());
        first.map(|(_, attempt)| attempt.timeout_at).min()
    }

    /// Returns all requests, in no particular order.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Attempt> {
        self.queues.iter().flat_map(|(_, queue)| queue).map(|(_, attempt)| attempt)
    }

    fn pop_by(&mut self, key: impl Fn(u64, &Attempt) -> u64) -> Option<Attempt> {
        let queues = self.queues.iter_mut().map(|(_, queue)| queue);
        let filled = queues.filter_map(|queue| {
            let (number, attempt) = queue.front()?;
            Some(((key(*number, attempt), *number), queue))
        });
        let (_, queue) = filled.min_by_key(|(key, _)| *key)?;
        queue.pop_front().map(|(_, attempt)| attempt)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prepare::variables::Draw;

    fn attempt(taken: Nanos, timeout_ns: Nanos) -> Attempt {
        Attempt {
            intended: taken,
            taken,
            timeout_at: taken + timeout_ns,
            measured: true,
            is_queued: true,
            request: 0,
            user: 0,
            draw: Draw::default(),
        }
    }

    fn filled() -> WaitingQueue {
        let mut waiting = WaitingQueue::default();
        for (taken, timeout_ns) in [(0, 50), (1, 10), (2, 50), (3, 10), (3, 50)] {
            waiting.push(attempt(taken, timeout_ns), timeout_ns);
        }
        waiting
    }

    #[test]
    fn requests_leave_in_the_order_in_which_they_were_added() {
        let mut waiting = filled();
        let taken = std::iter::from_fn(|| waiting.pop()).map(|attempt| attempt.taken);
        assert_eq!(taken.collect::<Vec<_>>(), [0, 1, 2, 3, 3]);
        assert_eq!((waiting.pop().is_none(), waiting.next_timeout()), (true, None));
    }

    #[test]
    fn requests_that_timed_out_leave_in_the_order_of_their_times() {
        let mut waiting = filled();
        assert_eq!(waiting.next_timeout(), Some(11));
        assert!(waiting.pop_late(10).is_none());
        let late = std::iter::from_fn(|| waiting.pop_late(52)).map(|attempt| attempt.timeout_at);
        assert_eq!(late.collect::<Vec<_>>(), [11, 13, 50, 52]);
        assert_eq!(waiting.iter().map(|attempt| attempt.timeout_at).collect::<Vec<_>>(), [53]);
        assert_eq!(waiting.next_timeout(), Some(53));
    }
}
