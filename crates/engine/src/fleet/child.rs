//! A child process: sends its part of a load, by orders from its standard input.
//!
//! It ends with its parent: when the standard input ends, the process exits.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::Builder;

use net::{Epoll, Nanos, SourceAddresses};

use super::message::{ChildOrder, ChildReply, Figures, Task};
use super::{frame, rows};
use crate::measure::report::{Phase, Report};
use crate::messages::{LOST_A_WORKER, Message, NOT_STARTED};
use crate::prepare::{Prepared, prepare};
use crate::worker::gate::Gate;
use crate::worker::threads::{Common, sources_of, start_workers};

/// The exit code of a child whose parent is gone.
const EXIT_WITHOUT_PARENT: i32 = 3;

/// Sends the load that comes on the standard input, and replies on the standard output, until its end.
///
/// The error says what is wrong with either of them. Exits when the orders end.
pub fn serve() -> Result<(), String> {
    let own = |file: io::Result<std::os::fd::OwnedFd>| {
        file.map(File::from).map_err(|error| format!("standard streams: {error}"))
    };
    // Without the buffers of the standard streams: frames are written and read whole.
    let input = own(io::stdin().as_fd().try_clone_to_owned())?;
    let output = own(io::stdout().as_fd().try_clone_to_owned())?;
    fire(io::BufReader::new(input), ReplyWriter::new(output))
}

fn fire(mut input: impl Read + Send + 'static, replies: ReplyWriter) -> Result<(), String> {
    replies.write(&ChildReply::Here, &[]);
    let task = match frame::read(&mut input) {
        Ok(Some((ChildOrder::Fire(task), _))) => task,
        Ok(Some((order, _))) => return Err(format!("{order:?} before there was a plan")),
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
    let run_start = match frame::read(&mut input) {
        Ok(Some((ChildOrder::Begin { at }, _))) => at,
        Ok(Some((ChildOrder::Abort | ChildOrder::Stop, _)) | None) => return Ok(()),
        Ok(Some((order, _))) => return Err(format!("{order:?} before the start")),
        Err(error) => return Err(error.to_string()),
    };
    if let Err(end) = run_task(*task, prepared, run_start, input, &replies) {
        replies.write(&ChildReply::Failed { end }, &[]);
    }
    Ok(())
}

fn run_task(
    task: Task,
    prepared: Prepared,
    run_start: Nanos,
    input: impl Read + Send + 'static,
    replies: &ReplyWriter,
) -> Result<(), Message> {
    let Task { plan, first_worker, sources } = task;
    let sources = sources_of(&plan, &sources.sources());
    let parts = plan.split(plan.workers);
    let has_low_priority = plan.lowers_coordinator_priority();
    let gate = Arc::new(Gate::held(u32::try_from(parts.len()).unwrap_or(u32::MAX)));
    let is_ordered = Arc::new(AtomicBool::new(false));
    let prepared = prepared.into();
    let (reports, inbox) = channel();
    let common = Common {
        prepared,
        gate: Arc::clone(&gate),
        reports,
        run_start,
        sources: sources.clone(),
        create_driver: Epoll::new,
    };
    let (orders, ordered) = (Arc::clone(&gate), Arc::clone(&is_ordered));
    spawn(move || follow_orders(input, &orders, &ordered)).map_err(not_started)?;
    start_workers(parts, first_worker, common).map_err(not_started)?;
    let (ready_writer, arrived) = (replies.clone(), Arc::clone(&gate));
    spawn(move || {
        arrived.wait_until(|gate| gate.is_complete() || gate.is_stopped());
        ready_writer.write(&ChildReply::Ready, &[]);
    })
    .map_err(not_started)?;
    // After the workers have started, whose threads would inherit it.
    if has_low_priority {
        net::be_patient();
    }
    let is_failing = || gate.is_stopped() && !is_ordered.load(Ordering::Acquire);
    forward_reports(&inbox, replies, &sources, is_failing)
}

/// Follows the orders; exits when they end.
fn follow_orders(mut input: impl Read, gate: &Gate, is_ordered: &AtomicBool) {
    loop {
        match frame::read(&mut input) {
            Ok(Some((ChildOrder::Open { at }, _))) => gate.open(at),
            Ok(Some((order @ (ChildOrder::Stop | ChildOrder::Abort), _))) => {
                is_ordered.store(true, Ordering::Release);
                if matches!(order, ChildOrder::Stop) { gate.stop() } else { gate.abort() }
            }
            // Without a parent, the load would be measured by no process.
            _ => std::process::exit(EXIT_WITHOUT_PARENT),
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
        };
        replies.write(&ChildReply::Report { report: Box::new(report), figures }, &rows);
    }
    if has_failed || is_failing() { Err(LOST_A_WORKER.plain()) } else { Ok(()) }
}

fn not_started(error: String) -> Message {
    NOT_STARTED.message([("error", error.into())])
}

fn spawn(body: impl FnOnce() + Send + 'static) -> Result<(), String> {
    let thread = Builder::new().name("torr-child".into()).spawn(body);
    thread.map(drop).map_err(|error| format!("cannot start a thread: {error}"))
}

/// Writes frames to the parent, from several threads.
#[derive(Debug, Clone)]
struct ReplyWriter(Arc<Mutex<File>>);

impl ReplyWriter {
    fn new(output: File) -> Self {
        Self(Arc::new(Mutex::new(output)))
    }

    fn write(&self, reply: &ChildReply, attachment: &[u8]) {
        let mut output = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if frame::write(&mut *output, reply, attachment).is_err() {
            std::process::exit(EXIT_WITHOUT_PARENT);
        }
    }
}
