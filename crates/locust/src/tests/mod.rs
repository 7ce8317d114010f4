//! Totals are right whatever the order of processes and reports.

mod health;
mod streams;
mod totals;

use client::{Gap, Joined, Reason, Stamps, StreamObservation};
use net::Nanos;
use serde_json::Value;
use wire::Usage;

use super::*;
use engine::{Phase, Summary, Tally, level_json};

const SECOND: Nanos = 1_000_000_000;
/// A wall clock that stands at a third of a second when the monotonic one stands at `NOW`.
const WALL: Nanos = 1_700_000_000 * SECOND + SECOND / 3;
const NOW: Nanos = 5 * SECOND + 77;

fn successful(intended: Nanos, last_byte: Nanos) -> RequestRecord<'static> {
    let sent = intended + (last_byte - intended) / 4;
    let first_byte = intended + (last_byte - intended) / 2;
    RequestRecord {
        stamps: Stamps { sent, first_byte, last_byte, ..Stamps::new(intended, intended) },
        response_ns: Some(last_byte - intended + 1_000),
        lag_ns: Some((last_byte - intended) / 10),
        status: Some(200),
        failure: None,
        detail: "",
        bytes_in: 100,
        bytes_out: 10,
        is_abandoned: false,
        stream: None,
    }
}

fn failed(intended: Nanos, last_byte: Nanos, reason: Reason) -> RequestRecord<'static> {
    let status = (reason == Reason::Status).then_some(503);
    RequestRecord { failure: Some(reason), status, ..successful(intended, last_byte) }
}

/// Returns the method, the name and the record of the `number`-th request.
fn request(number: u64) -> (&'static str, &'static str, RequestRecord<'static>) {
    let intended = NOW + number * 9_000_017;
    let last_byte = intended + 1 + number * number * 7919 % 50_000_000;
    let (method, name) =
        [("GET", "/"), ("POST", "/"), ("GET", "/items"), ("", "login")][(number % 7 % 4) as usize];
    let record = match number % 11 {
        3 => failed(intended, last_byte, Reason::Status),
        5 => failed(intended, last_byte, Reason::TimeoutHead),
        7 => failed(intended, last_byte, Reason::CheckLocustfile),
        _ => successful(intended, last_byte),
    };
    (method, name, record)
}

fn started(has_warmup: bool) -> RequestTally {
    let mut tally = RequestTally::default();
    tally.begin(NOW, WALL, has_warmup);
    tally
}

fn aggregate() -> TallyAggregate {
    TallyAggregate::new(&[], WALL, 0, false)
}

fn record_numbered(tally: &mut RequestTally, number: u64) {
    let (method, name, record) = request(number);
    let is_event = name == "login";
    let row = tally.row(method, name, is_event);
    tally.record_request(row, &record);
}

/// The counts of a summary, without the usage of the processes.
type Counts<'a> = (&'a [String], &'a [bool], &'a [Tally], &'a [Tally]);

fn counts(summary: &Summary) -> Counts<'_> {
    (&summary.names, &summary.events, &summary.measured, &summary.warmup)
}

/// Ends the tallies, and adds up their reports, encoded and decoded.
fn aggregated(tallies: Vec<RequestTally>, now: Nanos) -> (TallyAggregate, Vec<Value>) {
    let mut all = aggregate();
    let mut intervals = Vec::new();
    (0..tallies.len()).for_each(|number| all.expect(&number.to_string()));
    for (number, mut tally) in tallies.into_iter().enumerate() {
        tally.end(now);
        let bytes = tally.take_report(now).to_bytes();
        intervals.extend(
            all.add_report(&number.to_string(), ProcessReport::from_bytes(&bytes).unwrap()),
        );
    }
    intervals.extend(all.end(false));
    (all, intervals)
}

fn sum_of(parts: &[Value], key: &str) -> u64 {
    parts.iter().map(|part| part["counts"][key].as_u64().unwrap()).sum()
}

fn errors_of(part: &Value) -> u64 {
    part["counts"]["errors"].as_object().unwrap().values().filter_map(Value::as_u64).sum()
}
