//! The health of the load generator: fixed thresholds for each worker and interval.
//!
//! Vitals of intervals become signs, and the signs of a level a verdict with advice. A slow target raises
//! the queue wait, never the lag, so that it does not count against the load generator.

use net::Nanos;

use super::front::{Front, Messages};
use super::metric::Metric;
use super::report::Connections;
use crate::messages::{
    BOTH_FULL, FAILED_DIALS, LATE_STARTS, MISSING_CONNECTIONS, Message, MessageTemplate, NO_PORT,
    NO_SOCKET_MEMORY, ON_MANY_NODES, ON_NODES, STEAL, THROTTLED,
};

/// Shorter intervals are not judged: the clocks of /proc tick every 10 ms.
pub(crate) const JUDGED_NS: Nanos = 90_000_000;

/// A core is full from this usage on.
const FULL_RATE: f64 = 95.0;
const RUN_QUEUE_RATE: f64 = 10.0;
const STEAL_RATE: f64 = 5.0;
const LAG_NS: Nanos = 2_000_000;
/// A worker that used less of its core was not late because of a full core.
const BUSY_RATE: f64 = 50.0;
/// A condition flags a level when it holds in this share of its intervals, and in at least two.
const FLAG_SHARE: f64 = 0.2;
const FLAG_INTERVALS: u64 = 2;

/// How late a worker was in an interval: by p99 of what it did, or by the p90 of its timer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lag {
    /// The lag.
    pub p99: Nanos,
    /// The p99 of the response time, which excuses a tenth of itself.
    pub response: Nanos,
}

impl Lag {
    /// The lag from which on the worker was late.
    pub(crate) fn limit(self) -> Nanos {
        LAG_NS.max(self.response / 10)
    }

    fn is_late(self) -> bool {
        self.p99 > self.limit()
    }
}

/// The measurements of one interval.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Vitals {
    /// Percent of a core that each worker used.
    pub worker_cpu_rate: Vec<f64>,
    /// Percent of the time that each worker waited for a core.
    pub run_queue_rate: Vec<f64>,
    /// Percent of the machine that the hypervisor took.
    pub steal_rate: f64,
    /// Whether the cgroup was throttled.
    pub throttled: bool,
    /// Percent of a core that the busiest thread of a local target used, where it is known.
    pub target_cpu_rate: Option<f64>,
    /// Whether the target is on this machine.
    pub is_local: bool,
    /// If workers can be late: the lag of each worker, if it is known.
    pub lags: Vec<Option<Lag>>,
}

/// A condition that held in an interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sign {
    Saturated,
    Late,
    Waiting,
    Stolen,
    Throttled,
    BothFull,
}

const SIGNS: [Sign; 6] =
    [Sign::Saturated, Sign::Late, Sign::Waiting, Sign::Stolen, Sign::Throttled, Sign::BothFull];

impl Vitals {
    fn shows(&self, sign: Sign) -> bool {
        let target_full = self.target_cpu_rate.is_some_and(|rate| rate >= FULL_RATE);
        let mut workers = self.worker_cpu_rate.iter().zip(&self.run_queue_rate);
        match sign {
            Sign::Saturated => workers.any(|(cpu, queue)| {
                // Beside a local target the wait for a core is contention, not the generator's limit.
                let is_own = *queue < RUN_QUEUE_RATE || !self.is_local;
                cpu + queue >= FULL_RATE && is_own && !target_full
            }),
            Sign::Late => self.late_workers().next().is_some(),
            Sign::Waiting => {
                self.is_local && self.run_queue_rate.iter().any(|rate| *rate >= RUN_QUEUE_RATE)
            }
            Sign::Stolen => self.is_local && self.steal_rate >= STEAL_RATE,
            Sign::Throttled => self.is_local && self.throttled,
            Sign::BothFull => target_full && workers.any(|(cpu, queue)| cpu + queue >= FULL_RATE),
        }
    }

    /// Returns the core usage of each worker that was late, in percent.
    fn late_workers(&self) -> impl Iterator<Item = f64> {
        let workers = self.lags.iter().zip(&self.worker_cpu_rate);
        workers.filter(|(lag, _)| lag.is_some_and(Lag::is_late)).map(|(_, cpu)| *cpu)
    }
}

/// The signs of a level so far.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Health {
    intervals: u64,
    seen: [u64; SIGNS.len()],
    steal_sum: f64,
    target_sum: f64,
    target_intervals: u64,
    /// Of the late intervals, those in which no late worker was busy.
    late_and_idle: u64,
    /// The lag of the latest worker, interval by interval.
    lag: Metric,
}

impl Health {
    /// Adds an interval of the window.
    pub fn add_interval(&mut self, vitals: &Vitals) {
        self.intervals += 1;
        for (seen, sign) in self.seen.iter_mut().zip(SIGNS) {
            *seen += u64::from(vitals.shows(sign));
        }
        if vitals.shows(Sign::Late) {
            self.late_and_idle += u64::from(vitals.late_workers().all(|cpu| cpu < BUSY_RATE));
        }
        let lags = vitals.lags.iter().flatten().map(|lag| lag.p99);
        lags.max().into_iter().for_each(|lag| self.lag.record(lag));
        self.steal_sum += vitals.steal_rate;
        if let Some(rate) = vitals.target_cpu_rate {
            self.target_sum += rate;
            self.target_intervals += 1;
        }
    }

    /// Percent of the machine that the hypervisor took, on average.
    #[must_use]
    #[allow(clippy::cast_precision_loss)]
    pub fn steal_rate(&self) -> f64 {
        self.steal_sum / self.intervals.max(1) as f64
    }

    /// Percent of a core that the busiest thread of a local target used, on average.
    #[must_use]
    #[allow(clippy::cast_precision_loss)]
    pub fn target_cpu_rate(&self) -> Option<f64> {
        (self.target_intervals > 0).then(|| self.target_sum / self.target_intervals as f64)
    }

    /// Intervals that were judged.
    #[must_use]
    pub fn intervals(&self) -> u64 {
        self.intervals
    }

    /// Of those, the ones in which a worker was late.
    #[must_use]
    pub fn late_intervals(&self) -> u64 {
        self.seen(Sign::Late)
    }

    /// Returns the lag that the latest worker reached in as many intervals as flag a level; none if no
    /// worker could be late.
    #[must_use]
    pub fn lag_ns(&self) -> Option<Nanos> {
        (self.lag.count() > 0).then(|| self.lag.quantile(1.0 - FLAG_SHARE))
    }

    fn seen(&self, sign: Sign) -> u64 {
        SIGNS.iter().position(|known| *known == sign).map_or(0, |at| self.seen[at])
    }

    #[allow(clippy::cast_precision_loss)]
    fn flags(&self, sign: Sign) -> bool {
        let seen = self.seen(sign);
        seen >= FLAG_INTERVALS && seen as f64 >= FLAG_SHARE * self.intervals as f64
    }
}

/// The signs of each machine that took part in a level, with its name if it is a node. The worst one
/// decides: many machines that are each late now and then are not together always late.
#[derive(Debug, Clone)]
pub(crate) struct Machines<'a>(pub(crate) Vec<(&'a str, &'a Health)>);

/// The nodes that a reason names.
const NAMED_NODES: usize = 3;

impl Machines<'_> {
    /// The highest percentage of a machine that its hypervisor took, on average.
    pub(crate) fn steal_rate(&self) -> f64 {
        self.0.iter().map(|(_, health)| health.steal_rate()).fold(0.0, f64::max)
    }

    /// As [`Health::target_cpu_rate`].
    pub(crate) fn target_cpu_rate(&self) -> Option<f64> {
        self.0.iter().filter_map(|(_, health)| health.target_cpu_rate()).reduce(f64::max)
    }

    /// Intervals that were judged.
    pub(crate) fn intervals(&self) -> u64 {
        self.highest(Health::intervals)
    }

    /// Of those, the ones in which a worker of the machine that was late most often was late.
    pub(crate) fn late_intervals(&self) -> u64 {
        self.highest(Health::late_intervals)
    }

    /// As [`Health::lag_ns`].
    pub(crate) fn lag_ns(&self) -> Option<Nanos> {
        self.0.iter().filter_map(|(_, health)| health.lag_ns()).max()
    }

    fn highest(&self, pick: fn(&Health) -> u64) -> u64 {
        self.0.iter().map(|(_, health)| pick(health)).max().unwrap_or(0)
    }

    fn flagged(&self, sign: Sign) -> impl Iterator<Item = (&str, &Health)> {
        self.0.iter().copied().filter(move |(_, health)| health.flags(sign))
    }

    /// Returns the reason, with the nodes that it is true for, if a machine shows the sign.
    fn reason(&self, sign: Sign, template: MessageTemplate) -> Option<Message> {
        let names: Vec<&str> = self.flagged(sign).map(|(name, _)| name).collect();
        let named = names.iter().take(NAMED_NODES).copied().collect::<Vec<_>>().join(", ");
        let reason = template.plain();
        if names.is_empty() {
            None
        } else if named.is_empty() {
            Some(reason)
        } else {
            let (nodes, reason) = (("nodes", named.into()), ("reason", reason.into()));
            let more = ("more", names.len().saturating_sub(NAMED_NODES).into());
            Some(if names.len() <= NAMED_NODES {
                ON_NODES.message([nodes, reason])
            } else {
                ON_MANY_NODES.message([nodes, more, reason])
            })
        }
    }
}

impl<'a> From<&'a Health> for Machines<'a> {
    fn from(only: &'a Health) -> Self {
        Self(vec![("", only)])
    }
}

/// The verdict on the health of a level.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Verdict {
    /// `healthy`, `contended` or `generator-limited`.
    pub word: &'static str,
    /// Why, with advice.
    pub reasons: Vec<Message>,
}

/// The numbers of a level that are judged besides the signs of its intervals.
#[derive(Debug, Clone, Default)]
pub(crate) struct Evidence {
    /// Connections of the level.
    pub connections: Connections,
    /// Descriptors that a process of the generator may hold.
    pub descriptor_limit: u64,
    /// Attempts, where connections are not kept: `open_max` says nothing there.
    pub unkept_attempts: Option<u64>,
    /// Planned, and taken up or dropped within the window; open model only.
    pub on_time: Option<(u64, u64)>,
    /// Processes of the generator that ended before their load did.
    pub lost: u32,
    /// The kind of the load generator.
    pub front: Front,
}

/// Judges a level.
#[must_use]
pub(crate) fn judge<'a>(machines: impl Into<Machines<'a>>, evidence: &Evidence) -> Verdict {
    let machines = machines.into();
    let messages = evidence.front.messages();
    let is_idle = machines
        .flagged(Sign::Late)
        .all(|(_, health)| 2 * health.late_and_idle > health.late_intervals());
    let late = if is_idle { messages.late_and_idle } else { messages.late };
    let lost = (evidence.lost > 0).then(|| messages.process_lost.plain());
    let mut limited: Vec<Message> = lost.into_iter().collect();
    limited.extend(machines.reason(Sign::Saturated, messages.saturated));
    limited.extend(machines.reason(Sign::Late, late));
    limited.extend(lateness(evidence));
    limited.extend(missing_connections(evidence));
    let contended = contention(&machines, messages);
    let word = match (limited.is_empty(), contended.is_empty()) {
        (false, _) => "generator-limited",
        (true, false) => "contended",
        (true, true) => "healthy",
    };
    limited.extend(contended);
    Verdict { word, reasons: limited }
}

fn lateness(evidence: &Evidence) -> Option<Message> {
    let (planned, on_time) = evidence.on_time?;
    let is_late = on_time.saturating_mul(100) < planned.saturating_mul(99);
    is_late.then(|| LATE_STARTS.message([("started", on_time.into()), ("planned", planned.into())]))
}

fn missing_connections(evidence: &Evidence) -> Option<Message> {
    let Connections { asked, open_max, short_max, local, .. } = &evidence.connections;
    // Connections that the target closed or refused are missing for another reason.
    let missing = asked.saturating_sub(*open_max).min(*short_max);
    let is_enough = match evidence.unkept_attempts {
        Some(attempts) => local.sum().saturating_mul(100) <= attempts,
        None => missing.saturating_mul(100) <= *asked,
    };
    if local.sum() == 0 || is_enough {
        return None;
    }
    let cause = if local.no_descriptor >= local.no_port.max(local.no_buffer) {
        let limit = evidence.descriptor_limit;
        evidence.front.messages().no_descriptor.message([("limit", limit.into())])
    } else if local.no_port >= local.no_buffer {
        NO_PORT.plain()
    } else {
        NO_SOCKET_MEMORY.plain()
    };
    let cause = ("cause", cause.into());
    if evidence.unkept_attempts.is_some() {
        return Some(FAILED_DIALS.message([("n", local.sum().into()), cause]));
    }
    let (open, asked) = (("open", (*open_max).into()), ("asked", (*asked).into()));
    Some(MISSING_CONNECTIONS.message([open, asked, cause]))
}

fn contention(machines: &Machines<'_>, messages: &Messages) -> Vec<Message> {
    let table = [
        (Sign::Waiting, messages.run_queue),
        (Sign::Stolen, STEAL),
        (Sign::Throttled, THROTTLED),
        (Sign::BothFull, BOTH_FULL),
    ];
    table.iter().filter_map(|(sign, template)| machines.reason(*sign, *template)).collect()
}

#[cfg(test)]
mod tests;
