//! Phases: when the warm-up, the window and the drain end.

use client::MessageCounts;
use net::{Driver, Nanos};

use super::connections::ConnectionTable;
use super::receive_queue::receive_queue_bytes;
use super::recorder::WorkerState;
use super::routes::Routes;
use super::slot::{Slot, State};
use super::{MAX_WAIT_BEFORE_START_NS, MAX_WAIT_FOR_ROWS_NS, MAX_WAIT_NS, Worker};
use crate::measure::report::{Connections, Phase};

impl<D: Driver> Worker<D> {
    /// Moves intervals and phases to `now`.
    pub(super) fn update_phase(&mut self, now: Nanos) {
        self.check_gate(now);
        if self.scheduler.window.phase == Phase::Warmup {
            self.continue_warmup(now);
        }
        if self.scheduler.window.phase == Phase::Measure {
            self.continue_window(now);
        }
        if self.scheduler.window.phase == Phase::Drain {
            self.continue_drain(now);
        }
    }

    /// Returns when the next turn must begin, whatever the sockets do.
    pub(super) fn next_wake(&self) -> Nanos {
        let now = self.driver.now();
        let window = &self.scheduler.window;
        let (phase_end, longest) = match window.phase {
            Phase::Warmup if self.opening.has_arrived => (window.start, MAX_WAIT_BEFORE_START_NS),
            // After the warm-up's time, only the end of a dial ends the phase.
            Phase::Warmup if now < window.warm_until => (window.warm_until, MAX_WAIT_NS),
            Phase::Warmup => (Nanos::MAX, MAX_WAIT_NS),
            Phase::Measure => (window.end, MAX_WAIT_NS),
            Phase::Drain | Phase::Over => (window.drain_until, MAX_WAIT_NS),
        };
        let timer = self.scheduler.timers.next_at().unwrap_or(Nanos::MAX);
        let due = self.scheduler.next_due();
        let longest = if self.scheduler.is_starved(now) { MAX_WAIT_FOR_ROWS_NS } else { longest };
        let times = [self.recorder.interval_end(), phase_end, due, timer, now + longest];
        times.into_iter().fold(Nanos::MAX, Nanos::min)
    }

    /// Closes all connections, and sends the last reports.
    pub(super) fn finish_run(&mut self) {
        let now = self.driver.now();
        self.report_phase(Phase::Drain, now);
        // The receiver of the last report may rely on closed sockets.
        let counts = self.connections.counts;
        self.connections.close_all(&mut self.driver);
        let unconfirmed = self.connections.counts.unconfirmed;
        self.connections.counts = Connections { unconfirmed, ..counts };
        // Attempts that began in the warm-up and ended later belong to the warm-up.
        self.report_phase(Phase::Over, now);
    }

    fn check_gate(&mut self, now: Nanos) {
        if self.share.gate.is_aborted() {
            self.leave_phase(now);
            self.scheduler.window.phase = Phase::Over;
        } else if self.share.gate.is_stopped() && self.scheduler.window.phase < Phase::Drain {
            self.leave_phase(now);
        }
    }

    /// Ends the current phase early: its interval is cut, and no attempt starts any more.
    fn leave_phase(&mut self, now: Nanos) {
        match self.scheduler.window.phase {
            Phase::Warmup => {
                self.report_phase(Phase::Warmup, now);
                self.scheduler.window.set_start(now);
                self.scheduler.window.close(now);
                self.recorder.start_intervals(now);
            }
            Phase::Measure => self.end_window(now),
            Phase::Drain | Phase::Over => {}
        }
    }

    fn continue_warmup(&mut self, now: Nanos) {
        self.arrive_when_ready(now);
        self.scheduler.window.set_start(self.share.gate.start());
        let start = self.scheduler.window.start;
        self.close_intervals_until(now.min(start));
        if now < start || !self.take_due(start - 1) {
            return;
        }
        self.report_phase(Phase::Warmup, start);
        self.scheduler.window.phase = Phase::Measure;
        self.recorder.start_intervals(start);
        self.scheduler.start_window();
        self.free_idle_users(start);
    }

    fn arrive_when_ready(&mut self, now: Nanos) {
        let is_warm = now >= self.scheduler.window.warm_until;
        let is_ready = self.opening.is_over() && self.scheduler.has_first_rows();
        if !self.opening.has_arrived && is_ready && is_warm {
            self.opening.has_arrived = true;
            self.share.gate.arrive(now);
        }
    }

    fn continue_window(&mut self, now: Nanos) {
        let (start, end) = (self.scheduler.window.start, self.scheduler.window.end);
        self.close_intervals_until(now.min(end));
        let is_complete = self.scheduler.window.left == 0;
        if now >= end {
            // Arrivals that were due within the window but not taken yet belong to it.
            if self.take_due(now) {
                self.end_window(end);
            }
        } else if is_complete && self.recorder.in_flight == 0 {
            self.end_window(self.recorder.last_end.max(start + 1));
        } else if is_complete && now >= self.count_drain_end() {
            // If the drain is as long as the timeout, the last request ends with a timeout.
            self.fire_timers(now, usize::MAX);
            self.end_window(now);
            self.scheduler.window.drain_until = now;
        } else if is_complete {
            // The drain has begun for what has ended.
            self.connections.confirm_one_way(&mut self.driver, false);
        }
    }

    /// Returns the end of the drain of a window with a fixed number of requests. Such a window lasts
    /// until the last request has ended, but the drain begins when the last request is taken.
    fn count_drain_end(&self) -> Nanos {
        self.scheduler.last_taken.saturating_add(self.share.plan.drain_ns)
    }

    fn end_window(&mut self, end: Nanos) {
        self.recorder.starved = self.users_without_a_turn();
        self.report_phase(Phase::Measure, end);
        self.scheduler.window.close(end);
        self.recorder.start_intervals(end);
    }

    /// Returns the number of users whose request of the warm-up is still open. No figure of the window
    /// shows them: their waiting time belongs to the warm-up.
    fn users_without_a_turn(&self) -> u64 {
        let is_closed = |group: u16| self.scheduler.groups[usize::from(group)].is_closed();
        let open = self.slots.iter().filter(|slot| slot.state == State::Busy && !slot.measured);
        let users = open.filter(|slot| is_closed(slot.group)).count();
        (users + self.scheduler.users_waiting_since_warmup()) as u64
    }

    fn continue_drain(&mut self, now: Nanos) {
        let is_over = now >= self.scheduler.window.drain_until;
        if is_over {
            self.fire_timers(now, usize::MAX);
        }
        // Requests of the warm-up count too: one without a response must not be lost.
        let is_complete = self.scheduler.all_in_flight() == 0;
        let is_closed = self.connections.confirm_one_way(&mut self.driver, is_complete);
        if is_over || (is_complete && is_closed) {
            self.scheduler.window.phase = Phase::Over;
        } else {
            self.close_intervals_until(now);
        }
    }

    fn close_intervals_until(&mut self, now: Nanos) {
        let Self { recorder, scheduler, connections, slots, scratch, .. } = self;
        let messages = &mut scratch.messages;
        let open = scheduler.all_in_flight();
        let state = || state_of(open, connections, slots, messages, now);
        recorder.close_intervals_until(now, &scheduler.window, state);
    }

    /// Closes the interval that ends with a phase, and sends all reports.
    fn report_phase(&mut self, phase: Phase, to: Nanos) {
        let messages = &mut self.scratch.messages;
        let open = self.scheduler.all_in_flight();
        let state = state_of(open, &mut self.connections, &self.slots, messages, to);
        self.recorder.close_interval(phase, to, &self.scheduler.window, state);
        self.send_reports();
    }

    /// Sends the reports of closed intervals. That takes longer than a request, so that it happens when
    /// nothing is due.
    pub(super) fn send_reports(&mut self) {
        if self.recorder.has_reports() {
            let turn = self.recorder.interval_number();
            let unread = receive_queue_bytes(&self.driver, &self.connections.entries, turn);
            self.recorder.send_reports(&self.share.reports, self.driver.usage(), unread);
        }
    }
}

fn state_of<S>(
    requests_open: u64,
    connections: &mut ConnectionTable<S>,
    slots: &[Slot],
    messages: &mut MessageCounts,
    now: Nanos,
) -> WorkerState {
    let mut websocket = connections.websocket.as_mut().map(std::mem::take);
    if let Some(tally) = &mut websocket {
        tally.add_messages(std::mem::take(messages));
    }
    WorkerState {
        requests_open,
        connections: connections.counts,
        multiplexing: connections.take_multiplexing(now),
        websocket,
        has_received: slots.iter().any(|slot| slot.exchange.bytes_in > 0),
        unreachable_addresses: connections
            .routes
            .iter()
            .flat_map(Routes::unreachable_addresses)
            .collect(),
    }
}
