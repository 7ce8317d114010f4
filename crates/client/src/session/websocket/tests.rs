//! A connection whose server is written by hand: what is sent, and how each exchange ends.

use std::io::{self, ErrorKind};
use std::sync::Arc;

use net::Nanos;
use wire::websocket::{
    CloseCode, CloseFrame, ControlPayload, HandshakeRequest, Masking, MessageKind, OutgoingFrame,
    WebSocketEvent, WebSocketReader, accept_value,
};
use wire::{RequestParts, RequestTemplate};

use super::{MessageMatching, WebSocketOptions, WebSocketSession};
use crate::session::{Ended, ProtocolSession, Received, Slots};
use crate::{Exchange, Outline, Reason, Scratch, Stamps};

/// A client with slots.
struct Client {
    session: WebSocketSession,
    slots: Vec<(Exchange, Vec<u8>)>,
    scratch: Scratch,
    now: Nanos,
}

struct Places<'a>(&'a mut Vec<(Exchange, Vec<u8>)>);

impl Slots for Places<'_> {
    fn slot(&mut self, slot: u16) -> (&mut Exchange, &[u8]) {
        let (exchange, request) = &mut self.0[usize::from(slot)];
        (exchange, request)
    }
}

fn encoded(payload: &[u8]) -> Vec<u8> {
    let (method, scheme, authority, target, fields) = ("GET", "http", "h", "/", &[][..]);
    let parts = RequestParts { method, scheme, authority, target, fields, body: Some(payload) };
    RequestTemplate::plain(&parts).unwrap().to_message(false).fixed().unwrap().into_vec()
}

/// Returns a frame of a server.
fn frame(frame: OutgoingFrame<'_>) -> Vec<u8> {
    let mut out = Vec::new();
    frame.write_unmasked(&mut out);
    out
}

fn text(payload: &str) -> Vec<u8> {
    frame(OutgoingFrame::message(MessageKind::Text, payload.as_bytes()))
}

fn close(code: Option<u16>) -> Vec<u8> {
    let payload = CloseFrame { code: code.map(CloseCode), reason: "" }.payload().unwrap();
    frame(OutgoingFrame::close(&payload))
}

/// Returns the response to a handshake.
fn switched(request: &[u8]) -> Vec<u8> {
    let request = String::from_utf8(request.to_vec()).unwrap();
    let key = request.split("Sec-WebSocket-Key: ").nth(1).unwrap().trim_end();
    let accept = accept_value(key.as_bytes());
    format!(
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
         Sec-WebSocket-Accept: {accept}\r\n\r\n"
    )
    .into_bytes()
}

/// Returns the events of frames that the server received, as text.
fn seen(bytes: &[u8]) -> Vec<String> {
    let mut reader = WebSocketReader::new(Masking::Required, 1 << 20);
    let (mut rest, mut seen) = (bytes, Vec::new());
    while let Some(event) = reader.next(&mut rest).unwrap() {
        seen.push(match event {
            WebSocketEvent::Message(piece) => {
                format!("{:?} {}", piece.kind, String::from_utf8_lossy(piece.payload))
            }
            WebSocketEvent::Ping(payload) => format!("ping {payload:?}"),
            WebSocketEvent::Pong(payload) => {
                format!("pong {}", String::from_utf8_lossy(payload.as_bytes()))
            }
            WebSocketEvent::Close(frame) => format!("close {:?}", frame.code.map(|code| code.0)),
        });
    }
    seen
}

impl Client {
    fn new(slots: u16, matching: MessageMatching) -> Self {
        let handshake = HandshakeRequest::new("h", "/chat", &[]).unwrap();
        let options = WebSocketOptions { slots, matching, is_binary: false, handshake };
        let outline = Outline { is_head: false, length: 0 };
        let slot = |_| (Exchange::new(0, 0, outline), Vec::new());
        Self {
            session: WebSocketSession::new(Arc::new(options), 7),
            slots: (0..slots).map(slot).collect(),
            scratch: Scratch::new(64),
            now: 1_000,
        }
    }

    /// A client whose handshake is complete.
    fn open(slots: u16, matching: MessageMatching) -> Self {
        let mut client = Self::new(slots, matching);
        let response = switched(&client.sent_bytes());
        assert_eq!(client.feed(&response), []);
        client
    }

    fn begin(&mut self, slot: u16, payload: &str) {
        let request = encoded(payload.as_bytes());
        let (exchange, known) = &mut self.slots[usize::from(slot)];
        exchange.body = Some(Vec::new());
        exchange.restart(self.now, self.now, Outline { is_head: false, length: request.len() });
        *known = request;
        self.session.begin(slot, exchange, known);
    }

    fn cancel(&mut self, slot: u16) -> bool {
        self.session.cancel(slot, self.now, &mut Places(&mut self.slots))
    }

    /// Sends everything in small writes.
    fn sent_bytes(&mut self) -> Vec<u8> {
        let mut bytes = Vec::new();
        loop {
            self.now += 1;
            let slots = &mut Places(&mut self.slots);
            let outgoing = self.session.outgoing(slots);
            let count = outgoing.len().min(5);
            bytes.extend_from_slice(&outgoing[..count]);
            if count == 0 {
                return bytes;
            }
            self.session.sent(count, self.now, slots);
        }
    }

    fn sent(&mut self) -> Vec<String> {
        seen(&self.sent_bytes())
    }

    fn feed(&mut self, bytes: &[u8]) -> Vec<Ended> {
        self.now += 1;
        let Scratch { heads, budget, ended, messages, .. } = &mut self.scratch;
        let received =
            Received { bytes, at: self.now, is_late: false, heads, budget, ended, messages };
        self.session.feed(received, &mut Places(&mut self.slots));
        std::mem::take(&mut self.scratch.ended)
    }

    /// Feeds the bytes in pieces of a size.
    fn feed_by(&mut self, size: usize, bytes: &[u8]) -> Vec<Ended> {
        bytes.chunks(size).flat_map(|piece| self.feed(piece)).collect()
    }

    fn end_of_stream(&mut self) -> Vec<Ended> {
        let (slots, ended) = (&mut Places(&mut self.slots), &mut self.scratch.ended);
        self.session.end_of_stream(self.now, true, slots, ended);
        std::mem::take(ended)
    }

    fn body(&self, slot: u16) -> &str {
        let body = self.slots[usize::from(slot)].0.body.as_ref().unwrap();
        std::str::from_utf8(body).unwrap()
    }
}

/// Returns slot and reason of each exchange that ended.
fn ends(ended: &[Ended]) -> Vec<(u16, Option<&'static str>)> {
    ended.iter().map(|it| (it.slot, it.outcome.failure.map(Reason::name))).collect()
}

const ORDER: MessageMatching = MessageMatching::Order;

#[test]
fn messages_wait_for_the_handshake_and_every_split_gives_the_same_end() {
    let bytes = |client: &mut Client| {
        let head = switched(&client.sent_bytes());
        let interim = b"HTTP/1.1 103 Early Hints\r\nA: b\r\n\r\n";
        [&interim[..], &head, &text("pushed")].concat()
    };
    let length = bytes(&mut Client::new(1, ORDER)).len();
    for size in 1..=length {
        let mut client = Client::new(1, ORDER);
        client.begin(0, "hello");
        let begin = bytes(&mut client);
        assert!(client.session.is_opening() && client.session.is_active());
        assert_eq!(client.feed_by(size, &begin), [], "{size}");
        assert!(!client.session.is_opening());
        assert_eq!(client.sent(), ["Text hello"]);
        let sent = client.slots[0].0.stamps.sent;
        let answer = [
            frame(OutgoingFrame::fragment(Some(MessageKind::Text), b"an", false)),
            frame(OutgoingFrame::ping(&ControlPayload::new(b"p").unwrap())),
            frame(OutgoingFrame::fragment(None, b"swer", true)),
        ];
        let ended = client.feed_by(size, &answer.concat());
        assert_eq!(ends(&ended), [(0, None)], "{size}");
        assert_eq!((ended[0].outcome.status, ended[0].outcome.reusable), (Some(101), true));
        assert_eq!(client.body(0), "answer");
        assert_eq!(client.sent(), ["pong p"]);
        let stamps = client.slots[0].0.stamps;
        assert!(sent < stamps.first_byte && stamps.first_byte <= stamps.last_byte);
        let counts = client.scratch.messages;
        assert_eq!((counts.unmatched, counts.pings), (1, 1), "{size}");
        assert!(!client.session.is_active());
    }
}

#[test]
fn answers_belong_to_the_oldest_message_that_was_sent() {
    let mut client = Client::open(3, ORDER);
    client.begin(1, "a");
    assert_eq!(client.feed(&text("too early")), []);
    client.begin(0, "b");
    assert_eq!(client.sent(), ["Text a", "Text b"]);
    let ended = client.feed(&[text("A"), text("B"), text("C")].concat());
    assert_eq!(ends(&ended), [(1, None), (0, None)]);
    assert_eq!((client.body(1), client.body(0)), ("A", "B"));
    assert_eq!(client.scratch.messages.unmatched, 2);
}

#[test]
fn answers_with_ids_come_in_any_order_and_in_pieces() {
    // From the read with the end of the frame's head to that with the end of the frame.
    for (size, reads) in [(1, 21), (7, 3), (1000, 0)] {
        let mut client = Client::open(3, MessageMatching::Id("id".into()));
        client.begin(0, r#"{"id": 1}"#);
        client.begin(1, r#"{"id": "two", "more": {"id": 1}}"#);
        client.begin(2, r#"{"no": "id"}"#);
        assert_eq!(client.sent().len(), 3);
        let answers = [
            text(r#"{"event": "pushed"}"#),
            text(r#"{"x": 2, "id": "two"}"#),
            text(r#"{"id": 3}"#),
            text("no JSON"),
            text(r#"{"id": 1}"#),
            text(r#"{"id": 1}"#),
        ];
        let ended = client.feed_by(size, &answers.concat());
        assert_eq!(ends(&ended), [(1, None), (0, None)], "{size}");
        assert_eq!(client.body(1), r#"{"x": 2, "id": "two"}"#);
        let exchange = &client.slots[1].0;
        assert_eq!(exchange.bytes_in, answers[1].len() as u64, "{size}");
        let Stamps { first_byte, last_byte, .. } = exchange.stamps;
        assert_eq!(last_byte - first_byte, reads, "{size}");
        assert_eq!(client.scratch.messages.unmatched, 4, "{size}");
        // The one without an ID, which nothing answers.
        assert!(client.cancel(2) && !client.session.is_active());
    }
}

#[test]
fn one_way_messages_are_complete_when_they_were_written() {
    let mut client = Client::open(2, MessageMatching::None);
    client.begin(0, "a");
    client.begin(1, "b");
    assert!(!client.session.has_written());
    assert_eq!(client.sent(), ["Text a", "Text b"]);
    assert!(client.session.has_written());
    let (slots, ended) = (&mut Places(&mut client.slots), &mut client.scratch.ended);
    client.session.end_written(2_000, slots, ended);
    let ended = std::mem::take(ended);
    assert_eq!(ended.len(), 2);
    assert!(ended.iter().all(|it| it.outcome.status == Some(101) && it.outcome.reusable));
    let stamps = client.slots[0].0.stamps;
    assert_eq!((stamps.last_byte, stamps.service()), (2_000, Some(2_000 - stamps.sent)));
    assert_eq!(client.feed(&text("ignored")), []);
    assert_eq!(client.scratch.messages.unmatched, 1);
    assert!(!client.session.is_active() && !client.session.has_written());
}

#[test]
fn a_handshake_that_is_refused_has_its_status_and_one_that_is_wrong_a_reason() {
    let answered = |change: &dyn Fn(String) -> String| {
        let mut client = Client::new(2, ORDER);
        client.begin(1, "a");
        let response = String::from_utf8(switched(&client.sent_bytes())).unwrap();
        let response = change(response);
        let by_byte = {
            let mut client = Client::new(2, ORDER);
            client.begin(1, "a");
            client.sent_bytes();
            ends(&client.feed_by(1, response.as_bytes()))
        };
        let ended = client.feed(response.as_bytes());
        assert_eq!(by_byte, ends(&ended));
        assert!(!client.session.accepts() && !client.session.reads_on());
        assert_eq!(client.session.farewell(), b"");
        let [Ended { slot: 1, outcome }] = ended[..] else { panic!("{ended:?}") };
        assert!(!outcome.reusable && client.session.lifetime(9).is_none());
        (outcome.failure.unwrap().name(), outcome.status)
    };
    let refused = |_| "HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno".to_owned();
    assert_eq!(answered(&refused), ("status", Some(403)));
    let table = [
        ("Upgrade: websocket", "Upgrade: h2c", "protocol.websocket_upgrade"),
        ("Connection: Upgrade", "Connection: close", "protocol.websocket_connection"),
        ("Accept: ", "Accept: x", "protocol.websocket_accept"),
        (
            "Connection:",
            "Sec-WebSocket-Extensions: x\r\nConnection:",
            "protocol.websocket_extension",
        ),
        (
            "Connection:",
            "Sec-WebSocket-Protocol: x\r\nConnection:",
            "protocol.websocket_subprotocol",
        ),
    ];
    for (from, to, reason) in table {
        assert_eq!(answered(&|response| response.replace(from, to)), (reason, Some(101)));
    }
    let garbage = |_| "SSH-2.0-x\r\n".to_owned();
    assert_eq!(answered(&garbage), ("protocol.not_http", None));
    let endless = |_| "HTTP/1.1 102 Processing\r\n\r\n".repeat(101);
    assert_eq!(answered(&endless), ("protocol.too_many_interim", None));
}

#[test]
fn a_refused_handshake_is_a_sample() {
    let mut client = Client::new(1, ORDER);
    client.begin(0, "a");
    client.sent_bytes();
    client.feed(b"HTTP/1.1 503 Busy\r\nRetry-After: 9\r\n\r\nlater");
    let (head, body) = client.slots[0].0.sample(&[]);
    assert_eq!((head.unwrap().status, body.as_slice()), (503, &b"later"[..]));
    assert!(client.session.take_refusal().is_none());
}

#[test]
fn a_handshake_that_is_refused_while_no_message_waits_is_a_sample() {
    for (response, expected) in [
        (&b"HTTP/1.1 403 Forbidden\r\nVia: x\r\n\r\nno"[..], ("status", Some(403), &b"no"[..])),
        (b"SSH-2.0-x\r\n", ("protocol.not_http", None, b"SSH-2.0-x\r\n")),
    ] {
        let mut client = Client::new(1, ORDER);
        client.sent_bytes();
        assert!(client.feed(response).is_empty());
        let (exchange, outcome) = client.session.take_refusal().unwrap();
        let (head, body) = exchange.sample(&[]);
        let reason = outcome.failure.unwrap().name();
        assert_eq!((reason, outcome.status, body.as_slice()), expected);
        assert_eq!(head.map(|head| head.status), expected.1);
        assert!(client.session.take_refusal().is_none());
    }
}

#[test]
fn a_close_of_the_server_is_answered_and_its_code_is_the_reason() {
    let table = [
        (Some(1000), "read.websocket_close.normal"),
        (Some(1001), "read.websocket_close.going_away"),
        (Some(1011), "read.websocket_close.internal"),
        (Some(1013), "read.websocket_close.try_later"),
        (Some(4000), "read.websocket_close.other"),
        (None, "read.websocket_close.none"),
    ];
    for (code, reason) in table {
        let mut client = Client::open(2, ORDER);
        client.begin(0, "a");
        client.begin(1, "b");
        client.sent();
        let ended = client.feed(&[text("A"), close(code), text("after")].concat());
        assert_eq!(ends(&ended), [(0, None), (1, Some(reason))]);
        assert_eq!(client.sent(), [format!("close {code:?}")]);
        assert!(client.session.is_ended_by_server() && !client.session.accepts());
        let opened_at = client.session.core.opened_at;
        assert_eq!(client.session.lifetime(opened_at + 10), Some(10));
    }
}

#[test]
fn a_message_that_was_not_sent_when_the_connection_ended_does_not_end_twice() {
    for matching in [ORDER, MessageMatching::None] {
        let mut client = Client::open(1, matching);
        client.begin(0, "a");
        let ended = client.feed(&close(Some(1000)));
        assert_eq!(ends(&ended), [(0, Some("write.closed"))]);
        // The message goes out with the answer to the Close frame.
        assert_eq!(client.sent(), ["Text a", "close Some(1000)"]);
        assert!(!client.session.has_written() && !client.session.is_active());
        assert_eq!(client.slots[0].0.bytes_out(), 0);
    }
}

#[test]
fn frames_that_break_the_protocol_end_the_connection_with_a_code() {
    let masked = {
        let mut out = Vec::new();
        OutgoingFrame::message(MessageKind::Text, b"a").write_masked([1, 2, 3, 4], &mut out);
        out
    };
    let table: [(&[u8], &str, u16); 7] = [
        (&masked, "protocol.websocket_masked", 1002),
        (&[0xc1, 1, b'a'], "protocol.websocket_frame", 1002),
        (&[0x80, 1, b'a'], "protocol.websocket_fragment", 1002),
        (&[0x81, 1, 0xff], "protocol.websocket_utf8", 1007),
        (&[0x81, 127, 0, 0, 0, 0, 1, 0, 0, 1], "protocol.websocket_too_large", 1009),
        (&[0x88, 1, 0], "protocol.websocket_close", 1002),
        (&[0x89, 126, 0, 126], "protocol.websocket_frame", 1002),
    ];
    for (bytes, reason, code) in table {
        for size in [1, bytes.len()] {
            let mut client = Client::open(1, ORDER);
            client.begin(0, "a");
            client.sent();
            assert_eq!(ends(&client.feed_by(size, bytes)), [(0, Some(reason))]);
            assert_eq!(client.sent(), [format!("close Some({code})")]);
            assert!(!client.session.is_ended_by_server());
        }
    }
}

#[test]
fn a_connection_that_ends_without_a_close_has_the_reasons_of_http() {
    let at = |progress: usize| {
        let mut client = Client::new(1, ORDER);
        client.begin(0, "a");
        let response = switched(&client.sent_bytes());
        match progress {
            0 => _ = client.feed(b""),
            1 => _ = client.feed(&response[..9]),
            2 => _ = client.feed(&response),
            3 => {
                client.feed(&response);
                client.sent();
            }
            _ => {
                client.feed(&response);
                client.sent();
                client.feed(&text("answer")[..4]);
            }
        }
        client
    };
    let closed = [
        "read.closed",
        "read.closed_in_head",
        "write.closed",
        "read.closed",
        "read.closed_in_body",
    ];
    let reset =
        ["read.reset", "read.reset_in_head", "write.reset", "read.reset", "read.reset_in_body"];
    for progress in 0..5 {
        let mut client = at(progress);
        assert_eq!(ends(&client.end_of_stream()), [(0, Some(closed[progress]))]);
        let mut client = at(progress);
        let error = io::Error::from(ErrorKind::ConnectionReset);
        let (slots, ended) = (&mut Places(&mut client.slots), &mut client.scratch.ended);
        client.session.broken(client.now, true, &error, slots, ended);
        assert_eq!(ends(&client.scratch.ended), [(0, Some(reset[progress]))]);
        assert!(client.session.is_ended_by_server());
    }
}

#[test]
fn a_late_answer_is_not_taken_for_the_next_one() {
    let mut client = Client::open(2, ORDER);
    client.begin(0, "a");
    client.begin(1, "b");
    client.sent();
    // Without IDs no other message may follow on the connection.
    assert!(!client.cancel(0));
    assert_eq!(ends(&client.feed(&[text("A"), text("B")].concat())), [(1, None)]);
    assert_eq!((client.body(1), client.scratch.messages.unmatched), ("B", 1));

    let mut client = Client::open(1, MessageMatching::Id("id".into()));
    client.begin(0, r#"{"id": 1}"#);
    client.sent();
    assert!(client.cancel(0));
    client.begin(0, r#"{"id": 2}"#);
    client.sent();
    let late = [text(r#"{"id": 1}"#), text(r#"{"id": 2}"#)].concat();
    assert_eq!(ends(&client.feed(&late)), [(0, None)]);
    assert_eq!(client.body(0), r#"{"id": 2}"#);
}

#[test]
fn a_message_can_be_cancelled_at_any_time() {
    // Before the handshake is complete, the connection is of no use to others.
    let mut client = Client::new(1, MessageMatching::None);
    client.begin(0, "a");
    assert!(!client.cancel(0));
    let response = switched(&client.sent_bytes());
    client.feed(&response);
    assert_eq!(client.sent(), [] as [&str; 0]);
    // While it is written, the rest of its frame is sent.
    client.begin(0, "written");
    let slots = &mut Places(&mut client.slots);
    let mut bytes = client.session.outgoing(slots)[..3].to_vec();
    client.session.sent(3, 9, slots);
    assert!(client.cancel(0));
    bytes.extend(client.sent_bytes());
    assert_eq!(seen(&bytes), ["Text written"]);
    assert!(!client.session.has_written() && !client.session.is_active());
    // While its answer comes.
    let mut client = Client::open(1, ORDER);
    client.begin(0, "a");
    client.sent();
    client.feed(&text("answer")[..4]);
    assert!(!client.cancel(0));
    assert_eq!(client.feed(&text("answer")[4..]), []);
    assert_eq!(client.scratch.messages.unmatched, 1);
}

/// Sends a message on an open connection whose messages have no answers.
fn after_a_message() -> Client {
    let mut client = Client::open(1, MessageMatching::None);
    client.begin(0, "a");
    client.sent();
    end_written(&mut client);
    client
}

fn end_written(client: &mut Client) {
    let (slots, ended) = (&mut Places(&mut client.slots), &mut client.scratch.ended);
    client.session.end_written(1_000, slots, ended);
    client.scratch.ended.clear();
}

/// Returns what a server does to the connection: the stream ends, or it breaks.
fn end_stream(client: &mut Client, is_broken: bool) {
    let (slots, ended) = (&mut Places(&mut client.slots), &mut client.scratch.ended);
    if is_broken {
        let error = io::Error::from(ErrorKind::ConnectionReset);
        client.session.broken(3_000, false, &error, slots, ended);
    } else {
        client.session.end_of_stream(3_000, false, slots, ended);
    }
    assert_eq!(*ended, []);
    assert!(!client.session.awaits_server_end() && !client.session.reads_on());
}

fn pong(client: &mut Client, payload: [u8; 2]) {
    let payload = ControlPayload::new(&payload).unwrap();
    assert_eq!(client.feed(&frame(OutgoingFrame::pong(&payload))), []);
}

#[test]
fn the_server_is_asked_to_confirm_that_it_has_read_one_way_messages() {
    let mut client = after_a_message();
    assert!(client.session.is_unconfirmed());
    let asked =
        [client.session.request_confirmation(1_000), client.session.request_confirmation(1)];
    assert_eq!(asked, [false, false]);
    for payload in [[0, 2], [0, 1]] {
        // The second ping is sent once the first was answered.
        assert_eq!(client.sent().len(), 1);
        assert!(
            !client.session.request_confirmation(Nanos::MAX) && client.session.is_unconfirmed()
        );
        pong(&mut client, payload);
    }
    assert_eq!(client.sent(), [] as [&str; 0]);
    client.feed(&text("late answer"));
    let latest = client.now;
    assert!(!client.session.request_confirmation(latest + 99_000_000));
    assert!(client.session.request_confirmation(latest + 101_000_000));
    assert!(!client.session.is_unconfirmed());
    // Another message is to be confirmed, too; not while it is being sent.
    client.begin(0, "b");
    assert!(!client.session.request_confirmation(Nanos::MAX) && client.session.is_unconfirmed());
    assert_eq!(client.sent(), ["Text b"]);
    end_written(&mut client);
    assert!(!client.session.request_confirmation(Nanos::MAX));
    assert_eq!(client.sent().len(), 1);
    // The server may close before it has confirmed.
    client.feed(&close(Some(1001)));
    assert!(client.session.request_confirmation(latest) && client.session.is_unconfirmed());
    // Answers show that messages were read; and without messages there is nothing to confirm.
    let mut answered = Client::open(1, ORDER);
    answered.begin(0, "a");
    answered.sent();
    for mut client in [answered, Client::open(1, MessageMatching::None)] {
        assert!(client.session.request_confirmation(1_000) && client.sent().is_empty());
        assert!(!client.session.is_unconfirmed() && !client.session.begin_close(1_000));
    }
}

#[test]
fn the_server_ends_a_connection_of_one_way_messages() {
    for (is_broken, has_pongs) in [(false, true), (true, true), (false, false), (true, false)] {
        let mut client = after_a_message();
        let opened_at = client.session.core.opened_at;
        assert!(client.session.begin_close(2_000) && client.session.begin_close(2_500));
        assert!(!client.session.accepts() && client.session.reads_on());
        client.feed(&text("news"));
        assert_eq!(client.sent().len(), 1);
        if has_pongs {
            pong(&mut client, [0, 2]);
            assert_eq!(client.sent().len(), 1);
            pong(&mut client, [0, 1]);
            // Nothing follows the Close frame.
            client.feed(&frame(OutgoingFrame::ping(&ControlPayload::EMPTY)));
            assert_eq!(client.sent(), ["close Some(1000)"]);
        }
        assert!(client.session.awaits_server_end() && client.session.reads_on());
        assert_eq!(client.session.is_unconfirmed(), !has_pongs);
        end_stream(&mut client, is_broken);
        assert!(!client.session.is_ended_by_server());
        // The end of the stream follows what the server has read; a reset does not.
        assert_eq!(client.session.is_unconfirmed(), !has_pongs && is_broken);
        assert_eq!(client.session.lifetime(9_000), Some(2_000 - opened_at));
        assert_eq!(client.session.farewell(), b"");
    }
}

#[test]
fn the_answer_to_the_close_frame_is_the_end() {
    let mut client = after_a_message();
    client.session.begin_close(2_000);
    client.feed(&close(Some(1000)));
    assert!(!client.session.awaits_server_end() && !client.session.reads_on());
    assert!(!client.session.is_unconfirmed() && !client.session.is_ended_by_server());
}

#[test]
fn a_connection_that_the_server_has_not_ended_in_time_is_left_with_a_close_frame() {
    let mut client = after_a_message();
    client.session.begin_close(2_000);
    client.sent();
    let farewell = client.session.farewell().to_vec();
    assert_eq!(seen(&farewell), ["close Some(1000)"]);
    assert!(client.session.is_unconfirmed());
}

#[test]
fn a_connection_is_left_with_a_close_frame() {
    let mut client = Client::open(1, ORDER);
    let farewell = client.session.farewell().to_vec();
    assert_eq!(seen(&farewell), ["close Some(1000)"]);
    assert!(!client.session.accepts() && !client.session.is_ended_by_server());
    let mut client = Client::new(1, ORDER);
    assert_eq!(client.session.farewell(), b"");
    let handshake = client.sent_bytes();
    assert!(handshake.starts_with(b"GET /chat HTTP/1.1\r\n") && handshake.ends_with(b"\r\n\r\n"));
}

#[test]
fn pings_are_answered_by_one_pong_with_the_latest_payload() {
    let mut client = Client::open(1, ORDER);
    let ping = |text: &[u8]| frame(OutgoingFrame::ping(&ControlPayload::new(text).unwrap()));
    client.feed(&[ping(b"1"), ping(b"2")].concat());
    assert!(client.session.has_outgoing());
    assert_eq!(client.sent(), ["pong 2"]);
    assert_eq!(client.scratch.messages.pings, 2);
    assert!(!client.session.has_outgoing());
    // While the server reads nothing, its pings take no memory.
    client.begin(0, "hello");
    for number in b'0'..=b'c' {
        client.feed(&ping(&[number]));
        let length = client.session.outgoing(&mut Places(&mut client.slots)).len();
        assert_eq!(length, (2 + 4 + 5) + (2 + 4 + 1));
    }
    assert_eq!(client.sent(), ["Text hello", "pong 0", "pong c"]);
}

#[test]
fn the_handshake_that_is_shown_is_the_one_that_is_sent() {
    let handshake = HandshakeRequest::new("h", "/chat", &[]).unwrap();
    let options =
        Arc::new(WebSocketOptions { slots: 1, matching: ORDER, is_binary: true, handshake });
    let mut session = WebSocketSession::new(Arc::clone(&options), 99);
    let protocol = crate::Protocol::WebSocket(options);
    let shown = protocol.readable(&encoded(b"hello"), 99, true);
    let sent = session.outgoing(&mut Places(&mut Vec::new())).to_vec();
    assert_eq!(shown, [&sent, &b"hello"[..]].concat());
    assert_ne!(shown, protocol.readable(&encoded(b"hello"), 98, true));
    // A message that was not sent is not shown.
    assert_eq!(sent, protocol.readable(&encoded(b"hello"), 99, false));
}
