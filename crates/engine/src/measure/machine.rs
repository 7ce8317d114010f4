//! Readings of the machine, and of a target on the same machine.

use std::collections::BTreeMap;

use net::{Address, MachineUsage, Nanos, monotonic_ns, thread_times};
use serde::{Deserialize, Serialize};

use super::health::Vitals;
use super::timeline::WorkerPart;

/// The minimum time between two readings: the clocks of /proc tick every 10 ms.
const MIN_READING_NS: Nanos = 50_000_000;

/// The machine, and the processes of the target on it.
pub(crate) struct Machine {
    target: Vec<u32>,
    target_cores: usize,
    last: MachineUsage,
    last_threads: BTreeMap<u32, Nanos>,
    read_at: Nanos,
    /// The usage between the last two readings.
    reading: MachineReading,
}

/// The usage between two readings.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct MachineReading {
    /// Percent of the machine's time that the hypervisor took.
    pub(crate) steal_rate: f64,
    /// Whether the cgroup was throttled.
    pub(crate) throttled: bool,
    /// Percent of a core that the busiest thread of a target on this machine used.
    pub(crate) target_cpu_rate: Option<f64>,
    /// Whether the target is on this machine.
    pub(crate) is_local: bool,
}

impl MachineReading {
    /// Returns the higher number of each, of two machines or of two readings of one.
    pub(crate) fn worst(self, other: Self) -> Self {
        Self {
            steal_rate: self.steal_rate.max(other.steal_rate),
            throttled: self.throttled || other.throttled,
            target_cpu_rate: match (self.target_cpu_rate, other.target_cpu_rate) {
                (Some(one), Some(two)) => Some(one.max(two)),
                (one, two) => one.or(two),
            },
            is_local: self.is_local || other.is_local,
        }
    }
}

/// Returns the vitals of workers in an interval; `can_lag` says whether they can be late.
pub(crate) fn vitals(workers: &[WorkerPart], reading: MachineReading, can_lag: bool) -> Vitals {
    let rates = |pick: fn(&net::ThreadUsage) -> Nanos| -> Vec<f64> {
        workers.iter().map(|part| percent(pick(&part.usage), part.wall)).collect()
    };
    Vitals {
        worker_cpu_rate: rates(|usage| usage.cpu_ns),
        run_queue_rate: rates(|usage| usage.run_queue_ns),
        steal_rate: reading.steal_rate,
        throttled: reading.throttled,
        target_cpu_rate: reading.target_cpu_rate,
        is_local: reading.is_local,
        lags: if can_lag { workers.iter().map(|part| part.lag).collect() } else { Vec::new() },
    }
}

impl Machine {
    pub(crate) fn new(addresses: &[Address]) -> Self {
        let target = net::listening_processes(addresses);
        Self {
            last: MachineUsage::now(),
            last_threads: thread_times(&target),
            read_at: monotonic_ns(),
            reading: MachineReading {
                is_local: addresses.iter().any(Address::is_own),
                ..MachineReading::default()
            },
            target_cores: net::cores_of(&target),
            target,
        }
    }

    /// Returns the usage since the last reading. Intervals that are completed at once share one reading,
    /// which covers the time of all.
    pub(crate) fn read(&mut self, at: Nanos) -> MachineReading {
        let wall = at.saturating_sub(self.read_at);
        if wall < MIN_READING_NS {
            return self.reading;
        }
        self.read_at = at;
        let now = MachineUsage::now();
        let before = std::mem::replace(&mut self.last, now);
        let elapsed = now.total_ns.saturating_sub(before.total_ns);
        self.reading = MachineReading {
            steal_rate: percent(now.steal_ns.saturating_sub(before.steal_ns), elapsed),
            throttled: now.throttled_ns > before.throttled_ns,
            target_cpu_rate: self.target_cpu_rate(wall),
            is_local: self.reading.is_local,
        };
        self.reading
    }

    /// Returns the load of the target: of its busiest thread on one core, or of all threads on the cores
    /// that it may use, if that is more (a runtime may move its work between threads).
    fn target_cpu_rate(&mut self, wall: Nanos) -> Option<f64> {
        let now = thread_times(&self.target);
        let before = std::mem::replace(&mut self.last_threads, now);
        let spent: Vec<Nanos> = self
            .last_threads
            .iter()
            .map(|(thread, cpu_ns)| cpu_ns.saturating_sub(before.get(thread).copied().unwrap_or(0)))
            .collect();
        let busiest = percent(spent.iter().copied().max()?, wall);
        let cores = wall.saturating_mul(self.target_cores.max(1) as u64);
        Some(busiest.max(percent(spent.iter().sum(), cores)).min(100.0))
    }
}

#[allow(clippy::cast_precision_loss)]
fn percent(part: Nanos, whole: Nanos) -> f64 {
    if whole == 0 { 0.0 } else { 100.0 * part as f64 / whole as f64 }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn intervals_that_become_whole_at_once_share_one_look() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut machine = Machine::new(&[Address::Ip(listener.local_addr().unwrap())]);
        let began = net::thread_cpu_ns();
        while net::thread_cpu_ns() < began + MIN_READING_NS {
            std::hint::black_box(0);
        }
        let at = machine.read_at + 2 * MIN_READING_NS;
        let reading = machine.read(at).target_cpu_rate.unwrap();
        assert!(reading > 0.0);
        assert_eq!(machine.read(at + MIN_READING_NS - 1).target_cpu_rate, Some(reading));
        assert_eq!(machine.read_at, at);
        // Without work since then, the next reading is lower.
        machine.last_threads = thread_times(&machine.target);
        machine.read(at + 1_000 * MIN_READING_NS);
        assert!(machine.reading.target_cpu_rate.unwrap() < reading);
    }
}
