//! A message as an encoded request: its kind, and its payload.

use super::opcode::MessageKind;
use crate::template_text::Piece;
use crate::{EncodedRequest, RequestTemplate};

/// What stands before the payload of a text, and of any other message.
const TEXT: u8 = b'T';
const BINARY: u8 = b'B';

impl RequestTemplate {
    /// Encodes the body of the request as a message. It is binary if the caller says so, or if the text
    /// around its places is not UTF-8.
    #[must_use]
    pub fn to_message(&self, is_binary: bool) -> EncodedRequest {
        let mut encoded = EncodedRequest::default();
        let pieces = self.body.iter().flat_map(|body| &body.pieces);
        let is_text = |piece: &Piece| match piece {
            Piece::Text(text) => std::str::from_utf8(text).is_ok(),
            _ => true,
        };
        let is_binary = is_binary || !pieces.into_iter().all(is_text);
        encoded.add(&[if is_binary { BINARY } else { TEXT }]);
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
        let mut out = Vec::new();
        encoded.join(&mut (), &mut out, &mut Vec::new());
        assert_eq!(MessageRequest::read(&out).payload, b"{\"id\": }");
    }
}
