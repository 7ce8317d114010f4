//! When: users that become free, arrivals that fall due, and the queue for a connection.

use client::{Outcome, Reason, Stamps};
use net::{Driver, Nanos};

use super::group::{Attempt, NO_USER};
use super::slot::State;
use super::timers::Timer;
use super::{WORK_PER_TURN, Worker};
use crate::measure::report::Phase;
use crate::measure::tally::Tally;
use crate::pace::Schedule;
use crate::plan::Pace;
use crate::random::mix;

/// Seeds of the warm-up's arrivals must not be those of the window's.
const WARMUP_SEED: u64 = 0x77_61_72_6d;

impl<D: Driver> Worker<D> {
    /// The arrivals of the warm-up begin; users follow as their connections open.
    pub(super) fn start_arrivals(&mut self) {
        if self.window.has_warmup {
            self.set_schedules(self.window.run_start, mix(self.share.plan.seed, WARMUP_SEED));
            self.start_pooled_users(self.window.run_start);
        }
    }

    /// The measured window begins: a schedule of its own, and users that were held back.
    pub(super) fn start_window(&mut self) {
        self.set_schedules(self.window.start, self.share.plan.seed);
        if !self.window.has_warmup {
            self.start_pooled_users(self.window.start);
        }
        self.start_idle_users();
    }

    fn set_schedules(&mut self, start: Nanos, seed: u64) {
        for (group, number) in self.groups.iter_mut().zip(0_u64..) {
            let is_early = start < self.window.start;
            // What is shaped by time has its own time: the window's.
            let is_shaped =
                matches!(group.pace, Pace::Replay(_)) || !group.pace.stages().is_empty();
            let is_empty = group.pace.connections() == 0;
            group.schedule = if is_empty || (is_early && is_shaped) {
                None
            } else {
                Schedule::new(&group.pace, start, mix(seed, number))
            };
        }
    }

    /// When the next arrival is due.
    pub(super) fn next_due(&self) -> Nanos {
        if self.window.phase > Phase::Measure {
            return Nanos::MAX;
        }
        let schedules = self.groups.iter().filter_map(|group| group.schedule.as_ref());
        let due = schedules.map(Schedule::next).fold(Nanos::MAX, Nanos::min);
        if self.window.admits(due) { due } else { Nanos::MAX }
    }

    /// Takes up arrivals that were due until then, as many as one turn may take; true when none is
    /// left. Requests begin one after another, so each arrival is taken up at a time of its own.
    pub(super) fn take_due(&mut self, until: Nanos) -> bool {
        if self.window.phase > Phase::Measure {
            return true;
        }
        // Until the window has its own schedule, nothing that is due in it may be taken.
        let is_early = self.window.phase == Phase::Warmup;
        let until = if is_early { until.min(self.window.start - 1) } else { until };
        let mut left = WORK_PER_TURN;
        for group in 0..self.groups.len() {
            while let Some(intended) = self.next_due_of(group, until) {
                if left == 0 {
                    return false;
                }
                left -= 1;
                self.groups[group].schedule.as_mut().map(Schedule::take);
                let now = self.driver.now();
                self.arrive(group, intended, now);
            }
        }
        true
    }

    /// When the next arrival of a group was due, if it was until then.
    fn next_due_of(&self, group: usize, until: Nanos) -> Option<Nanos> {
        let schedule = self.groups[group].schedule.as_ref()?;
        let due = schedule.next();
        (due <= until && self.window.admits(due)).then_some(due)
    }

    fn arrive(&mut self, group: usize, intended: Nanos, now: Nanos) {
        if self.groups[group].in_flight >= self.groups[group].max_in_flight {
            let due = self.groups[group].next_due(NO_USER, intended, now);
            let measured = self.window.is_measured(intended);
            self.plan_one(group, due.request, measured).dropped += 1;
            return;
        }
        let due = self.start_attempt(group, NO_USER, intended, now);
        match self.groups[group].idle.pop_front() {
            Some(slot) => self.begin(slot, due),
            None => self.queue(group, due),
        }
    }

    /// Books a planned request, and gives its tally.
    fn plan_one(&mut self, group: usize, request: u16, measured: bool) -> &mut Tally {
        if measured {
            self.window.left -= u64::from(self.window.left < u64::MAX);
        }
        let is_arrival = !self.groups[group].is_closed();
        let tally = self.tally(request, measured);
        tally.planned += 1;
        tally.scheduled += u64::from(is_arrival);
        tally
    }

    /// Books an attempt of a user, or an arrival's.
    pub(super) fn start_attempt(
        &mut self,
        group: usize,
        user: u32,
        intended: Nanos,
        now: Nanos,
    ) -> Attempt {
        let measured = self.window.is_measured(intended);
        let due = self.groups[group].next_due(user, intended, now);
        let timeout_ns = self.share.prepared.requests[usize::from(due.request)].timeout_ns;
        let due = Attempt { measured, timeout_at: now.saturating_add(timeout_ns), ..due };
        self.plan_one(group, due.request, measured).attempted += 1;
        self.groups[group].in_flight += 1;
        self.in_flight += u64::from(due.measured);
        self.last_taken = self.last_taken.max(due.taken);
        let is_inside = self.window.contains(due.taken);
        let is_arrival = !self.groups[group].is_closed();
        let tally = self.tally(due.request, true);
        if is_inside {
            tally.attempted_inside += 1;
        } else if due.measured && is_arrival {
            tally.late += 1;
        }
        due
    }

    /// No slot is free: the request waits for one.
    pub(super) fn queue(&mut self, group: usize, due: Attempt) {
        let timeout_ns = self.share.prepared.requests[usize::from(due.request)].timeout_ns;
        self.groups[group].queue.push(Attempt { is_queued: true, ..due }, timeout_ns);
        self.timers.set_at_latest(due.timeout_at, Timer::Queue(group as u16));
    }

    /// Ends those in a queue whose time is up, so many at most.
    pub(super) fn end_late_waiting(&mut self, number: u16, now: Nanos, most: usize) {
        let group = usize::from(number);
        for _ in 0..most {
            let Some(due) = self.groups[group].queue.pop_late(now) else { break };
            self.end_queued(number, &due, now);
        }
        if let Some(next) = self.groups[group].queue.next_timeout() {
            // Those that are late already have their turn after the events of this one.
            self.timers.set_at_latest(next.max(now + 1), Timer::Queue(number));
        }
    }

    fn end_queued(&mut self, group: u16, due: &Attempt, now: Nanos) {
        let stamps = Stamps { last_byte: now, ..Stamps::new(due.intended, due.taken) };
        let outcome = Outcome::failed(Reason::TimeoutQueue, None);
        self.recorder.sample(&outcome, None, &[], now, None);
        self.groups[usize::from(group)].user_states.ended(due.user, false);
        self.record_end(group, (due.request, due.measured), &stamps, &outcome, None);
        if !self.share.prepared.requests[usize::from(due.request)].limits.is_empty() {
            // Whoever never left the queue has met no limit.
            self.tally(due.request, due.measured).goodput.judged += 1;
        }
        self.user_goes_on(group, due.user, now, None);
    }

    /// A slot is free since then: it gets its next work, or rests.
    pub(super) fn next_work(&mut self, slot: u32, since: Nanos) {
        let group = usize::from(self.slots[slot as usize].group);
        self.slots[slot as usize].state = State::Idle;
        if self.groups[group].has_own_slots() {
            self.next_of_user(slot, group, since);
        } else if let Some(due) = self.groups[group].queue.pop() {
            self.begin(slot, due);
        } else {
            self.groups[group].idle.push_back(slot);
        }
    }
}
