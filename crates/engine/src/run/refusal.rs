//! Why a load did not start: because of its plan, or because of the machine.

use std::fmt;

/// Why a load did not start, in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StartError {
    /// The plan cannot be carried out.
    Plan(String),
    /// The machine has no resources for it: threads, processes.
    Machine(String),
}

impl fmt::Display for StartError {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Self::Plan(text) | Self::Machine(text)) = self;
        to.write_str(text)
    }
}

impl std::error::Error for StartError {}
