//! Exchanges for callers that wait, on a simulated network: who is told what, and when.

#![allow(clippy::unwrap_used, clippy::panic)] // A test that cannot go on may panic.

use std::collections::VecDeque;

use client::{Answer, Ask, Destination, LaneId, News, Patience, Reactor, Reason, Ticket};
use net::{Act, Address, Dial, Driver, Nanos, Peer, Simulated};

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
    lane: LaneId,
}

fn bytes(after: Nanos, text: &[u8]) -> (Nanos, Act) {
    (after, Act::Bytes(text.to_vec()))
}

fn world(dials: Vec<Dial>, scripts: Vec<Vec<(Nanos, Act)>>) -> World {
    let server = Server { dials: dials.into(), scripts: scripts.into(), ..Server::default() };
    let mut reactor = Reactor::new(Simulated::new(server));
    let addresses = ["127.0.0.1:80", "127.0.0.1:81"];
    let addresses = addresses.map(|text| Address::Ip(text.parse().unwrap())).to_vec();
    let to = Destination { addresses, most_idle: 10, ..Destination::default() };
    let lane = reactor.open(to);
    World { reactor, lane }
}

impl World {
    fn ask(&mut self, streams: bool, patience: Patience) -> Ticket {
        let intended = self.reactor.driver().now();
        let (lane, head, body) = (self.lane, REQUEST, &b""[..]);
        self.reactor.submit(&Ask { lane, head, body, is_head: false, streams, intended, patience })
    }

    /// Lets so much time pass; gives all that was told meanwhile.
    fn pass(&mut self, nanos: Nanos) -> Vec<(Ticket, News)> {
        let mut news = Vec::new();
        let until = self.reactor.driver().now() + nanos;
        while self.reactor.driver().now() < until {
            let next = self.reactor.next_turn().unwrap_or(until);
            self.reactor.turn(next.min(until), false).unwrap();
            news.extend(self.reactor.news());
        }
        news
    }

    fn answer(&mut self, streams: bool, patience: Patience) -> Answer {
        let ticket = self.ask(streams, patience);
        over(self.pass(200 * MS), ticket)
    }

    fn dialled(&mut self) -> u64 {
        self.reactor.driver().dials()
    }
}

fn over(news: Vec<(Ticket, News)>, ticket: Ticket) -> Answer {
    let mut all = news.into_iter().filter_map(|(of, what)| match what {
        News::Over(answer) if of == ticket => Some(*answer),
        _ => None,
    });
    let answer = all.next().unwrap();
    assert!(all.next().is_none(), "ends once");
    answer
}

const FOREVER: Patience = Patience { connect_ns: None, read_ns: None };

fn patience(connect: Nanos, read: Nanos) -> Patience {
    Patience { connect_ns: Some(connect), read_ns: Some(read) }
}

#[test]
fn an_answer_comes_whole_and_its_connection_is_used_again() {
    let mut world = world(vec![], vec![vec![bytes(2 * MS, ANSWER)]]);
    for number in 0..3 {
        let answer = world.answer(false, FOREVER);
        assert_eq!((answer.outcome.status, answer.outcome.failure), (Some(200), None));
        assert_eq!(answer.body, b"hello");
        assert!(answer.head.starts_with(b"HTTP/1.1 200 OK"));
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
    assert_eq!(world.answer(false, FOREVER).body, b"hello");
    assert_eq!(world.reactor.connections(), (0, 1));
    assert_eq!(world.answer(false, FOREVER).body, b"hello");
    assert_eq!(world.dialled(), 2);
}

#[test]
fn a_close_that_nobody_has_looked_at_is_seen_before_reuse() {
    let closing = vec![bytes(MS, ANSWER), (2 * MS, Act::Close)];
    let mut world = world(vec![], vec![closing]);
    let first = world.ask(false, FOREVER);
    // Until the answer, and not a moment longer.
    let mut news = Vec::new();
    while news.is_empty() {
        news = world.pass(MS / 10);
    }
    assert_eq!(over(news, first).body, b"hello");
    let mut unseen = Vec::new();
    world.reactor.driver().wait(100 * MS, &mut unseen).unwrap();
    assert!(unseen[0].closed);
    assert_eq!(world.answer(false, FOREVER).outcome.failure, None);
    assert_eq!(world.dialled(), 2);
}

#[test]
fn every_address_is_tried_before_a_dial_fails() {
    let refused = || Dial::Fail(MS, 111);
    let mut world = world(vec![refused()], vec![vec![bytes(MS, ANSWER)]]);
    assert_eq!(world.answer(false, FOREVER).outcome.failure, None);
    assert_eq!(world.dialled(), 2);
    let mut world = self::world(vec![refused(), refused()], vec![]);
    let failure = world.answer(false, FOREVER).outcome.failure;
    assert_eq!((failure, world.dialled()), (Some(Reason::ConnectRefused), 2));
}

#[test]
fn what_fails_at_once_is_known_before_anybody_waits() {
    let mut world = world(vec![Dial::Local(24)], vec![]);
    let ticket = world.ask(false, FOREVER);
    let Some(News::Over(answer)) = world.reactor.news_of(ticket) else { panic!("no news") };
    assert_eq!(answer.outcome.failure, Some(Reason::ConnectNoDescriptor));
    assert!(!world.reactor.is_current(ticket));
}

#[test]
fn patience_is_for_the_connection_and_then_for_each_byte() {
    let mut world = world(
        vec![Dial::Silent],
        vec![vec![bytes(8 * MS, &ANSWER[..9]), bytes(16 * MS, &ANSWER[9..])]],
    );
    let answer = world.answer(false, patience(5 * MS, 10 * MS));
    assert_eq!(answer.outcome.failure, Some(Reason::TimeoutConnect));
    assert_eq!(answer.stamps.last_byte, 5 * MS);
    // 16 ms in all, but never 10 without a byte.
    assert_eq!(world.answer(false, patience(5 * MS, 10 * MS)).outcome.failure, None);
    let answer = world.answer(false, patience(5 * MS, 7 * MS));
    assert_eq!(answer.outcome.failure, Some(Reason::TimeoutFirstByte));
    assert_eq!(answer.stamps.last_byte - answer.stamps.sent, 7 * MS);
    assert_eq!(world.reactor.connections().0, 0);
}

#[test]
fn a_stream_is_told_of_by_its_head_its_pieces_and_its_end() {
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
    let ticket = world.ask(true, patience(5 * MS, 15 * MS));
    let news = world.pass(5 * MS);
    assert!(matches!(&news[..], [(_, News::Head { status: 200, .. })]));
    assert!(world.reactor.take(ticket).is_empty());
    assert!(matches!(&world.pass(10 * MS)[..], [(_, News::Piece)]));
    assert_eq!(world.reactor.take(ticket), event);
    // Nobody waits for the next one, so nobody is told of it, nor out of patience.
    let news = world.pass(100 * MS);
    let answer = over(news, ticket);
    assert_eq!((answer.outcome.failure, answer.body.len()), (None, event.len() + 14));
    let watch = answer.watch.unwrap();
    assert_eq!((watch.seen().texts, answer.fault), (2, None));
    assert_eq!(watch.seen().second_text - watch.seen().first_text, 10 * MS);
}

#[test]
fn a_stream_that_nobody_reads_is_left_in_the_kernel() {
    let piece = vec![b'x'; 256 * 1024];
    let length = 16 * piece.len();
    let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n\r\n");
    let mut script = vec![bytes(MS, head.as_bytes())];
    script.extend((0..16).map(|number| bytes((2 + number) * MS, &piece)));
    let mut world = world(vec![], vec![script]);
    let ticket = world.ask(true, FOREVER);
    assert_eq!(world.pass(100 * MS).len(), 1, "its head");
    let mut came = world.reactor.take(ticket).len();
    // More than the limit, but far from all of it.
    assert!((1024 * 1024..2 * 1024 * 1024).contains(&came), "{came}");
    let mut left = 0;
    for _ in 0..100 {
        for (_, news) in world.pass(MS) {
            if let News::Over(answer) = news {
                left = answer.body.len();
            }
        }
        came += world.reactor.take(ticket).len();
    }
    assert_eq!(came + left, length);
}

#[test]
fn the_end_of_a_stream_is_not_lost_while_nobody_reads_it() {
    let piece = vec![b'x'; 256 * 1024];
    let mut script = vec![bytes(MS, b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n")];
    script.extend((0..8).map(|number| bytes((2 + number) * MS, &piece)));
    // It comes with the last piece, while the reader is paused.
    script.push((9 * MS, Act::Close));
    let mut world = world(vec![], vec![script]);
    let ticket = world.ask(true, FOREVER);
    world.pass(50 * MS);
    let mut came = 0;
    for _ in 0..20 {
        came += world.reactor.take(ticket).len();
        for (_, news) in world.pass(MS) {
            if let News::Over(answer) = news {
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
    let answer = world.answer(true, FOREVER);
    assert_eq!((answer.outcome.failure, answer.fault), (None, Some(Reason::StreamTruncated)));
}

#[test]
fn who_closes_a_stream_has_what_came_of_it() {
    let head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n";
    let event = b"data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n";
    let mut world = world(vec![], vec![vec![bytes(MS, head), bytes(2 * MS, event)]]);
    let ticket = world.ask(true, FOREVER);
    world.pass(5 * MS);
    let answer = world.reactor.cancel(ticket).unwrap();
    assert_eq!((answer.outcome.status, answer.outcome.failure), (Some(200), None));
    assert_eq!((answer.fault, answer.watch.unwrap().seen().texts), (None, 1));
    assert_eq!(world.reactor.connections().0, 0);
}

#[test]
fn only_a_stream_of_events_is_watched() {
    let mut world = world(vec![], vec![vec![bytes(MS, ANSWER)]]);
    let answer = world.answer(true, FOREVER);
    assert!(answer.watch.is_none());
}

#[test]
fn nothing_is_heard_of_an_exchange_that_was_given_up() {
    let mut world = world(vec![], vec![vec![bytes(5 * MS, ANSWER)]]);
    let first = world.ask(false, FOREVER);
    assert!(world.pass(3 * MS).is_empty());
    assert_eq!(world.reactor.cancel(first).unwrap().outcome.status, None);
    assert!(!world.reactor.is_current(first));
    let second = world.ask(false, FOREVER);
    assert_eq!(second.place(), first.place());
    let news = world.pass(50 * MS);
    assert!(news.iter().all(|(ticket, _)| *ticket == second));
    assert_eq!(over(news, second).body, b"hello");
    // A stale ticket cancels nobody else's.
    assert!(world.reactor.cancel(first).is_none());
    assert_eq!(world.dialled(), 2);
}

#[test]
fn lanes_share_no_connection_and_a_closed_one_keeps_none() {
    let mut world = world(vec![], vec![vec![bytes(MS, ANSWER)]]);
    world.answer(false, FOREVER);
    let addresses = vec![Address::Ip("127.0.0.1:80".parse().unwrap())];
    let first = world.lane;
    world.lane =
        world.reactor.open(Destination { addresses, most_idle: 1, ..Destination::default() });
    world.answer(false, FOREVER);
    assert_eq!((world.dialled(), world.reactor.connections().0), (2, 2));
    world.reactor.close(first);
    assert_eq!(world.reactor.connections().0, 1);
    // Both end at once; the lane has room for one of them.
    let tickets = [world.ask(false, FOREVER), world.ask(false, FOREVER)];
    let second = world.lane;
    assert_eq!(world.pass(20 * MS).len(), tickets.len());
    assert_eq!(world.reactor.connections().0, 1);
    world.ask(false, FOREVER);
    world.reactor.close(second);
    assert_eq!(world.pass(20 * MS).len(), 1, "what is under way ends");
    assert_eq!(world.reactor.connections().0, 0);
}
