//! One connection, and the exchange on it.

use net::{Driver, Nanos, Ready};

use super::PoolId;
use super::answer::Answer;
use super::request::{ExchangeRequest, Timeouts};
use crate::exchange::Outline;
use crate::{Connection, Exchange, Outcome, Reason, Scratch, Step, StreamReader, UNSET};

/// Unread bytes of a stream beyond which the rest stays in the socket.
const UNREAD_BYTES: usize = 1024 * 1024;

/// The largest request buffer that is reused.
const SPARE_BYTES: usize = 64 * 1024;

/// The state of a slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SlotState {
    /// Unused.
    Free,
    /// An idle connection.
    Idle,
    /// An exchange whose connection is being opened.
    Dialling,
    /// An exchange on an open connection.
    Busy,
}

/// One connection, and the exchange on it.
pub(super) struct ReactorSlot<S> {
    pub(super) state: SlotState,
    pub(super) connection: Option<Connection<S>>,
    pub(super) exchange: Exchange,
    pub(super) request: Vec<u8>,
    pub(super) pool: PoolId,
    /// The index of the address that is used.
    pub(super) route: usize,
    /// Counts connections, so that events of earlier ones are ignored.
    pub(super) generation: u32,
    /// Counts exchanges.
    pub(super) serial: u32,
    pub(super) timeouts: Timeouts,
    pub(super) deadline: Nanos,
    /// Whether the caller reads the body piece by piece.
    pub(super) streams: bool,
    pub(super) has_reported_head: bool,
    /// Whether the caller waits for the next piece.
    pub(super) is_waiting: bool,
    /// Whether reading is paused, so that bytes stay in the socket.
    pub(super) is_paused: bool,
    /// Whether the peer had closed the connection when reading was paused.
    pub(super) is_closed: bool,
    /// Whether its connection counts as open.
    pub(super) is_open: bool,
}

impl<S> Default for ReactorSlot<S> {
    fn default() -> Self {
        Self {
            state: SlotState::Free,
            connection: None,
            exchange: Exchange::new(0, 0, Outline { is_head: false, length: 0 }),
            request: Vec::new(),
            pool: PoolId::default(),
            route: 0,
            generation: 0,
            serial: 0,
            timeouts: Timeouts::default(),
            deadline: UNSET,
            streams: false,
            has_reported_head: false,
            is_waiting: false,
            is_paused: false,
            is_closed: false,
            is_open: false,
        }
    }
}

impl<S> ReactorSlot<S> {
    /// Starts an exchange.
    pub(super) fn begin(&mut self, request: &ExchangeRequest<'_>, now: Nanos) {
        self.serial = self.serial.wrapping_add(1);
        self.request.clear();
        self.request.extend_from_slice(request.head);
        self.request.extend_from_slice(request.body);
        let exchange = &mut self.exchange;
        exchange.keeps_head = true;
        exchange.body.get_or_insert_default();
        exchange.body_limit = usize::MAX;
        exchange.stream_reader = request.streams.then(|| Box::new(StreamReader::detecting()));
        let outline = Outline { is_head: request.is_head, length: self.request.len() };
        exchange.restart(request.intended, now, outline);
        (self.pool, self.route, self.timeouts) = (request.pool, 0, request.timeouts);
        self.streams = request.streams;
        (self.has_reported_head, self.is_waiting) = (false, false);
        (self.is_paused, self.is_closed) = (false, false);
    }

    /// Begins the exchange on its connection, which is open.
    pub(super) fn begin_sending(&mut self) {
        if let Some(connection) = &mut self.connection {
            connection.begin(0, &mut (&mut self.exchange, self.request.as_slice()));
        }
    }

    /// Handles an event of the open connection.
    pub(super) fn progress<D: Driver<Socket = S>>(
        &mut self,
        driver: &mut D,
        scratch: &mut Scratch,
        event: Ready,
    ) -> Step {
        let is_full = self.streams && !self.is_waiting && self.unread_bytes() > UNREAD_BYTES;
        if is_full {
            self.is_paused = true;
            self.is_closed |= event.closed;
        }
        let Some(connection) = &mut self.connection else { return Step::Pending };
        let event = Ready { readable: event.readable && !is_full, ..event };
        connection.drive(driver, event, &mut (&mut self.exchange, self.request.as_slice()), scratch)
    }

    /// Sets the deadline to a time after `from`; `None` is unlimited.
    pub(super) fn set_deadline(&mut self, from: Nanos, timeout: Option<Nanos>) {
        self.deadline = timeout.map_or(UNSET, |timeout| from.saturating_add(timeout));
    }

    pub(super) fn has_deadline(&self) -> bool {
        self.deadline != UNSET
    }

    pub(super) fn is_under_way(&self) -> bool {
        matches!(self.state, SlotState::Dialling | SlotState::Busy)
    }

    /// Returns the number of received bytes that the caller has not read.
    pub(super) fn unread_bytes(&self) -> usize {
        self.exchange.body.as_ref().map_or(0, Vec::len)
    }

    /// Returns the response of an exchange that has ended; `buffer` has the latest read.
    pub(super) fn answer(&mut self, outcome: Outcome, buffer: &[u8]) -> Answer {
        let exchange = &mut self.exchange;
        // Only streams of events have a result at their end.
        let ended = exchange
            .stream_reader
            .as_mut()
            .map(|stream_reader| stream_reader.finish(exchange.stamps.last_byte));
        let excerpt = outcome.failure.map(|_| exchange.excerpt(buffer).to_vec());
        Answer {
            excerpt: excerpt.unwrap_or_default(),
            ..self.build_answer(outcome, ended.flatten(), false)
        }
    }

    /// Returns the received part of a cancelled exchange.
    pub(super) fn cancelled_answer(&mut self, now: Nanos) -> Answer {
        let exchange = &mut self.exchange;
        exchange.stamps.last_byte = exchange.last_read().unwrap_or(now);
        let fault = exchange
            .stream_reader
            .as_ref()
            .and_then(|stream_reader| stream_reader.observation().fault);
        let status = exchange.head().map(|head| head.status);
        // A stream is complete at the end marker of its dialect.
        let is_abandoned = exchange
            .stream_reader
            .as_ref()
            .is_none_or(|stream_reader| stream_reader.observation().end == UNSET);
        self.build_answer(Outcome { failure: None, status, reusable: false }, fault, is_abandoned)
    }

    fn build_answer(
        &mut self,
        outcome: Outcome,
        fault: Option<Reason>,
        is_abandoned: bool,
    ) -> Answer {
        let exchange = &mut self.exchange;
        Answer {
            outcome,
            fault,
            is_abandoned,
            was_reset: exchange.was_reset,
            stamps: exchange.stamps,
            head: exchange.response_head.take(),
            excerpt: Vec::new(),
            body: exchange.body.as_mut().map(std::mem::take).unwrap_or_default(),
            bytes_in: exchange.bytes_in,
            bytes_out: exchange.bytes_out(),
            stream_reader: exchange.stream_reader.take(),
        }
    }

    /// Makes the connection available for the next exchange.
    pub(super) fn set_idle(&mut self) {
        self.state = SlotState::Idle;
        self.deadline = UNSET;
        if self.request.capacity() > SPARE_BYTES {
            self.request = Vec::new();
        }
        if let Some(connection) = &mut self.connection {
            connection.served += 1;
        }
    }

    /// Makes the slot free, and releases its memory.
    pub(super) fn clear(&mut self) {
        self.state = SlotState::Free;
        self.serial = self.serial.wrapping_add(1);
        self.deadline = UNSET;
        self.generation = self.generation.wrapping_add(1);
        self.request = Vec::new();
    }
}
