//! One exchange: its stamps, what is kept of its response, and the one way in which it ends.

use std::io::{self, ErrorKind};

use net::{LayerError, LayerFault, Nanos};
use wire::Head;

use crate::budget::Budget;
use crate::onlooker::Onlooker;
use crate::{Outcome, Reason, Stamps, UNSET, Watch};

/// Bytes kept for an error sample of a response that needs several reads.
const EXCERPT_BYTES: usize = 2048;

/// Bytes kept of one body, unless the caller sets another limit.
const KEPT_BYTES: usize = 16 * 1024 * 1024;

/// The largest buffer that is kept for the next exchange.
const SPARE_BYTES: usize = 64 * 1024;

/// What an exchange needs to know of its request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Outline {
    /// Whether the answer has no body whatever its head says.
    pub is_head: bool,
    /// Bytes to write.
    pub length: usize,
}

/// The state of one exchange. Reset and used again: its buffers stay.
#[derive(Debug)]
pub struct Exchange {
    /// When things happened.
    pub stamps: Stamps,
    /// Bytes of the answer so far, head and body.
    pub bytes_in: u64,
    /// Everything that came, kept only when somebody asked for it before the start.
    pub transcript: Option<Vec<u8>>,
    /// Whether the transcript ends with the read that brought the whole head.
    pub is_head_enough: bool,
    /// The body without its framing, kept only when somebody asked for it before the start.
    pub body: Option<Vec<u8>>,
    /// How much of it is kept.
    pub body_limit: usize,
    /// Whether some of it was not kept.
    pub is_body_cut: bool,
    /// Who watches the events of a stream, if anybody does.
    pub watch: Option<Box<Watch>>,
    /// Whether the socket was reset under it.
    pub was_reset: bool,
    is_head: bool,
    head: Option<Head>,
    /// Bytes of the request, and those that are written.
    to_write: usize,
    written: usize,
    last_read: Nanos,
    excerpt: Vec<u8>,
    /// Bytes of the latest read, which are still in the caller's buffer.
    latest: usize,
    /// Bytes that it has drawn from the budget of its worker.
    drawn: usize,
}

impl Exchange {
    /// An exchange that was due at `intended` and picked up at `taken`.
    #[must_use]
    pub fn new(intended: Nanos, taken: Nanos, request: Outline) -> Self {
        Self {
            stamps: Stamps::new(intended, taken),
            bytes_in: 0,
            transcript: None,
            is_head_enough: false,
            body: None,
            body_limit: KEPT_BYTES,
            is_body_cut: false,
            watch: None,
            was_reset: false,
            is_head: request.is_head,
            head: None,
            to_write: request.length,
            written: 0,
            last_read: UNSET,
            excerpt: Vec::new(),
            latest: 0,
            drawn: 0,
        }
    }

    /// Starts anew in place; memory that was needed once is kept.
    pub fn restart(&mut self, intended: Nanos, taken: Nanos, request: Outline) {
        self.stamps = Stamps::new(intended, taken);
        self.bytes_in = 0;
        (self.was_reset, self.is_body_cut) = (false, false);
        self.transcript.iter_mut().chain(&mut self.body).for_each(empty);
        (self.is_head, self.head) = (request.is_head, None);
        self.to_write = request.length;
        self.written = 0;
        self.last_read = UNSET;
        self.excerpt.clear();
        self.latest = 0;
    }

    /// The final head of the answer, once it has come.
    #[must_use]
    pub fn head(&self) -> Option<Head> {
        self.head
    }

    /// Bytes of the request written so far.
    #[must_use]
    pub fn bytes_out(&self) -> u64 {
        self.written as u64
    }

    /// Returns whether the request is one of HEAD, whose response has no body.
    pub(crate) fn is_head(&self) -> bool {
        self.is_head
    }

    /// Returns whether the whole request has been sent.
    pub(crate) fn is_written(&self) -> bool {
        self.written == self.to_write
    }

    /// Sets the number of bytes to send, where the session encodes the request itself.
    #[cfg(any(test, feature = "line-protocol"))]
    pub(crate) fn set_to_write(&mut self, count: usize) {
        self.to_write = count;
    }

    /// Takes note that more bytes of the request were sent, by a write that began at `at`.
    pub(crate) fn note_sent(&mut self, count: usize, at: Nanos) {
        if self.written == 0 {
            self.stamps.sent = at;
        }
        self.written += count;
    }

    /// Takes note of received bytes of the response.
    pub(crate) fn note_read(&mut self, bytes: &[u8], at: Nanos) {
        self.note_discarded(bytes.len(), at);
        let is_wanted = !(self.is_head_enough && self.head.is_some());
        if let Some(transcript) = self.transcript.as_mut().filter(|_| is_wanted) {
            transcript.extend_from_slice(bytes);
        }
        self.latest = bytes.len();
    }

    /// Takes note of so many bytes of the response that were received and discarded.
    pub(crate) fn note_discarded(&mut self, count: usize, at: Nanos) {
        if self.stamps.first_byte == UNSET {
            self.stamps.first_byte = at;
        }
        self.last_read = at;
        self.bytes_in += count as u64;
    }

    /// Sets the final head of the response.
    pub(crate) fn set_head(&mut self, head: Option<Head>) {
        self.head = head;
    }

    /// Keeps the beginning of a response that needs several reads.
    pub(crate) fn keep_excerpt(&mut self, bytes: &[u8]) {
        let room = EXCERPT_BYTES.saturating_sub(self.excerpt.len());
        self.excerpt.extend_from_slice(&bytes[..bytes.len().min(room)]);
    }

    /// Returns what receives the body.
    pub(crate) fn sink(&mut self, at: Nanos, is_late: bool) -> Onlooker<'_> {
        Onlooker {
            body: &mut self.body,
            body_limit: self.body_limit,
            is_body_cut: &mut self.is_body_cut,
            watch: &mut self.watch,
            at,
            is_late,
        }
    }

    /// Ends it because its time is up; the reason says what it waited for.
    ///
    /// `opening` is what a connection on its way was waiting for, if that is the case.
    pub fn time_out(&mut self, now: Nanos, opening: Option<Reason>) -> Outcome {
        let reason = opening.unwrap_or_else(|| self.late());
        self.end(now, reason)
    }

    /// When bytes of the answer came last, if some did.
    #[must_use]
    pub fn last_read(&self) -> Option<Nanos> {
        (self.last_read != UNSET).then_some(self.last_read)
    }

    /// Ends it with a failure that was found outside, such as a failed dial.
    pub fn end(&mut self, now: Nanos, reason: Reason) -> Outcome {
        self.stamps.last_byte = now;
        Outcome::failed(reason, self.head.map(|head| head.status))
    }

    /// Draws what it holds now from the budget of its worker; false where that has not as much.
    pub(crate) fn draw(&mut self, budget: &mut Budget) -> bool {
        // Most exchanges keep nothing.
        if !self.is_looked_at() {
            return true;
        }
        let kept = [&self.transcript, &self.body].into_iter().flatten();
        let watched = self.watch.as_ref().map_or(0, |watch| watch.held_bytes());
        budget.draw(&mut self.drawn, kept.map(Vec::len).sum::<usize>() + watched)
    }

    /// Gives back what it has drawn, with the memory: nobody looks at the answer any more.
    pub fn release(&mut self, budget: &mut Budget) {
        if self.is_looked_at() {
            self.transcript.iter_mut().chain(&mut self.body).for_each(empty);
            self.watch.iter_mut().for_each(|watch| watch.empty());
            budget.draw(&mut self.drawn, 0);
        }
    }

    /// The beginning of the answer, for the sample of a failure; `buffer` is that of the last read.
    #[must_use]
    pub fn excerpt<'a>(&'a self, buffer: &'a [u8]) -> &'a [u8] {
        let kept = if self.excerpt.is_empty() { &buffer[..self.latest] } else { &self.excerpt };
        &kept[..kept.len().min(EXCERPT_BYTES)]
    }

    /// Returns whether the response is kept or checked.
    pub(crate) fn is_looked_at(&self) -> bool {
        self.transcript.is_some() || self.body.is_some() || self.watch.is_some()
    }

    /// Ends it with a complete response.
    pub(crate) fn complete(&mut self, status: u16, reusable: bool) -> Outcome {
        self.stamps.last_byte = self.last_read;
        Outcome { failure: None, status: Some(status), reusable }
    }

    /// Ends it because the target closed the connection; `is_reused` says whether the connection had
    /// carried an exchange before.
    pub(crate) fn closed(&mut self, now: Nanos, is_reused: bool) -> Outcome {
        let reason = match self.at() {
            At::Request => Reason::WriteClosed,
            At::Answer if is_reused => Reason::ReadClosedOnReuse,
            At::Answer => Reason::ReadClosed,
            At::Head => Reason::ReadClosedInHead,
            At::Body => Reason::ReadClosedInBody,
        };
        self.end(now, reason)
    }

    /// Ends it because the connection broke.
    pub(crate) fn broken(&mut self, now: Nanos, is_reused: bool, error: &io::Error) -> Outcome {
        self.was_reset = error.kind() == ErrorKind::ConnectionReset;
        let reason = match (error.kind(), self.at()) {
            // Errors of TLS have no kind of the operating system.
            (ErrorKind::Other, _) => refused_or_failed(error),
            (ErrorKind::TimedOut, _) => self.late(),
            (ErrorKind::BrokenPipe, At::Request) => Reason::WriteClosed,
            (_, At::Request) => Reason::WriteReset,
            (_, At::Answer) if is_reused => Reason::ReadClosedOnReuse,
            (_, At::Answer) => Reason::ReadReset,
            (_, At::Head) => Reason::ReadResetInHead,
            (_, At::Body) => Reason::ReadResetInBody,
        };
        self.end(now, reason)
    }

    fn late(&self) -> Reason {
        match self.at() {
            At::Request if self.written == 0 => Reason::TimeoutQueue,
            At::Request => Reason::TimeoutWrite,
            At::Answer => Reason::TimeoutFirstByte,
            At::Head => Reason::TimeoutHead,
            At::Body => Reason::TimeoutBody,
        }
    }

    fn at(&self) -> At {
        match (self.head, self.stamps.first_byte) {
            (Some(_), _) => At::Body,
            (None, UNSET) if self.written < self.to_write => At::Request,
            (None, UNSET) => At::Answer,
            (None, _) => At::Head,
        }
    }
}

/// TLS 1.3 servers refuse a client after its handshake is over.
fn refused_or_failed(error: &io::Error) -> Reason {
    let layer = error.get_ref().and_then(|inner| inner.downcast_ref::<LayerError>());
    let is_refused = layer.is_some_and(|layer| layer.fault == LayerFault::Refused);
    if is_refused { Reason::TlsRefused } else { Reason::TlsFailed }
}

fn empty(kept: &mut Vec<u8>) {
    kept.clear();
    kept.shrink_to(SPARE_BYTES);
}

/// What an exchange is waiting for.
enum At {
    Request,
    Answer,
    Head,
    Body,
}
