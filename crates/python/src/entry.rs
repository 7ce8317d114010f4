//! What Locust reported of a call, until it can be booked.

use std::sync::{Arc, Mutex, PoisonError};

use client::{Answer, Reason, Stamps, UNSET};
use engine::Booking;
use net::Nanos;

/// A shorter lag is no matter of health, and what made it is not asked.
const TELLING_LAG_NS: Nanos = 1_000_000;

/// One report, and where it is to be booked.
pub(crate) struct Entry {
    pub(crate) ledger: Arc<Mutex<engine::Ledger>>,
    pub(crate) row: u32,
    pub(crate) response_ns: Option<Nanos>,
    /// The failure in Locust's words.
    pub(crate) failure: Option<String>,
    /// Whether the status is what failed.
    pub(crate) is_status: bool,
}

impl Entry {
    /// Books a call that has ended; `resumed` is when its greenlet ran again. What Locust called a
    /// success before its body was read may have failed since (`is_late`).
    pub(crate) fn book(&self, answer: &mut Answer, resumed: Nanos, is_late: bool) {
        let came = answer.outcome.failure;
        let reason = match (&self.failure, came) {
            (None, _) if is_late => came.or(answer.fault),
            (None, _) => None,
            (Some(_), Some(reason)) => Some(reason),
            (Some(_), None) if self.is_status => Some(Reason::Status),
            (Some(_), None) => Some(Reason::CheckLocustfile),
        };
        let stamps = answer.stamps;
        let lag = (resumed != UNSET).then(|| resumed.saturating_sub(stamps.last_byte));
        let gaps: Vec<_> = answer.watch.iter_mut().flat_map(|watch| watch.take_gaps()).collect();
        let seen = answer.watch.as_ref().map(|watch| *watch.seen());
        self.write(&Booking {
            lag_ns: lag,
            status: answer.outcome.status,
            failure: reason,
            bytes_in: answer.bytes_in,
            bytes_out: answer.bytes_out,
            is_left: answer.is_left,
            stream: seen.as_ref().map(|seen| (seen, gaps.as_slice())),
            ..self.begun(stamps)
        });
    }

    /// Notes that it will be booked when it is over.
    pub(crate) fn await_end(&self, intended: Nanos) {
        let mut ledger = self.ledger.lock().unwrap_or_else(PoisonError::into_inner);
        if ledger.has_row(self.row) {
            ledger.await_end(self.row, intended);
        }
    }

    /// It is over: it is booked now, or will never be.
    pub(crate) fn settle(&self, intended: Nanos) {
        let mut ledger = self.ledger.lock().unwrap_or_else(PoisonError::into_inner);
        ledger.settle(self.row, intended);
    }

    /// Leaves a request in flight whose greenlet is gone.
    pub(crate) fn abandon(&self, intended: Nanos) {
        let mut ledger = self.ledger.lock().unwrap_or_else(PoisonError::into_inner);
        if ledger.has_row(self.row) {
            ledger.abandon(self.row, intended);
        }
    }

    fn begun(&self, stamps: Stamps) -> Booking<'_> {
        Booking {
            stamps,
            response_ns: self.response_ns,
            lag_ns: None,
            status: None,
            failure: None,
            detail: self.failure.as_deref().unwrap_or_default(),
            bytes_in: 0,
            bytes_out: 0,
            is_left: false,
            stream: None,
        }
    }

    fn write(&self, booking: &Booking<'_>) {
        // Counts are whole between two calls, whatever became of the last one.
        let mut ledger = self.ledger.lock().unwrap_or_else(PoisonError::into_inner);
        if ledger.has_row(self.row) {
            if let Some(lag) = booking.lag_ns.filter(|lag| *lag >= TELLING_LAG_NS) {
                ledger.look_at_queue(booking.stamps.last_byte + lag);
            }
            ledger.book(self.row, booking);
        }
    }
}
