//! Users: when they come, think, send again and leave; on a slot of their own or from a pool.

use client::{Class, Reason};
use net::{Driver, Nanos};

use super::Worker;
use super::group::NO_USER;
use super::slot::State;
use super::timers::Timer;
use crate::measure::report::Phase;

impl<D: Driver> Worker<D> {
    /// Users who share slots begin: each somewhere within a thought, so that not all come at once.
    pub(super) fn start_pooled_users(&mut self, start: Nanos) {
        for (group, number) in self.groups.iter_mut().zip(0_u16..) {
            for user in 0..group.pooled_users() {
                let rest = group.think_times.as_mut().map_or(0, crate::pace::think::Thoughts::rest);
                self.timers.set(start.saturating_add(rest), Timer::User(number, user));
            }
        }
    }

    /// Users with slots of their own who were held back until the window.
    pub(super) fn start_idle_users(&mut self) {
        for slot in 0..self.slots.len() {
            let group = &self.groups[usize::from(self.slots[slot].group)];
            if group.has_own_slots() && self.slots[slot].state == State::Idle {
                // As many slots as fit 32 bits were planned.
                self.free_slots.push_back((slot as u32, self.window.start));
            }
        }
    }

    /// A user of a pool has thought to the end, or rested after a failed dial.
    pub(super) fn continue_user(&mut self, group: u16, user: u32, since: Nanos, now: Nanos) {
        let since = self.since_within_phase(since);
        if self.window.admits(since) {
            self.send_of(usize::from(group), user, since, now);
        }
    }

    fn send_of(&mut self, group: usize, user: u32, intended: Nanos, now: Nanos) {
        let due = self.start_attempt(group, user, intended, now);
        match self.groups[group].idle.pop_front() {
            Some(slot) => self.begin(slot, due),
            None => self.queue(group, due),
        }
    }

    /// A request of a pool's user has ended, wherever it was: the user goes on later.
    pub(super) fn user_goes_on(
        &mut self,
        group: u16,
        user: u32,
        since: Nanos,
        failure: Option<Reason>,
    ) {
        let here = &mut self.groups[usize::from(group)];
        if user == NO_USER || here.has_own_slots() {
            return;
        }
        let until = match (failure.filter(|reason| failed_to_dial(*reason)), &mut here.think_times)
        {
            (Some(reason), _) => since.saturating_add(self.rest_after(reason)),
            (None, Some(think_times)) => since.saturating_add(think_times.next()),
            (None, None) => since,
        };
        self.timers.set(until, Timer::User(group, user));
    }

    /// A user with a slot of its own is free since then: it thinks, leaves, or sends.
    pub(super) fn next_of_user(&mut self, slot: u32, group: usize, since: Nanos) {
        if std::mem::take(&mut self.slots[slot as usize].thinks_next)
            && let Some(think_times) = &mut self.groups[group].think_times
        {
            let until = since.saturating_add(think_times.next());
            self.slots[slot as usize].state = State::Resting;
            return self.set_deadline(slot, until);
        }
        let since = self.since_within_phase(since);
        // Stages begin with the window, whoever sends before it.
        let is_early = self.groups[group].ramp.is_some() && !self.window.is_measured(since);
        if is_early || !self.window.admits(since) || !self.is_present(slot, group, since) {
            return;
        }
        let user = self.groups[group].user_of(slot);
        let due = self.start_attempt(group, user, since, since);
        self.begin(slot, due);
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

    /// Whether the slot's user is there; one who is not hangs up and waits for its next time.
    fn is_present(&mut self, slot: u32, group: usize, since: Nanos) -> bool {
        let here = &self.groups[group];
        if here.ramp.is_none() || since < self.slots[slot as usize].leaves_at {
            return true;
        }
        let presence = here.presence(here.user_of(slot), self.window.start, since);
        if let Some((from, to)) = presence {
            self.slots[slot as usize].leaves_at = to;
            if from <= since {
                return true;
            }
            self.slots[slot as usize].state = State::Resting;
            self.set_deadline(slot, from);
        }
        self.close_when_idle(self.slots[slot as usize].connection);
        false
    }

    /// Users whose request of the warm-up is still open. Their waiting belongs to the warm-up, so
    /// nothing of the window's figures tells of them.
    pub(super) fn users_without_a_turn(&self) -> u64 {
        let is_user = |group: u16| self.groups[usize::from(group)].is_closed();
        let waiting = self
            .slots
            .iter()
            .filter(|slot| slot.state == State::Busy && !slot.measured && is_user(slot.group));
        let queued = |group: &super::group::GroupState| {
            let early = group.queue.iter().filter(|due| !due.measured);
            if group.is_closed() { early.count() } else { 0 }
        };
        (waiting.count() + self.groups.iter().map(queued).sum::<usize>()) as u64
    }
}

pub(super) fn failed_to_dial(reason: Reason) -> bool {
    matches!(reason.class(), Class::Connect | Class::Tls)
        || matches!(reason, Reason::TimeoutConnect | Reason::TimeoutTls)
}
