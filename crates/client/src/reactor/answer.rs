//! The events of exchanges.

use std::sync::Arc;

use wire::ResponseHead;

use crate::{Outcome, Reason, Stamps, StreamReader};

/// An event for which a caller waits.
#[derive(Debug)]
pub enum ExchangeEvent {
    /// The head of a stream has been received, perhaps with the beginning of its body.
    Head {
        /// The head.
        head: Arc<ResponseHead>,
        /// The time stamps until now.
        stamps: Stamps,
    },
    /// Bytes of a stream have been received.
    Piece,
    /// The exchange has ended.
    Over(Box<Answer>),
}

/// An exchange that has ended.
#[derive(Debug)]
pub struct Answer {
    /// The error class, or success.
    pub outcome: Outcome,
    /// Whether the caller closed the stream before its end.
    pub is_abandoned: bool,
    /// Whether the connection was reset, even if the exchange was successful.
    pub was_reset: bool,
    /// The time stamps.
    pub stamps: Stamps,
    /// The head, if it is complete.
    pub head: Option<Arc<ResponseHead>>,
    /// The first received bytes of a response that failed; empty otherwise.
    pub excerpt: Vec<u8>,
    /// The body without its framing; of a stream, the part that the caller has not read.
    pub body: Vec<u8>,
    /// Bytes that were received.
    pub bytes_in: u64,
    /// Bytes that were sent.
    pub bytes_out: u64,
    /// The failure of a stream of events.
    pub fault: Option<Reason>,
    /// The observations of a stream of events.
    pub stream_reader: Option<Box<StreamReader>>,
}
