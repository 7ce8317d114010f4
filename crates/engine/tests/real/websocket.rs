//! WebSocket on real sockets: every fault of a server ends in its class, and both sides agree.

use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::time::Duration;

use engine::{BodyCheck, Matching, Plan, Source, Summary};
use targets::{Fault, FaultVersion, Spec, Target, WsSpec};
use wire::websocket::{
    Masking, MessageKind, OutgoingFrame, WebSocketEvent, WebSocketReader, accept_value,
};

use crate::at_once::at_once;
use crate::{MS, SILENCE_NS, balanced, faulty, one, requests, run};

/// A load of messages, of so many at once on each connection.
fn messages(target: &Target, users: u32, streams: u16, count: u64) -> Plan {
    messages_to(&format!("ws://{}/chat", target.addr()), users, streams, count)
}

fn messages_to(url: &str, users: u32, streams: u16, count: u64) -> Plan {
    let mut plan = requests(url, users, count);
    plan.transport.streams = streams;
    let message = one(&mut plan);
    // {"id": {{seq}}}
    message.body = Some("eyJpZCI6IHt7c2VxfX19".into());
    (message.template, message.accept_statuses) = (true, vec![(101, 101)]);
    plan
}

fn echo(push_every_ns: Option<u64>) -> Target {
    Target::start(Spec::Ws(WsSpec { push_every_ns, threads: 2, ..WsSpec::default() })).unwrap()
}

/// Why an exchange fails that meets this fault; none where it does not fail.
fn expected(fault: Fault) -> Option<&'static str> {
    let reason = match fault.name() {
        "ws_refused" => "status.403",
        "ws_no_handshake" => "timeout.websocket_handshake",
        "ws_bad_accept" => "protocol.websocket_accept",
        "ws_extension" => "protocol.websocket_extension",
        "ws_close" => "read.websocket_close.internal",
        "ws_drop" => "read.closed_in_body",
        "ws_hang" | "ws_pings" => "timeout.first_byte",
        "ws_half" => "timeout.body",
        "ws_masked" => "protocol.websocket_masked",
        "ws_bad_utf8" => "protocol.websocket_utf8",
        "ws_fragment" => "protocol.websocket_fragment",
        "ws_reserved" => "protocol.websocket_frame",
        "ws_huge" => "protocol.websocket_too_large",
        "ws_bad_close" => "protocol.websocket_close",
        _ => return None,
    };
    Some(reason)
}

/// Whether only a timeout ends an exchange that meets this fault.
fn is_silent(fault: Fault) -> bool {
    expected(fault).is_some_and(|reason| reason.starts_with("timeout."))
}

fn faults() -> impl Iterator<Item = (String, Fault)> {
    let is_of_websocket = |fault: &Fault| fault.version() == FaultVersion::WebSocket;
    let chosen = Fault::ALL.iter().copied().filter(is_of_websocket);
    chosen.map(|fault| (fault.name().to_owned(), fault))
}

/// Whether the fault is one of handshakes, so that the target reads no message.
fn is_of_handshake(fault: Fault) -> bool {
    let names = ["ws_refused", "ws_no_handshake", "ws_bad_accept", "ws_extension"];
    names.contains(&fault.name())
}

#[test]
fn each_fault_ends_in_its_class_and_the_target_agrees() {
    at_once(faults(), |fault| {
        let healthy = echo(None);
        let target = faulty(fault, 1.0);
        // Each user ends with a message to the faulty target: one timeout for all.
        let mut plan = messages(&healthy, 6, 1, 12);
        plan.workers = 1;
        let answered = one(&mut plan).clone();
        let mut broken = answered.clone();
        broken.url = format!("ws://{}/chat", target.addr());
        if is_silent(fault) {
            broken.timeout_ns = SILENCE_NS;
        }
        plan.groups[0].source = Source::Turn { requests: vec![answered, broken] };
        let summary = run(&plan);
        healthy.stop().unwrap();
        target.stop().unwrap();
        let (total, counts) = (balanced(&summary), target.counts());
        assert_eq!((total.attempted, healthy.counts().answered), (12, 6));
        let failed = expected(fault).map(|reason| (reason.to_owned(), 6));
        assert_eq!(total.all_reasons(), BTreeMap::from_iter(failed));
        assert_eq!(total.ok, 6 + counts.answered);
        let read = if is_of_handshake(fault) { 0 } else { 6 };
        assert_eq!((counts.requests, counts.faults[fault.name()]), (read, 6));
    });
}

#[test]
fn with_many_messages_at_once_the_answered_are_those_that_the_target_answered() {
    at_once(faults(), |fault| {
        let target = faulty(fault, 0.1);
        let mut plan = messages(&target, 24, 8, 100);
        plan.transport.websocket.matching = Matching::Id { key: "id".into() };
        // Answers without an ID answer nothing.
        if is_silent(fault) || fault == Fault::WsFrames {
            // On a busy machine others time out, too.
            one(&mut plan).timeout_ns = SILENCE_NS / 8;
        }
        let summary = run(&plan);
        target.stop().unwrap();
        let (total, counts) = (balanced(&summary), target.counts());
        assert_eq!((total.attempted, &summary.failure), (100, &None));
        let reasons = total.all_reasons();
        // An answer may come after its timeout, or after a Close frame.
        assert!(total.ok <= counts.answered + unmatched(&summary), "{reasons:?}");
        assert!(counts.requests <= total.attempted);
        if fault == Fault::WsFrames {
            assert_eq!(unmatched(&summary), counts.faults["ws_frames"]);
        }
    });
}

fn unmatched(summary: &Summary) -> u64 {
    summary.websocket.as_ref().map_or(0, |tally| tally.unmatched_messages)
}

#[test]
fn a_healthy_target_agrees_to_the_last_message() {
    let ways = [Matching::Order, Matching::Id { key: "id".into() }, Matching::None];
    for matching in ways {
        let target = echo(None);
        let mut plan = messages(&target, 40, 10, 20_000);
        plan.transport.websocket.matching = matching.clone();
        let summary = run(&plan);
        let total = balanced(&summary);
        target.stop().unwrap();
        let counts = target.counts();
        assert_eq!(total.ok, 20_000, "{matching:?}");
        assert_eq!((summary.connections.asked, counts.connections), (4, 4));
        // One-way messages, too: torr reads what nobody asked for until the target has read all.
        assert_eq!((counts.requests, counts.answered), (20_000, 20_000), "{matching:?}");
        if matching != Matching::None {
            assert_eq!(unmatched(&summary), 0);
        }
    }
}

/// Reads nothing of a connection for a while after its handshake, then answers each message, until an answer
/// cannot be written; returns how many messages it read, and whether a Close frame was the last frame.
fn answer_late(mut stream: TcpStream, wait: Duration) -> (u64, bool) {
    let mut buffer = vec![0; 64 * 1024];
    let mut request = Vec::new();
    while !request.ends_with(b"\r\n\r\n") {
        let count = stream.read(&mut buffer).unwrap();
        request.extend_from_slice(&buffer[..count]);
    }
    let request = String::from_utf8(request).unwrap();
    let key = request.split("Sec-WebSocket-Key: ").nth(1).unwrap().lines().next().unwrap();
    let head = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade";
    let accept = accept_value(key.trim().as_bytes());
    write!(stream, "{head}\r\nSec-WebSocket-Accept: {accept}\r\n\r\n").unwrap();
    std::thread::sleep(wait);
    let mut reader = WebSocketReader::new(Masking::Required, 1 << 20);
    let mut answer = Vec::new();
    OutgoingFrame::message(MessageKind::Text, b"answer").write_unmasked(&mut answer);
    let mut count = 0;
    while let Ok(length @ 1..) = stream.read(&mut buffer) {
        let mut rest = &buffer[..length];
        while let Some(event) = reader.next(&mut rest).unwrap() {
            match event {
                WebSocketEvent::Message(piece) if piece.is_last => {
                    count += 1;
                    if stream.write_all(&answer).is_err() {
                        return (count, false);
                    }
                }
                WebSocketEvent::Ping(payload) => {
                    let mut pong = Vec::new();
                    OutgoingFrame::pong(payload).write_unmasked(&mut pong);
                    stream.write_all(&pong).unwrap();
                }
                WebSocketEvent::Close(_) => return (count, true),
                _ => {}
            }
        }
    }
    (count, false)
}

#[test]
fn a_server_that_reads_late_reads_all_one_way_messages() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let accept = move |_| listener.accept().unwrap().0;
    let serve = |stream| std::thread::spawn(|| answer_late(stream, Duration::from_millis(300)));
    let server = std::thread::spawn(move || {
        let threads: Vec<_> = (0..2).map(accept).map(serve).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect::<Vec<_>>()
    });
    let mut plan = messages_to(&format!("ws://{address}/chat"), 10, 5, 5000);
    plan.transport.websocket.matching = Matching::None;
    let total = balanced(&run(&plan));
    let ended = server.join().unwrap();
    assert_eq!((total.ok, ended.iter().map(|(count, _)| count).sum()), (5000, 5000));
    assert!(ended.iter().all(|(_, was_closed)| *was_closed));
}

#[test]
fn one_way_messages_arrive_although_a_few_are_sent_over_each_connection() {
    let target = echo(None);
    let mut plan = messages(&target, 10, 5, 2000);
    plan.transport.websocket.matching = Matching::None;
    plan.transport.requests_per_connection = Some(10);
    let summary = run(&plan);
    let total = balanced(&summary);
    target.stop().unwrap();
    assert_eq!((total.ok, target.counts().requests), (2000, 2000));
    assert!(target.counts().connections >= 200);
    assert_eq!((summary.connections.unconfirmed, summary.warnings.len()), (0, 0));
}

#[test]
fn messages_larger_than_every_buffer_come_back_whole() {
    let target = echo(None);
    let mut plan = messages(&target, 4, 2, 12);
    one(&mut plan).template = false;
    // 3 MB
    one(&mut plan).body = Some("aGVs".repeat(1_000_000));
    let summary = run(&plan);
    let total = balanced(&summary);
    target.stop().unwrap();
    assert_eq!((total.ok, target.counts().answered), (12, 12));
    assert!(total.bytes_in >= 12 * 3_000_000 && total.bytes_out >= total.bytes_in);
}

#[test]
fn what_the_server_pushes_is_counted_and_disturbs_no_message_with_an_id() {
    let target = echo(Some(20 * MS));
    let mut plan = messages(&target, 4, 1, 2000);
    plan.groups[0].think = Some(engine::Think::Uniform { from_ns: MS, to_ns: MS });
    plan.transport.websocket.matching = Matching::Id { key: "id".into() };
    // What is pushed is no answer: it has no ID.
    one(&mut plan).expect_body = vec![BodyCheck::Text { text: "\"id\"".into() }];
    let summary = run(&plan);
    let total = balanced(&summary);
    target.stop().unwrap();
    assert_eq!((total.ok, target.counts().answered), (2000, 2000));
    assert!(unmatched(&summary) > 10);
}
