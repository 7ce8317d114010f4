//! gRPC on real sockets: the target has as many calls as torr counts, and every fault ends in its class.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use engine::{GrpcPlan, HttpVersion, Plan, RequestPlan, Sending, Source, StreamPlan};
use targets::{Fault, FaultVersion, GrpcSpec, Spec, Target};
use wire::Dialect;

use crate::at_once::at_once;
use crate::{MS, SILENCE_NS, balanced, faulty, one, requests, run, url};

const CALLS: u64 = 150;

/// A load of 300 calls of a method of the target, each with these messages.
fn calls(target: &Target, method: &str, messages: &[&[u8]], grpc: GrpcPlan) -> Plan {
    let mut plan = requests(&url(target), 6, CALLS);
    (plan.transport.http, plan.transport.streams) = (HttpVersion::TwoPlain, 3);
    let framed = messages.iter().map(|message| {
        let length = (message.len() as u32).to_be_bytes();
        [&[0], &length[..], message].concat()
    });
    let request = RequestPlan {
        method: "POST".into(),
        url: format!("{}torr.Echo/{method}", url(target)),
        headers: vec![("content-type".into(), "application/grpc".into())],
        body: Some(STANDARD.encode(framed.collect::<Vec<_>>().concat())),
        accept_statuses: vec![(200, 200)],
        stream: grpc.response_stream.then(|| StreamPlan::new(Dialect::Grpc)),
        grpc: Some(grpc),
        timeout_ns: 30_000 * MS,
        ..RequestPlan::get(&url(target))
    };
    plan.groups[0].source = Source::One { request };
    plan
}

#[test]
fn calls_of_each_kind_succeed_and_the_target_agrees() {
    let stream = |sending| GrpcPlan { response_stream: true, sending, ..GrpcPlan::default() };
    let single = |sending| GrpcPlan { sending, ..GrpcPlan::default() };
    let paced = Sending::Paced { interval_ns: MS };
    let large = vec![7; 100_000];
    let three: &[&[u8]] = &[b"one", b"", b"three"];
    let hello: &[&[u8]] = &[b"hello"];
    let (one_large, two_large): (&[&[u8]], &[&[u8]]) = (&[&large], &[&large, &large]);
    // With the number of messages of a response, and of times from a message to its answer.
    let table = [
        ("Unary", hello, single(Sending::Together), 1, 0),
        ("Unary", one_large, single(Sending::Together), 1, 0),
        ("ServerStream", hello, stream(Sending::Together), 4, 0),
        ("ClientStream", three, single(Sending::Together), 1, 0),
        ("ClientStream", three, single(paced), 1, 0),
        ("Bidirectional", three, stream(Sending::Alternate), 3, 3),
        ("Bidirectional", two_large, stream(Sending::Alternate), 2, 2),
        ("Bidirectional", three, stream(paced), 3, 3),
    ];
    for (method, messages, grpc, answers, round_trips) in table {
        let target = Target::start(Spec::Grpc(GrpcSpec { copies: 4, ..GrpcSpec::default() }));
        let target = target.unwrap();
        let has_stream = grpc.response_stream;
        let total = balanced(&run(&calls(&target, method, messages, grpc)));
        target.stop().unwrap();
        let reasons = total.all_reasons();
        assert_eq!((total.ok, &reasons), (CALLS, &Default::default()), "{method}");
        let counts = target.counts();
        assert_eq!((counts.requests, counts.answered), (CALLS, CALLS), "{method}");
        assert_eq!(total.accepted.message.count(), CALLS * round_trips, "{method}");
        if has_stream {
            let stream = total.stream.unwrap();
            let gaps = stream.metric(engine::Timed::InterChunk).count();
            assert_eq!(gaps, CALLS * (answers - 1), "{method}");
        }
    }
}

#[test]
fn one_call_sends_its_messages_at_their_pace() {
    let target = Target::start(Spec::Grpc(GrpcSpec::default())).unwrap();
    for sending in [Sending::Together, Sending::Alternate, Sending::Paced { interval_ns: MS }] {
        let grpc = GrpcPlan { response_stream: true, sending, ..GrpcPlan::default() };
        let plan = calls(&target, "Bidirectional", &[b"one", b"", b"three"], grpc);
        let outcome = engine::once(&plan).unwrap();
        assert_eq!(outcome["class"], "ok", "{sending:?}: {outcome}");
        let body = STANDARD.decode(outcome["body"].as_str().unwrap()).unwrap();
        assert_eq!(body.len(), 3 * 5 + 8, "{sending:?}");
    }
}

#[test]
fn a_method_that_is_not_there_is_told_by_its_status() {
    let target = Target::start(Spec::Grpc(GrpcSpec::default())).unwrap();
    let plan = calls(&target, "Nothing", &[b"hello"], GrpcPlan::default());
    let summary = run(&plan);
    let total = balanced(&summary);
    assert_eq!(total.all_reasons(), [("status.grpc.unimplemented".into(), CALLS)].into());
    assert_eq!(summary.samples[0].body, "there is no such method");
}

#[test]
fn a_server_that_does_not_speak_grpc_has_no_status() {
    let target = Target::start(Spec::Hello(targets::HelloSpec::default())).unwrap();
    let total = balanced(&run(&calls(&target, "Unary", &[b"hello"], GrpcPlan::default())));
    assert_eq!(total.all_reasons(), [("status.grpc.missing".into(), CALLS)].into());
}

/// Why a call fails that meets this fault.
fn expected(fault: Fault) -> &'static str {
    match fault.name() {
        "grpc_status" | "grpc_late_status" => "status.grpc.unavailable",
        "grpc_early_status" => "status.grpc.resource_exhausted",
        "grpc_no_status" => "status.grpc.missing",
        "grpc_bad_status" => "status.grpc.undefined",
        "grpc_bad_gateway" => "status.502",
        "grpc_hang" => "timeout.first_byte",
        "grpc_bad_prefix" | "grpc_half_message" => "protocol.grpc_message",
        "grpc_no_message" | "grpc_two_messages" => "protocol.grpc_count",
        "grpc_huge" => "timeout.body",
        name => unreachable!("{name} has no reason"),
    }
}

#[test]
fn each_fault_ends_in_its_class_and_the_target_agrees() {
    let chosen = Fault::ALL.iter().copied().filter(|fault| fault.version() == FaultVersion::Grpc);
    let shares = chosen.flat_map(|fault| [(fault, 1.0), (fault, 0.5)]);
    let named = shares.map(|(fault, share)| (format!("{}, {share}", fault.name()), (fault, share)));
    at_once(named, |(fault, share)| {
        let target = faulty(fault, share);
        let is_silent = expected(fault).starts_with("timeout.");
        let count = if is_silent { 6 } else { 60 };
        // More than a window has that was not enlarged.
        let message = vec![7; 75_000];
        let mut plan = calls(&target, "Unary", &[&message], GrpcPlan::default());
        plan.stop = requests(&url(&target), 6, count).stop;
        if is_silent {
            one(&mut plan).timeout_ns = SILENCE_NS;
        }
        let summary = run(&plan);
        target.stop().unwrap();
        let (total, counts) = (balanced(&summary), target.counts());
        let faults = counts.faults[fault.name()];
        assert_eq!((total.attempted, counts.requests), (count, count));
        assert_eq!(total.all_reasons(), [(expected(fault).to_owned(), faults)].into());
        let answered = if fault.answers() { count } else { count - faults };
        assert_eq!((total.ok, counts.answered), (count - faults, answered));
        assert!(if share < 1.0 { (1..count).contains(&faults) } else { faults == count });
    });
}
