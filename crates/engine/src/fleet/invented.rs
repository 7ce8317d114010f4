//! A node that sends no request: its reports are invented, and as large as those of a real node. Benches
//! measure with it what a node costs the process that starts the load.

use std::f64::consts::LN_2;
use std::io::{self, Read, Write};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::channel;
use std::time::Duration;

use client::Stamps;
use net::{Nanos, monotonic_ns};

use super::child::{ReplyWriter, follow_orders, next_order, spawn};
use super::greeting::Greeting;
use super::message::{ChildOrder, ChildReply, Figures};
use crate::measure::machine::MachineReading;
use crate::measure::report::{Phase, Report};
use crate::measure::tally::Tally;
use crate::plan::{Plan, Stop};
use crate::random::SplitMix;
use crate::worker::gate::Gate;

const SECOND: Nanos = 1_000_000_000;
const MEDIAN_NS: f64 = 5e6;

/// Serves one load on two streams of bytes: its worker reports so many requests a second, whose times
/// differ as those of a busy server do.
pub fn serve_invented(
    mut input: impl Read + Send + 'static,
    output: impl Write + Send + 'static,
    requests_per_s: u64,
) -> io::Result<()> {
    let mut output = output;
    Greeting::own_on_clock("invented").write(&mut output)?;
    let replies = ReplyWriter::new(output);
    let Some(ChildOrder::Fire(task)) = next_order(&mut input, &replies)? else { return Ok(()) };
    replies.write(&ChildReply::Prepared, &[]);
    let Some(ChildOrder::Begin { at }) = next_order(&mut input, &replies)? else { return Ok(()) };
    let (gate, heard) = (Arc::new(Gate::held(1)), channel().0);
    let (orders, order_replies) = (Arc::clone(&gate), replies.clone());
    let is_ordered = AtomicBool::new(false);
    spawn(move || follow_orders(input, &heard, &orders, &is_ordered, &[], &order_replies))
        .map_err(io::Error::other)?;
    replies.write(&ChildReply::Ready, &[]);
    while gate.start() == Nanos::MAX && !gate.is_stopped() {
        std::thread::sleep(Duration::from_millis(1));
    }
    let mut node = InventedNode { plan: &task.plan, worker: task.first_worker, requests_per_s };
    node.report(at, &gate, &replies);
    Ok(())
}

struct InventedNode<'a> {
    plan: &'a Plan,
    worker: u32,
    requests_per_s: u64,
}

impl InventedNode<'_> {
    /// Sends the reports of a window, each when its interval is over.
    fn report(&mut self, run_start: Nanos, gate: &Gate, replies: &ReplyWriter) {
        let start = gate.start();
        let Stop::Duration { duration_ns } = self.plan.stop else { return };
        let (end, length) = (start.saturating_add(duration_ns), self.plan.interval_ns);
        let mut random = SplitMix::new(self.plan.seed);
        let figures = Figures { machine: Some(MachineReading::default()), ..Figures::default() };
        let mut send = |phase, number, from, to, count| {
            let mut report = Report { from, to, ..Report::empty(self.worker, phase, number) };
            report.window = (phase != Phase::Warmup).then_some((start, end));
            report.has_received = true;
            report.usage.cpu_ns = (to - from) / 2;
            report.tallies = vec![invented_tally(count, from, &mut random)].into();
            replies.write(&ChildReply::Report { report: Box::new(report), figures }, &[]);
        };
        send(Phase::Warmup, 0, run_start.min(start), start, 0);
        let (mut from, mut number) = (start, 0);
        while from < end && !gate.is_stopped() && !replies.is_closed() {
            let to = (from + length).min(end);
            let wait_ns = to.saturating_sub(monotonic_ns());
            std::thread::sleep(Duration::from_nanos(wait_ns));
            send(Phase::Measure, number, from, to, self.requests_per_s * (to - from) / SECOND);
            (from, number) = (to, number + 1);
        }
        send(Phase::Drain, 0, from, from, 0);
        send(Phase::Over, 0, from, from, 0);
    }
}

/// Returns the tally of so many requests, whose times have an exponential distribution.
fn invented_tally(count: u64, from: Nanos, random: &mut SplitMix) -> Tally {
    let mut tally = Tally {
        planned: count,
        attempted: count,
        attempted_inside: count,
        ok_inside: count,
        ..Tally::default()
    };
    for _ in 0..count {
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let time_ns = (MEDIAN_NS / LN_2 * random.exponential()) as Nanos;
        let first_byte = from + time_ns - time_ns / 50;
        let stamps =
            Stamps { sent: from, first_byte, last_byte: from + time_ns, ..Stamps::new(from, from) };
        tally.accept(&stamps, 200);
    }
    tally
}
