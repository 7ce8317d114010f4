//! Requests in HTTP/2: a list of fields and a body, which a connection encodes with its own table.

use memchr::memchr;

use crate::hpack::{Encoder, Indexing};
use crate::template_text::TemplateText;
use crate::{EncodedRequest, RequestTemplate};

/// What stands before a field that most requests have in common, and before any other.
const COMMON: u8 = b'+';
const OWN: u8 = b'-';

/// What ends a name, and a value; also what ends the list. No name and no value has it.
const NAME_END: u8 = 1;
const VALUE_END: u8 = 0;

/// Fields of connections, which HTTP/2 does not have, and `Host`, which is `:authority`.
const NOT_SENT: [&str; 6] =
    ["connection", "host", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade"];

impl RequestTemplate {
    /// Encodes the request for [`RequestHeads`]: a list of fields, and the body.
    #[must_use]
    pub fn to_http2(&self) -> EncodedRequest {
        let mut encoded = EncodedRequest::default();
        let fixed = |encoded: &mut EncodedRequest, name: &str, value: &str, kind| {
            encoded.add(&[&[kind], name.as_bytes(), &[NAME_END], value.as_bytes()].concat());
            encoded.add(&[VALUE_END]);
        };
        fixed(&mut encoded, ":method", &self.method, COMMON);
        fixed(&mut encoded, ":scheme", &self.scheme, COMMON);
        match self.fields.iter().rfind(|(name, _)| name.eq_ignore_ascii_case("host")) {
            Some((_, value)) => field(&mut encoded, ":authority", value, kind_of(value)),
            None => fixed(&mut encoded, ":authority", &self.authority, COMMON),
        }
        field(&mut encoded, ":path", &self.target, OWN);
        for (name, value) in &self.fields {
            let name = name.to_ascii_lowercase();
            if !NOT_SENT.contains(&name.as_str()) {
                field(&mut encoded, &name, value, kind_of(value));
            }
        }
        if self.announces_body() {
            encoded.add(&[&[OWN], &b"content-length"[..], &[NAME_END]].concat());
            encoded.add_length();
            encoded.add(&[VALUE_END]);
        }
        encoded.add(&[VALUE_END]);
        self.body.iter().for_each(|body| encoded.set_body(body));
        encoded
    }
}

fn kind_of(value: &TemplateText) -> u8 {
    if value.has_places() { OWN } else { COMMON }
}

fn field(encoded: &mut EncodedRequest, name: &str, value: &TemplateText, kind: u8) {
    encoded.add(&[&[kind], name.as_bytes(), &[NAME_END]].concat());
    encoded.add_text(value);
    encoded.add(&[VALUE_END]);
}

/// An encoded request, read as its parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Http2Request<'a> {
    /// The list of fields, with its end.
    fields: &'a [u8],
    /// The body.
    pub body: &'a [u8],
}

impl<'a> Http2Request<'a> {
    /// Reads what [`RequestTemplate::to_http2`] has encoded.
    #[must_use]
    pub fn read(bytes: &'a [u8]) -> Self {
        let mut length = 0;
        while let Some(end) = memchr(VALUE_END, &bytes[length..]) {
            length += end + 1;
            if end == 0 {
                break;
            }
        }
        let (fields, body) = bytes.split_at(length);
        Self { fields, body }
    }

    /// Returns the request as people read it, in the form of HTTP/1.1.
    #[must_use]
    pub fn to_text(&self) -> Vec<u8> {
        let of = |wanted: &[u8]| {
            let found = self.fields().find(|(_, name, _)| *name == wanted);
            found.map(|(_, _, value)| value).unwrap_or_default()
        };
        let first: [&[u8]; 6] =
            [of(b":method"), b" ", of(b":path"), b" HTTP/2\r\nhost: ", of(b":authority"), b"\r\n"];
        let mut text = first.concat();
        for (_, name, value) in self.fields().filter(|(_, name, _)| !name.starts_with(b":")) {
            text.extend([name, b": ", value, b"\r\n"].concat());
        }
        text.extend_from_slice(b"\r\n");
        text.extend_from_slice(self.body);
        text
    }

    /// Returns kind, name and value of each field.
    fn fields(&self) -> impl Iterator<Item = (u8, &'a [u8], &'a [u8])> {
        let mut rest = self.fields;
        std::iter::from_fn(move || {
            let (kind, after) = rest.split_first()?;
            let (name, after) = split(after, NAME_END)?;
            let (value, after) = split(after, VALUE_END)?;
            rest = after;
            Some((*kind, name, value))
        })
    }
}

fn split(bytes: &[u8], end: u8) -> Option<(&[u8], &[u8])> {
    let at = memchr(end, bytes)?;
    Some((&bytes[..at], &bytes[at + 1..]))
}

/// The encoder of all requests of a connection, and a cache of the latest one.
///
/// A list of fields that comes again is kept in the dynamic table as a whole, so that it takes one byte
/// for each field. Paths and lengths that differ between requests are not.
#[derive(Debug, Default)]
pub struct RequestHeads {
    encoder: Encoder,
    /// The latest list of fields.
    fields: Vec<u8>,
    /// Its block, if the block is the same as long as the table is.
    block: Vec<u8>,
    generation: Option<u64>,
    /// The size of the largest list of fields.
    largest: usize,
}

/// What a field counts beside its name and value (RFC 9113, 6.5.2).
const FIELD_OVERHEAD: usize = 32;

impl RequestHeads {
    /// Sets the size of the dynamic table that the peer allows.
    pub fn set_table_bytes(&mut self, most: usize) {
        self.encoder.set_table_bytes(most);
    }

    /// Returns the size of the largest list of fields so far, as limits of lists count it.
    #[must_use]
    pub fn largest(&self) -> usize {
        self.largest
    }

    /// Appends the block of fields of a request; returns the body.
    pub fn encode<'a>(&mut self, request: &'a [u8], out: &mut Vec<u8>) -> &'a [u8] {
        let is_again = !self.fields.is_empty() && request.starts_with(&self.fields);
        if is_again && self.generation == Some(self.encoder.generation()) {
            out.extend_from_slice(&self.block);
            return &request[self.fields.len()..];
        }
        let read = Http2Request::read(request);
        let (from, before) = (out.len(), self.encoder.generation());
        let mut size = 0;
        self.encoder.begin(out);
        for (kind, name, value) in read.fields() {
            size += name.len() + value.len() + FIELD_OVERHEAD;
            let is_kept = is_again || kind == COMMON;
            let indexing = if is_kept { Indexing::Kept } else { Indexing::NotKept };
            self.encoder.field(name, value, indexing, out);
        }
        self.largest = self.largest.max(size);
        if !is_again {
            self.fields.clear();
            self.fields.extend_from_slice(read.fields);
        }
        self.generation = (is_again && before == self.encoder.generation()).then_some(before);
        self.block.clear();
        self.block.extend_from_slice(&out[from..]);
        read.body
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a request whose path differs from that of others.
    fn request(path: &str) -> Vec<u8> {
        let fields =
            [(COMMON, ":method", "GET"), (OWN, ":path", path), (COMMON, "x-key", "0123456")];
        let of = |(kind, name, value): (u8, &str, &str)| {
            [&[kind], name.as_bytes(), &[NAME_END], value.as_bytes(), &[VALUE_END]].concat()
        };
        let mut list = fields.map(of).concat();
        list.push(VALUE_END);
        list
    }

    fn block(heads: &mut RequestHeads, path: &str) -> Vec<u8> {
        let mut out = Vec::new();
        assert_eq!(heads.encode(&request(path), &mut out), b"");
        out
    }

    #[test]
    fn fields_that_requests_have_in_common_take_one_byte_from_the_second_request_on() {
        let mut heads = RequestHeads::default();
        // The name of a path takes a byte, and so does the length of its value.
        let path = |value: &str| 1 + 1 + value.len();
        let first = block(&mut heads, "~~~1");
        assert!(first.len() > 1 + path("~~~1") + 1 + 5, "{first:?}");
        for value in ["~~~2", "~~~3"] {
            let next = block(&mut heads, value);
            assert_eq!((next.len(), next[0]), (1 + path(value) + 1, 0x82), "{next:?}");
        }
    }

    #[test]
    fn a_list_that_comes_again_takes_one_byte_a_field_from_the_third_request_on() {
        let mut heads = RequestHeads::default();
        let blocks: Vec<_> = (0..4).map(|_| block(&mut heads, "/long/path")).collect();
        assert!(blocks[0].len() > blocks[1].len() && blocks[1].len() > 3);
        assert_eq!((blocks[2].len(), &blocks[3]), (3, &blocks[2]));
        assert_eq!(heads.largest(), 7 + 3 + 5 + 10 + 5 + 7 + 3 * FIELD_OVERHEAD);
        // Another list, and a table of another size: nothing of before is repeated.
        assert_ne!(block(&mut heads, "/other"), blocks[3]);
        heads.set_table_bytes(0);
        assert!(block(&mut heads, "/other").len() > 3);
    }
}
