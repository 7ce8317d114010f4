//! The real driver against real servers: every fault ends in its class, and both sides agree.

#![allow(clippy::unwrap_used)] // A test that cannot start may panic.

mod streams;

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use engine::{
    Closed, Open, Pace, Plan, RequestPlan, Run, Source, StartError, Stop, Summary, Tally,
};
use targets::{Fault, FaultySpec, HelloSpec, Spec, Target};

const MS: u64 = 1_000_000;

/// However long a busy machine takes; where the target is silent, a test waits less.
const PATIENCE_NS: u64 = 10_000 * MS;

fn plan(url: &str, pace: Pace, stop: Stop) -> Plan {
    let timeout_ns = PATIENCE_NS;
    let request = RequestPlan { timeout_ns, ..RequestPlan::get(url) };
    let plan = Plan::new(pace, Source::One { request }, stop);
    Plan { retry_delay_ns: 10 * MS, workers: 2, seed: 7, ..plan }
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
    let limit = Instant::now() + Duration::from_secs(60);
    while !run.is_done() {
        let _ = run.next_slice(Duration::from_millis(50));
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

/// What the engine must say of a target all of whose answers have this fault.
fn expected(fault: Fault) -> &'static [&'static str] {
    match fault.name() {
        "reset_before" => &["read.reset"],
        "reset_in_head" => &["read.reset_in_head"],
        "reset_in_body" => &["read.reset_in_body"],
        "slow_loris" => &["timeout.head"],
        "closed_early" => &["read.closed_in_body"],
        "closed_in_head" => &["read.closed_in_head"],
        "closed_before" => &["read.closed"],
        "closed_on_reuse" => &["read.closed_on_reuse"],
        "length_too_long" => &["timeout.body"],
        "length_too_short" => &["protocol.extra_bytes"],
        "bad_length" | "two_lengths" => &["protocol.bad_content_length"],
        "bad_chunk" | "bad_chunk_end" => &["protocol.bad_chunk"],
        "garbage" => &["protocol.not_http"],
        "http2_only" => &["protocol.http2"],
        "huge_head" | "endless_head" => &["protocol.head_too_large", "timeout.head"],
        "endless_body" => &["timeout.body"],
        "status_503" => &["status.503"],
        "hang" => &["timeout.first_byte"],
        "no_accept" => &["timeout.connect"],
        _ => &[],
    }
}

/// Requests to a faulty target: few and with less patience where it says no more.
fn of_fault(target: &Target, fault: Fault, users: u32, requests: u64) -> Plan {
    if expected(fault).iter().any(|reason| reason.starts_with("timeout.")) {
        let mut plan = self::requests(&url(target), users, requests / 3);
        one(&mut plan).timeout_ns = 1000 * MS;
        return plan;
    }
    self::requests(&url(target), users, requests)
}

#[test]
fn each_fault_ends_in_its_class_and_the_target_agrees() {
    for fault in Fault::ALL {
        let target = faulty(*fault, 1.0);
        let plan = of_fault(&target, *fault, 4, 12);
        let summary = run(&plan);
        target.stop().unwrap();
        let (total, counts) = (balanced(&summary), target.counts());
        let name = fault.name();
        assert_eq!(Stop::Requests { requests: total.attempted }, plan.stop, "{name}");
        let mut reasons = total.all_reasons();
        // Where the close behind an answer comes late the next request meets it, and is not seen.
        let late = (name == "close_after").then(|| reasons.remove("read.closed_on_reuse"));
        let unseen = late.flatten().unwrap_or(0);
        let wanted = expected(*fault);
        let known = reasons.keys().all(|reason| wanted.contains(&reason.as_str()));
        assert!(known && (reasons.is_empty() == wanted.is_empty()), "{name}: {reasons:?}");
        if name == "no_accept" {
            assert_eq!(counts.requests, 0);
        } else {
            let seen = total.attempted - unseen;
            assert_eq!(counts.requests, seen, "{name}");
            let ok = if wanted.is_empty() { seen } else { counts.answered_ok(name) };
            assert_eq!(total.ok, ok, "{name}");
        }
    }
}

/// Answers that the client must have accepted although the target is faulty.
trait AnsweredOk {
    fn answered_ok(&self, fault: &str) -> u64;
}

impl AnsweredOk for targets::Counts {
    fn answered_ok(&self, fault: &str) -> u64 {
        if fault == "status_503" { 0 } else { self.answered }
    }
}

#[test]
fn a_share_of_faults_is_exactly_that_share() {
    for fault in Fault::ALL.iter().filter(|fault| !expected(**fault).is_empty()) {
        if ["no_accept", "closed_on_reuse"].contains(&fault.name()) {
            continue; // The first has no share, the second spares the first of each connection.
        }
        let target = faulty(*fault, 0.3);
        let plan = of_fault(&target, *fault, 8, 60);
        let summary = run(&plan);
        target.stop().unwrap();
        let (total, counts) = (balanced(&summary), target.counts());
        let faults: u64 = counts.faults.values().sum();
        assert_eq!(Stop::Requests { requests: total.attempted }, plan.stop, "{}", fault.name());
        assert_eq!(total.attempted - total.ok, faults, "{}", fault.name());
    }
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
    let mut plan =
        plan(&url(&target), Pace::Closed(Closed::new(8)), Stop::Duration { duration_ns: 300 * MS });
    plan.warmup_ns = 200 * MS;
    let summary = run(&plan);
    target.stop().unwrap();
    let warmup: u64 = summary.warmup.iter().map(|tally| tally.attempted).sum();
    let total = balanced(&summary);
    assert!(warmup > 0 && total.attempted > 0);
    assert_eq!(target.counts().requests, warmup + total.attempted);
}

#[test]
fn slices_count_from_the_start_of_a_window_whose_end_is_not_known() {
    let target = Target::start(Spec::Hello(HelloSpec::default())).unwrap();
    let open = Open::new(1000.0, 4);
    let mut plan = plan(&url(&target), Pace::Constant(open), Stop::Requests { requests: 300 });
    // A worker that a busy machine starts late has slices of the warm-up even so.
    (plan.warmup_ns, plan.slice_ns) = (1000 * MS, 50 * MS);
    let run = Run::start(&plan).unwrap();
    let mut starts = Vec::new();
    while !run.is_done() {
        if let Some(slice) = run.next_slice(Duration::from_millis(50)) {
            starts.push((slice["phase"] == "warmup", slice["t_s"].as_f64().unwrap()));
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
fn nobody_listens_is_refused_and_nothing_was_measured() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    drop(listener);
    let stop = Stop::Duration { duration_ns: 200 * MS };
    let summary = run(&plan(&url, Pace::Closed(Closed::new(2)), stop));
    let reasons = balanced(&summary).all_reasons();
    assert_eq!(reasons.keys().collect::<Vec<_>>(), ["connect.refused"]);
    assert!(summary.failure.is_some());
}

#[test]
fn a_target_that_never_answers_is_given_up() {
    let target = faulty(Fault::NoAccept, 1.0);
    let stop = Stop::Duration { duration_ns: 60_000 * MS };
    let started = Instant::now();
    let mut plan = plan(&url(&target), Pace::Closed(Closed::new(2)), stop);
    one(&mut plan).timeout_ns = 300 * MS;
    let summary = run(&plan);
    target.stop().unwrap();
    balanced(&summary);
    assert!(summary.failure.is_some_and(|text| text.contains("no byte of an answer")));
    assert!(started.elapsed() < Duration::from_secs(30));
}

#[test]
fn a_target_is_heard_even_when_every_user_waits_at_the_end_of_every_slice() {
    let spec = r#"{"kind":"delay","delay":{"kind":"constant","ns":30000000}}"#;
    let target = Target::start(serde_json::from_str(spec).unwrap()).unwrap();
    // Longer than the timeout and the second of grace after which silence is given up.
    let stop = Stop::Duration { duration_ns: 2500 * MS };
    let mut plan = plan(&url(&target), Pace::Closed(Closed::new(1)), stop);
    one(&mut plan).timeout_ns = 300 * MS;
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
fn summaries_of_the_parts_of_a_plan_merge_into_the_result_of_the_whole() {
    let target = Target::start(Spec::Hello(HelloSpec::default())).unwrap();
    let whole = requests(&url(&target), 8, 1001);
    let mut parts = whole.split(3).into_iter().map(|part| run(&part));
    let mut sum = parts.next().unwrap();
    for part in parts {
        let bytes = part.to_bytes();
        sum.merge(&Summary::from_bytes(&bytes).unwrap());
    }
    target.stop().unwrap();
    let total = balanced(&sum);
    assert_eq!((total.ok, target.counts().requests), (1001, 1001));
    assert_eq!(total.accepted.service.count(), 1001);
    assert_eq!(sum.concurrency, 8);
    let statuses = BTreeMap::from([(200, 1001)]);
    assert_eq!(total.statuses, statuses);
}

#[test]
fn a_name_with_an_address_where_nobody_listens_is_served_by_its_others() {
    let target = Target::start(Spec::Hello(HelloSpec::default())).unwrap();
    let dead = std::net::SocketAddr::new("::1".parse().unwrap(), target.addr().port());
    let plan = requests(&url(&target), 8, 100);
    let mut prepared = engine::prepare(&plan).unwrap();
    prepared.endpoints[0].addresses = vec![dead.into(), target.addr().into()];
    let (reports, inbox) = std::sync::mpsc::channel();
    let share = engine::Share {
        number: 0,
        plan,
        prepared: prepared.into(),
        gate: std::sync::Arc::new(engine::Gate::new(1)),
        reports,
        run_start: net::monotonic_ns(),
        socket_budget: 100,
        sources: net::SourceAddresses::default(),
    };
    engine::Worker::new(net::Epoll::new().unwrap(), share).run();
    target.stop().unwrap();
    let samples: Vec<_> = inbox.iter().flat_map(|report| report.samples).collect();
    assert_eq!(target.counts().requests, 100);
    assert_eq!(target.counts().connections, 8);
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
    let stop = Stop::Duration { duration_ns: 60_000 * MS };
    let mut plan = plan(&url(&target), Pace::Closed(Closed::new(4)), stop);
    plan.transport.source_addresses = vec!["127.0.0.9".parse().unwrap()];
    let started = Instant::now();
    let run = Run::start(&plan).unwrap();
    // Some slices of the window come before the stop: they know the window as it was planned.
    let mut slices = 0;
    while slices < 5 {
        let slice = run.next_slice(Duration::from_secs(60)).unwrap();
        slices += u32::from(slice["phase"] == "measure");
    }
    run.stop();
    while !run.is_done() {
        let _ = run.next_slice(Duration::from_millis(50));
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
