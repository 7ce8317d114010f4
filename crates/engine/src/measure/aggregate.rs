//! The sum of the reports of all workers: intervals when they are complete, then the summary.
//!
//! Any length of intervals and any clock will do: a report says which interval it is of, from when to
//! when.

use net::{Address, Nanos};

use super::health::{JUDGED_NS, Vitals};
use super::machine::Machine;
use super::report::{Connections, Phase, Report};
use super::summary::{Summary, WorkerTime};
use super::tally::Tally;
use super::timeline::{Interval, Timeline};
use crate::messages::UNUSED_ADDRESS;

/// The sum of the reports of all workers.
pub struct Aggregate {
    /// The sum so far; of its rows only what callers add.
    pub summary: Summary,
    timeline: Timeline,
    machine: Machine,
    /// Whether workers can be late.
    can_lag: bool,
    workers: Vec<LatestReport>,
}

/// A complete interval of all workers.
#[derive(Debug)]
pub struct JudgedInterval {
    /// The interval.
    pub interval: Interval,
    pub(crate) vitals: Vitals,
}

/// The part of a worker's latest report that counts if the worker is lost.
#[derive(Debug, Clone, Copy, Default)]
struct LatestReport {
    connections: Connections,
    in_flight: u64,
    /// The length of the worker's window: as planned, until it has ended.
    window_ns: Nanos,
    /// How much of the window was over.
    reported_ns: Option<Nanos>,
}

impl Aggregate {
    /// Creates the aggregate of a load on `addresses`.
    pub fn new(summary: Summary, addresses: &[Address], can_lag: bool) -> Self {
        let (timeline, machine) = (Timeline::new(0), Machine::new(addresses));
        Self { summary, timeline, machine, can_lag, workers: Vec::new() }
    }

    /// Expects reports of a worker, whose number is at most the number of workers.
    pub fn expect(&mut self, worker: u32) {
        if self.workers.len() <= worker as usize {
            self.workers.push(LatestReport::default());
            self.summary.workers.push(WorkerTime::default());
        }
        self.timeline.expect(worker);
    }

    /// Returns whether every worker has ended or is lost.
    pub fn is_over(&self) -> bool {
        self.timeline.is_over()
    }

    /// Returns the rows to which the tallies of a phase are added.
    pub fn rows(&mut self, phase: Phase) -> &mut Vec<Tally> {
        match phase {
            Phase::Warmup | Phase::Over => &mut self.summary.warmup,
            Phase::Measure | Phase::Drain => &mut self.summary.measured,
        }
    }

    /// Adds a report, but not its tallies to the rows; returns the completed intervals, in order.
    pub fn add(&mut self, mut report: Report) -> Vec<JudgedInterval> {
        let summary = &mut self.summary;
        summary.samples.append(&mut report.samples);
        if let Some(failure) = report.failure.take() {
            summary.failure.get_or_insert(failure);
        }
        for address in &report.unreachable_addresses {
            summary.warn(UNUSED_ADDRESS.message([("address", address.as_str().into())]));
        }
        match report.phase {
            Phase::Measure => summary.workers[report.worker as usize].add(&report),
            Phase::Over => {
                summary.in_flight += report.in_flight;
                summary.starved += report.starved;
                summary.connections.merge(&report.connections);
            }
            Phase::Warmup | Phase::Drain => {}
        }
        if let Some((start, _)) = report.window {
            let earliest = &mut summary.window_start;
            *earliest = if *earliest == 0 { start } else { start.min(*earliest) };
        }
        self.workers[report.worker as usize].update(&report);
        self.update_window();
        let intervals = self.timeline.add(report);
        self.judge(intervals)
    }

    /// Expects no more reports of a worker; returns the intervals that are complete without it.
    ///
    /// Its requests that were open, and its connections, are those of its latest report.
    pub fn lose(&mut self, worker: u32) -> Vec<JudgedInterval> {
        if !self.timeline.expects(worker) {
            return Vec::new();
        }
        let latest = &mut self.workers[worker as usize];
        self.summary.in_flight += latest.in_flight;
        self.summary.connections.merge(&latest.connections);
        latest.window_ns = latest.reported_ns.unwrap_or(latest.window_ns);
        self.update_window();
        let intervals = self.timeline.remove(worker);
        self.judge(intervals)
    }

    fn update_window(&mut self) {
        self.summary.window_ns = self.workers.iter().map(|one| one.window_ns).max().unwrap_or(0);
    }

    fn judge(&mut self, intervals: Vec<Interval>) -> Vec<JudgedInterval> {
        let all = intervals.into_iter().filter(|interval| !interval.is_empty());
        let judged = all.map(|interval| {
            let vitals = self.machine.vitals(&interval, self.can_lag);
            if interval.phase == Phase::Measure && interval.to - interval.from >= JUDGED_NS {
                self.summary.health.add_interval(&vitals);
            }
            JudgedInterval { interval, vitals }
        });
        judged.collect()
    }
}

impl LatestReport {
    fn update(&mut self, report: &Report) {
        self.connections = report.connections;
        // Before the window begins, its requests that have begun are not in any report.
        let is_counted = matches!(report.phase, Phase::Measure | Phase::Drain);
        self.in_flight = if is_counted { report.in_flight } else { 0 };
        if let Some((start, end)) = report.window {
            self.window_ns = end.saturating_sub(start);
        }
        let window = report.window.filter(|_| report.phase == Phase::Measure);
        self.reported_ns = window.map(|(start, end)| end.min(report.to).saturating_sub(start));
    }
}
