//! The files that a load writes beside its summary: a log of exchanges, and the texts of streams.

use std::path::Path;

use net::Nanos;

use super::log::Log;
use super::texts::Texts;
use crate::measure::report::{ExchangeRow, Report};
use crate::messages::{LOG_ENDS_EARLY, Message, TEXTS_END_EARLY};
use crate::plan::Plan;

/// The files that the plan asks for and that could be written so far.
#[derive(Debug)]
pub(crate) struct LoadFiles {
    log: Option<Log>,
    /// Rows that are not in the log yet: other workers may still report earlier ones.
    rows: Vec<ExchangeRow>,
    texts: Option<Texts>,
}

impl LoadFiles {
    /// Creates the files of a plan; the message says which one cannot be.
    pub(crate) fn create(plan: &Plan) -> Result<Self, String> {
        let failed = |what: &str, path: &Path, error| format!("{what} {}: {error}", path.display());
        let log = plan.log.as_deref();
        let texts = plan.texts.as_deref();
        Ok(Self {
            log: log
                .map(|path| Log::create(path).map_err(|error| failed("log", path, error)))
                .transpose()?,
            rows: Vec::new(),
            texts: texts
                .map(|path| Texts::create(path).map_err(|error| failed("texts", path, error)))
                .transpose()?,
        })
    }

    /// Takes the rows of a report and writes its texts; returns a message if their file ends early.
    ///
    /// The load goes on without that file.
    pub(crate) fn add(&mut self, report: &mut Report, rows: &[String]) -> Option<Message> {
        if self.log.is_some() {
            self.rows.append(&mut report.rows);
        }
        let written = self.texts.as_mut().map_or(Ok(()), |texts| texts.write(&report.texts, rows));
        let error = written.err()?;
        self.texts = None;
        Some(TEXTS_END_EARLY.message([("error", error.to_string().into())]))
    }

    /// Writes the rows of exchanges that ended until a time, which all workers have reported, in the order
    /// of their last bytes; returns a message if the log ends early. The end of a connection ends some
    /// responses long after their last byte: their rows may come later.
    ///
    /// The load goes on without it.
    pub(crate) fn log_until(&mut self, time: Nanos, requests: &[String]) -> Option<Message> {
        let log = self.log.as_mut()?;
        // Those of each worker are almost in order, of which this makes use.
        self.rows.sort_by_key(|row| row.stamps.last_byte);
        let count = self.rows.partition_point(|row| row.stamps.last_byte <= time);
        let written = log.write(&self.rows[..count], requests);
        self.rows.drain(..count);
        let error = written.err()?;
        (self.log, self.rows) = (None, Vec::new());
        Some(LOG_ENDS_EARLY.message([("error", error.to_string().into())]))
    }
}
