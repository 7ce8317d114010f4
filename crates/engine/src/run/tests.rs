//! What a run says of itself when the machine fails it.

use std::io;
use std::sync::Arc;
use std::sync::mpsc::channel;

use net::{Act, Dial, Nanos, Peer, Simulated, SourceAddresses};

use super::Outbox;
use super::coordinator::{Coordinator, RunSize};
use crate::measure::summary::Summary;
use crate::output::load_files::LoadFiles;
use crate::plan::{Closed, Pace, Plan, RequestPlan, Source, Stop};
use crate::prepare::prepare;
use crate::worker::gate::Gate;
use crate::worker::threads::{Common, start_workers};
use crate::worker::{Worker, WorkerShare};

const MS: Nanos = 1_000_000;

/// Answers every request after a millisecond.
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

/// Answers nothing before that time, then as [`Hello`] does.
struct Late(Nanos);

impl Peer for Late {
    fn dial(&mut self, _: u64, _: Nanos) -> Dial {
        Dial::Accept(0)
    }

    fn receive(&mut self, connection: u64, bytes: &[u8], now: Nanos) -> Vec<(Nanos, Act)> {
        if now < self.0 { Vec::new() } else { Hello.receive(connection, bytes, now) }
    }
}

/// A plan of two users for one second.
fn plan() -> Plan {
    plan_for(1000 * MS)
}

fn plan_for(duration_ns: Nanos) -> Plan {
    let request = RequestPlan { timeout_ns: 500 * MS, ..RequestPlan::get("http://127.0.0.1:80/") };
    let stop = Stop::Duration { duration_ns };
    Plan::new(Pace::Closed(Closed::new(2)), Source::One { request }, stop)
}

/// A run of one second, with one worker whose waiting fails from then on.
fn run_with_waits_that_fail_at(broken_at: Nanos, prepare_gate: impl FnOnce(&Gate)) -> Summary {
    let mut peer = Hello;
    let mut world = Simulated::new(&mut peer as &mut dyn Peer);
    world.broken_at = broken_at;
    run_in(world, &plan(), prepare_gate)
}

/// A run with one worker.
fn run_in(
    world: Simulated<&mut dyn Peer>,
    plan: &Plan,
    prepare_gate: impl FnOnce(&Gate),
) -> Summary {
    let prepared = Arc::new(prepare(plan).unwrap());
    let gate = Arc::new(Gate::new(1));
    prepare_gate(&gate);
    let (reports, inbox) = channel();
    let share = WorkerShare {
        number: 0,
        plan: plan.clone(),
        prepared: Arc::clone(&prepared),
        gate: Arc::clone(&gate),
        reports,
        run_start: 0,
        socket_budget: 2,
        sources: SourceAddresses::default(),
        rows: None,
    };
    Worker::new(world, share).run();
    let outbox = Arc::new(Outbox::default());
    let size = RunSize { children: Vec::new(), workers: 1, run_start: 0 };
    let files = LoadFiles::create(plan).unwrap();
    Coordinator::new(plan, &prepared, size, gate, Arc::clone(&outbox), files).run(&inbox);
    outbox.lock().summary.clone().unwrap()
}

#[test]
fn a_worker_that_cannot_wait_for_its_sockets_is_a_failure_with_its_words_and_no_interrupt() {
    let summary = run_with_waits_that_fail_at(300 * MS, |_| ());
    let failure = summary.failure.unwrap();
    assert!(failure.text.contains("epoll: Bad file descriptor"), "{failure:?}");
    assert!(!summary.interrupted);
    // What was measured until then is kept.
    assert!(summary.measured[0].ok > 0);
}

#[test]
fn a_worker_that_gets_no_epoll_is_an_error_with_its_words_and_aborts_the_others() {
    let plan = plan();
    let gate = Arc::new(Gate::new(2));
    let common = Common {
        inboxes: Vec::new(),
        prepared: Arc::new(prepare(&plan).unwrap()),
        gate: Arc::clone(&gate),
        reports: channel().0,
        run_start: 0,
        sources: SourceAddresses::default(),
        create_driver: || Err(io::Error::other("too many open files")),
    };
    let error = start_workers(plan.split(2), 0, common).unwrap_err();
    assert_eq!(error, "a worker cannot watch sockets: too many open files");
    assert!(gate.is_aborted());
}

#[test]
fn a_run_that_was_stopped_is_interrupted_and_has_no_failure() {
    let summary = run_with_waits_that_fail_at(Nanos::MAX, Gate::stop);
    assert_eq!((summary.interrupted, summary.failure), (true, None));
    let summary = run_with_waits_that_fail_at(Nanos::MAX, |_| ());
    assert_eq!((summary.interrupted, summary.failure), (false, None));
}

#[test]
fn a_run_is_given_up_by_what_workers_report_however_late_that_is_read() {
    // By the clock, each run has ended long before its first report is read. A response is waited for
    // until 1.5 s.
    let summary = run_in(Simulated::new(&mut Late(1300 * MS)), &plan_for(4000 * MS), |_| ());
    assert_eq!(summary.failure, None);
    assert!(summary.measured[0].ok > 0);
    let summary = run_in(Simulated::new(&mut Late(Nanos::MAX)), &plan_for(4000 * MS), |_| ());
    assert_eq!(summary.failure.unwrap().code, "failure.no_answer_in_time");
}
