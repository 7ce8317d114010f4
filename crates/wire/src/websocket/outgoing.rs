//! Frames that are sent (RFC 6455, 5.2): by a client masked, by a server not.

use super::control::ControlPayload;
use super::masking::{MaskingKey, append_masked};
use super::opcode::{ControlKind, MessageKind, Opcode};

/// The bit of the first byte that marks the last frame of a message.
const FINAL: u8 = 0x80;
/// The bit of the second byte that says that a masking key follows the length.
const MASKED: u8 = 0x80;

/// A frame to send.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OutgoingFrame<'a> {
    /// Whether the frame is the last of its message, and its opcode.
    first_byte: u8,
    payload: &'a [u8],
}

impl<'a> OutgoingFrame<'a> {
    /// Creates the only frame of a message. The caller ensures that the payload of a text message is
    /// UTF-8.
    #[must_use]
    pub fn message(kind: MessageKind, payload: &'a [u8]) -> Self {
        Self::fragment(Some(kind), payload, true)
    }

    /// Creates a frame of a message in several frames; only the first one has the kind of the message.
    /// The caller ensures that the payloads of a text message, joined, are UTF-8.
    #[must_use]
    pub fn fragment(kind: Option<MessageKind>, payload: &'a [u8], is_last: bool) -> Self {
        let opcode = kind.map_or(Opcode::Continuation, Opcode::Message);
        let first_byte = opcode.number() | if is_last { FINAL } else { 0 };
        Self { first_byte, payload }
    }

    /// Creates a Ping frame.
    #[must_use]
    pub fn ping(payload: &'a ControlPayload) -> Self {
        Self::control(ControlKind::Ping, payload)
    }

    /// Creates a Pong frame; an answer has the payload of the Ping frame.
    #[must_use]
    pub fn pong(payload: &'a ControlPayload) -> Self {
        Self::control(ControlKind::Pong, payload)
    }

    /// Creates a Close frame; [`super::CloseFrame::payload`] gives the payload.
    #[must_use]
    pub fn close(payload: &'a ControlPayload) -> Self {
        Self::control(ControlKind::Close, payload)
    }

    fn control(kind: ControlKind, payload: &'a ControlPayload) -> Self {
        Self { first_byte: FINAL | Opcode::Control(kind).number(), payload: payload.as_bytes() }
    }

    /// Appends the frame as a client sends it. The key is a random number that is used for this frame
    /// only.
    #[inline]
    pub fn write_masked(&self, key: MaskingKey, out: &mut Vec<u8>) {
        // The longest head of a frame has 14 bytes.
        out.reserve(14 + self.payload.len());
        self.write_length(MASKED, out);
        out.extend_from_slice(&key);
        append_masked(self.payload, key, out);
    }

    /// Appends the frame as a server sends it.
    #[inline]
    pub fn write_unmasked(&self, out: &mut Vec<u8>) {
        out.reserve(10 + self.payload.len());
        self.write_length(0, out);
        out.extend_from_slice(self.payload);
    }

    /// Appends the head up to the length, which is written in as few bytes as possible.
    #[inline]
    fn write_length(&self, mask_bit: u8, out: &mut Vec<u8>) {
        match self.payload.len() {
            length @ 0..=125 => out.extend_from_slice(&[self.first_byte, mask_bit | length as u8]),
            length @ 126..=0xffff => {
                let [high, low] = (length as u16).to_be_bytes();
                out.extend_from_slice(&[self.first_byte, mask_bit | 126, high, low]);
            }
            length => {
                out.extend_from_slice(&[self.first_byte, mask_bit | 127]);
                out.extend_from_slice(&(length as u64).to_be_bytes());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: MessageKind = MessageKind::Text;

    fn masked(frame: OutgoingFrame<'_>) -> Vec<u8> {
        let mut out = Vec::new();
        frame.write_masked([0x37, 0xfa, 0x21, 0x3d], &mut out);
        out
    }

    fn unmasked(frame: OutgoingFrame<'_>) -> Vec<u8> {
        let mut out = Vec::new();
        frame.write_unmasked(&mut out);
        out
    }

    #[test]
    fn writes_the_examples_of_rfc_6455() {
        let hello = OutgoingFrame::message(TEXT, b"Hello");
        assert_eq!(unmasked(hello), b"\x81\x05Hello");
        assert_eq!(masked(hello), b"\x81\x85\x37\xfa\x21\x3d\x7f\x9f\x4d\x51\x58");
        assert_eq!(unmasked(OutgoingFrame::fragment(Some(TEXT), b"Hel", false)), b"\x01\x03Hel");
        assert_eq!(unmasked(OutgoingFrame::fragment(None, b"lo", true)), b"\x80\x02lo");
        let payload = ControlPayload::new(b"Hello").unwrap();
        assert_eq!(unmasked(OutgoingFrame::ping(&payload)), b"\x89\x05Hello");
        let pong = masked(OutgoingFrame::pong(&payload));
        assert_eq!(pong, b"\x8a\x85\x37\xfa\x21\x3d\x7f\x9f\x4d\x51\x58");
        let bytes = vec![7; 65_536];
        let short = unmasked(OutgoingFrame::message(MessageKind::Binary, &bytes[..256]));
        assert_eq!((&short[..4], short.len()), (&b"\x82\x7e\x01\x00"[..], 260));
        let long = unmasked(OutgoingFrame::message(MessageKind::Binary, &bytes));
        assert_eq!(long[..10], *b"\x82\x7f\x00\x00\x00\x00\x00\x01\x00\x00");
    }

    #[test]
    fn lengths_are_written_in_as_few_bytes_as_possible() {
        for (length, head) in [(0, 2), (125, 2), (126, 4), (65_535, 4), (65_536, 10)] {
            let payload = vec![0; length];
            let frame = OutgoingFrame::message(MessageKind::Binary, &payload);
            assert_eq!(unmasked(frame).len(), head + length);
            assert_eq!(masked(frame).len(), head + 4 + length);
        }
        assert_eq!(unmasked(OutgoingFrame::close(&ControlPayload::EMPTY)), b"\x88\x00");
    }
}
