//! The log of the truth: when a target received what, and when it sent the answer.
//!
//! One CSV row an answer, in the order of sending, written by a thread of its own ten times a
//! second: the serving path only pushes a row. Requests whose client left have no row.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

const PERIOD: Duration = Duration::from_millis(100);

/// One answer. Stamps are CLOCK_MONOTONIC in nanoseconds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Row {
    /// When the last bytes of the request had been read.
    pub(crate) received_ns: u64,
    /// When the answer was due: received + queued + delay.
    pub(crate) planned_ns: u64,
    /// Just before the write that carried the answer.
    pub(crate) sent_ns: u64,
    /// The delay that was drawn.
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

/// Where serving threads leave their rows.
#[derive(Debug)]
pub(crate) struct Truth<R = Row> {
    rows: Mutex<Vec<R>>,
    over: AtomicBool,
}

/// The thread that writes them down.
#[derive(Debug)]
pub(crate) struct Writer {
    over: Arc<dyn Over>,
    thread: JoinHandle<io::Result<()>>,
}

/// What can be told that nothing more will come.
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
    /// Creates the file, overwriting an old one; gives where rows are left too.
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

    /// Writes what is left; to be called when nothing is served any more. Returns the first error
    /// met since the start.
    pub(crate) fn finish(self) -> io::Result<()> {
        self.over.end();
        self.thread.thread().unpark();
        self.thread.join().unwrap_or_else(|_| Err(io::Error::other("the log's writer panicked")))
    }
}

/// Goes on taking rows after an error, so that they do not pile up.
fn write<R: LogLine>(truth: &Truth<R>, mut file: BufWriter<File>) -> io::Result<()> {
    net::be_patient();
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
