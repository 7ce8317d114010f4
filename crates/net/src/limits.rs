//! The limits of this process: cores, descriptors, memory blocks.

use rustix::process::{Pid, Resource, Rlimit, Signal, getrlimit, kill_process_group, setrlimit};
use rustix::thread::{CpuSet, sched_getaffinity};

/// More than any run needs; the limit of the kernel (`fs.nr_open`) is usually lower.
const WANTED_DESCRIPTORS: u64 = 4_000_000;

/// Returns the numbers of the cores on which this process may run.
#[must_use]
pub fn allowed_cores() -> Vec<usize> {
    let Ok(set) = sched_getaffinity(None) else {
        return vec![0];
    };
    (0..CpuSet::MAX_CPU).filter(|core| set.is_set(*core)).collect()
}

/// Raises the descriptor limit to its maximum, and returns it.
#[must_use]
pub fn raise_descriptor_limit() -> u64 {
    let known = getrlimit(Resource::Nofile);
    let hard = known.maximum.unwrap_or(WANTED_DESCRIPTORS);
    // A privileged process may raise the hard limit, too.
    let candidates = [nr_open().max(hard), hard];
    for limit in candidates {
        let wanted = Rlimit { current: Some(limit), maximum: Some(limit.max(hard)) };
        if setrlimit(Resource::Nofile, wanted).is_ok() {
            return limit;
        }
    }
    known.current.unwrap_or(hard)
}

/// Blocks of at least this size are allocated by the kernel, and returned to it.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const LARGE_BYTES: libc::c_int = 128 * 1024;

/// Makes large blocks of memory take no more than their size, and nothing after they are freed.
///
/// Without this, the C library of GNU raises the size of such blocks while a program runs, and buffers
/// that grow leave as much unused memory as they use.
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

/// Kills every process of a group.
pub fn end_group(number: u32) {
    let group = i32::try_from(number).ok().and_then(Pid::from_raw);
    // It fails only if none of them is left.
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
