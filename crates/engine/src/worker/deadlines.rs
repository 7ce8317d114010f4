//! Deadlines of slots: timeouts of requests, of connections that open, and of pauses of streams.

use client::{Connection, Outcome, Reason, UNSET};
use net::{Driver, Nanos};

use super::Worker;
use super::slot::{ConnectionSlots, State};
use super::timers::Timer;

/// The time in which the worker reads bytes that wait in its sockets.
const READING_NS: Nanos = 1_000_000;

/// The time in which it reads those of a connection that several exchanges share.
const READING_ALL_NS: Nanos = 10 * READING_NS;

impl<D: Driver> Worker<D> {
    /// Handles the timer of a slot, whose deadline may have passed.
    pub(super) fn on_deadline(&mut self, number: u32, now: Nanos) {
        let slot = &self.slots[number as usize];
        let deadline = slot.deadline;
        if matches!(slot.state, State::Idle | State::Free) {
            return;
        }
        if deadline > now {
            return self.set_deadline(number, deadline);
        }
        match slot.state {
            State::Connecting => {
                let connection = slot.connection;
                let overdue = self.overdue(connection);
                self.connections.close(connection, &mut self.driver);
                self.dial_failed(connection, overdue.unwrap_or(Reason::TimeoutConnect), now);
            }
            State::Resting | State::Away | State::Probing => self.free(number, deadline),
            State::Busy => self.on_busy_deadline(number, now),
            State::Idle | State::Free => {}
        }
    }

    /// Ends an exchange that has taken too long, or whose stream has paused for too long.
    fn on_busy_deadline(&mut self, number: u32, now: Nanos) {
        let slot = &self.slots[number as usize];
        let connection = slot.connection;
        if self.connections.get(connection).is_deferred {
            return self.set_deadline(number, now + READING_NS);
        }
        if now >= slot.gives_up_at {
            return self.give_up(number, now);
        }
        let has_left =
            slot.has_begun && slot.generation != self.connections.get(connection).generation;
        let opening = if has_left { None } else { self.overdue(connection) };
        let mut reason = opening.or_else(|| self.overdue_in_slot(number));
        if now < slot.times_out_at {
            let next = self.idle_until(number, now).min(self.next_message(number, now));
            if now < next {
                let slot = &self.slots[number as usize];
                let next = next.min(slot.times_out_at).min(slot.gives_up_at);
                return self.set_deadline(number, next);
            }
            reason = opening.or(Some(Reason::TimeoutIdle));
        }
        let slot = &mut self.slots[number as usize];
        // A dial that has not ended by now may never end.
        let is_dial_lost = opening.is_some() && !slot.has_begun;
        let outcome = slot.exchange.time_out(now, reason);
        let reusable = self.cancel(number, now) && !is_dial_lost;
        self.finish(number, Outcome { reusable, ..outcome });
        if is_dial_lost {
            self.connect_waiting(connection);
        }
    }

    /// Ends an exchange whose user gives up.
    pub(super) fn give_up(&mut self, number: u32, now: Nanos) {
        let outcome = self.slots[number as usize].exchange.end(now, Reason::CancelledGaveUp);
        let reusable = self.cancel(number, now);
        self.finish(number, Outcome { reusable, ..outcome });
    }

    /// Lets the messages of a call be sent that are due; returns when the next one is.
    fn next_message(&mut self, number: u32, now: Nanos) -> Nanos {
        let slot = &self.slots[number as usize];
        let requests = &self.share.prepared.requests;
        let Some(interval) = requests[usize::from(slot.request)].message_interval() else {
            return Nanos::MAX;
        };
        let (connection, place, generation) = (slot.connection, slot.place, slot.generation);
        let mut is_released = false;
        let due = loop {
            let exchange = &self.slots[number as usize].exchange;
            let due = match (&exchange.grpc_call, exchange.stamps.sent) {
                (_, UNSET) => break now + interval,
                (Some(call), sent) => call.due_at(sent).unwrap_or(Nanos::MAX),
                (None, _) => Nanos::MAX,
            };
            if due > now {
                break due;
            }
            let entry = &mut self.connections.entries[connection as usize];
            let range = entry.slots();
            let Some(open) = entry.of_generation(generation) else { break Nanos::MAX };
            let slots = &mut ConnectionSlots { slots: &mut self.slots[range], requests };
            open.release_message(place, now, slots);
            is_released = true;
        };
        if is_released {
            self.connections.flush_later(connection);
        }
        due
    }

    /// Cancels the exchange of a slot; returns whether its connection can carry others afterwards.
    fn cancel(&mut self, number: u32, now: Nanos) -> bool {
        let slot = &self.slots[number as usize];
        let (connection, place, has_begun) = (slot.connection, slot.place, slot.has_begun);
        let generation = slot.generation;
        let entry = &mut self.connections.entries[connection as usize];
        if !entry.is_shared() {
            return false;
        }
        let range = entry.slots();
        let requests = &self.share.prepared.requests;
        let slots = &mut ConnectionSlots { slots: &mut self.slots[range], requests };
        let open = entry.of_generation(generation);
        let reusable = !has_begun || open.is_some_and(|it| it.cancel(place, now, slots));
        self.connections.flush_later(connection);
        reusable
    }

    /// Returns the reason of a timeout if a connection is not open yet.
    pub(super) fn overdue(&self, connection: u32) -> Option<Reason> {
        self.connections.get(connection).connection.as_ref().and_then(Connection::overdue)
    }

    /// Returns the reason of a timeout if nothing was sent of an exchange that has begun.
    fn overdue_in_slot(&self, number: u32) -> Option<Reason> {
        let slot = &self.slots[number as usize];
        if !slot.has_begun || slot.exchange.bytes_out() > 0 {
            return None;
        }
        let entry = self.connections.get(slot.connection);
        let is_waiting = slot.generation == entry.generation
            && entry.connection.as_ref().is_some_and(|it| it.waits_for_stream(slot.place));
        Some(if is_waiting { Reason::TimeoutStream } else { Reason::TimeoutWrite })
    }

    /// Sets the deadline of a slot. Its timer moves to a later time only when it fires: most
    /// deadlines are never reached.
    pub(super) fn set_deadline(&mut self, number: u32, deadline: Nanos) {
        self.slots[number as usize].deadline = deadline;
        self.scheduler.timers.set_at_latest(deadline, Timer::Slot(number));
    }

    /// Returns until when the stream of a slot may pause. A stream that has not begun may pause for
    /// longer: the request's timeout applies to it.
    ///
    /// Bytes that the worker has not read put it off. On a connection of several exchanges they may all be
    /// those of others, of which there are always some: there it is put off once after each read.
    fn idle_until(&mut self, number: u32, now: Nanos) -> Nanos {
        let slot = &mut self.slots[number as usize];
        let request = &self.share.prepared.requests[usize::from(slot.request)];
        let until = request.still_until(&slot.exchange, now);
        if until > now {
            return until;
        }
        let entry = &mut self.connections.entries[slot.connection as usize];
        let is_shared = entry.is_shared();
        let connection = entry.of_generation(slot.generation);
        if connection.is_none_or(|it| it.unread(&self.driver) == 0) {
            return until;
        }
        if !is_shared {
            return now + READING_NS;
        }
        let was_put_off = std::mem::replace(&mut slot.put_off, until) == until;
        if was_put_off { until } else { now + READING_ALL_NS }
    }

    pub(super) fn timeout_of(&self, number: u32) -> Nanos {
        let request = usize::from(self.slots[number as usize].request);
        self.share.prepared.requests[request].timeout_ns
    }
}
