//! The threads of the workers of this process.

use std::cell::Cell;
use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::thread::Builder;

use net::{Epoll, Nanos, SourceAddresses};

use super::gate::Gate;
use super::{Worker, WorkerShare};
use crate::feed::FeedInbox;
use crate::measure::report::Report;
use crate::plan::Plan;
use crate::prepare::Prepared;

/// Descriptors that stay free for files, pipes and descriptors of the caller.
const SPARE_DESCRIPTORS: u64 = 64;

/// The descriptors of a worker: of epoll, and of the file with its run-queue wait.
const WORKER_DESCRIPTORS: u64 = 2;

/// The state that all workers of a process share.
pub(crate) struct Common {
    /// The way of rows to each worker; empty if the plan has no feed.
    pub(crate) inboxes: Vec<FeedInbox>,
    pub(crate) prepared: Arc<Prepared>,
    pub(crate) gate: Arc<Gate>,
    pub(crate) reports: Sender<Report>,
    pub(crate) run_start: Nanos,
    pub(crate) sources: SourceAddresses,
    /// Creates the driver of a worker, in its thread.
    pub(crate) create_driver: fn() -> io::Result<Epoll>,
}

/// Starts a worker for each part, numbered from `first`; the error says why one could not start.
pub(crate) fn start_workers(parts: Vec<Plan>, first: u32, common: Common) -> Result<(), String> {
    if common.prepared.keeps_answers() {
        net::return_large_memory();
    }
    let workers = parts.len().max(1) as u64;
    let own = workers * WORKER_DESCRIPTORS;
    let socket_budget = descriptors_for_sockets().saturating_sub(own) / workers;
    let mut inboxes = common.inboxes.into_iter();
    for (plan, number) in parts.into_iter().zip(first..) {
        let share = WorkerShare {
            number,
            plan,
            prepared: Arc::clone(&common.prepared),
            gate: Arc::clone(&common.gate),
            reports: Sender::clone(&common.reports),
            run_start: common.run_start,
            socket_budget,
            sources: common.sources.clone(),
            rows: inboxes.next(),
        };
        spawn(share, common.create_driver).inspect_err(|_| common.gate.abort())?;
    }
    Ok(())
}

/// Returns the source addresses of a plan's connections: those of the user, else those of `rotation`.
pub(crate) fn sources_of(plan: &Plan, rotation: &SourceAddresses) -> SourceAddresses {
    match plan.transport.source_addresses.as_slice() {
        [] => rotation.clone(),
        chosen => SourceAddresses::chosen(chosen),
    }
}

/// Returns the number of connections that this process may have.
pub(crate) fn descriptors_for_sockets() -> u64 {
    let limit = net::raise_descriptor_limit();
    let in_use = std::fs::read_dir("/proc/self/fd").map_or(16, |entries| entries.count() as u64);
    limit.saturating_sub(in_use + SPARE_DESCRIPTORS)
}

fn spawn(share: WorkerShare, create_driver: fn() -> io::Result<Epoll>) -> Result<(), String> {
    let name = format!("torr-worker-{}", share.number);
    let reports: Sender<Report> = Sender::clone(&share.reports);
    let gate = Arc::clone(&share.gate);
    let (told, is_made) = channel();
    let body = move || {
        // Dropped at the end of the thread, also by a panic, so that the coordinator notices it.
        let _reports = reports;
        let guard = AbortUnlessDone { gate, is_done: Cell::new(false) };
        let made = create_driver();
        // The starting thread waits for this.
        let _ = told.send(made.as_ref().map(|_| ()).map_err(ToString::to_string));
        if let Ok(driver) = made {
            let (spins, has_streams) = (share.plan.spin, share.plan.has_only_streams());
            let driver = driver.spinning(spins).watching_first(spins && has_streams);
            drop(Worker::new(driver, share).run());
            guard.is_done.set(true);
        }
    };
    let thread = Builder::new().name(name).spawn(body);
    thread.map_err(|error| format!("cannot start a thread: {error}"))?;
    let made = is_made.recv().unwrap_or_else(|_| Err("its thread ended".into()));
    made.map_err(|error| format!("a worker cannot watch sockets: {error}"))
}

/// Ends the run if a worker ends too early: the others would wait for it for ever.
struct AbortUnlessDone {
    gate: Arc<Gate>,
    is_done: Cell<bool>,
}

impl Drop for AbortUnlessDone {
    fn drop(&mut self) {
        if !self.is_done.get() {
            self.gate.abort();
        }
    }
}
