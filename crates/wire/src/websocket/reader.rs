//! Received frames as messages and control frames, in any split.
//!
//! The payload of a message is passed on as it comes, and nothing of it is kept. The checks follow the
//! order of the bytes, so that the same bytes have the same error in any split.

use super::close::CloseFrame;
use super::control::ControlPayload;
use super::error::WebSocketError;
use super::masking::{MaskingKey, append_masked, mask_in_place};
use super::opcode::{ControlKind, MessageKind, Opcode};
use super::utf8::{Utf8Check, is_utf8};

/// The longest head of a frame: two bytes, a length of 64 bits, a masking key.
const MAX_HEAD_BYTES: usize = 14;

/// The most payload that is unmasked at once, so that the buffer stays in the cache.
const MAX_UNMASKED_BYTES: usize = 16 * 1024;

/// Whether received frames must be masked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Masking {
    /// They come from a client, which must mask them.
    Required,
    /// They come from a server, which must not mask them.
    Forbidden,
}

/// A part of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MessagePiece<'a> {
    /// The kind of the message.
    pub kind: MessageKind,
    /// The next bytes of its payload, unmasked. They may be none if the piece is the first or the last.
    /// A character of a text may begin in one piece and end in another.
    pub payload: &'a [u8],
    /// Whether the message begins here.
    pub is_first: bool,
    /// Whether the message ends here.
    pub is_last: bool,
}

/// The next event in the received bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WebSocketEvent<'a> {
    /// A part of a message; a message whose only frame was received at once is one piece.
    Message(MessagePiece<'a>),
    /// A Ping frame, which a Pong frame with the same payload answers.
    Ping(&'a ControlPayload),
    /// A Pong frame.
    Pong(&'a ControlPayload),
    /// A Close frame: no frame may follow.
    Close(CloseFrame<'a>),
}

/// The place of the next byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ReaderState {
    /// At the beginning of a frame, outside messages.
    Start,
    /// In the head of a frame, or at the beginning of a frame inside a message.
    Head,
    /// In the payload of a frame of a message.
    Message(MessageKind),
    /// In the payload of a control frame.
    Control(ControlKind),
    /// After a Close frame.
    Closed,
}

/// The head of a frame.
#[derive(Debug, Clone, Copy)]
struct WebSocketFrameHead {
    opcode: Opcode,
    is_final: bool,
    length: u64,
    key: MaskingKey,
}

/// Reads frames.
#[derive(Debug)]
pub struct WebSocketReader {
    masking: Masking,
    max_message_bytes: u64,
    /// Frames with fewer bytes of payload can be read at once if they are whole; 0 if none can.
    quick_length: u8,
    state: ReaderState,
    /// The beginning of a head that is not complete.
    partial_head: [u8; MAX_HEAD_BYTES],
    partial_length: usize,
    /// The bytes of the frame's payload that are to come.
    left: u64,
    /// The key of the frame, rotated so that its first byte belongs to the next byte of the payload.
    key: MaskingKey,
    /// The kind of the message that has begun.
    message: Option<MessageKind>,
    /// The bytes of this message in the frames so far.
    message_bytes: u64,
    /// Whether the latest frame of this message is its last one.
    is_final: bool,
    utf8: Utf8Check,
    control: ControlPayload,
    /// The piece of payload that was unmasked last.
    unmasked: Vec<u8>,
}

impl WebSocketReader {
    /// Creates a reader of a connection; larger messages are an error as soon as a frame announces it.
    #[must_use]
    pub fn new(masking: Masking, max_message_bytes: u64) -> Self {
        let quick_length = match masking {
            Masking::Required => 0,
            Masking::Forbidden => max_message_bytes.saturating_add(1).min(126) as u8,
        };
        Self {
            masking,
            max_message_bytes,
            quick_length,
            state: ReaderState::Start,
            partial_head: [0; MAX_HEAD_BYTES],
            partial_length: 0,
            left: 0,
            key: [0; 4],
            message: None,
            message_bytes: 0,
            is_final: true,
            utf8: Utf8Check::default(),
            control: ControlPayload::EMPTY,
            unmasked: Vec::new(),
        }
    }

    /// Returns the next event and removes its bytes from `rest`; `None` if more bytes are needed, and
    /// then `rest` is empty. An error is final.
    ///
    /// RFC 6455 (1.4) lets a client ignore what comes after a Close frame; here it is an error, which the
    /// caller may ignore.
    #[inline]
    pub fn next<'a, 'b: 'a>(
        &'a mut self,
        rest: &mut &'b [u8],
    ) -> Result<Option<WebSocketEvent<'a>>, WebSocketError> {
        // The most frequent form: a short message in one frame that is whole.
        if self.state == ReaderState::Start
            && let [first @ (0x81 | 0x82), length, after @ ..] = *rest
            && *length < self.quick_length
            && let Some((payload, after)) = after.split_at_checked(usize::from(*length))
        {
            let kind = if *first == 0x81 { MessageKind::Text } else { MessageKind::Binary };
            if kind == MessageKind::Text && !is_utf8(payload) {
                return Err(WebSocketError::TextNotUtf8);
            }
            *rest = after;
            let piece = MessagePiece { kind, payload, is_first: true, is_last: true };
            return Ok(Some(WebSocketEvent::Message(piece)));
        }
        self.next_of_any_form(rest)
    }

    /// Does the same as `next` for frames of every form.
    #[inline(never)]
    fn next_of_any_form<'a, 'b: 'a>(
        &'a mut self,
        rest: &mut &'b [u8],
    ) -> Result<Option<WebSocketEvent<'a>>, WebSocketError> {
        let mut is_first = false;
        while matches!(self.state, ReaderState::Start | ReaderState::Head) {
            let Some(head) = self.take_head(rest)? else { return Ok(None) };
            is_first = self.begin_frame(head);
        }
        match self.state {
            ReaderState::Message(kind) => self.next_piece(kind, is_first, rest),
            ReaderState::Control(kind) => self.next_control(kind, rest),
            _ if rest.is_empty() => Ok(None),
            _ => Err(WebSocketError::BytesAfterClose),
        }
    }

    /// Takes the head of a frame; `None` if it is not complete.
    fn take_head(
        &mut self,
        rest: &mut &[u8],
    ) -> Result<Option<WebSocketFrameHead>, WebSocketError> {
        if self.partial_length == 0
            && let Some((head, used)) = self.read_head(rest)?
        {
            *rest = &rest[used..];
            return Ok(Some(head));
        }
        while let Some((byte, after)) = rest.split_first() {
            *rest = after;
            self.state = ReaderState::Head;
            self.partial_head[self.partial_length] = *byte;
            self.partial_length += 1;
            let head = self.read_head(&self.partial_head[..self.partial_length]);
            if !matches!(head, Ok(None)) {
                self.partial_length = 0;
                return Ok(head?.map(|(head, _)| head));
            }
        }
        Ok(None)
    }

    /// Reads the head at the start of `bytes`; returns it with its length, or `None` if it is not
    /// complete.
    fn read_head(
        &self,
        bytes: &[u8],
    ) -> Result<Option<(WebSocketFrameHead, usize)>, WebSocketError> {
        let Some((first, after)) = bytes.split_first() else { return Ok(None) };
        let (opcode, is_final) = self.read_first_byte(*first)?;
        let Some((second, after)) = after.split_first() else { return Ok(None) };
        match (self.masking, second & 0x80 != 0) {
            (Masking::Required, false) => return Err(WebSocketError::UnmaskedFrame),
            (Masking::Forbidden, true) => return Err(WebSocketError::MaskedFrame),
            _ => {}
        }
        let short_length = second & 0x7f;
        let is_control = matches!(opcode, Opcode::Control(_));
        if is_control && short_length > 125 {
            return Err(WebSocketError::ControlFrameTooLong);
        }
        let Some((length, after)) = read_length(short_length, after)? else { return Ok(None) };
        if !is_control {
            let before = if opcode == Opcode::Continuation { self.message_bytes } else { 0 };
            // The bytes before did not exceed the limit.
            if length > self.max_message_bytes - before {
                return Err(WebSocketError::MessageTooLarge);
            }
        }
        let (key, after) = match self.masking {
            Masking::Forbidden => ([0; 4], after),
            Masking::Required => match after.split_first_chunk() {
                Some((key, after)) => (*key, after),
                None => return Ok(None),
            },
        };
        let head = WebSocketFrameHead { opcode, is_final, length, key };
        Ok(Some((head, bytes.len() - after.len())))
    }

    /// Returns what the first byte of a frame says: its opcode, and whether it ends its message.
    fn read_first_byte(&self, byte: u8) -> Result<(Opcode, bool), WebSocketError> {
        if byte & 0x70 != 0 {
            return Err(WebSocketError::ReservedBits);
        }
        let is_final = byte & 0x80 != 0;
        match (Opcode::of(byte & 0x0f), self.message) {
            (None, _) => Err(WebSocketError::ReservedOpcode),
            (Some(Opcode::Continuation), None) => Err(WebSocketError::UnexpectedContinuation),
            (Some(Opcode::Message(_)), Some(_)) => Err(WebSocketError::MessageInsideMessage),
            (Some(Opcode::Control(_)), _) if !is_final => {
                Err(WebSocketError::FragmentedControlFrame)
            }
            (Some(opcode), _) => Ok((opcode, is_final)),
        }
    }

    /// Begins the payload of a frame; returns whether a message begins.
    fn begin_frame(&mut self, head: WebSocketFrameHead) -> bool {
        (self.left, self.key) = (head.length, head.key);
        match head.opcode {
            Opcode::Control(kind) => {
                self.control.clear();
                self.state = ReaderState::Control(kind);
                return false;
            }
            Opcode::Message(kind) => (self.message, self.message_bytes) = (Some(kind), 0),
            Opcode::Continuation => {}
        }
        self.is_final = head.is_final;
        self.message_bytes += head.length;
        let is_first = head.opcode != Opcode::Continuation;
        // An empty frame inside a message has nothing to pass on.
        let has_piece = is_first || head.is_final || head.length > 0;
        self.state = match self.message {
            Some(kind) if has_piece => ReaderState::Message(kind),
            _ => ReaderState::Head,
        };
        is_first
    }

    /// Returns the next piece of a message; `None` if there is none and the message does not end.
    fn next_piece<'a, 'b: 'a>(
        &'a mut self,
        kind: MessageKind,
        is_first: bool,
        rest: &mut &'b [u8],
    ) -> Result<Option<WebSocketEvent<'a>>, WebSocketError> {
        let mut length = at_most(self.left, rest.len());
        let is_masked = self.masking == Masking::Required;
        if is_masked {
            length = length.min(MAX_UNMASKED_BYTES);
        }
        let (received, after) = rest.split_at(length);
        let payload: &'a [u8] = if is_masked {
            self.unmasked.clear();
            append_masked(received, self.key, &mut self.unmasked);
            self.key.rotate_left(length % 4);
            &self.unmasked
        } else {
            received
        };
        *rest = after;
        self.left -= length as u64;
        let is_last = self.left == 0 && self.is_final;
        if kind == MessageKind::Text
            && !(self.utf8.takes(payload) && (!is_last || self.utf8.ends()))
        {
            return Err(WebSocketError::TextNotUtf8);
        }
        if is_last {
            (self.message, self.state) = (None, ReaderState::Start);
        } else if self.left == 0 {
            self.state = ReaderState::Head;
        }
        let is_some = length > 0 || is_first || is_last;
        let piece = MessagePiece { kind, payload, is_first, is_last };
        Ok(is_some.then_some(WebSocketEvent::Message(piece)))
    }

    /// Returns the control frame, once its payload is complete.
    fn next_control(
        &mut self,
        kind: ControlKind,
        rest: &mut &[u8],
    ) -> Result<Option<WebSocketEvent<'_>>, WebSocketError> {
        let (received, after) = rest.split_at(at_most(self.left, rest.len()));
        *rest = after;
        self.left -= received.len() as u64;
        // The head limits the length, so there is always room.
        self.control.append(received);
        if self.left > 0 {
            return Ok(None);
        }
        if self.masking == Masking::Required {
            mask_in_place(self.control.as_mut_bytes(), self.key);
        }
        let is_in_message = self.message.is_some();
        self.state = if is_in_message { ReaderState::Head } else { ReaderState::Start };
        Ok(Some(match kind {
            ControlKind::Ping => WebSocketEvent::Ping(&self.control),
            ControlKind::Pong => WebSocketEvent::Pong(&self.control),
            ControlKind::Close => {
                self.state = ReaderState::Closed;
                WebSocketEvent::Close(CloseFrame::read(self.control.as_bytes())?)
            }
        }))
    }
}

/// Reads the length that a short length begins; returns it with the bytes behind it, or `None` if it is
/// not complete.
fn read_length(short_length: u8, bytes: &[u8]) -> Result<Option<(u64, &[u8])>, WebSocketError> {
    let (length, after, least) = match short_length {
        126 => {
            let Some((length, after)) = bytes.split_first_chunk() else { return Ok(None) };
            (u64::from(u16::from_be_bytes(*length)), after, 126)
        }
        127 => {
            let Some((length, after)) = bytes.split_first_chunk() else { return Ok(None) };
            (u64::from_be_bytes(*length), after, 0x1_0000)
        }
        _ => (u64::from(short_length), bytes, 0),
    };
    if length >> 63 != 0 {
        return Err(WebSocketError::LengthTopBit);
    }
    if length < least { Err(WebSocketError::LengthNotMinimal) } else { Ok(Some((length, after))) }
}

/// Returns the smaller of two lengths.
fn at_most(left: u64, available: usize) -> usize {
    usize::try_from(left).unwrap_or(usize::MAX).min(available)
}
