//! Dialects of streams: each reads the [`Mark`] of an event.

mod anthropic;
mod dify;
mod grpc;
mod openai;
mod plain;
mod raw;
mod responses;
mod tokens;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::{Event, Kind, Mark};

/// An event whose data is not the JSON of its dialect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Malformed;

/// Makes the table of dialects: each is a module with its `NAME`, its function `mark`, which returns the
/// meaning of an event, and `HAS_END`, whether a complete stream has an event for its end.
macro_rules! dialects {
    ($($(#[$doc:meta])* $dialect:ident = $module:ident,)+) => {
        /// A dialect of streams.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Dialect {
            $($(#[$doc])* $dialect,)+
        }

        impl Dialect {
            /// All dialects, in the order in which they are compared with the first event of a stream.
            pub const ALL: &'static [Self] = &[$(Self::$dialect,)+];
            const NAMES: &'static [&'static str] = &[$($module::NAME,)+];

            /// Returns its name in plans.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$dialect => $module::NAME,)+
                }
            }

            /// Returns the meaning of an event.
            #[inline]
            pub fn mark<'a>(self, event: Event<'a>) -> Result<Mark<'a>, Malformed> {
                match self {
                    $(Self::$dialect => $module::mark(event),)+
                }
            }

            /// Returns whether a complete stream has an event for its end.
            #[must_use]
            pub fn has_end(self) -> bool {
                match self {
                    $(Self::$dialect => $module::HAS_END,)+
                }
            }
        }
    };
}

dialects! {
    /// Chat messages of Dify.
    Dify = dify,
    /// Messages of Anthropic.
    Anthropic = anthropic,
    /// Chat completions of OpenAI and compatible servers.
    Openai = openai,
    /// Responses of OpenAI and compatible servers.
    Responses = responses,
    /// Any server-sent events: the data of each is text, and the stream ends with the body.
    Plain = plain,
    /// Messages of gRPC, whose times are those of texts.
    Grpc = grpc,
}

impl Dialect {
    /// Returns the dialect of a stream by its first event with data.
    ///
    /// Dialects with an end have events of a known form; any event fits the others.
    #[must_use]
    pub fn of(event: Event<'_>) -> Self {
        let knows =
            |dialect: &Self| dialect.mark(event).is_ok_and(|mark| mark.kind != Kind::Unknown);
        let mut named = Self::ALL.iter().copied().filter(|dialect| dialect.has_end());
        named.find(knows).unwrap_or(Self::Plain)
    }
}

impl Serialize for Dialect {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl<'de> Deserialize<'de> for Dialect {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        let named = Self::ALL.iter().find(|dialect| dialect.name() == name);
        named.copied().ok_or_else(|| D::Error::unknown_variant(&name, Self::NAMES))
    }
}

/// Reads JSON without a copy.
fn read<'a, T: Deserialize<'a>>(data: &'a [u8]) -> Result<T, Malformed> {
    serde_json::from_slice(data).map_err(|_| Malformed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dialect_is_written_and_read_by_its_name() {
        for dialect in Dialect::ALL {
            let written = serde_json::to_string(dialect).unwrap();
            assert_eq!(written, format!("{:?}", dialect.name()));
            assert_eq!(serde_json::from_str::<Dialect>(&written).unwrap(), *dialect);
        }
        let error = serde_json::from_str::<Dialect>("\"morse\"").unwrap_err().to_string();
        assert!(error.contains("morse") && error.contains("openai"), "{error}");
    }

    #[test]
    fn a_stream_is_known_by_its_first_event_with_data() {
        let table = [
            ("", r#"{"choices":[{"delta":{"role":"assistant"}}]}"#, Dialect::Openai),
            ("", r#"{"error":{"message":"busy"}}"#, Dialect::Openai),
            ("", r#"{"event":"workflow_started","task_id":"1"}"#, Dialect::Dify),
            ("", r#"{"event":"message","answer":"a","conversation_id":"c"}"#, Dialect::Dify),
            ("message_start", r#"{"type":"message_start","message":{}}"#, Dialect::Anthropic),
            (
                "response.created",
                r#"{"type":"response.created","response":{}}"#,
                Dialect::Responses,
            ),
            ("", r#"{"price":1}"#, Dialect::Plain),
            ("update", "hello", Dialect::Plain),
        ];
        for (name, data, dialect) in table {
            let event = Event { name: name.as_bytes(), data: Some(data.as_bytes()) };
            assert_eq!(Dialect::of(event), dialect, "{data}");
        }
    }
}
