//! The files that a load writes beside its summary: a log of exchanges, and the texts of streams.

use std::path::Path;

use super::log::Log;
use super::texts::Texts;
use crate::measure::report::Report;
use crate::messages::{LOG_ENDS_EARLY, Message, TEXTS_END_EARLY};
use crate::plan::Plan;

/// The files that the plan asks for and that could be written so far.
#[derive(Debug)]
pub(crate) struct LoadFiles {
    log: Option<Log>,
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
            texts: texts
                .map(|path| Texts::create(path).map_err(|error| failed("texts", path, error)))
                .transpose()?,
        })
    }

    /// Writes the rows and texts of a report; returns a message for each file that ends early.
    ///
    /// The load goes on without that file.
    pub(crate) fn write(
        &mut self,
        report: &Report,
        requests: &[String],
        rows: &[String],
    ) -> Vec<Message> {
        let logged = self.log.as_mut().map_or(Ok(()), |log| log.write(&report.rows, requests));
        let texts_written =
            self.texts.as_mut().map_or(Ok(()), |texts| texts.write(&report.texts, rows));
        let mut endings = Vec::new();
        if let Err(error) = logged {
            self.log = None;
            endings.push(LOG_ENDS_EARLY.message([("error", error.to_string().into())]));
        }
        if let Err(error) = texts_written {
            self.texts = None;
            endings.push(TEXTS_END_EARLY.message([("error", error.to_string().into())]));
        }
        endings
    }
}
