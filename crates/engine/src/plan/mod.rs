//! Plans: groups, transport and stop, checked when they are read.
//!
//! A plan is plain data: it travels as JSON between Python and the engine, and between processes.

mod cancellation;
mod grpc;
mod pace;
mod processes;
pub(crate) mod ramp;
mod source;
mod split;
mod streaming;
mod transport;
mod websocket;

use serde::{Deserialize, Serialize};

pub use cancellation::{CancelAfter, Cancellation};
pub use grpc::{GrpcPlan, MessagePart, Sending};
pub use pace::{Closed, Fed, Open, Pace, Replay, Stage, Think};
pub use processes::Processes;
pub use source::{BodyCheck, Capture, CaptureFrom, Data, JsonCheck, Remember, RequestPlan, Source};
pub use streaming::{Alias, Limit, Limited, StreamPlan};
pub use transport::{HttpVersion, Proxy, Tls, Transport};
pub use websocket::{Matching, WebSocketPlan};

/// The version of the plan's form that this engine reads.
pub const PLAN_VERSION: u32 = 1;

/// A whole load.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// [`PLAN_VERSION`].
    pub version: u32,
    /// The user groups and arrivals.
    pub groups: Vec<Group>,
    /// Over what.
    pub transport: Transport,
    /// Until when.
    pub stop: Stop,
    /// The length of the warm-up, which is not part of the window.
    pub warmup_ns: u64,
    /// How long open exchanges are awaited after the window.
    pub drain_ns: u64,
    /// How long a closed user waits after a failed dial.
    pub retry_delay_ns: u64,
    /// The interval of the timeline.
    pub interval_ns: u64,
    /// Threads that share the load.
    pub workers: u32,
    /// Processes that share the load, and those threads.
    #[serde(default)]
    pub processes: Processes,
    /// For everything random.
    pub seed: u64,
    /// Whether workers look at the clock before an arrival is due, instead of being woken, and at their
    /// sockets after each text of a stream.
    #[serde(default)]
    pub spin: bool,
    /// A CSV file for every exchange.
    #[serde(default)]
    pub log: Option<std::path::PathBuf>,
    /// A file for the texts of streams, as JSON lines.
    #[serde(default)]
    pub texts: Option<std::path::PathBuf>,
}

/// Users or arrivals with one pace and one source.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Group {
    /// Its name in messages.
    pub name: String,
    /// When requests start.
    pub pace: Pace,
    /// Which requests are sent.
    pub source: Source,
    /// How long a user of a closed pace thinks after each response.
    #[serde(default)]
    pub think: Option<Think>,
    /// Which users give up before their response is complete, and when.
    #[serde(default)]
    pub cancel: Option<Cancellation>,
    /// Rows for the templates of its requests.
    #[serde(default)]
    pub data: Option<Data>,
    /// Which users, rows and numbers of the whole plan are this part's: `first`,
    /// `first + stride`, …
    #[serde(default)]
    pub first: u64,
    /// See `first`; 1 for a plan that was not split.
    #[serde(default = "pace::one")]
    pub stride: u64,
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
    /// After the last row of the feed.
    Rows,
    /// After so many attempts have ended.
    Requests {
        /// How many.
        requests: u64,
    },
}

impl Plan {
    /// A load of one group, without warm-up, in one worker: what tests and tools start from.
    #[must_use]
    pub fn new(pace: Pace, source: Source, stop: Stop) -> Self {
        Self {
            version: PLAN_VERSION,
            groups: vec![Group::new(pace, source)],
            transport: Transport::default(),
            stop,
            warmup_ns: 0,
            drain_ns: 5_000_000_000,
            retry_delay_ns: 100_000_000,
            interval_ns: 100_000_000,
            workers: 1,
            processes: Processes::default(),
            seed: 1,
            spin: false,
            log: None,
            texts: None,
        }
    }

    /// Reads a plan from JSON; the message says what is wrong with it, and where.
    pub fn from_json(text: &str) -> Result<Self, String> {
        let plan: Self = serde_json::from_str(text).map_err(|error| format!("plan: {error}"))?;
        plan.check()?;
        Ok(plan)
    }

    /// Connections that the whole plan asks for.
    #[must_use]
    pub fn connections(&self) -> u32 {
        let streams = self.transport.streams;
        self.groups.iter().map(|group| group.pace.connections_of(streams)).sum()
    }

    /// Connections that its parts ask for, if users of several parts share none.
    #[must_use]
    pub(crate) fn connections_of_parts(&self) -> u64 {
        self.split(self.workers).iter().map(|part| u64::from(part.connections())).sum()
    }

    /// Whether anything is due at a time of its own, not when a response has come.
    #[must_use]
    pub fn has_schedule(&self) -> bool {
        self.groups.iter().any(|group| !group.pace.is_closed())
    }

    /// Whether requests can be late: those of arrivals, and those of users after their think times.
    pub(crate) fn can_be_late(&self) -> bool {
        self.has_schedule() || self.groups.iter().any(|group| group.think.is_some())
    }

    /// Returns whether its rows come while it runs.
    #[must_use]
    pub fn has_feed(&self) -> bool {
        self.groups.iter().any(|group| matches!(group.pace, Pace::Fed(_)))
    }

    /// Whether connections are opened at the start of the run, before the first requests.
    pub(crate) fn opens_connections_first(&self) -> bool {
        let mut paces = self.groups.iter().map(|group| &group.pace);
        self.transport.keepalive && paces.any(Pace::opens_connections_first)
    }

    /// Whether the coordinator has a lower priority than the workers.
    ///
    /// It delays what is due at a time of its own, and the stamps of texts that arrive at theirs. Other
    /// closed loops fill the cores, and are never late. A file that grows with every request or text must
    /// be written as fast as it grows.
    pub(crate) fn lowers_coordinator_priority(&self) -> bool {
        let grows = if self.has_only_streams() { &self.texts } else { &self.log };
        (self.has_schedule() || self.has_only_streams()) && grows.is_none()
    }

    /// Whether each response is a stream of texts.
    pub(crate) fn has_only_streams(&self) -> bool {
        let mut requests = self.groups.iter().flat_map(|group| group.source.requests());
        requests.all(|request| request.stream.is_some())
    }

    /// Users, or connections at most.
    #[must_use]
    pub fn concurrency(&self) -> u32 {
        self.groups.iter().map(|group| group.pace.concurrency()).sum()
    }

    /// Users of closed paces.
    #[must_use]
    pub fn users(&self) -> u32 {
        let closed = self.groups.iter().filter(|group| group.pace.is_closed());
        closed.map(|group| group.pace.concurrency()).sum()
    }

    fn check(&self) -> Result<(), String> {
        if self.version != PLAN_VERSION {
            return Err(format!("plan: version {} is not {PLAN_VERSION}", self.version));
        }
        let transport = &self.transport;
        if transport.streams == 0 {
            return Err("plan: streams must be more than zero".into());
        }
        if transport.requests_per_connection == Some(0)
            || transport.connections_per_second.is_some_and(|rate| rate.is_nan() || rate <= 0.0)
        {
            return Err(
                "plan: requests_per_connection and connections_per_second must be more than zero"
                    .into(),
            );
        }
        if self.groups.is_empty() || self.workers == 0 || self.interval_ns == 0 {
            return Err("plan: groups, workers and interval_ns must not be empty or zero".into());
        }
        let sum = |count: fn(&Pace) -> u32| {
            self.groups.iter().map(|group| u64::from(count(&group.pace))).sum::<u64>()
        };
        if sum(Pace::connections).max(sum(Pace::concurrency)) > u64::from(u32::MAX) {
            return Err(format!("plan: more than {} connections or users", u32::MAX));
        }
        let is_shaped = |pace: &Pace| {
            matches!(pace, Pace::Replay(_) | Pace::Fed(Fed { is_timed: true, .. }))
                || !pace.stages().is_empty()
        };
        if self.warmup_ns > 0 && self.groups.iter().any(|group| is_shaped(&group.pace)) {
            return Err("plan: stages, replays and rows with times have no warm-up".into());
        }
        let is_fed = self.has_feed();
        if is_fed && self.groups.len() > 1 {
            return Err("plan: a load with a feed has one group".into());
        }
        if self.stop == Stop::Rows && !is_fed {
            return Err("plan: it ends after the last row, and has no feed".into());
        }
        self.groups.iter().try_for_each(|group| {
            group.check(&self.stop).map_err(|text| format!("plan: group {:?}: {text}", group.name))
        })
    }
}

impl Group {
    /// A whole group whose users do not think.
    #[must_use]
    pub fn new(pace: Pace, source: Source) -> Self {
        let name = "default".into();
        Self { name, pace, source, think: None, cancel: None, data: None, first: 0, stride: 1 }
    }

    fn check(&self, stop: &Stop) -> Result<(), String> {
        let is_closed = self.pace.is_closed();
        let is_fed = matches!(self.pace, Pace::Fed(_));
        if is_fed != matches!(self.data, Some(Data::Fed { .. })) {
            return Err(
                "rows that come while the load runs and a pace for them need each other".into()
            );
        }
        if !is_fed && self.source.requests().iter().any(|request| request.remember.is_some()) {
            return Err("only sessions of rows remember".into());
        }
        if is_fed && (self.think.is_some() || matches!(self.source, Source::Steps { .. })) {
            return Err("rows of a feed have neither think times nor steps".into());
        }
        if is_fed && self.source.requests().iter().any(|request| request.grpc.is_some()) {
            return Err("rows of a feed are not encoded for gRPC".into());
        }
        if self.think.is_some() && !is_closed {
            return Err("arrivals do not think".into());
        }
        let has_session = matches!(self.source, Source::Steps { .. })
            || self.source.requests().iter().any(|request| !request.captures.is_empty());
        if has_session && !is_closed && !is_fed {
            return Err("arrivals are nobody's: steps and captures need users".into());
        }
        self.source.check()?;
        if let Some(cancel) = &self.cancel {
            cancel.check()?;
            let has_streams = self.source.requests().iter().any(|request| request.stream.is_some());
            if matches!(cancel.after, CancelAfter::Texts { .. }) && !has_streams {
                return Err("only a stream has texts after which it can be cancelled".into());
            }
        }
        if let (Stop::Requests { requests }, Some(most)) = (stop, self.pace.most_requests())
            && *requests > most
        {
            return Err(format!("{requests} requests are asked for, and it has at most {most}"));
        }
        self.pace.check()
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A small plan; tests change what they are about.
    pub(crate) fn plan(pace: Pace) -> Plan {
        let request = RequestPlan::get("http://127.0.0.1:80/");
        Plan::new(pace, Source::One { request }, Stop::Duration { duration_ns: 1_000_000_000 })
    }

    #[test]
    fn survives_the_way_through_json() {
        let open = Open::new(10.5, 3);
        let closed = Pace::Closed(Closed::new(7));
        let odd = Pace::Constant(Open::new(1.022_222_222_222_222e30, 3));
        for pace in [closed, Pace::Constant(open.clone()), Pace::Poisson(open), odd] {
            let plan = plan(pace);
            let text = serde_json::to_string(&plan).unwrap();
            assert_eq!(Plan::from_json(&text), Ok(plan));
        }
    }

    #[test]
    fn users_who_think_can_be_late_and_others_cannot() {
        let mut users = plan(Pace::Closed(Closed::new(7)));
        assert!(!users.can_be_late());
        users.groups[0].think = Some(Think::Uniform { from_ns: 1, to_ns: 2 });
        assert!(users.can_be_late() && !users.has_schedule());
        assert!(plan(Pace::Constant(Open::new(10.0, 3))).can_be_late());
    }

    #[test]
    fn the_coordinator_stands_behind_schedules_and_streams_unless_it_writes_much() {
        let closed = Pace::Closed(Closed::new(7));
        let open = Pace::Constant(Open::new(10.0, 3));
        let file = Some(std::path::PathBuf::from("file"));
        for (pace, has_streams, log, texts, is_lowered) in [
            (&closed, false, None, None, false),
            (&open, false, None, None, true),
            (&open, false, file.clone(), None, false),
            (&closed, true, None, None, true),
            (&closed, true, file.clone(), None, true),
            (&closed, true, None, file.clone(), false),
            (&open, true, file, None, true),
        ] {
            let stream = has_streams.then(|| StreamPlan::new(wire::Dialect::ALL[0]));
            let request = RequestPlan { stream, ..RequestPlan::get("http://127.0.0.1:80/") };
            let mut plan = Plan { log, texts, ..plan(pace.clone()) };
            plan.groups[0].source = Source::One { request };
            assert_eq!(plan.lowers_coordinator_priority(), is_lowered, "{plan:?}");
        }
    }

    #[test]
    fn refuses_more_connections_than_can_be_counted() {
        let mut most = plan(Pace::Closed(Closed::new(u32::MAX)));
        most.groups.push(plan(Pace::Closed(Closed::new(1))).groups.remove(0));
        let error = Plan::from_json(&serde_json::to_string(&most).unwrap()).unwrap_err();
        assert_eq!(error, "plan: more than 4294967295 connections or users");
    }

    #[test]
    fn refuses_unknown_keys_and_impossible_numbers() {
        let good = serde_json::to_string(&plan(Pace::Closed(Closed::new(7)))).unwrap();
        let table = [
            ("\"warmup_ns\"", "\"warm_up\"", "unknown field `warm_up`"),
            ("\"version\":1", "\"version\":9", "version 9"),
            ("\"users\":7", "\"users\":0", "at least one connection"),
            ("\"workers\":1", "\"workers\":0", "workers"),
            ("\"spawn_rate\":null", "\"spawn_rate\":0.0", "spawn_rate"),
            (
                "\"pool\":null,\"stages\":[],\"spawn_rate\":null",
                "\"pool\":3,\"spawn_rate\":1.0",
                "share",
            ),
        ];
        for (from, to, message) in table {
            let error = Plan::from_json(&good.replace(from, to)).unwrap_err();
            assert!(error.contains(message), "{error}");
        }
    }
}
