//! A request as its parts, before a protocol encodes it.

use std::fmt;

/// The parts of a request, which every protocol sends in its own way.
#[derive(Debug, Clone, Copy)]
pub struct RequestParts<'a> {
    /// The method token, such as `GET`.
    pub method: &'a str,
    /// The scheme of its URL.
    pub scheme: &'a str,
    /// Host and port.
    pub authority: &'a str,
    /// Path and query.
    pub target: &'a str,
    /// Fields in the order in which they are sent.
    pub fields: &'a [(String, String)],
    /// The body, if there is one.
    pub body: Option<&'a [u8]>,
}

/// A part of a request that would break the message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RequestError {
    /// The method is no token.
    Method(String),
    /// The target has white space or control characters.
    Target(String),
    /// The name or value of a field has a character that would break its line.
    Header(String),
}

impl fmt::Display for RequestError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Method(text) => write!(out, "method {text:?} is not an HTTP token"),
            Self::Target(text) => {
                write!(out, "path {text:?} has white space or control characters")
            }
            Self::Header(text) => write!(out, "header {text:?} has a character that HTTP forbids"),
        }
    }
}

impl std::error::Error for RequestError {}

/// Checks that no part breaks the message.
pub(crate) fn check(parts: &RequestParts<'_>) -> Result<(), RequestError> {
    if parts.method.is_empty() || !parts.method.bytes().all(is_token) {
        return Err(RequestError::Method(parts.method.to_owned()));
    }
    if parts.target.is_empty() || parts.target.bytes().any(|byte| byte <= b' ' || byte == 0x7f) {
        return Err(RequestError::Target(parts.target.to_owned()));
    }
    let authority = [(String::from("Host"), parts.authority.to_owned())];
    for (name, value) in parts.fields.iter().chain(&authority) {
        let broken = value.bytes().any(|byte| byte == 0x7f || (byte < b' ' && byte != b'\t'));
        if name.is_empty() || !name.bytes().all(is_token) || broken {
            return Err(RequestError::Header(format!("{name}: {value}")));
        }
    }
    Ok(())
}

fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}
