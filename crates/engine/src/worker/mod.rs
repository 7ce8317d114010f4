//! A worker: one thread with its own connections and counters, which shares nothing.
//!
//! It has three parts, each with a state of its own: the scheduler starts attempts, the connection
//! table opens and closes connections, the recorder counts. `turn` is the loop over them: update the
//! phase, start what is due, fire timers, give work to free slots, send reports, wait, handle events.
//! `exchanges` moves attempts through slots and connections, `dialing` and `opening` open connections,
//! `deadlines` has the timeouts, `timekeeping` the phases.

mod connections;
mod deadlines;
mod dialing;
mod exchanges;
pub(crate) mod gate;
mod group;
mod interval;
mod layout;
mod opening;
mod receive_queue;
mod recorder;
mod request_order;
mod routes;
mod row_queue;
mod row_sessions;
mod row_waits;
mod scheduler;
mod slot;
#[cfg(test)]
mod tests;
pub(crate) mod threads;
mod timekeeping;
mod timers;
mod user_state;
mod users;
mod waiting_queue;
mod window;

use std::collections::VecDeque;
use std::io;
use std::sync::Arc;
use std::sync::mpsc::Sender;

use client::Scratch;
use net::{Driver, Nanos, Ready, SourceAddresses};

use crate::feed::FeedInbox;
use crate::measure::report::{Phase, Report};
use crate::messages::NO_WAITING;
use crate::plan::{CancelAfter, Plan};
use crate::prepare::{Prepared, PreparedRequest};
use connections::ConnectionTable;
use gate::Gate;
use interval::IntervalClock;
use layout::Layout;
use opening::UserOpening;
use recorder::Recorder;
use scheduler::Scheduler;
use slot::{Slot, State};
use timers::Timer;

/// The size of the buffer: a read takes the content of the largest socket buffer.
const BUFFER_BYTES: usize = 256 * 1024;

/// The longest wait, so that an order of another thread is noticed within this time.
const MAX_WAIT_NS: Nanos = 50_000_000;

/// The longest wait while the start of the window is expected.
const MAX_WAIT_BEFORE_START_NS: Nanos = 2_000_000;

/// The longest wait while rows are expected.
const MAX_WAIT_FOR_ROWS_NS: Nanos = 1_000_000;

/// Requests started, timers fired or slots given work in one turn at most, so that events and orders
/// do not wait for longer.
const WORK_PER_TURN: usize = 256;

/// Bytes of bodies checked in one turn, after which responses that are checked wait for the next turn.
/// Other connections wait for these and one more body at most.
const CHECKED_BYTES_PER_TURN: usize = 1024 * 1024;

/// The part of a run that a worker has.
#[derive(Debug)]
pub struct WorkerShare {
    /// Its number within the run.
    pub number: u32,
    /// Its part of the plan.
    pub plan: Plan,
    /// The requests and endpoints of the plan.
    pub prepared: Arc<Prepared>,
    /// Where all workers start and stop together.
    pub gate: Arc<Gate>,
    /// Receives the reports of its intervals.
    pub reports: Sender<Report>,
    /// When the run starts.
    pub run_start: Nanos,
    /// Sockets that it may have at once.
    pub socket_budget: u64,
    /// The source addresses of its connections.
    pub sources: SourceAddresses,
    /// Receives its rows, if the plan has a feed.
    pub rows: Option<FeedInbox>,
}

/// A worker.
pub struct Worker<D: Driver> {
    driver: D,
    share: WorkerShare,
    connections: ConnectionTable<D::Socket>,
    slots: Vec<Slot>,
    /// Slots that have just become free, and the time since when they are.
    free_slots: VecDeque<(u32, Nanos)>,
    opening: UserOpening,
    scheduler: Scheduler,
    recorder: Recorder,
    /// Whether any response is a stream: then it matters whether this worker was waiting for it.
    has_streams: bool,
    /// Whether any user gives up after a number of texts.
    has_text_limits: bool,
    scratch: Scratch,
    /// A buffer for bodies with variables, whose length is not known before.
    spare: Vec<u8>,
    /// The same for slots that begin on a new connection.
    to_begin: Vec<usize>,
    ready: Vec<Ready>,
    /// Events of the next turn: connections that read on without an event of their socket.
    unread: Vec<Ready>,
    /// When they are, if the plan has requests collected before they are sent.
    flush_at: Option<Nanos>,
    /// Bytes of bodies that this turn has checked.
    checked_bytes: usize,
}

impl<D: Driver> Worker<D> {
    /// Creates a worker, which does nothing before [`Worker::run`].
    pub fn new(driver: D, mut share: WorkerShare) -> Self {
        let inbox = share.rows.take();
        let WorkerShare { plan, prepared, run_start, .. } = &share;
        let Layout { slots, connections, mut groups } = Layout::of(&share);
        if let (Some(inbox), Some(group)) = (inbox, groups.first_mut()) {
            group.feed(inbox, &prepared.groups[0]);
        }
        let (worker, sources) = (share.number, share.sources.clone());
        let interval = IntervalClock::new(plan.interval_ns, *run_start);
        let has_log = plan.log.is_some();
        Self {
            recorder: Recorder::new(worker, prepared, has_log, interval, driver.usage()),
            scheduler: Scheduler::new(&share, groups, slots.len() as u32),
            connections: ConnectionTable::new(
                connections,
                prepared,
                (worker, plan.seed),
                sources,
                share.socket_budget,
            ),
            slots,
            free_slots: VecDeque::new(),
            opening: UserOpening::default(),
            has_streams: has_streams(plan, prepared),
            has_text_limits: plan.groups.iter().any(|group| {
                let after = group.cancel.as_ref().map(|cancel| &cancel.after);
                matches!(after, Some(CancelAfter::Texts { .. }))
            }),
            scratch: Scratch::new(BUFFER_BYTES),
            spare: Vec::new(),
            to_begin: Vec::new(),
            ready: Vec::new(),
            unread: Vec::new(),
            flush_at: None,
            checked_bytes: 0,
            driver,
            share,
        }
    }

    /// Runs to the end, and returns the driver.
    pub fn run(mut self) -> D {
        self.start();
        while self.turn() {}
        self.finish_run();
        self.driver
    }

    /// Runs one turn of the loop; returns false when the run is over.
    #[inline]
    fn turn(&mut self) -> bool {
        let now = self.driver.now();
        self.update_phase(now);
        if self.scheduler.window.phase == Phase::Over {
            return false;
        }
        self.scheduler.receive_rows(now, &mut self.recorder);
        self.take_due(now);
        self.fire_timers(now, WORK_PER_TURN);
        self.give_work();
        self.flush();
        self.send_reports();
        self.checked_bytes = 0;
        self.resume_reading();
        self.wait();
        self.handle_events();
        self.flush();
        true
    }

    /// Starts the arrivals that were due at `until`, at most as many as one turn may; returns whether
    /// none is left. One starts after another, so that each has a start time of its own.
    fn take_due(&mut self, until: Nanos) -> bool {
        if self.scheduler.window.phase > Phase::Measure {
            return true;
        }
        let mut left = WORK_PER_TURN;
        for group in 0..self.scheduler.groups.len() {
            while let Some(arrival) = self.scheduler.take_due(group, until) {
                let now = self.driver.now();
                let started = self.scheduler.arrive(group, arrival, now, &mut self.recorder);
                if let Some((slot, attempt)) = started {
                    self.begin(slot, attempt);
                }
                left -= 1;
                if left == 0 {
                    return false;
                }
            }
        }
        true
    }

    /// Fires the timers whose time has come, at most `most`.
    fn fire_timers(&mut self, now: Nanos, most: usize) {
        for _ in 0..most {
            let Some((at, timer)) = self.scheduler.timers.pop_due(now) else { break };
            match timer {
                Timer::Slot(slot) => self.on_deadline(slot, now),
                Timer::Queue(group) => {
                    self.scheduler.end_late_waiting(group, now, most, &mut self.recorder);
                }
                Timer::User(group, user) => {
                    let user = (group, user);
                    let started = self.scheduler.continue_user(user, at, now, &mut self.recorder);
                    if let Some((slot, attempt)) = started {
                        self.begin(slot, attempt);
                    }
                }
                Timer::Opening => self.open_more(now, true),
            }
        }
    }

    /// Lets a slot, which is free since then, have its next work soon.
    fn free(&mut self, slot: u32, since: Nanos) {
        self.slots[slot as usize].state = State::Free;
        self.free_slots.push_back((slot, since));
    }

    /// Gives free slots their next work, at most as many as one turn may.
    fn give_work(&mut self) {
        for _ in 0..WORK_PER_TURN {
            let Some((slot, since)) = self.free_slots.pop_front() else { break };
            self.give_work_to(slot, since);
        }
    }

    /// Gives a slot its next work: its user's, or that of an attempt that waits for a slot.
    fn give_work_to(&mut self, slot: u32, since: Nanos) {
        let group = usize::from(self.slots[slot as usize].group);
        self.slots[slot as usize].state = State::Idle;
        let state = &mut self.scheduler.groups[group];
        if state.has_own_slots() {
            self.continue_in_slot(slot, group, since);
        } else if let Some(attempt) = state.queue.pop() {
            self.begin(slot, attempt);
        } else if state.row_queue.is_some() {
            // Connections that are open are used before others are opened.
            state.idle.push_front(slot);
        } else {
            state.idle.push_back(slot);
        }
    }

    fn wait(&mut self) {
        let has_work = !(self.free_slots.is_empty() && self.unread.is_empty());
        let until = match (has_work, self.flush_at) {
            (true, _) => 0,
            (false, Some(flush_at)) => self.next_wake().min(flush_at),
            (false, None) if self.connections.unflushed.is_empty() => self.next_wake(),
            (false, None) => 0,
        };
        // Waiting fails only if the epoll descriptor is broken; then nothing can be measured.
        if let Err(error) = self.wait_until(until) {
            let failure = NO_WAITING.message([("error", error.to_string().into())]);
            self.recorder.failure = Some(failure);
            self.share.gate.abort();
            self.ready.clear();
        }
    }

    /// Waits for events. If there are streams, notes when nothing was left to read: later bytes were
    /// waited for. The length of a wait does not tell that: with a thousand ready sockets it is long.
    fn wait_until(&mut self, until: Nanos) -> io::Result<()> {
        if !self.has_streams {
            return self.driver.wait(until, &mut self.ready);
        }
        self.driver.wait(0, &mut self.ready)?;
        if self.ready.is_empty() && self.unread.is_empty() {
            self.driver.wait(until, &mut self.ready)?;
            self.scratch.woken = self.driver.now();
        }
        Ok(())
    }

    fn handle_events(&mut self) {
        let mut ready = std::mem::take(&mut self.ready);
        for event in ready.drain(..) {
            self.on_event(event);
            self.give_work();
        }
        self.ready = ready;
    }

    /// Handles an event of a connection; one of an earlier socket is ignored.
    #[inline]
    fn on_event(&mut self, event: Ready) {
        let Some((number, generation)) = self.connections.of_token(event.token) else { return };
        let entry = self.connections.get_mut(number);
        let Some(connection) = entry.of_generation(generation) else { return };
        if !connection.is_open() {
            self.advance(number, event);
        } else if connection.is_active() || connection.runs_idle() {
            self.progress(number, generation, event);
        } else {
            self.check_idle(number, event);
        }
    }
}

/// Returns whether any response to this part may be a stream.
fn has_streams(plan: &Plan, prepared: &Prepared) -> bool {
    let pairs = plan.groups.iter().zip(&prepared.groups);
    pairs.filter(|(group, _)| group.pace.connections() > 0).any(|(_, here)| {
        let first = usize::from(here.first);
        let requests = &prepared.requests[first..first + usize::from(here.count)];
        requests.iter().any(PreparedRequest::is_measured_inside)
    })
}
