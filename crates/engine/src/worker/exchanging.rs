//! Requests: begun on a lane, moved by its events, ended in the books.

use client::{Connection, Outcome, Stamps, Step, UNSET};
use net::{Driver, Nanos, Ready};

use super::crew::Due;
use super::lane::{self, State};
use super::users::failed_to_dial;
use super::{CHECKED_BYTES_PER_TURN, Worker};
use crate::measure::report::StreamRow;
use crate::prepare::stream_observer::StreamObserver;

/// No event of a socket.
const NOTHING: Ready = Ready { token: 0, readable: false, writable: false, closed: false };

/// A server that closes after its answer does so within this time.
const LOOK_NS: Nanos = 5_000_000;

impl<D: Driver> Worker<D> {
    /// Starts a request on a free lane.
    pub(super) fn begin(&mut self, number: u32, due: Due) {
        let lane = &mut self.lanes[number as usize];
        let request = &self.share.prepared.requests[usize::from(due.request)];
        lane.state = State::Busy;
        lane.measured = due.measured;
        (lane.request, lane.user) = (due.request, due.user);
        if request.is_joined() {
            let crew = usize::from(lane.crew);
            let group = &self.share.prepared.groups[crew];
            self.crews[crew].join(&due, request, group, &mut lane.text, &mut self.spare);
        }
        request.ask(&mut lane.exchange);
        lane.exchange.restart(due.intended, due.taken, request.outline(&lane.text));
        lane.gives_up_at = due.timeout_at;
        lane.is_waited_for = due.is_queued;
        lane.is_put_off = false;
        let deadline = match request.stream.as_ref().and_then(|stream| stream.idle_timeout_ns) {
            Some(idle_ns) => due.timeout_at.min(due.taken.saturating_add(idle_ns)),
            None => due.timeout_at,
        };
        let is_open = lane.is_open() && lane.endpoint == request.endpoint;
        if lane.endpoint != request.endpoint {
            // Its address was one of the other endpoint, which may have more of them.
            (lane.endpoint, lane.route) = (request.endpoint, 0);
        }
        self.watch(number, deadline);
        if is_open {
            self.send(number, NOTHING);
            let sent = self.lanes[number as usize].exchange.stamps.sent;
            self.picked_up(number, sent);
            self.end_exchanges(number);
        } else {
            self.picked_up(number, self.driver.now());
            self.hang_up(number);
            self.dial(number);
        }
    }

    /// Notes when a request was really begun. Until its first byte is written, or its connection is
    /// dialled, nothing but this worker held it up, unless it has waited for a free connection.
    fn picked_up(&mut self, number: u32, at: Nanos) {
        let lane = &mut self.lanes[number as usize];
        if !lane.is_waited_for && at != UNSET {
            lane.exchange.stamps.taken = at;
        }
    }

    /// Begins the exchange of a lane on its connection, which is open, and drives it with an event.
    fn send(&mut self, number: u32, event: Ready) {
        let lane = &mut self.lanes[number as usize];
        let Some(connection) = &mut lane.connection else { return };
        let request = &self.share.prepared.requests[usize::from(lane.request)];
        connection.begin(0, &mut (&mut lane.exchange, request.bytes(&lane.text)));
        self.drive(number, Ready { writable: true, ..event });
    }

    /// Handles an event of an open connection with an exchange on it.
    pub(super) fn progress(&mut self, number: u32, event: Ready) {
        self.drive(number, event);
        self.end_exchanges(number);
    }

    /// Handles the first event of a connection that has just been opened for an exchange.
    pub(super) fn send_first(&mut self, number: u32, event: Ready) {
        self.send(number, event);
        self.end_exchanges(number);
    }

    fn drive(&mut self, number: u32, event: Ready) {
        let lane = &mut self.lanes[number as usize];
        let Some(connection) = &mut lane.connection else { return };
        let request = &self.share.prepared.requests[usize::from(lane.request)];
        let is_full = self.checked_bytes >= CHECKED_BYTES_PER_TURN && request.checks_bodies();
        if event.readable {
            lane.is_put_off = is_full;
        }
        let now = Ready { readable: event.readable && !is_full, ..event };
        let slots = &mut (&mut lane.exchange, request.bytes(&lane.text));
        let step = connection.drive(&mut self.driver, now, slots, &mut self.scratch);
        let reads_on = step == Step::Again || (lane.is_put_off && self.scratch.ended.is_empty());
        if lane.exchange.watch.is_some() {
            self.book_gaps(number);
        }
        if reads_on {
            self.read_next_turn(number, event.closed);
        }
    }

    /// Ends the exchanges of a lane that the latest event has ended.
    fn end_exchanges(&mut self, number: u32) {
        while let Some(ended) = self.scratch.ended.pop() {
            self.finish(number, ended.outcome);
        }
    }

    /// Lanes that stopped reading for the sake of others go on.
    pub(super) fn read_on(&mut self) {
        for event in std::mem::take(&mut self.unread) {
            self.on_event(event);
        }
        self.settle();
    }

    /// Lets a lane read in the next turn too, as if its connection had another event.
    pub(super) fn read_next_turn(&mut self, number: u32, closed: bool) {
        let token = lane::token(number, self.lanes[number as usize].generation);
        self.unread.push(Ready { token, readable: true, writable: false, closed });
    }

    /// Ends the exchange of a lane: books it, keeps or drops the connection, frees the lane.
    pub(super) fn finish(&mut self, number: u32, mut outcome: Outcome) {
        let lane = &mut self.lanes[number as usize];
        let (crew, user, stamps) = (lane.crew, lane.user, lane.exchange.stamps);
        let here = &mut self.crews[usize::from(crew)];
        let request = &self.share.prepared.requests[usize::from(lane.request)];
        if outcome.failure.is_none() {
            let values = here.sessions.values(user);
            outcome.failure = request
                .judge(outcome.status, &mut lane.exchange, values, &mut self.checked_bytes)
                .err();
        } else if outcome.status.is_some_and(|status| request.accepts(status)) {
            // An error that was said counts, whatever became of the connection behind it.
            outcome.failure = StreamObserver::first_fault(&lane.exchange).or(outcome.failure);
        }
        if outcome.failure.is_some() {
            let to = self.routes[usize::from(lane.endpoint)].address(lane.route);
            let (exchange, at) = (Some(&lane.exchange), stamps.last_byte);
            self.journal.sample(&outcome, exchange, &self.scratch.buffer, at, Some(to));
        }
        here.sessions.ended(user, outcome.failure.is_none());
        lane.is_thoughtful = here.has_own_lanes() && here.thoughts.is_some();
        let (request, measured) = (lane.request, lane.measured);
        let (bytes_in, bytes_out) = (lane.exchange.bytes_in, lane.exchange.bytes_out());
        let tally = self.tally(request, measured);
        tally.bytes_in += bytes_in;
        tally.bytes_out += bytes_out;
        let stream = self.share.plan.log.as_ref().and_then(|_| self.stream_row(number));
        self.book_end(crew, (request, measured), &stamps, &outcome, stream);
        self.book_judgement(number, &outcome);
        self.lanes[number as usize].exchange.release(&mut self.scratch.budget);
        self.user_goes_on(crew, user, stamps.last_byte, outcome.failure);
        if outcome.reusable && self.may_keep(number) {
            self.keep(number, stamps.last_byte);
        } else {
            self.hang_up(number);
            self.free(number, stamps.last_byte, &outcome);
        }
    }

    /// Whether the plan lets the connection of a lane carry another exchange.
    fn may_keep(&self, number: u32) -> bool {
        let transport = &self.share.plan.transport;
        let served = |connection: &Connection<D::Socket>| connection.served + 1;
        let lane = &self.lanes[number as usize];
        transport.keepalive
            && transport.requests_per_connection.is_none_or(|limit| {
                lane.connection.as_ref().is_some_and(|connection| served(connection) < limit)
            })
    }

    /// Keeps the connection for the next exchange. Some servers close after every answer without
    /// announcing it; until one is known not to, its connections are looked at before reuse.
    fn keep(&mut self, number: u32, since: Nanos) {
        let lane = &mut self.lanes[number as usize];
        let crew = &mut self.crews[usize::from(lane.crew)];
        let Some(connection) = &mut lane.connection else { return };
        connection.served += 1;
        crew.keeps_alive |= connection.served > 1;
        // Whoever thinks first sees a close meanwhile.
        if crew.keeps_alive || lane.is_thoughtful {
            return self.released.push_back((number, since));
        }
        lane.state = State::Looking;
        self.watch(number, since.saturating_add(LOOK_NS));
    }

    /// Books the end of an attempt, whether or not it ever had a lane.
    pub(super) fn book_end(
        &mut self,
        crew: u16,
        (request, measured): (u16, bool),
        stamps: &Stamps,
        outcome: &Outcome,
        stream: Option<StreamRow>,
    ) {
        let row = self.share.prepared.requests[usize::from(request)].row;
        // Users are never late; beside arrivals their zeros would hide who is.
        let has_lag = !self.has_schedule || !self.crews[usize::from(crew)].is_closed();
        self.journal.end((request, row), measured, has_lag, stamps, outcome, stream);
        if outcome.failure.is_none() && self.window.contains(stamps.last_byte) {
            self.tally(request, true).ok_inside += 1;
        }
        self.crews[usize::from(crew)].in_flight -= 1;
        self.in_flight -= u64::from(measured);
        self.last_end = stamps.last_byte;
    }

    fn free(&mut self, number: u32, since: u64, outcome: &Outcome) {
        match outcome.failure {
            Some(reason) if failed_to_dial(reason) => self.rest_or_free(number, since, reason),
            _ => self.released.push_back((number, since)),
        }
    }
}
