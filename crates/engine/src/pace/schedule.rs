//! When arrivals are due: pure functions of a start, a rate and a seed.
//!
//! A schedule never looks at a clock and never waits for answers; that is what makes it open.

use std::sync::Arc;

use net::Nanos;

use crate::plan::ramp::Ramp;
use crate::plan::{Open, Pace};
use crate::random::SplitMix;

/// The next due times of one group.
#[derive(Debug, Clone)]
pub struct Schedule {
    start: Nanos,
    next: Nanos,
    kind: ScheduleKind,
}

#[derive(Debug, Clone)]
enum ScheduleKind {
    /// The arrival with this number is due `number ÷ rate` after the start.
    Constant { rate_per_s: f64, number: u64, stride: u64 },
    /// The sum of gaps so far, kept as a real number so that rounding does not add up.
    Poisson { mean_gap_ns: f64, elapsed_ns: f64, random: SplitMix },
    /// The arrival after so much area under the rate is due when that area is reached.
    Shaped { ramp: Ramp, area: f64, gaps: Gaps },
    /// The arrivals that were written down.
    Replay { offsets: Arc<[Nanos]>, next: usize },
}

/// How much area lies between two arrivals of a shaped rate.
#[derive(Debug, Clone)]
enum Gaps {
    /// Always as much; the multiples are counted, so that nothing adds up.
    Even { number: u64, stride: u64 },
    /// As a Poisson process has it: time, stretched by the rate.
    Exponential(SplitMix),
}

impl Gaps {
    #[allow(clippy::cast_precision_loss)]
    fn advance(&mut self, area: f64) -> f64 {
        match self {
            Self::Even { number, stride } => {
                *number += *stride;
                *number as f64
            }
            Self::Exponential(random) => area + random.exponential(),
        }
    }
}

impl Schedule {
    /// The schedule of a pace from `start` on; `None` for a closed one, which has none.
    #[must_use]
    pub fn new(pace: &Pace, start: Nanos, seed: u64) -> Option<Self> {
        let ramp = Ramp::new(pace.stages());
        let kind = match (pace, ramp) {
            (Pace::Closed(_) | Pace::Fed(_), _) => return None,
            (Pace::Replay(replay), _) => {
                ScheduleKind::Replay { offsets: replay.offsets_ns.as_slice().into(), next: 0 }
            }
            (Pace::Constant(open), Some(ramp)) => {
                let gaps = Gaps::Even { number: open.first, stride: open.stride };
                #[allow(clippy::cast_precision_loss)]
                ScheduleKind::Shaped { ramp, area: open.first as f64, gaps }
            }
            (Pace::Poisson(_), Some(ramp)) => {
                let mut random = SplitMix::new(seed);
                let area = random.exponential();
                ScheduleKind::Shaped { ramp, area, gaps: Gaps::Exponential(random) }
            }
            (Pace::Constant(Open { rate_per_s, first, stride, .. }), None) => {
                ScheduleKind::Constant { rate_per_s: *rate_per_s, number: *first, stride: *stride }
            }
            (Pace::Poisson(open), None) => {
                let random = SplitMix::new(seed);
                ScheduleKind::Poisson {
                    mean_gap_ns: 1e9 / open.rate_per_s,
                    elapsed_ns: 0.0,
                    random,
                }
            }
        };
        let mut schedule = Self { start, next: start, kind };
        schedule.advance_to_first();
        Some(schedule)
    }

    /// When the next arrival is due; `Nanos::MAX` when none is left.
    #[must_use]
    pub fn next(&self) -> Nanos {
        self.next
    }

    /// Takes the next arrival: gives its due time and moves on.
    pub fn take(&mut self) -> Nanos {
        let due = self.next;
        match &mut self.kind {
            ScheduleKind::Constant { number, stride, .. } => *number += *stride,
            ScheduleKind::Poisson { mean_gap_ns, elapsed_ns, random } => {
                *elapsed_ns += random.exponential() * *mean_gap_ns;
            }
            ScheduleKind::Shaped { area, gaps, .. } => *area = gaps.advance(*area),
            ScheduleKind::Replay { next, .. } => *next += 1,
        }
        self.next = self.start.saturating_add(self.offset());
        due
    }

    fn advance_to_first(&mut self) {
        if let ScheduleKind::Poisson { mean_gap_ns, elapsed_ns, random } = &mut self.kind {
            *elapsed_ns = random.exponential() * *mean_gap_ns;
        }
        self.next = self.start.saturating_add(self.offset());
    }

    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss)]
    fn offset(&self) -> Nanos {
        // Exact to the nanosecond for 2^53 of them, which is 104 days.
        match &self.kind {
            // Multiplied first: a rounded period would make the last arrivals of a window too early.
            ScheduleKind::Constant { rate_per_s, number, .. } => {
                (*number as f64 * 1e9 / rate_per_s) as Nanos
            }
            ScheduleKind::Poisson { elapsed_ns, .. } => *elapsed_ns as Nanos,
            ScheduleKind::Shaped { ramp, area, .. } => {
                ramp.time_of_area(*area).unwrap_or(Nanos::MAX)
            }
            ScheduleKind::Replay { offsets, next } => {
                offsets.get(*next).copied().unwrap_or(Nanos::MAX)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::tests::plan;
    use crate::plan::{Plan, Replay, Stage};

    fn open(rate_per_s: f64) -> Open {
        Open::new(rate_per_s, 1)
    }

    #[test]
    fn constant_arrivals_are_due_where_the_table_says_and_do_not_drift() {
        let table: &[(f64, u64, Nanos)] = &[
            (1.0, 0, 0),
            (1.0, 5, 5_000_000_000),
            (3.0, 1, 333_333_333),
            (3.0, 3, 1_000_000_000),
            (10_000.0, 600_000, 60_000_000_000),
            (7.0, 70_000_000, 10_000_000_000_000_000),
        ];
        for (rate, number, due) in table {
            let pace = Pace::Constant(Open { first: *number, ..open(*rate) });
            let next = Schedule::new(&pace, 100, 0).unwrap().next();
            assert!(next.abs_diff(due + 100) <= 1, "{rate}/s, arrival {number}: {next}");
        }
    }

    #[test]
    fn a_window_of_whole_seconds_has_as_many_arrivals_as_the_rate_says() {
        for rate in 1..5_000_u32 {
            for seconds in [1, 3, 60] {
                let first = u64::from(rate * seconds);
                let pace = Pace::Constant(Open { first, ..open(f64::from(rate)) });
                let due = Schedule::new(&pace, 0, 0).unwrap().next();
                assert_eq!(due, u64::from(seconds) * 1_000_000_000, "{rate}/s");
            }
        }
    }

    #[test]
    fn poisson_gaps_are_exponential() {
        // Kolmogorov–Smirnov at 1 % over 100 seeds: about one may be rejected by chance.
        let count = 10_000_u32;
        let rejected = (0..100)
            .filter(|seed| {
                let mut schedule = Schedule::new(&Pace::Poisson(open(1e6)), 0, *seed).unwrap();
                let mut last = 0;
                let mut gaps: Vec<f64> = (0..count)
                    .map(|_| {
                        let due = schedule.take();
                        let gap = f64::from(u32::try_from(due - last).unwrap());
                        last = due;
                        gap
                    })
                    .collect();
                gaps.sort_by(f64::total_cmp);
                let distance = gaps
                    .iter()
                    .zip(0_u32..)
                    .map(|(gap, rank)| {
                        let cdf = 1.0 - (-gap / 1000.0).exp();
                        let (below, above) = (f64::from(rank), f64::from(rank + 1));
                        (cdf - below / f64::from(count))
                            .abs()
                            .max((cdf - above / f64::from(count)).abs())
                    })
                    .fold(0.0, f64::max);
                distance > 1.628 / f64::from(count).sqrt()
            })
            .count();
        assert!(rejected <= 5, "{rejected} of 100 seeds rejected");
    }

    /// Returns a pace whose rate is always the same, as a stage says it.
    fn staged(rate: f64, seconds: u64) -> Open {
        let stage = |seconds, target| Stage { duration_ns: seconds * 1_000_000_000, target };
        Open { stages: vec![stage(0, rate), stage(seconds, rate)], ..open(rate) }
    }

    /// Takes the arrivals of a pace up to a number of them.
    fn taken(pace: &Pace, most: usize) -> Vec<Nanos> {
        let mut schedule = Schedule::new(pace, 100, 1).unwrap();
        let arrivals = (0..most).map(|_| schedule.take());
        arrivals.take_while(|due| *due < Nanos::MAX).collect()
    }

    #[test]
    fn a_stage_of_one_rate_has_the_arrivals_of_that_rate() {
        let pace = Pace::Constant(Open { first: 2, stride: 3, ..staged(10.0, 10) });
        let arrivals = taken(&pace, 50);
        assert_eq!(arrivals.len(), 33);
        for (number, due) in (0..).zip(arrivals) {
            assert!(due.abs_diff(100 + (2 + 3 * number) * 100_000_000) <= 1, "{number}: {due}");
        }

        let arrivals = taken(&Pace::Poisson(staged(1_000.0, 10)), 20_000);
        assert!(arrivals.is_sorted() && arrivals.last() < Some(&10_000_000_100));
        // Five standard deviations.
        assert!((9_500..10_500).contains(&arrivals.len()), "{}", arrivals.len());
    }

    #[test]
    fn the_first_gap_is_exponential_too() {
        let firsts = (0..1_000)
            .map(|seed| Schedule::new(&Pace::Poisson(open(1_000.0)), 0, seed).unwrap().next());
        let early = firsts.filter(|due| *due < 500_000).count();
        // 1 - exp(-1/2) of them, within five standard deviations.
        assert!((316..471).contains(&early), "{early}");
    }

    #[test]
    fn arrivals_that_are_replayed_are_those_of_the_list() {
        let (offsets_ns, connections, max_in_flight) = (vec![5, 5, 9], 1, None);
        let pace = Pace::Replay(Replay { offsets_ns, connections, max_in_flight });
        assert_eq!(taken(&pace, 10), [105, 105, 109]);
    }

    #[test]
    fn the_same_seed_gives_the_same_arrivals() {
        let take = |seed| {
            let mut schedule = Schedule::new(&Pace::Poisson(open(10.0)), 0, seed).unwrap();
            [schedule.take(), schedule.take(), schedule.take()]
        };
        assert_eq!(take(1), take(1));
        assert_ne!(take(1), take(2));
    }

    #[test]
    fn a_closed_pace_has_no_schedule() {
        assert!(Schedule::new(&Pace::Closed(crate::plan::Closed::new(1)), 0, 0).is_none());
    }

    #[test]
    fn the_arrivals_of_the_parts_are_those_of_the_whole() {
        let open = Open::new(333.3, 12);
        let whole = plan(Pace::Constant(open));
        let arrivals = |plan: &Plan, count: usize| {
            let mut schedule = Schedule::new(&plan.groups[0].pace, 1000, plan.seed).unwrap();
            (0..count).map(|_| schedule.take()).collect::<Vec<_>>()
        };
        // Split twice, as over processes and then over their workers.
        let mut merged: Vec<_> = whole
            .split(3)
            .iter()
            .flat_map(|part| part.split(2))
            .flat_map(|part| arrivals(&part, 50))
            .collect();
        merged.sort_unstable();
        assert_eq!(merged, arrivals(&whole, 300));
    }
}
