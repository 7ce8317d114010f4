//! Streams in the books: their gaps as they come, the rest when they end.

use std::io;

use client::{Chunks, Outcome};
use net::{Driver, Nanos};

use super::Worker;
use crate::measure::report::StreamRow;
use crate::prepare::stream_observer as stream;

impl<D: Driver> Worker<D> {
    /// Counts the gaps between texts that the latest reads of a slot have shown.
    pub(super) fn record_gaps(&mut self, number: u32) {
        let slot = &mut self.slots[number as usize];
        if slot.exchange.watch.is_none() {
            return;
        }
        let row = self.share.prepared.requests[usize::from(slot.request)].row;
        let tally = self.recorder.tally(row, slot.measured);
        if let Some((watch, tally)) = slot.exchange.watch.as_mut().zip(tally.stream.as_mut()) {
            tally.gaps(watch.take_gaps());
            tally.gaps_as_vllm(watch.chunks.iter_mut().flat_map(Chunks::take_gaps));
        }
    }

    /// Counts what a stream has shown as a whole, and whether the answer was a good one.
    pub(super) fn record_judgement(&mut self, number: u32, outcome: &Outcome) {
        let slot = &self.slots[number as usize];
        let request = &self.share.prepared.requests[usize::from(slot.request)];
        if request.stream.is_none() && request.limits.is_empty() {
            return;
        }
        let (exchange, is_ok) = (&slot.exchange, outcome.failure.is_none());
        let is_inside = is_ok && self.window.contains(exchange.stamps.last_byte);
        let seen = stream::seen(exchange);
        let from = request.stream.as_ref().map_or(exchange.stamps.sent, |s| s.times(exchange).from);
        let tally = self.recorder.tally(request.row, slot.measured);
        let is_good =
            tally.goodput.judge(&request.limits, is_ok, &exchange.stamps, seen.map(|s| (s, from)));
        if let Some(((observer, seen), tally)) =
            request.stream.as_ref().zip(seen).zip(tally.stream.as_mut())
        {
            tally.end(seen);
            if is_ok {
                observer.accept(exchange, tally);
                if slot.measured || is_inside {
                    let when = (slot.measured, is_inside);
                    self.recorder.texts.extend(observer.text(exchange, request.row, when));
                }
            }
        }
        if is_inside {
            // As with ok answers a second: what ended in the window counts, whenever it began.
            let tokens = seen.and_then(|seen| seen.usage.output).unwrap_or(0);
            let tally = self.recorder.tally(request.row, true);
            tally.goodput.good_inside += u64::from(is_good);
            if let Some(tally) = &mut tally.stream {
                tally.counted.tokens_inside = tally.counted.tokens_inside.saturating_add(tokens);
            }
        }
    }

    /// What a log says of the stream of a slot, if it has one.
    pub(super) fn stream_row(&self, number: u32) -> Option<StreamRow> {
        stream::seen(&self.slots[number as usize].exchange).map(StreamRow::of)
    }

    /// Waits, and notes when there was nothing left to read: what comes after that was waited for.
    ///
    /// How long a wait took does not tell: with a thousand sockets ready it is no sleep, and long.
    pub(super) fn wait_watchfully(&mut self, until: Nanos) -> io::Result<()> {
        self.driver.wait(0, &mut self.ready)?;
        if self.ready.is_empty() && self.unread.is_empty() {
            self.driver.wait(until, &mut self.ready)?;
            self.scratch.woken = self.driver.now();
        }
        Ok(())
    }
}
