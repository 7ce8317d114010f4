//! What a worker keeps while it works.

use std::sync::Arc;
use std::sync::mpsc::channel;

use net::{Act, Dial, Nanos, Peer, Simulated, SourceAddresses};

use super::{Share, Worker};
use crate::gate::Gate;
use crate::plan::{Closed, Pace, Plan, RequestPlan, Source, Stop, Think};
use crate::prepare::prepare;

const MS: Nanos = 1_000_000;

struct Hello;

impl Peer for Hello {
    fn dial(&mut self, _: u64, _: Nanos) -> Dial {
        Dial::Accept(0)
    }

    fn receive(&mut self, _: u64, _: &[u8], _: Nanos) -> Vec<(Nanos, Act)> {
        let answer = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
        vec![(MS, Act::Bytes(answer.to_vec()))]
    }
}

#[test]
fn users_who_think_have_one_alarm_each_however_many_requests_they_send() {
    const USERS: u32 = 20;
    for pool in [None, Some(5)] {
        let request =
            RequestPlan { timeout_ns: 30_000 * MS, ..RequestPlan::get("http://127.0.0.1:80/") };
        let pace = Pace::Closed(Closed { pool, ..Closed::new(USERS) });
        let stop = Stop::Requests { requests: 5_000 };
        let mut plan = Plan::new(pace, Source::One { request }, stop);
        plan.groups[0].think = Some(Think::Uniform { from_ns: 2 * MS, to_ns: 5 * MS });
        let (reports, _inbox) = channel();
        let share = Share {
            number: 0,
            prepared: Arc::new(prepare(&plan).unwrap()),
            plan,
            gate: Arc::new(Gate::new(1)),
            reports,
            run_start: 0,
            socket_budget: USERS.into(),
            sources: SourceAddresses::default(),
        };
        let mut worker = Worker::new(Simulated::new(Hello), share);
        worker.start();
        let mut most = 0;
        while worker.turn() {
            most = most.max(worker.alarms.len());
        }
        // Of each user, each connection, the queue and the opening.
        let connections = pool.unwrap_or(0);
        assert!(most <= (USERS + connections + 2) as usize, "{most} alarms, pool {pool:?}");
        assert!(most >= USERS as usize / 2, "{most} alarms, pool {pool:?}");
    }
}
