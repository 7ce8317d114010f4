//! Reading heads of responses, and their summary: status, framing of the body, and whether the connection
//! stays open.
//!
//! The summary uses only the fields that decide this.

use std::mem::MaybeUninit;

use crate::WireError;

/// The maximum length of a head, so that its buffer is limited.
pub const MAX_HEAD_BYTES: usize = 64 * 1024;

/// The maximum number of fields, far above what servers send; a head with more is too large.
const MAX_FIELDS: usize = 128;

const VERSION: &[u8] = b"HTTP/";

/// A frame of HTTP/2: length, type, flags, stream (RFC 9113, 4.1).
const FRAME_HEAD_BYTES: usize = 9;

/// How the end of a body is found (RFC 9112, section 6.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Framing {
    /// There is no body.
    None,
    /// So many bytes.
    Length(u64),
    /// Chunks, ended by an empty one.
    Chunked,
    /// All bytes until the server closes the connection, or ends the stream of HTTP/2.
    Close,
}

/// The summary of a response head: the properties that every exchange needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head {
    /// The status code, 100 to 999.
    pub status: u16,
    /// How the body ends.
    pub framing: Framing,
    /// Whether the connection may carry another exchange.
    pub keepalive: bool,
    /// Whether the body is a stream of server-sent events, by its media type.
    pub is_event_stream: bool,
}

impl Head {
    /// Parses a head at the start of `bytes`; returns it with its length, or `None` if it is not complete.
    pub fn parse(bytes: &[u8], to_head_request: bool) -> Result<Option<(Self, usize)>, WireError> {
        read_head(bytes, |parsed| Self::from_fields(parsed, to_head_request))
    }

    /// Returns the status code.
    pub(crate) fn status(parsed: &httparse::Response<'_, '_>) -> Result<u16, WireError> {
        parsed.code.filter(|code| *code >= 100).ok_or(WireError::BadHead)
    }

    fn from_fields(
        parsed: &httparse::Response<'_, '_>,
        to_head_request: bool,
    ) -> Result<Self, WireError> {
        let status = Self::status(parsed)?;
        let mut seen = FieldSummary::new(parsed.version == Some(1));
        for field in parsed.headers.iter() {
            seen.look_at(field.name, field.value)?;
        }
        let bodiless = to_head_request || status < 200 || status == 204 || status == 304;
        let framing = if bodiless { Framing::None } else { seen.framing() };
        let reusable = seen.keepalive && !seen.closes && framing != Framing::Close && status != 101;
        // A length beside chunks may smuggle a response, as may a coding in HTTP/1.0: the connection is not
        // used again (RFC 9112, 6.1).
        let is_doubtful = seen.length.is_some() || parsed.version != Some(1);
        let keepalive = reusable && !(seen.coded && is_doubtful);
        Ok(Self { status, framing, keepalive, is_event_stream: seen.is_event_stream })
    }
}

/// Reads a head at the start of `bytes`; returns what `read` makes of it with its length, or `None` if
/// it is not complete.
#[inline]
pub(crate) fn read_head<T>(
    bytes: &[u8],
    read: impl FnOnce(&httparse::Response<'_, '_>) -> Result<T, WireError>,
) -> Result<Option<(T, usize)>, WireError> {
    let mut fields = [const { MaybeUninit::<httparse::Header<'_>>::uninit() }; MAX_FIELDS];
    let mut parsed = httparse::Response::new(&mut []);
    let outcome = httparse::ParserConfig::default().parse_response_with_uninit_headers(
        &mut parsed,
        bytes,
        &mut fields,
    );
    match outcome {
        Ok(httparse::Status::Complete(length)) if length > MAX_HEAD_BYTES => {
            Err(WireError::HeadTooLarge)
        }
        Ok(httparse::Status::Complete(length)) => Ok(Some((read(&parsed)?, length))),
        Ok(httparse::Status::Partial) => still_possible(bytes).map(|()| None),
        Err(httparse::Error::TooManyHeaders) => Err(WireError::HeadTooLarge),
        // The error of the same bytes is the same for any split.
        Err(_) if may_be_http2_frame(bytes) => Ok(None),
        Err(_) => Err(name_of_garbage(bytes)),
    }
}

/// Reads a section of fields with the blank line that ends it, if it keeps the grammar.
pub(crate) fn read_fields(section: &[u8], mut use_field: impl FnMut(&str, &[u8])) {
    let mut fields = [httparse::EMPTY_HEADER; MAX_FIELDS];
    if let Ok(httparse::Status::Complete((_, fields))) =
        httparse::parse_headers(section, &mut fields)
    {
        fields.iter().for_each(|field| use_field(field.name, field.value));
    }
}

/// The fields that decide framing and reuse, gathered in one pass.
#[derive(Default)]
pub(crate) struct FieldSummary {
    pub(crate) length: Option<u64>,
    coded: bool,
    chunked: bool,
    keepalive: bool,
    closes: bool,
    pub(crate) is_event_stream: bool,
}

impl FieldSummary {
    fn new(is_http11: bool) -> Self {
        Self { keepalive: is_http11, ..Self::default() }
    }

    pub(crate) fn look_at(&mut self, name: &str, value: &[u8]) -> Result<(), WireError> {
        // The length is compared first: it tells nearly all fields apart.
        match name.len() {
            14 if name.eq_ignore_ascii_case("content-length") => self.content_length(value),
            17 if name.eq_ignore_ascii_case("transfer-encoding") => {
                self.transfer_encoding(value);
                Ok(())
            }
            12 if name.eq_ignore_ascii_case("content-type") => {
                let media = value.split(|byte| *byte == b';').next().unwrap_or_default();
                self.is_event_stream =
                    media.trim_ascii().eq_ignore_ascii_case(b"text/event-stream");
                Ok(())
            }
            10 if name.eq_ignore_ascii_case("connection") => {
                self.connection(value);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn content_length(&mut self, value: &[u8]) -> Result<(), WireError> {
        for item in value.split(|byte| *byte == b',') {
            let length = decimal(item.trim_ascii()).ok_or(WireError::BadContentLength)?;
            if self.length.is_some_and(|known| known != length) {
                return Err(WireError::BadContentLength);
            }
            self.length = Some(length);
        }
        Ok(())
    }

    fn transfer_encoding(&mut self, value: &[u8]) {
        let last = value.rsplit(|byte| *byte == b',').next().unwrap_or_default();
        self.coded = true;
        self.chunked = last.trim_ascii().eq_ignore_ascii_case(b"chunked");
    }

    fn connection(&mut self, value: &[u8]) {
        for option in value.split(|byte| *byte == b',').map(<[u8]>::trim_ascii) {
            // "close" takes precedence at any place (RFC 9112, 9.3).
            self.closes |= option.eq_ignore_ascii_case(b"close");
            self.keepalive |= option.eq_ignore_ascii_case(b"keep-alive");
        }
    }

    fn framing(&self) -> Framing {
        match (self.coded, self.chunked, self.length) {
            (_, true, _) => Framing::Chunked,
            (true, false, _) | (false, _, None) => Framing::Close,
            (false, _, Some(0)) => Framing::None,
            (false, _, Some(length)) => Framing::Length(length),
        }
    }
}

pub(crate) fn decimal(digits: &[u8]) -> Option<u64> {
    if digits.is_empty() {
        return None;
    }
    digits.iter().try_fold(0_u64, |sum, digit| {
        let value = digit.is_ascii_digit().then(|| u64::from(digit - b'0'))?;
        sum.checked_mul(10)?.checked_add(value)
    })
}

/// Returns an error for a partial head that is too long or cannot begin a status line.
fn still_possible(bytes: &[u8]) -> Result<(), WireError> {
    if bytes.len() > MAX_HEAD_BYTES {
        return Err(WireError::HeadTooLarge);
    }
    let bytes = without_empty_lines(bytes);
    let shared = bytes.len().min(VERSION.len());
    if matches!(bytes, b"\r") || bytes[..shared] == VERSION[..shared] {
        return Ok(());
    }
    Err(name_of_garbage(bytes))
}

/// Skips empty lines, which some servers send before a response (RFC 9112, 2.2).
fn without_empty_lines(mut bytes: &[u8]) -> &[u8] {
    while let Some(rest) = bytes.strip_prefix(b"\r\n").or_else(|| bytes.strip_prefix(b"\n")) {
        bytes = rest;
    }
    bytes
}

fn name_of_garbage(bytes: &[u8]) -> WireError {
    if is_http2_frame(bytes) {
        WireError::Http2
    } else if without_empty_lines(bytes).starts_with(VERSION) {
        WireError::BadHead
    } else {
        WireError::NotHttp
    }
}

/// Returns whether bytes begin a connection of HTTP/2, on which the server first sends SETTINGS (type 4) or GOAWAY (type 7) on stream 0 (RFC 9113, 4.1).
fn is_http2_frame(bytes: &[u8]) -> bool {
    bytes.len() >= FRAME_HEAD_BYTES && begins_http2_frame(bytes)
}

/// Returns whether more bytes are needed to recognise a frame of HTTP/2.
fn may_be_http2_frame(bytes: &[u8]) -> bool {
    bytes.len() < FRAME_HEAD_BYTES && begins_http2_frame(bytes)
}

fn begins_http2_frame(bytes: &[u8]) -> bool {
    let is_right = |(at, byte): (usize, &u8)| match at {
        0 | 5..FRAME_HEAD_BYTES => *byte == 0,
        3 => matches!(byte, 4 | 7),
        _ => true,
    };
    bytes.iter().take(FRAME_HEAD_BYTES).enumerate().all(is_right)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(text: &str) -> Head {
        Head::parse(text.as_bytes(), false).unwrap().unwrap().0
    }

    #[test]
    fn finds_the_framing_by_the_rules_of_rfc_9112() {
        let table: &[(&str, Framing)] = &[
            ("Content-Length: 5", Framing::Length(5)),
            ("content-length: 5, 5", Framing::Length(5)),
            ("Content-Length: 0", Framing::None),
            ("Transfer-Encoding: chunked", Framing::Chunked),
            ("Transfer-Encoding: gzip, Chunked", Framing::Chunked),
            ("Transfer-Encoding: gzip", Framing::Close),
            ("Content-Length: 5\r\nTransfer-Encoding: chunked", Framing::Chunked),
            ("X: y", Framing::Close),
            // As long as the names that matter.
            ("X-Content-Size: 5", Framing::Close),
            ("X-Trailer-Encoded: chunked", Framing::Close),
        ];
        for (fields, framing) in table {
            assert_eq!(head(&format!("HTTP/1.1 200 OK\r\n{fields}\r\n\r\n")).framing, *framing);
        }
    }

    #[test]
    fn knows_the_answers_that_have_no_body() {
        for status in [204, 304] {
            let text = format!("HTTP/1.1 {status} X\r\nContent-Length: 7\r\n\r\n");
            assert_eq!(head(&text).framing, Framing::None);
            assert!(head(&text).keepalive);
        }
        let to_head = Head::parse(b"HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\n", true);
        assert_eq!(to_head.unwrap().unwrap().0.framing, Framing::None);
    }

    #[test]
    fn keeps_or_closes_as_version_and_field_say() {
        let table = [
            ("HTTP/1.1", "A: b", true),
            ("HTTP/1.1", "Connection: close", false),
            ("HTTP/1.1", "Connection: foo, Close", false),
            ("HTTP/1.1", "Connection: close, keep-alive", false),
            ("HTTP/1.1", "X-Upstream: close", true), // as long as `Connection`
            ("HTTP/1.0", "A: b", false),
            ("HTTP/1.0", "Connection: Keep-Alive", true),
            ("HTTP/1.1", "Transfer-Encoding: chunked", false), // beside a length
        ];
        for (version, field, keepalive) in table {
            let text = format!("{version} 200 OK\r\nContent-Length: 1\r\n{field}\r\n\r\n");
            assert_eq!(head(&text).keepalive, keepalive, "{text}");
        }
        for (version, keepalive) in [("HTTP/1.1", true), ("HTTP/1.0", false)] {
            let fields = "Connection: keep-alive\r\nTransfer-Encoding: chunked";
            let text = format!("{version} 200 OK\r\n{fields}\r\n\r\n");
            assert_eq!(head(&text).keepalive, keepalive, "{text}");
        }
    }

    #[test]
    fn knows_a_stream_of_events_by_its_content_type_alone() {
        let table = [
            ("Content-Type: text/event-stream", true),
            ("content-type: Text/Event-Stream; charset=utf-8", true),
            ("Content-Type: text/plain", false),
            ("Content-Type: text/event-streams", false),
            ("X-Event-Type: text/event-stream", false), // as long as `Content-Type`
        ];
        for (field, expected) in table {
            let found = head(&format!("HTTP/1.1 200 OK\r\n{field}\r\n\r\n"));
            assert_eq!(found.is_event_stream, expected, "{field}");
        }
    }

    #[test]
    fn names_what_is_wrong_with_a_head() {
        let table: &[(&[u8], WireError)] = &[
            (b"SSH-2.0-OpenSSH_9\r\n", WireError::NotHttp),
            (b"\x00\x00\x00\x04\x00\x00\x00\x00\x00", WireError::Http2),
            (b"\x00\x00\x12\x04\x00\x00\x00\x00\x00abc", WireError::Http2),
            (b"HTTP/1.1 2x0 OK\r\n\r\n", WireError::BadHead),
            (b"HTTP/1.1 000 OK\r\n\r\n", WireError::BadHead),
            (b"HTTP/1.1 200 OK\r\nno colon\r\n\r\n", WireError::BadHead),
            (b"HTTP/1.1 200 OK\r\nContent-Length: banana\r\n\r\n", WireError::BadContentLength),
            (b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", WireError::BadContentLength),
            (
                b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n",
                WireError::BadContentLength,
            ),
            (
                b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
                WireError::BadContentLength,
            ),
        ];
        for (bytes, error) in table {
            assert_eq!(
                Head::parse(bytes, false),
                Err(*error),
                "{:?}",
                String::from_utf8_lossy(bytes)
            );
        }
    }

    #[test]
    fn refuses_a_head_beyond_the_limit_whole_or_not() {
        let mut bytes = b"HTTP/1.1 200 OK\r\nX: ".to_vec();
        bytes.resize(MAX_HEAD_BYTES + 1, b'a');
        assert_eq!(Head::parse(&bytes, false), Err(WireError::HeadTooLarge));
        bytes.extend_from_slice(b"\r\n\r\n");
        assert_eq!(Head::parse(&bytes, false), Err(WireError::HeadTooLarge));
        let many = "A: b\r\n".repeat(MAX_FIELDS + 1);
        let text = format!("HTTP/1.1 200 OK\r\n{many}\r\n");
        assert_eq!(Head::parse(text.as_bytes(), false), Err(WireError::HeadTooLarge));
    }
}
