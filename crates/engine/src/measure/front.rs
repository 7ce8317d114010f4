//! The kinds of load generators, and the messages about their health.

use serde::Serialize;

use crate::messages::{self, MessageTemplate};

/// The kind of the load generator, on which the messages about its health depend.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Front {
    /// The workers of the engine.
    #[default]
    Engine,
    /// Processes of Locust, whose users are greenlets.
    Locust,
}

/// The messages about a front.
pub(crate) struct Messages {
    pub process_lost: MessageTemplate,
    pub saturated: MessageTemplate,
    pub late: MessageTemplate,
    pub late_and_idle: MessageTemplate,
    pub run_queue: MessageTemplate,
    pub no_descriptor: MessageTemplate,
}

const OF_ENGINE: Messages = Messages {
    process_lost: messages::PROCESS_LOST,
    saturated: messages::SATURATED,
    late: messages::LATE,
    late_and_idle: messages::LATE,
    run_queue: messages::RUN_QUEUE,
    no_descriptor: messages::NO_DESCRIPTOR,
};

const OF_LOCUST: Messages = Messages {
    process_lost: messages::LOCUST_PROCESS_LOST,
    saturated: messages::LOCUST_SATURATED,
    late: messages::LOCUST_LATE,
    late_and_idle: messages::LOCUST_LATE_AND_IDLE,
    run_queue: messages::LOCUST_RUN_QUEUE,
    no_descriptor: messages::LOCUST_NO_DESCRIPTOR,
};

impl Front {
    pub(crate) fn messages(self) -> &'static Messages {
        match self {
            Self::Engine => &OF_ENGINE,
            Self::Locust => &OF_LOCUST,
        }
    }
}
