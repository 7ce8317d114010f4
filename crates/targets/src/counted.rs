//! A connection under hyper that counts the responses that were written.
//!
//! hyper reports when it has taken a response, not when the response was written. Over HTTP/1.1, a
//! [`Ledger`] notes the responses that hyper has taken completely; when hyper flushes the connection and has
//! nothing left to write, the kernel has them. Over HTTP/2, flow control may hold responses back, so the
//! frames that end a response are counted as they are written. The rows of the log get their stamps here,
//! too: after the read with the request, and before the write with its response.

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
use crate::frames::WrittenFrames;
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

    /// Takes note that the kernel has so many whole responses.
    fn answered(&self, responses: u64) {
        if responses != 0 {
            self.tally.answered.fetch_add(responses, Relaxed);
        }
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
            self.answered(self.taken.swap(0, Relaxed));
        }
    }
}

/// The byte stream of one connection, with its ledger.
#[derive(Debug)]
pub(crate) struct CountedStream {
    stream: TokioIo<TcpStream>,
    ledger: Arc<Ledger>,
    vectored: bool,
    written: Written,
}

/// What was written to a connection.
#[derive(Debug)]
enum Written {
    Nothing,
    Http1,
    Http2(WrittenFrames),
}

impl CountedStream {
    /// With `vectored`, hyper writes bodies without a copy; otherwise it copies them behind their head,
    /// which is faster for a few bytes.
    pub(crate) fn new(stream: TcpStream, ledger: Arc<Ledger>, vectored: bool) -> Self {
        let written = Written::Nothing;
        CountedStream { stream: TokioIo::new(stream), ledger, vectored, written }
    }

    /// Counts what was written of these slices, since `stamp_ns`.
    fn count<'a>(
        &mut self,
        wrote: Poll<io::Result<usize>>,
        slices: impl Iterator<Item = &'a [u8]>,
        stamp_ns: u64,
    ) -> Poll<io::Result<usize>> {
        if let Poll::Ready(Ok(bytes)) = wrote {
            self.ledger.wrote(bytes, stamp_ns);
            let mut left = bytes;
            for slice in slices {
                let part = &slice[..left.min(slice.len())];
                left -= part.len();
                self.written.add(part, &self.ledger);
            }
        }
        wrote
    }
}

impl Written {
    /// Takes bytes that follow. The frame with which HTTP/2 begins has less than 64 KiB, so that its first
    /// byte is 0; HTTP/1.1 begins with a letter.
    fn add(&mut self, bytes: &[u8], ledger: &Ledger) {
        if let (Written::Nothing, Some(first)) = (&self, bytes.first()) {
            let is_http2 = *first == 0;
            *self =
                if is_http2 { Written::Http2(WrittenFrames::default()) } else { Written::Http1 };
        }
        if let Written::Http2(frames) = self {
            ledger.answered(frames.add(bytes));
        }
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
        self.count(wrote, std::iter::once(bytes), stamp_ns)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        intervals: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let stamp_ns = self.ledger.stamp();
        let wrote = Pin::new(&mut self.stream).poll_write_vectored(cx, intervals);
        self.count(wrote, intervals.iter().map(|slice| &**slice), stamp_ns)
    }

    fn is_write_vectored(&self) -> bool {
        self.vectored
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if matches!(self.written, Written::Http1) {
            self.ledger.flushed();
        }
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
