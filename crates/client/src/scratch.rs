//! The state for reading that all exchanges of a worker share.

use net::Nanos;
use wire::Heads;

use crate::budget::{Budget, WORKER_BYTES};
use crate::{Ended, MessageCounts};

/// Bytes that are read within this time after a wake-up were not in the socket before.
const SOON_NS: Nanos = 100_000;

/// The shared state for reading.
#[derive(Debug)]
pub struct Scratch {
    /// The buffer of all reads, which stays in the cache of the processor.
    pub buffer: Box<[u8]>,
    /// The latest head of a response.
    pub heads: Heads,
    /// The memory that all exchanges may take together.
    pub budget: Budget,
    /// The time of the last wake-up after the worker had read all bytes.
    pub woken: Nanos,
    /// The exchanges that have ended, for the owner of their connection to take.
    pub ended: Vec<Ended>,
    /// What servers sent without being asked, for the owner of their connections to take.
    pub messages: MessageCounts,
}

impl Scratch {
    /// Creates it with a buffer of a size.
    #[must_use]
    pub fn new(bytes: usize) -> Self {
        Self {
            buffer: vec![0; bytes].into_boxed_slice(),
            heads: Heads::default(),
            budget: Budget::new(WORKER_BYTES),
            woken: 0,
            ended: Vec::new(),
            messages: MessageCounts::default(),
        }
    }

    /// Returns whether bytes that are read at `at` may have been in the socket while the worker was busy.
    #[must_use]
    pub fn is_late(&self, at: Nanos) -> bool {
        at.saturating_sub(self.woken) > SOON_NS
    }
}
