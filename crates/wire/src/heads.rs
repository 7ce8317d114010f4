//! A cache of the latest head, because servers often send the same bytes again.
//!
//! The meaning of a head depends only on its bytes, up to the blank line that ends it. A response that
//! begins with the same bytes as an earlier one is not parsed again: a comparison needs a tenth of the
//! time.

use std::sync::Arc;

use crate::{Head, ResponseHead, WireError};

/// The maximum length of a cached head: longer ones are rare, and a comparison with another head takes
/// time.
const KEPT_BYTES: usize = 4 * 1024;

/// The cache of the latest head, which all exchanges of a worker share.
#[derive(Debug, Default)]
pub struct Heads {
    bytes: Vec<u8>,
    known: Option<Head>,
    to_head_request: bool,
    /// The same head with all its fields, if it was asked for.
    response_head: Option<Arc<ResponseHead>>,
}

impl Heads {
    /// Does the same as [`Head::parse`], faster if the head is the latest one.
    pub fn parse(
        &mut self,
        bytes: &[u8],
        to_head_request: bool,
    ) -> Result<Option<(Head, usize)>, WireError> {
        if let Some(head) = self.known
            && self.to_head_request == to_head_request
            && bytes.starts_with(&self.bytes)
        {
            return Ok(Some((head, self.bytes.len())));
        }
        let parsed = Head::parse(bytes, to_head_request)?;
        if let Some((head, length)) = parsed
            && length <= KEPT_BYTES
        {
            self.bytes.clear();
            self.bytes.extend_from_slice(&bytes[..length]);
            (self.known, self.to_head_request) = (Some(head), to_head_request);
            self.response_head = None;
        }
        Ok(parsed)
    }

    /// Returns a complete head with all its fields; exchanges with the same head share it.
    pub fn response_head(&mut self, raw: &[u8]) -> Option<Arc<ResponseHead>> {
        let read = || Some(Arc::new(ResponseHead::read(raw).ok()??.0));
        if raw != self.bytes {
            return read();
        }
        if self.response_head.is_none() {
            self.response_head = read();
        }
        self.response_head.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADS: &[&[u8]] = &[
        b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n",
        b"HTTP/1.1 200 OK\r\n\r\n",
        b"HTTP/1.1 100 Continue\r\n\r\n",
        b"HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nX: y\r\n\r\n",
        b"HTTP/1.1 200 OK\nTransfer-Encoding: chunked\n\n",
        b"nonsense",
        b"",
    ];

    #[test]
    fn exchanges_with_the_same_head_share_it() {
        let [first, other] = [HEADS[0], HEADS[1]];
        let mut heads = Heads::default();
        heads.parse(first, false).unwrap();
        let one = heads.response_head(first).unwrap();
        assert!(Arc::ptr_eq(&one, &heads.response_head(first).unwrap()));
        assert_eq!(
            heads.response_head(other).unwrap().fields.last("content-length"),
            Some(&b"6"[..])
        );
        heads.parse(other, false).unwrap();
        assert!(!Arc::ptr_eq(&one, &heads.response_head(other).unwrap()));
        assert_eq!(*heads.response_head(first).unwrap(), *one);
        assert_eq!(heads.response_head(b"nonsense"), None);
    }

    #[test]
    fn says_what_parsing_says_whatever_came_before() {
        for before in HEADS {
            for now in HEADS {
                for to_head_request in [false, true] {
                    for cut in 0..=now.len() {
                        let mut heads = Heads::default();
                        let _ = heads.parse(before, false);
                        let bytes = &now[..cut];
                        let expected = Head::parse(bytes, to_head_request);
                        assert_eq!(heads.parse(bytes, to_head_request), expected);
                        let followed = [bytes, b"HTTP/1.1 body"].concat();
                        let expected = Head::parse(&followed, to_head_request);
                        assert_eq!(heads.parse(&followed, to_head_request), expected);
                        assert_eq!(heads.parse(&followed, to_head_request), expected);
                    }
                }
            }
        }
    }
}
