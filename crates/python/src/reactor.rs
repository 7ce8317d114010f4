//! `Reactor`, `ConnectionPool`: the exchanges of greenlets, on the event loop of gevent.

use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsFd, AsRawFd};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use client::{Destination, ExchangeEvent, ExchangeId, ExchangeRequest, PoolId, Timeouts};
use net::{Address, Epoll, Nanos, TlsClient, TlsOptions, monotonic_ns, thread_cpu_ns};
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;

use crate::call::{Call, CallState};

/// Processor time since the last poll after which events may be older than the poll.
const BUSY_NS: Nanos = 100_000;

/// Flags of a request: its answer has no body; its body is read piece by piece.
const IS_HEAD: u8 = 1;
const STREAMS: u8 = 2;

/// The connections of one thread; call `poll` when its descriptor is ready.
#[pyclass(frozen)]
pub(crate) struct Reactor {
    shared: Arc<Shared>,
    fd: i32,
}

/// The part of a reactor that calls and connection pools share.
pub(crate) struct Shared {
    inner: Mutex<Inner>,
    /// Pools and calls that Python has dropped, which may happen while `inner` is locked.
    dropped: Mutex<Vec<Dropped>>,
    /// Broken streams that Locust has not reported.
    unreported_streams: Arc<AtomicU64>,
}

struct Inner {
    reactor: client::Reactor<Epoll>,
    /// The calls of running exchanges, by their index.
    calls: Vec<Option<Arc<CallState>>>,
    /// The number of streams among them.
    streams: usize,
    /// Processor time of the thread at the last poll with streams.
    cpu_ns: Nanos,
}

enum Dropped {
    ConnectionPool(PoolId),
    Call(ExchangeId),
}

#[pymethods]
impl Reactor {
    #[new]
    fn new() -> PyResult<Self> {
        let driver = Epoll::new().map_err(no_reactor)?;
        let fd = driver.as_fd().as_raw_fd();
        let reactor = client::Reactor::new(driver);
        let inner = Mutex::new(Inner { reactor, calls: Vec::new(), streams: 0, cpu_ns: 0 });
        let (dropped, unreported_streams) = (Mutex::default(), Arc::default());
        Ok(Self { shared: Arc::new(Shared { inner, dropped, unreported_streams }), fd })
    }

    fn fileno(&self) -> i32 {
        self.fd
    }

    /// Returns the number of broken streams that Locust has not reported.
    #[getter]
    fn unreported_streams(&self) -> u64 {
        self.shared.unreported_streams.load(Ordering::Relaxed)
    }

    /// Returns a connection pool for a list of addresses, which are tried in this order.
    #[pyo3(signature = (addresses, tls=None, connect=None, max_idle=10))]
    fn connection_pool(
        &self,
        addresses: Vec<(String, u16)>,
        tls: Option<&Tls>,
        connect: Option<Vec<u8>>,
        max_idle: usize,
    ) -> PyResult<ConnectionPool> {
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
        let pool = self.shared.lock().reactor.open(to);
        Ok(ConnectionPool { shared: Arc::clone(&self.shared), pool })
    }

    /// Handles all socket events and due timers, then resumes the waiting greenlets one by one.
    ///
    /// Calls `failed` with each exception that a waiter raises.
    fn poll(&self, py: Python<'_>, failed: &Bound<'_, PyAny>) -> PyResult<()> {
        // The lock is released while greenlets run.
        for call in self.shared.poll()? {
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

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records a dropped pool or call; the reactor may be locked, so it is released later.
    fn push_dropped(&self, dropped: Dropped) {
        self.dropped.lock().unwrap_or_else(PoisonError::into_inner).push(dropped);
    }

    fn release_dropped(&self, inner: &mut Inner) {
        let dropped =
            std::mem::take(&mut *self.dropped.lock().unwrap_or_else(PoisonError::into_inner));
        for entry in dropped {
            match entry {
                Dropped::ConnectionPool(pool) => inner.reactor.close(pool),
                Dropped::Call(id) => inner.cancel(id),
            }
        }
    }

    fn poll(&self) -> PyResult<Vec<Arc<CallState>>> {
        let mut inner = self.lock();
        self.release_dropped(&mut inner);
        // Only streams need the age of events.
        let has_streams = inner.streams > 0;
        let was_busy = has_streams && thread_cpu_ns().saturating_sub(inner.cpu_ns) > BUSY_NS;
        inner.reactor.poll(0, was_busy).map_err(no_reactor)?;
        let woken = inner.take_woken();
        inner.set_timer();
        if has_streams {
            inner.cpu_ns = thread_cpu_ns();
        }
        Ok(woken)
    }

    /// Returns the next piece of a stream; empty if the caller must wait for it.
    pub(crate) fn take(&self, id: ExchangeId) -> Vec<u8> {
        let mut inner = self.lock();
        let piece = inner.reactor.take(id);
        inner.set_timer();
        piece
    }

    /// Closes the connection of a call.
    pub(crate) fn cancel(&self, id: ExchangeId) {
        self.lock().cancel(id);
    }

    /// Closes the connection of a dropped call later.
    pub(crate) fn drop_call(&self, id: ExchangeId) {
        self.push_dropped(Dropped::Call(id));
    }
}

impl Inner {
    fn start(&mut self, request: &ExchangeRequest<'_>, call: &Arc<CallState>) -> ExchangeId {
        let id = self.reactor.start(request);
        if let Some(ExchangeEvent::Over(answer)) = self.reactor.take_event_of(id) {
            call.end(*answer);
            drop(call.take_waiter());
        } else {
            let index = id.index();
            if self.calls.len() <= index {
                self.calls.resize_with(index + 1, || None);
            }
            self.calls[index] = Some(Arc::clone(call));
            self.streams += usize::from(request.streams);
        }
        self.set_timer();
        id
    }

    fn cancel(&mut self, id: ExchangeId) {
        // A stream that the caller closes has ended well.
        if let Some(answer) = self.reactor.cancel(id)
            && let Some(call) = self.calls.get_mut(id.index()).and_then(Option::take)
        {
            self.streams -= usize::from(call.streams);
            call.end(answer);
        }
    }

    /// Passes the events to their calls, and returns these calls, whose greenlets may be waiting.
    fn take_woken(&mut self) -> Vec<Arc<CallState>> {
        let calls = &mut self.calls;
        let mut woken = Vec::new();
        for (id, event) in self.reactor.take_events() {
            let Some(entry) = calls.get_mut(id.index()) else { continue };
            let Some(call) = entry.take() else { continue };
            match event {
                ExchangeEvent::Over(answer) => {
                    self.streams -= usize::from(call.streams);
                    call.end(*answer);
                }
                ExchangeEvent::Head { status, head, stamps } => {
                    call.begin(status, head, stamps);
                    *entry = Some(Arc::clone(&call));
                }
                ExchangeEvent::Piece => *entry = Some(Arc::clone(&call)),
            }
            woken.push(call);
        }
        woken
    }

    fn set_timer(&mut self) {
        if let Some(at) = self.reactor.next_poll_at() {
            // If the timer cannot be set, deadlines are checked at the next event.
            let _ = self.reactor.driver().wake_at(at);
        }
    }
}

/// The connections to one destination.
#[pyclass(frozen)]
pub(crate) struct ConnectionPool {
    shared: Arc<Shared>,
    pool: PoolId,
}

#[pymethods]
impl ConnectionPool {
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
    ) -> Call {
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
        let call =
            CallState::new(waiter, request.streams, Arc::clone(&self.shared.unreported_streams));
        let mut inner = self.shared.lock();
        self.shared.release_dropped(&mut inner);
        let id = inner.start(&request, &call);
        drop(inner);
        Call::new(Arc::clone(&self.shared), id, call)
    }
}

impl Drop for ConnectionPool {
    fn drop(&mut self) {
        self.shared.push_dropped(Dropped::ConnectionPool(self.pool));
    }
}

/// The TLS client for one host name.
#[pyclass(frozen)]
pub(crate) struct Tls {
    client: TlsClient,
}

#[pymethods]
impl Tls {
    /// Reads the certificates; ValueError names the file that is wrong.
    #[new]
    #[pyo3(signature = (host, insecure=false, ca=None, identity=None))]
    fn new(
        host: &str,
        insecure: bool,
        ca: Option<PathBuf>,
        identity: Option<(PathBuf, PathBuf)>,
    ) -> PyResult<Self> {
        let options = TlsOptions { insecure, ca, identity, resumption: true };
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
