//! How long a process had waited for a core, reading by reading.
//!
//! Whoever waits while others use the core is not late by its own fault: what is judged as
//! lateness leaves that wait out. Between two readings nothing is known, so that a wait may be
//! taken for one of a neighbour's that lay up to a reading before it.

use std::collections::VecDeque;

use net::Nanos;

/// Readings that are kept, and how far they are apart at least: together half a second.
const MOST: usize = 512;
const APART_NS: Nanos = 1_000_000;

/// What a thread had waited in all, with when that was read.
#[derive(Debug, Default)]
pub(super) struct Queue {
    readings: VecDeque<(Nanos, Nanos)>,
}

impl Queue {
    /// Whether the last reading still tells of `now`.
    pub(super) fn is_fresh(&self, now: Nanos) -> bool {
        self.readings.back().is_some_and(|(at, _)| now < at.saturating_add(APART_NS))
    }

    /// Notes that until `now` the thread had waited for so long.
    pub(super) fn note(&mut self, now: Nanos, waited: Nanos) {
        if self.readings.len() >= MOST {
            self.readings.pop_front();
        }
        self.readings.push_back((now, waited));
    }

    /// What is left of a time from `from` to `to` without the wait for a core.
    pub(super) fn without(&self, from: Nanos, to: Nanos) -> Nanos {
        to.saturating_sub(from).saturating_sub(self.between(from, to))
    }

    fn between(&self, from: Nanos, to: Nanos) -> Nanos {
        let after = self.readings.partition_point(|(at, _)| *at <= from);
        let first = self.readings.get(after.saturating_sub(1));
        let end = self.readings.partition_point(|(at, _)| *at < to);
        let last = self.readings.get(end).or(self.readings.back());
        first.zip(last).map_or(0, |((_, before), (_, then))| then.saturating_sub(*before))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(readings: &[(Nanos, Nanos)]) -> Queue {
        let mut queue = Queue::default();
        readings.iter().for_each(|(at, waited)| queue.note(*at, *waited));
        queue
    }

    #[test]
    fn a_wait_for_the_core_is_left_out_of_what_it_made_late() {
        let queue = read(&[(10, 100), (20, 103), (30, 110)]);
        let table = [
            ((20, 29), 2),
            ((22, 30), 1),
            ((10, 20), 7),
            ((10, 30), 10),
            ((25, 28), 0),
            ((40, 49), 9),
        ];
        for ((from, to), own) in table {
            assert_eq!(queue.without(from, to), own, "{from} to {to}");
        }
    }

    #[test]
    fn where_nothing_was_read_all_of_it_is_own() {
        assert_eq!(Queue::default().without(5, 9), 4);
        assert_eq!(read(&[(1, 7)]).without(5, 9), 4);
    }

    #[test]
    fn old_readings_are_forgotten() {
        let mut queue = Queue::default();
        (0..2_000).for_each(|at| queue.note(at, at));
        assert_eq!(queue.readings.len(), MOST);
        assert_eq!(queue.readings.front(), Some(&(1_488, 1_488)));
        assert!(queue.is_fresh(1_999 + APART_NS - 1) && !queue.is_fresh(1_999 + APART_NS));
    }
}
