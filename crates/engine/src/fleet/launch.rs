//! Starting children: at the same time, all of them or none, within a time limit.

use std::io::{self, BufReader};
use std::process::{ChildStdin, ChildStdout};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::Builder;
use std::time::{Duration, Instant};

use super::frame;
use super::message::ChildReply;
use super::process::ChildProcess;
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

/// A child that has started.
pub(super) struct StartedChild {
    pub(super) process: Arc<Mutex<ChildProcess>>,
    pub(super) orders: ChildStdin,
    pub(super) replies: BufReader<ChildStdout>,
}

/// Starts a number of children; the error says why there are none.
pub(super) fn launch(count: u32, command: &[String]) -> Result<Vec<StartedChild>, String> {
    launch_within(count, command, START_LIMIT + START_LIMIT_EACH * count)
}

/// The first reply of a child after its part was sent: that its requests are prepared, as a rule.
pub(super) type FirstReply = io::Result<Option<(ChildReply, Vec<u8>)>>;

/// Waits until every child has prepared its part, or replied why it cannot; the error says that one did
/// neither. A gate that is stopped before ends the children.
pub(super) fn first_replies(
    children: &mut [StartedChild],
    gate: &Arc<Gate>,
) -> Result<Vec<FirstReply>, Message> {
    let numbers = children.iter().map(|child| lock(&child.process).number()).collect();
    let limit = LaunchLimit::start(numbers, PREPARATION_LIMIT, Some(Arc::clone(gate)))
        .map_err(no_thread)?;
    let replies = children.iter_mut().map(|child| frame::read(&mut child.replies)).collect();
    if limit.is_exceeded() {
        return Err(SLOW_PREPARATION.message([("seconds", PREPARATION_LIMIT.as_secs().into())]));
    }
    Ok(replies)
}

/// Locks a process, which is consistent even after a panic.
pub(super) fn lock(process: &Mutex<ChildProcess>) -> MutexGuard<'_, ChildProcess> {
    process.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the message that no thread could be started.
#[allow(clippy::needless_pass_by_value)] // `map_err` passes values.
pub(super) fn no_thread(error: io::Error) -> Message {
    NO_THREAD.message([("error", error.to_string().into())])
}

fn launch_within(
    count: u32,
    command: &[String],
    time: Duration,
) -> Result<Vec<StartedChild>, String> {
    let started: Result<Vec<_>, _> = (0..count).map(|_| ChildProcess::start(command)).collect();
    let started = started.map_err(|error| format!("cannot start an engine process: {error}"))?;
    let numbers = started.iter().map(|(process, _)| process.number()).collect();
    let limit = LaunchLimit::start(numbers, time, None).map_err(|error| no_thread(error).text)?;
    let children = started.into_iter().map(|(process, (orders, replies))| {
        let process = Arc::new(Mutex::new(process));
        StartedChild { process, orders, replies }
    });
    let mut children: Vec<_> = children.collect();
    let all_here = children.iter_mut().try_for_each(await_child);
    if limit.is_exceeded() {
        return Err(format!("an engine process did not answer within {time:?}"));
    }
    all_here.map_err(|why| format!("an engine process could not start: it {why}"))?;
    Ok(children)
}

/// Waits for the first reply of a child; the error says why none came.
fn await_child(child: &mut StartedChild) -> Result<(), String> {
    match frame::read(&mut child.replies) {
        Ok(Some((ChildReply::Here, _))) => Ok(()),
        Ok(Some(_)) => Err("spoke before it was asked".into()),
        Ok(None) => Err(lock(&child.process).end().text),
        Err(error) => Err(error.to_string()),
    }
}

/// Ends all children when they take too long to start, or when the run is stopped: reading a pipe has no
/// time limit.
///
/// Children are ended by their process numbers, since the thread that waits for one holds its lock.
struct LaunchLimit {
    is_late: Arc<AtomicBool>,
    /// Dropping it ends the limit.
    _over: Sender<()>,
}

impl LaunchLimit {
    fn start(processes: Vec<u32>, time: Duration, gate: Option<Arc<Gate>>) -> io::Result<Self> {
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
            processes.into_iter().for_each(net::end_group);
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
    fn children_that_do_not_come_up_are_not_waited_for_for_ever() {
        // Silent; gone from its pipe, but not ended; silent behind another that stays.
        for script in ["sleep 60", "exec >&-; exec sleep 60", "sleep 60; true"] {
            let command = ["sh", "-c", script].map(ToOwned::to_owned);
            let error = launch_within(2, &command, Duration::from_millis(50)).err();
            assert_eq!(error.as_deref(), Some("an engine process did not answer within 50ms"));
        }
    }
}
