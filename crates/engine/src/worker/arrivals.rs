//! When: users that become free, arrivals that fall due, and the queue for a connection.

use client::{Outcome, Reason, Stamps};
use net::{Driver, Nanos};

use super::crew::{Due, NOBODY};
use super::lane::State;
use super::{Alarm, Worker};
use crate::pace::{Schedule, mix};
use crate::plan::Pace;
use crate::report::Phase;

/// Seeds of the warm-up's arrivals must not be those of the window's.
const WARMUP_SEED: u64 = 0x77_61_72_6d;

impl<D: Driver> Worker<D> {
    /// The arrivals of the warm-up begin; users follow as their connections open.
    pub(super) fn start_arrivals(&mut self) {
        if self.share.plan.warmup_ns > 0 {
            self.set_schedules(self.window.run_start, mix(self.share.plan.seed, WARMUP_SEED));
            self.start_pooled_users(self.window.run_start);
        }
    }

    /// The measured window begins: a schedule of its own, and users that were held back.
    pub(super) fn start_window(&mut self) {
        self.set_schedules(self.window.start, self.share.plan.seed);
        if self.share.plan.warmup_ns == 0 {
            self.start_pooled_users(self.window.start);
        }
        self.start_idle_users();
    }

    fn set_schedules(&mut self, start: Nanos, seed: u64) {
        for (crew, number) in self.crews.iter_mut().zip(0_u64..) {
            let is_early = start < self.window.start;
            // What is shaped by time has its own time: the window's.
            let is_shaped = matches!(crew.pace, Pace::Replay(_)) || !crew.pace.stages().is_empty();
            crew.schedule = if is_early && is_shaped {
                None
            } else {
                Schedule::new(&crew.pace, start, mix(seed, number))
            };
        }
    }

    /// When the next arrival is due.
    pub(super) fn next_due(&self) -> Nanos {
        let schedules = self.crews.iter().filter_map(|crew| crew.schedule.as_ref());
        let due = schedules.map(Schedule::next).fold(Nanos::MAX, Nanos::min);
        if self.window.admits(due) { due } else { Nanos::MAX }
    }

    /// Takes up, at `now`, every arrival that was due until then.
    pub(super) fn take_due(&mut self, until: Nanos, now: Nanos) {
        if self.window.phase > Phase::Measure {
            return;
        }
        for crew in 0..self.crews.len() {
            while let Some(intended) = self.pop_due(crew, until) {
                self.arrive(crew, intended, now);
            }
        }
    }

    fn pop_due(&mut self, crew: usize, until: Nanos) -> Option<Nanos> {
        let schedule = self.crews[crew].schedule.as_mut()?;
        let due = schedule.next();
        (due <= until && self.window.admits(due)).then(|| schedule.take())
    }

    fn arrive(&mut self, crew: usize, intended: Nanos, now: Nanos) {
        if self.crews[crew].in_flight >= self.crews[crew].max_in_flight {
            let due = self.crews[crew].next_due(NOBODY, intended, now);
            let measured = self.window.is_measured(intended);
            self.plan_one(due.request, measured).dropped += 1;
            return;
        }
        let due = self.take_up(crew, NOBODY, intended, now);
        match self.crews[crew].idle.pop_front() {
            Some(lane) => self.begin(lane, due),
            None => self.queue(crew, due),
        }
    }

    /// Books a planned request, and gives its tally.
    fn plan_one(&mut self, request: u16, measured: bool) -> &mut crate::tally::Tally {
        if measured {
            self.window.left -= u64::from(self.window.left < u64::MAX);
        }
        let tally = self.journal.tally(request, measured);
        tally.planned += 1;
        tally
    }

    /// Books an attempt of a user, or an arrival's.
    pub(super) fn take_up(&mut self, crew: usize, user: u32, intended: Nanos, now: Nanos) -> Due {
        let measured = self.window.is_measured(intended);
        let due = Due { measured, ..self.crews[crew].next_due(user, intended, now) };
        self.plan_one(due.request, measured).attempted += 1;
        self.crews[crew].in_flight += 1;
        self.in_flight += u64::from(due.measured);
        self.last_taken = self.last_taken.max(due.taken);
        let tally = self.journal.tally(due.request, true);
        if self.window.contains(due.taken) {
            tally.attempted_inside += 1;
        } else if due.measured {
            tally.late += 1;
        }
        due
    }

    /// No lane is free: the request waits for one.
    pub(super) fn queue(&mut self, crew: usize, due: Due) {
        let timeout_at = due.taken.saturating_add(self.crews[crew].timeout_ns);
        let crew_number = crew as u16;
        let crew = &mut self.crews[crew];
        crew.queue.push_back(due);
        if !crew.queue_watched {
            crew.queue_watched = true;
            self.alarms.set(timeout_at, Alarm::Queue(crew_number));
        }
    }

    /// Those at the front of a queue that waited longer than their timeout have ended.
    pub(super) fn ring_queue(&mut self, number: u16, now: Nanos) {
        let timeout_ns = self.crews[usize::from(number)].timeout_ns;
        while let Some(due) = self.crews[usize::from(number)].queue.front().copied() {
            let timeout_at = due.taken.saturating_add(timeout_ns);
            if timeout_at > now {
                self.alarms.set(timeout_at, Alarm::Queue(number));
                return;
            }
            self.crews[usize::from(number)].queue.pop_front();
            let stamps = Stamps { last_byte: now, ..Stamps::new(due.intended, due.taken) };
            let outcome = Outcome::failed(Reason::TimeoutQueue, None);
            self.journal.sample(&outcome, None, &[], now, None);
            self.crews[usize::from(number)].sessions.ended(due.user, false);
            self.book_end(number, due.request, due.measured, &stamps, &outcome);
            self.user_goes_on(number, due.user, now, None);
        }
        self.crews[usize::from(number)].queue_watched = false;
    }

    /// A lane is free since then: it gets its next work, or rests.
    pub(super) fn next_work(&mut self, lane: u32, since: Nanos) {
        let crew = usize::from(self.lanes[lane as usize].crew);
        self.lanes[lane as usize].state = State::Idle;
        if self.crews[crew].has_own_lanes() {
            self.next_of_user(lane, crew, since);
        } else if let Some(due) = self.crews[crew].queue.pop_front() {
            self.begin(lane, due);
        } else {
            self.crews[crew].idle.push_back(lane);
        }
    }
}
