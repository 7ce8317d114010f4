//! The sum of the reports of all workers: intervals when they are complete, then the summary.
//!
//! Any length of intervals and any clock will do: a report says which interval it is of, from when to
//! when.

use net::{Address, Nanos, monotonic_ns};

use super::health::{JUDGED_NS, Vitals};
use super::machine::{Machine, MachineReading, vitals};
use super::report::{Connections, Phase, Report};
use super::summary::{NodeSummary, Summary, WorkerTime};
use super::tally::Tally;
use super::timeline::{Interval, PartCounts, Timeline, WorkerPart, add_multiplexing};
use crate::messages::UNUSED_ADDRESS;

/// The sum of the reports of all workers.
pub struct Aggregate {
    /// The sum so far; of its rows only what callers add.
    pub summary: Summary,
    timeline: Timeline,
    machine: Machine,
    /// The place in the summary of the node of each worker, if nodes generate the load.
    nodes: Vec<usize>,
    /// The latest reading of each node.
    readings: Vec<MachineReading>,
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
    /// The counts of each node, if nodes generate the load.
    pub(crate) nodes: Vec<(String, PartCounts)>,
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
    /// When the first interval of its window began.
    began_at: Option<Nanos>,
}

impl Aggregate {
    /// Creates the aggregate of a load on `addresses`.
    pub fn new(summary: Summary, addresses: &[Address], can_lag: bool) -> Self {
        let (timeline, machine) = (Timeline::new(0), Machine::new(addresses));
        let readings = vec![MachineReading::default(); summary.nodes.len()];
        let (nodes, workers) = (Vec::new(), Vec::new());
        Self { summary, timeline, machine, nodes, readings, can_lag, workers }
    }

    /// Expects reports of a worker, whose number is at most the number of workers.
    pub fn expect(&mut self, worker: u32) {
        if self.workers.len() <= worker as usize {
            self.workers.push(LatestReport::default());
            self.summary.workers.push(WorkerTime::default());
        }
        self.timeline.expect(worker);
    }

    /// Expects reports of a worker on a node, which is at this place in the summary; workers are
    /// expected in ascending order.
    pub(crate) fn expect_on(&mut self, node: usize, worker: u32) {
        self.expect(worker);
        self.nodes.push(node);
    }

    /// Notes the latest reading of a node.
    pub(crate) fn note_machine(&mut self, node: usize, reading: MachineReading) {
        self.readings[node] = reading;
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
            Phase::Measure => {
                summary.workers[report.worker as usize].add(&report);
                add_multiplexing(&mut summary.multiplexing, report.multiplexing);
                if let Some(more) = report.websocket.take() {
                    summary.websocket.get_or_insert_default().merge(&more);
                }
            }
            Phase::Over => {
                summary.in_flight += report.in_flight;
                summary.starved += report.starved;
                summary.connections.merge(&report.connections);
            }
            Phase::Warmup | Phase::Drain => {}
        }
        if let (Phase::Measure | Phase::Drain, Some(node)) =
            (report.phase, self.nodes.get(report.worker as usize))
        {
            let counts = &mut summary.nodes[*node].counts;
            *counts = counts.plus(PartCounts::of(&report.tallies));
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
            let is_judged =
                interval.phase == Phase::Measure && interval.to - interval.from >= JUDGED_NS;
            let vitals = if self.nodes.is_empty() {
                let vitals =
                    vitals(&interval.workers, self.machine.read(monotonic_ns()), self.can_lag);
                if is_judged {
                    self.summary.health.add_interval(&vitals);
                }
                vitals
            } else {
                self.judge_nodes(&interval.workers, is_judged)
            };
            let nodes = self.counts_of_nodes(&interval.workers);
            JudgedInterval { interval, vitals, nodes }
        });
        judged.collect()
    }

    fn counts_of_nodes(&self, workers: &[WorkerPart]) -> Vec<(String, PartCounts)> {
        let none = |node: &NodeSummary| (node.name.clone(), PartCounts::default());
        let mut counts: Vec<_> = self.summary.nodes.iter().map(none).collect();
        for part in workers {
            if let Some(node) = self.nodes.get(part.worker as usize) {
                counts[*node].1 = counts[*node].1.plus(part.counts);
            }
        }
        counts
    }

    /// Judges the workers of each node on their own; returns the vitals of all.
    fn judge_nodes(&mut self, workers: &[WorkerPart], is_judged: bool) -> Vitals {
        for (place, node) in self.summary.nodes.iter_mut().enumerate() {
            let own = |part: &&WorkerPart| self.nodes.get(part.worker as usize) == Some(&place);
            let own: Vec<WorkerPart> = workers.iter().filter(own).copied().collect();
            if is_judged && !own.is_empty() {
                node.health.add_interval(&vitals(&own, self.readings[place], self.can_lag));
            }
        }
        let worst = self.readings.iter().copied().reduce(MachineReading::worst);
        vitals(workers, worst.unwrap_or_default(), self.can_lag)
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
        self.reported_ns = None;
        if report.phase == Phase::Measure {
            // The window of a number of requests is known when it is over.
            let began = *self.began_at.get_or_insert(report.from);
            let (start, end) = report.window.unwrap_or((began, Nanos::MAX));
            self.reported_ns = Some(end.min(report.to).saturating_sub(start));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::health::{Evidence, judge};

    const SECOND: Nanos = 1_000_000_000;

    fn word(summary: &Summary, node: usize) -> &'static str {
        judge(&summary.nodes[node].health, &Evidence::default()).word
    }

    #[test]
    fn a_worker_that_is_lost_before_its_window_has_an_end_has_measured_until_its_last_report() {
        let mut aggregate = Aggregate::new(Summary::default(), &[], false);
        (0..2).for_each(|worker| aggregate.expect(worker));
        for number in 0..20 {
            let mut report = Report::empty(1, Phase::Measure, number);
            (report.from, report.to) = ((100 + number) * SECOND, (101 + number) * SECOND);
            aggregate.add(report);
        }
        let mut report = Report::empty(0, Phase::Measure, 0);
        (report.from, report.to) = (100 * SECOND, 105 * SECOND);
        report.window = Some((100 * SECOND, 105 * SECOND));
        aggregate.add(report);
        aggregate.lose(1);
        assert_eq!(aggregate.summary.window_ns, 20 * SECOND);
    }

    #[test]
    fn each_node_is_judged_by_its_own_workers_and_machine() {
        let nodes = ["a", "b", "c"].map(|name| NodeSummary {
            name: name.into(),
            processes: 1,
            ..NodeSummary::default()
        });
        let summary = Summary { nodes: nodes.to_vec(), ..Summary::default() };
        let mut aggregate = Aggregate::new(summary, &[], false);
        (0..3).for_each(|worker| aggregate.expect_on(worker as usize, worker));
        let stolen =
            MachineReading { steal_rate: 50.0, is_local: true, ..MachineReading::default() };
        aggregate.note_machine(2, stolen);
        for number in 0..4 {
            for (worker, share) in [(0, 0.1), (1, 0.99), (2, 0.1)] {
                let mut report = Report::empty(worker, Phase::Measure, number);
                (report.from, report.to) = (number * SECOND, (number + 1) * SECOND);
                report.usage.cpu_ns = (share * 1e9) as Nanos;
                let tally = Tally { attempted: 3, ok: u64::from(worker), ..Tally::default() };
                report.tallies = vec![tally].into();
                let complete = aggregate.add(report);
                if worker == 2 {
                    assert_eq!(complete.len(), 1);
                    assert_eq!(complete[0].vitals.worker_cpu_rate.len(), 3);
                    assert!((complete[0].vitals.steal_rate - 50.0).abs() < 1e-9);
                    let counts: Vec<_> = complete[0].nodes.iter().map(|one| one.1).collect();
                    assert_eq!(counts.iter().map(|one| one.attempted).collect::<Vec<_>>(), [3; 3]);
                    assert_eq!(counts.iter().map(|one| one.ok).collect::<Vec<_>>(), [0, 1, 2]);
                }
            }
        }
        let summary = &aggregate.summary;
        let of_nodes = summary.nodes.iter().map(|node| (node.counts.attempted, node.counts.ok));
        assert_eq!(of_nodes.collect::<Vec<_>>(), [(12, 0), (12, 4), (12, 8)]);
        assert_eq!(
            [word(summary, 0), word(summary, 1), word(summary, 2)],
            ["healthy", "generator-limited", "contended"]
        );
        let all = judge(summary.machines(), &Evidence::default());
        assert_eq!(all.word, "generator-limited");
        let starts = all.reasons.iter().map(|reason| &reason.text[..6]).collect::<Vec<_>>();
        assert_eq!(starts, ["on b: ", "on c: "]);
    }
}
