//! The frames that are to be sent, and whose they are.

use std::collections::VecDeque;

use wire::websocket::{ControlPayload, MaskingKey, MessageRequest, OutgoingFrame};

/// The largest buffer that is kept while nothing waits to be sent.
const SPARE_BYTES: usize = 64 * 1024;

/// Random numbers for keys: xorshift64* (Vigna 2016). A server cannot foresee them from outside, which is
/// what masking needs; they are no secrets.
#[derive(Debug)]
pub(super) struct KeyGenerator(u64);

impl KeyGenerator {
    pub(super) fn new(seed: u64) -> Self {
        // 0 would stay 0.
        Self(seed.max(1))
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    pub(super) fn next_16(&mut self) -> [u8; 16] {
        let number = u128::from(self.next()) << 64 | u128::from(self.next());
        number.to_be_bytes()
    }

    fn next_masking_key(&mut self) -> MaskingKey {
        ((self.next() >> 32) as u32).to_be_bytes()
    }
}

/// Whose bytes are sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FrameOwner {
    /// The connection's: the handshake, or a control frame.
    Connection,
    /// The same: an answer to a ping.
    Pong,
    /// The message of a slot.
    Slot(u16),
    /// A message whose exchange was cancelled.
    Nobody,
}

/// Bytes of one owner.
#[derive(Debug, Clone, Copy)]
struct FramePart {
    owner: FrameOwner,
    /// The bytes that were not sent.
    left: usize,
    /// Whether some were sent, so that the others must follow.
    has_begun: bool,
}

impl FramePart {
    fn new(owner: FrameOwner, left: usize) -> Self {
        Self { owner, left, has_begun: false }
    }
}

/// Bytes that wait to be sent.
#[derive(Debug)]
pub(super) struct OutgoingFrames {
    bytes: Vec<u8>,
    /// The first of them that was not sent.
    from: usize,
    /// Whose they are, in their order.
    parts: VecDeque<FramePart>,
    pub(super) keys: KeyGenerator,
}

impl OutgoingFrames {
    pub(super) fn new(keys: KeyGenerator) -> Self {
        Self { bytes: Vec::new(), from: 0, parts: VecDeque::new(), keys }
    }

    /// Returns the bytes to send.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes[self.from..]
    }

    /// Appends bytes of the connection.
    pub(super) fn add(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
        self.parts.push_back(FramePart::new(FrameOwner::Connection, bytes.len()));
    }

    /// Appends a Close frame.
    pub(super) fn add_close(&mut self, payload: &ControlPayload) {
        self.add_frame(OutgoingFrame::close(payload), FrameOwner::Connection);
    }

    /// Appends a ping.
    pub(super) fn add_ping(&mut self, payload: &ControlPayload) {
        self.add_frame(OutgoingFrame::ping(payload), FrameOwner::Connection);
    }

    /// Appends an answer to a ping.
    pub(super) fn add_pong(&mut self, payload: &ControlPayload) {
        self.add_frame(OutgoingFrame::pong(payload), FrameOwner::Pong);
    }

    /// Appends the message of a slot; returns the length of its frame.
    pub(super) fn add_message(&mut self, slot: u16, message: MessageRequest<'_>) -> usize {
        let frame = OutgoingFrame::message(message.kind, message.payload);
        self.add_frame(frame, FrameOwner::Slot(slot))
    }

    fn add_frame(&mut self, frame: OutgoingFrame<'_>, owner: FrameOwner) -> usize {
        let before = self.bytes.len();
        frame.write_masked(self.keys.next_masking_key(), &mut self.bytes);
        let left = self.bytes.len() - before;
        self.parts.push_back(FramePart::new(owner, left));
        left
    }

    /// Removes bytes that were sent; calls `note` with their owners, how many bytes of each were sent, and
    /// whether these were its last.
    pub(super) fn sent(&mut self, mut count: usize, mut note: impl FnMut(FrameOwner, usize, bool)) {
        self.from += count;
        // Bytes that were sent are removed before they are most of the buffer. Otherwise it would grow for
        // as long as messages follow each other.
        if self.from >= self.bytes.len() - self.from {
            self.bytes.drain(..self.from);
            self.bytes.shrink_to(SPARE_BYTES);
            self.from = 0;
        }
        while count > 0
            && let Some(part) = self.parts.front_mut()
        {
            let sent = count.min(part.left);
            (count, part.left) = (count - sent, part.left - sent);
            part.has_begun = true;
            let is_last = part.left == 0;
            note(part.owner, sent, is_last);
            if is_last {
                self.parts.pop_front();
            }
        }
    }

    /// Removes the frame of a slot whose exchange was cancelled; one of which a part was sent is sent on.
    /// Without that, messages would pile up while the server does not read.
    pub(super) fn withdraw(&mut self, slot: u16) {
        let mut from = self.from;
        let mut frames = self.parts.iter().enumerate();
        let found = frames.find_map(|(number, part)| {
            let start = from;
            from += part.left;
            let is_own = part.owner == FrameOwner::Slot(slot) && !part.has_begun;
            is_own.then_some((number, start..from))
        });
        let Some((number, range)) = found else { return self.disown(slot) };
        self.parts.remove(number);
        self.bytes.drain(range);
    }

    /// Takes note that the exchange of a slot has ended; its frame is sent on.
    pub(super) fn disown(&mut self, slot: u16) {
        let own = self.parts.iter_mut().filter(|part| part.owner == FrameOwner::Slot(slot));
        own.for_each(|part| part.owner = FrameOwner::Nobody);
    }
}

#[cfg(test)]
mod tests {
    use wire::websocket::MessageKind;

    use super::*;

    #[test]
    fn cancelled_messages_are_not_sent_unless_a_part_of_them_was() {
        let mut out = OutgoingFrames::new(KeyGenerator::new(1));
        let payload = [7; 10_000];
        let message = MessageRequest { kind: MessageKind::Binary, payload: &payload };
        let length = out.add_message(0, message);
        out.sent(100, |_, _, _| {});
        for _ in 0..1_000 {
            out.add_message(1, message);
            out.add(b"ping");
            out.withdraw(1);
        }
        out.withdraw(0);
        assert_eq!(out.bytes().len(), length - 100 + 4 * 1_000);
        let mut owners = Vec::new();
        out.sent(length - 100 + 8, |owner, count, is_last| owners.push((owner, count, is_last)));
        let first = (FrameOwner::Nobody, length - 100, true);
        assert_eq!(
            owners,
            [first, (FrameOwner::Connection, 4, true), (FrameOwner::Connection, 4, true)]
        );
        assert!(out.bytes().starts_with(b"pingping"));
    }

    #[test]
    fn the_buffer_stays_small_although_it_is_never_empty() {
        let mut out = OutgoingFrames::new(KeyGenerator::new(1));
        let message = MessageRequest { kind: MessageKind::Binary, payload: &[7; 10_000] };
        let mut sent = 0;
        for _ in 0..1_000 {
            while out.bytes().len() < 64 * 1024 {
                out.add_message(3, message);
            }
            out.sent(64 * 1024 - 1, |owner, count, _| {
                assert_eq!(owner, FrameOwner::Slot(3));
                sent += count;
            });
            assert!(!out.bytes().is_empty());
        }
        assert_eq!(sent, 1_000 * (64 * 1024 - 1));
        assert!(out.bytes.capacity() < 256 * 1024, "{}", out.bytes.capacity());
    }
}
