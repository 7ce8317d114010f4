//! What reading needs and no exchange keeps: one for all exchanges of a worker.

use wire::Heads;

/// A buffer for what comes, and the latest head.
#[derive(Debug)]
pub struct Scratch {
    /// Where the kernel copies to: the only copy, and it stays in the processor's cache.
    pub buffer: Box<[u8]>,
    /// The latest head of an answer.
    pub heads: Heads,
}

impl Scratch {
    /// A buffer of that size.
    #[must_use]
    pub fn new(bytes: usize) -> Self {
        Self { buffer: vec![0; bytes].into_boxed_slice(), heads: Heads::default() }
    }
}
