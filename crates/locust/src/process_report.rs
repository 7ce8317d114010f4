//! The report of a Locust process to the master: closed intervals, as JSON with a version.

use net::Nanos;
use serde::{Deserialize, Serialize};

use super::row_names::RowName;
use engine::Report;

const VERSION: u32 = 4;

/// The version of torr; counts by reason depend on it, since they have no names.
const TORR: &str = env!("CARGO_PKG_VERSION");

/// Intervals of one process, and the names of their rows.
#[derive(Debug, Serialize, Deserialize)]
pub struct ProcessReport {
    version: u32,
    torr: String,
    pub(super) row_names: Vec<RowName>,
    pub(super) intervals: Vec<IntervalTally>,
    pub(super) process_usage: ProcessUsage,
    /// Broken streams of the test that Locust has not reported.
    pub(super) unreported_streams: u64,
}

/// The counts of a second or of a part of one; its times are those of the wall clock.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct IntervalTally {
    /// The row of each tally of the report.
    pub(super) rows: Vec<u32>,
    pub(super) report: Report,
}

/// The resource usage of a process.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub(super) struct ProcessUsage {
    /// Processor time in the window.
    pub(super) cpu_ns: Nanos,
    /// The maximum resident memory.
    pub(super) max_rss_bytes: u64,
}

impl ProcessReport {
    pub(super) fn new(
        row_names: Vec<RowName>,
        intervals: Vec<IntervalTally>,
        process_usage: ProcessUsage,
    ) -> Self {
        Self {
            version: VERSION,
            torr: TORR.into(),
            row_names,
            intervals,
            process_usage,
            unreported_streams: 0,
        }
    }

    /// Encodes the report.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        // Numbers, texts and maps with text keys always have a JSON form.
        serde_json::to_vec(self).unwrap_or_default()
    }

    /// Decodes a report; the error says why this is not possible.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, String> {
        /// The part that is read first, since the rest depends on the version.
        #[derive(Deserialize)]
        struct VersionHead {
            version: u32,
            torr: String,
        }
        let failed = |error| format!("its report cannot be read: {error}");
        let head: VersionHead = serde_json::from_slice(bytes).map_err(failed)?;
        if (head.version, head.torr.as_str()) != (VERSION, TORR) {
            return Err(format!(
                "it runs torr {} with reports of format {}, and this is torr {TORR} with reports of \
                 format {VERSION}",
                head.torr, head.version
            ));
        }
        let report: Self = serde_json::from_slice(bytes).map_err(failed)?;
        let fits = |interval: &IntervalTally| {
            interval.rows.len() == interval.report.tallies.len()
                && interval.rows.iter().all(|row| (*row as usize) < report.row_names.len())
        };
        if report.intervals.iter().all(fits) {
            Ok(report)
        } else {
            Err("its report names rows that it does not have".into())
        }
    }

    /// Returns whether the report has no intervals.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.intervals.is_empty()
    }
}
