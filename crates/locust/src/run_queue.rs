//! Readings of the time that a thread has waited in the run queue of the kernel.
//!
//! Lag that other processes caused by using the core does not count against the generator, so this
//! wait is subtracted. A wait cannot be located more exactly than between two readings.

use std::collections::VecDeque;

use net::Nanos;

/// The maximum number of readings, and their minimum distance: together half a second.
const MAX_READINGS: usize = 512;
const MIN_DISTANCE_NS: Nanos = 1_000_000;

/// Cumulative waits of a thread, with the times of the readings.
#[derive(Debug, Default)]
pub(super) struct RunQueue {
    readings: VecDeque<(Nanos, Nanos)>,
}

impl RunQueue {
    /// Returns whether the last reading is recent enough for `now`.
    pub(super) fn is_fresh(&self, now: Nanos) -> bool {
        self.readings.back().is_some_and(|(at, _)| now < at.saturating_add(MIN_DISTANCE_NS))
    }

    /// Adds a reading: until `now` the thread has waited for `waited` in total.
    pub(super) fn add_reading(&mut self, now: Nanos, waited: Nanos) {
        if self.readings.len() >= MAX_READINGS {
            self.readings.pop_front();
        }
        self.readings.push_back((now, waited));
    }

    /// Returns the time from `from` to `to` without the waits for a core.
    pub(super) fn without_waits(&self, from: Nanos, to: Nanos) -> Nanos {
        to.saturating_sub(from).saturating_sub(self.wait_between(from, to))
    }

    fn wait_between(&self, from: Nanos, to: Nanos) -> Nanos {
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

    fn read(readings: &[(Nanos, Nanos)]) -> RunQueue {
        let mut run_queue = RunQueue::default();
        readings.iter().for_each(|(at, waited)| run_queue.add_reading(*at, *waited));
        run_queue
    }

    #[test]
    fn a_wait_for_the_core_is_left_out_of_what_it_made_late() {
        let run_queue = read(&[(10, 100), (20, 103), (30, 110)]);
        let table = [
            ((20, 29), 2),
            ((22, 30), 1),
            ((10, 20), 7),
            ((10, 30), 10),
            ((25, 28), 0),
            ((40, 49), 9),
        ];
        for ((from, to), own) in table {
            assert_eq!(run_queue.without_waits(from, to), own, "{from} to {to}");
        }
    }

    #[test]
    fn where_nothing_was_read_all_of_it_is_own() {
        assert_eq!(RunQueue::default().without_waits(5, 9), 4);
        assert_eq!(read(&[(1, 7)]).without_waits(5, 9), 4);
    }

    #[test]
    fn old_readings_are_forgotten() {
        let mut run_queue = RunQueue::default();
        (0..2_000).for_each(|at| run_queue.add_reading(at, at));
        assert_eq!(run_queue.readings.len(), MAX_READINGS);
        assert_eq!(run_queue.readings.front(), Some(&(1_488, 1_488)));
        assert!(
            run_queue.is_fresh(1_999 + MIN_DISTANCE_NS - 1)
                && !run_queue.is_fresh(1_999 + MIN_DISTANCE_NS)
        );
    }
}
