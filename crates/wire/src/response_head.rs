//! The head of a response with all its fields, as every protocol has it.

use std::fmt::Write as _;

use crate::head::{Head, read_head};
use crate::{Fields, WireError};

/// The head of a response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResponseHead {
    /// The version of HTTP: 10, 11 or 20.
    pub version: u8,
    /// The status code.
    pub status: u16,
    /// The reason phrase behind it.
    pub reason: Box<[u8]>,
    /// The fields.
    pub fields: Fields,
}

impl ResponseHead {
    /// Reads a head at the start of `bytes`; returns it with its length, or `None` if it is not
    /// complete.
    pub fn read(bytes: &[u8]) -> Result<Option<(Self, usize)>, WireError> {
        read_head(bytes, |parsed| {
            let status = Head::status(parsed)?;
            let mut fields = Fields::default();
            parsed.headers.iter().for_each(|field| fields.push(field.name, field.value));
            let version = if parsed.version == Some(0) { 10 } else { 11 };
            Ok(Self { version, status, reason: reason(bytes).into(), fields })
        })
    }

    /// Returns the bytes of its texts.
    #[must_use]
    pub fn held_bytes(&self) -> usize {
        self.reason.len() + self.fields.held_bytes()
    }

    /// Returns the head as text, a line for the status and one for each field.
    #[must_use]
    pub fn to_text(&self) -> String {
        let version = match self.version {
            10 => "1.0",
            11 => "1.1",
            _ => "2",
        };
        let mut text = format!("HTTP/{version} {} ", self.status);
        text.push_str(&String::from_utf8_lossy(&self.reason));
        text.truncate(text.trim_end().len());
        for (name, value) in self.fields.iter() {
            // Writing to a text cannot fail.
            let _ = write!(text, "\r\n{name}: {}", String::from_utf8_lossy(value));
        }
        text
    }
}

/// Returns the reason phrase, which may have any bytes.
fn reason(head: &[u8]) -> &[u8] {
    let mut lines = head.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
    let line = lines.find(|line| !line.is_empty()).unwrap_or_default();
    line.splitn(3, |byte| *byte == b' ').nth(2).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_has_version_status_reason_and_fields() {
        let bytes = b"HTTP/1.1 201 Made \xfc\r\nA: 1\r\na:  2 \r\n\r\nbody";
        let (head, length) = ResponseHead::read(bytes).unwrap().unwrap();
        assert_eq!((head.version, head.status, &*head.reason), (11, 201, &b"Made \xfc"[..]));
        assert_eq!(head.fields.iter().count(), 2);
        assert_eq!(head.held_bytes(), 10);
        assert_eq!(&bytes[length..], b"body");
        assert_eq!(head.to_text(), "HTTP/1.1 201 Made \u{fffd}\r\nA: 1\r\na: 2");
    }

    #[test]
    fn a_head_that_is_not_complete_is_none_and_one_without_reason_is_whole() {
        let bytes = b"HTTP/1.0 200\r\n\r\n";
        for cut in 0..bytes.len() {
            assert_eq!(ResponseHead::read(&bytes[..cut]), Ok(None), "{cut}");
        }
        let (head, length) = ResponseHead::read(bytes).unwrap().unwrap();
        assert_eq!((head.version, head.to_text().as_str()), (10, "HTTP/1.0 200"));
        assert_eq!(length, bytes.len());
    }
}
