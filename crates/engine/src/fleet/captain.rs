//! The leading side: starts the children, lets all begin together, passes orders on, hears replies.
//!
//! It fires nothing itself. A child that dies is told as a loss and waited for no longer.

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

use super::launch::{FirstReply, Member, first_replies, launch, lock, no_thread};
use super::message::{Order, Reply, Rotation, Task};
use super::news::{Loss, News};
use super::process::Process;
use super::{frame, rows};
use crate::measure::report::Phase;
use crate::messages::{Message, UNREADABLE_REPLY};
use crate::plan::Plan;
use crate::worker::gate::Gate;

/// Between the last child's readiness and the start: an order must reach all of them, on a machine
/// whose cores they assignment.
const NOTICE_NS: Nanos = 50_000_000;

/// Between the orders and the warm-up: an order must reach all children, on a machine whose cores they
/// assignment.
const START_DELAY_NS: Nanos = 20_000_000;

/// A child that was told to end at once and did not is ended after this time.
const GRACE: Duration = Duration::from_secs(5);

/// Children that prepare their parts of a plan.
pub(crate) struct Preparing {
    members: Vec<(Member, Assignment)>,
}

/// What a child was given.
struct Assignment {
    workers: Range<u32>,
    rotation: Rotation,
    is_patient: bool,
}

impl Preparing {
    /// Starts a child for each part, and gives it the part; the message says why one could not start.
    pub(crate) fn start(
        parts: Vec<Plan>,
        command: &[String],
        sources: &SourceAddresses,
    ) -> Result<Self, String> {
        let members = launch(count(parts.len()), command)?;
        let (after, of) = (sources.turns(), count(members.len()));
        let mut first_worker = 0;
        let mut given = Vec::new();
        for (part, (mut member, plan)) in (0..).zip(members.into_iter().zip(parts)) {
            let rotation = Rotation { after, part, of };
            let workers = first_worker..first_worker + crew_size(&plan);
            let is_patient = plan.lets_notes_wait();
            let task = Task { plan, first_worker, sources: rotation };
            first_worker = workers.end;
            // One that is gone already is told of by its silence.
            let _ = frame::write(&mut member.orders, &Order::Fire(Box::new(task)), &[]);
            given.push((member, Assignment { workers, rotation, is_patient }));
        }
        Ok(Self { members: given })
    }

    /// Waits until all have prepared their parts, and lets them begin; the message says why they do
    /// not. Plans may be large, and each child takes its time.
    pub(crate) fn begin(
        self,
        gate: &Arc<Gate>,
        news: &Sender<News>,
        sources: &SourceAddresses,
    ) -> Result<Fleet, Message> {
        let (mut members, assignments): (Vec<_>, Vec<_>) = self.members.into_iter().unzip();
        let alive = Arc::new(AtomicU32::new(count(members.len())));
        let firsts = first_replies(&mut members, gate)?;
        let run_start = monotonic_ns() + START_DELAY_NS;
        let mut fleet = Fleet { threads: Vec::new(), run_start };
        let (mut orders, mut processes) = (Vec::new(), Vec::new());
        let given = assignments.into_iter().zip(firsts);
        for (number, (mut member, (assignment, first))) in (0..).zip(members.into_iter().zip(given))
        {
            let _ = frame::write(&mut member.orders, &Order::Begin { at: run_start }, &[]);
            orders.push(member.orders);
            processes.push(Arc::clone(&member.process));
            let ear = Ear {
                number,
                workers: assignment.workers,
                rotation: assignment.rotation,
                sources: sources.clone(),
                process: member.process,
                gate: Arc::clone(gate),
                news: news.clone(),
                alive: Arc::clone(&alive),
                has_arrived: false,
                ended: 0,
            };
            fleet.spawn(move || {
                if assignment.is_patient {
                    net::be_patient();
                }
                ear.listen(first, member.replies);
            })?;
        }
        let gate = Arc::clone(gate);
        fleet.spawn(move || lead(&gate, orders, &processes, &alive))?;
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

/// The workers of a process with this plan: threads are split as processes are.
pub(crate) fn crew_size(plan: &Plan) -> u32 {
    count(plan.split(plan.workers).len())
}

/// Passes the gate's orders on until no child is left.
fn lead(
    gate: &Gate,
    mut orders: Vec<ChildStdin>,
    processes: &[Arc<Mutex<Process>>],
    alive: &AtomicU32,
) {
    let none_left = || alive.load(Ordering::Acquire) == 0;
    let mut tell = |order: Order| {
        for child in &mut orders {
            // One that is gone hears nothing, and its silence has been noticed.
            let _ = frame::write(child, &order, &[]);
        }
    };
    gate.wait_until(|gate| gate.is_complete() || gate.is_stopped() || none_left());
    if gate.is_complete() && !gate.is_stopped() {
        let at = monotonic_ns() + NOTICE_NS;
        gate.open(at);
        tell(Order::Open { at });
    }
    gate.wait_until(|gate| gate.is_stopped() || none_left());
    if gate.is_stopped() && !gate.is_aborted() {
        tell(Order::Stop);
    }
    gate.wait_until(|gate| gate.is_aborted() || none_left());
    tell(Order::Abort);
    if !gate.wait_at_most(GRACE, |_| none_left()) {
        processes.iter().for_each(|process| lock(process).kill());
    }
}

/// Hears one child.
struct Ear {
    number: u32,
    workers: Range<u32>,
    rotation: Rotation,
    /// Of all loads of this process: it goes on after the turns that the child has used.
    sources: SourceAddresses,
    process: Arc<Mutex<Process>>,
    gate: Arc<Gate>,
    news: Sender<News>,
    alive: Arc<AtomicU32>,
    has_arrived: bool,
    /// Workers that have closed their books.
    ended: u32,
}

impl Ear {
    /// Passes replies on until the child ends, then says how it ended if that was too early.
    fn listen(mut self, first: FirstReply, mut replies: impl Read) {
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
            // It may still be firing.
            lock(&self.process).kill();
            self.lose(end);
        } else if self.ended < self.workers.end - self.workers.start {
            let end = lock(&self.process).end();
            self.lose(end);
        }
        if !self.has_arrived {
            // The others shall not wait for it.
            self.gate.arrive(monotonic_ns());
        }
        self.alive.fetch_sub(1, Ordering::AcqRel);
        self.gate.ring();
    }

    /// Takes a reply; the error is how the child is lost.
    fn take(&mut self, reply: Reply, attached: &[u8]) -> Result<(), Message> {
        match reply {
            Reply::Here | Reply::Prepared => Ok(()),
            Reply::Ready => {
                self.has_arrived = true;
                self.gate.arrive(monotonic_ns());
                Ok(())
            }
            Reply::Failed { end } => Err(end),
            Reply::Report { mut report, figures } => {
                let is_known = self.workers.contains(&report.worker);
                if !is_known {
                    return Err(unreadable_reply(&format_args!("worker {}", report.worker)));
                }
                report.rows =
                    rows::from_bytes(attached).map_err(|error| unreadable_reply(&error))?;
                self.ended += u32::from(report.phase == Phase::Over);
                self.sources.go_on_after(self.rotation.end(figures.source_turns));
                self.tell(News::Figures { process: self.number, phase: report.phase, figures });
                self.tell(News::Report(report));
                Ok(())
            }
        }
    }

    fn lose(&self, end: Message) {
        let (process, workers) = (self.number, self.workers.clone());
        self.tell(News::Lost(Loss { process, workers, end, at: monotonic_ns() }));
    }

    fn tell(&self, news: News) {
        // Nobody listens any more only when the run was given up; then nobody misses it.
        let _ = self.news.send(news);
    }
}

fn unreadable_reply(error: &impl Display) -> Message {
    UNREADABLE_REPLY.message([("error", error.to_string().into())])
}

fn count(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}
