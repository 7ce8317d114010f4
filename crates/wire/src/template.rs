//! A request with places for values: cut into pieces once, joined for every exchange.
//!
//! `{{name}}` is a value, `{{name | url}}` and `{{name | json}}` escape it, `{{"text"}}` is the
//! text itself. What names mean is the caller's business ([`Values`]).

use std::fmt;
use std::io::Write as _;

use crate::escape::Escape;
use crate::request::{self, RequestError, RequestParts};

/// Gives values while a request is joined.
pub trait Values {
    /// Appends the value of the place with this number.
    fn put(&mut self, place: u16, out: &mut Vec<u8>);
}

/// A request with places.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template {
    head: Vec<Piece>,
    body: Vec<Piece>,
    /// Whether the body's length is written into the head, and where fields go on.
    counts_body: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Piece {
    Text(Box<[u8]>),
    Value {
        place: u16,
        /// What the template asks for, before what its part needs.
        filter: Escape,
        escape: Escape,
    },
    /// The decimal length of the body.
    Length,
}

/// Why a text is no template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TemplateError {
    /// The request itself cannot be written.
    Request(RequestError),
    /// `{{` without `}}`.
    Unclosed(String),
    /// A filter that does not exist.
    Filter(String),
    /// A name that the caller does not know, in its words.
    Name(String),
}

impl fmt::Display for TemplateError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Request(error) => error.fmt(out),
            Self::Unclosed(text) => write!(out, "{text:?} has {{{{ without }}}}"),
            Self::Filter(name) => write!(out, "filter {name:?} is neither url nor json"),
            Self::Name(text) => out.write_str(text),
        }
    }
}

impl std::error::Error for TemplateError {}

impl Template {
    /// Cuts a request into pieces; `place` gives the number of a name, or says what is wrong.
    pub fn compile(
        parts: &RequestParts<'_>,
        place: &mut dyn FnMut(&str) -> Result<u16, String>,
    ) -> Result<Self, TemplateError> {
        let mut cutter = Cutter { pieces: Vec::new(), plain: Vec::new(), said: Vec::new(), place };
        cutter.plain(parts.method.as_bytes());
        cutter.plain(b" ");
        let target = cutter.cut(parts.target.as_bytes(), Escape::Target)?;
        cutter.plain(b" HTTP/1.1\r\n");
        if !request::has(parts, "host") {
            cutter.plain(format!("Host: {}\r\n", parts.host).as_bytes());
        }
        let mut headers = Vec::new();
        for (name, value) in parts.headers {
            cutter.plain(format!("{name}: ").as_bytes());
            headers.push((name.clone(), cutter.cut(value.as_bytes(), Escape::Field)?));
            cutter.plain(b"\r\n");
        }
        let counts_body = request::content_length(parts).is_some();
        if counts_body {
            cutter.plain(b"Content-Length: ");
            cutter.push(Piece::Length);
            cutter.plain(b"\r\n");
        }
        if !parts.keepalive && !request::has(parts, "connection") {
            cutter.plain(b"Connection: close\r\n");
        }
        cutter.plain(b"\r\n");
        let head = cutter.take();
        cutter.cut(parts.body.unwrap_or_default(), Escape::None)?;
        let body = cutter.take();
        // What stands there itself is checked as in a request without places: no value can break it.
        let plain = RequestParts { target: &target, headers: &headers, ..*parts };
        request::check(&plain).map_err(TemplateError::Request)?;
        Ok(Self { head, body, counts_body })
    }

    /// Joins the request with the values of this exchange; `out` is replaced, `spare` is scratch.
    pub fn join(&self, values: &mut impl Values, out: &mut Vec<u8>, spare: &mut Vec<u8>) {
        out.clear();
        spare.clear();
        if self.counts_body {
            append(&self.body, values, spare, 0);
        }
        append(&self.head, values, out, spare.len());
        if self.counts_body {
            out.extend_from_slice(spare);
        } else {
            append(&self.body, values, out, 0);
        }
    }
}

struct Cutter<'a> {
    pieces: Vec<Piece>,
    plain: Vec<u8>,
    /// The text of the current part without its places.
    said: Vec<u8>,
    place: &'a mut dyn FnMut(&str) -> Result<u16, String>,
}

impl Cutter<'_> {
    fn plain(&mut self, bytes: &[u8]) {
        self.plain.extend_from_slice(bytes);
    }

    fn push(&mut self, piece: Piece) {
        if !self.plain.is_empty() {
            self.pieces.push(Piece::Text(std::mem::take(&mut self.plain).into_boxed_slice()));
        }
        self.pieces.push(piece);
    }

    fn take(&mut self) -> Vec<Piece> {
        let plain = std::mem::take(&mut self.plain);
        if !plain.is_empty() {
            self.pieces.push(Piece::Text(plain.into_boxed_slice()));
        }
        std::mem::take(&mut self.pieces)
    }

    /// Cuts one part of a request; gives what it says itself.
    fn cut(&mut self, text: &[u8], escape: Escape) -> Result<String, TemplateError> {
        self.said.clear();
        let mut rest = text;
        while let Some(at) = find(rest, b"{{") {
            let (before, from) = rest.split_at(at);
            let unclosed = || TemplateError::Unclosed(String::from_utf8_lossy(from).into_owned());
            let length = end_of(from).ok_or_else(unclosed)?;
            let inside = String::from_utf8_lossy(&from[2..length - 2]).trim().to_owned();
            self.say(before);
            self.value(&inside, escape)?;
            rest = &from[length..];
        }
        self.say(rest);
        Ok(String::from_utf8_lossy(&self.said).into_owned())
    }

    fn say(&mut self, text: &[u8]) {
        self.said.extend_from_slice(text);
        self.plain(text);
    }

    fn value(&mut self, inside: &str, escape: Escape) -> Result<(), TemplateError> {
        if let Some(text) = inside.strip_prefix('"').and_then(|text| text.strip_suffix('"')) {
            self.say(text.as_bytes());
            return Ok(());
        }
        let (name, filter) = inside.split_once('|').unwrap_or((inside, ""));
        let filter = match filter.trim() {
            "" => Escape::None,
            "url" => Escape::Url,
            "json" => Escape::Json,
            other => return Err(TemplateError::Filter(other.to_owned())),
        };
        let place = (self.place)(name.trim()).map_err(TemplateError::Name)?;
        self.push(Piece::Value { place, filter, escape });
        Ok(())
    }
}

/// The length of the place at the start of `text`, braces included; a quoted text may hold braces.
fn end_of(text: &[u8]) -> Option<usize> {
    let skip = text[2..].iter().position(|byte| *byte != b' ')? + 2;
    let quoted = if text[skip] == b'"' { find(&text[skip + 1..], b"\"")? + skip + 2 } else { 2 };
    find(&text[quoted..], b"}}").map(|at| quoted + at + 2)
}

fn find(text: &[u8], what: &[u8]) -> Option<usize> {
    text.windows(what.len()).position(|window| window == what)
}

fn append(pieces: &[Piece], values: &mut impl Values, out: &mut Vec<u8>, length: usize) {
    for piece in pieces {
        match piece {
            Piece::Text(text) => out.extend_from_slice(text),
            Piece::Length => write_number(length, out),
            Piece::Value { place, filter, escape } => {
                let from = out.len();
                values.put(*place, out);
                filter.apply(out, from);
                escape.apply(out, from);
            }
        }
    }
}

fn write_number(number: usize, out: &mut Vec<u8>) {
    // Writing into memory cannot fail.
    let _ = write!(out, "{number}");
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Place n says the n-th of these.
    struct Said(Vec<&'static str>);

    impl Values for Said {
        fn put(&mut self, place: u16, out: &mut Vec<u8>) {
            out.extend_from_slice(self.0[usize::from(place)].as_bytes());
        }
    }

    fn parts<'a>(
        target: &'a str,
        headers: &'a [(String, String)],
        body: Option<&'a str>,
    ) -> RequestParts<'a> {
        let body = body.map(str::as_bytes);
        RequestParts { method: "GET", target, host: "h:1", headers, body, keepalive: true }
    }

    /// Names are numbered as they come.
    fn compiled(parts: &RequestParts<'_>) -> Result<Template, TemplateError> {
        let mut names: Vec<String> = Vec::new();
        Template::compile(parts, &mut |name| {
            if name == "unknown" {
                return Err("nobody knows unknown".into());
            }
            let known = names.iter().position(|known| known == name);
            let place = known.unwrap_or_else(|| {
                names.push(name.to_owned());
                names.len() - 1
            });
            u16::try_from(place).map_err(|error| error.to_string())
        })
    }

    fn joined(parts: &RequestParts<'_>, values: &[&'static str]) -> String {
        let (mut out, mut spare) = (b"old".to_vec(), b"old".to_vec());
        let template = compiled(parts).unwrap();
        template.join(&mut Said(values.to_vec()), &mut out, &mut spare);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn joins_values_and_counts_the_body_that_came_out() {
        let headers = [("X-Id".to_owned(), "<{{a}}>".to_owned())];
        let parts = parts("/u/{{ a }}?q={{b}}", &headers, Some("{\"n\": \"{{b}}{{a}}\"}"));
        assert_eq!(
            joined(&parts, &["ann", "12345"]),
            "GET /u/ann?q=12345 HTTP/1.1\r\nHost: h:1\r\nX-Id: <ann>\r\nContent-Length: 17\r\n\r\n{\"n\": \"12345ann\"}"
        );
    }

    #[test]
    fn a_request_without_places_is_what_encoding_it_gives() {
        let headers = [("A".to_owned(), "b c".to_owned())];
        for keepalive in [true, false] {
            for body in [None, Some("hi")] {
                for method in ["GET", "POST", "HEAD"] {
                    let parts =
                        RequestParts { method, keepalive, ..parts("/a?b=c", &headers, body) };
                    let request = crate::Request::encode(&parts).unwrap();
                    assert_eq!(joined(&parts, &[]).as_bytes(), &*request.bytes);
                }
            }
        }
    }

    #[test]
    fn values_cannot_break_the_message_apart() {
        let headers = [("A".to_owned(), "{{a}}".to_owned())];
        let parts = parts("/{{a}}", &headers, None);
        let text = joined(&parts, &["x y\r\nEvil: 1"]);
        assert_eq!(
            text,
            "GET /x%20y%0D%0AEvil:%201 HTTP/1.1\r\nHost: h:1\r\nA: x yEvil: 1\r\n\r\n"
        );
    }

    #[test]
    fn a_filter_does_not_replace_what_its_part_needs() {
        let headers = [("A".to_owned(), "{{a | json}}".to_owned())];
        let text = joined(&parts("/{{a | json}}", &headers, None), &["x \"\u{7f}"]);
        assert_eq!(text, "GET /x%20%5C%22%7F HTTP/1.1\r\nHost: h:1\r\nA: x \\\"\r\n\r\n");
    }

    #[test]
    fn nor_can_braces_hide_what_breaks_it_apart() {
        for value in ["b\r\nEvil: 1}}c", "{{\"b\r\nEvil: 1\"}}", "{{a}}\r\nEvil: 1"] {
            let headers = [("A".to_owned(), value.to_owned())];
            let error = compiled(&parts("/", &headers, None)).unwrap_err().to_string();
            assert!(error.contains("HTTP forbids"), "{error}");
        }
    }

    #[test]
    fn filters_escape_and_quoted_text_stands_for_itself() {
        let body = "{{a | url}} {{a|json}} {{\"{{\"}}x{{ \"}}\" }}";
        let text = joined(&parts("/", &[], Some(body)), &["a/\"b\"\n"]);
        assert!(text.ends_with("\r\n\r\na%2F%22b%22%0A a/\\\"b\\\"\\u000a {{x}}"), "{text}");
    }

    #[test]
    fn says_what_is_wrong_with_a_template() {
        let table = [
            ("/{{a", "without }}"),
            ("/{{a | loud}}", "\"loud\" is neither"),
            ("/{{unknown}}", "nobody knows unknown"),
            ("/{{a}} b", "white space"),
            ("/ b}}c", "white space"),
            ("/{{\" b\"}}", "white space"),
            ("{{a}}", "path \"\""),
        ];
        for (target, message) in table {
            let error = compiled(&parts(target, &[], None)).unwrap_err().to_string();
            assert!(error.contains(message), "{error}");
        }
    }
}
