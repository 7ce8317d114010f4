//! Exchanges for callers that wait: asked for one by one, moved whenever somebody looks, reported
//! when there is news.
//!
//! It never waits and knows nothing of who does. The owner of a loop watches its driver's
//! descriptor, calls [`Reactor::turn`] when it is ready, and wakes whom the news concern.

mod answer;
mod ask;
mod dialling;
mod lane;
mod moving;
mod slot;

use std::io;

use net::{Driver, Nanos, Ready, SourceAddresses, Timers};

pub use answer::{Answer, News};
pub use ask::{Ask, Patience};
use lane::Lanes;
pub use lane::{Destination, LaneId};
use slot::{Slot, State};

use crate::{Budget, Scratch};

/// One read; TLS uses a half of it for each side, which has room for the longest message of a
/// handshake.
const BUFFER_BYTES: usize = 256 * 1024;

/// Bytes that all answers under way may hold together: callers want whole bodies, however large.
const HELD_BYTES: usize = 256 * 1024 * 1024;

/// Rounds of reading in one turn before others get theirs.
const ROUNDS: u32 = 4;

/// What a slot is told when no event said so: there may be something to read.
const READ_ON: Ready = Ready { token: 0, readable: true, writable: false, closed: false };

/// Which exchange: stale ones are recognised.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ticket {
    slot: u32,
    serial: u32,
}

impl Ticket {
    /// The place of the exchange, counted from 0: those under way have different ones.
    #[must_use]
    pub fn place(self) -> usize {
        self.slot as usize
    }
}

/// Connections, and the exchanges on them.
pub struct Reactor<D: Driver> {
    driver: D,
    scratch: Scratch,
    slots: Vec<Slot<D::Socket>>,
    free: Vec<u32>,
    lanes: Lanes,
    timers: Timers,
    ready: Vec<Ready>,
    /// Slots whose last read left something behind, and whether their stream has been closed.
    unread: Vec<(u32, bool)>,
    news: Vec<(Ticket, News)>,
    sources: SourceAddresses,
    /// Connections that were ever open, and that are now.
    opened: u64,
    open: u64,
}

impl<D: Driver> Reactor<D> {
    /// Nothing is connected yet.
    pub fn new(driver: D) -> Self {
        Self {
            driver,
            scratch: Scratch { budget: Budget::new(HELD_BYTES), ..Scratch::new(BUFFER_BYTES) },
            slots: Vec::new(),
            free: Vec::new(),
            lanes: Lanes::default(),
            timers: Timers::default(),
            ready: Vec::new(),
            unread: Vec::new(),
            news: Vec::new(),
            sources: SourceAddresses::default(),
            opened: 0,
            open: 0,
        }
    }

    /// Its driver, to be watched.
    pub fn driver(&mut self) -> &mut D {
        &mut self.driver
    }

    /// Connections that are open, and that ever were.
    #[must_use]
    pub fn connections(&self) -> (u64, u64) {
        (self.open, self.opened)
    }

    /// When it wants a turn, whether there is an event or not: 0 is now.
    #[must_use]
    pub fn next_turn(&self) -> Option<Nanos> {
        if self.unread.is_empty() { self.timers.next_at() } else { Some(0) }
    }

    /// A lane of its own to a destination: its connections are kept for nobody else.
    pub fn open(&mut self, to: Destination) -> LaneId {
        self.lanes.open(to)
    }

    /// Closes a lane: its idle connections now, the others when their exchanges end.
    pub fn close(&mut self, lane: LaneId) {
        for number in self.lanes.close(lane) {
            self.hang_up(number);
            self.release(number);
        }
    }

    /// Begins an exchange. What ends at once is in the news before this returns.
    pub fn submit(&mut self, ask: &Ask<'_>) -> Ticket {
        let now = self.driver.now();
        let number = self.idle_slot(ask.lane).unwrap_or_else(|| self.free_slot());
        let slot = &mut self.slots[number as usize];
        slot.begin(ask, now);
        let ticket = Ticket { slot: number, serial: slot.serial };
        if slot.connection.is_some() {
            slot.state = State::Busy;
            slot.expect_until(now, ask.patience.read_ns);
            self.write(number);
        } else {
            slot.state = State::Dialling;
            slot.expect_until(now, ask.patience.connect_ns);
            self.dial(number);
        }
        self.set_alarm(number);
        ticket
    }

    /// Gives up an exchange: its connection is closed, no news of it will come. What came of it
    /// until now is given; none if it had ended.
    pub fn cancel(&mut self, ticket: Ticket) -> Option<Answer> {
        self.news.retain(|(other, _)| *other != ticket);
        if !self.is_current(ticket) {
            return None;
        }
        let now = self.driver.now();
        let slot = &mut self.slots[ticket.place()];
        let answer = slot.cut(now);
        slot.exchange.release(&mut self.scratch.budget);
        self.hang_up(ticket.slot);
        self.release(ticket.slot);
        Some(answer)
    }

    /// What came of a stream since it was asked last. Empty while nothing did: then there will be
    /// news of it.
    pub fn take(&mut self, ticket: Ticket) -> Vec<u8> {
        if !self.is_current(ticket) {
            return Vec::new();
        }
        let now = self.driver.now();
        let slot = &mut self.slots[ticket.place()];
        let piece = slot.exchange.body.as_mut().map(std::mem::take).unwrap_or_default();
        slot.exchange.draw(&mut self.scratch.budget);
        slot.is_awaited = piece.is_empty();
        if slot.is_awaited {
            slot.expect_until(now, slot.patience.read_ns);
        }
        let was_paused = std::mem::take(&mut slot.is_paused);
        let is_closed = slot.is_closed;
        self.set_alarm(ticket.slot);
        if was_paused {
            self.unread.push((ticket.slot, is_closed));
        }
        piece
    }

    /// Whether an exchange has not ended.
    #[must_use]
    pub fn is_current(&self, ticket: Ticket) -> bool {
        let slot = self.slots.get(ticket.place());
        slot.is_some_and(|slot| slot.serial == ticket.serial && slot.is_under_way())
    }

    /// Moves whatever can be moved, and waits for that until then at most: who waits elsewhere
    /// gives 0. `was_busy` says that events may have lain there for a while.
    pub fn turn(&mut self, until: Nanos, was_busy: bool) -> io::Result<()> {
        let mut ready = std::mem::take(&mut self.ready);
        let looked = self.driver.wait(until, &mut ready);
        self.scratch.woken = if was_busy { 0 } else { self.driver.now() };
        for event in &ready {
            self.move_on(*event);
        }
        ready.clear();
        self.ready = ready;
        for _ in 0..ROUNDS {
            for (number, closed) in std::mem::take(&mut self.unread) {
                let event = Ready { closed, ..READ_ON };
                match self.slots[number as usize].state {
                    State::Dialling => self.advance(number, event),
                    _ => self.progress(number, event),
                }
            }
        }
        self.ring(self.driver.now());
        looked
    }

    /// What has happened since it was asked last.
    pub fn news(&mut self) -> std::vec::Drain<'_, (Ticket, News)> {
        self.news.drain(..)
    }

    /// News of one exchange alone: what happened while it was submitted.
    pub fn news_of(&mut self, ticket: Ticket) -> Option<News> {
        let at = self.news.iter().position(|(other, _)| *other == ticket)?;
        Some(self.news.swap_remove(at).1)
    }

    fn move_on(&mut self, event: Ready) {
        // Both halves of a token are 32 bits wide.
        let (number, generation) = (event.token as u32, (event.token >> 32) as u32);
        let Some(slot) = self.slots.get(number as usize) else { return };
        if slot.generation != generation {
            return;
        }
        match slot.state {
            State::Free => {}
            State::Idle => self.look_for_end(number),
            State::Dialling => self.advance(number, event),
            State::Busy => self.progress(number, event),
        }
    }
}
