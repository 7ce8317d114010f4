//! Health, resource usage and failures of the processes.

use super::*;

#[test]
fn intervals_do_not_wait_long_for_a_silent_process_and_its_loss_is_a_warning() {
    let mut all = aggregate();
    all.expect("a");
    all.expect("b");
    let (mut here, mut gone) = (started(false), started(false));
    all.add_report("b", gone.take_report(NOW + 2 * SECOND));
    let mut taken = |tally: &mut RequestTally, s| {
        all.add_report("a", tally.take_report(NOW + s * SECOND)).len()
    };
    assert_eq!(taken(&mut here, 9), 2);
    assert_eq!(taken(&mut here, 11), 0);
    assert_eq!(taken(&mut here, 13), 11);
    here.end(NOW + 14 * SECOND);
    all.add_report("a", here.take_report(NOW + 14 * SECOND));
    all.end(false);
    let health = &level_json(all.summary())["health"];
    assert_eq!(health["verdict"], "generator-limited");
    assert_eq!(health["reasons"][0]["code"], "health.locust_process_lost");
    let warning = &all.summary().warnings[0];
    assert_eq!(
        (warning.code.as_str(), &warning.values["process"]),
        ("warning.locust_process_lost", &"b".into())
    );
}

/// The verdict on four seconds of so many requests, each of 5 ms, with a timer that rings late.
fn health(requests: u64, lag_ns: Nanos, late_ns: Option<Nanos>) -> Value {
    let mut tally = started(false);
    let row = tally.row("GET", "/", false);
    for number in 0..80 {
        let now = NOW + number * SECOND / 20;
        for request in 0..requests / 80 {
            let record = successful(now, now + 5_000_000 + request);
            tally.record_request(row, &RequestRecord { lag_ns: Some(lag_ns), ..record });
        }
        late_ns.iter().for_each(|late| tally.running_test().unwrap().record_timer_lag(now, *late));
    }
    let (all, _) = aggregated(vec![tally], NOW + 4 * SECOND);
    level_json(all.summary())["health"].clone()
}

#[test]
fn greenlets_that_wait_make_a_test_generator_limited() {
    assert_eq!(health(800, 1_000_000, None)["verdict"], "healthy");
    let late = health(800, 3_000_000, None);
    assert_eq!(late["verdict"], "generator-limited");
    assert_eq!(late["reasons"][0]["code"], "health.locust_late_and_idle");
}

#[test]
fn the_lag_of_a_timer_counts_where_there_are_few_requests() {
    assert_eq!(health(80, 0, Some(1_000_000))["verdict"], "healthy");
    assert_eq!(health(80, 0, Some(9_000_000))["verdict"], "generator-limited");
    assert_eq!(health(800, 0, Some(9_000_000))["verdict"], "healthy", "requests know better");
    assert_eq!(health(0, 0, Some(9_000_000))["verdict"], "healthy", "nobody waited for long");
    assert_eq!(health(0, 0, Some(150_000_000))["verdict"], "generator-limited");
}

#[test]
fn the_wait_for_a_core_that_other_processes_use_is_no_lag() {
    // A timer that rings 20 times a second, 9 ms late; all but 1 ms of it in the run run_queue.
    let verdict = |waited: Nanos| {
        let mut tally = started(false);
        let row = tally.row("GET", "/", false);
        for number in 0..80 {
            let now = NOW + number * SECOND / 20;
            tally.record_request(row, &successful(now - 5_000_000, now));
            let test = tally.test.as_mut().unwrap();
            test.run_queue.add_reading(now, number * waited);
            tally.running_test().unwrap().record_timer_lag(now, 9_000_000);
        }
        let (all, intervals) = aggregated(vec![tally], NOW + 4 * SECOND);
        let judged = intervals
            .iter()
            .map(|interval| interval["health"]["scheduling_lag_ms"][0].as_f64().unwrap());
        let health = &level_json(all.summary())["health"];
        (health["verdict"].clone(), health["late_intervals"].clone(), judged.fold(0.0, f64::max))
    };
    let (word, late, scheduling_lag_ms) = verdict(0);
    assert_eq!((word.as_str(), late.as_u64()), (Some("generator-limited"), Some(5)));
    assert!((scheduling_lag_ms - 9.0).abs() < 0.01);
    let (word, late, scheduling_lag_ms) = verdict(8_000_000);
    assert_eq!((word.as_str(), late.as_u64()), (Some("healthy"), Some(0)));
    assert!((scheduling_lag_ms - 1.0).abs() < 0.01);
}

#[test]
fn usage_is_distributed_over_all_intervals_that_are_closed_late() {
    let mut tally = started(false);
    let spin = net::process_cpu_ns();
    while net::process_cpu_ns() < spin + 30_000_000 {
        std::hint::black_box(0);
    }
    let report = tally.take_report(NOW + 4 * SECOND);
    let used: Vec<_> =
        report.intervals.iter().map(|interval| interval.report.usage.cpu_ns).collect();
    assert_eq!(used.len(), 4);
    // Two thirds of a second, and three whole ones; a third of one is still open.
    assert!(used[0] > 0 && used[1] > used[0] && used[1].abs_diff(used[3]) <= 1);
    assert!(report.intervals.iter().all(|interval| interval.report.phase == Phase::Measure));
}

#[test]
fn a_test_without_an_answer_has_a_failure() {
    let (all, _) = aggregated(vec![started(false)], NOW + SECOND);
    assert_eq!(all.summary().failure.as_ref().unwrap().code, "failure.no_end_in_test");
    let mut tally = started(false);
    let row = tally.row("GET", "/", false);
    let refused = RequestRecord { bytes_in: 0, ..failed(NOW, NOW + 10, Reason::ConnectRefused) };
    tally.record_request(row, &refused);
    let (all, _) = aggregated(vec![tally], NOW + SECOND);
    assert_eq!(all.summary().failure.as_ref().unwrap().code, "failure.no_answer_in_test");
}

#[test]
fn bytes_of_something_else_are_refused() {
    let mut tally = started(false);
    let row = tally.row("GET", "/", false);
    tally.record_request(row, &successful(NOW, NOW + 10));
    let bytes = tally.take_report(NOW + SECOND).to_bytes();
    let text = String::from_utf8(bytes).unwrap();
    let wrong = |text: &str| ProcessReport::from_bytes(text.as_bytes()).unwrap_err();
    assert!(wrong("{}").starts_with("its report cannot be read"));
    let version = env!("CARGO_PKG_VERSION");
    let other = text.replacen(&format!("\"torr\":\"{version}\""), "\"torr\":\"0.0.1\"", 1);
    assert!(wrong(&other).starts_with("it runs torr 0.0.1"));
    let other = text.replacen("\"version\":4", "\"version\":3", 1);
    let formats = wrong(&other);
    assert!(formats.contains("reports of format 3,") && formats.ends_with("of format 4"));
    let other = text.replacen("\"rows\":[0]", "\"rows\":[7]", 1);
    assert_ne!(other, text);
    assert!(wrong(&other).starts_with("its report names rows"));
}
