//! Usage in the form of OpenAI.

use serde::Deserialize;

use super::raw::{Raw, count, part};
use crate::Usage;

#[derive(Deserialize)]
struct Tokens<'a> {
    #[serde(borrow, default)]
    prompt_tokens: Raw<'a>,
    #[serde(borrow, default)]
    completion_tokens: Raw<'a>,
    #[serde(borrow, default)]
    completion_tokens_details: Raw<'a>,
}

#[derive(Deserialize)]
struct Details<'a> {
    #[serde(borrow, default)]
    reasoning_tokens: Raw<'a>,
}

/// Returns the content of a member `usage`; `None` if it is no object.
pub(super) fn usage(written: Raw<'_>) -> Option<Usage> {
    part::<Tokens<'_>>(written).map(|tokens| Usage {
        input: count(tokens.prompt_tokens),
        output: count(tokens.completion_tokens),
        reasoning: part::<Details<'_>>(tokens.completion_tokens_details)
            .and_then(|details| count(details.reasoning_tokens)),
    })
}
