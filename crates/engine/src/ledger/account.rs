//! The books of one test in one process: a page a second, on the seconds of the wall clock, since
//! pages of several processes are laid on each other.

use client::{Class, Outcome, Reason, Stamps, UNSET};
use net::{Nanos, ThreadMeter, ThreadUsage};

use super::booking::Booking;
use super::queue::Queue;
use super::sheet::{Cost, Page, Standing};
use super::side::Side;
use crate::metric::Metric;
use crate::report::{Phase, Report, Sample};
use crate::stream::Times;
use crate::tally::Tally;

const SECOND_NS: Nanos = 1_000_000_000;

/// Samples kept of each class.
const SAMPLES: u8 = 5;

/// The books of one test.
#[derive(Debug)]
pub(super) struct Account {
    /// From the monotonic clock to the wall's, as it was when the test began.
    offset: Nanos,
    /// When the window began; none in the warm-up.
    window: Option<Nanos>,
    has_warmup: bool,
    measured: Side,
    warmup: Side,
    lateness: Metric,
    waits: Metric,
    pub(super) queue: Queue,
    samples: Vec<Sample>,
    sampled: [u8; Class::ALL.len()],
    /// The open page.
    from: Nanos,
    to: Nanos,
    pub(super) standing: Standing,
    /// Closed, and not handed up; the first of them know their usage.
    pages: Vec<Page>,
    known: usize,
    meter: ThreadMeter,
    usage: ThreadUsage,
    read_at: Nanos,
    /// Used in the open page until the last reading.
    owed: ThreadUsage,
    cpu_at_start: Nanos,
    /// Row and start of what was reported and is not over.
    pub(super) awaited: Vec<(u32, Nanos)>,
    /// Streams that broke of which nothing was reported.
    pub(super) unreported: u64,
    pub(super) is_over: bool,
}

impl Account {
    /// Opens the books at `now`, which is `wall` on the wall clock, in the thread that fires.
    pub(super) fn new(now: Nanos, wall: Nanos, has_warmup: bool) -> Self {
        let meter = ThreadMeter::new();
        let offset = wall.saturating_sub(now);
        Self {
            offset,
            window: (!has_warmup).then_some(now),
            has_warmup,
            measured: Side::default(),
            warmup: Side::default(),
            lateness: Metric::default(),
            waits: Metric::default(),
            queue: Queue::default(),
            samples: Vec::new(),
            sampled: [0; Class::ALL.len()],
            from: now,
            to: next_second(now, offset),
            standing: Standing::default(),
            pages: Vec::new(),
            known: 0,
            usage: meter.read(),
            meter,
            read_at: now,
            owed: ThreadUsage::default(),
            cpu_at_start: net::process_cpu_ns(),
            awaited: Vec::new(),
            unreported: 0,
            is_over: false,
        }
    }

    /// Ends the warm-up; without one, or again, nothing happens.
    pub(super) fn open_window(&mut self, now: Nanos) {
        if self.window.is_some() {
            return;
        }
        self.turn(now);
        self.close_page(now);
        self.share_usage(now);
        self.window = Some(now);
        self.cpu_at_start = net::process_cpu_ns();
    }

    pub(super) fn book(&mut self, row: u32, name: &str, booking: &Booking<'_>) {
        let stamps = &booking.stamps;
        self.turn_if_due(stamps.last_byte);
        self.keep_sample(name, booking);
        if let Some(lag) = booking.lag_ns {
            self.waits.record(self.queue.without(stamps.last_byte, stamps.last_byte + lag));
        }
        let is_ok = booking.failure.is_none();
        let is_inside = self.window.is_some();
        let tokens = booking.stream.and_then(|(seen, _)| seen.usage.output).filter(|_| is_ok);
        let tally = self.side(stamps.intended).tally(row);
        tally.planned += 1;
        tally.attempted += 1;
        tally.bytes_in += booking.bytes_in;
        tally.bytes_out += booking.bytes_out;
        book_end(tally, booking);
        book_stream(tally, booking);
        if !is_inside {
            return;
        }
        // What was asked for in the warm-up and is answered now is the target's throughput now.
        let tally = self.measured.tally(row);
        tally.ok_inside += u64::from(is_ok);
        if let Some((stream, tokens)) = tally.stream.as_mut().zip(tokens) {
            stream.counted.tokens_inside = stream.counted.tokens_inside.saturating_add(tokens);
        }
        if self.is_measured(stamps.intended) {
            self.measured.tally(row).attempted_inside += 1;
        }
    }

    /// Counts a request that was given up before it ended.
    pub(super) fn abandon(&mut self, row: u32, intended: Nanos) {
        let is_measured = self.is_measured(intended);
        let tally = self.side(intended).tally(row);
        tally.planned += 1;
        tally.attempted += 1;
        tally.attempted_inside += u64::from(is_measured);
    }

    pub(super) fn settle(&mut self, row: u32, intended: Nanos) {
        let found = self.awaited.iter().position(|awaited| *awaited == (row, intended));
        if let Some(at) = found {
            self.awaited.swap_remove(at);
        }
    }

    pub(super) fn look_at_queue(&mut self, now: Nanos) {
        if !self.queue.is_fresh(now) {
            self.queue.note(now, self.meter.read().run_queue_ns);
        }
    }

    pub(super) fn late(&mut self, now: Nanos, nanos: Nanos) {
        self.turn_if_due(now);
        self.lateness.record(self.queue.without(now.saturating_sub(nanos), now));
    }

    /// Closes the pages of the seconds that have passed.
    pub(super) fn turn(&mut self, now: Nanos) {
        if self.turn_pages(now) {
            self.share_usage(now);
        }
    }

    /// Closes the last page; what is booked later is of no test.
    pub(super) fn close(&mut self, now: Nanos) {
        self.turn(now);
        for (row, intended) in std::mem::take(&mut self.awaited) {
            self.abandon(row, intended);
        }
        self.close_page(now);
        self.share_usage(now);
        let phase = Phase::Over;
        let (rows, tallies) = self.warmup.take();
        let report = self.report(phase, now, tallies);
        self.pages.push(Page { rows, report });
        self.is_over = true;
    }

    pub(super) fn take_pages(&mut self) -> Vec<Page> {
        self.known = 0;
        std::mem::take(&mut self.pages)
    }

    pub(super) fn cost(&self) -> Cost {
        let since = net::process_cpu_ns().saturating_sub(self.cpu_at_start);
        let cpu_ns = if self.window.is_some() { since } else { 0 };
        Cost { cpu_ns, max_rss_bytes: net::max_rss_bytes() }
    }

    /// What was asked for before the window belongs to the warm-up, whenever it ends.
    fn is_measured(&self, intended: Nanos) -> bool {
        self.window.is_some_and(|start| !self.has_warmup || intended >= start)
    }

    fn side(&mut self, intended: Nanos) -> &mut Side {
        if self.is_measured(intended) { &mut self.measured } else { &mut self.warmup }
    }

    fn turn_if_due(&mut self, at: Nanos) {
        if at >= self.to && at != UNSET {
            self.turn(at);
        }
    }

    fn turn_pages(&mut self, now: Nanos) -> bool {
        let is_due = now >= self.to;
        while now >= self.to {
            self.close_page(self.to);
        }
        is_due
    }

    /// Opens a new page: what happens from now on is not of that interval.
    fn close_page(&mut self, to: Nanos) {
        let (phase, side) = match self.window {
            Some(_) => (Phase::Measure, &mut self.measured),
            None => (Phase::Warmup, &mut self.warmup),
        };
        let (rows, tallies) = side.take();
        let report = self.report(phase, to, tallies);
        self.pages.push(Page { rows, report });
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
            in_flight: self.standing.in_flight,
            connections: self.standing.connections,
            usage: ThreadUsage::default(),
            receive_queue_bytes: 0,
            samples: std::mem::take(&mut self.samples),
            rows: Vec::new(),
            texts: Vec::new(),
            was_heard: false,
            passed_over: Vec::new(),
            failure: None,
            starved: 0,
            window: self.window.map(|start| (wall(start), wall(to))),
            lateness: std::mem::take(&mut self.lateness),
            waits: std::mem::take(&mut self.waits),
        }
    }

    /// Shares out what was used since the last reading: whoever turns several pages late used it
    /// in all of them, and in the one that is open.
    fn share_usage(&mut self, now: Nanos) {
        let usage = self.meter.read();
        let spent = ThreadUsage {
            cpu_ns: usage.cpu_ns.saturating_sub(self.usage.cpu_ns),
            run_queue_ns: usage.run_queue_ns.saturating_sub(self.usage.run_queue_ns),
        };
        let (since, all) = (self.read_at, now.saturating_sub(self.read_at));
        (self.usage, self.read_at) = (usage, now);
        for page in &mut self.pages[self.known..] {
            let report = &mut page.report;
            let length =
                report.to.saturating_sub(report.from.max(since.saturating_add(self.offset)));
            report.usage = share(std::mem::take(&mut self.owed), spent, length, all);
        }
        self.known = self.pages.len();
        let open = now.saturating_sub(self.from.max(since));
        self.owed = share(std::mem::take(&mut self.owed), spent, open, all);
    }

    /// Keeps what is told of a failure, if its class has too little yet.
    fn keep_sample(&mut self, name: &str, booking: &Booking<'_>) {
        let Some(reason) = booking.failure else { return };
        let seen = &mut self.sampled[reason.class() as usize];
        if *seen >= SAMPLES {
            return;
        }
        *seen += 1;
        self.samples.push(Sample {
            name: name.to_owned(),
            class: reason.class().name().to_owned(),
            reason: match booking.status {
                Some(status) if reason == Reason::Status => format!("status.{status}"),
                _ => reason.name().to_owned(),
            },
            detail: if booking.detail.is_empty() { reason.text() } else { booking.detail }.into(),
            at: booking.stamps.last_byte.saturating_add(self.offset),
            status: booking.status,
            head: String::new(),
            body: String::new(),
        });
    }
}

fn book_end(tally: &mut Tally, booking: &Booking<'_>) {
    let Booking { response_ns, status, failure, .. } = booking;
    // When the client hung up is no time of the server's.
    let last_byte = if booking.is_left { UNSET } else { booking.stamps.last_byte };
    let stamps = &Stamps { last_byte, ..booking.stamps };
    let latencies = if failure.is_none() {
        tally.accept_as_told(stamps, *status, *response_ns);
        &mut tally.accepted
    } else {
        let outcome = Outcome { failure: *failure, status: *status, reusable: false };
        tally.reject_as_told(stamps, &outcome, *response_ns);
        &mut tally.failed
    };
    if let Some(lag) = booking.lag_ns {
        latencies.lag.record(lag);
    }
}

fn book_stream(tally: &mut Tally, booking: &Booking<'_>) {
    let Some((seen, gaps)) = booking.stream else { return };
    let stream = tally.stream.get_or_insert_default();
    stream.gaps(gaps.iter().copied());
    stream.end(seen);
    stream.counted.left += u64::from(booking.is_left);
    if booking.failure.is_none() {
        let stamps = &booking.stamps;
        let (from, is_from_intended) = (stamps.sent, false);
        let (first_byte, last_byte) = (stamps.first_byte, stamps.last_byte);
        let times = Times { from, is_from_intended, first_byte, last_byte };
        if booking.is_left {
            stream.accept_begun(seen, times);
        } else {
            stream.accept(seen, times);
        }
    }
}

/// What was owed, and the part of what was spent that lies in `length` of `all`.
fn share(owed: ThreadUsage, spent: ThreadUsage, length: Nanos, all: Nanos) -> ThreadUsage {
    let part = |spent: Nanos| {
        let part = u128::from(spent) * u128::from(length) / u128::from(all.max(1));
        u64::try_from(part).unwrap_or(u64::MAX)
    };
    ThreadUsage {
        cpu_ns: owed.cpu_ns + part(spent.cpu_ns),
        run_queue_ns: owed.run_queue_ns + part(spent.run_queue_ns),
    }
}

fn next_second(at: Nanos, offset: Nanos) -> Nanos {
    let wall = at.saturating_add(offset);
    at.saturating_add(SECOND_NS - wall % SECOND_NS)
}
