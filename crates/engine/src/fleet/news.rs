//! What the coordinator hears, from threads of its own process or from others.

use std::ops::Range;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

use net::Nanos;

use super::message::Figures;
use crate::measure::report::{Phase, Report};
use crate::messages::Message;

/// Something that the coordinator must know.
#[derive(Debug)]
pub(crate) enum News {
    /// An interval of a worker.
    Report(Box<Report>),
    /// What a process had used when it sent the report that comes next.
    Figures {
        /// Its number.
        process: u32,
        /// Where the report's interval lies.
        phase: Phase,
        /// That.
        figures: Figures,
    },
    /// A process that will not say more although its workers had not ended.
    Lost(Loss),
}

/// A process that ended before its load did.
#[derive(Debug)]
pub(crate) struct Loss {
    /// Its number.
    pub(crate) process: u32,
    /// Its workers.
    pub(crate) workers: Range<u32>,
    /// How it ended, such as `died (signal 9)`.
    pub(crate) end: Message,
    /// When that was seen.
    pub(crate) at: Nanos,
}

/// Where news comes from.
pub(crate) trait Inbox {
    /// The next news, if some comes in time.
    fn next(&self, patience: Duration) -> Result<News, RecvTimeoutError>;
}

impl Inbox for Receiver<Report> {
    fn next(&self, patience: Duration) -> Result<News, RecvTimeoutError> {
        self.recv_timeout(patience).map(|report| News::Report(Box::new(report)))
    }
}

impl Inbox for Receiver<News> {
    fn next(&self, patience: Duration) -> Result<News, RecvTimeoutError> {
        self.recv_timeout(patience)
    }
}
