//! What one stream has shown: its stamps, its counts, and what went wrong within it.

use net::Nanos;
use wire::{Kind, Usage};

use crate::{Reason, UNSET};

/// The time between two texts of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Gap {
    /// 0 where both came in one read.
    pub nanos: Nanos,
    /// Who joined them.
    pub joined: Joined,
}

/// Whether two texts came in one read, and why.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Joined {
    /// They did not.
    No,
    /// They came together: the client was waiting for them.
    Before,
    /// The client came late, and cannot tell.
    Here,
}

/// What a stream has shown; stamps are [`UNSET`] where nothing came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Seen {
    /// The first event of any kind.
    pub first_event: Nanos,
    /// The first event with generated text.
    pub first_text: Nanos,
    /// The second one.
    pub second_text: Nanos,
    /// The first one that is no reasoning.
    pub first_output: Nanos,
    /// The latest one.
    pub last_text: Nanos,
    /// The dialect's own end.
    pub end: Nanos,
    /// Events with generated text.
    pub texts: u64,
    /// Reads that brought some.
    pub text_reads: u64,
    /// The longest time between two of them.
    pub longest_gap: Nanos,
    /// Events of each kind, in the order of [`Kind::ALL`].
    pub kinds: [u64; Kind::ALL.len()],
    /// Lines that only keep the connection alive.
    pub comments: u64,
    /// What the server has counted.
    pub usage: Usage,
    /// Whether the text of some reasoning was streamed.
    pub has_reasoning: bool,
    /// Whether more than one answer came at once.
    pub has_siblings: bool,
    /// Whether the server said that nothing more will be generated.
    pub is_finished: bool,
    /// Whether the last event had no blank line behind it.
    pub is_unterminated: bool,
    /// What went wrong within the stream first.
    pub fault: Option<Reason>,
}

impl Default for Seen {
    fn default() -> Self {
        Self {
            first_event: UNSET,
            first_text: UNSET,
            second_text: UNSET,
            first_output: UNSET,
            last_text: UNSET,
            end: UNSET,
            texts: 0,
            text_reads: 0,
            longest_gap: 0,
            kinds: [0; Kind::ALL.len()],
            comments: 0,
            usage: Usage::default(),
            has_reasoning: false,
            has_siblings: false,
            is_finished: false,
            is_unterminated: false,
            fault: None,
        }
    }
}

impl Seen {
    /// Events of any kind.
    #[must_use]
    pub fn events(&self) -> u64 {
        self.kinds.iter().sum()
    }

    /// Whether nothing came that the dialect knows.
    #[must_use]
    pub fn is_unknown(&self) -> bool {
        self.events() == self.kinds[Kind::Unknown as usize]
    }

    /// Tokens whose texts came: those of reasoning that was kept back are not among them.
    #[must_use]
    pub fn tokens_streamed(&self) -> Option<u64> {
        let kept_back = if self.has_reasoning { 0 } else { self.usage.reasoning.unwrap_or(0) };
        self.usage.output.map(|output| output.saturating_sub(kept_back))
    }

    /// Nanoseconds for each token after the first event with text, which counts as one token.
    ///
    /// None where there is no such figure: without usage, with one text, all text in one read,
    /// several answers at once, or no token left.
    #[must_use]
    pub fn tpot(&self) -> Option<Nanos> {
        let tokens = self.tokens_streamed()?.checked_sub(1).filter(|tokens| *tokens > 0)?;
        self.is_spread().then(|| (self.last_text - self.first_text) / tokens)
    }

    /// Whether a time for each token is defined: one answer, whose text came in several reads.
    #[must_use]
    pub fn is_spread(&self) -> bool {
        self.texts >= 2 && self.text_reads >= 2 && !self.has_siblings
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_no_time_for_each_token_where_it_is_not_defined() {
        let seen = |change: fn(&mut Seen)| {
            let usage = Usage { output: Some(5), ..Usage::default() };
            let mut seen = Seen {
                first_text: 10,
                last_text: 50,
                texts: 5,
                text_reads: 5,
                usage,
                ..Seen::default()
            };
            change(&mut seen);
            seen.tpot()
        };
        assert_eq!(seen(|_| ()), Some(10));
        assert_eq!(seen(|seen| seen.usage.output = None), None);
        assert_eq!(seen(|seen| seen.usage.output = Some(1)), None);
        assert_eq!(seen(|seen| seen.texts = 1), None);
        assert_eq!(seen(|seen| seen.text_reads = 1), None);
        assert_eq!(seen(|seen| seen.has_siblings = true), None);
        // Two of the five were thought in silence.
        assert_eq!(seen(|seen| seen.usage.reasoning = Some(2)), Some(20));
        assert_eq!(
            seen(|seen| (seen.usage.reasoning, seen.has_reasoning) = (Some(2), true)),
            Some(10)
        );
    }
}
