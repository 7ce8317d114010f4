//! HTTP/2 on real sockets: every fault of a server ends in its class, and both sides agree.

use std::collections::BTreeMap;

use engine::{HttpVersion, Plan, RequestPlan, Source};
use targets::{BytesSpec, Delay, DelaySpec, Fault, FaultVersion, HelloSpec, Spec, Target};

use crate::at_once::at_once;
use crate::{MS, SILENCE_NS, balanced, faulty, one, requests, run, url};

/// A load with prior knowledge, of so many exchanges at once on each connection.
fn multiplexed(url: &str, users: u32, streams: u16, count: u64) -> Plan {
    let mut plan = requests(url, users, count);
    (plan.transport.http, plan.transport.streams) = (HttpVersion::TwoPlain, streams);
    plan
}

/// Why an exchange fails that meets this fault; none where it does not fail.
fn expected(fault: Fault) -> Option<&'static str> {
    let reason = match fault.name() {
        "h2_refused" => "read.unprocessed",
        "h2_reset" => "read.stream_reset.internal_error",
        "h2_cancel" | "h2_reset_flood" => "read.stream_reset.cancel",
        "h2_goaway_error" => "read.goaway",
        "h2_closed" => "read.closed_in_body",
        "h2_hang" => "timeout.first_byte",
        "h2_zero_window" => "timeout.write",
        "h2_half_body" => "protocol.bad_content_length",
        "h2_bad_head" => "protocol.h2_compression",
        "h2_head_bomb" => "protocol.head_too_large",
        "h2_continuations" | "h2_pings" | "h2_settings" => "protocol.h2_flood",
        "h2_resets" | "h2_push" | "h2_bad_frame" => "protocol.h2_frame",
        "h2_overflow" => "protocol.h2_flow_control",
        _ => return None,
    };
    Some(reason)
}

/// Whether only a timeout ends an exchange that meets this fault.
fn is_silent(fault: Fault) -> bool {
    expected(fault).is_some_and(|reason| reason.starts_with("timeout."))
}

fn faults() -> impl Iterator<Item = (String, Fault)> {
    let chosen = Fault::ALL.iter().copied().filter(|fault| fault.version() == FaultVersion::Http2);
    chosen.map(|fault| (fault.name().to_owned(), fault))
}

/// The request with a body of 75,000 bytes, which is more than a window has that was not enlarged.
fn with_body(request: &RequestPlan) -> RequestPlan {
    let (method, body) = ("POST".to_owned(), Some("aGVs".repeat(25_000)));
    RequestPlan { method, body, ..request.clone() }
}

#[test]
fn each_fault_ends_in_its_class_and_the_target_agrees() {
    at_once(faults(), |fault| {
        let healthy = Target::start(Spec::Hello(HelloSpec::default())).unwrap();
        let target = faulty(fault, 1.0);
        // Each user ends with a request to the faulty target: one timeout for all.
        let mut plan = multiplexed(&url(&healthy), 6, 1, 12);
        plan.workers = 1;
        let answered = with_body(one(&mut plan));
        let timeout_ns = if is_silent(fault) { SILENCE_NS } else { answered.timeout_ns };
        let broken = RequestPlan { timeout_ns, ..with_body(&RequestPlan::get(&url(&target))) };
        plan.groups[0].source = Source::Turn { requests: vec![answered, broken] };
        let summary = run(&plan);
        healthy.stop().unwrap();
        target.stop().unwrap();
        let (total, counts) = (balanced(&summary), target.counts());
        assert_eq!((total.attempted, healthy.counts().answered), (12, 6));
        let failed = expected(fault).map(|reason| (reason.to_owned(), 6));
        assert_eq!(total.all_reasons(), BTreeMap::from_iter(failed));
        assert_eq!(total.ok, 6 + counts.answered);
        // A refused request is sent three times more.
        assert_eq!(total.resent, if fault == Fault::H2Refused { 18 } else { 0 });
        let read = if fault == Fault::H2ZeroWindow { 0 } else { 6 + total.resent };
        assert_eq!((counts.requests, counts.faults[fault.name()]), (read, 6 + total.resent));
    });
}

#[test]
fn with_many_streams_the_answered_are_those_that_the_target_answered() {
    at_once(faults(), |fault| {
        let target = faulty(fault, 0.1);
        let mut plan = multiplexed(&url(&target), 24, 8, 100);
        let request = one(&mut plan);
        *request = with_body(request);
        if is_silent(fault) {
            request.timeout_ns = SILENCE_NS;
        }
        let summary = run(&plan);
        target.stop().unwrap();
        let (total, counts) = (balanced(&summary), target.counts());
        assert_eq!((total.attempted, &summary.failure), (100, &None));
        let reasons = total.all_reasons();
        // A response may come after its timeout.
        let late = counts.answered - total.ok;
        let timeouts = reasons.iter().filter(|(reason, _)| reason.starts_with("timeout."));
        assert!(late <= timeouts.map(|(_, count)| count).sum(), "{late}: {reasons:?}");
        assert!(counts.requests <= total.attempted + total.resent);
        if expected(fault).is_none() {
            // A request can meet one end of a connection after the other.
            let unprocessed = reasons.get("read.unprocessed").copied().unwrap_or(0);
            assert_eq!((total.ok, counts.requests), (100 - unprocessed, 100 - unprocessed));
        }
    });
}

#[test]
fn a_healthy_target_agrees_to_the_last_request() {
    let target = Target::start(Spec::Hello(HelloSpec::default())).unwrap();
    let summary = run(&multiplexed(&url(&target), 40, 10, 5000));
    let total = balanced(&summary);
    target.stop().unwrap();
    let counts = target.counts();
    assert_eq!((total.ok, counts.requests, counts.answered), (5000, 5000, 5000));
    assert_eq!((counts.connections, summary.connections.asked), (4, 4));
}

#[test]
fn bodies_larger_than_every_window_arrive_whole() {
    const SIZE: u64 = 3_000_000;
    let spec = BytesSpec { size: SIZE, ..BytesSpec::default() };
    let target = Target::start(Spec::Bytes(spec)).unwrap();
    let summary = run(&multiplexed(&url(&target), 8, 4, 40));
    let total = balanced(&summary);
    target.stop().unwrap();
    assert_eq!((total.ok, target.counts().answered), (40, 40));
    assert!(total.bytes_in >= 40 * SIZE, "{}", total.bytes_in);
}

#[test]
fn a_limit_of_the_server_is_time_spent_waiting_for_a_stream_not_service_time() {
    // hyper allows 200 streams; the other 100 users wait for the first 200 responses.
    let spec = r#"{"delay":{"kind":"constant","ns":50000000}}"#;
    let spec: DelaySpec = serde_json::from_str(spec).unwrap();
    assert_eq!(spec.delay, Delay::Constant { ns: 50 * MS });
    let target = Target::start(Spec::Delay(spec)).unwrap();
    let summary = run(&multiplexed(&url(&target), 300, 300, 300));
    let total = balanced(&summary);
    target.stop().unwrap();
    assert_eq!((total.ok, target.counts().answered), (300, 300));
    assert_eq!(summary.connections.asked, 1);
    let longest = total.accepted.stream_wait.quantile(1.0);
    assert!(longest >= 50 * MS, "{longest}");
    let (service, wait) = (total.accepted.service.mean(), total.accepted.stream_wait.mean());
    let response = total.accepted.response.mean();
    assert!(service + wait <= response + 1.0, "{service} + {wait} > {response}");
}
