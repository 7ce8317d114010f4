//! Escaping of values, so that they cannot break the request.

use std::io::Write as _;

/// The place of a value in a request, which decides how it is escaped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Escape {
    /// No escaping: a body may have any byte.
    None,
    /// The request line: bytes that it cannot have are percent-encoded.
    Target,
    /// A line of the head: control characters are removed.
    Field,
    /// Everything but unreserved characters is percent-encoded (RFC 3986, 2.3).
    Url,
    /// The inside of a JSON text.
    Json,
}

impl Escape {
    /// Escapes the bytes from `from` on; most values need no change and are not copied.
    pub(crate) fn apply(self, out: &mut Vec<u8>, from: usize) {
        if out[from..].iter().all(|byte| self.passes(*byte)) {
            return;
        }
        let value = out.split_off(from);
        for byte in value {
            if self.passes(byte) {
                out.push(byte);
            } else {
                self.replace(byte, out);
            }
        }
    }

    fn passes(self, byte: u8) -> bool {
        match self {
            Self::None => true,
            Self::Target => byte > b' ' && byte < 0x7f && !b"\"#<>\\^`{|}".contains(&byte),
            Self::Field => (byte >= b' ' || byte == b'\t') && byte != 0x7f,
            Self::Url => byte.is_ascii_alphanumeric() || b"-._~".contains(&byte),
            Self::Json => byte >= b' ' && byte != b'"' && byte != b'\\',
        }
    }

    fn replace(self, byte: u8, out: &mut Vec<u8>) {
        match (self, byte) {
            (Self::Target | Self::Url, _) => {
                let _ = write!(out, "%{byte:02X}");
            }
            (Self::Json, b'"' | b'\\') => out.extend_from_slice(&[b'\\', byte]),
            (Self::Json, _) => {
                let _ = write!(out, "\\u{byte:04x}");
            }
            (Self::None | Self::Field, _) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn escaped(escape: Escape, value: &[u8]) -> String {
        let mut out = b"before ".to_vec();
        out.extend_from_slice(value);
        escape.apply(&mut out, 7);
        assert!(out.starts_with(b"before "));
        String::from_utf8_lossy(&out[7..]).into_owned()
    }

    #[test]
    fn every_byte_is_harmless_where_it_stands() {
        for byte in 0..=255_u8 {
            let value = [byte];
            let target = escaped(Escape::Target, &value);
            assert!(target.bytes().all(|byte| byte > b' ' && byte < 0x7f), "{byte}: {target}");
            let field = escaped(Escape::Field, &value);
            assert!(!field.contains(['\r', '\n', '\0']), "{byte}: {field}");
            let url = escaped(Escape::Url, &value);
            assert!(url.len() == 1 || url == format!("%{byte:02X}"), "{byte}: {url}");
            if byte.is_ascii() {
                let json = format!("\"{}\"", escaped(Escape::Json, &value));
                let read: String = serde_json::from_str(&json).unwrap();
                assert_eq!(read.as_bytes(), value);
            }
        }
    }

    #[test]
    fn what_needs_nothing_stays_as_it_is() {
        for escape in [Escape::None, Escape::Target, Escape::Field, Escape::Url, Escape::Json] {
            assert_eq!(escaped(escape, b"abc-123"), "abc-123");
        }
        assert_eq!(escaped(Escape::None, b"a\r\nb"), "a\r\nb");
    }
}
