//! Phases and intervals: when the window starts and ends, and when the books are handed up.

use net::{Driver, Nanos, ThreadUsage};

use super::receive_queue::receive_queue_bytes;
use super::routes::Routes;
use super::{ALERT_NS, ATTENTION_NS, Worker};
use crate::measure::metric::Metric;
use crate::measure::report::{Phase, Report};

/// Where the current interval lies.
pub(super) struct IntervalClock {
    length: Nanos,
    pub(super) from: Nanos,
    number: u64,
}

impl IntervalClock {
    pub(super) fn new(length: Nanos, from: Nanos) -> Self {
        Self { length, from, number: 0 }
    }

    pub(super) fn end(&self) -> Nanos {
        self.from + self.length
    }

    fn advance(&mut self) {
        self.from += self.length;
        self.number += 1;
    }
}

impl<D: Driver> Worker<D> {
    /// Moves intervals and phases to `now`, in the order in which their times came.
    pub(super) fn update_phase(&mut self, now: Nanos) {
        self.check_gate(now);
        if self.window.phase == Phase::Warmup {
            self.keep_warmup(now);
        }
        if self.window.phase == Phase::Measure {
            self.keep_window(now);
        }
        if self.window.phase == Phase::Drain {
            self.keep_drain(now);
        }
    }

    /// When the loop must turn again, whatever the sockets do.
    pub(super) fn next_wake(&self) -> Nanos {
        let now = self.driver.now();
        let window = &self.window;
        let (phase_end, patience) = match window.phase {
            Phase::Warmup if self.opening.has_arrived => (window.start, ALERT_NS),
            // Past the end of the warm-up, only the end of a dial can move it on.
            Phase::Warmup if now < window.warm_until => (window.warm_until, ATTENTION_NS),
            Phase::Warmup => (Nanos::MAX, ATTENTION_NS),
            Phase::Measure => (window.end, ATTENTION_NS),
            Phase::Drain | Phase::Over => (window.drain_until, ATTENTION_NS),
        };
        let timer = self.timers.next_at().unwrap_or(Nanos::MAX);
        let times = [self.interval.end(), phase_end, self.next_due(), timer, now + patience];
        times.into_iter().fold(Nanos::MAX, Nanos::min)
    }

    /// Hands up what is left after the last turn.
    pub(super) fn finish_reports(&mut self) {
        let now = self.driver.now();
        self.report_phase(Phase::Drain, now);
        // Whoever hears that the run is over may count on its sockets being closed.
        let counts = self.connections.counts;
        (0..self.connections.entries.len() as u32)
            .for_each(|number| self.connections.close(number, &mut self.driver));
        self.connections.counts = counts;
        // What began in the warm-up and ended later belongs to the warm-up still.
        self.report_phase(Phase::Over, now);
    }

    fn check_gate(&mut self, now: Nanos) {
        if self.share.gate.is_aborted() {
            self.leave_phase(now);
            self.window.phase = Phase::Over;
        } else if self.share.gate.is_stopped() && self.window.phase < Phase::Drain {
            self.leave_phase(now);
        }
    }

    /// Ends the current phase early: intervals are cut, and nothing new starts.
    fn leave_phase(&mut self, now: Nanos) {
        match self.window.phase {
            Phase::Warmup => {
                self.report_phase(Phase::Warmup, now);
                self.window.set_start(now);
                self.window.close(now);
                self.interval = IntervalClock::new(self.share.plan.interval_ns, now);
            }
            Phase::Measure => self.end_window(now),
            Phase::Drain | Phase::Over => {}
        }
    }

    fn keep_warmup(&mut self, now: Nanos) {
        self.arrive_when_ready(now);
        self.window.set_start(self.share.gate.start());
        self.close_intervals_until(Phase::Warmup, now.min(self.window.start));
        if now < self.window.start {
            return;
        }
        if !self.take_due(self.window.start - 1) {
            return;
        }
        self.report_phase(Phase::Warmup, self.window.start);
        self.window.phase = Phase::Measure;
        self.interval = IntervalClock::new(self.share.plan.interval_ns, self.window.start);
        self.start_window();
    }

    fn arrive_when_ready(&mut self, now: Nanos) {
        if !self.opening.has_arrived && self.opening.is_over() && now >= self.window.warm_until {
            self.opening.has_arrived = true;
            self.share.gate.arrive(now);
        }
    }

    fn keep_window(&mut self, now: Nanos) {
        self.close_intervals_until(Phase::Measure, now.min(self.window.end));
        if now >= self.window.end {
            // Arrivals that were due within the window but not seen yet are still its own.
            if self.take_due(now) {
                self.end_window(self.window.end);
            }
        } else if self.window.left == 0 && self.in_flight == 0 {
            self.end_window(self.last_end.max(self.window.start + 1));
        } else if self.window.left == 0 && now >= self.give_up_at() {
            // As long as its timeout, a drain ends with that of the last request: it is a timeout.
            self.fire_timers(now, usize::MAX);
            self.end_window(now);
            self.window.drain_until = now;
        }
    }

    /// With a fixed number of requests the window lasts until the last one ended, but the drain
    /// limit holds from the moment when the last one was taken.
    fn give_up_at(&self) -> Nanos {
        self.last_taken.saturating_add(self.share.plan.drain_ns)
    }

    fn end_window(&mut self, end: Nanos) {
        self.starved = self.users_without_a_turn();
        self.report_phase(Phase::Measure, end);
        self.window.close(end);
        self.interval = IntervalClock::new(self.share.plan.interval_ns, end);
    }

    fn keep_drain(&mut self, now: Nanos) {
        if now >= self.window.drain_until {
            self.fire_timers(now, usize::MAX);
        }
        // What began in the warm-up is awaited too: a hung request must not vanish with it.
        if self.all_in_flight() == 0 || now >= self.window.drain_until {
            self.window.phase = Phase::Over;
        } else {
            self.close_intervals_until(Phase::Drain, now);
        }
    }

    fn all_in_flight(&self) -> u64 {
        self.groups.iter().map(|group| u64::from(group.in_flight)).sum()
    }

    fn was_heard(&self) -> bool {
        self.slots.iter().any(|slot| slot.exchange.bytes_in > 0)
    }

    fn close_intervals_until(&mut self, phase: Phase, now: Nanos) {
        while self.interval.end() <= now && self.interval.end() < self.phase_limit(phase) {
            self.close_interval(phase, self.interval.end());
            self.interval.advance();
        }
    }

    /// The last interval of a phase is handed up by whoever ends the phase.
    fn phase_limit(&self, phase: Phase) -> Nanos {
        match phase {
            Phase::Warmup => self.window.start,
            Phase::Measure => self.window.end,
            Phase::Drain | Phase::Over => Nanos::MAX,
        }
    }

    /// Hands up the books of an interval that has ended, with what it took.
    fn report_phase(&mut self, phase: Phase, to: Nanos) {
        self.close_interval(phase, to);
        self.send_reports();
    }

    /// Sends the closed books off. Between intervals this comes when nothing is due: it takes longer
    /// than a request.
    pub(super) fn send_reports(&mut self) {
        if self.closed.is_empty() {
            return;
        }
        let usage = self.driver.usage();
        let mut spent = ThreadUsage {
            cpu_ns: usage.cpu_ns.saturating_sub(self.usage.cpu_ns),
            run_queue_ns: usage.run_queue_ns.saturating_sub(self.usage.run_queue_ns),
        };
        self.usage = usage;
        let unread =
            receive_queue_bytes(&self.driver, &self.connections.entries, self.interval.number);
        for report in self.closed.drain(..) {
            let usage = std::mem::take(&mut spent);
            // Nobody listens any more only when the run was given up; then nobody misses it.
            let _ =
                self.share.reports.send(Report { usage, receive_queue_bytes: unread, ..report });
        }
    }

    /// Opens a new page in the books: what happens from now on is not of that interval.
    fn close_interval(&mut self, phase: Phase, to: Nanos) {
        let is_known = self.window.start < Nanos::MAX && self.window.end < Nanos::MAX;
        let report = Report {
            worker: self.share.number,
            phase,
            number: self.interval.number,
            from: self.interval.from,
            to,
            tallies: self.recorder.take(matches!(phase, Phase::Measure | Phase::Drain)),
            in_flight: self.in_flight,
            connections: self.connections.counts,
            usage: ThreadUsage::default(),
            receive_queue_bytes: 0,
            samples: std::mem::take(&mut self.recorder.samples),
            rows: self.recorder.rows.as_mut().map(std::mem::take).unwrap_or_default(),
            texts: std::mem::take(&mut self.recorder.texts),
            was_heard: self.was_heard(),
            passed_over: self.connections.routes.iter().flat_map(Routes::passed_over).collect(),
            failure: self.failure.clone(),
            starved: self.starved,
            window: is_known.then_some((self.window.start, self.window.end)),
            lateness: Metric::default(),
            waits: Metric::default(),
        };
        self.closed.push(report);
    }
}
