//! The events that the coordinator receives, from threads of its own process or from child processes.

use std::ops::Range;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

use net::Nanos;

use super::message::Figures;
use crate::measure::report::{Phase, Report};
use crate::measure::summary::NodeClock;
use crate::messages::Message;

/// An event for the coordinator.
#[derive(Debug)]
pub(crate) enum FleetEvent {
    /// An interval of a worker.
    Report(Box<Report>),
    /// The usage of a process when it sent the report that comes next.
    Figures {
        /// Its number.
        process: u32,
        /// The phase of the report.
        phase: Phase,
        /// The usage.
        figures: Figures,
    },
    /// What is known now of the clock of a process, if it has another one.
    Clock {
        /// Its number.
        process: u32,
        /// The clock.
        clock: NodeClock,
    },
    /// A process that is lost.
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
    /// When this was noticed.
    pub(crate) at: Nanos,
}

/// A source of events.
pub(crate) trait Inbox {
    /// Returns the next event, if one comes in time.
    fn next(&self, timeout: Duration) -> Result<FleetEvent, RecvTimeoutError>;
}

impl Inbox for Receiver<Report> {
    fn next(&self, timeout: Duration) -> Result<FleetEvent, RecvTimeoutError> {
        self.recv_timeout(timeout).map(|report| FleetEvent::Report(Box::new(report)))
    }
}

impl Inbox for Receiver<FleetEvent> {
    fn next(&self, timeout: Duration) -> Result<FleetEvent, RecvTimeoutError> {
        self.recv_timeout(timeout)
    }
}
