//! Counts of streams: events, tokens, and texts that came in one read.

use serde::{Deserialize, Serialize};
use wire::Kind;

/// Counts of streams.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counted {
    /// Events of each kind, in the order of [`Kind::ALL`], of all streams that ended.
    pub kinds: [u64; Kind::ALL.len()],
    /// Lines that only keep connections alive.
    pub comments: u64,
    /// Texts that came in one read with the text before.
    pub coalesced: u64,
    /// Those of them that may have come apart: the client was late.
    pub client_coalesced: u64,
    /// Streams whose last event had no blank line behind it.
    pub unterminated: u64,
    /// Streams that the client abandoned before their end.
    #[serde(default)]
    pub abandoned: u64,
    /// Tokens of prompts, by the servers' count.
    pub tokens_in: u64,
    /// Those of them that the servers found in a cache.
    #[serde(default)]
    pub tokens_cached: u64,
    /// Generated tokens.
    pub tokens_out: u64,
    /// Reasoning among them.
    pub tokens_reasoning: u64,
    /// Generated tokens of streams that ended within the window.
    pub tokens_inside: u64,
    /// Streams that ended well and are timed from when they were due.
    #[serde(default)]
    pub from_intended: u64,
    /// Streams that ended well with a count of tokens.
    pub reported: u64,
    /// Streams that ended well without a count of tokens.
    pub unreported: u64,
    /// Streams that ended well with a count of tokens of a cache.
    #[serde(default)]
    pub cache_reported: u64,
    /// Streams that ended well and called a tool.
    #[serde(default)]
    pub with_tool_calls: u64,
    /// Streams that ended well, with a count of tokens, and were to have a given number of them.
    #[serde(default)]
    pub length_checked: u64,
    /// Those of them that had another number.
    #[serde(default)]
    pub length_missed: u64,
    /// Planned tokens of prompts and of outputs.
    #[serde(default)]
    pub planned: [PlannedTokens; 2],
}

/// Tokens of prompts or outputs whose lengths were planned, of streams that ended well with a count.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannedTokens {
    /// The streams.
    pub streams: u64,
    /// Their tokens, as planned.
    pub planned: u64,
    /// Their tokens, by the servers' count.
    pub reported: u64,
    /// How far the two are apart, added up over the streams.
    #[serde(default)]
    pub apart: u64,
}

impl PlannedTokens {
    pub(super) fn add(&mut self, other: &Self) {
        self.streams += other.streams;
        self.planned = self.planned.saturating_add(other.planned);
        self.reported = self.reported.saturating_add(other.reported);
        self.apart = self.apart.saturating_add(other.apart);
    }
}

impl Counted {
    pub(super) fn add(&mut self, other: &Self) {
        self.kinds.iter_mut().zip(other.kinds).for_each(|(sum, count)| *sum += count);
        self.comments += other.comments;
        self.coalesced += other.coalesced;
        self.client_coalesced += other.client_coalesced;
        self.unterminated += other.unterminated;
        self.abandoned += other.abandoned;
        self.tokens_in = self.tokens_in.saturating_add(other.tokens_in);
        self.tokens_cached = self.tokens_cached.saturating_add(other.tokens_cached);
        self.tokens_out = self.tokens_out.saturating_add(other.tokens_out);
        self.tokens_reasoning = self.tokens_reasoning.saturating_add(other.tokens_reasoning);
        self.tokens_inside = self.tokens_inside.saturating_add(other.tokens_inside);
        self.from_intended += other.from_intended;
        self.reported += other.reported;
        self.unreported += other.unreported;
        self.cache_reported += other.cache_reported;
        self.with_tool_calls += other.with_tool_calls;
        self.length_checked += other.length_checked;
        self.length_missed += other.length_missed;
        self.planned.iter_mut().zip(&other.planned).for_each(|(sums, tokens)| sums.add(tokens));
    }
}
