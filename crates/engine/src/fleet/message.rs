//! The messages between the parent and its children.
//!
//! Orders: one plan, the start of the warm-up, the start of the window, rows of a feed, an early end.
//! Replies: that its requests are prepared, that its connections are open, the report of a worker for each
//! interval, which rows it has used, why it failed. Heartbeats go both ways from the greeting on. Times are those of the clock that the child's
//! greeting names.

use std::time::Duration;

use net::{Nanos, SourceAddresses};
use serde::{Deserialize, Serialize};

use crate::feed::FeedBatch;
use crate::measure::machine::MachineReading;
use crate::measure::report::Report;
use crate::messages::Message;
use crate::plan::Plan;

/// A message to a child.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum ChildOrder {
    /// The child's part of the load; the first order.
    Fire(Box<Task>),
    /// When the warm-up begins; sent when every child is prepared.
    Begin {
        /// That time.
        at: Nanos,
    },
    /// When the window starts.
    Open {
        /// That time.
        at: Nanos,
    },
    /// Rows for a worker.
    Rows {
        /// The number of the worker within the child.
        worker: u32,
        /// The rows.
        batch: FeedBatch,
    },
    /// As [`Gate::stop`](crate::Gate::stop).
    Stop,
    /// As [`Gate::abort`](crate::Gate::abort).
    Abort,
    /// A sign of life, and the question for the child's time.
    Heartbeat {
        /// When it was sent, on the parent's clock.
        sent: Nanos,
    },
}

/// The part of one child.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Task {
    /// The plan of the part.
    #[serde(with = "plan_form")]
    pub(super) plan: Plan,
    /// The number of its first worker within the whole load.
    pub(super) first_worker: u32,
    /// The source addresses of the child.
    pub(super) sources: Rotation,
    /// After this time without an order, the parent counts as lost.
    pub(super) silence_limit: Duration,
    /// Whether the child is on another machine than the parent, whose usage it reads.
    pub(super) is_on_node: bool,
}

/// A plan as a text of JSON, the only form that has all its values.
mod plan_form {
    use serde::de::Error as _;
    use serde::ser::Error as _;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use crate::plan::Plan;

    pub(super) fn serialize<S: Serializer>(plan: &Plan, to: S) -> Result<S::Ok, S::Error> {
        serde_json::to_string(plan).map_err(S::Error::custom)?.serialize(to)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Plan, D::Error> {
        serde_json::from_str(&String::deserialize(from)?).map_err(D::Error::custom)
    }
}

/// The part of one child in the rotation of source addresses.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(super) struct Rotation {
    /// Turns that earlier loads have used.
    pub(super) after: u32,
    /// The number of the child.
    pub(super) part: u32,
    /// The number of children.
    pub(super) of: u32,
}

impl Rotation {
    /// Returns the source addresses of the child.
    pub(super) fn sources(self) -> SourceAddresses {
        SourceAddresses::part(self.after, self.part, self.of)
    }

    /// Returns the turn after which later loads go on, if the child has used `turns`.
    pub(super) fn end(self, turns: u32) -> u32 {
        if turns == 0 { self.after } else { self.after + self.part + self.of * (turns - 1) + 1 }
    }
}

/// A message of a child.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum ChildReply {
    /// Its requests are prepared.
    Prepared,
    /// Its workers have arrived at the gate.
    Ready,
    /// An interval of a worker; its rows are the attachment.
    Report {
        /// The interval.
        report: Box<Report>,
        /// The usage of the process until then.
        figures: Figures,
    },
    /// What its workers have used of their rows, and missed, by worker.
    Demand {
        /// For each worker, as [`FeedDemand`](crate::feed::FeedDemand) has it.
        workers: Vec<(u64, u64)>,
    },
    /// The answer to a heartbeat.
    Heartbeat {
        /// The time in the heartbeat.
        sent: Nanos,
        /// The child's time.
        at: Nanos,
    },
    /// The child cannot go on.
    Failed {
        /// Why.
        end: Message,
    },
}

/// The usage of a process of the load generator until now.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Figures {
    /// Processor time.
    pub(crate) cpu_ns: Nanos,
    /// The maximum resident memory.
    pub(crate) max_rss_bytes: u64,
    /// The limit of descriptors.
    pub(crate) descriptor_limit: u64,
    /// The used turns of source addresses.
    pub(crate) source_turns: u32,
    /// The usage of its machine, if that is another one than the parent's.
    pub(crate) machine: Option<MachineReading>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn later_loads_go_on_after_the_last_turn_of_any_child() {
        let rotation = |part| Rotation { after: 10, part, of: 3 };
        assert_eq!(rotation(2).end(0), 10, "it used none");
        // Children 0, 1, 2 have the turns 10, 11, 12, then 13, 14, 15.
        assert_eq!((rotation(0).end(1), rotation(2).end(1)), (11, 13));
        assert_eq!((rotation(0).end(2), rotation(2).end(2)), (14, 16));
    }
}
