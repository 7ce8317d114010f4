//! What was observed of one stream: its stamps, its counts, and its first fault.

use net::Nanos;
use wire::{Kind, Usage};

use crate::{Reason, UNSET};

/// The time between two texts of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Gap {
    /// 0 where both came in one read.
    pub nanos: Nanos,
    /// Whether one read has both, and why.
    pub joined: Joined,
}

/// Whether two texts came in one read, and why.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Joined {
    /// Each was received by a read of its own.
    No,
    /// They were received together while the client waited: the server or the network joined them.
    Upstream,
    /// The client read late, and may have joined them itself.
    Client,
}

/// The observations of a stream; stamps are [`UNSET`] for what was not received.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StreamObservation {
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
    /// Reads with some.
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
    /// Whether a tool was called.
    pub has_tool_call: bool,
    /// Whether more than one response came at once.
    pub has_siblings: bool,
    /// Whether the server said that nothing more will be generated.
    pub is_finished: bool,
    /// Whether the last event had no blank line behind it.
    pub is_unterminated: bool,
    /// The first fault within the stream.
    pub fault: Option<Reason>,
}

impl Default for StreamObservation {
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
            has_tool_call: false,
            has_siblings: false,
            is_finished: false,
            is_unterminated: false,
            fault: None,
        }
    }
}

impl StreamObservation {
    /// Returns the number of events.
    #[must_use]
    pub fn events(&self) -> u64 {
        self.kinds.iter().sum()
    }

    /// Returns whether the dialect knows none of the events.
    #[must_use]
    pub fn is_unknown(&self) -> bool {
        self.events() == self.kinds[Kind::Unknown as usize]
    }

    /// Returns the tokens whose texts were streamed, without those of reasoning that was not streamed.
    #[must_use]
    pub fn tokens_streamed(&self) -> Option<u64> {
        let not_streamed = if self.has_reasoning { 0 } else { self.usage.reasoning.unwrap_or(0) };
        self.usage.output.map(|output| output.saturating_sub(not_streamed))
    }

    /// Returns the nanoseconds for each token after the first event with text, which counts as one token.
    ///
    /// None if there is no such figure: without usage, with one text, all text in one read,
    /// several answers at once, or no token left.
    #[must_use]
    pub fn tpot(&self) -> Option<Nanos> {
        let tokens = self.tokens_streamed()?.checked_sub(1).filter(|tokens| *tokens > 0)?;
        self.is_spread().then(|| (self.last_text - self.first_text) / tokens)
    }

    /// Returns whether a time for each token is defined: one response, whose text needs several reads.
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
        let observed = |change: fn(&mut StreamObservation)| {
            let usage = Usage { output: Some(5), ..Usage::default() };
            let mut observed = StreamObservation {
                first_text: 10,
                last_text: 50,
                texts: 5,
                text_reads: 5,
                usage,
                ..StreamObservation::default()
            };
            change(&mut observed);
            observed.tpot()
        };
        assert_eq!(observed(|_| ()), Some(10));
        assert_eq!(observed(|observed| observed.usage.output = None), None);
        assert_eq!(observed(|observed| observed.usage.output = Some(1)), None);
        assert_eq!(observed(|observed| observed.texts = 1), None);
        assert_eq!(observed(|observed| observed.text_reads = 1), None);
        assert_eq!(observed(|observed| observed.has_siblings = true), None);
        // Two of the five are of reasoning that was not streamed.
        assert_eq!(observed(|observed| observed.usage.reasoning = Some(2)), Some(20));
        assert_eq!(
            observed(
                |observed| (observed.usage.reasoning, observed.has_reasoning) = (Some(2), true)
            ),
            Some(10)
        );
    }
}
