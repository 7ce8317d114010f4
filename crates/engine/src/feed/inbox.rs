//! The way of rows to a worker, and back the news that it has used them.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};

use net::Nanos;
use serde::{Deserialize, Serialize};

use super::row::FeedRow;

/// Rows for one worker.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct FeedBatch {
    pub(crate) rows: Vec<FeedRow>,
    /// Whether no other follows.
    pub(crate) is_last: bool,
}

/// What a worker has used, and wanted; it alone writes here.
#[derive(Debug, Default)]
pub(crate) struct FeedDemand {
    /// The weight of all rows whose values it needs no longer.
    pub(crate) used: AtomicU64,
    /// How long it had a place for a request and no row, in nanoseconds.
    pub(crate) starved: AtomicU64,
}

impl FeedDemand {
    /// Returns both numbers.
    pub(crate) fn read(&self) -> (u64, u64) {
        (self.used.load(Ordering::Acquire), self.starved.load(Ordering::Acquire))
    }

    /// Sets both numbers, as a child process has reported them.
    pub(crate) fn set(&self, (used, starved): (u64, u64)) {
        self.used.store(used, Ordering::Release);
        self.starved.store(starved, Ordering::Release);
    }

    /// Takes note that the worker has ended: it holds no rows, whatever it is given.
    pub(crate) fn end(&self) {
        self.used.store(u64::MAX, Ordering::Release);
    }
}

/// The worker's end.
#[derive(Debug)]
pub struct FeedInbox {
    batches: Receiver<FeedBatch>,
    demand: Arc<FeedDemand>,
}

/// The feeder's end.
#[derive(Debug, Clone)]
pub(crate) struct FeedSender {
    batches: Sender<FeedBatch>,
    pub(crate) demand: Arc<FeedDemand>,
}

/// Returns the two ends of the way to one worker.
pub(crate) fn feed_channel() -> (FeedSender, FeedInbox) {
    let (sender, batches) = channel();
    let demand = Arc::<FeedDemand>::default();
    (FeedSender { batches: sender, demand: Arc::clone(&demand) }, FeedInbox { batches, demand })
}

/// The feeder's way to one worker, of this process or of another.
pub(crate) struct FeedLink {
    /// Sends rows; returns whether the worker still takes some.
    pub(crate) send: Box<dyn FnMut(FeedBatch) -> bool + Send>,
    pub(crate) demand: Arc<FeedDemand>,
}

impl From<FeedSender> for FeedLink {
    fn from(sender: FeedSender) -> Self {
        let demand = Arc::clone(&sender.demand);
        Self { send: Box::new(move |batch| sender.send(batch)), demand }
    }
}

/// Returns the ways to so many workers of this process.
pub(crate) fn feed_channels(workers: usize) -> (Vec<FeedSender>, Vec<FeedInbox>) {
    (0..workers).map(|_| feed_channel()).unzip()
}

impl FeedSender {
    /// Sends rows; returns whether the worker still takes some.
    pub(crate) fn send(&self, batch: FeedBatch) -> bool {
        self.batches.send(batch).is_ok()
    }
}

impl FeedInbox {
    /// Returns an inbox with all rows of a load.
    #[must_use]
    pub fn filled(rows: Vec<FeedRow>) -> Self {
        let (sender, inbox) = feed_channel();
        sender.send(FeedBatch { rows, is_last: true });
        inbox
    }

    /// Takes the rows that have come, if any have. A feeder that is gone has sent its last rows.
    pub(crate) fn take(&self) -> Option<FeedBatch> {
        self.batches.try_recv().ok()
    }

    /// Takes note that the values of rows of this weight are no longer needed.
    pub(crate) fn use_up(&self, weight: u64) {
        let used = self.demand.used.load(Ordering::Relaxed);
        self.demand.used.store(used + weight, Ordering::Release);
    }

    /// Takes note that there was a place for a request and no row, for a time.
    pub(crate) fn starve(&self, time: Nanos) {
        let starved = self.demand.starved.load(Ordering::Relaxed);
        self.demand.starved.store(starved + time, Ordering::Release);
    }
}
