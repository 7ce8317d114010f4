//! The state of a group: its slots, its users, and the requests that wait for a slot.

use std::collections::VecDeque;

use net::Nanos;

use super::request_order::RequestOrder;
use super::row_queue::RowQueue;
use super::user_state::UserStates;
use super::waiting_queue::WaitingQueue;
use crate::feed::FeedInbox;
use crate::pace::Schedule;
use crate::pace::cancellation::{Cancellations, GivingUp};
use crate::pace::think::Thoughts;
use crate::plan::ramp::Ramp;
use crate::plan::{Group, Pace};
use crate::prepare::variables::{Draw, Draws, Filling, RowCells};
use crate::prepare::{PreparedGroup, PreparedRequest, RequestText};
use crate::random::{SplitMix, mix};

/// Think times, choices and values have random numbers of their own, apart from those of arrivals.
const THINK_SEED: u64 = 0x74_68_69_6e_6b;
const CHOICE_SEED: u64 = 0x63_68_6f_69_63_65;
const CANCEL_SEED: u64 = 0x63_61_6e_63_65_6c;
const VALUE_SEED: u64 = 0x76_61_6c_75_65;

/// The maximum number of open-loop requests in flight if the plan sets none. It limits the memory; a
/// target that is so far behind is overloaded.
const MAX_IN_FLIGHT: u32 = 1 << 20;

/// A request that was taken up and has no connection yet.
#[derive(Debug, Clone, Copy)]
pub(super) struct Attempt {
    pub(super) intended: Nanos,
    pub(super) taken: Nanos,
    /// When it times out.
    pub(super) timeout_at: Nanos,
    pub(super) measured: bool,
    /// Whether it has waited for a free connection.
    pub(super) is_queued: bool,
    /// The number of the request.
    pub(super) request: u16,
    /// The number of the user within the group, or the place of the row in the queue of rows;
    /// open-loop requests have [`NO_USER`].
    pub(super) user: u32,
    /// The data row, and the number of the request.
    pub(super) draw: Draw,
}

/// The number of no user.
pub(super) const NO_USER: u32 = u32::MAX;

/// The state of one group.
pub(super) struct GroupState {
    pub(super) pace: Pace,
    /// The think time of its users, if they have one.
    pub(super) think_times: Option<Thoughts>,
    /// When users give up, if some do.
    pub(super) cancellations: Option<Cancellations>,
    /// The number of users, if it changes with time.
    pub(super) ramp: Option<Ramp>,
    /// The numbers of its users within the whole plan: `first`, `first + stride`, …
    pub(super) numbers: (u64, u64),
    /// The arrivals to come; none for a closed loop.
    pub(super) schedule: Option<Schedule>,
    pub(super) request_order: RequestOrder,
    pub(super) user_states: UserStates,
    pub(super) random: SplitMix,
    /// For values that differ between runs.
    pub(super) unique: SplitMix,
    /// The rows that its requests are filled with, if they come while the load runs.
    pub(super) row_queue: Option<RowQueue>,
    /// Requests that wait for a connection.
    pub(super) queue: WaitingQueue,
    /// The number of its first slot.
    pub(super) first_slot: u32,
    /// Slots without work. The one that was free longest is used first, so that all connections are used.
    pub(super) idle: VecDeque<u32>,
    /// Attempts that were taken up and have not ended.
    pub(super) in_flight: u32,
    pub(super) max_in_flight: u32,
    /// Whether a connection has carried a second response: the server keeps connections open.
    pub(super) keeps_alive: bool,
}

impl GroupState {
    pub(super) fn new(group: &Group, prepared: &PreparedGroup, first_slot: u32, seed: u64) -> Self {
        let has_users = matches!(group.pace, Pace::Closed(_));
        let users = if has_users { group.pace.concurrency() } else { 0 };
        let request_order =
            RequestOrder::new(&group.source, prepared, group.first, mix(seed, CHOICE_SEED));
        let draws = Draws::new(group.first, group.stride);
        let think_times = |think| Thoughts::new(think, mix(seed, THINK_SEED));
        let cancellations = |cancel| Cancellations::new(cancel, mix(seed, CANCEL_SEED));
        Self {
            think_times: group.think.as_ref().map(think_times),
            cancellations: group.cancel.as_ref().map(cancellations),
            ramp: if group.pace.is_closed() { Ramp::new(group.pace.stages()) } else { None },
            numbers: (group.first, group.stride),
            schedule: None,
            row_queue: None,
            user_states: UserStates::new(users, request_order.steps(), prepared, draws),
            request_order,
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

    /// Takes its rows from an inbox.
    pub(super) fn feed(&mut self, inbox: FeedInbox, prepared: &PreparedGroup) {
        let users = self.pace.is_closed().then(|| self.pace.connections());
        self.row_queue = Some(RowQueue::new(inbox, users, prepared.captures));
    }

    /// Returns whether its users wait for responses (a closed loop).
    pub(super) fn is_closed(&self) -> bool {
        self.pace.is_closed()
    }

    /// Returns whether each slot is a user with a connection of its own.
    pub(super) fn has_own_slots(&self) -> bool {
        matches!(&self.pace, Pace::Closed(closed) if closed.pool.is_none())
    }

    /// Returns whether there is a slot for each user, so that connections have fewer slots together
    /// than they could have.
    pub(super) fn has_a_slot_for_each_user(&self) -> bool {
        self.has_own_slots() || matches!(&self.pace, Pace::Fed(fed) if !fed.is_timed)
    }

    /// Returns the number of users that share slots.
    pub(super) fn pooled_users(&self) -> u32 {
        match &self.pace {
            Pace::Closed(closed) if closed.pool.is_some() => closed.users,
            _ => 0,
        }
    }

    /// Returns the user of a slot of its own.
    pub(super) fn user_of(&self, slot: u32) -> u32 {
        if self.has_own_slots() { slot - self.first_slot } else { NO_USER }
    }

    /// Returns the number of a user within the whole plan.
    #[allow(clippy::cast_precision_loss)]
    pub(super) fn number_of(&self, user: u32) -> f64 {
        (self.numbers.0 + u64::from(user) * self.numbers.1) as f64
    }

    /// Returns the next time, from `now` on, in which a user is active: from and to.
    pub(super) fn presence(&self, user: u32, start: Nanos, now: Nanos) -> Option<(Nanos, Nanos)> {
        let Some(ramp) = &self.ramp else { return Some((now, Nanos::MAX)) };
        // With the half, there are as many user-seconds as under the ramp.
        let (from, to) = ramp.above(self.number_of(user) + 0.5, now.saturating_sub(start))?;
        Some((start + from, start + to))
    }

    /// Returns when the user of the next attempt gives up.
    pub(super) fn next_giving_up(&mut self) -> GivingUp {
        self.cancellations.as_mut().map_or(GivingUp::NEVER, Cancellations::next)
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
        let draw = attempt.draw;
        let (rows, captured) = match &self.row_queue {
            Some(queue) => (queue.row(attempt.user).map(RowCells::Fed), queue.values(attempt.user)),
            None => {
                let rows = group.rows.as_deref().map(RowCells::Table);
                (rows, &*self.user_states.values(attempt.user))
            }
        };
        let (random, unique) = (&mut self.random, &mut self.unique);
        let mut values = Filling { variables, rows, draw, captured, random, unique };
        template.join(&mut values, text, spare);
    }

    /// Lets the session of a row remember its request and the answer to it.
    pub(super) fn remember(&mut self, user: u32, request: &PreparedRequest, spare: &mut Vec<u8>) {
        let Some((remembered, queue)) = request.remembered.as_ref().zip(self.row_queue.as_mut())
        else {
            return;
        };
        let Some(row) = queue.row(user) else { return };
        let mut values = Filling {
            variables: &remembered.variables,
            rows: Some(RowCells::Fed(row)),
            draw: Draw { seq: row.number },
            captured: queue.values(user),
            random: &mut self.random,
            unique: &mut self.unique,
        };
        remembered.text.join(&mut values, spare, &mut Vec::new());
        if let Some(value) = queue.values_mut(user).get_mut(remembered.value) {
            value.extend_from_slice(spare);
        }
    }

    /// Returns the captured values of a user, or of the session of a row.
    pub(super) fn values(&mut self, user: u32) -> &mut [Vec<u8>] {
        match &mut self.row_queue {
            Some(queue) => queue.values_mut(user),
            None => self.user_states.values(user),
        }
    }

    /// Returns the planned tokens of prompt and output of a row.
    pub(super) fn planned_tokens(&self, user: u32) -> [u64; 2] {
        let row = self.row_queue.as_ref().and_then(|queue| queue.row(user));
        row.map_or([0; 2], |row| row.tokens)
    }

    /// Frees the values of a row whose request is encoded.
    pub(super) fn release(&mut self, user: u32) {
        if let Some(queue) = &mut self.row_queue {
            queue.release(user);
        }
    }

    /// Returns how long a row was kept from starting by others, if it was.
    pub(super) fn postponement(&self, user: u32) -> Option<Nanos> {
        self.row_queue.as_ref()?.postponement(user)
    }

    /// Takes note that the attempt of a user or of a row has ended; after a failed dial, a closed user
    /// rests until `free_at`.
    pub(super) fn ended(&mut self, user: u32, at: Nanos, free_at: Nanos, is_ok: bool) {
        match &mut self.row_queue {
            Some(queue) => queue.ended(user, at, free_at, is_ok),
            None => self.user_states.ended(user, is_ok),
        }
    }

    /// Returns the next request of a user, of an arrival, or of a row.
    pub(super) fn next_attempt(&mut self, user: u32, intended: Nanos, taken: Nanos) -> Attempt {
        let row = self.row_queue.as_ref().and_then(|queue| queue.row(user));
        let (request, draw) = match row {
            Some(row) => (self.request_order.at(row.request), Draw { seq: row.number }),
            None => {
                let request = self.request_order.next(self.user_states.step(user));
                (request, self.user_states.draw(user))
            }
        };
        let (timeout_at, measured, is_queued) = (Nanos::MAX, false, false);
        Attempt { intended, taken, timeout_at, measured, is_queued, request, user, draw }
    }
}

fn limit(pace: &Pace) -> u32 {
    let limit = match pace {
        Pace::Closed(_) => None,
        Pace::Constant(open) | Pace::Poisson(open) => open.max_in_flight,
        Pace::Replay(replay) => replay.max_in_flight,
        Pace::Fed(fed) => fed.max_in_flight,
    };
    limit.unwrap_or(MAX_IN_FLIGHT)
}
