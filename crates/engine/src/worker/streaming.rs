//! Streams in the books: their gaps as they come, the rest when they end.

use client::Outcome;
use net::{Driver, Nanos};

use super::Worker;
use crate::report::StreamRow;
use crate::stream;

/// A wait that took so long was one; shorter ones found something at once.
const WAITED_NS: Nanos = 2_000;

impl<D: Driver> Worker<D> {
    /// Counts the gaps between texts that the latest reads of a lane have shown.
    pub(super) fn book_gaps(&mut self, number: u32) {
        let lane = &mut self.lanes[number as usize];
        let row = self.share.prepared.requests[usize::from(lane.request)].row;
        let tally = self.journal.tally(row, lane.measured);
        if let Some((watch, tally)) = lane.exchange.watch.as_mut().zip(tally.stream.as_mut()) {
            tally.gaps(watch.take_gaps());
        }
    }

    /// Counts what a stream has shown as a whole, and whether the answer was a good one.
    pub(super) fn book_judgement(&mut self, number: u32, outcome: &Outcome) {
        let lane = &self.lanes[number as usize];
        let request = &self.share.prepared.requests[usize::from(lane.request)];
        if request.stream.is_none() && request.limits.is_empty() {
            return;
        }
        let (exchange, is_ok) = (&lane.exchange, outcome.failure.is_none());
        let is_inside = is_ok && self.window.contains(exchange.stamps.last_byte);
        let seen = stream::seen(exchange);
        let from = request.stream.as_ref().map_or(exchange.stamps.sent, |s| s.times(exchange).from);
        let tally = self.journal.tally(request.row, lane.measured);
        let is_good =
            tally.goodput.judge(&request.limits, is_ok, &exchange.stamps, seen.map(|s| (s, from)));
        if let Some(((observer, seen), tally)) =
            request.stream.as_ref().zip(seen).zip(tally.stream.as_mut())
        {
            tally.end(seen);
            if is_ok {
                tally.accept(seen, observer.times(exchange));
            }
        }
        if is_inside {
            // As with ok answers a second: what ended in the window counts, whenever it began.
            let tokens = seen.and_then(|seen| seen.usage.output).unwrap_or(0);
            let tally = self.journal.tally(request.row, true);
            tally.goodput.good_inside += u64::from(is_good);
            if let Some(tally) = &mut tally.stream {
                tally.counted.tokens_inside = tally.counted.tokens_inside.saturating_add(tokens);
            }
        }
    }

    /// What a log says of the stream of a lane, if it has one.
    pub(super) fn stream_row(&self, number: u32) -> Option<StreamRow> {
        stream::seen(&self.lanes[number as usize].exchange).map(StreamRow::of)
    }

    /// After a wait that began at `from`: what is read next was waited for, if there was a wait.
    pub(super) fn note_waking(&mut self, from: Nanos) {
        let now = self.driver.now();
        if self.ready.is_empty() || now.saturating_sub(from) >= WAITED_NS {
            self.scratch.woken = now;
        }
    }
}
