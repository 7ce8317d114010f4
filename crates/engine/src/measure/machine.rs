//! What is watched beside the workers: the machine, and a target that shares it.

use std::collections::BTreeMap;

use net::{Address, MachineUsage, Nanos, monotonic_ns, thread_times};

use super::health::Vitals;
use super::timeline::Interval;

/// Looks closer together than this see more of the 10 ms at which /proc's clocks tick than of a load.
const APART_NS: Nanos = 50_000_000;

/// What is watched beside the workers.
pub(crate) struct Machine {
    is_local: bool,
    target: Vec<u32>,
    target_cores: usize,
    last: MachineUsage,
    last_threads: BTreeMap<u32, Nanos>,
    looked_at: Nanos,
    /// What was seen between the last two looks.
    seen: Seen,
}

/// What went on beside the workers between two looks.
#[derive(Debug, Clone, Copy, Default)]
struct Seen {
    steal_rate: f64,
    throttled: bool,
    target_cpu_rate: Option<f64>,
}

impl Machine {
    pub(crate) fn new(addresses: &[Address]) -> Self {
        let target = net::listening_processes(addresses);
        Self {
            is_local: addresses.iter().any(Address::is_own),
            last: MachineUsage::now(),
            last_threads: thread_times(&target),
            looked_at: monotonic_ns(),
            seen: Seen::default(),
            target_cores: net::cores_of(&target),
            target,
        }
    }

    /// What an interval showed; `can_lag` says that whoever fires could be late.
    pub(crate) fn vitals(&mut self, interval: &Interval, can_lag: bool) -> Vitals {
        let rates = |pick: fn(&net::ThreadUsage) -> Nanos| -> Vec<f64> {
            interval.workers.iter().map(|part| percent(pick(&part.usage), part.wall)).collect()
        };
        let seen = self.look(monotonic_ns());
        Vitals {
            worker_cpu_rate: rates(|usage| usage.cpu_ns),
            run_queue_rate: rates(|usage| usage.run_queue_ns),
            steal_rate: seen.steal_rate,
            throttled: seen.throttled,
            target_cpu_rate: seen.target_cpu_rate,
            is_local: self.is_local,
            lags: if can_lag {
                interval.workers.iter().map(|part| part.lag).collect()
            } else {
                Vec::new()
            },
        }
    }

    /// What went on since the last look. Intervals that become whole at once share one: the look at
    /// the first of them saw the time of all.
    fn look(&mut self, at: Nanos) -> Seen {
        let wall = at.saturating_sub(self.looked_at);
        if wall < APART_NS {
            return self.seen;
        }
        self.looked_at = at;
        let now = MachineUsage::now();
        let before = std::mem::replace(&mut self.last, now);
        let elapsed = now.total_ns.saturating_sub(before.total_ns);
        self.seen = Seen {
            steal_rate: percent(now.steal_ns.saturating_sub(before.steal_ns), elapsed),
            throttled: now.throttled_ns > before.throttled_ns,
            target_cpu_rate: self.target_cpu_rate(wall),
        };
        self.seen
    }

    /// How full the target is: its busiest thread against one core, or all of it against the
    /// cores that it may use (a runtime that moves its work between threads fills no single one).
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
        while net::thread_cpu_ns() < began + APART_NS {
            std::hint::black_box(0);
        }
        let at = machine.looked_at + 2 * APART_NS;
        let seen = machine.look(at).target_cpu_rate.unwrap();
        assert!(seen > 0.0);
        assert_eq!(machine.look(at + APART_NS - 1).target_cpu_rate, Some(seen));
        assert_eq!(machine.looked_at, at);
        // Nobody worked since: the next look that counts says so.
        machine.last_threads = thread_times(&machine.target);
        machine.look(at + 1_000 * APART_NS);
        assert!(machine.seen.target_cpu_rate.unwrap() < seen);
    }
}
