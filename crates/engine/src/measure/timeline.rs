//! Reports of many workers into one timeline: an interval is whole when every worker has passed it.

use std::collections::{BTreeMap, BTreeSet};

use net::{Nanos, ThreadUsage};

use super::books::Books;
use super::health::Lag;
use super::metric::Metric;
use super::report::{Connections, Phase, Report};
use super::tally::{Latencies, Tally};

/// A p99 of fewer is only the worst of them.
const TELLING_LAGS: u64 = 100;

/// One interval of all workers.
#[derive(Debug)]
pub struct Interval {
    pub(crate) phase: Phase,
    pub from: Nanos,
    pub to: Nanos,
    pub tallies: Books,
    pub(crate) in_flight: u64,
    pub(crate) connections: Connections,
    /// The workers that took part, in ascending order of their numbers.
    pub(crate) workers: Vec<WorkerPart>,
}

/// What one worker used in an interval, and how it fared.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WorkerPart {
    pub(crate) worker: u32,
    /// Processor time.
    pub(crate) usage: ThreadUsage,
    /// The length of its part of the interval.
    pub(crate) wall: Nanos,
    /// Bytes that waited unread at its end.
    pub(crate) receive_queue_bytes: u64,
    /// How late it was, where that is known.
    pub(crate) lag: Option<Lag>,
}

/// Intervals that are not whole yet.
#[derive(Debug)]
pub(crate) struct Timeline {
    open: BTreeMap<(Phase, u64), Interval>,
    /// The latest interval of each worker that is still at work.
    passed: BTreeMap<u32, (Phase, u64)>,
    awaited: BTreeSet<u32>,
}

impl Timeline {
    pub(crate) fn new(workers: u32) -> Self {
        Self { open: BTreeMap::new(), passed: BTreeMap::new(), awaited: (0..workers).collect() }
    }

    /// Takes a report in; gives the intervals that are whole now, in order.
    pub(crate) fn add(&mut self, report: Report) -> Vec<Interval> {
        if report.phase == Phase::Over {
            return self.forget(report.worker);
        }
        let key = (report.phase, report.number);
        self.passed.insert(report.worker, key);
        let interval = self.open.entry(key).or_insert_with(|| Interval::empty(&report));
        interval.merge(report);
        self.whole()
    }

    /// Waits for one more worker from now on.
    pub(crate) fn welcome(&mut self, worker: u32) {
        self.awaited.insert(worker);
    }

    /// Whether a worker has not closed its books.
    pub(crate) fn awaits(&self, worker: u32) -> bool {
        self.awaited.contains(&worker)
    }

    /// Waits no longer for a worker that is lost; gives the intervals that are whole without it.
    pub(crate) fn forget(&mut self, worker: u32) -> Vec<Interval> {
        self.awaited.remove(&worker);
        self.passed.remove(&worker);
        self.whole()
    }

    /// Whether every worker has closed its books.
    pub(crate) fn is_over(&self) -> bool {
        self.awaited.is_empty()
    }

    fn whole(&mut self) -> Vec<Interval> {
        // Every worker still at work must have handed in this interval or a later one.
        let mut reached = (Phase::Over, u64::MAX);
        for worker in &self.awaited {
            match self.passed.get(worker) {
                Some(key) => reached = reached.min(*key),
                None => return Vec::new(),
            }
        }
        let later = match reached {
            (Phase::Over, _) => BTreeMap::new(),
            (phase, number) => self.open.split_off(&(phase, number + 1)),
        };
        std::mem::replace(&mut self.open, later).into_values().collect()
    }
}

impl Interval {
    fn empty(report: &Report) -> Self {
        Self {
            phase: report.phase,
            from: report.from,
            to: report.to,
            tallies: Books::default(),
            in_flight: 0,
            connections: Connections::default(),
            workers: Vec::new(),
        }
    }

    fn merge(&mut self, report: Report) {
        self.from = self.from.min(report.from);
        self.to = self.to.max(report.to);
        self.in_flight += report.in_flight;
        self.connections.merge(&report.connections);
        let place = self.workers.partition_point(|part| part.worker < report.worker);
        let part = WorkerPart {
            worker: report.worker,
            usage: report.usage,
            wall: report.to.saturating_sub(report.from),
            receive_queue_bytes: report.receive_queue_bytes,
            lag: lag_of(&report),
        };
        self.workers.insert(place, part);
        if self.tallies.is_empty() {
            self.tallies = report.tallies;
        } else {
            self.tallies.add(&report.tallies);
        }
    }

    /// Whether nothing happened in it and nothing was awaited: not worth a line.
    pub(crate) fn is_empty(&self) -> bool {
        self.to <= self.from
            || (self.phase == Phase::Drain
                && self.in_flight == 0
                && self.tallies.iter().all(|tally| tally.ended() == 0))
    }
}

/// How late a worker was. One that keeps a timer is told by it where too few requests do.
fn lag_of(report: &Report) -> Option<Lag> {
    if report.waits.count() == 0 && report.lateness.count() == 0 {
        return lag_of_arrivals(&report.tallies);
    }
    let response = Metric::quantile_of_all(ended(report).map(|one| &one.response), 0.99);
    // Where nothing ended, whoever waits has waited for the whole interval.
    let response = response.unwrap_or(report.to.saturating_sub(report.from));
    let has_told = report.waits.count() >= TELLING_LAGS || report.lateness.count() == 0;
    let p99 = if has_told {
        report.waits.quantile(0.99)
    } else {
        // A timer rings some twenty times an interval: beyond its p90 there are two.
        report.lateness.quantile(0.9)
    };
    Some(Lag { p99, response })
}

fn lag_of_arrivals(tallies: &[Tally]) -> Option<Lag> {
    // Where nothing could be late, the response time excuses nothing.
    let both = || {
        let all = tallies.iter().flat_map(|tally| [&tally.accepted, &tally.failed]);
        all.filter(|latencies| latencies.lag.count() > 0)
    };
    let p99 = Metric::quantile_of_all(both().map(|latencies| &latencies.lag), 0.99)?;
    let response = Metric::quantile_of_all(both().map(|latencies| &latencies.response), 0.99)?;
    Some(Lag { p99, response })
}

fn ended(report: &Report) -> impl Iterator<Item = &Latencies> {
    report.tallies.iter().flat_map(|tally| [&tally.accepted, &tally.failed])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(worker: u32, phase: Phase, number: u64) -> Report {
        Report {
            worker,
            phase,
            number,
            from: number * 100,
            to: number * 100 + 100,
            tallies: vec![Tally { ok: 1, ..Tally::default() }].into(),
            in_flight: 1,
            connections: Connections { open: 3, ..Connections::default() },
            usage: ThreadUsage::default(),
            receive_queue_bytes: 0,
            samples: Vec::new(),
            rows: Vec::new(),
            window: None,
            texts: Vec::new(),
            was_heard: true,
            passed_over: Vec::new(),
            failure: None,
            starved: 0,
            lateness: Metric::default(),
            waits: Metric::default(),
        }
    }

    #[test]
    fn an_interval_is_whole_when_every_worker_has_passed_it() {
        let mut timeline = Timeline::new(2);
        assert!(timeline.add(report(0, Phase::Measure, 0)).is_empty());
        assert!(timeline.add(report(0, Phase::Measure, 1)).is_empty());
        let whole = timeline.add(report(1, Phase::Measure, 0));
        assert_eq!((whole.len(), whole[0].tallies[0].ok, whole[0].connections.open), (1, 2, 6));
        assert_eq!(timeline.add(report(1, Phase::Drain, 0)).len(), 1);
    }

    #[test]
    fn what_workers_used_is_in_the_order_of_their_numbers_whoever_reports_first() {
        let mut timeline = Timeline::new(3);
        for worker in [2, 0, 1] {
            let usage = ThreadUsage { cpu_ns: u64::from(worker), run_queue_ns: 0 };
            timeline.add(Report { usage, ..report(worker, Phase::Measure, 0) });
        }
        timeline.forget(1);
        timeline.add(report(2, Phase::Measure, 1));
        let intervals = timeline.add(report(0, Phase::Measure, 1));
        let numbers = |interval: &Interval| -> Vec<_> {
            interval.workers.iter().map(|part| (part.worker, part.usage.cpu_ns)).collect()
        };
        assert_eq!(numbers(&intervals[0]), [(0, 0), (2, 0)]);
    }

    #[test]
    fn a_worker_that_is_lost_leaves_what_it_reported_and_holds_nobody_up() {
        let mut timeline = Timeline::new(2);
        timeline.add(report(0, Phase::Measure, 0));
        timeline.add(report(1, Phase::Measure, 0));
        assert!(timeline.add(report(0, Phase::Measure, 1)).is_empty());
        assert!(timeline.awaits(1));
        let whole = timeline.forget(1);
        assert_eq!((whole.len(), whole[0].tallies[0].ok), (1, 1));
        assert!(!timeline.awaits(1) && !timeline.is_over());
        timeline.forget(0);
        assert!(timeline.is_over());
    }

    #[test]
    fn a_worker_that_is_done_is_not_waited_for() {
        let mut timeline = Timeline::new(2);
        timeline.add(report(0, Phase::Measure, 0));
        assert!(timeline.add(report(0, Phase::Over, 0)).is_empty());
        assert_eq!(timeline.add(report(1, Phase::Measure, 0)).len(), 1);
        assert_eq!(timeline.add(report(1, Phase::Drain, 0)).len(), 1);
        timeline.add(report(1, Phase::Over, 0));
        assert!(timeline.is_over());
    }
}
