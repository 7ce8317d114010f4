//! A running load: started by a plan, watched through intervals, ended by itself or by its handle.
//!
//! One thread coordinates; it merges what workers report and judges health once an interval.

mod children;
mod coordinator;
mod feeder;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::sync::mpsc::channel;
use std::sync::{Arc, Condvar, LazyLock, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use net::{Epoll, Nanos, SourceAddresses, monotonic_ns};
use serde_json::Value;

use crate::feed::{FeedLink, RowSource, feed_channels};
use crate::fleet::{ChildTransport, PreparingFleet, start_children, worker_count};
use crate::measure::summary::Summary;
use crate::negotiate::negotiated;
use crate::output::level::level_json;
use crate::output::load_files::LoadFiles;
use crate::plan::{Plan, Processes};
use crate::prepare::{Prepared, prepare};
use crate::refusal::StartError;
use crate::worker::gate::Gate;
use crate::worker::threads::{Common, descriptors_for_sockets, sources_of, start_workers};
use coordinator::{ChildSize, Coordinator, RunSize};
use feeder::{FeedState, Feeder};

/// Time for every thread to be there before the run starts.
const START_DELAY_NS: Nanos = 2_000_000;

/// One rotation for all runs of the process: the ports of an earlier one are not free yet.
static SOURCES: LazyLock<SourceAddresses> = LazyLock::new(SourceAddresses::default);

/// The handle of a running load. Dropping it ends the run at once.
#[derive(Debug)]
pub struct Run {
    gate: Arc<Gate>,
    outbox: Arc<Outbox>,
    /// It ends when the children have, where there are some.
    coordinator: Option<JoinHandle<()>>,
}

/// The parts that a run is started from.
struct Start<'a> {
    plan: &'a Plan,
    /// One for each process.
    parts: Vec<Plan>,
    prepared: Arc<Prepared>,
    files: LoadFiles,
    rows: Option<Box<dyn RowSource>>,
}

/// The intervals and the summary, from the coordinator to the handle.
#[derive(Debug, Default)]
pub(crate) struct Outbox {
    content: Mutex<Content>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Content {
    intervals: VecDeque<Value>,
    summary: Option<Summary>,
}

impl Run {
    /// Starts a load in the background, in threads of this process.
    pub fn start(plan: &Plan) -> Result<Self, StartError> {
        Self::start_with(plan, &[])
    }

    /// Starts a load in as many processes as the plan asks for: beyond one, children that are
    /// started by these words and call [`serve`](crate::fleet::serve).
    pub fn start_with(plan: &Plan, child: &[String]) -> Result<Self, StartError> {
        Self::start_fed(plan, child, None)
    }

    /// Does the same with the rows of a source, if the plan has a feed.
    pub fn start_fed(
        plan: &Plan,
        child: &[String],
        rows: Option<Box<dyn RowSource>>,
    ) -> Result<Self, StartError> {
        check_rows(plan, rows.is_some())?;
        let plan = &*negotiated(plan)?;
        let prepared = Arc::new(prepare(plan).map_err(StartError::Plan)?);
        let files = LoadFiles::create(plan).map_err(StartError::Plan)?;
        let parts = plan.processes.parts(plan, descriptors_for_sockets());
        let start = Start { plan, parts, prepared, files, rows };
        if start.parts.len() == 1 {
            return Self::start_threads(start).map_err(StartError::Machine);
        }
        let children = start_children(start.parts.len(), child).map_err(StartError::Machine)?;
        Self::start_fleet(start, children).map_err(StartError::Machine)
    }

    /// Starts a load on nodes, which have a part each; on the first of them if the load has fewer parts.
    pub fn start_on(plan: &Plan, nodes: Vec<Box<dyn ChildTransport>>) -> Result<Self, StartError> {
        Self::start_fed_on(plan, nodes, None)
    }

    /// Does the same with the rows of a source, if the plan has a feed.
    pub fn start_fed_on(
        plan: &Plan,
        mut nodes: Vec<Box<dyn ChildTransport>>,
        rows: Option<Box<dyn RowSource>>,
    ) -> Result<Self, StartError> {
        check_rows(plan, rows.is_some())?;
        let plan = &*negotiated(plan)?;
        let prepared = Arc::new(prepare(plan).map_err(StartError::Plan)?);
        let files = LoadFiles::create(plan).map_err(StartError::Plan)?;
        let count = u32::try_from(nodes.len()).unwrap_or(u32::MAX);
        let parts = Processes::Exactly(count).parts(plan, 0);
        nodes.truncate(parts.len());
        let start = Start { plan, parts, prepared, files, rows };
        Self::start_fleet(start, nodes).map_err(StartError::Machine)
    }

    fn start_threads(mut start: Start<'_>) -> Result<Self, String> {
        let rows = start.rows.take();
        let Start { plan, prepared, .. } = &start;
        let parts = plan.split(plan.workers);
        let workers = u32::try_from(parts.len()).unwrap_or(u32::MAX);
        let gate = Arc::new(Gate::new(workers));
        let run_start = monotonic_ns() + START_DELAY_NS;
        let (reports, inbox) = channel();
        let (senders, inboxes) = feed_channels(if rows.is_some() { parts.len() } else { 0 });
        let common = Common {
            inboxes,
            prepared: Arc::clone(prepared),
            gate: Arc::clone(&gate),
            reports,
            run_start,
            sources: sources_of(plan, &SOURCES),
            create_driver: Epoll::new,
        };
        start_workers(parts, 0, common)?;
        let links = senders.into_iter().map(FeedLink::from).collect();
        let state = feed(rows, links, &gate, has_users(plan))?;
        let size = RunSize { children: Vec::new(), workers, run_start };
        Self::coordinated(start, size, gate, move |mut coordinator| {
            coordinator.feed = state;
            coordinator.run(&inbox);
        })
    }

    fn start_fleet(
        mut start: Start<'_>,
        children: Vec<Box<dyn ChildTransport>>,
    ) -> Result<Self, String> {
        let (rows, have_users) = (start.rows.take(), has_users(start.plan));
        let parts = start.parts.clone();
        let processes = u32::try_from(parts.len()).unwrap_or(u32::MAX);
        let workers = parts.iter().map(worker_count).sum();
        let gate = Arc::new(Gate::held(processes));
        let (events, inbox) = channel();
        let sizes = children.iter().zip(&parts).map(|(child, part)| ChildSize {
            node: child.node().map(ToOwned::to_owned),
            workers: worker_count(part),
        });
        let sizes = sizes.collect();
        let preparing = PreparingFleet::start(parts, children, &SOURCES)?;
        let size = RunSize { children: sizes, workers, run_start: monotonic_ns() };
        let opened = Arc::clone(&gate);
        // The run may be stopped while the children prepare their parts.
        Self::coordinated(start, size, gate, move |mut coordinator| {
            let begun = preparing.begin(&opened, &events, &SOURCES);
            drop(events);
            match begun {
                Ok(mut fleet) => {
                    coordinator.begin_at(fleet.run_start);
                    match feed(rows, fleet.take_feed_links(), &opened, have_users) {
                        Ok(state) => coordinator.feed = state,
                        Err(error) => coordinator.feed.fail(error),
                    }
                    coordinator.run(&inbox);
                    fleet.join();
                }
                Err(why) => coordinator.give_up(why),
            }
        })
    }

    fn coordinated(
        start: Start<'_>,
        size: RunSize,
        gate: Arc<Gate>,
        coordinate: impl FnOnce(Coordinator) + Send + 'static,
    ) -> Result<Self, String> {
        let outbox = Arc::new(Outbox::default());
        // Nodes whose orders or replies wait too long count as lost.
        let has_nodes = size.children.iter().any(|child| child.node.is_some());
        let has_low_priority = start.plan.lowers_coordinator_priority() && !has_nodes;
        let (watched, filled) = (Arc::clone(&gate), Arc::clone(&outbox));
        let coordinator =
            Coordinator::new(start.plan, &start.prepared, size, watched, filled, start.files);
        let body = move || {
            if has_low_priority {
                net::lower_priority();
            }
            coordinate(coordinator);
        };
        let thread = Builder::new().name("torr-coordinator".into()).spawn(body);
        let coordinator = thread.map_err(|error| format!("cannot start a thread: {error}"));
        // Without a coordinator, the workers would not end.
        let coordinator = coordinator.inspect_err(|_| gate.abort())?;
        Ok(Self { gate, outbox, coordinator: Some(coordinator) })
    }

    /// The next interval, or `None` when none came in time or the run is over.
    #[must_use]
    pub fn next_interval(&self, timeout: Duration) -> Option<Value> {
        let content = self.outbox.lock();
        let is_idle =
            |content: &mut Content| content.intervals.is_empty() && content.summary.is_none();
        let waited = self.outbox.changed.wait_timeout_while(content, timeout, is_idle);
        let (mut content, _) = waited.unwrap_or_else(PoisonError::into_inner);
        content.intervals.pop_front()
    }

    /// Whether every interval has been given out and the summary is there.
    #[must_use]
    pub fn is_done(&self) -> bool {
        let content = self.outbox.lock();
        content.intervals.is_empty() && content.summary.is_some()
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

/// Feeds workers, whose users may take the rows, with those of a source, if there is one.
fn feed(
    rows: Option<Box<dyn RowSource>>,
    links: Vec<FeedLink>,
    gate: &Arc<Gate>,
    have_users: bool,
) -> Result<Arc<FeedState>, String> {
    let state = Arc::new(FeedState::new(&links, have_users));
    if let Some(rows) = rows {
        let feeder = Feeder::new(rows, links, Arc::clone(&state));
        feeder.start(Arc::clone(gate)).inspect_err(|_| gate.abort())?;
    }
    Ok(state)
}

/// Returns whether users take the rows of a feed, not the times of these.
fn has_users(plan: &Plan) -> bool {
    plan.groups.iter().any(|group| group.pace.is_closed())
}

/// Checks that rows are given if the plan has a feed, and only then.
fn check_rows(plan: &Plan, are_given: bool) -> Result<(), StartError> {
    if plan.has_feed() == are_given {
        return Ok(());
    }
    let error =
        if are_given { "has no feed for the rows" } else { "has a feed, and there are no rows" };
    Err(StartError::Plan(format!("the plan {error}")))
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

    pub(crate) fn put_interval(&self, interval: Value) {
        self.lock().intervals.push_back(interval);
        self.changed.notify_all();
    }

    pub(crate) fn put_summary(&self, summary: Summary) {
        self.lock().summary = Some(summary);
        self.changed.notify_all();
    }
}
