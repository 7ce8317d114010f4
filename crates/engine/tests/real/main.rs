//! The real driver against real servers: every fault ends in its class, and both sides agree.

#![allow(clippy::unwrap_used)] // A test that cannot start may panic.

mod at_once;
mod grpc;
mod http2;
mod streams;
mod tls;
mod websocket;

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use at_once::at_once;
use engine::{
    Closed, Open, Pace, Plan, RequestPlan, Run, Source, Stage, StartError, Stop, Summary, Tally,
};
use targets::{Fault, FaultVersion, FaultySpec, HelloSpec, Spec, Target};

const MS: u64 = 1_000_000;

/// However long a busy machine takes.
const PATIENCE_NS: u64 = 30_000 * MS;

/// What a silent target is given: enough to do its part on a busy machine.
const SILENCE_NS: u64 = 4_000 * MS;

fn plan(url: &str, pace: Pace, stop: Stop) -> Plan {
    let timeout_ns = PATIENCE_NS;
    let request = RequestPlan { timeout_ns, ..RequestPlan::get(url) };
    let plan = Plan::new(pace, Source::One { request }, stop);
    // What never ends does so by its timeout, not by the end of the load.
    let drain_ns = 2 * PATIENCE_NS;
    Plan { retry_delay_ns: 10 * MS, workers: 2, seed: 7, drain_ns, ..plan }
}

/// The one request of a plan.
fn one(plan: &mut Plan) -> &mut RequestPlan {
    match &mut plan.groups[0].source {
        Source::One { request } => request,
        _ => unreachable!("these plans have one request"),
    }
}

fn requests(url: &str, users: u32, requests: u64) -> Plan {
    plan(url, Pace::Closed(Closed::new(users)), Stop::Requests { requests })
}

fn run(plan: &Plan) -> Summary {
    let run = Run::start(plan).unwrap();
    let limit = Instant::now() + Duration::from_secs(120);
    while !run.is_done() {
        let _ = run.next_interval(Duration::from_millis(50));
        assert!(Instant::now() < limit, "the run does not end");
    }
    run.summary().unwrap()
}

fn balanced(summary: &Summary) -> Tally {
    let total = summary.total();
    assert_eq!(total.planned, total.attempted + total.dropped);
    assert_eq!(total.attempted, total.ended() + summary.in_flight);
    total
}

fn url(target: &Target) -> String {
    format!("http://{}/", target.addr())
}

fn faulty(fault: Fault, share: f64) -> Target {
    let host = "127.0.0.1".into();
    let spec = FaultySpec { host, port: 0, threads: 1, fault, share, seed: 1 };
    Target::start(Spec::Faulty(spec)).unwrap()
}

/// Why an exchange fails that meets this fault; none where it does not fail.
fn expected(fault: Fault) -> Option<&'static str> {
    let reason = match fault.name() {
        "reset_before" => "read.reset",
        "reset_in_head" => "read.reset_in_head",
        "reset_in_body" => "read.reset_in_body",
        "slow_loris" => "timeout.head",
        "closed_early" => "read.closed_in_body",
        "closed_in_head" => "read.closed_in_head",
        "closed_before" => "read.closed",
        "closed_on_reuse" => "read.closed_on_reuse",
        "length_too_long" | "endless_body" | "endless_line" => "timeout.body",
        "length_too_short" => "protocol.extra_bytes",
        "bad_length" | "two_lengths" => "protocol.bad_content_length",
        "bad_chunk" | "bad_chunk_end" => "protocol.bad_chunk",
        "garbage" => "protocol.not_http",
        "http2_only" => "protocol.http2",
        "huge_head" | "endless_head" => "protocol.head_too_large",
        "status_503" => "status.503",
        "slow_head" => "timeout.head",
        "endless_interim" => "protocol.too_many_interim",
        "hang" => "timeout.first_byte",
        "no_accept" => "timeout.connect",
        _ => return None,
    };
    Some(reason)
}

/// Whether only a timeout ends an exchange that meets this fault.
fn is_silent(fault: Fault) -> bool {
    expected(fault).is_some_and(|reason| reason.starts_with("timeout."))
}

/// The faults of HTTP/1.1 of which that is true, each with its name.
fn faults(choice: impl Fn(Fault) -> bool) -> impl Iterator<Item = (String, Fault)> {
    let is_chosen = move |fault: &Fault| fault.version() == FaultVersion::Http1 && choice(*fault);
    let chosen = Fault::ALL.iter().copied().filter(is_chosen);
    chosen.map(|fault| (fault.name().to_owned(), fault))
}

#[test]
fn each_fault_that_is_not_silent_ends_in_its_class_and_the_target_agrees() {
    at_once(faults(|fault| !is_silent(fault)), |fault| {
        let target = faulty(fault, 1.0);
        let summary = run(&requests(&url(&target), 4, 12));
        target.stop().unwrap();
        let (total, counts) = (balanced(&summary), target.counts());
        assert_eq!(total.attempted, 12);
        let mut reasons = total.all_reasons();
        // Where the close behind a response comes late the next request meets it, and is not seen.
        let late = (fault == Fault::CloseAfter).then(|| reasons.remove("read.closed_on_reuse"));
        let seen = 12 - late.flatten().unwrap_or(0);
        assert_eq!(Vec::from_iter(reasons.into_keys()), Vec::from_iter(expected(fault)));
        let ok = match fault {
            Fault::Status503 => 0,
            _ if expected(fault).is_none() => seen,
            _ => counts.answered,
        };
        assert_eq!((counts.requests, total.ok), (seen, ok));
    });
}

#[test]
fn each_silent_fault_ends_by_its_timeout_beside_requests_that_are_answered() {
    at_once(faults(is_silent), |fault| {
        let healthy = Target::start(Spec::Hello(HelloSpec::default())).unwrap();
        let silent = faulty(fault, 1.0);
        // One timeout for all: each user ends with a request to the silent target.
        let mut plan = requests(&url(&healthy), 12, 24);
        plan.workers = 1;
        let answered = one(&mut plan).clone();
        let unanswered = RequestPlan { timeout_ns: SILENCE_NS, ..RequestPlan::get(&url(&silent)) };
        plan.groups[0].source = Source::Turn { requests: vec![answered, unanswered] };
        let summary = run(&plan);
        healthy.stop().unwrap();
        silent.stop().unwrap();
        let total = balanced(&summary);
        assert_eq!((total.attempted, total.ok, healthy.counts().answered), (24, 12, 12));
        let reason = expected(fault).unwrap().to_owned();
        assert_eq!(total.all_reasons(), BTreeMap::from([(reason, 12)]));
        let seen = if fault == Fault::NoAccept { 0 } else { 12 };
        assert_eq!(silent.counts().requests, seen);
    });
}

#[test]
fn exactly_the_requests_that_met_a_fault_have_failed() {
    // Of closed_on_reuse the first request of each connection is spared.
    let is_shared =
        |fault| expected(fault).is_some() && !is_silent(fault) && fault != Fault::ClosedOnReuse;
    at_once(faults(is_shared), |fault| {
        let target = faulty(fault, 0.3);
        let summary = run(&requests(&url(&target), 8, 60));
        target.stop().unwrap();
        let (total, counts) = (balanced(&summary), target.counts());
        let met: u64 = counts.faults.values().sum();
        assert!(0 < met && met < 60, "{met} of 60");
        assert_eq!((total.attempted, total.ok), (60, 60 - met));
    });
}

#[test]
fn a_healthy_target_agrees_to_the_last_request() {
    for host in ["127.0.0.1", "::1"] {
        let spec = HelloSpec { host: host.into(), ..HelloSpec::default() };
        let target = Target::start(Spec::Hello(spec)).unwrap();
        let summary = run(&requests(&url(&target), 16, 5000));
        let total = balanced(&summary);
        target.stop().unwrap();
        let counts = target.counts();
        assert_eq!((total.ok, counts.requests, counts.answered), (5000, 5000, 5000));
        assert_eq!(counts.connections, 16);
        assert_eq!(total.bytes_in, counts.bytes_out);
    }
}

#[test]
fn warm_up_and_window_together_are_what_the_target_saw() {
    let target = Target::start(Spec::Hello(HelloSpec::default())).unwrap();
    let mut plan = requests(&url(&target), 8, 1000);
    plan.warmup_ns = 200 * MS;
    let summary = run(&plan);
    target.stop().unwrap();
    let warmup: u64 = summary.warmup.iter().map(|tally| tally.attempted).sum();
    let total = balanced(&summary);
    assert!(warmup > 0);
    assert_eq!(total.attempted, 1000);
    assert_eq!(target.counts().requests, warmup + 1000);
}

#[test]
fn intervals_count_from_the_start_of_a_window_whose_end_is_not_known() {
    let target = Target::start(Spec::Hello(HelloSpec::default())).unwrap();
    let open = Open::new(1000.0, 4);
    let mut plan = plan(&url(&target), Pace::Constant(open), Stop::Requests { requests: 300 });
    (plan.warmup_ns, plan.interval_ns) = (200 * MS, 50 * MS);
    let run = Run::start(&plan).unwrap();
    let limit = Instant::now() + Duration::from_secs(120);
    let mut starts = Vec::new();
    while !run.is_done() && Instant::now() < limit {
        if let Some(interval) = run.next_interval(Duration::from_millis(50)) {
            starts.push((interval["phase"] == "warmup", interval["t_s"].as_f64().unwrap()));
        }
    }
    target.stop().unwrap();
    let first = starts.iter().position(|(is_warmup, _)| !is_warmup).unwrap();
    assert!(first > 0 && starts[..first].iter().all(|(_, at)| *at < 0.0), "{starts:?}");
    assert_eq!(starts[first].1, 0.0);
    assert!(starts[first..].is_sorted() && starts[starts.len() - 1].1 < 60.0, "{starts:?}");
}

#[test]
fn an_open_load_sends_what_was_planned() {
    let target = Target::start(Spec::Hello(HelloSpec::default())).unwrap();
    let open = Open::new(2000.0, 16);
    let stop = Stop::Duration { duration_ns: 500 * MS };
    let summary = run(&plan(&url(&target), Pace::Constant(open), stop));
    target.stop().unwrap();
    let total = balanced(&summary);
    assert_eq!((total.planned, total.ok, target.counts().requests), (1000, 1000, 1000));
}

#[test]
fn without_a_listener_connections_are_refused_and_nothing_is_measured() {
    // With an address of its own, no other process takes the port.
    let listener = std::net::TcpListener::bind("127.0.0.83:0").unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    drop(listener);
    let summary = run(&requests(&url, 2, 20));
    let reasons = balanced(&summary).all_reasons();
    assert_eq!(reasons, BTreeMap::from([("connect.refused".to_owned(), 20)]));
    assert_eq!(summary.failure.unwrap().code, "failure.no_answer");
}

#[test]
fn a_target_that_never_answers_is_given_up() {
    let target = faulty(Fault::NoAccept, 1.0);
    // Longer than a test waits.
    let stop = Stop::Duration { duration_ns: 3_600_000 * MS };
    let mut plan = plan(&url(&target), Pace::Closed(Closed::new(2)), stop);
    one(&mut plan).timeout_ns = 50 * MS;
    let summary = run(&plan);
    target.stop().unwrap();
    balanced(&summary);
    assert_eq!(summary.failure.unwrap().code, "failure.no_answer_in_time");
}

#[test]
fn a_load_that_begins_late_is_not_given_up_before_its_first_request() {
    let target = Target::start(Spec::Hello(HelloSpec::default())).unwrap();
    let stage = |duration_ns, target| Stage { duration_ns, target };
    // Nothing is due for longer than the timeout and the second of grace.
    let stages = vec![stage(3500 * MS, 0.0), stage(0, 20.0), stage(200 * MS, 20.0)];
    let users = Closed { stages: stages.clone(), ..Closed::new(20) };
    let rate = Open { stages, ..Open::new(20.0, 4) };
    let for_3700_ms = Stop::Duration { duration_ns: 3700 * MS };
    let one_request = Stop::Requests { requests: 1 };
    at_once(
        [
            ("users", Pace::Closed(users), for_3700_ms.clone()),
            ("rate", Pace::Constant(rate.clone()), for_3700_ms.clone()),
            ("poisson", Pace::Poisson(rate), for_3700_ms),
            // With the seed of these plans the first request is due after 3.5 s.
            ("slow poisson", Pace::Poisson(Open::new(0.9, 4)), one_request),
        ]
        .map(|(name, pace, stop)| (name.to_owned(), (pace, stop))),
        |(pace, stop)| {
            let mut plan = plan(&url(&target), pace, stop);
            one(&mut plan).timeout_ns = 2000 * MS;
            plan.interval_ns = 100 * MS;
            let summary = run(&plan);
            assert_eq!(summary.failure, None);
            assert!(summary.total().ok > 0);
        },
    );
    target.stop().unwrap();
}

#[test]
fn a_target_is_heard_even_when_every_user_waits_at_the_end_of_every_interval() {
    let spec = r#"{"kind":"delay","delay":{"kind":"constant","ns":30000000}}"#;
    let target = Target::start(serde_json::from_str(spec).unwrap()).unwrap();
    // Longer than the timeout and the second of grace after which silence is given up.
    let stop = Stop::Duration { duration_ns: 3000 * MS };
    let mut plan = plan(&url(&target), Pace::Closed(Closed::new(1)), stop);
    one(&mut plan).timeout_ns = 1500 * MS;
    let summary = run(&plan);
    target.stop().unwrap();
    balanced(&summary);
    assert_eq!(summary.failure, None);
}

#[test]
fn bodies_of_every_size_arrive_whole_chunked_or_not() {
    for (size, chunked) in
        [(0, false), (1, true), (300_000, false), (300_000, true), (5_000_000, false)]
    {
        let spec = targets::BytesSpec { size, chunked, ..targets::BytesSpec::default() };
        let target = Target::start(Spec::Bytes(spec)).unwrap();
        let summary = run(&requests(&url(&target), 4, 40));
        target.stop().unwrap();
        let total = balanced(&summary);
        assert_eq!(total.ok, 40, "{size} {chunked}: {:?}", total.all_reasons());
        assert_eq!(total.bytes_in, target.counts().bytes_out, "{size} {chunked}");
        assert_eq!(target.counts().connections, 4, "connections are kept");
    }
}

#[test]
fn one_request_alone_keeps_no_more_than_it_may_and_ends_by_its_timeout() {
    let spec = targets::BytesSpec { size: 64 << 20, ..targets::BytesSpec::default() };
    let large = Target::start(Spec::Bytes(spec)).unwrap();
    let outcome = engine::once(&requests(&url(&large), 1, 1)).unwrap();
    large.stop().unwrap();
    assert_eq!(outcome["reason"], "read.too_large");
    assert!(outcome["body"].as_str().unwrap().len() < 24 << 20);
    // Bytes come all the time.
    let endless = faulty(Fault::EndlessBody, 1.0);
    let mut plan = requests(&url(&endless), 1, 1);
    one(&mut plan).timeout_ns = 2000 * MS;
    let outcome = engine::once(&plan).unwrap();
    endless.stop().unwrap();
    assert_eq!(outcome["reason"], "timeout.body");
}

#[test]
fn a_body_that_grows_when_it_is_decompressed_is_too_large_for_a_check() {
    let target = faulty(Fault::GzipBomb, 1.0);
    let mut plan = requests(&url(&target), 2, 4);
    one(&mut plan).compressed = true;
    one(&mut plan).expect_body = vec![engine::BodyCheck::Text { text: "a".into() }];
    let summary = run(&plan);
    target.stop().unwrap();
    let total = balanced(&summary);
    assert_eq!(Vec::from_iter(total.all_reasons()), [("check.too_large".to_owned(), 4)]);
    // What came over the wire was small.
    assert!(total.bytes_in < 4 * 64 * 1024, "{}", total.bytes_in);
}

#[test]
fn a_request_with_a_large_body_goes_out_whole() {
    let target = Target::start(Spec::Hello(HelloSpec::default())).unwrap();
    let mut plan = requests(&url(&target), 4, 20);
    let Source::One { request } = &mut plan.groups[0].source else { unreachable!() };
    request.method = "POST".into();
    request.body = Some("QUJD".repeat(1 << 20));
    let summary = run(&plan);
    target.stop().unwrap();
    let total = balanced(&summary);
    assert_eq!((total.ok, target.counts().requests), (20, 20));
    assert!(total.bytes_out > 20 * 3 * (1 << 20));
}

#[test]
fn the_parts_of_a_plan_are_together_the_whole() {
    let target = Target::start(Spec::Hello(HelloSpec::default())).unwrap();
    let whole = requests(&url(&target), 8, 1001);
    let (mut total, mut concurrency) = (Tally::default(), 0);
    for part in whole.split(3) {
        let summary = run(&part);
        total.merge(&balanced(&summary));
        concurrency += summary.concurrency;
    }
    target.stop().unwrap();
    assert_eq!((total.ok, target.counts().requests), (1001, 1001));
    assert_eq!(total.accepted.service.count(), 1001);
    assert_eq!(concurrency, 8);
    let statuses = BTreeMap::from([(200, 1001)]);
    assert_eq!(total.statuses, statuses);
}

#[test]
fn a_name_with_an_address_without_a_listener_uses_its_others() {
    for keepalive in [true, false] {
        reach_one_of_two_addresses(keepalive);
    }
}

fn reach_one_of_two_addresses(keepalive: bool) {
    let target = Target::start(Spec::Hello(HelloSpec::default())).unwrap();
    let dead = std::net::SocketAddr::new("::1".parse().unwrap(), target.addr().port());
    let mut plan = requests(&url(&target), 8, 100);
    plan.transport.keepalive = keepalive;
    let mut prepared = engine::prepare(&plan).unwrap();
    prepared.endpoints[0].addresses = vec![dead.into(), target.addr().into()];
    let (reports, inbox) = std::sync::mpsc::channel();
    let share = engine::WorkerShare {
        number: 0,
        plan,
        prepared: prepared.into(),
        gate: std::sync::Arc::new(engine::Gate::new(1)),
        reports,
        run_start: net::monotonic_ns(),
        socket_budget: 100,
        sources: net::SourceAddresses::default(),
        rows: None,
    };
    engine::Worker::new(net::Epoll::new().unwrap(), share).run();
    target.stop().unwrap();
    let reports: Vec<_> = inbox.iter().collect();
    let ok: u64 = reports.iter().flat_map(|report| &*report.tallies).map(|tally| tally.ok).sum();
    let samples: Vec<_> = reports.into_iter().flat_map(|report| report.samples).collect();
    assert_eq!((target.counts().requests, ok), (100, 100));
    assert_eq!(target.counts().connections, if keepalive { 8 } else { 100 });
    assert!(samples.iter().all(|sample| sample.detail.contains("[::1]")), "{samples:?}");
    assert!(!samples.is_empty(), "the dead address is told");
}

#[test]
fn users_of_a_pool_are_counted_apart_from_their_connections() {
    let target = Target::start(Spec::Hello(HelloSpec::default())).unwrap();
    let closed = Closed { pool: Some(4), ..Closed::new(40) };
    let stop = Stop::Requests { requests: 400 };
    let summary = run(&plan(&url(&target), Pace::Closed(closed), stop));
    let seen = target.counts();
    target.stop().unwrap();
    let total = balanced(&summary);
    assert_eq!((total.ok, seen.requests, seen.connections), (400, 400, 4));
    assert_eq!((summary.concurrency, summary.connections.asked), (40, 4));
    assert_eq!(summary.connections.open_max, 4);
}

#[test]
fn a_window_that_is_stopped_is_as_long_as_it_was() {
    let target = Target::start(Spec::Hello(HelloSpec::default())).unwrap();
    let stop = Stop::Duration { duration_ns: 3_600_000 * MS };
    let mut plan = plan(&url(&target), Pace::Closed(Closed::new(4)), stop);
    plan.transport.source_addresses = vec!["127.0.0.9".parse().unwrap()];
    let started = Instant::now();
    let run = Run::start(&plan).unwrap();
    // Some intervals of the window come before the stop: they know the window as it was planned.
    let mut intervals = 0;
    while intervals < 5 {
        let interval = run.next_interval(Duration::from_secs(60)).unwrap();
        intervals += u32::from(interval["phase"] == "measure");
    }
    run.stop();
    while !run.is_done() {
        let _ = run.next_interval(Duration::from_millis(50));
    }
    let summary = run.summary().unwrap();
    target.stop().unwrap();
    balanced(&summary);
    assert!(summary.interrupted);
    assert!(summary.window_ns > 300 * MS, "{}", summary.window_ns);
    assert!(summary.window_ns <= started.elapsed().as_nanos() as u64, "{}", summary.window_ns);
}

#[test]
fn an_address_of_another_machine_is_refused_before_any_load() {
    let mut plan = requests("http://127.0.0.1:9/", 1, 1);
    plan.transport.source_addresses = vec!["192.0.2.1".parse().unwrap()];
    let Err(StartError::Plan(error)) = Run::start(&plan) else { unreachable!("it is not ours") };
    assert!(error.starts_with("source address 192.0.2.1: "), "{error}");
}
