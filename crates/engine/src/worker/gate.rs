//! The start of the window and the orders to stop, on which all workers of a run agree.
//!
//! Workers read atomics once in a turn, and nothing is written here during the window. The parent of
//! several processes waits for a condition variable until one of them changes.

use std::sync::atomic::{AtomicU8, AtomicU32, AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

use net::Nanos;

/// The time between the readiness of the last worker and the start, so that every worker notices it
/// before.
const NOTICE_NS: Nanos = 10_000_000;

const STOP: u8 = 1;
const ABORT: u8 = 2;

/// The common start and stop of the workers of one run.
#[derive(Debug)]
pub struct Gate {
    awaited: AtomicU32,
    start: AtomicU64,
    order: AtomicU8,
    /// Whether [`Gate::open`] sets the start, not the last worker.
    is_held: bool,
    lock: Mutex<()>,
    changed: Condvar,
}

impl Gate {
    /// Creates a gate that opens when so many workers are ready.
    #[must_use]
    pub fn new(workers: u32) -> Self {
        Self {
            awaited: AtomicU32::new(workers),
            start: AtomicU64::new(Nanos::MAX),
            order: AtomicU8::new(0),
            is_held: false,
            lock: Mutex::default(),
            changed: Condvar::new(),
        }
    }

    /// Creates a gate that opens with [`Gate::open`], not when all are ready.
    pub(crate) fn held(workers: u32) -> Self {
        Self { is_held: true, ..Self::new(workers) }
    }

    /// Takes note that a worker is ready; the last one sets the start.
    pub fn arrive(&self, now: Nanos) {
        if self.awaited.fetch_sub(1, Ordering::AcqRel) != 1 {
            return;
        }
        if self.is_held {
            self.notify();
        } else {
            self.open(now + NOTICE_NS);
        }
    }

    /// Sets the start.
    pub(crate) fn open(&self, start: Nanos) {
        self.start.store(start, Ordering::Release);
    }

    /// Returns whether all are ready.
    pub(crate) fn is_complete(&self) -> bool {
        self.awaited.load(Ordering::Acquire) == 0
    }

    /// Waits until a condition holds, which is checked after each change.
    pub(crate) fn wait_until(&self, holds: impl Fn(&Self) -> bool) {
        let guard = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
        drop(self.changed.wait_while(guard, |()| !holds(self)));
    }

    /// Does the same within a time limit; returns whether the condition holds.
    pub(crate) fn wait_at_most(&self, limit: Duration, holds: impl Fn(&Self) -> bool) -> bool {
        let guard = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
        drop(self.changed.wait_timeout_while(guard, limit, |()| !holds(self)));
        holds(self)
    }

    /// Wakes all threads that wait for a change.
    pub(crate) fn notify(&self) {
        // With the lock, no thread is between its check and its wait.
        let _guard = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
        self.changed.notify_all();
    }

    /// Returns when the measured window starts; `Nanos::MAX` while that is unknown.
    #[must_use]
    pub fn start(&self) -> Nanos {
        self.start.load(Ordering::Acquire)
    }

    /// Ends the window now; open exchanges are drained.
    pub fn stop(&self) {
        self.order.fetch_max(STOP, Ordering::AcqRel);
        self.notify();
    }

    /// Ends everything now.
    pub fn abort(&self) {
        self.order.fetch_max(ABORT, Ordering::AcqRel);
        self.notify();
    }

    /// Returns whether the window was ended.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        self.order.load(Ordering::Relaxed) >= STOP
    }

    /// Returns whether everything was ended.
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
    fn a_held_gate_opens_by_an_order_and_wakes_the_thread_that_waits_for_the_last_worker() {
        let gate = std::sync::Arc::new(Gate::held(1));
        let waiting = std::thread::spawn({
            let gate = std::sync::Arc::clone(&gate);
            move || gate.wait_until(Gate::is_complete)
        });
        gate.arrive(100);
        waiting.join().unwrap();
        assert_eq!(gate.start(), Nanos::MAX);
        gate.open(700);
        assert_eq!(gate.start(), 700);
        assert!(!gate.wait_at_most(Duration::ZERO, Gate::is_stopped));
    }

    #[test]
    fn an_abort_is_also_a_stop_and_is_not_taken_back() {
        let gate = Gate::new(1);
        gate.abort();
        gate.stop();
        assert!(gate.is_stopped() && gate.is_aborted());
    }
}
