//! `Counts`: counts for Locust's statistics until these are read.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use locust::Count;
use pyo3::prelude::*;

/// One entry: requests; sum, minimum and maximum of response times; length, last, buckets, seconds.
type Taken = (u64, f64, f64, f64, u64, f64, BTreeMap<u64, u64>, BTreeMap<u64, u64>);

/// Counts of entries, by their number.
#[pyclass(frozen)]
pub(crate) struct Counts {
    entries: Mutex<Entries>,
}

#[derive(Default)]
struct Entries {
    counts: Vec<Count>,
    has_some: bool,
}

impl Counts {
    fn lock(&self) -> MutexGuard<'_, Entries> {
        // Counts are consistent even after a panic.
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl Counts {
    #[new]
    fn new() -> Self {
        Self { entries: Mutex::default() }
    }

    /// Counts a request under a number.
    fn add(&self, number: usize, milliseconds: f64, length: u64) {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        let mut entries = self.lock();
        if entries.counts.len() <= number {
            entries.counts.resize_with(number + 1, Count::default);
        }
        entries.has_some = true;
        entries.counts[number].add(milliseconds, length, now.map_or(0.0, |now| now.as_secs_f64()));
    }

    /// Returns whether requests were counted since the last `take`.
    fn has_some(&self) -> bool {
        self.lock().has_some
    }

    /// Removes and returns the counts, by number.
    fn take(&self) -> Vec<(usize, Taken)> {
        let mut entries = self.lock();
        entries.has_some = false;
        let counted = entries.counts.iter_mut().enumerate().filter(|(_, count)| count.requests > 0);
        counted
            .map(|(number, count)| {
                let Count { requests, sum, min, max, length, last, buckets, seconds } =
                    std::mem::take(count);
                (number, (requests, sum, min, max, length, last, buckets, seconds))
            })
            .collect()
    }
}
