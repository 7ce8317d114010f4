//! What a scheduler counts, as vLLM's metrics define it.

/// The ends of requests, in the order of [`ENDS`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FinishReason {
    /// The answer has its own end.
    Stop,
    /// A limit of its request ended the answer.
    Length,
    /// The client closed its connection.
    Abort,
    /// A defect ended the response.
    Error,
}

/// Their names in metrics.
pub(crate) const ENDS: [&str; 4] = ["stop", "length", "abort", "error"];

/// Counts since the start of the target.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Totals {
    /// Tokens of prompts that were looked for in the cache, and those that were found.
    pub(crate) cache_queries: u64,
    pub(crate) cache_hits: u64,
    pub(crate) preemptions: u64,
    pub(crate) prompt_tokens: u64,
    pub(crate) generation_tokens: u64,
    pub(crate) ends: [u64; ENDS.len()],
    pub(crate) queue: Histogram,
    pub(crate) ttft: Histogram,
}

/// The state of a target at one time.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Snapshot {
    pub(crate) running: usize,
    pub(crate) waiting: usize,
    /// The share of blocks in use.
    pub(crate) kv_usage: f64,
    pub(crate) totals: Totals,
}

/// Times in buckets.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Histogram {
    /// The upper bound of each bucket, in seconds.
    pub(crate) bounds_s: &'static [f64],
    /// The times in each bucket alone, and behind them those above all bounds.
    pub(crate) counts: Vec<u64>,
    pub(crate) sum_ns: u64,
}

/// The buckets of vLLM.
const QUEUE_S: &[f64] = &[
    0.3, 0.5, 0.8, 1.0, 1.5, 2.0, 2.5, 5.0, 10.0, 15.0, 20.0, 30.0, 40.0, 50.0, 60.0, 120.0, 240.0,
    480.0, 960.0, 1920.0, 7680.0,
];
const TTFT_S: &[f64] = &[
    0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1.0, 2.5, 5.0, 7.5, 10.0,
    20.0, 40.0, 80.0, 160.0, 640.0, 2560.0,
];

impl Totals {
    pub(crate) fn new() -> Self {
        Totals {
            cache_queries: 0,
            cache_hits: 0,
            preemptions: 0,
            prompt_tokens: 0,
            generation_tokens: 0,
            ends: [0; ENDS.len()],
            queue: Histogram::new(QUEUE_S),
            ttft: Histogram::new(TTFT_S),
        }
    }
}

impl Histogram {
    fn new(bounds_s: &'static [f64]) -> Self {
        Histogram { bounds_s, counts: vec![0; bounds_s.len() + 1], sum_ns: 0 }
    }

    pub(crate) fn add(&mut self, time_ns: u64) {
        let time_s = time_ns as f64 / 1e9;
        let bucket = self.bounds_s.partition_point(|bound_s| *bound_s < time_s);
        self.counts[bucket] += 1;
        self.sum_ns += time_ns;
    }
}
