//! A message as an encoded request: its kind, and its payload.

use super::opcode::MessageKind;
use crate::template_text::Piece;
use crate::{EncodedRequest, RequestTemplate};

/// What stands before the payload of a text, of a message whose values decide, and of any other.
const TEXT: u8 = b'T';
const TEXT_IF_VALID: u8 = b'V';
const BINARY: u8 = b'B';

impl RequestTemplate {
    /// Encodes the body of the request as a message. It is binary if the caller says so, or if its text
    /// with the values in its places is not UTF-8.
    #[must_use]
    pub fn to_message(&self, is_binary: bool) -> EncodedRequest {
        let mut encoded = EncodedRequest::default();
        let mut pieces = self.body.iter().flat_map(|body| &body.pieces);
        let kind = match pieces.next() {
            _ if is_binary => BINARY,
            None => TEXT,
            Some(Piece::Text(text)) if pieces.next().is_none() => {
                if std::str::from_utf8(text).is_ok() { TEXT } else { BINARY }
            }
            Some(_) => TEXT_IF_VALID,
        };
        encoded.add(&[kind]);
        self.body.iter().for_each(|body| encoded.set_body(body));
        encoded
    }
}

/// A message that is to be sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MessageRequest<'a> {
    /// Its kind.
    pub kind: MessageKind,
    /// Its payload.
    pub payload: &'a [u8],
}

impl<'a> MessageRequest<'a> {
    /// Reads what [`RequestTemplate::to_message`] has encoded.
    #[must_use]
    pub fn read(bytes: &'a [u8]) -> Self {
        match bytes.split_first() {
            Some((&TEXT, payload)) => Self { kind: MessageKind::Text, payload },
            Some((&TEXT_IF_VALID, payload)) if std::str::from_utf8(payload).is_ok() => {
                Self { kind: MessageKind::Text, payload }
            }
            Some((_, payload)) => Self { kind: MessageKind::Binary, payload },
            None => Self { kind: MessageKind::Binary, payload: &[] },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RequestParts;

    fn encoded(body: Option<&[u8]>, is_binary: bool) -> Vec<u8> {
        let (method, scheme, authority, target, fields) = ("GET", "http", "h", "/", &[][..]);
        let parts = RequestParts { method, scheme, authority, target, fields, body };
        let template = RequestTemplate::plain(&parts).unwrap();
        template.to_message(is_binary).fixed().unwrap().into_vec()
    }

    #[test]
    fn a_message_is_a_text_if_it_can_be_one_and_nobody_says_otherwise() {
        let table: [(&[u8], bool, MessageKind); 4] = [
            ("größer".as_bytes(), false, MessageKind::Text),
            ("größer".as_bytes(), true, MessageKind::Binary),
            (b"\xff\x00", false, MessageKind::Binary),
            (b"", false, MessageKind::Text),
        ];
        for (payload, is_binary, kind) in table {
            let bytes = encoded(Some(payload), is_binary);
            assert_eq!(MessageRequest::read(&bytes), MessageRequest { kind, payload });
        }
        assert_eq!(MessageRequest::read(&encoded(None, false)).payload, b"");
    }

    #[test]
    fn values_are_filled_into_the_payload() {
        let fields = [];
        let body = Some(&b"{\"id\": {{seq}}}"[..]);
        let (method, scheme, authority, target) = ("GET", "http", "h", "/");
        let parts = RequestParts { method, scheme, authority, target, fields: &fields, body };
        let template = RequestTemplate::read(&parts, &mut |_| Ok(0)).unwrap();
        let encoded = template.to_message(false);
        assert_eq!(encoded.fixed(), None);
        for (value, kind) in [
            (&b"7"[..], MessageKind::Text),
            (b"\xc3\x9f", MessageKind::Text),
            (b"\xff", MessageKind::Binary),
        ] {
            let mut out = Vec::new();
            encoded.join(&mut One(value), &mut out, &mut Vec::new());
            let payload = &[b"{\"id\": ", value, b"}"].concat();
            assert_eq!(MessageRequest::read(&out), MessageRequest { kind, payload });
        }
    }

    struct One<'a>(&'a [u8]);

    impl crate::Values for One<'_> {
        fn put(&mut self, _: u16, out: &mut Vec<u8>) {
            out.extend_from_slice(self.0);
        }
    }
}
