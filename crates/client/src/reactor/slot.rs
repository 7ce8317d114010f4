//! One connection, and the exchange on it.

use net::{Driver, Nanos, Ready};

use super::LaneId;
use super::answer::Answer;
use super::ask::{Ask, Patience};
use crate::exchange::Outline;
use crate::{Connection, Exchange, Outcome, Reason, Scratch, Step, UNSET, Watch};

/// A stream that nobody reads is left in the kernel from here on.
const UNREAD_BYTES: usize = 1024 * 1024;

/// Memory that a large request needed is given back from here on.
const SPARE_BYTES: usize = 64 * 1024;

/// What a slot is for now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    /// Nothing.
    Free,
    /// A connection that nobody uses.
    Idle,
    /// An exchange that waits for its connection.
    Dialling,
    /// An exchange on an open connection.
    Busy,
}

/// One connection, and the exchange on it.
pub(super) struct Slot<S> {
    pub(super) state: State,
    pub(super) connection: Option<Connection<S>>,
    pub(super) exchange: Exchange,
    pub(super) request: Vec<u8>,
    pub(super) lane: LaneId,
    /// Which address of the lane.
    pub(super) route: usize,
    /// Counts dials: events of earlier ones are stale.
    pub(super) generation: u32,
    /// Counts exchanges.
    pub(super) serial: u32,
    pub(super) patience: Patience,
    pub(super) deadline: Nanos,
    pub(super) dialled_at: Nanos,
    /// Whether the caller reads the body piece by piece.
    pub(super) streams: bool,
    pub(super) is_told_of_head: bool,
    /// Whether the caller waits for the next piece.
    pub(super) is_awaited: bool,
    /// Whether there is something to read that was left in the kernel.
    pub(super) is_paused: bool,
    /// Whether the other side had closed when it was left there.
    pub(super) is_closed: bool,
    /// Whether its connection counts as open.
    pub(super) is_open: bool,
}

impl<S> Default for Slot<S> {
    fn default() -> Self {
        Self {
            state: State::Free,
            connection: None,
            exchange: Exchange::new(0, 0, Outline { is_head: false, length: 0 }),
            request: Vec::new(),
            lane: LaneId::default(),
            route: 0,
            generation: 0,
            serial: 0,
            patience: Patience::default(),
            deadline: UNSET,
            dialled_at: UNSET,
            streams: false,
            is_told_of_head: false,
            is_awaited: false,
            is_paused: false,
            is_closed: false,
            is_open: false,
        }
    }
}

impl<S> Slot<S> {
    /// Takes up an exchange.
    pub(super) fn begin(&mut self, ask: &Ask<'_>, now: Nanos) {
        self.serial = self.serial.wrapping_add(1);
        self.request.clear();
        self.request.extend_from_slice(ask.head);
        self.request.extend_from_slice(ask.body);
        let exchange = &mut self.exchange;
        exchange.is_head_enough = true;
        exchange.transcript.get_or_insert_default();
        exchange.body.get_or_insert_default();
        exchange.body_limit = usize::MAX;
        exchange.watch = ask.streams.then(|| Box::new(Watch::guessing()));
        let outline = Outline { is_head: ask.is_head, length: self.request.len() };
        exchange.restart(ask.intended, now, outline);
        (self.lane, self.route, self.patience) = (ask.lane, 0, ask.patience);
        self.streams = ask.streams;
        (self.is_told_of_head, self.is_awaited) = (false, false);
        (self.is_paused, self.is_closed) = (false, false);
    }

    /// Writes what fits of the request.
    pub(super) fn write<D: Driver<Socket = S>>(&mut self, driver: &mut D) -> Step {
        let Some(connection) = &mut self.connection else { return Step::Pending };
        self.exchange.send(driver, connection, &self.request)
    }

    /// An event of the open connection.
    pub(super) fn progress<D: Driver<Socket = S>>(
        &mut self,
        driver: &mut D,
        scratch: &mut Scratch,
        event: Ready,
    ) -> Step {
        let is_written = self.exchange.bytes_out() == self.request.len() as u64;
        let is_full = self.streams && !self.is_awaited && self.unread_bytes() > UNREAD_BYTES;
        let Some(connection) = &mut self.connection else { return Step::Pending };
        let mut step = Step::Pending;
        if event.writable && !(is_written && connection.is_plain()) {
            step = self.exchange.send(driver, connection, &self.request);
        }
        if is_full {
            self.is_paused = true;
            self.is_closed |= event.closed;
        } else if event.readable && !matches!(step, Step::Done(Outcome { failure: None, .. })) {
            // An answer may lie before the error that stopped the writing.
            let read = self.exchange.receive(driver, connection, scratch, event.closed);
            if !matches!((step, read), (Step::Done(_), Step::Pending | Step::Again)) {
                step = read;
            }
        }
        step
    }

    /// Waits for something until so long after `from`.
    pub(super) fn expect_until(&mut self, from: Nanos, patience: Option<Nanos>) {
        self.deadline = patience.map_or(UNSET, |patience| from.saturating_add(patience));
    }

    pub(super) fn has_deadline(&self) -> bool {
        self.deadline != UNSET
    }

    pub(super) fn is_under_way(&self) -> bool {
        matches!(self.state, State::Dialling | State::Busy)
    }

    /// Bytes of the body that came and were not taken.
    pub(super) fn unread_bytes(&self) -> usize {
        self.exchange.body.as_ref().map_or(0, Vec::len)
    }

    /// Stamps how long it took to open the connection.
    pub(super) fn note_opening(&mut self, now: Nanos) {
        let Some(connection) = &self.connection else { return };
        let connected_at = connection.connected_at();
        let stamps = &mut self.exchange.stamps;
        stamps.connect = connected_at.saturating_sub(self.dialled_at);
        if !connection.is_plain() {
            stamps.tls = now.saturating_sub(connected_at);
        }
    }

    /// What the caller gets of an exchange that has ended.
    pub(super) fn answer(&mut self, outcome: Outcome) -> Answer {
        let exchange = &mut self.exchange;
        // Only what is a stream of events was watched to its end.
        let ended = exchange.watch.as_mut().map(|watch| watch.finish(exchange.stamps.last_byte));
        self.told(outcome, ended.flatten(), false)
    }

    /// What came of an exchange that nobody reads any further.
    pub(super) fn cut(&mut self, now: Nanos) -> Answer {
        let exchange = &mut self.exchange;
        exchange.stamps.last_byte = exchange.last_read().unwrap_or(now);
        let fault = exchange.watch.as_ref().and_then(|watch| watch.seen().fault);
        let status = exchange.head().map(|head| head.status);
        // A dialect's own end is one, whatever the server would have sent behind it.
        let is_left = exchange.watch.as_ref().is_none_or(|watch| watch.seen().end == UNSET);
        self.told(Outcome { failure: None, status, reusable: false }, fault, is_left)
    }

    fn told(&mut self, outcome: Outcome, fault: Option<Reason>, is_left: bool) -> Answer {
        let exchange = &mut self.exchange;
        Answer {
            outcome,
            fault,
            is_left,
            was_reset: exchange.was_reset,
            stamps: exchange.stamps,
            head: exchange.transcript.as_mut().map(std::mem::take).unwrap_or_default(),
            body: exchange.body.as_mut().map(std::mem::take).unwrap_or_default(),
            bytes_in: exchange.bytes_in,
            bytes_out: exchange.bytes_out(),
            watch: exchange.watch.take(),
        }
    }

    /// Keeps the connection for the next exchange.
    pub(super) fn rest(&mut self) {
        self.state = State::Idle;
        self.deadline = UNSET;
        if self.request.capacity() > SPARE_BYTES {
            self.request = Vec::new();
        }
        if let Some(connection) = &mut self.connection {
            connection.served += 1;
        }
    }

    /// Belongs to nobody any more; large memory is given back.
    pub(super) fn clear(&mut self) {
        self.state = State::Free;
        self.serial = self.serial.wrapping_add(1);
        self.deadline = UNSET;
        self.generation = self.generation.wrapping_add(1);
        self.request = Vec::new();
    }
}
