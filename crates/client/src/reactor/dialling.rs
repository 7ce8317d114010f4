//! Connections: dialled, kept idle, looked at before they are used again, closed.

use std::io::ErrorKind;

use net::{Driver, Ready};

use super::Reactor;
use super::lane::LaneId;
use super::slot::{Slot, State};
use crate::{Opening, Reason};

impl<D: Driver> Reactor<D> {
    /// An idle connection that is still good, the latest used first.
    pub(super) fn idle_slot(&mut self, lane: LaneId) -> Option<u32> {
        while let Some(number) = self.lanes.take_idle(lane) {
            if self.is_quiet(number) {
                return Some(number);
            }
            self.hang_up(number);
            self.release(number);
        }
        None
    }

    pub(super) fn free_slot(&mut self) -> u32 {
        self.free.pop().unwrap_or_else(|| {
            self.slots.push(Slot::default());
            // As many as there are descriptors, at most.
            (self.slots.len() - 1) as u32
        })
    }

    /// Whether an idle connection lives, and nothing has come on it that nobody asked for.
    pub(super) fn is_quiet(&mut self, number: u32) -> bool {
        let slot = &mut self.slots[number as usize];
        let read = slot
            .connection
            .as_mut()
            .map(|connection| connection.recv(&mut self.driver, &mut self.scratch.buffer));
        matches!(read, Some(Err(error)) if error.kind() == ErrorKind::WouldBlock)
    }

    pub(super) fn dial(&mut self, number: u32) {
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

    pub(super) fn dial_failed(&mut self, number: u32, reason: Reason) {
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

    pub(super) fn advance(&mut self, number: u32, event: Ready) {
        let slot = &mut self.slots[number as usize];
        let Some(connection) = &mut slot.connection else { return };
        match connection.advance(&mut self.driver, event, &mut self.scratch.buffer) {
            Ok(Opening::Pending) => {}
            Ok(Opening::Again) => self.unread.push((number, event.closed)),
            Ok(Opening::Open) => self.opened(number, event),
            Err(reason) => self.dial_failed(number, reason),
        }
    }

    pub(super) fn opened(&mut self, number: u32, event: Ready) {
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

    /// An event on a connection that nobody uses: whatever comes, it is of no more use.
    pub(super) fn look_for_end(&mut self, number: u32) {
        if self.is_quiet(number) {
            return;
        }
        self.lanes.drop_idle(self.slots[number as usize].lane, number);
        self.hang_up(number);
        self.release(number);
    }

    pub(super) fn hang_up(&mut self, number: u32) {
        let slot = &mut self.slots[number as usize];
        self.open -= u64::from(std::mem::take(&mut slot.is_open));
        if let Some(mut connection) = slot.connection.take() {
            connection.end(&mut self.driver);
        }
    }

    pub(super) fn release(&mut self, number: u32) {
        self.slots[number as usize].clear();
        self.free.push(number);
    }
}
