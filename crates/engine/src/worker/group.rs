//! A group: the slots of one group, and the requests that wait for one of them.

use std::collections::VecDeque;

use net::Nanos;

use super::choice::Choice;
use super::user_state::UserStates;
use super::waiting_queue::WaitingQueue;
use crate::pace::Schedule;
use crate::pace::think::Thoughts;
use crate::plan::ramp::Ramp;
use crate::plan::{Group, Pace};
use crate::prepare::variables::{Draw, Draws, Filling};
use crate::prepare::{PreparedGroup, PreparedRequest, RequestText};
use crate::random::{SplitMix, mix};

/// Thoughts, choices and values are drawn apart from arrivals, and from each other.
const THOUGHT_SEED: u64 = 0x74_68_69_6e_6b;
const CHOICE_SEED: u64 = 0x63_68_6f_69_63_65;
const VALUE_SEED: u64 = 0x76_61_6c_75_65;

/// Requests of a schedule under way at most, where the plan says nothing: memory has an end, and a
/// target that is so far behind is overloaded.
const MAX_IN_FLIGHT: u32 = 1 << 20;

/// A request that was taken up but has no connection yet.
#[derive(Debug, Clone, Copy)]
pub(super) struct Attempt {
    pub(super) intended: Nanos,
    pub(super) taken: Nanos,
    /// When its time is up.
    pub(super) timeout_at: Nanos,
    pub(super) measured: bool,
    /// Whether it has waited for a free connection.
    pub(super) is_queued: bool,
    /// Which request.
    pub(super) request: u16,
    /// Which user of the group's; arrivals are nobody's.
    pub(super) user: u32,
    /// Its row and number.
    pub(super) draw: Draw,
}

/// Who does what when nobody knows which user it is.
pub(super) const NO_USER: u32 = u32::MAX;

/// One group at work.
pub(super) struct GroupState {
    pub(super) pace: Pace,
    /// How long its users think, if they do.
    pub(super) think_times: Option<Thoughts>,
    /// How many users there are, where that changes with time.
    pub(super) ramp: Option<Ramp>,
    /// Which users of the whole plan these are: `first`, `first + stride`, …
    pub(super) numbers: (u64, u64),
    /// Arrivals to come; none for a closed pace.
    pub(super) schedule: Option<Schedule>,
    pub(super) choice: Choice,
    pub(super) user_states: UserStates,
    pub(super) random: SplitMix,
    /// For what must be new in every run.
    pub(super) unique: SplitMix,
    /// Requests that wait for a connection.
    pub(super) queue: WaitingQueue,
    /// The number of its first slot.
    pub(super) first_slot: u32,
    /// Lanes without work; the one that rested longest goes first, so that all stay in use.
    pub(super) idle: VecDeque<u32>,
    /// Taken up and not ended.
    pub(super) in_flight: u32,
    pub(super) max_in_flight: u32,
    /// Whether any connection has brought a second answer: this server keeps them alive.
    pub(super) keeps_alive: bool,
}

impl GroupState {
    pub(super) fn new(group: &Group, prepared: &PreparedGroup, first_slot: u32, seed: u64) -> Self {
        let users = if group.pace.is_closed() { group.pace.concurrency() } else { 0 };
        let choice = Choice::new(&group.source, prepared, group.first, mix(seed, CHOICE_SEED));
        let draws = Draws::new(group.first, group.stride);
        let think_times = |think| Thoughts::new(think, mix(seed, THOUGHT_SEED));
        Self {
            think_times: group.think.as_ref().map(think_times),
            ramp: if group.pace.is_closed() { Ramp::new(group.pace.stages()) } else { None },
            numbers: (group.first, group.stride),
            schedule: None,
            user_states: UserStates::new(users, choice.steps(), prepared, draws),
            choice,
            random: SplitMix::new(mix(seed, VALUE_SEED)),
            unique: SplitMix::of_this_moment(),
            queue: WaitingQueue::default(),
            first_slot,
            idle: VecDeque::new(),
            in_flight: 0,
            max_in_flight: limit(&group.pace),
            keeps_alive: false,
            pace: group.pace.clone(),
        }
    }

    /// Whether requests wait for answers.
    pub(super) fn is_closed(&self) -> bool {
        self.pace.is_closed()
    }

    /// Whether each slot is a user with a connection of its own.
    pub(super) fn has_own_slots(&self) -> bool {
        matches!(&self.pace, Pace::Closed(closed) if closed.pool.is_none())
    }

    /// Users who share slots.
    pub(super) fn pooled_users(&self) -> u32 {
        match &self.pace {
            Pace::Closed(closed) if closed.pool.is_some() => closed.users,
            _ => 0,
        }
    }

    /// The user on a slot of its own.
    pub(super) fn user_of(&self, slot: u32) -> u32 {
        if self.has_own_slots() { slot - self.first_slot } else { NO_USER }
    }

    /// Which of all the users of the whole plan's group this one is.
    #[allow(clippy::cast_precision_loss)]
    pub(super) fn number_of(&self, user: u32) -> f64 {
        (self.numbers.0 + u64::from(user) * self.numbers.1) as f64
    }

    /// When, from `now` on, this user is there: from and to.
    pub(super) fn presence(&self, user: u32, start: Nanos, now: Nanos) -> Option<(Nanos, Nanos)> {
        let Some(ramp) = &self.ramp else { return Some((now, Nanos::MAX)) };
        // Rounded, so that as many user-seconds come out as lie under the ramp.
        let (from, to) = ramp.above(self.number_of(user) + 0.5, now.saturating_sub(start))?;
        Some((start + from, start + to))
    }

    /// Joins the text of a request with its values.
    pub(super) fn join(
        &mut self,
        attempt: &Attempt,
        request: &PreparedRequest,
        group: &PreparedGroup,
        text: &mut Vec<u8>,
        spare: &mut Vec<u8>,
    ) {
        let RequestText::Joined(template, variables) = &request.text else { return };
        let (rows, draw) = (group.rows.as_deref(), attempt.draw);
        let captured = self.user_states.values(attempt.user);
        let (random, unique) = (&mut self.random, &mut self.unique);
        let mut values = Filling { variables, rows, draw, captured, random, unique };
        template.join(&mut values, text, spare);
    }

    /// The request that a user, or an arrival, sends next.
    pub(super) fn next_attempt(&mut self, user: u32, intended: Nanos, taken: Nanos) -> Attempt {
        let request = self.choice.next(self.user_states.step(user));
        let draw = self.user_states.draw(user);
        let (timeout_at, measured, is_queued) = (Nanos::MAX, false, false);
        Attempt { intended, taken, timeout_at, measured, is_queued, request, user, draw }
    }
}

fn limit(pace: &Pace) -> u32 {
    let limit = match pace {
        Pace::Closed(_) => None,
        Pace::Constant(open) | Pace::Poisson(open) => open.max_in_flight,
        Pace::Replay(replay) => replay.max_in_flight,
    };
    limit.unwrap_or(MAX_IN_FLIGHT)
}
