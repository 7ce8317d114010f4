//! The scheduler: which attempts start when. It has the groups, the window and the timers of a worker,
//! and knows no connection.

use std::sync::Arc;

use client::{Outcome, Reason, Stamps};
use net::Nanos;

use super::WorkerShare;
use super::gate::Gate;
use super::group::{Attempt, GroupState, NO_USER};
use super::recorder::{AttemptEnd, Recorder};
use super::row_queue::RowQueue;
use super::timers::{Timer, WorkerTimers};
use super::window::Window;
use crate::measure::report::Phase;
use crate::measure::tally::Tally;
use crate::pace::Schedule;
use crate::pace::think::Thoughts;
use crate::plan::Pace;
use crate::prepare::Prepared;
use crate::random::mix;

/// The arrivals of the warm-up must not have the seeds of the window's.
const WARMUP_SEED: u64 = 0x77_61_72_6d;

/// When attempts start.
pub(super) struct Scheduler {
    pub(super) groups: Vec<GroupState>,
    pub(super) window: Window,
    pub(super) timers: WorkerTimers,
    /// The time of the latest attempt.
    pub(super) last_taken: Nanos,
    /// Whether any group of the whole plan has arrivals.
    has_arrivals: bool,
    gate: Arc<Gate>,
    prepared: Arc<Prepared>,
    seed: u64,
}

impl Scheduler {
    pub(super) fn new(share: &WorkerShare, groups: Vec<GroupState>, slots: u32) -> Self {
        let (plan, run_start) = (&share.plan, share.run_start);
        Self {
            window: Window::new(plan, run_start),
            timers: WorkerTimers::new(slots, &groups),
            groups,
            last_taken: run_start,
            has_arrivals: plan.has_schedule(),
            gate: Arc::clone(&share.gate),
            prepared: Arc::clone(&share.prepared),
            seed: plan.seed,
        }
    }

    /// Starts the arrivals and pooled users of the warm-up. Other users start when their connections
    /// are open.
    pub(super) fn start_warmup(&mut self) {
        if self.window.has_warmup {
            self.set_schedules(self.window.run_start, mix(self.seed, WARMUP_SEED));
            self.start_pooled_users(self.window.run_start);
        }
    }

    /// Starts the arrivals of the window, and the pooled users that had no warm-up.
    pub(super) fn start_window(&mut self) {
        self.set_schedules(self.window.start, self.seed);
        if !self.window.has_warmup {
            self.start_pooled_users(self.window.start);
        }
    }

    fn set_schedules(&mut self, start: Nanos, seed: u64) {
        for (group, number) in self.groups.iter_mut().zip(0_u64..) {
            let is_early = start < self.window.start;
            // Stages and replays begin with the window.
            let is_shaped =
                matches!(group.pace, Pace::Replay(_)) || !group.pace.stages().is_empty();
            let is_empty = group.pace.connections() == 0;
            group.schedule = if is_empty || (is_early && is_shaped) {
                None
            } else {
                Schedule::new(&group.pace, start, mix(seed, number))
            };
            if let Some(queue) = &mut group.row_queue {
                queue.set_origin(start);
            }
        }
    }

    /// Starts the users who share slots: each within one think time, so that not all start at once.
    fn start_pooled_users(&mut self, start: Nanos) {
        for (group, number) in self.groups.iter_mut().zip(0_u16..) {
            for user in 0..group.pooled_users() {
                let rest = group.think_times.as_mut().map_or(0, Thoughts::rest);
                self.timers.set(start.saturating_add(rest), Timer::User(number, user));
            }
        }
    }

    /// Takes the rows that have come, and ends the window after the last of them.
    pub(super) fn receive_rows(&mut self, now: Nanos, recorder: &mut Recorder) {
        let Some(group) = self.groups.first_mut() else { return };
        let Some(queue) = &mut group.row_queue else { return };
        queue.receive(now);
        let measured = self.window.phase > Phase::Warmup;
        for request in queue.take_left_out() {
            recorder.tally(group.request_order.at(request), measured).left_out += 1;
        }
        let is_over = queue.is_exhausted();
        if is_over {
            self.window.left = 0;
        }
        let phase = self.window.phase;
        let has_begun =
            phase == Phase::Measure || (phase == Phase::Warmup && self.window.has_warmup);
        let is_starved = !is_over && has_begun && queue.is_starved(!group.idle.is_empty(), now);
        queue.note_starvation(is_starved, now);
    }

    /// Returns when the next arrival is due.
    pub(super) fn next_due(&self) -> Nanos {
        if self.window.phase > Phase::Measure {
            return Nanos::MAX;
        }
        let schedules = self.groups.iter().filter_map(|group| group.schedule.as_ref());
        let due = schedules.map(Schedule::next).fold(Nanos::MAX, Nanos::min);
        let due = if self.window.admits(due) { due } else { Nanos::MAX };
        due.min(self.next_row_at())
    }

    /// Returns when the next row starts, if it is known.
    fn next_row_at(&self) -> Nanos {
        let Some(group) = self.groups.first() else { return Nanos::MAX };
        let Some(queue) = &group.row_queue else { return Nanos::MAX };
        let next = queue.next_at();
        let may_start = if queue.is_timed() {
            self.window.admits(next)
        } else {
            let has_begun = self.window.phase == Phase::Measure || self.window.has_warmup;
            has_begun && self.window.left > 0 && !group.idle.is_empty()
        };
        if may_start { next } else { Nanos::MAX }
    }

    /// Returns whether there is a place for a request and no row, and rows may still come.
    pub(super) fn is_starved(&self, now: Nanos) -> bool {
        self.groups.first().is_some_and(|group| {
            let queue = group.row_queue.as_ref();
            queue.is_some_and(|queue| queue.is_starved(!group.idle.is_empty(), now))
        })
    }

    /// Returns whether the first rows have come, if there is a feed.
    pub(super) fn has_first_rows(&self) -> bool {
        let mut queues = self.groups.iter().filter_map(|group| group.row_queue.as_ref());
        queues.all(RowQueue::has_begun)
    }

    /// Takes an arrival of a group from its schedule, or a row, if one was due at `until`; returns its
    /// time, and the place of the row.
    pub(super) fn take_due(&mut self, group: usize, until: Nanos) -> Option<(Nanos, u32)> {
        // Until the window has its own schedule, no arrival that is due in it may be taken.
        let is_early = self.window.phase == Phase::Warmup;
        let until = if is_early { until.min(self.window.start - 1) } else { until };
        if self.groups[group].row_queue.is_some() {
            return self.take_row(group, until);
        }
        let schedule = self.groups[group].schedule.as_mut()?;
        let due = schedule.next();
        if due > until || !self.window.admits(due) {
            return None;
        }
        schedule.take();
        Some((due, NO_USER))
    }

    /// Takes a row of a group if it could start at `until`: at its time, or for a user who has none.
    fn take_row(&mut self, group: usize, until: Nanos) -> Option<(Nanos, u32)> {
        let state = &mut self.groups[group];
        let queue = state.row_queue.as_mut()?;
        if queue.is_timed() {
            let next = queue.next_at();
            let taken = if self.window.admits(next) { queue.take(until) } else { None };
            return taken.map(|row| (row.intended, row.place));
        }
        if state.idle.is_empty() || !self.window.admits(until) {
            return None;
        }
        let row = queue.take(until)?;
        Some((self.since_within_phase(row.intended), row.place))
    }

    /// Starts the attempt of an arrival; returns it with its slot, unless it waits or is dropped.
    pub(super) fn arrive(
        &mut self,
        group: usize,
        (intended, user): (Nanos, u32),
        now: Nanos,
        recorder: &mut Recorder,
    ) -> Option<(u32, Attempt)> {
        if self.groups[group].in_flight >= self.groups[group].max_in_flight {
            let attempt = self.groups[group].next_attempt(user, intended, now);
            let measured = self.window.is_measured(intended);
            self.plan(group, attempt.request, measured, recorder).dropped += 1;
            self.groups[group].ended(user, now, now, false);
            return None;
        }
        self.start_in_idle_slot(group, user, intended, now, recorder)
    }

    /// Starts an attempt of a pooled user, who has thought to the end or rested after a failed dial;
    /// returns it with its slot, unless it waits for one.
    pub(super) fn continue_user(
        &mut self,
        (group, user): (u16, u32),
        since: Nanos,
        now: Nanos,
        recorder: &mut Recorder,
    ) -> Option<(u32, Attempt)> {
        let since = self.since_within_phase(since);
        if !self.window.admits(since) {
            return None;
        }
        self.start_in_idle_slot(usize::from(group), user, since, now, recorder)
    }

    fn start_in_idle_slot(
        &mut self,
        group: usize,
        user: u32,
        intended: Nanos,
        now: Nanos,
        recorder: &mut Recorder,
    ) -> Option<(u32, Attempt)> {
        let attempt = self.start(group, user, intended, now, recorder);
        match self.groups[group].idle.pop_front() {
            Some(slot) => Some((slot, attempt)),
            None => {
                self.enqueue(group, attempt);
                None
            }
        }
    }

    /// Starts an attempt of a user or an arrival.
    pub(super) fn start(
        &mut self,
        group: usize,
        user: u32,
        intended: Nanos,
        now: Nanos,
        recorder: &mut Recorder,
    ) -> Attempt {
        let measured = self.window.is_measured(intended);
        let attempt = self.groups[group].next_attempt(user, intended, now);
        let timeout_ns = self.prepared.requests[usize::from(attempt.request)].timeout_ns;
        let attempt = Attempt { measured, timeout_at: now.saturating_add(timeout_ns), ..attempt };
        let postponement = self.groups[group].postponement(user);
        let tally = self.plan(group, attempt.request, measured, recorder);
        tally.attempted += 1;
        if let Some(postponement) = postponement {
            tally.postponed += 1;
            tally.postponed_ns += postponement;
        }
        self.groups[group].in_flight += 1;
        recorder.in_flight += u64::from(measured);
        self.last_taken = self.last_taken.max(now);
        let is_inside = self.window.contains(now);
        let is_arrival = !self.groups[group].is_closed();
        let tally = recorder.tally(attempt.request, true);
        if is_inside {
            tally.attempted_inside += 1;
        } else if measured && is_arrival {
            tally.late += 1;
        }
        attempt
    }

    /// Counts a planned request, and returns its tally.
    fn plan<'a>(
        &mut self,
        group: usize,
        request: u16,
        measured: bool,
        recorder: &'a mut Recorder,
    ) -> &'a mut Tally {
        if measured {
            self.window.left -= u64::from(self.window.left < u64::MAX);
        }
        let tally = recorder.tally(request, measured);
        tally.planned += 1;
        tally.scheduled += u64::from(!self.groups[group].is_closed());
        tally
    }

    /// Lets an attempt wait for a free slot.
    fn enqueue(&mut self, group: usize, attempt: Attempt) {
        let timeout_ns = self.prepared.requests[usize::from(attempt.request)].timeout_ns;
        self.groups[group].queue.push(Attempt { is_queued: true, ..attempt }, timeout_ns);
        self.timers.set_at_latest(attempt.timeout_at, Timer::Queue(group as u16));
    }

    /// Ends waiting attempts whose timeout has passed, at most `most`.
    pub(super) fn end_late_waiting(
        &mut self,
        number: u16,
        now: Nanos,
        most: usize,
        recorder: &mut Recorder,
    ) {
        let group = usize::from(number);
        for _ in 0..most {
            let Some(attempt) = self.groups[group].queue.pop_late(now) else { break };
            self.end_waiting(number, &attempt, now, recorder);
        }
        if let Some(next) = self.groups[group].queue.next_timeout() {
            // Attempts that are late already end after the events of this turn.
            self.timers.set_at_latest(next.max(now + 1), Timer::Queue(number));
        }
    }

    fn end_waiting(&mut self, group: u16, attempt: &Attempt, now: Nanos, recorder: &mut Recorder) {
        let stamps = Stamps { last_byte: now, ..Stamps::new(attempt.intended, attempt.taken) };
        let outcome = Outcome::failed(Reason::TimeoutQueue, None);
        recorder.sample(&outcome, None, &[], now, None);
        self.groups[usize::from(group)].ended(attempt.user, now, now, false);
        let (request, measured) = (attempt.request, attempt.measured);
        let has_lag = self.attempt_ended(group);
        let end = AttemptEnd { request, measured, has_lag, stamps, outcome, stream: None };
        recorder.end(&end, &self.window);
        if !self.prepared.requests[usize::from(request)].limits.is_empty() {
            // An attempt that never left the queue has met no limit.
            recorder.tally(request, measured).goodput.judged += 1;
        }
        self.continue_later(group, attempt.user, now);
    }

    /// Takes note that an attempt has ended; returns whether its lag counts. Users are never late;
    /// beside arrivals their zeros would hide the lag of arrivals.
    pub(super) fn attempt_ended(&mut self, group: u16) -> bool {
        let group = &mut self.groups[usize::from(group)];
        group.in_flight -= 1;
        !self.has_arrivals || !group.is_closed()
    }

    /// Lets a pooled user continue after its think time, which begins now.
    pub(super) fn continue_later(&mut self, group: u16, user: u32, now: Nanos) {
        if self.is_pooled(group, user) {
            let think_times = &mut self.groups[usize::from(group)].think_times;
            let rest = think_times.as_mut().map_or(0, Thoughts::next);
            self.timers.set(now.saturating_add(rest), Timer::User(group, user));
        }
    }

    /// Lets a pooled user continue at a time. Other users continue when their slots are free.
    pub(super) fn continue_at(&mut self, group: u16, user: u32, at: Nanos) {
        if self.is_pooled(group, user) {
            self.timers.set(at, Timer::User(group, user));
        }
    }

    fn is_pooled(&self, group: u16, user: u32) -> bool {
        let group = &self.groups[usize::from(group)];
        user != NO_USER && group.row_queue.is_none() && !group.has_own_slots()
    }

    /// Returns the time since when a user is free: it starts at the beginning of the window if it was
    /// free before.
    pub(super) fn since_within_phase(&mut self, since: Nanos) -> Nanos {
        if self.window.start == Nanos::MAX {
            // The start may have been announced within this turn.
            self.window.set_start(self.gate.start());
        }
        match self.window.phase {
            Phase::Measure => since.max(self.window.start),
            _ => since,
        }
    }

    /// Returns the number of attempts that have not ended, those of the warm-up included.
    pub(super) fn all_in_flight(&self) -> u64 {
        self.groups.iter().map(|group| u64::from(group.in_flight)).sum()
    }

    /// Returns the number of closed users whose attempt of the warm-up waits for a slot.
    pub(super) fn users_waiting_since_warmup(&self) -> usize {
        let closed = self.groups.iter().filter(|group| group.is_closed());
        closed.flat_map(|group| group.queue.iter()).filter(|attempt| !attempt.measured).count()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use net::SourceAddresses;

    use super::*;
    use crate::feed::{FeedInbox, FeedRow};
    use crate::plan::tests::plan;
    use crate::plan::{Closed, Fed, Group, Open, Think};
    use crate::prepare::prepare;
    use crate::worker::layout::Layout;
    use crate::worker::recorder::tests::recorder;

    const MS: Nanos = 1_000_000;

    /// The scheduler of a plan whose window starts at 0.
    fn scheduler(pace: Pace, think: Option<Think>) -> Scheduler {
        let mut plan = plan(pace);
        plan.groups[0].think = think;
        let share = WorkerShare {
            number: 0,
            prepared: Arc::new(prepare(&plan).unwrap()),
            plan,
            gate: Arc::new(Gate::new(1)),
            reports: channel().0,
            run_start: 0,
            socket_budget: 100,
            sources: SourceAddresses::default(),
            rows: None,
        };
        let layout = Layout::<()>::of(&share);
        let mut scheduler = Scheduler::new(&share, layout.groups, layout.slots.len() as u32);
        scheduler.window.set_start(0);
        scheduler.window.phase = Phase::Measure;
        scheduler.start_window();
        scheduler
    }

    #[test]
    fn an_arrival_without_a_free_slot_waits_and_ends_with_its_timeout() {
        let pace = Pace::Constant(Open::new(100.0, 2));
        let (mut scheduler, mut recorder) = (scheduler(pace, None), recorder());
        scheduler.groups[0].idle.push_back(1);
        let due: Vec<_> = std::iter::from_fn(|| scheduler.take_due(0, 10 * MS)).collect();
        assert_eq!(due.len(), 2);
        let first = scheduler.arrive(0, due[0], 11 * MS, &mut recorder).unwrap();
        assert_eq!((first.0, first.1.intended, first.1.taken), (1, due[0].0, 11 * MS));
        assert!(scheduler.arrive(0, due[1], 12 * MS, &mut recorder).is_none());
        assert_eq!(scheduler.all_in_flight(), 2);
        let (at, timer) = scheduler.timers.pop_due(Nanos::MAX).unwrap();
        assert_eq!(timer, Timer::Queue(0));
        scheduler.end_late_waiting(0, at, 9, &mut recorder);
        let tally = recorder.tally(0, true);
        assert_eq!((tally.planned, tally.scheduled, tally.attempted), (2, 2, 2));
        assert_eq!(
            tally.all_reasons().into_iter().collect::<Vec<_>>(),
            [("timeout.queue".into(), 1)]
        );
        assert_eq!((scheduler.all_in_flight(), recorder.in_flight), (1, 1));
    }

    #[test]
    fn beyond_the_limit_arrivals_are_dropped_and_counted() {
        let pace = Pace::Constant(Open { max_in_flight: Some(1), ..Open::new(100.0, 2) });
        let (mut scheduler, mut recorder) = (scheduler(pace, None), recorder());
        scheduler.groups[0].idle.extend([0, 1]);
        assert!(scheduler.arrive(0, (0, NO_USER), 1, &mut recorder).is_some());
        assert!(scheduler.arrive(0, (5, NO_USER), 6, &mut recorder).is_none());
        let tally = recorder.tally(0, true);
        assert_eq!((tally.planned, tally.attempted, tally.dropped), (2, 1, 1));
        assert!(scheduler.attempt_ended(0), "the lag of arrivals counts");
        assert!(scheduler.arrive(0, (9, NO_USER), 9, &mut recorder).is_some());
    }

    #[test]
    fn a_row_is_intended_when_its_user_has_thought_or_else_when_it_has_a_free_slot() {
        let row = |number: u64, after: &[u64], pause_ns| {
            let (after, followers) = (after.to_vec(), Some(1));
            FeedRow { number, after, followers, pause_ns, ..FeedRow::default() }
        };
        let (mut scheduler, mut recorder) =
            (scheduler(Pace::Closed(Closed::new(1)), None), recorder());
        let pace = Pace::Fed(Fed { connections: 1, is_timed: false, max_in_flight: None });
        let group = Group { pace, ..plan(Pace::Closed(Closed::new(1))).groups.remove(0) };
        let prepared = Arc::clone(&scheduler.prepared);
        let mut state = GroupState::new(&group, &prepared.groups[0], 0, 0);
        let rows = vec![row(0, &[], 0), row(1, &[0], 10 * MS), row(2, &[1], 0)];
        state.feed(FeedInbox::filled(rows), &prepared.groups[0]);
        state.idle.push_back(0);
        scheduler.groups = vec![state];
        scheduler.receive_rows(0, &mut recorder);
        // Each is taken 3 ms late, and ends 1 ms later.
        for (until, intended) in [(3, 3), (17, 14), (21, 21)] {
            let (at, place) = scheduler.take_due(0, until * MS).unwrap();
            assert_eq!(at, intended * MS);
            let end = (until + 1) * MS;
            scheduler.groups[0].ended(place, end, end, true);
        }
    }

    #[test]
    fn a_pooled_user_continues_after_its_think_time_and_others_with_their_slots() {
        let think = Think::Uniform { from_ns: 3 * MS, to_ns: 3 * MS };
        let pool = Pace::Closed(Closed { pool: Some(1), ..Closed::new(2) });
        let mut pooled = scheduler(pool, Some(think.clone()));
        let starts: Vec<_> = std::iter::from_fn(|| pooled.timers.pop_due(3 * MS)).collect();
        assert_eq!(starts.len(), 2, "both start within one think time");
        pooled.continue_later(0, 1, 10 * MS);
        assert_eq!(pooled.timers.pop_due(Nanos::MAX), Some((13 * MS, Timer::User(0, 1))));
        let mut own = scheduler(Pace::Closed(Closed::new(2)), Some(think));
        own.continue_later(0, 1, 10 * MS);
        assert_eq!(own.timers.pop_due(Nanos::MAX), None);
    }
}
