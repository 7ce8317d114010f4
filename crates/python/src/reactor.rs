//! `Reactor`, `Lane`: exchanges for greenlets, moved by the loop that they share.

use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsFd, AsRawFd};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use client::{Ask, Destination, LaneId, News, Patience, Ticket};
use net::{Address, Epoll, Nanos, TlsClient, TlsOptions, monotonic_ns, thread_cpu_ns};
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;

use crate::call::{Call, CallState};

/// A thread that worked so long since it looked last may have left events lying.
const BUSY_NS: Nanos = 100_000;

/// A request whose answer has no body; one whose body is read piece by piece.
const IS_HEAD: u8 = 1;
const STREAMS: u8 = 2;

/// Connections of one thread; its descriptor is ready when it wants a turn.
#[pyclass(frozen)]
pub(crate) struct Reactor {
    shared: Arc<Shared>,
    fd: i32,
}

/// What calls and lanes know of their reactor.
pub(crate) struct Shared {
    inner: Mutex<Inner>,
    /// What Python has let go of, wherever it did that.
    gone: Mutex<Vec<Gone>>,
    /// Streams that broke of which nothing was reported.
    unreported: Arc<AtomicU64>,
}

struct Inner {
    reactor: client::Reactor<Epoll>,
    /// Who asked for what is under way, by the place of its ticket.
    calls: Vec<Option<Arc<CallState>>>,
    /// Streams among them.
    streams: usize,
    /// Processor time of the thread when it looked last, if there were streams.
    cpu_ns: Nanos,
}

enum Gone {
    Lane(LaneId),
    Call(Ticket),
}

#[pymethods]
impl Reactor {
    #[new]
    fn new() -> PyResult<Self> {
        let driver = Epoll::new().map_err(no_reactor)?;
        let fd = driver.as_fd().as_raw_fd();
        let reactor = client::Reactor::new(driver);
        let inner = Mutex::new(Inner { reactor, calls: Vec::new(), streams: 0, cpu_ns: 0 });
        let (gone, unreported) = (Mutex::default(), Arc::default());
        Ok(Self { shared: Arc::new(Shared { inner, gone, unreported }), fd })
    }

    fn fileno(&self) -> i32 {
        self.fd
    }

    /// How many streams broke until now of which nothing was reported.
    #[getter]
    fn unreported(&self) -> u64 {
        self.shared.unreported.load(Ordering::Relaxed)
    }

    /// Connections to one of these addresses, kept for whoever holds the lane.
    #[pyo3(signature = (addresses, tls=None, connect=None, most_idle=10))]
    fn lane(
        &self,
        addresses: Vec<(String, u16)>,
        tls: Option<&Tls>,
        connect: Option<Vec<u8>>,
        most_idle: usize,
    ) -> PyResult<Lane> {
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
            most_idle,
        };
        let lane = self.shared.lock().reactor.open(to);
        Ok(Lane { shared: Arc::clone(&self.shared), lane })
    }

    /// Moves whatever can be moved, then wakes everybody who waited for it, one after another.
    ///
    /// `failed` is called with what a waiter raised.
    fn turn(&self, py: Python<'_>, failed: &Bound<'_, PyAny>) -> PyResult<()> {
        // No lock is held while others run.
        for call in self.shared.turn()? {
            if let Some(waiter) = call.unpark()
                && let Err(error) = waiter.call0(py)
            {
                // Whoever else was woken has to run, whatever became of this one.
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

    /// Notes what is let go of: it may be in the middle of anything.
    fn let_go(&self, gone: Gone) {
        self.gone.lock().unwrap_or_else(PoisonError::into_inner).push(gone);
    }

    fn forget_gone(&self, inner: &mut Inner) {
        let gone = std::mem::take(&mut *self.gone.lock().unwrap_or_else(PoisonError::into_inner));
        for what in gone {
            match what {
                Gone::Lane(lane) => inner.reactor.close(lane),
                Gone::Call(ticket) => inner.cancel(ticket),
            }
        }
    }

    fn turn(&self) -> PyResult<Vec<Arc<CallState>>> {
        let mut inner = self.lock();
        self.forget_gone(&mut inner);
        // Only who reads a stream asks whether its events were waited for.
        let has_streams = inner.streams > 0;
        let was_busy = has_streams && thread_cpu_ns().saturating_sub(inner.cpu_ns) > BUSY_NS;
        inner.reactor.turn(0, was_busy).map_err(no_reactor)?;
        let woken = inner.hand_out();
        inner.arm();
        if has_streams {
            inner.cpu_ns = thread_cpu_ns();
        }
        Ok(woken)
    }

    /// The next piece of a stream; empty where the caller has to wait for it.
    pub(crate) fn take(&self, ticket: Ticket) -> Vec<u8> {
        let mut inner = self.lock();
        let piece = inner.reactor.take(ticket);
        inner.arm();
        piece
    }

    /// Closes the connection of a call that nobody waits for any more.
    pub(crate) fn cancel(&self, ticket: Ticket) {
        self.lock().cancel(ticket);
    }

    /// The same, from wherever Python drops things.
    pub(crate) fn let_go_of_call(&self, ticket: Ticket) {
        self.let_go(Gone::Call(ticket));
    }
}

impl Inner {
    fn submit(&mut self, ask: &Ask<'_>, call: &Arc<CallState>) -> Ticket {
        let ticket = self.reactor.submit(ask);
        if let Some(News::Over(answer)) = self.reactor.news_of(ticket) {
            call.end(*answer);
            drop(call.unpark());
        } else {
            let place = ticket.place();
            if self.calls.len() <= place {
                self.calls.resize_with(place + 1, || None);
            }
            self.calls[place] = Some(Arc::clone(call));
            self.streams += usize::from(ask.streams);
        }
        self.arm();
        ticket
    }

    fn cancel(&mut self, ticket: Ticket) {
        // Who closes a stream has read of it what was wanted.
        if let Some(answer) = self.reactor.cancel(ticket)
            && let Some(call) = self.calls.get_mut(ticket.place()).and_then(Option::take)
        {
            self.streams -= usize::from(call.streams);
            call.end(answer);
        }
    }

    /// Tells the calls what happened to them; gives those of them that somebody may wait for.
    fn hand_out(&mut self) -> Vec<Arc<CallState>> {
        let calls = &mut self.calls;
        let mut woken = Vec::new();
        for (ticket, news) in self.reactor.news() {
            let Some(place) = calls.get_mut(ticket.place()) else { continue };
            let Some(call) = place.take() else { continue };
            match news {
                News::Over(answer) => {
                    self.streams -= usize::from(call.streams);
                    call.end(*answer);
                }
                News::Head { status, head, stamps } => {
                    call.begin(status, head, stamps);
                    *place = Some(Arc::clone(&call));
                }
                News::Piece => *place = Some(Arc::clone(&call)),
            }
            woken.push(call);
        }
        woken
    }

    fn arm(&mut self) {
        if let Some(at) = self.reactor.next_turn() {
            // Without an alarm deadlines are kept whenever there is an event: late, but kept.
            let _ = self.reactor.driver().wake_at(at);
        }
    }
}

/// Connections to one destination, kept for who holds this.
#[pyclass(frozen)]
pub(crate) struct Lane {
    shared: Arc<Shared>,
    lane: LaneId,
}

#[pymethods]
impl Lane {
    /// Begins an exchange; `waiter` is called when there is news of it.
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
        let patience = Patience { connect_ns: connect_s.map(nanos), read_ns: read_s.map(nanos) };
        let ask = Ask {
            lane: self.lane,
            head,
            body,
            is_head: flags & IS_HEAD != 0,
            streams: flags & STREAMS != 0,
            intended: monotonic_ns(),
            patience,
        };
        let call = CallState::new(waiter, ask.streams, Arc::clone(&self.shared.unreported));
        let mut inner = self.shared.lock();
        self.shared.forget_gone(&mut inner);
        let ticket = inner.submit(&ask, &call);
        drop(inner);
        Call::new(Arc::clone(&self.shared), ticket, call)
    }
}

impl Drop for Lane {
    fn drop(&mut self) {
        self.shared.let_go(Gone::Lane(self.lane));
    }
}

/// TLS to one name.
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

#[allow(clippy::needless_pass_by_value)] // It is what `map_err` gives.
fn no_reactor(error: std::io::Error) -> PyErr {
    PyOSError::new_err(format!("the reactor does not work: {error}"))
}

/// Seconds as nanoseconds; what is no time ends at once, what is too long never does.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
fn nanos(seconds: f64) -> Nanos {
    (seconds * 1e9) as Nanos
}
