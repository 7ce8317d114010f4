//! `Reactor`, `ConnectionPool`: the exchanges of greenlets, on the event loop of gevent.

use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsFd, AsRawFd};
use std::path::PathBuf;
use std::sync::Arc;

use client::{Destination, ExchangeRequest, PoolId, Timeouts};
use net::{Address, Epoll, Nanos, TlsClient, TlsOptions, monotonic_ns};
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;

use crate::call::{PyCall, PyExchanges};

/// Flags of a request: its response has no body; its body is read piece by piece.
const IS_HEAD: u8 = 1;
const STREAMS: u8 = 2;

/// The connections of one thread; call `poll` when its descriptor is ready.
#[pyclass(frozen, name = "Reactor")]
pub(crate) struct PyReactor {
    exchanges: Arc<PyExchanges>,
    fd: i32,
}

#[pymethods]
impl PyReactor {
    #[new]
    fn new() -> PyResult<Self> {
        let driver = Epoll::new().map_err(no_reactor)?;
        let fd = driver.as_fd().as_raw_fd();
        // If the timer cannot be set, deadlines are checked at the next event.
        let exchanges = PyExchanges::new(driver, |driver, at| drop(driver.wake_at(at)));
        Ok(Self { exchanges: Arc::new(exchanges), fd })
    }

    fn fileno(&self) -> i32 {
        self.fd
    }

    /// Returns the number of broken streams that Locust has not reported.
    #[getter]
    fn unreported_streams(&self) -> u64 {
        self.exchanges.unreported_streams()
    }

    /// Returns a connection pool for a list of addresses, which are tried in this order.
    #[pyo3(signature = (addresses, tls=None, connect=None, max_idle=10))]
    fn connection_pool(
        &self,
        addresses: Vec<(String, u16)>,
        tls: Option<&PyTls>,
        connect: Option<Vec<u8>>,
        max_idle: usize,
    ) -> PyResult<PyConnectionPool> {
        let read = addresses.iter().map(|(address, port)| {
            let address: IpAddr = address
                .parse()
                .map_err(|_| PyValueError::new_err(format!("{address:?} is no address")))?;
            Ok(Address::Ip(SocketAddr::new(address, *port)))
        });
        let to = Destination {
            addresses: read.collect::<PyResult<_>>()?,
            tls: tls.map(|tls| tls.client.clone()),
            connect: connect.map(Into::into),
            max_idle,
        };
        let pool = self.exchanges.open(to);
        Ok(PyConnectionPool { exchanges: Arc::clone(&self.exchanges), pool })
    }

    /// Handles all socket events and due timers, then resumes the waiting greenlets one by one.
    ///
    /// Calls `failed` with each exception that a waiter raises.
    fn poll(&self, py: Python<'_>, failed: &Bound<'_, PyAny>) -> PyResult<()> {
        // The lock is released while greenlets run.
        for call in self.exchanges.poll().map_err(no_reactor)? {
            if let Some(waiter) = call.take_waiter()
                && let Err(error) = waiter.call0(py)
            {
                // The other greenlets must be resumed, too.
                let _ = failed.call1((error.into_value(py),));
            }
        }
        Ok(())
    }
}

/// The connections to one destination.
#[pyclass(frozen, name = "ConnectionPool")]
pub(crate) struct PyConnectionPool {
    exchanges: Arc<PyExchanges>,
    pool: PoolId,
}

#[pymethods]
impl PyConnectionPool {
    /// Starts an exchange; `waiter` is called at its next event.
    #[pyo3(signature = (head, body, flags, connect_s, read_s, waiter))]
    fn send(
        &self,
        head: &[u8],
        body: &[u8],
        flags: u8,
        connect_s: Option<f64>,
        read_s: Option<f64>,
        waiter: Py<PyAny>,
    ) -> PyCall {
        let timeouts = Timeouts { connect_ns: connect_s.map(nanos), read_ns: read_s.map(nanos) };
        let request = ExchangeRequest {
            pool: self.pool,
            head,
            body,
            is_head: flags & IS_HEAD != 0,
            streams: flags & STREAMS != 0,
            intended: monotonic_ns(),
            timeouts,
        };
        let (id, state) = self.exchanges.start(&request, waiter);
        PyCall { exchanges: Arc::clone(&self.exchanges), id, state }
    }
}

impl Drop for PyConnectionPool {
    fn drop(&mut self) {
        self.exchanges.drop_pool(self.pool);
    }
}

/// The TLS client for one host name.
#[pyclass(frozen, name = "Tls")]
pub(crate) struct PyTls {
    client: TlsClient,
}

#[pymethods]
impl PyTls {
    /// Reads the certificates; ValueError names the file that is wrong.
    #[new]
    #[pyo3(signature = (host, insecure=false, ca=None, identity=None))]
    fn new(
        host: &str,
        insecure: bool,
        ca: Option<PathBuf>,
        identity: Option<(PathBuf, PathBuf)>,
    ) -> PyResult<Self> {
        let options =
            TlsOptions { insecure, ca, identity, resumption: true, ..TlsOptions::default() };
        let client = TlsClient::new(host, &options).map_err(PyValueError::new_err)?;
        Ok(Self { client })
    }
}

#[allow(clippy::needless_pass_by_value)] // `map_err` passes values.
fn no_reactor(error: std::io::Error) -> PyErr {
    PyOSError::new_err(format!("the reactor does not work: {error}"))
}

/// Converts seconds to nanoseconds, with saturation; NaN is 0.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
fn nanos(seconds: f64) -> Nanos {
    (seconds * 1e9) as Nanos
}
