//! Usage in the form of OpenAI.

use serde::Deserialize;

use super::raw::{Raw, count, part};
use crate::Usage;

#[derive(Deserialize)]
struct Tokens<'a> {
    #[serde(borrow, default)]
    prompt_tokens: Raw<'a>,
    #[serde(borrow, default)]
    prompt_tokens_details: Raw<'a>,
    #[serde(borrow, default)]
    completion_tokens: Raw<'a>,
    #[serde(borrow, default)]
    completion_tokens_details: Raw<'a>,
}

/// Counts beside those of all tokens.
#[derive(Deserialize, Default)]
pub(super) struct Details<'a> {
    #[serde(borrow, default)]
    cached_tokens: Raw<'a>,
    #[serde(borrow, default)]
    reasoning_tokens: Raw<'a>,
}

impl<'a> Details<'a> {
    /// Reads a member with details; none has a count if it is absent.
    pub(super) fn of(written: Raw<'a>) -> Self {
        part(written).unwrap_or_default()
    }

    pub(super) fn cached(&self) -> Option<u64> {
        count(self.cached_tokens)
    }

    pub(super) fn reasoning(&self) -> Option<u64> {
        count(self.reasoning_tokens)
    }
}

/// Returns the content of a member `usage`; `None` if it is no object.
pub(super) fn usage(written: Raw<'_>) -> Option<Usage> {
    part::<Tokens<'_>>(written).map(|tokens| Usage {
        input: count(tokens.prompt_tokens),
        cached: Details::of(tokens.prompt_tokens_details).cached(),
        output: count(tokens.completion_tokens),
        reasoning: Details::of(tokens.completion_tokens_details).reasoning(),
    })
}
