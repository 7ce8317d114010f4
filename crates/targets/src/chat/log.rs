//! The log of streams: when each event was due, and when it was sent.

use std::io::{self, Write};

use crate::truth::LogLine;

/// The kind of an event of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum What {
    /// Its request was read.
    Received,
    /// Generated text was sent.
    Text,
    /// An event without text was sent.
    Other,
    /// Its last event was sent.
    End,
}

/// One event. Stamps are CLOCK_MONOTONIC in nanoseconds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LogEvent {
    /// The number of the stream, in the order of requests.
    pub(crate) turn: u64,
    pub(crate) what: What,
    pub(crate) planned_ns: u64,
    /// Before the write with it.
    pub(crate) sent_ns: u64,
}

impl LogLine for LogEvent {
    const HEADER: &str = "stream,event,planned_ns,sent_ns";

    fn write(&self, file: &mut impl Write) -> io::Result<()> {
        let what = match self.what {
            What::Received => "received",
            What::Text => "text",
            What::Other => "other",
            What::End => "end",
        };
        writeln!(file, "{},{what},{},{}", self.turn, self.planned_ns, self.sent_ns)
    }
}
