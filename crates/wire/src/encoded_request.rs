//! A request in the bytes of its protocol, except values that differ between exchanges.

use std::io::Write as _;

use crate::grpc::GRPC_PREFIX_BYTES;
use crate::protobuf::write_varint;
use crate::template_text::Piece;
use crate::{TemplateText, Values};

/// The longest text of a number, in bytes.
const LONGEST_NUMBER: usize = 400;

/// A request that is encoded once, and joined with its values for every exchange.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EncodedRequest {
    head: Vec<Piece>,
    body: Vec<Piece>,
    /// Whether the head has the length of the body.
    counts_body: bool,
}

impl EncodedRequest {
    /// Creates a request that is one text.
    #[must_use]
    pub fn of_text(text: &TemplateText) -> Self {
        Self { head: text.pieces.clone(), ..Self::default() }
    }

    /// Appends bytes to the head.
    pub(crate) fn add(&mut self, bytes: &[u8]) {
        match self.head.last_mut() {
            Some(Piece::Text(text)) => *text = [text, bytes].concat().into(),
            _ => self.head.push(Piece::Text(bytes.into())),
        }
    }

    /// Appends a text with places to the head.
    pub(crate) fn add_text(&mut self, text: &TemplateText) {
        for piece in &text.pieces {
            match piece {
                Piece::Text(bytes) => self.add(bytes),
                piece => self.head.push(piece.clone()),
            }
        }
    }

    /// Appends the length of the body to the head.
    pub(crate) fn add_length(&mut self) {
        self.head.push(Piece::Length);
        self.counts_body = true;
    }

    /// Sets the body.
    pub(crate) fn set_body(&mut self, body: &TemplateText) {
        self.body.clone_from(&body.pieces);
    }

    /// Returns the bytes of a request without places.
    #[must_use]
    pub fn fixed(&self) -> Option<Box<[u8]>> {
        if self.head.iter().chain(&self.body).any(Piece::has_places) {
            return None;
        }
        let mut bytes = Vec::new();
        self.join(&mut (), &mut bytes, &mut Vec::new());
        Some(bytes.into())
    }

    /// Joins the request with the values of an exchange; `out` is replaced, `spare` is scratch.
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
            Piece::Number { place, encoding } => {
                let from = out.len();
                values.put(*place, out);
                let mut text = [0; LONGEST_NUMBER];
                let length = text.len().min(out.len() - from);
                text[..length].copy_from_slice(&out[from..from + length]);
                out.truncate(from);
                // Whoever made the template has checked that its values are numbers.
                let _ = encoding.write(&text[..length], out);
            }
            Piece::Nested(pieces) => {
                let from = out.len();
                append(pieces, values, out, 0);
                let end = out.len();
                write_varint((end - from) as u64, out);
                let length = out.len() - end;
                out[from..].rotate_right(length);
            }
            Piece::Message(pieces) => {
                let from = out.len();
                out.extend([0; GRPC_PREFIX_BYTES]);
                append(pieces, values, out, 0);
                // A message of 4 GiB does not fit the memory of a request.
                let length = (out.len() - from - GRPC_PREFIX_BYTES) as u32;
                out[from + 1..from + GRPC_PREFIX_BYTES].copy_from_slice(&length.to_be_bytes());
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
    use crate::GrpcPart;
    use crate::escape::Escape;
    use crate::grpc_part::read_all;
    use crate::protobuf::NumberEncoding;

    /// Gives the same bytes for each place.
    struct Same(&'static [u8]);

    impl Values for Same {
        fn put(&mut self, _: u16, out: &mut Vec<u8>) {
            out.extend_from_slice(self.0);
        }
    }

    fn joined(request: &EncodedRequest, value: &'static [u8]) -> Vec<u8> {
        // What is in the buffers before does not matter.
        let (mut out, mut spare) = (b"old".to_vec(), b"old".to_vec());
        request.join(&mut Same(value), &mut out, &mut spare);
        out
    }

    fn text(text: &str) -> TemplateText {
        TemplateText::read(text.as_bytes(), Escape::None, &mut |_| Ok(0)).unwrap()
    }

    fn message(parts: &[GrpcPart]) -> EncodedRequest {
        let pieces = read_all(parts, &mut |_| Ok(0)).unwrap();
        let mut request = EncodedRequest::default();
        request.add(b"head ");
        request.set_body(&TemplateText { pieces: vec![Piece::Message(pieces)] });
        request
    }

    #[test]
    fn texts_and_values_are_joined_in_their_order() {
        assert_eq!(joined(&EncodedRequest::of_text(&text("a{{x}}c")), b"b"), b"abc");
        let mut request = EncodedRequest::default();
        request.add(b"GET ");
        request.add(b"/");
        request.add_text(&text("id/{{x}}/"));
        request.add(b" end");
        assert_eq!(joined(&request, b"7"), b"GET /id/7/ end");
        // Texts that follow each other are one piece.
        assert_eq!(request.head.len(), 3);
        assert_eq!(request.fixed(), None);
    }

    #[test]
    fn a_request_without_places_is_fixed() {
        let mut request = EncodedRequest::default();
        request.add(b"length ");
        request.add_length();
        request.add(b": ");
        request.set_body(&text("hello world"));
        assert_eq!(request.fixed().as_deref(), Some(&b"length 11: hello world"[..]));
    }

    #[test]
    fn the_length_is_that_of_the_body_with_its_values() {
        let mut request = EncodedRequest::default();
        request.add_length();
        request.add(b" ");
        request.set_body(&text("<{{x}}>"));
        assert_eq!(joined(&request, b"four"), b"6 <four>");
    }

    #[test]
    fn messages_have_their_length_before_them() {
        let request = message(&[
            GrpcPart::Bytes(b"ab".to_vec()),
            GrpcPart::Text("<{{x}}>".to_owned()),
            GrpcPart::Number("{{x}}".to_owned(), NumberEncoding::Uint64),
        ]);
        assert_eq!(joined(&request, b"300"), b"head \0\0\0\0\x09ab<300>\xac\x02");
        let long = message(&[GrpcPart::Bytes(vec![b'.'; 258])]);
        assert_eq!(joined(&long, b"")[..10], *b"head \0\0\0\x01\x02");
        assert_eq!(joined(&long, b"").len(), 5 + 5 + 258);
    }

    #[test]
    fn parts_within_a_message_have_their_length_before_them() {
        let inner = GrpcPart::Nested(vec![GrpcPart::Text("{{x}}".to_owned())]);
        let outer = GrpcPart::Nested(vec![GrpcPart::Bytes(b"(".to_vec()), inner]);
        let request = message(&[GrpcPart::Bytes(b"tag".to_vec()), outer]);
        assert_eq!(joined(&request, b"four"), b"head \0\0\0\0\x0atag\x06(\x04four");
        // A length of more than 127 takes two bytes.
        const LONG: &[u8] = &[b'.'; 200];
        let nested = GrpcPart::Nested(vec![GrpcPart::Text("{{x}}".to_owned())]);
        let joined = joined(&message(&[nested]), LONG);
        assert_eq!(joined[..12], *b"head \0\0\0\0\xca\xc8\x01");
        assert_eq!(joined[12..], *LONG);
    }

    #[test]
    fn only_the_value_of_a_number_is_encoded() {
        let number = GrpcPart::Number("{{x}}".to_owned(), NumberEncoding::Fixed32);
        let request = message(&[GrpcPart::Bytes(b"tag".to_vec()), number]);
        assert_eq!(joined(&request, b"258"), b"head \0\0\0\0\x07tag\x02\x01\0\0");
    }
}
