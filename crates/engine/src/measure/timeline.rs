//! The timeline of all workers: an interval is complete when every worker has reported it or a later one.

use std::collections::{BTreeMap, BTreeSet};

use client::Multiplexing;
use net::{Nanos, ThreadUsage};

use super::health::Lag;
use super::metric::Metric;
use super::report::{Connections, Phase, Report};
use super::tally::{Latencies, Tally};
use super::tally_pool::PooledTallies;

/// Of fewer lags, the p99 would only be the maximum.
const MIN_LAGS: u64 = 100;

/// One interval of all workers.
#[derive(Debug)]
pub struct Interval {
    pub(crate) phase: Phase,
    pub from: Nanos,
    pub to: Nanos,
    pub tallies: PooledTallies,
    pub(crate) in_flight: u64,
    /// All open attempts at its end; none if one of the workers does not know its own.
    pub(crate) requests_open: Option<u64>,
    pub(crate) connections: Connections,
    pub(crate) multiplexing: Option<Multiplexing>,
    /// The workers that took part, in ascending order of their numbers.
    pub(crate) workers: Vec<WorkerPart>,
}

/// The usage and the lag of one worker in an interval.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WorkerPart {
    pub(crate) worker: u32,
    /// Processor time.
    pub(crate) usage: ThreadUsage,
    /// The length of its part of the interval.
    pub(crate) wall: Nanos,
    /// Unread bytes at its end.
    pub(crate) receive_queue_bytes: u64,
    /// Its lag, if that is known.
    pub(crate) lag: Option<Lag>,
    /// Its counts.
    pub(crate) counts: PartCounts,
}

/// The counts of a worker, or of a node, as those of a whole level or interval.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PartCounts {
    /// Requests that were started.
    pub attempted: u64,
    /// Requests that succeeded.
    pub ok: u64,
    /// Those that succeeded inside the window, if there is one.
    pub ok_inside: u64,
}

impl PartCounts {
    pub(crate) fn of(tallies: &[Tally]) -> Self {
        tallies.iter().fold(Self::default(), |sum, tally| {
            sum.plus(Self { attempted: tally.attempted, ok: tally.ok, ok_inside: tally.ok_inside })
        })
    }

    pub(crate) fn plus(self, other: Self) -> Self {
        Self {
            attempted: self.attempted + other.attempted,
            ok: self.ok + other.ok,
            ok_inside: self.ok_inside + other.ok_inside,
        }
    }
}

/// The intervals that are not complete.
#[derive(Debug)]
pub(crate) struct Timeline {
    open: BTreeMap<(Phase, u64), Interval>,
    /// The latest interval of each worker that has not ended.
    reached: BTreeMap<u32, (Phase, u64)>,
    expected: BTreeSet<u32>,
}

impl Timeline {
    pub(crate) fn new(workers: u32) -> Self {
        Self { open: BTreeMap::new(), reached: BTreeMap::new(), expected: (0..workers).collect() }
    }

    /// Adds a report; returns the intervals that are complete now, in order.
    pub(crate) fn add(&mut self, report: Report) -> Vec<Interval> {
        if report.phase == Phase::Over {
            return self.remove(report.worker);
        }
        let key = (report.phase, report.number);
        self.reached.insert(report.worker, key);
        let interval = self.open.entry(key).or_insert_with(|| Interval::empty(&report));
        interval.merge(report);
        self.take_completed()
    }

    /// Expects reports of one more worker.
    pub(crate) fn expect(&mut self, worker: u32) {
        self.expected.insert(worker);
    }

    /// Returns whether a worker has not ended.
    pub(crate) fn expects(&self, worker: u32) -> bool {
        self.expected.contains(&worker)
    }

    /// Expects no more reports of a worker; returns the intervals that are complete without it.
    pub(crate) fn remove(&mut self, worker: u32) -> Vec<Interval> {
        self.expected.remove(&worker);
        self.reached.remove(&worker);
        self.take_completed()
    }

    /// Returns whether every worker has ended.
    pub(crate) fn is_over(&self) -> bool {
        self.expected.is_empty()
    }

    fn take_completed(&mut self) -> Vec<Interval> {
        // Every worker that has not ended must have reported this interval or a later one.
        let mut limit = (Phase::Over, u64::MAX);
        for worker in &self.expected {
            match self.reached.get(worker) {
                Some(key) => limit = limit.min(*key),
                None => return Vec::new(),
            }
        }
        let later = match limit {
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
            tallies: PooledTallies::default(),
            in_flight: 0,
            requests_open: Some(0),
            connections: Connections::default(),
            multiplexing: None,
            workers: Vec::new(),
        }
    }

    fn merge(&mut self, report: Report) {
        self.from = self.from.min(report.from);
        self.to = self.to.max(report.to);
        self.in_flight += report.in_flight;
        let open = self.requests_open.zip(report.requests_open);
        self.requests_open = open.map(|(sum, more)| sum + more);
        self.connections.merge(&report.connections);
        add_multiplexing(&mut self.multiplexing, report.multiplexing);
        let place = self.workers.partition_point(|part| part.worker < report.worker);
        let part = WorkerPart {
            worker: report.worker,
            usage: report.usage,
            wall: report.to.saturating_sub(report.from),
            receive_queue_bytes: report.receive_queue_bytes,
            lag: lag_of(&report),
            counts: PartCounts::of(&report.tallies),
        };
        self.workers.insert(place, part);
        if self.tallies.is_empty() {
            self.tallies = report.tallies;
        } else {
            self.tallies.add(&report.tallies);
        }
    }

    /// Returns whether it has no length, or nothing happened in it.
    pub(crate) fn is_empty(&self) -> bool {
        self.to <= self.from
            || (self.phase == Phase::Drain
                && (self.in_flight, self.connections.awaited) == (0, 0)
                && self.tallies.iter().all(|tally| tally.ended() == 0))
    }
}

/// Adds the counts of some connections to a sum.
pub(crate) fn add_multiplexing(sum: &mut Option<Multiplexing>, more: Option<Multiplexing>) {
    if let Some(more) = more {
        sum.get_or_insert_default().merge(&more);
    }
}

/// Returns the lag of a worker: of its requests, or of its timer if there are too few requests.
fn lag_of(report: &Report) -> Option<Lag> {
    if report.absence > 0 {
        // Whatever was due in it waited for the worker.
        return Some(Lag { p99: report.absence, response: 0 });
    }
    if report.waits.count() == 0 && report.lateness.count() == 0 {
        return lag_of_arrivals(&report.tallies);
    }
    let response = Metric::quantile_of_all(ended(report).map(|one| &one.response), 0.99);
    // If nothing ended, a waiting request has waited for the whole interval.
    let response = response.unwrap_or(report.to.saturating_sub(report.from));
    let has_enough_waits = report.waits.count() >= MIN_LAGS || report.lateness.count() == 0;
    let p99 = if has_enough_waits {
        report.waits.quantile(0.99)
    } else {
        // A timer fires about twenty times in an interval: two lags are above its p90.
        report.lateness.quantile(0.9)
    };
    Some(Lag { p99, response })
}

fn lag_of_arrivals(tallies: &[Tally]) -> Option<Lag> {
    // Only the response times of requests that could be late are an excuse.
    let both = || {
        let all = tallies.iter().flat_map(|tally| [&tally.accepted, &tally.failed]);
        all.filter(|latencies| latencies.lag.count() > 0)
    };
    let p99 = Metric::quantile_of_all(both().map(|latencies| &latencies.lag), 0.99)?;
    // Requests that were cancelled have none.
    let response = Metric::quantile_of_all(both().map(|latencies| &latencies.response), 0.99);
    Some(Lag { p99, response: response.unwrap_or(0) })
}

fn ended(report: &Report) -> impl Iterator<Item = &Latencies> {
    report.tallies.iter().flat_map(|tally| [&tally.accepted, &tally.failed])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(worker: u32, phase: Phase, number: u64) -> Report {
        Report {
            tallies: vec![Tally { ok: 1, ..Tally::default() }].into(),
            in_flight: 1,
            connections: Connections { open: 3, ..Connections::default() },
            has_received: true,
            ..Report::empty(worker, phase, number)
        }
    }

    #[test]
    fn a_worker_without_a_turn_was_late_for_all_that_was_due() {
        let absent = Report { absence: 40, ..report(0, Phase::Measure, 3) };
        assert_eq!(lag_of(&absent), Some(Lag { p99: 40, response: 0 }));
        assert_eq!(lag_of(&report(0, Phase::Measure, 3)), None);
    }

    #[test]
    fn requests_that_were_cancelled_have_a_lag_without_an_excuse() {
        let mut tally = Tally::default();
        tally.failed.lag.record(5_000_000);
        let late = Report { tallies: vec![tally].into(), ..report(0, Phase::Measure, 0) };
        let lag = lag_of(&late).unwrap();
        assert!((4_990_000..5_010_000).contains(&lag.p99) && lag.response == 0, "{lag:?}");
    }

    #[test]
    fn an_interval_is_whole_when_every_worker_has_passed_it() {
        let mut timeline = Timeline::new(2);
        assert!(timeline.add(report(0, Phase::Measure, 0)).is_empty());
        assert!(timeline.add(report(0, Phase::Measure, 1)).is_empty());
        let completed = timeline.add(report(1, Phase::Measure, 0));
        assert_eq!(
            (completed.len(), completed[0].tallies[0].ok, completed[0].connections.open),
            (1, 2, 6)
        );
        assert_eq!(timeline.add(report(1, Phase::Drain, 0)).len(), 1);
    }

    #[test]
    fn usage_is_in_the_order_of_worker_numbers_not_of_reports() {
        let mut timeline = Timeline::new(3);
        for worker in [2, 0, 1] {
            let usage = ThreadUsage { cpu_ns: u64::from(worker), run_queue_ns: 0 };
            timeline.add(Report { usage, ..report(worker, Phase::Measure, 0) });
        }
        timeline.remove(1);
        timeline.add(report(2, Phase::Measure, 1));
        let intervals = timeline.add(report(0, Phase::Measure, 1));
        let numbers = |interval: &Interval| -> Vec<_> {
            interval.workers.iter().map(|part| (part.worker, part.usage.cpu_ns)).collect()
        };
        assert_eq!(numbers(&intervals[0]), [(0, 0), (2, 0)]);
    }

    #[test]
    fn reports_of_a_lost_worker_are_kept_and_no_interval_waits_for_it() {
        let mut timeline = Timeline::new(2);
        timeline.add(report(0, Phase::Measure, 0));
        timeline.add(report(1, Phase::Measure, 0));
        assert!(timeline.add(report(0, Phase::Measure, 1)).is_empty());
        assert!(timeline.expects(1));
        let completed = timeline.remove(1);
        assert_eq!((completed.len(), completed[0].tallies[0].ok), (1, 1));
        assert!(!timeline.expects(1) && !timeline.is_over());
        timeline.remove(0);
        assert!(timeline.is_over());
    }

    #[test]
    fn a_drain_in_which_nothing_ends_counts_while_servers_are_waited_for() {
        let drained = |awaited| {
            let mut report = report(0, Phase::Drain, 0);
            (report.tallies, report.in_flight) = (PooledTallies::default(), 0);
            report.connections.awaited = awaited;
            Timeline::new(1).add(report).remove(0).is_empty()
        };
        assert_eq!((drained(0), drained(1)), (true, false));
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
