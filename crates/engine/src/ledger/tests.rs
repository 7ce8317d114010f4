//! Does everything balance, whoever counted it, and in whatever order it came?

use client::{Gap, Joined, Reason, Seen, Stamps};
use net::Nanos;
use serde_json::Value;
use wire::Usage;

use super::*;
use crate::level::level_json;
use crate::report::Phase;
use crate::summary::Summary;
use crate::tally::Tally;

const SECOND: Nanos = 1_000_000_000;
/// A wall clock that stands at a third of a second when the monotonic one stands at `NOW`.
const WALL: Nanos = 1_700_000_000 * SECOND + SECOND / 3;
const NOW: Nanos = 5 * SECOND + 77;

fn booking(intended: Nanos, last_byte: Nanos) -> Booking<'static> {
    let sent = intended + (last_byte - intended) / 4;
    let first_byte = intended + (last_byte - intended) / 2;
    Booking {
        stamps: Stamps { sent, first_byte, last_byte, ..Stamps::new(intended, intended) },
        response_ns: Some(last_byte - intended + 1_000),
        lag_ns: Some((last_byte - intended) / 10),
        status: Some(200),
        failure: None,
        detail: "",
        bytes_in: 100,
        bytes_out: 10,
        stream: None,
    }
}

fn failed(intended: Nanos, last_byte: Nanos, reason: Reason) -> Booking<'static> {
    let status = (reason == Reason::Status).then_some(503);
    Booking { failure: Some(reason), status, ..booking(intended, last_byte) }
}

/// The `number`-th of many requests: its name, and what became of it.
fn request(number: u64) -> (&'static str, &'static str, Booking<'static>) {
    let intended = NOW + number * 9_000_017;
    let last_byte = intended + 1 + number * number * 7919 % 50_000_000;
    let (method, name) =
        [("GET", "/"), ("POST", "/"), ("GET", "/items"), ("", "login")][(number % 7 % 4) as usize];
    let booking = match number % 11 {
        3 => failed(intended, last_byte, Reason::Status),
        5 => failed(intended, last_byte, Reason::TimeoutHead),
        7 => failed(intended, last_byte, Reason::CheckLocustfile),
        _ => booking(intended, last_byte),
    };
    (method, name, booking)
}

fn begun(has_warmup: bool) -> Ledger {
    let mut ledger = Ledger::default();
    ledger.begin(NOW, WALL, has_warmup);
    ledger
}

fn gathering() -> Gathering {
    Gathering::new(&[], WALL, 0, false)
}

fn book(ledger: &mut Ledger, number: u64) {
    let (method, name, booking) = request(number);
    let is_event = name == "login";
    let row = ledger.row(method, name, is_event);
    ledger.book(row, &booking);
}

/// What was counted, apart from what the processes themselves cost.
type Counts<'a> = (&'a [String], &'a [bool], &'a [Tally], &'a [Tally]);

fn counts(summary: &Summary) -> Counts<'_> {
    (&summary.names, &summary.events, &summary.measured, &summary.warmup)
}

/// Ends the ledgers and gathers them by way of bytes.
fn gathered(ledgers: Vec<Ledger>, now: Nanos) -> (Gathering, Vec<Value>) {
    let mut all = gathering();
    let mut slices = Vec::new();
    (0..ledgers.len()).for_each(|number| all.expect(&number.to_string()));
    for (number, mut ledger) in ledgers.into_iter().enumerate() {
        ledger.end(now);
        let bytes = ledger.sheet(now, Standing::default()).to_bytes();
        slices.extend(all.take(&number.to_string(), Sheet::from_bytes(&bytes).unwrap()));
    }
    slices.extend(all.end(false));
    (all, slices)
}

fn sum_of(parts: &[Value], key: &str) -> u64 {
    parts.iter().map(|part| part["counts"][key].as_u64().unwrap()).sum()
}

fn errors_of(part: &Value) -> u64 {
    part["counts"]["errors"].as_object().unwrap().values().filter_map(Value::as_u64).sum()
}

#[test]
fn every_total_balances() {
    let mut ledger = begun(false);
    (0..500).for_each(|number| book(&mut ledger, number));
    let row = ledger.row("GET", "/", false);
    for _ in 0..3 {
        ledger.abandon(row, NOW + SECOND);
    }
    let (all, slices) = gathered(vec![ledger], NOW + 9 * SECOND);
    let level = level_json(all.summary());
    let balances = |part: &Value| {
        let counts = &part["counts"];
        let number = |key: &str| counts[key].as_u64().unwrap();
        assert_eq!(number("planned"), number("attempted") + number("dropped"));
        assert_eq!(number("attempted"), number("ok") + errors_of(part) + number("in_flight"));
    };
    balances(&level);
    assert_eq!(level["counts"]["in_flight"], 3);
    let steps = level["steps"].as_array().unwrap();
    steps.iter().for_each(balances);
    for key in ["planned", "attempted", "ok"] {
        let exchanges: Vec<_> =
            steps.iter().filter(|step| step.get("event").is_none()).cloned().collect();
        assert_eq!(sum_of(&exchanges, key), level["counts"][key].as_u64().unwrap(), "{key}");
        assert_eq!(sum_of(&slices, key), level["counts"][key].as_u64().unwrap(), "{key}");
    }
    assert_eq!(slices.iter().map(errors_of).sum::<u64>(), errors_of(&level));
}

#[test]
fn many_ledgers_are_bin_by_bin_one_whatever_the_order_of_their_rows() {
    let mut one = begun(false);
    let mut parts: Vec<_> = (0..3).map(|_| begun(false)).collect();
    parts[1].row("", "login", true);
    parts[2].row("GET", "/items", false);
    for number in 0..800 {
        book(&mut one, number);
        book(&mut parts[(number % 5 % 3) as usize], number);
    }
    let now = NOW + 9 * SECOND;
    let (one, slices) = gathered(vec![one], now);
    let (many, slices_of_many) = gathered(parts, now);
    assert!(counts(one.summary()) == counts(many.summary()));
    assert_eq!(one.summary().names, ["GET /", "GET /items", "POST /", "login"]);
    // Which second a request is counted in is told by the page that is open when it ends.
    let times = |slices: &[Value]| slices.iter().map(|one| one["t_s"].clone()).collect::<Vec<_>>();
    assert_eq!(times(&slices), times(&slices_of_many));
    for key in ["attempted", "ok"] {
        assert_eq!(sum_of(&slices, key), sum_of(&slices_of_many, key));
    }
}

#[test]
fn sheets_may_come_at_any_time() {
    let (mut at_once, mut as_they_come) = (begun(false), begun(false));
    let mut all = gathering();
    let mut slices = Vec::new();
    for number in 0..600 {
        book(&mut at_once, number);
        book(&mut as_they_come, number);
        if number % 37 == 0 {
            let now = request(number).2.stamps.last_byte;
            slices.extend(all.take("one", as_they_come.sheet(now, Standing::default())));
        }
    }
    let now = NOW + 7 * SECOND;
    as_they_come.end(now);
    slices.extend(all.take("one", as_they_come.sheet(now, Standing::default())));
    slices.extend(all.end(false));
    let (expected, expected_slices) = gathered(vec![at_once], now);
    assert!(counts(all.summary()) == counts(expected.summary()));
    assert_eq!(slices.len(), expected_slices.len());
}

#[test]
fn slices_lie_on_the_seconds_of_the_wall_clock() {
    let mut ledger = begun(false);
    let row = ledger.row("GET", "/", false);
    ledger.book(row, &booking(NOW, NOW + 10));
    ledger.book(row, &booking(NOW, NOW + 3 * SECOND));
    let (_, slices) = gathered(vec![ledger], NOW + 3 * SECOND + SECOND / 2);
    let lengths: Vec<_> =
        slices.iter().map(|slice| (slice["seconds"].as_f64().unwrap() * 1e3).round()).collect();
    assert_eq!(lengths, [667.0, 1000.0, 1000.0, 833.0]);
    let counted: Vec<_> = slices.iter().map(|slice| slice["counts"]["ok"].as_u64()).collect();
    assert_eq!(counted, [Some(1), Some(0), Some(0), Some(1)]);
    assert_eq!(slices[0]["t_s"], 0.0);
}

#[test]
fn events_have_rows_and_are_in_no_total() {
    let mut ledger = begun(false);
    let (own, event) = (ledger.row("GET", "/", false), ledger.row("SSE", "ttfb", true));
    ledger.book(own, &booking(NOW, NOW + 1_000_000));
    ledger.book(event, &Booking::event(NOW + 5, Some(2_000_000), None));
    ledger.book(event, &Booking::event(NOW + 5, None, Some("not what was asked for")));
    let (all, slices) = gathered(vec![ledger], NOW + SECOND);
    let level = level_json(all.summary());
    assert_eq!((level["counts"]["attempted"].as_u64(), sum_of(&slices, "attempted")), (Some(1), 1));
    let step = &level["steps"][1];
    assert_eq!((step["name"].as_str(), step["event"].as_bool()), (Some("SSE ttfb"), Some(true)));
    assert_eq!(step["counts"]["attempted"], 2);
    assert_eq!(step["reasons"]["check.locustfile"], 1);
    assert_eq!(step["latency"]["response_ms"]["max"], 2.000_895);
    assert_eq!(step["latency"]["service_ms"], Value::Null);
    assert_eq!(level["steps"][0].get("event"), None);
    assert_eq!(level["samples"][0]["detail"], "not what was asked for");
}

#[test]
fn the_response_time_is_locusts_and_the_others_are_those_of_the_sockets() {
    let mut ledger = begun(false);
    let row = ledger.row("GET", "/", false);
    let told = Booking { response_ns: Some(90_000_000), ..booking(NOW, NOW + 40_000_000) };
    ledger.book(row, &told);
    ledger.book(row, &Booking { response_ns: None, ..told });
    let (all, _) = gathered(vec![ledger], NOW + SECOND);
    let latencies = &all.summary().measured[0].accepted;
    let near = |metric: &crate::Metric, count, value: f64| {
        assert_eq!(metric.count(), count);
        assert!((metric.mean() / value - 1.0).abs() < 1e-9, "{} {value}", metric.mean());
    };
    near(&latencies.response, 1, 90e6);
    near(&latencies.service, 2, 30e6);
    near(&latencies.ttfb, 2, 10e6);
    near(&latencies.lag, 2, 4e6);
}

#[test]
fn streams_are_counted_by_the_rules_of_streams() {
    let mut ledger = begun(false);
    let row = ledger.row("POST", "/chat", false);
    let usage = Usage { output: Some(9), ..Usage::default() };
    let seen = Seen { first_text: NOW + 500, texts: 2, usage, ..Seen::default() };
    let gaps = [Gap { nanos: 30, joined: Joined::No }];
    let stream = Some((&seen, gaps.as_slice()));
    ledger.book(row, &Booking { stream, ..booking(NOW, NOW + 1_000) });
    let broken = failed(NOW, NOW + 1_000, Reason::StreamTruncated);
    ledger.book(row, &Booking { stream, ..broken });
    let (all, _) = gathered(vec![ledger], NOW + SECOND);
    let stream = &level_json(all.summary())["stream"];
    assert_eq!(
        (stream["ttft_ms"]["n"].as_u64(), stream["inter_chunk_ms"]["n"].as_u64()),
        (Some(1), Some(2))
    );
    assert_eq!((stream["tokens_out"].as_u64(), stream["from"].as_str()), (Some(9), Some("sent")));
    assert!(stream["tokens_per_s"].as_f64().unwrap() > 8.9);
}

#[test]
fn what_was_asked_for_before_the_window_stays_apart() {
    let mut ledger = begun(true);
    let row = ledger.row("GET", "/", false);
    let start = NOW + 2 * SECOND;
    ledger.book(row, &booking(NOW, NOW + 1_000));
    ledger.open_window(start);
    ledger.open_window(start + 5);
    ledger.book(row, &booking(start - 10, start + 1_000));
    ledger.book(row, &booking(start, start + 2_000));
    let (all, slices) = gathered(vec![ledger], start + SECOND);
    let summary = all.summary();
    assert_eq!((summary.warmup[0].ok, summary.measured[0].ok), (2, 1));
    // Answered now is throughput of now.
    assert_eq!((summary.measured[0].ok_inside, summary.measured[0].attempted_inside), (2, 1));
    assert_eq!((summary.warmup_ns, summary.window_ns), (2 * SECOND, SECOND));
    assert_eq!(summary.window_start, WALL + 2 * SECOND);
    let phases: Vec<_> = slices.iter().map(|slice| slice["phase"].as_str().unwrap()).collect();
    assert_eq!(phases, ["warmup", "warmup", "warmup", "measure", "measure"]);
    assert!(slices[0]["t_s"].as_f64() < Some(0.0) && slices[3]["t_s"] == 0.0);
}

#[test]
fn a_new_test_knows_nothing_of_the_last_one() {
    let mut ledger = begun(false);
    let row = ledger.row("GET", "/", false);
    ledger.book(row, &booking(NOW, NOW + 10));
    ledger.begin(NOW + SECOND, WALL + SECOND, false);
    ledger.book(row, &booking(NOW + SECOND, NOW + SECOND + 10));
    let (all, _) = gathered(vec![ledger], NOW + 2 * SECOND);
    assert_eq!((all.summary().measured[0].ok, all.summary().window_start), (1, WALL + SECOND));
}

#[test]
fn between_tests_nothing_counts() {
    let mut ledger = Ledger::default();
    let row = ledger.row("GET", "/", false);
    ledger.book(row, &booking(NOW, NOW + 10));
    assert!(ledger.sheet(NOW + 5 * SECOND, Standing::default()).is_empty());
    ledger.begin(NOW, WALL, false);
    ledger.end(NOW + SECOND);
    ledger.book(row, &booking(NOW, NOW + 10));
    ledger.abandon(row, NOW);
    let sheet = ledger.sheet(NOW + SECOND, Standing::default());
    assert!(sheet.pages.iter().all(|page| page.rows.is_empty()));
    assert!(ledger.sheet(NOW + 9 * SECOND, Standing::default()).is_empty());
}

#[test]
fn names_beyond_the_limit_are_pooled_and_told() {
    let mut ledgers = vec![begun(false), begun(false)];
    for (number, ledger) in ledgers.iter_mut().enumerate() {
        for name in 0..150 {
            let row = ledger.row("GET", &format!("/{number}/{name}"), false);
            ledger.book(row, &booking(NOW, NOW + 10));
        }
    }
    let (all, _) = gathered(ledgers, NOW + SECOND);
    let summary = all.summary();
    assert_eq!((summary.names.len(), summary.total().ok), (201, 300));
    let others = summary.names.iter().position(|name| name == "(other)").unwrap();
    assert_eq!(summary.measured[others].ok, 100);
    assert!(summary.warnings.contains("names beyond the first 200 share the row (other)"));
}

#[test]
fn a_silent_process_holds_up_nothing_for_long_and_its_loss_is_told() {
    let mut all = gathering();
    all.expect("a");
    all.expect("b");
    let (mut here, mut gone) = (begun(false), begun(false));
    all.take("b", gone.sheet(NOW + 2 * SECOND, Standing::default()));
    let mut taken = |ledger: &mut Ledger, s| {
        all.take("a", ledger.sheet(NOW + s * SECOND, Standing::default())).len()
    };
    assert_eq!(taken(&mut here, 9), 2);
    assert_eq!(taken(&mut here, 11), 0);
    assert_eq!(taken(&mut here, 13), 11);
    here.end(NOW + 14 * SECOND);
    all.take("a", here.sheet(NOW + 14 * SECOND, Standing::default()));
    all.end(false);
    let health = &level_json(all.summary())["health"];
    assert_eq!(health["verdict"], "generator-limited");
    assert!(health["reasons"][0].as_str().unwrap().starts_with("a Locust process was lost"));
    let told = all.summary().warnings.iter().next().unwrap();
    assert!(told.starts_with("b was not heard to its end"));
}

/// The verdict on four seconds of so many requests, each of 5 ms, with a timer that rings late.
fn health(requests: u64, lag_ns: Nanos, late_ns: Option<Nanos>) -> Value {
    let mut ledger = begun(false);
    let row = ledger.row("GET", "/", false);
    for number in 0..80 {
        let now = NOW + number * SECOND / 20;
        for request in 0..requests / 80 {
            let booking = booking(now, now + 5_000_000 + request);
            ledger.book(row, &Booking { lag_ns: Some(lag_ns), ..booking });
        }
        late_ns.iter().for_each(|late| ledger.late(now, *late));
    }
    let (all, _) = gathered(vec![ledger], NOW + 4 * SECOND);
    level_json(all.summary())["health"].clone()
}

#[test]
fn greenlets_that_wait_make_a_test_generator_limited() {
    assert_eq!(health(800, 1_000_000, None)["verdict"], "healthy");
    let late = health(800, 3_000_000, None);
    assert_eq!(late["verdict"], "generator-limited");
    assert!(late["reasons"][0].as_str().unwrap().starts_with("ready greenlets waited"));
}

#[test]
fn a_timer_that_rings_late_speaks_where_few_requests_do() {
    assert_eq!(health(80, 0, Some(1_000_000))["verdict"], "healthy");
    assert_eq!(health(80, 0, Some(9_000_000))["verdict"], "generator-limited");
    assert_eq!(health(800, 0, Some(9_000_000))["verdict"], "healthy", "requests know better");
    assert_eq!(health(0, 0, Some(9_000_000))["verdict"], "healthy", "nobody waited for long");
    assert_eq!(health(0, 0, Some(150_000_000))["verdict"], "generator-limited");
}

#[test]
fn what_a_late_page_used_is_shared_by_all_that_it_turns() {
    let mut ledger = begun(false);
    let spin = net::process_cpu_ns();
    while net::process_cpu_ns() < spin + 30_000_000 {
        std::hint::black_box(0);
    }
    let sheet = ledger.sheet(NOW + 4 * SECOND, Standing::default());
    let used: Vec<_> = sheet.pages.iter().map(|page| page.report.usage.cpu_ns).collect();
    assert_eq!(used.len(), 4);
    // Two thirds of a second, and three whole ones; a third of one is still open.
    assert!(used[0] > 0 && used[1] > used[0] && used[1].abs_diff(used[3]) <= 1);
    assert!(sheet.pages.iter().all(|page| page.report.phase == Phase::Measure));
}

#[test]
fn a_test_without_an_answer_says_so() {
    let (all, _) = gathered(vec![begun(false)], NOW + SECOND);
    assert!(all.summary().failure.as_ref().unwrap().starts_with("no request ended"));
    let mut ledger = begun(false);
    let row = ledger.row("GET", "/", false);
    let refused = Booking { bytes_in: 0, ..failed(NOW, NOW + 10, Reason::ConnectRefused) };
    ledger.book(row, &refused);
    let (all, _) = gathered(vec![ledger], NOW + SECOND);
    assert!(all.summary().failure.as_ref().unwrap().starts_with("no byte of an answer"));
}

#[test]
fn bytes_of_something_else_are_no_sheet() {
    let mut ledger = begun(false);
    let row = ledger.row("GET", "/", false);
    ledger.book(row, &booking(NOW, NOW + 10));
    let bytes = ledger.sheet(NOW + SECOND, Standing::default()).to_bytes();
    let text = String::from_utf8(bytes).unwrap();
    let wrong = |text: &str| Sheet::from_bytes(text.as_bytes()).unwrap_err();
    assert!(wrong("{}").starts_with("its report cannot be read"));
    let version = env!("CARGO_PKG_VERSION");
    let other = text.replacen(&format!("\"torr\":\"{version}\""), "\"torr\":\"0.0.1\"", 1);
    assert!(wrong(&other).starts_with("it runs torr 0.0.1"));
    let other = text.replacen("\"rows\":[0]", "\"rows\":[7]", 1);
    assert_ne!(other, text);
    assert!(wrong(&other).starts_with("its report names rows"));
}
