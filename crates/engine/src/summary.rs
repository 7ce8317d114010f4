//! The whole of a level as numbers that add up: what processes and machines hand each other.
//!
//! Versioned bytes (JSON with histograms in HdrHistogram's form). Percentiles are not in it; they
//! are read from the sum.

use std::borrow::Cow;
use std::collections::BTreeSet;

use net::Nanos;
use serde::{Deserialize, Serialize};

use crate::front::Front;
use crate::health::Health;
use crate::report::{Connections, Sample};
use crate::tally::Tally;

/// The version of the summary's form.
pub const SUMMARY_VERSION: u32 = 1;

/// Samples kept of each class.
const SAMPLES: usize = 5;

/// What a load did.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// [`SUMMARY_VERSION`].
    pub version: u32,
    /// The name of each request.
    pub names: Vec<String>,
    /// Of the measured window, by request.
    pub measured: Vec<Tally>,
    /// Of the warm-up, by request.
    pub warmup: Vec<Tally>,
    /// Users, or connections at most.
    pub concurrency: u64,
    /// Of those, users; the others are connections of arrivals.
    #[serde(default)]
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
    /// The first failures of each class; their times count from the start of the window.
    pub samples: Vec<Sample>,
    /// When the window started, on the clock of the machine.
    pub window_start: Nanos,
    /// Of each worker, over the window.
    pub workers: Vec<WorkerTime>,
    /// Signs of trouble.
    pub health: Health,
    /// The processes that generated the load.
    pub generator: Generator,
    /// Processes that ended before their load did.
    #[serde(default)]
    pub lost: u32,
    /// What a reader must know, although the figures stand.
    pub warnings: BTreeSet<String>,
    /// Whether connections are kept for more than one exchange.
    pub is_keepalive: bool,
    /// Why nothing could be measured.
    pub failure: Option<String>,
    /// Whether somebody ended it early.
    pub interrupted: bool,
    /// Who fired.
    #[serde(default)]
    pub front: Front,
    /// Of each name, whether its row tells of events with no exchange behind them. They are in no
    /// total: what they tell of may be counted already. A name that is not here is none.
    #[serde(default)]
    pub events: Vec<bool>,
}

/// Processor time of one worker over the measured window.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkerTime {
    /// On a core.
    pub cpu_ns: Nanos,
    /// Waiting for a core.
    pub run_queue_ns: Nanos,
    /// On the clock.
    pub wall_ns: Nanos,
    /// Bytes that waited unread at the ends of its slices, all together.
    #[serde(default)]
    pub receive_queue_sum: u64,
    /// Slices in the sum.
    #[serde(default)]
    pub slices: u64,
}

impl WorkerTime {
    /// Bytes that waited unread at the end of a slice, on average.
    #[must_use]
    pub fn receive_queue_bytes(&self) -> u64 {
        self.receive_queue_sum / self.slices.max(1)
    }
}

/// What generating cost.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Generator {
    /// Processor time of its processes over the window, this front included.
    pub cpu_ns: Nanos,
    /// The most memory that each ever held, summed.
    pub max_rss_bytes: u64,
    /// Processes that fire.
    pub processes: u32,
    /// Descriptors that each may hold.
    pub descriptor_limit: u64,
}

impl Summary {
    /// Adds the summary of another part of the same plan.
    pub fn merge(&mut self, other: &Self) {
        add_tallies(&mut self.measured, &other.measured);
        add_tallies(&mut self.warmup, &other.warmup);
        self.concurrency += other.concurrency;
        self.users += other.users;
        self.rate = match (self.rate, other.rate) {
            (Some(one), Some(two)) => Some(one + two),
            (known, None) | (None, known) => known,
        };
        self.window_ns = self.window_ns.max(other.window_ns);
        self.warmup_ns = self.warmup_ns.max(other.warmup_ns);
        self.in_flight += other.in_flight;
        self.starved += other.starved;
        self.connections.merge(&other.connections);
        self.samples.extend(other.samples.iter().cloned());
        self.keep_first_samples();
        self.window_start = self.window_start.min(other.window_start);
        self.workers.extend(&other.workers);
        self.health.merge(&other.health);
        self.generator.cpu_ns += other.generator.cpu_ns;
        self.generator.max_rss_bytes += other.generator.max_rss_bytes;
        self.generator.processes += other.generator.processes;
        self.lost += other.lost;
        self.warnings.extend(other.warnings.iter().cloned());
        self.is_keepalive &= other.is_keepalive;
        self.failure = self.failure.take().and(other.failure.clone());
        self.interrupted |= other.interrupted;
    }

    /// The summary as bytes.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        // Numbers, texts and maps with text keys always have a JSON form.
        serde_json::to_vec(self).unwrap_or_default()
    }

    /// Reads a summary; the message says why the bytes are none.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, String> {
        let summary: Self =
            serde_json::from_slice(bytes).map_err(|error| format!("summary: {error}"))?;
        if summary.version == SUMMARY_VERSION {
            Ok(summary)
        } else {
            Err(format!("summary: version {} is not {SUMMARY_VERSION}", summary.version))
        }
    }

    /// Everything of the measured window in one tally, without events.
    #[must_use]
    pub fn total(&self) -> Tally {
        self.sum(&self.measured).into_owned()
    }

    /// Everything of the warm-up, without events.
    pub(crate) fn warmup_total(&self) -> Cow<'_, Tally> {
        self.sum(&self.warmup)
    }

    /// Whether a row tells of events.
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

    /// Leaves the earliest few samples of each class.
    pub(crate) fn keep_first_samples(&mut self) {
        self.samples.sort_by(|one, two| (&one.class, one.at).cmp(&(&two.class, two.at)));
        let mut kept: Vec<Sample> = Vec::new();
        for sample in self.samples.drain(..) {
            if kept.iter().filter(|known| known.class == sample.class).count() < SAMPLES {
                kept.push(sample);
            }
        }
        self.samples = kept;
    }
}

/// Adds tallies one by one.
pub(crate) fn add_tallies(sums: &mut Vec<Tally>, others: &[Tally]) {
    if sums.len() < others.len() {
        sums.resize(others.len(), Tally::default());
    }
    sums.iter_mut().zip(others).for_each(|(sum, other)| sum.merge(other));
}

/// Many tallies as one.
pub(crate) fn sum(tallies: &[Tally]) -> Cow<'_, Tally> {
    if let [only] = tallies {
        return Cow::Borrowed(only);
    }
    let mut total = Tally::default();
    tallies.iter().for_each(|tally| total.merge(tally));
    Cow::Owned(total)
}
