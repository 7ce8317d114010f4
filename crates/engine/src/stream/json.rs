//! The `stream` part of a level, a step or a slice.

use serde_json::{Map, Value, json};
use wire::Kind;

use super::tally::{StreamTally, Timed};
use crate::goodput::Goodput;

/// Beyond this share of texts that a late client joined, their distances say little.
const RELIABLE_SHARE: f64 = 0.05;

/// Metrics of `metrics.md` by their names; rates count over so many seconds.
pub(crate) fn stream_json(tally: &StreamTally, goodput: &Goodput, seconds: f64) -> Value {
    let counted = &tally.counted;
    let mut stream: Map<String, Value> = Timed::NAMED
        .iter()
        .map(|(timed, name)| (format!("{name}_ms"), tally.metric(*timed).to_json()))
        .collect();
    let kinds = Kind::ALL.iter().zip(counted.kinds).filter(|(_, count)| *count > 0);
    let events: Map<_, _> =
        kinds.map(|(kind, count)| (kind.name().to_owned(), Value::from(count))).collect();
    let per_second = |count: u64| (seconds > 0.0).then(|| as_f64(count) / seconds);
    // Without any usage the sums are not zero, they are unknown.
    let told = |count: u64| (counted.told > 0).then_some(count);
    let more = json!({
        "tokens_in": told(counted.tokens_in),
        "tokens_out": told(counted.tokens_out),
        "tokens_reasoning": told(counted.tokens_reasoning),
        "tokens_source": "usage",
        "tokens_untold": counted.untold,
        "tokens_per_s": told(counted.tokens_inside).and_then(per_second),
        // What counts millionths is written as what counts nanoseconds: divided by a million.
        "stream_tokens_per_s": tally.metric(Timed::TokensRate).to_json(),
        "events": events,
        "comments": counted.comments,
        "coalesced": counted.coalesced,
        "client_coalesced": counted.client_coalesced,
        "inter_chunk_reliable": is_reliable(tally),
        "unterminated": counted.unterminated,
        "goodput_rate": goodput.rate(),
        "good_per_s": goodput.good_inside().and_then(per_second),
        "goodput_missing": goodput.missing_reason(),
    });
    if let Value::Object(more) = more {
        stream.extend(more);
    }
    Value::Object(stream)
}

fn is_reliable(tally: &StreamTally) -> bool {
    let texts = tally.metric(Timed::InterChunk).count();
    as_f64(tally.counted.client_coalesced) <= RELIABLE_SHARE * as_f64(texts)
}

/// Beyond 2^53 a count is rounded: only a server that says nonsense has so many tokens.
#[allow(clippy::cast_precision_loss)]
fn as_f64(count: u64) -> f64 {
    count as f64
}
