//! The log of a target: when it received each request, and when it sent the response.
//!
//! It has one CSV row per response, in the order of sending. A thread of its own writes them ten times a
//! second, so that serving threads only push a row. Requests whose client closed the connection have no
//! row.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

const PERIOD: Duration = Duration::from_millis(100);

/// A response. Stamps are CLOCK_MONOTONIC in nanoseconds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Row {
    /// When the last bytes of the request had been read.
    pub(crate) received_ns: u64,
    /// When the response was due: received + queued + delay.
    pub(crate) planned_ns: u64,
    /// Before the write with the response.
    pub(crate) sent_ns: u64,
    /// The random delay.
    pub(crate) delay_ns: u64,
    /// How long the request waited for a place.
    pub(crate) queued_ns: u64,
}

/// One line of a log.
pub(crate) trait LogLine: Send + Sync + 'static {
    /// The names of its columns.
    const HEADER: &str;

    /// Writes it, with its line end.
    fn write(&self, file: &mut impl Write) -> io::Result<()>;
}

/// Takes the rows of serving threads.
#[derive(Debug)]
pub(crate) struct Truth<R = Row> {
    rows: Mutex<Vec<R>>,
    over: AtomicBool,
}

/// The thread that writes them.
#[derive(Debug)]
pub(crate) struct Writer {
    over: Arc<dyn Over>,
    thread: JoinHandle<io::Result<()>>,
}

/// A log that can be closed.
trait Over: Send + Sync + std::fmt::Debug {
    fn end(&self);
}

impl<R: LogLine + std::fmt::Debug> Over for Truth<R> {
    fn end(&self) {
        self.over.store(true, Ordering::Release);
    }
}

impl<R> Truth<R> {
    pub(crate) fn push(&self, row: R) {
        self.rows.lock().unwrap_or_else(PoisonError::into_inner).push(row);
    }

    fn take(&self) -> Vec<R> {
        std::mem::take(&mut *self.rows.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Writer {
    /// Creates the file, or replaces an old one; returns what takes the rows, too.
    pub(crate) fn start<R>(path: &Path) -> io::Result<(Self, Arc<Truth<R>>)>
    where
        R: LogLine + std::fmt::Debug,
    {
        let file = File::create(path).map_err(|error| {
            io::Error::new(error.kind(), format!("log {}: {error}", path.display()))
        })?;
        let truth = Arc::new(Truth { rows: Mutex::default(), over: AtomicBool::new(false) });
        let source = Arc::clone(&truth);
        let thread = thread::Builder::new()
            .name("target-truth".to_owned())
            .spawn(move || write(&source, BufWriter::new(file)))?;
        let over: Arc<dyn Over> = Arc::<Truth<R>>::clone(&truth);
        Ok((Writer { over, thread }, truth))
    }

    /// Writes the remaining rows, after serving has ended. Returns the first error since the start.
    pub(crate) fn finish(self) -> io::Result<()> {
        self.over.end();
        self.thread.thread().unpark();
        self.thread.join().unwrap_or_else(|_| Err(io::Error::other("the log's writer panicked")))
    }
}

/// Takes rows after an error, too, so that they do not take memory.
fn write<R: LogLine>(truth: &Truth<R>, mut file: BufWriter<File>) -> io::Result<()> {
    net::lower_priority();
    let mut result = writeln!(file, "{}", R::HEADER);
    loop {
        let over = truth.over.load(Ordering::Acquire);
        let rows = truth.take();
        result = result.and_then(|()| rows.iter().try_for_each(|row| row.write(&mut file)));
        if over {
            return result.and_then(|()| file.flush());
        }
        thread::park_timeout(PERIOD);
    }
}

impl LogLine for Row {
    const HEADER: &str = "received_ns,planned_ns,sent_ns,delay_ns,queued_ns";

    fn write(&self, file: &mut impl Write) -> io::Result<()> {
        let Row { received_ns, planned_ns, sent_ns, delay_ns, queued_ns } = self;
        writeln!(file, "{received_ns},{planned_ns},{sent_ns},{delay_ns},{queued_ns}")
    }
}
