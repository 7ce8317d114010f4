//! How messages are sent over WebSocket, and how answers find them.

use serde::{Deserialize, Serialize};

/// The properties of all messages of a plan.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct WebSocketPlan {
    /// How an answer finds its message.
    pub matching: Matching,
    /// Whether all messages are binary; otherwise those that are UTF-8 are texts.
    pub binary: bool,
}

/// How an answer finds its message.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
pub enum Matching {
    /// It belongs to the oldest message without an answer.
    #[default]
    Order,
    /// The value of this key of their JSON objects is the same.
    Id {
        /// The key.
        key: String,
    },
    /// There are no answers: a message is complete when it was written.
    None,
}
