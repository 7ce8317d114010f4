//! What streams say: each dialect makes a [`Mark`] of an event.

mod anthropic;
mod dify;
mod openai;
mod plain;
mod raw;
mod tokens;

use crate::{Event, Mark};

/// How a server streams.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// Any server-sent events: each with data is text, and the end of the body is the end.
    Plain,
    /// OpenAI's chat completions, and what speaks like them.
    Openai,
    /// Dify's chat messages.
    Dify,
    /// Anthropic's messages.
    Anthropic,
}

/// An event whose data is not the JSON that its dialect promises.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Malformed;

impl Dialect {
    /// What an event means.
    #[inline]
    pub fn mark<'a>(self, event: Event<'a>) -> Result<Mark<'a>, Malformed> {
        match self {
            Self::Plain => Ok(plain::mark(event)),
            Self::Openai => openai::mark(event),
            Self::Dify => dify::mark(event),
            Self::Anthropic => anthropic::mark(event),
        }
    }

    /// Whether a stream is only whole when an event has said so.
    #[must_use]
    pub fn has_end(self) -> bool {
        self != Self::Plain
    }
}

/// Reads JSON without a copy.
fn read<'a, T: serde::Deserialize<'a>>(data: &'a [u8]) -> Result<T, Malformed> {
    serde_json::from_slice(data).map_err(|_| Malformed)
}
