//! The coordinator: merges reports into slices and the summary, judges health, ends a run that
//! measures nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

use net::{Address, MachineUsage, Nanos, monotonic_ns, thread_times};

use super::Outbox;
use crate::gate::Gate;
use crate::health::{Health, Vitals};
use crate::level::slice_json;
use crate::log::Log;
use crate::plan::Plan;
use crate::prepare::Prepared;
use crate::report::{Connections, Phase, Report};
use crate::summary::{Generator, SUMMARY_VERSION, Summary, WorkerTime, add_tallies};
use crate::tally::Tally;
use crate::timeline::{Slice, Timeline};

/// How often the coordinator looks up when nothing is reported.
const TICK: Duration = Duration::from_millis(100);

/// An answer byte is waited for so much longer than one request may take.
const GRACE_NS: Nanos = 1_000_000_000;

/// Shorter slices say nothing about health: clocks of /proc tick at 10 ms.
const JUDGED_NS: Nanos = 90_000_000;

/// The coordinator of one run.
pub(super) struct Coordinator {
    gate: Arc<Gate>,
    outbox: Arc<Outbox>,
    log: Option<Log>,
    timeline: Timeline,
    summary: Summary,
    is_open_model: bool,
    run_start: Nanos,
    /// When a run without any answer is given up.
    give_up_at: Nanos,
    machine: Machine,
    cpu_at_start: Nanos,
    /// How long each worker's window is: as planned, until it has ended.
    windows: Vec<Nanos>,
    /// Whether any byte of an answer came.
    was_heard: bool,
}

/// What is watched beside the workers.
struct Machine {
    is_local: bool,
    target: Vec<u32>,
    last: MachineUsage,
    target_cores: usize,
    last_threads: BTreeMap<u32, Nanos>,
}

impl Coordinator {
    pub(super) fn new(
        plan: &Plan,
        prepared: &Prepared,
        workers: u32,
        run_start: Nanos,
        gate: Arc<Gate>,
        outbox: Arc<Outbox>,
        log: Option<Log>,
    ) -> Self {
        let patience = prepared.timeout_ns().saturating_add(GRACE_NS).saturating_add(plan.slice_ns);
        Self {
            gate,
            outbox,
            log,
            timeline: Timeline::new(workers),
            summary: empty_summary(plan, prepared, workers),
            is_open_model: plan.groups.iter().any(|group| !group.pace.is_closed()),
            run_start,
            give_up_at: run_start.saturating_add(patience),
            machine: Machine::new(&prepared.addresses()),
            cpu_at_start: 0,
            windows: vec![0; workers as usize],
            was_heard: false,
        }
    }

    pub(super) fn run(mut self, inbox: &Receiver<Report>) {
        while !self.timeline.is_over() {
            match inbox.recv_timeout(TICK) {
                Ok(report) => self.take(report),
                Err(RecvTimeoutError::Timeout) => {}
                // A worker that is gone without closing its books has panicked.
                Err(RecvTimeoutError::Disconnected) => {
                    self.summary.failure =
                        Some("a worker of the engine ended without a report".into());
                    break;
                }
            }
            self.give_up_if_unanswered();
        }
        self.finish();
    }

    fn take(&mut self, mut report: Report) {
        self.write_log(&report);
        self.summary.samples.append(&mut report.samples);
        self.take_window(&report);
        let side = match report.phase {
            Phase::Warmup | Phase::Over => &mut self.summary.warmup,
            Phase::Measure | Phase::Drain => &mut self.summary.measured,
        };
        add_tallies(side, &report.tallies);
        self.was_heard |= report.was_heard || report.tallies.iter().any(|tally| tally.bytes_in > 0);
        for address in &report.passed_over {
            let text = format!("{address} never accepted a connection and was passed over");
            self.summary.warnings.insert(text);
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
            worker.slices += 1;
        }
        for slice in self.timeline.add(&report) {
            self.hand_out(&slice);
        }
    }

    fn write_log(&mut self, report: &Report) {
        if let Some(log) = &mut self.log
            && let Err(error) = log.write(&report.rows, &self.summary.names)
        {
            // Measuring goes on; the file just ends here, and the result says so.
            self.summary.warnings.insert(format!("the log ends early: {error}"));
            self.log = None;
        }
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

    fn hand_out(&mut self, slice: &Slice) {
        if slice.is_empty() {
            return;
        }
        let vitals = self.machine.vitals(slice, self.is_open_model);
        if slice.phase == Phase::Measure && slice.to - slice.from >= JUDGED_NS {
            self.summary.health.see(&vitals);
        }
        let start = match slice.phase {
            // Not known yet, it comes after the warm-up that was asked for.
            Phase::Warmup if self.gate.start() == Nanos::MAX => {
                self.run_start.saturating_add(self.summary.warmup_ns)
            }
            Phase::Warmup => self.gate.start(),
            _ => self.summary.window_start,
        };
        self.outbox.put_slice(slice_json(slice, &vitals, start));
    }

    fn give_up_if_unanswered(&mut self) {
        if monotonic_ns() < self.give_up_at || self.has_answer() || self.gate.is_stopped() {
            return;
        }
        let waited = (self.give_up_at - self.run_start) / 1_000_000_000;
        self.summary.failure = Some(format!("no byte of an answer came within {waited} s"));
        self.gate.abort();
    }

    /// Why a level that ran to its end says nothing about its target.
    fn emptiness(&self) -> Option<&'static str> {
        let nothing_started = self.summary.measured.iter().all(|tally| tally.planned == 0);
        if !self.has_answer() {
            Some("no byte of an answer came in the whole level")
        } else if nothing_started {
            Some(
                "no request could start in the window: each one of the warm-up was still waiting for its answer",
            )
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
        } else if let Some(text) = self.emptiness() {
            self.summary.failure.get_or_insert(text.into());
        }
        self.summary.keep_first_samples();
        self.summary.generator.max_rss_bytes = net::max_rss_bytes();
        self.summary.generator.descriptor_limit = net::raise_descriptor_limit();
        self.outbox.put_summary(self.summary);
    }
}

impl Machine {
    fn new(addresses: &[Address]) -> Self {
        let target = net::listening_processes(addresses);
        Self {
            is_local: addresses.iter().any(Address::is_own),
            last: MachineUsage::now(),
            target_cores: net::cores_of(&target),
            last_threads: thread_times(&target),
            target,
        }
    }

    fn vitals(&mut self, slice: &Slice, is_open_model: bool) -> Vitals {
        let (before, now) = (self.last, MachineUsage::now());
        self.last = now;
        let elapsed = now.total_ns.saturating_sub(before.total_ns);
        let rates = |pick: fn(&net::ThreadUsage) -> Nanos| -> Vec<f64> {
            slice.usage.iter().map(|(usage, wall)| percent(pick(usage), *wall)).collect()
        };
        Vitals {
            worker_cpu_rate: rates(|usage| usage.cpu_ns),
            run_queue_rate: rates(|usage| usage.run_queue_ns),
            steal_rate: percent(now.steal_ns.saturating_sub(before.steal_ns), elapsed),
            throttled: now.throttled_ns > before.throttled_ns,
            target_cpu_rate: self.target_cpu_rate(slice.to.saturating_sub(slice.from)),
            is_local: self.is_local,
            lag_p99: if is_open_model { slice.lag_p99.clone() } else { Vec::new() },
        }
    }

    /// How full the target is: its busiest thread against one core, or all of it against the
    /// cores that it may use (a runtime that moves its work between threads fills no single one).
    fn target_cpu_rate(&mut self, wall: Nanos) -> Option<f64> {
        let now = thread_times(&self.target);
        let before = std::mem::replace(&mut self.last_threads, now);
        let spent: Vec<Nanos> = self
            .last_threads
            .iter()
            .map(|(thread, cpu_ns)| cpu_ns.saturating_sub(before.get(thread).copied().unwrap_or(0)))
            .collect();
        let busiest = percent(spent.iter().copied().max()?, wall);
        let cores = wall.saturating_mul(self.target_cores.max(1) as u64);
        Some(busiest.max(percent(spent.iter().sum(), cores)).min(100.0))
    }
}

#[allow(clippy::cast_precision_loss)]
fn percent(part: Nanos, whole: Nanos) -> f64 {
    if whole == 0 { 0.0 } else { 100.0 * part as f64 / whole as f64 }
}

fn empty_summary(plan: &Plan, prepared: &Prepared, workers: u32) -> Summary {
    let requests = &prepared.requests;
    let rates = plan.groups.iter().filter_map(|group| group.pace.rate_per_s());
    Summary {
        version: SUMMARY_VERSION,
        names: requests.iter().map(|request| request.name.clone()).collect(),
        measured: vec![Tally::default(); requests.len()],
        warmup: vec![Tally::default(); requests.len()],
        concurrency: plan.concurrency().into(),
        rate: rates.reduce(|sum, rate| sum + rate),
        window_ns: 0,
        warmup_ns: plan.warmup_ns,
        in_flight: 0,
        starved: 0,
        connections: Connections::default(),
        samples: Vec::new(),
        window_start: 0,
        workers: vec![WorkerTime::default(); workers as usize],
        health: Health::default(),
        generator: Generator { processes: 1, ..Generator::default() },
        warnings: BTreeSet::new(),
        is_keepalive: plan.transport.keepalive,
        failure: None,
        interrupted: false,
    }
}
