//! The heads of frames (RFC 9113, 4.1), and error codes (7).

/// The bytes that a client sends first.
pub const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// The length of the head of a frame.
pub const FRAME_HEAD_BYTES: usize = 9;

/// The longest payload that a peer may send if this end does not allow longer ones.
pub const MAX_FRAME_BYTES: usize = 16_384;

/// The kind of a frame; others are ignored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FrameKind {
    /// Bytes of a body.
    Data,
    /// The beginning of a block of fields.
    Headers,
    /// An order of streams, which is ignored.
    Priority,
    /// The end of a stream by an error.
    ResetStream,
    /// Settings, or their acknowledgement.
    Settings,
    /// The announcement of a response that was not asked for.
    PushPromise,
    /// A question whether the peer is there, or its answer.
    Ping,
    /// The end of a connection.
    GoAway,
    /// Permission to send more.
    WindowUpdate,
    /// More of a block of fields.
    Continuation,
    /// A kind that torr does not know.
    Other(u8),
}

impl FrameKind {
    fn of(number: u8) -> Self {
        match number {
            0 => Self::Data,
            1 => Self::Headers,
            2 => Self::Priority,
            3 => Self::ResetStream,
            4 => Self::Settings,
            5 => Self::PushPromise,
            6 => Self::Ping,
            7 => Self::GoAway,
            8 => Self::WindowUpdate,
            9 => Self::Continuation,
            other => Self::Other(other),
        }
    }

    fn number(self) -> u8 {
        match self {
            Self::Data => 0,
            Self::Headers => 1,
            Self::Priority => 2,
            Self::ResetStream => 3,
            Self::Settings => 4,
            Self::PushPromise => 5,
            Self::Ping => 6,
            Self::GoAway => 7,
            Self::WindowUpdate => 8,
            Self::Continuation => 9,
            Self::Other(number) => number,
        }
    }
}

/// The flags of a frame.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Flags(pub u8);

impl Flags {
    /// No flag.
    pub const NONE: Self = Self(0);
    /// The acknowledgement of settings, or the answer to a ping.
    pub const ACK: Self = Self(0x1);
    /// The last frame of its end of the stream.
    pub const END_STREAM: Self = Self(0x1);
    /// The last frame of a block of fields.
    pub const END_HEADERS: Self = Self(0x4);
    /// The payload is padded.
    pub const PADDED: Self = Self(0x8);
    /// The payload begins with an order of streams.
    pub const PRIORITY: Self = Self(0x20);

    /// Returns whether it has another's flags.
    #[must_use]
    pub fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Returns the flags of both.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// The head of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FrameHead {
    /// The bytes of the payload.
    pub length: usize,
    /// The kind of the frame.
    pub kind: FrameKind,
    /// Its flags.
    pub flags: Flags,
    /// The number of its stream; 0 for the connection.
    pub stream: u32,
}

impl FrameHead {
    /// Reads a head.
    #[must_use]
    pub fn read(bytes: &[u8; FRAME_HEAD_BYTES]) -> Self {
        let [high, middle, low, kind, flags, stream @ ..] = *bytes;
        Self {
            length: usize::from(high) << 16 | usize::from(middle) << 8 | usize::from(low),
            kind: FrameKind::of(kind),
            flags: Flags(flags),
            stream: u32::from_be_bytes(stream) & !(1 << 31),
        }
    }

    /// Appends the head.
    pub fn write(&self, out: &mut Vec<u8>) {
        let [.., high, middle, low] = self.length.to_be_bytes();
        let mut head = [high, middle, low, self.kind.number(), self.flags.0, 0, 0, 0, 0];
        head[5..].copy_from_slice(&self.stream.to_be_bytes());
        out.extend_from_slice(&head);
    }
}

/// Why a stream or a connection ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ErrorCode(pub u32);

impl ErrorCode {
    /// It ended as it should.
    pub const NO_ERROR: Self = Self(0x0);
    /// The peer broke the protocol.
    pub const PROTOCOL_ERROR: Self = Self(0x1);
    /// The peer sent more than it was allowed to.
    pub const FLOW_CONTROL_ERROR: Self = Self(0x3);
    /// A frame came for a stream that had ended.
    pub const STREAM_CLOSED: Self = Self(0x5);
    /// A frame has a wrong length.
    pub const FRAME_SIZE_ERROR: Self = Self(0x6);
    /// The stream was not processed, and may be sent again.
    pub const REFUSED_STREAM: Self = Self(0x7);
    /// The stream is not needed any more.
    pub const CANCEL: Self = Self(0x8);
    /// A block of fields cannot be decoded.
    pub const COMPRESSION_ERROR: Self = Self(0x9);
    /// The peer sends too much that is of no use.
    pub const ENHANCE_YOUR_CALM: Self = Self(0xb);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_are_read_as_they_are_written() {
        for number in 0..=255 {
            let head = FrameHead {
                length: 0x0001_0203 * usize::from(number > 9),
                kind: FrameKind::of(number),
                flags: Flags(number),
                stream: 0x7fff_ffff - u32::from(number),
            };
            let mut bytes = Vec::new();
            head.write(&mut bytes);
            assert_eq!(FrameHead::read(bytes.as_slice().try_into().unwrap()), head);
            assert_eq!(bytes[3], number);
        }
    }

    #[test]
    fn the_reserved_bit_of_a_stream_is_ignored() {
        let head = FrameHead::read(&[0, 0, 4, 8, 0, 0x80, 0, 0, 5]);
        assert_eq!((head.length, head.kind, head.stream), (4, FrameKind::WindowUpdate, 5));
        let both = Flags::END_STREAM.and(Flags::END_HEADERS);
        assert!(both.has(Flags::END_STREAM) && !both.has(Flags::PADDED));
        assert_eq!(both.and(Flags::END_STREAM), both);
    }
}
