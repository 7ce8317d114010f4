//! A crew: the lanes of one group, and the requests that wait for one of them.

use std::collections::VecDeque;

use net::Nanos;

use super::routes::Routes;

use crate::pace::Schedule;
use crate::plan::{Group, Open, Pace};
use crate::think::Thoughts;

/// A request that was taken up but has no connection yet.
#[derive(Debug, Clone, Copy)]
pub(super) struct Due {
    pub(super) intended: Nanos,
    pub(super) taken: Nanos,
    pub(super) measured: bool,
}

/// One group at work.
pub(super) struct Crew {
    pub(super) pace: Pace,
    /// How long its users think, if they do.
    pub(super) thoughts: Option<Thoughts>,
    /// Arrivals to come; none for a closed pace.
    pub(super) schedule: Option<Schedule>,
    pub(super) queue: VecDeque<Due>,
    /// Whether an alarm watches the front of the queue.
    pub(super) queue_watched: bool,
    /// Lanes without work; the one that rested longest goes first, so that all stay in use.
    pub(super) idle: VecDeque<u32>,
    /// Taken up and not ended.
    pub(super) in_flight: u32,
    pub(super) max_in_flight: u32,
    /// Whether any connection has brought a second answer: this server keeps them alive.
    pub(super) keeps_alive: bool,
    /// Where its connections go.
    pub(super) routes: Routes,
}

impl Crew {
    pub(super) fn new(group: &Group, routes: Routes, seed: u64) -> Self {
        let max_in_flight = match &group.pace {
            Pace::Closed { .. } => u32::MAX,
            Pace::Constant(open) | Pace::Poisson(open) => limit(open),
        };
        Self {
            pace: group.pace.clone(),
            thoughts: group.think.as_ref().map(|think| Thoughts::new(think, seed)),
            schedule: None,
            queue: VecDeque::new(),
            queue_watched: false,
            idle: VecDeque::new(),
            in_flight: 0,
            max_in_flight,
            keeps_alive: false,
            routes,
        }
    }

    pub(super) fn is_closed(&self) -> bool {
        matches!(self.pace, Pace::Closed { .. })
    }
}

fn limit(open: &Open) -> u32 {
    open.max_in_flight.unwrap_or(u32::MAX)
}
