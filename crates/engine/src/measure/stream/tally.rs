//! The tally of the streams of a request: times of events, and tokens.
//!
//! Stamps and tokens are of streams that ended well. Gaps between texts are counted as they come,
//! in whatever way the stream ends later: a stream that breaks was read until then.

use client::{Gap, Joined, StreamObservation, UNSET};
use net::Nanos;
use serde::{Deserialize, Serialize};

use super::counted::{Counted, PlannedTokens};
use crate::measure::metric::Metric;

/// A million of these is one token a second: histograms hold whole numbers only.
const MICRO: u64 = 1_000_000;

/// A duration of a stream; from the send time, unless described otherwise.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Timed {
    /// First byte.
    Ttfb,
    /// First event of any kind.
    Ttfe,
    /// First event with generated text.
    Ttft,
    /// The first of them that is no reasoning.
    Ttfo,
    /// From the first to the second.
    Ttst,
    /// Between two of them.
    InterChunk,
    /// The same without those that came in one read.
    InterRead,
    /// Last event with generated text.
    E2e,
    /// The end that the dialect knows, or the last byte.
    StreamEnd,
    /// For each token after the first event with text.
    Tpot,
    /// No time: micro-tokens a second of each stream, until its last text.
    TokensRate,
}

impl Timed {
    /// Those that are times, with their names in files, in the order of their numbers.
    pub const NAMED: [(Self, &'static str); 10] = [
        (Self::Ttfb, "ttfb"),
        (Self::Ttfe, "ttfe"),
        (Self::Ttft, "ttft"),
        (Self::Ttfo, "ttfo"),
        (Self::Ttst, "ttst"),
        (Self::InterChunk, "inter_chunk"),
        (Self::InterRead, "inter_read"),
        (Self::E2e, "e2e"),
        (Self::StreamEnd, "stream_end"),
        (Self::Tpot, "tpot"),
    ];
    const COUNT: usize = Self::TokensRate as usize + 1;

    /// Whether it counts from the start of the exchange, and not from another event.
    #[must_use]
    pub fn is_from_start(self) -> bool {
        use Timed::{E2e, StreamEnd, Ttfb, Ttfe, Ttfo, Ttft};
        matches!(self, Ttfb | Ttfe | Ttft | Ttfo | E2e | StreamEnd)
    }
}

/// Durations and counts of streams.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct StreamTally {
    metrics: [Metric; Timed::COUNT],
    /// The metrics of other tools, if some are asked for.
    #[serde(default)]
    pub(super) aliases: Vec<Metric>,
    /// The counts.
    pub counted: Counted,
}

/// The stamps of an exchange from which the durations of its stream are computed.
#[derive(Debug, Clone, Copy)]
pub struct Times {
    /// The time from which durations count: the send time, or the intended one.
    pub from: Nanos,
    /// Whether `from` is the intended send time.
    pub is_from_intended: bool,
    /// When the first byte came.
    pub first_byte: Nanos,
    /// When the last byte came.
    pub last_byte: Nanos,
}

impl StreamTally {
    /// One of the metrics.
    #[must_use]
    pub fn metric(&self, timed: Timed) -> &Metric {
        &self.metrics[timed as usize]
    }

    /// Counts gaps between texts.
    pub fn gaps(&mut self, gaps: impl Iterator<Item = Gap>) {
        for gap in gaps {
            self.record(Timed::InterChunk, gap.nanos);
            match gap.joined {
                Joined::No => self.record(Timed::InterRead, gap.nanos),
                Joined::Upstream => self.counted.coalesced += 1,
                Joined::Client => {
                    self.counted.coalesced += 1;
                    self.counted.client_coalesced += 1;
                }
            }
        }
    }

    /// Counts the events of a stream that has ended.
    pub fn end(&mut self, observed: &StreamObservation) {
        let counted = &mut self.counted;
        counted.kinds.iter_mut().zip(observed.kinds).for_each(|(sum, count)| *sum += count);
        counted.comments += observed.comments;
        counted.unterminated += u64::from(observed.is_unterminated);
    }

    /// Counts a stream that ended well.
    pub fn accept(&mut self, observed: &StreamObservation, times: Times) {
        self.accept_begun(observed, times);
        self.accept_ended(observed, times);
    }

    /// Counts all of a stream that ended well but its beginning.
    pub(crate) fn accept_ended(&mut self, observed: &StreamObservation, times: Times) {
        for (timed, at) in ends(observed, times) {
            self.record_moment(timed, at, times);
        }
        if let Some(tpot) = observed.tpot() {
            self.record(Timed::Tpot, tpot);
        }
        self.tokens(observed, times);
        self.counted.with_tool_calls += u64::from(observed.has_tool_call);
    }

    /// Counts whether a stream that ended well has as many tokens as it was to have.
    pub(crate) fn accept_length(&mut self, observed: &StreamObservation, expected: u64) {
        if let Some(output) = observed.usage.output {
            self.counted.length_checked += 1;
            self.counted.length_missed += u64::from(output != expected);
        }
    }

    /// Counts the planned and the reported tokens of prompt and output of a stream that ended well.
    pub(crate) fn accept_planned(&mut self, observed: &StreamObservation, planned: [u64; 2]) {
        let reported = [observed.usage.input, observed.usage.output];
        for ((sums, planned), reported) in
            self.counted.planned.iter_mut().zip(planned).zip(reported)
        {
            if let Some(reported) = reported.filter(|_| planned > 0) {
                let apart = planned.abs_diff(reported);
                sums.add(&PlannedTokens { streams: 1, planned, reported, apart });
            }
        }
    }

    /// Counts the beginning of a stream: all that is known of one that the client abandoned.
    pub fn accept_begun(&mut self, observed: &StreamObservation, times: Times) {
        self.counted.from_intended += u64::from(times.is_from_intended);
        for (timed, at) in beginnings(observed, times) {
            self.record_moment(timed, at, times);
        }
        if observed.second_text != UNSET {
            self.record(Timed::Ttst, observed.second_text.saturating_sub(observed.first_text));
        }
    }

    fn record_moment(&mut self, timed: Timed, at: Nanos, times: Times) {
        if at != UNSET {
            self.record(timed, at.saturating_sub(times.from));
        }
    }

    /// Adds tokens with saturation, since a server may report any number.
    fn tokens(&mut self, observed: &StreamObservation, times: Times) {
        let add =
            |sum: &mut u64, tokens: Option<u64>| *sum = sum.saturating_add(tokens.unwrap_or(0));
        add(&mut self.counted.tokens_in, observed.usage.input);
        add(&mut self.counted.tokens_cached, observed.usage.cached);
        self.counted.cache_reported += u64::from(observed.usage.cached.is_some());
        add(&mut self.counted.tokens_reasoning, observed.usage.reasoning);
        add(&mut self.counted.tokens_out, observed.usage.output);
        let Some(output) = observed.usage.output else {
            self.counted.unreported += 1;
            return;
        };
        self.counted.reported += 1;
        let took = observed.last_text.saturating_sub(times.from);
        if observed.last_text != UNSET && took > 0 {
            self.record(Timed::TokensRate, rate(output, took));
        }
    }

    pub(super) fn record(&mut self, timed: Timed, value: u64) {
        self.metrics[timed as usize].record(value);
    }

    /// Adds another tally.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.metrics.iter_mut().zip(&other.metrics).for_each(|(sum, metric)| sum.merge(metric));
        if self.aliases.len() < other.aliases.len() {
            self.aliases.resize_with(other.aliases.len(), Metric::default);
        }
        self.aliases.iter_mut().zip(&other.aliases).for_each(|(sum, metric)| sum.merge(metric));
        self.counted.add(&other.counted);
    }

    /// Empties it; histograms keep the room that they have grown to.
    pub(crate) fn clear(&mut self) {
        self.metrics.iter_mut().chain(&mut self.aliases).for_each(Metric::clear);
        self.counted = Counted::default();
    }
}

/// Micro-tokens a second.
pub(super) fn rate(tokens: u64, took: Nanos) -> u64 {
    let rate = u128::from(tokens) * u128::from(MICRO) * 1_000_000_000 / u128::from(took);
    u64::try_from(rate).unwrap_or(u64::MAX)
}

/// When what is timed from the start happened: first what every stream has.
fn beginnings(observed: &StreamObservation, times: Times) -> [(Timed, Nanos); 4] {
    [
        (Timed::Ttfb, times.first_byte),
        (Timed::Ttfe, observed.first_event),
        (Timed::Ttft, observed.first_text),
        (Timed::Ttfo, observed.first_output),
    ]
}

/// And what those have that were read to their end.
fn ends(observed: &StreamObservation, times: Times) -> [(Timed, Nanos); 2] {
    [
        (Timed::E2e, observed.last_text),
        (Timed::StreamEnd, if observed.end == UNSET { times.last_byte } else { observed.end }),
    ]
}

#[cfg(test)]
mod tests {
    use wire::{Kind, Usage};

    use super::*;

    const TIMES: Times =
        Times { from: 100, is_from_intended: false, first_byte: 110, last_byte: 1_100 };

    fn observed() -> StreamObservation {
        let usage = Usage { input: Some(7), output: Some(5), ..Usage::default() };
        StreamObservation {
            first_event: 110,
            first_text: 200,
            second_text: 300,
            first_output: 200,
            last_text: 1_000,
            end: 1_050,
            texts: 5,
            text_reads: 5,
            usage,
            ..StreamObservation::default()
        }
    }

    fn only(tally: &StreamTally, timed: Timed) -> Nanos {
        let metric = tally.metric(timed);
        assert_eq!(metric.count(), 1, "{timed:?}");
        metric.quantile(1.0)
    }

    #[test]
    fn a_stream_is_timed_by_the_definitions() {
        let mut tally = StreamTally::default();
        tally.accept(&observed(), TIMES);
        let expected = [
            (Timed::Ttfb, 10),
            (Timed::Ttfe, 10),
            (Timed::Ttft, 100),
            (Timed::Ttfo, 100),
            (Timed::Ttst, 100),
            (Timed::E2e, 900),
            (Timed::StreamEnd, 950),
            (Timed::Tpot, 200),
        ];
        assert_eq!(expected.map(|(timed, _)| (timed, only(&tally, timed))), expected);
        let counted = tally.counted;
        assert_eq!((counted.tokens_in, counted.tokens_out), (7, 5));
        assert_eq!((counted.reported, counted.unreported), (1, 0));
    }

    #[test]
    fn tokens_a_second_are_those_until_the_last_text() {
        let mut tally = StreamTally::default();
        let slow = StreamObservation { last_text: 100 + 2_000_000_000, ..observed() };
        tally.accept(&slow, TIMES);
        // Five tokens in two seconds, in millionths.
        let rate = only(&tally, Timed::TokensRate) as f64;
        assert!((rate / 2_500_000.0 - 1.0).abs() < 1e-3, "{rate}");
    }

    #[test]
    fn counts_that_no_server_means_do_not_wrap() {
        let mut tally = StreamTally::default();
        let (input, cached, output) = (Some(u64::MAX), Some(u64::MAX), Some(u64::MAX));
        let usage = Usage { input, cached, output, reasoning: None };
        tally.accept(&StreamObservation { usage, ..observed() }, TIMES);
        tally.accept(&StreamObservation { usage, ..observed() }, TIMES);
        assert_eq!((tally.counted.tokens_in, tally.counted.tokens_out), (u64::MAX, u64::MAX));
        assert_eq!(tally.counted.tokens_cached, u64::MAX);
    }

    #[test]
    fn streams_with_tool_calls_of_another_length_or_with_cached_tokens_are_counted() {
        let mut tally = StreamTally::default();
        let cached = Usage { cached: Some(0), ..observed().usage };
        let silent = StreamObservation { usage: Usage::default(), ..observed() };
        let calling = StreamObservation { has_tool_call: true, usage: cached, ..observed() };
        for (stream, expected) in [(observed(), 5), (silent, 5), (calling, 6)] {
            tally.accept(&stream, TIMES);
            tally.accept_length(&stream, expected);
        }
        let counted = tally.counted;
        assert_eq!((counted.length_checked, counted.length_missed), (2, 1));
        assert_eq!((counted.with_tool_calls, counted.cache_reported), (1, 1));
    }

    #[test]
    fn planned_tokens_are_counted_where_the_server_reports_them() {
        let mut tally = StreamTally::default();
        let usage = |input, output| Usage { input, output, ..observed().usage };
        let streams = [
            (usage(Some(90), Some(5)), [100, 7]),
            (usage(Some(110), None), [100, 7]),
            (usage(Some(4), Some(6)), [0, 7]),
        ];
        for (usage, planned) in streams {
            tally.accept_planned(&StreamObservation { usage, ..observed() }, planned);
        }
        let [prompts, outputs] = tally.counted.planned;
        assert_eq!(prompts, PlannedTokens { streams: 2, planned: 200, reported: 200, apart: 20 });
        assert_eq!(outputs, PlannedTokens { streams: 2, planned: 14, reported: 11, apart: 3 });
        let mut both = tally.clone();
        both.merge(&tally);
        let sums = PlannedTokens { streams: 4, planned: 400, reported: 400, apart: 40 };
        assert_eq!(both.counted.planned[0], sums);
    }

    #[test]
    fn a_stream_without_text_has_an_end_and_nothing_else() {
        let bare = StreamObservation { first_event: 110, ..StreamObservation::default() };
        let mut tally = StreamTally::default();
        tally.accept(&bare, TIMES);
        assert_eq!(only(&tally, Timed::StreamEnd), 1_000);
        for timed in [Timed::Ttft, Timed::Ttfo, Timed::Ttst, Timed::E2e, Timed::Tpot] {
            assert_eq!(tally.metric(timed).count(), 0, "{timed:?}");
        }
        assert_eq!((tally.counted.reported, tally.counted.unreported), (0, 1));
    }

    #[test]
    fn joined_texts_are_gaps_of_nothing_and_no_gaps_between_reads() {
        let mut tally = StreamTally::default();
        let gap = |nanos, joined| Gap { nanos, joined };
        let gaps = [gap(50, Joined::No), gap(0, Joined::Upstream), gap(0, Joined::Client)];
        tally.gaps(gaps.into_iter());
        assert_eq!(tally.metric(Timed::InterChunk).count(), 3);
        assert_eq!(only(&tally, Timed::InterRead), 50);
        assert_eq!((tally.counted.coalesced, tally.counted.client_coalesced), (2, 1));
    }

    #[test]
    fn merging_loses_nothing_and_clearing_keeps_nothing() {
        let (mut one, mut two, mut both) = <(StreamTally, StreamTally, StreamTally)>::default();
        one.accept(&observed(), TIMES);
        two.accept(&StreamObservation { last_text: 900, ..observed() }, TIMES);
        two.end(&StreamObservation { comments: 3, kinds: [1; Kind::ALL.len()], ..observed() });
        both.accept(&observed(), TIMES);
        both.accept(&StreamObservation { last_text: 900, ..observed() }, TIMES);
        both.end(&StreamObservation { comments: 3, kinds: [1; Kind::ALL.len()], ..observed() });
        one.merge(&two);
        assert_eq!(one, both);
        one.clear();
        assert_eq!(one.counted, Counted::default());
        assert!(Timed::NAMED.iter().all(|(timed, _)| one.metric(*timed).count() == 0));
        for (number, (timed, _)) in Timed::NAMED.iter().enumerate() {
            assert_eq!(*timed as usize, number);
        }
    }
}
