//! Users: when they come, think, send again and leave; on a lane of their own or from a pool.

use client::{Class, Reason};
use net::{Driver, Nanos};

use super::Worker;
use super::alarms::Alarm;
use super::crew::NOBODY;
use super::lane::State;
use crate::measure::report::Phase;

impl<D: Driver> Worker<D> {
    /// Users who share lanes begin: each somewhere within a thought, so that not all come at once.
    pub(super) fn start_pooled_users(&mut self, start: Nanos) {
        for (crew, number) in self.crews.iter_mut().zip(0_u16..) {
            for user in 0..crew.pooled_users() {
                let rest = crew.thoughts.as_mut().map_or(0, crate::pace::think::Thoughts::rest);
                self.alarms.set(start.saturating_add(rest), Alarm::User(number, user));
            }
        }
    }

    /// Users with lanes of their own who were held back until the window.
    pub(super) fn start_idle_users(&mut self) {
        for lane in 0..self.lanes.len() {
            let crew = &self.crews[usize::from(self.lanes[lane].crew)];
            if crew.has_own_lanes() && self.lanes[lane].state == State::Idle {
                // As many lanes as fit 32 bits were planned.
                self.released.push_back((lane as u32, self.window.start));
            }
        }
    }

    /// A user of a pool has thought to the end, or rested after a failed dial.
    pub(super) fn ring_user(&mut self, crew: u16, user: u32, since: Nanos, now: Nanos) {
        let since = self.since_within_phase(since);
        if self.window.admits(since) {
            self.send_of(usize::from(crew), user, since, now);
        }
    }

    fn send_of(&mut self, crew: usize, user: u32, intended: Nanos, now: Nanos) {
        let due = self.take_up(crew, user, intended, now);
        match self.crews[crew].idle.pop_front() {
            Some(lane) => self.begin(lane, due),
            None => self.queue(crew, due),
        }
    }

    /// A request of a pool's user has ended, wherever it was: the user goes on later.
    pub(super) fn user_goes_on(
        &mut self,
        crew: u16,
        user: u32,
        since: Nanos,
        failure: Option<Reason>,
    ) {
        let here = &mut self.crews[usize::from(crew)];
        if user == NOBODY || here.has_own_lanes() {
            return;
        }
        let until = match (failure.filter(|reason| failed_to_dial(*reason)), &mut here.thoughts) {
            (Some(reason), _) => since.saturating_add(self.rest_after(reason)),
            (None, Some(thoughts)) => since.saturating_add(thoughts.next()),
            (None, None) => since,
        };
        self.alarms.set(until, Alarm::User(crew, user));
    }

    /// A user with a lane of its own is free since then: it thinks, leaves, or sends.
    pub(super) fn next_of_user(&mut self, lane: u32, crew: usize, since: Nanos) {
        if std::mem::take(&mut self.lanes[lane as usize].is_thoughtful)
            && let Some(thoughts) = &mut self.crews[crew].thoughts
        {
            let until = since.saturating_add(thoughts.next());
            self.lanes[lane as usize].state = State::Resting;
            return self.watch(lane, until);
        }
        let since = self.since_within_phase(since);
        // Stages begin with the window, whoever sends before it.
        let is_early = self.crews[crew].ramp.is_some() && !self.window.is_measured(since);
        if is_early || !self.window.admits(since) || !self.is_present(lane, crew, since) {
            return;
        }
        let user = self.crews[crew].user_of(lane);
        let due = self.take_up(crew, user, since, since);
        self.begin(lane, due);
    }

    /// Free since just before the window, whatever a user does next is due at its start.
    fn since_within_phase(&mut self, since: Nanos) -> Nanos {
        if self.window.start == Nanos::MAX {
            // The start may have been announced within this turn.
            self.window.set_start(self.share.gate.start());
        }
        match self.window.phase {
            Phase::Measure => since.max(self.window.start),
            _ => since,
        }
    }

    /// Whether the lane's user is there; one who is not hangs up and waits for its next time.
    fn is_present(&mut self, lane: u32, crew: usize, since: Nanos) -> bool {
        let here = &self.crews[crew];
        if here.ramp.is_none() || since < self.lanes[lane as usize].leaves_at {
            return true;
        }
        let presence = here.presence(here.user_of(lane), self.window.start, since);
        if let Some((from, to)) = presence {
            self.lanes[lane as usize].leaves_at = to;
            if from <= since {
                return true;
            }
            self.lanes[lane as usize].state = State::Resting;
            self.watch(lane, from);
        }
        self.hang_up(lane);
        false
    }

    /// Users whose request of the warm-up is still open. Their waiting belongs to the warm-up, so
    /// nothing of the window's figures tells of them.
    pub(super) fn users_without_a_turn(&self) -> u64 {
        let is_user = |crew: u16| self.crews[usize::from(crew)].is_closed();
        let waiting = self
            .lanes
            .iter()
            .filter(|lane| lane.state == State::Busy && !lane.measured && is_user(lane.crew));
        let queued = |crew: &super::crew::Crew| {
            let early = crew.queue.iter().filter(|due| !due.measured);
            if crew.is_closed() { early.count() } else { 0 }
        };
        (waiting.count() + self.crews.iter().map(queued).sum::<usize>()) as u64
    }
}

pub(super) fn failed_to_dial(reason: Reason) -> bool {
    matches!(reason.class(), Class::Connect | Class::Tls)
        || matches!(reason, Reason::TimeoutConnect | Reason::TimeoutTls)
}
