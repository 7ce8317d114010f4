//! The counts and histograms of the requests of one name in one interval.
//!
//! A worker owns the tally it writes to; tallies are added, never shared.

use std::collections::BTreeMap;

use client::{Class, Outcome, Reason, Stamps};
use net::Nanos;
use serde::{Deserialize, Serialize};

use super::goodput::Goodput;
use super::metric::Metric;
use super::stream::StreamTally;

/// The durations of responses of one kind (accepted, or not).
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Latencies {
    /// `last_byte − sent`.
    pub service: Metric,
    /// `last_byte − intended`.
    pub response: Metric,
    /// `first_byte − sent`.
    pub ttfb: Metric,
    /// `sent − taken`.
    pub wait: Metric,
    /// How long it waited for a stream of HTTP/2 that the server allows.
    #[serde(default)]
    pub stream_wait: Metric,
    /// How long the body of the request waited for a window of HTTP/2, where it has one.
    #[serde(default)]
    pub window_wait: Metric,
    /// From a message of a gRPC call to the one that answers it, if they are not all sent together.
    #[serde(default)]
    pub message: Metric,
    /// Dial to established, where the exchange dialled.
    pub connect: Metric,
    /// The TLS handshake, where the exchange dialled.
    #[serde(default)]
    pub tls: Metric,
    /// `taken − intended`; beside arrivals, users have none.
    pub lag: Metric,
}

impl Latencies {
    /// The metrics with their names in files.
    #[must_use]
    pub fn named(&self) -> [(&'static str, &Metric); 10] {
        [
            ("service", &self.service),
            ("response", &self.response),
            ("ttfb", &self.ttfb),
            ("queue_wait", &self.wait),
            ("stream_wait", &self.stream_wait),
            ("window_wait", &self.window_wait),
            ("message", &self.message),
            ("connect", &self.connect),
            ("tls", &self.tls),
            ("scheduling_lag", &self.lag),
        ]
    }

    fn record(&mut self, stamps: &Stamps, response: Option<Nanos>) {
        let pairs = [
            (&mut self.service, stamps.service()),
            (&mut self.response, response),
            (&mut self.ttfb, stamps.ttfb()),
            (&mut self.wait, stamps.wait()),
            (&mut self.stream_wait, known(stamps.stream_wait)),
            (&mut self.window_wait, known(stamps.window_wait)),
            (&mut self.connect, known(stamps.connect)),
            (&mut self.tls, known(stamps.tls)),
        ];
        for (metric, duration) in pairs {
            if let Some(duration) = duration {
                metric.record(duration);
            }
        }
    }

    /// Records how long a connection took to open that no recorded attempt is to show; either may be
    /// [`client::UNSET`].
    pub fn record_opening(&mut self, connect: Nanos, tls: Nanos) {
        known(connect).into_iter().for_each(|time| self.connect.record(time));
        known(tls).into_iter().for_each(|time| self.tls.record(time));
    }

    fn all_mut(&mut self) -> [&mut Metric; 10] {
        let Self { service, response, ttfb, wait, stream_wait, window_wait, .. } = self;
        let Self { message, connect, tls, lag, .. } = self;
        [service, response, ttfb, wait, stream_wait, window_wait, message, connect, tls, lag]
    }

    fn merge(&mut self, other: &Self) {
        let others = other.named().into_iter();
        self.all_mut().into_iter().zip(others).for_each(|(sum, (_, metric))| sum.merge(metric));
    }

    fn clear(&mut self) {
        self.all_mut().into_iter().for_each(Metric::clear);
    }
}

/// Returns a duration, if there is one.
fn known(duration: Nanos) -> Option<Nanos> {
    (duration != client::UNSET).then_some(duration)
}

/// Counts and durations of one interval.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Tally {
    /// Arrivals that were due (closed: attempts).
    pub planned: u64,
    /// Of those, arrivals: users plan nothing, they follow their responses.
    #[serde(default)]
    pub scheduled: u64,
    /// Taken up by a worker.
    pub attempted: u64,
    /// Complete, accepted answers.
    pub ok: u64,
    /// Due, but not taken up because too many were under way.
    pub dropped: u64,
    /// Requests that were sent again because the server had not processed them (HTTP/2).
    #[serde(default)]
    pub resent: u64,
    /// Rows of a feed that started later than due, since rows before them had not ended.
    #[serde(default)]
    pub postponed: u64,
    /// How much later, together.
    #[serde(default)]
    pub postponed_ns: u64,
    /// Rows of a feed that were not sent, since they need values of an attempt that failed.
    #[serde(default)]
    pub left_out: u64,
    /// Ended by class, in the order of [`Class::ALL`]; ok has its own field. Those of [`Class::Cancelled`]
    /// are no errors.
    pub errors: [u64; Class::ALL.len()],
    /// Failed by reason, in the order of [`Reason::ALL`].
    pub reasons: Vec<u64>,
    /// Answers by status, accepted or not.
    pub statuses: BTreeMap<u16, u64>,
    /// Of those not accepted.
    pub rejected: BTreeMap<u16, u64>,
    /// Ok answers whose last byte came within the measured window.
    pub ok_inside: u64,
    /// Attempts whose users gave up in the window, whenever they began.
    pub cancelled_inside: u64,
    /// Attempts taken within the measured window.
    pub attempted_inside: u64,
    /// Arrivals of the window that were taken up after its end.
    pub late: u64,
    /// Bytes of responses.
    pub bytes_in: u64,
    /// Bytes of requests.
    pub bytes_out: u64,
    /// Of ok.
    pub accepted: Latencies,
    /// Of everything else that ended.
    pub failed: Latencies,
    /// Timeouts among them: their durations are lower bounds.
    pub censored: u64,
    /// The smallest such bound for service and response, in ns.
    pub censored_from: Option<(Nanos, Nanos)>,
    /// The shortest wait for a stream that a timeout ended, in ns: a lower bound, too.
    #[serde(default)]
    pub stream_wait_from: Option<Nanos>,
    /// The same of waits for a window.
    pub window_wait_from: Option<Nanos>,
    /// The tally of streams, if answers are streams.
    #[serde(default)]
    pub stream: Option<Box<StreamTally>>,
    /// Attempts that met their limits, where there are some.
    #[serde(default)]
    pub goodput: Goodput,
}

impl Default for Tally {
    fn default() -> Self {
        Self {
            planned: 0,
            scheduled: 0,
            attempted: 0,
            ok: 0,
            dropped: 0,
            resent: 0,
            postponed: 0,
            postponed_ns: 0,
            left_out: 0,
            errors: [0; Class::ALL.len()],
            reasons: vec![0; Reason::ALL.len()],
            statuses: BTreeMap::new(),
            rejected: BTreeMap::new(),
            ok_inside: 0,
            cancelled_inside: 0,
            attempted_inside: 0,
            late: 0,
            bytes_in: 0,
            bytes_out: 0,
            accepted: Latencies::default(),
            failed: Latencies::default(),
            censored: 0,
            censored_from: None,
            stream_wait_from: None,
            window_wait_from: None,
            stream: None,
            goodput: Goodput::default(),
        }
    }
}

impl Tally {
    /// Counts a complete, accepted answer.
    #[inline]
    pub fn accept(&mut self, stamps: &Stamps, status: u16) {
        self.accept_reported(stamps, Some(status), stamps.response());
    }

    /// Counts an accepted answer whose response time was taken elsewhere, if at all.
    #[inline]
    pub fn accept_reported(
        &mut self,
        stamps: &Stamps,
        status: Option<u16>,
        response: Option<Nanos>,
    ) {
        self.ok += 1;
        if let Some(status) = status {
            *self.statuses.entry(status).or_default() += 1;
        }
        self.accepted.record(stamps, response);
    }

    /// Counts an attempt that ended otherwise: a failure, or a status that is not accepted.
    pub fn reject(&mut self, stamps: &Stamps, outcome: &Outcome) {
        self.reject_reported(stamps, outcome, stamps.response());
    }

    /// The same, with a response time that was taken elsewhere, if at all.
    pub fn reject_reported(&mut self, stamps: &Stamps, outcome: &Outcome, response: Option<Nanos>) {
        let reason = outcome.failure.unwrap_or(Reason::Status);
        self.errors[reason.class() as usize] += 1;
        if reason.class() == Class::Cancelled {
            // It lasted as long as the plan says.
            return;
        }
        match outcome.status {
            Some(status) if reason == Reason::Status => {
                *self.statuses.entry(status).or_default() += 1;
                *self.rejected.entry(status).or_default() += 1;
            }
            Some(status)
                if matches!(reason.class(), Class::Status | Class::Check | Class::Stream) =>
            {
                *self.statuses.entry(status).or_default() += 1;
                self.reasons[reason as usize] += 1;
            }
            _ => self.reasons[reason as usize] += 1,
        }
        self.failed.record(stamps, response);
        if reason.class() == Class::Timeout {
            self.censor(stamps.service(), response);
        }
        if reason == Reason::TimeoutStream {
            self.stream_wait_from = smallest([self.stream_wait_from, known(stamps.stream_wait)]);
        }
        let window_wait = known(stamps.window_wait).filter(|waited| *waited > 0);
        if reason == Reason::TimeoutWrite && window_wait.is_some() {
            self.window_wait_from = smallest([self.window_wait_from, window_wait]);
        }
    }

    /// Attempts whose users gave up.
    #[must_use]
    pub fn cancelled(&self) -> u64 {
        self.errors[Class::Cancelled as usize]
    }

    /// Attempts that have ended, in whatever way.
    #[must_use]
    pub fn ended(&self) -> u64 {
        self.ok + self.errors.iter().sum::<u64>()
    }

    /// Every reason with its count, statuses that were not accepted among them.
    #[must_use]
    pub fn all_reasons(&self) -> BTreeMap<String, u64> {
        let counted = Reason::ALL.iter().zip(&self.reasons).filter(|(_, count)| **count > 0);
        let mut all: BTreeMap<_, _> =
            counted.map(|(reason, count)| (reason.name().to_owned(), *count)).collect();
        all.extend(
            self.rejected.iter().map(|(status, count)| (format!("status.{status}"), *count)),
        );
        all
    }

    /// Adds another tally.
    pub fn merge(&mut self, other: &Self) {
        self.planned += other.planned;
        self.scheduled += other.scheduled;
        self.attempted += other.attempted;
        self.ok += other.ok;
        self.dropped += other.dropped;
        self.resent += other.resent;
        self.postponed += other.postponed;
        self.postponed_ns += other.postponed_ns;
        self.left_out += other.left_out;
        self.errors.iter_mut().zip(other.errors).for_each(|(sum, count)| *sum += count);
        self.reasons.iter_mut().zip(&other.reasons).for_each(|(sum, count)| *sum += count);
        add(&mut self.statuses, &other.statuses);
        add(&mut self.rejected, &other.rejected);
        self.ok_inside += other.ok_inside;
        self.cancelled_inside += other.cancelled_inside;
        self.attempted_inside += other.attempted_inside;
        self.late += other.late;
        self.bytes_in += other.bytes_in;
        self.bytes_out += other.bytes_out;
        self.accepted.merge(&other.accepted);
        self.failed.merge(&other.failed);
        self.censored += other.censored;
        self.censored_from = smaller(self.censored_from, other.censored_from);
        self.stream_wait_from = smallest([self.stream_wait_from, other.stream_wait_from]);
        self.window_wait_from = smallest([self.window_wait_from, other.window_wait_from]);
        self.goodput.merge(&other.goodput);
        if let Some(stream) = &other.stream {
            self.stream.get_or_insert_default().merge(stream);
        }
    }

    /// An empty tally whose histograms have grown already as far as this one's.
    #[must_use]
    pub fn fresh(&self) -> Self {
        let mut fresh = self.clone();
        fresh.clear();
        fresh
    }

    /// Empties it; its histograms keep the room that they have grown to.
    pub fn clear(&mut self) {
        let mut accepted = std::mem::take(&mut self.accepted);
        let mut failed = std::mem::take(&mut self.failed);
        accepted.clear();
        failed.clear();
        let mut stream = self.stream.take();
        if let Some(stream) = &mut stream {
            stream.clear();
        }
        *self = Self { accepted, failed, stream, ..Self::default() };
    }

    fn censor(&mut self, service: Option<Nanos>, response: Option<Nanos>) {
        self.censored += 1;
        // Never sent means no service time, so nothing to bound there.
        let bound = (service.unwrap_or(Nanos::MAX), response.unwrap_or(Nanos::MAX));
        self.censored_from = smaller(self.censored_from, Some(bound));
    }
}

fn add<K: Ord + Clone>(sum: &mut BTreeMap<K, u64>, other: &BTreeMap<K, u64>) {
    for (key, count) in other {
        *sum.entry(key.clone()).or_default() += count;
    }
}

fn smaller(one: Option<(Nanos, Nanos)>, two: Option<(Nanos, Nanos)>) -> Option<(Nanos, Nanos)> {
    match (one, two) {
        (Some((a, b)), Some((c, d))) => Some((a.min(c), b.min(d))),
        (known, None) | (None, known) => known,
    }
}

fn smallest(durations: [Option<Nanos>; 2]) -> Option<Nanos> {
    durations.into_iter().flatten().min()
}

#[cfg(test)]
mod tests {
    use client::UNSET;

    use super::*;

    fn ended(intended: Nanos, sent: Nanos, last_byte: Nanos) -> Stamps {
        Stamps { sent, first_byte: sent + 1, last_byte, ..Stamps::new(intended, intended) }
    }

    #[test]
    fn a_connection_that_no_attempt_opened_has_the_times_that_are_known() {
        let mut tally = Tally::default();
        tally.accepted.record_opening(7, UNSET);
        tally.accepted.record_opening(9, 100);
        tally.accepted.record_opening(UNSET, UNSET);
        let Latencies { connect, tls, .. } = &tally.accepted;
        assert_eq!((connect.count(), tls.count(), tls.quantile(1.0)), (2, 1, 100));
    }

    #[test]
    fn each_attempt_lands_in_exactly_one_place() {
        let mut tally = Tally::default();
        tally.accept(&ended(0, 10, 20), 200);
        let busy = Outcome { failure: None, status: Some(503), reusable: true };
        tally.reject(&ended(0, 10, 20), &busy);
        for reason in Reason::ALL.iter().filter(|reason| **reason != Reason::Status) {
            tally.reject(&ended(0, 10, 20), &Outcome::failed(*reason, None));
        }
        let failures = Reason::ALL.len() as u64;
        assert_eq!((tally.ok, tally.ended()), (1, 1 + failures));
        // To give up is no failure.
        assert_eq!(tally.all_reasons().values().sum::<u64>() + tally.cancelled(), failures);
        assert_eq!(tally.cancelled(), 1);
        assert_eq!(tally.statuses, BTreeMap::from([(200, 1), (503, 1)]));
    }

    #[test]
    fn a_timeout_is_censored_at_its_elapsed_time() {
        let mut tally = Tally::default();
        tally.reject(&ended(0, 10, 110), &Outcome::failed(Reason::TimeoutBody, Some(200)));
        let unsent = Stamps { last_byte: 70, ..Stamps::new(0, 0) };
        tally.reject(&unsent, &Outcome::failed(Reason::TimeoutConnect, None));
        assert_eq!((tally.censored, tally.censored_from), (2, Some((100, 70))));
        assert_eq!((tally.failed.service.count(), tally.failed.response.count()), (1, 2));
    }

    #[test]
    fn a_wait_for_a_stream_that_a_timeout_ends_is_a_lower_bound() {
        let waited = |stream_wait| Stamps { stream_wait, ..ended(0, 10, 110) };
        let (mut one, mut other) = (Tally::default(), Tally::default());
        one.reject(&waited(20), &Outcome::failed(Reason::TimeoutFirstByte, None));
        one.accept(&waited(10), 200);
        assert_eq!(one.stream_wait_from, None);
        one.reject(&waited(40), &Outcome::failed(Reason::TimeoutStream, None));
        one.reject(&waited(50), &Outcome::failed(Reason::TimeoutStream, None));
        other.reject(&waited(30), &Outcome::failed(Reason::TimeoutStream, None));
        assert_eq!(one.stream_wait_from, Some(40));
        one.merge(&other);
        assert_eq!(one.stream_wait_from, Some(30));
    }

    #[test]
    fn a_wait_for_a_window_that_a_timeout_ends_is_a_lower_bound() {
        let waited = |window_wait| Stamps { window_wait, ..ended(0, 10, 110) };
        let (mut one, mut other) = (Tally::default(), Tally::default());
        one.reject(&waited(20), &Outcome::failed(Reason::TimeoutFirstByte, None));
        // Its window was large enough: the socket was full.
        one.reject(&waited(0), &Outcome::failed(Reason::TimeoutWrite, None));
        one.accept(&waited(10), 200);
        assert_eq!(one.window_wait_from, None);
        one.reject(&waited(40), &Outcome::failed(Reason::TimeoutWrite, None));
        other.reject(&waited(30), &Outcome::failed(Reason::TimeoutWrite, None));
        assert_eq!((one.window_wait_from, one.stream_wait_from), (Some(40), None));
        one.merge(&other);
        assert_eq!(one.window_wait_from, Some(30));
    }

    #[test]
    fn a_status_counts_unless_the_response_broke_off() {
        let counts_of = |reason| {
            let mut tally = Tally::default();
            tally.reject(&ended(0, 10, 20), &Outcome::failed(reason, Some(200)));
            (tally.statuses.get(&200).copied(), tally.rejected.len(), tally.all_reasons())
        };
        let reasons = |name: &str| BTreeMap::from([(name.to_owned(), 1)]);
        assert_eq!(counts_of(Reason::Status), (Some(1), 1, reasons("status.200")));
        assert_eq!(counts_of(Reason::StreamError), (Some(1), 0, reasons("stream.error")));
        assert_eq!(counts_of(Reason::ReadResetInBody), (None, 0, reasons("read.reset_in_body")));
    }

    #[test]
    fn merging_adds_every_count() {
        let tally = |n: u64| Tally {
            planned: n,
            scheduled: 2 * n,
            attempted: 3 * n,
            ok: 4 * n,
            dropped: 5 * n,
            resent: 6 * n,
            postponed: 7 * n,
            postponed_ns: 8 * n,
            left_out: 9 * n,
            errors: std::array::from_fn(|class| class as u64 * n),
            reasons: (0..Reason::ALL.len() as u64).map(|reason| reason * n).collect(),
            statuses: BTreeMap::from([(200, 10 * n), (n as u16, 1)]),
            rejected: BTreeMap::from([(503, 11 * n), (n as u16, 1)]),
            ok_inside: 12 * n,
            cancelled_inside: 13 * n,
            attempted_inside: 14 * n,
            late: 15 * n,
            bytes_in: 16 * n,
            bytes_out: 17 * n,
            censored: 18 * n,
            ..Tally::default()
        };
        let mut sum = tally(3);
        sum.merge(&tally(5));
        let of_each = BTreeMap::from([(3, 1), (5, 1)]);
        let with = |status, count| {
            let mut counts = of_each.clone();
            counts.insert(status, count);
            counts
        };
        let (statuses, rejected) = (with(200, 80), with(503, 88));
        assert_eq!(sum, Tally { statuses, rejected, ..tally(8) });
        sum.clear();
        assert_eq!(sum, Tally::default());
    }

    #[test]
    fn every_duration_is_counted_once_merged_and_cleared() {
        let stamps = Stamps {
            intended: 100,
            taken: 110,
            sent: 130,
            first_byte: 170,
            last_byte: 250,
            stream_wait: 1,
            window_wait: 2,
            connect: 3,
            tls: 4,
        };
        let mut latencies = Latencies::default();
        latencies.record(&stamps, stamps.response());
        latencies.message.record(5);
        latencies.lag.record(10);
        let maxima = |latencies: &Latencies| {
            latencies.named().map(|(name, metric)| (name, metric.count(), metric.quantile(1.0)))
        };
        let expected = [
            ("service", 1, 120),
            ("response", 1, 150),
            ("ttfb", 1, 40),
            ("queue_wait", 1, 20),
            ("stream_wait", 1, 1),
            ("window_wait", 1, 2),
            ("message", 1, 5),
            ("connect", 1, 3),
            ("tls", 1, 4),
            ("scheduling_lag", 1, 10),
        ];
        assert_eq!(maxima(&latencies), expected);
        let mut sum = Latencies::default();
        sum.merge(&latencies);
        sum.merge(&latencies);
        assert_eq!(maxima(&sum), expected.map(|(name, _, longest)| (name, 2, longest)));
        sum.clear();
        assert_eq!(sum, Latencies::default());
    }

    #[test]
    fn only_an_end_of_their_user_counts_as_given_up_and_has_no_times() {
        let mut tally = Tally::default();
        let given_up = Reason::ALL.iter().find(|reason| reason.class() == Class::Cancelled);
        tally.reject(&ended(0, 10, 20), &Outcome::failed(*given_up.unwrap(), None));
        assert_eq!((tally.cancelled(), tally.ended()), (1, 1));
        assert_eq!(Tally::default().cancelled(), 0);
        assert_eq!(tally.failed, Latencies::default());
        assert!(tally.all_reasons().is_empty());
    }

    #[test]
    fn merging_loses_nothing() {
        let mut one = Tally::default();
        let (mut left, mut right) = (Tally::default(), Tally::default());
        for n in 0..100 {
            let stamps = ended(n, n + 5, n * n + 6);
            one.accept(&stamps, 200);
            if n % 3 == 0 { left.accept(&stamps, 200) } else { right.accept(&stamps, 200) }
        }
        left.merge(&right);
        assert_eq!(left, one);
    }
}
