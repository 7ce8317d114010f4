//! Calls of greenlets on a simulated network.

use client::{Reason, Timeouts};
use engine::level_json;
use net::{Act, Address, Dial, Peer, Simulated};
use serde_json::Value;

use super::*;
use crate::{LocustReport, RequestTally, TallyAggregate};

const MS: Nanos = 1_000_000;
const SECOND: Nanos = 1_000 * MS;
const OK: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";
const MISSING: &[u8] = b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n";
const EVENTS: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: a\n\n";

/// A server that answers every request after a millisecond with the same acts.
struct Server(Vec<(Nanos, Act)>);

impl Peer for Server {
    fn dial(&mut self, _number: u64, _now: Nanos) -> Dial {
        Dial::Accept(MS)
    }

    fn receive(&mut self, _connection: u64, _bytes: &[u8], _now: Nanos) -> Vec<(Nanos, Act)> {
        self.0.clone()
    }
}

/// One process of Locust with one row.
struct World {
    exchanges: Exchanges<&'static str, Simulated<Server>>,
    pool: PoolId,
    tally: Arc<Mutex<RequestTally>>,
}

type SentCall = (ExchangeId, Arc<CallState<&'static str>>);

fn world(acts: Vec<(Nanos, Act)>) -> World {
    let exchanges = Exchanges::new(Simulated::new(Server(acts)), |_, _| {});
    let address = Address::Ip("127.0.0.1:80".parse().unwrap());
    let to = Destination { addresses: vec![address], max_idle: 10, ..Destination::default() };
    let pool = exchanges.open(to);
    let mut tally = RequestTally::default();
    tally.begin(0, SECOND, false);
    tally.row("GET", "/", false);
    World { exchanges, pool, tally: Arc::new(Mutex::new(tally)) }
}

fn answered(bytes: &[u8]) -> World {
    world(vec![(MS, Act::Bytes(bytes.to_vec()))])
}

/// A stream that is reset after its first event.
fn reset() -> World {
    world(vec![(MS, Act::Bytes(EVENTS.to_vec())), (5 * MS, Act::Reset)])
}

impl World {
    fn send(&self, streams: bool) -> SentCall {
        let timeouts = Timeouts { connect_ns: None, read_ns: Some(50 * MS) };
        let (pool, head, body) = (self.pool, &b"GET / HTTP/1.1\r\nHost: h\r\n\r\n"[..], &b""[..]);
        let intended = self.exchanges.lock().reactor.driver().now();
        let request =
            ExchangeRequest { pool, head, body, is_head: false, streams, intended, timeouts };
        self.exchanges.start(&request, "waiter")
    }

    /// Lets time pass; returns the number of calls that events concern, whose waiters are taken.
    fn pass(&self, nanos: Nanos) -> usize {
        let until = self.exchanges.lock().reactor.driver().now() + nanos;
        let mut woken = 0;
        while self.exchanges.lock().reactor.driver().now() < until {
            let next = self.exchanges.lock().reactor.next_poll_at().unwrap_or(until);
            self.exchanges.lock().reactor.poll(next.min(until), false).unwrap();
            woken +=
                self.exchanges.poll().unwrap().iter().filter_map(|call| call.take_waiter()).count();
        }
        woken
    }

    /// Reports a call as Locust does, with or without a failure.
    fn report(&self, call: &SentCall, failure: Option<&str>, is_status: bool) -> bool {
        call.1.report(LocustReport {
            tally: Arc::clone(&self.tally),
            row: 0,
            response_ns: Some(MS),
            failure: failure.map(str::to_owned),
            is_status,
        })
    }

    /// Ends the test, and returns its level.
    fn level(&self) -> Value {
        let mut tally = self.tally.lock().unwrap();
        tally.end(SECOND);
        let mut all = TallyAggregate::new(&[], SECOND, 0, false);
        all.add_report("one", tally.take_report(SECOND));
        all.end(false);
        level_json(all.summary())
    }
}

#[test]
fn a_call_has_an_answer_and_its_waiter_is_taken_once() {
    let world = answered(OK);
    let call = world.send(false);
    assert_eq!((call.1.outcome(), call.1.is_over(), call.1.status()), (-1, false, 0));
    assert_eq!(world.pass(10 * MS), 1);
    assert_eq!((call.1.outcome(), call.1.is_over(), call.1.body_length()), (200, true, 5));
    assert_eq!((call.1.take_body(), call.1.take_body()), (Some(b"hello".to_vec()), Some(vec![])));
    assert_eq!(call.1.head().unwrap().status, 200);
    assert!(call.1.excerpt().is_empty());
    assert!(call.1.stamps()[1] < call.1.stamps()[3] && call.1.failure().is_none());
}

#[test]
fn an_answer_that_needs_the_library_is_not_plain() {
    let table: [(&[u8], i32); 4] = [
        (b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", 200),
        (b"HTTP/1.1 200 OK\r\nSET-Cookie: a=b\r\nContent-Length: 0\r\n\r\n", 0),
        (b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 0\r\n\r\n", 0),
        (b"HTTP/1.1 302 Found\r\nLocation: /b\r\nContent-Length: 0\r\n\r\n", 0),
    ];
    for (answer, outcome) in table {
        let world = answered(answer);
        let call = world.send(false);
        world.pass(10 * MS);
        assert_eq!(call.1.outcome(), outcome, "{}", answer.escape_ascii());
    }
}

#[test]
fn a_report_of_locust_counts_with_the_cause_that_the_exchange_had() {
    let table = [
        (None, false, OK, "{}"),
        (Some("not what was asked for"), false, OK, r#"{"check.locustfile":1}"#),
        (Some("404"), true, MISSING, r#"{"status.404":1}"#),
        (Some("timed out"), false, &b""[..], r#"{"timeout.first_byte":1}"#),
    ];
    for (failure, is_status, answer, reasons) in table {
        let world = answered(answer);
        let call = world.send(false);
        world.pass(200 * MS);
        assert!(world.report(&call, failure, is_status));
        assert!(!world.report(&call, failure, is_status), "a second report is not counted");
        let level = world.level();
        assert_eq!(level["counts"]["attempted"], 1);
        assert_eq!(level["reasons"].to_string(), reasons);
    }
}

#[test]
fn a_stream_that_was_reported_as_a_success_fails_if_it_breaks_later() {
    let world = reset();
    let call = world.send(true);
    assert_eq!(world.pass(3 * MS), 1);
    assert!(world.report(&call, None, false));
    world.pass(100 * MS);
    assert_eq!(world.exchanges.unreported_streams(), 0);
    let level = world.level();
    assert_eq!(
        (&level["counts"]["ok"], level["reasons"].as_object().unwrap().len()),
        (&0.into(), 1)
    );
}

#[test]
fn a_broken_stream_is_unreported_until_locust_reports_it() {
    let world = reset();
    let call = world.send(true);
    world.pass(100 * MS);
    assert_eq!((world.exchanges.unreported_streams(), call.1.was_reset()), (1, true));
    assert!(call.1.failure().is_some_and(|reason| reason != Reason::Status));
    world.report(&call, Some("reset"), false);
    assert_eq!(world.exchanges.unreported_streams(), 0);
}

#[test]
fn pieces_come_until_the_stream_must_be_waited_for() {
    let world = reset();
    let (id, call) = world.send(true);
    world.pass(3 * MS);
    assert_eq!(world.exchanges.piece(id, &call, "again"), Some(b"data: a\n\n".to_vec()));
    assert_eq!(world.exchanges.piece(id, &call, "again"), None);
    assert_eq!(world.pass(100 * MS), 1);
    assert_eq!(world.exchanges.piece(id, &call, "again"), Some(Vec::new()));
}

#[test]
fn the_request_of_an_interrupted_greenlet_stays_in_flight() {
    let world = reset();
    let call = world.send(true);
    world.pass(3 * MS);
    world.report(&call, None, false);
    world.exchanges.abandon(call.0, &call.1);
    assert_eq!(world.pass(100 * MS), 0);
    let counts = &world.level()["counts"];
    assert_eq!((&counts["attempted"], &counts["in_flight"]), (&1.into(), &1.into()));
}

#[test]
fn a_call_that_was_cancelled_or_dropped_wakes_no_greenlet() {
    let world = reset();
    let (cancelled, dropped) = (world.send(true), world.send(true));
    world.exchanges.cancel(cancelled.0, &cancelled.1);
    world.exchanges.drop_call(dropped.0);
    assert!(!dropped.1.is_over(), "it is released at the next poll");
    assert_eq!(world.pass(100 * MS), 0);
    assert!(dropped.1.is_over());
    world.exchanges.drop_pool(world.pool);
    world.exchanges.poll().unwrap();
    assert_eq!(world.exchanges.lock().reactor.connections().0, 0);
}
