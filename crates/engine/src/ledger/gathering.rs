//! The sheets of all processes as one: intervals as they become whole, and at the end the level.

use net::{Address, Nanos};
use serde_json::Value;

use super::crowd::Crowd;
use super::sheet::{Cost, Page, Sheet};
use super::titles::{MOST_ROWS, Title, Titles};
use crate::books::Books;
use crate::front::Front;
use crate::health::{Health, JUDGED_NS};
use crate::level::interval_json;
use crate::machine::Machine;
use crate::messages::{
    LOCUST_LOST, LOCUST_NO_REPORT, Message, NO_ANSWER_IN_TEST, NO_END_IN_TEST, SHARED_NAMES,
    STREAMS_ABANDONED, STREAMS_UNREPORTED, Template,
};
use crate::prepare::OTHERS;
use crate::report::{Connections, Phase, Report};
use crate::summary::{Generator, Summary, WorkerTime};
use crate::tally::Tally;
use crate::timeline::{Interval, Timeline};

const SECOND_NS: Nanos = 1_000_000_000;

/// A process that is silent for so many seconds holds up no interval. What it says later of a second
/// that was handed out makes a further interval of that second.
const PATIENCE_S: u64 = 10;

/// Intervals hold two tallies: of exchanges, and of events, which are in no total.
const EXCHANGES: usize = 0;

/// What all processes of one test did.
pub struct Gathering {
    titles: Titles,
    processes: Vec<Process>,
    timeline: Timeline,
    summary: Summary,
    crowd: Crowd,
    machine: Machine,
    /// When the window begins at the earliest, on the wall clock.
    start: Nanos,
    begun_s: u64,
    newest_s: u64,
    /// Processor time of this process when the test began, if it does not fire itself.
    front_cpu: Option<Nanos>,
}

/// What is known of a process.
#[derive(Debug)]
struct Process {
    name: String,
    has_reported: bool,
    is_over: bool,
    latest_s: u64,
    window_ns: Nanos,
    warmup_ns: Nanos,
    connections: Connections,
    cost: Cost,
    unreported: u64,
}

impl Gathering {
    /// Begins with a test at `wall`, on the wall clock; `warmup_ns` is how long the warm-up will
    /// last, about, and `is_apart` says that this process fires nothing itself.
    #[must_use]
    pub fn new(addresses: &[Address], wall: Nanos, warmup_ns: Nanos, is_apart: bool) -> Self {
        Self {
            titles: Titles::default(),
            processes: Vec::new(),
            timeline: Timeline::new(0),
            summary: empty_summary(),
            crowd: Crowd::default(),
            machine: Machine::new(addresses),
            start: wall.saturating_add(warmup_ns),
            begun_s: wall / SECOND_NS,
            newest_s: wall / SECOND_NS,
            front_cpu: is_apart.then(net::process_cpu_ns),
        }
    }

    /// Waits for a process that will report.
    pub fn expect(&mut self, process: &str) {
        self.number(process);
    }

    /// Takes a sheet of a process; gives the intervals that are whole now.
    pub fn take(&mut self, process: &str, sheet: Sheet) -> Vec<Value> {
        if sheet.is_empty() {
            return Vec::new();
        }
        let worker = self.number(process);
        let rows: Vec<usize> = sheet.titles.iter().map(|title| self.place(title)).collect();
        let known = &mut self.processes[worker as usize];
        known.cost = sheet.cost;
        known.unreported = sheet.unreported;
        known.has_reported = true;
        let mut intervals = Vec::new();
        for page in sheet.pages {
            intervals.extend(self.take_page(worker, &rows, page));
        }
        intervals.extend(self.pass_silent_ones());
        intervals.iter_mut().map(|interval| self.hand_out(interval)).collect()
    }

    /// Notes how many users there are at `wall`, on the wall clock; the most of them are the
    /// level's concurrency.
    pub fn users(&mut self, wall: Nanos, now: u64) {
        self.summary.users = self.summary.users.max(now);
        self.summary.concurrency = self.summary.users;
        self.crowd.note(wall, now);
    }

    /// Ends the test: gives the intervals that are left. A process that was not heard to its end has
    /// lost what it did after its last report.
    pub fn end(&mut self, is_interrupted: bool) -> Vec<Value> {
        let mut intervals = Vec::new();
        for worker in 0..self.processes.len() as u32 {
            intervals.extend(self.timeline.forget(worker));
        }
        let intervals = intervals.iter_mut().map(|interval| self.hand_out(interval)).collect();
        self.summary.interrupted = is_interrupted;
        self.sum_up();
        intervals
    }

    /// The whole as numbers that add up; complete after the end.
    #[must_use]
    pub fn summary(&self) -> &Summary {
        &self.summary
    }

    fn number(&mut self, process: &str) -> u32 {
        let known = self.processes.iter().position(|known| known.name == process);
        // A process is a program of its own: there are never so many.
        let worker = known.unwrap_or(self.processes.len()) as u32;
        if known.is_none() {
            self.processes.push(Process::new(process, self.begun_s));
            self.summary.workers.push(WorkerTime::default());
        }
        self.timeline.welcome(worker);
        worker
    }

    /// The row of a title in the sums.
    fn place(&mut self, title: &Title) -> usize {
        let row = self.titles.row("", &title.name, title.is_event) as usize;
        let summary = &mut self.summary;
        while summary.names.len() <= row {
            let Title { name, is_event } = self.titles.list()[summary.names.len()].clone();
            summary.names.push(name);
            summary.events.push(is_event);
            summary.measured.push(Tally::default());
            summary.warmup.push(Tally::default());
        }
        row
    }

    fn take_page(&mut self, worker: u32, rows: &[usize], page: Page) -> Vec<Interval> {
        let mut report = page.report;
        report.worker = worker;
        let is_window = matches!(report.phase, Phase::Measure | Phase::Drain);
        let side = if is_window { &mut self.summary.measured } else { &mut self.summary.warmup };
        let mut sums = vec![Tally::default(); 2];
        for (row, tally) in page.rows.iter().zip(&*report.tallies) {
            let row = rows[*row as usize];
            side[row].merge(tally);
            sums[usize::from(self.summary.events[row])].merge(tally);
        }
        report.tallies = sums.into();
        self.summary.samples.append(&mut report.samples);
        self.note(&report);
        self.timeline.add(report)
    }

    fn note(&mut self, report: &Report) {
        let process = &mut self.processes[report.worker as usize];
        process.is_over = report.phase == Phase::Over;
        process.latest_s = process.latest_s.max(report.number);
        process.connections = report.connections;
        self.newest_s = self.newest_s.max(report.number);
        let length = report.to.saturating_sub(report.from);
        match report.phase {
            Phase::Warmup => process.warmup_ns += length,
            Phase::Measure => self.summary.workers[report.worker as usize].add(report, length),
            Phase::Drain | Phase::Over => {}
        }
        if let Some((start, end)) = report.window.filter(|_| report.phase == Phase::Measure) {
            process.window_ns = end.saturating_sub(start);
            let earliest = &mut self.summary.window_start;
            *earliest = if *earliest == 0 { start } else { start.min(*earliest) };
        }
    }

    /// Whoever has been silent for too long is not waited for, until it speaks again.
    fn pass_silent_ones(&mut self) -> Vec<Interval> {
        let since = self.newest_s.saturating_sub(PATIENCE_S);
        let numbers = 0..self.processes.len() as u32;
        let silent = numbers.filter(|worker| self.processes[*worker as usize].latest_s < since);
        let silent: Vec<_> = silent.collect();
        silent.into_iter().flat_map(|worker| self.timeline.forget(worker)).collect()
    }

    fn hand_out(&mut self, interval: &mut Interval) -> Value {
        let vitals = self.machine.vitals(interval, true);
        if interval.phase == Phase::Measure && interval.to - interval.from >= JUDGED_NS {
            self.summary.health.see(&vitals);
        }
        interval.tallies = Books::from(interval.tallies[..=EXCHANGES].to_vec());
        let known = self.summary.window_start;
        let mut line =
            interval_json(interval, &vitals, if known == 0 { self.start } else { known });
        line["concurrency"] = self.crowd.most(interval.from, interval.to).into();
        line
    }

    fn sum_up(&mut self) {
        self.sort_rows();
        let summary = &mut self.summary;
        let reported: Vec<_> = self.processes.iter().filter(|one| one.has_reported).collect();
        summary.window_ns = reported.iter().map(|one| one.window_ns).max().unwrap_or(0);
        summary.warmup_ns = reported.iter().map(|one| one.warmup_ns).max().unwrap_or(0);
        for process in &reported {
            summary.connections.merge(&process.connections);
            summary.generator.cpu_ns += process.cost.cpu_ns;
            summary.generator.max_rss_bytes += process.cost.max_rss_bytes;
        }
        // Users dial as they please; nobody said how many connections there should be.
        summary.connections.asked = summary.connections.open_max;
        summary.generator.processes = reported.len() as u32;
        summary.generator.descriptor_limit = net::raise_descriptor_limit();
        if let Some(cpu_at_start) = self.front_cpu {
            summary.generator.cpu_ns += net::process_cpu_ns().saturating_sub(cpu_at_start);
            summary.generator.max_rss_bytes += net::max_rss_bytes();
        }
        for process in self.processes.iter().filter(|process| !process.is_over) {
            summary.lost += 1;
            summary.warn(process.loss_warning());
        }
        let unreported = self.processes.iter().map(|process| process.unreported).sum();
        let total = summary.total();
        summary.in_flight = in_flight(&total);
        let left = total.stream.as_ref().map_or(0, |stream| stream.counted.left);
        for (n, template) in [(left, STREAMS_ABANDONED), (unreported, STREAMS_UNREPORTED)] {
            if n > 0 {
                summary.warn(template.message([("n", n.into())]));
            }
        }
        if self.titles.is_pooled() {
            let values = [("most", MOST_ROWS.into()), ("row", OTHERS.into())];
            summary.warn(SHARED_NAMES.message(values));
        }
        summary.failure = emptiness(summary).map(Template::plain);
        summary.keep_first_samples();
        let mut reported = self.processes.iter().map(|process| process.has_reported);
        summary.workers.retain(|_| reported.next().unwrap_or(false));
    }

    /// Rows in the order of their names, in whatever order processes met them.
    fn sort_rows(&mut self) {
        let titles = self.titles.list();
        let mut order: Vec<usize> = (0..titles.len()).collect();
        order.sort_by_key(|row| &titles[*row]);
        let summary = &mut self.summary;
        let sorted = |tallies: &mut Vec<Tally>| {
            let take = |row: &usize| std::mem::take(&mut tallies[*row]);
            *tallies = order.iter().map(take).collect();
        };
        [&mut summary.measured, &mut summary.warmup].into_iter().for_each(sorted);
        summary.names = order.iter().map(|row| titles[*row].name.clone()).collect();
        summary.events = order.iter().map(|row| titles[*row].is_event).collect();
    }
}

impl Process {
    fn new(name: &str, now_s: u64) -> Self {
        Self {
            name: name.to_owned(),
            has_reported: false,
            is_over: false,
            latest_s: now_s,
            window_ns: 0,
            warmup_ns: 0,
            connections: Connections::default(),
            cost: Cost::default(),
            unreported: 0,
        }
    }

    fn loss_warning(&self) -> Message {
        let template = if self.has_reported { LOCUST_LOST } else { LOCUST_NO_REPORT };
        template.message([("process", self.name.as_str().into())])
    }
}

impl WorkerTime {
    fn add(&mut self, report: &Report, length: Nanos) {
        self.cpu_ns += report.usage.cpu_ns;
        self.run_queue_ns += report.usage.run_queue_ns;
        self.wall_ns += length;
        self.intervals += 1;
    }
}

fn in_flight(tally: &Tally) -> u64 {
    tally.attempted.saturating_sub(tally.ended())
}

/// Why a test says nothing about its target.
fn emptiness(summary: &Summary) -> Option<Template> {
    let all = || summary.measured.iter().chain(&summary.warmup);
    if all().all(|tally| tally.ended() == 0) {
        return Some(NO_END_IN_TEST);
    }
    let was_heard =
        all().any(|tally| tally.ok > 0 || !tally.statuses.is_empty() || tally.bytes_in > 0);
    (!was_heard).then_some(NO_ANSWER_IN_TEST)
}

fn empty_summary() -> Summary {
    Summary {
        names: Vec::new(),
        measured: Vec::new(),
        warmup: Vec::new(),
        concurrency: 0,
        users: 0,
        rate: None,
        window_ns: 0,
        warmup_ns: 0,
        in_flight: 0,
        starved: 0,
        connections: Connections::default(),
        samples: Vec::new(),
        window_start: 0,
        workers: Vec::new(),
        health: Health::default(),
        generator: Generator::default(),
        lost: 0,
        warnings: Vec::new(),
        is_keepalive: true,
        failure: None,
        interrupted: false,
        front: Front::Locust,
        events: Vec::new(),
    }
}
