//! Connections: opened for slots, observed while they are idle, closed.

use client::{Opening, Outcome, Reason, UNSET};
use net::{Driver, Nanos, Ready};

use super::Worker;
use super::slot::State;
use crate::plan::Plan;

/// A dial for which this machine lacks something is repeated after a longer time than one that a target
/// refused.
const LOCAL_RETRY_FACTOR: u64 = 10;

impl<D: Driver> Worker<D> {
    /// Opens a connection to an endpoint for an exchange that waits for it. If others are running on
    /// it, they end first; if it is being opened already, there is nothing to do.
    pub(super) fn connect(&mut self, number: u32, endpoint: u16) {
        let entry = self.connections.get_mut(number);
        let slots = entry.slots();
        let is_opening = entry.connection.as_ref().is_some_and(|known| !known.is_open());
        let generation = entry.generation;
        if entry.is_shared() {
            if self.slots[slots].iter().any(|slot| slot.is_on(generation)) {
                entry.is_closing = true;
                return;
            }
            if is_opening && entry.endpoint == endpoint {
                return;
            }
        }
        self.connections.close(number, &mut self.driver);
        let entry = self.connections.get_mut(number);
        if entry.endpoint != endpoint {
            // Its address was one of the other endpoint, which may have more of them.
            (entry.endpoint, entry.route) = (endpoint, 0);
        }
        self.dial(number);
    }

    /// Starts to open a connection; a failure that is known at once ends what waits for it.
    pub(super) fn dial(&mut self, number: u32) {
        let now = self.driver.now();
        let endpoint = usize::from(self.connections.get(number).endpoint);
        let endpoint = &self.share.prepared.endpoints[endpoint];
        if let Err(reason) = self.connections.dial(number, &mut self.driver, endpoint) {
            self.dial_failed(number, reason, now);
        }
    }

    /// Handles an event of a connection that is not open yet.
    pub(super) fn advance(&mut self, number: u32, event: Ready) {
        let now = self.driver.now();
        let entry = &mut self.connections.entries[number as usize];
        let Some(connection) = &mut entry.connection else { return };
        match connection.advance(&mut self.driver, event, &mut self.scratch) {
            Ok(Opening::Pending) => {}
            Ok(Opening::Again) => self.resume_next_turn(event.token, event.closed),
            Ok(Opening::Open) => self.opened(number, now, event),
            Err(reason) => {
                self.connections.close(number, &mut self.driver);
                self.dial_failed(number, reason, now);
                self.open_more(now, false);
            }
        }
    }

    fn opened(&mut self, number: u32, now: Nanos, event: Ready) {
        self.connections.opened(number);
        let entry = self.connections.get(number);
        let Some(first) = self.first_in(number, State::Connecting) else {
            return self.begin_waiting(number, now, event);
        };
        let Some(connection) = &entry.connection else { return };
        let (connect, tls) = connection.opening_times(now);
        let request = self.slots[first as usize].request;
        let times = &mut self.recorder.tally(request, false).accepted;
        times.record_opening(connect, tls.unwrap_or(UNSET));
        if self.overdue(number).is_none() {
            self.first_dial_ended(number, now);
        }
        if self.first_in(number, State::Busy).is_some() {
            self.begin_waiting(number, now, event);
        } else if self.connections.get(number).is_shared() {
            self.progress_current(number, Ready { writable: true, ..event });
        } else if event.readable || event.closed {
            // Bytes that were received with the handshake raise no second event.
            self.resume_next_turn(event.token, event.closed);
        }
        self.open_more(now, false);
    }

    /// Frees the slots that wait for the end of a first dial: the connection is open, and the handshake of
    /// WebSocket is complete or refused.
    pub(super) fn first_dial_ended(&mut self, number: u32, now: Nanos) {
        if self.first_in(number, State::Connecting).is_none() {
            return;
        }
        self.opening.dial_ended();
        while let Some(slot) = self.first_in(number, State::Connecting) {
            self.free(slot, now);
        }
    }

    /// Returns the first slot of a connection that is in this state.
    fn first_in(&self, connection: u32, state: State) -> Option<u32> {
        let mut slots = self.connections.get(connection).slots();
        slots.find(|slot| self.slots[*slot].state == state).map(|slot| slot as u32)
    }

    pub(super) fn dial_failed(&mut self, number: u32, reason: Reason, now: Nanos) {
        self.connections.dial_failed(number, reason);
        let first = self.first_in(number, State::Connecting);
        let has_alternative = self.connections.has_alternative(number, reason);
        if first.is_some() || has_alternative {
            // It ends no attempt: it is not counted, but there is a sample of it.
            let (outcome, to) = (Outcome::failed(reason, None), self.connections.address(number));
            self.recorder.sample(&outcome, None, &[], now, Some(to));
        }
        if has_alternative {
            if let Some(first) = first {
                self.set_deadline(first, now.saturating_add(self.timeout_of(first)));
            }
            return self.dial(number);
        }
        if first.is_none() {
            return self.end_waiting(number, reason, now);
        }
        self.opening.dial_ended();
        while let Some(slot) = self.first_in(number, State::Connecting) {
            self.rest_or_free(slot, now, reason);
        }
        self.end_waiting(number, reason, now);
    }

    /// Ends the exchanges that wait for a connection that could not be opened.
    fn end_waiting(&mut self, number: u32, reason: Reason, now: Nanos) {
        for slot in self.connections.get(number).slots() {
            if self.slots[slot].is_waiting() {
                let outcome = self.slots[slot].exchange.end(now, reason);
                self.finish(slot as u32, outcome);
            }
        }
    }

    /// After a failed dial a closed user rests for a while; every other slot is free at once.
    pub(super) fn rest_or_free(&mut self, number: u32, since: Nanos, reason: Reason) {
        let group = usize::from(self.slots[number as usize].group);
        if !self.scheduler.groups[group].has_a_slot_for_each_user() {
            return self.free(number, since);
        }
        let rest = rest_after(&self.share.plan, reason);
        // It rests instead of thinking.
        self.slots[number as usize].thinks_next = false;
        self.slots[number as usize].state = State::Resting;
        self.set_deadline(number, since.saturating_add(rest));
    }

    /// Closes a connection once no exchange runs on it, and opens it again for those that wait.
    pub(super) fn close_when_idle(&mut self, number: u32) {
        let entry = self.connections.get_mut(number);
        let slots = entry.slots();
        if !entry.is_shared() {
            return self.connections.close(number, &mut self.driver);
        }
        let generation = entry.generation;
        if self.slots[slots.clone()].iter().any(|slot| slot.is_on(generation)) {
            entry.is_closing = true;
            return;
        }
        let was_closing = entry.is_closing;
        self.connections.close(number, &mut self.driver);
        if was_closing {
            self.connect_waiting(number);
        }
    }

    /// Opens a connection if exchanges wait for it.
    pub(super) fn connect_waiting(&mut self, number: u32) {
        let slots = self.connections.get(number).slots();
        let waiting = self.slots[slots].iter().find(|slot| slot.is_waiting());
        if let Some(request) = waiting.map(|slot| usize::from(slot.request)) {
            self.connect(number, self.share.prepared.requests[request].endpoint);
        }
    }

    /// Closes a connection if no user of its slots is present.
    pub(super) fn close_if_unused(&mut self, number: u32) {
        let mut slots = self.connections.get(number).slots();
        if slots.all(|slot| matches!(self.slots[slot].state, State::Idle | State::Away)) {
            self.connections.close(number, &mut self.driver);
        }
    }

    /// Handles an event of a connection without exchanges: a close is normal, bytes are not.
    pub(super) fn check_idle(&mut self, number: u32, event: Ready) {
        let entry = &mut self.connections.entries[number as usize];
        let Some(connection) = &mut entry.connection else { return };
        let is_quiet = !event.readable
            || (!event.closed && connection.is_quiet(&mut self.driver, &mut self.scratch));
        if is_quiet {
            return;
        }
        let slots = entry.slots();
        self.connections.close(number, &mut self.driver);
        for slot in slots {
            if self.slots[slot].state == State::Probing {
                self.free(slot as u32, self.driver.now());
            }
        }
    }
}

/// Returns how long a user rests after a dial that failed for this reason.
pub(super) fn rest_after(plan: &Plan, reason: Reason) -> Nanos {
    let factor = if reason.is_local() { LOCAL_RETRY_FACTOR } else { 1 };
    plan.retry_delay_ns.saturating_mul(factor)
}
