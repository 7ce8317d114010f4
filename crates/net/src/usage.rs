//! Processor time: of this thread, of the machine, of other processes. It is read once per interval.
//!
//! The source is /proc. If a file is missing, the figure is zero, and verdicts that need it are not
//! given.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{File, read_to_string};
use std::os::unix::fs::FileExt as _;

use rustix::time::{ClockId, clock_gettime};

use crate::Nanos;

/// The unit of processor time in `/proc`: 1/100 s (`USER_HZ`).
const TICK_NS: u64 = 10_000_000;

/// Processor time of the calling thread.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ThreadUsage {
    /// Time on a core, user and kernel.
    pub cpu_ns: Nanos,
    /// Time ready to run but waiting for a core.
    pub run_queue_ns: Nanos,
}

/// Reads the usage of the thread that created it. Its file stays open, because opening it takes several
/// times as long as reading it.
#[derive(Debug)]
pub struct ThreadMeter {
    schedstat: Option<File>,
}

impl Default for ThreadMeter {
    fn default() -> Self {
        Self::new()
    }
}

impl ThreadMeter {
    /// Creates a meter of the calling thread; after a fork, the child needs its own.
    #[must_use]
    pub fn new() -> Self {
        Self { schedstat: File::open("/proc/thread-self/schedstat").ok() }
    }

    /// Returns the usage until now; only the thread that created the meter may call it.
    #[must_use]
    pub fn read(&self) -> ThreadUsage {
        let mut text = [0; 96];
        let length = self.schedstat.as_ref().and_then(|file| file.read_at(&mut text, 0).ok());
        let text = std::str::from_utf8(&text[..length.unwrap_or(0)]).unwrap_or_default();
        ThreadUsage { cpu_ns: thread_cpu_ns(), run_queue_ns: field(text, 1) }
    }
}

/// Processor time of the calling thread.
#[must_use]
pub fn thread_cpu_ns() -> Nanos {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    // Neither part is negative on this clock.
    time.tv_sec.unsigned_abs() * 1_000_000_000 + time.tv_nsec.unsigned_abs()
}

/// Processor time of the whole machine, summed over its cores.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MachineUsage {
    /// All time except idle time and waits for disks.
    pub busy_ns: Nanos,
    /// Time that the hypervisor gave to other machines.
    pub steal_ns: Nanos,
    /// All time.
    pub total_ns: Nanos,
    /// Time for which this cgroup was throttled.
    pub throttled_ns: Nanos,
}

impl MachineUsage {
    /// Reads the usage of the machine.
    #[must_use]
    pub fn now() -> Self {
        let stat = read_to_string("/proc/stat").unwrap_or_default();
        let line = stat.lines().next().unwrap_or_default();
        // cpu user nice system idle iowait irq softirq steal (proc(5)).
        let ticks: Vec<u64> =
            line.split_ascii_whitespace().skip(1).take(8).flat_map(str::parse).collect();
        let sum: u64 = ticks.iter().sum();
        let idle: u64 = ticks.iter().skip(3).take(2).sum();
        Self {
            busy_ns: (sum - idle) * TICK_NS,
            steal_ns: ticks.get(7).copied().unwrap_or(0) * TICK_NS,
            total_ns: sum * TICK_NS,
            throttled_ns: throttled_ns(),
        }
    }
}

fn throttled_ns() -> Nanos {
    let group = read_to_string("/proc/self/cgroup").unwrap_or_default();
    let path = group.lines().find_map(|line| line.strip_prefix("0::")).unwrap_or("/");
    let stat = read_to_string(format!("/sys/fs/cgroup{path}/cpu.stat")).unwrap_or_default();
    let line = stat.lines().find_map(|line| line.strip_prefix("throttled_usec "));
    line.and_then(|text| text.parse::<u64>().ok()).unwrap_or(0) * 1000
}

/// Returns the processor time of this process, including Python.
#[must_use]
pub fn process_cpu_ns() -> Nanos {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec.unsigned_abs() * 1_000_000_000 + time.tv_nsec.unsigned_abs()
}

/// Returns the maximum resident memory of this process so far, in bytes.
#[must_use]
pub fn max_rss_bytes() -> u64 {
    let status = read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.map_or(0, |line| field(line, 0) * 1024)
}

/// Returns the processor time of each thread of `processes`: a single-threaded server can use one core
/// only, however many are idle.
#[must_use]
pub fn thread_times(processes: &[u32]) -> BTreeMap<u32, Nanos> {
    let mut threads = BTreeMap::new();
    for process in processes {
        let Ok(tasks) = std::fs::read_dir(format!("/proc/{process}/task")) else { continue };
        for task in tasks.flatten() {
            let Ok(number) = task.file_name().to_string_lossy().parse() else { continue };
            let schedstat = read_to_string(task.path().join("schedstat")).unwrap_or_default();
            threads.insert(number, field(&schedstat, 0));
        }
    }
    threads
}

/// Returns the number of cores on which `processes` may run together; 0 if they cannot be inspected.
#[must_use]
pub fn cores_of(processes: &[u32]) -> usize {
    let mut cores = BTreeSet::new();
    for process in processes {
        let status = read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
        let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
        for range in list.unwrap_or_default().trim().split(',') {
            let (first, last) = range.split_once('-').unwrap_or((range, range));
            if let (Ok(first), Ok(last)) = (first.parse::<usize>(), last.parse::<usize>()) {
                cores.extend(first..=last);
            }
        }
    }
    cores.len()
}

fn field(text: &str, index: usize) -> u64 {
    text.split_ascii_whitespace().nth(index).and_then(|word| word.parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_the_work_of_this_thread() {
        let meter = ThreadMeter::new();
        let before = meter.read();
        let mut sum = 0_u64;
        // /proc is late by a tick of the scheduler, at most 10 ms.
        while meter.read().cpu_ns - before.cpu_ns < 30_000_000 {
            sum = std::hint::black_box(sum + 1);
        }
        let own = rustix::thread::gettid().as_raw_nonzero().get().cast_unsigned();
        let seen = thread_times(&[std::process::id()])[&own];
        assert!((20_000_000..=meter.read().cpu_ns).contains(&seen), "{seen} ns");
        assert_eq!(cores_of(&[std::process::id()]), crate::allowed_cores().len());
    }

    #[test]
    fn the_machine_is_never_busier_than_it_is_large() {
        let usage = MachineUsage::now();
        assert!(usage.busy_ns > 0, "/proc/stat was not read");
        assert!(usage.busy_ns <= usage.total_ns && usage.steal_ns <= usage.busy_ns);
    }
}
