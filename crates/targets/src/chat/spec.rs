//! What a chat target shall be.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::queue::MOST_TOKENS;
use crate::settings::{
    LONGEST_DELAY_NS, SpecError, default_host, default_seed, default_threads, within,
};
use crate::{Defect, Delay};

/// The maximum number of tokens before a message.
const MOST_MESSAGE_TOKENS: u64 = 1_000;

/// Whose API it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChatDialect {
    /// The paths of servers of language models, such as `POST /v1/chat/completions`.
    Openai,
    /// `POST /v1/chat-messages` and `POST /v1/datasets/{id}/retrieve`.
    Dify,
}

/// How many texts, one a token, a response has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum AnswerLength {
    /// Always the same.
    Constant {
        /// At most a million.
        n: u64,
    },
    /// Any number within bounds, drawn for each request.
    Uniform {
        /// The fewest.
        least: u64,
        /// The most, at most a million.
        most: u64,
    },
}

/// How often a defect is met.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Chance {
    /// What goes wrong.
    pub defect: Defect,
    /// The share of requests, 0 to 1.
    pub share: f64,
}

/// Streams answers of a chat API.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChatSpec {
    /// Whose API it is.
    pub dialect: ChatDialect,
    /// Address or name to listen on; IPv4 or IPv6.
    #[serde(default = "default_host")]
    pub host: String,
    /// Port to listen on; 0 takes a free one.
    #[serde(default)]
    pub port: u16,
    /// Threads, each with its own listener, 1 to 256.
    #[serde(default = "default_threads")]
    pub threads: usize,
    /// From when a request has a place to the first text.
    #[serde(default = "no_time")]
    pub ttft: Delay,
    /// From one text to the next.
    #[serde(default = "no_time")]
    pub itl: Delay,
    /// The time for each token of a prompt that is not in the cache, before the first text; at most an hour.
    #[serde(default)]
    pub prefill_ns: u64,
    /// How many texts, if a request does not say it.
    #[serde(default = "some_tokens")]
    pub tokens: AnswerLength,
    /// The tokens that a chat template writes before each message, and before the answer.
    #[serde(default)]
    pub message_tokens: u64,
    /// Texts that leave in one write, when the last of them is due.
    #[serde(default = "one")]
    pub events_per_write: usize,
    /// How many responses are given at once; the rest wait their turn. None: all of them.
    #[serde(default)]
    pub capacity: Option<usize>,
    /// The tokens for which there is room in the KV cache. None: no limit.
    #[serde(default)]
    pub kv_tokens: Option<u64>,
    /// The tokens that are kept for later prompts with the same beginning. None: none.
    #[serde(default)]
    pub prefix_cache: Option<u64>,
    /// The tokens of a block of the KV cache.
    #[serde(default = "some_tokens_of_a_block")]
    pub prefix_block: u64,
    /// How long after it the target notices that a client has closed; at most an hour.
    #[serde(default)]
    pub notice_after_ns: u64,
    /// What goes wrong, and how often; shares add up to 1 at most.
    #[serde(default)]
    pub defects: Vec<Chance>,
    /// The seed of everything drawn.
    #[serde(default = "default_seed")]
    pub seed: u64,
    /// A CSV file to write the truth to.
    #[serde(default)]
    pub log: Option<PathBuf>,
}

impl ChatSpec {
    /// Answers at once, with 16 texts each in a write of its own.
    #[must_use]
    pub fn new(dialect: ChatDialect) -> Self {
        ChatSpec {
            dialect,
            host: default_host(),
            port: 0,
            threads: default_threads(),
            ttft: no_time(),
            itl: no_time(),
            prefill_ns: 0,
            tokens: some_tokens(),
            message_tokens: 0,
            events_per_write: one(),
            capacity: None,
            kv_tokens: None,
            prefix_cache: None,
            prefix_block: some_tokens_of_a_block(),
            notice_after_ns: 0,
            defects: Vec::new(),
            seed: default_seed(),
            log: None,
        }
    }

    pub(crate) fn check(&self) -> Result<(), SpecError> {
        within("capacity", self.capacity.unwrap_or(1), 1, usize::MAX)?;
        within("events_per_write", self.events_per_write, 1, usize::MAX)?;
        self.ttft.check("ttft")?;
        self.itl.check("itl")?;
        let (least, most) = match self.tokens {
            AnswerLength::Constant { n } => (n, n),
            AnswerLength::Uniform { least, most } => (least, most),
        };
        within("tokens", most, 0, MOST_TOKENS)?;
        within("tokens.least", least, 0, most)?;
        within("prefill_ns", self.prefill_ns, 0, LONGEST_DELAY_NS)?;
        within("notice_after_ns", self.notice_after_ns, 0, LONGEST_DELAY_NS)?;
        within("message_tokens", self.message_tokens, 0, MOST_MESSAGE_TOKENS)?;
        within("prefix_block", self.prefix_block, 1, MOST_TOKENS)?;
        let block = self.prefix_block;
        within("kv_tokens", self.kv_tokens.unwrap_or(block), block, u64::MAX)?;
        within("prefix_cache", self.prefix_cache.unwrap_or(block), block, u64::MAX)?;
        for chance in &self.defects {
            within("defects.share", chance.share, 0.0, 1.0)?;
        }
        let shares: f64 = self.defects.iter().map(|chance| chance.share).sum();
        within("defects: the sum of shares", shares, 0.0, 1.0 + 1e-9)
    }
}

impl ChatSpec {
    /// Returns why all requests must be in one process, if they must.
    pub(crate) fn needs_one_process(&self) -> Option<&'static str> {
        [
            (self.capacity.is_some(), "capacity: one queue needs one process"),
            (self.kv_tokens.is_some(), "kv_tokens: one KV cache needs one process"),
            (self.prefix_cache.is_some(), "prefix_cache: one cache needs one process"),
            (self.log.is_some(), "log: one file needs one process"),
        ]
        .into_iter()
        .find_map(|(is_set, reason)| is_set.then_some(reason))
    }
}

fn no_time() -> Delay {
    Delay::Constant { ns: 0 }
}

fn some_tokens() -> AnswerLength {
    AnswerLength::Constant { n: 16 }
}

fn some_tokens_of_a_block() -> u64 {
    16
}

fn one() -> usize {
    1
}
