//! The numbers of a level. Percentiles are read from its histograms.

use std::borrow::Cow;

use client::Multiplexing;
use net::Nanos;

use super::front::Front;
use super::health::{Health, Machines};
use super::report::{Connections, Report, Sample};
use super::tally::Tally;
use super::timeline::PartCounts;
use super::websocket::WebSocketTally;
use crate::messages::{
    COALESCED, HTTP_CHOSEN, Message, SERVER_HEAD, SERVER_STREAMS, STALLED, UNCERTAIN_CLOCK,
    UNCONFIRMED,
};
use crate::plan::Transport;

/// The largest error with which times of several machines are shown together without a warning.
pub(crate) const MAX_CLOCK_ERROR_NS: Nanos = 1_000_000;

/// Percent of the time of connections from which on it is said that they could not send.
const STALLED_RATE: f64 = 5.0;

/// The maximum number of samples of each class.
const SAMPLES: usize = 5;

/// The numbers of a level.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Summary {
    /// The name of each request.
    pub names: Vec<String>,
    /// Of the measured window, by request.
    pub measured: Vec<Tally>,
    /// Of the warm-up, by request.
    pub warmup: Vec<Tally>,
    /// Users, or connections at most.
    pub concurrency: u64,
    /// The users among them; the others are connections for arrivals.
    pub users: u64,
    /// Planned arrivals a second; none for a closed load.
    pub rate: Option<f64>,
    /// Length of the measured window.
    pub window_ns: Nanos,
    /// Length of the warm-up.
    pub warmup_ns: Nanos,
    /// Attempts of the window still open at the end of the drain.
    pub in_flight: u64,
    /// Users without a turn in the whole window, whose request of the warm-up was still open.
    pub starved: u64,
    /// Connections.
    pub connections: Connections,
    /// What connections of several exchanges did in the window, if there were some.
    pub multiplexing: Option<Multiplexing>,
    /// What connections of WebSocket did in the window, if there were some.
    pub websocket: Option<Box<WebSocketTally>>,
    /// The first failures of each class; their times count from the start of the window.
    pub samples: Vec<Sample>,
    /// When the window started.
    pub window_start: Nanos,
    /// Of each worker, over the window.
    pub workers: Vec<WorkerTime>,
    /// The health of the load generator, if it is this machine.
    pub health: Health,
    /// The processes that generated the load.
    pub generator: Generator,
    /// The nodes that generated the load, if this machine did not.
    pub nodes: Vec<NodeSummary>,
    /// Processes that ended before their load did.
    pub lost: u32,
    /// Warnings, in the order of their texts.
    pub warnings: Vec<Message>,
    /// The version of HTTP, if the engine sent the requests.
    pub http: Option<&'static str>,
    /// Whether connections are kept for more than one exchange.
    pub is_keepalive: bool,
    /// Why nothing could be measured.
    pub failure: Option<Message>,
    /// Whether it was interrupted.
    pub interrupted: bool,
    /// The kind of the load generator.
    pub front: Front,
    /// Of each name, whether its row counts events without an exchange, which are in no total: their
    /// requests may be counted already. Missing entries are false.
    pub events: Vec<bool>,
}

/// A node of the load generator: another machine.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct NodeSummary {
    /// Its name.
    pub name: String,
    /// Its processes.
    pub processes: u32,
    /// Those that ended before their load did.
    pub lost: u32,
    /// Its clock, if it is another one than this machine's.
    pub clock: Option<NodeClock>,
    /// The health of its workers and its machine.
    pub health: Health,
    /// Its part of the counts of the level.
    pub counts: PartCounts,
}

impl NodeSummary {
    /// Takes note of its clock as one of its processes knows it: the least certain of them counts.
    pub(crate) fn note_clock(&mut self, clock: NodeClock) {
        if self.clock.is_none_or(|known| known.bound_ns <= clock.bound_ns) {
            self.clock = Some(clock);
        }
    }
}

/// The clock of a node, compared with that of this machine.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct NodeClock {
    /// Its time minus that of this machine, before the load.
    pub offset_ns: i64,
    /// The maximum error of its times on the clock of this machine.
    pub bound_ns: Nanos,
    /// How much the offset changed during the load.
    pub drift_ns: i64,
}

/// Processor time of one worker over the measured window.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct WorkerTime {
    /// On a core.
    pub cpu_ns: Nanos,
    /// Waiting for a core.
    pub run_queue_ns: Nanos,
    /// On the clock.
    pub wall_ns: Nanos,
    /// Bytes that waited unread at the ends of its intervals, all together.
    pub receive_queue_sum: u64,
    /// Intervals in the sum.
    pub intervals: u64,
}

impl WorkerTime {
    /// Adds an interval of the window.
    pub(crate) fn add(&mut self, report: &Report) {
        self.cpu_ns += report.usage.cpu_ns;
        self.run_queue_ns += report.usage.run_queue_ns;
        self.wall_ns += report.to.saturating_sub(report.from);
        self.receive_queue_sum += report.receive_queue_bytes;
        self.intervals += 1;
    }

    /// Bytes that waited unread at the end of an interval, on average.
    #[must_use]
    pub fn receive_queue_bytes(&self) -> u64 {
        self.receive_queue_sum / self.intervals.max(1)
    }
}

/// The usage of the load generator.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Generator {
    /// Processor time of its processes in the window, this process included.
    pub cpu_ns: Nanos,
    /// The sum of the maximum resident memory of each process.
    pub max_rss_bytes: u64,
    /// Processes that send the load.
    pub processes: u32,
    /// The limit of descriptors of each process.
    pub descriptor_limit: u64,
}

impl Summary {
    /// Returns the sum of the window, without events.
    #[must_use]
    pub fn total(&self) -> Tally {
        self.sum(&self.measured).into_owned()
    }

    /// Returns the sum of the warm-up, without events.
    pub(crate) fn warmup_total(&self) -> Cow<'_, Tally> {
        self.sum(&self.warmup)
    }

    /// Returns the health of each machine that generated the load.
    pub(crate) fn machines(&self) -> Machines<'_> {
        if self.nodes.is_empty() {
            return (&self.health).into();
        }
        Machines(self.nodes.iter().map(|node| (node.name.as_str(), &node.health)).collect())
    }

    /// Adds a warning, once.
    pub fn warn(&mut self, warning: Message) {
        let place = self.warnings.partition_point(|known| known.text < warning.text);
        if self.warnings.get(place) != Some(&warning) {
            self.warnings.insert(place, warning);
        }
    }

    /// Warns of each node whose times may be wrong by more than they should.
    pub(crate) fn warn_of_uncertain_clocks(&mut self) {
        let warnings = self.nodes.iter().filter_map(|node| {
            let bound_ns = node.clock.map_or(0, |clock| clock.bound_ns);
            let name = ("node", node.name.as_str().into());
            #[allow(clippy::cast_precision_loss)]
            let ms = ("ms", ((bound_ns as f64 / 1e4).ceil() / 100.0).into());
            (bound_ns > MAX_CLOCK_ERROR_NS).then(|| UNCERTAIN_CLOCK.message([name, ms]))
        });
        let warnings: Vec<_> = warnings.collect();
        warnings.into_iter().for_each(|warning| self.warn(warning));
    }

    /// Warns of what decided the speed of connections with several exchanges, and of one-way messages that
    /// may not have been read; says which version of HTTP was chosen.
    #[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    pub(crate) fn note_connections(&mut self, transport: &Transport) {
        let Multiplexing { writes, requests, stalled_ns, open_ns, head_bytes, limits } =
            self.multiplexing.unwrap_or_default();
        let mut notes = Vec::new();
        if transport.is_negotiated {
            notes.push(HTTP_CHOSEN.message([("version", transport.http.name().into())]));
        }
        if let Some(allowed) = limits.and_then(|limits| limits.streams)
            && allowed < transport.streams.into()
        {
            let asked = ("asked", transport.streams.into());
            notes.push(SERVER_STREAMS.message([("allowed", allowed.into()), asked]));
        }
        if let Some(allowed) = limits.and_then(|limits| limits.header_list_bytes)
            && head_bytes > allowed.into()
        {
            let bytes = ("bytes", head_bytes.into());
            notes.push(SERVER_HEAD.message([("allowed", allowed.into()), bytes]));
        }
        if transport.coalesce_ns > 0 && writes > 0 {
            let each = (requests as f64 / writes as f64 * 10.0).round() / 10.0;
            let each = ("each", each.into());
            let us = ("us", (transport.coalesce_ns / 1000).into());
            notes.push(COALESCED.message([us, each]));
        }
        let rate = 100.0 * stalled_ns as f64 / open_ns.max(1) as f64;
        if rate >= STALLED_RATE {
            notes.push(STALLED.message([("rate", (rate as u64).into())]));
        }
        let unconfirmed = self.connections.unconfirmed;
        if unconfirmed > 0 {
            notes.push(UNCONFIRMED.message([("n", unconfirmed.into())]));
        }
        notes.into_iter().for_each(|note| self.warn(note));
    }

    /// Returns whether a row counts events.
    pub(crate) fn is_event(&self, row: usize) -> bool {
        self.events.get(row).copied().unwrap_or(false)
    }

    fn sum<'a>(&self, tallies: &'a [Tally]) -> Cow<'a, Tally> {
        if !self.events.contains(&true) {
            return sum(tallies);
        }
        let mut total = Tally::default();
        let counted = tallies.iter().enumerate().filter(|(row, _)| !self.is_event(*row));
        counted.for_each(|(_, tally)| total.merge(tally));
        Cow::Owned(total)
    }

    /// Removes all samples but the first of each class.
    pub fn keep_first_samples(&mut self) {
        self.samples.sort_by(|one, two| (&one.class, one.at).cmp(&(&two.class, two.at)));
        let mut first: Vec<Sample> = Vec::new();
        for sample in self.samples.drain(..) {
            if first.iter().filter(|known| known.class == sample.class).count() < SAMPLES {
                first.push(sample);
            }
        }
        self.samples = first;
    }
}

/// Adds tallies one by one.
pub(crate) fn add_tallies(sums: &mut Vec<Tally>, others: &[Tally]) {
    if sums.len() < others.len() {
        sums.resize(others.len(), Tally::default());
    }
    sums.iter_mut().zip(others).for_each(|(sum, other)| sum.merge(other));
}

/// Returns the sum of tallies.
pub(crate) fn sum(tallies: &[Tally]) -> Cow<'_, Tally> {
    if let [only] = tallies {
        return Cow::Borrowed(only);
    }
    let mut total = Tally::default();
    tallies.iter().for_each(|tally| total.merge(tally));
    Cow::Owned(total)
}

#[cfg(test)]
mod tests {
    use client::ServerLimits;
    use net::ThreadUsage;

    use super::*;
    use crate::measure::report::Phase;
    use crate::plan::HttpVersion;

    #[test]
    fn what_the_server_chose_allows_and_delays_is_said() {
        let limits = ServerLimits {
            streams: Some(50),
            window_bytes: 65_535,
            frame_bytes: 16_384,
            header_table_bytes: 4096,
            header_list_bytes: Some(120),
        };
        let counts = Multiplexing {
            writes: 30,
            requests: 100,
            stalled_ns: 49,
            open_ns: 1000,
            head_bytes: 120,
            limits: Some(limits),
        };
        let notes = |counts, transport: &Transport| {
            let mut summary = Summary { multiplexing: Some(counts), ..Summary::default() };
            summary.note_connections(transport);
            summary.warnings.into_iter().map(|note| note.text).collect::<Vec<_>>()
        };
        let http = HttpVersion::Two;
        let transport = Transport { http, streams: 50, ..Transport::default() };
        assert!(notes(counts, &transport).is_empty());
        let transport =
            Transport { streams: 51, coalesce_ns: 300_000, is_negotiated: true, ..transport };
        let expected = [
            "connections could not send for 5 % of their time: the server read too slowly, or its \
             flow-control window was used up",
            "requests were collected for up to 300 µs before they were sent, 3.3 in a write",
            "the server allows 50 streams on a connection, fewer than --streams 51",
            "the server allows heads of 120 bytes, and the largest head of a request has 121: the server \
             may refuse it",
            "the server chose HTTP/2",
        ];
        let unused = Multiplexing { limits: None, ..Multiplexing::default() };
        assert_eq!(notes(unused, &transport), ["the server chose HTTP/2"]);
        let more = Multiplexing { stalled_ns: 50, head_bytes: 121, ..counts };
        assert_eq!(notes(more, &transport), expected);
        let mut summary = Summary::default();
        summary.connections.unconfirmed = 2;
        summary.note_connections(&Transport::default());
        let text = "the server did not confirm that it has read all messages of 2 connections";
        assert_eq!(summary.warnings[0].text, text);
    }

    #[test]
    fn the_clock_of_a_node_is_as_uncertain_as_that_of_its_least_certain_process() {
        let mut node = NodeSummary::default();
        for bound_ns in [100, 3_000, 200] {
            node.note_clock(NodeClock { bound_ns, ..NodeClock::default() });
        }
        assert_eq!(node.clock.unwrap().bound_ns, 3_000);
    }

    #[test]
    fn a_node_whose_clock_is_known_to_more_than_a_millisecond_is_named() {
        let node = |name: &str, bound_ns| NodeSummary {
            name: name.into(),
            clock: Some(NodeClock { bound_ns, ..NodeClock::default() }),
            ..NodeSummary::default()
        };
        let here = NodeSummary { name: "here".into(), ..NodeSummary::default() };
        let nodes = vec![here, node("exact", MAX_CLOCK_ERROR_NS), node("far", 2_003_001)];
        let mut summary = Summary { nodes, ..Summary::default() };
        summary.warn_of_uncertain_clocks();
        let texts: Vec<_> = summary.warnings.iter().map(|warning| warning.text.as_str()).collect();
        assert_eq!(texts.len(), 1, "{texts:?}");
        assert!(texts[0].starts_with("the clock of far is known to 2.01 ms only"), "{texts:?}");
    }

    #[test]
    fn the_times_of_a_workers_intervals_are_added() {
        let mut time = WorkerTime::default();
        assert_eq!(time.receive_queue_bytes(), 0);
        for (cpu_ns, bytes) in [(30, 5), (50, 9), (70, 4)] {
            let usage = ThreadUsage { cpu_ns, run_queue_ns: cpu_ns / 10 };
            let (from, to) = (1_000, 1_000 + 2 * cpu_ns);
            let empty = Report::empty(0, Phase::Measure, 0);
            time.add(&Report { usage, from, to, receive_queue_bytes: bytes, ..empty });
        }
        let (cpu_ns, run_queue_ns, wall_ns) = (150, 15, 300);
        let expected =
            WorkerTime { cpu_ns, run_queue_ns, wall_ns, receive_queue_sum: 18, intervals: 3 };
        assert_eq!(time, expected);
        assert_eq!(time.receive_queue_bytes(), 6);
    }

    #[test]
    fn a_total_is_the_sum_of_all_requests_without_events() {
        let tallies = |counts: [u64; 3]| counts.map(|ok| Tally { ok, ..Tally::default() }).to_vec();
        let measured = tallies([1, 20, 300]);
        let warmup = tallies([2, 40, 600]);
        let mut summary = Summary { measured, warmup, ..Summary::default() };
        assert_eq!((summary.total().ok, summary.warmup_total().ok), (321, 642));
        summary.events = vec![false, true];
        assert_eq!((summary.total().ok, summary.warmup_total().ok), (301, 602));
        assert_eq!([0, 1, 2].map(|row| summary.is_event(row)), [false, true, false]);
        summary.measured.truncate(1);
        assert_eq!(summary.total().ok, 1);
    }

    #[test]
    fn warnings_are_in_order_and_said_once() {
        let mut summary = Summary::default();
        for name in ["b", "c", "a", "b", "c"] {
            summary.warn(UNCERTAIN_CLOCK.message([("node", name.into()), ("ms", 1.into())]));
        }
        let nodes = summary.warnings.iter().map(|warning| &warning.text[13..14]);
        assert_eq!(nodes.collect::<String>(), "abc");
    }

    #[test]
    fn tallies_are_added_one_by_one_also_to_fewer() {
        let tallies = |counts: &[u64]| -> Vec<_> {
            counts.iter().map(|ok| Tally { ok: *ok, ..Tally::default() }).collect()
        };
        let mut sums = tallies(&[1]);
        add_tallies(&mut sums, &tallies(&[10, 20]));
        add_tallies(&mut sums, &tallies(&[100]));
        assert_eq!(sums, tallies(&[111, 20]));
    }

    #[test]
    fn the_first_samples_of_each_class_are_kept() {
        let text = String::new;
        let sample = |class: &str, at| Sample {
            name: text(),
            class: class.into(),
            reason: text(),
            detail: text(),
            at,
            status: None,
            head: text(),
            body: text(),
        };
        let samples = [9, 3, 7, 1, 5, 2, 8].map(|at| sample("read", at)).to_vec();
        let mut summary = Summary { samples, ..Summary::default() };
        summary.samples.push(sample("connect", 4));
        summary.keep_first_samples();
        let kept: Vec<_> =
            summary.samples.iter().map(|kept| (kept.class.as_str(), kept.at)).collect();
        let reads = [1, 2, 3, 5, 7].map(|at| ("read", at));
        assert_eq!(kept, [&[("connect", 4)], &reads[..]].concat());
    }
}
