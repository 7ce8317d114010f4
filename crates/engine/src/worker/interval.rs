//! The interval that a worker records.

use net::Nanos;

/// Start and number of the current interval.
pub(super) struct IntervalClock {
    length: Nanos,
    start: Nanos,
    number: u64,
}

impl IntervalClock {
    pub(super) fn new(length: Nanos, start: Nanos) -> Self {
        Self { length, start, number: 0 }
    }

    pub(super) fn length(&self) -> Nanos {
        self.length
    }

    pub(super) fn start(&self) -> Nanos {
        self.start
    }

    pub(super) fn end(&self) -> Nanos {
        self.start + self.length
    }

    pub(super) fn number(&self) -> u64 {
        self.number
    }

    pub(super) fn advance(&mut self) {
        self.start += self.length;
        self.number += 1;
    }
}
