//! The timers of a worker: one for each slot, each queue, each user of a pool, and one for the opening.

use net::{Nanos, Timers};

use super::group::GroupState;

/// The purpose of a timer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Timer {
    /// The deadline of a slot, as it was when the timer was set.
    Slot(u32),
    /// The front of a group's queue may have waited too long.
    Queue(u16),
    /// The think time of a user who shares slots is over.
    User(u16, u32),
    /// More first dials may start.
    Opening,
}

/// The timers of a worker. Each purpose has one place, so that memory does not grow with the rate of
/// requests.
#[derive(Debug)]
pub(super) struct WorkerTimers {
    timers: Timers,
    /// The first place of the queues, after those of the slots.
    queues: u32,
    /// The first place of each group's users.
    users: Vec<u32>,
    /// The last place.
    opening: u32,
}

impl WorkerTimers {
    pub(super) fn new(slots: u32, groups: &[GroupState]) -> Self {
        let mut next = slots + groups.len() as u32;
        let mut users = Vec::with_capacity(groups.len());
        for group in groups {
            users.push(next);
            next += group.pooled_users();
        }
        Self { timers: Timers::default(), queues: slots, users, opening: next }
    }

    /// Sets a timer, or changes its time.
    pub(super) fn set(&mut self, at: Nanos, timer: Timer) {
        self.timers.set(self.slot(timer), at);
    }

    /// Sets a timer, unless it is set to an earlier time.
    pub(super) fn set_at_latest(&mut self, at: Nanos, timer: Timer) {
        self.timers.set_at_latest(self.slot(timer), at);
    }

    /// Returns the number of timers that are set.
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.timers.len()
    }

    pub(super) fn next_at(&self) -> Option<Nanos> {
        self.timers.next_at()
    }

    /// Takes a timer that is due, with its time.
    pub(super) fn pop_due(&mut self, now: Nanos) -> Option<(Nanos, Timer)> {
        self.timers.pop_due(now).map(|(at, slot)| (at, self.timer(slot)))
    }

    fn slot(&self, timer: Timer) -> u32 {
        match timer {
            Timer::Slot(slot) => slot,
            Timer::Queue(group) => self.queues + u32::from(group),
            Timer::User(group, user) => self.users[usize::from(group)] + user,
            Timer::Opening => self.opening,
        }
    }

    fn timer(&self, slot: u32) -> Timer {
        if slot < self.queues {
            return Timer::Slot(slot);
        }
        if slot == self.opening {
            return Timer::Opening;
        }
        // Groups have numbers of 16 bits.
        let number = (slot - self.queues) as usize;
        if number < self.users.len() {
            return Timer::Queue(number as u16);
        }
        let group = self.users.partition_point(|first| *first <= slot) - 1;
        Timer::User(group as u16, slot - self.users[group])
    }
}
