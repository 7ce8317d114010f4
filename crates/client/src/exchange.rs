//! One request and its answer: written, stamped, read, and ended in exactly one way.

use std::io::{self, ErrorKind};

use net::{Driver, LayerError, LayerFault, Nanos};
use wire::{Framing, Head, Progress, Response, WireError};

use crate::budget::Budget;
use crate::onlooker::Onlooker;
use crate::{Connection, Outcome, Reason, Scratch, Stamps, UNSET, Watch};

/// A body that nobody looks at is thrown away in the kernel when so much is left of it: copying
/// costs more than one more system call from about here on.
const DISCARD_FROM: u64 = 8 * 1024;

/// The first read of an answer whose body will be thrown away: room for its head.
const HEAD_ROOM: usize = 4 * 1024;

/// Reads made in one go before other connections get their turn.
const READS_IN_A_ROW: u32 = 16;

/// Bytes read in one go before other connections get their turn: reading, decrypting and looking at
/// them takes about as long as a short request.
const BYTES_IN_A_ROW: usize = 256 * 1024;

/// How much of an answer that needs several reads is kept for the sample of a failure.
const EXCERPT_BYTES: usize = 2048;

/// So much of one body is kept, unless more is asked for.
const KEPT_BYTES: usize = 16 * 1024 * 1024;

/// Memory that one large body needed is given back from here on.
const SPARE_BYTES: usize = 64 * 1024;

/// What an exchange must know of its request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Outline {
    /// Whether the answer has no body whatever its head says.
    pub is_head: bool,
    /// Bytes to write.
    pub length: usize,
}

/// What the exchange needs next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// A new event of its socket.
    Pending,
    /// Another call, soon: there may be more to read and no event will say so.
    Again,
    /// Nothing: it is over.
    Done(Outcome),
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
    response: Response,
    /// Bytes of the request, and those that are written.
    to_write: usize,
    written: usize,
    last_read: Nanos,
    excerpt: Vec<u8>,
    /// Bytes of the latest read, which are still in the caller's buffer.
    latest: usize,
    /// What it has drawn from the budget of its worker.
    drawn: usize,
    /// The announced body of the previous answer here: the next one is probably as large.
    last_body: u64,
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
            response: Response::new(request.is_head),
            to_write: request.length,
            written: 0,
            last_read: UNSET,
            excerpt: Vec::new(),
            latest: 0,
            drawn: 0,
            last_body: 0,
        }
    }

    /// Starts anew in place; memory that was needed once is kept.
    pub fn restart(&mut self, intended: Nanos, taken: Nanos, request: Outline) {
        self.stamps = Stamps::new(intended, taken);
        self.bytes_in = 0;
        (self.was_reset, self.is_body_cut) = (false, false);
        self.transcript.iter_mut().chain(&mut self.body).for_each(empty);
        self.response = Response::new(request.is_head);
        self.to_write = request.length;
        self.written = 0;
        self.last_read = UNSET;
        self.excerpt.clear();
        self.latest = 0;
    }

    /// The final head of the answer, once it has come.
    #[must_use]
    pub fn head(&self) -> Option<Head> {
        self.response.head()
    }

    /// Bytes of the request written so far.
    #[must_use]
    pub fn bytes_out(&self) -> u64 {
        self.written as u64
    }

    /// Writes the request given to [`Exchange::new`], as far as it fits.
    pub fn send<D: Driver>(
        &mut self,
        driver: &mut D,
        connection: &mut Connection<D::Socket>,
        request: &[u8],
    ) -> Step {
        while self.written < request.len() {
            let before_write = driver.now();
            match connection.send(driver, &request[self.written..]) {
                Ok(length) => {
                    if self.written == 0 {
                        self.stamps.sent = before_write;
                    }
                    self.written += length;
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Step::Pending,
                Err(error) => return self.broken(before_write, connection.served, &error),
            }
        }
        match connection.flush(driver) {
            Ok(_) => Step::Pending,
            Err(error) => self.broken(driver.now(), connection.served, &error),
        }
    }

    /// Reads what is there; `scratch` is shared by all exchanges of a worker.
    ///
    /// A socket that is empty raises an event for its next bytes; not so when the end of the stream
    /// has been announced already (`is_closed`).
    pub fn receive<D: Driver>(
        &mut self,
        driver: &mut D,
        connection: &mut Connection<D::Socket>,
        scratch: &mut Scratch,
        is_closed: bool,
    ) -> Step {
        let is_plain = connection.is_plain();
        let mut taken = 0;
        for _ in 0..READS_IN_A_ROW {
            let discardable = self.discardable(is_plain);
            let buffer = &mut scratch.buffer;
            let room = self.room(discardable, is_plain, buffer.len());
            let read = if discardable > 0 {
                connection.discard(driver, &mut buffer[..room])
            } else {
                connection.recv(driver, &mut buffer[..room])
            };
            let length = match read {
                Ok(0) => return self.ended(driver.now(), connection.served),
                Ok(length) => length,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Step::Pending,
                Err(error) if error.kind() == ErrorKind::Interrupted => return Step::Again,
                Err(error) => return self.broken(driver.now(), connection.served, &error),
            };
            self.stamp_read(driver.now(), length);
            let progress = if length as u64 > discardable && discardable > 0 {
                Err(WireError::ExtraBytes)
            } else if discardable > 0 {
                Ok(self.response.discard(length as u64))
            } else {
                self.look_at(length, scratch)
            };
            taken += length;
            match progress {
                Ok(Progress::Done(head)) => return self.complete(head),
                Ok(Progress::More) if !self.draw(&mut scratch.budget) => {
                    return Step::Done(self.end(self.last_read, Reason::ReadNoMemory));
                }
                Ok(Progress::More) if connection.is_drained() && !is_closed => {
                    return Step::Pending;
                }
                Ok(Progress::More) if taken >= BYTES_IN_A_ROW => break,
                Ok(Progress::More) => {}
                Err(error) => return Step::Done(self.end(self.last_read, error.into())),
            }
        }
        Step::Again
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
        Outcome::failed(reason, self.response.head().map(|head| head.status))
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

    fn discardable(&self, is_plain: bool) -> u64 {
        let left = self.response.discardable();
        let is_looked_at = self.is_looked_at();
        if is_plain && left >= DISCARD_FROM && !is_looked_at { left } else { 0 }
    }

    /// How much the next read may take.
    fn room(&self, discardable: u64, is_plain: bool, buffer: usize) -> usize {
        if discardable > 0 {
            // One more than is left, so that bytes beyond the announced end are seen.
            clamp(discardable + 1, buffer)
        } else if is_plain && self.last_body >= DISCARD_FROM && self.response.head().is_none() {
            HEAD_ROOM.min(buffer)
        } else {
            buffer
        }
    }

    fn stamp_read(&mut self, now: Nanos, length: usize) {
        if self.stamps.first_byte == UNSET {
            self.stamps.first_byte = now;
        }
        self.last_read = now;
        self.bytes_in += length as u64;
    }

    /// Whether anybody wants to see the body.
    fn is_looked_at(&self) -> bool {
        self.transcript.is_some() || self.body.is_some() || self.watch.is_some()
    }

    fn look_at(&mut self, length: usize, scratch: &mut Scratch) -> Result<Progress, WireError> {
        let is_late = self.watch.is_some() && scratch.is_late(self.last_read);
        let Scratch { buffer, heads, .. } = scratch;
        let bytes = &buffer[..length];
        let is_wanted = !(self.is_head_enough && self.response.head().is_some());
        if let Some(transcript) = self.transcript.as_mut().filter(|_| is_wanted) {
            transcript.extend_from_slice(bytes);
        }
        self.latest = bytes.len();
        let (body_limit, is_body_cut) = (self.body_limit, &mut self.is_body_cut);
        let progress = match (&mut self.body, &mut self.watch) {
            (None, None) => self.response.feed(bytes, heads, &mut ())?,
            (body, watch) => {
                let at = self.last_read;
                let mut onlooker = Onlooker { body, body_limit, is_body_cut, watch, at, is_late };
                self.response.feed(bytes, heads, &mut onlooker)?
            }
        };
        if progress == Progress::More && self.excerpt.len() < EXCERPT_BYTES {
            let room = EXCERPT_BYTES - self.excerpt.len();
            self.excerpt.extend_from_slice(&bytes[..bytes.len().min(room)]);
        }
        Ok(progress)
    }

    fn complete(&mut self, head: Head) -> Step {
        self.stamps.last_byte = self.last_read;
        if !self.is_looked_at() {
            self.last_body = match head.framing {
                Framing::Length(length) => length,
                _ => 0,
            };
        }
        // An answer that came before the request was out leaves the rest of it in the way.
        let reusable = head.keepalive && self.written == self.to_write;
        Step::Done(Outcome { failure: None, status: Some(head.status), reusable })
    }

    /// The server closed its side.
    fn ended(&mut self, now: Nanos, served: u32) -> Step {
        if let Progress::Done(head) = self.response.end_of_stream() {
            return self.complete(head);
        }
        let reason = match self.at() {
            At::Request => Reason::WriteClosed,
            At::Answer if served > 0 => Reason::ReadClosedOnReuse,
            At::Answer => Reason::ReadClosed,
            At::Head => Reason::ReadClosedInHead,
            At::Body => Reason::ReadClosedInBody,
        };
        Step::Done(self.end(now, reason))
    }

    /// The socket broke.
    fn broken(&mut self, now: Nanos, served: u32, error: &io::Error) -> Step {
        self.was_reset = error.kind() == ErrorKind::ConnectionReset;
        let reason = match (error.kind(), self.at()) {
            // The layer's own errors have no kind of the operating system.
            (ErrorKind::Other, _) => refused_or_failed(error),
            (ErrorKind::TimedOut, _) => self.late(),
            (ErrorKind::BrokenPipe, At::Request) => Reason::WriteClosed,
            (_, At::Request) => Reason::WriteReset,
            (_, At::Answer) if served > 0 => Reason::ReadClosedOnReuse,
            (_, At::Answer) => Reason::ReadReset,
            (_, At::Head) => Reason::ReadResetInHead,
            (_, At::Body) => Reason::ReadResetInBody,
        };
        Step::Done(self.end(now, reason))
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
        match (self.response.head(), self.stamps.first_byte) {
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

fn clamp(left: u64, most: usize) -> usize {
    usize::try_from(left).map_or(most, |left| left.min(most))
}
