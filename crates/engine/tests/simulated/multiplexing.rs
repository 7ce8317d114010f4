//! Connections that carry several exchanges at once: four slots each, over a protocol of lines.

use std::collections::BTreeMap;

use crate::world::{MS, SECOND, closed, constant, plan, request, simulate, simulate_fed};
use engine::{Closed, Data, Fed, FeedRow, Pace, Plan, Stage, Stop};
use net::{Act, Dial, Nanos, Peer};

/// Answers line by line with what `answer` returns for the number of a request.
struct Lines<A> {
    answer: A,
    requests: u64,
    received: BTreeMap<u64, Vec<u8>>,
    /// By connection, the number of its requests.
    counts: BTreeMap<u64, u64>,
    /// How long it takes to accept a connection.
    dial_ns: Nanos,
}

impl<A: FnMut(u64, &str) -> Vec<(Nanos, Act)>> Lines<A> {
    fn new(answer: A) -> Self {
        Self { answer, requests: 0, received: BTreeMap::new(), counts: BTreeMap::new(), dial_ns: 0 }
    }
}

impl<A: FnMut(u64, &str) -> Vec<(Nanos, Act)>> Peer for Lines<A> {
    fn dial(&mut self, _: u64, _: Nanos) -> Dial {
        Dial::Accept(self.dial_ns)
    }

    fn receive(&mut self, connection: u64, bytes: &[u8], _: Nanos) -> Vec<(Nanos, Act)> {
        let received = self.received.entry(connection).or_default();
        received.extend_from_slice(bytes);
        let mut acts = Vec::new();
        while let Some(end) = received.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = received.drain(..=end).collect();
            let text = String::from_utf8(line).unwrap();
            acts.extend((self.answer)(self.requests, text.split(' ').next().unwrap()));
            self.requests += 1;
            *self.counts.entry(connection).or_default() += 1;
        }
        acts.sort_by_key(|(at, _)| *at);
        acts
    }
}

fn ok(id: &str) -> Act {
    Act::Bytes(format!("{id} 200\n").into_bytes())
}

fn over_lines(mut plan: Plan) -> Plan {
    request(&mut plan).url = "lines://127.0.0.1:80/".into();
    plan
}

#[test]
fn users_share_connections_and_do_not_wait_for_each_other() {
    // One of four answers takes ten times as long as the others.
    let target =
        Lines::new(|number, id| vec![(if number % 4 == 0 { 100 } else { 10 } * MS, ok(id))]);
    let run = simulate(over_lines(closed(8)), target);
    run.assert_balanced();
    let connections = run.reports.last().unwrap().connections;
    assert_eq!((connections.asked, connections.opened), (2, 2));
    assert_eq!(run.measured.ok, run.measured.attempted);
    // Alone on a connection, a quarter of slow responses allows 31 answers per user in a second.
    let answers = run.measured.ok;
    assert!((8 * 29..=8 * 33).contains(&answers), "{answers} answers");
    assert_eq!(run.world.peer.counts.len(), 2);
}

#[test]
fn a_timeout_ends_one_exchange_and_leaves_the_others_and_their_connection() {
    let target = Lines::new(|number, id| match number {
        // Too late, and while the other exchanges run.
        2 => vec![(80 * MS, ok(id))],
        _ => vec![(10 * MS, ok(id))],
    });
    let mut plan = over_lines(closed(4));
    request(&mut plan).timeout_ns = 50 * MS;
    let run = simulate(plan, target);
    run.assert_balanced();
    assert_eq!(run.reasons(), [("timeout.first_byte".to_owned(), 1)]);
    assert_eq!(run.reports.last().unwrap().connections.opened, 1);
    assert_eq!(run.measured.ok, run.measured.attempted - 1);
}

#[test]
fn a_connection_that_breaks_ends_all_its_exchanges_and_no_other() {
    let target = Lines::new(|number, id| match number {
        17 => vec![(5 * MS, Act::Reset)],
        _ => vec![(10 * MS, ok(id))],
    });
    let run = simulate(over_lines(closed(8)), target);
    run.assert_balanced();
    let failed = run.measured.attempted - run.measured.ok;
    assert_eq!(run.reasons(), [("read.closed_on_reuse".to_owned(), failed)]);
    assert_eq!((failed, run.reports.last().unwrap().connections.opened), (4, 3));
}

#[test]
fn a_connection_that_has_carried_its_last_request_is_closed_when_all_its_exchanges_have_ended() {
    let target = Lines::new(|number, id| vec![((10 + number % 4) * MS, ok(id))]);
    let mut plan = over_lines(closed(4));
    plan.transport.requests_per_connection = Some(10);
    let run = simulate(plan, target);
    run.assert_balanced();
    assert_eq!(run.measured.ok, run.measured.attempted);
    let most = run.world.peer.counts.values().copied().max().unwrap();
    assert!((10..=13).contains(&most), "{most} requests on one connection");
    assert!(run.reports.last().unwrap().connections.opened > 20);
}

#[test]
fn arrivals_use_all_slots_of_their_connections() {
    // Six at once on two connections: under HTTP/1.1 most of them would wait.
    let target = Lines::new(|_, id| vec![(60 * MS, ok(id))]);
    let run = simulate(over_lines(constant(100.0, 2)), target);
    run.assert_balanced();
    assert_eq!((run.measured.ok, run.measured.dropped), (100, 0));
    let wait = run.measured.accepted.wait.quantile(1.0);
    assert_eq!(wait, 0, "no request waits for a slot");
}

#[test]
fn a_pool_of_connections_has_as_many_slots_as_they_carry() {
    let target = Lines::new(|_, id| vec![(10 * MS, ok(id))]);
    let pace = Pace::Closed(Closed { pool: Some(2), ..Closed::new(16) });
    let run = simulate(over_lines(crate::world::plan(pace)), target);
    run.assert_balanced();
    assert_eq!(run.reports.last().unwrap().connections.opened, 2);
    // Eight of sixteen at a time.
    assert_eq!(run.measured.ok / 100, 8 * SECOND / (10 * MS) / 100);
}

#[test]
fn a_user_that_leaves_takes_no_connection_from_users_that_wait_for_it() {
    // Four users come at once, and the connection needs longer to open than two of them stay.
    let mut target = Lines::new(|_, id| vec![(10 * MS, ok(id))]);
    target.dial_ns = 60 * MS;
    let stage = |duration_ns, users| Stage { duration_ns, target: f64::from(users) };
    let stages = vec![stage(0, 4), stage(30 * MS, 2), stage(900 * MS, 2)];
    let pace = Pace::Closed(Closed { stages, ..Closed::new(4) });
    let run = simulate(over_lines(crate::world::plan(pace)), target);
    run.assert_balanced();
    assert_eq!(run.reasons(), []);
    assert_eq!(run.reports.last().unwrap().connections.opened, 1);
    // Two users until the end, at ten milliseconds an answer.
    assert!((160..=190).contains(&run.measured.ok), "{} answers", run.measured.ok);
}

/// Refuses every connection after five milliseconds.
struct Refusing;

impl Peer for Refusing {
    fn dial(&mut self, _: u64, _: Nanos) -> Dial {
        Dial::Fail(5 * MS, libc::ECONNREFUSED)
    }

    fn receive(&mut self, _: u64, _: &[u8], _: Nanos) -> Vec<(Nanos, Act)> {
        Vec::new()
    }
}

#[test]
fn a_dial_that_fails_ends_each_exchange_that_waits_for_it_once() {
    // Five arrivals come during each dial, and four of them have a slot.
    let run = simulate(over_lines(constant(1000.0, 1)), Refusing);
    run.assert_balanced();
    assert_eq!(run.reasons(), [("connect.refused".to_owned(), run.measured.attempted)]);
    assert!((200..=260).contains(&run.world.dials()), "{} dials", run.world.dials());
}

#[test]
fn users_who_take_rows_have_one_request_each_however_many_their_connection_could_carry() {
    let pace = Pace::Fed(Fed { connections: 2, is_timed: false, max_in_flight: None });
    let mut plan = over_lines(plan(pace));
    plan.stop = Stop::Rows;
    plan.groups[0].data = Some(Data::Fed { fed: vec!["a".into()] });
    let row = |number| FeedRow { number, session: number, ..FeedRow::default() };
    let target = Lines::new(|_, id| vec![(10 * MS, ok(id))]);
    let outcome = simulate_fed(plan, (0..8).map(row).collect(), target);
    outcome.assert_balanced();
    assert_eq!(outcome.measured.ok, 8);
    assert_eq!(outcome.window.1 - outcome.window.0, 40 * MS);
    assert_eq!(outcome.world.peer.counts.len(), 1);
}
