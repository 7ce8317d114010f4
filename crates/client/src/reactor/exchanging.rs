//! Running exchanges: write, read, report events, end, time out.

use std::sync::Arc;

use net::{Driver, Nanos, Ready};

use super::answer::ExchangeEvent;
use super::slot::SlotState;
use super::{ExchangeId, Reactor};
use crate::{Connection, Outcome, Step, UNSET};

impl<D: Driver> Reactor<D> {
    /// Handles an event of an open connection with a running exchange.
    pub(super) fn progress(&mut self, number: u32, event: Ready) {
        let slot = &mut self.slots[number as usize];
        if slot.state != SlotState::Busy {
            return;
        }
        let step = slot.progress(&mut self.driver, &mut self.scratch, event);
        self.report_stream(number);
        self.apply_step(number, step, event.closed);
    }

    /// Begins the exchange of a slot on its connection, which is open; `event` is one of its socket.
    pub(super) fn begin_sending(&mut self, number: u32, event: Ready) {
        self.slots[number as usize].begin_sending();
        self.progress(number, Ready { writable: true, ..event });
    }

    fn apply_step(&mut self, number: u32, step: Step, is_closed: bool) {
        if let Some(ended) = self.scratch.ended.pop() {
            return self.finish(number, ended.outcome);
        }
        match step {
            Step::Pending => {
                let now = self.driver.now();
                let slot = &mut self.slots[number as usize];
                if slot.has_deadline() {
                    // The timeout begins after the last byte was written or read.
                    let last = slot.exchange.last_read().unwrap_or(now);
                    slot.set_deadline(last, slot.timeouts.read_ns);
                }
            }
            Step::Again => self.unread.push((number, is_closed)),
        }
    }

    /// Reports that the head of a stream, or the next piece of its body, has been received.
    pub(super) fn report_stream(&mut self, number: u32) {
        let slot = &mut self.slots[number as usize];
        let Some(head) = slot.exchange.response_head.as_ref().filter(|_| slot.streams) else {
            return;
        };
        let id = ExchangeId { slot: number, serial: slot.serial };
        if !slot.has_reported_head {
            slot.has_reported_head = true;
            slot.deadline = UNSET;
            let (head, stamps) = (Arc::clone(head), slot.exchange.stamps);
            self.events.push((id, ExchangeEvent::Head { head, stamps }));
        } else if slot.is_waiting && slot.unread_bytes() > 0 {
            slot.is_waiting = false;
            slot.deadline = UNSET;
            self.events.push((id, ExchangeEvent::Piece));
        }
    }

    /// Ends an exchange: reports it, and returns its connection to the pool or closes it.
    pub(super) fn finish(&mut self, number: u32, outcome: Outcome) {
        let slot = &mut self.slots[number as usize];
        let id = ExchangeId { slot: number, serial: slot.serial };
        self.events
            .push((id, ExchangeEvent::Over(Box::new(slot.answer(outcome, &self.scratch.buffer)))));
        slot.exchange.release(&mut self.scratch.budget);
        let pool = slot.pool;
        if outcome.reusable && self.pools.keep_idle(pool, number) {
            self.slots[number as usize].set_idle();
        } else {
            self.close_connection(number);
            self.release(number);
        }
    }

    /// Sets the timer of a slot; a timer that fires too early is set again.
    pub(super) fn set_timer(&mut self, number: u32) {
        let slot = &self.slots[number as usize];
        if slot.has_deadline() {
            self.timers.set_at_latest(number, slot.deadline);
        }
    }

    pub(super) fn fire_timers(&mut self, now: Nanos) {
        while let Some((_, number)) = self.timers.pop_due(now) {
            let slot = &mut self.slots[number as usize];
            if slot.is_under_way() && slot.deadline <= now {
                if let Some(reason) = slot.connection.as_ref().and_then(Connection::overdue) {
                    self.dial_failed(number, reason);
                } else {
                    let outcome = slot.exchange.time_out(now, None);
                    self.finish(number, outcome);
                }
            } else {
                self.set_timer(number);
            }
        }
    }
}
