//! The recorder: the tallies of the current interval, samples, log rows, and the reports of intervals.

use std::sync::mpsc::Sender;

use client::{Class, Exchange, GrpcCall, Multiplexing, Outcome, Reason, Stamps};
use net::{Address, Nanos, ThreadUsage};
use wire::ResponseHead;

use super::interval::IntervalClock;
use super::slot::Slot;
use super::window::Window;
use crate::measure::goodput::AttemptTimes;
use crate::measure::metric::Metric;
use crate::measure::report::{
    Connections, ExchangeRow, Phase, Report, Sample, StreamRow, StreamText,
};
use crate::measure::tally::Tally;
use crate::measure::tally_pool::{PooledTallies, TallyPool};
use crate::measure::websocket::WebSocketTally;
use crate::messages::Message;
use crate::prepare::{Prepared, PreparedRequest, stream_observer as stream};

/// Samples kept of each class.
const SAMPLES: u8 = 5;

/// The counters of one worker.
pub(super) struct Recorder {
    worker: u32,
    /// By request, the number of its row.
    rows_of: Vec<u16>,
    /// The tallies of the current interval of the window, by row.
    measured: Vec<Tally>,
    /// The tallies of the warm-up, by row.
    warmup: Vec<Tally>,
    samples: Vec<Sample>,
    sampled: [u8; Class::ALL.len()],
    /// Rows of the log, if there is one.
    rows: Option<Vec<ExchangeRow>>,
    /// Texts of streams, if they are kept.
    texts: Vec<StreamText>,
    /// The tallies that were reported and returned.
    tally_pool: TallyPool,
    interval: IntervalClock,
    /// Reports of intervals that have ended, not sent yet.
    closed: Vec<Report>,
    usage: ThreadUsage,
    /// Attempts of the window that have not ended.
    pub(super) in_flight: u64,
    /// The time of the latest end of an attempt.
    pub(super) last_end: Nanos,
    /// Users without a turn in the whole window.
    pub(super) starved: u64,
    /// The reason why the worker cannot go on, if the machine failed.
    pub(super) failure: Option<Message>,
}

/// The end of an attempt.
pub(super) struct AttemptEnd {
    pub(super) request: u16,
    pub(super) measured: bool,
    /// Whether its scheduling lag counts.
    pub(super) has_lag: bool,
    pub(super) stamps: Stamps,
    pub(super) outcome: Outcome,
    /// The row of its stream in the log.
    pub(super) stream: Option<StreamRow>,
}

/// What a report says of a worker beside its tallies.
pub(super) struct WorkerState {
    /// Attempts that are open, also those of the warm-up.
    pub(super) requests_open: u64,
    pub(super) connections: Connections,
    pub(super) multiplexing: Option<Multiplexing>,
    pub(super) websocket: Option<Box<WebSocketTally>>,
    /// Whether any byte of a response was received.
    pub(super) has_received: bool,
    /// Addresses that never worked while another did.
    pub(super) unreachable_addresses: Vec<String>,
}

impl Recorder {
    /// Creates the recorder of a worker, whose thread has used so much at `run_start`.
    pub(super) fn new(
        worker: u32,
        prepared: &Prepared,
        has_log: bool,
        interval: IntervalClock,
        usage: ThreadUsage,
    ) -> Self {
        let tally =
            |streams: &bool| Tally { stream: streams.then(Box::default), ..Tally::default() };
        let tallies: Vec<_> = prepared.streams().iter().map(tally).collect();
        Self {
            worker,
            rows_of: prepared.requests.iter().map(|request| request.row).collect(),
            measured: tallies.clone(),
            warmup: tallies,
            samples: Vec::new(),
            sampled: [0; Class::ALL.len()],
            rows: has_log.then(Vec::new),
            texts: Vec::new(),
            tally_pool: TallyPool::default(),
            last_end: interval.start(),
            interval,
            closed: Vec::new(),
            usage,
            in_flight: 0,
            starved: 0,
            failure: None,
        }
    }

    /// Returns the tally of a request.
    #[inline]
    pub(super) fn tally(&mut self, request: u16, measured: bool) -> &mut Tally {
        let side = if measured { &mut self.measured } else { &mut self.warmup };
        &mut side[usize::from(self.rows_of[usize::from(request)])]
    }

    /// Records the end of an attempt.
    pub(super) fn end(&mut self, end: &AttemptEnd, window: &Window) {
        let AttemptEnd { request, measured, has_lag, stamps, outcome, stream } = end;
        let (failure, status) = (outcome.failure, outcome.status);
        if let Some(rows) = &mut self.rows {
            let (request, measured) = ((*request).into(), *measured);
            rows.push(ExchangeRow {
                request,
                measured,
                stamps: *stamps,
                failure,
                status,
                stream: *stream,
            });
        }
        let tally = self.tally(*request, *measured);
        let latencies = match (failure, status) {
            (None, Some(status)) => {
                tally.accept(stamps, status);
                &mut tally.accepted
            }
            _ => {
                tally.reject(stamps, outcome);
                &mut tally.failed
            }
        };
        if *has_lag {
            latencies.lag.record(stamps.lag());
        }
        if failure.is_none() && window.contains(stamps.last_byte) {
            self.tally(*request, true).ok_inside += 1;
        } else if outcome.is_cancelled() && window.contains(stamps.last_byte) {
            self.tally(*request, true).cancelled_inside += 1;
        }
        self.in_flight -= u64::from(*measured);
        self.last_end = stamps.last_byte;
    }

    /// Records the gaps between texts that the latest reads of a stream have shown.
    pub(super) fn stream_gaps(&mut self, slot: &mut Slot) {
        if let Some(call) = slot.exchange.grpc_call.as_mut() {
            let times = &mut self.tally(slot.request, slot.measured).accepted;
            call.take_round_trips().for_each(|time| times.message.record(time));
        }
        let Some(reader) = slot.exchange.stream_reader.as_mut() else { return };
        if let Some(tally) = &mut self.tally(slot.request, slot.measured).stream {
            tally.gaps(reader.take_gaps());
            reader.chunks.iter_mut().for_each(|chunks| tally.chunk_gaps(chunks));
        }
    }

    /// Records a whole stream, and whether the response met its limits.
    pub(super) fn response(
        &mut self,
        slot: &Slot,
        request: &PreparedRequest,
        outcome: &Outcome,
        window: &Window,
    ) {
        if request.stream.is_none() && request.limits.is_empty() {
            return;
        }
        let (exchange, is_ok) = (&slot.exchange, outcome.failure.is_none());
        let is_inside = is_ok && window.contains(exchange.stamps.last_byte);
        let observed = stream::observation(exchange);
        let from = request.stream.as_ref().map_or(exchange.stamps.sent, |s| s.times(exchange).from);
        let side = if slot.measured { &mut self.measured } else { &mut self.warmup };
        let tally = &mut side[usize::from(request.row)];
        let times = AttemptTimes {
            stamps: &exchange.stamps,
            stream: observed.map(|s| (s, from)),
            longest_message: exchange.grpc_call.as_deref().and_then(GrpcCall::longest_round_trip),
        };
        let is_cancelled = outcome.is_cancelled();
        let is_good = !is_cancelled && tally.goodput.judge(&request.limits, is_ok, &times);
        if let Some(((observer, observed), tally)) =
            request.stream.as_ref().zip(observed).zip(tally.stream.as_mut())
        {
            tally.end(observed);
            tally.counted.abandoned += u64::from(is_cancelled);
            if (is_cancelled || is_ok) && slot.counts_first_texts {
                tally.accept_begun(observed, observer.times(exchange));
            }
            if is_ok {
                observer.accept(exchange, tally);
                tally.accept_planned(observed, slot.planned_tokens);
                if slot.measured || is_inside {
                    let when = (slot.measured, is_inside);
                    self.texts.extend(observer.text(exchange, request.row, when));
                }
            }
        }
        if is_inside {
            // As with successful responses per second: what ended in the window counts, whenever it
            // began.
            let tokens = observed.and_then(|observed| observed.usage.output).unwrap_or(0);
            let tally = self.tally(slot.request, true);
            tally.goodput.good_inside += u64::from(is_good);
            if let Some(tally) = &mut tally.stream {
                tally.counted.tokens_inside = tally.counted.tokens_inside.saturating_add(tokens);
            }
        }
    }

    /// Returns the row of a stream in the log, if there is a log.
    pub(super) fn stream_row(&self, exchange: &Exchange) -> Option<StreamRow> {
        self.rows.as_ref().and_then(|_| stream::observation(exchange)).map(StreamRow::of)
    }

    /// Keeps the beginning of a failed response, if its class has too few yet.
    pub(super) fn sample(
        &mut self,
        outcome: &Outcome,
        exchange: Option<&Exchange>,
        buffer: &[u8],
        at: Nanos,
        to: Option<&Address>,
    ) {
        let reason = outcome.failure.unwrap_or(Reason::Status);
        let seen = &mut self.sampled[reason.class() as usize];
        if *seen >= SAMPLES {
            return;
        }
        *seen += 1;
        let (head, body) = exchange.map(|exchange| exchange.sample(buffer)).unwrap_or_default();
        let mut sample = Sample::new(reason, outcome.status, head.as_deref(), &body, at, to);
        let reader = exchange.and_then(|exchange| exchange.stream_reader.as_ref());
        if let Some(event) =
            reader.map(|reader| reader.faulty_event()).filter(|event| !event.is_empty())
        {
            // Of a long stream, the event that broke it says more than its beginning.
            sample.body = String::from_utf8_lossy(event).into_owned();
        }
        self.samples.push(sample);
    }

    /// Returns when the current interval ends.
    pub(super) fn interval_end(&self) -> Nanos {
        self.interval.end()
    }

    /// Starts the intervals of a new phase.
    pub(super) fn start_intervals(&mut self, from: Nanos) {
        self.interval = IntervalClock::new(self.interval.length(), from);
    }

    /// Closes the intervals that have ended at `now`, but not the last one of the phase: that ends with
    /// the phase.
    pub(super) fn close_intervals_until(
        &mut self,
        now: Nanos,
        window: &Window,
        mut state: impl FnMut() -> WorkerState,
    ) {
        let limit = match window.phase {
            Phase::Warmup => window.start,
            Phase::Measure => window.end,
            Phase::Drain | Phase::Over => Nanos::MAX,
        };
        let mut is_first = true;
        while self.interval.end() <= now && self.interval.end() < limit {
            let from = self.interval.start();
            self.close_interval(window.phase, self.interval.end(), window, state());
            self.interval.advance();
            // It did not notice the end of the one before until now.
            if !std::mem::replace(&mut is_first, false)
                && let Some(report) = self.closed.last_mut()
            {
                report.absence = now - from;
            }
        }
    }

    /// Closes the current interval: what happens from now on belongs to the next.
    pub(super) fn close_interval(
        &mut self,
        phase: Phase,
        to: Nanos,
        window: &Window,
        state: WorkerState,
    ) {
        let is_known = window.start < Nanos::MAX && window.end < Nanos::MAX;
        let tallies = self.take_tallies(matches!(phase, Phase::Measure | Phase::Drain));
        self.closed.push(Report {
            worker: self.worker,
            phase,
            number: self.interval.number(),
            from: self.interval.start(),
            to,
            tallies,
            in_flight: self.in_flight,
            requests_open: Some(state.requests_open),
            connections: state.connections,
            multiplexing: state.multiplexing,
            websocket: state.websocket,
            usage: ThreadUsage::default(),
            receive_queue_bytes: 0,
            samples: std::mem::take(&mut self.samples),
            rows: self.rows.as_mut().map(std::mem::take).unwrap_or_default(),
            texts: std::mem::take(&mut self.texts),
            has_received: state.has_received,
            unreachable_addresses: state.unreachable_addresses,
            failure: self.failure.clone(),
            starved: self.starved,
            window: is_known.then_some((window.start, window.end)),
            absence: 0,
            lateness: Metric::default(),
            waits: Metric::default(),
        });
    }

    /// Returns whether reports wait to be sent.
    pub(super) fn has_reports(&self) -> bool {
        !self.closed.is_empty()
    }

    /// Returns the number of the current interval.
    pub(super) fn interval_number(&self) -> u64 {
        self.interval.number()
    }

    /// Sends the reports of closed intervals; each has its part of the processor time since the last call.
    pub(super) fn send_reports(
        &mut self,
        reports: &Sender<Report>,
        usage: ThreadUsage,
        receive_queue_bytes: u64,
    ) {
        let mut left = ThreadUsage {
            cpu_ns: usage.cpu_ns.saturating_sub(self.usage.cpu_ns),
            run_queue_ns: usage.run_queue_ns.saturating_sub(self.usage.run_queue_ns),
        };
        self.usage = usage;
        let length = |report: &Report| report.to.saturating_sub(report.from);
        let mut total: Nanos = self.closed.iter().map(length).sum();
        for report in self.closed.drain(..) {
            let length = length(&report);
            let usage = ThreadUsage {
                cpu_ns: part(left.cpu_ns, length, total),
                run_queue_ns: part(left.run_queue_ns, length, total),
            };
            left.cpu_ns -= usage.cpu_ns;
            left.run_queue_ns -= usage.run_queue_ns;
            total -= length;
            // There is no receiver if the run was aborted.
            let _ = reports.send(Report { usage, receive_queue_bytes, ..report });
        }
    }

    /// Takes the tallies of the window or the warm-up, and leaves empty ones.
    fn take_tallies(&mut self, measured: bool) -> PooledTallies {
        self.tally_pool.take(if measured { &mut self.measured } else { &mut self.warmup })
    }
}

/// Returns the part of a sum that belongs to a length of the total.
fn part(sum: u64, length: Nanos, total: Nanos) -> u64 {
    if length == total {
        return sum;
    }
    // The part is at most the sum.
    (u128::from(sum) * u128::from(length) / u128::from(total)) as u64
}

impl Sample {
    fn new(
        reason: Reason,
        status: Option<u16>,
        head: Option<&ResponseHead>,
        body: &[u8],
        at: Nanos,
        to: Option<&Address>,
    ) -> Self {
        let place = to.map(|to| format!(" ({to})")).unwrap_or_default();
        let text = String::from_utf8_lossy(body);
        // Bytes that are no head are shown in its place.
        let (head, body) =
            head.map_or_else(|| (text.clone().into_owned(), ""), |head| (head.to_text(), &*text));
        let name = match (reason, status) {
            (Reason::Status, Some(status)) => format!("status.{status}"),
            _ => reason.name().to_owned(),
        };
        Self {
            name: String::new(),
            class: reason.class().name().to_owned(),
            reason: name,
            detail: format!("{}{place}", reason.text()),
            at,
            status,
            head,
            body: body.chars().take(1024).collect(),
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::plan::tests::plan;
    use crate::plan::{Closed, Pace, Stop};
    use crate::prepare::prepare;

    /// A recorder of one request, with intervals of a second from 0.
    pub(crate) fn recorder() -> Recorder {
        let prepared = prepare(&plan(Pace::Closed(Closed::new(1)))).unwrap();
        let interval = IntervalClock::new(1_000_000_000, 0);
        Recorder::new(3, &prepared, false, interval, ThreadUsage::default())
    }

    fn state() -> WorkerState {
        let connections = Connections { open: 2, ..Connections::default() };
        WorkerState {
            requests_open: 2,
            connections,
            multiplexing: None,
            websocket: None,
            has_received: true,
            unreachable_addresses: vec!["[::1]:80".into()],
        }
    }

    #[test]
    fn an_end_counts_in_its_own_interval_and_reports_go_out_in_order_with_the_processor_time() {
        let mut recorder = recorder();
        let mut plan = plan(Pace::Closed(Closed::new(1)));
        plan.stop = Stop::Duration { duration_ns: 10_000_000_000 };
        let mut window = Window::new(&plan, 0);
        window.set_start(0);
        window.phase = Phase::Measure;
        recorder.in_flight = 2;
        let stamps = Stamps { sent: 10, last_byte: 30, ..Stamps::new(0, 5) };
        let outcome = Outcome { failure: None, status: Some(200), reusable: true };
        let end =
            AttemptEnd { request: 0, measured: true, has_lag: true, stamps, outcome, stream: None };
        recorder.end(&end, &window);
        recorder.close_intervals_until(2_500_000_000, &window, state);
        assert_eq!((recorder.interval_number(), recorder.last_end), (2, 30));
        recorder.end(&AttemptEnd { has_lag: false, ..end }, &window);
        recorder.close_interval(Phase::Measure, 2_500_000_000, &window, state());
        let (reports, inbox) = std::sync::mpsc::channel();
        let usage = ThreadUsage { cpu_ns: 7, run_queue_ns: 1 };
        recorder.send_reports(&reports, usage, 99);
        assert!(!recorder.has_reports());
        drop(reports);
        let seen: Vec<_> = inbox
            .iter()
            .map(|report| {
                let tally = &report.tallies[0];
                let lags = tally.accepted.lag.count();
                (report.worker, report.number, tally.ok, lags, report.in_flight, report.usage)
            })
            .collect();
        let used = |cpu_ns, run_queue_ns| ThreadUsage { cpu_ns, run_queue_ns };
        let expected =
            [(3, 0, 1, 1, 1, used(2, 0)), (3, 1, 0, 0, 1, used(3, 0)), (3, 2, 1, 0, 0, used(2, 1))];
        assert_eq!(seen, expected);
    }

    #[test]
    fn intervals_without_a_turn_say_how_long_the_worker_was_absent() {
        let mut recorder = recorder();
        let mut plan = plan(Pace::Closed(Closed::new(1)));
        plan.stop = Stop::Duration { duration_ns: 10_000_000_000 };
        let mut window = Window::new(&plan, 0);
        window.set_start(0);
        window.phase = Phase::Measure;
        recorder.close_intervals_until(1_100_000_000, &window, state);
        recorder.close_intervals_until(4_200_000_000, &window, state);
        let absences: Vec<_> = recorder.closed.iter().map(|report| report.absence).collect();
        // It had a turn in the second interval, and the next one in the fifth.
        assert_eq!(absences, [0, 0, 2_200_000_000, 1_200_000_000]);
    }

    #[test]
    fn a_sample_has_the_head_as_text_or_in_its_place_what_is_no_head() {
        let head = b"HTTP/1.1 503 Busy\r\nSet-Cookie: sid=42\r\nServer:   s\r\n\r\n";
        let (head, _) = ResponseHead::read(head).unwrap().unwrap();
        let sample = |head: Option<&ResponseHead>, body: &[u8]| {
            Sample::new(Reason::Status, Some(503), head, body, 0, None)
        };
        let long = vec![b'x'; 2000];
        let failed = sample(Some(&head), &long);
        assert_eq!(failed.head, "HTTP/1.1 503 Busy\r\nSet-Cookie: sid=42\r\nServer: s");
        assert_eq!((failed.body.len(), failed.reason.as_str()), (1024, "status.503"));
        let strange = sample(None, b"SSH-2.0-x");
        assert_eq!((strange.head.as_str(), strange.body.as_str()), ("SSH-2.0-x", ""));
    }

    #[test]
    fn keeps_the_first_five_of_each_class() {
        let mut recorder = recorder();
        for at in 0..9 {
            recorder.sample(&Outcome::failed(Reason::ReadReset, None), None, &[], at, None);
            recorder.sample(&Outcome::failed(Reason::ReadClosed, None), None, &[], at, None);
            recorder.sample(&Outcome::failed(Reason::ConnectRefused, None), None, &[], at, None);
        }
        let kept = |class: &str| {
            let samples = recorder.samples.iter().filter(|sample| sample.class == class);
            samples.map(|sample| sample.at).collect::<Vec<_>>()
        };
        assert_eq!(kept("read"), [0, 0, 1, 1, 2]);
        assert_eq!(kept("connect"), [0, 1, 2, 3, 4]);
    }
}
