//! The firing side: one process of a load, led through its standard input and output.
//!
//! It lives no longer than who leads it: when the orders end, so does the process, whatever it was
//! doing.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::Builder;

use net::{Epoll, Nanos, SourceAddresses};

use super::message::{Figures, Order, Reply, Task};
use super::{frame, rows};
use crate::measure::report::{Phase, Report};
use crate::messages::{LOST_A_WORKER, Message, NOT_STARTED};
use crate::prepare::{Prepared, prepare};
use crate::worker::gate::Gate;
use crate::worker::threads::{Common, sources_of, start_workers};

/// How a process ends that nobody leads any more.
const LEFT_ALONE: i32 = 3;

/// Fires what comes on the standard input, and answers on the standard output, to the load's end.
///
/// The message says what is wrong with either of them. Ends the process when its orders end.
pub fn serve() -> Result<(), String> {
    let own = |file: io::Result<std::os::fd::OwnedFd>| {
        file.map(File::from).map_err(|error| format!("standard streams: {error}"))
    };
    // Without the buffers of the standard streams: frames are written and read whole.
    let input = own(io::stdin().as_fd().try_clone_to_owned())?;
    let output = own(io::stdout().as_fd().try_clone_to_owned())?;
    fire(io::BufReader::new(input), Line::new(output))
}

fn fire(mut input: impl Read + Send + 'static, line: Line) -> Result<(), String> {
    line.say(&Reply::Here, &[]);
    let task = match frame::read(&mut input) {
        Ok(Some((Order::Fire(task), _))) => task,
        Ok(Some((order, _))) => return Err(format!("{order:?} before there was a plan")),
        Ok(None) => return Ok(()),
        Err(error) => return Err(error.to_string()),
    };
    let prepared = match prepare(&task.plan) {
        Ok(prepared) => prepared,
        Err(error) => {
            line.say(&Reply::Failed { end: not_started(error) }, &[]);
            return Ok(());
        }
    };
    line.say(&Reply::Prepared, &[]);
    let run_start = match frame::read(&mut input) {
        Ok(Some((Order::Begin { at }, _))) => at,
        Ok(Some((Order::Abort | Order::Stop, _)) | None) => return Ok(()),
        Ok(Some((order, _))) => return Err(format!("{order:?} before the start")),
        Err(error) => return Err(error.to_string()),
    };
    if let Err(end) = carry_out(*task, prepared, run_start, input, &line) {
        line.say(&Reply::Failed { end }, &[]);
    }
    Ok(())
}

fn carry_out(
    task: Task,
    prepared: Prepared,
    run_start: Nanos,
    input: impl Read + Send + 'static,
    line: &Line,
) -> Result<(), Message> {
    let Task { plan, first_worker, sources } = task;
    let sources = sources_of(&plan, &sources.sources());
    let parts = plan.split(plan.workers);
    let is_patient = plan.lets_notes_wait();
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
    spawn(move || obey(input, &orders, &ordered)).map_err(not_started)?;
    start_workers(parts, first_worker, common).map_err(not_started)?;
    let (herald, arrived) = (line.clone(), Arc::clone(&gate));
    spawn(move || {
        arrived.wait_until(|gate| gate.is_complete() || gate.is_stopped());
        herald.say(&Reply::Ready, &[]);
    })
    .map_err(not_started)?;
    // Only now: the threads that fire would inherit it.
    if is_patient {
        net::be_patient();
    }
    let is_broken = || gate.is_stopped() && !is_ordered.load(Ordering::Acquire);
    pass_on(&inbox, line, &sources, is_broken)
}

/// Does what it is told; with the last order ends the process, whatever it was doing.
fn obey(mut input: impl Read, gate: &Gate, is_ordered: &AtomicBool) {
    loop {
        match frame::read(&mut input) {
            Ok(Some((Order::Open { at }, _))) => gate.open(at),
            Ok(Some((order @ (Order::Stop | Order::Abort), _))) => {
                is_ordered.store(true, Ordering::Release);
                if matches!(order, Order::Stop) { gate.stop() } else { gate.abort() }
            }
            // A load that nobody hears of any more is only a burden.
            _ => std::process::exit(LEFT_ALONE),
        }
    }
}

/// Hands up what the workers report until all have ended.
///
/// Workers stop unordered only when one of them broke: their last books are held back, so that the
/// other side sees a loss, not a window that was short.
fn pass_on(
    inbox: &Receiver<Report>,
    line: &Line,
    sources: &SourceAddresses,
    is_broken: impl Fn() -> bool,
) -> Result<(), Message> {
    let descriptor_limit = net::raise_descriptor_limit();
    let mut was_broken = false;
    for mut report in inbox {
        was_broken |= report.phase == Phase::Over && is_broken();
        if was_broken {
            continue;
        }
        let rows = rows::to_bytes(&std::mem::take(&mut report.rows));
        let figures = Figures {
            cpu_ns: net::process_cpu_ns(),
            max_rss_bytes: net::max_rss_bytes(),
            descriptor_limit,
            source_turns: sources.turns(),
        };
        line.say(&Reply::Report { report: Box::new(report), figures }, &rows);
    }
    if was_broken || is_broken() { Err(LOST_A_WORKER.plain()) } else { Ok(()) }
}

fn not_started(error: String) -> Message {
    NOT_STARTED.message([("error", error.into())])
}

fn spawn(body: impl FnOnce() + Send + 'static) -> Result<(), String> {
    let thread = Builder::new().name("torr-child".into()).spawn(body);
    thread.map(drop).map_err(|error| format!("cannot start a thread: {error}"))
}

/// The way to who leads; whole frames, from several threads.
#[derive(Debug, Clone)]
struct Line(Arc<Mutex<File>>);

impl Line {
    fn new(output: File) -> Self {
        Self(Arc::new(Mutex::new(output)))
    }

    fn say(&self, reply: &Reply, attachment: &[u8]) {
        let mut output = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if frame::write(&mut *output, reply, attachment).is_err() {
            std::process::exit(LEFT_ALONE);
        }
    }
}
