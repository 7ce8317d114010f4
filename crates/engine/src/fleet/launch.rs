//! Starting children: at the same time, all of them or none, within a time limit.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::Builder;
use std::time::{Duration, Instant};

use net::monotonic_ns;

use super::clock::RemoteClock;
use super::frame;
use super::greeting::Greeting;
use super::message::{ChildOrder, ChildReply};
use super::process::ChildProcess;
use super::transport::{ChildTransport, EndChild, OrderStream, ReplyStream};
use crate::measure::summary::MAX_CLOCK_ERROR_NS;
use crate::messages::{Message, NO_THREAD, SLOW_PREPARATION};
use crate::worker::gate::Gate;

/// The time in which children must have started; a child starts in a tenth of a second.
const START_LIMIT: Duration = Duration::from_secs(20);

/// The additional time for each child, where many start on few cores.
const START_LIMIT_EACH: Duration = Duration::from_secs(1);

/// Time to read a plan and to prepare its requests, also a large one on a slow machine.
const PREPARATION_LIMIT: Duration = Duration::from_secs(300);

/// How often it is checked whether the run was stopped.
const CHECK_INTERVAL: Duration = Duration::from_millis(50);

/// A child that has started; dropping it ends it.
pub(super) struct StartedChild {
    pub(super) transport: Box<dyn ChildTransport>,
    pub(super) orders: OrderStream,
    pub(super) replies: ReplyStream,
    pub(super) clock: Arc<RemoteClock>,
}

/// The number of questions for a node's time: the shortest of so many round trips is typical of an idle
/// network.
const CLOCK_QUESTIONS: u32 = 20;

/// The maximum number of questions.
const MAX_CLOCK_QUESTIONS: u32 = 200;

/// After this time, no more are asked than is typical: the nodes are asked one after the other.
const MAX_CLOCK_TIME: Duration = Duration::from_millis(200);

impl StartedChild {
    /// Asks for the node's time, if its clock is another one, until the error is small enough.
    pub(super) fn ask_clock(&mut self) -> io::Result<()> {
        if !self.clock.is_other() {
            return Ok(());
        }
        let begin = Instant::now();
        for question in 1..=MAX_CLOCK_QUESTIONS {
            let order = ChildOrder::Heartbeat { sent: monotonic_ns() };
            frame::write(&mut self.orders, &order, &[])?;
            match frame::read(&mut self.replies)? {
                Some((ChildReply::Heartbeat { sent, at }, _)) => {
                    self.clock.add(sent, at, monotonic_ns());
                }
                Some(_) => return Err(io::Error::other("it did not answer a heartbeat")),
                None => return Err(io::ErrorKind::UnexpectedEof.into()),
            }
            let is_exact = self.clock.bound_ns(monotonic_ns()) <= MAX_CLOCK_ERROR_NS;
            // On a slow network, more questions would give no smaller error.
            let is_enough = is_exact || begin.elapsed() > MAX_CLOCK_TIME;
            if question >= CLOCK_QUESTIONS && is_enough {
                break;
            }
        }
        Ok(())
    }
}

/// Starts a number of child processes; the error says why there are none.
pub(super) fn launch(
    count: u32,
    command: &[String],
) -> Result<Vec<Box<dyn ChildTransport>>, String> {
    let started = (0..count).map(|_| ChildProcess::start(command));
    let boxed = |child: ChildProcess| Box::new(child) as Box<dyn ChildTransport>;
    let started: io::Result<Vec<_>> = started.map(|child| child.map(boxed)).collect();
    started.map_err(|error| format!("cannot start an engine process: {error}"))
}

/// Waits for the greetings of all children; the error says why they cannot take part.
pub(super) fn greet(children: Vec<Box<dyn ChildTransport>>) -> Result<Vec<StartedChild>, String> {
    let count = u32::try_from(children.len()).unwrap_or(u32::MAX);
    greet_within(children, START_LIMIT + START_LIMIT_EACH * count)
}

/// The first reply of a child after its part was sent: that its requests are prepared, as a rule.
pub(super) type FirstReply = io::Result<Option<(ChildReply, Vec<u8>)>>;

/// Waits until every child has prepared its part, or replied why it cannot, and asks for their times once
/// more; the error says that one did neither. A gate that is stopped before ends the children.
pub(super) fn first_replies(
    children: &mut [StartedChild],
    gate: &Arc<Gate>,
) -> Result<Vec<FirstReply>, Message> {
    let endings = children.iter().map(|child| child.transport.ending()).collect();
    let limit = LaunchLimit::start(endings, PREPARATION_LIMIT, Some(Arc::clone(gate)))
        .map_err(no_thread)?;
    let replies = children.iter_mut().map(|child| frame::read(&mut child.replies)).collect();
    for child in children {
        // The replies of a node that is gone show this.
        let _ = child.ask_clock();
        child.clock.begin();
    }
    if limit.is_exceeded() {
        return Err(SLOW_PREPARATION.message([("seconds", PREPARATION_LIMIT.as_secs().into())]));
    }
    Ok(replies)
}

/// Returns the message that no thread could be started.
#[allow(clippy::needless_pass_by_value)] // `map_err` passes values.
pub(super) fn no_thread(error: io::Error) -> Message {
    NO_THREAD.message([("error", error.to_string().into())])
}

fn greet_within(
    children: Vec<Box<dyn ChildTransport>>,
    time: Duration,
) -> Result<Vec<StartedChild>, String> {
    let endings = children.iter().map(|child| child.ending()).collect();
    let limit = LaunchLimit::start(endings, time, None).map_err(|error| no_thread(error).text)?;
    let named = |child: Box<dyn ChildTransport>| {
        let node = child.node().map(str::to_owned);
        started(child).map_err(|why| (node, why))
    };
    let started: Result<Vec<_>, _> = children.into_iter().map(named).collect();
    if limit.is_exceeded() {
        return Err(format!("an engine process did not answer within {time:?}"));
    }
    started.map_err(|(node, why)| {
        let place = node.map(|name| format!(" on {name}")).unwrap_or_default();
        format!("an engine process{place} could not start: it {why}")
    })
}

/// Waits for the greeting of a child; the error says why it cannot take part.
fn started(mut transport: Box<dyn ChildTransport>) -> Result<StartedChild, String> {
    let (orders, mut replies) = transport.streams().map_err(|error| error.to_string())?;
    match Greeting::read(&mut replies) {
        Ok(Some(greeting)) => {
            let own = Greeting::own();
            if let Some(why) = own.refusal(&greeting) {
                return Err(why);
            }
            let is_same = own.has_clock_of(&greeting);
            let clock =
                Arc::new(if is_same { RemoteClock::same() } else { RemoteClock::unknown() });
            let mut child = StartedChild { transport, orders, replies, clock };
            let asked = child.ask_clock();
            asked.map_err(|error| format!("did not tell its time: {error}"))?;
            Ok(child)
        }
        Ok(None) => Err(transport.wait().text),
        Err(error) => Err(format!("sent a greeting that cannot be read: {error}")),
    }
}

/// Ends all children when they take too long to start, or when the run is stopped: reading a pipe has no
/// time limit.
struct LaunchLimit {
    is_late: Arc<AtomicBool>,
    /// Dropping it ends the limit.
    _over: Sender<()>,
}

impl LaunchLimit {
    fn start(endings: Vec<EndChild>, time: Duration, gate: Option<Arc<Gate>>) -> io::Result<Self> {
        let (over, ended) = channel::<()>();
        let is_late = Arc::<AtomicBool>::default();
        let late = Arc::clone(&is_late);
        let body = move || {
            let deadline = Instant::now() + time;
            let is_stopped = || gate.as_ref().is_some_and(|gate| gate.is_stopped());
            while Instant::now() < deadline && !is_stopped() {
                let rest = deadline.saturating_duration_since(Instant::now());
                if ended.recv_timeout(rest.min(CHECK_INTERVAL)) != Err(RecvTimeoutError::Timeout) {
                    return;
                }
            }
            late.store(true, Ordering::Release);
            endings.iter().for_each(|end| end());
        };
        Builder::new().name("torr-watch".into()).spawn(body)?;
        Ok(Self { is_late, _over: over })
    }

    fn is_exceeded(&self) -> bool {
        self.is_late.load(Ordering::Acquire)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_child_of_another_build_is_refused_with_both_names() {
        let command =
            ["sh", "-c", "printf 'torr\\n\\0030.1\\001c'; sleep 60"].map(ToOwned::to_owned);
        let error = greet(launch(1, &command).unwrap()).err().unwrap();
        assert!(error.contains("it is torr 0.1, and this is torr "), "{error}");
    }

    #[test]
    fn a_child_that_says_something_else_is_refused() {
        let command = ["sh", "-c", "echo hello; sleep 60"].map(ToOwned::to_owned);
        let error = greet(launch(1, &command).unwrap()).err().unwrap();
        assert!(error.contains("greeting that cannot be read"), "{error}");
    }

    #[test]
    fn children_that_do_not_come_up_are_not_waited_for_for_ever() {
        // Silent; gone from its pipe, but not ended; silent behind another that stays.
        for script in ["sleep 60", "exec >&-; exec sleep 60", "sleep 60; true"] {
            let command = ["sh", "-c", script].map(ToOwned::to_owned);
            let start = Instant::now();
            let error = greet_within(launch(2, &command).unwrap(), Duration::from_millis(50)).err();
            assert_eq!(error.as_deref(), Some("an engine process did not answer within 50ms"));
            // They end by themselves after a minute.
            assert!(start.elapsed() < Duration::from_secs(30), "{script} was waited for");
        }
    }
}
