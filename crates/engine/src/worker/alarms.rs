//! The alarms of a worker: one for each lane, each queue, each user of a pool, and one for the opening.

use net::{Nanos, Timers};

use super::crew::Crew;

/// What an alarm is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Alarm {
    /// The deadline of a lane, as it was when the alarm was set.
    Lane(u32),
    /// The front of a crew's queue may have waited too long.
    Queue(u16),
    /// A user of a crew's pool goes on.
    User(u16, u32),
    /// More first dials may start.
    Opening,
}

/// Every alarm has a slot of its own, so that memory does not grow with the rate of requests.
#[derive(Debug)]
pub(super) struct Alarms {
    timers: Timers,
    /// The first slot of the queues, behind those of the lanes.
    queues: u32,
    /// The first slot of each crew's users.
    users: Vec<u32>,
    /// The slot behind all others.
    opening: u32,
}

impl Alarms {
    pub(super) fn new(lanes: u32, crews: &[Crew]) -> Self {
        let mut next = lanes + crews.len() as u32;
        let mut users = Vec::with_capacity(crews.len());
        for crew in crews {
            users.push(next);
            next += crew.pooled_users();
        }
        Self { timers: Timers::default(), queues: lanes, users, opening: next }
    }

    /// Sets an alarm, whether it was set or not.
    pub(super) fn set(&mut self, at: Nanos, alarm: Alarm) {
        self.timers.set(self.slot(alarm), at);
    }

    /// Sets an alarm, unless it goes off earlier anyway.
    pub(super) fn set_at_latest(&mut self, at: Nanos, alarm: Alarm) {
        self.timers.set_at_latest(self.slot(alarm), at);
    }

    /// How many alarms are set.
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.timers.len()
    }

    pub(super) fn next_at(&self) -> Option<Nanos> {
        self.timers.next_at()
    }

    /// Takes an alarm whose time has come, with that time.
    pub(super) fn pop_due(&mut self, now: Nanos) -> Option<(Nanos, Alarm)> {
        self.timers.pop_due(now).map(|(at, slot)| (at, self.alarm(slot)))
    }

    fn slot(&self, alarm: Alarm) -> u32 {
        match alarm {
            Alarm::Lane(lane) => lane,
            Alarm::Queue(crew) => self.queues + u32::from(crew),
            Alarm::User(crew, user) => self.users[usize::from(crew)] + user,
            Alarm::Opening => self.opening,
        }
    }

    fn alarm(&self, slot: u32) -> Alarm {
        if slot < self.queues {
            return Alarm::Lane(slot);
        }
        if slot == self.opening {
            return Alarm::Opening;
        }
        // Crews have numbers of 16 bits.
        let number = (slot - self.queues) as usize;
        if number < self.users.len() {
            return Alarm::Queue(number as u16);
        }
        let crew = self.users.partition_point(|first| *first <= slot) - 1;
        Alarm::User(crew as u16, slot - self.users[crew])
    }
}
