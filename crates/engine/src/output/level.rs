//! A summary or an interval as the JSON of result files: names, units and rules of `metrics.md`.

use client::{Class, Multiplexing, ServerLimits};
use net::Nanos;
use serde_json::{Map, Value, json};

use crate::measure::aggregate::JudgedInterval;
use crate::measure::front::Front;
use crate::measure::health::{Evidence, Lag, Vitals, judge};
use crate::measure::metric::{Metric, PERCENTILES, mark_at_least};
use crate::measure::report::{Phase, Sample};
use crate::measure::stream::{Timed, stream_json};
use crate::measure::summary::{NodeSummary, Summary, WorkerTime, sum};
use crate::measure::tally::Tally;
use crate::measure::websocket::WebSocketTally;

/// One entry of `levels`, without what only the experiment knows (candidate, round, intervals).
#[must_use]
pub fn level_json(summary: &Summary) -> Value {
    let total = summary.total();
    let seconds = seconds(summary.window_ns);
    let mut level = counted(&total, summary.in_flight, seconds, true);
    let warmup = summary.warmup_total();
    let more = json!({
        "concurrency": summary.concurrency,
        "users": summary.users,
        "rate": summary.rate,
        "seconds": seconds,
        "samples": samples(&summary.samples, summary.window_start),
        "connections": {
            "requested": summary.connections.asked,
            "open_max": summary.connections.open_max,
            "opened": summary.connections.opened,
        },
        "starved": summary.starved,
        "success_rate": success_rate(&total),
        "latency_all": latency_all(&total),
        "requests": steps(summary),
        "histograms": histograms(&total),
        "warmup": {
            "seconds": self::seconds(summary.warmup_ns),
            "counts": counts(&warmup, warmup.attempted.saturating_sub(warmup.ended())),
            "latency": latency(&warmup),
        },
        "health": health(summary, &total),
        "generator": generator(summary, &total),
        "warnings": summary.warnings,
        "failure": summary.failure,
        "interrupted": summary.interrupted,
    });
    merge(&mut level, more);
    if let Some(http) = summary.http {
        merge(&mut level, json!({ "http": http }));
    }
    if let Some(counts) = &summary.multiplexing {
        merge(&mut level, json!({ "http2": http2(counts) }));
        merge(&mut level["health"], json!({ "stalled_rate": stalled_rate(counts) }));
    }
    if let Some(tally) = &summary.websocket {
        merge(&mut level, json!({ "websocket": websocket(tally) }));
        merge(&mut level["websocket"], json!({ "unconfirmed": summary.connections.unconfirmed }));
    }
    if summary.front == Front::Locust {
        merge(&mut level, json!({ "fired_by": summary.front }));
    }
    level
}

/// One line of `intervals.jsonl`; `start` is when the window started, or will at the earliest.
pub fn interval_json(judged: &JudgedInterval, start: Nanos) -> Value {
    let JudgedInterval { interval, vitals, nodes } = judged;
    let total = sum(&interval.tallies);
    let seconds = seconds(interval.to.saturating_sub(interval.from));
    let is_window = interval.phase == Phase::Measure;
    let mut line = counted(&total, interval.in_flight, seconds, is_window);
    // Before its start is known, the window starts at the end of the interval at the earliest.
    let start = if interval.phase == Phase::Warmup { start.max(interval.to) } else { start };
    let per_second = |count: u64| {
        if seconds > 0.0 { Value::from(as_f64(count) / seconds) } else { Value::Null }
    };
    // Within the window an interval counts as the level does: what was due in the warm-up and answered
    // now is the target's throughput now.
    let (ok, attempted) = match interval.phase {
        Phase::Measure => (total.ok_inside, total.attempted_inside),
        _ => (total.ok, total.attempted),
    };
    let more = json!({
        "t_s": seconds_since(start, interval.from),
        "seconds": seconds,
        "phase": interval.phase,
        "ok_per_s": per_second(ok),
        "attempted_per_s": per_second(attempted),
        "connections_open": interval.connections.open,
        "requests_open": interval.requests_open,
        "histograms": histograms(&total),
        "health": {
            "workers": interval.workers.iter().map(|part| part.worker).collect::<Vec<_>>(),
            "worker_cpu_rate": vitals.worker_cpu_rate,
            "run_queue_rate": vitals.run_queue_rate,
            "scheduling_lag_ms": lags(vitals, |lag| lag.p99),
            "scheduling_lag_limit_ms": lags(vitals, Lag::limit),
            "steal_rate": vitals.steal_rate,
            "target_cpu_rate": vitals.target_cpu_rate,
            "receive_queue_bytes":
                interval.workers.iter().map(|part| part.receive_queue_bytes).collect::<Vec<_>>(),
        },
    });
    merge(&mut line, more);
    if let Some(counts) = &interval.multiplexing {
        merge(&mut line["health"], json!({ "stalled_rate": stalled_rate(counts) }));
    }
    if !nodes.is_empty() {
        let parts: Vec<_> = nodes
            .iter()
            .map(|(name, counts)| {
                let ok = if is_window { counts.ok_inside } else { counts.ok };
                let (attempted, ok_per_s) = (counts.attempted, per_second(ok));
                json!({ "name": name, "attempted": attempted, "ok": counts.ok, "ok_per_s": ok_per_s })
            })
            .collect();
        merge(&mut line, json!({ "nodes": parts }));
    }
    line
}

/// Of each worker, in milliseconds; null where it is not known.
fn lags(vitals: &Vitals, pick: fn(Lag) -> Nanos) -> Vec<Option<f64>> {
    vitals.lags.iter().map(|lag| lag.map(|lag| milliseconds(pick(lag)))).collect()
}

/// Returns the keys that levels and intervals have in common.
fn counted(total: &Tally, in_flight: u64, seconds: f64, is_window: bool) -> Value {
    let mut counted = counted_in_all(total, in_flight, seconds, is_window);
    if total.cancelled_inside > 0 && seconds > 0.0 {
        let per_second = as_f64(total.cancelled_inside) / seconds;
        merge(&mut counted, json!({ "cancelled_per_s": per_second }));
    }
    if total.resent > 0 {
        merge(&mut counted, json!({ "resent": total.resent }));
    }
    if total.postponed > 0 {
        let mean_ms = as_f64(total.postponed_ns) / as_f64(total.postponed) / 1e6;
        merge(&mut counted, json!({ "postponed": total.postponed, "postponed_mean_ms": mean_ms }));
    }
    if total.left_out > 0 {
        merge(&mut counted, json!({ "left_out": total.left_out }));
    }
    counted
}

fn counted_in_all(total: &Tally, in_flight: u64, seconds: f64, is_window: bool) -> Value {
    let per_second = |count: u64| {
        if seconds > 0.0 { Value::from(as_f64(count) / seconds) } else { Value::Null }
    };
    json!({
        "counts": counts(total, in_flight),
        "reasons": total.all_reasons(),
        "statuses": total.statuses.iter().map(|(status, count)| (status.to_string(), Value::from(*count))).collect::<Map<_, _>>(),
        "ok_per_s": per_second(total.ok_inside),
        "attempted_per_s": per_second(total.attempted_inside),
        "bytes_in": total.bytes_in,
        "bytes_out": total.bytes_out,
        "latency": latency(total),
        "stream": total.stream.as_ref().map(|tally| stream_json(tally, &total.goodput, total.dropped, seconds, is_window)),
    })
}

fn counts(total: &Tally, in_flight: u64) -> Value {
    let is_error = |class: &Class| *class != Class::Cancelled;
    let classes = Class::ALL.iter().zip(total.errors);
    let classes = classes.filter(|(class, count)| is_error(class) && *count > 0);
    let errors: Map<_, _> =
        classes.map(|(class, count)| (class.name().to_owned(), count.into())).collect();
    let mut counts = json!({
        "planned": total.planned,
        "attempted": total.attempted,
        "ok": total.ok,
        "dropped": total.dropped,
        "in_flight": in_flight,
        "errors": errors,
    });
    if total.cancelled() > 0 {
        merge(&mut counts, json!({ "cancelled": total.cancelled() }));
    }
    counts
}

/// Percent of what ended and was not cancelled; null when nothing did.
fn success_rate(total: &Tally) -> Option<f64> {
    let judged = total.ended() - total.cancelled();
    (judged > 0).then(|| 100.0 * as_f64(total.ok) / as_f64(judged))
}

/// Times that only connections with several exchanges have.
const OF_STREAMS: [&str; 3] = ["stream_wait", "window_wait", "message"];

fn latency(total: &Tally) -> Value {
    // Dropped requests would have waited: every percentile could only be higher.
    let is_bound = |name: &str| total.dropped > 0 && name == "response";
    let is_there = |name: &str, metric: &Metric| metric.count() > 0 || !OF_STREAMS.contains(&name);
    let named = total.accepted.named().into_iter();
    let all = named.filter(|(name, metric)| is_there(name, metric)).map(|(name, metric)| {
        let stats = if is_bound(name) { metric.to_json_at_least() } else { metric.to_json() };
        (format!("{name}_ms"), stats)
    });
    Value::Object(all.collect())
}

fn latency_all(total: &Tally) -> Value {
    let (mut service, mut response) =
        (total.accepted.service.clone(), total.accepted.response.clone());
    service.merge(&total.failed.service);
    response.merge(&total.failed.response);
    let (service_from, response_from) = total.censored_from.unwrap_or((Nanos::MAX, Nanos::MAX));
    let response = match total.dropped {
        0 => censored(&response, response_from),
        _ => response.to_json_at_least(),
    };
    let mut all = json!({
        "service_ms": censored(&service, service_from),
        "response_ms": response,
        "censored": total.censored,
    });
    let (accepted, failed) = (&total.accepted, &total.failed);
    let stream_wait_from = total.stream_wait_from.unwrap_or(Nanos::MAX);
    let window_wait_from = total.window_wait_from.unwrap_or(Nanos::MAX);
    for (name, one, two, from) in [
        ("stream_wait_ms", &accepted.stream_wait, &failed.stream_wait, stream_wait_from),
        ("window_wait_ms", &accepted.window_wait, &failed.window_wait, window_wait_from),
    ] {
        let mut metric = one.clone();
        metric.merge(two);
        if metric.count() > 0 {
            merge(&mut all, json!({ name: censored(&metric, from) }));
        }
    }
    all
}

/// Marks the percentiles that lie at or beyond the smallest censored value.
fn censored(metric: &Metric, from: Nanos) -> Value {
    let reached = |value: Option<Nanos>| value.is_some_and(|value| value >= from);
    let is_bound = from < Nanos::MAX;
    let percentiles = PERCENTILES.iter().filter(|(_, p)| reached(metric.percentile(*p)));
    let names: Vec<_> = (is_bound.then_some("mean").into_iter())
        .chain(percentiles.map(|(name, _)| *name))
        .chain(is_bound.then_some("max"))
        .collect();
    let mut stats = metric.to_json();
    mark_at_least(&mut stats, &names);
    stats
}

fn histograms(total: &Tally) -> Value {
    let named = total.accepted.named().into_iter();
    let of_stream = total.stream.iter().flat_map(|tally| {
        // Its first byte is known already, if it does not count from another time.
        let is_other = tally.counted.from_intended > 0;
        Timed::NAMED.iter().filter_map(move |(timed, name)| match timed {
            Timed::Ttfb => is_other.then(|| ("stream_ttfb", tally.metric(*timed))),
            _ => Some((*name, tally.metric(*timed))),
        })
    });
    let counted = named.chain(of_stream).filter(|(_, metric)| metric.count() > 0);
    let packed = counted.map(|(name, metric)| (name.to_owned(), metric.to_base64().into()));
    Value::Object(packed.collect())
}

fn steps(summary: &Summary) -> Vec<Value> {
    let seconds = seconds(summary.window_ns);
    let sides = summary.measured.iter().zip(&summary.warmup);
    let pairs = summary.names.iter().zip(sides);
    pairs
        .enumerate()
        .map(|(row, (name, (tally, warmup)))| {
            let mut step =
                counted(tally, tally.attempted.saturating_sub(tally.ended()), seconds, true);
            let open = warmup.attempted.saturating_sub(warmup.ended());
            let more = json!({
                "name": name,
                "success_rate": success_rate(tally),
                "warmup": { "seconds": self::seconds(summary.warmup_ns), "counts": counts(warmup, open) },
            });
            merge(&mut step, more);
            if summary.is_event(row) {
                merge(&mut step, json!({ "event": true }));
            }
            step
        })
        .collect()
}

fn samples(samples: &[Sample], start: Nanos) -> Vec<Value> {
    let line = |sample: &Sample| {
        json!({
            "name": Some(&sample.name).filter(|name| !name.is_empty()),
            "class": sample.class, "reason": sample.reason, "detail": sample.detail,
            "t_s": seconds_since(start, sample.at),
            "status": sample.status, "head": sample.head, "body": sample.body,
        })
    };
    samples.iter().map(line).collect()
}

fn health(summary: &Summary, total: &Tally) -> Value {
    let on_time =
        summary.rate.map(|_| (total.scheduled, total.scheduled.saturating_sub(total.late)));
    let descriptor_limit = summary.generator.descriptor_limit;
    let connections = summary.connections;
    let unkept_attempts = (!summary.is_keepalive).then_some(total.attempted);
    let lost = summary.lost;
    let front = summary.front;
    let evidence =
        Evidence { connections, descriptor_limit, unkept_attempts, on_time, lost, front };
    let machines = summary.machines();
    let verdict = judge(machines.clone(), &evidence);
    let rates = |pick: fn(&crate::measure::summary::WorkerTime) -> Nanos| -> Vec<f64> {
        summary
            .workers
            .iter()
            .map(|worker| 100.0 * as_f64(pick(worker)) / as_f64(worker.wall_ns.max(1)))
            .collect()
    };
    json!({
        "verdict": verdict.word,
        "reasons": verdict.reasons,
        "worker_cpu_rate": rates(|worker| worker.cpu_ns),
        "run_queue_rate": rates(|worker| worker.run_queue_ns),
        "intervals": machines.intervals(),
        "late_intervals": machines.late_intervals(),
        "scheduling_lag_ms": machines.lag_ns().map(milliseconds),
        "steal_rate": machines.steal_rate(),
        "target_cpu_rate": machines.target_cpu_rate(),
        "receive_queue_bytes":
            summary.workers.iter().map(WorkerTime::receive_queue_bytes).collect::<Vec<_>>(),
    })
}

fn http2(counts: &Multiplexing) -> Value {
    let each = as_f64(counts.requests) / as_f64(counts.writes.max(1));
    let limits = counts.limits.map(|limits| {
        let ServerLimits {
            streams,
            window_bytes,
            frame_bytes,
            header_table_bytes,
            header_list_bytes,
        } = limits;
        json!({
            "streams": streams,
            "window_bytes": window_bytes,
            "frame_bytes": frame_bytes,
            "header_table_bytes": header_table_bytes,
            "header_list_bytes": header_list_bytes,
        })
    });
    json!({
        "requests_per_write": (counts.writes > 0).then_some(each),
        "server_limits": limits,
    })
}

fn websocket(tally: &WebSocketTally) -> Value {
    let WebSocketTally { unmatched_messages, pings, closed_by_server, lifetime } = tally;
    json!({
        "unmatched_messages": unmatched_messages,
        "pings": pings,
        "closed": lifetime.count(),
        "closed_by_server": closed_by_server,
        "lifetime_ms": lifetime.to_json(),
    })
}

/// Percent of the time of open connections; null if none was open.
fn stalled_rate(counts: &Multiplexing) -> Option<f64> {
    let rate = 100.0 * as_f64(counts.stalled_ns) / as_f64(counts.open_ns);
    (counts.open_ns > 0).then_some(rate)
}

fn generator(summary: &Summary, total: &Tally) -> Value {
    let each = as_f64(summary.generator.cpu_ns) / 1e3 / as_f64(total.attempted_inside.max(1));
    let mut generator = json!({
        "cpu_s": as_f64(summary.generator.cpu_ns) / 1e9,
        "cpu_us_per_request": (total.attempted_inside > 0).then_some(each),
        "max_rss_bytes": summary.generator.max_rss_bytes,
        "workers": summary.workers.len(),
        "processes": summary.generator.processes,
    });
    if !summary.nodes.is_empty() {
        let nodes: Vec<_> = summary.nodes.iter().map(|one| node(one, summary.front)).collect();
        merge(&mut generator, json!({ "nodes": nodes }));
    }
    generator
}

fn node(node: &NodeSummary, front: Front) -> Value {
    let NodeSummary { name, processes, lost, clock, health, counts } = node;
    let verdict = judge(health, &Evidence { lost: *lost, front, ..Evidence::default() });
    let clock = clock.map(|clock| {
        json!({
            "offset_ms": signed_milliseconds(clock.offset_ns),
            "error_ms": milliseconds(clock.bound_ns),
            "drift_ms": signed_milliseconds(clock.drift_ns),
        })
    });
    json!({
        "name": name,
        "processes": processes,
        "lost_processes": lost,
        "attempted": counts.attempted,
        "ok": counts.ok,
        "clock": clock,
        "verdict": verdict.word,
        "reasons": verdict.reasons,
        "steal_rate": health.steal_rate(),
    })
}

#[allow(clippy::cast_precision_loss)]
fn signed_milliseconds(nanos: i64) -> f64 {
    nanos as f64 / 1e6
}

fn merge(into: &mut Value, more: Value) {
    if let (Value::Object(into), Value::Object(more)) = (into, more) {
        into.extend(more);
    }
}

/// Times of the epoch are beyond what a float tells apart; what lies between them is not.
fn seconds_since(start: Nanos, at: Nanos) -> f64 {
    if at < start { -seconds(start - at) } else { seconds(at - start) }
}

fn milliseconds(nanos: Nanos) -> f64 {
    as_f64(nanos) / 1e6
}

fn seconds(nanos: Nanos) -> f64 {
    as_f64(nanos) / 1e9
}

/// Counts and durations stay below 2^53, where every integer is a float.
#[allow(clippy::cast_precision_loss)]
fn as_f64(count: u64) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use client::{Outcome, Reason, Stamps};

    use super::*;

    #[test]
    fn waits_at_or_beyond_one_that_a_timeout_ended_are_lower_bounds() {
        let at_least_of = |reason| {
            let mut total = Tally::default();
            for milliseconds in 1..=100 {
                let wait = milliseconds * 1_000_000;
                let stamps = Stamps { stream_wait: wait, last_byte: wait, ..Stamps::new(0, 0) };
                match milliseconds {
                    ..=80 => total.accept(&stamps, 200),
                    _ => total.reject(&stamps, &Outcome::failed(reason, None)),
                }
            }
            latency_all(&total)["stream_wait_ms"]["at_least"].clone()
        };
        assert_eq!(at_least_of(Reason::TimeoutStream), json!(["mean", "p90", "max"]));
        assert_eq!(at_least_of(Reason::TimeoutFirstByte), Value::Null);
    }

    #[test]
    fn requests_that_were_dropped_would_have_waited_longer() {
        let stamps = Stamps { sent: 10, last_byte: 1_000_000, ..Stamps::new(0, 5) };
        let bounds = |dropped| {
            let mut total = Tally { dropped, ..Tally::default() };
            (0..100).for_each(|_| total.accept(&stamps, 200));
            [latency(&total), latency_all(&total)].map(|all| {
                ["response_ms", "service_ms"]
                    .map(|name| all[name]["at_least"].as_array().map_or(0, Vec::len))
            })
        };
        assert_eq!(bounds(0), [[0, 0]; 2]);
        // The mean, seven percentiles and the maximum.
        assert_eq!(bounds(1), [[PERCENTILES.len() + 2, 0]; 2]);
    }
}
