//! Goodput: attempts that met the limit of every objective of latency.

use client::{Stamps, StreamObservation, UNSET};
use net::Nanos;
use serde::{Deserialize, Serialize};

use crate::messages::{Message, UNREPORTED_TOKENS};
use crate::plan::{Limit, Limited};

/// Attempts judged against their limits.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Goodput {
    /// Judged at all: all that ended, where there are limits.
    pub judged: u64,
    /// Answers that met every limit.
    pub good: u64,
    /// Good answers that ended within the window, whenever they began.
    #[serde(default)]
    pub good_inside: u64,
    /// Answers that cannot be judged, since the server reported no tokens.
    pub unreported: u64,
}

/// The times of an attempt that has ended.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AttemptTimes<'a> {
    pub(crate) stamps: &'a Stamps,
    /// The observations of its stream, and the time from which its durations count.
    pub(crate) stream: Option<(&'a StreamObservation, Nanos)>,
    /// The longest time from a message of a gRPC call to the one that answered it.
    pub(crate) longest_message: Option<Nanos>,
}

/// One duration of one attempt.
enum Value {
    Is(Nanos),
    /// The attempt has no such duration, so that no limit is exceeded.
    NotHere,
    /// It needs a count of tokens that the server did not report.
    Unreported,
}

impl Goodput {
    /// Judges an attempt that has ended, and returns whether it was good.
    pub(crate) fn judge(
        &mut self,
        limits: &[Limit],
        is_ok: bool,
        times: &AttemptTimes<'_>,
    ) -> bool {
        if limits.is_empty() {
            return false;
        }
        self.judged += 1;
        if !is_ok {
            return false;
        }
        let (mut is_good, mut is_untold) = (true, false);
        for limit in limits {
            match value(limit.metric, times) {
                Value::Is(nanos) if limit.inclusive => is_good &= nanos <= limit.limit_ns,
                Value::Is(nanos) => is_good &= nanos < limit.limit_ns,
                Value::NotHere => {}
                Value::Unreported => is_untold = true,
            }
        }
        self.good += u64::from(is_good && !is_untold);
        // One exceeded limit decides, even if others cannot be judged.
        self.unreported += u64::from(is_good && is_untold);
        is_good && !is_untold
    }

    /// Adds another one.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.judged += other.judged;
        self.good += other.good;
        self.good_inside += other.good_inside;
        self.unreported += other.unreported;
    }

    /// Returns the good ones in percent of all that ended; none without limits, or if some cannot be judged.
    #[must_use]
    #[allow(clippy::cast_precision_loss)]
    pub fn rate(&self) -> Option<f64> {
        self.good().map(|good| 100.0 * good as f64 / self.judged as f64)
    }

    /// Returns how many were good; none without limits, or if some cannot be judged.
    #[must_use]
    pub fn good(&self) -> Option<u64> {
        (self.judged > 0 && self.unreported == 0).then_some(self.good)
    }

    /// Returns how many of those ended within the window.
    #[must_use]
    pub fn good_inside(&self) -> Option<u64> {
        self.good().map(|_| self.good_inside)
    }

    /// Returns why some cannot be judged.
    #[must_use]
    pub fn missing_reason(&self) -> Option<Message> {
        (self.unreported > 0).then(|| UNREPORTED_TOKENS.message([("n", self.unreported.into())]))
    }
}

fn value(metric: Limited, times: &AttemptTimes<'_>) -> Value {
    let AttemptTimes { stamps, stream, longest_message } = times;
    let (observed, start) =
        (stream.map(|(observed, _)| observed), stream.map_or(UNSET, |(_, from)| from));
    let since =
        |from: Nanos, at: Nanos| (from != UNSET && at != UNSET).then(|| at.saturating_sub(from));
    let began = |pick: fn(&StreamObservation) -> Nanos| {
        observed.and_then(|observed| since(start, pick(observed)))
    };
    let found = match metric {
        Limited::Service => stamps.service(),
        Limited::Response => stamps.response(),
        Limited::Ttfb if stream.is_some() => since(start, stamps.first_byte),
        Limited::Ttfb => stamps.ttfb(),
        Limited::QueueWait => stamps.wait(),
        Limited::StreamWait => Some(stamps.stream_wait).filter(|time| *time != UNSET),
        Limited::WindowWait => Some(stamps.window_wait).filter(|time| *time != UNSET),
        // Every message must meet it: the longest time tells.
        Limited::Message => *longest_message,
        Limited::Connect => Some(stamps.connect).filter(|time| *time != UNSET),
        Limited::Tls => Some(stamps.tls).filter(|time| *time != UNSET),
        Limited::SchedulingLag => Some(stamps.lag()),
        Limited::Ttfe => began(|observed| observed.first_event),
        Limited::Ttft => began(|observed| observed.first_text),
        Limited::Ttfo => began(|observed| observed.first_output),
        Limited::E2e => began(|observed| observed.last_text),
        Limited::StreamEnd => {
            let end = |observed: &StreamObservation| {
                if observed.end == UNSET { stamps.last_byte } else { observed.end }
            };
            observed.and_then(|observed| since(start, end(observed)))
        }
        Limited::Ttst => {
            observed.and_then(|observed| since(observed.first_text, observed.second_text))
        }
        // Every gap must meet it: the longest one tells.
        Limited::InterChunk | Limited::InterRead => {
            observed.filter(|observed| observed.texts > 1).map(|observed| observed.longest_gap)
        }
        Limited::Tpot => match observed {
            Some(observed) if observed.usage.output.is_none() => return Value::Unreported,
            observed => observed.and_then(StreamObservation::tpot),
        },
    };
    found.map_or(Value::NotHere, Value::Is)
}

#[cfg(test)]
mod tests {
    use wire::Usage;

    use super::*;

    const STAMPS: Stamps = Stamps {
        intended: 0,
        taken: 0,
        connect: UNSET,
        tls: UNSET,
        stream_wait: UNSET,
        window_wait: UNSET,
        sent: 10,
        first_byte: 20,
        last_byte: 110,
    };

    fn times_of(stream: Option<(&StreamObservation, Nanos)>) -> AttemptTimes<'_> {
        AttemptTimes { stamps: &STAMPS, stream, longest_message: None }
    }

    fn judged(
        limits: &[(Limited, Nanos)],
        is_ok: bool,
        observed: Option<&StreamObservation>,
    ) -> Goodput {
        let limits: Vec<_> = limits
            .iter()
            .map(|(metric, limit_ns)| Limit {
                metric: *metric,
                limit_ns: *limit_ns,
                inclusive: false,
            })
            .collect();
        let mut goodput = Goodput::default();
        let stream = observed.map(|observed| (observed, STAMPS.sent));
        goodput.judge(&limits, is_ok, &times_of(stream));
        goodput
    }

    #[test]
    fn every_limit_must_be_met_and_an_error_is_not_good() {
        let good = |limits: &[(Limited, Nanos)], is_ok| judged(limits, is_ok, None).rate();
        assert_eq!(good(&[(Limited::Service, 101), (Limited::Response, 111)], true), Some(100.0));
        assert_eq!(good(&[(Limited::Service, 101), (Limited::Response, 110)], true), Some(0.0));
        assert_eq!(good(&[(Limited::Service, 101)], false), Some(0.0));
        assert_eq!(good(&[], true), None);
    }

    #[test]
    fn what_does_not_apply_passes_and_what_is_not_reported_is_not_guessed() {
        let one_token = StreamObservation {
            first_text: 50,
            last_text: 50,
            texts: 1,
            text_reads: 1,
            usage: Usage { output: Some(1), ..Usage::default() },
            ..StreamObservation::default()
        };
        let limits = [(Limited::Tpot, 5), (Limited::Ttst, 5), (Limited::InterChunk, 5)];
        assert_eq!(judged(&limits, true, Some(&one_token)).rate(), Some(100.0));
        assert_eq!(judged(&limits, true, None).rate(), Some(100.0));
        let unreported = StreamObservation { usage: Usage::default(), ..one_token };
        let goodput = judged(&limits, true, Some(&unreported));
        assert_eq!((goodput.rate(), goodput.unreported), (None, 1));
        assert!(goodput.missing_reason().is_some());
        // Too late already: no count of tokens could help it.
        let goodput = judged(&[(Limited::Ttft, 40), (Limited::Tpot, 5)], true, Some(&unreported));
        assert_eq!(goodput.rate(), Some(0.0));
    }

    #[test]
    fn times_of_a_stream_count_from_where_its_metrics_do() {
        let observed = StreamObservation { first_text: 60, ..StreamObservation::default() };
        let limit = [Limit { metric: Limited::Ttft, limit_ns: 55, inclusive: false }];
        let good =
            |from| Goodput::default().judge(&limit, true, &times_of(Some((&observed, from))));
        assert!(good(STAMPS.sent) && !good(STAMPS.intended));
        let limit = [Limit { metric: Limited::Ttfb, limit_ns: 15, inclusive: false }];
        let good =
            |from| Goodput::default().judge(&limit, true, &times_of(Some((&observed, from))));
        assert!(good(STAMPS.sent) && !good(STAMPS.intended));
    }

    #[test]
    fn limits_are_exact() {
        let mut goodput = Goodput::default();
        for (limit_ns, inclusive) in [(100, true), (100, false), (99, true)] {
            let limit = Limit { metric: Limited::Service, limit_ns, inclusive };
            goodput.judge(&[limit], true, &times_of(None));
        }
        assert_eq!((goodput.judged, goodput.good), (3, 1));
    }

    #[test]
    fn waits_and_messages_have_limits_where_there_are_some() {
        let stamps =
            Stamps { intended: 0, taken: 5, stream_wait: 20, window_wait: 40, sent: 65, ..STAMPS };
        let times = AttemptTimes { stamps: &stamps, stream: None, longest_message: Some(30) };
        let values = [
            (Limited::SchedulingLag, 5),
            (Limited::StreamWait, 20),
            (Limited::WindowWait, 40),
            (Limited::QueueWait, 60),
            (Limited::Message, 30),
        ];
        for (metric, value) in values {
            let is_good = |limit_ns, times| {
                let limit = Limit { metric, limit_ns, inclusive: true };
                Goodput::default().judge(&[limit], true, &times)
            };
            assert!(is_good(value, times) && !is_good(value - 1, times), "{metric:?}");
            let has_none = metric != Limited::QueueWait;
            assert_eq!(is_good(0, times_of(None)), has_none, "{metric:?}");
        }
    }
}
