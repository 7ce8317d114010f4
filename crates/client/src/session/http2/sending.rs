//! Sending: streams are opened for the exchanges that wait, and bodies are sent as windows allow.

use net::Nanos;
use wire::http2::{FRAME_HEAD_BYTES, Flags, FrameHead, FrameKind};

use super::core::Core;
use super::streams::{StreamPhase, StreamState};
use crate::session::{Ended, Slots};
use crate::{Reason, UNSET};

/// Bytes in the buffer, beyond which no more of bodies is added before some were sent; and of one body in
/// turn, whatever the server allows.
const ENOUGH_BYTES: usize = 64 * 1024;

impl Core {
    /// Returns whether there is anything to send.
    pub(super) fn has_outgoing(&self) -> bool {
        !self.out.bytes().is_empty()
            || (self.accepts()
                && self.streams.open() < self.limit()
                && !self.streams.waiting().is_empty())
            || (self.send_window > 0 && !self.sending.is_empty())
    }

    /// Returns whether bodies wait because the server allows the connection no more bytes.
    pub(super) fn is_window_used_up(&self) -> bool {
        self.send_window <= 0 && !self.sending.is_empty()
    }

    /// Opens streams for the exchanges that wait, as many as the limits allow.
    pub(super) fn open_streams(&mut self, slots: &mut impl Slots) {
        while self.accepts()
            && self.streams.open() < self.limit()
            && let Some(slot) = self.streams.waiting().front().copied()
        {
            self.end_wait(slot, slots);
            let stream = self.streams.open_first(slot, self.peer.first_window);
            self.opened += 1;
            let (exchange, request) = slots.slot(slot);
            let (heads, longest) = (&mut self.request_heads, self.peer.max_frame);
            let mut body: &[u8] = &[];
            let length = self.out.add_of(stream, slot, |out| {
                body = add_head(out, stream, longest, |out| heads.encode(request, out));
            });
            exchange.set_to_write(length + body.len());
            if let Some(call) = &mut exchange.grpc_call {
                call.hold(body);
            }
            if !body.is_empty() {
                let waited = &mut exchange.stamps.window_wait;
                *waited = if *waited == UNSET { 0 } else { *waited };
                self.streams.state(slot).unsent = body.len();
                self.sending.push_back((slot, stream));
            }
        }
    }

    /// Adds bodies to the buffer, a frame of each in turn, as far as windows allow.
    pub(super) fn send_bodies(&mut self, slots: &mut impl Slots) {
        while self.out.bytes().len() < ENOUGH_BYTES
            && let Some((slot, stream)) = self.sending.front().copied()
        {
            let state = self.streams.state(slot);
            if state.stream != stream {
                self.sending.pop_front();
                continue;
            }
            let (exchange, request) = slots.slot(slot);
            let released = state.unsent.saturating_sub(exchange.held_bytes());
            if released == 0 {
                // It goes on with the next message.
                self.sending.pop_front();
                continue;
            }
            let allowed = state.send_window.min(self.send_window);
            let count = usize::try_from(allowed).unwrap_or(0).min(released);
            let count = count.min(self.peer.max_frame).min(ENOUGH_BYTES);
            if count == 0 {
                if self.send_window <= 0 {
                    return self.block_all();
                }
                state.blocked_since = self.latest;
                self.sending.pop_front();
                continue;
            }
            let from = state.unsent;
            state.unsent -= count;
            state.send_window -= count as i64;
            self.send_window -= count as i64;
            let is_last = state.unsent == 0;
            let piece = &request[request.len() - from..][..count];
            let flags = if is_last { Flags::END_STREAM } else { Flags::NONE };
            let head = FrameHead { length: count, kind: FrameKind::Data, flags, stream };
            self.out.add_of(stream, slot, |out| {
                head.write(out);
                out.extend_from_slice(piece);
            });
            exchange.note_buffered(FRAME_HEAD_BYTES, from, count);
            self.sending.pop_front();
            if released > count {
                self.sending.push_back((slot, stream));
            }
        }
    }

    /// Lets the next message of a gRPC call be sent.
    pub(super) fn release_message(&mut self, slot: u16, slots: &mut impl Slots) {
        let StreamState { stream, unsent, blocked_since, .. } = *self.streams.state(slot);
        let (exchange, request) = slots.slot(slot);
        let Some(call) = &mut exchange.grpc_call else { return };
        if unsent == 0 || call.held_bytes() == 0 {
            return;
        }
        call.release(&request[request.len() - unsent..]);
        if blocked_since == UNSET && !self.sending.contains(&(slot, stream)) {
            self.sending.push_back((slot, stream));
        }
    }

    /// Adds the wait of a slot for a stream or for a window to its exchange, if it waits.
    pub(super) fn end_wait(&mut self, slot: u16, slots: &mut impl Slots) {
        let state = self.streams.state(slot);
        if state.blocked_since == UNSET {
            return;
        }
        let waited = self.latest.saturating_sub(std::mem::replace(&mut state.blocked_since, UNSET));
        let is_for_stream = state.phase == StreamPhase::Waiting;
        let stamps = &mut slots.slot(slot).0.stamps;
        *(if is_for_stream { &mut stamps.stream_wait } else { &mut stamps.window_wait }) += waited;
    }

    /// Returns whether exchanges wait for a stream, but all numbers of streams are used up.
    pub(super) fn has_stranded(&self) -> bool {
        !self.streams.has_numbers() && !self.streams.waiting().is_empty() && !self.is_over
    }

    /// Ends these exchanges, which another connection can carry.
    pub(super) fn end_stranded(&mut self, slots: &mut impl Slots, ended: &mut Vec<Ended>) {
        while let Some(slot) = self.streams.waiting().front().copied() {
            self.end_slot(slot, Reason::ReadUnprocessed, slots, ended);
        }
    }

    /// Takes note that the first bytes of the buffer were sent.
    pub(super) fn sent(&mut self, count: usize, at: Nanos, slots: &mut impl Slots) {
        self.latest = at;
        if self.opened > 0 {
            self.begun.writes += 1;
            self.begun.requests += std::mem::take(&mut self.opened);
        }
        self.out.sent(count, at, &self.streams, slots);
    }

    /// Takes note that the window of the connection is used up.
    fn block_all(&mut self) {
        for (slot, stream) in &self.sending {
            let state = self.streams.state(*slot);
            if state.stream == *stream && state.blocked_since == UNSET {
                state.blocked_since = self.latest;
            }
        }
    }

    /// Takes note that bodies may be sent on after the window of the connection has grown.
    pub(super) fn unblock_all(&mut self, slots: &mut impl Slots) {
        for place in 0..self.sending.len() {
            let (slot, stream) = self.sending[place];
            if self.streams.has(stream, slot) {
                self.end_wait(slot, slots);
            }
        }
    }

    /// Takes note that the body of a slot may be sent on after the window of its stream has grown.
    pub(super) fn unblock(&mut self, slot: u16, slots: &mut impl Slots) {
        let state = self.streams.state(slot);
        let is_queued = state.send_window <= 0 || state.blocked_since == UNSET;
        if is_queued || self.sending.contains(&(slot, state.stream)) {
            return;
        }
        let stream = state.stream;
        self.end_wait(slot, slots);
        self.sending.push_back((slot, stream));
    }
}

/// Appends the frames of a head; returns what `encode` returns, the body.
fn add_head<'a>(
    out: &mut Vec<u8>,
    stream: u32,
    longest: usize,
    encode: impl FnOnce(&mut Vec<u8>) -> &'a [u8],
) -> &'a [u8] {
    let from = out.len();
    let headers = |length, flags| FrameHead { length, kind: FrameKind::Headers, flags, stream };
    headers(0, Flags::NONE).write(out);
    let body = encode(out);
    let length = out.len() - from - FRAME_HEAD_BYTES;
    let end = if body.is_empty() { Flags::END_STREAM } else { Flags::NONE };
    if length <= longest {
        let mut head = Vec::with_capacity(FRAME_HEAD_BYTES);
        headers(length, end.and(Flags::END_HEADERS)).write(&mut head);
        out[from..from + FRAME_HEAD_BYTES].copy_from_slice(&head);
        return body;
    }
    let block = out.split_off(from + FRAME_HEAD_BYTES);
    out.truncate(from);
    let count = block.chunks(longest).count();
    for (number, piece) in (1..).zip(block.chunks(longest)) {
        let last = if number == count { Flags::END_HEADERS } else { Flags::NONE };
        let (kind, flags) = match number {
            1 => (FrameKind::Headers, end.and(last)),
            _ => (FrameKind::Continuation, last),
        };
        FrameHead { length: piece.len(), kind, flags, stream }.write(out);
        out.extend_from_slice(piece);
    }
    body
}
