//! Exchanges for callers that wait, on a simulated network.

use std::collections::VecDeque;

use client::{
    Answer, Destination, ExchangeEvent, ExchangeId, ExchangeRequest, PoolId, Reactor, Reason,
    Timeouts,
};
use net::{Act, Address, Dial, Driver, Nanos, Peer, Simulated, TlsClient, TlsOptions};

const MS: Nanos = 1_000_000;
const REQUEST: &[u8] = b"GET / HTTP/1.1\r\nHost: h\r\n\r\n";
const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";

/// Answers the n-th request, counted over all connections, by the n-th script; then the last again.
#[derive(Default)]
struct Server {
    dials: VecDeque<Dial>,
    scripts: VecDeque<Vec<(Nanos, Act)>>,
    dialled: u64,
    asked: u64,
}

impl Peer for Server {
    fn dial(&mut self, _number: u64, _now: Nanos) -> Dial {
        self.dialled += 1;
        self.dials.pop_front().unwrap_or(Dial::Accept(MS))
    }

    fn receive(&mut self, _connection: u64, _bytes: &[u8], _now: Nanos) -> Vec<(Nanos, Act)> {
        self.asked += 1;
        if self.scripts.len() > 1 {
            self.scripts.pop_front().unwrap()
        } else {
            self.scripts.front().cloned().unwrap_or_default()
        }
    }
}

struct World {
    reactor: Reactor<Simulated<Server>>,
    pool: PoolId,
}

fn bytes(after: Nanos, text: &[u8]) -> (Nanos, Act) {
    (after, Act::Bytes(text.to_vec()))
}

fn world(dials: Vec<Dial>, scripts: Vec<Vec<(Nanos, Act)>>) -> World {
    let server = Server { dials: dials.into(), scripts: scripts.into(), ..Server::default() };
    let mut reactor = Reactor::new(Simulated::new(server));
    let addresses = ["127.0.0.1:80", "127.0.0.1:81"];
    let addresses = addresses.map(|text| Address::Ip(text.parse().unwrap())).to_vec();
    let to = Destination { addresses, max_idle: 10, ..Destination::default() };
    let pool = reactor.open(to);
    World { reactor, pool }
}

impl World {
    fn start(&mut self, streams: bool, timeouts: Timeouts) -> ExchangeId {
        let intended = self.reactor.driver().now();
        let (pool, head, body) = (self.pool, REQUEST, &b""[..]);
        self.reactor.start(&ExchangeRequest {
            pool,
            head,
            body,
            is_head: false,
            streams,
            intended,
            timeouts,
        })
    }

    /// Lets time pass, and returns the events.
    fn pass(&mut self, nanos: Nanos) -> Vec<(ExchangeId, ExchangeEvent)> {
        let mut events = Vec::new();
        let until = self.reactor.driver().now() + nanos;
        while self.reactor.driver().now() < until {
            let next = self.reactor.next_poll_at().unwrap_or(until);
            self.reactor.poll(next.min(until), false).unwrap();
            events.extend(self.reactor.take_events());
        }
        events
    }

    fn answer(&mut self, streams: bool, timeouts: Timeouts) -> Answer {
        let id = self.start(streams, timeouts);
        over(self.pass(200 * MS), id)
    }

    fn dialled(&mut self) -> u64 {
        self.reactor.driver().dials()
    }
}

fn over(events: Vec<(ExchangeId, ExchangeEvent)>, id: ExchangeId) -> Answer {
    let mut all = events.into_iter().filter_map(|(of, what)| match what {
        ExchangeEvent::Over(answer) if of == id => Some(*answer),
        _ => None,
    });
    let answer = all.next().unwrap();
    assert!(all.next().is_none(), "ends once");
    answer
}

const NO_TIMEOUTS: Timeouts = Timeouts { connect_ns: None, read_ns: None };

fn timeouts(connect: Nanos, read: Nanos) -> Timeouts {
    Timeouts { connect_ns: Some(connect), read_ns: Some(read) }
}

#[test]
fn an_answer_comes_whole_and_its_connection_is_used_again() {
    let mut world = world(vec![], vec![vec![bytes(2 * MS, ANSWER)]]);
    for number in 0..3 {
        let answer = world.answer(false, NO_TIMEOUTS);
        assert_eq!((answer.outcome.status, answer.outcome.failure), (Some(200), None));
        assert_eq!(answer.body, b"hello");
        let head = answer.head.as_ref().unwrap();
        assert_eq!((head.version, head.status, &*head.reason), (11, 200, &b"OK"[..]));
        let stamps = answer.stamps;
        assert_eq!(stamps.last_byte - stamps.sent, 2 * MS);
        // Only the first one dialled.
        assert_eq!(stamps.connect == MS, number == 0);
        assert_eq!((world.dialled(), world.reactor.connections()), (1, (1, 1)));
    }
}

#[test]
fn a_connection_that_was_closed_meanwhile_is_not_used_again() {
    let closing = vec![bytes(MS, ANSWER), (2 * MS, Act::Close)];
    let mut world = world(vec![], vec![closing]);
    assert_eq!(world.answer(false, NO_TIMEOUTS).body, b"hello");
    assert_eq!(world.reactor.connections(), (0, 1));
    assert_eq!(world.answer(false, NO_TIMEOUTS).body, b"hello");
    assert_eq!(world.dialled(), 2);
}

#[test]
fn a_close_without_a_poll_is_detected_before_reuse() {
    let closing = vec![bytes(MS, ANSWER), (2 * MS, Act::Close)];
    let mut world = world(vec![], vec![closing]);
    let first = world.start(false, NO_TIMEOUTS);
    // Until the response, and not a moment longer.
    let mut events = Vec::new();
    while events.is_empty() {
        events = world.pass(MS / 10);
    }
    assert_eq!(over(events, first).body, b"hello");
    let mut unseen = Vec::new();
    world.reactor.driver().wait(100 * MS, &mut unseen).unwrap();
    assert!(unseen[0].closed);
    assert_eq!(world.answer(false, NO_TIMEOUTS).outcome.failure, None);
    assert_eq!(world.dialled(), 2);
}

#[test]
fn every_address_is_tried_before_a_dial_fails() {
    let refused = || Dial::Fail(MS, 111);
    let mut world = world(vec![refused()], vec![vec![bytes(MS, ANSWER)]]);
    assert_eq!(world.answer(false, NO_TIMEOUTS).outcome.failure, None);
    assert_eq!(world.dialled(), 2);
    let mut world = self::world(vec![refused(), refused()], vec![]);
    let failure = world.answer(false, NO_TIMEOUTS).outcome.failure;
    assert_eq!((failure, world.dialled()), (Some(Reason::ConnectRefused), 2));
}

#[test]
fn an_exchange_that_fails_at_once_has_its_event_before_the_caller_waits() {
    let mut world = world(vec![Dial::Local(24)], vec![]);
    let id = world.start(false, NO_TIMEOUTS);
    let Some(ExchangeEvent::Over(answer)) = world.reactor.take_event_of(id) else {
        panic!("no events")
    };
    assert_eq!(answer.outcome.failure, Some(Reason::ConnectNoDescriptor));
    assert!(!world.reactor.is_current(id));
}

#[test]
fn timeouts_apply_to_the_connection_and_then_to_each_read() {
    let mut world = world(
        vec![Dial::Silent],
        vec![vec![bytes(8 * MS, &ANSWER[..9]), bytes(16 * MS, &ANSWER[9..])]],
    );
    let answer = world.answer(false, timeouts(5 * MS, 10 * MS));
    assert_eq!(answer.outcome.failure, Some(Reason::TimeoutConnect));
    assert_eq!(answer.stamps.last_byte, 5 * MS);
    // 16 ms in all, but never 10 without a byte.
    assert_eq!(world.answer(false, timeouts(5 * MS, 10 * MS)).outcome.failure, None);
    let answer = world.answer(false, timeouts(5 * MS, 7 * MS));
    assert_eq!(answer.outcome.failure, Some(Reason::TimeoutFirstByte));
    assert_eq!(answer.stamps.last_byte - answer.stamps.sent, 7 * MS);
    assert_eq!(world.reactor.connections().0, 0);
}

#[test]
fn a_handshake_that_takes_the_whole_timeout_ends_the_exchange_at_the_first_address() {
    // Established, and then silent.
    let mut world = world(vec![], vec![]);
    let addresses = ["127.0.0.1:80", "127.0.0.1:81"];
    let addresses = addresses.map(|text| Address::Ip(text.parse().unwrap())).to_vec();
    let tls = Some(TlsClient::new("localhost", &TlsOptions::default()).unwrap());
    let to = Destination { addresses, tls, max_idle: 1, ..Destination::default() };
    world.pool = world.reactor.open(to);
    let answer = world.answer(false, timeouts(5 * MS, 10 * MS));
    assert_eq!(answer.outcome.failure, Some(Reason::TimeoutTls));
    assert_eq!((answer.stamps.last_byte, world.dialled()), (5 * MS, 1));
}

#[test]
fn a_stream_has_events_for_its_head_its_pieces_and_its_end() {
    let head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n";
    let event = b"data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n";
    let script = vec![
        bytes(MS, head),
        bytes(11 * MS, event),
        bytes(21 * MS, event),
        bytes(22 * MS, b"data: [DONE]\n\n"),
        (23 * MS, Act::Close),
    ];
    let mut world = world(vec![], vec![script]);
    let id = world.start(true, timeouts(5 * MS, 15 * MS));
    let events = world.pass(5 * MS);
    assert!(matches!(&events[..], [(_, ExchangeEvent::Head { head, .. })] if head.status == 200));
    assert!(world.reactor.take(id).is_empty());
    assert!(matches!(&world.pass(10 * MS)[..], [(_, ExchangeEvent::Piece)]));
    assert_eq!(world.reactor.take(id), event);
    // While no caller waits for a piece, there is no event and no timeout.
    let events = world.pass(100 * MS);
    let answer = over(events, id);
    assert_eq!((answer.outcome.failure, answer.body.len()), (None, event.len() + 14));
    let reader = answer.stream_reader.unwrap();
    assert_eq!((reader.observation().texts, answer.fault), (2, None));
    assert_eq!(reader.observation().second_text - reader.observation().first_text, 10 * MS);
}

#[test]
fn a_stream_that_is_not_read_stays_in_the_socket() {
    let piece = vec![b'x'; 256 * 1024];
    let length = 16 * piece.len();
    let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n\r\n");
    let mut script = vec![bytes(MS, head.as_bytes())];
    script.extend((0..16).map(|number| bytes((2 + number) * MS, &piece)));
    let mut world = world(vec![], vec![script]);
    let id = world.start(true, NO_TIMEOUTS);
    assert_eq!(world.pass(100 * MS).len(), 1, "its head");
    let mut came = world.reactor.take(id).len();
    // More than the limit, but far from all of it.
    assert!((1024 * 1024..2 * 1024 * 1024).contains(&came), "{came}");
    let mut left = 0;
    for _ in 0..100 {
        for (_, event) in world.pass(MS) {
            if let ExchangeEvent::Over(answer) = event {
                left = answer.body.len();
            }
        }
        came += world.reactor.take(id).len();
    }
    assert_eq!(came + left, length);
}

#[test]
fn the_end_of_a_stream_is_not_lost_while_it_is_not_read() {
    let piece = vec![b'x'; 256 * 1024];
    let mut script = vec![bytes(MS, b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n")];
    script.extend((0..8).map(|number| bytes((2 + number) * MS, &piece)));
    // It comes with the last piece, while the reader is paused.
    script.push((9 * MS, Act::Close));
    let mut world = world(vec![], vec![script]);
    let id = world.start(true, NO_TIMEOUTS);
    world.pass(50 * MS);
    let mut came = 0;
    for _ in 0..20 {
        came += world.reactor.take(id).len();
        for (_, event) in world.pass(MS) {
            if let ExchangeEvent::Over(answer) = event {
                assert_eq!(
                    (answer.outcome.failure, came + answer.body.len()),
                    (None, 8 * piece.len())
                );
                return;
            }
        }
    }
    panic!("it has no end");
}

#[test]
fn a_stream_without_its_end_has_a_fault_although_the_body_is_whole() {
    let body = b"data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n";
    let head = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    let mut world = world(vec![], vec![vec![bytes(MS, head.as_bytes()), bytes(2 * MS, body)]]);
    let answer = world.answer(true, NO_TIMEOUTS);
    assert_eq!((answer.outcome.failure, answer.fault), (None, Some(Reason::StreamTruncated)));
}

#[test]
fn cancelling_a_stream_returns_the_received_part() {
    let head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n";
    let event = b"data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n";
    let mut world = world(vec![], vec![vec![bytes(MS, head), bytes(2 * MS, event)]]);
    let id = world.start(true, NO_TIMEOUTS);
    world.pass(5 * MS);
    let answer = world.reactor.cancel(id).unwrap();
    assert_eq!((answer.outcome.status, answer.outcome.failure), (Some(200), None));
    assert_eq!((answer.fault, answer.stream_reader.unwrap().observation().texts), (None, 1));
    assert_eq!(world.reactor.connections().0, 0);
}

#[test]
fn only_a_stream_of_events_is_watched() {
    let mut world = world(vec![], vec![vec![bytes(MS, ANSWER)]]);
    let answer = world.answer(true, NO_TIMEOUTS);
    assert!(answer.stream_reader.is_none());
}

#[test]
fn a_cancelled_exchange_has_no_events() {
    let mut world = world(vec![], vec![vec![bytes(5 * MS, ANSWER)]]);
    let first = world.start(false, NO_TIMEOUTS);
    assert!(world.pass(3 * MS).is_empty());
    assert_eq!(world.reactor.cancel(first).unwrap().outcome.status, None);
    assert!(!world.reactor.is_current(first));
    let second = world.start(false, NO_TIMEOUTS);
    assert_eq!(second.index(), first.index());
    let events = world.pass(50 * MS);
    assert!(events.iter().all(|(id, _)| *id == second));
    assert_eq!(over(events, second).body, b"hello");
    // The id of an ended exchange cancels no other exchange.
    assert!(world.reactor.cancel(first).is_none());
    assert_eq!(world.dialled(), 2);
}

#[test]
fn pools_share_no_connection_and_a_closed_one_has_none() {
    let mut world = world(vec![], vec![vec![bytes(MS, ANSWER)]]);
    world.answer(false, NO_TIMEOUTS);
    let addresses = vec![Address::Ip("127.0.0.1:80".parse().unwrap())];
    let first = world.pool;
    world.pool =
        world.reactor.open(Destination { addresses, max_idle: 1, ..Destination::default() });
    world.answer(false, NO_TIMEOUTS);
    assert_eq!((world.dialled(), world.reactor.connections().0), (2, 2));
    world.reactor.close(first);
    assert_eq!(world.reactor.connections().0, 1);
    // Both end at once; the pool has room for one of them.
    let tickets = [world.start(false, NO_TIMEOUTS), world.start(false, NO_TIMEOUTS)];
    let second = world.pool;
    assert_eq!(world.pass(20 * MS).len(), tickets.len());
    assert_eq!(world.reactor.connections().0, 1);
    world.start(false, NO_TIMEOUTS);
    world.reactor.close(second);
    assert_eq!(world.pass(20 * MS).len(), 1, "what is under way ends");
    assert_eq!(world.reactor.connections().0, 0);
}
