//! A worker: one thread with its own connections and counters, which shares nothing.
//!
//! `turn` is the loop: update the phase, start what is due, fire timers, give work to free slots, send
//! reports, wait, handle events. The modules: `timekeeping` (phases and intervals), `arrivals` and
//! `users` (when requests start), `opening` (what starts before the window), `connections` and
//! `dialing` (connections), `exchanges` (requests), `deadlines` (timeouts), `recorder` (counters).

mod arrivals;
mod choice;
mod connections;
mod deadlines;
mod dialing;
mod exchanges;
pub(crate) mod gate;
mod group;
mod layout;
mod opening;
mod receive_queue;
mod recorder;
mod routes;
mod slot;
mod streams;
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
use std::sync::Arc;
use std::sync::mpsc::Sender;

use client::Scratch;
use net::{Driver, Nanos, Ready, SourceAddresses, ThreadUsage};

use crate::measure::report::{Phase, Report};
use crate::measure::tally::Tally;
use crate::messages::{Message, NO_WAITING};
use crate::plan::Plan;
use crate::prepare::Prepared;
use connections::ConnectionTable;
use gate::Gate;
use group::GroupState;
use layout::Layout;
use opening::Opening;
use recorder::Recorder;
use slot::Slot;
use timekeeping::IntervalClock;
use timers::{Timer, WorkerTimers};
use window::Window;

/// The size of the buffer: a read takes the content of the largest socket buffer.
const BUFFER_BYTES: usize = 256 * 1024;

/// The longest wait, so that an order of another thread is noticed within this time.
const ATTENTION_NS: Nanos = 50_000_000;

/// The longest wait while the start of the window is expected.
const ALERT_NS: Nanos = 2_000_000;

/// Requests started, timers fired or slots given work in one turn at most, so that events and orders
/// do not wait for longer.
const WORK_PER_TURN: usize = 256;

/// Bytes of bodies checked in one turn, after which responses that are checked wait for the next turn.
/// Other connections wait for these and one more body at most.
const CHECKED_BYTES_PER_TURN: usize = 1024 * 1024;

/// What a worker is given.
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
}

/// One worker at work.
pub struct Worker<D: Driver> {
    driver: D,
    share: WorkerShare,
    connections: ConnectionTable<D::Socket>,
    slots: Vec<Slot>,
    groups: Vec<GroupState>,
    timers: WorkerTimers,
    window: Window,
    interval: IntervalClock,
    recorder: Recorder,
    /// Reports of intervals that have ended, not sent yet.
    closed: Vec<Report>,
    opening: Opening,
    /// Attempts of the measurement window that have not ended.
    in_flight: u64,
    /// Users without a turn in the whole window.
    starved: u64,
    last_end: Nanos,
    last_taken: Nanos,
    usage: ThreadUsage,
    /// The reason why it cannot go on, if the machine failed.
    failure: Option<Message>,
    /// Whether any group of the whole plan has arrivals.
    has_schedule: bool,
    /// Whether any response is a stream: then it matters whether this worker was waiting for it.
    has_streams: bool,
    scratch: Scratch,
    /// A buffer for bodies with variables, whose length is not known before.
    spare: Vec<u8>,
    ready: Vec<Ready>,
    /// Slots that have just become free, and the time since when they are.
    free_slots: VecDeque<(u32, Nanos)>,
    /// Events of the next turn: connections that read on without an event of their socket.
    unread: Vec<Ready>,
    /// Bytes of bodies that this turn has checked.
    checked_bytes: usize,
}

impl<D: Driver> Worker<D> {
    /// Makes a worker; nothing happens before [`Worker::run`].
    pub fn new(driver: D, share: WorkerShare) -> Self {
        let WorkerShare { plan, prepared, run_start, .. } = &share;
        let Layout { slots, connections, groups } = Layout::of(&share);
        let sources = share.sources.clone();
        let connections =
            ConnectionTable::new(connections, prepared, share.number, sources, share.socket_budget);
        Self {
            window: Window::new(plan, *run_start),
            interval: IntervalClock::new(plan.interval_ns, *run_start),
            recorder: Recorder::new(&prepared.streams(), plan.log.is_some()),
            timers: WorkerTimers::new(slots.len() as u32, &groups),
            groups,
            closed: Vec::new(),
            spare: Vec::new(),
            opening: Opening::default(),
            usage: driver.usage(),
            failure: None,
            has_schedule: plan.has_schedule(),
            has_streams: has_streams(plan, prepared),
            scratch: Scratch::new(BUFFER_BYTES),
            ready: Vec::new(),
            free_slots: VecDeque::new(),
            unread: Vec::new(),
            checked_bytes: 0,
            in_flight: 0,
            starved: 0,
            last_end: *run_start,
            last_taken: *run_start,
            driver,
            share,
            connections,
            slots,
        }
    }

    /// Runs to the end and gives the driver back.
    pub fn run(mut self) -> D {
        self.start();
        while self.turn() {}
        self.finish_reports();
        self.driver
    }

    /// One turn of the loop; false when the run is over.
    #[inline]
    fn turn(&mut self) -> bool {
        let now = self.driver.now();
        self.update_phase(now);
        if self.window.phase == Phase::Over {
            return false;
        }
        self.take_due(now);
        self.fire_timers(now, WORK_PER_TURN);
        self.give_work();
        self.send_reports();
        self.checked_bytes = 0;
        self.resume_reading();
        self.wait();
        self.handle_events();
        true
    }

    /// Where the request with this number is counted.
    fn tally(&mut self, request: u16, measured: bool) -> &mut Tally {
        let row = self.share.prepared.requests[usize::from(request)].row;
        self.recorder.tally(row, measured)
    }

    /// Rings the timers whose time has come, so many at most.
    fn fire_timers(&mut self, now: Nanos, most: usize) {
        for _ in 0..most {
            let Some((at, timer)) = self.timers.pop_due(now) else { break };
            match timer {
                Timer::Slot(slot) => self.on_deadline(slot, now),
                Timer::Queue(group) => self.end_late_waiting(group, now, most),
                Timer::User(group, user) => self.continue_user(group, user, at, now),
                Timer::Opening => self.open_more(now, true),
            }
        }
    }

    /// Lanes that became free get their next work, as many as one turn may give it.
    fn give_work(&mut self) {
        for _ in 0..WORK_PER_TURN {
            let Some((slot, since)) = self.free_slots.pop_front() else { break };
            self.next_work(slot, since);
        }
    }

    fn wait(&mut self) {
        let is_idle = self.unread.is_empty() && self.free_slots.is_empty();
        let until = if is_idle { self.next_wake() } else { 0 };
        let waited = if self.has_streams {
            self.wait_watchfully(until)
        } else {
            self.driver.wait(until, &mut self.ready)
        };
        // WaitingQueue fails only when the epoll descriptor itself is broken; then nothing can be
        // measured any more.
        if let Err(error) = waited {
            self.failure = Some(NO_WAITING.message([("error", error.to_string().into())]));
            self.share.gate.abort();
            self.ready.clear();
        }
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
        let Some(number) = self.connections.of_token(event.token) else { return };
        let Some(connection) = &self.connections.get(number).connection else { return };
        if !connection.is_open() {
            self.advance(number, event);
        } else if connection.is_active() {
            self.progress(number, event);
        } else {
            self.check_idle(number, event);
        }
    }
}

/// Whether any slot of this part may get a stream.
fn has_streams(plan: &Plan, prepared: &Prepared) -> bool {
    let pairs = plan.groups.iter().zip(&prepared.groups);
    pairs.filter(|(group, _)| group.pace.connections() > 0).any(|(_, here)| {
        let first = usize::from(here.first);
        let requests = &prepared.requests[first..first + usize::from(here.count)];
        requests.iter().any(|request| request.stream.is_some())
    })
}
