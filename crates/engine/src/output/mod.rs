//! The output of a run: intervals and levels as JSON, the log of exchanges, the texts of streams.

pub(crate) mod level;
pub(crate) mod load_files;
mod log;
mod texts;
