//! The parent process: starts the children, lets all begin together, forwards orders and reads replies.
//!
//! It sends no load itself. A child that dies is reported as lost, and no longer waited for.

use std::fmt::Display;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::mpsc::Sender;
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

use net::{Nanos, SourceAddresses, monotonic_ns};

use super::clock::RemoteClock;
use super::event::{FleetEvent, Loss};
use super::launch::{FirstReply, StartedChild, first_replies, greet, launch, no_thread};
use super::message::{ChildOrder, ChildReply, Rotation, Task};
use super::orders::Orders;
use super::transport::{ChildTransport, EndChild, ReplyStream};
use super::{frame, rows};
use crate::feed::{FeedDemand, FeedLink};
use crate::measure::report::Phase;
use crate::messages::{Message, SILENT, UNREADABLE_REPLY};
use crate::plan::Plan;
use crate::worker::gate::Gate;

/// Between the last child's readiness and the start of the window: an order must reach all children, on
/// a machine whose cores they share.
const NOTICE_NS: Nanos = 50_000_000;

/// Between the orders and the warm-up, for the same reason.
const START_DELAY_NS: Nanos = 20_000_000;

/// A child that was ordered to end at once and did not is killed after this time.
const GRACE: Duration = Duration::from_secs(5);

/// The time between two heartbeats.
const HEARTBEAT_INTERVAL: Duration = Duration::from_millis(400);

/// Starts so many child processes with a command; the error says why one could not start.
pub(crate) fn start_children(
    number: usize,
    command: &[String],
) -> Result<Vec<Box<dyn ChildTransport>>, String> {
    launch(count(number), command)
}

/// Children that prepare their parts of a plan.
pub(crate) struct PreparingFleet {
    children: Vec<(StartedChild, Assignment)>,
}

/// The part of a child.
struct Assignment {
    workers: Range<u32>,
    rotation: Rotation,
    has_low_priority: bool,
}

impl PreparingFleet {
    /// Sends each child its part; the error says why one cannot take part.
    pub(crate) fn start(
        parts: Vec<Plan>,
        children: Vec<Box<dyn ChildTransport>>,
        sources: &SourceAddresses,
    ) -> Result<Self, String> {
        let children = greet(children)?;
        let (after, of) = (sources.turns(), count(children.len()));
        let mut first_worker = 0;
        let mut children_of_parts = Vec::new();
        for (part, (mut child, plan)) in (0..).zip(children.into_iter().zip(parts)) {
            let rotation = Rotation { after, part, of };
            let workers = first_worker..first_worker + worker_count(&plan);
            let silence_limit = child.transport.silence_limit();
            let is_on_node = child.transport.node().is_some();
            let has_low_priority = plan.lowers_coordinator_priority() && !is_on_node;
            let task = Task { plan, first_worker, sources: rotation, silence_limit, is_on_node };
            first_worker = workers.end;
            // If the child is gone already, its missing reply shows this.
            let _ = frame::write(&mut child.orders, &ChildOrder::Fire(Box::new(task)), &[]);
            children_of_parts.push((child, Assignment { workers, rotation, has_low_priority }));
        }
        Ok(Self { children: children_of_parts })
    }

    /// Waits until all have prepared their parts, and lets them begin; the error says why they do not.
    /// With a large plan this takes long.
    pub(crate) fn begin(
        self,
        gate: &Arc<Gate>,
        events: &Sender<FleetEvent>,
        sources: &SourceAddresses,
    ) -> Result<Fleet, Message> {
        let (mut children, assignments): (Vec<_>, Vec<_>) = self.children.into_iter().unzip();
        let alive = Arc::new(AtomicU32::new(count(children.len())));
        let firsts = first_replies(&mut children, gate)?;
        let run_start = monotonic_ns() + START_DELAY_NS;
        let mut fleet = Fleet { threads: Vec::new(), run_start, feed_links: Vec::new() };
        let mut links = Vec::new();
        let given = assignments.into_iter().zip(firsts);
        for (number, (mut child, (assignment, first))) in (0..).zip(children.into_iter().zip(given))
        {
            let at = child.clock.to_node(run_start);
            let _ = frame::write(&mut child.orders, &ChildOrder::Begin { at }, &[]);
            let signs = Arc::new(LifeSigns::default());
            let orders = Orders::start(child.orders)?;
            let demands = fleet.add_feed_links(&orders, &assignment.workers);
            links.push(ChildLink {
                orders,
                end: child.transport.ending(),
                silence_limit: child.transport.silence_limit(),
                signs: Arc::clone(&signs),
                clock: Arc::clone(&child.clock),
            });
            let reader = ReplyReader {
                number,
                workers: assignment.workers,
                rotation: assignment.rotation,
                sources: sources.clone(),
                end: child.transport.ending(),
                transport: child.transport,
                signs,
                clock: child.clock,
                gate: Arc::clone(gate),
                events: events.clone(),
                alive: Arc::clone(&alive),
                has_arrived: false,
                ended: 0,
                demands,
            };
            fleet.spawn(move || {
                if assignment.has_low_priority {
                    net::lower_priority();
                }
                reader.read_all(first, child.replies);
            })?;
        }
        let gate = Arc::clone(gate);
        fleet.spawn(move || OrderForwarder::new(gate, links, alive).forward_all())?;
        Ok(fleet)
    }
}

/// The children of one run.
pub(crate) struct Fleet {
    threads: Vec<JoinHandle<()>>,
    /// When the warm-up begins.
    pub(crate) run_start: Nanos,
    feed_links: Vec<FeedLink>,
}

impl Fleet {
    /// Returns the ways of rows to all workers, in their order; called once.
    pub(crate) fn take_feed_links(&mut self) -> Vec<FeedLink> {
        std::mem::take(&mut self.feed_links)
    }

    /// Adds the ways of rows to the workers of a child, and returns what they tell of their demand.
    fn add_feed_links(&mut self, orders: &Orders, workers: &Range<u32>) -> Vec<Arc<FeedDemand>> {
        let links = (0..workers.end - workers.start).map(|worker| {
            let (orders, demand) = (orders.clone(), Arc::<FeedDemand>::default());
            let send = move |batch| orders.send(ChildOrder::Rows { worker, batch });
            FeedLink { send: Box::new(send), demand }
        });
        let links: Vec<_> = links.collect();
        let demands = links.iter().map(|link| Arc::clone(&link.demand)).collect();
        self.feed_links.extend(links);
        demands
    }

    /// Waits until every child has ended.
    pub(crate) fn join(self) {
        for thread in self.threads {
            // A panic in there has been reported by its own thread already.
            let _ = thread.join();
        }
    }

    fn spawn(&mut self, body: impl FnOnce() + Send + 'static) -> Result<(), Message> {
        let thread = Builder::new().name("torr-fleet".into()).spawn(body);
        self.threads.push(thread.map_err(no_thread)?);
        Ok(())
    }
}

/// Returns the number of workers of a process with this plan.
pub(crate) fn worker_count(plan: &Plan) -> u32 {
    count(plan.split(plan.workers).len())
}

/// When a child gave its last sign of life, which its reader notes.
#[derive(Debug, Default)]
struct LifeSigns {
    /// The time of its last reply; 0 before the first.
    last: AtomicU64,
    /// Whether it was ended because it was silent for too long.
    is_silent: AtomicBool,
    /// Whether its replies have ended.
    has_ended: AtomicBool,
}

/// A child to which orders are sent.
struct ChildLink {
    orders: Orders,
    end: EndChild,
    silence_limit: Duration,
    signs: Arc<LifeSigns>,
    clock: Arc<RemoteClock>,
}

/// Sends the gate's orders and heartbeats to all children until none is left, and ends silent ones.
struct OrderForwarder {
    gate: Arc<Gate>,
    children: Vec<ChildLink>,
    alive: Arc<AtomicU32>,
    started: Nanos,
    has_opened: bool,
    has_stopped: bool,
    aborted: Option<Instant>,
}

impl OrderForwarder {
    fn new(gate: Arc<Gate>, children: Vec<ChildLink>, alive: Arc<AtomicU32>) -> Self {
        let (has_opened, has_stopped) = (false, false);
        let started = monotonic_ns();
        Self { gate, children, alive, started, has_opened, has_stopped, aborted: None }
    }

    fn forward_all(mut self) {
        while self.alive.load(Ordering::Acquire) > 0 {
            self.forward();
            self.send(|_| ChildOrder::Heartbeat { sent: monotonic_ns() });
            self.end_silent_children(monotonic_ns());
            self.gate.wait_at_most(HEARTBEAT_INTERVAL, |gate| {
                self.alive.load(Ordering::Acquire) == 0 || self.has_news(gate)
            });
        }
    }

    /// Returns whether the gate has an order that was not sent.
    fn has_news(&self, gate: &Gate) -> bool {
        let opens = gate.is_complete() && !self.has_opened && !gate.is_stopped();
        opens
            || gate.is_stopped() && !self.has_stopped
            || gate.is_aborted() && self.aborted.is_none()
    }

    fn forward(&mut self) {
        if self.gate.is_complete() && !self.has_opened && !self.gate.is_stopped() {
            self.has_opened = true;
            let at = monotonic_ns() + NOTICE_NS;
            self.gate.open(at);
            self.send(|clock| ChildOrder::Open { at: clock.to_node(at) });
        }
        if self.gate.is_stopped() && !self.has_stopped {
            self.has_stopped = true;
            if !self.gate.is_aborted() {
                self.send(|_| ChildOrder::Stop);
            }
        }
        if self.gate.is_aborted() && self.aborted.is_none() {
            self.aborted = Some(Instant::now());
            self.send(|_| ChildOrder::Abort);
        }
        if self.aborted.is_some_and(|since| since.elapsed() >= GRACE) {
            self.children.iter().for_each(|child| (child.end)());
        }
    }

    fn send(&self, order: impl Fn(&RemoteClock) -> ChildOrder) {
        for child in &self.children {
            child.orders.send(order(&child.clock));
        }
    }

    fn end_silent_children(&self, now: Nanos) {
        for child in &self.children {
            let last = child.signs.last.load(Ordering::Acquire).max(self.started);
            let limit = u64::try_from(child.silence_limit.as_nanos()).unwrap_or(Nanos::MAX);
            let is_silent = now.saturating_sub(last) > limit;
            if is_silent && !child.signs.has_ended.load(Ordering::Acquire) {
                child.signs.is_silent.store(true, Ordering::Release);
                (child.end)();
            }
        }
    }
}

/// Reads the replies of one child.
struct ReplyReader {
    number: u32,
    workers: Range<u32>,
    rotation: Rotation,
    /// The rotation of all loads of this process, which goes on after the turns that the child has used.
    sources: SourceAddresses,
    transport: Box<dyn ChildTransport>,
    end: EndChild,
    signs: Arc<LifeSigns>,
    clock: Arc<RemoteClock>,
    gate: Arc<Gate>,
    events: Sender<FleetEvent>,
    alive: Arc<AtomicU32>,
    has_arrived: bool,
    /// The number of workers that have ended.
    ended: u32,
    /// What each of its workers has used of its rows.
    demands: Vec<Arc<FeedDemand>>,
}

impl ReplyReader {
    /// Sends the events of the replies until the child ends, and that it is lost if it ended too early.
    fn read_all(mut self, first: FirstReply, mut replies: ReplyStream) {
        let mut early_end = None;
        let mut next = first;
        loop {
            self.signs.last.store(monotonic_ns(), Ordering::Release);
            match next {
                Ok(Some((reply, rows))) => match self.take(reply, &rows) {
                    Ok(()) if self.has_ended() => self.transport.finish(),
                    Ok(()) => {}
                    Err(end) => {
                        early_end = Some(end);
                        break;
                    }
                },
                Ok(None) => break,
                // After its last report, it does not matter how the stream ends.
                Err(_) if self.has_ended() => break,
                Err(error) => {
                    early_end = Some(unreadable_reply(&error));
                    break;
                }
            }
            next = frame::read(&mut replies);
        }
        self.signs.has_ended.store(true, Ordering::Release);
        // The feeder does not wait for it.
        self.demands.iter().for_each(|demand| demand.end());
        if self.signs.is_silent.load(Ordering::Acquire) && !self.has_ended() {
            let seconds = self.transport.silence_limit().as_secs();
            self.lose(SILENT.message([("seconds", seconds.into())]));
        } else if let Some(end) = early_end {
            // It may still send requests.
            (self.end)();
            self.lose(end);
        } else if !self.has_ended() {
            let end = self.transport.wait();
            self.lose(end);
        }
        if !self.has_arrived {
            // The other children do not wait for it.
            self.gate.arrive(monotonic_ns());
        }
        self.alive.fetch_sub(1, Ordering::AcqRel);
        self.gate.notify();
    }

    /// Returns whether all workers have ended.
    fn has_ended(&self) -> bool {
        self.ended >= self.workers.end - self.workers.start
    }

    /// Handles a reply; the error is why the child is lost.
    fn take(&mut self, reply: ChildReply, attached: &[u8]) -> Result<(), Message> {
        match reply {
            ChildReply::Prepared => Ok(()),
            ChildReply::Heartbeat { sent, at } => {
                self.clock.add(sent, at, monotonic_ns());
                Ok(())
            }
            ChildReply::Demand { workers } => {
                let pairs = self.demands.iter().zip(workers);
                pairs.for_each(|(demand, used)| demand.set(used));
                Ok(())
            }
            ChildReply::Ready => {
                self.has_arrived = true;
                self.gate.arrive(monotonic_ns());
                Ok(())
            }
            ChildReply::Failed { end } => Err(end),
            ChildReply::Report { mut report, figures } => {
                let is_known = self.workers.contains(&report.worker);
                if !is_known {
                    return Err(unreadable_reply(&format_args!("worker {}", report.worker)));
                }
                report.rows =
                    rows::from_bytes(attached).map_err(|error| unreadable_reply(&error))?;
                self.clock.translate(&mut report, monotonic_ns());
                // With the error of these translations.
                if let Some(clock) = self.clock.figures() {
                    self.send(FleetEvent::Clock { process: self.number, clock });
                }
                self.ended += u32::from(report.phase == Phase::Over);
                self.sources.go_on_after(self.rotation.end(figures.source_turns));
                self.send(FleetEvent::Figures {
                    process: self.number,
                    phase: report.phase,
                    figures,
                });
                self.send(FleetEvent::Report(report));
                Ok(())
            }
        }
    }

    fn lose(&self, end: Message) {
        let (process, workers) = (self.number, self.workers.clone());
        self.send(FleetEvent::Lost(Loss { process, workers, end, at: monotonic_ns() }));
    }

    fn send(&self, event: FleetEvent) {
        // The coordinator is gone only if the run was given up.
        let _ = self.events.send(event);
    }
}

fn unreadable_reply(error: &impl Display) -> Message {
    UNREADABLE_REPLY.message([("error", error.to_string().into())])
}

fn count(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}
