//! The driver of real runs: non-blocking TCP sockets on one epoll descriptor.
//!
//! Each socket is registered once, edge-triggered, for everything: no `epoll_ctl` while it lives,
//! so that an exchange on an open connection costs one send, one receive and its share of a wait.

use std::io;
use std::net::IpAddr;
use std::num::NonZeroU64;
use std::os::fd::OwnedFd;

use rustix::buffer::spare_capacity;
use rustix::event::{Timespec, epoll};
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, recv, send};
use rustix::time::{ClockId, clock_gettime};

use crate::socket;
use crate::{Address, Driver, Nanos, Ready, ThreadUsage};

/// Events taken in one wait; more stay queued in the kernel for the next.
const BATCH: usize = 1024;

/// The monotonic clock of the machine.
#[must_use]
pub fn monotonic_ns() -> Nanos {
    let time = clock_gettime(ClockId::Monotonic);
    // Neither part is ever negative on the monotonic clock.
    time.tv_sec.unsigned_abs() * 1_000_000_000 + time.tv_nsec.unsigned_abs()
}

/// The epoll driver of one worker.
pub struct Epoll {
    epoll: OwnedFd,
    events: Vec<epoll::Event>,
}

impl Epoll {
    /// Makes the driver for the calling thread, whose timers it sharpens.
    pub fn new() -> io::Result<Self> {
        // The default slack of 50 µs would be the whole lateness of an open load.
        rustix::thread::set_current_timer_slack(NonZeroU64::new(1))?;
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        Ok(Self { epoll, events: Vec::with_capacity(BATCH) })
    }
}

impl Driver for Epoll {
    type Socket = OwnedFd;

    fn now(&self) -> Nanos {
        monotonic_ns()
    }

    fn usage(&self) -> ThreadUsage {
        ThreadUsage::now()
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
        let timeout = timespec(until.saturating_sub(self.now()));
        self.events.clear();
        match epoll::wait(&self.epoll, spare_capacity(&mut self.events), Some(&timeout)) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(errno) => return Err(errno.into()),
        }
        ready.clear();
        ready.extend(self.events.iter().map(to_ready));
        Ok(())
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
    // A year is for ever, and fits every field of the struct.
    let nanos = nanos.min(365 * 24 * 3600 * 1_000_000_000).cast_signed();
    Timespec { tv_sec: nanos / 1_000_000_000, tv_nsec: nanos % 1_000_000_000 }
}
