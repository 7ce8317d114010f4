//! The beginning: which slots begin before the window, when, and how many first dials at once.
//!
//! All at once, at the rate of the whole plan, or users of a group at a rate of their own.

use std::collections::VecDeque;

use net::{Driver, Nanos};

use super::Worker;
use super::slot::State;
use super::timers::Timer;
use crate::measure::report::Phase;

/// First dials under way at once: fewer than the shortest usual accept queue.
const DIALS_AT_ONCE: u32 = 256;

/// After this time without an end, another batch may start: a slow target must not hold up all.
const DIAL_BATCH_NS: Nanos = 50_000_000;

/// The progress of those who begin before the window.
#[derive(Debug, Default)]
pub(super) struct UserOpening {
    /// Lanes that have not begun, and when each does, in this order.
    order: VecDeque<(Nanos, u32)>,
    credit: u32,
    /// Lanes that have not begun, or whose first dial has not ended.
    pending: u32,
    is_started: bool,
    /// Whether this worker has told the gate that it is ready.
    pub(super) has_arrived: bool,
}

impl UserOpening {
    /// Whether everybody has begun, and every first dial has succeeded or failed once.
    pub(super) fn is_over(&self) -> bool {
        self.is_started && self.pending == 0
    }

    /// A first dial has ended, well or not: the next may start.
    pub(super) fn dial_ended(&mut self) {
        self.pending -= 1;
        self.credit = (self.credit + 1).min(DIALS_AT_ONCE);
    }
}

impl<D: Driver> Worker<D> {
    /// The first turn: arrivals are set up, and connections begin to open.
    pub(super) fn start(&mut self) {
        let now = self.driver.now();
        self.scheduler.start_warmup();
        self.opening.order = self.beginnings();
        self.opening.pending = self.opening.order.len() as u32;
        self.opening.is_started = true;
        for slot in 0..self.slots.len() as u32 {
            if !self.dials_first(slot) && self.spawn_rate_of(slot).is_none() {
                self.free(slot, now);
            }
        }
        self.open_more(now, true);
    }

    /// Lets those begin whose time has come, as many as may dial at once.
    pub(super) fn open_more(&mut self, now: Nanos, new_batch: bool) {
        if self.scheduler.window.phase > Phase::Warmup {
            // Asked to end before all had begun: nobody begins any more.
            self.opening.order.clear();
            return;
        }
        if new_batch {
            self.opening.credit = DIALS_AT_ONCE;
        }
        while self.opening.credit > 0
            && let Some((at, slot)) = self.opening.order.front().copied()
            && at <= now
        {
            self.opening.order.pop_front();
            self.begin_slot(slot, at, now);
        }
        if new_batch && let Some((next, _)) = self.opening.order.front() {
            let again = if *next > now { *next } else { now + DIAL_BATCH_NS };
            self.scheduler.timers.set(again, Timer::Opening);
        }
    }

    fn begin_slot(&mut self, slot: u32, at: Nanos, now: Nanos) {
        let (connection, place) = self.place_of(slot);
        if self.dials_first(slot) && place == 0 {
            self.opening.credit -= 1;
            let comes_alone = self.spawn_rate_of(slot).is_some();
            let slots = self.connections.get(connection).slots();
            let count = if comes_alone { 1 } else { slots.len() };
            slots.take(count).for_each(|slot| self.slots[slot].state = State::Connecting);
            self.set_deadline(slot, now.saturating_add(self.timeout_of(slot)));
            self.dial(connection);
        } else {
            self.opening.pending -= 1;
            self.free(slot, at);
        }
    }

    /// When each slot begins that does so before the window.
    fn beginnings(&self) -> VecDeque<(Nanos, u32)> {
        let plans_rate = self.share.plan.transport.connections_per_second;
        let mut order = Vec::with_capacity(self.slots.len());
        // Those that have no rate of their own are numbered through all groups.
        let mut number = 0.0;
        for slot in 0..self.slots.len() as u32 {
            let group = &self.scheduler.groups[usize::from(self.slots[slot as usize].group)];
            if let Some(rate) = self.spawn_rate_of(slot) {
                order.push((self.begins_at(group.number_of(group.user_of(slot)), rate), slot));
            } else if self.dials_first(slot) && self.place_of(slot).1 == 0 {
                let at = plans_rate.map_or(0, |rate| self.begins_at(number, rate));
                order.push((at, slot));
                number += 1.0;
            }
        }
        order.sort_by_key(|(at, _)| *at);
        order.into()
    }

    fn begins_at(&self, number: f64, rate: f64) -> Nanos {
        self.scheduler.window.run_start.saturating_add((number / rate * 1e9).ceil() as Nanos)
    }

    /// Returns the connection of a slot, and the slot's place on it.
    fn place_of(&self, slot: u32) -> (u32, u16) {
        let slot = &self.slots[slot as usize];
        (slot.connection, slot.place)
    }

    fn spawn_rate_of(&self, slot: u32) -> Option<f64> {
        self.scheduler.groups[usize::from(self.slots[slot as usize].group)].pace.spawn_rate()
    }

    /// Whether a slot has a connection before its first request; users who come and go bring
    /// theirs along.
    fn dials_first(&self, slot: u32) -> bool {
        let group = &self.scheduler.groups[usize::from(self.slots[slot as usize].group)];
        self.share.plan.transport.keepalive && group.pace.opens_connections_first()
    }
}
