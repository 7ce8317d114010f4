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
    /// How many of them belong to no exchange.
    of_connection: usize,
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

    /// Returns the number of bytes that belong to no exchange.
    pub(super) fn of_connection(&self) -> usize {
        self.of_connection
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
        if stream == 0 {
            self.of_connection += length;
        }
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
        // Bytes that were sent are removed before they are most of the buffer. Otherwise it would grow for
        // as long as bodies follow each other.
        if self.from >= self.bytes.len() - self.from {
            self.bytes.drain(..self.from);
            self.from = 0;
        }
        while count > 0
            && let Some(part) = self.parts.front_mut()
        {
            let sent = count.min(part.length);
            if part.stream == 0 {
                self.of_connection -= sent;
            } else if streams.has(part.stream, part.slot) {
                // It has not been cancelled in the meantime.
                slots.slot(part.slot).0.note_sent(sent, at);
            }
            (count, part.length) = (count - sent, part.length - sent);
            if part.length == 0 {
                self.parts.pop_front();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Exchange, Outline};

    #[test]
    fn the_buffer_stays_small_although_it_is_never_empty() {
        let mut out = Outgoing::default();
        let mut exchange = Exchange::new(0, 0, Outline { is_head: false, length: 0 });
        let (streams, mut slots) = (Streams::new(1), (&mut exchange, &[][..]));
        // As much as TLS takes at once, and frames that do not fit into it.
        for _ in 0..1_000 {
            while out.bytes().len() < 64 * 1024 {
                out.add_of(1, 0, |bytes| bytes.extend_from_slice(&[0; 16_393]));
            }
            out.sent(64 * 1024, 0, &streams, &mut slots);
            assert!(!out.bytes().is_empty());
        }
        assert!(out.bytes.capacity() < 256 * 1024, "{}", out.bytes.capacity());
    }

    #[test]
    fn bytes_are_sent_in_order_whatever_the_size_of_writes() {
        let (mut out, mut sent) = (Outgoing::default(), Vec::new());
        let mut exchange = Exchange::new(0, 0, Outline { is_head: false, length: 0 });
        let (streams, mut slots) = (Streams::new(1), (&mut exchange, &[][..]));
        for number in 0..100_u8 {
            out.add(&[number; 7]);
            let count = out.bytes().len().min(usize::from(number % 13));
            sent.extend_from_slice(&out.bytes()[..count]);
            out.sent(count, 0, &streams, &mut slots);
        }
        sent.extend_from_slice(out.bytes());
        let expected: Vec<u8> = (0..100).flat_map(|number| [number; 7]).collect();
        assert_eq!(sent, expected);
    }
}
