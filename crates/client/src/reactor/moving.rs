//! Exchanges: written, read, told of, ended, and out of time.

use net::{Driver, Nanos, Ready};

use super::answer::News;
use super::slot::State;
use super::{Reactor, Ticket};
use crate::{Connection, Outcome, Step, UNSET};

impl<D: Driver> Reactor<D> {
    pub(super) fn write(&mut self, number: u32) {
        let step = self.slots[number as usize].write(&mut self.driver);
        self.follow(number, step, false);
    }

    /// An event of an open connection with an exchange on it.
    pub(super) fn progress(&mut self, number: u32, event: Ready) {
        let slot = &mut self.slots[number as usize];
        if slot.state != State::Busy {
            return;
        }
        let step = slot.progress(&mut self.driver, &mut self.scratch, event);
        self.tell_of_stream(number);
        self.follow(number, step, event.closed);
    }

    pub(super) fn follow(&mut self, number: u32, step: Step, is_closed: bool) {
        match step {
            Step::Pending => {
                let now = self.driver.now();
                let slot = &mut self.slots[number as usize];
                if slot.has_deadline() {
                    // Whoever still writes has not begun to wait.
                    let last = slot.exchange.last_read().unwrap_or(now);
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
    pub(super) fn tell_of_stream(&mut self, number: u32) {
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
    pub(super) fn finish(&mut self, number: u32, outcome: Outcome) {
        let slot = &mut self.slots[number as usize];
        let ticket = Ticket { slot: number, serial: slot.serial };
        self.news.push((ticket, News::Over(Box::new(slot.answer(outcome)))));
        slot.exchange.release(&mut self.scratch.budget);
        let lane = slot.lane;
        if outcome.reusable && self.lanes.keep_idle(lane, number) {
            self.slots[number as usize].rest();
        } else {
            self.hang_up(number);
            self.release(number);
        }
    }

    /// An alarm that rings too early is moved to a later time then.
    pub(super) fn set_alarm(&mut self, number: u32) {
        let slot = &self.slots[number as usize];
        if slot.has_deadline() {
            self.timers.set_at_latest(number, slot.deadline);
        }
    }

    pub(super) fn ring(&mut self, now: Nanos) {
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
                self.set_alarm(number);
            }
        }
    }
}
