//! A connection under hyper that counts what really left.
//!
//! hyper says when it has taken an answer, not when the answer was written. So a [`Ledger`] notes
//! the answers that hyper has taken to their last byte, and when hyper flushes the connection with
//! nothing left to write, they have been handed to the kernel. Rows of the truth are stamped here
//! too: just after the read that brought the request, just before the write that carries its answer.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use hyper::rt::{Read, ReadBufCursor, Write};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;

use crate::clock;
use crate::counts::ThreadCounts;
use crate::truth::{Row, Truth};

/// What is open in the books of one connection.
#[derive(Debug)]
pub(crate) struct Ledger {
    tally: Arc<ThreadCounts>,
    /// Answers that hyper has taken and may not have written yet.
    taken: AtomicU64,
    truth: Option<OpenRows>,
    read_ns: AtomicU64,
}

/// Rows whose answer has not been written yet.
#[derive(Debug)]
struct OpenRows {
    truth: Arc<Truth>,
    rows: Mutex<Vec<Row>>,
}

impl Ledger {
    pub(crate) fn new(tally: Arc<ThreadCounts>, truth: Option<Arc<Truth>>) -> Self {
        let truth = truth.map(|truth| OpenRows { truth, rows: Mutex::default() });
        Ledger { tally, taken: AtomicU64::new(0), truth, read_ns: AtomicU64::new(0) }
    }

    /// When the latest bytes of requests were read, or now when no log wants to know it exactly.
    pub(crate) fn read_ns(&self) -> u64 {
        if self.truth.is_some() { self.read_ns.load(Relaxed) } else { clock::now_ns() }
    }

    /// A request was read to its end.
    pub(crate) fn read_request(&self) {
        self.tally.requests.fetch_add(1, Relaxed);
    }

    /// hyper has the last byte of an answer.
    pub(crate) fn took_answer(&self) {
        self.taken.fetch_add(1, Relaxed);
    }

    /// An answer is about to be given to hyper; its `sent_ns` is filled in when it leaves.
    pub(crate) fn open_row(&self, row: Row) {
        if let Some(open) = &self.truth {
            open.rows.lock().unwrap_or_else(PoisonError::into_inner).push(row);
        }
    }

    /// Only read when somebody wants to know it.
    fn stamp(&self) -> u64 {
        if self.truth.is_some() { clock::now_ns() } else { 0 }
    }

    fn wrote(&self, bytes: usize, sent_ns: u64) {
        self.tally.bytes_out.fetch_add(bytes as u64, Relaxed);
        let Some(open) = &self.truth else { return };
        let mut rows = open.rows.lock().unwrap_or_else(PoisonError::into_inner);
        for row in rows.drain(..) {
            open.truth.push(Row { sent_ns, ..row });
        }
    }

    fn flushed(&self) {
        if self.taken.load(Relaxed) != 0 {
            self.tally.answered.fetch_add(self.taken.swap(0, Relaxed), Relaxed);
        }
    }
}

/// The stream of one connection, with its ledger.
#[derive(Debug)]
pub(crate) struct CountedStream {
    stream: TokioIo<TcpStream>,
    ledger: Arc<Ledger>,
    vectored: bool,
}

impl CountedStream {
    /// With `vectored`, hyper writes bodies from where they are; else it copies them behind
    /// their head, which is cheaper for a few bytes.
    pub(crate) fn new(stream: TcpStream, ledger: Arc<Ledger>, vectored: bool) -> Self {
        CountedStream { stream: TokioIo::new(stream), ledger, vectored }
    }

    fn count(&self, wrote: Poll<io::Result<usize>>, stamp_ns: u64) -> Poll<io::Result<usize>> {
        if let Poll::Ready(Ok(bytes)) = wrote {
            self.ledger.wrote(bytes, stamp_ns);
        }
        wrote
    }
}

impl Read for CountedStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        let read = Pin::new(&mut self.stream).poll_read(cx, buffer);
        if read.is_ready() && self.ledger.truth.is_some() {
            self.ledger.read_ns.store(clock::now_ns(), Relaxed);
        }
        read
    }
}

impl Write for CountedStream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let stamp_ns = self.ledger.stamp();
        let wrote = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.count(wrote, stamp_ns)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        intervals: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let stamp_ns = self.ledger.stamp();
        let wrote = Pin::new(&mut self.stream).poll_write_vectored(cx, intervals);
        self.count(wrote, stamp_ns)
    }

    fn is_write_vectored(&self) -> bool {
        self.vectored
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.ledger.flushed();
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
