//! Dialects of streams: each reads the [`Mark`] of an event.

mod anthropic;
mod dify;
mod openai;
mod plain;
mod raw;
mod tokens;

use crate::{Event, Kind, Mark};

/// A dialect of streams.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// Any server-sent events: the data of each is text, and the stream ends with the body.
    Plain,
    /// Chat completions of OpenAI and compatible servers.
    Openai,
    /// Chat messages of Dify.
    Dify,
    /// Messages of Anthropic.
    Anthropic,
    /// Messages of gRPC, whose times are those of texts.
    Grpc,
}

/// An event whose data is not the JSON of its dialect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Malformed;

impl Dialect {
    /// Returns the meaning of an event.
    #[inline]
    pub fn mark<'a>(self, event: Event<'a>) -> Result<Mark<'a>, Malformed> {
        match self {
            Self::Plain => Ok(plain::mark(event)),
            Self::Openai => openai::mark(event),
            Self::Dify => dify::mark(event),
            Self::Anthropic => anthropic::mark(event),
            Self::Grpc => Ok(Mark { has_text: true, ..Mark::of(Kind::Message) }),
        }
    }

    /// Returns the dialect of a stream by its first event with data.
    #[must_use]
    pub fn of(event: Event<'_>) -> Self {
        let knows =
            |dialect: &Self| dialect.mark(event).is_ok_and(|mark| mark.kind != Kind::Unknown);
        let named = [Self::Dify, Self::Anthropic, Self::Openai];
        named.into_iter().find(knows).unwrap_or(Self::Plain)
    }

    /// Returns whether a complete stream has an event for its end.
    #[must_use]
    pub fn has_end(self) -> bool {
        !matches!(self, Self::Plain | Self::Grpc)
    }
}

/// Reads JSON without a copy.
fn read<'a, T: serde::Deserialize<'a>>(data: &'a [u8]) -> Result<T, Malformed> {
    serde_json::from_slice(data).map_err(|_| Malformed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_is_known_by_its_first_event_with_data() {
        let table = [
            ("", r#"{"choices":[{"delta":{"role":"assistant"}}]}"#, Dialect::Openai),
            ("", r#"{"error":{"message":"busy"}}"#, Dialect::Openai),
            ("", r#"{"event":"workflow_started","task_id":"1"}"#, Dialect::Dify),
            ("", r#"{"event":"message","answer":"a","conversation_id":"c"}"#, Dialect::Dify),
            ("message_start", r#"{"type":"message_start","message":{}}"#, Dialect::Anthropic),
            ("", r#"{"price":1}"#, Dialect::Plain),
            ("update", "hello", Dialect::Plain),
        ];
        for (name, data, dialect) in table {
            let event = Event { name: name.as_bytes(), data: Some(data.as_bytes()) };
            assert_eq!(Dialect::of(event), dialect, "{data}");
        }
    }
}
