//! The phases of a run on the clock of one worker: warm-up, measured window, drain.

use net::Nanos;

use crate::measure::report::Phase;
use crate::plan::{Plan, Stop};

/// When what counts as what.
#[derive(Debug, Clone)]
pub(super) struct Window {
    pub(super) phase: Phase,
    pub(super) run_start: Nanos,
    /// The warm-up lasts at least until then.
    pub(super) warm_until: Nanos,
    /// The measured window, `Nanos::MAX` where it is not known yet.
    pub(super) start: Nanos,
    pub(super) end: Nanos,
    /// What is open then stays in flight.
    pub(super) drain_until: Nanos,
    /// Attempts that the window may still take up.
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
            // Whoever begins apart sends from then on.
            has_warmup: plan.warmup_ns > 0
                || plan.groups.iter().any(|group| group.pace.spawn_rate().is_some()),
        }
    }

    /// The start is known: what is intended from then on is measured.
    pub(super) fn set_start(&mut self, start: Nanos) {
        self.start = start;
        self.end = start.saturating_add(self.duration_ns);
    }

    /// The window is over: nothing new starts.
    pub(super) fn close(&mut self, end: Nanos) {
        self.end = self.end.min(end);
        self.drain_until = self.end.saturating_add(self.drain_ns);
        self.phase = Phase::Drain;
    }

    /// Whether a request intended then may start.
    pub(super) fn admits(&self, intended: Nanos) -> bool {
        if self.is_measured(intended) {
            intended < self.end && self.left > 0
        } else {
            self.has_warmup && self.phase == Phase::Warmup
        }
    }

    /// Whether a request intended then belongs to the measured window.
    pub(super) fn is_measured(&self, intended: Nanos) -> bool {
        intended >= self.start
    }

    /// Whether a stamp lies within the measured window.
    pub(super) fn contains(&self, stamp: Nanos) -> bool {
        (self.start..self.end).contains(&stamp)
    }
}
