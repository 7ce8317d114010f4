//! How children come up: side by side, all of them or none, and within bounds.

use std::io::{self, BufReader};
use std::process::{ChildStdin, ChildStdout};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::Builder;
use std::time::{Duration, Instant};

use super::frame;
use super::message::Reply;
use super::process::Process;
use crate::messages::{Message, NO_THREAD, SLOW_PREPARATION};
use crate::worker::gate::Gate;

/// Children that are not there by then will not come: they start in a tenth of a second.
const PATIENCE: Duration = Duration::from_secs(20);

/// And so much for each, where many start on few cores.
const PATIENCE_EACH: Duration = Duration::from_secs(1);

/// Time to read a plan and to prepare its requests, also a large one on a slow machine.
const PREPARING: Duration = Duration::from_secs(300);

/// How often the watch looks whether the children are still wanted.
const LOOK: Duration = Duration::from_millis(50);

/// A child that is there.
pub(super) struct Member {
    pub(super) process: Arc<Mutex<Process>>,
    pub(super) orders: ChildStdin,
    pub(super) replies: BufReader<ChildStdout>,
}

/// Starts so many children; the message says why there are none.
pub(super) fn launch(count: u32, command: &[String]) -> Result<Vec<Member>, String> {
    launch_within(count, command, PATIENCE + PATIENCE_EACH * count)
}

/// The first message of a child that was given its part: that its requests are prepared, as a rule.
pub(super) type FirstReply = io::Result<Option<(Reply, Vec<u8>)>>;

/// Waits until every child has prepared its part, or said why it cannot; the message says that one did
/// neither. A gate that is stopped before ends the waiting, and the children.
pub(super) fn first_replies(
    members: &mut [Member],
    gate: &Arc<Gate>,
) -> Result<Vec<FirstReply>, Message> {
    let numbers = members.iter().map(|member| lock(&member.process).number()).collect();
    let watch = Watch::start(numbers, PREPARING, Some(Arc::clone(gate))).map_err(no_thread)?;
    let replies = members.iter_mut().map(|member| frame::read(&mut member.replies)).collect();
    if watch.has_ended_them() {
        return Err(SLOW_PREPARATION.message([("seconds", PREPARING.as_secs().into())]));
    }
    Ok(replies)
}

/// A poisoned lock still guards a whole process: nothing of it is changed in steps.
pub(super) fn lock(process: &Mutex<Process>) -> MutexGuard<'_, Process> {
    process.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The failure of a machine that gives no more threads.
#[allow(clippy::needless_pass_by_value)] // As `map_err` hands it over.
pub(super) fn no_thread(error: io::Error) -> Message {
    NO_THREAD.message([("error", error.to_string().into())])
}

fn launch_within(count: u32, command: &[String], time: Duration) -> Result<Vec<Member>, String> {
    let started: Result<Vec<_>, _> = (0..count).map(|_| Process::start(command)).collect();
    let started = started.map_err(|error| format!("cannot start an engine process: {error}"))?;
    let numbers = started.iter().map(|(process, _)| process.number()).collect();
    let watch = Watch::start(numbers, time, None).map_err(|error| no_thread(error).text)?;
    let members = started.into_iter().map(|(process, (orders, replies))| {
        let process = Arc::new(Mutex::new(process));
        Member { process, orders, replies }
    });
    let mut members: Vec<_> = members.collect();
    let greeted = members.iter_mut().try_for_each(greet);
    if watch.has_ended_them() {
        return Err(format!("an engine process did not answer within {time:?}"));
    }
    greeted.map_err(|why| format!("an engine process could not start: it {why}"))?;
    Ok(members)
}

/// Waits until a child says that it is there; the message says why it will not.
fn greet(member: &mut Member) -> Result<(), String> {
    match frame::read(&mut member.replies) {
        Ok(Some((Reply::Here, _))) => Ok(()),
        Ok(Some(_)) => Err("spoke before it was asked".into()),
        Ok(None) => Err(lock(&member.process).end().text),
        Err(error) => Err(error.to_string()),
    }
}

/// Ends all children when they take too long to come up, or nobody wants them any more: nobody can
/// wait for a pipe within bounds.
///
/// By their numbers, since whoever waits for one of them holds it.
struct Watch {
    is_late: Arc<AtomicBool>,
    /// Dropped, it calls the watch off.
    _over: Sender<()>,
}

impl Watch {
    fn start(processes: Vec<u32>, time: Duration, gate: Option<Arc<Gate>>) -> io::Result<Self> {
        let (over, ended) = channel::<()>();
        let is_late = Arc::<AtomicBool>::default();
        let late = Arc::clone(&is_late);
        let body = move || {
            let deadline = Instant::now() + time;
            let is_unwanted = || gate.as_ref().is_some_and(|gate| gate.is_stopped());
            while Instant::now() < deadline && !is_unwanted() {
                let rest = deadline.saturating_duration_since(Instant::now());
                if ended.recv_timeout(rest.min(LOOK)) != Err(RecvTimeoutError::Timeout) {
                    return;
                }
            }
            late.store(true, Ordering::Release);
            processes.into_iter().for_each(net::end_group);
        };
        Builder::new().name("torr-watch".into()).spawn(body)?;
        Ok(Self { is_late, _over: over })
    }

    fn has_ended_them(&self) -> bool {
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
