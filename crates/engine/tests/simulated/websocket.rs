//! Loads over WebSocket: what the server answers, pushes and closes, and that every message is counted.

use std::collections::BTreeMap;

use crate::world::{MS, Outcome, closed, constant, plan, request, simulate, simulate_in};
use engine::{
    Closed, Gate, Matching, Pace, Phase, Plan, RequestPlan, Source, WebSocketPlan, WebSocketTally,
};
use net::{Act, Dial, Nanos, Peer, Simulated};
use wire::websocket::{
    CloseCode, CloseFrame, ControlPayload, Masking, MessageKind, OutgoingFrame, WebSocketEvent,
    WebSocketReader, accept_value,
};

/// A server: `answer` gets the number of a message, of its connection, and its payload.
struct Server<A> {
    answer: A,
    /// The response to a handshake in place of the right one.
    refusal: Option<&'static [u8]>,
    /// How many handshakes get it, the first ones.
    refused: usize,
    /// How long a handshake takes.
    handshake_ns: Nanos,
    /// How long after a ping it answers it, if it does.
    pongs_after: Option<Nanos>,
    /// How long after a Close frame it ends the connection, if it does.
    ends_after: Option<Nanos>,
    /// The bytes that are sent at once.
    piece: usize,
    messages: u64,
    handshakes: Vec<String>,
    /// By connection: the bytes of a handshake that is not complete, or the reader of frames.
    states: BTreeMap<u64, PeerState>,
    pongs: u64,
    /// The codes of Close frames, by connection.
    closes: Vec<(u64, Option<u16>)>,
}

enum PeerState {
    Handshake(Vec<u8>),
    Open(Box<WebSocketReader>, Vec<u8>),
}

fn frame(frame: OutgoingFrame<'_>) -> Vec<u8> {
    let mut out = Vec::new();
    frame.write_unmasked(&mut out);
    out
}

fn text(payload: &[u8]) -> Vec<u8> {
    frame(OutgoingFrame::message(MessageKind::Text, payload))
}

fn close(code: Option<u16>) -> Vec<u8> {
    let payload = CloseFrame { code: code.map(CloseCode), reason: "" }.payload().unwrap();
    frame(OutgoingFrame::close(&payload))
}

impl<A: FnMut(u64, u64, &[u8]) -> Vec<(Nanos, Act)>> Server<A> {
    fn new(answer: A) -> Self {
        Self {
            answer,
            refusal: None,
            refused: usize::MAX,
            handshake_ns: 0,
            pongs_after: Some(0),
            ends_after: Some(0),
            piece: usize::MAX,
            messages: 0,
            handshakes: Vec::new(),
            states: BTreeMap::new(),
            pongs: 0,
            closes: Vec::new(),
        }
    }

    fn shake_hands(&mut self, request: &[u8]) -> Vec<u8> {
        let request = String::from_utf8(request.to_vec()).unwrap();
        let key = request.split("Sec-WebSocket-Key: ").nth(1).unwrap().trim_end();
        let accept = accept_value(key.as_bytes());
        self.handshakes.push(request);
        let head = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade";
        let response = format!("{head}\r\nSec-WebSocket-Accept: {accept}\r\n\r\n").into_bytes();
        let refusal = self.refusal.filter(|_| self.handshakes.len() <= self.refused);
        refusal.map_or(response, <[u8]>::to_vec)
    }

    fn frames(&mut self, connection: u64, bytes: &[u8]) -> Vec<(Nanos, Act)> {
        let Some(PeerState::Open(mut reader, mut payload)) = self.states.remove(&connection) else {
            return Vec::new();
        };
        let (mut rest, mut acts) = (bytes, Vec::new());
        while let Some(event) = reader.next(&mut rest).unwrap() {
            match event {
                WebSocketEvent::Message(piece) => {
                    payload.extend_from_slice(piece.payload);
                    if piece.is_last {
                        acts.extend((self.answer)(self.messages, connection, &payload));
                        self.messages += 1;
                        payload.clear();
                    }
                }
                WebSocketEvent::Pong(_) => self.pongs += 1,
                WebSocketEvent::Ping(payload) => {
                    let pong = frame(OutgoingFrame::pong(payload));
                    acts.extend(self.pongs_after.map(|after| (after, Act::Bytes(pong))));
                }
                WebSocketEvent::Close(frame) => {
                    self.closes.push((connection, frame.code.map(|code| code.0)));
                    acts.extend(self.ends_after.map(|after| (after, Act::Close)));
                }
            }
        }
        self.states.insert(connection, PeerState::Open(reader, payload));
        acts
    }
}

impl<A: FnMut(u64, u64, &[u8]) -> Vec<(Nanos, Act)>> Peer for Server<A> {
    fn dial(&mut self, _: u64, _: Nanos) -> Dial {
        Dial::Accept(0)
    }

    fn receive(&mut self, connection: u64, bytes: &[u8], _: Nanos) -> Vec<(Nanos, Act)> {
        let state = self.states.entry(connection).or_insert(PeerState::Handshake(Vec::new()));
        let PeerState::Handshake(head) = state else {
            let acts = self.frames(connection, bytes);
            return self.in_pieces(acts);
        };
        head.extend_from_slice(bytes);
        if !head.ends_with(b"\r\n\r\n") {
            return Vec::new();
        }
        let head = std::mem::take(head);
        if head.starts_with(b"GET /silent ") {
            return Vec::new();
        }
        let reader = Box::new(WebSocketReader::new(Masking::Required, 1 << 20));
        self.states.insert(connection, PeerState::Open(reader, Vec::new()));
        let response = self.shake_hands(&head);
        let acts = vec![(self.handshake_ns, Act::Bytes(response))];
        self.in_pieces(acts)
    }
}

impl<A> Server<A> {
    /// Divides bytes into pieces, one after the other.
    fn in_pieces(&self, acts: Vec<(Nanos, Act)>) -> Vec<(Nanos, Act)> {
        let mut pieces = Vec::new();
        for (after, act) in acts {
            match act {
                Act::Bytes(bytes) if self.piece < bytes.len() => {
                    let parts = bytes.chunks(self.piece).zip(after..);
                    pieces.extend(parts.map(|(part, at)| (at, Act::Bytes(part.to_vec()))));
                }
                act => pieces.push((after, act)),
            }
        }
        pieces
    }
}

/// Answers each message with the same text after a time.
#[allow(clippy::type_complexity)] // A closure's type is as long as its parameters.
fn echo_after(delay: Nanos) -> Server<impl FnMut(u64, u64, &[u8]) -> Vec<(Nanos, Act)>> {
    Server::new(move |_, _, payload| vec![(delay, Act::Bytes(text(payload)))])
}

fn over_websocket(mut plan: Plan, streams: u16) -> Plan {
    let url = RequestPlan { url: "ws://127.0.0.1:80/chat".into(), ..request(&mut plan).clone() };
    // "hello"
    let message = RequestPlan { body: Some("aGVsbG8=".into()), ..url };
    *request(&mut plan) = RequestPlan { accept_statuses: vec![(101, 101)], ..message };
    plan.transport.streams = streams;
    plan
}

fn matched(mut plan: Plan, matching: Matching) -> Plan {
    plan.transport.websocket = WebSocketPlan { matching, binary: false };
    plan
}

/// What the connections did in the window.
fn tally<P>(run: &Outcome<P>) -> WebSocketTally {
    let mut sum = WebSocketTally::default();
    let window = run.reports.iter().filter(|report| report.phase == Phase::Measure);
    window.filter_map(|report| report.websocket.as_ref()).for_each(|one| sum.merge(one));
    sum
}

fn opened<P>(run: &Outcome<P>) -> u64 {
    run.reports.last().unwrap().connections.opened
}

#[test]
fn every_message_is_answered_on_the_connection_of_its_user() {
    for piece in [usize::MAX, 1, 3] {
        let run = simulate(over_websocket(closed(3), 1), Server { piece, ..echo_after(10 * MS) });
        run.assert_balanced();
        assert_eq!(run.reasons(), []);
        assert_eq!(opened(&run), 3);
        assert!((295..=300).contains(&run.measured.ok), "{}", run.measured.ok);
        let peer = &run.world.peer;
        assert_eq!((peer.messages, peer.handshakes.len()), (run.measured.ok, 3));
        assert!(peer.handshakes.iter().all(|head| head.starts_with("GET /chat HTTP/1.1\r\n")));
        let keys: std::collections::BTreeSet<_> = peer.handshakes.iter().collect();
        assert_eq!(keys.len(), 3);
        let service = run.measured.accepted.service.quantile(0.5);
        assert!((10 * MS..11 * MS).contains(&service), "{service}");
        // The client says that it leaves.
        assert_eq!(peer.closes.len(), 3);
        assert!(peer.closes.iter().all(|(_, code)| *code == Some(1000)));
        assert_eq!(tally(&run), WebSocketTally::default());
    }
}

#[test]
fn users_share_a_connection_and_answers_are_matched_by_order_or_by_id() {
    let run = simulate(over_websocket(closed(8), 4), echo_after(10 * MS));
    run.assert_balanced();
    assert_eq!((opened(&run), run.reasons()), (2, vec![]));
    assert!((790..=800).contains(&run.measured.ok), "{}", run.measured.ok);

    let server = Server::new(|number, _, payload: &[u8]| {
        // Later messages are answered first; every tenth is preceded by an answer to none.
        let answer_at = (20 - number % 4 * 4) * MS;
        let mut acts = vec![(answer_at, Act::Bytes(text(payload)))];
        if number % 10 == 0 {
            acts.insert(0, (answer_at - MS, Act::Bytes(text(br#"{"id": -1}"#))));
        }
        acts
    });
    let mut plan = matched(over_websocket(closed(4), 4), Matching::Id { key: "id".into() });
    request(&mut plan).body = Some("eyJpZCI6IHt7c2VxfX19".into()); // {"id": {{seq}}}
    request(&mut plan).template = true;
    request(&mut plan).expect_body = vec![];
    let run = simulate(plan, server);
    run.assert_balanced();
    assert_eq!((opened(&run), run.reasons()), (1, vec![]));
    assert!(run.measured.ok > 200);
    assert_eq!(tally(&run).unmatched_messages, run.measured.ok.div_ceil(10));
}

#[test]
fn one_way_messages_need_no_answer() {
    let mut plan = matched(over_websocket(constant(1000.0, 4), 1), Matching::None);
    plan.transport.streams = 2;
    let run = simulate(plan, Server::new(|_, _, _: &[u8]| Vec::new()));
    run.assert_balanced();
    assert_eq!((run.measured.ok, run.measured.dropped), (1000, 0));
    assert_eq!(run.world.peer.messages, 1000);
    // All connections are open before the first message.
    assert_eq!((opened(&run), run.world.peer.handshakes.len()), (4, 4));
}

#[test]
fn the_server_of_one_way_messages_ends_the_connections_within_the_drain() {
    // The run ends with the last connection, and if the server answers no ping or ends none, after the drain.
    let table = [
        (Some(0), Some(0), 100 * MS),
        (Some(0), Some(700 * MS), 800 * MS),
        (Some(300 * MS), Some(0), 700 * MS),
        (Some(0), None, 2000 * MS),
        (Some(3000 * MS), Some(0), 2000 * MS),
        (None, Some(0), 2000 * MS),
    ];
    for (pongs_after, ends_after, end) in table {
        let mut plan = matched(over_websocket(constant(1000.0, 4), 1), Matching::None);
        plan.drain_ns = 2000 * MS;
        let server = Server::new(|_, _, _: &[u8]| Vec::new());
        let run = simulate(plan, Server { pongs_after, ends_after, ..server });
        run.assert_balanced();
        assert_eq!((run.measured.ok, run.world.peer.messages), (1000, 1000));
        assert_eq!(run.world.peer.closes.len(), 4);
        let took = run.reports.last().unwrap().to - window_end(&run);
        assert!((end..end + 55 * MS).contains(&took), "{took}");
        let is_confirmed = pongs_after.is_some_and(|after| after < 1000 * MS);
        assert_eq!(unconfirmed(&run), if is_confirmed { 0 } else { 4 });
        // torr has ended them.
        let mut sum = WebSocketTally::default();
        let all = run.reports.iter().filter_map(|report| report.websocket.as_ref());
        all.for_each(|tally| sum.merge(tally));
        assert_eq!((sum.closed_by_server, sum.lifetime.count()), (0, 4));
    }
}

#[test]
fn a_server_that_answers_one_way_messages_is_waited_for_but_not_one_that_sends_without_end() {
    // The time from a message to its answer, and how long the server answers the last one again and again.
    for (delay, again, end) in [(80 * MS, 0, 180 * MS), (80 * MS, 1500 * MS, 1000 * MS)] {
        let mut plan = matched(over_websocket(constant(1000.0, 4), 1), Matching::None);
        plan.drain_ns = 5000 * MS;
        let server = Server::new(move |number, _, payload: &[u8]| {
            let last = if number < 996 { delay } else { delay + again };
            let times = (delay..=last).step_by(50 * MS as usize);
            times.map(|at| (at, Act::Bytes(text(payload)))).collect()
        });
        let run = simulate(plan, server);
        assert_eq!(run.world.peer.messages, 1000);
        let took = run.reports.last().unwrap().to - window_end(&run);
        assert!((end..end + 105 * MS).contains(&took), "{took}");
    }
}

#[test]
fn an_open_request_elsewhere_does_not_keep_servers_from_confirming() {
    let mut plan = matched(over_websocket(constant(1000.0, 4), 1), Matching::None);
    plan.drain_ns = 500 * MS;
    let mut silent = plan.groups[0].clone();
    silent.pace = Pace::Closed(Closed::new(1));
    let Source::One { request } = &mut silent.source else { panic!("it has one request") };
    (request.url, request.accept_statuses) =
        ("http://127.0.0.1:80/silent".into(), vec![(200, 200)]);
    request.timeout_ns = 9000 * MS;
    plan.groups.push(silent);
    let run = simulate(plan, Server::new(|_, _, _: &[u8]| Vec::new()));
    assert_eq!(run.world.peer.messages, 1000);
    assert_eq!((run.reasons(), run.in_flight), (vec![], 1));
    assert_eq!(run.reports.last().unwrap().to - window_end(&run), 500 * MS);
    assert_eq!(unconfirmed(&run), 0);
}

#[test]
fn connections_that_servers_are_to_end_do_not_count_as_open() {
    let mut plan = matched(over_websocket(constant(1000.0, 4), 1), Matching::None);
    plan.transport.requests_per_connection = Some(10);
    let server = Server { ends_after: Some(200 * MS), ..Server::new(|_, _, _: &[u8]| Vec::new()) };
    let run = simulate(plan, server);
    run.assert_balanced();
    let counts = &run.reports.last().unwrap().connections;
    assert_eq!((run.measured.ok, run.world.peer.messages), (1000, 1000));
    assert_eq!((counts.asked, counts.open_max), (4, 4));
    assert!((100..=104).contains(&counts.opened), "{}", counts.opened);
    // Of 100 connections, there are sockets for 16 at once: others are not waited for.
    assert!((1..80).contains(&counts.unconfirmed), "{}", counts.unconfirmed);
}

fn unconfirmed<P>(run: &Outcome<P>) -> u64 {
    run.reports.last().unwrap().connections.unconfirmed
}

fn window_end<P>(run: &Outcome<P>) -> Nanos {
    let window = run.reports.iter().filter(|report| report.phase == Phase::Measure);
    window.map(|report| report.to).max().unwrap()
}

#[test]
fn idle_connections_are_opened_and_a_trickle_of_messages_goes_over_all_of_them() {
    let run = simulate(over_websocket(constant(100.0, 50), 1), echo_after(MS));
    run.assert_balanced();
    assert_eq!((run.measured.ok, run.measured.dropped), (100, 0));
    assert_eq!((opened(&run), run.world.peer.handshakes.len()), (50, 50));
    assert_eq!(run.measured.accepted.lag.quantile(1.0), 0);
}

#[test]
fn the_window_begins_after_all_handshakes() {
    let server = Server { handshake_ns: 300 * MS, ..echo_after(MS) };
    let run = simulate(over_websocket(constant(100.0, 4), 1), server);
    run.assert_balanced();
    assert_eq!((run.measured.ok, run.reasons()), (100, vec![]));
    assert_eq!(run.measured.accepted.wait.quantile(1.0), 0);
    assert_eq!(run.measured.accepted.lag.quantile(1.0), 0);
    let service = run.measured.accepted.service.quantile(1.0);
    assert!(service < 2 * MS, "{service}");

    // Users whose first handshake takes longer than their timeout try again; it is no attempt.
    let server = Server { handshake_ns: 300 * MS, ..echo_after(MS) };
    let mut plan = over_websocket(closed(2), 1);
    request(&mut plan).timeout_ns = 200 * MS;
    let run = simulate(plan, server);
    run.assert_balanced();
    let reasons = run.reasons();
    assert_eq!((reasons.len(), reasons[0].0.as_str()), (1, "timeout.websocket_handshake"));
    assert_eq!(opened(&run), run.world.peer.handshakes.len() as u64);
    assert_eq!(opened(&run), 2 + reasons[0].1);
}

#[test]
fn messages_that_nobody_asked_for_are_counted_and_pings_are_answered() {
    let server = Server::new(|number, _, payload: &[u8]| {
        let ping = frame(OutgoingFrame::ping(&ControlPayload::new(b"p").unwrap()));
        let mut acts = vec![(10 * MS, Act::Bytes(text(payload)))];
        if number % 10 == 0 {
            acts.push((10 * MS, Act::Bytes([text(b"news"), ping].concat())));
        }
        acts
    });
    let mut plan = over_websocket(closed(1), 1);
    // A user that thinks is not disturbed by the news.
    plan.groups[0].think = Some(engine::Think::Uniform { from_ns: MS, to_ns: MS });
    let run = simulate(plan, server);
    run.assert_balanced();
    let tally = tally(&run);
    let expected = run.measured.ok.div_ceil(10);
    assert_eq!(
        (tally.unmatched_messages, tally.pings, run.reasons()),
        (expected, expected, vec![])
    );
    assert_eq!(run.world.peer.pongs, expected);
}

#[test]
fn a_server_that_closes_is_counted_with_its_code_and_the_lifetime() {
    let server = Server::new(|number, _, payload: &[u8]| match number % 10 {
        9 => vec![(10 * MS, Act::Bytes(close(Some(1013)))), (11 * MS, Act::Close)],
        _ => vec![(10 * MS, Act::Bytes(text(payload)))],
    });
    let run = simulate(over_websocket(closed(1), 1), server);
    run.assert_balanced();
    let reasons = run.reasons();
    let [(name, count)] = reasons.as_slice() else { panic!("{reasons:?}") };
    assert_eq!((name.as_str(), *count), ("read.websocket_close.try_later", 10));
    let tally = tally(&run);
    assert_eq!((opened(&run), tally.closed_by_server, tally.lifetime.count()), (10, 10, 10));
    let lifetime = tally.lifetime.quantile(0.5);
    assert!((99 * MS..=101 * MS).contains(&lifetime), "{lifetime}");
    // Each Close frame is answered with its code.
    let codes = run.world.peer.closes.iter().filter(|(_, code)| *code == Some(1013)).count();
    assert_eq!(codes as u64, *count);
}

#[test]
fn a_server_that_closes_idle_connections_costs_no_message() {
    let server = Server::new(|_, _, payload: &[u8]| {
        let close = close(Some(1000));
        vec![(MS, Act::Bytes(text(payload))), (5 * MS, Act::Bytes(close)), (5 * MS, Act::Close)]
    });
    let mut plan = over_websocket(closed(2), 1);
    plan.groups[0].think = Some(engine::Think::Uniform { from_ns: 20 * MS, to_ns: 20 * MS });
    let run = simulate(plan, server);
    run.assert_balanced();
    assert_eq!(run.reasons(), []);
    let tally = tally(&run);
    assert!(run.measured.ok > 80 && tally.closed_by_server >= run.measured.ok - 2);
}

#[test]
fn a_connection_is_replaced_after_its_messages() {
    let mut plan = over_websocket(closed(1), 1);
    plan.transport.requests_per_connection = Some(5);
    let run = simulate(plan, echo_after(10 * MS));
    run.assert_balanced();
    assert_eq!((opened(&run), run.reasons()), (run.measured.ok.div_ceil(5), vec![]));
    let tally = tally(&run);
    assert_eq!((tally.closed_by_server, tally.lifetime.count()), (0, run.measured.ok / 5));
    let closes = &run.world.peer.closes;
    assert!(!closes.is_empty() && closes.iter().all(|(_, code)| *code == Some(1000)));
}

#[test]
fn bad_frames_and_handshakes_end_with_their_reasons() {
    let table: [(&'static [u8], &str); 4] = [
        (&[0x81, 0x81, 0, 0, 0, 0, b'a'], "protocol.websocket_masked"),
        (&[0x81, 1, 0xff], "protocol.websocket_utf8"),
        (&[0x80, 0], "protocol.websocket_fragment"),
        (&[0xf1, 0], "protocol.websocket_frame"),
    ];
    for (bytes, reason) in table {
        let server = Server::new(|_, _, _: &[u8]| vec![(10 * MS, Act::Bytes(bytes.to_vec()))]);
        let run = simulate(over_websocket(closed(2), 1), server);
        run.assert_balanced();
        let reasons = run.reasons();
        assert_eq!((reasons.len(), reasons[0].0.as_str()), (1, reason));
        assert_eq!(run.measured.ok, 0);
        let codes: Vec<_> = run.world.peer.closes.iter().filter_map(|(_, code)| *code).collect();
        let expected = if reason.ends_with("utf8") { 1007 } else { 1002 };
        assert!(!codes.is_empty());
        assert!(codes.iter().all(|code| *code == expected), "{codes:?}");
    }
    let refusals: [(&'static [u8], &str); 2] = [
        (b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n", "status.403"),
        (b"HTTP/1.1 101 X\r\nUpgrade: websocket\r\n\r\n", "protocol.websocket_connection"),
    ];
    for (response, reason) in refusals {
        let server =
            Server { refusal: Some(response), handshake_ns: 10 * MS, ..echo_after(10 * MS) };
        let run = simulate(over_websocket(closed(2), 1), server);
        run.assert_balanced();
        let reasons = run.reasons();
        assert_eq!((reasons.len(), reasons[0].0.as_str()), (1, reason));
        assert_eq!((run.measured.ok, run.world.peer.messages), (0, 0));
        assert!(reasons[0].1 > 100, "{reasons:?}");
    }
}

#[test]
fn a_handshake_that_is_refused_before_there_is_a_message_is_a_sample_and_no_attempt() {
    let refusal = Some(&b"HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno"[..]);
    let server = Server { refusal, refused: 1, ..echo_after(10 * MS) };
    let run = simulate(over_websocket(constant(10.0, 1), 1), server);
    run.assert_balanced();
    assert_eq!((run.reasons(), run.measured.ok, opened(&run)), (vec![], 10, 2));
    let samples: Vec<_> = run.reports.iter().flat_map(|report| &report.samples).collect();
    let [sample] = samples[..] else { panic!("{samples:?}") };
    assert_eq!(
        (sample.reason.as_str(), sample.status, sample.body.as_str()),
        ("status.403", Some(403), "no")
    );
    assert!(sample.head.starts_with("HTTP/1.1 403 Forbidden"), "{}", sample.head);
}

#[test]
fn what_is_not_answered_times_out_by_what_it_waited_for() {
    let server = Server::new(|number, _, payload: &[u8]| match number {
        3 => Vec::new(),
        5 => vec![(MS, Act::Bytes(text(payload)[..4].to_vec()))],
        _ => vec![(10 * MS, Act::Bytes(text(payload)))],
    });
    let mut plan = over_websocket(closed(1), 1);
    request(&mut plan).timeout_ns = 50 * MS;
    let run = simulate(plan, server);
    run.assert_balanced();
    let reasons = [("timeout.body".to_owned(), 1), ("timeout.first_byte".into(), 1)];
    assert_eq!((run.reasons(), opened(&run)), (reasons.to_vec(), 3));

    let server = Server { handshake_ns: 10_000 * MS, ..echo_after(MS) };
    let mut plan = over_websocket(closed(2), 1);
    request(&mut plan).timeout_ns = 50 * MS;
    let run = simulate(plan, server);
    run.assert_balanced();
    let reasons = run.reasons();
    assert_eq!((reasons.len(), reasons[0].0.as_str()), (1, "timeout.websocket_handshake"));
}

#[test]
fn messages_to_different_paths_use_different_connections() {
    let mut plan = plan(Pace::Closed(Closed::new(1)));
    let template = request(&mut over_websocket(closed(1), 1)).clone();
    let to =
        |path: &str| RequestPlan { url: format!("ws://127.0.0.1:80/{path}"), ..template.clone() };
    plan.groups[0].source = Source::Turn { requests: vec![to("a"), to("a"), to("b")] };
    let run = simulate(plan, echo_after(10 * MS));
    run.assert_balanced();
    assert_eq!(run.reasons(), []);
    let paths = run.world.peer.handshakes.iter().map(|head| head.split(' ').nth(1).unwrap());
    let paths: Vec<_> = paths.take(4).collect();
    assert_eq!(paths, ["/a", "/b", "/a", "/b"]);
}

#[test]
fn frames_that_are_written_in_parts_are_whole_messages() {
    let mut world = Simulated::new(echo_after(10 * MS));
    world.send_limit = 2;
    let gate = Gate::new(1).into();
    let plan = over_websocket(closed(1), 1);
    world.peer.piece = 5;
    let run = simulate_in(plan, world, &gate);
    run.assert_balanced();
    assert_eq!(run.reasons(), []);
}
