//! Requests: begun on a lane, moved by its events, ended in the books.

use client::{Class, Connection, Outcome, Reason, Stamps, Step};
use net::{Driver, Nanos, Ready};

use super::Worker;
use super::crew::Due;
use super::lane::State;

/// A server that closes after its answer does so within this time.
const LOOK_NS: Nanos = 5_000_000;

/// What a lane is told when no event said so: there may be something to read.
const READ_ON: Ready = Ready { token: 0, readable: true, writable: false, closed: false };

impl<D: Driver> Worker<D> {
    /// Starts a request on a free lane.
    pub(super) fn begin(&mut self, number: u32, due: Due) {
        let lane = &mut self.lanes[number as usize];
        let prepared = &self.share.requests[usize::from(lane.crew)];
        lane.state = State::Busy;
        lane.measured = due.measured;
        lane.exchange.restart(due.intended, due.taken, &prepared.request);
        let deadline = due.taken.saturating_add(prepared.timeout_ns);
        let is_open = lane.is_open();
        self.watch(number, deadline);
        if is_open {
            self.write(number);
        } else {
            self.hang_up(number);
            self.dial(number);
        }
    }

    fn write(&mut self, number: u32) {
        let lane = &mut self.lanes[number as usize];
        let Some(connection) = &mut lane.connection else {
            return;
        };
        let request = &self.share.requests[usize::from(lane.crew)].request;
        let step = lane.exchange.send(&mut self.driver, connection, &request.bytes);
        self.follow(number, step, false);
    }

    /// An event of an open connection with an exchange on it.
    pub(super) fn progress(&mut self, number: u32, event: Ready) {
        let lane = &mut self.lanes[number as usize];
        let Some(connection) = &mut lane.connection else {
            return;
        };
        let request = &self.share.requests[usize::from(lane.crew)].request;
        let is_written = lane.exchange.bytes_out() == request.bytes.len() as u64;
        let mut step = Step::Pending;
        if event.writable && !(is_written && connection.is_plain()) {
            step = lane.exchange.send(&mut self.driver, connection, &request.bytes);
        }
        if event.readable && !matches!(step, Step::Done(Outcome { failure: None, .. })) {
            // An answer may lie before the error that stopped the writing.
            let read = lane.exchange.receive(
                &mut self.driver,
                connection,
                &mut self.scratch,
                event.closed,
            );
            if !matches!((step, read), (Step::Done(_), Step::Pending | Step::Again)) {
                step = read;
            }
        }
        self.follow(number, step, event.closed);
    }

    /// Lanes that stopped reading for the sake of others go on.
    pub(super) fn read_on(&mut self) {
        for (number, closed) in std::mem::take(&mut self.unread) {
            let event = Ready { closed, ..READ_ON };
            match self.lanes[number as usize].state {
                State::Busy => self.progress(number, event),
                _ => self.look_for_end(number, event),
            }
        }
        self.settle();
    }

    fn follow(&mut self, number: u32, step: Step, is_closed: bool) {
        match step {
            Step::Pending => {}
            Step::Again => self.unread.push((number, is_closed)),
            Step::Done(outcome) => {
                let reusable = outcome.reusable && !is_closed;
                self.finish(number, Outcome { reusable, ..outcome });
            }
        }
    }

    /// Ends the exchange of a lane: books it, keeps or drops the connection, frees the lane.
    pub(super) fn finish(&mut self, number: u32, mut outcome: Outcome) {
        let lane = &mut self.lanes[number as usize];
        let (crew, measured, stamps) = (lane.crew, lane.measured, lane.exchange.stamps);
        let accepted = outcome.status.is_some_and(|status| {
            outcome.failure.is_none() && self.share.requests[usize::from(crew)].accepts(status)
        });
        if !accepted {
            let to = self.crews[usize::from(crew)].routes.address(lane.route);
            let (exchange, at) = (Some(&lane.exchange), stamps.last_byte);
            self.journal.sample(&outcome, exchange, &self.scratch.buffer, at, Some(to));
            outcome.failure = Some(outcome.failure.unwrap_or(Reason::Status));
        }
        lane.is_thoughtful = self.crews[usize::from(crew)].thoughts.is_some();
        let tally = self.journal.tally(crew, measured);
        tally.bytes_in += lane.exchange.bytes_in;
        tally.bytes_out += lane.exchange.bytes_out();
        self.book_end(crew, measured, &stamps, &outcome);
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
            return self.released.push((number, since));
        }
        lane.state = State::Looking;
        self.watch(number, since.saturating_add(LOOK_NS));
    }

    /// Books the end of an attempt, whether or not it ever had a lane.
    pub(super) fn book_end(
        &mut self,
        crew: u16,
        measured: bool,
        stamps: &Stamps,
        outcome: &Outcome,
    ) {
        self.journal.end(crew, measured, stamps, outcome);
        if outcome.failure.is_none() && self.window.contains(stamps.last_byte) {
            self.journal.tally(crew, true).ok_inside += 1;
        }
        self.crews[usize::from(crew)].in_flight -= 1;
        self.in_flight -= u64::from(measured);
        self.last_end = stamps.last_byte;
    }

    fn free(&mut self, number: u32, since: u64, outcome: &Outcome) {
        match outcome.failure {
            Some(reason) if failed_to_dial(reason) => self.rest_or_free(number, since, reason),
            _ => self.released.push((number, since)),
        }
    }
}

fn failed_to_dial(reason: Reason) -> bool {
    matches!(reason.class(), Class::Connect | Class::Tls)
        || matches!(reason, Reason::TimeoutConnect | Reason::TimeoutTls)
}
