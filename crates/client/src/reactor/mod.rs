//! Exchanges for callers that wait: asked for one by one, moved whenever somebody looks, reported
//! when there is news.
//!
//! It never waits and knows nothing of who does. The owner of a loop watches its driver's
//! descriptor, calls [`Reactor::turn`] when it is ready, and wakes whom the news concern.

mod answer;
mod ask;
mod lane;
mod slot;

use std::io::{self, ErrorKind};

use net::{Driver, Nanos, Ready, SourceAddresses, Timers};

pub use answer::{Answer, News};
pub use ask::{Ask, Patience};
use lane::Lanes;
pub use lane::{Destination, LaneId};
use slot::{Slot, State};

use crate::{Connection, Opening, Outcome, Reason, Scratch, Step, UNSET};

/// One read; TLS uses a half of it for each side.
const BUFFER_BYTES: usize = 64 * 1024;

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
    timers: Timers<u32>,
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
            scratch: Scratch::new(BUFFER_BYTES),
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
        let answer = self.slots[ticket.place()].cut(now);
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
        slot.is_awaited = piece.is_empty();
        if slot.is_awaited {
            slot.expect_until(now, slot.patience.read_ns);
        }
        let was_paused = std::mem::take(&mut slot.is_paused);
        self.set_alarm(ticket.slot);
        if was_paused {
            self.unread.push((ticket.slot, false));
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
                self.progress(number, event);
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

    /// An idle connection that is still good, the latest used first.
    fn idle_slot(&mut self, lane: LaneId) -> Option<u32> {
        while let Some(number) = self.lanes.take_idle(lane) {
            if self.is_quiet(number) {
                return Some(number);
            }
            self.hang_up(number);
            self.release(number);
        }
        None
    }

    fn free_slot(&mut self) -> u32 {
        self.free.pop().unwrap_or_else(|| {
            self.slots.push(Slot::default());
            // As many as there are descriptors, at most.
            (self.slots.len() - 1) as u32
        })
    }

    /// Whether an idle connection lives, and nothing has come on it that nobody asked for.
    fn is_quiet(&mut self, number: u32) -> bool {
        let slot = &mut self.slots[number as usize];
        let read = slot
            .connection
            .as_mut()
            .map(|connection| connection.recv(&mut self.driver, &mut self.scratch.buffer));
        matches!(read, Some(Err(error)) if error.kind() == ErrorKind::WouldBlock)
    }

    fn dial(&mut self, number: u32) {
        let slot = &mut self.slots[number as usize];
        let Some(to) = self.lanes.address(slot.lane, slot.route).cloned() else {
            return self.dial_failed(number, Reason::ConnectOther);
        };
        let way = (&to, self.sources.next(&to));
        slot.generation = slot.generation.wrapping_add(1);
        slot.dialled_at = self.driver.now();
        let token = u64::from(slot.generation) << 32 | u64::from(number);
        match self.lanes.connect(slot.lane, &mut self.driver, way, token) {
            Ok(connection) => slot.connection = Some(connection),
            Err(reason) => self.dial_failed(number, reason),
        }
    }

    fn dial_failed(&mut self, number: u32, reason: Reason) {
        self.hang_up(number);
        let now = self.driver.now();
        let slot = &mut self.slots[number as usize];
        slot.route += 1;
        let has_other = self.lanes.address(slot.lane, slot.route).is_some();
        if has_other && !reason.is_local() && reason != Reason::TimeoutConnect {
            return self.dial(number);
        }
        let outcome = slot.exchange.end(now, reason);
        self.finish(number, outcome);
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

    fn advance(&mut self, number: u32, event: Ready) {
        let slot = &mut self.slots[number as usize];
        let Some(connection) = &mut slot.connection else { return };
        match connection.advance(&mut self.driver, event, &mut self.scratch.buffer) {
            Ok(Opening::Pending) => {}
            Ok(Opening::Open) => self.opened(number, event),
            Err(reason) => self.dial_failed(number, reason),
        }
    }

    fn opened(&mut self, number: u32, event: Ready) {
        self.opened += 1;
        self.open += 1;
        let now = self.driver.now();
        let slot = &mut self.slots[number as usize];
        slot.note_opening(now);
        (slot.state, slot.is_open) = (State::Busy, true);
        slot.expect_until(now, slot.patience.read_ns);
        self.set_alarm(number);
        self.progress(number, Ready { writable: true, ..event });
    }

    fn write(&mut self, number: u32) {
        let step = self.slots[number as usize].write(&mut self.driver);
        self.follow(number, step, false);
    }

    /// An event of an open connection with an exchange on it.
    fn progress(&mut self, number: u32, event: Ready) {
        let slot = &mut self.slots[number as usize];
        if slot.state != State::Busy {
            return;
        }
        let step = slot.progress(&mut self.driver, &mut self.scratch, event);
        self.tell_of_stream(number);
        self.follow(number, step, event.closed);
    }

    fn follow(&mut self, number: u32, step: Step, is_closed: bool) {
        match step {
            Step::Pending => {
                let slot = &mut self.slots[number as usize];
                if slot.has_deadline() {
                    let last = slot.exchange.last_read().unwrap_or(slot.exchange.stamps.sent);
                    slot.expect_until(last, slot.patience.read_ns);
                }
            }
            Step::Again => self.unread.push((number, is_closed)),
            Step::Done(outcome) => {
                let reusable = outcome.reusable && !is_closed;
                self.finish(number, Outcome { reusable, ..outcome });
            }
        }
    }

    /// Tells whoever reads a stream that its head has come, or the next piece of its body.
    fn tell_of_stream(&mut self, number: u32) {
        let slot = &mut self.slots[number as usize];
        if !slot.streams || slot.exchange.head().is_none() {
            return;
        }
        let ticket = Ticket { slot: number, serial: slot.serial };
        if !slot.is_told_of_head {
            slot.is_told_of_head = true;
            slot.deadline = UNSET;
            let head = slot.exchange.transcript.as_mut().map(std::mem::take).unwrap_or_default();
            let status = slot.exchange.head().map_or(0, |head| head.status);
            self.news.push((ticket, News::Head { status, head, stamps: slot.exchange.stamps }));
        } else if slot.is_awaited && slot.unread_bytes() > 0 {
            slot.is_awaited = false;
            slot.deadline = UNSET;
            self.news.push((ticket, News::Piece));
        }
    }

    /// Ends an exchange: reports it, keeps or drops the connection, frees the slot.
    fn finish(&mut self, number: u32, outcome: Outcome) {
        let slot = &mut self.slots[number as usize];
        let ticket = Ticket { slot: number, serial: slot.serial };
        self.news.push((ticket, News::Over(Box::new(slot.answer(outcome)))));
        let lane = slot.lane;
        if outcome.reusable && self.lanes.keep_idle(lane, number) {
            self.slots[number as usize].rest();
        } else {
            self.hang_up(number);
            self.release(number);
        }
    }

    /// An event on a connection that nobody uses: whatever comes, it is of no more use.
    fn look_for_end(&mut self, number: u32) {
        if self.is_quiet(number) {
            return;
        }
        self.lanes.drop_idle(self.slots[number as usize].lane, number);
        self.hang_up(number);
        self.release(number);
    }

    fn hang_up(&mut self, number: u32) {
        let slot = &mut self.slots[number as usize];
        self.open -= u64::from(std::mem::take(&mut slot.is_open));
        if let Some(mut connection) = slot.connection.take() {
            connection.end(&mut self.driver);
        }
    }

    fn release(&mut self, number: u32) {
        self.slots[number as usize].clear();
        self.free.push(number);
    }

    /// One alarm a slot at most: it is moved on when it rings too early.
    fn set_alarm(&mut self, number: u32) {
        let slot = &mut self.slots[number as usize];
        if slot.has_deadline() && slot.deadline < slot.alarm {
            slot.alarm = slot.deadline;
            self.timers.set(slot.deadline, number);
        }
    }

    fn ring(&mut self, now: Nanos) {
        while let Some((at, number)) = self.timers.pop_due(now) {
            let slot = &mut self.slots[number as usize];
            if slot.alarm != at {
                continue;
            }
            slot.alarm = UNSET;
            if slot.is_under_way() && slot.deadline <= now {
                let opening = slot.connection.as_ref().and_then(Connection::overdue);
                if opening.is_some() {
                    self.dial_failed(number, opening.unwrap_or(Reason::TimeoutConnect));
                } else {
                    let outcome = slot.exchange.time_out(now, None);
                    self.finish(number, outcome);
                }
            } else {
                self.set_alarm(number);
            }
        }
    }
}
