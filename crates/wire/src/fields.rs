//! All of an answer's head, for whoever wants to see more of it than decides its framing.

use crate::WireError;

/// The final head of an answer, taken apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fields<'a> {
    /// 10 or 11: HTTP/1.0 or HTTP/1.1.
    pub version: u8,
    /// The status code.
    pub status: u16,
    /// The words behind it.
    pub reason: &'a [u8],
    /// Names and values in the order in which they came.
    pub fields: Vec<(&'a str, &'a [u8])>,
    /// Bytes up to the end of the blank line, interim heads included.
    pub length: usize,
}

impl<'a> Fields<'a> {
    /// Takes the first final head of `bytes` apart, which must be whole.
    pub fn read(bytes: &'a [u8]) -> Result<Self, WireError> {
        let mut start = 0;
        loop {
            let found = Self::read_one(&bytes[start..])?;
            start += found.length;
            if found.status >= 200 || found.status == 101 {
                return Ok(Self { length: start, ..found });
            }
        }
    }

    fn read_one(bytes: &'a [u8]) -> Result<Self, WireError> {
        let mut fields = [httparse::EMPTY_HEADER; 128];
        let mut parsed = httparse::Response::new(&mut fields);
        match parsed.parse(bytes) {
            Ok(httparse::Status::Complete(length)) => Ok(Self {
                version: if parsed.version == Some(0) { 10 } else { 11 },
                status: parsed.code.ok_or(WireError::BadHead)?,
                reason: reason(bytes),
                fields: parsed.headers.iter().map(|field| (field.name, field.value)).collect(),
                length,
            }),
            _ => Err(WireError::BadHead),
        }
    }
}

/// The words behind the status, which may be of any bytes.
fn reason(head: &[u8]) -> &[u8] {
    let mut lines = head.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
    let line = lines.find(|line| !line.is_empty()).unwrap_or_default();
    line.splitn(3, |byte| *byte == b' ').nth(2).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interim_heads_are_passed_over_and_what_follows_is_left() {
        let bytes = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 201 Made\r\nA: 1\r\na:  2 \r\n\r\nbody";
        let head = Fields::read(bytes).unwrap();
        assert_eq!((head.version, head.status, head.reason), (11, 201, &b"Made"[..]));
        assert_eq!(head.fields, [("A", &b"1"[..]), ("a", b"2")]);
        assert_eq!(&bytes[head.length..], b"body");
    }

    #[test]
    fn a_head_that_is_not_whole_is_none() {
        let bytes = b"HTTP/1.0 200 OK\r\n\r\n";
        for cut in 0..bytes.len() {
            assert_eq!(Fields::read(&bytes[..cut]), Err(WireError::BadHead), "{cut}");
        }
        assert_eq!(Fields::read(bytes).unwrap().version, 10);
    }
}
