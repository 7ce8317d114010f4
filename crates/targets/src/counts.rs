//! What a target did, counted so exactly that a client's own counts can be balanced against it.
//!
//! Each thread has its own [`ThreadCounts`], so that counting shares no cache line; they are added when
//! somebody asks.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use serde::Serialize;

use crate::{Defect, Fault};

/// What a target did since it started. Running, it may lag by what is being counted right now;
/// stopped, it is exact.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct TargetCounts {
    /// Connections accepted. Those that the kernel holds in its accept queue are not among them.
    pub connections: u64,
    /// Requests read to the last byte of their body. One that is malformed or cut off is not
    /// among them, nor what arrives after a fault that stops reading.
    pub requests: u64,
    /// Complete and legal answers whose last byte was handed to the kernel: every answer of
    /// hello, delay and bytes, and of faulty those that met no fault or one that
    /// [answers](Fault::answers). Whether the client read it is not known here.
    pub answered: u64,
    /// Requests that met the fault, by its name: one entry for a faulty target, also when it is 0
    /// (`no_accept` stays 0: a dropped SYN is seen by nobody); none for the others. Of a chat target
    /// each defect that was met.
    pub faults: BTreeMap<&'static str, u64>,
    /// What a chat target was asked for, by its name; none for the others.
    pub calls: BTreeMap<&'static str, u64>,
    /// Bytes handed to the kernel: heads, bodies, and whatever a fault sends.
    pub bytes_out: u64,
}

/// What is asked of a chat target.
#[derive(Debug, Clone, Copy)]
pub(crate) enum ChatCall {
    Chat,
    Agent,
    Retrieve,
}

const CALLS: [&str; 3] = ["chat", "agent", "retrieve"];

/// The counters of one thread.
#[derive(Debug, Default)]
pub(crate) struct ThreadCounts {
    pub(crate) connections: AtomicU64,
    pub(crate) requests: AtomicU64,
    pub(crate) answered: AtomicU64,
    pub(crate) faults: AtomicU64,
    pub(crate) bytes_out: AtomicU64,
    calls: [AtomicU64; CALLS.len()],
    defects: [AtomicU64; Defect::ALL.len()],
}

impl ThreadCounts {
    pub(crate) fn call(&self, call: ChatCall) {
        self.calls[call as usize].fetch_add(1, Relaxed);
    }

    pub(crate) fn defect(&self, defect: Defect) {
        self.defects[defect as usize].fetch_add(1, Relaxed);
    }
}

impl TargetCounts {
    /// The sum over the threads of a target with this fault.
    pub(crate) fn sum<'a>(
        tallies: impl Iterator<Item = &'a ThreadCounts>,
        fault: Option<Fault>,
    ) -> Self {
        let mut counts = TargetCounts::default();
        let mut faults = 0;
        for tally in tallies {
            counts.connections += tally.connections.load(Relaxed);
            counts.requests += tally.requests.load(Relaxed);
            counts.answered += tally.answered.load(Relaxed);
            counts.bytes_out += tally.bytes_out.load(Relaxed);
            faults += tally.faults.load(Relaxed);
            add(&mut counts.calls, CALLS.into_iter().zip(&tally.calls));
            let defects = Defect::ALL.iter().map(|defect| defect.name());
            add(&mut counts.faults, defects.zip(&tally.defects));
        }
        counts.faults.extend(fault.into_iter().map(|fault| (fault.name(), faults)));
        counts
    }
}

fn add<'a>(
    sums: &mut BTreeMap<&'static str, u64>,
    counters: impl Iterator<Item = (&'static str, &'a AtomicU64)>,
) {
    for (name, counter) in counters {
        let count = counter.load(Relaxed);
        if count > 0 {
            *sums.entry(name).or_default() += count;
        }
    }
}
