//! The counts of one test in one process, by seconds of the wall clock, so that those of several
//! processes can be added.

use client::{Class, Outcome, Reason, Stamps, UNSET};
use net::{Nanos, ThreadMeter, ThreadUsage};

use super::process_report::{IntervalTally, ProcessUsage};
use super::request_record::RequestRecord;
use super::row_tallies::RowTallies;
use super::run_queue::RunQueue;
use engine::{Connections, Metric, Phase, Report, Sample, Tally, Times};

const SECOND_NS: Nanos = 1_000_000_000;

/// The maximum number of samples of each error class.
const SAMPLES: u8 = 5;

/// The counts of one test.
#[derive(Debug)]
pub(super) struct TestTally {
    /// The wall clock minus the monotonic clock when the test began.
    offset: Nanos,
    /// When the window began; none in the warm-up.
    window: Option<Nanos>,
    has_warmup: bool,
    measured: RowTallies,
    warmup: RowTallies,
    lateness: Metric,
    waits: Metric,
    pub(super) run_queue: RunQueue,
    samples: Vec<Sample>,
    sample_counts: [u8; Class::ALL.len()],
    /// The current interval.
    from: Nanos,
    to: Nanos,
    /// Closed intervals that were not reported; the first `metered` of them have their usage.
    intervals: Vec<IntervalTally>,
    metered: usize,
    meter: ThreadMeter,
    usage: ThreadUsage,
    read_at: Nanos,
    /// The usage of the current interval until the last reading.
    unassigned: ThreadUsage,
    cpu_at_start: Nanos,
    /// Row and intended send time of requests that were reported before their end.
    pub(super) open_requests: Vec<(u32, Nanos)>,
    /// Broken streams that Locust has not reported.
    pub(super) unreported_streams: u64,
    pub(super) is_over: bool,
}

impl TestTally {
    /// Begins a test at `now`, which is `wall` on the wall clock, in the thread that sends the load.
    pub(super) fn new(now: Nanos, wall: Nanos, has_warmup: bool) -> Self {
        let meter = ThreadMeter::new();
        let offset = wall.saturating_sub(now);
        Self {
            offset,
            window: (!has_warmup).then_some(now),
            has_warmup,
            measured: RowTallies::default(),
            warmup: RowTallies::default(),
            lateness: Metric::default(),
            waits: Metric::default(),
            run_queue: RunQueue::default(),
            samples: Vec::new(),
            sample_counts: [0; Class::ALL.len()],
            from: now,
            to: next_second(now, offset),
            intervals: Vec::new(),
            metered: 0,
            usage: meter.read(),
            meter,
            read_at: now,
            unassigned: ThreadUsage::default(),
            cpu_at_start: net::process_cpu_ns(),
            open_requests: Vec::new(),
            unreported_streams: 0,
            is_over: false,
        }
    }

    /// Ends the warm-up; does nothing without one, or the second time.
    pub(super) fn open_window(&mut self, now: Nanos) {
        if self.window.is_some() {
            return;
        }
        self.close_elapsed_intervals(now);
        self.close_interval(now);
        self.assign_usage(now);
        self.window = Some(now);
        self.cpu_at_start = net::process_cpu_ns();
    }

    pub(super) fn record_request(&mut self, row: u32, name: &str, record: &RequestRecord<'_>) {
        let stamps = &record.stamps;
        self.close_elapsed_at(stamps.last_byte);
        self.add_sample(name, record);
        if let Some(lag) = record.lag_ns {
            self.waits
                .record(self.run_queue.without_waits(stamps.last_byte, stamps.last_byte + lag));
        }
        let is_ok = record.failure.is_none();
        let is_inside = self.window.is_some();
        let tokens = record.stream.and_then(|(seen, _)| seen.usage.output).filter(|_| is_ok);
        let tally = self.row_tallies(stamps.intended).tally(row);
        tally.planned += 1;
        tally.attempted += 1;
        tally.bytes_in += record.bytes_in;
        tally.bytes_out += record.bytes_out;
        record_end(tally, record);
        record_stream(tally, record);
        if !is_inside {
            return;
        }
        // A response in the window is throughput of the window, even if its request was sent before.
        let tally = self.measured.tally(row);
        tally.ok_inside += u64::from(is_ok);
        if let Some((stream, tokens)) = tally.stream.as_mut().zip(tokens) {
            stream.counted.tokens_inside = stream.counted.tokens_inside.saturating_add(tokens);
        }
        if self.is_measured(stamps.intended) {
            self.measured.tally(row).attempted_inside += 1;
        }
    }

    /// Counts a request that was interrupted before its end.
    pub(super) fn abandon(&mut self, row: u32, intended: Nanos) {
        let is_measured = self.is_measured(intended);
        let tally = self.row_tallies(intended).tally(row);
        tally.planned += 1;
        tally.attempted += 1;
        tally.attempted_inside += u64::from(is_measured);
    }

    pub(super) fn remove_open_request(&mut self, row: u32, intended: Nanos) {
        let position = self.open_requests.iter().position(|open| *open == (row, intended));
        if let Some(at) = position {
            self.open_requests.swap_remove(at);
        }
    }

    pub(super) fn read_run_queue(&mut self, now: Nanos) {
        if !self.run_queue.is_fresh(now) {
            self.run_queue.add_reading(now, self.meter.read().run_queue_ns);
        }
    }

    pub(super) fn record_timer_lag(&mut self, now: Nanos, nanos: Nanos) {
        self.close_elapsed_at(now);
        self.lateness.record(self.run_queue.without_waits(now.saturating_sub(nanos), now));
    }

    /// Closes the intervals of elapsed seconds.
    pub(super) fn close_elapsed_intervals(&mut self, now: Nanos) {
        if self.close_elapsed(now) {
            self.assign_usage(now);
        }
    }

    /// Closes the last interval; later requests are not counted.
    pub(super) fn end(&mut self, now: Nanos) {
        self.close_elapsed_intervals(now);
        for (row, intended) in std::mem::take(&mut self.open_requests) {
            self.abandon(row, intended);
        }
        self.close_interval(now);
        self.assign_usage(now);
        let phase = Phase::Over;
        let (rows, tallies) = self.warmup.take();
        let report = self.report(phase, now, tallies);
        self.intervals.push(IntervalTally { rows, report });
        self.is_over = true;
    }

    pub(super) fn take_intervals(&mut self) -> Vec<IntervalTally> {
        self.metered = 0;
        std::mem::take(&mut self.intervals)
    }

    pub(super) fn process_usage(&self) -> ProcessUsage {
        let since = net::process_cpu_ns().saturating_sub(self.cpu_at_start);
        let cpu_ns = if self.window.is_some() { since } else { 0 };
        ProcessUsage { cpu_ns, max_rss_bytes: net::max_rss_bytes() }
    }

    /// Returns whether a request belongs to the window: its intended send time decides.
    fn is_measured(&self, intended: Nanos) -> bool {
        self.window.is_some_and(|start| !self.has_warmup || intended >= start)
    }

    fn row_tallies(&mut self, intended: Nanos) -> &mut RowTallies {
        if self.is_measured(intended) { &mut self.measured } else { &mut self.warmup }
    }

    fn close_elapsed_at(&mut self, at: Nanos) {
        if at >= self.to && at != UNSET {
            self.close_elapsed_intervals(at);
        }
    }

    fn close_elapsed(&mut self, now: Nanos) -> bool {
        let is_due = now >= self.to;
        while now >= self.to {
            self.close_interval(self.to);
        }
        is_due
    }

    /// Closes the current interval, and begins the next one.
    fn close_interval(&mut self, to: Nanos) {
        let (phase, row_tallies) = match self.window {
            Some(_) => (Phase::Measure, &mut self.measured),
            None => (Phase::Warmup, &mut self.warmup),
        };
        let (rows, tallies) = row_tallies.take();
        let report = self.report(phase, to, tallies);
        self.intervals.push(IntervalTally { rows, report });
        self.from = to;
        self.to = next_second(to, self.offset);
    }

    fn report(&mut self, phase: Phase, to: Nanos, tallies: Vec<Tally>) -> Report {
        let wall = |at: Nanos| at.saturating_add(self.offset);
        Report {
            worker: 0,
            phase,
            number: wall(self.from) / SECOND_NS,
            from: wall(self.from),
            to: wall(to),
            tallies: tallies.into(),
            in_flight: 0,
            requests_open: None,
            connections: Connections::default(),
            multiplexing: None,
            websocket: None,
            usage: ThreadUsage::default(),
            receive_queue_bytes: 0,
            samples: std::mem::take(&mut self.samples),
            rows: Vec::new(),
            texts: Vec::new(),
            has_received: false,
            unreachable_addresses: Vec::new(),
            failure: None,
            starved: 0,
            absence: 0,
            window: self.window.map(|start| (wall(start), wall(to))),
            lateness: std::mem::take(&mut self.lateness),
            waits: std::mem::take(&mut self.waits),
        }
    }

    /// Distributes the usage since the last reading over the intervals since then, by their length.
    fn assign_usage(&mut self, now: Nanos) {
        let usage = self.meter.read();
        let spent = ThreadUsage {
            cpu_ns: usage.cpu_ns.saturating_sub(self.usage.cpu_ns),
            run_queue_ns: usage.run_queue_ns.saturating_sub(self.usage.run_queue_ns),
        };
        let (since, all) = (self.read_at, now.saturating_sub(self.read_at));
        (self.usage, self.read_at) = (usage, now);
        for interval in &mut self.intervals[self.metered..] {
            let report = &mut interval.report;
            let length =
                report.to.saturating_sub(report.from.max(since.saturating_add(self.offset)));
            report.usage = add_share(std::mem::take(&mut self.unassigned), spent, length, all);
        }
        self.metered = self.intervals.len();
        let open = now.saturating_sub(self.from.max(since));
        self.unassigned = add_share(std::mem::take(&mut self.unassigned), spent, open, all);
    }

    /// Adds a sample of a failure, unless its class has enough.
    fn add_sample(&mut self, name: &str, record: &RequestRecord<'_>) {
        let Some(reason) = record.failure else { return };
        let seen = &mut self.sample_counts[reason.class() as usize];
        if *seen >= SAMPLES {
            return;
        }
        *seen += 1;
        self.samples.push(Sample {
            name: name.to_owned(),
            class: reason.class().name().to_owned(),
            reason: match record.status {
                Some(status) if reason == Reason::Status => format!("status.{status}"),
                _ => reason.name().to_owned(),
            },
            detail: if record.detail.is_empty() { reason.text() } else { record.detail }.into(),
            at: record.stamps.last_byte.saturating_add(self.offset),
            status: record.status,
            head: String::new(),
            body: String::new(),
        });
    }
}

fn record_end(tally: &mut Tally, record: &RequestRecord<'_>) {
    let RequestRecord { response_ns, status, failure, .. } = record;
    // If the client closed the stream, its end is unknown.
    let last_byte = if record.is_abandoned { UNSET } else { record.stamps.last_byte };
    let stamps = &Stamps { last_byte, ..record.stamps };
    let latencies = if failure.is_none() {
        tally.accept_reported(stamps, *status, *response_ns);
        &mut tally.accepted
    } else {
        let outcome = Outcome { failure: *failure, status: *status, reusable: false };
        tally.reject_reported(stamps, &outcome, *response_ns);
        &mut tally.failed
    };
    if let Some(lag) = record.lag_ns {
        latencies.lag.record(lag);
    }
}

fn record_stream(tally: &mut Tally, record: &RequestRecord<'_>) {
    let Some((seen, gaps)) = record.stream else { return };
    let stream = tally.stream.get_or_insert_default();
    stream.gaps(gaps.iter().copied());
    stream.end(seen);
    stream.counted.abandoned += u64::from(record.is_abandoned);
    if record.failure.is_none() {
        let stamps = &record.stamps;
        let (from, is_from_intended) = (stamps.sent, false);
        let (first_byte, last_byte) = (stamps.first_byte, stamps.last_byte);
        let times = Times { from, is_from_intended, first_byte, last_byte };
        if record.is_abandoned {
            stream.accept_begun(seen, times);
        } else {
            stream.accept(seen, times);
        }
    }
}

/// Adds the part `length / all` of `spent`.
fn add_share(
    unassigned: ThreadUsage,
    spent: ThreadUsage,
    length: Nanos,
    all: Nanos,
) -> ThreadUsage {
    let part = |spent: Nanos| {
        let part = u128::from(spent) * u128::from(length) / u128::from(all.max(1));
        u64::try_from(part).unwrap_or(u64::MAX)
    };
    ThreadUsage {
        cpu_ns: unassigned.cpu_ns + part(spent.cpu_ns),
        run_queue_ns: unassigned.run_queue_ns + part(spent.run_queue_ns),
    }
}

fn next_second(at: Nanos, offset: Nanos) -> Nanos {
    let wall = at.saturating_add(offset);
    at.saturating_add(SECOND_NS - wall % SECOND_NS)
}
