//! Why a load did not start: because of its plan, of the machine, or of a server.

use std::fmt;

use client::Reason;

/// Why a load did not start, in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StartError {
    /// The plan cannot be carried out.
    Plan(String),
    /// The machine has no resources for it: threads, processes.
    Machine(String),
    /// A server did not say which version of HTTP it speaks, for this reason.
    Unanswered(String, Reason),
}

impl fmt::Display for StartError {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Plan(text) | Self::Machine(text) => to.write_str(text),
            Self::Unanswered(server, reason) => write!(to, "{server}: {}", reason.text()),
        }
    }
}

impl std::error::Error for StartError {}
