//! Which requests to a faulty target have the fault: it follows from the seed and the request's number.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::{Fault, FaultySpec, random};

/// Decides which requests have the fault; shared by the threads of a target.
#[derive(Debug)]
pub(crate) struct Luck {
    fault: Fault,
    share: f64,
    seed: u64,
    number: AtomicU64,
}

impl Luck {
    pub(crate) fn new(spec: &FaultySpec) -> Self {
        let FaultySpec { fault, share, seed, .. } = *spec;
        Luck { fault, share, seed, number: AtomicU64::new(0) }
    }

    pub(crate) fn fault(&self) -> Fault {
        self.fault
    }

    /// Returns the number of the next request if it has the fault.
    pub(crate) fn next(&self) -> Option<u64> {
        let number = self.number.fetch_add(1, Relaxed);
        (random::unit(self.seed, 0, number) < self.share).then_some(number)
    }
}
