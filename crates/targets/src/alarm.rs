//! Wakes tasks at absolute times of the monotonic clock, within some 10 µs; if many are due, within 30 µs.
//!
//! The timer of the runtime rounds up to milliseconds, which is too coarse for a latency that a test
//! knows. Each runtime thread has a timer of the kernel (timerfd, without timer slack) in its epoll. When
//! it fires, all tasks that are due are woken on the same thread.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, timerfd_create, timerfd_settime,
};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio::sync::oneshot;

use crate::clock;

/// The least time between two expiries. Tasks that are due closer together are woken at once: an expiry
/// for each would take more time than their work.
const GAP_NS: u64 = 20_000;

/// The alarm of one runtime thread.
#[derive(Debug)]
pub(crate) struct DelayAlarm {
    timer: AsyncFd<OwnedFd>,
    sleepers: Mutex<BinaryHeap<Sleeper>>,
}

#[derive(Debug)]
struct Sleeper {
    deadline_ns: u64,
    wake: oneshot::Sender<()>,
}

impl DelayAlarm {
    /// Sets up the alarm of the current runtime, which must be single-threaded.
    pub(crate) fn start() -> io::Result<Arc<Self>> {
        let flags = TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC;
        let timer = watch(timerfd_create(TimerfdClockId::Monotonic, flags)?)?;
        let alarm = Arc::new(DelayAlarm { timer, sleepers: Mutex::default() });
        tokio::spawn(Arc::clone(&alarm).ring());
        Ok(alarm)
    }

    /// Returns once the clock has reached `deadline_ns`, never earlier.
    pub(crate) async fn until(&self, deadline_ns: u64) {
        if deadline_ns <= clock::now_ns() {
            return;
        }
        let (wake, woken) = oneshot::channel();
        self.add(Sleeper { deadline_ns, wake });
        // An error means that the task of the timer has ended, and with it the runtime.
        let _ = woken.await;
    }

    fn add(&self, sleeper: Sleeper) {
        let deadline_ns = sleeper.deadline_ns;
        let mut sleepers = self.sleepers();
        let earliest = sleepers.peek().is_none_or(|first| deadline_ns < first.deadline_ns);
        sleepers.push(sleeper);
        if earliest {
            self.set(deadline_ns);
        }
    }

    async fn ring(self: Arc<Self>) {
        let mut expirations = [0; 8];
        while let Ok(mut ready) = self.timer.readable().await {
            // Before the read: an expiry in between is consumed by it, a later one is a new event.
            ready.clear_ready();
            let _ = rustix::io::read(&self.timer, &mut expirations);
            let now_ns = clock::now_ns();
            if let Some(next_ns) = self.wake_due(now_ns) {
                self.set(next_ns.max(now_ns + GAP_NS));
            }
        }
    }

    /// Wakes all tasks that are due; returns the next deadline.
    fn wake_due(&self, now_ns: u64) -> Option<u64> {
        let mut sleepers = self.sleepers();
        while sleepers.peek()?.deadline_ns <= now_ns {
            if let Some(sleeper) = sleepers.pop() {
                // An error means that its client has closed the connection.
                let _ = sleeper.wake.send(());
            }
        }
        sleepers.peek().map(|first| first.deadline_ns)
    }

    fn set(&self, deadline_ns: u64) {
        let it_interval = clock::timespec(0);
        let timer = Itimerspec { it_interval, it_value: clock::timespec(deadline_ns) };
        // It fails only for a descriptor that is no timer, or for a wrong time.
        let _ = timerfd_settime(&self.timer, TimerfdTimerFlags::ABSTIME, &timer);
    }

    fn sleepers(&self) -> MutexGuard<'_, BinaryHeap<Sleeper>> {
        self.sleepers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Registers the timer in the epoll of the current runtime.
#[allow(
    deprecated,
    reason = "its successor is unsafe, for types that may not own what they \
    name; an OwnedFd does own its descriptor, and nobody replaces this one"
)]
fn watch(timer: OwnedFd) -> io::Result<AsyncFd<OwnedFd>> {
    AsyncFd::with_interest(timer, Interest::READABLE)
}

/// Sorts the task with the earliest deadline to the top of the heap.
impl Ord for Sleeper {
    fn cmp(&self, other: &Self) -> Ordering {
        other.deadline_ns.cmp(&self.deadline_ns)
    }
}

impl PartialOrd for Sleeper {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Sleeper {
    fn eq(&self, other: &Self) -> bool {
        self.deadline_ns == other.deadline_ns
    }
}

impl Eq for Sleeper {}
