//! Totals and intervals.

use super::*;

#[test]
fn every_total_balances() {
    let mut tally = started(false);
    (0..500).for_each(|number| record_numbered(&mut tally, number));
    let row = tally.row("GET", "/", false);
    for _ in 0..3 {
        tally.abandon(row, NOW + SECOND);
    }
    let (all, intervals) = aggregated(vec![tally], NOW + 9 * SECOND);
    let level = level_json(all.summary());
    let balances = |part: &Value| {
        let counts = &part["counts"];
        let number = |key: &str| counts[key].as_u64().unwrap();
        assert_eq!(number("planned"), number("attempted") + number("dropped"));
        assert_eq!(number("attempted"), number("ok") + errors_of(part) + number("in_flight"));
    };
    balances(&level);
    assert_eq!(level["counts"]["in_flight"], 3);
    let steps = level["requests"].as_array().unwrap();
    steps.iter().for_each(balances);
    for key in ["planned", "attempted", "ok"] {
        let exchanges: Vec<_> =
            steps.iter().filter(|step| step.get("event").is_none()).cloned().collect();
        assert_eq!(sum_of(&exchanges, key), level["counts"][key].as_u64().unwrap(), "{key}");
        assert_eq!(sum_of(&intervals, key), level["counts"][key].as_u64().unwrap(), "{key}");
    }
    assert_eq!(intervals.iter().map(errors_of).sum::<u64>(), errors_of(&level));
}

#[test]
fn many_tallies_add_up_bin_by_bin_to_one_in_any_order_of_their_rows() {
    let mut one = started(false);
    let mut parts: Vec<_> = (0..3).map(|_| started(false)).collect();
    parts[1].row("", "login", true);
    parts[2].row("GET", "/items", false);
    for number in 0..800 {
        record_numbered(&mut one, number);
        record_numbered(&mut parts[(number % 5 % 3) as usize], number);
    }
    let now = NOW + 9 * SECOND;
    let (one, intervals) = aggregated(vec![one], now);
    let (many, intervals_of_many) = aggregated(parts, now);
    assert!(counts(one.summary()) == counts(many.summary()));
    assert_eq!(one.summary().names, ["GET /", "GET /items", "POST /", "login"]);
    // A request is counted in the interval that is current when it ends.
    let times =
        |intervals: &[Value]| intervals.iter().map(|one| one["t_s"].clone()).collect::<Vec<_>>();
    assert_eq!(times(&intervals), times(&intervals_of_many));
    for key in ["attempted", "ok"] {
        assert_eq!(sum_of(&intervals, key), sum_of(&intervals_of_many, key));
    }
}

#[test]
fn reports_may_come_at_any_time() {
    let (mut at_once, mut as_they_come) = (started(false), started(false));
    let mut all = aggregate();
    let mut intervals = Vec::new();
    for number in 0..600 {
        record_numbered(&mut at_once, number);
        record_numbered(&mut as_they_come, number);
        if number % 37 == 0 {
            let now = request(number).2.stamps.last_byte;
            intervals.extend(all.add_report("one", as_they_come.take_report(now)));
        }
    }
    let now = NOW + 7 * SECOND;
    as_they_come.end(now);
    intervals.extend(all.add_report("one", as_they_come.take_report(now)));
    intervals.extend(all.end(false));
    let (expected, expected_intervals) = aggregated(vec![at_once], now);
    assert!(counts(all.summary()) == counts(expected.summary()));
    assert_eq!(intervals.len(), expected_intervals.len());
}

#[test]
fn intervals_lie_on_the_seconds_of_the_wall_clock() {
    let mut tally = started(false);
    let row = tally.row("GET", "/", false);
    tally.record_request(row, &successful(NOW, NOW + 10));
    tally.record_request(row, &successful(NOW, NOW + 3 * SECOND));
    let (_, intervals) = aggregated(vec![tally], NOW + 3 * SECOND + SECOND / 2);
    let lengths: Vec<_> = intervals
        .iter()
        .map(|interval| (interval["seconds"].as_f64().unwrap() * 1e3).round())
        .collect();
    assert_eq!(lengths, [667.0, 1000.0, 1000.0, 833.0]);
    let counted: Vec<_> =
        intervals.iter().map(|interval| interval["counts"]["ok"].as_u64()).collect();
    assert_eq!(counted, [Some(1), Some(0), Some(0), Some(1)]);
    assert_eq!(intervals[0]["t_s"], 0.0);
}

#[test]
fn events_have_rows_and_are_in_no_total() {
    let mut tally = started(false);
    let (own, event) = (tally.row("GET", "/", false), tally.row("SSE", "ttfb", true));
    tally.record_request(own, &successful(NOW, NOW + 1_000_000));
    tally.record_request(event, &RequestRecord::event(NOW + 5, Some(2_000_000), None, false));
    tally.record_request(
        event,
        &RequestRecord::event(NOW + 5, None, Some("not what was asked for"), false),
    );
    let (all, intervals) = aggregated(vec![tally], NOW + SECOND);
    let level = level_json(all.summary());
    assert_eq!(
        (level["counts"]["attempted"].as_u64(), sum_of(&intervals, "attempted")),
        (Some(1), 1)
    );
    let step = &level["requests"][1];
    assert_eq!((step["name"].as_str(), step["event"].as_bool()), (Some("SSE ttfb"), Some(true)));
    assert_eq!(step["counts"]["attempted"], 2);
    assert_eq!(step["reasons"]["check.locustfile"], 1);
    assert_eq!(step["latency"]["response_ms"]["max"], 2.000_895);
    assert_eq!(step["latency"]["service_ms"], Value::Null);
    assert_eq!(level["requests"][0].get("event"), None);
    assert_eq!(level["samples"][0]["detail"], "not what was asked for");
    assert_eq!(level["samples"][0]["name"], "SSE ttfb");
}

#[test]
fn the_response_time_is_that_of_locust_and_other_times_are_those_of_the_sockets() {
    let mut tally = started(false);
    let row = tally.row("GET", "/", false);
    let reported =
        RequestRecord { response_ns: Some(90_000_000), ..successful(NOW, NOW + 40_000_000) };
    tally.record_request(row, &reported);
    tally.record_request(row, &RequestRecord { response_ns: None, ..reported });
    let (all, _) = aggregated(vec![tally], NOW + SECOND);
    let latencies = &all.summary().measured[0].accepted;
    let near = |metric: &engine::Metric, count, value: f64| {
        assert_eq!(metric.count(), count);
        assert!((metric.mean() / value - 1.0).abs() < 1e-9, "{} {value}", metric.mean());
    };
    near(&latencies.response, 1, 90e6);
    near(&latencies.service, 2, 30e6);
    near(&latencies.ttfb, 2, 10e6);
    near(&latencies.lag, 2, 4e6);
}

#[test]
fn requests_before_the_window_belong_to_the_warm_up() {
    let mut tally = started(true);
    let row = tally.row("GET", "/", false);
    let start = NOW + 2 * SECOND;
    tally.record_request(row, &successful(NOW, NOW + 1_000));
    tally.open_window(start);
    tally.open_window(start + 5);
    tally.record_request(row, &successful(start - 10, start + 1_000));
    tally.record_request(row, &successful(start, start + 2_000));
    let (all, intervals) = aggregated(vec![tally], start + SECOND);
    let summary = all.summary();
    assert_eq!((summary.warmup[0].ok, summary.measured[0].ok), (2, 1));
    // Answered now is throughput of now.
    assert_eq!((summary.measured[0].ok_inside, summary.measured[0].attempted_inside), (2, 1));
    assert_eq!((summary.warmup_ns, summary.window_ns), (2 * SECOND, SECOND));
    assert_eq!(summary.window_start, WALL + 2 * SECOND);
    let phases: Vec<_> =
        intervals.iter().map(|interval| interval["phase"].as_str().unwrap()).collect();
    assert_eq!(phases, ["warmup", "warmup", "warmup", "measure", "measure"]);
    assert!(intervals[0]["t_s"].as_f64() < Some(0.0) && intervals[3]["t_s"] == 0.0);
}

#[test]
fn a_new_test_has_no_counts_of_the_last_one() {
    let mut tally = started(false);
    let row = tally.row("GET", "/", false);
    tally.record_request(row, &successful(NOW, NOW + 10));
    tally.begin(NOW + SECOND, WALL + SECOND, false);
    tally.record_request(row, &successful(NOW + SECOND, NOW + SECOND + 10));
    let (all, _) = aggregated(vec![tally], NOW + 2 * SECOND);
    assert_eq!((all.summary().measured[0].ok, all.summary().window_start), (1, WALL + SECOND));
}

#[test]
fn between_tests_nothing_counts() {
    let mut tally = RequestTally::default();
    let row = tally.row("GET", "/", false);
    tally.record_request(row, &successful(NOW, NOW + 10));
    assert!(tally.take_report(NOW + 5 * SECOND).is_empty());
    tally.begin(NOW, WALL, false);
    tally.end(NOW + SECOND);
    tally.record_request(row, &successful(NOW, NOW + 10));
    tally.abandon(row, NOW);
    let report = tally.take_report(NOW + SECOND);
    assert!(!report.intervals.is_empty());
    assert!(report.intervals.iter().all(|interval| interval.rows.is_empty()));
    assert!(tally.take_report(NOW + 9 * SECOND).is_empty());
}

#[test]
fn names_beyond_the_limit_share_a_row_with_a_warning() {
    let mut tallies = vec![started(false), started(false)];
    for (number, tally) in tallies.iter_mut().enumerate() {
        for name in 0..150 {
            let row = tally.row("GET", &format!("/{number}/{name}"), false);
            tally.record_request(row, &successful(NOW, NOW + 10));
        }
    }
    let (all, _) = aggregated(tallies, NOW + SECOND);
    let summary = all.summary();
    assert_eq!((summary.names.len(), summary.total().ok), (201, 300));
    let others = summary.names.iter().position(|name| name == "(other)").unwrap();
    assert_eq!(summary.measured[others].ok, 100);
    let texts: Vec<_> = summary.warnings.iter().map(|warning| warning.text.as_str()).collect();
    assert_eq!(texts, ["names beyond the first 200 share the row (other)"]);
}
