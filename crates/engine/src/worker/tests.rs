//! The state of a worker while it runs.

use std::sync::Arc;
use std::sync::mpsc::channel;

use net::{Act, Dial, Nanos, Peer, Simulated, SourceAddresses};

use super::{CHECKED_BYTES_PER_TURN, Worker, WorkerShare};
use crate::plan::{BodyCheck, Closed, Pace, Plan, RequestPlan, Source, Stop, Think};
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

/// Returns a worker that has started, whose target sends bodies of so many bytes.
fn started(plan: Plan, body_bytes: usize) -> Worker<Simulated<Bodies>> {
    let (reports, _) = channel();
    let share = WorkerShare {
        number: 0,
        prepared: Arc::new(prepare(&plan).unwrap()),
        plan,
        gate: Arc::new(Gate::new(1)),
        reports,
        run_start: 0,
        socket_budget: 100,
        sources: SourceAddresses::default(),
    };
    let mut worker = Worker::new(Simulated::new(Bodies(body_bytes)), share);
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
    let mut worker = started(plan, BODY_BYTES);
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
        let mut worker = started(plan, 0);
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
