//! `Call`: one exchange of a greenlet.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use client::{Answer, ExchangeId, Reason, Stamps, UNSET};
use net::{Nanos, monotonic_ns};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};
use wire::Fields;

use crate::locust_report::LocustReport;
use crate::reactor::Shared;

/// Results of [`Call::outcome`]: the call has not ended; its answer is not plain.
const UNDER_WAY: i32 = -1;
const NOT_PLAIN: i32 = 0;

/// Fields that a plain answer does not have.
const NOT_PLAIN_FIELDS: [&[u8]; 2] = [b"\nset-cookie:", b"\ncontent-encoding:"];

/// One exchange, owned by the greenlet that waits for it.
#[pyclass(frozen)]
pub(crate) struct Call {
    shared: Arc<Shared>,
    id: ExchangeId,
    pub(crate) state: Arc<CallState>,
}

/// The state of a call, which the reactor updates.
pub(crate) struct CallState {
    /// Whether its body is read piece by piece.
    pub(crate) streams: bool,
    /// The reactor's number of broken streams that Locust has not reported.
    unreported_streams: Arc<AtomicU64>,
    progress: Mutex<Progress>,
}

/// The progress of a call.
#[derive(Default)]
struct Progress {
    /// Called at the next event.
    waiter: Option<Py<PyAny>>,
    status: u16,
    stamps: Option<Stamps>,
    head: Vec<u8>,
    /// The length of the body at the end; of a stream, of the part that was not read.
    body_length: usize,
    answer: Option<Box<Answer>>,
    /// The result of [`Call::outcome`] after the head.
    outcome: i32,
    /// When the greenlet was resumed.
    resumed: Nanos,
    /// The report of Locust, if it came before the end.
    pending: Option<Box<LocustReport>>,
    /// Whether Locust has reported it.
    is_reported: bool,
}

impl Call {
    pub(crate) fn new(shared: Arc<Shared>, id: ExchangeId, state: Arc<CallState>) -> Self {
        Self { shared, id, state }
    }
}

impl CallState {
    pub(crate) fn new(
        waiter: Py<PyAny>,
        streams: bool,
        unreported_streams: Arc<AtomicU64>,
    ) -> Arc<Self> {
        let progress = Progress { waiter: Some(waiter), resumed: UNSET, ..Progress::default() };
        Arc::new(Self { streams, unreported_streams, progress: Mutex::new(progress) })
    }

    fn lock(&self) -> MutexGuard<'_, Progress> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records the head of a stream.
    pub(crate) fn begin(&self, status: u16, head: Vec<u8>, stamps: Stamps) {
        let mut progress = self.lock();
        (progress.status, progress.stamps, progress.head) = (status, Some(stamps), head);
        progress.outcome = progress.plain_status();
    }

    /// Records the end.
    pub(crate) fn end(&self, answer: Answer) {
        let mut progress = self.lock();
        let mut answer = Box::new(answer);
        (progress.status, progress.stamps) =
            (answer.outcome.status.unwrap_or(0), Some(answer.stamps));
        if !answer.head.is_empty() {
            progress.head = std::mem::take(&mut answer.head);
        }
        progress.truncate_head();
        progress.body_length = answer.body.len();
        progress.outcome =
            if answer.outcome.failure.is_none() { progress.plain_status() } else { NOT_PLAIN };
        if let Some(pending) = progress.pending.take() {
            pending.remove_open_request(answer.stamps.intended);
            pending.record(&mut answer, UNSET, true);
        }
        if self.is_broken(&answer) && !progress.is_reported {
            self.unreported_streams.fetch_add(1, Ordering::Relaxed);
        }
        progress.answer = Some(answer);
    }

    /// Counts the report of Locust, now or at the end; returns false if there was one before.
    pub(crate) fn report(&self, pending: LocustReport) -> bool {
        let mut progress = self.lock();
        let resumed = progress.resumed;
        if std::mem::replace(&mut progress.is_reported, true) {
            return false;
        }
        match &mut progress.answer {
            Some(answer) => {
                if self.is_broken(answer) {
                    self.unreported_streams.fetch_sub(1, Ordering::Relaxed);
                }
                pending.record(answer, resumed, false);
            }
            None => {
                pending.record_open_request(progress.intended());
                progress.pending = Some(Box::new(pending));
            }
        }
        true
    }

    /// Returns whether a stream failed after its head. Locust's client reports earlier failures
    /// itself.
    fn is_broken(&self, answer: &Answer) -> bool {
        self.streams && answer.outcome.failure.is_some() && answer.outcome.status.is_some()
    }

    /// Records that the greenlet was interrupted: a reported request stays in flight.
    fn abandon(&self) {
        let mut progress = self.lock();
        progress.waiter = None;
        if let Some(pending) = progress.pending.take() {
            pending.remove_open_request(progress.intended());
            pending.abandon(progress.intended());
        }
    }

    /// Returns the unread body of a call that has ended; none while it is running.
    fn take_body(&self) -> Option<Vec<u8>> {
        self.lock().answer.as_mut().map(|answer| std::mem::take(&mut answer.body))
    }

    /// Removes and returns the waiter.
    pub(crate) fn take_waiter(&self) -> Option<Py<PyAny>> {
        self.lock().waiter.take()
    }
}

impl Progress {
    /// Returns the intended send time.
    fn intended(&self) -> Nanos {
        self.stamps.map_or(UNSET, |stamps| stamps.intended)
    }

    /// Returns the status of a plain answer, else `NOT_PLAIN`.
    fn plain_status(&self) -> i32 {
        let is_plain = (200..300).contains(&self.status) && !is_not_plain(&self.head);
        if is_plain { i32::from(self.status) } else { NOT_PLAIN }
    }

    /// Removes the bytes after the head, which belong to the body.
    fn truncate_head(&mut self) {
        const END: &[u8] = b"\r\n\r\n";
        // Heads before the final one are rare.
        let is_final = !self.head.starts_with(b"HTTP/1.1 1");
        let end = self.head.windows(END.len()).position(|window| window == END);
        if let Some(end) = end.filter(|_| is_final) {
            self.head.truncate(end + END.len());
            self.head.shrink_to_fit();
        }
    }
}

#[pymethods]
impl Call {
    /// Returns the status of a plain answer, or of a stream with a plain head; 0 if it is not plain,
    /// −1 before. The first call after the end records when the greenlet was resumed.
    fn outcome(&self) -> i32 {
        let mut progress = self.state.lock();
        if progress.answer.is_some() {
            if progress.resumed == UNSET {
                progress.resumed = monotonic_ns();
            }
        } else if progress.status == 0 {
            return UNDER_WAY;
        }
        progress.outcome
    }

    /// Returns whether the call has ended.
    #[getter]
    fn is_over(&self) -> bool {
        self.state.lock().answer.is_some()
    }

    /// Returns the status; 0 without one.
    #[getter]
    fn status(&self) -> u16 {
        self.state.lock().status
    }

    /// Returns the name of the error reason.
    #[getter]
    fn failure(&self) -> Option<&'static str> {
        let progress = self.state.lock();
        progress.answer.as_ref().and_then(|answer| answer.outcome.failure).map(Reason::name)
    }

    /// Returns whether the connection was reset.
    #[getter]
    fn was_reset(&self) -> bool {
        self.state.lock().answer.as_ref().is_some_and(|answer| answer.was_reset)
    }

    /// Returns the description of the error reason.
    #[getter]
    fn detail(&self) -> Option<&'static str> {
        let progress = self.state.lock();
        progress.answer.as_ref().and_then(|answer| answer.outcome.failure).map(Reason::text)
    }

    /// Returns the next piece of a stream, empty at its end; None if there is none yet: then the
    /// waiter is called at the next event.
    fn piece<'py>(&self, py: Python<'py>, waiter: Py<PyAny>) -> Option<Bound<'py, PyBytes>> {
        let piece = match self.state.take_body() {
            Some(rest) => rest,
            None => {
                let piece = self.shared.take(self.id);
                if piece.is_empty() {
                    // If the stream ended in `take`, its event follows.
                    self.state.lock().waiter = Some(waiter);
                    return None;
                }
                piece
            }
        };
        Some(PyBytes::new(py, &piece))
    }

    /// Closes the connection of an interrupted greenlet; the request stays in flight.
    fn abandon(&self) {
        self.state.abandon();
        self.shared.cancel(self.id);
    }

    /// Closes the connection of a running call; the waiter is not called.
    fn cancel(&self) {
        self.state.lock().waiter = None;
        self.shared.cancel(self.id);
    }

    /// Returns version (10 or 11), status, reason phrase, and the fields as Latin-1 text.
    fn head<'py>(&self, py: Python<'py>) -> PyResult<(u8, u16, String, Bound<'py, PyList>)> {
        let progress = self.state.lock();
        let head =
            Fields::read(&progress.head).map_err(|_| PyValueError::new_err("no head came"))?;
        let fields: Vec<(String, String)> =
            head.fields.iter().map(|(name, value)| ((*name).to_owned(), latin1(value))).collect();
        let (version, status, reason) = (head.version, head.status, latin1(head.reason));
        // Creating Python objects may drop other calls, which take the lock.
        drop(progress);
        Ok((version, status, reason, PyList::new(py, fields)?))
    }

    /// Returns the bytes of the head, and those that were read with it.
    fn raw<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        let head = self.state.lock().head.clone();
        PyBytes::new(py, &head)
    }

    /// Returns the body of a call that has ended; empty the second time.
    fn body<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.state.take_body().unwrap_or_default())
    }

    /// Returns the length of the body; of a stream, of the part that was not read at its end.
    #[getter]
    fn body_length(&self) -> usize {
        self.state.lock().body_length
    }

    /// Returns times in nanoseconds of the monotonic clock: intended, sent, first byte, last byte,
    /// resumed; −1 if there is none.
    fn stamps(&self) -> [i64; 5] {
        let progress = self.state.lock();
        let stamps = progress.stamps.unwrap_or_else(|| Stamps::new(UNSET, UNSET));
        [stamps.intended, stamps.sent, stamps.first_byte, stamps.last_byte, progress.resumed]
            .map(|stamp| if stamp == UNSET { -1 } else { stamp.cast_signed() })
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        if !self.is_over() {
            self.shared.drop_call(self.id);
        }
    }
}

/// Returns whether a head has one of the fields that a plain answer does not have.
fn is_not_plain(head: &[u8]) -> bool {
    NOT_PLAIN_FIELDS
        .iter()
        .any(|name| head.windows(name.len()).any(|window| window.eq_ignore_ascii_case(name)))
}

/// Decodes Latin-1.
fn latin1(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| char::from(*byte)).collect()
}
