//! Counts for Locust's statistics, until these are read.
//!
//! They are those of its `StatsEntry`: sums, extremes, and response times in its buckets.

use std::collections::BTreeMap;

/// The counts of one entry since the last `take`.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Count {
    /// The number of requests.
    pub requests: u64,
    /// The sum of response times in milliseconds.
    pub sum: f64,
    /// The shortest response time in milliseconds.
    pub min: f64,
    /// The longest response time in milliseconds.
    pub max: f64,
    /// The sum of response lengths in bytes.
    pub length: u64,
    /// When the last request was counted, in seconds since the epoch.
    pub last: f64,
    /// Requests by bucket of their response time, in milliseconds.
    pub buckets: BTreeMap<u64, u64>,
    /// Requests by the second in which they were counted.
    pub seconds: BTreeMap<u64, u64>,
}

impl Count {
    /// Counts a request.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // Times are not negative.
    pub(super) fn add(&mut self, milliseconds: f64, length: u64, now: f64) {
        if self.requests == 0 || milliseconds < self.min {
            self.min = milliseconds;
        }
        self.max = self.max.max(milliseconds);
        self.requests += 1;
        self.sum += milliseconds;
        self.length += length;
        self.last = now;
        *self.buckets.entry(bucket(milliseconds)).or_default() += 1;
        *self.seconds.entry(now as u64).or_default() += 1;
    }
}

/// The counts of all entries, by their number.
#[derive(Debug, Default)]
pub struct Counts {
    counts: Vec<Count>,
    has_some: bool,
}

impl Counts {
    /// Counts a request under a number.
    pub fn add(&mut self, number: usize, milliseconds: f64, length: u64, now: f64) {
        if self.counts.len() <= number {
            self.counts.resize_with(number + 1, Count::default);
        }
        self.has_some = true;
        self.counts[number].add(milliseconds, length, now);
    }

    /// Returns whether requests were counted since the last `take`.
    #[must_use]
    pub fn has_some(&self) -> bool {
        self.has_some
    }

    /// Removes and returns the counts, by number.
    pub fn take(&mut self) -> Vec<(usize, Count)> {
        self.has_some = false;
        let counted = self.counts.iter_mut().enumerate().filter(|(_, count)| count.requests > 0);
        counted.map(|(number, count)| (number, std::mem::take(count))).collect()
    }
}

/// Rounds a time to two digits, halves to even as Python does.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
fn bucket(milliseconds: f64) -> u64 {
    let step = match milliseconds {
        under if under < 100.0 => 1.0,
        under if under < 1_000.0 => 10.0,
        under if under < 10_000.0 => 100.0,
        _ => 1_000.0,
    };
    ((milliseconds / step).round_ties_even() * step) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_are_those_of_locust() {
        let table = [
            (0.4, 0),
            (0.5, 0),
            (1.5, 2),
            (99.49, 99),
            (99.6, 100),
            (145.0, 140),
            (155.0, 160),
            (147.0, 150),
            (999.0, 1000),
            (3_432.0, 3_400),
            (58_760.0, 59_000),
        ];
        for (time, expected) in table {
            assert_eq!(bucket(time), expected, "{time}");
        }
    }

    #[test]
    fn sums_and_extremes_are_those_of_what_was_counted() {
        let mut count = Count::default();
        for (time, now) in [(5.0, 10.1), (2.0, 10.9), (150.0, 11.0)] {
            count.add(time, 7, now);
        }
        assert_eq!((count.requests, count.min, count.max, count.sum), (3, 2.0, 150.0, 157.0));
        assert_eq!((count.length, count.last), (21, 11.0));
        assert_eq!(count.buckets, BTreeMap::from([(2, 1), (5, 1), (150, 1)]));
        assert_eq!(count.seconds, BTreeMap::from([(10, 2), (11, 1)]));
    }

    #[test]
    fn counts_are_taken_once_by_their_number() {
        let mut counts = Counts::default();
        assert!(!counts.has_some() && counts.take().is_empty());
        counts.add(3, 5.0, 7, 10.1);
        counts.add(1, 2.0, 1, 10.2);
        counts.add(3, 6.0, 7, 10.3);
        assert!(counts.has_some());
        let taken: Vec<_> = counts.take().iter().map(|(at, one)| (*at, one.requests)).collect();
        assert_eq!(taken, [(1, 1), (3, 2)]);
        assert!(!counts.has_some() && counts.take().is_empty());
    }
}
