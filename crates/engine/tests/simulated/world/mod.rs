//! A whole worker in a simulated world: scripts in, exact counts out.

// Each test file uses its own part of this room, and a test that cannot start may panic.
#![allow(dead_code, unreachable_pub, clippy::unwrap_used, clippy::type_complexity)]

pub mod http2;

use std::sync::Arc;
use std::sync::mpsc::channel;

use engine::{
    Closed, FeedInbox, FeedRow, Gate, HttpVersion, Matching, Metric, Open, Pace, Phase, Plan,
    Report, RequestPlan, Source, Stop, Tally, Worker, WorkerShare, prepare,
};
use net::{Act, Dial, Nanos, Peer, Simulated};

pub const MS: Nanos = 1_000_000;
pub const SECOND: Nanos = 1_000_000_000;
pub const HELLO: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";

/// A closed load of so many users for one second, without warm-up.
pub fn closed(users: u32) -> Plan {
    plan(Pace::Closed(Closed::new(users)))
}

/// A constant rate for one second, without warm-up.
pub fn constant(rate_per_s: f64, connections: u32) -> Plan {
    plan(Pace::Constant(Open::new(rate_per_s, connections)))
}

pub fn plan(pace: Pace) -> Plan {
    let request = RequestPlan::get("http://127.0.0.1:80/");
    Plan::new(pace, Source::One { request }, Stop::Duration { duration_ns: SECOND })
}

/// The request of the plan, to be changed.
pub fn request(plan: &mut Plan) -> &mut RequestPlan {
    match &mut plan.groups[0].source {
        Source::One { request } => request,
        _ => unreachable!("these plans have one request"),
    }
}

/// A target made of two closures; it counts what it saw.
pub struct Target<D, A> {
    dial: D,
    answer: A,
    /// Requests whose head was complete.
    pub requests: u64,
    heads: std::collections::BTreeMap<u64, Vec<u8>>,
}

impl<D, A> Target<D, A>
where
    D: FnMut(u64, Nanos) -> Dial,
    A: FnMut(u64, Nanos) -> Vec<(Nanos, Act)>,
{
    pub fn new(dial: D, answer: A) -> Self {
        Self { dial, answer, requests: 0, heads: std::collections::BTreeMap::new() }
    }
}

impl<D, A> Peer for Target<D, A>
where
    D: FnMut(u64, Nanos) -> Dial,
    A: FnMut(u64, Nanos) -> Vec<(Nanos, Act)>,
{
    fn dial(&mut self, number: u64, now: Nanos) -> Dial {
        (self.dial)(number, now)
    }

    fn receive(&mut self, connection: u64, bytes: &[u8], now: Nanos) -> Vec<(Nanos, Act)> {
        let head = self.heads.entry(connection).or_default();
        head.extend_from_slice(bytes);
        if !head.ends_with(b"\r\n\r\n") {
            return Vec::new();
        }
        head.clear();
        self.requests += 1;
        (self.answer)(self.requests - 1, now)
    }
}

/// A target that accepts at once and answers `hello` after so long.
pub fn hello_after(
    delay: Nanos,
) -> Target<impl FnMut(u64, Nanos) -> Dial, impl FnMut(u64, Nanos) -> Vec<(Nanos, Act)>> {
    hello_after_each(move |_| delay)
}

/// The same, with a delay for each request by its number.
pub fn hello_after_each(
    delay: impl Fn(u64) -> Nanos,
) -> Target<impl FnMut(u64, Nanos) -> Dial, impl FnMut(u64, Nanos) -> Vec<(Nanos, Act)>> {
    let answer = move |number, _| vec![(delay(number), Act::Bytes(HELLO.to_vec()))];
    Target::new(|_, _| Dial::Accept(0), answer)
}

/// What came of a simulated run.
pub struct Outcome<P> {
    pub measured: Tally,
    pub warmup: Tally,
    pub in_flight: u64,
    pub reports: Vec<Report>,
    pub world: Simulated<P>,
    pub window: (Nanos, Nanos),
}

impl<P> Outcome<P> {
    /// Failures by reason.
    pub fn reasons(&self) -> Vec<(String, u64)> {
        self.measured.all_reasons().into_iter().collect()
    }

    /// The two balances of the definition, where every request of the warm-up is answered.
    pub fn assert_balanced(&self) {
        assert_eq!(self.warmup.attempted, self.warmup.ended(), "attempts of the warm-up");
        self.assert_window_balanced();
    }

    /// The two balances of the definition, whatever of the warm-up is still open.
    pub fn assert_window_balanced(&self) {
        let tally = &self.measured;
        assert_eq!(tally.planned, tally.attempted + tally.dropped, "planned");
        assert_eq!(tally.attempted, tally.ended() + self.in_flight, "attempted");
        assert_eq!(self.warmup.planned, self.warmup.attempted + self.warmup.dropped, "warm-up");
    }
}

/// Runs a plan in one worker against a peer.
pub fn simulate<P: Peer>(plan: Plan, peer: P) -> Outcome<P> {
    simulate_in(plan, Simulated::new(peer), &Arc::new(Gate::new(1)))
}

/// The same with the rows of a feed, which have all come before the load begins.
pub fn simulate_fed<P: Peer>(plan: Plan, rows: Vec<FeedRow>, peer: P) -> Outcome<P> {
    let rows = Some(FeedInbox::filled(rows));
    simulate_with(plan, Simulated::new(peer), &Arc::new(Gate::new(1)), rows)
}

/// The same in a world that the test prepared, with a gate that it may use.
pub fn simulate_in<P: Peer>(plan: Plan, world: Simulated<P>, gate: &Arc<Gate>) -> Outcome<P> {
    simulate_with(plan, world, gate, None)
}

fn simulate_with<P: Peer>(
    plan: Plan,
    world: Simulated<P>,
    gate: &Arc<Gate>,
    rows: Option<FeedInbox>,
) -> Outcome<P> {
    let (world, mut peer) = world.with_peer(());
    let (world, ()) = world.with_peer(&mut peer as &mut dyn Peer);
    let Outcome { measured, warmup, in_flight, reports, world, window } =
        simulate_with_any(plan, world, gate, rows);
    let (world, _) = world.with_peer(());
    let (world, ()) = world.with_peer(peer);
    Outcome { measured, warmup, in_flight, reports, world, window }
}

// Not generic over the peer: a whole worker would be compiled for each closure of the tests.
fn simulate_with_any<'a>(
    plan: Plan,
    world: Simulated<&'a mut dyn Peer>,
    gate: &Arc<Gate>,
    rows: Option<FeedInbox>,
) -> Outcome<&'a mut dyn Peer> {
    let (reports, inbox) = channel();
    let prepared = prepare(&plan).unwrap().into();
    let gate = Arc::clone(gate);
    // As many as the slots: a slot that is not released makes a dial fail.
    // A connection of HTTP/2 may be replaced before its last exchange has ended, one of one-way messages
    // before the server has ended it.
    let is_one_way = plan.transport.websocket.matching == Matching::None;
    let is_replaced = plan.transport.http != HttpVersion::One || is_one_way;
    let most = if is_replaced { 5 } else { 1 };
    let socket_budget = u64::from(plan.connections()) * most;
    let share = WorkerShare {
        number: 0,
        plan,
        prepared,
        gate,
        reports,
        run_start: 0,
        socket_budget,
        sources: net::SourceAddresses::default(),
        rows,
    };
    let world = Worker::new(world, share).run();
    let reports: Vec<Report> = inbox.iter().collect();
    let (mut measured, mut warmup) = (Tally::default(), Tally::default());
    for report in &reports {
        let side = match report.phase {
            Phase::Warmup | Phase::Over => &mut warmup,
            Phase::Measure | Phase::Drain => &mut measured,
        };
        report.tallies.iter().for_each(|tally| side.merge(tally));
    }
    let last = reports.last().unwrap();
    let (in_flight, window) = (last.in_flight, last.window.unwrap_or_default());
    Outcome { measured, warmup, in_flight, reports, world, window }
}

/// Exactly this value, counted so many times.
pub fn assert_all(metric: &Metric, count: u64, nanos: u64) {
    assert_eq!(metric.count(), count);
    #[allow(clippy::cast_precision_loss)]
    let (mean, expected) = (metric.mean(), nanos as f64);
    assert!((mean - expected).abs() < 1e-6 && metric.stdev() < 1e-6, "mean {mean}, not {expected}");
}
