//! Who fires a load, and the words in which its health is spoken of.

use serde::{Deserialize, Serialize};

/// Who fires a load: reasons and advice speak of it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Front {
    /// The workers of the engine.
    #[default]
    Engine,
    /// Processes of Locust, whose users are greenlets.
    Locust,
}

/// What is said of whom.
pub(crate) struct Words {
    pub lost: &'static str,
    pub saturated: &'static str,
    pub late: &'static str,
    pub late_and_idle: &'static str,
    pub waiting: &'static str,
    pub more_processes: &'static str,
}

const LATE: &str = "requests started late (lag p99 beyond 2 ms and 10 % of the response time): lower the rate or give the generator more cores";

const OF_ENGINE: Words = Words {
    lost: "an engine process died: a part of the load is missing, measure the level again",
    saturated: "a worker used its core to the full: give the generator more cores (--workers) or another machine",
    late: LATE,
    late_and_idle: LATE,
    waiting: "a worker waited for a core while others used it",
    more_processes: "--processes auto",
};

const OF_LOCUST: Words = Words {
    lost: "a Locust process was lost, or does not run `torr locust`: a part of the load is in no number",
    saturated: "a Locust process used its core to the full: start more with --processes, or use another machine",
    late: "ready greenlets waited more than 2 ms and 10 % of the response time for their turn: start more with --processes, or let each have fewer users",
    late_and_idle: "ready greenlets waited more than 2 ms and 10 % of the response time for their turn while their process used less than half of a core: let users not wake in step, and no task block the others",
    waiting: "a Locust process waited for a core while others used it",
    more_processes: "more --processes",
};

impl Front {
    pub(crate) fn words(self) -> &'static Words {
        match self {
            Self::Engine => &OF_ENGINE,
            Self::Locust => &OF_LOCUST,
        }
    }
}
