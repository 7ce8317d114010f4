//! The beginning: which lanes begin before the window, when, and how many first dials at once.
//!
//! All at once, at the rate of the whole plan, or users of a group at a rate of their own.

use std::collections::VecDeque;

use net::{Driver, Nanos};

use super::Worker;
use super::alarms::Alarm;
use super::lane::State;
use crate::measure::report::Phase;

/// First dials under way at once: fewer than the shortest usual accept queue.
const DIALS_AT_ONCE: u32 = 256;

/// After this time without an end, another batch may start: a slow target must not hold up all.
const DIAL_BATCH_NS: Nanos = 50_000_000;

/// The progress of those who begin before the window.
#[derive(Debug, Default)]
pub(super) struct Opening {
    /// Lanes that have not begun, and when each does, in this order.
    order: VecDeque<(Nanos, u32)>,
    credit: u32,
    /// Lanes that have not begun, or whose first dial has not ended.
    pending: u32,
    is_started: bool,
    /// Whether this worker has told the gate that it is ready.
    pub(super) has_arrived: bool,
}

impl Opening {
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
        self.start_arrivals();
        self.opening.order = self.beginnings();
        self.opening.pending = self.opening.order.len() as u32;
        self.opening.is_started = true;
        for lane in 0..self.lanes.len() as u32 {
            if !self.dials_first(lane) && self.spawn_rate_of(lane).is_none() {
                self.released.push_back((lane, now));
            }
        }
        self.open_more(now, true);
    }

    /// Lets those begin whose time has come, as many as may dial at once.
    pub(super) fn open_more(&mut self, now: Nanos, new_batch: bool) {
        if self.window.phase > Phase::Warmup {
            // Asked to end before all had begun: nobody begins any more.
            self.opening.order.clear();
            return;
        }
        if new_batch {
            self.opening.credit = DIALS_AT_ONCE;
        }
        while self.opening.credit > 0
            && let Some((at, lane)) = self.opening.order.front().copied()
            && at <= now
        {
            self.opening.order.pop_front();
            self.begin_lane(lane, at, now);
        }
        if new_batch && let Some((next, _)) = self.opening.order.front() {
            let again = if *next > now { *next } else { now + DIAL_BATCH_NS };
            self.alarms.set(again, Alarm::Opening);
        }
    }

    fn begin_lane(&mut self, lane: u32, at: Nanos, now: Nanos) {
        if self.dials_first(lane) {
            self.opening.credit -= 1;
            self.lanes[lane as usize].state = State::Opening;
            self.watch(lane, now.saturating_add(self.timeout_of(lane)));
            self.dial(lane);
        } else {
            self.opening.pending -= 1;
            self.released.push_back((lane, at));
        }
    }

    /// When each lane begins that does so before the window.
    fn beginnings(&self) -> VecDeque<(Nanos, u32)> {
        let plans_rate = self.share.plan.transport.connections_per_second;
        let mut order = Vec::with_capacity(self.lanes.len());
        // Those that have no rate of their own are numbered through all groups.
        let mut number = 0.0;
        for lane in 0..self.lanes.len() as u32 {
            let crew = &self.crews[usize::from(self.lanes[lane as usize].crew)];
            if let Some(rate) = self.spawn_rate_of(lane) {
                order.push((self.begins_at(crew.number_of(crew.user_of(lane)), rate), lane));
            } else if self.dials_first(lane) {
                let at = plans_rate.map_or(0, |rate| self.begins_at(number, rate));
                order.push((at, lane));
                number += 1.0;
            }
        }
        order.sort_by_key(|(at, _)| *at);
        order.into()
    }

    fn begins_at(&self, number: f64, rate: f64) -> Nanos {
        self.window.run_start.saturating_add((number / rate * 1e9).ceil() as Nanos)
    }

    fn spawn_rate_of(&self, lane: u32) -> Option<f64> {
        self.crews[usize::from(self.lanes[lane as usize].crew)].pace.spawn_rate()
    }

    /// Whether a lane has a connection before its first request; users who come and go bring
    /// theirs along.
    fn dials_first(&self, lane: u32) -> bool {
        let crew = &self.crews[usize::from(self.lanes[lane as usize].crew)];
        self.share.plan.transport.keepalive && crew.pace.opens_connections_first()
    }
}
