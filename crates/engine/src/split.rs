//! A plan into n plans whose summaries add up to the same result.

use crate::fleet::Processes;
use crate::pace::mix;
use crate::plan::{Open, Pace, Plan, Stop};

impl Plan {
    /// Splits into at most `parts` plans; fewer where there are fewer connections than parts.
    #[must_use]
    pub fn split(&self, parts: u32) -> Vec<Self> {
        let least = self.groups.iter().map(|group| group.pace.divisible_by()).min().unwrap_or(1);
        let parts = parts.clamp(1, least.max(1));
        (0..parts).map(|part| self.part(part, parts)).collect()
    }

    fn part(&self, part: u32, of: u32) -> Self {
        let mut plan = self.clone();
        for group in &mut plan.groups {
            group.pace = group.pace.part(part, of);
        }
        if let Stop::Requests { requests } = &mut plan.stop {
            *requests = share(*requests, part.into(), of.into());
        }
        if let Some(rate) = &mut plan.transport.connections_per_second {
            *rate /= f64::from(of);
        }
        plan.seed = mix(self.seed, u64::from(part));
        plan.workers = 1;
        plan.processes = Processes::default();
        plan
    }
}

impl Pace {
    fn divisible_by(&self) -> u32 {
        match self {
            Self::Closed { users } => *users,
            Self::Constant(open) | Self::Poisson(open) => {
                open.connections.min(open.max_in_flight.unwrap_or(u32::MAX))
            }
        }
    }

    fn part(&self, part: u32, of: u32) -> Self {
        match self {
            Self::Closed { users } => Self::Closed { users: share32(*users, part, of) },
            // Every of-th arrival of the one schedule, so that the union is that schedule again.
            Self::Constant(open) => Self::Constant(Open {
                first: open.first + u64::from(part) * open.stride,
                stride: open.stride * u64::from(of),
                ..open.part(part, of)
            }),
            // The sum of independent Poisson streams is one.
            Self::Poisson(open) => Self::Poisson(Open {
                rate_per_s: open.rate_per_s / f64::from(of),
                ..open.part(part, of)
            }),
        }
    }
}

impl Open {
    fn part(&self, part: u32, of: u32) -> Self {
        Self {
            connections: share32(self.connections, part, of),
            max_in_flight: self.max_in_flight.map(|most| share32(most, part, of)),
            ..self.clone()
        }
    }
}

/// The remainder goes to the first parts, one each: it is also how many of the arrivals
/// 0 … total−1 are congruent to `part`.
fn share(total: u64, part: u64, of: u64) -> u64 {
    total / of + u64::from(part < total % of)
}

fn share32(total: u32, part: u32, of: u32) -> u32 {
    total / of + u32::from(part < total % of)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pace::Schedule;
    use crate::plan::tests::plan;

    #[test]
    fn users_and_requests_add_up() {
        let mut whole = plan(Pace::Closed { users: 10 });
        whole.stop = Stop::Requests { requests: 101 };
        let parts = whole.split(4);
        let requests: u64 = parts
            .iter()
            .map(|part| match part.stop {
                Stop::Requests { requests } => requests,
                Stop::Duration { .. } => 0,
            })
            .sum();
        assert_eq!((parts.len(), requests), (4, 101));
        assert_eq!(parts.iter().map(Plan::connections).sum::<u32>(), 10);
    }

    #[test]
    fn never_makes_a_part_without_a_connection() {
        assert_eq!(plan(Pace::Closed { users: 3 }).split(8).len(), 3);
        let open =
            Open { rate_per_s: 9.0, connections: 8, max_in_flight: Some(2), first: 0, stride: 1 };
        assert_eq!(plan(Pace::Constant(open)).split(8).len(), 2);
    }

    #[test]
    fn the_arrivals_of_the_parts_are_those_of_the_whole() {
        let open =
            Open { rate_per_s: 333.3, connections: 12, max_in_flight: None, first: 0, stride: 1 };
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

    #[test]
    fn poisson_parts_are_independent_and_share_the_rate() {
        let open =
            Open { rate_per_s: 100.0, connections: 12, max_in_flight: None, first: 0, stride: 1 };
        let parts = plan(Pace::Poisson(open)).split(4);
        let seeds: std::collections::BTreeSet<_> = parts.iter().map(|part| part.seed).collect();
        assert_eq!(seeds.len(), 4);
        let rate: f64 = parts
            .iter()
            .map(|part| match &part.groups[0].pace {
                Pace::Poisson(open) => open.rate_per_s,
                _ => 0.0,
            })
            .sum();
        assert!((rate - 100.0).abs() < 1e-9);
    }
}
