//! What reading needs and no exchange keeps: one for all exchanges of a worker.

use net::Nanos;
use wire::Heads;

use crate::Ended;
use crate::budget::{Budget, WORKER_BYTES};

/// What is read so soon after the worker was woken was waited for.
const SOON_NS: Nanos = 100_000;

/// A buffer for what comes, and the latest head.
#[derive(Debug)]
pub struct Scratch {
    /// Where the kernel copies to: the only copy, and it stays in the processor's cache.
    pub buffer: Box<[u8]>,
    /// The latest head of an answer.
    pub heads: Heads,
    /// The memory that all exchanges may take together.
    pub budget: Budget,
    /// When the worker last woke after it had read all that had come.
    pub woken: Nanos,
    /// The exchanges that have ended, for the owner of their connection to take.
    pub ended: Vec<Ended>,
}

impl Scratch {
    /// A buffer of that size.
    #[must_use]
    pub fn new(bytes: usize) -> Self {
        Self {
            buffer: vec![0; bytes].into_boxed_slice(),
            heads: Heads::default(),
            budget: Budget::new(WORKER_BYTES),
            woken: 0,
            ended: Vec::new(),
        }
    }

    /// Whether what is read at `at` may have lain there while the worker was busy.
    #[must_use]
    pub fn is_late(&self, at: Nanos) -> bool {
        at.saturating_sub(self.woken) > SOON_NS
    }
}
