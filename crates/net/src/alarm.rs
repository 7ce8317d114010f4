//! A descriptor that becomes ready at a time: for event loops that wait for descriptors alone.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create,
    timerfd_settime,
};

use crate::Nanos;

/// A timer of the kernel.
pub(crate) struct Alarm {
    timer: OwnedFd,
    /// When it fires; a time in the past means that it has fired.
    at: Nanos,
}

impl Alarm {
    pub(crate) fn new() -> io::Result<Self> {
        let flags = TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC;
        Ok(Self { timer: timerfd_create(TimerfdClockId::Monotonic, flags)?, at: 0 })
    }

    /// Sets the time, unless an earlier one is set.
    pub(crate) fn set(&mut self, at: Nanos, now: Nanos) -> io::Result<()> {
        if self.at > now && self.at <= at {
            return Ok(());
        }
        self.at = at;
        // A year is longer than any run. Zero would disarm the timer.
        let nanos = at.clamp(1, now + 365 * 24 * 3600 * 1_000_000_000).cast_signed();
        let value = Timespec { tv_sec: nanos / 1_000_000_000, tv_nsec: nanos % 1_000_000_000 };
        let once = Timespec { tv_sec: 0, tv_nsec: 0 };
        let wanted = Itimerspec { it_interval: once, it_value: value };
        timerfd_settime(&self.timer, TimerfdTimerFlags::ABSTIME, &wanted)?;
        Ok(())
    }
}

impl AsFd for Alarm {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.timer.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_earliest_time_counts_until_it_has_passed() {
        let mut alarm = Alarm::new().unwrap();
        let mut at_after = |at, now| {
            alarm.set(at, now).unwrap();
            alarm.at
        };
        assert_eq!(at_after(500, 100), 500);
        assert_eq!(at_after(600, 100), 500);
        assert_eq!(at_after(400, 100), 400);
        assert_eq!(at_after(600, 400), 600);
    }
}
