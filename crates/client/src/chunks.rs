//! When the pieces of a response came as `vllm bench serve` counts them: any event with a choice.

use net::Nanos;

use crate::UNSET;

/// Stamps of one stream's events with choices, those without text among them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chunks {
    /// The first.
    pub first: Nanos,
    /// The latest.
    pub latest: Nanos,
    gaps: Vec<Nanos>,
}

impl Default for Chunks {
    fn default() -> Self {
        Self { first: UNSET, latest: UNSET, gaps: Vec::new() }
    }
}

impl Chunks {
    /// Starts anew in place.
    pub(crate) fn restart(&mut self) {
        self.gaps.clear();
        (self.first, self.latest) = (UNSET, UNSET);
    }

    pub(crate) fn take(&mut self, at: Nanos) {
        if self.first == UNSET {
            self.first = at;
        } else {
            self.gaps.push(at.saturating_sub(self.latest));
        }
        self.latest = at;
    }

    /// The gaps since they were taken last.
    pub fn take_gaps(&mut self) -> std::vec::Drain<'_, Nanos> {
        self.gaps.drain(..)
    }
}
