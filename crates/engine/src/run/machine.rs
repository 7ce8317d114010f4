//! What is watched beside the workers: the machine, and a target that shares it.

use std::collections::BTreeMap;

use net::{Address, MachineUsage, Nanos, monotonic_ns, thread_times};

use crate::health::Vitals;
use crate::timeline::Slice;

/// What is watched beside the workers.
pub(super) struct Machine {
    is_local: bool,
    target: Vec<u32>,
    last: MachineUsage,
    /// When the target's threads were looked at last.
    looked_at: Nanos,
    target_cores: usize,
    last_threads: BTreeMap<u32, Nanos>,
}

impl Machine {
    pub(super) fn new(addresses: &[Address]) -> Self {
        let target = net::listening_processes(addresses);
        Self {
            is_local: addresses.iter().any(Address::is_own),
            last: MachineUsage::now(),
            looked_at: monotonic_ns(),
            target_cores: net::cores_of(&target),
            last_threads: thread_times(&target),
            target,
        }
    }

    pub(super) fn vitals(&mut self, slice: &Slice, is_open_model: bool) -> Vitals {
        let (before, now) = (self.last, MachineUsage::now());
        self.last = now;
        let elapsed = now.total_ns.saturating_sub(before.total_ns);
        let rates = |pick: fn(&net::ThreadUsage) -> Nanos| -> Vec<f64> {
            slice.usage.iter().map(|(usage, wall)| percent(pick(usage), *wall)).collect()
        };
        Vitals {
            worker_cpu_rate: rates(|usage| usage.cpu_ns),
            run_queue_rate: rates(|usage| usage.run_queue_ns),
            steal_rate: percent(now.steal_ns.saturating_sub(before.steal_ns), elapsed),
            throttled: now.throttled_ns > before.throttled_ns,
            target_cpu_rate: self.target_cpu_rate(),
            is_local: self.is_local,
            lag_p99: if is_open_model { slice.lag_p99.clone() } else { Vec::new() },
        }
    }

    /// How full the target is: its busiest thread against one core, or all of it against the
    /// cores that it may use (a runtime that moves its work between threads fills no single one).
    ///
    /// Over the time between two looks, which is that of a slice only when nobody is kept waiting.
    fn target_cpu_rate(&mut self) -> Option<f64> {
        let now = thread_times(&self.target);
        let looked_at = monotonic_ns();
        let wall = looked_at - std::mem::replace(&mut self.looked_at, looked_at);
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
