//! Sends bodies of a given size from one block in memory.

use std::sync::Arc;

use hyper::body::Bytes;
use hyper::header::HeaderValue;

use crate::BytesSpec;
use crate::body::Body;
use crate::counted::Ledger;
use crate::http::Site;

const CHUNK_BYTES: usize = 16 * 1024;
const BLOCK_BYTES: usize = 64 * CHUNK_BYTES;
/// Byte i of a body is letter i mod 16. A block and a chunk have a whole number of periods, so that a body
/// in pieces equals one that is sent at once.
const LETTERS: &[u8; 16] = b"abcdefghijklmnop";

/// Below this size, hyper copies the body behind its head, which is faster.
const VECTORED_BYTES: u64 = 4 * 1024;

/// The body of all responses.
#[derive(Debug)]
pub(crate) struct Block {
    block: Bytes,
    size: u64,
    frame: usize,
    chunked: bool,
}

impl Block {
    pub(crate) fn new(spec: &BytesSpec) -> Self {
        let (size, chunked) = (spec.size, spec.chunked);
        let bytes = size.min(BLOCK_BYTES as u64) as usize;
        let block: Bytes = LETTERS.iter().copied().cycle().take(bytes).collect();
        let frame = if chunked { CHUNK_BYTES } else { BLOCK_BYTES };
        Block { block, size, frame, chunked }
    }
}

impl Site for Block {
    fn vectored(&self) -> bool {
        self.size >= VECTORED_BYTES
    }

    async fn answer(&self, ledger: &Arc<Ledger>) -> (HeaderValue, Body) {
        let body = Body::repeated(&self.block, self.size, self.frame, self.chunked, ledger);
        (HeaderValue::from_static("application/octet-stream"), body)
    }
}
