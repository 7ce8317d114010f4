//! The chunks of a stream as another tool counts them.

use net::Nanos;
use wire::{EventParts, Mark};

use crate::UNSET;

/// Stamps of one stream's events that count as chunks for one tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chunks {
    /// The number of the tool, by which its user knows it.
    pub tool: usize,
    /// An event with any of these is a chunk.
    counted: EventParts,
    /// A chunk with any of these is no mere reasoning.
    output: EventParts,
    /// The first chunk.
    pub first: Nanos,
    /// The second one.
    pub second: Nanos,
    /// The first one that is no reasoning.
    pub first_output: Nanos,
    /// The latest one.
    pub latest: Nanos,
    /// The latest event of any kind.
    pub latest_event: Nanos,
    /// The number of chunks.
    pub number: u64,
    /// Tokens so far, as the first chunk says that reports them.
    pub first_tokens: Option<u64>,
    /// Events with a text of length 0.
    pub empty_texts: u64,
    /// Whether a tool is called.
    pub has_tool: bool,
    gaps: Vec<Nanos>,
}

impl Chunks {
    /// Counts events with one of these parts, and takes those for output that have one of the others.
    #[must_use]
    pub fn new(tool: usize, counted: EventParts, output: EventParts) -> Self {
        Self {
            tool,
            counted,
            output,
            first: UNSET,
            second: UNSET,
            first_output: UNSET,
            latest: UNSET,
            latest_event: UNSET,
            number: 0,
            first_tokens: None,
            empty_texts: 0,
            has_tool: false,
            gaps: Vec::new(),
        }
    }

    /// Starts anew in place.
    pub(crate) fn restart(&mut self) {
        let mut gaps = std::mem::take(&mut self.gaps);
        gaps.clear();
        *self = Self { gaps, ..Self::new(self.tool, self.counted, self.output) };
    }

    pub(crate) fn take(&mut self, mark: &Mark<'_>, at: Nanos) {
        self.latest_event = at;
        self.empty_texts += u64::from(mark.parts.meets(EventParts::EMPTY));
        self.has_tool |= mark.parts.meets(EventParts::TOOL);
        if !mark.parts.meets(self.counted) {
            return;
        }
        self.number += 1;
        match self.number {
            1 => self.first = at,
            2 => self.second = at,
            _ => {}
        }
        if self.number > 1 {
            self.gaps.push(at.saturating_sub(self.latest));
        }
        if self.first_output == UNSET && mark.parts.meets(self.output) {
            self.first_output = at;
        }
        self.first_tokens = self.first_tokens.or(mark.usage.and_then(|usage| usage.output));
        self.latest = at;
    }

    /// The gaps since they were taken last.
    pub fn take_gaps(&mut self) -> std::vec::Drain<'_, Nanos> {
        self.gaps.drain(..)
    }
}
