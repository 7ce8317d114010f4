//! A report of Locust about a call, which is counted when the call has ended.

use std::sync::{Arc, Mutex, PoisonError};

use client::{Answer, Reason, Stamps, UNSET};
use net::Nanos;

use super::{RequestRecord, RequestTally};

/// The run queue is read only after a longer lag.
const MIN_LAG_NS: Nanos = 1_000_000;

/// A report of Locust, and the row in which it is counted.
pub struct LocustReport {
    /// The counts of this process.
    pub tally: Arc<Mutex<RequestTally>>,
    /// The row.
    pub row: u32,
    /// The response time that Locust reported.
    pub response_ns: Option<Nanos>,
    /// The error text of Locust.
    pub failure: Option<String>,
    /// Whether the failure is the status.
    pub is_status: bool,
}

impl LocustReport {
    /// Counts a call that has ended; `resumed` is when its greenlet was resumed. With `is_late` the
    /// report came before the end, so that a reported success may have failed since.
    pub(super) fn record(&self, answer: &mut Answer, resumed: Nanos, is_late: bool) {
        let failure = answer.outcome.failure;
        let cause = match (&self.failure, failure) {
            (None, _) if is_late => failure.or(answer.fault),
            (None, _) => None,
            (Some(_), Some(cause)) => Some(cause),
            (Some(_), None) if self.is_status => Some(Reason::Status),
            (Some(_), None) => Some(Reason::CheckLocustfile),
        };
        let stamps = answer.stamps;
        let lag = (resumed != UNSET).then(|| resumed.saturating_sub(stamps.last_byte));
        let gaps: Vec<_> =
            answer.stream_reader.iter_mut().flat_map(|reader| reader.take_gaps()).collect();
        let observed = answer.stream_reader.as_ref().map(|reader| *reader.observation());
        self.write(&RequestRecord {
            lag_ns: lag,
            status: answer.outcome.status,
            failure: cause,
            bytes_in: answer.bytes_in,
            bytes_out: answer.bytes_out,
            is_abandoned: answer.is_abandoned,
            stream: observed.as_ref().map(|observed| (observed, gaps.as_slice())),
            ..self.base_record(stamps)
        });
    }

    /// Records that the call was reported before its end.
    pub(super) fn record_open_request(&self, intended: Nanos) {
        let mut tally = self.tally.lock().unwrap_or_else(PoisonError::into_inner);
        if tally.has_row(self.row) {
            tally.record_open_request(self.row, intended);
        }
    }

    /// Records that a call that was reported before its end has ended.
    pub(super) fn remove_open_request(&self, intended: Nanos) {
        let mut tally = self.tally.lock().unwrap_or_else(PoisonError::into_inner);
        tally.remove_open_request(self.row, intended);
    }

    /// Counts the request of an interrupted greenlet as in flight.
    pub(super) fn abandon(&self, intended: Nanos) {
        let mut tally = self.tally.lock().unwrap_or_else(PoisonError::into_inner);
        if tally.has_row(self.row) {
            tally.abandon(self.row, intended);
        }
    }

    fn base_record(&self, stamps: Stamps) -> RequestRecord<'_> {
        RequestRecord {
            stamps,
            response_ns: self.response_ns,
            lag_ns: None,
            status: None,
            failure: None,
            detail: self.failure.as_deref().unwrap_or_default(),
            bytes_in: 0,
            bytes_out: 0,
            is_abandoned: false,
            stream: None,
        }
    }

    fn write(&self, record: &RequestRecord<'_>) {
        // Counts are consistent even after a panic.
        let mut tally = self.tally.lock().unwrap_or_else(PoisonError::into_inner);
        if tally.has_row(self.row) {
            if let Some(lag) = record.lag_ns.filter(|lag| *lag >= MIN_LAG_NS) {
                tally.read_run_queue(record.stamps.last_byte + lag);
            }
            tally.record_request(self.row, record);
        }
    }
}
