//! Loads over HTTP/2: what the server allows and refuses, and that no request is lost.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::world::{MS, closed, constant, request, simulate, simulate_in};
use client::{Multiplexing, ServerLimits};
use engine::{
    CancelAfter, Cancellation, Gate, HttpVersion, Phase, Plan, Report, Stop, StreamPlan, Think,
};
use net::{Act, Dial, Nanos, Peer, Simulated};
use wire::Dialect;
use wire::hpack::{Decoder, Encoder, Indexing};
use wire::http2::{ErrorCode, FRAME_HEAD_BYTES, Flags, FrameHead, FrameKind, PREFACE, Setting};

/// A server: `answer` gets the number of a request, of its connection, and of its stream.
struct Server<A> {
    answer: A,
    settings: Vec<Setting>,
    requests: u64,
    received: BTreeMap<u64, Vec<u8>>,
    /// Permissions to send more bytes of bodies.
    windows: u64,
    /// Exchanges that were answered in full.
    answered: u64,
    /// The codes with which the client has ended connections.
    ended: Vec<ErrorCode>,
    /// The encoded head of the last request.
    head_block: Vec<u8>,
    /// How long it takes to accept a connection.
    dial_ns: Nanos,
    /// The numbers of the dials that nobody answers.
    unanswered: std::ops::Range<u64>,
    dials: u64,
}

/// What a server does with a request.
#[derive(Clone, Copy)]
enum Reply {
    /// Answers after a time with a status.
    After(Nanos, u16),
    /// Resets the stream.
    Reset(ErrorCode),
    /// Ends the connection: later streams than this one are not processed.
    GoAway,
    /// The same, but the connection stays open for the other streams.
    GoAwayAndStay,
    /// Sends a frame that may not be sent.
    Malformed,
    /// Says nothing.
    Nothing,
    /// Sends a piece of a stream each time, so many of them, and then nothing more.
    Pieces(Nanos, u32),
}

fn frame(kind: FrameKind, flags: Flags, stream: u32, payload: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    FrameHead { length: payload.len(), kind, flags, stream }.write(&mut out);
    out.extend_from_slice(payload);
    out
}

impl<A: FnMut(u64, u64, u32) -> Reply> Server<A> {
    fn new(answer: A) -> Self {
        let (settings, received, ended) = (Vec::new(), BTreeMap::new(), Vec::new());
        let (requests, windows, answered, dial_ns) = (0, 0, 0, 0);
        let head_block = Vec::new();
        let (unanswered, dials) = (0..0, 0);
        Self {
            answer,
            settings,
            requests,
            received,
            windows,
            answered,
            ended,
            head_block,
            dial_ns,
            unanswered,
            dials,
        }
    }

    fn limited(most: u32, answer: A) -> Self {
        Self { settings: vec![Setting::MaxConcurrentStreams(most)], ..Self::new(answer) }
    }

    fn greeting(&self) -> Act {
        let mut payload = Vec::new();
        self.settings.iter().for_each(|setting| setting.write(&mut payload));
        Act::Bytes(frame(FrameKind::Settings, Flags::NONE, 0, &payload))
    }

    fn request(&mut self, connection: u64, stream: u32) -> Vec<(Nanos, Act)> {
        let number = self.requests;
        self.requests += 1;
        let both = Flags::END_STREAM.and(Flags::END_HEADERS);
        match (self.answer)(number, connection, stream) {
            Reply::After(delay, status) => {
                let mut block = Vec::new();
                let status = status.to_string();
                let kind = Indexing::NotKept;
                Encoder::default().field(b":status", status.as_bytes(), kind, &mut block);
                let bytes = frame(FrameKind::Headers, both, stream, &block);
                self.answered += 1;
                vec![(delay, Act::Bytes(bytes))]
            }
            Reply::Reset(code) => {
                let payload = code.0.to_be_bytes();
                let bytes = frame(FrameKind::ResetStream, Flags::NONE, stream, &payload);
                vec![(0, Act::Bytes(bytes))]
            }
            reply @ (Reply::GoAway | Reply::GoAwayAndStay) => {
                let payload = [stream.to_be_bytes(), [0; 4]].concat();
                let bytes = frame(FrameKind::GoAway, Flags::NONE, 0, &payload);
                self.answered += 1;
                let answer = frame(FrameKind::Headers, both, stream, &[0x88]);
                let mut acts = vec![(10 * MS, Act::Bytes(bytes)), (11 * MS, Act::Bytes(answer))];
                if matches!(reply, Reply::GoAway) {
                    acts.push((30 * MS, Act::Close));
                }
                acts
            }
            Reply::Malformed => {
                let bytes = frame(FrameKind::Ping, Flags::NONE, stream, &[0; 8]);
                vec![(10 * MS, Act::Bytes(bytes))]
            }
            Reply::Nothing => Vec::new(),
            Reply::Pieces(interval, count) => {
                let head = frame(FrameKind::Headers, Flags::END_HEADERS, stream, &[0x88]);
                let piece = frame(FrameKind::Data, Flags::NONE, stream, b": more\n\n");
                let acts = (1..=count).map(|number| Nanos::from(number) * interval);
                let pieces = acts.map(|at| (at, Act::Bytes(piece.clone())));
                std::iter::once((0, Act::Bytes(head))).chain(pieces).collect()
            }
        }
    }
}

impl<A: FnMut(u64, u64, u32) -> Reply> Peer for Server<A> {
    fn dial(&mut self, _: u64, _: Nanos) -> Dial {
        self.dials += 1;
        if self.unanswered.contains(&(self.dials - 1)) {
            return Dial::Silent;
        }
        Dial::Accept(self.dial_ns)
    }

    fn receive(&mut self, connection: u64, bytes: &[u8], _: Nanos) -> Vec<(Nanos, Act)> {
        let mut received = self.received.remove(&connection).unwrap_or_default();
        received.extend_from_slice(bytes);
        let mut acts = Vec::new();
        if received.starts_with(PREFACE) {
            received.drain(..PREFACE.len());
            acts.push((0, self.greeting()));
        }
        while let Some(head) = received.first_chunk::<FRAME_HEAD_BYTES>().map(FrameHead::read) {
            if received.len() < FRAME_HEAD_BYTES + head.length {
                break;
            }
            let whole: Vec<u8> = received.drain(..FRAME_HEAD_BYTES + head.length).collect();
            if head.kind == FrameKind::GoAway {
                let code = whole.last_chunk().unwrap();
                self.ended.push(ErrorCode(u32::from_be_bytes(*code)));
            }
            if head.kind == FrameKind::Headers {
                self.head_block = whole[FRAME_HEAD_BYTES..].to_vec();
            }
            if head.flags.has(Flags::END_STREAM)
                && matches!(head.kind, FrameKind::Headers | FrameKind::Data)
            {
                acts.extend(self.request(connection, head.stream));
            }
            if head.kind == FrameKind::Data {
                // The connection may have as much again.
                let count = (head.length as u32).to_be_bytes();
                let bytes = frame(FrameKind::WindowUpdate, Flags::NONE, 0, &count);
                acts.push((MS, Act::Bytes(bytes)));
                self.windows += 1;
            }
        }
        self.received.insert(connection, received);
        acts.sort_by_key(|(at, _)| *at);
        acts
    }
}

fn over_http2(mut plan: Plan, streams: u16) -> Plan {
    plan.transport.http = HttpVersion::TwoPlain;
    plan.transport.streams = streams;
    plan
}

/// What the connections did in the window.
fn multiplexing(reports: &[Report]) -> Multiplexing {
    let mut sum = Multiplexing::default();
    let window = reports.iter().filter(|report| report.phase == Phase::Measure);
    window.filter_map(|report| report.multiplexing).for_each(|counts| sum.merge(&counts));
    sum
}

#[test]
fn users_share_connections_and_every_request_is_answered() {
    let server = Server::new(|number, _, _| Reply::After((10 + number % 3) * MS, 200));
    let run = simulate(over_http2(closed(8), 4), server);
    run.assert_balanced();
    let connections = run.reports.last().unwrap().connections;
    assert_eq!((connections.asked, connections.opened), (2, 2));
    assert_eq!(run.measured.ok, run.measured.attempted);
    assert_eq!(run.measured.accepted.stream_wait.count(), run.measured.ok);
    assert!((8 * 80..=8 * 100).contains(&run.measured.ok), "{}", run.measured.ok);
}

#[test]
fn a_stream_that_the_server_does_not_allow_is_waited_for_and_the_wait_is_told_apart() {
    let server = Server::limited(1, |_, _, _| Reply::After(10 * MS, 200));
    let run = simulate(over_http2(closed(4), 4), server);
    run.assert_balanced();
    // One at a time: a hundred in a second, and each waits for the three before it.
    assert!((98..=104).contains(&run.measured.ok), "{}", run.measured.ok);
    let wait = run.measured.accepted.stream_wait.quantile(0.5);
    assert!((29 * MS..31 * MS).contains(&wait), "{wait}");
    let service = run.measured.accepted.service.quantile(0.9);
    assert!((9 * MS..11 * MS).contains(&service), "{service}");
}

#[test]
fn a_request_that_waits_for_a_slot_does_not_wait_for_the_server_to_allow_a_stream() {
    let server = Server::new(|_, _, _| Reply::After(60 * MS, 200));
    let run = simulate(over_http2(constant(100.0, 1), 2), server);
    run.assert_balanced();
    let accepted = &run.measured.accepted;
    assert!(accepted.wait.quantile(0.9) > 100 * MS, "{}", accepted.wait.quantile(0.9));
    assert_eq!(accepted.stream_wait.quantile(1.0), 0);
    // The same, if the server allows one of them only.
    let server = Server::limited(1, |_, _, _| Reply::After(60 * MS, 200));
    let run = simulate(over_http2(constant(100.0, 1), 2), server);
    let longest = run.measured.accepted.stream_wait.quantile(1.0);
    assert!((59 * MS..61 * MS).contains(&longest), "{longest}");
}

#[test]
fn a_request_that_times_out_says_for_what_it_waited() {
    let mut plan = over_http2(closed(3), 3);
    request(&mut plan).timeout_ns = 50 * MS;
    let run = simulate(plan, Server::limited(2, |_, _, _| Reply::Nothing));
    run.assert_balanced();
    let names: Vec<_> = run.reasons().into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["timeout.first_byte", "timeout.stream"]);
    // One of three waited until its end.
    let wait = &run.measured.failed.stream_wait;
    assert_eq!(wait.count(), run.measured.attempted);
    let (median, longest) = (wait.quantile(0.5), wait.quantile(1.0));
    assert!(median < MS && (49 * MS..51 * MS).contains(&longest), "{median} {longest}");
}

#[test]
fn a_request_that_times_out_before_the_first_settings_did_not_wait_for_a_stream() {
    let mut plan = over_http2(closed(3), 3);
    request(&mut plan).timeout_ns = 50 * MS;
    let run = simulate(plan, Silent);
    run.assert_balanced();
    let names: Vec<_> = run.reasons().into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["timeout.first_byte", "timeout.write"]);
}

/// A server that accepts connections and sends nothing.
struct Silent;

impl Peer for Silent {
    fn dial(&mut self, _: u64, _: Nanos) -> Dial {
        Dial::Accept(0)
    }

    fn receive(&mut self, _: u64, _: &[u8], _: Nanos) -> Vec<(Nanos, Act)> {
        Vec::new()
    }
}

#[test]
fn requests_that_were_never_sent_wait_for_their_turn_on_new_connections() {
    // Each connection carries one request.
    let server = Server::limited(1, |_, _, _| Reply::GoAway);
    let run = simulate(over_http2(closed(8), 8), server);
    run.assert_balanced();
    assert_eq!((run.reasons(), run.measured.resent), (vec![], 0));
    assert_eq!(run.measured.ok, run.measured.attempted);
    // Each answer takes 11 ms, and the longest wait ends first.
    let longest = run.measured.accepted.service.quantile(1.0);
    assert!(longest < 8 * 12 * MS, "{longest}");
}

#[test]
fn a_server_that_ends_each_connection_at_once_is_not_dialled_without_end() {
    let run = simulate(over_http2(closed(4), 4), Leaving);
    run.assert_balanced();
    let reasons = run.reasons();
    let [(name, count)] = reasons.as_slice() else { panic!("{reasons:?}") };
    assert_eq!(name, "read.unprocessed");
    // The request that dials is sent, four times at most.
    let opened = run.reports.last().unwrap().connections.opened;
    assert!(opened <= 4 * (count + 4), "{opened} connections for {count}");
    let dialled = run.measured.accepted.connect.count() + run.measured.failed.connect.count();
    assert!(dialled.abs_diff(opened) <= 1, "{dialled} {opened}");
}

/// A server that ends connections before it has received anything.
struct Leaving;

impl Peer for Leaving {
    fn dial(&mut self, _: u64, _: Nanos) -> Dial {
        let settings = frame(FrameKind::Settings, Flags::NONE, 0, &[]);
        let goaway = frame(FrameKind::GoAway, Flags::NONE, 0, &[0; 8]);
        Dial::Greet(MS, [settings, goaway].concat())
    }

    fn receive(&mut self, _: u64, _: &[u8], _: Nanos) -> Vec<(Nanos, Act)> {
        Vec::new()
    }
}

#[test]
fn a_full_socket_delays_requests_and_is_no_lag() {
    let server = Server::new(|_, _, _| Reply::After(5 * MS, 200));
    let mut world = Simulated::new(server);
    world.full = (500 * MS, 550 * MS);
    let run = simulate_in(over_http2(constant(100.0, 1), 8), world, &Gate::new(1).into());
    run.assert_balanced();
    assert_eq!((run.measured.ok, run.measured.dropped), (100, 0));
    let accepted = &run.measured.accepted;
    assert!(accepted.response.quantile(1.0) >= 50 * MS);
    assert_eq!(accepted.lag.quantile(1.0), 0);
}

#[test]
fn opening_a_connection_again_is_no_wait_for_a_stream() {
    for dial_ns in [0, 20 * MS] {
        let mut server = Server::new(|number, _, stream| match stream {
            41.. => Reply::Nothing,
            39 => Reply::GoAway,
            _ => Reply::After((10 + number % 4) * MS, 200),
        });
        server.dial_ns = dial_ns;
        let run = simulate(over_http2(closed(8), 4), server);
        run.assert_balanced();
        assert!(run.measured.resent >= 10, "{}", run.measured.resent);
        let accepted = &run.measured.accepted;
        // Some milliseconds of it on the connection that ended.
        let longest = accepted.wait.quantile(1.0);
        assert!((5 * MS + dial_ns..12 * MS + dial_ns).contains(&longest), "{longest}");
        assert_eq!(accepted.stream_wait.quantile(1.0), 0);
    }
}

#[test]
fn a_dial_that_nobody_answers_is_given_up_with_the_request_that_waits_for_it() {
    let mut server = Server::new(|_, connection, stream| match (connection, stream) {
        (0..2, 39) => Reply::GoAway,
        (0..2, 41..) => Reply::Nothing,
        _ => Reply::After(10 * MS, 200),
    });
    server.unanswered = 2..4;
    let mut plan = over_http2(closed(8), 4);
    request(&mut plan).timeout_ns = 50 * MS;
    let run = simulate(plan, server);
    run.assert_balanced();
    // Users of the same connection do not begin together, so that some wait for the same dial twice.
    assert!((1..=24).contains(&(run.measured.attempted - run.measured.ok)), "{:?}", run.reasons());
    assert!(run.measured.ok > 500, "{} were answered", run.measured.ok);
}

#[test]
fn requests_that_the_server_did_not_process_are_sent_again_with_their_times() {
    // As nginx does, the server ends a connection after some requests.
    let server = Server::new(|number, _, stream| match stream {
        41.. => Reply::Nothing,
        39 => Reply::GoAway,
        _ => Reply::After((10 + number % 4) * MS, 200),
    });
    let run = simulate(over_http2(closed(8), 4), server);
    run.assert_balanced();
    assert_eq!(run.reasons(), []);
    assert_eq!(run.measured.ok, run.measured.attempted);
    assert!(run.reports.last().unwrap().connections.opened > 10);
    assert!(run.measured.resent >= 10, "{}", run.measured.resent);
    assert_eq!(run.world.peer.answered, run.measured.ok);
}

#[test]
fn nothing_waits_for_the_last_exchange_of_a_connection_that_carries_no_more() {
    let server = Server::new(|number, connection, stream| match (number, connection, stream) {
        (1, ..) => Reply::After(600 * MS, 200),
        (_, 0, 41..) => Reply::Nothing,
        (_, 0, 39) => Reply::GoAwayAndStay,
        _ => Reply::After(10 * MS, 200),
    });
    let run = simulate(over_http2(closed(4), 4), server);
    run.assert_balanced();
    assert_eq!(run.reasons(), []);
    let connections = run.reports.last().unwrap().connections;
    assert_eq!((connections.opened, connections.open_max, connections.open), (2, 2, 1));
    // Three users a hundred times, and the fourth for the rest of the second.
    assert!((330..=345).contains(&run.measured.ok), "{}", run.measured.ok);
}

#[test]
fn the_client_says_that_it_leaves_also_on_a_connection_that_carries_no_more() {
    let server = Server::new(|number, connection, stream| match (number, connection, stream) {
        (1, ..) | (_, 0, 41..) => Reply::Nothing,
        (_, 0, 39) => Reply::GoAwayAndStay,
        _ => Reply::After(10 * MS, 200),
    });
    let mut plan = over_http2(closed(4), 4);
    plan.drain_ns = 0;
    let run = simulate(plan, server);
    let connections = run.reports.last().unwrap().connections;
    assert_eq!((connections.opened, connections.open), (2, 2));
    assert_eq!(run.world.peer.ended, [ErrorCode::NO_ERROR; 2]);
}

#[test]
fn a_request_that_is_refused_again_and_again_ends_with_that_reason() {
    let server = Server::new(|number, _, _| match number {
        0..40 => Reply::Reset(ErrorCode::REFUSED_STREAM),
        _ => Reply::After(10 * MS, 200),
    });
    let run = simulate(over_http2(closed(4), 4), server);
    run.assert_balanced();
    // Each is sent four times at most.
    let reasons = run.reasons();
    let [(name, count)] = reasons.as_slice() else { panic!("{reasons:?}") };
    assert_eq!((name.as_str(), count + run.measured.resent), ("read.unprocessed", 40));
    assert!((7..=10).contains(count), "{count}");
    assert_eq!(run.reports.last().unwrap().connections.opened, 1);
}

#[test]
fn a_server_that_breaks_the_protocol_learns_why_each_of_its_connections_ends() {
    let server = Server::new(|number, _, _| match number {
        0..40 => Reply::Malformed,
        _ => Reply::After(10 * MS, 200),
    });
    let run = simulate(over_http2(closed(4), 4), server);
    run.assert_balanced();
    let reasons = run.reasons();
    let [(name, count)] = reasons.as_slice() else { panic!("{reasons:?}") };
    assert_eq!((name.as_str(), *count), ("protocol.h2_frame", 40));
    let (opened, ended) = (run.reports.last().unwrap().connections.opened, &run.world.peer.ended);
    let (last, others) = ended.split_last().unwrap();
    assert_eq!((ended.len() as u64, *last), (opened, ErrorCode::NO_ERROR));
    assert!(others.iter().all(|code| *code == ErrorCode::PROTOCOL_ERROR), "{ended:?}");
}

#[test]
fn a_reset_stream_and_a_timeout_leave_the_connection_to_the_others() {
    let server = Server::new(|number, _, _| match number {
        5 => Reply::Reset(ErrorCode::CANCEL),
        9 => Reply::Nothing,
        _ => Reply::After(10 * MS, 200),
    });
    let mut plan = over_http2(closed(4), 4);
    request(&mut plan).timeout_ns = 50 * MS;
    let run = simulate(plan, server);
    run.assert_balanced();
    let reasons = [("read.stream_reset.cancel".to_owned(), 1), ("timeout.first_byte".into(), 1)];
    assert_eq!(run.reasons(), reasons);
    assert_eq!(run.reports.last().unwrap().connections.opened, 1);
}

#[test]
fn bytes_of_other_streams_do_not_hide_that_a_stream_pauses() {
    const EACH: Nanos = MS * 6 / 5;
    let server = Server::new(|number, _, _| Reply::Pieces(EACH, if number == 0 { 1 } else { 400 }));
    let mut plan = over_http2(closed(2), 2);
    plan.stop = Stop::Requests { requests: 2 };
    let idle_timeout_ns = Some(84 * EACH - MS / 10);
    let stream = StreamPlan { idle_timeout_ns, ..StreamPlan::new(Dialect::Openai) };
    request(&mut plan).stream = Some(stream);
    let mut world = Simulated::new(server);
    // Each time that the worker wakes for the deadline, a piece of the other stream has just come.
    world.oversleeps = (85..400).map(|piece| (piece * EACH - MS / 10, MS / 5)).collect();
    let run = simulate_in(plan, world, &Arc::new(Gate::new(1)));
    run.assert_balanced();
    assert_eq!(run.reasons(), [("timeout.idle".to_owned(), 2)]);
    let took = |share| run.measured.failed.service.quantile(share) / MS;
    assert!((101..=114).contains(&took(0.0)), "{}", took(0.0));
    assert!((580..=592).contains(&took(1.0)), "{}", took(1.0));
}

#[test]
fn a_user_who_gives_up_leaves_the_connection_to_the_others() {
    let server =
        Server::new(|number, _, _| Reply::After(if number % 2 == 0 { 10 } else { 90 } * MS, 200));
    let mut plan = over_http2(closed(4), 4);
    let time = Think::Uniform { from_ns: 50 * MS, to_ns: 50 * MS };
    plan.groups[0].cancel = Some(Cancellation { share: 1.0, after: CancelAfter::Time { time } });
    let run = simulate(plan, server);
    run.assert_balanced();
    assert_eq!(run.reasons(), []);
    assert!(run.measured.cancelled() > 20 && run.measured.ok > 20);
    assert_eq!(run.reports.last().unwrap().connections.opened, 1);
}

#[test]
fn arrivals_use_all_streams_and_are_not_late() {
    let server = Server::new(|_, _, _| Reply::After(60 * MS, 200));
    let run = simulate(over_http2(constant(100.0, 2), 4), server);
    run.assert_balanced();
    assert_eq!((run.measured.ok, run.measured.dropped), (100, 0));
    assert_eq!(run.measured.accepted.stream_wait.quantile(1.0), 0);
    assert_eq!(run.measured.accepted.lag.quantile(1.0), 0);
}

#[test]
fn bodies_of_requests_wait_for_the_window_and_the_wait_is_told_apart() {
    let mut server = Server::new(|_, _, _| Reply::After(10 * MS, 200));
    server.settings = vec![Setting::InitialWindowBytes(1 << 20)];
    let mut plan = over_http2(closed(2), 2);
    request(&mut plan).method = "POST".into();
    // 48,000 bytes: two of them need more than the window of the connection.
    request(&mut plan).body = Some("eHh4".repeat(16_000));
    let run = simulate(plan, server);
    run.assert_balanced();
    assert_eq!(run.measured.ok, run.measured.attempted);
    assert_eq!(run.measured.accepted.window_wait.count(), run.measured.ok);
    let most = run.measured.accepted.window_wait.quantile(1.0);
    assert!((MS..3 * MS).contains(&most), "{most}");
    assert!(run.world.peer.windows > 100);
    let counts = multiplexing(&run.reports);
    assert!((run.measured.ok..=run.measured.attempted).contains(&counts.requests), "{counts:?}");
    // The window of the connection is used up for 1 of 11 ms.
    let share = counts.stalled_ns as f64 / counts.open_ns as f64;
    assert!((0.08..0.1).contains(&share), "{counts:?}");
    assert!((999 * MS..=1001 * MS).contains(&counts.open_ns), "{counts:?}");
}

#[test]
fn the_limits_of_the_server_are_reported_and_connections_that_were_closed_count() {
    let mut server = Server::new(|number, _, stream| match stream {
        41.. => Reply::Nothing,
        39 => Reply::GoAway,
        _ => Reply::After((10 + number % 4) * MS, 200),
    });
    server.settings = vec![
        Setting::MaxConcurrentStreams(9),
        Setting::InitialWindowBytes(100),
        Setting::MaxFrameBytes(20_000),
        Setting::HeaderTableBytes(0),
        Setting::MaxHeaderListBytes(5000),
    ];
    let run = simulate(over_http2(closed(4), 4), server);
    run.assert_balanced();
    let limits = ServerLimits {
        streams: Some(9),
        window_bytes: 100,
        frame_bytes: 20_000,
        header_table_bytes: 0,
        header_list_bytes: Some(5000),
    };
    let counts = multiplexing(&run.reports);
    assert_eq!(counts.limits, Some(limits));
    // Method, scheme, authority and path.
    let texts = ":methodGET:schemehttp:authority127.0.0.1:80:path/";
    assert_eq!(counts.head_bytes, texts.len() as u64 + 4 * 32);
    // Requests that were sent again count each time.
    let sent = run.measured.ok + run.measured.resent;
    assert!((sent..=sent + 8).contains(&counts.requests), "{counts:?} {sent}");
    assert!(counts.stalled_ns < MS, "{counts:?}");
}

#[test]
fn heads_refer_to_earlier_ones_only_as_far_as_the_server_keeps_them() {
    for (settings, refers) in [(vec![], true), (vec![Setting::HeaderTableBytes(0)], false)] {
        let server = Server { settings, ..Server::new(|_, _, _| Reply::After(10 * MS, 200)) };
        let run = simulate(over_http2(closed(1), 1), server);
        assert!(run.measured.ok > 90);
        // A decoder that has seen no other head knows no earlier one.
        let (mut decoder, mut fields) = (Decoder::default(), 0);
        let decoded = decoder.decode(&run.world.peer.head_block, |_, _, _| fields += 1);
        assert_eq!(decoded.is_err(), refers, "{decoded:?}");
        assert_eq!(fields == 4, !refers);
    }
}

#[test]
fn requests_of_http1_are_not_multiplexed() {
    let run = simulate(closed(2), crate::world::hello_after(10 * MS));
    assert!(run.reports.iter().all(|report| report.multiplexing.is_none()));
}

#[test]
fn requests_are_collected_before_they_are_sent_and_their_times_begin_when_they_are() {
    let spread = |number, _, _| Reply::After(10 * MS + number % 4 * MS / 10, 200);
    let mut plan = over_http2(closed(4), 4);
    let apart = simulate(plan.clone(), Server::new(spread));
    plan.transport.coalesce_ns = MS;
    let together = simulate(plan, Server::new(spread));
    for (run, each) in [(&apart, 1), (&together, 4)] {
        run.assert_balanced();
        let counts = multiplexing(&run.reports);
        assert!(counts.requests.abs_diff(counts.writes * each) <= 8, "{counts:?} {each}");
        // The first ones wait for the settings of the server, which is in their times.
        let response = run.measured.accepted.response.quantile(0.95);
        assert!((10 * MS..11 * MS).contains(&response), "{response}");
    }
    // Four in 11 ms.
    assert!((356..=372).contains(&together.measured.ok), "{}", together.measured.ok);
}

#[test]
fn nothing_is_collected_where_the_server_chose_http1() {
    let mut plan = closed(20);
    plan.groups[0].think = Some(Think::Uniform { from_ns: MS, to_ns: 2 * MS });
    plan.transport.coalesce_ns = MS;
    let mut world = Simulated::new(crate::world::hello_after(MS));
    world.send_cost_ns = MS / 2;
    let run = simulate_in(plan, world, &Arc::new(Gate::new(1)));
    // Twenty users in three milliseconds each, but the worker sends two requests in one.
    let lag = run.measured.accepted.lag.quantile(0.5);
    assert!((5 * MS..10 * MS).contains(&lag), "{lag}");
}

#[test]
fn a_server_of_http1_is_recognised() {
    struct Old;
    impl Peer for Old {
        fn dial(&mut self, _: u64, _: Nanos) -> Dial {
            Dial::Accept(0)
        }

        fn receive(&mut self, _: u64, _: &[u8], _: Nanos) -> Vec<(Nanos, Act)> {
            let text = b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n".to_vec();
            vec![(10 * MS, Act::Bytes(text)), (11 * MS, Act::Close)]
        }
    }
    let run = simulate(over_http2(closed(2), 2), Old);
    run.assert_balanced();
    let reasons = run.reasons();
    assert_eq!(reasons.len(), 1);
    assert_eq!(reasons[0].0, "protocol.not_http2");
}
