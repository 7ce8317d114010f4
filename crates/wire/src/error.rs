//! Why received bytes are no response of HTTP/1.1.

use std::fmt;

/// A response that can never become complete; each value is one `protocol.*` reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WireError {
    /// The first bytes are no HTTP status line.
    NotHttp,
    /// The first bytes are an HTTP/2 frame: the server does not use HTTP/1.1 on this port.
    Http2,
    /// A status line or header field that breaks the grammar.
    BadHead,
    /// The head, or the trailers, exceed [`crate::MAX_HEAD_BYTES`].
    HeadTooLarge,
    /// More interim responses (1xx) than [`crate::MAX_INTERIM_ANSWERS`], or more bytes of them than
    /// [`crate::MAX_INTERIM_BYTES`].
    TooManyInterim,
    /// `Content-Length` is no number, or two of them disagree.
    BadContentLength,
    /// A chunk whose size or delimiter breaks the grammar.
    BadChunk,
    /// Bytes after the end of the response.
    ExtraBytes,
}

impl fmt::Display for WireError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::NotHttp => "the response does not start with an HTTP status line",
            Self::Http2 => "the server answers with HTTP/2 frames on a plain HTTP/1.1 connection",
            Self::BadHead => "the status line or a header field is malformed",
            Self::HeadTooLarge => "the head is larger than 64 KiB",
            Self::TooManyInterim => "too many interim responses (1xx) came before the response",
            Self::BadContentLength => "Content-Length is no number, or two of them disagree",
            Self::BadChunk => "a chunk size or chunk delimiter is malformed",
            Self::ExtraBytes => "more bytes arrived than the response's framing announced",
        })
    }
}

impl std::error::Error for WireError {}
