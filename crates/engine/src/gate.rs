//! What all workers of a run must agree on: when the window starts, and whether to stop.
//!
//! Atomics that are read once a turn; nothing here is written while requests fly.

use std::sync::atomic::{AtomicU8, AtomicU32, AtomicU64, Ordering};

use net::Nanos;

/// The time between the last worker's readiness and the start, so that every worker sees it come.
const NOTICE_NS: Nanos = 10_000_000;

const STOP: u8 = 1;
const ABORT: u8 = 2;

/// The meeting point of the workers of one run.
#[derive(Debug)]
pub struct Gate {
    awaited: AtomicU32,
    start: AtomicU64,
    order: AtomicU8,
}

impl Gate {
    /// A gate that opens when so many workers have arrived.
    #[must_use]
    pub fn new(workers: u32) -> Self {
        Self {
            awaited: AtomicU32::new(workers),
            start: AtomicU64::new(Nanos::MAX),
            order: AtomicU8::new(0),
        }
    }

    /// A worker is ready; the last one sets the start.
    pub fn arrive(&self, now: Nanos) {
        if self.awaited.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.start.store(now + NOTICE_NS, Ordering::Release);
        }
    }

    /// When the measured window starts; `Nanos::MAX` while nobody knows.
    #[must_use]
    pub fn start(&self) -> Nanos {
        self.start.load(Ordering::Acquire)
    }

    /// Ends the window now and drains what is open.
    pub fn stop(&self) {
        self.order.fetch_max(STOP, Ordering::AcqRel);
    }

    /// Ends everything now.
    pub fn abort(&self) {
        self.order.fetch_max(ABORT, Ordering::AcqRel);
    }

    /// Whether the window shall end.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        self.order.load(Ordering::Relaxed) >= STOP
    }

    /// Whether everything shall end.
    #[must_use]
    pub fn is_aborted(&self) -> bool {
        self.order.load(Ordering::Relaxed) >= ABORT
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn opens_when_the_last_worker_has_arrived() {
        let gate = Gate::new(2);
        gate.arrive(100);
        assert_eq!(gate.start(), Nanos::MAX);
        gate.arrive(200);
        assert_eq!(gate.start(), 200 + NOTICE_NS);
    }

    #[test]
    fn an_abort_is_also_a_stop_and_is_not_taken_back() {
        let gate = Gate::new(1);
        gate.abort();
        gate.stop();
        assert!(gate.is_stopped() && gate.is_aborted());
    }
}
