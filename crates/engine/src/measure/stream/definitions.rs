//! What other tools measure: a row for each, without code of its own.

use wire::EventParts;

/// The definitions of one tool.
pub(super) struct Definition {
    /// Its name in `--alias` and in files.
    pub(super) name: &'static str,
    /// An event with any of these is a chunk.
    pub(super) chunk: EventParts,
    /// A chunk with any of these is more than reasoning.
    pub(super) output: EventParts,
    /// How it treats streams that are unlike others.
    pub(super) unlike: Unlike,
    /// Its metrics, by their names in its own report. Those in milliseconds end with `_ms`, which is
    /// added where the tool's name has no unit.
    pub(super) metrics: &'static [(&'static str, Formula)],
}

/// What a tool does with a stream that has no chunk, or no count of tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unlike {
    /// Without a chunk it is a failure.
    Fails,
    /// Without a chunk, the first one came when the request was sent.
    FirstIsSent,
    /// Without a chunk, the last one came at the end; without a count, each chunk is a token. With
    /// neither output nor tokens it is a failure.
    LastIsEnd,
    /// With fewer than two tokens in its chunks, these have no times.
    NeedsTwoTokens,
}

/// An event of a stream.
#[derive(Debug, Clone, Copy)]
pub(super) enum Moment {
    /// The request is sent.
    Sent,
    /// The first chunk.
    First,
    /// The second one.
    Second,
    /// The first one that is more than reasoning.
    FirstOutput,
    /// The last one.
    Last,
    /// The last event, `[DONE]` included.
    LastEvent,
    /// `[DONE]`, or the last byte without it.
    End,
    /// The last byte.
    LastByte,
}

/// Tokens over which a time is divided; there is no value where none is left.
#[derive(Debug, Clone, Copy)]
pub(super) enum Divisor {
    /// All of them.
    All,
    /// All of them, and the value is 0 where there is none.
    AllOrZero,
    /// Without one.
    AllButOne,
    /// Without those of the first chunk, if a chunk reports them; else without one.
    AllButFirstChunk,
}

/// How a value is computed.
#[derive(Debug, Clone, Copy)]
pub(super) enum Formula {
    /// The time from one event to another.
    Time(Moment, Moment),
    /// The same for each token.
    TimePer(Divisor, Moment, Moment),
    /// Tokens a second, from one event to another.
    Rate(Divisor, Moment, Moment),
    /// The times between chunks.
    Gaps,
    /// The times between tokens, of which those of one chunk come together.
    TokenGaps,
}

use Divisor::{All, AllButFirstChunk, AllButOne, AllOrZero};
use Formula::{Gaps, Rate, Time, TimePer, TokenGaps};
use Moment::{End, First, FirstOutput, Last, LastByte, LastEvent, Second, Sent};

const TEXT: EventParts = EventParts::CONTENT;
const REASONING: EventParts = EventParts::REASONING.and(EventParts::REASONING_CONTENT);

/// In the order of [`Alias`](crate::plan::Alias).
pub(super) static DEFINITIONS: [Definition; 5] = [
    // `vllm bench serve`, vLLM 0.33.
    Definition {
        name: "vllm",
        chunk: TEXT
            .and(EventParts::EMPTY)
            .and(EventParts::REASONING)
            .and(EventParts::TOOL)
            .and(EventParts::FUNCTION),
        output: TEXT,
        unlike: Unlike::Fails,
        metrics: &[
            ("ttft_ms", Time(Sent, First)),
            ("tpot_ms", TimePer(AllButOne, First, Last)),
            ("itl_ms", Gaps),
            ("e2el_ms", Time(Sent, Last)),
        ],
    },
    // AIPerf 0.13 with `--use-server-token-count --per-chunk-usage`.
    Definition {
        name: "aiperf",
        chunk: TEXT.and(REASONING).and(EventParts::TOOL_TEXT),
        output: TEXT.and(EventParts::TOOL_TEXT),
        unlike: Unlike::Fails,
        metrics: &[
            ("time_to_first_token_ms", Time(Sent, First)),
            ("time_to_second_token_ms", Time(First, Second)),
            ("time_to_first_output_token_ms", Time(Sent, FirstOutput)),
            ("inter_token_latency_ms", TimePer(AllButFirstChunk, First, Last)),
            ("inter_chunk_latency_ms", Gaps),
            ("decode_duration_ms", Time(First, Last)),
            ("request_latency_ms", Time(Sent, Last)),
            ("output_token_throughput_per_user", Rate(AllButFirstChunk, First, Last)),
            ("e2e_output_token_throughput", Rate(All, Sent, Last)),
        ],
    },
    // `sglang.bench_serving`, SGLang 0.5.23.
    Definition {
        name: "sglang",
        chunk: TEXT.and(REASONING),
        output: TEXT,
        unlike: Unlike::FirstIsSent,
        metrics: &[
            ("ttft_ms", Time(Sent, First)),
            ("tpot_ms", TimePer(AllButOne, First, LastEvent)),
            ("itl_ms", Gaps),
            ("e2e_latency_ms", Time(Sent, LastEvent)),
        ],
    },
    // GuideLLM 0.8.
    Definition {
        name: "guidellm",
        chunk: TEXT.and(REASONING).and(EventParts::TOOL),
        output: TEXT.and(EventParts::TOOL),
        unlike: Unlike::LastIsEnd,
        metrics: &[
            ("time_to_first_token_ms", Time(Sent, First)),
            ("time_to_first_output_token_ms", Time(Sent, FirstOutput)),
            ("time_per_output_token_ms", TimePer(All, Sent, Last)),
            ("inter_token_latency_ms", TimePer(AllButOne, First, Last)),
            ("request_latency_ms", Time(Sent, End)),
        ],
    },
    // inference-perf 0.7 with `use_server_output_tokens`.
    Definition {
        name: "inference-perf",
        chunk: TEXT,
        output: TEXT,
        unlike: Unlike::NeedsTwoTokens,
        metrics: &[
            ("time_to_first_token_ms", Time(Sent, First)),
            ("time_per_output_token_ms", TimePer(AllButOne, First, Last)),
            ("normalized_time_per_output_token_ms", TimePer(AllOrZero, Sent, LastByte)),
            ("inter_token_latency_ms", TokenGaps),
            ("request_latency_ms", Time(Sent, LastByte)),
        ],
    },
];
