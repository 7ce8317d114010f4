//! Exchanges: begun in a slot, moved by the events of its connection, recorded at their end.

use client::{Connection, Outcome, Reason, Stamps, Step};
use net::{Driver, Nanos, Ready};

use super::connections::ConnectionTable;
use super::dialing::rest_after;
use super::group::Attempt;
use super::recorder::AttemptEnd;
use super::slot::{ConnectionSlots, Slot, State};
use super::users::failed_to_dial;
use super::{CHECKED_BYTES_PER_TURN, Worker};
use crate::prepare::stream_observer::StreamObserver;

/// The event that lets a connection send.
const WRITABLE: Ready = Ready { token: 0, readable: false, writable: true, closed: false };

/// A server that closes after its response does so within this time.
const PROBE_NS: Nanos = 5_000_000;

/// How often a request that the target did not process is sent again.
const MAX_RESENDS: u8 = 3;

impl<D: Driver> Worker<D> {
    /// Begins an attempt in a free slot.
    pub(super) fn begin(&mut self, number: u32, attempt: Attempt) {
        let slot = &mut self.slots[number as usize];
        let request = &self.share.prepared.requests[usize::from(attempt.request)];
        (slot.state, slot.has_begun) = (State::Busy, false);
        slot.measured = attempt.measured;
        (slot.request, slot.user) = (attempt.request, attempt.user);
        if request.is_joined() {
            let group = &mut self.scheduler.groups[usize::from(slot.group)];
            let prepared = &self.share.prepared.groups[usize::from(slot.group)];
            group.join(&attempt, request, prepared, &mut slot.text, &mut self.spare);
        }
        if request.remembered.is_none() {
            self.scheduler.groups[usize::from(slot.group)].release(attempt.user);
        }
        request.set_up(&mut slot.exchange);
        slot.exchange.restart(attempt.intended, attempt.taken, request.outline(&slot.text));
        slot.times_out_at = attempt.timeout_at;
        (slot.is_waited_for, slot.resends) = (attempt.is_queued, 0);
        let idle_ns = request.stream.as_ref().and_then(|stream| stream.idle_timeout_ns);
        let pauses = idle_ns.into_iter().chain(request.message_interval());
        let deadline = pauses.map(|pause| attempt.taken.saturating_add(pause)).min();
        let giving_up = self.scheduler.groups[usize::from(slot.group)].next_giving_up();
        slot.gives_up_at = attempt.taken.saturating_add(giving_up.after_ns);
        slot.gives_up_after_texts = giving_up.after_texts;
        slot.counts_first_texts = giving_up.counts_first_texts;
        let group = &self.scheduler.groups[usize::from(slot.group)];
        slot.planned_tokens = group.planned_tokens(attempt.user);
        let deadline = deadline.unwrap_or(Nanos::MAX).min(attempt.timeout_at).min(slot.gives_up_at);
        let (connection, endpoint) = (slot.connection, request.endpoint);
        self.set_deadline(number, deadline);
        let entry = self.connections.get_mut(connection);
        // Only this worker delays an attempt until its first byte is written, or its connection is
        // dialled, unless it has waited for a free slot, or the socket accepts no more bytes.
        if entry.endpoint == endpoint && entry.is_open() {
            let has_others = entry.has_others();
            let slot = &mut self.slots[number as usize];
            let is_full = entry.connection.as_ref().is_some_and(Connection::is_full);
            slot.exchange.is_taken_when_sent = !slot.is_waited_for && !is_full;
            slot.exchange.is_due_when_sent =
                has_others && self.share.plan.transport.coalesce_ns > 0;
            self.begin_sending(number);
            if has_others {
                // Others may begin on it in this turn: they are sent together.
                return self.connections.flush_later(connection);
            }
            self.progress_current(connection, WRITABLE);
        } else {
            let slot = &mut self.slots[number as usize];
            if !slot.is_waited_for {
                slot.exchange.stamps.taken = self.driver.now();
            }
            self.connect(connection, endpoint);
        }
    }

    /// Lets connections send what waits for them, unless the plan has more collected first.
    pub(super) fn flush(&mut self) {
        let coalesce_ns = self.share.plan.transport.coalesce_ns;
        if coalesce_ns > 0 && !self.connections.unflushed.is_empty() {
            let now = self.driver.now();
            if now < *self.flush_at.get_or_insert(now + coalesce_ns) {
                return;
            }
            self.flush_at = None;
        }
        for _ in 0..self.connections.unflushed.len() {
            let Some(connection) = self.connections.unflushed.pop() else { return };
            self.connections.get_mut(connection).is_unflushed = false;
            while let Some(generation) = self.connections.get(connection).with_outgoing() {
                self.progress(connection, generation, WRITABLE);
            }
        }
    }

    /// Begins the exchange of a slot on its connection, which is open.
    fn begin_sending(&mut self, number: u32) {
        let slot = &mut self.slots[number as usize];
        let entry = &mut self.connections.entries[slot.connection as usize];
        let (range, is_shared) = (entry.slots(), entry.is_shared());
        let Some(connection) = &mut entry.connection else { return };
        (slot.has_begun, slot.generation) = (true, entry.generation);
        if is_shared && (slot.is_waited_for || slot.resends > 0) {
            // It was taken up long before.
            connection.note_time(self.driver.now());
        }
        let place = slot.place;
        let slots = &mut self.slots[range];
        let requests = &self.share.prepared.requests;
        connection.begin(place, &mut ConnectionSlots { slots, requests });
    }

    /// Begins the exchanges that have waited for a connection, which was opened at `now`.
    pub(super) fn begin_waiting(&mut self, connection: u32, now: Nanos, event: Ready) {
        let mut waiting = std::mem::take(&mut self.to_begin);
        let slots = self.connections.get(connection).slots();
        waiting.extend(slots.filter(|number| self.slots[*number].is_waiting()));
        // The longest wait ends first: the server may process only some before it goes away.
        waiting.sort_unstable_by_key(|number| (self.slots[*number].exchange.stamps.taken, *number));
        for (place, number) in waiting.drain(..).enumerate() {
            // The first exchange counts as the one that dialled.
            if place == 0
                && let Some(open) = &self.connections.get(connection).connection
            {
                open.stamp_opening(&mut self.slots[number].exchange.stamps, now);
            }
            self.begin_sending(number as u32);
        }
        self.to_begin = waiting;
        self.progress_current(connection, Ready { writable: true, ..event });
    }

    /// Handles an event of an open connection with exchanges on it, which has the number of its dial.
    #[inline]
    pub(super) fn progress(&mut self, connection: u32, generation: u32, event: Ready) {
        self.drive(connection, generation, event);
        self.end_exchanges(connection);
        if self.has_text_limits {
            self.give_up_after_texts(connection);
        }
        if self.connections.get(connection).is_shared() {
            self.settle(connection, generation);
        }
    }

    /// Cancels the exchanges of a connection whose users give up after the texts that have come.
    fn give_up_after_texts(&mut self, connection: u32) {
        for number in self.connections.get(connection).slots() {
            let slot = &self.slots[number];
            let exchange = &slot.exchange;
            let texts = exchange.stream_reader.as_ref().map_or(0, |s| s.observation().texts);
            if slot.state == State::Busy && slot.has_begun && texts >= slot.gives_up_after_texts {
                let now = exchange.last_read().unwrap_or_else(|| self.driver.now());
                self.give_up(number as u32, now);
            }
        }
    }

    /// Does the same for the connection that carries new exchanges.
    pub(super) fn progress_current(&mut self, connection: u32, event: Ready) {
        self.progress(connection, self.connections.get(connection).generation, event);
    }

    /// Lets a connection of several exchanges send its answers to frames. Another takes its place if it
    /// can carry no more, and it is closed once its exchanges have ended.
    fn settle(&mut self, number: u32, generation: u32) {
        let entry = self.connections.get_mut(number);
        let is_current = entry.generation == generation;
        let Some(connection) = entry.of_generation(generation) else { return };
        let (accepts, has_outgoing) = (connection.accepts(), connection.has_outgoing());
        if connection.awaits_server_end() {
            if has_outgoing {
                self.connections.flush_later(number);
            }
            return;
        }
        let is_dialled = is_current && connection.overdue().is_none();
        if accepts || connection.is_active() {
            if has_outgoing {
                self.connections.flush_later(number);
            }
            if !accepts && is_current && self.connections.leave(number) {
                self.connect_waiting(number);
            }
            if is_dialled {
                self.end_first_dial(number);
            }
            return;
        }
        if let Some((exchange, outcome)) = connection.take_refusal() {
            // As a failed first dial, it is not counted, but there is a sample of it.
            let (buffer, at) = (&self.scratch.buffer, exchange.stamps.last_byte);
            let to = self.connections.address(number);
            self.recorder.sample(&outcome, Some(&exchange), buffer, at, Some(to));
        }
        if has_outgoing {
            // Answers to the last frames, if the target reads them.
            self.drive(number, generation, WRITABLE);
        }
        if is_current {
            self.connections.get_mut(number).is_closing = true;
            self.close_when_idle(number);
            self.end_first_dial(number);
        } else {
            self.connections.close_leaving(number, generation, &mut self.driver);
        }
    }

    /// Lets the slots of a connection begin whose first dial includes a handshake of WebSocket, which has
    /// ended.
    fn end_first_dial(&mut self, number: u32) {
        if self.opening.is_under_way() {
            let now = self.driver.now();
            self.first_dial_ended(number, now);
            self.open_more(now, false);
        }
    }

    /// Sends a request again that the target has not processed; its times go on.
    fn send_again(&mut self, number: u32) {
        let slot = &mut self.slots[number as usize];
        let request = &self.share.prepared.requests[usize::from(slot.request)];
        slot.has_begun = false;
        let Stamps { intended, taken, stream_wait, window_wait, connect, tls, .. } =
            slot.exchange.stamps;
        let (bytes_in, bytes_out) = (slot.exchange.bytes_in, slot.exchange.bytes_out());
        request.set_up(&mut slot.exchange);
        slot.exchange.restart(intended, taken, request.outline(&slot.text));
        let stamps = &mut slot.exchange.stamps;
        (stamps.stream_wait, stamps.window_wait) = (stream_wait, window_wait);
        let (connection, endpoint) = (slot.connection, request.endpoint);
        let tally = self.recorder.tally(slot.request, slot.measured);
        // It may have waited for a stream until the connection could carry no more.
        let was_sent = bytes_out > 0;
        slot.resends += u8::from(was_sent);
        tally.resent += u64::from(was_sent);
        // It may dial again.
        tally.accepted.record_opening(connect, tls);
        tally.bytes_in += bytes_in;
        tally.bytes_out += bytes_out;
        let entry = self.connections.get_mut(connection);
        if entry.connection.as_ref().is_some_and(Connection::accepts) && entry.is_open() {
            self.begin_sending(number);
            self.connections.flush_later(connection);
        } else {
            self.connect(connection, endpoint);
        }
    }

    #[inline]
    fn drive(&mut self, number: u32, generation: u32, event: Ready) {
        let requests = &self.share.prepared.requests;
        let entry = &mut self.connections.entries[number as usize];
        let range = entry.slots();
        let slots = &mut self.slots[range.clone()];
        let checks = |slot: &Slot| requests[usize::from(slot.request)].checks_bodies();
        let is_full = self.checked_bytes >= CHECKED_BYTES_PER_TURN && slots.iter().any(checks);
        if event.readable {
            entry.is_deferred = is_full;
        }
        let slots = &mut ConnectionSlots { slots, requests };
        let Some(connection) = entry.of_generation(generation) else { return };
        // Events of received bytes say that it is writable, too: what is collected is not sent yet.
        let writable = event.writable && (self.flush_at.is_none() || connection.is_full());
        let now = Ready { readable: event.readable && !is_full, writable, ..event };
        let step = connection.drive(&mut self.driver, now, slots, &mut self.scratch);
        if connection.is_full() {
            // The target does not read: what was not sent does not wait for this worker.
            let waiting = self.slots[range.clone()].iter_mut();
            waiting
                .filter(|slot| slot.exchange.bytes_out() == 0)
                .for_each(|slot| slot.exchange.is_taken_when_sent = false);
        }
        let is_deferred = event.readable && is_full && self.scratch.ended.is_empty();
        if self.has_streams {
            self.slots[range].iter_mut().for_each(|slot| self.recorder.stream_gaps(slot));
        }
        if step == Step::Again || is_deferred {
            let token = ConnectionTable::<D::Socket>::token(number, generation);
            self.resume_next_turn(token, event.closed);
        }
    }

    /// Ends the exchanges of a connection that its latest event has ended.
    fn end_exchanges(&mut self, connection: u32) {
        let first = self.connections.get(connection).first_slot();
        while let Some(ended) = self.scratch.ended.pop() {
            self.finish(first + u32::from(ended.slot), ended.outcome);
        }
    }

    /// Ends the exchange of a slot: records it, keeps or closes the connection, frees the slot.
    pub(super) fn finish(&mut self, number: u32, mut outcome: Outcome) {
        let is_unprocessed = outcome.failure == Some(Reason::ReadUnprocessed);
        if is_unprocessed && self.slots[number as usize].resends < MAX_RESENDS {
            return self.send_again(number);
        }
        let slot = &mut self.slots[number as usize];
        let (group, user, stamps) = (slot.group, slot.user, slot.exchange.stamps);
        let connection = self.connections.get(slot.connection);
        let has_left = slot.has_begun && slot.generation != connection.generation;
        // Its end may open or close its connection, for which it must not count as running or waiting.
        (slot.state, slot.has_begun) = (State::Free, false);
        let state = &mut self.scheduler.groups[usize::from(group)];
        let request = &self.share.prepared.requests[usize::from(slot.request)];
        if outcome.failure.is_none() {
            let values = state.values(user);
            outcome.failure = request
                .judge(outcome.status, &mut slot.exchange, values, &mut self.checked_bytes)
                .err();
            if outcome.failure.is_none() && request.remembered.is_some() {
                state.remember(user, request, &mut self.spare);
            }
        } else if outcome.status.is_some_and(|status| request.accepts(status)) {
            // An error event counts, whatever happened to the connection after it.
            outcome.failure = StreamObserver::first_fault(&slot.exchange).or(outcome.failure);
        }
        if outcome.failure.is_some() && !outcome.is_cancelled() {
            let to = self.connections.address(slot.connection);
            let (exchange, at) = (Some(&slot.exchange), stamps.last_byte);
            self.recorder.sample(&outcome, exchange, &self.scratch.buffer, at, Some(to));
        }
        let rest = outcome
            .failure
            .filter(|reason| failed_to_dial(*reason))
            .map(|reason| rest_after(&self.share.plan, reason));
        let free_at = stamps.last_byte.saturating_add(rest.unwrap_or(0));
        state.ended(user, stamps.last_byte, free_at, outcome.failure.is_none());
        slot.thinks_next = state.has_own_slots() && state.think_times.is_some();
        let (number_of_request, measured) = (slot.request, slot.measured);
        let tally = self.recorder.tally(number_of_request, measured);
        tally.bytes_in += slot.exchange.bytes_in;
        tally.bytes_out += slot.exchange.bytes_out();
        let stream = self.recorder.stream_row(&slot.exchange);
        let has_lag = self.scheduler.attempt_ended(group);
        let window = &self.scheduler.window;
        let end =
            AttemptEnd { request: number_of_request, measured, has_lag, stamps, outcome, stream };
        self.recorder.end(&end, window);
        self.recorder.response(slot, request, &outcome, window);
        slot.exchange.release(&mut self.scratch.budget);
        match rest {
            Some(_) => self.scheduler.continue_at(group, user, free_at),
            None => self.scheduler.continue_later(group, user, stamps.last_byte),
        }
        if has_left {
            // Its connection carries no others.
            return self.free(number, stamps.last_byte);
        }
        self.leave_connection(number, &outcome);
    }

    /// Keeps or closes the connection of an exchange that has ended, and frees its slot.
    fn leave_connection(&mut self, number: u32, outcome: &Outcome) {
        let slot = &self.slots[number as usize];
        let (connection, since) = (slot.connection, slot.exchange.stamps.last_byte);
        if outcome.reusable && self.may_keep(connection) {
            return self.keep(number, since);
        }
        self.close_when_idle(connection);
        match outcome.failure {
            Some(reason) if failed_to_dial(reason) => self.rest_or_free(number, since, reason),
            _ => self.free(number, since),
        }
    }

    /// Returns whether the plan allows another exchange on a connection.
    fn may_keep(&self, connection: u32) -> bool {
        let transport = &self.share.plan.transport;
        let entry = self.connections.get(connection);
        let served = entry.connection.as_ref().map_or(0, |connection| connection.served + 1);
        transport.keepalive
            && !entry.is_closing
            && transport.requests_per_connection.is_none_or(|limit| served > 0 && served < limit)
    }

    /// Keeps the connection for the next exchange. Some servers close after every response without
    /// announcing it. Until a server is known not to, its connections are observed before reuse.
    fn keep(&mut self, number: u32, since: Nanos) {
        let slot = &mut self.slots[number as usize];
        let group = &mut self.scheduler.groups[usize::from(slot.group)];
        let entry = self.connections.get_mut(slot.connection);
        let Some(connection) = &mut entry.connection else { return self.free(number, since) };
        connection.served += 1;
        group.keeps_alive |= connection.served > 1;
        // A user who thinks notices the close in the meantime.
        if group.keeps_alive || slot.thinks_next || entry.is_shared() {
            return self.free(number, since);
        }
        slot.state = State::Probing;
        self.set_deadline(number, since.saturating_add(PROBE_NS));
    }

    /// Lets connections read on that stopped reading for the sake of others.
    pub(super) fn resume_reading(&mut self) {
        for event in std::mem::take(&mut self.unread) {
            self.on_event(event);
        }
        self.give_work();
    }

    /// Lets a connection read in the next turn too, as if it had another event.
    pub(super) fn resume_next_turn(&mut self, token: u64, closed: bool) {
        self.unread.push(Ready { token, readable: true, writable: false, closed });
    }
}
