//! The frames that are to be sent, and whose they are.

use std::collections::VecDeque;

use net::Nanos;
use wire::http2::{ErrorCode, Flags, FrameHead, FrameKind};

use super::streams::Streams;
use crate::Slots;

/// Bytes that wait to be sent.
#[derive(Debug, Default)]
pub(super) struct Outgoing {
    bytes: Vec<u8>,
    /// The first of them that was not sent.
    from: usize,
    /// Whose they are, in their order.
    parts: VecDeque<Part>,
}

/// Bytes of one exchange, or of none.
#[derive(Debug, Clone, Copy)]
struct Part {
    /// 0 for frames of the connection.
    stream: u32,
    slot: u16,
    length: usize,
}

impl Outgoing {
    /// Returns the bytes to send.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes[self.from..]
    }

    /// Appends bytes that belong to no exchange.
    pub(super) fn add(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
        self.add_part(0, 0, bytes.len());
    }

    /// Appends a frame that belongs to no exchange.
    pub(super) fn add_frame(&mut self, head: FrameHead, payload: &[u8]) {
        let from = self.bytes.len();
        FrameHead { length: payload.len(), ..head }.write(&mut self.bytes);
        self.bytes.extend_from_slice(payload);
        self.add_part(0, 0, self.bytes.len() - from);
    }

    /// Appends a frame that ends a stream by an error.
    pub(super) fn add_reset(&mut self, stream: u32, code: ErrorCode) {
        let kind = FrameKind::ResetStream;
        let head = FrameHead { length: 4, kind, flags: Flags::NONE, stream };
        self.add_frame(head, &code.0.to_be_bytes());
    }

    /// Appends a permission to send more.
    pub(super) fn add_window(&mut self, stream: u32, count: u32) {
        let kind = FrameKind::WindowUpdate;
        let head = FrameHead { length: 4, kind, flags: Flags::NONE, stream };
        self.add_frame(head, &count.to_be_bytes());
    }

    /// Appends what `write` writes for an exchange; returns its length.
    pub(super) fn add_of(
        &mut self,
        stream: u32,
        slot: u16,
        write: impl FnOnce(&mut Vec<u8>),
    ) -> usize {
        let from = self.bytes.len();
        write(&mut self.bytes);
        let length = self.bytes.len() - from;
        self.add_part(stream, slot, length);
        length
    }

    fn add_part(&mut self, stream: u32, slot: u16, length: usize) {
        match self.parts.back_mut() {
            Some(last) if last.stream == stream => last.length += length,
            _ => self.parts.push_back(Part { stream, slot, length }),
        }
    }

    /// Removes bytes that were sent, and tells their exchanges of it.
    pub(super) fn sent(
        &mut self,
        mut count: usize,
        at: Nanos,
        streams: &Streams,
        slots: &mut impl Slots,
    ) {
        self.from += count;
        if self.from == self.bytes.len() {
            self.bytes.clear();
            self.from = 0;
        }
        while count > 0
            && let Some(part) = self.parts.front_mut()
        {
            let sent = count.min(part.length);
            // The stream may have been cancelled in the meantime.
            if part.stream != 0 && streams.has(part.stream, part.slot) {
                slots.slot(part.slot).0.note_sent(sent, at);
            }
            (count, part.length) = (count - sent, part.length - sent);
            if part.length == 0 {
                self.parts.pop_front();
            }
        }
    }
}
