//! What shall be done: groups, transport, stop. Typed once, then never checked again.
//!
//! A plan is plain data: it travels as JSON between Python and the engine, and between processes.

use serde::{Deserialize, Serialize};

use crate::fleet::Processes;

/// The version of the plan's form that this engine reads.
pub const PLAN_VERSION: u32 = 1;

/// A whole load.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// [`PLAN_VERSION`].
    pub version: u32,
    /// Who sends what, and when.
    pub groups: Vec<Group>,
    /// Over what.
    pub transport: Transport,
    /// Until when.
    pub stop: Stop,
    /// Load before the measured window, kept apart.
    pub warmup_ns: u64,
    /// How long open exchanges are awaited after the window.
    pub drain_ns: u64,
    /// How long a closed user waits after a failed dial.
    pub retry_delay_ns: u64,
    /// The interval of the timeline.
    pub slice_ns: u64,
    /// Threads that share the load.
    pub workers: u32,
    /// Processes that share the load, and those threads.
    #[serde(default)]
    pub processes: Processes,
    /// For everything random.
    pub seed: u64,
    /// A CSV file for every exchange.
    #[serde(default)]
    pub log: Option<std::path::PathBuf>,
}

/// Users or arrivals that send the same kind of thing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Group {
    /// Its name in messages.
    pub name: String,
    /// When.
    pub pace: Pace,
    /// What.
    pub source: Source,
    /// How long a user of a closed pace thinks after each answer.
    #[serde(default)]
    pub think: Option<Think>,
}

/// How long a user thinks between an answer and the next request.
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
}

/// When requests start.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
pub enum Pace {
    /// So many users, each sending its next request when the last one has ended.
    Closed {
        /// How many; each keeps its own connection.
        users: u32,
    },
    /// Arrivals at equal distances.
    Constant(Open),
    /// Arrivals at exponential distances.
    Poisson(Open),
}

/// Arrivals that do not wait for answers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Open {
    /// Arrivals a second, of the whole plan that this one was split from.
    pub rate_per_s: f64,
    /// Connections at most; a due request waits its turn.
    pub connections: u32,
    /// Requests under way at most; beyond it a due request is dropped instead.
    pub max_in_flight: Option<u32>,
    /// Which arrivals are this part's: `first`, `first + stride`, … (constant rate only).
    #[serde(default)]
    pub first: u64,
    /// See `first`; 1 for a plan that was not split.
    #[serde(default = "one")]
    pub stride: u64,
}

fn one() -> u64 {
    1
}

/// What is sent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
pub enum Source {
    /// The same request each time.
    One {
        /// That request.
        request: RequestPlan,
    },
}

/// One request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RequestPlan {
    /// Its row in every table.
    pub name: String,
    /// The method token.
    pub method: String,
    /// The absolute `http://` or `https://` URL.
    pub url: String,
    /// Fields in the order in which they are sent.
    pub headers: Vec<(String, String)>,
    /// The body, in base64.
    pub body: Option<String>,
    /// From taken to the last byte.
    pub timeout_ns: u64,
    /// Inclusive ranges of accepted statuses.
    pub accept_statuses: Vec<(u16, u16)>,
}

/// Over what requests travel.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Transport {
    /// Whether a connection carries more than one exchange.
    pub keepalive: bool,
    /// After so many answers a connection is closed and made anew.
    #[serde(default)]
    pub requests_per_connection: Option<u32>,
    /// First connections are opened at this rate; without it, as fast as they are accepted.
    #[serde(default)]
    pub connections_per_second: Option<f64>,
    /// Where connections leave from, in turn; empty leaves it to torr.
    #[serde(default)]
    pub source_addresses: Vec<std::net::IpAddr>,
    /// How `https://` is spoken.
    #[serde(default)]
    pub tls: Tls,
}

impl Default for Transport {
    fn default() -> Self {
        Self {
            keepalive: true,
            requests_per_connection: None,
            connections_per_second: None,
            source_addresses: Vec::new(),
            tls: Tls::default(),
        }
    }
}

/// How `https://` is spoken.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Tls {
    /// Whether any certificate is accepted.
    pub insecure: bool,
    /// A PEM file of the certificates that are trusted instead of the machine's.
    pub ca: Option<std::path::PathBuf>,
    /// A PEM file with the chain that the client shows.
    pub certificate: Option<std::path::PathBuf>,
    /// A PEM file with its private key; where none is given, `certificate` has it too.
    pub key: Option<std::path::PathBuf>,
    /// Whether a connection takes up the session of an earlier one.
    pub resumption: bool,
}

impl Default for Tls {
    fn default() -> Self {
        Self { insecure: false, ca: None, certificate: None, key: None, resumption: true }
    }
}

/// When the measured window ends.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
pub enum Stop {
    /// After that time.
    Duration {
        /// Nanoseconds.
        duration_ns: u64,
    },
    /// After so many attempts have ended.
    Requests {
        /// How many.
        requests: u64,
    },
}

impl Plan {
    /// Reads a plan from JSON; the message says what is wrong with it, and where.
    pub fn from_json(text: &str) -> Result<Self, String> {
        let plan: Self = serde_json::from_str(text).map_err(|error| format!("plan: {error}"))?;
        plan.check()?;
        Ok(plan)
    }

    /// Connections that the whole plan asks for.
    #[must_use]
    pub fn connections(&self) -> u32 {
        self.groups.iter().map(|group| group.pace.connections()).sum()
    }

    fn check(&self) -> Result<(), String> {
        if self.version != PLAN_VERSION {
            return Err(format!("plan: version {} is not {PLAN_VERSION}", self.version));
        }
        let transport = &self.transport;
        if transport.requests_per_connection == Some(0)
            || transport.connections_per_second.is_some_and(|rate| rate.is_nan() || rate <= 0.0)
        {
            return Err(
                "plan: requests_per_connection and connections_per_second must be more than zero"
                    .into(),
            );
        }
        if self.groups.is_empty() || self.workers == 0 || self.slice_ns == 0 {
            return Err("plan: groups, workers and slice_ns must not be empty or zero".into());
        }
        self.groups.iter().try_for_each(|group| {
            if let (Some(_), Pace::Constant(_) | Pace::Poisson(_)) = (&group.think, &group.pace) {
                return Err(format!("plan: group {:?}: arrivals do not think", group.name));
            }
            group.pace.check().map_err(|text| format!("plan: group {:?}: {text}", group.name))
        })
    }
}

impl Pace {
    /// Connections that it may hold at once.
    #[must_use]
    pub fn connections(&self) -> u32 {
        match self {
            Self::Closed { users } => *users,
            Self::Constant(open) | Self::Poisson(open) => open.connections,
        }
    }

    fn check(&self) -> Result<(), String> {
        if self.connections() == 0 {
            return Err("at least one connection is needed".into());
        }
        match self {
            Self::Constant(open) | Self::Poisson(open)
                if !(open.rate_per_s.is_finite() && open.rate_per_s > 0.0) =>
            {
                Err(format!("rate {} is not a positive number", open.rate_per_s))
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A small plan; tests change what they are about.
    pub(crate) fn plan(pace: Pace) -> Plan {
        let request = RequestPlan {
            name: "GET /".into(),
            method: "GET".into(),
            url: "http://127.0.0.1:80/".into(),
            headers: vec![],
            body: None,
            timeout_ns: 1_000_000_000,
            accept_statuses: vec![(200, 399)],
        };
        Plan {
            version: PLAN_VERSION,
            groups: vec![Group {
                name: "g".into(),
                pace,
                source: Source::One { request },
                think: None,
            }],
            transport: Transport::default(),
            stop: Stop::Duration { duration_ns: 1_000_000_000 },
            warmup_ns: 0,
            drain_ns: 1_000_000_000,
            retry_delay_ns: 100_000_000,
            slice_ns: 1_000_000_000,
            workers: 1,
            processes: Processes::default(),
            seed: 1,
            log: None,
        }
    }

    #[test]
    fn survives_the_way_through_json() {
        let open =
            Open { rate_per_s: 10.5, connections: 3, max_in_flight: None, first: 0, stride: 1 };
        for pace in [Pace::Closed { users: 7 }, Pace::Constant(open.clone()), Pace::Poisson(open)] {
            let plan = plan(pace);
            let text = serde_json::to_string(&plan).unwrap();
            assert_eq!(Plan::from_json(&text), Ok(plan));
        }
    }

    #[test]
    fn refuses_unknown_keys_and_impossible_numbers() {
        let good = serde_json::to_string(&plan(Pace::Closed { users: 7 })).unwrap();
        let table = [
            ("\"warmup_ns\"", "\"warm_up\"", "unknown field `warm_up`"),
            ("\"version\":1", "\"version\":9", "version 9"),
            ("\"users\":7", "\"users\":0", "at least one connection"),
            ("\"workers\":1", "\"workers\":0", "workers"),
        ];
        for (from, to, message) in table {
            let error = Plan::from_json(&good.replace(from, to)).unwrap_err();
            assert!(error.contains(message), "{error}");
        }
    }
}
