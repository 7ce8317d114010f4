//! The exchanges of greenlets: which call each event belongs to, and what was dropped meanwhile.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::{io, mem};

use client::{Destination, ExchangeEvent, ExchangeId, ExchangeRequest, PoolId, Reactor};
use net::{Driver, Nanos, thread_cpu_ns};

use super::call_state::CallState;

/// Processor time since the last poll after which events may be older than the poll.
const BUSY_NS: Nanos = 100_000;

/// The exchanges of one thread; `W` resumes a greenlet.
pub struct Exchanges<W, D: Driver> {
    inner: Mutex<Inner<W, D>>,
    /// Pools and calls that their owner has dropped, which may happen while `inner` is locked.
    dropped: Mutex<Vec<Dropped>>,
    /// Broken streams that Locust has not reported.
    unreported_streams: Arc<AtomicU64>,
}

struct Inner<W, D: Driver> {
    reactor: Reactor<D>,
    /// Makes sure that the owner of the event loop polls at a time.
    wake_at: fn(&mut D, Nanos),
    /// The calls of running exchanges, by their index.
    calls: Vec<Option<Arc<CallState<W>>>>,
    /// The number of streams among them.
    streams: usize,
    /// Processor time of the thread at the last poll with streams.
    cpu_ns: Nanos,
}

enum Dropped {
    ConnectionPool(PoolId),
    Call(ExchangeId),
}

impl<W, D: Driver> Exchanges<W, D> {
    /// Creates an owner without exchanges; `wake_at` makes sure that `poll` is called at a time.
    pub fn new(driver: D, wake_at: fn(&mut D, Nanos)) -> Self {
        let reactor = Reactor::new(driver);
        let inner = Inner { reactor, wake_at, calls: Vec::new(), streams: 0, cpu_ns: 0 };
        let (dropped, unreported_streams) = (Mutex::default(), Arc::default());
        Self { inner: Mutex::new(inner), dropped, unreported_streams }
    }

    /// Returns the number of broken streams that Locust has not reported.
    #[must_use]
    pub fn unreported_streams(&self) -> u64 {
        self.unreported_streams.load(Ordering::Relaxed)
    }

    /// Creates a connection pool for a destination.
    pub fn open(&self, to: Destination) -> PoolId {
        self.lock().reactor.open(to)
    }

    /// Starts an exchange; `waiter` is for its next event.
    pub fn start(
        &self,
        request: &ExchangeRequest<'_>,
        waiter: W,
    ) -> (ExchangeId, Arc<CallState<W>>) {
        let call = CallState::new(waiter, request.streams, Arc::clone(&self.unreported_streams));
        let mut inner = self.lock();
        self.release_dropped(&mut inner);
        (inner.start(request, &call), call)
    }

    /// Handles all socket events and due timers; returns the calls that they concern, whose greenlets
    /// may be waiting.
    pub fn poll(&self) -> io::Result<Vec<Arc<CallState<W>>>> {
        let mut inner = self.lock();
        self.release_dropped(&mut inner);
        // Only streams need the age of events.
        let has_streams = inner.streams > 0;
        let was_busy = has_streams && thread_cpu_ns().saturating_sub(inner.cpu_ns) > BUSY_NS;
        inner.reactor.poll(0, was_busy)?;
        let woken = inner.take_woken();
        inner.set_timer();
        if has_streams {
            inner.cpu_ns = thread_cpu_ns();
        }
        Ok(woken)
    }

    /// Returns the next piece of a stream, empty at its end; if there is none yet, `waiter` is for the
    /// next event.
    pub fn piece(&self, id: ExchangeId, call: &CallState<W>, waiter: W) -> Option<Vec<u8>> {
        if let Some(rest) = call.take_body() {
            return Some(rest);
        }
        let mut inner = self.lock();
        let piece = inner.reactor.take(id);
        inner.set_timer();
        drop(inner);
        if piece.is_empty() {
            // If the stream ended in `take`, its event follows.
            call.set_waiter(Some(waiter));
            return None;
        }
        Some(piece)
    }

    /// Closes the connection of a running call; its waiter is dropped.
    pub fn cancel(&self, id: ExchangeId, call: &CallState<W>) {
        call.set_waiter(None);
        self.lock().cancel(id);
    }

    /// Closes the connection of an interrupted greenlet; its request stays in flight.
    pub fn abandon(&self, id: ExchangeId, call: &CallState<W>) {
        call.abandon();
        self.lock().cancel(id);
    }

    /// Closes the connection of a dropped call later: this may be called while the exchanges are
    /// locked.
    pub fn drop_call(&self, id: ExchangeId) {
        self.push_dropped(Dropped::Call(id));
    }

    /// Closes a dropped pool later.
    pub fn drop_pool(&self, pool: PoolId) {
        self.push_dropped(Dropped::ConnectionPool(pool));
    }

    fn lock(&self) -> MutexGuard<'_, Inner<W, D>> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn push_dropped(&self, dropped: Dropped) {
        self.dropped.lock().unwrap_or_else(PoisonError::into_inner).push(dropped);
    }

    fn release_dropped(&self, inner: &mut Inner<W, D>) {
        let dropped = mem::take(&mut *self.dropped.lock().unwrap_or_else(PoisonError::into_inner));
        for entry in dropped {
            match entry {
                Dropped::ConnectionPool(pool) => inner.reactor.close(pool),
                Dropped::Call(id) => inner.cancel(id),
            }
        }
    }
}

impl<W, D: Driver> Inner<W, D> {
    fn start(&mut self, request: &ExchangeRequest<'_>, call: &Arc<CallState<W>>) -> ExchangeId {
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
    fn take_woken(&mut self) -> Vec<Arc<CallState<W>>> {
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
                ExchangeEvent::Head { head, stamps } => {
                    call.begin(head, stamps);
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
            (self.wake_at)(self.reactor.driver(), at);
        }
    }
}

#[cfg(test)]
mod tests;
