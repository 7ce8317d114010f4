//! The clock of a node on another machine: what its times are on the clock of this process.
//!
//! The parent asks for the node's time. The node read its clock between question and answer: the middle
//! of the two is wrong by at most half of the round trip, which is the bound. An estimate ages, because
//! two clocks drift apart; each heartbeat brings a new one.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use client::{Stamps, UNSET};
use net::Nanos;

use crate::measure::report::{ExchangeRow, Report, Sample, StreamRow};
use crate::measure::summary::NodeClock;

/// Two quartz clocks drift apart by at most so much: 50 ppm each is the usual tolerance.
const DRIFT_PER_S: f64 = 100e-6;

/// The number of estimates of which the best is used; later ones are better as soon as the drift of the
/// older ones exceeds the difference of their round trips.
const ESTIMATES: usize = 32;

/// The offset of a node's clock as one question and its answer show it.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Estimate {
    offset_ns: i64,
    half_trip_ns: Nanos,
    /// When the answer came.
    at: Nanos,
}

impl Estimate {
    /// Returns the maximum error at a time.
    fn bound_at(&self, now: Nanos) -> Nanos {
        #[allow(
            clippy::cast_precision_loss,
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss
        )]
        let drift = (now.saturating_sub(self.at) as f64 * DRIFT_PER_S) as Nanos;
        self.half_trip_ns.saturating_add(drift)
    }
}

/// The clock of one node, for the threads that send its orders and read its replies.
#[derive(Debug)]
pub(super) struct RemoteClock {
    /// None if the node has this process's clock.
    state: Option<Mutex<ClockEstimates>>,
}

#[derive(Debug, Default)]
struct ClockEstimates {
    estimates: VecDeque<Estimate>,
    first: Option<Estimate>,
    best: Option<Estimate>,
    /// The largest bound of a time that was translated.
    worst_bound_ns: Nanos,
}

impl RemoteClock {
    /// Returns the clock of a node that has the clock of this process.
    pub(super) fn same() -> Self {
        Self { state: None }
    }

    /// Returns a clock whose offset is not known yet.
    pub(super) fn unknown() -> Self {
        Self { state: Some(Mutex::default()) }
    }

    /// Returns whether the node has another clock than this process.
    pub(super) fn is_other(&self) -> bool {
        self.state.is_some()
    }

    /// Adds an answer: when the question was sent, the node's time, when the answer came.
    pub(super) fn add(&self, sent: Nanos, node: Nanos, received: Nanos) {
        let Some(mut state) = self.lock() else { return };
        let Some(trip) = received.checked_sub(sent) else { return };
        let middle = sent + trip / 2;
        let estimate = Estimate {
            offset_ns: difference(node, middle),
            half_trip_ns: trip.div_ceil(2),
            at: received,
        };
        if state.estimates.len() == ESTIMATES {
            state.estimates.pop_front();
        }
        state.estimates.push_back(estimate);
        state.best = state.estimates.iter().min_by_key(|one| one.bound_at(received)).copied();
    }

    /// Takes note that the load begins: the drift counts from now on.
    pub(super) fn begin(&self) {
        if let Some(mut state) = self.lock() {
            (state.first, state.worst_bound_ns) = (state.best, 0);
        }
    }

    /// Returns the maximum error of a time that is translated now.
    pub(super) fn bound_ns(&self, now: Nanos) -> Nanos {
        let Some(state) = self.lock() else { return 0 };
        state.best.map_or(Nanos::MAX, |best| best.bound_at(now))
    }

    /// Returns a time of this process on the node's clock.
    pub(super) fn to_node(&self, time: Nanos) -> Nanos {
        shifted(time, self.offset_ns())
    }

    /// Returns what is known; none if the node has this process's clock.
    pub(super) fn figures(&self) -> Option<NodeClock> {
        let state = self.lock()?;
        let (first, best) = (state.first.or(state.best)?, state.best?);
        Some(NodeClock {
            offset_ns: first.offset_ns,
            bound_ns: state.worst_bound_ns.max(first.half_trip_ns),
            drift_ns: best.offset_ns - first.offset_ns,
        })
    }

    /// Changes all times of a report from the node's clock to that of this process.
    pub(super) fn translate(&self, report: &mut Report, now: Nanos) {
        let Some(mut state) = self.lock() else { return };
        let Some(best) = state.best else { return };
        state.worst_bound_ns = state.worst_bound_ns.max(best.bound_at(now));
        let offset = best.offset_ns;
        drop(state);
        let own = |time: &mut Nanos| *time = shifted(*time, -offset);
        // Every field is named, so that a new one that is a time is not forgotten here.
        let Report {
            from,
            to,
            window,
            samples,
            rows,
            worker: _,
            phase: _,
            number: _,
            tallies: _,
            in_flight: _,
            requests_open: _,
            connections: _,
            usage: _,
            receive_queue_bytes: _,
            texts: _,
            has_received: _,
            unreachable_addresses: _,
            failure: _,
            starved: _,
            absence: _,
            lateness: _,
            waits: _,
            multiplexing: _,
            websocket: _,
        } = report;
        own(from);
        own(to);
        if let Some((start, end)) = window {
            own(start);
            own(end);
        }
        for Sample { at, .. } in samples {
            own(at);
        }
        for ExchangeRow { stamps, stream, .. } in rows {
            let Stamps { connect: _, tls: _, stream_wait: _, window_wait: _, .. } = stamps;
            let Stamps { intended, taken, sent, first_byte, last_byte, .. } = stamps;
            [intended, taken, sent, first_byte, last_byte].into_iter().for_each(own);
            if let Some(StreamRow { stamps, texts: _, tokens_out: _ }) = stream {
                stamps.iter_mut().for_each(own);
            }
        }
    }

    fn offset_ns(&self) -> i64 {
        self.lock().and_then(|state| state.best).map_or(0, |best| best.offset_ns)
    }

    fn lock(&self) -> Option<MutexGuard<'_, ClockEstimates>> {
        self.state.as_ref().map(|state| state.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Returns a time on another clock; what did not happen has no time.
fn shifted(time: Nanos, offset_ns: i64) -> Nanos {
    if time == UNSET { UNSET } else { time.saturating_add_signed(offset_ns) }
}

fn difference(one: Nanos, other: Nanos) -> i64 {
    let difference = i128::from(one) - i128::from(other);
    i64::try_from(difference).unwrap_or(if difference < 0 { i64::MIN } else { i64::MAX })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::report::Phase;
    use client::Reason;

    const MS: Nanos = 1_000_000;

    /// Clocks that differ by so much: a machine that has run longer, one that has just booted.
    const OFFSETS: [i64; 4] = [0, 1_000_000_000_000, 5_000_000_000_000_000, -999_000_000_000];

    fn clock(estimates: &[(Nanos, Nanos, Nanos)]) -> RemoteClock {
        let clock = RemoteClock::unknown();
        estimates.iter().for_each(|(sent, node, received)| clock.add(*sent, *node, *received));
        clock.begin();
        clock
    }

    fn row(at: Nanos) -> ExchangeRow {
        let stamps = Stamps { connect: 5, tls: UNSET, sent: at + 1, ..Stamps::new(at, at + 2) };
        let stream =
            StreamRow { stamps: [at + 3, UNSET, UNSET, at + 4], texts: 1, tokens_out: UNSET };
        let failure = Some(Reason::ConnectNoPort);
        ExchangeRow {
            request: 1,
            measured: true,
            stamps,
            failure,
            status: None,
            stream: Some(stream),
        }
    }

    fn report(at: Nanos) -> Report {
        let sample = Sample {
            name: String::new(),
            class: String::new(),
            reason: String::new(),
            detail: String::new(),
            at: at + 5,
            status: None,
            head: String::new(),
            body: String::new(),
        };
        let window = Some((at + 6, at + 7));
        let (samples, rows) = (vec![sample], vec![row(at)]);
        let empty = Report::empty(0, Phase::Measure, 0);
        Report { from: at, to: at + 8, window, samples, rows, ..empty }
    }

    #[test]
    fn the_middle_of_the_shortest_round_trip_gives_the_offset() {
        for offset in OFFSETS {
            let at = |time: Nanos| time.saturating_add_signed(offset);
            let start = 2_000_000 * MS;
            // The second answer came at once: question and answer took 30 µs each.
            let clock = clock(&[
                (start, at(start + 9 * MS), start + 10 * MS),
                (start + 10 * MS, at(start + 10 * MS + 30_000), start + 10 * MS + 60_000),
                (start + 11 * MS, at(start + 11 * MS), start + 15 * MS),
            ]);
            assert_eq!(clock.to_node(start), at(start));
            let figures = clock.figures().unwrap();
            assert_eq!(
                (figures.offset_ns, figures.bound_ns, figures.drift_ns),
                (offset, 30_000, 0)
            );
        }
    }

    #[test]
    fn the_error_is_within_the_bound_wherever_the_answer_was_delayed() {
        let (sent, received) = (1_000 * MS, 1_001 * MS);
        for delay in [0, 1, MS / 2, MS - 1, MS] {
            let clock = clock(&[(sent, 77 * MS + delay, received)]);
            // The true offset is 77 ms − 1,000 ms.
            let error = clock.to_node(sent).abs_diff(77 * MS);
            assert!(error <= clock.figures().unwrap().bound_ns, "{delay}");
        }
    }

    #[test]
    fn an_old_estimate_gives_way_to_a_newer_one_when_drift_could_exceed_its_lead() {
        let s = 1_000 * MS;
        let clock = clock(&[(s, s, s + 20_000)]);
        // 30 µs are worse than 10 µs by 20 µs, which is the drift of 200 ms.
        clock.add(s + 100 * MS, s + 100 * MS + 7_000, s + 100 * MS + 60_000);
        assert_eq!(clock.figures().unwrap().drift_ns, 0);
        clock.add(s + 300 * MS, s + 300 * MS + 37_000, s + 300 * MS + 60_000);
        let drift = clock.figures().unwrap().drift_ns;
        assert_eq!(drift, 17_000, "from −10 µs to 7 µs");
    }

    #[test]
    fn the_bound_grows_with_the_age_of_the_estimate_and_is_kept_with_the_reports() {
        let s = 1_000 * MS;
        let clock = clock(&[(s, s, s + 20_000)]);
        assert_eq!(clock.bound_ns(s + 20_000), 10_000);
        clock.translate(&mut report(s), s + 20_000 + 1_000 * MS);
        assert_eq!(clock.figures().unwrap().bound_ns, 110_000, "100 µs of drift in a second");
    }

    #[test]
    fn all_times_of_a_report_are_translated_and_durations_are_not() {
        for offset in OFFSETS {
            let own = 2_000_000 * MS;
            let there = own.saturating_add_signed(offset);
            let clock = clock(&[(own, there, own)]);
            let mut translated = report(there);
            clock.translate(&mut translated, own);
            let expected = report(own);
            assert_eq!(translated.rows, expected.rows);
            assert_eq!(translated.samples, expected.samples);
            let times = |report: &Report| (report.from, report.to, report.window);
            assert_eq!(times(&translated), times(&expected));
        }
    }

    #[test]
    fn times_of_a_process_with_the_same_clock_stay_as_they_are() {
        let clock = RemoteClock::same();
        clock.add(1, 99, 3);
        let mut translated = report(50);
        clock.translate(&mut translated, 70);
        assert_eq!((translated.from, translated.rows), (50, vec![row(50)]));
        assert_eq!((clock.to_node(50), clock.bound_ns(70), clock.figures()), (50, 0, None));
    }
}
