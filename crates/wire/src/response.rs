//! A response, from its first byte to its last, in any split.
//!
//! Interim responses (1xx) are skipped, up to a limit. A head that does not fit one read is copied
//! aside, the rare case; the common one allocates nothing.

use crate::{Chunked, Fields, Framing, Head, Heads, MAX_HEAD_BYTES, WireError};

/// The maximum number of interim responses before the final one; servers send far fewer.
pub const MAX_INTERIM_ANSWERS: u32 = 100;
/// The maximum number of bytes of interim responses before the final one.
pub const MAX_INTERIM_BYTES: usize = MAX_HEAD_BYTES;

/// Receives the parts of a response; `()` ignores them.
pub trait ResponseSink {
    /// Receives the final head, before any piece of its body: its summary and its bytes, which `heads`
    /// reads in full.
    fn head(&mut self, _head: &Head, _raw: &[u8], _heads: &mut Heads) {}

    /// Receives a piece of the decoded body.
    fn body(&mut self, piece: &[u8]);

    /// Returns whether trailers are to be kept and read.
    fn wants_trailers(&self) -> bool {
        false
    }

    /// Receives the trailers, if they are wanted and there are some.
    fn trailers(&mut self, _trailers: Fields) {}
}

impl ResponseSink for () {
    fn body(&mut self, _piece: &[u8]) {}
}

impl ResponseSink for Vec<u8> {
    fn body(&mut self, piece: &[u8]) {
        self.extend_from_slice(piece);
    }
}

/// The progress of a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// More bytes are needed.
    More,
    /// Complete; the summary of its head.
    Done(Head),
}

#[derive(Debug)]
enum ResponseState {
    Head,
    Length(u64),
    Chunked(Chunked),
    Close,
    Done,
}

/// The state of one response.
#[derive(Debug)]
pub struct Response {
    state: ResponseState,
    head: Option<Head>,
    to_head_request: bool,
    /// The beginning of a head that needs more than one read, or of the trailers; empty nearly always.
    partial: Vec<u8>,
    interim_answers: u32,
    head_bytes: usize,
}

impl Response {
    /// Creates the state of the response to a request; responses to HEAD requests have no body.
    #[must_use]
    pub fn new(to_head_request: bool) -> Self {
        Self {
            state: ResponseState::Head,
            head: None,
            to_head_request,
            partial: Vec::new(),
            interim_answers: 0,
            head_bytes: 0,
        }
    }

    /// Returns the summary of the final head, if it is complete.
    #[must_use]
    pub fn head(&self) -> Option<Head> {
        self.head
    }

    /// Returns the length of all its complete heads.
    #[must_use]
    pub fn head_bytes(&self) -> usize {
        self.head_bytes
    }

    /// Returns the number of held bytes: of a head or trailers that are not complete.
    #[must_use]
    pub fn held_bytes(&self) -> usize {
        self.partial.len()
    }

    /// Returns the number of body bytes that may be discarded before the framing must be read again.
    #[must_use]
    pub fn discardable(&self) -> u64 {
        if let ResponseState::Length(left) = self.state { left } else { 0 }
    }

    /// Takes the next bytes; an error and [`Progress::Done`] are final.
    pub fn feed(
        &mut self,
        bytes: &[u8],
        heads: &mut Heads,
        sink: &mut impl ResponseSink,
    ) -> Result<Progress, WireError> {
        let mut rest = bytes;
        if matches!(self.state, ResponseState::Head) {
            let Some(used) = self.feed_head(rest, heads, sink)? else {
                return Ok(Progress::More);
            };
            rest = &rest[used..];
        }
        self.feed_body(rest, sink)
    }

    /// Takes note that so many body bytes were discarded, at most [`Self::discardable`].
    pub fn discard(&mut self, count: u64) -> Progress {
        if let ResponseState::Length(left) = &mut self.state {
            *left = left.saturating_sub(count);
            if *left == 0 {
                self.state = ResponseState::Done;
            }
        }
        self.progress()
    }

    /// Takes note that the server closed the connection, which ends some bodies.
    pub fn end_of_stream(&mut self) -> Progress {
        if matches!(self.state, ResponseState::Close) {
            self.state = ResponseState::Done;
        }
        self.progress()
    }

    fn progress(&self) -> Progress {
        match (&self.state, self.head) {
            (ResponseState::Done, Some(head)) => Progress::Done(head),
            _ => Progress::More,
        }
    }

    /// Returns how many of `bytes` belonged to heads, or `None` while the final head is not complete.
    fn feed_head(
        &mut self,
        bytes: &[u8],
        heads: &mut Heads,
        sink: &mut impl ResponseSink,
    ) -> Result<Option<usize>, WireError> {
        let mut used = 0;
        if !self.partial.is_empty() {
            let before = self.partial.len();
            // One byte over the limit is enough to know that the head is too large.
            let room = (MAX_HEAD_BYTES + 1).saturating_sub(before);
            self.partial.extend_from_slice(&bytes[..bytes.len().min(room)]);
            let parsed = heads.parse(&self.partial, self.to_head_request)?;
            let Some((head, length)) = parsed else { return Ok(None) };
            used = length.saturating_sub(before);
            let is_final = self.take_head(head, length)?;
            if is_final {
                sink.head(&head, &self.partial[..length], heads);
            }
            self.partial.clear();
            if is_final {
                return Ok(Some(used));
            }
        }
        while let Some((head, length)) = heads.parse(&bytes[used..], self.to_head_request)? {
            let raw = &bytes[used..used + length];
            used += length;
            if self.take_head(head, length)? {
                sink.head(&head, raw, heads);
                return Ok(Some(used));
            }
        }
        self.partial.extend_from_slice(&bytes[used..]);
        Ok(None)
    }

    /// Takes a complete head; returns whether it is the final one.
    fn take_head(&mut self, head: Head, length: usize) -> Result<bool, WireError> {
        self.head_bytes += length;
        if head.status >= 200 || head.status == 101 {
            self.begin_body(head);
            return Ok(true);
        }
        self.interim_answers += 1;
        let is_too_much =
            self.interim_answers > MAX_INTERIM_ANSWERS || self.head_bytes > MAX_INTERIM_BYTES;
        if is_too_much { Err(WireError::TooManyInterim) } else { Ok(false) }
    }

    fn begin_body(&mut self, head: Head) {
        self.head = Some(head);
        self.state = match head.framing {
            Framing::None => ResponseState::Done,
            Framing::Length(length) => ResponseState::Length(length),
            Framing::Chunked => ResponseState::Chunked(Chunked::default()),
            Framing::Close => ResponseState::Close,
        };
    }

    fn feed_body(
        &mut self,
        bytes: &[u8],
        sink: &mut impl ResponseSink,
    ) -> Result<Progress, WireError> {
        let used = match &mut self.state {
            ResponseState::Head | ResponseState::Done => 0,
            ResponseState::Length(left) => {
                let length = usize::try_from(*left).unwrap_or(usize::MAX).min(bytes.len());
                sink.body(&bytes[..length]);
                *left -= length as u64;
                if *left == 0 {
                    self.state = ResponseState::Done;
                }
                length
            }
            ResponseState::Chunked(decoder) => {
                let (wants_trailers, section) = (sink.wants_trailers(), &mut self.partial);
                let on_trailer = |byte| {
                    if wants_trailers {
                        section.push(byte);
                    }
                };
                let used = decoder.feed(bytes, |piece| sink.body(piece), on_trailer)?;
                if decoder.is_done() {
                    self.state = ResponseState::Done;
                    // More than the blank line that ends the section.
                    if self.partial.len() > 2 {
                        sink.trailers(Fields::read(&self.partial));
                    }
                }
                used
            }
            ResponseState::Close => {
                sink.body(bytes);
                bytes.len()
            }
        };
        if used < bytes.len() { Err(WireError::ExtraBytes) } else { Ok(self.progress()) }
    }
}
