//! When: users that become free, arrivals that fall due, and the queue for a connection.

use client::{Outcome, Reason, Stamps};
use net::{Driver, Nanos};

use super::crew::Due;
use super::lane::State;
use super::{Alarm, Worker};
use crate::pace::{Schedule, mix};
use crate::report::Phase;

/// Seeds of the warm-up's arrivals must not be those of the window's.
const WARMUP_SEED: u64 = 0x77_61_72_6d;

impl<D: Driver> Worker<D> {
    /// The arrivals of the warm-up begin; users follow as their connections open.
    pub(super) fn start_arrivals(&mut self) {
        if self.share.plan.warmup_ns > 0 {
            self.set_schedules(self.window.run_start, mix(self.share.plan.seed, WARMUP_SEED));
        }
    }

    /// The measured window begins: a schedule of its own, and users that were held back.
    pub(super) fn start_window(&mut self) {
        self.set_schedules(self.window.start, self.share.plan.seed);
        for lane in 0..self.lanes.len() {
            let crew = &self.crews[usize::from(self.lanes[lane].crew)];
            if crew.is_closed() && self.lanes[lane].state == State::Idle {
                // As many lanes as fit 32 bits were planned.
                self.released.push((lane as u32, self.window.start));
            }
        }
    }

    fn set_schedules(&mut self, start: Nanos, seed: u64) {
        for (crew, number) in self.crews.iter_mut().zip(0_u64..) {
            crew.schedule = Schedule::new(&crew.pace, start, mix(seed, number));
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
        let measured = self.window.is_measured(intended);
        if self.crews[crew].in_flight >= self.crews[crew].max_in_flight {
            self.plan_one(crew, measured).dropped += 1;
            return;
        }
        let due = Due { intended, taken: now, measured };
        self.take_up(crew, &due);
        match self.crews[crew].idle.pop_front() {
            Some(lane) => self.begin(lane, due),
            None => self.queue(crew, due),
        }
    }

    /// Books a planned request, and gives its tally.
    fn plan_one(&mut self, crew: usize, measured: bool) -> &mut crate::tally::Tally {
        if measured {
            self.window.left -= u64::from(self.window.left < u64::MAX);
        }
        let tally = self.journal.tally(crew as u16, measured);
        tally.planned += 1;
        tally
    }

    /// Books an attempt.
    fn take_up(&mut self, crew: usize, due: &Due) {
        self.plan_one(crew, due.measured).attempted += 1;
        self.crews[crew].in_flight += 1;
        self.in_flight += u64::from(due.measured);
        self.last_taken = due.taken;
        let tally = self.journal.tally(crew as u16, true);
        if self.window.contains(due.taken) {
            tally.attempted_inside += 1;
        } else if due.measured {
            tally.late += 1;
        }
    }

    fn queue(&mut self, crew: usize, due: Due) {
        let timeout_at = due.taken.saturating_add(self.share.requests[crew].timeout_ns);
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
        let timeout_ns = self.share.requests[usize::from(number)].timeout_ns;
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
            self.book_end(number, due.measured, &stamps, &outcome);
        }
        self.crews[usize::from(number)].queue_watched = false;
    }

    /// A lane is free since then: it gets its next work, or rests.
    pub(super) fn next_work(&mut self, lane: u32, since: Nanos) {
        let crew = usize::from(self.lanes[lane as usize].crew);
        self.lanes[lane as usize].state = State::Idle;
        if self.crews[crew].is_closed() {
            self.next_of_user(lane, crew, since);
        } else if let Some(due) = self.crews[crew].queue.pop_front() {
            self.begin(lane, due);
        } else {
            self.crews[crew].idle.push_back(lane);
        }
    }

    fn next_of_user(&mut self, lane: u32, crew: usize, since: Nanos) {
        if std::mem::take(&mut self.lanes[lane as usize].is_thoughtful)
            && let Some(thoughts) = &mut self.crews[crew].thoughts
        {
            let until = since.saturating_add(thoughts.next());
            self.lanes[lane as usize].state = State::Resting;
            return self.watch(lane, until);
        }
        if self.window.start == Nanos::MAX {
            // The start may have been announced within this turn.
            self.window.set_start(self.share.gate.start());
        }
        // Free since just before the window: the first thing it may do is due at the start.
        let since = match self.window.phase {
            Phase::Measure => since.max(self.window.start),
            _ => since,
        };
        if !self.window.admits(since) {
            return;
        }
        let due = Due { intended: since, taken: since, measured: self.window.is_measured(since) };
        self.take_up(crew, &due);
        self.begin(lane, due);
    }
}
