//! WebSocket (RFC 6455): an opening handshake, then a message for each exchange, and its answer.
//!
//! A slot has one message at a time, from when it is written until its answer is complete. Extensions are
//! not offered. A message that answers none is counted and ignored.

mod confirmation;
mod core;
mod opening;
mod options;
mod outgoing;
#[cfg(test)]
mod tests;

use std::io;
use std::sync::Arc;

use net::Nanos;
use wire::websocket::{Masking, WebSocketReader};

use self::core::{MessageCore, MessageTurn};
use self::opening::OpeningHandshake;
pub use self::options::{MessageMatching, WebSocketOptions};
use self::outgoing::KeyGenerator;
use super::{Ended, NextRead, ProtocolSession, Received, Slots};
use crate::{Exchange, Outcome};

/// The largest message that is received.
const MAX_MESSAGE_BYTES: u64 = 16 * 1024 * 1024;

/// The same where a message is collected before its exchange is known.
const MAX_COLLECTED_BYTES: u64 = 1024 * 1024;

/// Returns the request of the handshake of a connection with this seed.
pub(super) fn handshake_text(options: &WebSocketOptions, seed: u64) -> Vec<u8> {
    OpeningHandshake::new(KeyGenerator::new(seed).next_16()).request(&options.handshake)
}

/// The state of WebSocket on one connection.
#[derive(Debug)]
pub(crate) struct WebSocketSession {
    reader: WebSocketReader,
    /// Bytes of a frame that were received before anything of it could be used.
    begun_bytes: usize,
    core: MessageCore,
}

impl WebSocketSession {
    pub(crate) fn new(options: Arc<WebSocketOptions>, seed: u64) -> Self {
        let most = match options.matching {
            MessageMatching::Id(_) => MAX_COLLECTED_BYTES,
            MessageMatching::Order | MessageMatching::None => MAX_MESSAGE_BYTES,
        };
        let reader = WebSocketReader::new(Masking::Forbidden, most);
        Self { reader, begun_bytes: 0, core: MessageCore::new(options, seed) }
    }

    /// Returns whether the handshake is not complete.
    pub(crate) fn is_opening(&self) -> bool {
        self.core.is_opening()
    }

    /// Returns for how long messages could be sent, if they could at all; `now` is the end.
    pub(crate) fn lifetime(&self, now: Nanos) -> Option<Nanos> {
        self.core.lifetime(now)
    }

    /// Returns whether the server has ended the connection.
    pub(crate) fn is_ended_by_server(&self) -> bool {
        self.core.is_ended_by_server
    }

    /// Returns what a refused handshake returned, if no exchange waited for it, and how it ended.
    pub(crate) fn take_refusal(&mut self) -> Option<(Exchange, Outcome)> {
        self.core.refusal.take().map(|refusal| *refusal)
    }

    /// Asks the server to confirm that it has read all messages, if these have no answers; returns whether
    /// it has.
    pub(crate) fn request_confirmation(&mut self, now: Nanos) -> bool {
        self.core.request_confirmation(now)
    }

    /// Leaves the end of the connection to the server, if its messages have no answers; returns whether the
    /// server is to end it.
    pub(crate) fn begin_close(&mut self, now: Nanos) -> bool {
        self.core.begin_close(now)
    }

    /// Returns whether the server is to end the connection.
    pub(crate) fn awaits_server_end(&self) -> bool {
        self.core.is_closing()
    }

    /// Returns whether the server has not confirmed that it has read all messages, which have no answers.
    pub(crate) fn is_unconfirmed(&self) -> bool {
        self.core.is_unconfirmed()
    }

    /// Ends the connection; returns the bytes that are to be sent before it is closed.
    pub(crate) fn farewell(&mut self) -> &[u8] {
        if self.core.is_opening() {
            return &[];
        }
        self.core.leave();
        self.core.out.bytes()
    }
}

impl ProtocolSession for WebSocketSession {
    fn begin(&mut self, slot: u16, exchange: &mut Exchange, request: &[u8]) {
        self.core.begin(slot, exchange, request);
    }

    fn outgoing<'a>(&'a mut self, _: &'a mut impl Slots) -> &'a [u8] {
        self.core.answer_ping();
        self.core.out.bytes()
    }

    fn sent(&mut self, count: usize, at: Nanos, slots: &mut impl Slots) {
        self.core.sent(count, at, slots);
    }

    fn has_written(&self) -> bool {
        self.core.has_written()
    }

    fn end_written(&mut self, now: Nanos, slots: &mut impl Slots, ended: &mut Vec<Ended>) {
        self.core.end_written(now, slots, ended);
    }

    fn is_active(&self) -> bool {
        self.core.is_active()
    }

    fn reads_on(&self) -> bool {
        !self.core.is_over()
    }

    fn next_read(&self, _: &mut impl Slots, _: bool, buffer: usize) -> NextRead {
        NextRead { room: buffer, discardable: 0 }
    }

    fn feed(&mut self, received: Received<'_>, slots: &mut impl Slots) {
        let Received { bytes, at, is_late, budget, ended, messages, .. } = received;
        let mut turn = MessageTurn { at, is_late, budget, ended, messages, slots };
        let mut rest = bytes;
        if self.core.is_opening() {
            self.core.shake_hands(&mut rest, &mut turn);
        }
        while self.core.is_open() || self.core.is_closing() {
            let before = rest.len();
            match self.reader.next(&mut rest) {
                Ok(Some(event)) => {
                    let count = std::mem::take(&mut self.begun_bytes) + before - rest.len();
                    self.core.take(event, count, &mut turn);
                }
                Ok(None) => {
                    self.begun_bytes += before - rest.len();
                    break;
                }
                Err(error) => self.core.fail(error, &mut turn),
            }
        }
    }

    fn discarded(&mut self, _: usize, _: Received<'_>, _: &mut impl Slots) {}

    fn end_of_stream(
        &mut self,
        now: Nanos,
        _: bool,
        slots: &mut impl Slots,
        ended: &mut Vec<Ended>,
    ) {
        self.core.end_closing();
        self.core.lost(slots, ended, |exchange| exchange.closed(now, false));
    }

    fn broken(
        &mut self,
        now: Nanos,
        _: bool,
        error: &io::Error,
        slots: &mut impl Slots,
        ended: &mut Vec<Ended>,
    ) {
        self.core.break_closing();
        self.core.lost(slots, ended, |exchange| exchange.broken(now, false, error));
    }

    fn cancel(&mut self, slot: u16, _: Nanos, _: &mut impl Slots) -> bool {
        self.core.cancel(slot)
    }

    fn accepts(&self) -> bool {
        self.core.is_opening() || self.core.is_open()
    }

    fn has_outgoing(&self) -> bool {
        self.core.has_outgoing()
    }

    fn runs_idle(&self) -> bool {
        true
    }
}
