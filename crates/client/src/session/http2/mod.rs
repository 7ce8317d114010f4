//! HTTP/2 (RFC 9113): frames of many exchanges on one connection.
//!
//! A slot whose exchange has begun waits for a stream: the server limits how many are open at once, and
//! nothing but the first is opened before it has said so. Requests and answers to frames are appended to
//! one buffer, which the owner of the connection sends once a turn.

mod core;
mod frame_reader;
mod outgoing;
mod receiving;
mod sending;
mod streams;
#[cfg(test)]
mod tests;

use std::io;

use net::Nanos;
use wire::http2::ErrorCode;

use self::core::{Begun, Core, Turn};
use self::frame_reader::FrameReader;
use super::{Ended, NextRead, ProtocolSession, Received, Slots};
use crate::{Exchange, Multiplexing};

/// The state of HTTP/2 on one connection.
#[derive(Debug)]
pub(crate) struct Http2Session {
    reader: FrameReader,
    core: Core,
}

impl Http2Session {
    pub(crate) fn new(slots: u16) -> Self {
        Self { reader: FrameReader::default(), core: Core::new(slots) }
    }

    /// Lets the next message of the gRPC call in a slot be sent at `now`.
    pub(crate) fn release_message(&mut self, slot: u16, now: Nanos, slots: &mut impl Slots) {
        self.core.latest = now;
        self.core.release_message(slot, slots);
    }

    /// Sets the number of the next stream.
    #[cfg(any(test, feature = "line-protocol"))]
    pub(crate) fn skip_to(&mut self, stream: u32) {
        self.core.streams.skip_to(stream);
    }

    /// Returns whether the server allows no stream for the exchange in a slot.
    pub(crate) fn waits_for_stream(&self, slot: u16) -> bool {
        self.core.waits_for_stream(slot)
    }

    /// Returns the bytes to send before the connection is closed: what waits, and GOAWAY.
    pub(crate) fn farewell(&mut self) -> &[u8] {
        if !self.core.is_over {
            self.core.add_goaway(ErrorCode::NO_ERROR);
        }
        self.core.out.bytes()
    }

    /// Takes note of the time.
    pub(crate) fn note_time(&mut self, now: Nanos) {
        self.core.latest = self.core.latest.max(now);
    }

    /// Returns whether the server allows the connection no more of the bytes that wait.
    pub(crate) fn is_window_used_up(&self) -> bool {
        self.core.is_window_used_up()
    }

    /// Returns the writes that began requests since the last call, and the limits of the server.
    pub(crate) fn take_multiplexing(&mut self) -> Multiplexing {
        let Begun { writes, requests } = std::mem::take(&mut self.core.begun);
        let limits = self.core.server_limits();
        let head_bytes = self.core.request_heads.largest() as u64;
        Multiplexing { writes, requests, limits, head_bytes, ..Multiplexing::default() }
    }
}

impl ProtocolSession for Http2Session {
    fn begin(&mut self, slot: u16, exchange: &mut Exchange, request: &[u8]) {
        self.core.begin(slot, exchange, request);
    }

    fn outgoing<'a>(&'a mut self, slots: &'a mut impl Slots) -> &'a [u8] {
        self.core.open_streams(slots);
        self.core.send_bodies(slots);
        self.core.out.bytes()
    }

    fn sent(&mut self, count: usize, at: Nanos, slots: &mut impl Slots) {
        self.core.sent(count, at, slots);
    }

    fn has_written(&self) -> bool {
        self.core.has_stranded()
    }

    fn end_written(&mut self, now: Nanos, slots: &mut impl Slots, ended: &mut Vec<Ended>) {
        self.core.latest = now;
        self.core.end_stranded(slots, ended);
    }

    fn is_active(&self) -> bool {
        self.core.streams.is_active()
    }

    fn reads_on(&self) -> bool {
        !self.core.is_over
    }

    fn next_read(&self, _: &mut impl Slots, _: bool, buffer: usize) -> NextRead {
        NextRead { room: buffer, discardable: 0 }
    }

    fn feed(&mut self, received: Received<'_>, slots: &mut impl Slots) {
        let Received { bytes, at, is_late, budget, ended, .. } = received;
        let mut turn = Turn { at, is_late, budget, ended, slots };
        let mut rest = bytes;
        self.core.latest = at;
        while !self.core.is_over {
            let taken = match self.reader.next(&mut rest) {
                Ok(Some(piece)) => self.core.take(piece, &mut turn),
                Ok(None) => break,
                Err(code) => Err(code),
            };
            if let Err(code) = taken {
                self.core.fail(code, &mut turn);
            }
        }
    }

    fn discarded(&mut self, _: usize, _: Received<'_>, _: &mut impl Slots) {}

    fn end_of_stream(
        &mut self,
        now: Nanos,
        is_reused: bool,
        slots: &mut impl Slots,
        ended: &mut Vec<Ended>,
    ) {
        self.core.latest = now;
        let is_reused = is_reused && self.core.streams.active_count() == 1;
        self.core.end_all(slots, ended, |exchange| exchange.closed(now, is_reused));
    }

    fn broken(
        &mut self,
        now: Nanos,
        is_reused: bool,
        error: &io::Error,
        slots: &mut impl Slots,
        ended: &mut Vec<Ended>,
    ) {
        self.core.latest = now;
        let is_reused = is_reused && self.core.streams.active_count() == 1;
        self.core.end_all(slots, ended, |exchange| exchange.broken(now, is_reused, error));
    }

    fn cancel(&mut self, slot: u16, now: Nanos, slots: &mut impl Slots) -> bool {
        self.core.latest = now;
        self.core.cancel(slot, ErrorCode::CANCEL, slots);
        true
    }

    fn accepts(&self) -> bool {
        self.core.accepts()
    }

    fn has_outgoing(&self) -> bool {
        self.core.has_outgoing()
    }

    fn runs_idle(&self) -> bool {
        true
    }
}
