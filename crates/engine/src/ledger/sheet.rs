//! What a Locust process hands up: the pages it has closed. Versioned bytes between processes.

use net::Nanos;
use serde::{Deserialize, Serialize};

use super::titles::Title;
use crate::report::{Connections, Report};

const VERSION: u32 = 3;

/// The version of torr: counts by reason have no other names than their places.
const TORR: &str = env!("CARGO_PKG_VERSION");

/// Pages of one process, and what their rows are called.
#[derive(Debug, Serialize, Deserialize)]
pub struct Sheet {
    version: u32,
    torr: String,
    pub(super) titles: Vec<Title>,
    pub(super) pages: Vec<Page>,
    pub(super) cost: Cost,
    /// Streams that broke of which nothing was reported, so far.
    pub(super) unreported: u64,
}

/// What happened in a second or the part of one; its times are those of the wall clock.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Page {
    /// The row of each tally of the report.
    pub(super) rows: Vec<u32>,
    pub(super) report: Report,
}

/// What a process has used so far.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub(super) struct Cost {
    /// Processor time in the window.
    pub(super) cpu_ns: Nanos,
    /// The most memory it ever held.
    pub(super) max_rss_bytes: u64,
}

/// What is open in a process now.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Standing {
    /// Requests without an end.
    pub in_flight: u64,
    /// Its connections.
    pub connections: Connections,
}

impl Sheet {
    pub(super) fn new(titles: Vec<Title>, pages: Vec<Page>, cost: Cost) -> Self {
        Self { version: VERSION, torr: TORR.into(), titles, pages, cost, unreported: 0 }
    }

    /// The sheet as bytes.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        // Numbers, texts and maps with text keys always have a JSON form.
        serde_json::to_vec(self).unwrap_or_default()
    }

    /// Reads a sheet; the message says why the bytes are none.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, String> {
        /// What is read first: the rest may have another form.
        #[derive(Deserialize)]
        struct Head {
            version: u32,
            torr: String,
        }
        let failed = |error| format!("its report cannot be read: {error}");
        let head: Head = serde_json::from_slice(bytes).map_err(failed)?;
        if (head.version, head.torr.as_str()) != (VERSION, TORR) {
            return Err(format!("it runs torr {}, and this is torr {TORR}", head.torr));
        }
        let sheet: Self = serde_json::from_slice(bytes).map_err(failed)?;
        let fits = |page: &Page| {
            page.rows.len() == page.report.tallies.len()
                && page.rows.iter().all(|row| (*row as usize) < sheet.titles.len())
        };
        if sheet.pages.iter().all(fits) {
            Ok(sheet)
        } else {
            Err("its report names rows that it does not have".into())
        }
    }

    /// Whether there is nothing in it.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.pages.is_empty()
    }
}
