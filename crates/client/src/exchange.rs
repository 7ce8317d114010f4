//! An exchange: its stamps, what is kept of its response, and how it ends.

use std::io::{self, ErrorKind};
use std::sync::Arc;

use net::{LayerError, LayerFault, Nanos};
use wire::grpc::{GRPC_MESSAGE, grpc_message_text};
use wire::{Fields, Head, Heads, MAX_HEAD_BYTES, Response, ResponseHead, ResponseSink};

use crate::budget::Budget;
use crate::exchange_sink::ExchangeSink;
use crate::{GrpcCall, Outcome, Reason, Stamps, StreamReader, UNSET};

/// The maximum number of bytes to keep of a body for an error sample.
const EXCERPT_BYTES: usize = 2048;

/// The maximum number of bytes to keep of a body, unless the caller sets another.
const KEPT_BYTES: usize = 16 * 1024 * 1024;

/// The largest buffer that is kept for the next exchange.
const SPARE_BYTES: usize = 64 * 1024;

/// The properties of a request that its exchange needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Outline {
    /// Whether the method is HEAD, so that the response has no body.
    pub is_head: bool,
    /// The number of bytes to send.
    pub length: usize,
}

/// The state of one exchange. It is used again for others, and keeps its buffers.
#[derive(Debug)]
pub struct Exchange {
    /// Its times.
    pub stamps: Stamps,
    /// Received bytes of the response, head and body.
    pub bytes_in: u64,
    /// Whether the head of the response and its trailers are kept; set before the start.
    pub keeps_head: bool,
    /// The final head of the response, if it is kept.
    pub response_head: Option<Arc<ResponseHead>>,
    /// The trailers of the response, if they are kept and there are some.
    pub trailers: Option<Arc<Fields>>,
    /// The body without its framing, if it is set before the start.
    pub body: Option<Vec<u8>>,
    /// The maximum number of its bytes to keep.
    pub body_limit: usize,
    /// Whether it is longer.
    pub is_body_cut: bool,
    /// The observations of a stream of events, if it is set before the start.
    pub stream_reader: Option<Box<StreamReader>>,
    /// The messages of a gRPC call, if it is set before the start.
    pub grpc_call: Option<Box<GrpcCall>>,
    /// Whether the connection was reset.
    pub was_reset: bool,
    /// Whether only its owner delays it, so that it counts as taken up when its first byte is written.
    pub is_taken_when_sent: bool,
    /// Whether it also counts as due then: it was collected with others on purpose.
    pub is_due_when_sent: bool,
    is_head: bool,
    head: Option<Head>,
    /// The bytes of the request, and those that were sent.
    to_write: usize,
    written: usize,
    last_read: Nanos,
    excerpt: Vec<u8>,
    /// Whether the excerpt has no head.
    is_excerpt_body: bool,
    /// The length of the latest read, whose bytes are in the buffer of the worker.
    latest: usize,
    /// The bytes that it has drawn from the budget of its worker.
    drawn: usize,
}

impl Exchange {
    /// Creates an exchange that was due at `intended` and taken up at `taken`.
    #[must_use]
    pub fn new(intended: Nanos, taken: Nanos, request: Outline) -> Self {
        Self {
            stamps: Stamps::new(intended, taken),
            bytes_in: 0,
            keeps_head: false,
            response_head: None,
            trailers: None,
            body: None,
            body_limit: KEPT_BYTES,
            is_body_cut: false,
            stream_reader: None,
            grpc_call: None,
            was_reset: false,
            is_taken_when_sent: false,
            is_due_when_sent: false,
            is_head: request.is_head,
            head: None,
            to_write: request.length,
            written: 0,
            last_read: UNSET,
            excerpt: Vec::new(),
            is_excerpt_body: false,
            latest: 0,
            drawn: 0,
        }
    }

    /// Begins another exchange; buffers are kept.
    pub fn restart(&mut self, intended: Nanos, taken: Nanos, request: Outline) {
        self.stamps = Stamps::new(intended, taken);
        self.bytes_in = 0;
        (self.was_reset, self.is_body_cut) = (false, false);
        (self.is_taken_when_sent, self.is_due_when_sent) = (false, false);
        self.is_excerpt_body = false;
        self.empty();
        (self.is_head, self.head) = (request.is_head, None);
        self.to_write = request.length;
        self.written = 0;
        self.last_read = UNSET;
        self.excerpt.clear();
        self.excerpt.shrink_to(SPARE_BYTES);
        self.latest = 0;
    }

    /// Returns the summary of the final head, if it was received.
    #[must_use]
    pub fn head(&self) -> Option<Head> {
        self.head
    }

    /// Returns the last value of a field of the head, or of the trailers if the head has none.
    #[must_use]
    pub fn field(&self, name: &str) -> Option<&[u8]> {
        let of_head = self.response_head.as_ref().and_then(|head| head.fields.last(name));
        of_head.or_else(|| self.trailers.as_ref()?.last(name))
    }

    /// Returns a field that says how a gRPC call ended. It is in the trailers, or in the head of a response
    /// without a body.
    #[must_use]
    pub fn field_of_call(&self, name: &str) -> Option<&[u8]> {
        let has_body = self.grpc_call.as_ref().is_some_and(|call| call.has_received());
        let head = self.response_head.as_ref().filter(|_| !has_body);
        let of_trailers = self.trailers.as_ref().and_then(|trailers| trailers.last(name));
        of_trailers.or_else(|| head?.fields.last(name))
    }

    /// Returns the number of sent bytes.
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
    pub(crate) fn set_to_write(&mut self, count: usize) {
        self.to_write = count;
    }

    /// Takes note that a frame with `count` bytes of the body, of which `left` are left before it, is in the
    /// buffer of the connection.
    pub(crate) fn note_buffered(&mut self, frame_head: usize, left: usize, count: usize) {
        self.to_write += frame_head;
        if let Some(call) = &mut self.grpc_call {
            call.note_buffered(left, count, self.to_write);
        }
    }

    /// Returns the bytes at the end of the request that may not be sent yet.
    pub(crate) fn held_bytes(&self) -> usize {
        self.grpc_call.as_ref().map_or(0, |call| call.held_bytes())
    }

    /// Takes note that more bytes of the request were sent, by a write that began at `at`.
    pub(crate) fn note_sent(&mut self, count: usize, at: Nanos) {
        if self.written == 0 {
            self.stamps.sent = at;
            if self.is_taken_when_sent {
                self.stamps.taken = at;
                if self.is_due_when_sent {
                    self.stamps.intended = at;
                }
            }
        }
        self.written += count;
        if let Some(call) = &mut self.grpc_call {
            call.note_sent(self.written, at);
        }
    }

    /// Takes note of received bytes of the response.
    pub(crate) fn note_read(&mut self, bytes: &[u8], at: Nanos) {
        self.note_received(bytes.len(), at);
        self.latest = bytes.len();
    }

    /// Takes note of so many received bytes of the response, which are not in the buffer of the worker.
    pub(crate) fn note_received(&mut self, count: usize, at: Nanos) {
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

    /// Returns whether the beginning of the response is kept.
    pub(crate) fn has_excerpt(&self) -> bool {
        !self.excerpt.is_empty()
    }

    /// Returns whether less of the response is kept than its head and a part of its body.
    pub(crate) fn lacks_excerpt(&self, head_bytes: usize) -> bool {
        self.excerpt.len() < head_bytes + EXCERPT_BYTES
    }

    /// Keeps the beginning of a response: its head, whose length is known once it is complete, and a part
    /// of its body.
    pub(crate) fn keep_excerpt(&mut self, bytes: &[u8], head_bytes: Option<usize>) {
        let limit = head_bytes.map_or(MAX_HEAD_BYTES + 1, |length| length + EXCERPT_BYTES);
        let room = limit.saturating_sub(self.excerpt.len());
        self.excerpt.extend_from_slice(&bytes[..bytes.len().min(room)]);
    }

    /// Keeps the beginning of a body whose head is known.
    pub(crate) fn keep_body_excerpt(&mut self, piece: &[u8]) {
        self.is_excerpt_body = true;
        self.keep_excerpt(piece, Some(0));
    }

    /// Returns what receives the parts of the response.
    pub(crate) fn sink(&mut self, at: Nanos, is_late: bool) -> ExchangeSink<'_> {
        ExchangeSink {
            keeps_head: self.keeps_head,
            response_head: &mut self.response_head,
            trailers: &mut self.trailers,
            body: &mut self.body,
            body_limit: self.body_limit,
            is_body_cut: &mut self.is_body_cut,
            stream_reader: &mut self.stream_reader,
            grpc_call: &mut self.grpc_call,
            at,
            is_late,
        }
    }

    /// Ends it by a timeout; the reason says for what it waited. `opening` is the reason if its connection
    /// is not open.
    pub fn time_out(&mut self, now: Nanos, opening: Option<Reason>) -> Outcome {
        let reason = opening.unwrap_or_else(|| self.late());
        self.end(now, reason)
    }

    /// Returns the time of the last read with bytes of the response.
    #[must_use]
    pub fn last_read(&self) -> Option<Nanos> {
        (self.last_read != UNSET).then_some(self.last_read)
    }

    /// Ends it with a failure, such as a failed dial.
    pub fn end(&mut self, now: Nanos, reason: Reason) -> Outcome {
        self.stamps.last_byte = now;
        Outcome::failed(reason, self.head.map(|head| head.status))
    }

    /// Draws what it holds now from the budget of its worker; returns false if the budget has not as
    /// much.
    pub(crate) fn draw(&mut self, budget: &mut Budget) -> bool {
        // Most exchanges keep nothing.
        if !self.is_looked_at() {
            return true;
        }
        let head = self.response_head.as_ref().map_or(0, |head| head.held_bytes());
        let body = self.body.as_ref().map_or(0, Vec::len);
        let read_stream =
            self.stream_reader.as_ref().map_or(0, |stream_reader| stream_reader.held_bytes());
        budget.draw(&mut self.drawn, head + body + read_stream)
    }

    /// Gives back what it has drawn, with the memory: the response is not used any more.
    pub fn release(&mut self, budget: &mut Budget) {
        if self.is_looked_at() {
            self.empty();
            self.stream_reader.iter_mut().for_each(|stream_reader| stream_reader.empty());
            budget.draw(&mut self.drawn, 0);
        }
    }

    /// Drops what it keeps of a response, except memory that the next one needs.
    fn empty(&mut self) {
        (self.response_head, self.trailers) = (None, None);
        if let Some(body) = &mut self.body {
            body.clear();
            body.shrink_to(SPARE_BYTES);
        }
    }

    /// Returns the first bytes of the response as they were received; `buffer` has the latest read.
    #[must_use]
    pub fn excerpt<'a>(&'a self, buffer: &'a [u8]) -> &'a [u8] {
        if self.excerpt.is_empty() { &buffer[..self.latest] } else { &self.excerpt }
    }

    /// Returns the head of the response and the beginning of its body, for the sample of an error;
    /// `buffer` has the latest read. Bytes that are no head are returned as the body; of a gRPC call, the
    /// text beside its status.
    #[must_use]
    pub fn sample(&self, buffer: &[u8]) -> (Option<Arc<ResponseHead>>, Vec<u8>) {
        let of_call = self.grpc_call.as_ref().and_then(|_| self.field_of_call(GRPC_MESSAGE));
        if let Some(text) = of_call {
            return (self.response_head.clone(), grpc_message_text(text).into_bytes());
        }
        let excerpt = self.excerpt(buffer);
        if self.is_excerpt_body {
            return (self.response_head.clone(), excerpt.to_vec());
        }
        let mut sample = ResponseSample::default();
        // What came before an error is the sample.
        let _ = Response::new(self.is_head).feed(excerpt, &mut Heads::default(), &mut sample);
        let head = self.response_head.clone().or(sample.head);
        let body = if head.is_none() { excerpt.to_vec() } else { sample.body };
        (head, body)
    }

    /// Returns whether the response is kept or checked.
    pub(crate) fn is_looked_at(&self) -> bool {
        self.keeps_head
            || self.body.is_some()
            || self.stream_reader.is_some()
            || self.grpc_call.is_some()
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
            (None, UNSET) if self.written + self.held_bytes() < self.to_write => At::Request,
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

/// The beginning of a response.
#[derive(Default)]
struct ResponseSample {
    head: Option<Arc<ResponseHead>>,
    body: Vec<u8>,
}

impl ResponseSink for ResponseSample {
    fn head(&mut self, _: &Head, raw: &[u8], heads: &mut Heads) {
        self.head = heads.response_head(raw);
    }

    fn body(&mut self, piece: &[u8]) {
        let room = EXCERPT_BYTES.saturating_sub(self.body.len());
        self.body.extend_from_slice(&piece[..piece.len().min(room)]);
    }
}

/// What an exchange is waiting for.
enum At {
    Request,
    Answer,
    Head,
    Body,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exchange() -> Exchange {
        Exchange::new(0, 0, Outline { is_head: false, length: 0 })
    }

    #[test]
    fn a_sample_has_the_final_head_and_the_decoded_beginning_of_the_body() {
        let bytes = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 503 Busy\r\nA: 1\r\n\
            Transfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n6\r\ntruncated";
        let mut exchange = exchange();
        exchange.note_read(bytes, 1);
        let (head, body) = exchange.sample(bytes);
        let head = head.unwrap();
        assert_eq!((head.status, head.fields.last("a")), (503, Some(&b"1"[..])));
        assert_eq!(body, b"bodytrunca");
    }

    #[test]
    fn a_sample_of_bytes_that_are_no_head_has_them_as_they_are() {
        let mut exchange = exchange();
        exchange.note_read(b"SSH-2.0-x", 1);
        assert_eq!(exchange.sample(b"SSH-2.0-x and more"), (None, b"SSH-2.0-x".to_vec()));
    }

    #[test]
    fn an_excerpt_has_the_first_bytes_and_as_much_of_a_head_as_it_may() {
        let mut exchange = exchange();
        exchange.keep_excerpt(&[b'x'; MAX_HEAD_BYTES], None);
        exchange.keep_excerpt(&[b'y'; MAX_HEAD_BYTES], None);
        assert_eq!(exchange.excerpt(b"").len(), MAX_HEAD_BYTES + 1);
        exchange.restart(0, 0, Outline { is_head: false, length: 0 });
        exchange.keep_excerpt(&[b'x'; 4000], None);
        exchange.keep_excerpt(&[b'y'; 4000], Some(5000));
        assert_eq!(exchange.excerpt(b"").len(), 5000 + EXCERPT_BYTES);
    }
}
