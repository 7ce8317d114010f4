//! Exact counts of a target, with which the counts of a client must agree.
//!
//! Each thread has its own [`ThreadCounts`], so that they share no cache line; they are added when they
//! are read.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use serde::Serialize;

use crate::{Defect, Fault};

/// The counts of a target since its start. While it runs, they may lack events of this moment; after it
/// has stopped, they are exact.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct TargetCounts {
    /// Accepted connections, without those in the accept queue of the kernel.
    pub connections: u64,
    /// Requests, or messages of WebSocket, that were read completely, without malformed and truncated ones, and without those after
    /// a fault that stops reading.
    pub requests: u64,
    /// Complete and legal responses whose last byte the kernel has: all of hello, delay and bytes, and
    /// those of faulty without a fault or with one that [answers](Fault::answers). Whether the client has
    /// read them is unknown here.
    pub answered: u64,
    /// Requests with the fault, by its name: one entry for a faulty target, even if it is 0 (`no_accept`
    /// stays 0, because no process notices a dropped SYN), and each defect of a chat target; no entry for
    /// other targets.
    pub faults: BTreeMap<&'static str, u64>,
    /// Requests to a chat target, by their kind; no entry for other targets.
    pub calls: BTreeMap<&'static str, u64>,
    /// Requests to a chat target, by their end; no entry for other targets. After the target has stopped,
    /// their sum is `requests`: `ok`, `refused` (a status of 400 or 404), `fault`, `cancelled` (the client
    /// closed the connection before) and `stopped` (the target stopped before).
    pub ends: BTreeMap<&'static str, u64>,
    /// Bytes that were written: heads, bodies, and those of faults.
    pub bytes_out: u64,
}

/// The kinds of requests to a chat target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ChatCall {
    Chat,
    Agent,
    Retrieve,
    Completion,
    Response,
    Message,
    Embedding,
    Rerank,
    Tokenize,
    Metrics,
    /// Paths of health and models, and requests that are refused.
    Other,
}

const CALLS: [&str; 11] = [
    "chat",
    "agent",
    "retrieve",
    "completion",
    "response",
    "message",
    "embedding",
    "rerank",
    "tokenize",
    "metrics",
    "other",
];

/// How a request to a chat target ended.
#[derive(Debug, Clone, Copy)]
pub(crate) enum ChatEnd {
    Ok,
    Refused,
    Fault,
    Cancelled,
    Stopped,
}

const CHAT_ENDS: [&str; 5] = ["ok", "refused", "fault", "cancelled", "stopped"];

/// The counters of one thread.
#[derive(Debug, Default)]
pub(crate) struct ThreadCounts {
    pub(crate) connections: AtomicU64,
    pub(crate) requests: AtomicU64,
    pub(crate) answered: AtomicU64,
    pub(crate) faults: AtomicU64,
    pub(crate) bytes_out: AtomicU64,
    calls: [AtomicU64; CALLS.len()],
    ends: [AtomicU64; CHAT_ENDS.len()],
    defects: [AtomicU64; Defect::ALL.len()],
}

impl ThreadCounts {
    pub(crate) fn call(&self, call: ChatCall) {
        self.calls[call as usize].fetch_add(1, Relaxed);
    }

    pub(crate) fn end(&self, end: ChatEnd) {
        self.ends[end as usize].fetch_add(1, Relaxed);
    }

    pub(crate) fn defect(&self, defect: Defect) {
        self.defects[defect as usize].fetch_add(1, Relaxed);
    }
}

impl TargetCounts {
    /// Returns the sum over the threads of a target with this fault.
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
            add(&mut counts.ends, CHAT_ENDS.into_iter().zip(&tally.ends));
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
