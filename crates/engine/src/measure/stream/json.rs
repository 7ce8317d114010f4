//! The `stream` part of a level, a step or an interval.

use serde_json::{Map, Value, json};
use wire::Kind;

use super::alias::aliases;
use super::counted::PlannedTokens;
use super::tally::{StreamTally, Timed};
use crate::measure::goodput::Goodput;

/// Beyond this share of texts that a late client joined, their distances say little.
const RELIABLE_SHARE: f64 = 0.05;

/// Metrics of `metrics.md` by their names; rates count over so many seconds.
///
/// Arrivals that were `dropped` would have waited: what counts from when they were due could only
/// be more.
pub(crate) fn stream_json(
    tally: &StreamTally,
    goodput: &Goodput,
    dropped: u64,
    seconds: f64,
    is_window: bool,
) -> Value {
    let counted = &tally.counted;
    // As with ok responses: in the window what ends in it counts, elsewhere what began there.
    let (tokens, good) = if is_window {
        (counted.tokens_inside, goodput.good_inside())
    } else {
        (counted.tokens_out, goodput.good())
    };
    let is_from_intended = counted.from_intended > 0;
    let mut stream: Map<String, Value> = Timed::NAMED
        .iter()
        .map(|(timed, name)| {
            let metric = tally.metric(*timed);
            let is_bound = is_from_intended && dropped > 0 && timed.is_from_start();
            let stats = if is_bound { metric.to_json_at_least() } else { metric.to_json() };
            (format!("{name}_ms"), stats)
        })
        .collect();
    let kinds = Kind::ALL.iter().zip(counted.kinds).filter(|(_, count)| *count > 0);
    let events: Map<_, _> =
        kinds.map(|(kind, count)| (kind.name().to_owned(), Value::from(count))).collect();
    let per_second = |count: u64| (seconds > 0.0).then(|| as_f64(count) / seconds);
    // Without any usage the sums are not zero, they are unknown.
    let known = |count: u64| (counted.reported > 0).then_some(count);
    // Some servers say nothing of their cache if it has nothing.
    let cached = (counted.cache_reported > 0).then_some(counted.tokens_cached);
    let length = (counted.length_checked > 0)
        .then(|| json!({ "checked": counted.length_checked, "different": counted.length_missed }));
    let tokens = known(tokens).or((tokens > 0).then_some(tokens));
    let more = json!({
        "from": if is_from_intended { "intended" } else { "sent" },
        "tokens_in": known(counted.tokens_in),
        "tokens_cached": cached,
        "tokens_out": known(counted.tokens_out),
        "tokens_reasoning": known(counted.tokens_reasoning),
        "tokens_source": "usage",
        "tokens_unreported": counted.unreported,
        "length_check": length,
        "prompt_lengths": lengths(&counted.planned[0]),
        "output_lengths": lengths(&counted.planned[1]),
        "with_tool_calls": counted.with_tool_calls,
        "tokens_per_s": tokens.and_then(per_second),
        // Micro-tokens are divided by a million, as nanoseconds are.
        "stream_tokens_per_s": tally.metric(Timed::TokensRate).to_json(),
        "events": events,
        "comments": counted.comments,
        "coalesced": counted.coalesced,
        "client_coalesced": counted.client_coalesced,
        "inter_chunk_reliable": is_reliable(tally),
        "unterminated": counted.unterminated,
        "abandoned": counted.abandoned,
        "goodput_rate": goodput.rate(),
        "good_per_s": good.and_then(per_second),
        "goodput_missing": goodput.missing_reason(),
    });
    if let Value::Object(more) = more {
        stream.extend(more);
    }
    stream.extend(aliases(tally));
    Value::Object(stream)
}

/// The mean of planned tokens and of those that servers reported; null where nothing was planned.
fn lengths(tokens: &PlannedTokens) -> Value {
    if tokens.streams == 0 || tokens.planned == 0 {
        return Value::Null;
    }
    let mean = |sum: u64| as_f64(sum) / as_f64(tokens.streams);
    let (planned, reported) = (mean(tokens.planned), mean(tokens.reported));
    json!({
        "checked": tokens.streams,
        "planned_mean": planned,
        "reported_mean": reported,
        "difference_mean": reported - planned,
        "difference_percent": 100.0 * (reported - planned) / planned,
        "absolute_difference_percent": 100.0 * mean(tokens.apart) / planned,
    })
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

#[cfg(test)]
mod tests {
    use client::StreamObservation;

    use super::*;
    use crate::measure::stream::{Counted, Times};

    fn json_of(is_from_intended: bool, dropped: u64) -> Value {
        let observed = StreamObservation {
            first_text: 200,
            second_text: 300,
            last_text: 400,
            texts: 3,
            ..StreamObservation::default()
        };
        let mut tally = StreamTally::default();
        tally.accept(
            &observed,
            Times { from: 100, is_from_intended, first_byte: 150, last_byte: 500 },
        );
        stream_json(&tally, &Goodput::default(), dropped, 1.0, true)
    }

    #[test]
    fn tokens_of_the_window_are_those_that_end_in_it_and_elsewhere_those_that_begin() {
        let mut tally = StreamTally::default();
        let tokens_of = |tally: &StreamTally, is_window| {
            stream_json(tally, &Goodput::default(), 0, 2.0, is_window)["tokens_per_s"].as_f64()
        };
        assert_eq!(tokens_of(&tally, true), None);
        // Its stream began in the warm-up.
        tally.counted.tokens_inside = 8;
        assert_eq!(tokens_of(&tally, true), Some(4.0));
        tally.counted = Counted { reported: 1, tokens_out: 6, ..Counted::default() };
        assert_eq!((tokens_of(&tally, true), tokens_of(&tally, false)), (Some(0.0), Some(3.0)));
    }

    #[test]
    fn what_no_server_reports_is_not_known() {
        let json_of = |counted| {
            let mut tally = StreamTally::default();
            tally.counted = counted;
            stream_json(&tally, &Goodput::default(), 0, 1.0, true)
        };
        let silent = json_of(Counted { reported: 2, tokens_in: 9, ..Counted::default() });
        for name in ["tokens_cached", "length_check", "prompt_lengths", "output_lengths"] {
            assert!(silent[name].is_null(), "{name}");
        }
        let (cache_reported, tokens_cached, length_checked, length_missed) = (1, 7, 2, 1);
        let counted = Counted {
            cache_reported,
            tokens_cached,
            length_checked,
            length_missed,
            ..Counted::default()
        };
        let told = json_of(counted);
        assert_eq!(told["tokens_cached"], 7);
        assert_eq!(told["length_check"], json!({ "checked": 2, "different": 1 }));
    }

    #[test]
    fn planned_lengths_are_means_and_their_difference() {
        let mut tally = StreamTally::default();
        let tokens = PlannedTokens { streams: 4, planned: 200, reported: 150, apart: 70 };
        tally.counted.planned[1] = tokens;
        let told = stream_json(&tally, &Goodput::default(), 0, 1.0, true);
        let expected = json!({
            "checked": 4,
            "planned_mean": 50.0,
            "reported_mean": 37.5,
            "difference_mean": -12.5,
            "difference_percent": -25.0,
            "absolute_difference_percent": 35.0,
        });
        assert_eq!(told["output_lengths"], expected);
        assert!(told["prompt_lengths"].is_null());
    }

    #[test]
    fn what_counts_from_when_it_was_due_is_a_lower_bound_where_arrivals_were_dropped() {
        let bounds = |json: &Value, name: &str| json[name]["at_least"].as_array().map(Vec::len);
        let (sent, due) = (json_of(false, 1), json_of(true, 1));
        assert_eq!((sent["from"].as_str(), due["from"].as_str()), (Some("sent"), Some("intended")));
        for name in ["ttfb_ms", "ttft_ms", "e2e_ms", "stream_end_ms"] {
            let all = bounds(&due, name);
            assert_eq!((all, bounds(&sent, name)), (Some(9), None), "{name}");
            assert_eq!(bounds(&json_of(true, 0), name), None, "{name}");
        }
        assert_eq!((due["ttst_ms"]["n"].as_u64(), bounds(&due, "ttst_ms")), (Some(1), None));
    }
}
