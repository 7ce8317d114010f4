//! Priorities of threads: workers are woken up in time, by their timers and by the scheduler; threads
//! that only collect results have a lower priority.

use std::io;
use std::num::NonZeroU64;

/// The requested time slice of the scheduler. A thread with a shorter slice gets it sooner: when it wakes
/// up, it takes the core from a thread with a longer slice, instead of waiting for the end of that slice
/// (up to 3 ms by default). Its share of the core stays the same.
const TURN_NS: u64 = 100_000;

/// The nice value of threads that can wait.
const BEHIND: i32 = 10;

/// Gives the calling thread short wake-up times, as far as any user may.
pub fn be_punctual() -> io::Result<()> {
    // The default timer slack of 50 µs would be most of the lateness of an open load.
    rustix::thread::set_current_timer_slack(NonZeroU64::new(1))?;
    // Kernels before 6.12 have no time slices of single threads.
    let _ = ask_for_short_turns();
    Ok(())
}

/// Lowers the priority of the calling thread, which can wait for workers.
pub fn lower_priority() {
    // A tenth of a full core is left, which is enough to collect results. If this is refused, workers are
    // woken up a little later.
    let _ = rustix::process::nice(BEHIND);
}

#[allow(unsafe_code)]
fn ask_for_short_turns() -> io::Result<()> {
    let mut wanted = attributes()?;
    wanted.sched_runtime = TURN_NS;
    // SAFETY: the pointer is to a whole `sched_attr` that says its own size; 0 is this thread.
    let result =
        unsafe { libc::syscall(libc::SYS_sched_setattr, 0, std::ptr::from_ref(&wanted), 0) };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// The scheduling attributes of the calling thread.
#[allow(unsafe_code)]
fn attributes() -> io::Result<libc::sched_attr> {
    let mut found = libc::sched_attr {
        size: size_of::<libc::sched_attr>() as u32,
        sched_policy: 0,
        sched_flags: 0,
        sched_nice: 0,
        sched_priority: 0,
        sched_runtime: 0,
        sched_deadline: 0,
        sched_period: 0,
    };
    // SAFETY: the kernel writes no more than the size that is given with the pointer.
    let result = unsafe {
        libc::syscall(libc::SYS_sched_getattr, 0, std::ptr::from_mut(&mut found), found.size, 0)
    };
    if result == 0 { Ok(found) } else { Err(io::Error::last_os_error()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_of_lower_priority_stands_behind_the_one_that_made_it() {
        let nice = || rustix::process::getpriority_process(None).unwrap();
        let before = nice();
        let lowered = std::thread::spawn(move || {
            lower_priority();
            rustix::process::getpriority_process(None).unwrap()
        });
        assert_eq!(lowered.join().unwrap(), (before + BEHIND).min(19));
        assert_eq!(nice(), before);
    }

    #[test]
    fn a_punctual_thread_has_exact_timers_and_short_turns_and_keeps_the_rest() {
        std::thread::spawn(|| {
            let before = attributes().unwrap();
            be_punctual().unwrap();
            let after = attributes().unwrap();
            assert_eq!(rustix::thread::current_timer_slack().unwrap(), 1);
            let turn = if kernel() >= (6, 12) { TURN_NS } else { 0 };
            assert_eq!(after.sched_runtime, turn, "the turn that kernel {:?} tells", kernel());
            assert_eq!(before.sched_policy, after.sched_policy);
            assert_eq!(before.sched_nice, after.sched_nice);
        })
        .join()
        .unwrap();
    }

    /// The first two numbers of the kernel's version.
    fn kernel() -> (u32, u32) {
        let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap();
        let mut numbers = release
            .split(|sign: char| !sign.is_ascii_digit())
            .map(|number| number.parse().unwrap());
        (numbers.next().unwrap(), numbers.next().unwrap())
    }
}
