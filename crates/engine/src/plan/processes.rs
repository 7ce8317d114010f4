//! How many processes share a load: a number, or as many as the descriptors ask for.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Plan;

/// More would not find work on any one machine.
const MOST: u32 = 64;

/// Processes of a plan; in JSON a number or `"auto"`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Value", into = "Value")]
pub enum Processes {
    /// So many; one is this process alone.
    Exactly(u32),
    /// One, and more only where one may not hold all connections.
    Auto,
}

impl Default for Processes {
    fn default() -> Self {
        Self::Exactly(1)
    }
}

impl Processes {
    /// The parts of `plan`, one a process that may hold `room` connections.
    ///
    /// Cores ask for no processes: workers are threads. They are shared out, at least one each.
    pub(crate) fn parts(self, plan: &Plan, room: u64) -> Vec<Plan> {
        let count = match self {
            Self::Exactly(count) => count,
            Self::Auto => needed(plan.connections().into(), room, plan.workers.into()),
        };
        let mut parts = plan.split(count);
        let of = u32::try_from(parts.len()).unwrap_or(MOST);
        for (part, number) in parts.iter_mut().zip(0..) {
            let workers = plan.workers / of + u32::from(number < plan.workers % of);
            part.workers = workers.max(1);
        }
        parts
    }
}

/// Workers share their process's room evenly, which wastes less than one place each.
fn needed(connections: u64, room: u64, workers: u64) -> u32 {
    let count = connections.div_ceil(room.saturating_sub(workers).max(1));
    u32::try_from(count).unwrap_or(MOST).clamp(1, MOST)
}

impl TryFrom<Value> for Processes {
    type Error = String;

    fn try_from(value: Value) -> Result<Self, String> {
        match value.as_u64().map(u32::try_from) {
            Some(Ok(count)) if (1..=MOST).contains(&count) => Ok(Self::Exactly(count)),
            None if value == "auto" => Ok(Self::Auto),
            _ => Err(format!("processes: {value} is neither 1 to {MOST} nor \"auto\"")),
        }
    }
}

impl From<Processes> for Value {
    fn from(processes: Processes) -> Self {
        match processes {
            Processes::Exactly(count) => count.into(),
            Processes::Auto => "auto".into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Pace;
    use crate::plan::tests::plan;

    fn count(processes: Processes, users: u32, room: u64) -> usize {
        processes.parts(&plan(Pace::Closed(crate::plan::Closed::new(users))), room).len()
    }

    #[test]
    fn auto_is_one_until_the_connections_do_not_fit() {
        let table = [(1, 1), (999, 1), (1000, 2), (1998, 2), (1999, 3), (u32::MAX, 64)];
        for (users, processes) in table {
            assert_eq!(count(Processes::Auto, users, 1000), processes, "{users}");
        }
        assert_eq!(count(Processes::Auto, 3, 0), 3, "never more than there are connections");
    }

    #[test]
    fn every_process_has_a_share_of_the_workers() {
        let mut whole = plan(Pace::Closed(crate::plan::Closed::new(90)));
        for (workers, processes, expected) in [(5, 3, [2, 2, 1]), (1, 3, [1, 1, 1])] {
            whole.workers = workers;
            let parts = Processes::Exactly(processes).parts(&whole, 1);
            let shared: Vec<_> = parts.iter().map(|part| part.workers).collect();
            assert_eq!(shared, expected);
            assert!(parts.iter().all(|part| part.processes == Processes::Exactly(1)));
        }
    }

    #[test]
    fn json_has_a_number_or_the_word() {
        for text in ["1", "64", "\"auto\""] {
            let processes: Processes = serde_json::from_str(text).unwrap();
            assert_eq!(serde_json::to_string(&processes).unwrap(), text);
        }
        for text in ["0", "65", "-1", "2.5", "\"many\"", "null", "99999999999"] {
            let error = serde_json::from_str::<Processes>(text).unwrap_err().to_string();
            assert!(error.contains("neither 1 to 64"), "{text}: {error}");
        }
    }
}
