//! What the machine lets this process have: cores and descriptors.

use rustix::process::{Pid, Resource, Rlimit, Signal, getrlimit, kill_process_group, setrlimit};
use rustix::thread::{CpuSet, sched_getaffinity};

/// Far beyond what any run asks for; the kernel's own ceiling (`fs.nr_open`) is usually lower.
const WANTED_DESCRIPTORS: u64 = 4_000_000;

/// The cores that this process may run on, by number.
#[must_use]
pub fn allowed_cores() -> Vec<usize> {
    let Ok(set) = sched_getaffinity(None) else {
        return vec![0];
    };
    (0..CpuSet::MAX_CPU).filter(|core| set.is_set(*core)).collect()
}

/// Raises the descriptor limit as far as it goes, and gives it; safe to call again.
#[must_use]
pub fn raise_descriptor_limit() -> u64 {
    let known = getrlimit(Resource::Nofile);
    let hard = known.maximum.unwrap_or(WANTED_DESCRIPTORS);
    // A privileged process may raise the hard limit too, where the kernel allows it.
    let candidates = [nr_open().max(hard), hard];
    for limit in candidates {
        let wanted = Rlimit { current: Some(limit), maximum: Some(limit.max(hard)) };
        if setrlimit(Resource::Nofile, wanted).is_ok() {
            return limit;
        }
    }
    known.current.unwrap_or(hard)
}

/// Blocks from this size on come from the kernel and go back to it.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const LARGE_BYTES: libc::c_int = 128 * 1024;

/// Makes large blocks of memory cost what they hold, and nothing when they are freed.
///
/// The C library of GNU raises the size from which that is so as a program goes on. Buffers that grow
/// then leave as much unused memory behind them as they hold.
pub fn return_large_memory() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: mallopt takes two numbers, and may be called at any time.
    #[allow(unsafe_code)]
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, LARGE_BYTES);
    }
}

fn nr_open() -> u64 {
    let text = std::fs::read_to_string("/proc/sys/fs/nr_open").unwrap_or_default();
    text.trim().parse().unwrap_or(0).min(WANTED_DESCRIPTORS)
}

/// Ends every process of a group that its first process made, at once.
pub fn end_group(number: u32) {
    let group = i32::try_from(number).ok().and_then(Pid::from_raw);
    // Fails only where none of them is left.
    let _ = group.map(|group| kill_process_group(group, Signal::KILL));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn raising_the_limit_never_lowers_it() {
        let before = getrlimit(Resource::Nofile).current.unwrap_or(0);
        let raised = raise_descriptor_limit();
        assert!(raised >= before);
        assert_eq!(raise_descriptor_limit(), raised);
        assert_eq!(getrlimit(Resource::Nofile).current, Some(raised));
    }

    #[test]
    fn a_thread_that_is_pinned_to_a_core_is_allowed_that_core_alone() {
        std::thread::spawn(|| {
            let last = *allowed_cores().last().unwrap();
            let mut set = CpuSet::new();
            set.set(last);
            rustix::thread::sched_setaffinity(None, &set).unwrap();
            assert_eq!(allowed_cores(), [last]);
        })
        .join()
        .unwrap();
    }
}
