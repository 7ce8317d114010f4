//! Paces: closed loops of users, arrivals on a schedule, and their stages.

use serde::{Deserialize, Serialize};

use super::ramp::Ramp;

/// When requests start.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
pub enum Pace {
    /// Users, each sending its next request when the last one has ended.
    Closed(Closed),
    /// Arrivals at equal distances.
    Constant(Open),
    /// Arrivals at exponential distances.
    Poisson(Open),
    /// Arrivals at times that were written down.
    Replay(Replay),
    /// Requests of a feed, whose rows come while the load runs.
    Fed(Fed),
}

/// Users that wait for their responses.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Closed {
    /// How many; the most there ever are, where stages say how many.
    pub users: u32,
    /// Connections that the users share; without it each keeps its own.
    #[serde(default)]
    pub pool: Option<u32>,
    /// How many users there are, by time; empty: all, all the time.
    #[serde(default)]
    pub stages: Vec<Stage>,
    /// How many of them begin a second, before the window, of the whole plan that this one was
    /// split from; without it all begin at once.
    #[serde(default)]
    pub spawn_rate: Option<f64>,
}

/// Arrivals that do not wait for answers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Open {
    /// Arrivals a second, of the whole plan that this one was split from; the highest rate, where
    /// stages say the rate.
    pub rate_per_s: f64,
    /// Connections at most; a due request waits its turn.
    pub connections: u32,
    /// Requests under way at most; beyond it a due request is dropped instead.
    pub max_in_flight: Option<u32>,
    /// The rate by time; empty: always the same.
    #[serde(default)]
    pub stages: Vec<Stage>,
    /// Which arrivals are this part's: `first`, `first + stride`, … (constant rate only).
    #[serde(default)]
    pub first: u64,
    /// See `first`; 1 for a plan that was not split.
    #[serde(default = "one")]
    pub stride: u64,
}

/// Arrivals at given times.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Replay {
    /// When each is due, from the start of the window; ascending.
    pub offsets_ns: Vec<u64>,
    /// Connections at most; a due request waits its turn.
    pub connections: u32,
    /// Requests under way at most; beyond it a due request is dropped instead.
    pub max_in_flight: Option<u32>,
}

/// Requests of a feed of rows ([`Data::Fed`](super::Data::Fed)).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fed {
    /// Users, each of which plays one session of rows after another, and the requests under way at most;
    /// connections at most, if rows have times.
    pub connections: u32,
    /// Whether rows are due at their times, whatever becomes of earlier ones.
    pub is_timed: bool,
    /// Requests under way at most; beyond it a due row is dropped instead (rows with times only).
    #[serde(default)]
    pub max_in_flight: Option<u32>,
}

/// A stretch of time in which users or rate go evenly from where they are to a target.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stage {
    /// How long it lasts; zero is a jump.
    pub duration_ns: u64,
    /// Users, or requests a second, at its end.
    pub target: f64,
}

/// How long a user thinks between a response and the next request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
pub enum Think {
    /// Any time between the two is as likely.
    Uniform {
        /// At least.
        from_ns: u64,
        /// At most.
        to_ns: u64,
    },
    /// Short thoughts are more likely than long ones.
    Exponential {
        /// On average.
        mean_ns: u64,
    },
    /// Normal; times below zero are zero.
    Normal {
        /// On average.
        mean_ns: u64,
        /// The standard deviation.
        deviation_ns: u64,
    },
    /// A few are very long.
    LogNormal {
        /// As many are shorter as are longer.
        median_ns: u64,
        /// The standard deviation of the logarithm.
        sigma: f64,
    },
}

pub(super) fn one() -> u64 {
    1
}

impl Closed {
    /// So many users, each with its own connection, all the time.
    #[must_use]
    pub fn new(users: u32) -> Self {
        Self { users, pool: None, stages: Vec::new(), spawn_rate: None }
    }

    fn check_spawn_rate(&self) -> Result<(), String> {
        if self.spawn_rate.is_some_and(|rate| rate.is_nan() || rate <= 0.0) {
            return Err("spawn_rate must be more than zero".into());
        }
        if self.pool.is_some() || !self.stages.is_empty() {
            return Err("users who share connections or have stages have no spawn_rate".into());
        }
        Ok(())
    }
}

impl Open {
    /// That rate over so many connections.
    #[must_use]
    pub fn new(rate_per_s: f64, connections: u32) -> Self {
        let stages = Vec::new();
        Self { rate_per_s, connections, max_in_flight: None, stages, first: 0, stride: 1 }
    }
}

impl Pace {
    /// Connections that it may hold at once.
    #[must_use]
    pub fn connections(&self) -> u32 {
        match self {
            Self::Closed(closed) => closed.pool.unwrap_or(closed.users),
            Self::Constant(open) | Self::Poisson(open) => open.connections,
            Self::Replay(replay) => replay.connections,
            Self::Fed(fed) => fed.connections,
        }
    }

    /// Returns the connections of it, each of which carries so many exchanges at once: users share them
    /// unless the pace has a number of connections of its own.
    pub(crate) fn connections_of(&self, streams: u16) -> u32 {
        match self {
            Self::Closed(Closed { pool: None, users, .. })
            | Self::Fed(Fed { is_timed: false, connections: users, .. }) => {
                users.div_ceil(streams.into())
            }
            _ => self.connections(),
        }
    }

    /// Users, or connections at most.
    #[must_use]
    pub fn concurrency(&self) -> u32 {
        if let Self::Closed(closed) = self { closed.users } else { self.connections() }
    }

    /// Arrivals a second, on average over the whole load; none where users wait for answers.
    #[must_use]
    #[allow(clippy::cast_precision_loss)]
    pub fn rate_per_s(&self) -> Option<f64> {
        let share = |open: &Open| match Ramp::new(&open.stages) {
            Some(ramp) => ramp.mean(),
            None => open.rate_per_s,
        };
        match self {
            Self::Closed(_) | Self::Fed(_) => None,
            Self::Constant(open) => Some(share(open) / open.stride as f64),
            Self::Poisson(open) => Some(share(open)),
            Self::Replay(replay) => {
                let seconds = *replay.offsets_ns.last()? as f64 / 1e9;
                (seconds > 0.0).then(|| replay.offsets_ns.len() as f64 / seconds)
            }
        }
    }

    /// Whether requests wait for answers.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        matches!(self, Self::Closed(_) | Self::Fed(Fed { is_timed: false, .. }))
    }

    /// Users of it that begin a second, where they do not begin at once.
    #[must_use]
    pub fn spawn_rate(&self) -> Option<f64> {
        if let Self::Closed(closed) = self { closed.spawn_rate } else { None }
    }

    /// Whether connections are opened before the first requests: users who come and go open theirs
    /// when they come, and rows with times when they are due, since few of many may be needed.
    pub(crate) fn opens_connections_first(&self) -> bool {
        !matches!(self, Self::Fed(Fed { is_timed: true, .. }))
            && self.connections() > 0
            && (self.stages().is_empty() || !self.is_closed())
    }

    /// Users or rate by time; empty where neither changes.
    #[must_use]
    pub fn stages(&self) -> &[Stage] {
        match self {
            Self::Closed(closed) => &closed.stages,
            Self::Constant(open) | Self::Poisson(open) => &open.stages,
            Self::Replay(_) | Self::Fed(_) => &[],
        }
    }

    /// How many requests it can start at all, where it ends by itself; those of stages are not
    /// known beforehand, so that none may be counted on.
    pub(super) fn most_requests(&self) -> Option<u64> {
        match self {
            Self::Replay(replay) => Some(replay.offsets_ns.len() as u64),
            _ if !self.stages().is_empty() => Some(0),
            _ => None,
        }
    }

    pub(super) fn check(&self) -> Result<(), String> {
        if self.connections() == 0 || self.concurrency() == 0 {
            return Err("at least one connection is needed".into());
        }
        if self.stages().iter().any(|stage| !stage.target.is_finite() || stage.target < 0.0) {
            return Err("a stage's target is not a number from 0 on".into());
        }
        match self {
            Self::Constant(open) | Self::Poisson(open)
                if !(open.rate_per_s.is_finite() && open.rate_per_s > 0.0) =>
            {
                Err(format!("rate {} is not a positive number", open.rate_per_s))
            }
            Self::Closed(closed) if closed.pool.is_some() && !closed.stages.is_empty() => {
                Err("users who share connections have no stages".into())
            }
            Self::Closed(closed) if closed.spawn_rate.is_some() => closed.check_spawn_rate(),
            Self::Replay(replay) if !replay.offsets_ns.is_sorted() => {
                Err("the times of a replay are not ascending".into())
            }
            _ => Ok(()),
        }
    }
}
