//! Calls of gRPC: when their messages are sent, and messages with values that differ between calls.

use serde::{Deserialize, Serialize};
use wire::protobuf::NumberEncoding;

/// A call of gRPC. Without places in its messages, they are the body of the request.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GrpcPlan {
    /// Whether the server sends any number of messages, not exactly one.
    pub response_stream: bool,
    /// When the messages after the first are sent.
    #[serde(default)]
    pub sending: Sending,
    /// The parts of each message, if it has places; they are in place of a body.
    #[serde(default)]
    pub messages: Option<Vec<Vec<MessagePart>>>,
}

/// When the messages of a call are sent, after the first.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
pub enum Sending {
    /// All at once.
    #[default]
    Together,
    /// Each when a message of the response was received.
    Alternate,
    /// One after another.
    Paced {
        /// The time between two of them.
        interval_ns: u64,
    },
}

/// A part of a message in the format of protocol buffers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
pub enum MessagePart {
    /// Bytes that are always the same.
    Bytes {
        /// In base64.
        base64: String,
    },
    /// A text with places.
    Text {
        /// With `{{…}}`.
        text: String,
    },
    /// A number that is the value of a place.
    Number {
        /// The place, `{{…}}`, and nothing else.
        text: String,
        /// How it is encoded.
        #[serde(rename = "as")]
        encoding: NumberEncoding,
    },
    /// Parts with their length before them: a text, or a message within the message.
    Nested {
        /// The parts.
        parts: Vec<MessagePart>,
    },
}
