//! A request with places for values, before a protocol encodes it.

use crate::escape::Escape;
use crate::grpc_part::{GrpcPart, read_all};
use crate::protobuf::NumberEncoding;
use crate::request::check;
use crate::template_text::Piece;
use crate::{RequestError, RequestParts, TemplateError, TemplateText};

/// A request with places.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestTemplate {
    pub(crate) method: String,
    pub(crate) scheme: String,
    pub(crate) authority: String,
    pub(crate) target: TemplateText,
    pub(crate) fields: Vec<(String, TemplateText)>,
    pub(crate) body: Option<TemplateText>,
    /// Whether the length of the body is not sent before it, as in calls of gRPC.
    pub(crate) is_unannounced: bool,
}

impl RequestTemplate {
    /// Takes the parts of a request as they are.
    pub fn plain(parts: &RequestParts<'_>) -> Result<Self, RequestError> {
        check(parts)?;
        Self::new(parts, |text, _| Ok(TemplateText::plain(text)))
    }

    /// Reads the places in target, values of fields and body; `place` returns the number of a name, or
    /// what is wrong with it.
    pub fn read(
        parts: &RequestParts<'_>,
        place: &mut dyn FnMut(&str) -> Result<u16, String>,
    ) -> Result<Self, TemplateError> {
        let template = Self::new(parts, |text, escape| TemplateText::read(text, escape, place))?;
        // Values are escaped, so only the text around them can break the message.
        let texts =
            template.fields.iter().map(|(name, value)| (name.clone(), value.without_places()));
        let (fields, target) = (texts.collect::<Vec<_>>(), template.target.without_places());
        let plain = RequestParts { target: &target, fields: &fields, ..*parts };
        check(&plain).map_err(TemplateError::Request)?;
        Ok(template)
    }

    fn new<E>(
        parts: &RequestParts<'_>,
        mut text: impl FnMut(&[u8], Escape) -> Result<TemplateText, E>,
    ) -> Result<Self, E> {
        let target = text(parts.target.as_bytes(), Escape::Target)?;
        let fields = parts
            .fields
            .iter()
            .map(|(name, value)| Ok((name.clone(), text(value.as_bytes(), Escape::Field)?)));
        Ok(Self {
            method: parts.method.to_owned(),
            scheme: parts.scheme.to_owned(),
            authority: parts.authority.to_owned(),
            fields: fields.collect::<Result<_, E>>()?,
            target,
            body: parts.body.map(|body| text(body, Escape::None)).transpose()?,
            is_unannounced: false,
        })
    }

    /// Leaves out the length of the body, which HTTP/2 does not need.
    pub fn leave_out_length(&mut self) {
        self.is_unannounced = true;
    }

    /// Sets the body to bytes without places.
    pub fn set_body(&mut self, body: &[u8]) {
        self.body = Some(TemplateText::plain(body));
    }

    /// Sets the body to messages of gRPC; `place` as in [`Self::read`].
    pub fn set_messages(
        &mut self,
        messages: &[Vec<GrpcPart>],
        place: &mut dyn FnMut(&str) -> Result<u16, String>,
    ) -> Result<(), TemplateError> {
        let pieces = messages.iter().map(|parts| Ok(Piece::Message(read_all(parts, place)?)));
        self.body = Some(TemplateText { pieces: pieces.collect::<Result<_, _>>()? });
        Ok(())
    }

    /// Returns the places of numbers, and how they are encoded.
    #[must_use]
    pub fn numbers(&self) -> Vec<(u16, NumberEncoding)> {
        let mut found = Vec::new();
        self.body.iter().flat_map(|body| &body.pieces).for_each(|piece| piece.numbers(&mut found));
        found
    }

    /// Returns path and query.
    #[must_use]
    pub fn target(&self) -> &TemplateText {
        &self.target
    }

    /// Returns whether there is a field with a name, in whatever case it is written.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.fields.iter().any(|(known, _)| known.eq_ignore_ascii_case(name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call() -> RequestTemplate {
        let fields = &[("te".to_owned(), "trailers".to_owned())];
        let (method, scheme, authority, target) = ("POST", "http", "h", "/s/m");
        let parts = RequestParts { method, scheme, authority, target, fields, body: None };
        RequestTemplate::plain(&parts).unwrap()
    }

    fn place(name: &str) -> Result<u16, String> {
        name.parse().map_err(|_| format!("no {name}"))
    }

    #[test]
    fn messages_become_the_body_with_the_places_of_their_numbers() {
        let number = |text: &str| GrpcPart::Number(text.to_owned(), NumberEncoding::Sint32);
        let nested = GrpcPart::Nested(vec![GrpcPart::Text("a{{1}}".into()), number("{{2}}")]);
        let mut template = call();
        template.leave_out_length();
        let messages = [vec![GrpcPart::Bytes(vec![8]), number("{{3}}")], vec![nested]];
        template.set_messages(&messages, &mut place).unwrap();
        assert_eq!(template.numbers(), [(3, NumberEncoding::Sint32), (2, NumberEncoding::Sint32)]);
        assert!(template.is_unannounced && template.body.as_ref().unwrap().has_places());
        assert_eq!(template.target(), &TemplateText::plain(b"/s/m"));
        for wrong in ["{{name}}", "{{1}}{{2}}"] {
            let error = template.set_messages(&[vec![number(wrong)]], &mut place).unwrap_err();
            assert!(matches!(error, TemplateError::Name(_)), "{error}");
        }
        template.set_body(b"{{1}}");
        assert_eq!(
            (template.numbers(), template.body),
            (vec![], Some(TemplateText::plain(b"{{1}}")))
        );
    }
}
