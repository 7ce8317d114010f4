//! The coordinator: merges reports into intervals and the summary, judges health, ends a run that
//! measures nothing.

use std::sync::Arc;
use std::sync::mpsc::RecvTimeoutError;
use std::time::Duration;

use net::{Nanos, monotonic_ns};

use super::Outbox;
use super::standing::{Cost, Standing, loss_warning};
use crate::fleet::{Inbox, Loss, News};
use crate::measure::front::Front;
use crate::measure::health::{Health, JUDGED_NS};
use crate::measure::machine::Machine;
use crate::measure::report::{Connections, Phase, Report};
use crate::measure::summary::{Generator, Summary, WorkerTime, add_tallies};
use crate::measure::tally::Tally;
use crate::measure::timeline::{Interval, Timeline};
use crate::messages::{
    ALL_PROCESSES_LOST, Message, NO_ANSWER, NO_ANSWER_IN_TIME, NO_START, SHARED_ROW, Template,
    UNUSED_ADDRESS, WORKER_LOST,
};
use crate::output::level::interval_json;
use crate::output::load_files::LoadFiles;
use crate::plan::Plan;
use crate::prepare::{OTHERS, Prepared};
use crate::worker::gate::Gate;

/// How often the coordinator looks up when nothing is reported.
const TICK: Duration = Duration::from_millis(100);

/// An answer byte is waited for so much longer than one request may take.
const GRACE_NS: Nanos = 1_000_000_000;

/// The coordinator of one run.
pub(super) struct Coordinator {
    gate: Arc<Gate>,
    outbox: Arc<Outbox>,
    files: LoadFiles,
    timeline: Timeline,
    summary: Summary,
    is_open_model: bool,
    /// The name of each request, for the log.
    names: Vec<String>,
    /// Connections that the plan asks for.
    asked: u64,
    run_start: Nanos,
    unanswered: Unanswered,
    machine: Machine,
    cpu_at_start: Nanos,
    /// How long each worker's window is: as planned, until it has ended.
    windows: Vec<Nanos>,
    /// Whether any byte of an answer came.
    was_heard: bool,
    /// Where each worker stood when it last reported.
    standings: Vec<Standing>,
    /// What other processes have used; empty when there are none.
    costs: Vec<Cost>,
}

/// Who shares the load.
#[derive(Debug, Clone, Copy)]
pub(super) struct Roster {
    pub(super) processes: u32,
    /// Of all processes.
    pub(super) workers: u32,
    /// When the run starts.
    pub(super) run_start: Nanos,
}

/// Since when the target has owed an answer: from its first request on, or from the start of the run
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
        roster: Roster,
        gate: Arc<Gate>,
        outbox: Arc<Outbox>,
        files: LoadFiles,
    ) -> Self {
        let Roster { processes, workers, run_start } = roster;
        let children = if processes > 1 { processes as usize } else { 0 };
        let patience =
            prepared.timeout_ns().saturating_add(GRACE_NS).saturating_add(plan.interval_ns);
        Self {
            gate,
            outbox,
            files,
            timeline: Timeline::new(workers),
            summary: empty_summary(plan, prepared, roster),
            names: prepared.requests.iter().map(|request| request.name.clone()).collect(),
            asked: plan.connections().into(),
            is_open_model: plan.has_schedule(),
            run_start,
            unanswered: Unanswered::new(plan, run_start, patience),
            machine: Machine::new(&prepared.addresses()),
            cpu_at_start: 0,
            windows: vec![0; workers as usize],
            was_heard: false,
            standings: vec![Standing::default(); workers as usize],
            costs: vec![Cost::default(); children],
        }
    }

    /// The run starts then, which was not known before.
    pub(super) fn begin_at(&mut self, run_start: Nanos) {
        self.run_start = run_start;
        self.unanswered.begin_at(run_start);
    }

    /// Ends a run that never began; where somebody stopped it, that is why.
    pub(super) fn give_up(mut self, why: Message) {
        if !self.gate.is_stopped() {
            self.summary.failure = Some(why);
        }
        self.finish();
    }

    pub(super) fn run(mut self, inbox: &impl Inbox) {
        while !self.timeline.is_over() {
            match inbox.next(TICK) {
                Ok(News::Report(report)) => self.take(*report),
                Ok(News::Figures { process, phase, figures }) => {
                    self.costs[process as usize].take(phase, figures);
                }
                Ok(News::Lost(loss)) => self.lose(loss),
                Err(RecvTimeoutError::Timeout) => {}
                // A worker that is gone without closing its books has panicked.
                Err(RecvTimeoutError::Disconnected) => {
                    self.summary.failure = Some(WORKER_LOST.plain());
                    break;
                }
            }
            self.give_up_if_unanswered();
        }
        self.finish();
    }

    fn take(&mut self, mut report: Report) {
        let endings = self.files.write(&report, &self.names, &self.summary.names);
        endings.into_iter().for_each(|ending| self.summary.warn(ending));
        self.summary.samples.append(&mut report.samples);
        self.take_window(&report);
        let side = match report.phase {
            Phase::Warmup | Phase::Over => &mut self.summary.warmup,
            Phase::Measure | Phase::Drain => &mut self.summary.measured,
        };
        add_tallies(side, &report.tallies);
        if let Some(failure) = report.failure.take() {
            self.summary.failure.get_or_insert(failure);
        }
        self.unanswered.see(&report);
        self.was_heard |= report.was_heard || report.tallies.iter().any(|tally| tally.bytes_in > 0);
        for address in &report.passed_over {
            let address = ("address", address.as_str().into());
            self.summary.warn(UNUSED_ADDRESS.message([address]));
        }
        if report.phase == Phase::Over {
            self.summary.in_flight += report.in_flight;
            self.summary.starved += report.starved;
            self.summary.connections.merge(&report.connections);
        }
        if report.phase == Phase::Measure {
            let worker = &mut self.summary.workers[report.worker as usize];
            worker.cpu_ns += report.usage.cpu_ns;
            worker.run_queue_ns += report.usage.run_queue_ns;
            worker.wall_ns += report.to.saturating_sub(report.from);
            worker.receive_queue_sum += report.receive_queue_bytes;
            worker.intervals += 1;
        }
        self.standings[report.worker as usize] = Standing::of(&report);
        for interval in self.timeline.add(report) {
            self.hand_out(&interval);
        }
    }

    /// A process is gone: what it had reported is kept, and balances with what it had open then.
    fn lose(&mut self, loss: Loss) {
        for worker in loss.workers.clone() {
            if !self.timeline.awaits(worker) {
                continue;
            }
            let standing = self.standings[worker as usize];
            self.summary.in_flight += standing.in_flight;
            self.summary.connections.merge(&standing.connections);
            if let Some(window_ns) = standing.window_ns {
                self.windows[worker as usize] = window_ns;
            }
            for interval in self.timeline.forget(worker) {
                self.hand_out(&interval);
            }
        }
        self.summary.window_ns = self.windows.iter().copied().max().unwrap_or(0);
        self.summary.lost += 1;
        let processes = self.summary.generator.processes;
        let warning = loss_warning(loss, processes, self.gate.start());
        if self.summary.lost == processes {
            let last = ("last", warning.clone().into());
            self.summary.failure.get_or_insert_with(|| ALL_PROCESSES_LOST.message([last]));
        }
        self.summary.warn(warning);
    }

    fn take_window(&mut self, report: &Report) {
        if let Some((start, end)) = report.window {
            self.summary.window_start = start;
            self.summary.warmup_ns = start.saturating_sub(self.run_start);
            self.windows[report.worker as usize] = end.saturating_sub(start);
            self.summary.window_ns = self.windows.iter().copied().max().unwrap_or(0);
        }
        if report.phase == Phase::Warmup {
            self.cpu_at_start = net::process_cpu_ns();
        } else if report.phase == Phase::Measure {
            self.summary.generator.cpu_ns = net::process_cpu_ns() - self.cpu_at_start;
        }
    }

    fn hand_out(&mut self, interval: &Interval) {
        if interval.is_empty() {
            return;
        }
        let vitals = self.machine.vitals(interval, self.is_open_model);
        if interval.phase == Phase::Measure && interval.to - interval.from >= JUDGED_NS {
            self.summary.health.see(&vitals);
        }
        let start = match (interval.phase, self.gate.start()) {
            // Not known yet, it comes after the warm-up that was asked for.
            (Phase::Warmup, Nanos::MAX) => self.run_start.saturating_add(self.summary.warmup_ns),
            // A run that was stopped in its warm-up has a window all the same, without length.
            (_, Nanos::MAX) => self.summary.window_start,
            (_, start) => start,
        };
        self.outbox.put_interval(interval_json(interval, &vitals, start));
    }

    fn give_up_if_unanswered(&mut self) {
        let limit_ns = self.unanswered.limit_ns;
        let since = self.unanswered.since();
        let is_over = since.is_some_and(|since| monotonic_ns() >= since.saturating_add(limit_ns));
        if !is_over || self.has_answer() || self.gate.is_stopped() {
            return;
        }
        let waited = limit_ns / 1_000_000_000;
        self.summary.failure = Some(NO_ANSWER_IN_TIME.message([("seconds", waited.into())]));
        self.gate.abort();
    }

    /// Why a level that ran to its end says nothing about its target.
    fn emptiness(&self) -> Option<Template> {
        let nothing_started = self.summary.measured.iter().all(|tally| tally.planned == 0);
        if !self.has_answer() {
            Some(NO_ANSWER)
        } else if nothing_started {
            Some(NO_START)
        } else {
            None
        }
    }

    fn has_answer(&self) -> bool {
        self.was_heard
    }

    fn finish(mut self) {
        if self.gate.is_stopped() && self.summary.failure.is_none() {
            self.summary.interrupted = true;
        } else if let Some(template) = self.emptiness() {
            self.summary.failure.get_or_insert_with(|| template.plain());
        }
        self.summary.keep_first_samples();
        self.summary.generator.max_rss_bytes = net::max_rss_bytes();
        self.summary.generator.descriptor_limit = net::raise_descriptor_limit();
        for cost in &self.costs {
            cost.add_to(&mut self.summary.generator);
        }
        // Those of a process that never reported are missing, not fewer to ask for.
        self.summary.connections.asked = self.asked;
        self.outbox.put_summary(self.summary);
    }
}

/// The warning about requests that have no row of their own.
fn shared_row(prepared: &Prepared) -> Option<Message> {
    let own = prepared.rows.len().saturating_sub(1);
    let values = [("n", prepared.pooled.into()), ("row", OTHERS.into()), ("own", own.into())];
    (prepared.pooled > 0).then(|| SHARED_ROW.message(values))
}

fn empty_summary(plan: &Plan, prepared: &Prepared, roster: Roster) -> Summary {
    let rates = plan.groups.iter().filter_map(|group| group.pace.rate_per_s());
    Summary {
        names: prepared.rows.clone(),
        measured: vec![Tally::default(); prepared.rows.len()],
        warmup: vec![Tally::default(); prepared.rows.len()],
        concurrency: plan.concurrency().into(),
        users: plan.users().into(),
        rate: rates.reduce(|sum, rate| sum + rate),
        window_ns: 0,
        warmup_ns: plan.warmup_ns,
        in_flight: 0,
        starved: 0,
        connections: Connections::default(),
        samples: Vec::new(),
        window_start: 0,
        workers: vec![WorkerTime::default(); roster.workers as usize],
        health: Health::default(),
        generator: Generator { processes: roster.processes, ..Generator::default() },
        lost: 0,
        warnings: shared_row(prepared).into_iter().collect(),
        is_keepalive: plan.transport.keepalive,
        failure: None,
        interrupted: false,
        front: Front::Engine,
        events: Vec::new(),
    }
}
