//! A request as bytes, made once before the run and written as it is for every exchange.

use std::fmt;

/// What a request says, before it becomes bytes.
#[derive(Debug, Clone, Copy)]
pub struct RequestParts<'a> {
    /// The method token, such as `GET`.
    pub method: &'a str,
    /// Path and query, as they stand in the request line.
    pub target: &'a str,
    /// The `Host` field, used when the headers have none.
    pub host: &'a str,
    /// Fields in the order in which they are sent.
    pub headers: &'a [(String, String)],
    /// The body, if there is one.
    pub body: Option<&'a [u8]>,
    /// Whether the connection shall live on; otherwise `Connection: close` is sent.
    pub keepalive: bool,
}

/// A request ready to be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// Head and body.
    pub bytes: Box<[u8]>,
    /// Whether the answer will have no body whatever its head says.
    pub is_head: bool,
}

/// A part of a request that cannot be written without breaking the message apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RequestError {
    /// The method is no token.
    Method(String),
    /// The target has white space or control characters.
    Target(String),
    /// A field's name or value breaks the line it stands in.
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

impl Request {
    /// Writes the request once; `Host`, `Content-Length` and `Connection: close` are added where they are missing.
    pub fn encode(parts: &RequestParts<'_>) -> Result<Self, RequestError> {
        check(parts)?;
        let mut bytes = format!("{} {} HTTP/1.1\r\n", parts.method, parts.target).into_bytes();
        let mut field = |name: &str, value: &str| {
            bytes.extend_from_slice(format!("{name}: {value}\r\n").as_bytes());
        };
        if !has(parts, "host") {
            field("Host", parts.host);
        }
        for (name, value) in parts.headers {
            field(name, value);
        }
        if let Some(length) = content_length(parts) {
            field("Content-Length", &length.to_string());
        }
        if !parts.keepalive && !has(parts, "connection") {
            field("Connection", "close");
        }
        bytes.extend_from_slice(b"\r\n");
        bytes.extend_from_slice(parts.body.unwrap_or_default());
        Ok(Self { bytes: bytes.into_boxed_slice(), is_head: parts.method == "HEAD" })
    }
}

pub(crate) fn has(parts: &RequestParts<'_>, name: &str) -> bool {
    parts.headers.iter().any(|(known, _)| known.eq_ignore_ascii_case(name))
}

/// Methods that define a body announce an empty one too, or some servers answer 411 (RFC 9110, 8.6).
pub(crate) fn content_length(parts: &RequestParts<'_>) -> Option<usize> {
    if has(parts, "content-length") || has(parts, "transfer-encoding") {
        return None;
    }
    match parts.body {
        Some(body) => Some(body.len()),
        None => matches!(parts.method, "POST" | "PUT" | "PATCH").then_some(0),
    }
}

pub(crate) fn check(parts: &RequestParts<'_>) -> Result<(), RequestError> {
    if parts.method.is_empty() || !parts.method.bytes().all(is_token) {
        return Err(RequestError::Method(parts.method.to_owned()));
    }
    if parts.target.is_empty() || parts.target.bytes().any(|byte| byte <= b' ' || byte == 0x7f) {
        return Err(RequestError::Target(parts.target.to_owned()));
    }
    let host = [(String::from("Host"), parts.host.to_owned())];
    for (name, value) in parts.headers.iter().chain(&host) {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn parts<'a>(method: &'a str, headers: &'a [(String, String)]) -> RequestParts<'a> {
        RequestParts { method, target: "/a?b=c", host: "h:1", headers, body: None, keepalive: true }
    }

    fn text(parts: &RequestParts<'_>) -> String {
        String::from_utf8(Request::encode(parts).unwrap().bytes.into_vec()).unwrap()
    }

    #[test]
    fn writes_what_was_asked_for_and_nothing_twice() {
        let own = [("HOST".to_owned(), "x".to_owned()), ("A".to_owned(), "b c".to_owned())];
        assert_eq!(text(&parts("GET", &[])), "GET /a?b=c HTTP/1.1\r\nHost: h:1\r\n\r\n");
        assert_eq!(text(&parts("GET", &own)), "GET /a?b=c HTTP/1.1\r\nHOST: x\r\nA: b c\r\n\r\n");
        let post = RequestParts { body: Some(b"{}"), keepalive: false, ..parts("POST", &[]) };
        assert_eq!(
            text(&post),
            "POST /a?b=c HTTP/1.1\r\nHost: h:1\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}"
        );
    }

    #[test]
    fn announces_an_empty_body_only_where_one_is_defined() {
        assert!(text(&parts("PUT", &[])).contains("Content-Length: 0\r\n"));
        assert!(!text(&parts("DELETE", &[])).contains("Content-Length"));
    }

    #[test]
    fn refuses_what_would_break_the_message_apart() {
        let smuggled = [("A".to_owned(), "b\r\nC: d".to_owned())];
        let nameless = [(String::new(), "b".to_owned())];
        let spaced = [("A B".to_owned(), "b".to_owned())];
        for headers in [&smuggled, &nameless, &spaced] {
            assert!(matches!(
                Request::encode(&parts("GET", headers)),
                Err(RequestError::Header(_))
            ));
        }
        assert!(matches!(Request::encode(&parts("G T", &[])), Err(RequestError::Method(_))));
        let target = RequestParts { target: "/a b", ..parts("GET", &[]) };
        assert!(matches!(Request::encode(&target), Err(RequestError::Target(_))));
    }
}
