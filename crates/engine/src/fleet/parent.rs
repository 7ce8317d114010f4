//! The parent process: starts the children, lets all begin together, forwards orders and reads replies.
//!
//! It sends no load itself. A child that dies is reported as lost, and no longer waited for.

use std::fmt::Display;
use std::io::Read;
use std::ops::Range;
use std::process::ChildStdin;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use net::{Nanos, SourceAddresses, monotonic_ns};

use super::event::{FleetEvent, Loss};
use super::launch::{FirstReply, StartedChild, first_replies, launch, lock, no_thread};
use super::message::{ChildOrder, ChildReply, Rotation, Task};
use super::process::ChildProcess;
use super::{frame, rows};
use crate::measure::report::Phase;
use crate::messages::{Message, UNREADABLE_REPLY};
use crate::plan::Plan;
use crate::worker::gate::Gate;

/// Between the last child's readiness and the start of the window: an order must reach all children, on
/// a machine whose cores they share.
const NOTICE_NS: Nanos = 50_000_000;

/// Between the orders and the warm-up: an order must reach all children, on a machine whose cores they
/// share.
const START_DELAY_NS: Nanos = 20_000_000;

/// A child that was ordered to end at once and did not is killed after this time.
const GRACE: Duration = Duration::from_secs(5);

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
    /// Starts a child for each part, and sends it the part; the error says why one could not start.
    pub(crate) fn start(
        parts: Vec<Plan>,
        command: &[String],
        sources: &SourceAddresses,
    ) -> Result<Self, String> {
        let children = launch(count(parts.len()), command)?;
        let (after, of) = (sources.turns(), count(children.len()));
        let mut first_worker = 0;
        let mut children_of_parts = Vec::new();
        for (part, (mut child, plan)) in (0..).zip(children.into_iter().zip(parts)) {
            let rotation = Rotation { after, part, of };
            let workers = first_worker..first_worker + worker_count(&plan);
            let has_low_priority = plan.lowers_coordinator_priority();
            let task = Task { plan, first_worker, sources: rotation };
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
        let mut fleet = Fleet { threads: Vec::new(), run_start };
        let (mut orders, mut processes) = (Vec::new(), Vec::new());
        let given = assignments.into_iter().zip(firsts);
        for (number, (mut child, (assignment, first))) in (0..).zip(children.into_iter().zip(given))
        {
            let _ = frame::write(&mut child.orders, &ChildOrder::Begin { at: run_start }, &[]);
            orders.push(child.orders);
            processes.push(Arc::clone(&child.process));
            let reader = ReplyReader {
                number,
                workers: assignment.workers,
                rotation: assignment.rotation,
                sources: sources.clone(),
                process: child.process,
                gate: Arc::clone(gate),
                events: events.clone(),
                alive: Arc::clone(&alive),
                has_arrived: false,
                ended: 0,
            };
            fleet.spawn(move || {
                if assignment.has_low_priority {
                    net::be_patient();
                }
                reader.read_all(first, child.replies);
            })?;
        }
        let gate = Arc::clone(gate);
        fleet.spawn(move || forward_orders(&gate, orders, &processes, &alive))?;
        Ok(fleet)
    }
}

/// The children of one run.
#[derive(Debug)]
pub(crate) struct Fleet {
    threads: Vec<JoinHandle<()>>,
    /// When the warm-up begins.
    pub(crate) run_start: Nanos,
}

impl Fleet {
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

/// Sends the gate's orders to all children until none is left.
fn forward_orders(
    gate: &Gate,
    mut orders: Vec<ChildStdin>,
    processes: &[Arc<Mutex<ChildProcess>>],
    alive: &AtomicU32,
) {
    let none_left = || alive.load(Ordering::Acquire) == 0;
    let mut send = |order: ChildOrder| {
        for child in &mut orders {
            // The reader of a child that is gone notices its end.
            let _ = frame::write(child, &order, &[]);
        }
    };
    gate.wait_until(|gate| gate.is_complete() || gate.is_stopped() || none_left());
    if gate.is_complete() && !gate.is_stopped() {
        let at = monotonic_ns() + NOTICE_NS;
        gate.open(at);
        send(ChildOrder::Open { at });
    }
    gate.wait_until(|gate| gate.is_stopped() || none_left());
    if gate.is_stopped() && !gate.is_aborted() {
        send(ChildOrder::Stop);
    }
    gate.wait_until(|gate| gate.is_aborted() || none_left());
    send(ChildOrder::Abort);
    if !gate.wait_at_most(GRACE, |_| none_left()) {
        processes.iter().for_each(|process| lock(process).kill());
    }
}

/// Reads the replies of one child.
struct ReplyReader {
    number: u32,
    workers: Range<u32>,
    rotation: Rotation,
    /// The rotation of all loads of this process, which goes on after the turns that the child has used.
    sources: SourceAddresses,
    process: Arc<Mutex<ChildProcess>>,
    gate: Arc<Gate>,
    events: Sender<FleetEvent>,
    alive: Arc<AtomicU32>,
    has_arrived: bool,
    /// The number of workers that have ended.
    ended: u32,
}

impl ReplyReader {
    /// Sends the events of the replies until the child ends, and that it is lost if it ended too early.
    fn read_all(mut self, first: FirstReply, mut replies: impl Read) {
        let mut early_end = None;
        let mut next = first;
        loop {
            match next {
                Ok(Some((reply, rows))) => match self.take(reply, &rows) {
                    Ok(()) => {}
                    Err(end) => {
                        early_end = Some(end);
                        break;
                    }
                },
                Ok(None) => break,
                Err(error) => {
                    early_end = Some(unreadable_reply(&error));
                    break;
                }
            }
            next = frame::read(&mut replies);
        }
        if let Some(end) = early_end {
            // It may still send requests.
            lock(&self.process).kill();
            self.lose(end);
        } else if self.ended < self.workers.end - self.workers.start {
            let end = lock(&self.process).end();
            self.lose(end);
        }
        if !self.has_arrived {
            // The other children do not wait for it.
            self.gate.arrive(monotonic_ns());
        }
        self.alive.fetch_sub(1, Ordering::AcqRel);
        self.gate.ring();
    }

    /// Handles a reply; the error is why the child is lost.
    fn take(&mut self, reply: ChildReply, attached: &[u8]) -> Result<(), Message> {
        match reply {
            ChildReply::Here | ChildReply::Prepared => Ok(()),
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
