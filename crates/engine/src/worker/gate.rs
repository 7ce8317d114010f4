//! What all workers of a run must agree on: when the window starts, and whether to stop.
//!
//! Atomics that are read once a turn; nothing here is written while requests fly. Whoever leads
//! several processes sleeps on the bell until one of them changes.

use std::sync::atomic::{AtomicU8, AtomicU32, AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

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
    /// Whether somebody else sets the start, who sees more than these workers.
    is_held: bool,
    bell: Mutex<()>,
    rung: Condvar,
}

impl Gate {
    /// A gate that opens when so many workers have arrived.
    #[must_use]
    pub fn new(workers: u32) -> Self {
        Self {
            awaited: AtomicU32::new(workers),
            start: AtomicU64::new(Nanos::MAX),
            order: AtomicU8::new(0),
            is_held: false,
            bell: Mutex::default(),
            rung: Condvar::new(),
        }
    }

    /// A gate that stays shut until [`Gate::open`], also when all have arrived.
    pub(crate) fn held(parties: u32) -> Self {
        Self { is_held: true, ..Self::new(parties) }
    }

    /// A worker is ready; the last one sets the start.
    pub fn arrive(&self, now: Nanos) {
        if self.awaited.fetch_sub(1, Ordering::AcqRel) != 1 {
            return;
        }
        if self.is_held {
            self.ring();
        } else {
            self.open(now + NOTICE_NS);
        }
    }

    /// Sets the start.
    pub(crate) fn open(&self, start: Nanos) {
        self.start.store(start, Ordering::Release);
    }

    /// Whether everybody has arrived.
    pub(crate) fn is_complete(&self) -> bool {
        self.awaited.load(Ordering::Acquire) == 0
    }

    /// Sleeps until `holds`, looking whenever the bell rings.
    pub(crate) fn wait_until(&self, holds: impl Fn(&Self) -> bool) {
        let guard = self.bell.lock().unwrap_or_else(PoisonError::into_inner);
        drop(self.rung.wait_while(guard, |()| !holds(self)));
    }

    /// The same, but no longer than `patience`; whether it holds then.
    pub(crate) fn wait_at_most(&self, patience: Duration, holds: impl Fn(&Self) -> bool) -> bool {
        let guard = self.bell.lock().unwrap_or_else(PoisonError::into_inner);
        drop(self.rung.wait_timeout_while(guard, patience, |()| !holds(self)));
        holds(self)
    }

    /// Wakes whoever waits for a change.
    pub(crate) fn ring(&self) {
        // Taken, so that nobody is between looking and falling asleep.
        let _guard = self.bell.lock().unwrap_or_else(PoisonError::into_inner);
        self.rung.notify_all();
    }

    /// When the measured window starts; `Nanos::MAX` while nobody knows.
    #[must_use]
    pub fn start(&self) -> Nanos {
        self.start.load(Ordering::Acquire)
    }

    /// Ends the window now and drains what is open.
    pub fn stop(&self) {
        self.order.fetch_max(STOP, Ordering::AcqRel);
        self.ring();
    }

    /// Ends everything now.
    pub fn abort(&self) {
        self.order.fetch_max(ABORT, Ordering::AcqRel);
        self.ring();
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
    fn a_held_gate_opens_when_it_is_told_and_wakes_who_waits_for_the_last() {
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
