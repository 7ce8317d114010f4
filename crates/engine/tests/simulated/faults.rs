//! Every way in which a target or a machine can fail ends in exactly one class, and counts balance.

use std::sync::Arc;

use crate::world::*;
use engine::{Gate, Pace, Replay, RequestPlan, Source, StreamPlan};
use net::{Act, Dial, Nanos, Simulated};
use wire::Dialect;

/// Answers of 1 ms in the first second of a user: the first is followed by a look of 5 ms.
const FIRST_SECOND: u64 = 995;

fn bytes(text: &[u8]) -> (Nanos, Act) {
    (MS, Act::Bytes(text.to_vec()))
}

const HALF_HEAD: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Le";
const HALF_BODY: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nhello";

#[test]
fn each_faulty_answer_ends_in_its_class_with_its_reason() {
    let huge_head = [b"HTTP/1.1 200 OK\r\nX: ".as_slice(), &vec![b'a'; 80 << 10]].concat();
    let later = |act| (2 * MS, act);
    let table: Vec<(&str, Vec<(Nanos, Act)>)> = vec![
        ("read.reset", vec![later(Act::Reset)]),
        ("read.reset_in_head", vec![bytes(HALF_HEAD), later(Act::Reset)]),
        ("read.reset_in_body", vec![bytes(HALF_BODY), later(Act::Reset)]),
        ("read.closed", vec![later(Act::Close)]),
        ("read.closed_in_head", vec![bytes(HALF_HEAD), later(Act::Close)]),
        ("read.closed_in_body", vec![bytes(HALF_BODY), later(Act::Close)]),
        ("read.closed_in_body", vec![bytes(HALF_BODY), (MS, Act::Close)]),
        ("timeout.first_byte", vec![]),
        ("timeout.head", vec![bytes(HALF_HEAD)]),
        ("timeout.body", vec![bytes(HALF_BODY)]),
        ("protocol.not_http", vec![bytes(b"220 mail.example ESMTP\r\n")]),
        ("protocol.http2", vec![bytes(b"\x00\x00\x12\x04\x00\x00\x00\x00\x00rest")]),
        ("protocol.bad_head", vec![bytes(b"HTTP/1.1 abc\r\n\r\n")]),
        ("protocol.head_too_large", vec![bytes(&huge_head)]),
        (
            "protocol.bad_content_length",
            vec![bytes(b"HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n")],
        ),
        (
            "protocol.bad_chunk",
            vec![bytes(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n")],
        ),
        ("protocol.extra_bytes", vec![bytes(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhello")]),
        ("status.503", vec![bytes(b"HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n")]),
    ];
    for (reason, acts) in table {
        let mut plan = closed(3);
        request(&mut plan).timeout_ns = 100 * MS;
        let run = simulate(plan, Target::new(|_, _| Dial::Accept(0), |_, _| acts.clone()));
        run.assert_balanced();
        assert_eq!(run.measured.ok, 0, "{reason}");
        assert_eq!(run.reasons(), [(reason.to_owned(), run.measured.attempted)]);
        assert_eq!(run.measured.attempted, run.world.peer.requests, "{reason}");
        let samples: Vec<_> = run.reports.iter().flat_map(|report| &report.samples).collect();
        assert_eq!(samples.len(), 5, "{reason}");
        assert_eq!(samples[0].reason, reason);
    }
}

#[test]
fn each_failed_dial_ends_in_its_class_with_its_reason() {
    let table = [
        ("connect.refused", Dial::Fail(MS, libc::ECONNREFUSED)),
        ("connect.unreachable", Dial::Fail(MS, libc::EHOSTUNREACH)),
        ("connect.reset", Dial::Fail(MS, libc::ECONNRESET)),
        ("connect.no_port", Dial::Local(libc::EADDRNOTAVAIL)),
        ("connect.no_descriptor", Dial::Local(libc::EMFILE)),
        ("timeout.connect", Dial::Silent),
        ("timeout.connect", Dial::Fail(MS, libc::ETIMEDOUT)),
    ];
    for (reason, dial) in table {
        let mut plan = closed(3);
        request(&mut plan).timeout_ns = 100 * MS;
        let run = simulate(plan, Target::new(|_, _| dial.clone(), |_, _| vec![]));
        run.assert_balanced();
        assert!(run.measured.attempted > 0);
        assert_eq!(run.reasons(), [(reason.to_owned(), run.measured.attempted)]);
        assert_eq!(run.measured.failed.service.count(), 0, "nothing was ever sent");
        let local = run.reports.last().unwrap().connections.local.sum();
        assert_eq!(local > 0, reason.starts_with("connect.no_"));
    }
}

#[test]
fn a_closed_user_waits_after_a_failed_dial_so_that_refusals_do_not_count_in_millions() {
    let refuse = |_, _| Dial::Fail(0, libc::ECONNREFUSED);
    let run = simulate(closed(5), Target::new(refuse, |_, _| vec![]));
    run.assert_balanced();
    assert_eq!(run.measured.attempted, 50);
}

#[test]
fn a_target_that_dies_while_connections_open_does_not_hold_up_the_window() {
    let target = Target::new(
        |number, _| if number == 0 { Dial::Accept(0) } else { Dial::Fail(MS, libc::ECONNREFUSED) },
        |_, _| vec![bytes(HELLO)],
    );
    let run = simulate(closed(4), target);
    run.assert_balanced();
    assert!(run.window.0 < SECOND);
    assert_eq!(run.reasons()[0].0, "connect.refused");
}

#[test]
fn bytes_beyond_a_large_announced_body_are_noticed_also_if_it_is_discarded() {
    let head = b"HTTP/1.1 200 OK\r\nContent-Length: 20000\r\n\r\n";
    let first = [head.as_slice(), &[b'a'; 1000]].concat();
    let acts = move |surplus: usize| {
        vec![(MS, Act::Bytes(first.clone())), (2 * MS, Act::Bytes(vec![b'a'; 19_000 + surplus]))]
    };
    for (surplus, reasons) in [(0, vec![]), (5, vec!["protocol.extra_bytes"])] {
        let acts = acts(surplus);
        let run =
            simulate(closed(2), Target::new(|_, _| Dial::Accept(0), move |_, _| acts.clone()));
        run.assert_balanced();
        let found = run.reasons();
        assert_eq!(found.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(), reasons);
        assert_eq!(run.measured.ok == run.measured.attempted, surplus == 0);
    }
}

#[test]
fn a_server_that_speaks_first_is_not_http_and_not_silent() {
    // Its greeting comes with the handshake: as on epoll, in the event of the connect itself.
    let run = simulate(closed(2), Greeter);
    run.assert_balanced();
    assert!(run.measured.attempted > 0);
    assert_eq!(run.reasons(), [("protocol.not_http".to_owned(), run.measured.attempted)]);
}

/// Sends a greeting as soon as it is dialled, and then waits.
struct Greeter;

impl net::Peer for Greeter {
    fn dial(&mut self, _: u64, _: Nanos) -> Dial {
        Dial::Greet(MS, b"220 ready\r\n".to_vec())
    }

    fn receive(&mut self, _: u64, _: &[u8], _: Nanos) -> Vec<(Nanos, Act)> {
        Vec::new()
    }
}

#[test]
fn a_used_connection_that_is_closed_instead_of_an_answer_is_named_so() {
    let target = Target::new(
        |_, _| Dial::Accept(0),
        |n, _| {
            if n == 0 { vec![bytes(HELLO)] } else { vec![(MS, Act::Close)] }
        },
    );
    let mut plan = closed(1);
    plan.stop = engine::Stop::Requests { requests: 2 };
    let run = simulate(plan, target);
    assert_eq!(run.reasons(), [("read.closed_on_reuse".to_owned(), 1)]);
}

#[test]
fn a_server_that_closes_after_its_answer_is_normal() {
    for close_at in [MS, MS + 1] {
        let target = Target::new(
            |_, _| Dial::Accept(0),
            move |_, _| vec![bytes(HELLO), (close_at, Act::Close)],
        );
        let mut plan = constant(100.0, 2);
        plan.interval_ns = SECOND;
        let run = simulate(plan, target);
        run.assert_balanced();
        assert_eq!((run.measured.ok, run.reasons().len()), (100, 0));
        assert!(run.world.dials() >= 99);
    }
}

#[test]
fn a_close_that_comes_with_the_answer_is_seen_before_the_connection_is_used_again() {
    let target = Target::new(|_, _| Dial::Accept(0), |_, _| vec![bytes(HELLO), (MS, Act::Close)]);
    let run = simulate(closed(2), target);
    run.assert_balanced();
    assert_eq!((run.measured.ok, run.measured.attempted), (2000, 2000));
    assert!(run.world.dials() >= run.measured.attempted);
}

#[test]
fn a_body_that_ends_by_the_close_is_complete() {
    let answer = b"HTTP/1.0 200 OK\r\n\r\nhello";
    for gap in [0, MS] {
        let target = Target::new(
            |_, _| Dial::Accept(0),
            move |_, _| vec![bytes(answer), (MS + gap, Act::Close)],
        );
        let run = simulate(closed(2), target);
        run.assert_balanced();
        assert_eq!(run.measured.ok, run.measured.attempted);
        assert!(run.measured.ok > 900, "{}", run.measured.ok);
        // The last byte is stamped when it came, not when the connection was closed.
        assert_eq!(run.measured.accepted.service.quantile(1.0) / 1000, 1000);
    }
}

#[test]
fn an_answer_in_single_bytes_is_the_same_answer() {
    let acts: Vec<_> =
        HELLO.iter().zip(1..).map(|(byte, at)| (at * 1000, Act::Bytes(vec![*byte]))).collect();
    let mut plan = closed(2);
    plan.stop = engine::Stop::Requests { requests: 1000 };
    let run = simulate(plan, Target::new(|_, _| Dial::Accept(0), |_, _| acts.clone()));
    run.assert_balanced();
    assert_eq!(run.measured.ok, 1000);
    assert_eq!(run.measured.accepted.ttfb.quantile(0.5), 1000);
    assert_eq!(run.measured.bytes_in, run.measured.ok * HELLO.len() as u64);
}

#[test]
fn a_request_that_does_not_fit_the_send_buffer_goes_out_in_pieces() {
    let mut world = Simulated::new(hello_after(MS));
    world.send_limit = 7;
    let run = simulate_in(closed(2), world, &Arc::new(Gate::new(1)));
    run.assert_balanced();
    assert_eq!((run.measured.ok, run.measured.attempted), (2 * FIRST_SECOND, 2 * FIRST_SECOND));
}

#[test]
fn a_hung_request_becomes_a_timeout_in_the_drain_and_does_not_vanish() {
    let target = Target::new(
        |_, _| Dial::Accept(0),
        |n, _| if n == 500 { vec![] } else { vec![bytes(HELLO)] },
    );
    let mut plan = closed(1);
    request(&mut plan).timeout_ns = 2 * SECOND;
    let run = simulate(plan, target);
    run.assert_balanced();
    assert_eq!(run.reasons(), [("timeout.first_byte".to_owned(), 1)]);
    assert_eq!((run.in_flight, run.measured.censored), (0, 1));
    assert_eq!(run.measured.failed.response.quantile(1.0) / MS, 2000);
}

#[test]
fn a_drain_as_long_as_the_timeout_makes_timeouts_of_all_that_hang() {
    let stops = [engine::Stop::Requests { requests: 3 }, engine::Stop::Duration { duration_ns: 1 }];
    for stop in stops {
        let mut plan = closed(3);
        plan.stop = stop;
        plan.drain_ns = request(&mut plan).timeout_ns;
        let run = simulate(plan, Target::new(|_, _| Dial::Accept(0), |_, _| vec![]));
        run.assert_balanced();
        assert_eq!(run.reasons(), [("timeout.first_byte".to_owned(), 3)]);
        assert_eq!(run.in_flight, 0);
    }
}

#[test]
fn what_the_drain_does_not_see_end_stays_in_flight() {
    let mut plan = closed(3);
    request(&mut plan).timeout_ns = 30 * SECOND;
    plan.drain_ns = SECOND;
    let run = simulate(plan, Target::new(|_, _| Dial::Accept(0), |_, _| vec![]));
    run.assert_balanced();
    assert_eq!((run.measured.attempted, run.in_flight, run.measured.ended()), (3, 3, 0));
}

#[test]
fn a_target_that_is_killed_and_comes_back_is_served_again() {
    let (down, up) = (300 * MS, 600 * MS);
    let target = Target::new(
        move |_, now| {
            if (down..up).contains(&now) {
                Dial::Fail(0, libc::ECONNREFUSED)
            } else {
                Dial::Accept(0)
            }
        },
        move |_, now| {
            if (down..up).contains(&now) { vec![(0, Act::Reset)] } else { vec![bytes(HELLO)] }
        },
    );
    let run = simulate(closed(10), target);
    run.assert_balanced();
    let reasons = run.reasons();
    assert_eq!(reasons[0].0, "connect.refused");
    assert_eq!(reasons[1], ("read.closed_on_reuse".to_owned(), 10));
    assert!(run.measured.ok > 6000, "{}", run.measured.ok);
}

#[test]
fn what_the_machine_cannot_give_is_counted_and_the_rest_goes_on() {
    let target = Target::new(
        |number, _| {
            if number >= 6 { Dial::Local(libc::EMFILE) } else { Dial::Accept(0) }
        },
        |_, _| vec![bytes(HELLO)],
    );
    let run = simulate(closed(10), target);
    run.assert_balanced();
    let connections = run.reports.last().unwrap().connections;
    assert_eq!((connections.asked, connections.open_max), (10, 6));
    assert!(connections.local.no_descriptor >= 4);
    assert_eq!(run.measured.ok, 6 * FIRST_SECOND);
}

#[test]
fn a_drain_as_long_as_the_timeout_makes_timeouts_of_all_that_wait_for_a_connection() {
    // The time of some is up before the end of the drain, that of the others just then.
    let patient = RequestPlan { timeout_ns: 2 * SECOND, ..RequestPlan::get("http://127.0.0.1/a") };
    for hasty in [SECOND * 3 / 2, patient.timeout_ns] {
        let hasty = RequestPlan { name: "hasty".into(), timeout_ns: hasty, ..patient.clone() };
        let replay = Replay { offsets_ns: vec![0; 2000], connections: 1, max_in_flight: None };
        let mut plan = plan(Pace::Replay(replay));
        plan.groups[0].source = Source::Turn { requests: vec![patient.clone(), hasty] };
        plan.drain_ns = SECOND;
        let run = simulate(plan, Target::new(|_, _| Dial::Accept(0), |_, _| Vec::new()));
        run.assert_balanced();
        assert_eq!(run.in_flight, 0);
        let reasons = [("timeout.first_byte".to_owned(), 1), ("timeout.queue".to_owned(), 1999)];
        assert_eq!(run.reasons(), reasons);
    }
}

#[test]
fn an_event_without_end_is_too_large_whatever_becomes_of_its_connection() {
    let mut plan = closed(1);
    plan.stop = engine::Stop::Requests { requests: 1 };
    request(&mut plan).stream = Some(StreamPlan::new(Dialect::Plain));
    request(&mut plan).timeout_ns = 100 * MS;
    let head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: ".to_vec();
    let pieces = (1..18).map(|at| (at * MS, Act::Bytes(vec![b'a'; 1 << 20])));
    let acts: Vec<_> = std::iter::once((0, Act::Bytes(head))).chain(pieces).collect();
    let run = simulate(plan, Target::new(|_, _| Dial::Accept(0), move |_, _| acts.clone()));
    run.assert_balanced();
    assert_eq!(run.reasons(), [("stream.too_large".to_owned(), 1)]);
}

#[test]
fn answers_that_need_more_memory_than_a_worker_has_fail_and_the_others_do_not() {
    const USERS: u32 = 70;
    // Of each response a mebibyte comes at once, of which 64 KiB are free, and the rest later.
    let mut plan = closed(USERS);
    plan.stop = engine::Stop::Requests { requests: u64::from(USERS) };
    request(&mut plan).expect_body = vec![engine::BodyCheck::Text { text: "end".into() }];
    let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", (1 << 20) + 3);
    let body = [head.into_bytes(), vec![b'a'; 1 << 20]].concat();
    let acts = vec![(0, Act::Bytes(body)), (SECOND, Act::Bytes(b"end".to_vec()))];
    let run = simulate(plan, Target::new(|_, _| Dial::Accept(0), move |_, _| acts.clone()));
    run.assert_balanced();
    let held = (40 << 20) / ((1 << 20) - (64 << 10));
    assert_eq!(run.measured.ok, held);
    assert_eq!(run.reasons(), [("read.no_memory".to_owned(), u64::from(USERS) - held)]);
}
