//! The meaning of one event of a stream, in any dialect.

use crate::EventParts;

/// The kind of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// Generated text that a user reads.
    Text,
    /// Generated reasoning.
    Reasoning,
    /// A piece of a tool's call.
    ToolCall,
    /// Only a count of tokens.
    Usage,
    /// A keep-alive.
    Ping,
    /// The end of the stream.
    End,
    /// A failure within the stream.
    Error,
    /// A message of gRPC.
    Message,
    /// Any other event of the dialect.
    Other,
    /// An event that the dialect does not have.
    Unknown,
}

impl Kind {
    /// All kinds, in the order of their numbers.
    pub const ALL: [Self; 10] = [
        Self::Text,
        Self::Reasoning,
        Self::ToolCall,
        Self::Usage,
        Self::Ping,
        Self::End,
        Self::Error,
        Self::Message,
        Self::Other,
        Self::Unknown,
    ];

    /// Returns its name in files and reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Reasoning => "reasoning",
            Self::ToolCall => "tool_call",
            Self::Usage => "usage",
            Self::Ping => "ping",
            Self::End => "end",
            Self::Error => "error",
            Self::Message => "message",
            Self::Other => "other",
            Self::Unknown => "unknown",
        }
    }

    /// Returns the parts of an event of this kind, if no more is known of it.
    fn parts(self) -> EventParts {
        match self {
            Self::Text => EventParts::CONTENT,
            Self::Reasoning => EventParts::REASONING.and(EventParts::REASONING_CONTENT),
            Self::ToolCall => EventParts::TOOL.and(EventParts::TOOL_TEXT),
            _ => EventParts::NONE,
        }
    }
}

/// Tokens by the count of the server; `None` if it does not report them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    /// Of the prompt.
    pub input: Option<u64>,
    /// Those of the prompt that the server found in a cache.
    pub cached: Option<u64>,
    /// Generated, including reasoning.
    pub output: Option<u64>,
    /// Of reasoning, streamed or not.
    pub reasoning: Option<u64>,
}

impl Usage {
    /// Takes the counts of a later event, which are those of the whole stream so far.
    pub fn update(&mut self, later: Self) {
        self.input = later.input.or(self.input);
        self.cached = later.cached.or(self.cached);
        self.output = later.output.or(self.output);
        self.reasoning = later.reasoning.or(self.reasoning);
    }
}

/// The meaning of one event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mark<'a> {
    /// Its kind.
    pub kind: Kind,
    /// Whether it has generated text.
    pub has_text: bool,
    /// The output text, as it is written in JSON, without its quotes.
    pub text: &'a [u8],
    /// The reasoning, as it is written in JSON, without its quotes.
    pub thought: &'a [u8],
    /// Whether it has more generated text than these: of several answers, or of a tool call.
    pub is_partial: bool,
    /// What other tools tell apart in its first answer.
    pub parts: EventParts,
    /// Whether it has a piece of a call of a tool.
    pub has_tool_call: bool,
    /// Tokens, if it reports them.
    pub usage: Option<Usage>,
    /// Whether it announces the end of generation.
    pub is_finish: bool,
    /// Whether it belongs to a second answer to the same request.
    pub is_sibling: bool,
    /// The conversation, as it is written in JSON, without its quotes.
    pub conversation: &'a [u8],
}

impl Mark<'_> {
    /// Returns an event of a kind without content.
    #[must_use]
    pub fn of(kind: Kind) -> Self {
        Self {
            kind,
            has_text: false,
            text: b"",
            thought: b"",
            is_partial: false,
            parts: kind.parts(),
            has_tool_call: false,
            usage: None,
            is_finish: false,
            is_sibling: false,
            conversation: b"",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_follow_the_order_of_the_list() {
        for (index, kind) in Kind::ALL.iter().enumerate() {
            assert_eq!(*kind as usize, index);
        }
    }

    #[test]
    fn an_event_has_the_parts_of_its_kind_if_no_more_is_known_of_it() {
        let parts = |kind| Mark::of(kind).parts;
        assert_eq!(parts(Kind::Text), EventParts::CONTENT);
        let both = EventParts::REASONING.and(EventParts::REASONING_CONTENT);
        assert_eq!(parts(Kind::Reasoning), both);
        assert_eq!(parts(Kind::ToolCall), EventParts::TOOL.and(EventParts::TOOL_TEXT));
        assert_eq!(parts(Kind::Usage), EventParts::NONE);
    }

    #[test]
    fn later_counts_replace_earlier_ones_and_silence_does_not() {
        let first = Usage { input: Some(7), output: Some(1), ..Usage::default() };
        let mut usage = first;
        usage.update(Usage { cached: Some(4), output: Some(5), ..Usage::default() });
        usage.update(Usage { reasoning: Some(2), ..Usage::default() });
        let (cached, output, reasoning) = (Some(4), Some(5), Some(2));
        assert_eq!(usage, Usage { cached, output, reasoning, ..first });
    }
}
