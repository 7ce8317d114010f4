//! The state of a worker while it runs.

use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};

use net::{Act, Dial, Nanos, Peer, Simulated, SourceAddresses};
use wire::http2::{FRAME_HEAD_BYTES, Flags, FrameHead, FrameKind, PREFACE};

use super::{CHECKED_BYTES_PER_TURN, Worker, WorkerShare};
use crate::feed::{FeedBatch, FeedRow, FeedSender, feed_channels};
use crate::measure::report::Report;
use crate::measure::tally::Tally;
use crate::plan::{
    BodyCheck, Closed, Data, Fed, HttpVersion, Pace, Plan, RequestPlan, Source, Stop, Think,
};
use crate::prepare::prepare;
use crate::worker::gate::Gate;

const MS: Nanos = 1_000_000;

/// Answers each request after a millisecond, with a body of so many bytes.
struct Bodies(usize);

impl Peer for Bodies {
    fn dial(&mut self, _: u64, _: Nanos) -> Dial {
        Dial::Accept(0)
    }

    fn receive(&mut self, _: u64, _: &[u8], _: Nanos) -> Vec<(Nanos, Act)> {
        let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", self.0);
        vec![(MS, Act::Bytes([head.as_bytes(), &vec![b'x'; self.0]].concat()))]
    }
}

// One type of worker for all peers: its code is compiled once.
fn started(
    plan: Plan,
    peer: &mut dyn Peer,
    reports: Sender<Report>,
) -> Worker<Simulated<&mut dyn Peer>> {
    let share = WorkerShare {
        number: 0,
        prepared: Arc::new(prepare(&plan).unwrap()),
        plan,
        gate: Arc::new(Gate::new(1)),
        reports,
        run_start: 0,
        socket_budget: 100,
        sources: SourceAddresses::default(),
        rows: None,
    };
    let mut worker = Worker::new(Simulated::new(peer), share);
    worker.start();
    worker
}

#[test]
fn responses_to_check_wait_for_the_next_turn_when_one_has_checked_many_bytes() {
    const BODY_BYTES: usize = 300 * 1024;
    let expect_body = vec![BodyCheck::Text { text: "xxx".into() }];
    let request = RequestPlan { expect_body, ..RequestPlan::get("http://127.0.0.1:80/") };
    let stop = Stop::Requests { requests: 60 };
    let plan = Plan::new(Pace::Closed(Closed::new(20)), Source::One { request }, stop);
    let mut peer = Bodies(BODY_BYTES);
    let mut worker = started(plan, &mut peer, channel().0);
    let mut checked_bytes = 0;
    while worker.turn() {
        assert!(
            worker.checked_bytes < CHECKED_BYTES_PER_TURN + BODY_BYTES,
            "{}",
            worker.checked_bytes
        );
        checked_bytes += worker.checked_bytes;
    }
    assert_eq!(checked_bytes, 60 * BODY_BYTES);
}

#[test]
fn users_with_think_times_have_one_timer_each_for_any_number_of_requests() {
    const USERS: u32 = 20;
    for pool in [None, Some(5)] {
        let request =
            RequestPlan { timeout_ns: 30_000 * MS, ..RequestPlan::get("http://127.0.0.1:80/") };
        let pace = Pace::Closed(Closed { pool, ..Closed::new(USERS) });
        let stop = Stop::Requests { requests: 5_000 };
        let mut plan = Plan::new(pace, Source::One { request }, stop);
        plan.groups[0].think = Some(Think::Uniform { from_ns: 2 * MS, to_ns: 5 * MS });
        let mut peer = Bodies(0);
        let mut worker = started(plan, &mut peer, channel().0);
        let mut most = 0;
        while worker.turn() {
            most = most.max(worker.scheduler.timers.len());
        }
        // Of each user, each connection, the queue and the opening.
        let connections = pool.unwrap_or(0);
        assert!(most <= (USERS + connections + 2) as usize, "{most} timers, pool {pool:?}");
        assert!(most >= USERS as usize / 2, "{most} timers, pool {pool:?}");
    }
}

/// Answers each request after a millisecond, and sends the row that follows it when it is received.
struct Slow {
    sender: FeedSender,
    next: u64,
}

impl Slow {
    fn send(&mut self) {
        let (number, pause_ns) = (self.next, 3 * MS);
        let after = number.checked_sub(1).into_iter().collect();
        let row = FeedRow { number, after, followers: Some(1), pause_ns, ..FeedRow::default() };
        self.next += 1;
        self.sender.send(FeedBatch { rows: vec![row], is_last: self.next == 5 });
    }
}

impl Peer for Slow {
    fn dial(&mut self, _: u64, _: Nanos) -> Dial {
        Dial::Accept(0)
    }

    fn receive(&mut self, _: u64, _: &[u8], _: Nanos) -> Vec<(Nanos, Act)> {
        if self.next < 5 {
            self.send();
        }
        vec![(MS, Act::Bytes(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n".to_vec()))]
    }
}

#[test]
fn rows_that_cannot_start_yet_are_waited_for_and_the_feeder_hears_that_others_are_missed() {
    let request = RequestPlan::get("http://127.0.0.1:80/");
    let pace = Pace::Fed(Fed { connections: 3, is_timed: false, max_in_flight: None });
    let mut plan = Plan::new(pace, Source::One { request }, Stop::Rows);
    plan.groups[0].data = Some(Data::Fed { fed: vec!["a".into()] });
    let (mut senders, mut inboxes) = feed_channels(1);
    let (sender, (reports, inbox)) = (senders.remove(0), channel());
    let demand = Arc::clone(&sender.demand);
    let mut slow = Slow { sender, next: 0 };
    slow.send();
    let share = WorkerShare {
        number: 0,
        prepared: Arc::new(prepare(&plan).unwrap()),
        plan,
        gate: Arc::new(Gate::new(1)),
        reports,
        run_start: 0,
        socket_budget: 100,
        sources: SourceAddresses::default(),
        rows: Some(inboxes.remove(0)),
    };
    let weight = FeedRow::default().weight();
    Worker::new(Simulated::new(&mut slow as &mut dyn Peer), share).run();
    let tallies =
        inbox.iter().flat_map(|report| report.tallies.iter().map(|t| t.ok).collect::<Vec<_>>());
    assert_eq!(tallies.sum::<u64>(), 5);
    let (used, starved) = demand.read();
    assert_eq!(used, 5 * weight);
    assert!(starved > 0);
}

/// Answers each request of HTTP/2 after a millisecond; the client sends whole frames.
struct Streams;

impl Peer for Streams {
    fn dial(&mut self, _: u64, _: Nanos) -> Dial {
        Dial::Accept(0)
    }

    fn receive(&mut self, _: u64, bytes: &[u8], _: Nanos) -> Vec<(Nanos, Act)> {
        let frame = |kind, flags, stream, payload: &[u8]| {
            let mut out = Vec::new();
            FrameHead { length: payload.len(), kind, flags, stream }.write(&mut out);
            Act::Bytes([&out, payload].concat())
        };
        let mut acts = Vec::new();
        let mut rest = bytes;
        if let Some(after) = bytes.strip_prefix(PREFACE) {
            acts.push((0, frame(FrameKind::Settings, Flags::NONE, 0, &[])));
            rest = after;
        }
        while let Some(head) = rest.first_chunk::<FRAME_HEAD_BYTES>().map(FrameHead::read) {
            rest = &rest[FRAME_HEAD_BYTES + head.length..];
            if head.kind == FrameKind::Headers {
                let both = Flags::END_STREAM.and(Flags::END_HEADERS);
                acts.push((MS, frame(FrameKind::Headers, both, head.stream, &[0x88])));
            }
        }
        acts
    }
}

#[test]
fn a_connection_whose_numbers_of_streams_are_used_up_leaves_its_requests_to_another() {
    let request = RequestPlan::get("http://127.0.0.1:80/");
    let stop = Stop::Requests { requests: 40 };
    let mut plan = Plan::new(Pace::Closed(Closed::new(4)), Source::One { request }, stop);
    (plan.transport.http, plan.transport.streams) = (HttpVersion::TwoPlain, 4);
    let (reports, inbox) = channel();
    let mut peer = Streams;
    let mut worker = started(plan, &mut peer, reports);
    let mut was_skipped = false;
    while worker.turn() {
        // One is left, and four requests begin in one turn.
        if !was_skipped && let Some(connection) = &mut worker.connections.entries[0].connection {
            connection.skip_to_stream((1 << 31) - 1);
            was_skipped = true;
        }
    }
    drop(worker);
    let reports: Vec<Report> = inbox.iter().collect();
    let tallies = || reports.iter().flat_map(|report| report.tallies.iter());
    let sum = |count: fn(&Tally) -> u64| tallies().map(count).sum::<u64>();
    assert_eq!((sum(|tally| tally.attempted), sum(|tally| tally.ok)), (40, 40));
    // None of them was sent twice.
    assert_eq!((sum(|tally| tally.resent), reports.last().unwrap().connections.opened), (0, 2));
}
