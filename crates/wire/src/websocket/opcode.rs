//! Opcodes: the kinds of frames (RFC 6455, 5.2).

/// The kind of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MessageKind {
    /// Text in UTF-8.
    Text,
    /// Bytes of any value.
    Binary,
}

/// The kind of a control frame, which may come between the frames of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ControlKind {
    /// The end of the connection.
    Close,
    /// A question whether the peer is there.
    Ping,
    /// The answer to a ping.
    Pong,
}

/// The kind of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Opcode {
    /// More of a message.
    Continuation,
    /// The beginning of a message.
    Message(MessageKind),
    /// A control frame.
    Control(ControlKind),
}

impl Opcode {
    /// Returns the kind with a number; all other numbers are reserved.
    pub(super) fn of(number: u8) -> Option<Self> {
        match number {
            0 => Some(Self::Continuation),
            1 => Some(Self::Message(MessageKind::Text)),
            2 => Some(Self::Message(MessageKind::Binary)),
            8 => Some(Self::Control(ControlKind::Close)),
            9 => Some(Self::Control(ControlKind::Ping)),
            10 => Some(Self::Control(ControlKind::Pong)),
            _ => None,
        }
    }

    pub(super) fn number(self) -> u8 {
        match self {
            Self::Continuation => 0,
            Self::Message(MessageKind::Text) => 1,
            Self::Message(MessageKind::Binary) => 2,
            Self::Control(ControlKind::Close) => 8,
            Self::Control(ControlKind::Ping) => 9,
            Self::Control(ControlKind::Pong) => 10,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_as_they_are_written_and_others_are_reserved() {
        let known = (0..16).filter_map(|number| Some((number, Opcode::of(number)?)));
        let numbers: Vec<_> = known.map(|(number, opcode)| (number, opcode.number())).collect();
        assert_eq!(numbers, [0, 1, 2, 8, 9, 10].map(|number| (number, number)));
    }
}
