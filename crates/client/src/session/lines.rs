//! A multiplexing protocol of lines, which only tests use: `ID TEXT` is a request, and `ID STATUS`
//! its response, in any order.

use std::collections::VecDeque;
use std::io;

use net::Nanos;
use wire::WireError;

use super::{Ended, NextRead, ProtocolSession, Received, Slots};
use crate::{Exchange, Outcome};

/// Longer lines are refused.
const MAX_LINE_BYTES: usize = 1024;

/// The state of the protocol on one connection.
#[derive(Debug)]
pub(crate) struct LineSession {
    /// By slot, the ID of the running exchange.
    ids: Vec<Option<u32>>,
    next_id: u32,
    outgoing: Vec<u8>,
    /// The requests in `outgoing`: slot, ID, and the number of bytes that are not sent.
    unsent: VecDeque<(u16, u32, usize)>,
    /// The beginning of a line that is not complete.
    line: Vec<u8>,
}

impl LineSession {
    pub(crate) fn new(slots: u16) -> Self {
        Self {
            ids: vec![None; usize::from(slots)],
            next_id: 0,
            outgoing: Vec::new(),
            unsent: VecDeque::new(),
            line: Vec::new(),
        }
    }

    /// Returns the slot of a running exchange; `None` for one that was cancelled.
    fn slot_of(&self, id: u32) -> Option<u16> {
        let slot = self.ids.iter().position(|known| *known == Some(id))?;
        u16::try_from(slot).ok()
    }

    /// Ends all running exchanges.
    fn end_all(
        &mut self,
        slots: &mut impl Slots,
        ended: &mut Vec<Ended>,
        end: impl Fn(&mut Exchange) -> Outcome,
    ) {
        for (slot, id) in (0..).zip(&mut self.ids) {
            if id.take().is_some() {
                ended.push(Ended { slot, outcome: end(slots.slot(slot).0) });
            }
        }
    }
}

impl ProtocolSession for LineSession {
    fn begin(&mut self, slot: u16, exchange: &mut Exchange, request: &[u8]) {
        let id = self.next_id;
        self.next_id = self.next_id.wrapping_add(1);
        let line = [format!("{id} ").as_bytes(), request, b"\n"].concat();
        exchange.set_to_write(line.len());
        self.ids[usize::from(slot)] = Some(id);
        self.unsent.push_back((slot, id, line.len()));
        self.outgoing.extend(line);
    }

    fn outgoing<'a>(&'a mut self, _: &'a mut impl Slots) -> &'a [u8] {
        &self.outgoing
    }

    fn sent(&mut self, mut count: usize, at: Nanos, slots: &mut impl Slots) {
        self.outgoing.drain(..count);
        while count > 0
            && let Some((slot, id, left)) = self.unsent.front_mut()
        {
            let part = count.min(*left);
            if self.ids[usize::from(*slot)] == Some(*id) {
                slots.slot(*slot).0.note_sent(part, at);
            }
            (count, *left) = (count - part, *left - part);
            if *left == 0 {
                self.unsent.pop_front();
            }
        }
    }

    fn is_active(&self) -> bool {
        self.ids.iter().any(Option::is_some)
    }

    fn reads_on(&self) -> bool {
        true
    }

    fn next_read(&self, _: &mut impl Slots, _: bool, buffer: usize) -> NextRead {
        NextRead { room: buffer, discardable: 0 }
    }

    fn feed(&mut self, received: Received<'_>, slots: &mut impl Slots) {
        let Received { bytes, at, ended, .. } = received;
        for byte in bytes {
            self.line.push(*byte);
            if *byte != b'\n' && self.line.len() <= MAX_LINE_BYTES {
                continue;
            }
            let line = std::mem::take(&mut self.line);
            let text = String::from_utf8_lossy(&line);
            let parts = text.trim_end().split_once(' ');
            let parsed =
                parts.and_then(|(id, status)| Some((id.parse().ok()?, status.parse().ok()?)));
            let Some((id, status)) = parsed else {
                let reason = WireError::BadHead.into();
                self.end_all(slots, ended, |exchange| exchange.end(at, reason));
                return;
            };
            if let Some(slot) = self.slot_of(id) {
                self.ids[usize::from(slot)] = None;
                let (exchange, _) = slots.slot(slot);
                exchange.note_read(&line, at);
                ended.push(Ended { slot, outcome: exchange.complete(status, true) });
            }
        }
    }

    fn discarded(&mut self, _: usize, _: Received<'_>, _: &mut impl Slots) {}

    fn end_of_stream(
        &mut self,
        now: Nanos,
        is_reused: bool,
        slots: &mut impl Slots,
        ended: &mut Vec<Ended>,
    ) {
        self.end_all(slots, ended, |exchange| exchange.closed(now, is_reused));
    }

    fn broken(
        &mut self,
        now: Nanos,
        is_reused: bool,
        error: &io::Error,
        slots: &mut impl Slots,
        ended: &mut Vec<Ended>,
    ) {
        self.end_all(slots, ended, |exchange| exchange.broken(now, is_reused, error));
    }

    fn has_outgoing(&self) -> bool {
        !self.outgoing.is_empty()
    }

    fn cancel(&mut self, slot: u16, _: Nanos, _: &mut impl Slots) -> bool {
        // Its response is recognised by its ID, and ignored.
        self.ids[usize::from(slot)] = None;
        true
    }
}
