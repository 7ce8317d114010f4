//! The phases of a run on the clock of one worker: warm-up, measured window, drain.

use net::Nanos;

use crate::measure::report::Phase;
use crate::plan::{Plan, Stop};

/// The phase of a run, and the times of the measured window.
#[derive(Debug, Clone)]
pub(super) struct Window {
    pub(super) phase: Phase,
    pub(super) run_start: Nanos,
    /// The earliest end of the warm-up.
    pub(super) warm_until: Nanos,
    /// The measured window; `Nanos::MAX` while it is unknown.
    pub(super) start: Nanos,
    pub(super) end: Nanos,
    /// The end of the drain; requests that are open then count as in flight.
    pub(super) drain_until: Nanos,
    /// The number of attempts that may still start.
    pub(super) left: u64,
    /// Whether requests start before the window.
    pub(super) has_warmup: bool,
    duration_ns: Nanos,
    drain_ns: Nanos,
}

impl Window {
    pub(super) fn new(plan: &Plan, run_start: Nanos) -> Self {
        let (duration_ns, left) = match plan.stop {
            Stop::Duration { duration_ns } => (duration_ns, u64::MAX),
            Stop::Requests { requests } => (Nanos::MAX, requests),
            Stop::Rows => (Nanos::MAX, u64::MAX),
        };
        Self {
            phase: Phase::Warmup,
            run_start,
            warm_until: run_start.saturating_add(plan.warmup_ns),
            start: Nanos::MAX,
            end: Nanos::MAX,
            drain_until: Nanos::MAX,
            left,
            duration_ns,
            drain_ns: plan.drain_ns,
            // Users that begin at a rate send requests from then on.
            has_warmup: plan.warmup_ns > 0
                || plan.groups.iter().any(|group| group.pace.spawn_rate().is_some()),
        }
    }

    /// Sets the start: attempts that are intended from then on are measured.
    pub(super) fn set_start(&mut self, start: Nanos) {
        self.start = start;
        self.end = start.saturating_add(self.duration_ns);
    }

    /// Ends the window: no other attempt starts.
    pub(super) fn close(&mut self, end: Nanos) {
        self.end = self.end.min(end);
        self.drain_until = self.end.saturating_add(self.drain_ns);
        self.phase = Phase::Drain;
    }

    /// Returns whether an attempt with this intended time may start.
    pub(super) fn admits(&self, intended: Nanos) -> bool {
        if self.is_measured(intended) {
            intended < self.end && self.left > 0
        } else {
            self.has_warmup && self.phase == Phase::Warmup
        }
    }

    /// Returns whether an attempt with this intended time is measured.
    pub(super) fn is_measured(&self, intended: Nanos) -> bool {
        intended >= self.start
    }

    /// Returns whether a time is within the measured window.
    pub(super) fn contains(&self, stamp: Nanos) -> bool {
        (self.start..self.end).contains(&stamp)
    }
}
