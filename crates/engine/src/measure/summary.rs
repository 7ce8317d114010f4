//! The whole of a level as numbers. Percentiles are not in it; they are read from its histograms.

use std::borrow::Cow;

use net::Nanos;

use super::front::Front;
use super::health::Health;
use super::report::{Connections, Report, Sample};
use super::tally::Tally;
use crate::messages::Message;

/// Samples kept of each class.
const SAMPLES: usize = 5;

/// What a load did.
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
    /// Of those, users; the others are connections of arrivals.
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
    pub lost: u32,
    /// What a reader must know, although the figures stand; in the order of their texts.
    pub warnings: Vec<Message>,
    /// Whether connections are kept for more than one exchange.
    pub is_keepalive: bool,
    /// Why nothing could be measured.
    pub failure: Option<Message>,
    /// Whether somebody ended it early.
    pub interrupted: bool,
    /// Who fired.
    pub front: Front,
    /// Of each name, whether its row tells of events with no exchange behind them. They are in no
    /// total: what they tell of may be counted already. A name that is not here is none.
    pub events: Vec<bool>,
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

/// What generating cost.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
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
    /// Everything of the measured window in one tally, without events.
    #[must_use]
    pub fn total(&self) -> Tally {
        self.sum(&self.measured).into_owned()
    }

    /// Everything of the warm-up, without events.
    pub(crate) fn warmup_total(&self) -> Cow<'_, Tally> {
        self.sum(&self.warmup)
    }

    /// Adds a warning, once.
    pub fn warn(&mut self, warning: Message) {
        let place = self.warnings.partition_point(|known| known.text < warning.text);
        if self.warnings.get(place) != Some(&warning) {
            self.warnings.insert(place, warning);
        }
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
    pub fn keep_first_samples(&mut self) {
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
