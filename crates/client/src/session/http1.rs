//! HTTP/1.1: one exchange at a time, whose request is sent as the owner encoded it.

use std::io;

use net::Nanos;
use wire::{Framing, Head, Progress, Response, WireError};

use super::{Ended, NextRead, ProtocolSession, Received, Slots};
use crate::{Exchange, Outcome, Reason};

/// The bytes left of a body from which on they are discarded in the kernel, if nothing looks at
/// them: copying them costs more than another system call.
const DISCARD_FROM: u64 = 8 * 1024;

/// The size of the first read of a response whose body will be discarded: room for its head.
const HEAD_ROOM: usize = 4 * 1024;

/// The only slot.
const ONLY: u16 = 0;

/// The state of HTTP/1.1 on one connection.
#[derive(Debug, Default)]
pub(crate) struct Http1Session {
    /// The response of the running exchange.
    response: Option<Response>,
    /// The announced length of the previous body: the next one is probably as long.
    last_body: u64,
}

impl Http1Session {
    fn end(&mut self, outcome: Outcome, ended: &mut Vec<Ended>) {
        self.response = None;
        ended.push(Ended { slot: ONLY, outcome });
    }

    fn complete(&mut self, head: Head, exchange: &mut Exchange, ended: &mut Vec<Ended>) {
        if !exchange.is_looked_at() {
            self.last_body = match head.framing {
                Framing::Length(length) => length,
                _ => 0,
            };
        }
        // A response that was received before the whole request was sent leaves the rest of it unsent.
        let reusable = head.keepalive && exchange.is_written();
        self.end(exchange.complete(head.status, reusable), ended);
    }

    /// Takes note of a read that brought this progress.
    fn after_read(
        &mut self,
        progress: Result<Progress, WireError>,
        received: Received<'_>,
        exchange: &mut Exchange,
    ) {
        let Received { at, budget, ended, .. } = received;
        match progress {
            Ok(Progress::Done(head)) => self.complete(head, exchange, ended),
            Ok(Progress::More) if exchange.draw(budget) => {}
            Ok(Progress::More) => self.end(exchange.end(at, Reason::ReadNoMemory), ended),
            Err(error) => self.end(exchange.end(at, error.into()), ended),
        }
    }
}

impl ProtocolSession for Http1Session {
    fn begin(&mut self, _: u16, exchange: &mut Exchange, _: &[u8]) {
        self.response = Some(Response::new(exchange.is_head()));
    }

    fn outgoing<'a>(&'a mut self, slots: &'a mut impl Slots) -> &'a [u8] {
        if self.response.is_none() {
            return &[];
        }
        let (exchange, request) = slots.slot(ONLY);
        &request[exchange.bytes_out() as usize..]
    }

    fn sent(&mut self, count: usize, at: Nanos, slots: &mut impl Slots) {
        slots.slot(ONLY).0.note_sent(count, at);
    }

    fn is_active(&self) -> bool {
        self.response.is_some()
    }

    fn next_read(&self, slots: &mut impl Slots, is_plain: bool, buffer: usize) -> NextRead {
        let Some(response) = self.response.as_ref().filter(|_| is_plain) else {
            return NextRead { room: buffer, discardable: 0 };
        };
        let left = response.discardable();
        let (exchange, _) = slots.slot(ONLY);
        // A sample of a failed response has the beginning of its body.
        let is_failed = response.head().is_some_and(|head| head.status >= 400);
        let is_sampled = is_failed && exchange.lacks_excerpt(response.head_bytes());
        if left >= DISCARD_FROM && !is_sampled && !exchange.is_looked_at() {
            // One more than is left, so that bytes after the announced end are noticed.
            let room =
                usize::try_from(left.saturating_add(1)).map_or(buffer, |room| room.min(buffer));
            return NextRead { room, discardable: left };
        }
        let is_short = self.last_body >= DISCARD_FROM && response.head().is_none();
        NextRead { room: if is_short { HEAD_ROOM.min(buffer) } else { buffer }, discardable: 0 }
    }

    fn feed(&mut self, received: Received<'_>, slots: &mut impl Slots) {
        let (exchange, _) = slots.slot(ONLY);
        let Some(response) = &mut self.response else { return };
        let Received { bytes, at, is_late, .. } = received;
        exchange.note_read(bytes, at);
        let progress = if exchange.is_looked_at() {
            response.feed(bytes, received.heads, &mut exchange.sink(at, is_late))
        } else {
            response.feed(bytes, received.heads, &mut ())
        };
        if !matches!(progress, Ok(Progress::Done(_))) || exchange.has_excerpt() {
            let head_bytes = response.head().map(|_| response.head_bytes());
            exchange.keep_excerpt(bytes, head_bytes);
        }
        exchange.set_head(response.head());
        self.after_read(progress, received, exchange);
    }

    fn discarded(&mut self, count: usize, received: Received<'_>, slots: &mut impl Slots) {
        let (exchange, _) = slots.slot(ONLY);
        let Some(response) = &mut self.response else { return };
        exchange.note_received(count, received.at);
        let progress = if count as u64 > response.discardable() {
            Err(WireError::ExtraBytes)
        } else {
            Ok(response.discard(count as u64))
        };
        self.after_read(progress, received, exchange);
    }

    fn end_of_stream(
        &mut self,
        now: Nanos,
        is_reused: bool,
        slots: &mut impl Slots,
        ended: &mut Vec<Ended>,
    ) {
        let (exchange, _) = slots.slot(ONLY);
        match self.response.as_mut().map(Response::end_of_stream) {
            Some(Progress::Done(head)) => self.complete(head, exchange, ended),
            Some(Progress::More) => self.end(exchange.closed(now, is_reused), ended),
            None => {}
        }
    }

    fn broken(
        &mut self,
        now: Nanos,
        is_reused: bool,
        error: &io::Error,
        slots: &mut impl Slots,
        ended: &mut Vec<Ended>,
    ) {
        if self.response.is_some() {
            self.end(slots.slot(ONLY).0.broken(now, is_reused, error), ended);
        }
    }

    fn cancel(&mut self, _: u16, _: Nanos, _: &mut impl Slots) -> bool {
        // The rest of the response would be taken for the next one.
        self.response.take().is_none()
    }
}
