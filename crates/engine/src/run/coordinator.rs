//! The coordinator: adds reports to the aggregate, passes intervals on, ends a run without any answer.

use std::sync::Arc;
use std::sync::mpsc::RecvTimeoutError;
use std::time::Duration;

use net::Nanos;

use super::Outbox;
use super::children::{ChildUsage, loss_warning};
use super::feeder::FeedState;
use crate::fleet::{FleetEvent, Inbox, Loss};
use crate::measure::aggregate::{Aggregate, JudgedInterval};
use crate::measure::report::{Phase, Report};
use crate::measure::summary::{Generator, MAX_CLOCK_ERROR_NS, NodeSummary, Summary, add_tallies};
use crate::measure::tally::Tally;
use crate::messages::{
    ALL_PROCESSES_LOST, Message, MessageTemplate, NO_ANSWER, NO_ANSWER_IN_TIME, NO_START,
    ROWS_ENDED_EARLY, SHARED_ROW, WAITED_FOR_ROWS, WORKER_LOST,
};
use crate::output::level::interval_json;
use crate::output::load_files::LoadFiles;
use crate::plan::{Plan, Transport};
use crate::prepare::{OTHERS, Prepared};
use crate::worker::gate::Gate;

/// How often the coordinator looks up when nothing is reported.
const TICK: Duration = Duration::from_millis(100);

/// A response byte is waited for so much longer than one request may take.
const GRACE_NS: Nanos = 1_000_000_000;

/// Percent of the time without rows for users from which on the load is not as asked for.
const MOST_STARVED_PERCENT: f64 = 1.0;

/// The coordinator of one run.
pub(super) struct Coordinator {
    gate: Arc<Gate>,
    outbox: Arc<Outbox>,
    files: LoadFiles,
    aggregate: Aggregate,
    /// The name of each request, for the log.
    names: Vec<String>,
    /// Connections that the plan asks for.
    asked: u64,
    transport: Transport,
    run_start: Nanos,
    unanswered: Unanswered,
    cpu_at_start: Nanos,
    /// Whether any byte of a response came.
    has_received: bool,
    /// All workers have reported what they received until then.
    reported_to: Nanos,
    /// The usage of child processes.
    child_usages: Vec<ChildUsage>,
    /// The place of each child process's node in the summary, if it is another machine.
    nodes: Vec<Option<usize>>,
    /// The state of the feeder, if there is one.
    pub(super) feed: Arc<FeedState>,
}

/// The processes and workers of a run.
#[derive(Debug, Clone)]
pub(super) struct RunSize {
    /// The child processes; none for threads.
    pub(super) children: Vec<ChildSize>,
    /// Of all processes.
    pub(super) workers: u32,
    /// When the run starts.
    pub(super) run_start: Nanos,
}

/// One child process of a run.
#[derive(Debug, Clone)]
pub(super) struct ChildSize {
    /// The name of its node, if it is another machine.
    pub(super) node: Option<String>,
    /// The number of its workers.
    pub(super) workers: u32,
}

/// Since when the target has owed a response: from its first request on, or from the start of the run
/// while connections are opened and none is established.
#[derive(Debug)]
struct Unanswered {
    /// A run without any answer is given up after this time.
    limit_ns: Nanos,
    /// The start of the run, if connections are opened then.
    dialled_at: Option<Nanos>,
    is_connected: bool,
    /// The start of the first interval in which a request was sent.
    asked_at: Option<Nanos>,
}

impl Unanswered {
    fn new(plan: &Plan, run_start: Nanos, limit_ns: Nanos) -> Self {
        let dialled_at = plan.opens_connections_first().then_some(run_start);
        Self { limit_ns, dialled_at, is_connected: false, asked_at: None }
    }

    fn begin_at(&mut self, run_start: Nanos) {
        self.dialled_at = self.dialled_at.map(|_| run_start);
    }

    fn see(&mut self, report: &Report) {
        self.is_connected |= report.connections.opened > 0;
        let has_asked = || report.tallies.iter().any(|tally| tally.attempted > 0);
        if self.asked_at.is_none() && has_asked() {
            self.asked_at = Some(report.from);
        }
    }

    fn since(&self) -> Option<Nanos> {
        self.dialled_at.filter(|_| !self.is_connected).or(self.asked_at)
    }
}

impl Coordinator {
    pub(super) fn new(
        plan: &Plan,
        prepared: &Prepared,
        size: RunSize,
        gate: Arc<Gate>,
        outbox: Arc<Outbox>,
        files: LoadFiles,
    ) -> Self {
        let (nodes, summaries) = nodes(&size.children);
        let patience =
            prepared.timeout_ns().saturating_add(GRACE_NS).saturating_add(plan.interval_ns);
        let processes = u32::try_from(size.children.len()).unwrap_or(u32::MAX).max(1);
        let summary = Summary { nodes: summaries, ..empty_summary(plan, prepared, processes) };
        let RunSize { children, workers, run_start } = size;
        let mut aggregate = Aggregate::new(summary, &prepared.addresses(), plan.can_be_late());
        let of_nodes = children
            .iter()
            .zip(&nodes)
            .flat_map(|(child, node)| std::iter::repeat_n(*node, child.workers as usize));
        for (worker, node) in (0..workers).zip(of_nodes.chain(std::iter::repeat(None))) {
            match node {
                Some(node) => aggregate.expect_on(node, worker),
                None => aggregate.expect(worker),
            }
        }
        Self {
            gate,
            outbox,
            files,
            aggregate,
            names: prepared.requests.iter().map(|request| request.name.clone()).collect(),
            asked: plan.connections_of_parts(),
            transport: plan.transport.clone(),
            run_start,
            unanswered: Unanswered::new(plan, run_start, patience),
            cpu_at_start: 0,
            has_received: false,
            reported_to: 0,
            child_usages: vec![ChildUsage::default(); children.len()],
            nodes,
            feed: Arc::default(),
        }
    }

    /// The run starts then, which was not known before.
    pub(super) fn begin_at(&mut self, run_start: Nanos) {
        self.run_start = run_start;
        self.unanswered.begin_at(run_start);
    }

    /// Ends a run that never began, because of `why` or because it was stopped.
    pub(super) fn give_up(mut self, why: Message) {
        if !self.gate.is_stopped() {
            self.aggregate.summary.failure = Some(why);
        }
        self.finish();
    }

    pub(super) fn run(mut self, inbox: &impl Inbox) {
        while !self.aggregate.is_over() {
            match inbox.next(TICK) {
                Ok(FleetEvent::Report(report)) => self.take(*report),
                Ok(FleetEvent::Figures { process, phase, figures }) => {
                    self.child_usages[process as usize].update(phase, figures);
                    let node = self.nodes.get(process as usize).copied().flatten();
                    if let (Some(node), Some(reading)) = (node, figures.machine) {
                        self.aggregate.note_machine(node, reading);
                    }
                }
                Ok(FleetEvent::Clock { process, clock }) => {
                    if let Some(node) = self.node_of(process) {
                        node.note_clock(clock);
                    }
                }
                Ok(FleetEvent::Lost(loss)) => self.lose(loss),
                Err(RecvTimeoutError::Timeout) => {}
                // A worker that is gone without its last report has panicked.
                Err(RecvTimeoutError::Disconnected) => {
                    self.aggregate.summary.failure = Some(WORKER_LOST.plain());
                    break;
                }
            }
            self.give_up_if_unanswered();
        }
        self.finish();
    }

    fn take(&mut self, mut report: Report) {
        let summary = &mut self.aggregate.summary;
        if let Some(ending) = self.files.add(&mut report, &summary.names) {
            summary.warn(ending);
        }
        if let Some((start, _)) = report.window {
            summary.warmup_ns = start.saturating_sub(self.run_start);
        }
        if report.phase == Phase::Warmup {
            self.cpu_at_start = net::process_cpu_ns();
        } else if report.phase == Phase::Measure {
            summary.generator.cpu_ns = net::process_cpu_ns() - self.cpu_at_start;
        }
        self.unanswered.see(&report);
        // A one-way message is ok without any answer.
        let has_received = |tally: &Tally| tally.bytes_in > 0 || tally.ok > 0;
        self.has_received |= report.has_received || report.tallies.iter().any(has_received);
        add_tallies(self.aggregate.rows(report.phase), &report.tallies);
        let intervals = self.aggregate.add(report);
        self.hand_out(&intervals);
    }

    /// Handles the loss of a process: its reports remain, and its open requests stay in flight.
    fn lose(&mut self, loss: Loss) {
        for worker in loss.workers.clone() {
            let intervals = self.aggregate.lose(worker);
            self.hand_out(&intervals);
        }
        let name = self.node_of(loss.process).map(|node| {
            node.lost += 1;
            node.name.clone()
        });
        let summary = &mut self.aggregate.summary;
        summary.lost += 1;
        let processes = summary.generator.processes;
        let warning = loss_warning(loss, name.as_deref(), processes, self.gate.start());
        if summary.lost == processes {
            let last = ("last", warning.clone().into());
            summary.failure.get_or_insert_with(|| ALL_PROCESSES_LOST.message([last]));
        }
        summary.warn(warning);
    }

    fn node_of(&mut self, process: u32) -> Option<&mut NodeSummary> {
        let place = self.nodes.get(process as usize).copied().flatten()?;
        self.aggregate.summary.nodes.get_mut(place)
    }

    fn hand_out(&mut self, intervals: &[JudgedInterval]) {
        if let Some(last) = intervals.last() {
            self.reported_to = last.interval.to;
            // The times of a node are known with this error.
            self.log_until(last.interval.to.saturating_sub(MAX_CLOCK_ERROR_NS));
        }
        let summary = &self.aggregate.summary;
        for judged in intervals {
            let start = match (judged.interval.phase, self.gate.start()) {
                // Not known yet, it comes after the warm-up that was asked for.
                (Phase::Warmup, Nanos::MAX) => self.run_start.saturating_add(summary.warmup_ns),
                // A run that was stopped in its warm-up has a window all the same, without length.
                (_, Nanos::MAX) => summary.window_start,
                (_, start) => start,
            };
            self.outbox.put_interval(interval_json(judged, start));
        }
    }

    fn log_until(&mut self, time: Nanos) {
        if let Some(ending) = self.files.log_until(time, &self.names) {
            self.aggregate.summary.warn(ending);
        }
    }

    fn give_up_if_unanswered(&mut self) {
        let limit_ns = self.unanswered.limit_ns;
        let since = self.unanswered.since();
        // What a worker received until then is known when it has reported it.
        let is_over = since.is_some_and(|since| self.reported_to >= since.saturating_add(limit_ns));
        if !is_over || self.has_answer() || self.gate.is_stopped() {
            return;
        }
        let waited = limit_ns / 1_000_000_000;
        self.aggregate.summary.failure =
            Some(NO_ANSWER_IN_TIME.message([("seconds", waited.into())]));
        self.gate.abort();
    }

    /// Why a level that ran to its end says nothing about its target.
    fn emptiness(&self) -> Option<MessageTemplate> {
        let nothing_started =
            self.aggregate.summary.measured.iter().all(|tally| tally.planned == 0);
        if !self.has_answer() {
            Some(NO_ANSWER)
        } else if nothing_started {
            Some(NO_START)
        } else {
            None
        }
    }

    fn has_answer(&self) -> bool {
        self.has_received
    }

    /// Warns if users had to wait for rows: they were fewer than the plan says.
    fn warn_of_missing_rows(&mut self) {
        let summary = &mut self.aggregate.summary;
        let percent = self.feed.starved_percent(summary.window_ns);
        if percent > MOST_STARVED_PERCENT {
            summary.warn(WAITED_FOR_ROWS.message([("percent", (percent.round() as u64).into())]));
        }
    }

    fn finish(mut self) {
        self.log_until(Nanos::MAX);
        self.feed.end();
        if let Some(error) = self.feed.take_failure() {
            let failure = || ROWS_ENDED_EARLY.message([("error", error.into())]);
            self.aggregate.summary.failure.get_or_insert_with(failure);
        }
        self.warn_of_missing_rows();
        if self.gate.is_stopped() && self.aggregate.summary.failure.is_none() {
            self.aggregate.summary.interrupted = true;
        } else if let Some(template) = self.emptiness() {
            self.aggregate.summary.failure.get_or_insert_with(|| template.plain());
        }
        self.aggregate.summary.keep_first_samples();
        self.aggregate.summary.warn_of_uncertain_clocks();
        self.aggregate.summary.note_connections(&self.transport);
        self.aggregate.summary.generator.max_rss_bytes = net::max_rss_bytes();
        self.aggregate.summary.generator.descriptor_limit = net::raise_descriptor_limit();
        for usage in &self.child_usages {
            usage.add_to(&mut self.aggregate.summary.generator);
        }
        // Those of a process that never reported are missing, not fewer to ask for.
        self.aggregate.summary.connections.asked = self.asked;
        self.outbox.put_summary(self.aggregate.summary);
    }
}

/// The warning about requests that have no row of their own.
fn shared_row(prepared: &Prepared) -> Option<Message> {
    let own = prepared.rows.len().saturating_sub(1);
    let values = [("n", prepared.pooled.into()), ("row", OTHERS.into()), ("own", own.into())];
    (prepared.pooled > 0).then(|| SHARED_ROW.message(values))
}

/// Returns the place of each child's node in a list, and the list.
fn nodes(children: &[ChildSize]) -> (Vec<Option<usize>>, Vec<NodeSummary>) {
    let mut list: Vec<NodeSummary> = Vec::new();
    let places = children.iter().map(|child| {
        let name = child.node.as_ref()?;
        let place = list.iter().position(|node| node.name == *name).unwrap_or(list.len());
        if place == list.len() {
            list.push(NodeSummary { name: name.clone(), ..NodeSummary::default() });
        }
        list[place].processes += 1;
        Some(place)
    });
    (places.collect(), list)
}

fn empty_summary(plan: &Plan, prepared: &Prepared, processes: u32) -> Summary {
    let rates = plan.groups.iter().filter_map(|group| group.pace.rate_per_s());
    Summary {
        names: prepared.rows.clone(),
        measured: vec![Tally::default(); prepared.rows.len()],
        warmup: vec![Tally::default(); prepared.rows.len()],
        concurrency: plan.concurrency().into(),
        users: plan.users().into(),
        rate: rates.reduce(|sum, rate| sum + rate),
        warmup_ns: plan.warmup_ns,
        generator: Generator { processes, ..Generator::default() },
        warnings: shared_row(prepared).into_iter().collect(),
        is_keepalive: plan.transport.keepalive,
        http: Some(plan.transport.http.name()),
        ..Summary::default()
    }
}
