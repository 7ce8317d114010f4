//! Users with slots of their own: they think, leave, come back, or start the next attempt.

use client::{Class, Reason};
use net::{Driver, Nanos};

use super::Worker;
use super::slot::State;

impl<D: Driver> Worker<D> {
    /// Frees the slots of users that were held back until the window.
    pub(super) fn free_idle_users(&mut self, since: Nanos) {
        for number in 0..self.slots.len() {
            let slot = &self.slots[number];
            let group = &self.scheduler.groups[usize::from(slot.group)];
            if group.has_own_slots() && slot.state == State::Idle {
                self.free(number as u32, since);
            }
        }
    }

    /// Continues with the user of a slot that is free since then: it thinks, leaves, or starts an
    /// attempt.
    pub(super) fn continue_in_slot(&mut self, slot: u32, group: usize, since: Nanos) {
        if std::mem::take(&mut self.slots[slot as usize].thinks_next)
            && let Some(think_times) = &mut self.scheduler.groups[group].think_times
        {
            let until = since.saturating_add(think_times.next());
            self.slots[slot as usize].state = State::Resting;
            return self.set_deadline(slot, until);
        }
        let since = self.scheduler.since_within_phase(since);
        let (state, window) = (&self.scheduler.groups[group], &self.scheduler.window);
        // Stages begin with the window.
        let is_early = state.ramp.is_some() && !window.is_measured(since);
        if is_early || !window.admits(since) || !self.is_present(slot, group, since) {
            return;
        }
        let user = self.scheduler.groups[group].user_of(slot);
        let attempt = self.scheduler.start(group, user, since, since, &mut self.recorder);
        self.begin(slot, attempt);
    }

    /// Returns whether the user of a slot is present. The connection of one who is not is closed, and
    /// the slot waits for the user's next time.
    fn is_present(&mut self, slot: u32, group: usize, since: Nanos) -> bool {
        let state = &self.scheduler.groups[group];
        if state.ramp.is_none() || since < self.slots[slot as usize].leaves_at {
            return true;
        }
        let presence = state.presence(state.user_of(slot), self.scheduler.window.start, since);
        if let Some((from, to)) = presence {
            self.slots[slot as usize].leaves_at = to;
            if from <= since {
                return true;
            }
            self.slots[slot as usize].state = State::Away;
            self.set_deadline(slot, from);
        }
        self.close_if_unused(self.slots[slot as usize].connection);
        false
    }
}

/// Returns whether a user rests after a failure with this reason: its connection could not be opened.
pub(super) fn failed_to_dial(reason: Reason) -> bool {
    matches!(reason.class(), Class::Connect | Class::Tls)
        || matches!(reason, Reason::TimeoutConnect | Reason::TimeoutTls)
}
