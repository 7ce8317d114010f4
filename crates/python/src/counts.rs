//! `Counts`: counts for Locust's statistics until these are read.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use locust::Count;
use pyo3::prelude::*;

/// One entry: requests; sum, minimum and maximum of response times; length, last, buckets, seconds.
type Taken = (u64, f64, f64, f64, u64, f64, BTreeMap<u64, u64>, BTreeMap<u64, u64>);

/// Counts of entries, by their number.
#[pyclass(frozen, name = "Counts")]
pub(crate) struct PyCounts {
    counts: Mutex<locust::Counts>,
}

impl PyCounts {
    fn lock(&self) -> MutexGuard<'_, locust::Counts> {
        // Counts are consistent even after a panic.
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl PyCounts {
    #[new]
    fn new() -> Self {
        Self { counts: Mutex::default() }
    }

    /// Counts a request under a number.
    fn add(&self, number: usize, milliseconds: f64, length: u64) {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        let now = now.map_or(0.0, |now| now.as_secs_f64());
        self.lock().add(number, milliseconds, length, now);
    }

    /// Returns whether requests were counted since the last `take`.
    fn has_some(&self) -> bool {
        self.lock().has_some()
    }

    /// Removes and returns the counts, by number.
    fn take(&self) -> Vec<(usize, Taken)> {
        let counts = self.lock().take();
        counts
            .into_iter()
            .map(|(number, count)| {
                let Count { requests, sum, min, max, length, last, buckets, seconds } = count;
                (number, (requests, sum, min, max, length, last, buckets, seconds))
            })
            .collect()
    }
}
