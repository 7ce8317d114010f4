//! Exchanges for callers that block, such as greenlets.
//!
//! The reactor itself does not block. The owner of an event loop watches the descriptor of its
//! driver, calls [`Reactor::poll`] when it is ready, and resumes the callers that the events concern.

mod answer;
mod dialling;
mod exchanging;
mod pools;
mod request;
mod slot;

use std::io;

use net::{Driver, Nanos, Ready, SourceAddresses, Timers};

pub use answer::{Answer, ExchangeEvent};
use pools::ConnectionPools;
pub use pools::{Destination, PoolId};
pub use request::{ExchangeRequest, Timeouts};
use slot::{ReactorSlot, SlotState};

use crate::{Budget, Scratch};

/// One read; TLS uses a half of it for each side, which has room for the longest message of a
/// handshake.
const BUFFER_BYTES: usize = 256 * 1024;

/// Bytes that the responses of all running exchanges may hold together; callers want whole bodies.
const MAX_BUFFERED_BYTES: usize = 256 * 1024 * 1024;

/// Rounds of reading in one call of `poll`, before the caller continues.
const ROUNDS: u32 = 4;

/// No event of a socket.
const NOTHING: Ready = Ready { token: 0, readable: false, writable: false, closed: false };

/// The event of a slot that may have unread bytes.
const READABLE: Ready = Ready { readable: true, ..NOTHING };

/// The identity of an exchange; those of ended exchanges are recognised.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExchangeId {
    slot: u32,
    serial: u32,
}

impl ExchangeId {
    /// Returns the index of the exchange, from 0; running exchanges have different indices.
    #[must_use]
    pub fn index(self) -> usize {
        self.slot as usize
    }
}

/// Connections, and the exchanges on them.
pub struct Reactor<D: Driver> {
    driver: D,
    scratch: Scratch,
    slots: Vec<ReactorSlot<D::Socket>>,
    free: Vec<u32>,
    pools: ConnectionPools,
    timers: Timers,
    ready: Vec<Ready>,
    /// Slots with unread bytes, and whether the peer has closed their connection.
    unread: Vec<(u32, bool)>,
    events: Vec<(ExchangeId, ExchangeEvent)>,
    sources: SourceAddresses,
    /// Connections that were ever opened, and those that are open.
    opened: u64,
    open: u64,
}

impl<D: Driver> Reactor<D> {
    /// Creates a reactor without connections.
    pub fn new(driver: D) -> Self {
        Self {
            driver,
            scratch: Scratch {
                budget: Budget::new(MAX_BUFFERED_BYTES),
                ..Scratch::new(BUFFER_BYTES)
            },
            slots: Vec::new(),
            free: Vec::new(),
            pools: ConnectionPools::default(),
            timers: Timers::default(),
            ready: Vec::new(),
            unread: Vec::new(),
            events: Vec::new(),
            sources: SourceAddresses::default(),
            opened: 0,
            open: 0,
        }
    }

    /// Returns the driver, whose descriptor is to be read_stream.
    pub fn driver(&mut self) -> &mut D {
        &mut self.driver
    }

    /// Returns the number of open connections, and of all that were ever opened.
    #[must_use]
    pub fn connections(&self) -> (u64, u64) {
        (self.open, self.opened)
    }

    /// Returns when `poll` must be called even if there is no event; 0 is now.
    #[must_use]
    pub fn next_poll_at(&self) -> Option<Nanos> {
        if self.unread.is_empty() { self.timers.next_at() } else { Some(0) }
    }

    /// Creates a connection pool for a destination.
    pub fn open(&mut self, to: Destination) -> PoolId {
        self.pools.open(to)
    }

    /// Closes a pool: its idle connections at once, the others when their exchanges end.
    pub fn close(&mut self, pool: PoolId) {
        for number in self.pools.close(pool) {
            self.close_connection(number);
            self.release(number);
        }
    }

    /// Starts an exchange. If it ends at once, its event exists when this returns.
    pub fn start(&mut self, request: &ExchangeRequest<'_>) -> ExchangeId {
        let now = self.driver.now();
        let number = self.idle_slot(request.pool).unwrap_or_else(|| self.free_slot());
        let slot = &mut self.slots[number as usize];
        slot.begin(request, now);
        let id = ExchangeId { slot: number, serial: slot.serial };
        if slot.connection.is_some() {
            slot.state = SlotState::Busy;
            slot.set_deadline(now, request.timeouts.read_ns);
            self.begin_sending(number, NOTHING);
        } else {
            slot.state = SlotState::Dialling;
            slot.set_deadline(now, request.timeouts.connect_ns);
            self.dial(number);
        }
        self.set_timer(number);
        id
    }

    /// Cancels an exchange: closes its connection, and drops its events. Returns the part that was
    /// received; none if the exchange had ended.
    pub fn cancel(&mut self, id: ExchangeId) -> Option<Answer> {
        self.events.retain(|(other, _)| *other != id);
        if !self.is_current(id) {
            return None;
        }
        let now = self.driver.now();
        let slot = &mut self.slots[id.index()];
        let answer = slot.cancelled_answer(now);
        slot.exchange.release(&mut self.scratch.budget);
        self.close_connection(id.slot);
        self.release(id.slot);
        Some(answer)
    }

    /// Returns the bytes of a stream that were received since the last call. If there are none, an
    /// event will follow.
    pub fn take(&mut self, id: ExchangeId) -> Vec<u8> {
        if !self.is_current(id) {
            return Vec::new();
        }
        let now = self.driver.now();
        let slot = &mut self.slots[id.index()];
        let piece = slot.exchange.body.as_mut().map(std::mem::take).unwrap_or_default();
        slot.exchange.draw(&mut self.scratch.budget);
        slot.is_waiting = piece.is_empty();
        if slot.is_waiting {
            slot.set_deadline(now, slot.timeouts.read_ns);
        }
        let was_paused = std::mem::take(&mut slot.is_paused);
        let is_closed = slot.is_closed;
        self.set_timer(id.slot);
        if was_paused {
            self.unread.push((id.slot, is_closed));
        }
        piece
    }

    /// Returns whether an exchange is running.
    #[must_use]
    pub fn is_current(&self, id: ExchangeId) -> bool {
        let slot = self.slots.get(id.index());
        slot.is_some_and(|slot| slot.serial == id.serial && slot.is_under_way())
    }

    /// Handles all socket events and due timers, and waits for an event until `until` at most; 0 does
    /// not wait. `was_busy` says that events may be older than this call.
    pub fn poll(&mut self, until: Nanos, was_busy: bool) -> io::Result<()> {
        let mut ready = std::mem::take(&mut self.ready);
        let waited = self.driver.wait(until, &mut ready);
        self.scratch.woken = if was_busy { 0 } else { self.driver.now() };
        for event in &ready {
            self.dispatch(*event);
        }
        ready.clear();
        self.ready = ready;
        for _ in 0..ROUNDS {
            for (number, closed) in std::mem::take(&mut self.unread) {
                let event = Ready { closed, ..READABLE };
                match self.slots[number as usize].state {
                    SlotState::Dialling => self.advance(number, event),
                    _ => self.progress(number, event),
                }
            }
        }
        self.fire_timers(self.driver.now());
        waited
    }

    /// Returns the events since the last call.
    pub fn take_events(&mut self) -> std::vec::Drain<'_, (ExchangeId, ExchangeEvent)> {
        self.events.drain(..)
    }

    /// Returns an event of one exchange; used for exchanges that end while they are started.
    pub fn take_event_of(&mut self, id: ExchangeId) -> Option<ExchangeEvent> {
        let at = self.events.iter().position(|(other, _)| *other == id)?;
        Some(self.events.swap_remove(at).1)
    }

    fn dispatch(&mut self, event: Ready) {
        // Both halves of a token are 32 bits wide.
        let (number, generation) = (event.token as u32, (event.token >> 32) as u32);
        let Some(slot) = self.slots.get(number as usize) else { return };
        if slot.generation != generation {
            return;
        }
        match slot.state {
            SlotState::Free => {}
            SlotState::Idle => self.check_idle(number),
            SlotState::Dialling => self.advance(number, event),
            SlotState::Busy => self.progress(number, event),
        }
    }
}
