//! What one event of a stream means, whatever dialect it was said in.

/// What an event is first of all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// Generated text that a user reads.
    Text,
    /// Generated text of a model that thinks aloud, or an agent's thought.
    Reasoning,
    /// A piece of a tool's call.
    ToolCall,
    /// Counted tokens, and nothing else.
    Usage,
    /// A sign of life.
    Ping,
    /// The dialect's own end.
    End,
    /// A failure, said within an answer that began well.
    Error,
    /// Anything else that the dialect knows.
    Other,
    /// Nothing that the dialect knows.
    Unknown,
}

impl Kind {
    /// Every kind, in the order of its number.
    pub const ALL: [Self; 9] = [
        Self::Text,
        Self::Reasoning,
        Self::ToolCall,
        Self::Usage,
        Self::Ping,
        Self::End,
        Self::Error,
        Self::Other,
        Self::Unknown,
    ];

    /// The name in files and on screens.
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
            Self::Other => "other",
            Self::Unknown => "unknown",
        }
    }
}

/// Tokens as the server counts them; `None` where it does not say.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    /// Of the prompt.
    pub input: Option<u64>,
    /// Generated, reasoning among them.
    pub output: Option<u64>,
    /// Of the reasoning, streamed or not.
    pub reasoning: Option<u64>,
}

impl Usage {
    /// Takes over what a later event says: counts are of the whole stream so far.
    pub fn update(&mut self, later: Self) {
        self.input = later.input.or(self.input);
        self.output = later.output.or(self.output);
        self.reasoning = later.reasoning.or(self.reasoning);
    }
}

/// One event, understood.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mark<'a> {
    /// What it is first of all.
    pub kind: Kind,
    /// Whether it carries generated text: what a user waits for.
    pub has_text: bool,
    /// The text that a user reads, as it is written in JSON, without its quotes.
    pub text: &'a [u8],
    /// The text of a model that thinks aloud, as it is written in JSON, without its quotes.
    pub thought: &'a [u8],
    /// Whether it carries more generated text than is here: of two answers, or a tool's call too.
    pub is_partial: bool,
    /// Whether it carries a piece of an answer in the form that OpenAI gives it, if only a role.
    pub is_choice: bool,
    /// Tokens, wherever they are said.
    pub usage: Option<Usage>,
    /// Whether it says that nothing more will be generated.
    pub is_finish: bool,
    /// Whether it belongs to a second answer that was asked for at once.
    pub is_sibling: bool,
    /// Which conversation this is, as it is written in JSON, without its quotes.
    pub conversation: &'a [u8],
}

impl Mark<'_> {
    /// An event of that kind that carries nothing.
    #[must_use]
    pub fn of(kind: Kind) -> Self {
        Self {
            kind,
            has_text: false,
            text: b"",
            thought: b"",
            is_partial: false,
            is_choice: false,
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
    fn later_counts_replace_earlier_ones_and_silence_does_not() {
        let mut usage = Usage { input: Some(7), output: Some(1), reasoning: None };
        usage.update(Usage { output: Some(5), ..Usage::default() });
        assert_eq!(usage, Usage { input: Some(7), output: Some(5), reasoning: None });
    }
}
