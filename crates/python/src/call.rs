//! `Call`: one exchange of a greenlet, and what became of it.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use client::{Answer, Reason, Stamps, Ticket, UNSET};
use net::{Nanos, monotonic_ns};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};
use wire::Fields;

use crate::entry::Entry;
use crate::reactor::Shared;

/// What [`Call::outcome`] says of a call that is not over, and of one that needs a closer look.
const UNDER_WAY: i32 = -1;
const LOOK_CLOSER: i32 = 0;

/// Fields that an answer which can be taken as it is does not have.
const UNUSUAL: [&[u8]; 2] = [b"\nset-cookie:", b"\ncontent-encoding:"];

/// One exchange, held by who waits for it.
#[pyclass(frozen)]
pub(crate) struct Call {
    shared: Arc<Shared>,
    ticket: Ticket,
    pub(crate) state: Arc<CallState>,
}

/// What the reactor tells of it.
pub(crate) struct CallState {
    /// Whether its body is read piece by piece.
    pub(crate) streams: bool,
    /// Of its reactor: streams that broke of which nothing was reported.
    unreported: Arc<AtomicU64>,
    told: Mutex<Told>,
}

/// What became of it so far.
#[derive(Default)]
struct Told {
    /// Called when there is news.
    waiter: Option<Py<PyAny>>,
    status: u16,
    stamps: Option<Stamps>,
    head: Vec<u8>,
    /// Of the body, when it was over; of a stream, of what was not taken.
    body_length: usize,
    answer: Option<Box<Answer>>,
    /// What [`Call::outcome`] says once it is known.
    outcome: i32,
    /// When its greenlet ran again.
    resumed: Nanos,
    /// What Locust reported before it was over.
    entry: Option<Box<Entry>>,
    /// Whether Locust has reported it.
    is_booked: bool,
}

impl Call {
    pub(crate) fn new(shared: Arc<Shared>, ticket: Ticket, state: Arc<CallState>) -> Self {
        Self { shared, ticket, state }
    }
}

impl CallState {
    pub(crate) fn new(waiter: Py<PyAny>, streams: bool, unreported: Arc<AtomicU64>) -> Arc<Self> {
        let told = Told { waiter: Some(waiter), resumed: UNSET, ..Told::default() };
        Arc::new(Self { streams, unreported, told: Mutex::new(told) })
    }

    fn lock(&self) -> MutexGuard<'_, Told> {
        self.told.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The head of a stream has come.
    pub(crate) fn begin(&self, status: u16, head: Vec<u8>, stamps: Stamps) {
        let mut told = self.lock();
        (told.status, told.stamps, told.head) = (status, Some(stamps), head);
        told.outcome = told.judged();
    }

    /// It is over.
    pub(crate) fn end(&self, answer: Answer) {
        let mut told = self.lock();
        let mut answer = Box::new(answer);
        (told.status, told.stamps) = (answer.outcome.status.unwrap_or(0), Some(answer.stamps));
        if !answer.head.is_empty() {
            told.head = std::mem::take(&mut answer.head);
        }
        told.keep_head_alone();
        told.body_length = answer.body.len();
        told.outcome = if answer.outcome.failure.is_none() { told.judged() } else { LOOK_CLOSER };
        if let Some(entry) = told.entry.take() {
            entry.settle(answer.stamps.intended);
            entry.book(&mut answer, UNSET, true);
        }
        if self.is_broken(&answer) && !told.is_booked {
            self.unreported.fetch_add(1, Ordering::Relaxed);
        }
        told.answer = Some(answer);
    }

    /// Books what Locust reports of it, now or when it is over; false if it was reported before.
    pub(crate) fn book(&self, entry: Entry) -> bool {
        let mut told = self.lock();
        let resumed = told.resumed;
        if std::mem::replace(&mut told.is_booked, true) {
            return false;
        }
        match &mut told.answer {
            Some(answer) => {
                if self.is_broken(answer) {
                    self.unreported.fetch_sub(1, Ordering::Relaxed);
                }
                entry.book(answer, resumed, false);
            }
            None => {
                entry.await_end(told.intended());
                told.entry = Some(Box::new(entry));
            }
        }
        true
    }

    /// Whether it is a stream that ended in a failure after its head had come: until then its
    /// client reports that by itself.
    fn is_broken(&self, answer: &Answer) -> bool {
        self.streams && answer.outcome.failure.is_some() && answer.outcome.status.is_some()
    }

    /// Its greenlet is gone: what was reported of it has no end.
    fn abandon(&self) {
        let mut told = self.lock();
        told.waiter = None;
        if let Some(entry) = told.entry.take() {
            entry.settle(told.intended());
            entry.abandon(told.intended());
        }
    }

    /// What was not taken of a call that is over; none while it is under way.
    fn rest(&self) -> Option<Vec<u8>> {
        self.lock().answer.as_mut().map(|answer| std::mem::take(&mut answer.body))
    }

    /// Who waits, if anybody still does; it waits no more.
    pub(crate) fn unpark(&self) -> Option<Py<PyAny>> {
        self.lock().waiter.take()
    }
}

impl Told {
    /// When it was asked for.
    fn intended(&self) -> Nanos {
        self.stamps.map_or(UNSET, |stamps| stamps.intended)
    }

    /// The status, if the head says that the answer can be taken as it is.
    fn judged(&self) -> i32 {
        let is_plain = (200..300).contains(&self.status) && !is_unusual(&self.head);
        if is_plain { i32::from(self.status) } else { LOOK_CLOSER }
    }

    /// What was read with a head is body, which is kept elsewhere.
    fn keep_head_alone(&mut self) {
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
    /// The status of an answer that is complete, or a stream whose head is there, and that can be
    /// taken as it is; 0 where a closer look is needed, −1 before. The first look at a complete one
    /// stamps when the greenlet ran again.
    fn outcome(&self) -> i32 {
        let mut told = self.state.lock();
        if told.answer.is_some() {
            if told.resumed == UNSET {
                told.resumed = monotonic_ns();
            }
        } else if told.status == 0 {
            return UNDER_WAY;
        }
        told.outcome
    }

    /// Whether it has ended, in whatever way.
    #[getter]
    fn is_over(&self) -> bool {
        self.state.lock().answer.is_some()
    }

    /// The status; 0 where none came.
    #[getter]
    fn status(&self) -> u16 {
        self.state.lock().status
    }

    /// Why it failed, by the reason's name.
    #[getter]
    fn failure(&self) -> Option<&'static str> {
        let told = self.state.lock();
        told.answer.as_ref().and_then(|answer| answer.outcome.failure).map(Reason::name)
    }

    /// Whether its connection was reset.
    #[getter]
    fn was_reset(&self) -> bool {
        self.state.lock().answer.as_ref().is_some_and(|answer| answer.was_reset)
    }

    /// The reason of its failure in words.
    #[getter]
    fn detail(&self) -> Option<&'static str> {
        let told = self.state.lock();
        told.answer.as_ref().and_then(|answer| answer.outcome.failure).map(Reason::text)
    }

    /// The next piece of a stream, empty at its end; None where it must be waited for: then the
    /// waiter is called when there is news.
    fn piece<'py>(&self, py: Python<'py>, waiter: Py<PyAny>) -> Option<Bound<'py, PyBytes>> {
        let piece = match self.state.rest() {
            Some(rest) => rest,
            None => {
                let piece = self.shared.take(self.ticket);
                if piece.is_empty() {
                    // What ended it while it was asked is told like any other news.
                    self.state.lock().waiter = Some(waiter);
                    return None;
                }
                piece
            }
        };
        Some(PyBytes::new(py, &piece))
    }

    /// Closes its connection since its greenlet was interrupted: that is no end of the request.
    fn abandon(&self) {
        self.state.abandon();
        self.shared.cancel(self.ticket);
    }

    /// Closes its connection, if it is under way; nobody is woken any more.
    fn cancel(&self) {
        self.state.lock().waiter = None;
        self.shared.cancel(self.ticket);
    }

    /// The head: version (10, 11), status, reason, and the fields as texts of Latin-1.
    fn head<'py>(&self, py: Python<'py>) -> PyResult<(u8, u16, String, Bound<'py, PyList>)> {
        let told = self.state.lock();
        let head = Fields::read(&told.head).map_err(|_| PyValueError::new_err("no head came"))?;
        let fields: Vec<(String, String)> =
            head.fields.iter().map(|(name, value)| ((*name).to_owned(), latin1(value))).collect();
        let (version, status, reason) = (head.version, head.status, latin1(head.reason));
        // Making Python's objects may let go of others.
        drop(told);
        Ok((version, status, reason, PyList::new(py, fields)?))
    }

    /// All that was read of the head and with it, as it came.
    fn raw<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        let head = self.state.lock().head.clone();
        PyBytes::new(py, &head)
    }

    /// The body of a call that is over, the first time.
    fn body<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.state.rest().unwrap_or_default())
    }

    /// Bytes of the body that had not been taken when it was over.
    #[getter]
    fn body_length(&self) -> usize {
        self.state.lock().body_length
    }

    /// Nanoseconds on the monotonic clock: asked, sent, first byte, last byte, ran again; −1 where
    /// there is none.
    fn stamps(&self) -> [i64; 5] {
        let told = self.state.lock();
        let stamps = told.stamps.unwrap_or_else(|| Stamps::new(UNSET, UNSET));
        [stamps.intended, stamps.sent, stamps.first_byte, stamps.last_byte, told.resumed]
            .map(|stamp| if stamp == UNSET { -1 } else { stamp.cast_signed() })
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        if !self.is_over() {
            self.shared.let_go_of_call(self.ticket);
        }
    }
}

/// Whether a head has a field of those that need a closer look.
fn is_unusual(head: &[u8]) -> bool {
    UNUSUAL
        .iter()
        .any(|name| head.windows(name.len()).any(|window| window.eq_ignore_ascii_case(name)))
}

/// Bytes as the characters of the same numbers.
fn latin1(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| char::from(*byte)).collect()
}
