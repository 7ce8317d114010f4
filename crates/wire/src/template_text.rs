//! A text with places for values.
//!
//! `{{name}}` is a value, `{{name | url}}` and `{{name | json}}` escape it, `{{"text"}}` is the
//! text itself. The caller gives the values ([`Values`]).

use std::fmt;

use crate::RequestError;
use crate::escape::Escape;
use crate::protobuf::NumberEncoding;

/// Gives the values of places.
pub trait Values {
    /// Appends the value of the place with this number.
    fn put(&mut self, place: u16, out: &mut Vec<u8>);
}

/// Without values, for a text without places.
impl Values for () {
    fn put(&mut self, _: u16, _: &mut Vec<u8>) {}
}

/// A text with places.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TemplateText {
    pub(crate) pieces: Vec<Piece>,
}

/// A piece of a text, or of an encoded request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Piece {
    Text(Box<[u8]>),
    Value {
        place: u16,
        /// The filter of the template, which is applied first.
        filter: Escape,
        escape: Escape,
    },
    /// The decimal length of the body.
    Length,
    /// A number in the format of protocol buffers.
    Number {
        place: u16,
        encoding: NumberEncoding,
    },
    /// Pieces with their length before them, in the format of protocol buffers.
    Nested(Vec<Piece>),
    /// Pieces of a message of gRPC, with its prefix before them.
    Message(Vec<Piece>),
}

impl Piece {
    /// Adds the places of numbers to a list.
    pub(crate) fn numbers(&self, found: &mut Vec<(u16, NumberEncoding)>) {
        match self {
            Self::Number { place, encoding } => found.push((*place, *encoding)),
            Self::Nested(pieces) | Self::Message(pieces) => {
                pieces.iter().for_each(|piece| piece.numbers(found));
            }
            Self::Text(_) | Self::Length | Self::Value { .. } => {}
        }
    }

    /// Returns whether it has places.
    pub(crate) fn has_places(&self) -> bool {
        match self {
            Self::Text(_) | Self::Length => false,
            Self::Value { .. } | Self::Number { .. } => true,
            Self::Nested(pieces) | Self::Message(pieces) => pieces.iter().any(Self::has_places),
        }
    }
}

/// Why a template cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TemplateError {
    /// A part of the request would break the message.
    Request(RequestError),
    /// `{{` without `}}`.
    Unclosed(String),
    /// A filter that does not exist.
    Filter(String),
    /// A name that the caller does not know; its text.
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

impl TemplateText {
    /// Creates a text without places.
    pub(crate) fn plain(text: &[u8]) -> Self {
        let mut plain = Self::default();
        plain.add(text);
        plain
    }

    /// Reads a text whose values are escaped only by filters; `place` as in
    /// [`RequestTemplate::read`](crate::RequestTemplate::read).
    pub fn unescaped(
        text: &[u8],
        place: &mut dyn FnMut(&str) -> Result<u16, String>,
    ) -> Result<Self, TemplateError> {
        Self::read(text, Escape::None, place)
    }

    /// Reads a text whose values are escaped for the part of the request that it is; `place` returns the
    /// number of a name, or what is wrong with it.
    pub(crate) fn read(
        text: &[u8],
        escape: Escape,
        place: &mut dyn FnMut(&str) -> Result<u16, String>,
    ) -> Result<Self, TemplateError> {
        let (mut template, mut plain, mut rest) = (Self::default(), Vec::new(), text);
        while let Some(at) = find(rest, b"{{") {
            let (before, from) = rest.split_at(at);
            let unclosed = || TemplateError::Unclosed(String::from_utf8_lossy(from).into_owned());
            let length = end_of(from).ok_or_else(unclosed)?;
            let inside = String::from_utf8_lossy(&from[2..length - 2]).trim().to_owned();
            plain.extend_from_slice(before);
            match quoted(&inside) {
                Some(text) => plain.extend_from_slice(text.as_bytes()),
                None => {
                    template.add(&std::mem::take(&mut plain));
                    template.pieces.push(value(&inside, escape, place)?);
                }
            }
            rest = &from[length..];
        }
        plain.extend_from_slice(rest);
        template.add(&plain);
        Ok(template)
    }

    fn add(&mut self, text: &[u8]) {
        if !text.is_empty() {
            self.pieces.push(Piece::Text(text.into()));
        }
    }

    /// Returns whether it has places.
    pub(crate) fn has_places(&self) -> bool {
        self.pieces.iter().any(Piece::has_places)
    }

    /// Returns the text without its places.
    pub(crate) fn without_places(&self) -> String {
        let texts = self.pieces.iter().filter_map(|piece| match piece {
            Piece::Text(text) => Some(&**text),
            _ => None,
        });
        String::from_utf8_lossy(&texts.collect::<Vec<_>>().concat()).into_owned()
    }
}

/// Returns the text of a place that is a quoted text.
fn quoted(inside: &str) -> Option<&str> {
    inside.strip_prefix('"')?.strip_suffix('"')
}

fn value(
    inside: &str,
    escape: Escape,
    place: &mut dyn FnMut(&str) -> Result<u16, String>,
) -> Result<Piece, TemplateError> {
    let (name, filter) = inside.split_once('|').unwrap_or((inside, ""));
    let filter = match filter.trim() {
        "" => Escape::None,
        "url" => Escape::Url,
        "json" => Escape::Json,
        other => return Err(TemplateError::Filter(other.to_owned())),
    };
    let place = place(name.trim()).map_err(TemplateError::Name)?;
    Ok(Piece::Value { place, filter, escape })
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

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<TemplateText, TemplateError> {
        TemplateText::unescaped(text.as_bytes(), &mut |name| {
            name.strip_prefix('v').and_then(|n| n.parse().ok()).ok_or_else(|| format!("no {name}"))
        })
    }

    fn value(place: u16, filter: Escape) -> Piece {
        Piece::Value { place, filter, escape: Escape::None }
    }

    fn plain(text: &str) -> Piece {
        Piece::Text(text.as_bytes().into())
    }

    #[test]
    fn places_are_found_with_their_filters_and_spaces() {
        let read = read("a{{v1}}b{{ v2 | url }}{{v3|json}}c").unwrap();
        assert_eq!(
            read.pieces,
            [
                plain("a"),
                value(1, Escape::None),
                plain("b"),
                value(2, Escape::Url),
                value(3, Escape::Json),
                plain("c"),
            ]
        );
        assert!(read.has_places());
        assert_eq!(read.without_places(), "abc");
    }

    #[test]
    fn a_quoted_text_may_hold_braces() {
        for text in ["a{{\"{{x}}\"}}b", "a{{   \"{{x}}\"   }}b"] {
            let read = read(text).unwrap();
            assert_eq!(read.pieces, [plain("a{{x}}b")], "{text}");
            assert!(!read.has_places());
        }
        assert_eq!(read("{{\"\"}}{{\"}}\"}}").unwrap().pieces, [plain("}}")]);
        for text in ["{{\"a}}\"}}", "{{ \"a}}\"}}"] {
            assert_eq!(read(text).unwrap().pieces, [plain("a}}")], "{text}");
        }
    }

    #[test]
    fn what_is_wrong_is_named() {
        let unclosed = |text: &str| TemplateError::Unclosed(text.to_owned());
        for text in ["{{", "{{v1}", "{{   ", "{{\"v1}}", "{{\"v1\"}"] {
            assert_eq!(read(&format!("a{text}")), Err(unclosed(text)));
        }
        assert_eq!(read("{{v1|xml}}"), Err(TemplateError::Filter("xml".to_owned())));
        assert_eq!(read("{{w}}"), Err(TemplateError::Name("no w".to_owned())));
    }
}
