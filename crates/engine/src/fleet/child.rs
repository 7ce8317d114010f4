//! A child: sends its part of a load, by orders that it reads from a stream of bytes.
//!
//! It ends with its parent: when the orders end, the load is aborted. It never exits the process in
//! which it runs.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::Builder;
use std::time::Duration;

use net::{Epoll, Nanos, SourceAddresses, monotonic_ns};

use super::greeting::Greeting;
use super::message::{ChildOrder, ChildReply, Figures, Task};
use super::{frame, rows};
use crate::feed::{FeedSender, feed_channels};
use crate::measure::machine::Machine;
use crate::measure::report::{Phase, Report};
use crate::messages::{LOST_A_WORKER, Message, NOT_STARTED};
use crate::prepare::{Prepared, prepare};
use crate::worker::gate::Gate;
use crate::worker::threads::{Common, sources_of, start_workers};

/// How often the parent is told what was used of its rows.
const DEMAND_INTERVAL: Duration = Duration::from_millis(10);

/// Sends the load that comes on the standard input, and replies on the standard output, until its end or
/// that of the orders.
///
/// The error says what is wrong with either of them.
pub fn serve() -> Result<(), String> {
    let own = |file: io::Result<std::os::fd::OwnedFd>| {
        file.map(File::from).map_err(|error| format!("standard streams: {error}"))
    };
    // Without the buffers of the standard streams: frames are written and read whole.
    let input = own(io::stdin().as_fd().try_clone_to_owned())?;
    let output = own(io::stdout().as_fd().try_clone_to_owned())?;
    serve_on(io::BufReader::new(input), output)
}

/// Does the same on two streams of bytes, such as the two directions of a socket.
pub fn serve_on(
    mut input: impl Read + Send + 'static,
    output: impl Write + Send + 'static,
) -> Result<(), String> {
    let mut output = output;
    if Greeting::own().write(&mut output).is_err() {
        return Ok(());
    }
    let replies = ReplyWriter::new(output);
    let task = match next_order(&mut input, &replies) {
        Ok(Some(ChildOrder::Fire(task))) => task,
        Ok(Some(order)) => return Err(format!("{order:?} before there was a plan")),
        Ok(None) => return Ok(()),
        Err(error) => return Err(error.to_string()),
    };
    let prepared = match prepare(&task.plan) {
        Ok(prepared) => prepared,
        Err(error) => {
            replies.write(&ChildReply::Failed { end: not_started(error) }, &[]);
            return Ok(());
        }
    };
    replies.write(&ChildReply::Prepared, &[]);
    let run_start = match next_order(&mut input, &replies) {
        Ok(Some(ChildOrder::Begin { at })) => at,
        Ok(Some(ChildOrder::Abort | ChildOrder::Stop) | None) => return Ok(()),
        Ok(Some(order)) => return Err(format!("{order:?} before the start")),
        Err(error) => return Err(error.to_string()),
    };
    let (is_on_node, silence_limit) = (task.is_on_node, task.silence_limit);
    let (following, orders_over) = channel::<()>();
    let input = Followed { input, _following: following };
    if let Err(end) = run_task(*task, prepared, run_start, input, &replies) {
        replies.write(&ChildReply::Failed { end }, &[]);
    }
    if is_on_node {
        // A socket that is closed with unread orders is reset, and its last replies may be lost: the
        // parent closes it first. Nothing is sent through the channel.
        let _ = orders_over.recv_timeout(silence_limit);
    }
    Ok(())
}

/// The orders, with a channel that closes when they are no longer read.
struct Followed<R> {
    input: R,
    _following: Sender<()>,
}

impl<R: Read> Read for Followed<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.input.read(buffer)
    }
}

/// Returns the next order; answers the heartbeats before it.
pub(super) fn next_order(
    input: &mut impl Read,
    replies: &ReplyWriter,
) -> io::Result<Option<ChildOrder>> {
    loop {
        match frame::read(input)? {
            Some((ChildOrder::Heartbeat { sent }, _)) => replies.answer_heartbeat(sent),
            order => return Ok(order.map(|(order, _)| order)),
        }
    }
}

fn run_task(
    task: Task,
    prepared: Prepared,
    run_start: Nanos,
    input: impl Read + Send + 'static,
    replies: &ReplyWriter,
) -> Result<(), Message> {
    let Task { plan, first_worker, sources, silence_limit, is_on_node } = task;
    let machine = is_on_node.then(|| Machine::new(&prepared.addresses()));
    let sources = sources_of(&plan, &sources.sources());
    let parts = plan.split(plan.workers);
    let has_low_priority = plan.lowers_coordinator_priority();
    let gate = Arc::new(Gate::held(u32::try_from(parts.len()).unwrap_or(u32::MAX)));
    let is_ordered = Arc::new(AtomicBool::new(false));
    let prepared = prepared.into();
    let (reports, inbox) = channel();
    let (senders, inboxes) = feed_channels(if plan.has_feed() { parts.len() } else { 0 });
    let common = Common {
        inboxes,
        prepared,
        gate: Arc::clone(&gate),
        reports,
        run_start,
        sources: sources.clone(),
        create_driver: Epoll::new,
    };
    let (orders, ordered) = (Arc::clone(&gate), Arc::clone(&is_ordered));
    let order_replies = replies.clone();
    let (heard, last_order) = channel();
    if !senders.is_empty() {
        let (feeds, over, demand_replies) = (senders.clone(), Arc::clone(&gate), replies.clone());
        spawn(move || report_demand(&feeds, &over, &demand_replies)).map_err(not_started)?;
    }
    spawn(move || follow_orders(input, &heard, &orders, &ordered, &senders, &order_replies))
        .map_err(not_started)?;
    let (watched, watch_replies) = (Arc::clone(&gate), replies.clone());
    spawn(move || end_when_silent(&last_order, silence_limit, &watched, &watch_replies))
        .map_err(not_started)?;
    start_workers(parts, first_worker, common).map_err(not_started)?;
    let (ready_writer, arrived) = (replies.clone(), Arc::clone(&gate));
    spawn(move || {
        arrived.wait_until(|gate| gate.is_complete() || gate.is_stopped());
        ready_writer.write(&ChildReply::Ready, &[]);
    })
    .map_err(not_started)?;
    // After the workers have started, whose threads would inherit it.
    if has_low_priority {
        net::lower_priority();
    }
    let is_failing = || gate.is_stopped() && !is_ordered.load(Ordering::Acquire);
    let ended = forward_reports(&inbox, replies, &sources, machine, &gate, is_failing);
    // Without a parent, there is no loss to report.
    if replies.is_closed() { Ok(()) } else { ended }
}

/// Follows the orders; aborts the load when they end, because its reports would be lost.
pub(super) fn follow_orders(
    mut input: impl Read,
    heard: &Sender<()>,
    gate: &Gate,
    is_ordered: &AtomicBool,
    feeds: &[FeedSender],
    replies: &ReplyWriter,
) {
    loop {
        let order = frame::read(&mut input);
        // There is no receiver after the load has ended.
        let _ = heard.send(());
        match order {
            Ok(Some((ChildOrder::Heartbeat { sent }, _))) => replies.answer_heartbeat(sent),
            Ok(Some((ChildOrder::Open { at }, _))) => gate.open(at),
            Ok(Some((ChildOrder::Rows { worker, batch }, _))) => {
                if let Some(feed) = feeds.get(worker as usize) {
                    feed.send(batch);
                }
            }
            Ok(Some((order @ (ChildOrder::Stop | ChildOrder::Abort), _))) => {
                is_ordered.store(true, Ordering::Release);
                if matches!(order, ChildOrder::Stop) { gate.stop() } else { gate.abort() }
            }
            _ => {
                replies.close();
                return gate.abort();
            }
        }
    }
}

/// Tells the parent what the workers have used of their rows, until the load is over.
fn report_demand(feeds: &[FeedSender], gate: &Gate, replies: &ReplyWriter) {
    let mut last = Vec::new();
    while !gate.wait_at_most(DEMAND_INTERVAL, Gate::is_stopped) && !replies.is_closed() {
        let workers: Vec<_> = feeds.iter().map(|feed| feed.demand.read()).collect();
        if workers != last {
            replies.write(&ChildReply::Demand { workers: workers.clone() }, &[]);
            last = workers;
        }
    }
}

/// Aborts the load when no order has come for too long: the parent, or the way to it, is gone.
fn end_when_silent(last_order: &Receiver<()>, limit: Duration, gate: &Gate, replies: &ReplyWriter) {
    loop {
        match last_order.recv_timeout(limit) {
            Ok(()) => {}
            Err(RecvTimeoutError::Timeout) => {
                replies.close();
                return gate.abort();
            }
            Err(RecvTimeoutError::Disconnected) => return,
        }
    }
}

/// Sends the reports of the workers until all have ended.
///
/// Workers stop without an order only when one of them failed: then their last reports are not sent, so
/// that the parent counts a lost process, not a short window.
fn forward_reports(
    inbox: &Receiver<Report>,
    replies: &ReplyWriter,
    sources: &SourceAddresses,
    mut machine: Option<Machine>,
    gate: &Gate,
    is_failing: impl Fn() -> bool,
) -> Result<(), Message> {
    let descriptor_limit = net::raise_descriptor_limit();
    let mut has_failed = false;
    for mut report in inbox {
        has_failed |= report.phase == Phase::Over && is_failing();
        if has_failed {
            continue;
        }
        let rows = rows::to_bytes(&std::mem::take(&mut report.rows));
        let figures = Figures {
            cpu_ns: net::process_cpu_ns(),
            max_rss_bytes: net::max_rss_bytes(),
            descriptor_limit,
            source_turns: sources.turns(),
            machine: machine.as_mut().map(|machine| machine.read(monotonic_ns())),
        };
        replies.write(&ChildReply::Report { report: Box::new(report), figures }, &rows);
        if replies.is_closed() {
            gate.abort();
        }
    }
    if has_failed || is_failing() { Err(LOST_A_WORKER.plain()) } else { Ok(()) }
}

fn not_started(error: String) -> Message {
    NOT_STARTED.message([("error", error.into())])
}

pub(super) fn spawn(body: impl FnOnce() + Send + 'static) -> Result<(), String> {
    let thread = Builder::new().name("torr-child".into()).spawn(body);
    thread.map(drop).map_err(|error| format!("cannot start a thread: {error}"))
}

/// Writes frames to the parent, from several threads, until the parent is gone.
#[derive(Clone)]
pub(super) struct ReplyWriter(Arc<Mutex<Option<Box<dyn Write + Send>>>>);

impl ReplyWriter {
    pub(super) fn new(output: impl Write + Send + 'static) -> Self {
        Self(Arc::new(Mutex::new(Some(Box::new(output)))))
    }

    /// Writes a reply; if that fails, the parent is gone, and later replies are not written.
    pub(super) fn write(&self, reply: &ChildReply, attachment: &[u8]) {
        let mut output = self.lock();
        if output.as_mut().is_some_and(|open| frame::write(open, reply, attachment).is_err()) {
            *output = None;
        }
    }

    fn answer_heartbeat(&self, sent: Nanos) {
        self.write(&ChildReply::Heartbeat { sent, at: monotonic_ns() }, &[]);
    }

    pub(super) fn close(&self) {
        *self.lock() = None;
    }

    pub(super) fn is_closed(&self) -> bool {
        self.lock().is_none()
    }

    fn lock(&self) -> MutexGuard<'_, Option<Box<dyn Write + Send>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;
    use std::os::unix::net::UnixStream;
    use std::time::Instant;

    use super::*;
    use crate::fleet::message::Rotation;
    use crate::plan::{Closed, Pace, Plan, RequestPlan, Source, Stop};

    fn next(stream: &mut UnixStream) -> ChildReply {
        let reply: Option<(ChildReply, Vec<u8>)> = frame::read(stream).unwrap();
        reply.unwrap().0
    }

    const MINUTE: Duration = Duration::from_secs(60);

    /// Serves a load without an end on a socket pair, until its workers are ready.
    fn serving(silence_limit: Duration) -> (UnixStream, TcpListener, Receiver<Result<(), String>>) {
        let (mut parent, listener, ended) = begun(silence_limit);
        // On a busy machine, the first interval may be over before the workers have arrived.
        while !matches!(next(&mut parent), ChildReply::Ready) {}
        (parent, listener, ended)
    }

    /// Begins a load without an end on a socket pair.
    fn begun(silence_limit: Duration) -> (UnixStream, TcpListener, Receiver<Result<(), String>>) {
        let (mut parent, child) = UnixStream::pair().unwrap();
        parent.set_read_timeout(Some(MINUTE)).unwrap();
        let (done, ended) = channel();
        spawn(move || {
            let output = child.try_clone().unwrap();
            let _ = done.send(serve_on(child, output));
        })
        .unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let request = RequestPlan::get(&format!("http://{}/", listener.local_addr().unwrap()));
        let stop = Stop::Duration { duration_ns: 600_000_000_000 };
        let plan = Plan::new(Pace::Closed(Closed::new(2)), Source::One { request }, stop);
        let sources = Rotation { after: 0, part: 0, of: 1 };
        let task =
            Box::new(Task { plan, first_worker: 0, sources, silence_limit, is_on_node: true });
        assert_eq!(Greeting::read(&mut parent).unwrap(), Some(Greeting::own()));
        frame::write(&mut parent, &ChildOrder::Fire(task), &[]).unwrap();
        assert!(matches!(next(&mut parent), ChildReply::Prepared));
        frame::write(&mut parent, &ChildOrder::Begin { at: monotonic_ns() }, &[]).unwrap();
        (parent, listener, ended)
    }

    #[test]
    fn a_child_whose_parent_is_gone_ends_its_load_and_not_the_process() {
        let (parent, _listener, ended) = serving(MINUTE);
        drop(parent);
        assert_eq!(ended.recv_timeout(MINUTE), Ok(Ok(())));
    }

    #[test]
    fn a_child_whose_parent_is_silent_ends_its_load() {
        let (asked, silence) = (Instant::now(), Duration::from_secs(1));
        // It does not wait for the workers: on a busy machine, they may arrive after the limit.
        let (parent, _listener, ended) = begun(silence);
        assert_eq!(ended.recv_timeout(MINUTE), Ok(Ok(())));
        assert!(asked.elapsed() >= silence);
        drop(parent);
    }

    #[test]
    fn a_child_answers_heartbeats() {
        let (mut parent, _listener, ended) = serving(MINUTE);
        frame::write(&mut parent, &ChildOrder::Heartbeat { sent: 7 }, &[]).unwrap();
        while !matches!(next(&mut parent), ChildReply::Heartbeat { sent: 7, at: 1.. }) {}
        drop(parent);
        assert_eq!(ended.recv_timeout(MINUTE), Ok(Ok(())));
    }

    #[test]
    fn a_child_replies_on_any_stream_of_bytes_until_its_load_is_over() {
        let (mut parent, _listener, ended) = serving(MINUTE);
        frame::write(&mut parent, &ChildOrder::Open { at: monotonic_ns() }, &[]).unwrap();
        frame::write(&mut parent, &ChildOrder::Abort, &[]).unwrap();
        let mut phases = Vec::new();
        while phases.last() != Some(&Phase::Over) {
            let ChildReply::Report { report, .. } = next(&mut parent) else { continue };
            phases.push(report.phase);
        }
        // It reads on until the parent has closed the stream.
        frame::write(&mut parent, &ChildOrder::Heartbeat { sent: 7 }, &[]).unwrap();
        while !matches!(next(&mut parent), ChildReply::Heartbeat { sent: 7, .. }) {}
        assert_eq!(ended.try_recv(), Err(std::sync::mpsc::TryRecvError::Empty));
        drop(parent);
        assert_eq!(ended.recv_timeout(MINUTE), Ok(Ok(())));
    }
}
