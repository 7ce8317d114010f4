//! A worker: one thread, its own connections, its own books, nothing shared.
//!
//! The loop is a list: keep time, take what is due, ring alarms, hand closed books in, wait, let
//! each event move its lane. The rest lies in the rooms beside: `timekeeping` (phases and intervals),
//! `arrivals` (when), `opening` (who begins before the window), `dialling` (connections), `exchanging`
//! (requests), `deadlines` (given up).

mod alarms;
mod arrivals;
mod choice;
mod crew;
mod deadlines;
mod dialling;
mod exchanging;
pub(crate) mod gate;
mod journal;
mod lane;
mod opening;
mod receive_queue;
mod routes;
mod session;
mod streaming;
#[cfg(test)]
mod tests;
pub(crate) mod threads;
mod timekeeping;
mod users;
mod waiting;
mod window;

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::mpsc::Sender;

use client::Scratch;
use net::{Driver, Nanos, Ready, SourceAddresses, ThreadUsage, TlsClient};

use crate::measure::report::{Connections, Phase, Report};
use crate::measure::tally::Tally;
use crate::messages::{Message, NO_WAITING};
use crate::plan::Plan;
use crate::prepare::{Endpoint, Prepared};
use crate::random::mix;
use alarms::{Alarm, Alarms};
use crew::Crew;
use gate::Gate;
use journal::Journal;
use lane::{Lane, State};
use opening::Opening;
use routes::Routes;
use timekeeping::IntervalClock;
use window::Window;

/// Room for the largest socket buffer's worth of one read.
const BUFFER_BYTES: usize = 256 * 1024;

/// An order of another thread is seen within this time.
const ATTENTION_NS: Nanos = 50_000_000;

/// While the start of the window is awaited, its announcement must not be overslept.
const ALERT_NS: Nanos = 2_000_000;

/// Requests begun, alarms rung or lanes freed in one turn at most: events and orders wait no longer.
const WORK_PER_TURN: usize = 256;

/// Bytes of bodies checked in one turn, after which answers that are checked wait for the next
/// one: other lanes wait no longer than for these and one more body.
const CHECKED_BYTES_PER_TURN: usize = 1024 * 1024;

/// What a worker is given.
#[derive(Debug)]
pub struct Share {
    /// Its number within the run.
    pub number: u32,
    /// Its part of the plan.
    pub plan: Plan,
    /// What is sent, and where.
    pub prepared: Arc<Prepared>,
    /// Where it meets the others.
    pub gate: Arc<Gate>,
    /// Where its intervals go.
    pub reports: Sender<Report>,
    /// When the run starts.
    pub run_start: Nanos,
    /// Sockets that it may hold at once.
    pub socket_budget: u64,
    /// Where its connections leave from.
    pub sources: SourceAddresses,
}

/// One worker at work.
pub struct Worker<D: Driver> {
    driver: D,
    share: Share,
    lanes: Vec<Lane<D::Socket>>,
    crews: Vec<Crew>,
    /// The addresses of each endpoint.
    routes: Vec<Routes>,
    /// The TLS of each endpoint that has it, with sessions of this worker alone.
    tls: Vec<Option<TlsClient>>,
    alarms: Alarms,
    window: Window,
    interval: IntervalClock,
    journal: Journal,
    /// Reports of intervals that have ended, not handed in yet.
    closed: Vec<Report>,
    opening: Opening,
    connections: Connections,
    sockets: u64,
    /// Attempts of the measured window that have not ended.
    in_flight: u64,
    /// Users that had no turn in the whole window.
    starved: u64,
    last_end: Nanos,
    last_taken: Nanos,
    usage: ThreadUsage,
    /// Why it cannot go on, where the machine failed it.
    failure: Option<Message>,
    /// Whether any group of the whole plan is one of arrivals.
    has_schedule: bool,
    /// Whether any answer is a stream: then it matters whether this worker was waiting for it.
    has_streams: bool,
    scratch: Scratch,
    /// Where bodies are joined before their length is known.
    spare: Vec<u8>,
    ready: Vec<Ready>,
    /// Lanes that have just become free, and since when.
    released: VecDeque<(u32, Nanos)>,
    /// Events of the next turn: lanes that read on although their connections have none.
    unread: Vec<Ready>,
    /// Bytes of bodies that this turn has checked.
    checked_bytes: usize,
}

impl<D: Driver> Worker<D> {
    /// Makes a worker; nothing happens before [`Worker::run`].
    pub fn new(driver: D, share: Share) -> Self {
        let Share { plan, prepared, run_start, .. } = &share;
        let lanes = lanes_of(plan, prepared);
        let asked = lanes.len() as u64;
        let crews = crews_of(&share);
        Self {
            window: Window::new(plan, *run_start),
            interval: IntervalClock::new(plan.interval_ns, *run_start),
            journal: Journal::new(&prepared.streams(), plan.log.is_some()),
            alarms: Alarms::new(lanes.len() as u32, &crews),
            crews,
            routes: routes_of(&share),
            tls: prepared.endpoints.iter().map(own_tls).collect(),
            closed: Vec::new(),
            spare: Vec::new(),
            opening: Opening::default(),
            connections: Connections { asked, ..Connections::default() },
            usage: driver.usage(),
            failure: None,
            has_schedule: plan.has_schedule(),
            has_streams: has_streams(plan, prepared),
            scratch: Scratch::new(BUFFER_BYTES),
            ready: Vec::new(),
            released: VecDeque::new(),
            unread: Vec::new(),
            checked_bytes: 0,
            sockets: 0,
            in_flight: 0,
            starved: 0,
            last_end: *run_start,
            last_taken: *run_start,
            driver,
            share,
            lanes,
        }
    }

    /// Runs to the end and gives the driver back.
    pub fn run(mut self) -> D {
        self.start();
        while self.turn() {}
        self.close_books();
        self.driver
    }

    /// One turn of the loop; false when the run is over.
    #[inline]
    fn turn(&mut self) -> bool {
        let now = self.driver.now();
        self.keep_time(now);
        if self.window.phase == Phase::Over {
            return false;
        }
        self.take_due(now);
        self.ring(now, WORK_PER_TURN);
        self.settle();
        self.hand_in();
        self.checked_bytes = 0;
        self.read_on();
        self.wait();
        self.move_lanes();
        true
    }

    /// Where the request with this number is counted.
    fn tally(&mut self, request: u16, measured: bool) -> &mut Tally {
        let row = self.share.prepared.requests[usize::from(request)].row;
        self.journal.tally(row, measured)
    }

    /// Rings the alarms whose time has come, so many at most.
    fn ring(&mut self, now: Nanos, most: usize) {
        for _ in 0..most {
            let Some((at, alarm)) = self.alarms.pop_due(now) else { break };
            match alarm {
                Alarm::Lane(lane) => self.ring_lane(lane, now),
                Alarm::Queue(crew) => self.ring_queue(crew, now, most),
                Alarm::User(crew, user) => self.ring_user(crew, user, at, now),
                Alarm::Opening => self.open_more(now, true),
            }
        }
    }

    /// Lanes that became free get their next work, as many as one turn may give it.
    fn settle(&mut self) {
        for _ in 0..WORK_PER_TURN {
            let Some((lane, since)) = self.released.pop_front() else { break };
            self.next_work(lane, since);
        }
    }

    fn wait(&mut self) {
        let is_idle = self.unread.is_empty() && self.released.is_empty();
        let until = if is_idle { self.next_wake() } else { 0 };
        let waited = if self.has_streams {
            self.wait_watchfully(until)
        } else {
            self.driver.wait(until, &mut self.ready)
        };
        // Waiting fails only when the epoll descriptor itself is broken; then nothing can be
        // measured any more.
        if let Err(error) = waited {
            self.failure = Some(NO_WAITING.message([("error", error.to_string().into())]));
            self.share.gate.abort();
            self.ready.clear();
        }
    }

    fn move_lanes(&mut self) {
        let mut ready = std::mem::take(&mut self.ready);
        for event in ready.drain(..) {
            self.on_event(event);
            self.settle();
        }
        self.ready = ready;
    }

    fn on_event(&mut self, event: Ready) {
        let (number, generation) = lane::parts(event.token);
        let Some(lane) = self.lanes.get(number as usize) else {
            return;
        };
        if lane.generation == generation {
            self.move_lane(number, event);
        }
    }

    /// Moves the exchange of a lane, or what comes before or after it.
    fn move_lane(&mut self, number: u32, event: Ready) {
        let lane = &self.lanes[number as usize];
        if lane.connection.is_none() {
            return;
        }
        match lane.state {
            State::Opening | State::Busy if !lane.is_open() => self.advance(number, event),
            State::Busy => self.progress(number, event),
            _ => self.look_for_end(number, event),
        }
    }
}

fn crews_of(share: &Share) -> Vec<Crew> {
    let mut first_lane = 0;
    let pairs = share.plan.groups.iter().zip(&share.prepared.groups);
    let crews = pairs.zip(0..).map(|((group, prepared), number)| {
        let seed = mix(share.plan.seed, number);
        let crew = Crew::new(group, prepared, first_lane, seed);
        first_lane += group.pace.connections();
        crew
    });
    crews.collect()
}

/// Whether any lane of this part may get a stream.
fn has_streams(plan: &Plan, prepared: &Prepared) -> bool {
    let pairs = plan.groups.iter().zip(&prepared.groups);
    pairs.filter(|(group, _)| group.pace.connections() > 0).any(|(_, here)| {
        let first = usize::from(here.first);
        let requests = &prepared.requests[first..first + usize::from(here.count)];
        requests.iter().any(|request| request.stream.is_some())
    })
}

fn routes_of(share: &Share) -> Vec<Routes> {
    let endpoints = share.prepared.endpoints.iter();
    endpoints.map(|endpoint| Routes::new(&endpoint.addresses, share.number)).collect()
}

fn own_tls(endpoint: &Endpoint) -> Option<TlsClient> {
    endpoint.tls.as_ref().map(TlsClient::apart)
}

fn lanes_of<S>(plan: &Plan, prepared: &Prepared) -> Vec<Lane<S>> {
    let mut lanes = Vec::with_capacity(plan.connections() as usize);
    for ((group, here), crew) in plan.groups.iter().zip(&prepared.groups).zip(0_u16..) {
        let endpoint = prepared.requests[usize::from(here.first)].endpoint;
        let lane = |_| Lane::new(crew, here.first, endpoint);
        lanes.extend((0..group.pace.connections()).map(lane));
    }
    lanes
}
