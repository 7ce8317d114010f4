//! Connections: open, check before reuse, close.

use net::{Driver, Ready};

use super::Reactor;
use super::pools::PoolId;
use super::slot::{ReactorSlot, SlotState};
use crate::{Opening, Reason};

impl<D: Driver> Reactor<D> {
    /// Returns an idle connection that is still open; the one that was used last comes first.
    pub(super) fn idle_slot(&mut self, pool: PoolId) -> Option<u32> {
        while let Some(number) = self.pools.take_idle(pool) {
            if self.is_still_open(number) {
                return Some(number);
            }
            self.close_connection(number);
            self.release(number);
        }
        None
    }

    pub(super) fn free_slot(&mut self) -> u32 {
        self.free.pop().unwrap_or_else(|| {
            self.slots.push(ReactorSlot::default());
            // At most as many as there are descriptors.
            (self.slots.len() - 1) as u32
        })
    }

    /// Returns whether an idle connection is open and has no unread bytes.
    pub(super) fn is_still_open(&mut self, number: u32) -> bool {
        let connection = &mut self.slots[number as usize].connection;
        connection
            .as_mut()
            .is_some_and(|connection| connection.is_quiet(&mut self.driver, &mut self.scratch))
    }

    pub(super) fn dial(&mut self, number: u32) {
        let slot = &mut self.slots[number as usize];
        let Some(to) = self.pools.address(slot.pool, slot.route).cloned() else {
            return self.dial_failed(number, Reason::ConnectOther);
        };
        let addresses = (&to, self.sources.next(&to));
        slot.generation = slot.generation.wrapping_add(1);
        let token = u64::from(slot.generation) << 32 | u64::from(number);
        match self.pools.connect(slot.pool, &mut self.driver, addresses, token) {
            Ok(connection) => slot.connection = Some(connection),
            Err(reason) => self.dial_failed(number, reason),
        }
    }

    pub(super) fn dial_failed(&mut self, number: u32, reason: Reason) {
        self.close_connection(number);
        let now = self.driver.now();
        let slot = &mut self.slots[number as usize];
        slot.route += 1;
        let has_other = self.pools.address(slot.pool, slot.route).is_some();
        if has_other && reason.is_worth_another_address() {
            return self.dial(number);
        }
        let outcome = slot.exchange.end(now, reason);
        self.finish(number, outcome);
    }

    pub(super) fn advance(&mut self, number: u32, event: Ready) {
        let slot = &mut self.slots[number as usize];
        let Some(connection) = &mut slot.connection else { return };
        match connection.advance(&mut self.driver, event, &mut self.scratch) {
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
        if let Some(connection) = &slot.connection {
            connection.stamp_opening(&mut slot.exchange.stamps, now);
        }
        (slot.state, slot.is_open) = (SlotState::Busy, true);
        slot.set_deadline(now, slot.timeouts.read_ns);
        self.set_timer(number);
        self.begin_sending(number, event);
    }

    /// Closes an idle connection on which bytes or its end were received.
    pub(super) fn check_idle(&mut self, number: u32) {
        if self.is_still_open(number) {
            return;
        }
        self.pools.drop_idle(self.slots[number as usize].pool, number);
        self.close_connection(number);
        self.release(number);
    }

    pub(super) fn close_connection(&mut self, number: u32) {
        let slot = &mut self.slots[number as usize];
        self.open -= u64::from(std::mem::take(&mut slot.is_open));
        if let Some(mut connection) = slot.connection.take() {
            connection.close(&mut self.driver);
        }
    }

    pub(super) fn release(&mut self, number: u32) {
        self.slots[number as usize].clear();
        self.free.push(number);
    }
}
