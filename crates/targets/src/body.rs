//! The body of a response: all responses share one block of bytes, which is sent repeatedly.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use hyper::body::{Bytes, Frame, SizeHint};

use crate::counted::Ledger;

/// A body for hyper; its ledger notes when hyper has taken all of it.
#[derive(Debug)]
pub(crate) struct Body {
    block: Bytes,
    left: u64,
    frame: usize,
    chunked: bool,
    ledger: Arc<Ledger>,
}

impl Body {
    /// Creates a body of the block once, with a Content-Length.
    pub(crate) fn once(block: &Bytes, ledger: &Arc<Ledger>) -> Self {
        let left = block.len() as u64;
        Body::repeated(block, left, block.len(), false, ledger)
    }

    /// Creates a body of `size` bytes, in repetitions of the first `frame` bytes of the block.
    pub(crate) fn repeated(
        block: &Bytes,
        size: u64,
        frame: usize,
        chunked: bool,
        ledger: &Arc<Ledger>,
    ) -> Self {
        if size == 0 {
            ledger.took_answer();
        }
        Body { block: block.clone(), left: size, frame, chunked, ledger: Arc::clone(ledger) }
    }

    /// Returns the Content-Length, unless the body is chunked.
    pub(crate) fn length(&self) -> Option<u64> {
        (!self.chunked).then_some(self.left)
    }

    /// Returns the body of a response to HEAD, which is empty.
    pub(crate) fn left_out(mut self) -> Self {
        if self.left > 0 {
            self.left = 0;
            self.ledger.took_answer();
        }
        self
    }
}

impl hyper::body::Body for Body {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        if self.left == 0 {
            return Poll::Ready(None);
        }
        // A frame is at most a block, so it fits into usize.
        let bytes = self.left.min(self.frame as u64) as usize;
        self.left -= bytes as u64;
        if self.left == 0 {
            self.ledger.took_answer();
        }
        Poll::Ready(Some(Ok(Frame::data(self.block.slice(..bytes)))))
    }

    fn is_end_stream(&self) -> bool {
        self.left == 0
    }

    fn size_hint(&self) -> SizeHint {
        self.length().map_or_else(SizeHint::new, SizeHint::with_exact)
    }
}
