//! Deadlines of lanes: what is given up, and what only seems to stand still.

use client::{Connection, Reason};
use net::{Driver, Nanos};

use super::Worker;
use super::alarms::Alarm;
use super::lane::State;

/// What has come but was not read yet is read within this time.
const READING_NS: Nanos = 1_000_000;

impl<D: Driver> Worker<D> {
    /// Rings when the lane's deadline may have come.
    pub(super) fn ring_lane(&mut self, number: u32, now: Nanos) {
        let lane = &mut self.lanes[number as usize];
        if lane.state == State::Idle {
            return;
        }
        if lane.deadline > now {
            let deadline = lane.deadline;
            return self.watch(number, deadline);
        }
        match lane.state {
            State::Opening => {
                let overdue = lane.connection.as_ref().and_then(Connection::overdue);
                self.hang_up(number);
                self.dial_failed(number, overdue.unwrap_or(Reason::TimeoutConnect), now);
            }
            State::Resting | State::Looking => {
                let since = lane.deadline;
                self.released.push_back((number, since));
            }
            State::Busy => self.ring_busy(number, now),
            State::Idle => {}
        }
    }

    /// An exchange has taken too long, or its stream may have stood still for too long.
    fn ring_busy(&mut self, number: u32, now: Nanos) {
        let lane = &mut self.lanes[number as usize];
        if lane.is_put_off {
            return self.watch(number, now + READING_NS);
        }
        let opening = lane.connection.as_ref().and_then(Connection::overdue);
        let mut reason = opening;
        if now < lane.gives_up_at {
            let next = self.still_until(number, now);
            if now < next {
                let next = next.min(self.lanes[number as usize].gives_up_at);
                return self.watch(number, next);
            }
            reason = opening.or(Some(Reason::TimeoutIdle));
        }
        let lane = &mut self.lanes[number as usize];
        let outcome = lane.exchange.time_out(now, reason);
        self.finish(number, outcome);
    }

    /// Sets the deadline of a lane. Its alarm moves to a later time only when it rings: most
    /// deadlines are never reached.
    pub(super) fn watch(&mut self, number: u32, deadline: Nanos) {
        self.lanes[number as usize].deadline = deadline;
        self.alarms.set_at_latest(deadline, Alarm::Lane(number));
    }

    /// Until when the stream of a lane may stand still. One that has not begun stands still for
    /// longer: that is for the timeout to judge.
    fn still_until(&self, number: u32, now: Nanos) -> Nanos {
        let lane = &self.lanes[number as usize];
        let request = &self.share.prepared.requests[usize::from(lane.request)];
        let until = request.still_until(&lane.exchange, now);
        let unread = || lane.connection.as_ref().map_or(0, |known| known.unread(&self.driver));
        // It was the worker that stood still.
        if until <= now && unread() > 0 { now + READING_NS } else { until }
    }

    pub(super) fn timeout_of(&self, number: u32) -> Nanos {
        let request = usize::from(self.lanes[number as usize].request);
        self.share.prepared.requests[request].timeout_ns
    }
}
