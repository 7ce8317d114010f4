//! Which signs lead to which verdict, and with which words.

use super::*;

fn vitals(cpu: f64, queue: f64) -> Vitals {
    Vitals {
        worker_cpu_rate: vec![cpu],
        run_queue_rate: vec![queue],
        is_local: true,
        ..Vitals::default()
    }
}

fn late(p99: Nanos, response: Nanos, cpu: f64) -> Vitals {
    Vitals { lags: vec![Some(Lag { p99, response })], ..vitals(cpu, 0.0) }
}

fn word(intervals: &[Vitals]) -> &'static str {
    let mut health = Health::default();
    intervals.iter().for_each(|vitals| health.add_interval(vitals));
    judge(&health, &Evidence::default()).word
}

#[test]
fn each_condition_leads_to_its_verdict() {
    let full_target = |rate| Some(rate);
    let table = [
        (vitals(60.0, 1.0), "healthy"),
        (vitals(94.0, 0.5), "healthy"),
        (vitals(90.0, 5.0), "generator-limited"),
        (vitals(96.0, 0.0), "generator-limited"),
        (vitals(80.0, 20.0), "contended"),
        (vitals(90.0, 10.0), "contended"),
        (Vitals { target_cpu_rate: full_target(99.0), ..vitals(99.0, 0.0) }, "contended"),
        (Vitals { target_cpu_rate: full_target(99.0), ..vitals(94.0, 1.0) }, "contended"),
        (Vitals { target_cpu_rate: full_target(99.0), ..vitals(50.0, 0.0) }, "healthy"),
        (Vitals { target_cpu_rate: full_target(50.0), ..vitals(99.0, 0.0) }, "generator-limited"),
        (Vitals { is_local: false, ..vitals(80.0, 20.0) }, "generator-limited"),
        (Vitals { is_local: false, ..vitals(50.0, 20.0) }, "healthy"),
        (Vitals { steal_rate: 6.0, ..vitals(50.0, 0.0) }, "contended"),
        (Vitals { throttled: true, ..vitals(50.0, 0.0) }, "contended"),
        (late(2_000_000, 0, 50.0), "healthy"),
        (late(2_100_000, 5_000_000, 50.0), "generator-limited"),
        (late(2_100_000, 50_000_000, 50.0), "healthy"),
    ];
    for (vitals, expected) in table {
        assert_eq!(word(&[vitals.clone(), vitals.clone()]), expected, "{vitals:?}");
    }
}

#[test]
fn a_reason_repeats_nothing_that_its_word_says() {
    let mut health = Health::default();
    for _ in 0..2 {
        health.add_interval(&Vitals { steal_rate: 6.0, ..vitals(50.0, 20.0) });
    }
    let verdict = judge(&health, &Evidence::default());
    assert_eq!(verdict.word, "contended");
    let codes: Vec<_> = verdict.reasons.iter().map(|reason| reason.code.as_str()).collect();
    assert_eq!(codes, ["health.run_queue", "health.steal"]);
}

#[test]
fn lateness_on_an_idle_core_has_another_hint_than_more_cores() {
    let reason = |intervals: &[Vitals]| {
        let mut health = Health::default();
        intervals.iter().for_each(|vitals| health.add_interval(vitals));
        let evidence = Evidence { front: Front::Locust, ..Evidence::default() };
        judge(&health, &evidence).reasons.remove(0)
    };
    let (busy, idle) = (late(9_000_000, 0, 80.0), late(9_000_000, 0, 2.0));
    let (mostly_busy, mostly_idle) =
        ([busy.clone(), busy.clone(), idle.clone()], [busy, idle.clone(), idle]);
    assert_eq!(reason(&mostly_busy).code, "health.locust_late");
    assert_eq!(reason(&mostly_idle).code, "health.locust_late_and_idle");
    let half_busy = late(9_000_000, 0, 50.0);
    assert_eq!(reason(&[half_busy.clone(), half_busy]).code, "health.locust_late");
}

#[test]
fn what_was_judged_can_be_looked_up() {
    let mut health = Health::default();
    assert_eq!((health.intervals(), health.late_intervals(), health.lag_ns()), (0, 0, None));
    for number in 1..=10 {
        let lags = [Lag { p99: 1_000, response: 0 }, Lag { p99: number << 20, response: 0 }];
        let rates = vec![5.0; 2];
        let lags = lags.map(Some).to_vec();
        health.add_interval(&Vitals {
            lags,
            worker_cpu_rate: rates.clone(),
            run_queue_rate: rates,
            ..Vitals::default()
        });
    }
    assert_eq!((health.intervals(), health.late_intervals()), (10, 9));
    assert_eq!(health.lag_ns().map(|lag| lag >> 20), Some(8));
}

#[test]
fn the_usage_of_the_target_is_the_mean_where_it_is_known() {
    let mut health = Health::default();
    assert_eq!(health.target_cpu_rate(), None);
    for target_cpu_rate in [Some(20.0), None, Some(50.0)] {
        health.add_interval(&Vitals { target_cpu_rate, ..vitals(5.0, 0.0) });
    }
    assert_eq!(health.target_cpu_rate(), Some(35.0));
}

#[test]
fn one_bad_interval_or_less_than_a_fifth_of_them_is_not_enough() {
    let (bad, good) = (vitals(99.0, 0.0), vitals(10.0, 0.0));
    assert_eq!(word(std::slice::from_ref(&bad)), "healthy");
    let intervals =
        |bad_ones: usize| [vec![bad.clone(); bad_ones], vec![good.clone(); 20 - bad_ones]].concat();
    assert_eq!(word(&intervals(3)), "healthy");
    assert_eq!(word(&intervals(4)), "generator-limited");
}

#[test]
fn missing_connections_are_blamed_on_the_machine_only_if_it_refused_them() {
    let mut connections = Connections { asked: 1000, open_max: 900, ..Connections::default() };
    let judge =
        |connections| judge(&Health::default(), &Evidence { connections, ..Evidence::default() });
    assert_eq!(judge(connections).word, "healthy");
    connections.local.no_descriptor = 5;
    assert_eq!(judge(connections).word, "healthy", "none is known to lack one");
    connections.short_max = 10;
    assert_eq!(judge(connections).word, "healthy", "the target closed the others");
    connections.short_max = 100;
    let verdict = judge(connections);
    assert_eq!(verdict.word, "generator-limited");
    assert!(verdict.reasons[0].text.contains("only 900 of 1,000 connections"));
    assert_eq!(verdict.reasons[0].values["cause"]["code"], "health.no_descriptor");
    connections.open_max = 990;
    assert_eq!(judge(connections).word, "healthy");
}

#[test]
fn a_load_of_which_a_process_is_missing_claims_nothing() {
    let verdict = judge(&Health::default(), &Evidence { lost: 1, ..Evidence::default() });
    assert_eq!(verdict.word, "generator-limited");
    assert_eq!(verdict.reasons[0].code, "health.process_lost");
}

#[test]
fn requests_that_started_too_late_for_the_window_limit_the_level() {
    let late = |on_time| {
        judge(
            &Health::default(),
            &Evidence { on_time: Some((1000, on_time)), ..Evidence::default() },
        )
        .word
    };
    assert_eq!((late(990), late(989)), ("healthy", "generator-limited"));
}

#[test]
fn the_worst_machine_decides() {
    let health = |intervals: &[Vitals]| {
        let mut health = Health::default();
        intervals.iter().for_each(|vitals| health.add_interval(vitals));
        health
    };
    let (bad, good) = (late(9_000_000, 0, 80.0), vitals(10.0, 0.0));
    let well = health(&vec![good.clone(); 20]);
    let ill = health(&[vec![bad.clone(); 4], vec![good.clone(); 16]].concat());
    let machines = Machines(vec![("a", &well), ("b", &ill)]);
    let verdict = judge(machines.clone(), &Evidence::default());
    assert_eq!(verdict.word, "generator-limited");
    assert_eq!(verdict.reasons[0].code, "health.on_nodes");
    assert_eq!(verdict.reasons[0].values["reason"]["code"], "health.late");
    assert!(verdict.reasons[0].text.starts_with("on b: "));
    assert_eq!(machines.late_intervals(), 4);
    let many = ["a", "b", "c", "d", "e"].map(|name| (name, &ill));
    let verdict = judge(Machines(many.to_vec()), &Evidence::default());
    assert!(verdict.reasons[0].text.starts_with("on a, b, c and 2 more nodes: "));
    // Ten machines, of which another one is late in each interval, are not always late.
    let late_once = |at: usize| {
        let mut intervals = vec![good.clone(); 10];
        intervals[at] = bad.clone();
        health(&intervals)
    };
    let healths: Vec<Health> = (0..10).map(late_once).collect();
    let machines = Machines(healths.iter().map(|health| ("a", health)).collect());
    assert_eq!(judge(machines, &Evidence::default()).word, "healthy");
}

#[test]
fn the_numbers_of_several_machines_are_the_highest() {
    let mut healths = [Health::default(), Health::default()];
    for _ in 0..5 {
        let (quiet, loud) = (vitals(10.0, 0.0), late(3_000_000, 0, 10.0));
        healths[0].add_interval(&Vitals { target_cpu_rate: Some(40.0), ..quiet });
        healths[1].add_interval(&Vitals { steal_rate: 7.0, ..loud });
    }
    let machines = Machines(healths.iter().map(|health| ("a", health)).collect());
    assert_eq!((machines.intervals(), machines.late_intervals()), (5, 5));
    assert_eq!(machines.target_cpu_rate(), Some(40.0));
    assert!((machines.steal_rate() - 7.0).abs() < 1e-9);
    assert_eq!(machines.lag_ns().map(|lag| lag >> 20), Some(2));
}
