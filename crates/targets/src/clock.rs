//! The monotonic clock as a number, so that stamps of client and target can be compared.

use rustix::time::{ClockId, Timespec, clock_gettime};

const SECOND_NS: u64 = 1_000_000_000;

/// Returns CLOCK_MONOTONIC in nanoseconds.
pub(crate) fn now_ns() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec.unsigned_abs() * SECOND_NS + now.tv_nsec.unsigned_abs()
}

/// Converts a stamp to the form of the kernel. Both parts are far below the largest i64.
pub(crate) fn timespec(stamp_ns: u64) -> Timespec {
    Timespec { tv_sec: (stamp_ns / SECOND_NS) as i64, tv_nsec: (stamp_ns % SECOND_NS) as i64 }
}
