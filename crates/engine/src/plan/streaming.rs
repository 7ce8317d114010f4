//! Streams: their dialect, and the limits of their times.

use serde::{Deserialize, Serialize};
use wire::Dialect;

/// How a response streams.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StreamPlan {
    /// The format of its events.
    pub dialect: Dialect,
    /// How long it may stand still; for ever, up to the timeout, where that is not said.
    #[serde(default)]
    pub idle_timeout_ns: Option<u64>,
    /// Whether its metrics count from when it was due, not from when it was sent.
    #[serde(default)]
    pub from_intended: bool,
    /// Other tools whose metrics are wanted beside.
    #[serde(default)]
    pub aliases: Vec<Alias>,
    /// The number of tokens that each response is to have, where it is checked.
    #[serde(default)]
    pub output_tokens: Option<u64>,
    /// Whether its text is written to the plan's file of texts.
    #[serde(default)]
    pub keep_text: bool,
}

impl StreamPlan {
    /// A stream of that dialect, and nothing special.
    #[must_use]
    pub fn new(dialect: Dialect) -> Self {
        Self {
            dialect,
            idle_timeout_ns: None,
            from_intended: false,
            aliases: Vec::new(),
            output_tokens: None,
            keep_text: false,
        }
    }
}

/// A tool that has definitions of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Alias {
    /// `vllm bench serve`.
    Vllm,
    /// NVIDIA's AIPerf.
    Aiperf,
    /// `sglang.bench_serving`.
    Sglang,
    /// GuideLLM.
    Guidellm,
    /// inference-perf of Kubernetes.
    InferencePerf,
}

/// A limit that a good response meets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Limit {
    /// Of what.
    pub metric: Limited,
    /// Nanoseconds.
    pub limit_ns: u64,
    /// Whether the limit itself is still good.
    #[serde(default)]
    pub inclusive: bool,
}

/// A metric with a limit; names and meanings are those of the metrics.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)] // Nothing could be said but the definition of the metric of that name.
pub enum Limited {
    Service,
    Response,
    Ttfb,
    QueueWait,
    StreamWait,
    WindowWait,
    Message,
    Connect,
    Tls,
    SchedulingLag,
    Ttfe,
    Ttft,
    Ttfo,
    Ttst,
    InterChunk,
    InterRead,
    E2e,
    StreamEnd,
    Tpot,
}
