//! Loads of gRPC calls: how they end, when their messages are sent, and what is measured of them.

use std::collections::BTreeMap;

use crate::world::{MS, closed, request, simulate};
use engine::{Data, GrpcPlan, HttpVersion, MessagePart, Plan, Sending, StreamPlan};
use net::{Act, Dial, Nanos, Peer};
use wire::Dialect;
use wire::hpack::{Encoder, Indexing};
use wire::http2::{FRAME_HEAD_BYTES, Flags, FrameHead, FrameKind, PREFACE};
use wire::protobuf::NumberEncoding;

/// A server of calls. It answers each message of a call with the same message, and the end of a call with
/// its status.
struct Server<S> {
    /// The status of a call by its number; none for a response without one.
    status: S,
    /// Messages that are sent back for each one.
    copies: usize,
    /// Whether the status is in the head, without any message.
    has_trailers_only: bool,
    /// Whether the head says that the call succeeded, before the messages.
    has_early_status: bool,
    calls: u64,
    /// The messages that were received, by their texts.
    messages: BTreeMap<Vec<u8>, u64>,
    connections: BTreeMap<u64, Received>,
}

/// What a connection has received and not handled.
#[derive(Default)]
struct Received {
    bytes: Vec<u8>,
    bodies: BTreeMap<u32, Vec<u8>>,
}

fn frame(kind: FrameKind, flags: Flags, stream: u32, payload: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    FrameHead { length: payload.len(), kind, flags, stream }.write(&mut out);
    out.extend_from_slice(payload);
    out
}

fn fields(fields: &[(&str, &str)]) -> Vec<u8> {
    let mut block = Vec::new();
    for (name, value) in fields {
        let (name, value) = (name.as_bytes(), value.as_bytes());
        Encoder::default().field(name, value, Indexing::NotKept, &mut block);
    }
    block
}

fn message(payload: &[u8]) -> Vec<u8> {
    [&[0], &(payload.len() as u32).to_be_bytes()[..], payload].concat()
}

impl<S: FnMut(u64) -> Option<u8>> Server<S> {
    fn new(status: S) -> Self {
        Self {
            status,
            copies: 1,
            has_trailers_only: false,
            has_early_status: false,
            calls: 0,
            messages: BTreeMap::new(),
            connections: BTreeMap::new(),
        }
    }

    /// Handles a frame; the answers come a millisecond later.
    fn take(&mut self, head: FrameHead, payload: &[u8], connection: u64) -> Vec<Vec<u8>> {
        let bodies = &mut self.connections.entry(connection).or_default().bodies;
        let mut answers = Vec::new();
        let of_response = [(":status", "200"), ("content-type", "application/grpc")];
        match head.kind {
            FrameKind::Headers => {
                bodies.insert(head.stream, Vec::new());
                if !self.has_trailers_only {
                    let early = self.has_early_status.then_some(("grpc-status", "0"));
                    let all: Vec<_> = of_response.into_iter().chain(early).collect();
                    let block = fields(&all);
                    let kind = FrameKind::Headers;
                    answers.push(frame(kind, Flags::END_HEADERS, head.stream, &block));
                }
            }
            FrameKind::Data => {
                if head.length > 0 {
                    // The connection may have as much again.
                    let count = (head.length as u32).to_be_bytes();
                    answers.push(frame(FrameKind::WindowUpdate, Flags::NONE, 0, &count));
                }
                let body = bodies.get_mut(&head.stream).unwrap();
                body.extend_from_slice(payload);
                while body.len() >= 5 {
                    let length = u32::from_be_bytes(body[1..5].try_into().unwrap()) as usize;
                    if body.len() < 5 + length {
                        break;
                    }
                    let received: Vec<u8> = body.drain(..5 + length).collect();
                    *self.messages.entry(received[5..].to_vec()).or_default() += 1;
                    if !self.has_trailers_only {
                        let copies = received.repeat(self.copies);
                        let kind = FrameKind::Data;
                        answers.push(frame(kind, Flags::NONE, head.stream, &copies));
                    }
                }
            }
            _ => return answers,
        }
        if head.flags.has(Flags::END_STREAM) {
            let status = (self.status)(self.calls).map(|status| status.to_string());
            self.calls += 1;
            let mut block: Vec<(&str, &str)> = Vec::new();
            if self.has_trailers_only {
                block.extend(of_response);
            }
            block.extend(status.as_deref().map(|status| ("grpc-status", status)));
            block.extend([("x-more", "1"), ("grpc-message", "no%20luck")]);
            let flags = Flags::END_HEADERS.and(Flags::END_STREAM);
            answers.push(frame(FrameKind::Headers, flags, head.stream, &fields(&block)));
        }
        answers
    }
}

impl<S: FnMut(u64) -> Option<u8>> Peer for Server<S> {
    fn dial(&mut self, _: u64, _: Nanos) -> Dial {
        Dial::Accept(0)
    }

    fn receive(&mut self, connection: u64, bytes: &[u8], _: Nanos) -> Vec<(Nanos, Act)> {
        let mut received =
            std::mem::take(&mut self.connections.entry(connection).or_default().bytes);
        received.extend_from_slice(bytes);
        let mut acts = Vec::new();
        if received.starts_with(PREFACE) {
            received.drain(..PREFACE.len());
            acts.push((0, Act::Bytes(frame(FrameKind::Settings, Flags::NONE, 0, &[]))));
        }
        while let Some(head) = received.first_chunk::<FRAME_HEAD_BYTES>().map(FrameHead::read) {
            if received.len() < FRAME_HEAD_BYTES + head.length {
                break;
            }
            let whole: Vec<u8> = received.drain(..FRAME_HEAD_BYTES + head.length).collect();
            let answers = self.take(head, &whole[FRAME_HEAD_BYTES..], connection);
            acts.extend(answers.into_iter().map(|answer| (MS, Act::Bytes(answer))));
        }
        self.connections.entry(connection).or_default().bytes = received;
        acts
    }
}

/// A load of two users whose calls have these messages.
fn calls(messages: &[&[u8]], grpc: GrpcPlan) -> Plan {
    use base64::Engine as _;
    let mut plan = closed(2);
    plan.transport.http = HttpVersion::TwoPlain;
    plan.transport.streams = 2;
    let body = messages.iter().map(|payload| message(payload)).collect::<Vec<_>>().concat();
    let call = request(&mut plan);
    call.method = "POST".into();
    call.accept_statuses = vec![(200, 200)];
    call.body = Some(base64::engine::general_purpose::STANDARD.encode(body));
    if grpc.response_stream {
        call.stream = Some(StreamPlan::new(Dialect::Grpc));
    }
    call.grpc = Some(grpc);
    plan
}

#[test]
fn a_unary_call_succeeds_by_its_status_and_its_one_message() {
    let run = simulate(calls(&[b"hello"], GrpcPlan::default()), Server::new(|_| Some(0)));
    run.assert_balanced();
    assert_eq!(run.reasons(), []);
    assert!((1900..=2000).contains(&run.measured.ok), "{}", run.measured.ok);
    let peer = &run.world.peer;
    assert_eq!((peer.calls, peer.messages[&b"hello"[..]]), (run.measured.ok, run.measured.ok));
    assert_eq!(run.measured.accepted.message.count(), 0);
}

#[test]
fn every_status_has_a_reason_wherever_it_is() {
    for has_trailers_only in [false, true] {
        let status =
            |number: u64| [Some(5), Some(14), Some(77), None, Some(16)][number as usize % 5];
        let server = Server { has_trailers_only, ..Server::new(status) };
        let run = simulate(calls(&[b"hello"], GrpcPlan::default()), server);
        run.assert_balanced();
        assert_eq!(run.measured.ok, 0);
        let names: Vec<_> = run.reasons().into_iter().map(|(name, _)| name).collect();
        let expected = ["missing", "not_found", "unauthenticated", "unavailable", "undefined"];
        assert_eq!(names, expected.map(|name| format!("status.grpc.{name}")));
        assert_eq!(run.measured.statuses[&200], run.measured.ended());
        let samples: Vec<_> = run.reports.iter().flat_map(|report| &report.samples).collect();
        assert!(!samples.is_empty());
        assert!(samples.iter().all(|sample| sample.body == "no luck"), "{samples:?}");
    }
}

#[test]
fn the_status_in_the_trailers_counts_and_one_before_messages_does_not() {
    let status = |number: u64| [Some(14), None, Some(0)][number as usize % 3];
    let server = Server { has_early_status: true, ..Server::new(status) };
    let run = simulate(calls(&[b"hello"], GrpcPlan::default()), server);
    run.assert_balanced();
    let names: Vec<_> = run.reasons().into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["status.grpc.missing", "status.grpc.unavailable"]);
    assert!(run.measured.ok.abs_diff(run.measured.attempted / 3) <= 1, "{}", run.measured.ok);
}

#[test]
fn a_unary_call_with_no_message_or_several_is_no_success() {
    for (copies, has_trailers_only) in [(2, false), (0, true)] {
        let server = Server { copies, has_trailers_only, ..Server::new(|_| Some(0)) };
        let run = simulate(calls(&[b"hello"], GrpcPlan::default()), server);
        run.assert_balanced();
        let expected = ("protocol.grpc_count".to_owned(), run.measured.ended());
        assert_eq!(run.reasons(), [expected]);
    }
}

#[test]
fn messages_of_a_server_stream_are_its_events() {
    let server = Server { copies: 3, ..Server::new(|_| Some(0)) };
    let grpc = GrpcPlan { response_stream: true, ..GrpcPlan::default() };
    let run = simulate(calls(&[b"one", b"two"], grpc), server);
    run.assert_balanced();
    assert_eq!(run.reasons(), []);
    let stream = run.measured.stream.as_deref().unwrap();
    // Six messages have five gaps.
    assert_eq!(stream.metric(engine::Timed::InterChunk).count(), 5 * run.measured.ok);
    assert_eq!(stream.metric(engine::Timed::Ttfe).count(), run.measured.ok);
}

#[test]
fn a_server_stream_may_have_no_message() {
    let server = Server { has_trailers_only: true, ..Server::new(|_| Some(0)) };
    let grpc = GrpcPlan { response_stream: true, ..GrpcPlan::default() };
    let run = simulate(calls(&[b"one"], grpc), server);
    run.assert_balanced();
    assert_eq!((run.reasons(), run.measured.ok), (vec![], run.measured.attempted));
}

#[test]
fn messages_alternate_and_each_round_trip_is_measured() {
    let sending = Sending::Alternate;
    let grpc = GrpcPlan { response_stream: true, sending, ..GrpcPlan::default() };
    let run = simulate(calls(&[b"one", b"two", b"three"], grpc), Server::new(|_| Some(0)));
    run.assert_balanced();
    assert_eq!(run.reasons(), []);
    // Each answer takes a millisecond: three to a call.
    assert!((640..=670).contains(&run.measured.ok), "{}", run.measured.ok);
    let times = &run.measured.accepted.message;
    assert_eq!(times.count(), 3 * run.measured.ok);
    assert!((MS - MS / 10..=MS + MS / 10).contains(&times.quantile(0.9)));
    let peer = &run.world.peer;
    assert_eq!(peer.messages.values().sum::<u64>(), 3 * peer.calls);
}

#[test]
fn messages_are_paced_by_the_clock_and_each_round_trip_is_measured() {
    let sending = Sending::Paced { interval_ns: 20 * MS };
    let grpc = GrpcPlan { response_stream: true, sending, ..GrpcPlan::default() };
    let run = simulate(calls(&[b"one", b"two", b"three"], grpc), Server::new(|_| Some(0)));
    run.assert_balanced();
    assert_eq!(run.reasons(), []);
    // 41 ms to a call.
    assert!((46..=50).contains(&run.measured.ok), "{}", run.measured.ok);
    let times = &run.measured.accepted.message;
    assert_eq!(times.count(), 3 * run.measured.ok);
    assert!((MS - MS / 10..=MS + MS / 10).contains(&times.quantile(1.0)));
    let service = run.measured.accepted.service.quantile(0.5);
    assert!((40 * MS..43 * MS).contains(&service), "{service}");
}

#[test]
fn a_call_that_waits_for_an_answer_that_does_not_come_times_out() {
    let server = Server { has_trailers_only: true, ..Server::new(|_| Some(0)) };
    let sending = Sending::Alternate;
    let grpc = GrpcPlan { response_stream: true, sending, ..GrpcPlan::default() };
    let mut plan = calls(&[b"one", b"two"], grpc);
    request(&mut plan).timeout_ns = 100 * MS;
    let run = simulate(plan, server);
    run.assert_balanced();
    assert_eq!(run.reasons(), [("timeout.first_byte".to_owned(), run.measured.ended())]);
    assert_eq!(run.reports.last().unwrap().connections.opened, 1);
}

#[test]
fn places_in_messages_are_filled_with_lengths_that_fit() {
    let text = |text: &str| MessagePart::Text { text: text.into() };
    let bytes = |base64: &str| MessagePart::Bytes { base64: base64.into() };
    let number = |text: &str, encoding| MessagePart::Number { text: text.into(), encoding };
    // Field 1 is a text, field 2 an integer, field 3 a message with a text as field 1.
    let parts = vec![
        bytes("Cg=="),
        MessagePart::Nested { parts: vec![text("user-{{row.name}}")] },
        bytes("EA=="),
        number("{{row.id}}", NumberEncoding::Int64),
        bytes("Gg=="),
        MessagePart::Nested {
            parts: vec![bytes("Cg=="), MessagePart::Nested { parts: vec![text("{{row.name}}")] }],
        },
    ];
    let mut plan = calls(&[], GrpcPlan { messages: Some(vec![parts]), ..GrpcPlan::default() });
    request(&mut plan).body = None;
    let long = "x".repeat(200);
    plan.groups[0].data = Some(Data::Rows {
        columns: vec!["name".into(), "id".into()],
        rows: vec![vec!["ann".into(), "300".into()], vec![long.clone(), "-1".into()]],
    });
    let run = simulate(plan, Server::new(|_| Some(0)));
    run.assert_balanced();
    assert_eq!(run.reasons(), []);
    let first = [b"\x0a\x08user-ann\x10\xac\x02\x1a\x05\x0a\x03ann".to_vec()].concat();
    let minus_one = [vec![0x10], vec![0xff; 9], vec![1]].concat();
    let second = [
        &[0x0a, 0xcd, 0x01][..],
        b"user-",
        long.as_bytes(),
        &minus_one,
        &[0x1a, 0xcb, 0x01, 0x0a, 0xc8, 0x01],
        long.as_bytes(),
    ];
    let found: Vec<_> = run.world.peer.messages.keys().cloned().collect();
    assert_eq!(found, [first, second.concat()]);
}

#[test]
fn places_in_fields_leave_messages_that_look_like_places_as_they_are() {
    let mut plan = calls(&[b"{{seq}} {{"], GrpcPlan::default());
    request(&mut plan).template = true;
    request(&mut plan).headers.push(("x-number".into(), "{{seq}}".into()));
    let run = simulate(plan, Server::new(|_| Some(0)));
    run.assert_balanced();
    assert_eq!(run.reasons(), []);
    assert_eq!(run.world.peer.messages.keys().collect::<Vec<_>>(), [b"{{seq}} {{"]);
}

#[test]
fn values_that_do_not_fit_their_fields_are_refused_before_the_load() {
    let refused = |encoding, place: &str, id: &str| {
        let part = MessagePart::Number { text: place.into(), encoding };
        let grpc = GrpcPlan { messages: Some(vec![vec![part]]), ..GrpcPlan::default() };
        let mut plan = calls(&[], grpc);
        request(&mut plan).body = None;
        plan.groups[0].data =
            Some(Data::Rows { columns: vec!["id".into()], rows: vec![vec![id.into()]] });
        engine::prepare(&plan).map(drop)
    };
    use NumberEncoding as Number;
    assert_eq!(refused(Number::Uint64, "{{row.id}}", "1"), Ok(()));
    assert_eq!(refused(Number::Uint64, "{{seq}}", "x"), Ok(()));
    assert_eq!(refused(Number::Bool, "{{rand 0 1}}", ""), Ok(()));
    for (encoding, place, id, expected) in [
        (Number::Uint64, "{{row.id}}", "-1", "row 1: id is \"-1\", which does not fit its field"),
        (Number::Uint64, "{{rand -1 5}}", "", "rand -1 5 does not fit its field"),
        (Number::Int32, "{{rand 1 3000000000}}", "", "rand 1 3000000000 does not fit its field"),
        (Number::Bool, "{{seq}}", "", "seq does not fit its field"),
        (Number::Uint64, "{{uuid}}", "", "uuid is not a number"),
        (Number::Uint64, "{{seq}}0", "", "\"{{seq}}0\" is more than one place"),
    ] {
        let error = refused(encoding, place, id).unwrap_err();
        assert!(error.contains(expected), "{error}");
    }
}
