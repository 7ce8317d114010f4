//! Why a load did not start: whoever asked has to change something, or the machine has.

use std::fmt;

/// Why a load did not start, in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StartError {
    /// The plan asks for what cannot be.
    Plan(String),
    /// The machine did not give what it takes: threads, processes.
    Machine(String),
}

impl fmt::Display for StartError {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Self::Plan(text) | Self::Machine(text)) = self;
        to.write_str(text)
    }
}

impl std::error::Error for StartError {}
