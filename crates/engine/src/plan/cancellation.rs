//! Users who give up before their response is complete.

use serde::{Deserialize, Serialize};

use super::Think;

/// Which attempts are cancelled, and when.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cancellation {
    /// The share of attempts whose users give up, from 0 to 1; the others wait.
    pub share: f64,
    /// When they do, if the response is not complete then.
    pub after: CancelAfter,
}

/// The moment at which a user gives up.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
pub enum CancelAfter {
    /// After a time from the start of the attempt.
    Time {
        /// Its distribution.
        time: Think,
    },
    /// After a number of texts of the stream, any between the two as likely.
    Texts {
        /// At least; 1 or more.
        from: u64,
        /// At most.
        to: u64,
    },
}

impl Cancellation {
    pub(super) fn check(&self) -> Result<(), String> {
        if !(0.0..=1.0).contains(&self.share) {
            return Err("the share of cancelled attempts is not from 0 to 1".into());
        }
        match self.after {
            CancelAfter::Texts { from, to } if from == 0 || from > to => {
                Err("attempts are cancelled after 1 text or more".into())
            }
            _ => Ok(()),
        }
    }
}
