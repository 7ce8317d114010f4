//! A running load: started by a plan, watched through slices, ended by itself or by its handle.
//!
//! One thread coordinates; it merges what workers report and judges health once a slice.

mod coordinator;

use std::cell::Cell;
use std::collections::VecDeque;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Condvar, LazyLock, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use net::{Epoll, Nanos, SourceAddresses, monotonic_ns};
use serde_json::Value;

use crate::gate::Gate;
use crate::level::level_json;
use crate::log::Log;
use crate::plan::Plan;
use crate::prepare::prepare;
use crate::report::Report;
use crate::summary::Summary;
use crate::worker::{Share, Worker};
use coordinator::Coordinator;

/// Descriptors that stay free for files, pipes and whatever the caller opens.
const SPARE_DESCRIPTORS: u64 = 64;

/// Time for every thread to be there before the run starts.
const START_DELAY_NS: Nanos = 2_000_000;

/// One rotation for all runs of the process: the ports of an earlier one are not free yet.
static SOURCES: LazyLock<SourceAddresses> = LazyLock::new(SourceAddresses::default);

/// The handle of a running load. Dropping it ends the run at once.
#[derive(Debug)]
pub struct Run {
    gate: Arc<Gate>,
    outbox: Arc<Outbox>,
    coordinator: Option<JoinHandle<()>>,
}

/// Where the coordinator leaves what the handle gives out.
#[derive(Debug, Default)]
pub(crate) struct Outbox {
    content: Mutex<Content>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Content {
    slices: VecDeque<Value>,
    summary: Option<Summary>,
}

impl Run {
    /// Starts a load in the background; the message says why it cannot start.
    pub fn start(plan: &Plan) -> Result<Self, String> {
        let prepared = Arc::new(prepare(plan)?);
        let log = plan.log.as_ref().map(|path| {
            Log::create(path).map_err(|error| format!("log {}: {error}", path.display()))
        });
        let log = log.transpose()?;
        let parts = plan.split(plan.workers);
        let workers = u32::try_from(parts.len()).unwrap_or(u32::MAX);
        let gate = Arc::new(Gate::new(workers));
        let run_start = monotonic_ns() + START_DELAY_NS;
        let (reports, inbox) = channel();
        let socket_budget = descriptors_for_sockets() / u64::from(workers);
        for (part, number) in parts.into_iter().zip(0..) {
            let share = Share {
                number,
                plan: part,
                prepared: Arc::clone(&prepared),
                gate: Arc::clone(&gate),
                reports: Sender::clone(&reports),
                run_start,
                socket_budget,
                sources: sources_of(plan),
            };
            spawn_worker(share).inspect_err(|_| gate.abort())?;
        }
        let outbox = Arc::new(Outbox::default());
        let coordinator = Coordinator::new(
            plan,
            &prepared,
            workers,
            run_start,
            Arc::clone(&gate),
            Arc::clone(&outbox),
            log,
        );
        let coordinator = Builder::new()
            .name("torr-coordinator".into())
            .spawn(move || coordinator.run(&inbox))
            .map_err(|error| format!("cannot start a thread: {error}"))?;
        Ok(Self { gate, outbox, coordinator: Some(coordinator) })
    }

    /// The next slice, or `None` when none came in time or the run is over.
    #[must_use]
    pub fn next_slice(&self, timeout: Duration) -> Option<Value> {
        let content = self.outbox.lock();
        let is_idle =
            |content: &mut Content| content.slices.is_empty() && content.summary.is_none();
        let waited = self.outbox.changed.wait_timeout_while(content, timeout, is_idle);
        let (mut content, _) = waited.unwrap_or_else(PoisonError::into_inner);
        content.slices.pop_front()
    }

    /// Whether every slice has been given out and the summary is there.
    #[must_use]
    pub fn is_done(&self) -> bool {
        let content = self.outbox.lock();
        content.slices.is_empty() && content.summary.is_some()
    }

    /// Ends the window now; open exchanges are drained, everything measured is kept.
    pub fn stop(&self) {
        self.gate.stop();
    }

    /// Ends at once; what is open counts as in flight.
    pub fn abort(&self) {
        self.gate.abort();
    }

    /// The summary, once the run is over.
    #[must_use]
    pub fn summary(&self) -> Option<Summary> {
        self.outbox.lock().summary.clone()
    }

    /// The level as result files have it, once the run is over.
    #[must_use]
    pub fn level(&self) -> Option<Value> {
        self.outbox.lock().summary.as_ref().map(level_json)
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        self.gate.abort();
        if let Some(thread) = self.coordinator.take() {
            // A panic in there has been reported by its own thread already.
            let _ = thread.join();
        }
    }
}

impl Outbox {
    /// A poisoned lock still guards whole values: each change is one push or one assignment.
    fn lock(&self) -> MutexGuard<'_, Content> {
        self.content.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn put_slice(&self, slice: Value) {
        self.lock().slices.push_back(slice);
        self.changed.notify_all();
    }

    pub(crate) fn put_summary(&self, summary: Summary) {
        self.lock().summary = Some(summary);
        self.changed.notify_all();
    }
}

fn sources_of(plan: &Plan) -> SourceAddresses {
    match plan.transport.source_addresses.as_slice() {
        [] => SOURCES.clone(),
        chosen => SourceAddresses::chosen(chosen),
    }
}

fn spawn_worker(share: Share) -> Result<(), String> {
    let name = format!("torr-worker-{}", share.number);
    let reports: Sender<Report> = Sender::clone(&share.reports);
    let gate = Arc::clone(&share.gate);
    let body = move || {
        // Held until the end, so that the coordinator sees a worker that died as one that is gone.
        let _reports = reports;
        let guard = AbortUnlessDone { gate, is_done: Cell::new(false) };
        if let Ok(driver) = Epoll::new() {
            let spins = share.plan.spin;
            drop(Worker::new(driver.spinning(spins), share).run());
            guard.is_done.set(true);
        }
    };
    let thread = Builder::new().name(name).spawn(body);
    thread.map(drop).map_err(|error| format!("cannot start a thread: {error}"))
}

/// A worker that ends before its time takes the others with it: they would wait for it for ever.
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

fn descriptors_for_sockets() -> u64 {
    let limit = net::raise_descriptor_limit();
    let in_use = std::fs::read_dir("/proc/self/fd").map_or(16, |entries| entries.count() as u64);
    limit.saturating_sub(in_use + SPARE_DESCRIPTORS)
}
