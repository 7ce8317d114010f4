//! The metrics of other tools for the same streams, by their definitions and names.
//!
//! vLLM's are those of `vllm bench serve`, AIPerf's those of its metrics reference; tokens are by the
//! server's count.

use client::{Chunks, StreamObservation, UNSET};
use net::Nanos;
use serde_json::{Map, Value, json};

use super::tally::{StreamTally, Timed, Times, rate};

impl StreamTally {
    /// Counts a stream that ended well as vLLM does.
    pub(crate) fn accept_as_vllm(
        &mut self,
        observed: &StreamObservation,
        chunks: &Chunks,
        times: Times,
    ) {
        if chunks.first == UNSET {
            return;
        }
        self.record(Timed::VllmTtft, chunks.first.saturating_sub(times.from));
        self.record(Timed::VllmE2el, chunks.latest.saturating_sub(times.from));
        if let Some(more) = observed.usage.output.filter(|tokens| *tokens > 1) {
            self.record(Timed::VllmTpot, (chunks.latest - chunks.first) / (more - 1));
        }
    }

    /// Counts gaps as vLLM does.
    pub(crate) fn gaps_as_vllm(&mut self, gaps: impl Iterator<Item = Nanos>) {
        gaps.for_each(|gap| self.record(Timed::VllmItl, gap));
    }

    /// Counts a stream that ended well as AIPerf does.
    pub(crate) fn accept_as_aiperf(&mut self, observed: &StreamObservation) {
        let Some(tokens) = observed.usage.output.filter(|tokens| *tokens > 1) else { return };
        if observed.first_text == UNSET {
            return;
        }
        let span = observed.last_text.saturating_sub(observed.first_text);
        self.record(Timed::AiperfItl, span / (tokens - 1));
        if span > 0 {
            self.record(Timed::AiperfRate, rate(tokens - 1, span));
        }
    }
}

/// Returns the metrics of other tools that the plan asks for.
pub(super) fn aliases(tally: &StreamTally) -> Option<(String, Value)> {
    let stats = |timed| tally.metric(timed).to_json();
    let is_vllm = tally.metric(Timed::VllmTtft).count() > 0;
    let vllm = is_vllm.then(|| {
        json!({
            "ttft_ms": stats(Timed::VllmTtft),
            "tpot_ms": stats(Timed::VllmTpot),
            "itl_ms": stats(Timed::VllmItl),
            "e2el_ms": stats(Timed::VllmE2el),
        })
    });
    let is_aiperf = tally.metric(Timed::AiperfItl).count() > 0;
    let aiperf = is_aiperf.then(|| {
        json!({
            "time_to_first_token_ms": stats(Timed::Ttft),
            "time_to_second_token_ms": stats(Timed::Ttst),
            "inter_token_latency_ms": stats(Timed::AiperfItl),
            "inter_chunk_latency_ms": stats(Timed::InterChunk),
            "request_latency_ms": stats(Timed::E2e),
            "output_token_throughput_per_user": stats(Timed::AiperfRate),
        })
    });
    let tools = [("vllm", vllm), ("aiperf", aiperf)].into_iter();
    let metrics: Map<_, _> =
        tools.filter_map(|(tool, metrics)| Some((tool.to_owned(), metrics?))).collect();
    (!metrics.is_empty()).then(|| ("alias".to_owned(), Value::Object(metrics)))
}
