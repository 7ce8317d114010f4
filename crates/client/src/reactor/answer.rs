//! What a caller is told.

use crate::{Outcome, Reason, Stamps, Watch};

/// Something that a caller waits for.
#[derive(Debug)]
pub enum News {
    /// The head of a stream has come, with perhaps a piece of its body behind it.
    Head {
        /// Its status.
        status: u16,
        /// Its bytes, and what was read with them.
        head: Vec<u8>,
        /// When things happened so far.
        stamps: Stamps,
    },
    /// There is something to take of a stream.
    Piece,
    /// The exchange has ended.
    Over(Box<Answer>),
}

/// An exchange that has ended.
#[derive(Debug)]
pub struct Answer {
    /// How.
    pub outcome: Outcome,
    /// Whether the caller hung up before its end.
    pub is_left: bool,
    /// Whether the connection was reset, whatever that meant for it.
    pub was_reset: bool,
    /// When things happened.
    pub stamps: Stamps,
    /// The bytes of the head, and what was read with them.
    pub head: Vec<u8>,
    /// The body without its framing; of a stream, what was not taken.
    pub body: Vec<u8>,
    /// Bytes of the answer.
    pub bytes_in: u64,
    /// Bytes of the request that were written.
    pub bytes_out: u64,
    /// What was wrong with a stream of events, as a whole or within it.
    pub fault: Option<Reason>,
    /// What was seen of a stream of events.
    pub watch: Option<Box<Watch>>,
}
