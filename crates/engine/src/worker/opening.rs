//! Which slots begin before the window, when they do, and how many first dials run at once.
//!
//! Slots begin all at once, at the rate of the whole plan, or at the rate of their group of users.

use std::collections::VecDeque;

use net::{Driver, Nanos};

use super::Worker;
use super::slot::State;
use super::timers::Timer;
use crate::measure::report::Phase;

/// The maximum number of first dials at once: fewer than the shortest usual accept queue holds.
const MAX_FIRST_DIALS: u32 = 256;

/// After this time without the end of a dial, as many more may start, so that a slow target does not
/// delay all.
const DIAL_BATCH_NS: Nanos = 50_000_000;

/// The progress of the slots that begin before the window.
#[derive(Debug, Default)]
pub(super) struct UserOpening {
    /// Slots that have not begun, and when each does, in this order.
    order: VecDeque<(Nanos, u32)>,
    /// The number of first dials that may start now.
    credit: u32,
    /// Slots that have not begun, or whose first dial has not ended.
    pending: u32,
    is_started: bool,
    /// Whether the gate knows that this worker is ready.
    pub(super) has_arrived: bool,
}

impl UserOpening {
    /// Returns whether all slots have begun, and every first dial has succeeded or failed once.
    pub(super) fn is_over(&self) -> bool {
        self.is_started && self.pending == 0
    }

    /// Returns whether some slots have not begun, or their first dial has not ended.
    pub(super) fn is_under_way(&self) -> bool {
        self.pending > 0
    }

    /// Takes note that a first dial has ended, so that the next may start.
    pub(super) fn dial_ended(&mut self) {
        self.pending -= 1;
        self.credit = (self.credit + 1).min(MAX_FIRST_DIALS);
    }
}

impl<D: Driver> Worker<D> {
    /// Sets up the arrivals, and begins to open connections.
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

    /// Begins the slots that are due, as many as may dial at once.
    pub(super) fn open_more(&mut self, now: Nanos, new_batch: bool) {
        if self.scheduler.window.phase > Phase::Warmup {
            // The run was ended before all slots had begun: no other begins.
            self.opening.order.clear();
            return;
        }
        if new_batch {
            self.opening.credit = MAX_FIRST_DIALS;
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

    /// Returns when each slot begins that does so before the window.
    fn beginnings(&self) -> VecDeque<(Nanos, u32)> {
        let plans_rate = self.share.plan.transport.connections_per_second;
        let mut order = Vec::with_capacity(self.slots.len());
        // Slots without a rate of their group are numbered through all groups.
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

    /// Returns whether a slot has a connection before its first request. Users that come and go open
    /// theirs with their first request.
    fn dials_first(&self, slot: u32) -> bool {
        let group = &self.scheduler.groups[usize::from(self.slots[slot as usize].group)];
        self.share.plan.transport.keepalive && group.pace.opens_connections_first()
    }
}
