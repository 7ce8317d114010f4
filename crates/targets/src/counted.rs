//! A connection under hyper that counts the responses that were written.
//!
//! hyper reports when it has taken a response, not when the response was written. A [`Ledger`] notes the
//! responses that hyper has taken completely. When hyper flushes the connection and has nothing left to
//! write, the kernel has them. The rows of the log get their stamps here, too: after the read with the
//! request, and before the write with its response.

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

/// The responses of one connection that are not written.
#[derive(Debug)]
pub(crate) struct Ledger {
    tally: Arc<ThreadCounts>,
    /// Responses that hyper has taken and may not have written.
    taken: AtomicU64,
    truth: Option<OpenRows>,
    read_ns: AtomicU64,
}

/// Rows whose response has not been written.
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

    /// Returns when the latest bytes of requests were read; without a log, the present time.
    pub(crate) fn read_ns(&self) -> u64 {
        if self.truth.is_some() { self.read_ns.load(Relaxed) } else { clock::now_ns() }
    }

    /// Takes note that a request was read completely.
    pub(crate) fn read_request(&self) {
        self.tally.requests.fetch_add(1, Relaxed);
    }

    /// Takes note that hyper has the last byte of a response.
    pub(crate) fn took_answer(&self) {
        self.taken.fetch_add(1, Relaxed);
    }

    /// Takes the row of a response that hyper gets now; `sent_ns` is set when it is written.
    pub(crate) fn open_row(&self, row: Row) {
        if let Some(open) = &self.truth {
            open.rows.lock().unwrap_or_else(PoisonError::into_inner).push(row);
        }
    }

    /// Whether the time of reads is needed.
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

/// The byte stream of one connection, with its ledger.
#[derive(Debug)]
pub(crate) struct CountedStream {
    stream: TokioIo<TcpStream>,
    ledger: Arc<Ledger>,
    vectored: bool,
}

impl CountedStream {
    /// With `vectored`, hyper writes bodies without a copy; otherwise it copies them behind their head,
    /// which is faster for a few bytes.
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
