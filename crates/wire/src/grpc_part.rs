//! Messages of gRPC with places for values.

use crate::escape::Escape;
use crate::protobuf::NumberEncoding;
use crate::template_text::Piece;
use crate::{TemplateError, TemplateText};

/// A part of a message in the format of protocol buffers, with places.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GrpcPart {
    /// Bytes that are always the same.
    Bytes(Vec<u8>),
    /// A text with places.
    Text(String),
    /// A number that is the value of the one place of a text.
    Number(String, NumberEncoding),
    /// Parts with their length before them.
    Nested(Vec<GrpcPart>),
}

impl GrpcPart {
    /// Reads the places of a part; `place` returns the number of a name, or what is wrong with it.
    pub(crate) fn read(
        &self,
        place: &mut dyn FnMut(&str) -> Result<u16, String>,
    ) -> Result<Vec<Piece>, TemplateError> {
        match self {
            Self::Bytes(bytes) => Ok(vec![Piece::Text(bytes.as_slice().into())]),
            Self::Text(text) => {
                Ok(TemplateText::read(text.as_bytes(), Escape::None, place)?.pieces)
            }
            Self::Number(text, encoding) => {
                let read = TemplateText::read(text.as_bytes(), Escape::None, place)?;
                match read.pieces.as_slice() {
                    [Piece::Value { place, filter: Escape::None, .. }] => {
                        Ok(vec![Piece::Number { place: *place, encoding: *encoding }])
                    }
                    _ => Err(TemplateError::Name(format!("{text:?} is more than one place"))),
                }
            }
            Self::Nested(parts) => Ok(vec![Piece::Nested(read_all(parts, place)?)]),
        }
    }
}

/// Reads the places of the parts of a message.
pub(crate) fn read_all(
    parts: &[GrpcPart],
    place: &mut dyn FnMut(&str) -> Result<u16, String>,
) -> Result<Vec<Piece>, TemplateError> {
    let pieces = parts.iter().map(|part| part.read(place)).collect::<Result<Vec<_>, _>>()?;
    Ok(pieces.into_iter().flatten().collect())
}
