//! Whether the generator can be believed: judged for each worker and slice, by fixed thresholds.
//!
//! Pure: figures go in, signs and a verdict with advice come out. A slow target raises `wait`,
//! never `lag`, and is not blamed on the generator.

use net::Nanos;
use serde::{Deserialize, Serialize};

use crate::front::{Front, Words};
use crate::report::Connections;

/// Shorter slices say nothing about health: clocks of /proc tick at 10 ms.
pub(crate) const JUDGED_NS: Nanos = 90_000_000;

/// A core with so much work is full.
const FULL_RATE: f64 = 95.0;
const RUN_QUEUE_RATE: f64 = 10.0;
const STEAL_RATE: f64 = 5.0;
const LAG_NS: Nanos = 2_000_000;
/// A condition flags a level when it holds in this share of its slices, and in at least two.
const FLAG_SHARE: f64 = 0.2;
const FLAG_SLICES: u64 = 2;

/// What one slice showed.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Vitals {
    /// Percent of a core that each worker used.
    pub worker_cpu_rate: Vec<f64>,
    /// Percent of the time that each worker waited for a core.
    pub run_queue_rate: Vec<f64>,
    /// Percent of the machine that the hypervisor took.
    pub steal_rate: f64,
    /// Whether the cgroup was held back.
    pub throttled: bool,
    /// Percent of a core that the busiest thread of a local target used, where it is known.
    pub target_cpu_rate: Option<f64>,
    /// Whether the target is on this machine.
    pub is_local: bool,
    /// Where the generator can be late: lag and response p99 of everything that ended, worker by worker.
    pub lag_p99: Vec<(Nanos, Nanos)>,
}

/// A condition that held in a slice.
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
            Sign::Late => {
                let mut workers = self.lag_p99.iter();
                workers.any(|(lag, response)| *lag > LAG_NS.max(response / 10))
            }

            Sign::Waiting => {
                self.is_local && self.run_queue_rate.iter().any(|rate| *rate >= RUN_QUEUE_RATE)
            }
            Sign::Stolen => self.is_local && self.steal_rate >= STEAL_RATE,
            Sign::Throttled => self.is_local && self.throttled,
            Sign::BothFull => target_full && workers.any(|(cpu, queue)| cpu + queue >= FULL_RATE),
        }
    }
}

/// The signs of a level so far; adds up over processes.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Health {
    slices: u64,
    seen: [u64; SIGNS.len()],
    steal_sum: f64,
    target_sum: f64,
    target_slices: u64,
}

impl Health {
    /// Takes in one slice of the measured window.
    pub fn see(&mut self, vitals: &Vitals) {
        self.slices += 1;
        for (seen, sign) in self.seen.iter_mut().zip(SIGNS) {
            *seen += u64::from(vitals.shows(sign));
        }
        self.steal_sum += vitals.steal_rate;
        if let Some(rate) = vitals.target_cpu_rate {
            self.target_sum += rate;
            self.target_slices += 1;
        }
    }

    /// Adds the signs that another process saw in the same window.
    pub fn merge(&mut self, other: &Self) {
        self.slices = self.slices.max(other.slices);
        self.seen.iter_mut().zip(other.seen).for_each(|(seen, also)| *seen = (*seen).max(also));
        self.steal_sum = self.steal_sum.max(other.steal_sum);
        if other.target_slices > self.target_slices {
            (self.target_sum, self.target_slices) = (other.target_sum, other.target_slices);
        }
    }

    /// Percent of the machine that the hypervisor took, on average.
    #[must_use]
    #[allow(clippy::cast_precision_loss)]
    pub fn steal_rate(&self) -> f64 {
        self.steal_sum / self.slices.max(1) as f64
    }

    /// Percent of a core that the busiest thread of a local target used, on average.
    #[must_use]
    #[allow(clippy::cast_precision_loss)]
    pub fn target_cpu_rate(&self) -> Option<f64> {
        (self.target_slices > 0).then(|| self.target_sum / self.target_slices as f64)
    }

    #[allow(clippy::cast_precision_loss)]
    fn flags(&self, sign: Sign) -> bool {
        let seen = SIGNS.iter().position(|known| *known == sign).map_or(0, |at| self.seen[at]);
        seen >= FLAG_SLICES && seen as f64 >= FLAG_SHARE * self.slices as f64
    }
}

/// The judgement of a level.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Verdict {
    /// `healthy`, `contended` or `generator-limited`.
    pub word: &'static str,
    /// Why, with advice.
    pub reasons: Vec<String>,
}

/// What the whole level adds to the signs of its slices.
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
    /// Who fired.
    pub front: Front,
}

/// Judges a level.
#[must_use]
pub(crate) fn judge(health: &Health, evidence: &Evidence) -> Verdict {
    let words = evidence.front.words();
    let table = [
        (evidence.lost > 0, words.lost),
        (health.flags(Sign::Saturated), words.saturated),
        (health.flags(Sign::Late), words.late),
    ];
    let mut limited: Vec<String> =
        table.iter().filter(|(holds, _)| *holds).map(|(_, text)| (*text).to_owned()).collect();
    limited.extend(lateness(evidence));
    limited.extend(missing_connections(evidence));
    let contended = contention(health, words);
    let word = match (limited.is_empty(), contended.is_empty()) {
        (false, _) => "generator-limited",
        (true, false) => "contended",
        (true, true) => "healthy",
    };
    limited.extend(contended);
    Verdict { word, reasons: limited }
}

fn lateness(evidence: &Evidence) -> Option<String> {
    let (planned, on_time) = evidence.on_time?;
    (on_time.saturating_mul(100) < planned.saturating_mul(99)).then(|| {
        let (on_time, planned) = (grouped(on_time), grouped(planned));
        format!("only {on_time} of {planned} planned requests could be started within the window: lower the rate or give the generator more cores")
    })
}

fn missing_connections(evidence: &Evidence) -> Option<String> {
    let Connections { asked, open_max, short_max, local, .. } = &evidence.connections;
    // What the target closed or refused is missing too, but not for want of anything here.
    let missing = asked.saturating_sub(*open_max).min(*short_max);
    let is_enough = match evidence.unkept_attempts {
        Some(attempts) => local.sum().saturating_mul(100) <= attempts,
        None => missing.saturating_mul(100) <= *asked,
    };
    if local.sum() == 0 || is_enough {
        return None;
    }
    let cause = if local.no_descriptor >= local.no_port.max(local.no_buffer) {
        &format!(
            "no file descriptor left (limit {}: ulimit -Hn, or {})",
            grouped(evidence.descriptor_limit),
            evidence.front.words().more_processes
        )
    } else if local.no_port >= local.no_buffer {
        "no local port left (limit: net.ipv4.ip_local_port_range)"
    } else {
        "no memory left for sockets"
    };
    if evidence.unkept_attempts.is_some() {
        return Some(format!("{} dials failed on this machine: {cause}", grouped(local.sum())));
    }
    let (open, asked) = (grouped(*open_max), grouped(*asked));
    Some(format!("only {open} of {asked} connections could be opened from this machine: {cause}"))
}

/// Digits in groups of three, as every other number that a person reads.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let groups: Vec<_> = digits.as_bytes().rchunks(3).rev().map(String::from_utf8_lossy).collect();
    groups.join(",")
}

fn contention(health: &Health, words: &Words) -> Vec<String> {
    let table = [
        (Sign::Waiting, words.waiting),
        (
            Sign::Stolen,
            "the hypervisor took 5 % or more of this machine's time in a fifth of the slices or more",
        ),
        (Sign::Throttled, "this process's cgroup was held back by its CPU quota"),
        (Sign::BothFull, "generator and target both used their cores to the full"),
    ];
    table
        .iter()
        .filter(|(sign, _)| health.flags(*sign))
        .map(|(_, text)| (*text).to_owned())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vitals(cpu: f64, queue: f64) -> Vitals {
        Vitals {
            worker_cpu_rate: vec![cpu],
            run_queue_rate: vec![queue],
            is_local: true,
            ..Vitals::default()
        }
    }

    fn word(slices: &[Vitals]) -> &'static str {
        let mut health = Health::default();
        slices.iter().for_each(|vitals| health.see(vitals));
        judge(&health, &Evidence::default()).word
    }

    #[test]
    fn each_condition_leads_to_its_verdict() {
        let full_target = |rate| Some(rate);
        let table = [
            (vitals(60.0, 1.0), "healthy"),
            (vitals(94.0, 0.5), "healthy"),
            (vitals(90.0, 5.0), "generator-limited"),
            (vitals(96.0, 0.0), "generator-limited"),
            (vitals(80.0, 20.0), "contended"),
            (Vitals { target_cpu_rate: full_target(99.0), ..vitals(99.0, 0.0) }, "contended"),
            (Vitals { target_cpu_rate: full_target(99.0), ..vitals(50.0, 0.0) }, "healthy"),
            (
                Vitals { target_cpu_rate: full_target(50.0), ..vitals(99.0, 0.0) },
                "generator-limited",
            ),
            (Vitals { is_local: false, ..vitals(80.0, 20.0) }, "generator-limited"),
            (Vitals { is_local: false, ..vitals(50.0, 20.0) }, "healthy"),
            (Vitals { steal_rate: 6.0, ..vitals(50.0, 0.0) }, "contended"),
            (Vitals { throttled: true, ..vitals(50.0, 0.0) }, "contended"),
            (Vitals { lag_p99: vec![(1_900_000, 0)], ..vitals(50.0, 0.0) }, "healthy"),
            (
                Vitals { lag_p99: vec![(2_100_000, 5_000_000)], ..vitals(50.0, 0.0) },
                "generator-limited",
            ),
            (Vitals { lag_p99: vec![(2_100_000, 50_000_000)], ..vitals(50.0, 0.0) }, "healthy"),
        ];
        for (vitals, expected) in table {
            assert_eq!(word(&[vitals.clone(), vitals.clone()]), expected, "{vitals:?}");
        }
    }

    #[test]
    fn a_reason_repeats_nothing_that_its_word_says() {
        let mut health = Health::default();
        for _ in 0..2 {
            health.see(&Vitals { steal_rate: 6.0, ..vitals(50.0, 20.0) });
        }
        let verdict = judge(&health, &Evidence::default());
        assert_eq!(verdict.word, "contended");
        let said = "a worker waited for a core while others used it";
        assert_eq!(verdict.reasons[0], said);
        assert!(verdict.reasons[1].ends_with("in a fifth of the slices or more"));
    }

    #[test]
    fn one_bad_slice_or_less_than_a_fifth_of_them_is_not_enough() {
        let (bad, good) = (vitals(99.0, 0.0), vitals(10.0, 0.0));
        assert_eq!(word(std::slice::from_ref(&bad)), "healthy");
        let slices = |bad_ones: usize| {
            [vec![bad.clone(); bad_ones], vec![good.clone(); 20 - bad_ones]].concat()
        };
        assert_eq!(word(&slices(3)), "healthy");
        assert_eq!(word(&slices(4)), "generator-limited");
    }

    #[test]
    fn missing_connections_are_blamed_on_the_machine_only_if_it_refused_them() {
        let mut connections = Connections { asked: 1000, open_max: 900, ..Connections::default() };
        let judge = |connections| {
            judge(&Health::default(), &Evidence { connections, ..Evidence::default() })
        };
        assert_eq!(judge(connections).word, "healthy");
        connections.local.no_descriptor = 5;
        assert_eq!(judge(connections).word, "healthy", "none is known to lack one");
        connections.short_max = 10;
        assert_eq!(judge(connections).word, "healthy", "the target closed the others");
        connections.short_max = 100;
        let verdict = judge(connections);
        assert_eq!(verdict.word, "generator-limited");
        assert!(verdict.reasons[0].contains("only 900 of 1,000 connections"));
        connections.open_max = 990;
        assert_eq!(judge(connections).word, "healthy");
    }

    #[test]
    fn a_load_of_which_a_process_is_missing_claims_nothing() {
        let verdict = judge(&Health::default(), &Evidence { lost: 1, ..Evidence::default() });
        assert_eq!(verdict.word, "generator-limited");
        assert!(verdict.reasons[0].starts_with("an engine process died"));
    }

    #[test]
    fn requests_that_started_too_late_for_the_window_limit_the_level() {
        let late = |on_time| {
            judge(
                &Health::default(),
                &Evidence { on_time: Some((1000, on_time)), ..Evidence::default() },
            )
            .word
        };
        assert_eq!((late(990), late(989)), ("healthy", "generator-limited"));
    }
}
