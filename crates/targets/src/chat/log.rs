//! The log of streams: when each event was due, and when it was sent.

use std::io::{self, Write};

use crate::truth::LogLine;

/// The kind of an event of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum What {
    /// Its request was read.
    Received,
    /// It got a place for the first time.
    Started,
    /// It was preempted.
    Preempted,
    /// Generated text was sent.
    Text,
    /// An event without text was sent.
    Other,
    /// Its last event was sent.
    End,
    /// Its client closed the connection before.
    Cancelled,
}

/// One event. Stamps are CLOCK_MONOTONIC in nanoseconds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LogEvent {
    /// The number of the stream, in the order of requests.
    pub(crate) turn: u64,
    pub(crate) what: What,
    pub(crate) planned_ns: u64,
    /// Before the write with it, or when the target noticed it.
    pub(crate) sent_ns: u64,
    /// The tokens of the prompt (`Received`), those of them in the cache (`Started`), generated tokens
    /// (`Text`).
    pub(crate) tokens: u64,
}

impl LogLine for LogEvent {
    const HEADER: &str = "stream,event,planned_ns,sent_ns,tokens";

    fn write(&self, file: &mut impl Write) -> io::Result<()> {
        let what = match self.what {
            What::Received => "received",
            What::Started => "started",
            What::Preempted => "preempted",
            What::Text => "text",
            What::Other => "other",
            What::End => "end",
            What::Cancelled => "cancelled",
        };
        let LogEvent { turn, planned_ns, sent_ns, tokens, .. } = self;
        writeln!(file, "{turn},{what},{planned_ns},{sent_ns},{tokens}")
    }
}
