//! Why received bytes are no frames of WebSocket.

use std::fmt;

use super::close::CloseCode;

/// A rule that received frames break, or a limit that they exceed; the connection cannot go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WebSocketError {
    /// A server sent a masked frame.
    MaskedFrame,
    /// A client sent a frame that is not masked.
    UnmaskedFrame,
    /// A reserved bit is set; only extensions use them, and none is offered.
    ReservedBits,
    /// The opcode has no meaning.
    ReservedOpcode,
    /// A control frame is not the last frame of its message.
    FragmentedControlFrame,
    /// The payload of a control frame is longer than 125 bytes.
    ControlFrameTooLong,
    /// A continuation frame came outside a message.
    UnexpectedContinuation,
    /// A message began inside another one.
    MessageInsideMessage,
    /// A length is written in more bytes than it needs.
    LengthNotMinimal,
    /// The highest bit of a 64-bit length is set.
    LengthTopBit,
    /// The message is larger than the limit of the reader.
    MessageTooLarge,
    /// A text message is not UTF-8.
    TextNotUtf8,
    /// The payload of a Close frame is one byte, which cannot be a code.
    CloseCodeIncomplete,
    /// The code of a Close frame is one that must not be sent.
    CloseCodeForbidden,
    /// The reason of a Close frame is not UTF-8.
    CloseReasonNotUtf8,
    /// Bytes came after a Close frame.
    BytesAfterClose,
}

impl WebSocketError {
    /// Returns the code for the Close frame that answers the error (RFC 6455, 7.4.1).
    #[must_use]
    pub fn close_code(self) -> CloseCode {
        match self {
            Self::TextNotUtf8 | Self::CloseReasonNotUtf8 => CloseCode::NOT_UTF8,
            Self::MessageTooLarge => CloseCode::MESSAGE_TOO_LARGE,
            _ => CloseCode::PROTOCOL_ERROR,
        }
    }
}

impl fmt::Display for WebSocketError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::MaskedFrame => "the server sent a masked WebSocket frame",
            Self::UnmaskedFrame => "the client sent a WebSocket frame that is not masked",
            Self::ReservedBits => {
                "a WebSocket frame has a reserved bit, but no extension is in use"
            }
            Self::ReservedOpcode => "a WebSocket frame has a reserved opcode",
            Self::FragmentedControlFrame => "a control frame is fragmented",
            Self::ControlFrameTooLong => "the payload of a control frame is longer than 125 bytes",
            Self::UnexpectedContinuation => "a continuation frame came outside a message",
            Self::MessageInsideMessage => "a message began before the message before it had ended",
            Self::LengthNotMinimal => {
                "the length of a frame is written in more bytes than it needs"
            }
            Self::LengthTopBit => "the length of a frame has its highest bit set",
            Self::MessageTooLarge => "a message is larger than the limit",
            Self::TextNotUtf8 => "a text message is not UTF-8",
            Self::CloseCodeIncomplete => "the payload of a Close frame is only one byte",
            Self::CloseCodeForbidden => "the code of a Close frame must not be sent",
            Self::CloseReasonNotUtf8 => "the reason of a Close frame is not UTF-8",
            Self::BytesAfterClose => "bytes came after a Close frame",
        })
    }
}

impl std::error::Error for WebSocketError {}
