//! The driver of real runs: non-blocking TCP sockets on one epoll descriptor.
//!
//! Each socket is registered once, edge-triggered, for everything: no `epoll_ctl` while it lives,
//! so that an exchange on an open connection costs one send, one receive and its share of a wait.

use std::io;
use std::net::IpAddr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::buffer::spare_capacity;
use rustix::event::{Timespec, epoll};
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, recv, send};
use rustix::time::{ClockId, clock_gettime};

use crate::alarm::Alarm;
use crate::punctual::be_punctual;
use crate::socket;
use crate::usage::{ThreadMeter, thread_cpu_ns};
use crate::{Address, Driver, Nanos, Ready, ThreadUsage};

/// The maximum number of events of one wait; others stay in the kernel for the next.
const BATCH: usize = 1024;

/// Returns the time of the monotonic clock of the machine.
#[must_use]
pub fn monotonic_ns() -> Nanos {
    let time = clock_gettime(ClockId::Monotonic);
    // Neither part is negative on the monotonic clock.
    time.tv_sec.unsigned_abs() * 1_000_000_000 + time.tv_nsec.unsigned_abs()
}

/// The time before its end at which a spinning wait stops sleeping: longer than most wake-ups take. A
/// wait that watches the sockets first does so for this time.
const SPIN_NS: Nanos = 50_000;

/// The token of the alarm: no socket has it.
const ALARM: u64 = u64::MAX;

/// The epoll driver of one worker.
pub struct Epoll {
    epoll: OwnedFd,
    events: Vec<epoll::Event>,
    meter: ThreadMeter,
    /// Whether waits end by checking the clock, not by sleeping to the end.
    spins: bool,
    /// Whether waits begin by checking the sockets without sleep.
    watches_first: bool,
    /// The processor time for both.
    spun_ns: Nanos,
    /// Makes its descriptor ready at a time, for the event loop of a caller.
    alarm: Option<Alarm>,
}

// SAFETY: everything may move to another thread except the data of events, which could be pointers to
// data of this thread. They are numbers: each socket is registered with its token.
#[allow(unsafe_code)]
unsafe impl Send for Epoll {}

impl Epoll {
    /// Creates the driver for the calling thread, which gets short wake-up times.
    pub fn new() -> io::Result<Self> {
        be_punctual()?;
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        let meter = ThreadMeter::new();
        let events = Vec::with_capacity(BATCH);
        let (spins, watches_first) = (false, false);
        Ok(Self { epoll, events, meter, spins, watches_first, spun_ns: 0, alarm: None })
    }

    /// Makes its descriptor ready at a time, too, for the event loop of a caller that watches it. A time
    /// later than the one that is set changes nothing.
    pub fn wake_at(&mut self, at: Nanos) -> io::Result<()> {
        match &mut self.alarm {
            Some(alarm) => alarm.set(at, monotonic_ns()),
            None => {
                let alarm = self.alarm.insert(Alarm::new()?);
                let interest = epoll::EventFlags::IN | epoll::EventFlags::ET;
                epoll::add(&self.epoll, &*alarm, epoll::EventData::new_u64(ALARM), interest)?;
                alarm.set(at, monotonic_ns())
            }
        }
    }

    /// Creates a driver that wakes up more exactly: at the end of each wait it checks the clock and the
    /// sockets in turn, which needs processor time.
    #[must_use]
    pub fn spinning(mut self, spins: bool) -> Self {
        self.spins = spins;
        self
    }

    /// Creates a driver that notices sooner what comes shortly after other events: at the begin of each wait
    /// it checks the sockets for a while before it sleeps, which needs processor time.
    #[must_use]
    pub fn watching_first(mut self, watches_first: bool) -> Self {
        self.watches_first = watches_first;
        self
    }

    /// Waits for events, until a time at most; returns whether there are some.
    fn sleep(&mut self, until: Nanos, now: Nanos) -> io::Result<bool> {
        let timeout = timespec(until.saturating_sub(now));
        self.events.clear();
        match epoll::wait(&self.epoll, spare_capacity(&mut self.events), Some(&timeout)) {
            Ok(_) | Err(Errno::INTR) => Ok(!self.events.is_empty()),
            Err(errno) => Err(errno.into()),
        }
    }

    fn spin(&mut self, until: Nanos) -> io::Result<()> {
        let before = thread_cpu_ns();
        let mut now = self.now();
        // Each check takes the events, so that no response waits for the end of the wait.
        while now < until && !self.sleep(now, now)? {
            now = self.now();
        }
        self.spun_ns += thread_cpu_ns().saturating_sub(before);
        Ok(())
    }
}

impl Driver for Epoll {
    type Socket = OwnedFd;

    fn now(&self) -> Nanos {
        monotonic_ns()
    }

    fn usage(&self) -> ThreadUsage {
        let usage = self.meter.read();
        // This processor time is no work: it does not count for the load of the worker.
        ThreadUsage { cpu_ns: usage.cpu_ns.saturating_sub(self.spun_ns), ..usage }
    }

    fn dial(&mut self, to: &Address, from: Option<IpAddr>, token: u64) -> io::Result<OwnedFd> {
        let socket = socket::connecting(to, from)?;
        let interest = epoll::EventFlags::IN
            | epoll::EventFlags::OUT
            | epoll::EventFlags::RDHUP
            | epoll::EventFlags::ET;
        epoll::add(&self.epoll, &socket, epoll::EventData::new_u64(token), interest)?;
        Ok(socket)
    }

    fn error(&mut self, socket: &OwnedFd) -> Option<io::Error> {
        match rustix::net::sockopt::socket_error(socket) {
            Ok(Ok(())) => None,
            Ok(Err(errno)) | Err(errno) => Some(errno.into()),
        }
    }

    fn send(&mut self, socket: &OwnedFd, bytes: &[u8]) -> io::Result<usize> {
        Ok(send(socket, bytes, SendFlags::NOSIGNAL)?)
    }

    fn recv(&mut self, socket: &OwnedFd, buffer: &mut [u8]) -> io::Result<usize> {
        let (length, _) = recv(socket, buffer, RecvFlags::empty())?;
        Ok(length)
    }

    fn discard(&mut self, socket: &OwnedFd, scratch: &mut [u8]) -> io::Result<usize> {
        // On TCP, MSG_TRUNC drops the bytes in the kernel and copies none of them (tcp(7)).
        let (_, length) = recv(socket, scratch, RecvFlags::TRUNC)?;
        Ok(length)
    }

    fn unread(&self, socket: &OwnedFd) -> u64 {
        rustix::io::ioctl_fionread(socket).unwrap_or(0)
    }

    fn wait(&mut self, until: Nanos, ready: &mut Vec<Ready>) -> io::Result<()> {
        let mut now = self.now();
        self.events.clear();
        if self.watches_first {
            self.spin(until.min(now + SPIN_NS))?;
            now = self.now();
        }
        let has_events = !self.events.is_empty();
        let asleep_until = if self.spins { until.saturating_sub(SPIN_NS) } else { until };
        let is_near = |now: Nanos| until.saturating_sub(now) <= 2 * SPIN_NS;
        if !has_events && !self.sleep(asleep_until, now)? && self.spins && is_near(self.now()) {
            self.spin(until)?;
        }
        ready.clear();
        ready.extend(self.events.iter().filter(|event| event.data.u64() != ALARM).map(to_ready));
        Ok(())
    }
}

impl AsFd for Epoll {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.epoll.as_fd()
    }
}

fn to_ready(event: &epoll::Event) -> Ready {
    use epoll::EventFlags as Flags;
    let flags = event.flags;
    Ready {
        token: event.data.u64(),
        readable: flags.intersects(Flags::IN | Flags::RDHUP | Flags::HUP | Flags::ERR),
        writable: flags.intersects(Flags::OUT | Flags::HUP | Flags::ERR),
        closed: flags.intersects(Flags::RDHUP | Flags::HUP | Flags::ERR),
    }
}

fn timespec(nanos: Nanos) -> Timespec {
    // A year is longer than any run, and fits every field of the struct.
    let nanos = nanos.min(365 * 24 * 3600 * 1_000_000_000).cast_signed();
    Timespec { tv_sec: nanos / 1_000_000_000, tv_nsec: nanos % 1_000_000_000 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Address;

    #[test]
    fn a_spinning_wait_ends_in_time_and_what_it_spun_away_is_no_work() {
        let mut driver = Epoll::new().unwrap().spinning(true);
        let (mut ready, mut before) = (Vec::new(), driver.usage().cpu_ns);
        for _ in 0..50 {
            let until = driver.now() + 2 * SPIN_NS;
            driver.wait(until, &mut ready).unwrap();
            assert!(driver.now() >= until && ready.is_empty());
            // It never decreases, because the time for checks is not subtracted twice.
            let told = driver.usage().cpu_ns;
            assert!(told >= before);
            assert!(told + driver.spun_ns <= driver.meter.read().cpu_ns);
            before = told;
        }
        assert!(driver.spun_ns > 0);
    }

    #[test]
    fn a_wait_that_watches_first_ends_in_time_and_by_an_event() {
        let mut driver = Epoll::new().unwrap().watching_first(true);
        let mut ready = Vec::new();
        for wait_ns in [0, SPIN_NS / 2, 2 * SPIN_NS] {
            let until = driver.now() + wait_ns;
            driver.wait(until, &mut ready).unwrap();
            assert!(driver.now() >= until && ready.is_empty());
        }
        assert!(driver.spun_ns > 0 && driver.usage().cpu_ns < driver.meter.read().cpu_ns);
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let to = Address::Ip(listener.local_addr().unwrap());
        let _socket = driver.dial(&to, None, 7).unwrap();
        let until = driver.now() + 60_000_000_000;
        driver.wait(until, &mut ready).unwrap();
        assert_eq!((ready[0].token, ready[0].writable), (7, true));
        driver.wait(driver.now(), &mut ready).unwrap();
        assert!(ready.is_empty());
    }

    #[test]
    fn an_alarm_ends_a_wait_and_is_no_event_of_a_socket() {
        let mut driver = Epoll::new().unwrap();
        let (mut ready, now) = (Vec::new(), driver.now());
        driver.wake_at(now + 60_000_000_000).unwrap();
        driver.wake_at(now + 2_000_000).unwrap();
        driver.wait(now + 60_000_000_000, &mut ready).unwrap();
        let tokens: Vec<_> = driver.events.iter().map(|event| event.data.u64()).collect();
        assert_eq!((tokens, ready), (vec![ALARM], Vec::new()));
        assert!(driver.now() >= now + 2_000_000);
    }

    #[test]
    fn a_spinning_wait_is_ended_by_an_event() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let mut driver = Epoll::new().unwrap().spinning(true);
        let to = Address::Ip(listener.local_addr().unwrap());
        let _socket = driver.dial(&to, None, 7).unwrap();
        let (mut ready, until) = (Vec::new(), driver.now() + 60_000_000_000);
        driver.wait(until, &mut ready).unwrap();
        assert_eq!((ready[0].token, ready[0].writable), (7, true));
    }
}
