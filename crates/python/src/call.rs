//! `Call`: one exchange of a greenlet.

use std::sync::Arc;

use client::{ExchangeId, Reason, UNSET};
use net::Epoll;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};
use wire::latin1;

/// The exchanges of greenlets; a waiter is called at the next event of its call.
pub(crate) type PyExchanges = locust::Exchanges<Py<PyAny>, Epoll>;

/// One exchange, owned by the greenlet that waits for it.
#[pyclass(frozen, name = "Call")]
pub(crate) struct PyCall {
    pub(crate) exchanges: Arc<PyExchanges>,
    pub(crate) id: ExchangeId,
    pub(crate) state: Arc<locust::CallState<Py<PyAny>>>,
}

#[pymethods]
impl PyCall {
    /// Returns the status of a plain answer, or of a stream with a plain head; 0 if it is not plain,
    /// −1 before. The first call after the end records when the greenlet was resumed.
    fn outcome(&self) -> i32 {
        self.state.outcome()
    }

    /// Returns whether the call has ended.
    #[getter]
    fn is_over(&self) -> bool {
        self.state.is_over()
    }

    /// Returns the status; 0 without one.
    #[getter]
    fn status(&self) -> u16 {
        self.state.status()
    }

    /// Returns the name of the error reason.
    #[getter]
    fn failure(&self) -> Option<&'static str> {
        self.state.failure().map(Reason::name)
    }

    /// Returns whether the connection was reset.
    #[getter]
    fn was_reset(&self) -> bool {
        self.state.was_reset()
    }

    /// Returns the description of the error reason.
    #[getter]
    fn detail(&self) -> Option<&'static str> {
        self.state.failure().map(Reason::text)
    }

    /// Returns the next piece of a stream, empty at its end; None if there is none yet: then the
    /// waiter is called at the next event.
    fn piece<'py>(&self, py: Python<'py>, waiter: Py<PyAny>) -> Option<Bound<'py, PyBytes>> {
        let piece = self.exchanges.piece(self.id, &self.state, waiter);
        piece.map(|piece| PyBytes::new(py, &piece))
    }

    /// Closes the connection of an interrupted greenlet; the request stays in flight.
    fn abandon(&self) {
        self.exchanges.abandon(self.id, &self.state);
    }

    /// Closes the connection of a running call; the waiter is not called.
    fn cancel(&self) {
        self.exchanges.cancel(self.id, &self.state);
    }

    /// Returns version (10 or 11), status, reason phrase, and the fields as Latin-1 text.
    fn head<'py>(&self, py: Python<'py>) -> PyResult<(u8, u16, String, Bound<'py, PyList>)> {
        let head = self.state.head().ok_or_else(|| PyValueError::new_err("no head came"))?;
        let fields = head.fields.iter().map(|(name, value)| (name, latin1(value)));
        let fields = PyList::new(py, fields.collect::<Vec<_>>())?;
        Ok((head.version, head.status, latin1(&head.reason), fields))
    }

    /// Returns the first received bytes of a response that failed.
    fn excerpt<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.state.excerpt())
    }

    /// Returns the body of a call that has ended; empty the second time.
    fn body<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.state.take_body().unwrap_or_default())
    }

    /// Returns the length of the body; of a stream, of the part that was not read at its end.
    #[getter]
    fn body_length(&self) -> usize {
        self.state.body_length()
    }

    /// Returns times in nanoseconds of the monotonic clock: intended, sent, first byte, last byte,
    /// resumed; −1 if there is none.
    fn stamps(&self) -> [i64; 5] {
        self.state.stamps().map(|stamp| if stamp == UNSET { -1 } else { stamp.cast_signed() })
    }
}

impl Drop for PyCall {
    fn drop(&mut self) {
        if !self.is_over() {
            self.exchanges.drop_call(self.id);
        }
    }
}
