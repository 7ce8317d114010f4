//! What the settings of all specs share: defaults, ranges, and the error of a setting that is out of range.

use std::error::Error;
use std::fmt;

/// The maximum delay, also of a distribution: 1 hour.
pub(crate) const LONGEST_DELAY_NS: u64 = 3_600_000_000_000;

/// A setting that is out of range: its key, and its range.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpecError {
    key: String,
    problem: String,
}

/// Checks a share; NaN is refused, too.
pub(crate) fn within<T>(key: &str, value: T, least: T, most: T) -> Result<(), SpecError>
where
    T: PartialOrd + fmt::Display,
{
    if value >= least && value <= most {
        return Ok(());
    }
    Err(SpecError {
        key: key.to_owned(),
        problem: format!("{value} is not within {least} to {most}"),
    })
}

impl fmt::Display for SpecError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.key, self.problem)
    }
}

impl Error for SpecError {}

pub(crate) fn default_host() -> String {
    "127.0.0.1".to_owned()
}

pub(crate) fn default_threads() -> usize {
    1
}

pub(crate) fn default_seed() -> u64 {
    1
}
