//! The state of a call: one exchange of a greenlet, and the report of Locust about it.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use client::{Answer, Reason, Stamps, UNSET};
use net::{Nanos, monotonic_ns};
use wire::ResponseHead;

use super::locust_report::LocustReport;

/// Results of [`CallState::outcome`]: the call has not ended; its response is not plain.
const UNDER_WAY: i32 = -1;
const NOT_PLAIN: i32 = 0;

/// Fields that a plain answer does not have.
const NOT_PLAIN_FIELDS: [&str; 2] = ["set-cookie", "content-encoding"];

/// The state of a call, which the exchanges update; `W` resumes the greenlet that waits for it.
pub struct CallState<W> {
    /// Whether its body is read piece by piece.
    pub(super) streams: bool,
    /// The reactor's number of broken streams that Locust has not reported.
    unreported_streams: Arc<AtomicU64>,
    progress: Mutex<CallProgress<W>>,
}

/// The progress of a call.
struct CallProgress<W> {
    /// Called at the next event.
    waiter: Option<W>,
    status: u16,
    stamps: Option<Stamps>,
    head: Option<Arc<ResponseHead>>,
    /// The length of the body at the end; of a stream, of the part that was not read.
    body_length: usize,
    answer: Option<Box<Answer>>,
    /// The result of [`CallState::outcome`] after the head.
    outcome: i32,
    /// When the greenlet was resumed.
    resumed: Nanos,
    /// The report of Locust, if it came before the end.
    pending: Option<Box<LocustReport>>,
    /// Whether Locust has reported it.
    is_reported: bool,
}

impl<W> CallState<W> {
    pub(super) fn new(waiter: W, streams: bool, unreported_streams: Arc<AtomicU64>) -> Arc<Self> {
        let progress = CallProgress {
            waiter: Some(waiter),
            status: 0,
            stamps: None,
            head: None,
            body_length: 0,
            answer: None,
            outcome: 0,
            resumed: UNSET,
            pending: None,
            is_reported: false,
        };
        Arc::new(Self { streams, unreported_streams, progress: Mutex::new(progress) })
    }

    fn lock(&self) -> MutexGuard<'_, CallProgress<W>> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records the head of a stream.
    pub(super) fn begin(&self, head: Arc<ResponseHead>, stamps: Stamps) {
        let mut progress = self.lock();
        (progress.status, progress.stamps, progress.head) = (head.status, Some(stamps), Some(head));
        progress.outcome = progress.plain_status();
    }

    /// Records the end.
    pub(super) fn end(&self, answer: Answer) {
        let mut progress = self.lock();
        let mut answer = Box::new(answer);
        (progress.status, progress.stamps) =
            (answer.outcome.status.unwrap_or(0), Some(answer.stamps));
        progress.head = answer.head.take().or_else(|| progress.head.take());
        progress.body_length = answer.body.len();
        progress.outcome =
            if answer.outcome.failure.is_none() { progress.plain_status() } else { NOT_PLAIN };
        if let Some(pending) = progress.pending.take() {
            pending.remove_open_request(answer.stamps.intended);
            pending.record(&mut answer, UNSET, true);
        }
        if self.is_broken(&answer) && !progress.is_reported {
            self.unreported_streams.fetch_add(1, Ordering::Relaxed);
        }
        progress.answer = Some(answer);
    }

    /// Counts the report of Locust, now or at the end; returns false if there was one before.
    pub fn report(&self, pending: LocustReport) -> bool {
        let mut progress = self.lock();
        let resumed = progress.resumed;
        if std::mem::replace(&mut progress.is_reported, true) {
            return false;
        }
        match &mut progress.answer {
            Some(answer) => {
                if self.is_broken(answer) {
                    self.unreported_streams.fetch_sub(1, Ordering::Relaxed);
                }
                pending.record(answer, resumed, false);
            }
            None => {
                pending.record_open_request(progress.intended());
                progress.pending = Some(Box::new(pending));
            }
        }
        true
    }

    /// Returns whether a stream failed after its head. Locust's client reports earlier failures
    /// itself.
    fn is_broken(&self, answer: &Answer) -> bool {
        self.streams && answer.outcome.failure.is_some() && answer.outcome.status.is_some()
    }

    /// Records that the greenlet was interrupted: a reported request stays in flight.
    pub(super) fn abandon(&self) {
        let mut progress = self.lock();
        progress.waiter = None;
        if let Some(pending) = progress.pending.take() {
            pending.remove_open_request(progress.intended());
            pending.abandon(progress.intended());
        }
    }

    /// Returns the unread body of a call that has ended; none while it is running.
    #[must_use]
    pub fn take_body(&self) -> Option<Vec<u8>> {
        self.lock().answer.as_mut().map(|answer| std::mem::take(&mut answer.body))
    }

    /// Removes and returns the waiter.
    #[must_use]
    pub fn take_waiter(&self) -> Option<W> {
        self.lock().waiter.take()
    }

    /// Sets the waiter of the next event.
    pub(super) fn set_waiter(&self, waiter: Option<W>) {
        self.lock().waiter = waiter;
    }

    /// Returns the status of a plain answer, or of a stream with a plain head; 0 if it is not plain,
    /// −1 before. The first call after the end records when the greenlet was resumed.
    #[must_use]
    pub fn outcome(&self) -> i32 {
        let mut progress = self.lock();
        if progress.answer.is_some() {
            if progress.resumed == UNSET {
                progress.resumed = monotonic_ns();
            }
        } else if progress.status == 0 {
            return UNDER_WAY;
        }
        progress.outcome
    }

    /// Returns whether the call has ended.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.lock().answer.is_some()
    }

    /// Returns the status; 0 without one.
    #[must_use]
    pub fn status(&self) -> u16 {
        self.lock().status
    }

    /// Returns the error reason.
    #[must_use]
    pub fn failure(&self) -> Option<Reason> {
        self.lock().answer.as_ref().and_then(|answer| answer.outcome.failure)
    }

    /// Returns whether the connection was reset.
    #[must_use]
    pub fn was_reset(&self) -> bool {
        self.lock().answer.as_ref().is_some_and(|answer| answer.was_reset)
    }

    /// Returns the first received bytes of a response that failed; empty otherwise.
    #[must_use]
    pub fn excerpt(&self) -> Vec<u8> {
        self.lock().answer.as_ref().map(|answer| answer.excerpt.clone()).unwrap_or_default()
    }

    /// Returns the head, if it is complete.
    #[must_use]
    pub fn head(&self) -> Option<Arc<ResponseHead>> {
        self.lock().head.clone()
    }

    /// Returns the length of the body; of a stream, of the part that was not read at its end.
    #[must_use]
    pub fn body_length(&self) -> usize {
        self.lock().body_length
    }

    /// Returns the times: intended, sent, first byte, last byte, resumed; `UNSET` if there is none.
    #[must_use]
    pub fn stamps(&self) -> [Nanos; 5] {
        let progress = self.lock();
        let stamps = progress.stamps.unwrap_or_else(|| Stamps::new(UNSET, UNSET));
        [stamps.intended, stamps.sent, stamps.first_byte, stamps.last_byte, progress.resumed]
    }
}

impl<W> CallProgress<W> {
    /// Returns the intended send time.
    fn intended(&self) -> Nanos {
        self.stamps.map_or(UNSET, |stamps| stamps.intended)
    }

    /// Returns the status of a plain answer, else `NOT_PLAIN`.
    fn plain_status(&self) -> i32 {
        let is_plain =
            (200..300).contains(&self.status) && !self.head.as_deref().is_some_and(is_not_plain);
        if is_plain { i32::from(self.status) } else { NOT_PLAIN }
    }
}

/// Returns whether a head has one of the fields that a plain answer does not have.
fn is_not_plain(head: &ResponseHead) -> bool {
    NOT_PLAIN_FIELDS.iter().any(|name| head.fields.last(name).is_some())
}
