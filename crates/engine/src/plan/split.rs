//! A plan into n plans whose summaries add up to the same result.

use super::{Closed, Fed, Open, Pace, Plan, Processes, Replay, Stage, Stop};
use crate::random::mix;

impl Plan {
    /// Splits into at most `parts` plans; fewer where no group has as many connections. A smaller
    /// group is in as many of them as it can be, small ones in different ones.
    ///
    /// A number of requests is shared out evenly, which takes parts that are alike: then no group
    /// may be smaller than the number of parts.
    #[must_use]
    pub fn split(&self, parts: u32) -> Vec<Self> {
        let streams = self.transport.streams;
        let sizes = self.groups.iter().map(|group| group.pace.divisible_by(streams));
        // A group that another split left out here has nothing to be divided.
        let sizes = sizes.filter(|size| *size > 0);
        let most = match self.stop {
            Stop::Requests { .. } => sizes.min(),
            Stop::Duration { .. } | Stop::Rows => sizes.max(),
        };
        let parts = parts.clamp(1, most.unwrap_or(1));
        (0..parts).map(|part| self.part(part, parts)).collect()
    }

    fn part(&self, part: u32, of: u32) -> Self {
        let mut plan = self.clone();
        // The part in which the next small group begins.
        let mut first = 0;
        let streams = self.transport.streams;
        for group in &mut plan.groups {
            let among = of.min(group.pace.divisible_by(streams)).max(1);
            let number = if among < of { (part + of - first) % of } else { part };
            if number < among {
                group.pace = group.pace.part(number, among);
                group.first += u64::from(number) * group.stride;
                group.stride *= u64::from(among);
            } else {
                // Groups keep their places: what they send is prepared once for all parts.
                group.pace = group.pace.emptied();
            }
            if among < of {
                first = (first + among) % of;
            }
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
    /// Returns into how many parts it can be divided, each of which has a connection.
    fn divisible_by(&self, streams: u16) -> u32 {
        match self {
            Self::Closed(closed) => closed.users.min(self.connections_of(streams)),
            Self::Constant(open) | Self::Poisson(open) => {
                open.connections.min(open.max_in_flight.unwrap_or(u32::MAX))
            }
            Self::Replay(replay) => {
                replay.connections.min(replay.max_in_flight.unwrap_or(u32::MAX))
            }
            Self::Fed(fed) => {
                self.connections_of(streams).min(fed.max_in_flight.unwrap_or(u32::MAX))
            }
        }
    }

    /// Returns the pace without users or arrivals, for a part that has none of a group.
    fn emptied(&self) -> Self {
        match self {
            Self::Closed(closed) => Self::Closed(Closed { users: 0, pool: None, ..closed.clone() }),
            Self::Constant(open) => Self::Constant(Open { connections: 0, ..open.clone() }),
            Self::Poisson(open) => Self::Poisson(Open { connections: 0, ..open.clone() }),
            Self::Replay(_) => {
                let offsets_ns = Vec::new();
                Self::Replay(Replay { offsets_ns, connections: 0, max_in_flight: None })
            }
            Self::Fed(fed) => Self::Fed(Fed { connections: 0, ..fed.clone() }),
        }
    }

    fn part(&self, part: u32, of: u32) -> Self {
        match self {
            // Stages and spawn rate stay whole: every user knows which of all the users it is.
            Self::Closed(closed) => Self::Closed(Closed {
                users: share32(closed.users, part, of),
                pool: closed.pool.map(|pool| share32(pool, part, of)),
                ..closed.clone()
            }),
            // Every of-th arrival of the one schedule, so that the union is that schedule again.
            Self::Constant(open) => Self::Constant(Open {
                first: open.first + u64::from(part) * open.stride,
                stride: open.stride * u64::from(of),
                ..open.part(part, of)
            }),
            // The sum of independent Poisson streams is one.
            Self::Poisson(open) => Self::Poisson(Open {
                rate_per_s: open.rate_per_s / f64::from(of),
                stages: open.stages.iter().map(|stage| stage.part(of)).collect(),
                ..open.part(part, of)
            }),
            Self::Replay(replay) => Self::Replay(Replay {
                offsets_ns: every(&replay.offsets_ns, part, of),
                connections: share32(replay.connections, part, of),
                max_in_flight: replay.max_in_flight.map(|most| share32(most, part, of)),
            }),
            // The feeder gives each worker its rows.
            Self::Fed(fed) => Self::Fed(Fed {
                connections: share32(fed.connections, part, of),
                max_in_flight: fed.max_in_flight.map(|most| share32(most, part, of)),
                ..fed.clone()
            }),
        }
    }
}

fn every(offsets: &[u64], part: u32, of: u32) -> Vec<u64> {
    offsets.iter().copied().skip(part as usize).step_by(of as usize).collect()
}

impl Stage {
    fn part(self, of: u32) -> Self {
        Self { target: self.target / f64::from(of), ..self }
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
    use crate::plan::tests::plan;

    #[test]
    fn users_and_requests_add_up() {
        let mut whole = plan(Pace::Closed(Closed::new(10)));
        whole.stop = Stop::Requests { requests: 101 };
        let parts = whole.split(4);
        let requests: u64 = parts
            .iter()
            .map(|part| match part.stop {
                Stop::Requests { requests } => requests,
                Stop::Duration { .. } | Stop::Rows => 0,
            })
            .sum();
        assert_eq!((parts.len(), requests), (4, 101));
        assert_eq!(parts.iter().map(Plan::connections).sum::<u32>(), 10);
    }

    #[test]
    fn never_makes_a_part_without_a_connection() {
        assert_eq!(plan(Pace::Closed(Closed::new(3))).split(8).len(), 3);
        let open = Open { max_in_flight: Some(2), ..Open::new(9.0, 8) };
        assert_eq!(plan(Pace::Constant(open)).split(8).len(), 2);
    }

    #[test]
    fn a_small_group_is_in_some_parts_and_holds_no_other_up() {
        let mut whole = plan(Pace::Closed(Closed::new(9)));
        for pace in [Pace::Closed(Closed::new(1)), Pace::Constant(Open::new(9.0, 2))] {
            whole.groups.push(crate::plan::Group::new(pace, whole.groups[0].source.clone()));
        }
        let parts = whole.split(4);
        let connections = |group: usize| -> Vec<u32> {
            parts.iter().map(|part| part.groups[group].pace.connections()).collect()
        };
        assert_eq!(connections(0), [3, 2, 2, 2]);
        assert_eq!(connections(1), [1, 0, 0, 0]);
        assert_eq!(connections(2), [0, 1, 1, 0]);
        let rows: Vec<_> = parts[1..3].iter().map(|part| &part.groups[2]).collect();
        assert_eq!((rows[0].first, rows[0].stride, rows[1].first, rows[1].stride), (0, 2, 1, 2));
        // As when the workers of a process share its part.
        let again: u32 = parts.iter().flat_map(|part| part.split(2)).map(|p| p.connections()).sum();
        assert_eq!(again, whole.connections());
    }

    #[test]
    fn a_part_without_a_group_knows_how_its_others_send() {
        let mut whole = plan(Pace::Closed(Closed::new(4)));
        whole.groups.push(crate::plan::Group::new(
            Pace::Poisson(Open::new(9.0, 1)),
            whole.groups[0].source.clone(),
        ));
        let parts = whole.split(4);
        assert!(parts.iter().all(Plan::has_schedule));
        assert_eq!(parts.iter().map(Plan::connections).sum::<u32>(), 5);
    }

    #[test]
    fn a_number_of_requests_is_shared_by_parts_that_are_alike() {
        let mut whole = plan(Pace::Constant(Open::new(50.0, 2)));
        let other = Pace::Constant(Open::new(50.0, 1));
        whole.groups.push(crate::plan::Group::new(other, whole.groups[0].source.clone()));
        assert_eq!(whole.split(2).len(), 2);
        whole.stop = Stop::Requests { requests: 1000 };
        assert_eq!(whole.split(2).len(), 1);
    }

    #[test]
    fn poisson_parts_are_independent_and_share_the_rate() {
        let open = Open::new(100.0, 12);
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
