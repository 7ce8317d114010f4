//! The sum of the reports of all processes: intervals when they are complete, then the level.

use net::{Address, Nanos};
use serde_json::Value;

use super::process_report::{IntervalTally, ProcessReport, ProcessUsage};
use super::row_names::{MAX_ROWS, RowName, RowNames};
use super::user_counts::UserCounts;
use engine::messages::{
    LOCUST_LOST, LOCUST_NO_REPORT, Message, MessageTemplate, NO_ANSWER_IN_TEST, NO_END_IN_TEST,
    SHARED_NAMES, STREAMS_ABANDONED, STREAMS_UNREPORTED,
};
use engine::{
    Aggregate, Front, JudgedInterval, OTHERS, Phase, PooledTallies, Report, Summary, Tally,
    interval_json,
};

const SECOND_NS: Nanos = 1_000_000_000;

/// Intervals do not wait for a process without a report in this time. If a report comes later, there
/// is another interval for the same second.
const SILENCE_LIMIT_S: u64 = 10;

/// Intervals hold two tallies: of exchanges, and of events, which are in no total.
const EXCHANGES: usize = 0;

/// The sum of the counts of all processes of one test.
pub struct TallyAggregate {
    row_names: RowNames,
    processes: Vec<TestProcess>,
    sum: Aggregate,
    user_counts: UserCounts,
    /// The expected start of the window, on the wall clock.
    start: Nanos,
    started_s: u64,
    newest_s: u64,
    /// Processor time of this process when the test began, if it is a master.
    own_cpu_at_start: Option<Nanos>,
}

/// The state of one process.
#[derive(Debug)]
struct TestProcess {
    name: String,
    has_reported: bool,
    is_over: bool,
    latest_s: u64,
    warmup_ns: Nanos,
    process_usage: ProcessUsage,
    unreported_streams: u64,
}

impl TallyAggregate {
    /// Creates the aggregate of a test that begins at `wall`, on the wall clock. `warmup_ns` is the
    /// expected length of the warm-up; a master sends no load itself.
    #[must_use]
    pub fn new(addresses: &[Address], wall: Nanos, warmup_ns: Nanos, is_master: bool) -> Self {
        let summary = Summary { is_keepalive: true, front: Front::Locust, ..Summary::default() };
        Self {
            row_names: RowNames::default(),
            processes: Vec::new(),
            sum: Aggregate::new(summary, addresses, true),
            user_counts: UserCounts::default(),
            start: wall.saturating_add(warmup_ns),
            started_s: wall / SECOND_NS,
            newest_s: wall / SECOND_NS,
            own_cpu_at_start: is_master.then(net::process_cpu_ns),
        }
    }

    /// Expects reports of a process.
    pub fn expect(&mut self, process: &str) {
        self.worker_number(process);
    }

    /// Adds a report of a process, and returns the completed intervals.
    pub fn add_report(&mut self, process: &str, report: ProcessReport) -> Vec<Value> {
        if report.is_empty() {
            return Vec::new();
        }
        let worker = self.worker_number(process);
        let rows: Vec<usize> =
            report.row_names.iter().map(|row_name| self.row_of(row_name)).collect();
        let known = &mut self.processes[worker as usize];
        known.process_usage = report.process_usage;
        known.unreported_streams = report.unreported_streams;
        known.has_reported = true;
        let mut intervals = Vec::new();
        for interval in report.intervals {
            intervals.extend(self.add_interval(worker, &rows, interval));
        }
        intervals.extend(self.skip_silent_processes());
        intervals.iter_mut().map(|interval| self.interval_line(interval)).collect()
    }

    /// Sets the number of users at `wall`, on the wall clock; the maximum is the concurrency of the
    /// level.
    pub fn set_users(&mut self, wall: Nanos, now: u64) {
        self.sum.summary.users = self.sum.summary.users.max(now);
        self.sum.summary.concurrency = self.sum.summary.users;
        self.user_counts.record(wall, now);
    }

    /// Ends the test, and returns the remaining intervals. The requests of a process after its last
    /// report are lost.
    pub fn end(&mut self, is_interrupted: bool) -> Vec<Value> {
        let mut intervals = Vec::new();
        for worker in 0..self.processes.len() as u32 {
            intervals.extend(self.sum.lose(worker));
        }
        let intervals = intervals.iter_mut().map(|interval| self.interval_line(interval)).collect();
        self.sum.summary.interrupted = is_interrupted;
        self.complete_summary();
        intervals
    }

    /// Returns the summary of the test; complete after the end.
    #[must_use]
    pub fn summary(&self) -> &Summary {
        &self.sum.summary
    }

    fn worker_number(&mut self, process: &str) -> u32 {
        let known = self.processes.iter().position(|known| known.name == process);
        // The number of processes is small.
        let worker = known.unwrap_or(self.processes.len()) as u32;
        if known.is_none() {
            self.processes.push(TestProcess::new(process, self.started_s));
        }
        self.sum.expect(worker);
        worker
    }

    /// Returns the row of the aggregate with a name.
    fn row_of(&mut self, row_name: &RowName) -> usize {
        let row = self.row_names.row("", &row_name.name, row_name.is_event) as usize;
        let summary = &mut self.sum.summary;
        while summary.names.len() <= row {
            let RowName { name, is_event } = self.row_names.list()[summary.names.len()].clone();
            summary.names.push(name);
            summary.events.push(is_event);
            summary.measured.push(Tally::default());
            summary.warmup.push(Tally::default());
        }
        row
    }

    fn add_interval(
        &mut self,
        worker: u32,
        rows: &[usize],
        interval: IntervalTally,
    ) -> Vec<JudgedInterval> {
        let mut report = interval.report;
        report.worker = worker;
        let mut sums = vec![Tally::default(); 2];
        for (row, tally) in interval.rows.iter().zip(&*report.tallies) {
            let row = rows[*row as usize];
            self.sum.rows(report.phase)[row].merge(tally);
            sums[usize::from(self.sum.summary.events[row])].merge(tally);
        }
        report.tallies = sums.into();
        self.update_process(&report);
        self.sum.add(report)
    }

    fn update_process(&mut self, report: &Report) {
        let process = &mut self.processes[report.worker as usize];
        process.is_over = report.phase == Phase::Over;
        process.latest_s = process.latest_s.max(report.number);
        self.newest_s = self.newest_s.max(report.number);
        if report.phase == Phase::Warmup {
            process.warmup_ns += report.to.saturating_sub(report.from);
        }
    }

    /// Completes intervals without the processes that have not reported for too long.
    fn skip_silent_processes(&mut self) -> Vec<JudgedInterval> {
        let since = self.newest_s.saturating_sub(SILENCE_LIMIT_S);
        let numbers = 0..self.processes.len() as u32;
        let silent = numbers.filter(|worker| self.processes[*worker as usize].latest_s < since);
        let silent: Vec<_> = silent.collect();
        silent.into_iter().flat_map(|worker| self.sum.lose(worker)).collect()
    }

    fn interval_line(&self, judged: &mut JudgedInterval) -> Value {
        let interval = &mut judged.interval;
        interval.tallies = PooledTallies::from(interval.tallies[..=EXCHANGES].to_vec());
        let concurrency = self.user_counts.max_between(interval.from, interval.to);
        let known = self.sum.summary.window_start;
        let mut line = interval_json(judged, if known == 0 { self.start } else { known });
        line["concurrency"] = concurrency.into();
        line
    }

    fn complete_summary(&mut self) {
        self.sort_rows();
        let summary = &mut self.sum.summary;
        let reported: Vec<_> = self.processes.iter().filter(|one| one.has_reported).collect();
        summary.warmup_ns = reported.iter().map(|one| one.warmup_ns).max().unwrap_or(0);
        for process in &reported {
            summary.generator.cpu_ns += process.process_usage.cpu_ns;
            summary.generator.max_rss_bytes += process.process_usage.max_rss_bytes;
        }
        summary.generator.processes = reported.len() as u32;
        summary.generator.descriptor_limit = net::raise_descriptor_limit();
        if let Some(cpu_at_start) = self.own_cpu_at_start {
            summary.generator.cpu_ns += net::process_cpu_ns().saturating_sub(cpu_at_start);
            summary.generator.max_rss_bytes += net::max_rss_bytes();
        }
        for process in self.processes.iter().filter(|process| !process.is_over) {
            summary.lost += 1;
            summary.warn(process.loss_warning());
        }
        let unreported_streams =
            self.processes.iter().map(|process| process.unreported_streams).sum();
        let total = summary.total();
        summary.in_flight = in_flight(&total);
        let left = total.stream.as_ref().map_or(0, |stream| stream.counted.abandoned);
        for (n, template) in [(left, STREAMS_ABANDONED), (unreported_streams, STREAMS_UNREPORTED)] {
            if n > 0 {
                summary.warn(template.message([("n", n.into())]));
            }
        }
        if self.row_names.has_shared_row() {
            let values = [("most", MAX_ROWS.into()), ("row", OTHERS.into())];
            summary.warn(SHARED_NAMES.message(values));
        }
        summary.failure = failure_of(summary).map(MessageTemplate::plain);
        summary.keep_first_samples();
        let mut reported = self.processes.iter().map(|process| process.has_reported);
        summary.workers.retain(|_| reported.next().unwrap_or(false));
    }

    /// Sorts the rows by their names.
    fn sort_rows(&mut self) {
        let row_names = self.row_names.list();
        let mut order: Vec<usize> = (0..row_names.len()).collect();
        order.sort_by_key(|row| &row_names[*row]);
        let summary = &mut self.sum.summary;
        let sorted = |tallies: &mut Vec<Tally>| {
            let take = |row: &usize| std::mem::take(&mut tallies[*row]);
            *tallies = order.iter().map(take).collect();
        };
        [&mut summary.measured, &mut summary.warmup].into_iter().for_each(sorted);
        summary.names = order.iter().map(|row| row_names[*row].name.clone()).collect();
        summary.events = order.iter().map(|row| row_names[*row].is_event).collect();
    }
}

impl TestProcess {
    fn new(name: &str, now_s: u64) -> Self {
        Self {
            name: name.to_owned(),
            has_reported: false,
            is_over: false,
            latest_s: now_s,
            warmup_ns: 0,
            process_usage: ProcessUsage::default(),
            unreported_streams: 0,
        }
    }

    fn loss_warning(&self) -> Message {
        let template = if self.has_reported { LOCUST_LOST } else { LOCUST_NO_REPORT };
        template.message([("process", self.name.as_str().into())])
    }
}

fn in_flight(tally: &Tally) -> u64 {
    tally.attempted.saturating_sub(tally.ended())
}

/// Returns the reason why a test says nothing about its target.
fn failure_of(summary: &Summary) -> Option<MessageTemplate> {
    let all = || summary.measured.iter().chain(&summary.warmup);
    if all().all(|tally| tally.ended() == 0) {
        return Some(NO_END_IN_TEST);
    }
    let has_received =
        all().any(|tally| tally.ok > 0 || !tally.statuses.is_empty() || tally.bytes_in > 0);
    (!has_received).then_some(NO_ANSWER_IN_TEST)
}
