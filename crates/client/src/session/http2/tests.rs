//! A connection whose server is written by hand: what is sent, and how each exchange ends.

use net::Nanos;
use wire::hpack::{Decoder, Encoder, Indexing};
use wire::http2::{
    ErrorCode, FRAME_HEAD_BYTES, Flags, FrameHead, FrameKind, MAX_FRAME_BYTES, PREFACE, Setting,
};
use wire::{RequestParts, RequestTemplate};

use super::Http2Session;
use crate::session::{Ended, ProtocolSession, Received, Slots};
use crate::{Exchange, GrpcCall, MessageSending, Outline, Reason, Scratch, UNSET};

/// A client with slots, and what its server has received.
struct Client {
    session: Http2Session,
    slots: Vec<(Exchange, Vec<u8>)>,
    scratch: Scratch,
    now: Nanos,
    decoder: Decoder,
}

struct Places<'a>(&'a mut Vec<(Exchange, Vec<u8>)>);

impl Slots for Places<'_> {
    fn slot(&mut self, slot: u16) -> (&mut Exchange, &[u8]) {
        let (exchange, request) = &mut self.0[usize::from(slot)];
        (exchange, request)
    }
}

/// A frame that the server received; of HEADERS, the path.
#[derive(Debug, PartialEq, Eq)]
struct Sent(FrameKind, u32, Flags, String);

fn request(method: &str, target: &str, body: Option<&[u8]>) -> Vec<u8> {
    let (scheme, authority, fields) = ("http", "h", &[][..]);
    let parts = RequestParts { method, scheme, authority, target, fields, body };
    RequestTemplate::plain(&parts).unwrap().to_http2().fixed().unwrap().into_vec()
}

fn frame(kind: FrameKind, flags: Flags, stream: u32, payload: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    FrameHead { length: payload.len(), kind, flags, stream }.write(&mut out);
    out.extend_from_slice(payload);
    out
}

fn settings(all: &[Setting]) -> Vec<u8> {
    let mut payload = Vec::new();
    all.iter().for_each(|setting| setting.write(&mut payload));
    frame(FrameKind::Settings, Flags::NONE, 0, &payload)
}

fn block(fields: &[(&str, &str)]) -> Vec<u8> {
    let (mut encoder, mut out) = (Encoder::default(), Vec::new());
    for (name, value) in fields {
        encoder.field(name.as_bytes(), value.as_bytes(), Indexing::NotKept, &mut out);
    }
    out
}

fn head(stream: u32, status: &str) -> Vec<u8> {
    frame(FrameKind::Headers, Flags::END_HEADERS, stream, &block(&[(":status", status)]))
}

fn whole(stream: u32, status: &str) -> Vec<u8> {
    let flags = Flags::END_HEADERS.and(Flags::END_STREAM);
    frame(FrameKind::Headers, flags, stream, &block(&[(":status", status)]))
}

fn data(stream: u32, body: &[u8]) -> Vec<u8> {
    frame(FrameKind::Data, Flags::NONE, stream, body)
}

fn last(stream: u32, body: &[u8]) -> Vec<u8> {
    frame(FrameKind::Data, Flags::END_STREAM, stream, body)
}

fn number(kind: FrameKind, stream: u32, value: u32) -> Vec<u8> {
    frame(kind, Flags::NONE, stream, &value.to_be_bytes())
}

fn goaway(last: u32, code: ErrorCode) -> Vec<u8> {
    let payload = [last.to_be_bytes(), code.0.to_be_bytes()].concat();
    frame(FrameKind::GoAway, Flags::NONE, 0, &payload)
}

impl Client {
    /// A client whose server has not said anything yet.
    fn silent(slots: u16) -> Self {
        let outline = Outline { is_head: false, length: 0 };
        let slot = |_| (Exchange::new(0, 0, outline), Vec::new());
        Self {
            session: Http2Session::new(slots),
            slots: (0..slots).map(slot).collect(),
            scratch: Scratch::new(64),
            now: 1_000,
            decoder: Decoder::default(),
        }
    }

    /// A client whose server has sent settings.
    fn greeted(slots: u16) -> Self {
        let mut client = Self::silent(slots);
        assert_eq!(client.feed(&settings(&[])), []);
        client.sent();
        client
    }

    fn begin(&mut self, slot: u16, request: Vec<u8>) {
        let is_head = request.windows(4).any(|text| text == b"HEAD");
        let (exchange, known) = &mut self.slots[usize::from(slot)];
        exchange.restart(self.now, self.now, Outline { is_head, length: request.len() });
        exchange.is_taken_when_sent = true;
        *known = request;
        self.session.begin(slot, exchange, known);
    }

    fn get(&mut self, slot: u16, target: &str) {
        self.begin(slot, request("GET", target, None));
    }

    /// Sends everything in small writes; returns the frames behind the greeting.
    fn sent(&mut self) -> Vec<Sent> {
        let mut bytes = Vec::new();
        loop {
            self.now += 1;
            let slots = &mut Places(&mut self.slots);
            let outgoing = self.session.outgoing(slots);
            let count = outgoing.len().min(50);
            bytes.extend_from_slice(&outgoing[..count]);
            if count == 0 {
                break;
            }
            self.session.sent(count, self.now, slots);
        }
        self.frames(bytes.strip_prefix(PREFACE).unwrap_or(&bytes))
    }

    fn frames(&mut self, mut bytes: &[u8]) -> Vec<Sent> {
        let mut frames = Vec::new();
        while let Some((head, rest)) = bytes.split_first_chunk::<FRAME_HEAD_BYTES>() {
            let head = FrameHead::read(head);
            let (payload, after) = rest.split_at(head.length);
            bytes = after;
            let text = match head.kind {
                FrameKind::Headers => {
                    let mut path = String::new();
                    let decoded = self.decoder.decode(payload, |name, value, _| {
                        if name == b":path" {
                            path = String::from_utf8(value.to_vec()).unwrap();
                        }
                    });
                    decoded.unwrap();
                    path
                }
                FrameKind::Data => String::from_utf8(payload.to_vec()).unwrap(),
                _ => format!("{payload:?}"),
            };
            frames.push(Sent(head.kind, head.stream, head.flags, text));
        }
        frames
    }

    fn feed(&mut self, bytes: &[u8]) -> Vec<Ended> {
        self.now += 10;
        let (at, is_late) = (self.now, false);
        let Scratch { heads, budget, ended, messages, .. } = &mut self.scratch;
        let received = Received { bytes, at, is_late, heads, budget, ended, messages };
        self.session.feed(received, &mut Places(&mut self.slots));
        std::mem::take(&mut self.scratch.ended)
    }

    fn cancel(&mut self, slot: u16) -> bool {
        self.now += 10;
        self.session.cancel(slot, self.now, &mut Places(&mut self.slots))
    }

    fn reasons(&mut self, bytes: &[u8]) -> Vec<(u16, Option<Reason>)> {
        let ended = self.feed(bytes);
        ended.iter().map(|ended| (ended.slot, ended.outcome.failure)).collect()
    }
}

const BOTH: Flags = Flags(0x5);

fn opened(stream: u32, path: &str) -> Sent {
    Sent(FrameKind::Headers, stream, BOTH, path.to_owned())
}

#[test]
fn the_first_stream_is_opened_at_once_and_others_when_the_server_has_sent_settings() {
    let mut client = Client::silent(3);
    for slot in 0..3 {
        client.get(slot, &format!("/{slot}"));
    }
    let sent = client.sent();
    assert_eq!(
        sent.iter().map(|sent| sent.0).collect::<Vec<_>>(),
        [FrameKind::Settings, FrameKind::WindowUpdate, FrameKind::Headers]
    );
    assert!(!client.session.has_outgoing());
    assert_eq!(client.feed(&settings(&[Setting::MaxConcurrentStreams(2)])), []);
    assert!(client.session.has_outgoing());
    let ack = Sent(FrameKind::Settings, 0, Flags::ACK, "[]".into());
    assert_eq!(client.sent(), [ack, opened(3, "/1")]);
    assert_eq!(client.reasons(&whole(1, "200")), [(0, None)]);
    assert_eq!(client.sent(), [opened(5, "/2")]);
}

#[test]
fn time_without_a_free_stream_is_told_apart() {
    let mut client = Client::greeted(2);
    client.feed(&settings(&[Setting::MaxConcurrentStreams(1)]));
    client.get(0, "/");
    client.get(1, "/");
    client.sent();
    client.now += 500;
    client.feed(&whole(1, "200"));
    client.sent();
    let stamps = client.slots[0].0.stamps;
    assert_eq!((stamps.stream_wait, stamps.taken), (0, stamps.sent));
    let stamps = client.slots[1].0.stamps;
    assert!(stamps.stream_wait > 500, "{stamps:?}");
}

#[test]
fn time_before_the_first_settings_is_no_wait_for_a_stream() {
    let mut client = Client::silent(3);
    (0..3).for_each(|slot| client.get(slot, "/"));
    client.sent();
    client.now += 500;
    client.feed(&settings(&[Setting::MaxConcurrentStreams(2)]));
    client.sent();
    client.now += 300;
    client.feed(&whole(1, "200"));
    client.sent();
    let waits: Vec<_> = client.slots.iter().map(|(it, _)| it.stamps.stream_wait).collect();
    assert_eq!(waits[..2], [0, 0]);
    assert!((300..400).contains(&waits[2]), "{waits:?}");
}

#[test]
fn a_wait_that_the_end_of_its_exchange_ends_counts() {
    type End = fn(&mut Client);
    let ends: [End; 4] = [
        |client| (0..2).for_each(|slot| assert!(client.cancel(slot))),
        |client| assert_eq!(client.feed(&goaway(0, ErrorCode::NO_ERROR)).len(), 2),
        |client| {
            client.cancel(1);
            assert_eq!(client.reasons(&whole(1, "413")), [(0, None)]);
        },
        |client| {
            let mut ended = Vec::new();
            let slots = &mut Places(&mut client.slots);
            client.session.end_of_stream(client.now, false, slots, &mut ended);
            assert_eq!(ended.len(), 2);
        },
    ];
    for end in ends {
        let mut client = Client::silent(2);
        let limits = [Setting::InitialWindowBytes(2), Setting::MaxConcurrentStreams(1)];
        client.feed(&settings(&limits));
        client.begin(0, request("POST", "/", Some(b"0123")));
        client.get(1, "/");
        client.sent();
        client.now += 500;
        end(&mut client);
        let [first, second] = [0, 1].map(|slot| client.slots[slot].0.stamps);
        assert!((500..600).contains(&first.window_wait), "{first:?}");
        assert!((500..600).contains(&second.stream_wait), "{second:?}");
        assert_eq!((first.stream_wait, second.window_wait), (0, UNSET));
    }
}

#[test]
fn responses_are_the_same_at_every_split() {
    let padded = [&[2], &b"lo"[..], &[0; 2]].concat();
    let mut head = vec![0, 0, 0, 0, 9];
    head.extend(block(&[(":status", "503"), ("a", "b")]));
    let cut = head.len() - 3;
    let trailers = frame(FrameKind::Headers, BOTH, 1, &block(&[("t", "v")]));
    let bytes = [
        settings(&[]),
        whole(3, "204"),
        frame(FrameKind::Headers, Flags::END_HEADERS, 1, &block(&[(":status", "103")])),
        frame(FrameKind::Headers, Flags::PRIORITY, 1, &head[..cut]),
        frame(FrameKind::Continuation, Flags::END_HEADERS, 1, &head[cut..]),
        data(1, b"hel"),
        frame(FrameKind::Data, Flags::PADDED, 1, &padded),
        frame(FrameKind::Ping, Flags::NONE, 0, b"12345678"),
        trailers,
    ]
    .concat();
    for first in 0..=bytes.len() {
        let mut client = Client::silent(2);
        client.get(0, "/");
        client.slots[0].0.keeps_head = true;
        client.slots[0].0.body = Some(Vec::new());
        client.sent();
        client.session.core.peer.max_streams = 2;
        client.get(1, "/");
        client.sent();
        let mut ended = client.feed(&bytes[..first]);
        ended.extend(client.feed(&bytes[first..]));
        let found: Vec<_> = ended.iter().map(|it| (it.slot, it.outcome.status)).collect();
        assert_eq!(found, [(1, Some(204)), (0, Some(503))], "split at {first}");
        assert!(ended.iter().all(|it| it.outcome.reusable && it.outcome.failure.is_none()));
        let exchange = &client.slots[0].0;
        assert_eq!(exchange.body.as_deref(), Some(&b"hello"[..]));
        assert_eq!((exchange.field("a"), exchange.field("t")), (Some(&b"b"[..]), Some(&b"v"[..])));
        let (sample_head, sample_body) = exchange.sample(b"");
        assert_eq!((sample_head.unwrap().status, sample_body), (503, b"hello".to_vec()));
        // What belongs to the exchange: all but its neighbour's frames and those of the connection.
        let others = 9 + (9 + 1) + (9 + 8);
        assert_eq!(exchange.bytes_in, (bytes.len() - others) as u64);
        let pong = Sent(FrameKind::Ping, 0, Flags::ACK, format!("{:?}", b"12345678"));
        assert!(client.sent().contains(&pong));
    }
}

#[test]
fn requests_beyond_goaway_were_not_processed_and_others_go_on() {
    let mut client = Client::greeted(4);
    client.feed(&settings(&[Setting::MaxConcurrentStreams(3)]));
    (0..4).for_each(|slot| client.get(slot, "/"));
    client.sent();
    // Shutting down gently, a server first announces that it will.
    let unprocessed = Some(Reason::ReadUnprocessed);
    assert_eq!(client.reasons(&goaway(u32::MAX, ErrorCode::NO_ERROR)), [(3, unprocessed)]);
    assert!(!client.session.accepts());
    let found = client.reasons(&goaway(3, ErrorCode::NO_ERROR));
    assert_eq!(found, [(2, unprocessed)]);
    assert_eq!(client.reasons(&whole(1, "200")), [(0, None)]);
    assert_eq!(client.reasons(&whole(3, "200")), [(1, None)]);
    assert!(!client.session.is_active());
}

#[test]
fn frames_beyond_goaway_are_ignored() {
    let mut client = Client::greeted(3);
    (0..3).for_each(|slot| client.get(slot, "/"));
    client.sent();
    assert_eq!(client.reasons(&goaway(1, ErrorCode::NO_ERROR)).len(), 2);
    // The server had begun to answer.
    let late = [head(3, "200"), data(3, b"late"), whole(5, "200"), whole(1, "200")].concat();
    assert_eq!(client.reasons(&late), [(0, None)]);
}

#[test]
fn exchanges_that_goaway_with_an_error_leaves_end_with_its_reason() {
    let mut client = Client::silent(2);
    client.feed(&settings(&[Setting::InitialWindowBytes(2)]));
    client.get(0, "/");
    client.begin(1, request("POST", "/", Some(b"0123")));
    client.sent();
    assert_eq!(client.reasons(&goaway(3, ErrorCode::ENHANCE_YOUR_CALM)), []);
    let mut ended = Vec::new();
    client.session.end_of_stream(9, false, &mut Places(&mut client.slots), &mut ended);
    let reasons: Vec<_> = ended.iter().map(|it| it.outcome.failure).collect();
    // The second request was not sent whole.
    assert_eq!(reasons, [Some(Reason::ReadGoAway), Some(Reason::WriteClosed)]);
}

#[test]
fn a_connection_that_ends_with_several_exchanges_was_not_closed_because_it_was_idle() {
    for (count, expected) in [(1, Reason::ReadClosedOnReuse), (2, Reason::ReadClosed)] {
        let mut client = Client::greeted(2);
        (0..count).for_each(|slot| client.get(slot, "/"));
        client.sent();
        let mut ended = Vec::new();
        client.session.end_of_stream(9, true, &mut Places(&mut client.slots), &mut ended);
        let reasons: Vec<_> = ended.iter().map(|it| it.outcome.failure).collect();
        assert_eq!(reasons, vec![Some(expected); usize::from(count)]);
    }
}

#[test]
fn each_error_code_of_a_reset_stream_is_a_reason() {
    let mut reasons = Vec::new();
    for code in 0..15 {
        let mut client = Client::greeted(1);
        client.get(0, "/");
        client.sent();
        let found = client.reasons(&number(FrameKind::ResetStream, 1, code));
        assert!(client.session.accepts() && !client.session.is_active());
        reasons.extend(found.into_iter().filter_map(|(_, reason)| reason));
    }
    assert_eq!(reasons.len(), 15);
    assert_eq!(reasons[7], Reason::ReadUnprocessed);
    assert_eq!(reasons[14], Reason::ReadStreamResetOther);
    reasons.sort();
    reasons.dedup();
    assert_eq!(reasons.len(), 15);
}

#[test]
fn bodies_are_sent_as_far_as_both_windows_allow() {
    let mut client = Client::silent(2);
    client.feed(&settings(&[Setting::InitialWindowBytes(10)]));
    client.begin(0, request("POST", "/", Some(b"0123456789abcdef")));
    client.begin(1, request("POST", "/", Some(b"xy")));
    let bodies = |client: &mut Client| {
        let data = client.sent().into_iter().filter(|sent| sent.0 == FrameKind::Data);
        data.map(|sent| (sent.1, sent.2 == Flags::END_STREAM, sent.3)).collect::<Vec<_>>()
    };
    let first = bodies(&mut client);
    assert_eq!(first, [(1, false, "0123456789".into()), (3, true, "xy".into())]);
    client.now += 1_000;
    client.feed(&number(FrameKind::WindowUpdate, 1, 4));
    assert_eq!(bodies(&mut client), [(1, false, "abcd".into())]);
    assert!(client.slots[0].0.stamps.window_wait >= 1_000);
    // A smaller first window makes the window of an open stream negative.
    client.feed(&settings(&[Setting::InitialWindowBytes(4)]));
    client.feed(&number(FrameKind::WindowUpdate, 1, 6));
    assert_eq!(bodies(&mut client), []);
    client.feed(&number(FrameKind::WindowUpdate, 1, 1));
    assert_eq!(bodies(&mut client), [(1, false, "e".into())]);
    client.feed(&settings(&[Setting::InitialWindowBytes(5)]));
    assert_eq!(bodies(&mut client), [(1, true, "f".into())]);
    assert_eq!(client.slots[1].0.stamps.window_wait, 0);
}

#[test]
fn the_window_of_the_connection_is_shared_in_turn() {
    let mut client = Client::greeted(2);
    client.session.core.send_window = 5;
    client.begin(0, request("POST", "/", Some(b"0123")));
    client.begin(1, request("POST", "/", Some(b"abcd")));
    let sent = client.sent();
    assert_eq!(sent.iter().map(|sent| sent.3.as_str()).collect::<Vec<_>>()[2..], ["0123", "a"]);
    client.now += 300;
    client.feed(&number(FrameKind::WindowUpdate, 0, 2));
    assert_eq!(client.sent()[0].3, "bc");
    client.feed(&number(FrameKind::WindowUpdate, 0, 2));
    assert_eq!(client.sent()[0].3, "d");
    assert!(client.slots[1].0.stamps.window_wait >= 300);
    assert_eq!(client.slots[0].0.stamps.window_wait, 0);
}

/// Returns a call of two messages, the second of which waits for the answer to the first.
fn alternating() -> (GrpcCall, Vec<u8>) {
    let mut call = GrpcCall::default();
    call.restart(MessageSending::Alternate, true);
    let message = [&[0, 0, 0, 0, 4][..], b"text"].concat();
    (call, request("POST", "/call", Some(&message.repeat(2))))
}

#[test]
fn a_message_of_a_call_is_timed_from_its_first_byte() {
    let mut client = Client::greeted(1);
    client.feed(&settings(&[Setting::InitialWindowBytes(0)]));
    let (call, request) = alternating();
    client.slots[0].0.grpc_call = Some(Box::new(call));
    client.begin(0, request);
    client.sent();
    client.now += 500;
    client.feed(&number(FrameKind::WindowUpdate, 1, 100));
    client.sent();
    let begun = client.now;
    client.now += 30;
    client.feed(&head(1, "200"));
    client.feed(&data(1, &[0, 0, 0, 0, 0]));
    let call = client.slots[0].0.grpc_call.as_mut().unwrap();
    let times: Vec<_> = call.take_round_trips().collect();
    assert_eq!(times.len(), 1);
    assert!(times[0] <= client.now - begun + 3, "{times:?}");
    assert!(client.slots[0].0.stamps.window_wait >= 500);
}

#[test]
fn a_call_that_waits_for_an_answer_does_not_wait_for_the_window() {
    let mut client = Client::greeted(2);
    // The window of the connection has room for the first message alone.
    client.feed(&settings(&[Setting::InitialWindowBytes(1 << 20)]));
    client.begin(1, request("POST", "/first", Some(&[b'x'; 65_535 - 9])));
    client.sent();
    client.feed(&whole(1, "200"));
    let (call, request_of_call) = alternating();
    client.slots[0].0.grpc_call = Some(Box::new(call));
    client.begin(0, request_of_call);
    client.begin(1, request("POST", "/upload", Some(b"some more")));
    client.sent();
    client.now += 500;
    client.feed(&number(FrameKind::WindowUpdate, 0, 1_000));
    client.sent();
    assert!(client.slots[1].0.stamps.window_wait >= 500);
    assert_eq!(client.slots[0].0.stamps.window_wait, 0);
}

#[test]
fn a_cancelled_exchange_leaves_the_connection_and_its_tables_as_they_are() {
    let mut client = Client::greeted(2);
    client.get(0, "/");
    client.get(1, "/");
    client.sent();
    assert!(client.cancel(0));
    let cancel = ErrorCode::CANCEL.0.to_be_bytes();
    let reset = Sent(FrameKind::ResetStream, 1, Flags::NONE, format!("{cancel:?}"));
    assert_eq!(client.sent(), [reset]);
    // The late head inserts fields that the next one refers to.
    let (mut encoder, mut late, mut next) = (Encoder::default(), Vec::new(), Vec::new());
    encoder.field(b":status", b"201", Indexing::Kept, &mut late);
    encoder.field(b":status", b"201", Indexing::Kept, &mut next);
    let bytes = [
        frame(FrameKind::Headers, Flags::END_HEADERS, 1, &late),
        data(1, b"late"),
        number(FrameKind::WindowUpdate, 1, 1),
        number(FrameKind::ResetStream, 1, 0),
        frame(FrameKind::Headers, BOTH, 3, &next),
    ];
    let ended = client.feed(&bytes.concat());
    assert_eq!(
        ended.iter().map(|it| (it.slot, it.outcome.status)).collect::<Vec<_>>(),
        [(1, Some(201))]
    );
}

#[test]
fn an_exchange_that_waits_for_a_stream_is_cancelled_without_a_frame() {
    let mut client = Client::greeted(2);
    client.feed(&settings(&[Setting::MaxConcurrentStreams(1)]));
    client.get(0, "/");
    client.get(1, "/");
    client.sent();
    assert!(client.cancel(1));
    assert_eq!(client.sent(), []);
    assert_eq!(client.reasons(&whole(1, "200")), [(0, None)]);
    assert!(!client.session.is_active());
}

#[test]
fn a_response_before_the_end_of_the_request_cancels_the_rest_of_it() {
    let mut client = Client::silent(1);
    client.feed(&settings(&[Setting::InitialWindowBytes(2)]));
    client.begin(0, request("POST", "/", Some(b"0123")));
    client.sent();
    assert_eq!(client.reasons(&whole(1, "413")), [(0, None)]);
    assert_eq!(client.sent()[0].0, FrameKind::ResetStream);
    assert!(client.session.accepts());
}

#[test]
fn streams_that_break_the_rules_end_alone() {
    let length = block(&[(":status", "200"), ("content-length", "3")]);
    let with_length = frame(FrameKind::Headers, Flags::END_HEADERS, 1, &length);
    let ended = frame(FrameKind::Headers, BOTH, 1, &length);
    let upper = frame(FrameKind::Headers, BOTH, 1, &block(&[(":status", "200"), ("A", "b")]));
    let twice = [head(1, "200"), frame(FrameKind::Headers, Flags::END_HEADERS, 1, &[])].concat();
    let table: [(Vec<u8>, Reason); 9] = [
        ([with_length.clone(), last(1, b"four")].concat(), Reason::ProtocolExtraBytes),
        ([with_length, last(1, b"2")].concat(), Reason::ProtocolBadContentLength),
        (ended, Reason::ProtocolBadContentLength),
        (upper, Reason::ProtocolBadHead),
        (data(1, b"x"), Reason::ProtocolH2Frame),
        (twice, Reason::ProtocolH2Frame),
        (whole(1, "100"), Reason::ProtocolBadHead),
        (head(1, "101"), Reason::ProtocolBadHead),
        (number(FrameKind::WindowUpdate, 1, 0), Reason::ProtocolH2Frame),
    ];
    for (bytes, reason) in table {
        let mut client = Client::greeted(2);
        client.get(0, "/");
        client.get(1, "/");
        client.sent();
        assert_eq!(client.reasons(&bytes), [(0, Some(reason))], "{bytes:?}");
        assert_eq!(client.sent()[0].0, FrameKind::ResetStream);
        assert_eq!(client.reasons(&whole(3, "200")), [(1, None)]);
    }
    let mut client = Client::greeted(1);
    client.get(0, "/");
    client.sent();
    let many = head(1, "103").repeat(101);
    assert_eq!(client.reasons(&many), [(0, Some(Reason::ProtocolTooManyInterim))]);
}

#[test]
fn responses_without_a_body_may_announce_its_length() {
    for (method, status) in [("HEAD", "200"), ("GET", "304")] {
        let mut client = Client::greeted(1);
        client.begin(0, request(method, "/", None));
        client.sent();
        let fields = block(&[(":status", status), ("content-length", "3")]);
        assert_eq!(client.reasons(&frame(FrameKind::Headers, BOTH, 1, &fields)), [(0, None)]);
    }
}

#[test]
fn servers_that_break_the_protocol_are_told_so() {
    use ErrorCode as Code;
    let head_of = |kind, flags, stream, payload: &[u8]| frame(kind, flags, stream, payload);
    let none = Flags::NONE;
    let open = head_of(FrameKind::Headers, none, 1, &[]);
    let long = head_of(FrameKind::Ping, none, 0, &[0; MAX_FRAME_BYTES + 1]);
    let table: Vec<(Vec<u8>, Code)> = vec![
        (long, Code::FRAME_SIZE_ERROR),
        (head_of(FrameKind::Settings, none, 0, &[0; 5]), Code::FRAME_SIZE_ERROR),
        (head_of(FrameKind::Settings, Flags::ACK, 0, &[0; 6]), Code::FRAME_SIZE_ERROR),
        (head_of(FrameKind::Settings, none, 1, &[]), Code::PROTOCOL_ERROR),
        (settings(&[Setting::EnablePush(1)]), Code::PROTOCOL_ERROR),
        (settings(&[Setting::InitialWindowBytes(1 << 31)]), Code::FLOW_CONTROL_ERROR),
        (settings(&[Setting::MaxFrameBytes(16_383)]), Code::PROTOCOL_ERROR),
        (settings(&[Setting::MaxFrameBytes(1 << 24)]), Code::PROTOCOL_ERROR),
        (head_of(FrameKind::Ping, none, 0, &[0; 7]), Code::FRAME_SIZE_ERROR),
        (head_of(FrameKind::Ping, none, 1, &[0; 8]), Code::PROTOCOL_ERROR),
        (head_of(FrameKind::GoAway, none, 0, &[0; 7]), Code::FRAME_SIZE_ERROR),
        (head_of(FrameKind::GoAway, none, 1, &[0; 8]), Code::PROTOCOL_ERROR),
        (number(FrameKind::WindowUpdate, 0, 0), Code::PROTOCOL_ERROR),
        (number(FrameKind::WindowUpdate, 0, (1 << 31) - 1), Code::FLOW_CONTROL_ERROR),
        (number(FrameKind::WindowUpdate, 9, 1), Code::PROTOCOL_ERROR),
        (head_of(FrameKind::WindowUpdate, none, 1, &[0; 3]), Code::FRAME_SIZE_ERROR),
        (head_of(FrameKind::ResetStream, none, 1, &[0; 3]), Code::FRAME_SIZE_ERROR),
        (number(FrameKind::ResetStream, 0, 1), Code::PROTOCOL_ERROR),
        (number(FrameKind::ResetStream, 9, 1), Code::PROTOCOL_ERROR),
        (head_of(FrameKind::Priority, none, 1, &[0; 4]), Code::FRAME_SIZE_ERROR),
        (head_of(FrameKind::Priority, none, 0, &[0; 5]), Code::PROTOCOL_ERROR),
        (head_of(FrameKind::PushPromise, none, 1, &[0; 4]), Code::PROTOCOL_ERROR),
        (head_of(FrameKind::Continuation, none, 1, &[]), Code::PROTOCOL_ERROR),
        ([open.clone(), data(1, b"")].concat(), Code::PROTOCOL_ERROR),
        (
            [open.clone(), head_of(FrameKind::Continuation, none, 3, &[])].concat(),
            Code::PROTOCOL_ERROR,
        ),
        (
            [open.clone(), head_of(FrameKind::Other(99), none, 1, &[])].concat(),
            Code::PROTOCOL_ERROR,
        ),
        (
            [open, head_of(FrameKind::Continuation, none, 1, &[]).repeat(100)].concat(),
            Code::ENHANCE_YOUR_CALM,
        ),
        (head_of(FrameKind::Headers, BOTH, 1, &[0x80]), Code::COMPRESSION_ERROR),
        (head_of(FrameKind::Headers, BOTH.and(Flags::PADDED), 1, &[9]), Code::PROTOCOL_ERROR),
        (head_of(FrameKind::Headers, BOTH.and(Flags::PRIORITY), 1, &[9]), Code::FRAME_SIZE_ERROR),
        (head_of(FrameKind::Headers, BOTH, 0, &[0x88]), Code::PROTOCOL_ERROR),
        (whole(2, "200"), Code::PROTOCOL_ERROR),
        (whole(9, "200"), Code::PROTOCOL_ERROR),
        (data(0, b""), Code::PROTOCOL_ERROR),
        (data(9, b""), Code::PROTOCOL_ERROR),
        ([whole(3, "200"), data(3, b"")].concat(), Code::STREAM_CLOSED),
        ([whole(3, "200"), whole(3, "200")].concat(), Code::STREAM_CLOSED),
    ];
    for (bytes, code) in table {
        let mut client = Client::greeted(2);
        client.get(0, "/");
        client.get(1, "/");
        client.sent();
        let ended = client.feed(&[&bytes[..], &whole(1, "200")].concat());
        let failed = ended.iter().filter(|it| it.outcome.failure.is_some()).count();
        assert!(failed >= 1 && ended.len() == 2, "{bytes:?}: {ended:?}");
        assert!(!client.session.accepts() && !client.session.reads_on());
        let sent = client.sent();
        let payload = [[0; 4], code.0.to_be_bytes()].concat();
        let expected = Sent(FrameKind::GoAway, 0, Flags::NONE, format!("{payload:?}"));
        assert!(sent.contains(&expected), "{bytes:?}: {sent:?}");
    }
}

#[test]
fn a_server_that_does_not_begin_with_settings_does_not_speak_http2() {
    for bytes in [&b"HTTP/1.1 400 Bad Request\r\n\r\n"[..], &whole(1, "200")] {
        let mut client = Client::silent(1);
        client.get(0, "/");
        client.sent();
        assert_eq!(client.reasons(bytes), [(0, Some(Reason::ProtocolNotHttp2))]);
    }
}

#[test]
fn a_flood_of_pings_ends_the_connection_before_memory_does() {
    let mut client = Client::greeted(1);
    client.get(0, "/");
    client.sent();
    let pings = frame(FrameKind::Ping, Flags::NONE, 0, &[0; 8]).repeat(20_000);
    assert_eq!(client.reasons(&pings), [(0, Some(Reason::ProtocolH2Flood))]);
}

#[test]
fn requests_that_wait_to_be_sent_are_no_flood() {
    let mut client = Client::greeted(300);
    (0..300).for_each(|slot| client.get(slot, &format!("/{slot}{}", "x".repeat(1100))));
    assert!(client.session.outgoing(&mut Places(&mut client.slots)).len() > 256 * 1024);
    assert_eq!(client.reasons(&frame(FrameKind::Ping, Flags::NONE, 0, &[0; 8])), []);
    assert!(client.sent().iter().any(|sent| sent.0 == FrameKind::Ping));
}

#[test]
fn bodies_are_sent_in_turn_although_the_server_allows_long_frames() {
    let mut client = Client::silent(2);
    let limits = [Setting::MaxFrameBytes(1 << 20), Setting::InitialWindowBytes(1 << 20)];
    client.feed(&[settings(&limits), number(FrameKind::WindowUpdate, 0, 1 << 20)].concat());
    let body = vec![b'x'; 100_000];
    (0..2).for_each(|slot| client.begin(slot, request("POST", "/", Some(&body))));
    let of_bodies = |sent: &Sent| (sent.0 == FrameKind::Data).then_some((sent.1, sent.3.len()));
    let lengths: Vec<_> = client.sent().iter().filter_map(of_bodies).collect();
    assert_eq!(lengths, [(1, 65_536), (3, 65_536), (1, 34_464), (3, 34_464)]);
}

#[test]
fn only_what_the_server_does_not_allow_waits_for_a_stream() {
    let mut client = Client::silent(3);
    (0..3).for_each(|slot| client.get(slot, "/"));
    client.sent();
    let waits = |client: &Client| [0, 1, 2].map(|slot| client.session.waits_for_stream(slot));
    assert_eq!(waits(&client), [false; 3]);
    client.feed(&settings(&[Setting::MaxConcurrentStreams(2)]));
    client.sent();
    assert_eq!(waits(&client), [false, false, true]);
}

#[test]
fn a_limit_that_falls_before_a_request_is_sent_lets_it_wait_for_a_stream() {
    let mut client = Client::greeted(2);
    client.get(0, "/");
    client.sent();
    client.get(1, "/");
    let taken = client.slots[1].0.stamps.taken;
    client.feed(&settings(&[Setting::MaxConcurrentStreams(1)]));
    client.sent();
    client.now += 500;
    client.feed(&whole(1, "200"));
    client.sent();
    let stamps = client.slots[1].0.stamps;
    assert!(stamps.stream_wait > 500, "{stamps:?}");
    assert_eq!(stamps.taken, taken);
}

#[test]
fn windows_are_allowed_again_long_before_they_are_used_up() {
    let mut client = Client::greeted(1);
    client.get(0, "/");
    client.sent();
    client.feed(&head(1, "200"));
    let piece = data(1, &[0; MAX_FRAME_BYTES]);
    let mut allowed = [0_u64; 2];
    for _ in 0..150_000 {
        assert_eq!(client.feed(&piece), []);
        if client.session.has_outgoing() {
            for sent in client.sent() {
                assert_eq!(sent.0, FrameKind::WindowUpdate);
                allowed[sent.1 as usize] += 1;
            }
        }
    }
    assert!(allowed.iter().all(|count| (3..10).contains(count)), "{allowed:?}");
    assert_eq!(client.reasons(&last(1, b"")), [(0, None)]);
}

#[test]
fn a_connection_without_numbers_left_accepts_no_more() {
    let mut client = Client::greeted(2);
    client.session.core.streams.skip_to((1 << 31) - 1);
    client.get(0, "/");
    client.get(1, "/");
    assert!(!client.session.has_written());
    assert_eq!(client.sent().len(), 1);
    assert!(!client.session.accepts() && client.session.has_written());
    // The other exchange is for another connection.
    let mut ended = Vec::new();
    client.session.end_written(client.now, &mut Places(&mut client.slots), &mut ended);
    assert_eq!((ended.len(), ended[0].slot), (1, 1));
    assert_eq!(ended[0].outcome.failure, Some(Reason::ReadUnprocessed));
    assert!(!client.session.has_written());
    assert_eq!(client.reasons(&whole((1 << 31) - 1, "200")), [(0, None)]);
}

#[test]
fn a_head_that_is_longer_than_a_frame_is_continued() {
    let mut client = Client::greeted(1);
    let path = format!("/{}", "x".repeat(40_000));
    client.get(0, &path);
    let slots = &mut Places(&mut client.slots);
    let bytes = client.session.outgoing(slots).to_vec();
    let (mut rest, mut block, mut kinds) = (&bytes[..], Vec::new(), Vec::new());
    while let Some((head, after)) = rest.split_first_chunk::<FRAME_HEAD_BYTES>() {
        let head = FrameHead::read(head);
        kinds.push((head.kind, head.flags));
        block.extend_from_slice(&after[..head.length]);
        rest = &after[head.length..];
    }
    let more = FrameKind::Continuation;
    let expected =
        [(FrameKind::Headers, Flags::END_STREAM), (more, Flags::NONE), (more, Flags::END_HEADERS)];
    assert_eq!(kinds, expected);
    let mut found = Vec::new();
    let decoded = Decoder::default().decode(&block, |name, value, _| {
        if name == b":path" {
            found = value.to_vec();
        }
    });
    assert!(decoded.is_ok() && found == path.as_bytes());
}

#[test]
fn every_byte_that_is_sent_belongs_to_its_exchange() {
    let mut client = Client::greeted(2);
    client.begin(0, request("POST", "/", Some(&[b'x'; 40_000])));
    client.get(1, "/");
    let sent = client.sent();
    let of = |stream| {
        let mine = sent.iter().filter(|sent| sent.1 == stream && sent.0 == FrameKind::Data);
        mine.map(|sent| sent.3.len() + FRAME_HEAD_BYTES).sum::<usize>() as u64
    };
    // Beyond its body, a head of some bytes.
    let head = client.slots[0].0.bytes_out() - of(1);
    assert!((10..60).contains(&head), "{head}");
    assert!((10..60).contains(&client.slots[1].0.bytes_out()));
    assert!(client.slots.iter().all(|(exchange, _)| exchange.is_written()));
}
