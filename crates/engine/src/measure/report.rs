//! The report of a worker for one interval.

use client::{Multiplexing, Reason, Stamps, StreamObservation, UNSET};
use net::{Nanos, ThreadUsage};
use serde::{Deserialize, Serialize};

use super::metric::Metric;
use super::tally_pool::PooledTallies;
use super::websocket::WebSocketTally;
use crate::messages::Message;

/// The part of a run in which an interval lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Phase {
    /// Before the window.
    Warmup,
    /// The measured window.
    Measure,
    /// After the window, while open exchanges end.
    Drain,
    /// After the end.
    Over,
}

/// One interval of one worker.
#[derive(Debug, Serialize, Deserialize)]
pub struct Report {
    /// The number of the worker.
    pub worker: u32,
    /// The phase of the interval; [`Phase::Over`] is the last report of a worker.
    pub phase: Phase,
    /// Its number within the phase.
    pub number: u64,
    /// Its start.
    pub from: Nanos,
    /// Its end.
    pub to: Nanos,
    /// The counts of each request.
    pub tallies: PooledTallies,
    /// Attempts of the measured window that are still open at its end.
    pub in_flight: u64,
    /// All attempts that are open at its end, also those of the warm-up, if they are known.
    #[serde(default)]
    pub requests_open: Option<u64>,
    /// The worker's sockets.
    pub connections: Connections,
    /// What its connections of several exchanges did in the interval, if it has some.
    pub multiplexing: Option<Multiplexing>,
    /// What its connections of WebSocket did in the interval, if it has some.
    pub websocket: Option<Box<WebSocketTally>>,
    /// Processor time since the last interval.
    #[serde(with = "UsageForm")]
    pub usage: ThreadUsage,
    /// Unread bytes in its connections when the interval ended, estimated from some connections.
    pub receive_queue_bytes: u64,
    /// The first failures of each class.
    pub samples: Vec<Sample>,
    /// Every exchange that ended, if the plan has a log; frames have them as an attachment.
    #[serde(skip)]
    pub rows: Vec<ExchangeRow>,
    /// The texts of streams that ended well in the window, if the plan asks for them.
    #[serde(default)]
    pub texts: Vec<StreamText>,
    /// Whether a byte of the response to an open exchange was received.
    pub has_received: bool,
    /// Addresses to which no connection was ever opened, while one to another address was.
    pub unreachable_addresses: Vec<String>,
    /// Why the worker could not go on, if the machine failed.
    #[serde(default)]
    pub failure: Option<Message>,
    /// Users without a turn in the whole window, known once it is over: their request of the warm-up
    /// was not answered.
    pub starved: u64,
    /// The window as this worker sees it; its end may still come earlier.
    pub window: Option<(Nanos, Nanos)>,
    /// How long after the beginning of an interval the worker had its next turn, if it had none in it; else 0.
    #[serde(default)]
    pub absence: Nanos,
    /// The lags of a timer of the worker, if it has one; they show its health.
    #[serde(default)]
    pub lateness: Metric,
    /// The times from the end of a request until its greenlet continued, without waits for a core; its
    /// lag, if there are greenlets.
    #[serde(default)]
    pub waits: Metric,
}

#[cfg(any(test, feature = "invented-nodes"))]
impl Report {
    /// Returns a report of an interval of 100 ns in which nothing happened.
    pub(crate) fn empty(worker: u32, phase: Phase, number: u64) -> Self {
        Self {
            worker,
            phase,
            number,
            from: number * 100,
            to: number * 100 + 100,
            tallies: PooledTallies::default(),
            in_flight: 0,
            requests_open: None,
            connections: Connections::default(),
            multiplexing: None,
            websocket: None,
            usage: ThreadUsage::default(),
            receive_queue_bytes: 0,
            samples: Vec::new(),
            rows: Vec::new(),
            window: None,
            texts: Vec::new(),
            has_received: false,
            unreachable_addresses: Vec::new(),
            failure: None,
            starved: 0,
            absence: 0,
            lateness: Metric::default(),
            waits: Metric::default(),
        }
    }
}

/// [`ThreadUsage`] between processes.
#[derive(Serialize, Deserialize)]
#[serde(remote = "ThreadUsage")]
struct UsageForm {
    cpu_ns: Nanos,
    run_queue_ns: Nanos,
}

/// Connections of one worker.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Connections {
    /// Asked for by the plan.
    pub asked: u64,
    /// Open now.
    pub open: u64,
    /// The most that were open at once.
    pub open_max: u64,
    /// Established in all.
    pub opened: u64,
    /// Missing now, since this machine had no resources for them.
    pub short: u64,
    /// The most of them at once.
    pub short_max: u64,
    /// Connections whose servers have not confirmed that they have read all one-way messages.
    pub unconfirmed: u64,
    /// Connections that are left, but whose servers are to confirm that now.
    pub awaited: u64,
    /// Dials that failed for a reason of this machine, by [`Local`].
    pub local: Local,
}

/// Dials that failed for a reason of this machine, not of the target.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Local {
    /// EMFILE, ENFILE.
    pub no_descriptor: u64,
    /// EADDRNOTAVAIL.
    pub no_port: u64,
    /// ENOBUFS, ENOMEM.
    pub no_buffer: u64,
}

impl Local {
    /// Counts a reason if it is local.
    pub fn count(&mut self, reason: Reason) {
        match reason {
            Reason::ConnectNoDescriptor => self.no_descriptor += 1,
            Reason::ConnectNoPort => self.no_port += 1,
            Reason::ConnectNoBuffer => self.no_buffer += 1,
            _ => {}
        }
    }

    /// All of them.
    #[must_use]
    pub fn sum(&self) -> u64 {
        self.no_descriptor + self.no_port + self.no_buffer
    }
}

impl Connections {
    /// Adds another worker's.
    pub fn merge(&mut self, other: &Self) {
        self.asked += other.asked;
        self.open += other.open;
        self.open_max += other.open_max;
        self.opened += other.opened;
        self.short += other.short;
        self.short_max += other.short_max;
        self.awaited += other.awaited;
        self.unconfirmed += other.unconfirmed;
        self.local.no_descriptor += other.local.no_descriptor;
        self.local.no_port += other.local.no_port;
        self.local.no_buffer += other.local.no_buffer;
    }
}

/// A sample of a failed exchange.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sample {
    /// The name of the request.
    #[serde(default)]
    pub name: String,
    /// The class.
    pub class: String,
    /// The reason.
    pub reason: String,
    /// The reason in words.
    pub detail: String,
    /// When it ended, on the monotonic clock.
    pub at: Nanos,
    /// The status, if a head came.
    pub status: Option<u16>,
    /// The head of the response; secrets in it must be masked before it is stored.
    pub head: String,
    /// The first KB of the body.
    pub body: String,
}

/// A stream, for the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StreamRow {
    /// When the first event came, the first text, the last text, the end; `UNSET` if none did.
    pub stamps: [Nanos; 4],
    /// Events with text.
    pub texts: u64,
    /// Generated tokens by the server's count; `UNSET` without a count.
    pub tokens_out: u64,
}

impl StreamRow {
    /// Returns the row of a stream.
    #[must_use]
    pub fn of(seen: &StreamObservation) -> Self {
        Self {
            stamps: [seen.first_event, seen.first_text, seen.last_text, seen.end],
            texts: seen.texts,
            tokens_out: seen.usage.output.unwrap_or(UNSET),
        }
    }
}

/// The text of one stream, whose tokens are counted later.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StreamText {
    /// The row of its request.
    pub row: u16,
    /// The output; `thought` is the reasoning, `first` the first piece. All are escaped as in JSON.
    pub text: String,
    /// See `text`.
    pub thought: String,
    /// See `text`.
    pub first: String,
    /// Whether the text was cut.
    pub is_cut: bool,
    /// Whether a time for each token is defined: several reads, one response.
    pub is_spread: bool,
    /// From the first to the last text.
    pub span_ns: Nanos,
    /// Generated tokens whose text was streamed, by the server's count.
    pub tokens: Option<u64>,
    /// Whether it belongs to the measured window, and whether it ended within it.
    pub is_measured: bool,
    /// See `is_measured`.
    pub is_inside: bool,
}

/// One exchange, for the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExchangeRow {
    /// The number of the request.
    pub request: u32,
    /// Whether it belongs to the measured window.
    pub measured: bool,
    /// The time stamps.
    pub stamps: Stamps,
    /// Why it failed.
    pub failure: Option<Reason>,
    /// The status, if a final head came.
    pub status: Option<u16>,
    /// The stream, if it was one.
    pub stream: Option<StreamRow>,
}
