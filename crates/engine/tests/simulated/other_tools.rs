//! `--alias` says what the other tools' own code says of the same streams, to the nanosecond.
//!
//! `other_tools.json` has the streams, and what that code says; `scripts/other_tools` writes it.

use std::collections::BTreeMap;

use crate::streams::{HEAD, chunk};
use crate::world::{Target, plan, request, simulate};
use engine::{Alias, Closed, Metric, Pace, Plan, Stop, StreamPlan, StreamTally};
use net::{Act, Dial, Nanos};
use serde_json::Value;
use wire::Dialect;

const RECORDED: &str = include_str!("../other_tools.json");
const TOOLS: [(&str, Alias); 5] = [
    ("vllm", Alias::Vllm),
    ("aiperf", Alias::Aiperf),
    ("sglang", Alias::Sglang),
    ("guidellm", Alias::Guidellm),
    ("inference-perf", Alias::InferencePerf),
];

/// Where a server reports no tokens, torr has no count of them, and these tools use a tokenizer.
const NEEDS_TOKENIZER: [(&str, &str, &str); 2] = [
    ("no usage", "inference-perf", "time_per_output_token_ms"),
    ("no usage", "inference-perf", "normalized_time_per_output_token_ms"),
];

/// A server's acts after the request: the head, each read of the stream, and the end of the body.
fn acts(stream: &Value) -> Vec<(Nanos, Act)> {
    let us = |value: &Value| value.as_u64().unwrap() * 1_000;
    let reads = stream["reads"].as_array().unwrap().iter();
    let reads = reads.map(|read| (us(&read[0]), Act::Bytes(chunk(read[1].as_str().unwrap()))));
    let end = (us(&stream["last_byte_us"]), Act::Bytes(b"0\r\n\r\n".to_vec()));
    std::iter::once((0, Act::Bytes(HEAD.into()))).chain(reads).chain([end]).collect()
}

fn asking_once(aliases: Vec<Alias>) -> Plan {
    let mut plan = plan(Pace::Closed(Closed::new(1)));
    plan.stop = Stop::Requests { requests: 1 };
    let stream = StreamPlan::new(Dialect::Openai);
    request(&mut plan).stream = Some(StreamPlan { aliases, ..stream });
    request(&mut plan).timeout_ns = 10_000_000_000;
    plan
}

/// What torr says of one stream, with each tool's metrics by their names.
fn said(stream: &Value) -> StreamTally {
    let acts = acts(stream);
    let answer = move |_, _| acts.iter().map(|(at, act)| (*at, act.clone())).collect();
    let plan = asking_once(TOOLS.map(|(_, alias)| alias).to_vec());
    let outcome = simulate(plan, Target::new(|_, _| Dial::Accept(0), answer));
    outcome.assert_balanced();
    assert_eq!(outcome.reasons(), []);
    *outcome.measured.stream.unwrap()
}

/// The values of a tool, in the unit in which histograms have them: nanoseconds, or millionths.
fn recorded(values: &Value) -> BTreeMap<&str, Vec<f64>> {
    let metrics = values.as_object().unwrap().iter();
    metrics
        .map(|(name, listed)| {
            let listed = listed.as_array().unwrap().iter();
            (name.as_str(), listed.map(|value| value.as_f64().unwrap() * 1e6).collect())
        })
        .collect()
}

/// Whether a metric has these values: as many, their sum, the smallest and the largest of them.
fn has(metric: &Metric, values: &[f64]) -> bool {
    let near = |found: f64, value: f64, share: f64| (found - value).abs() <= 2.0 + share * value;
    let extreme = |pick: fn(f64, f64) -> f64| values.iter().copied().reduce(pick).unwrap_or(0.0);
    let mean = values.iter().sum::<f64>() / values.len().max(1) as f64;
    metric.count() == values.len() as u64
        && near(metric.mean(), mean, 0.0)
        && (values.is_empty()
            || near(metric.quantile(0.0) as f64, extreme(f64::min), 1e-3)
                && near(metric.quantile(1.0) as f64, extreme(f64::max), 1e-3))
}

#[test]
fn an_alias_says_what_the_tool_itself_says() {
    let golden: Value = serde_json::from_str(RECORDED).unwrap();
    let (mut compared, mut wrong) = (0, Vec::new());
    for (name, stream) in golden["streams"].as_object().unwrap() {
        let tally = said(stream);
        for (tool, alias) in TOOLS {
            let expected = recorded(&golden["tools"][tool]["values"][name]);
            let metrics: BTreeMap<_, _> = tally.of_alias(alias).collect();
            let unknown = expected.keys().find(|metric| !metrics.contains_key(*metric));
            assert_eq!(unknown, None, "{tool}");
            for (metric, found) in metrics {
                let is_known = !NEEDS_TOKENIZER.contains(&(name, tool, metric));
                let values = expected.get(metric).filter(|_| is_known);
                let values = values.map_or(&[][..], Vec::as_slice);
                compared += values.len();
                if !has(found, values) {
                    let mean = found.mean();
                    wrong.push(format!(
                        "{name}: {tool} {metric}: {values:?}, not {} around {mean}",
                        found.count()
                    ));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(compared > 300, "{compared}");
}

#[test]
fn without_aliases_nothing_is_kept_for_them() {
    let golden: Value = serde_json::from_str(RECORDED).unwrap();
    let acts = acts(&golden["streams"]["one token"]);
    let answer = move |_, _| acts.iter().map(|(at, act)| (*at, act.clone())).collect();
    let outcome = simulate(asking_once(Vec::new()), Target::new(|_, _| Dial::Accept(0), answer));
    let tally = outcome.measured.stream.unwrap();
    assert!(TOOLS.iter().all(|(_, alias)| tally.of_alias(*alias).next().is_none()));
}
