//! The streams of a connection: the slots that have one, and those that wait for one.

use std::collections::VecDeque;

use net::Nanos;

use crate::UNSET;

/// The highest number of a stream.
const LAST_STREAM: u32 = (1 << 31) - 1;

/// Cancelled streams whose late frames are recognised; of more, all frames are ignored.
const MAX_CANCELLED: usize = 1024;

/// The streams of a connection.
#[derive(Debug)]
pub(super) struct Streams {
    /// By slot.
    states: Vec<StreamState>,
    /// The number of streams that are open.
    open: u32,
    /// The number of the next stream.
    next: u32,
    /// By the lowest bits of a stream's number, the slot that probably has it.
    hints: Vec<u16>,
    /// Slots that wait for a stream, in the order in which they began.
    waiting: VecDeque<u16>,
    cancelled: VecDeque<u32>,
    has_forgotten: bool,
}

/// What a slot does with its stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StreamPhase {
    /// No exchange has begun, or it has ended.
    Free,
    /// The exchange waits for a stream.
    Waiting,
    /// The head of the response is expected.
    Head,
    /// The body of the response is expected, or its end.
    Body,
}

/// The state of a slot.
#[derive(Debug, Clone, Copy)]
pub(super) struct StreamState {
    pub(super) phase: StreamPhase,
    /// The number of the stream; 0 if there is none.
    pub(super) stream: u32,
    /// Bytes of the request's body that are not in the buffer yet.
    pub(super) unsent: usize,
    /// Bytes of a body that may be sent; a changed setting can make it negative.
    pub(super) send_window: i64,
    /// Bytes of the body that were received and not allowed again.
    pub(super) consumed: u32,
    /// Bytes of the body that are to come, if the head has its length.
    pub(super) left: Option<u64>,
    /// Interim responses that were received.
    pub(super) interim: u32,
    /// Since when the server allows no stream for it, or the window is too small for more of the
    /// request's body; [`UNSET`] if neither is so.
    pub(super) blocked_since: Nanos,
}

const FREE: StreamState = StreamState {
    phase: StreamPhase::Free,
    stream: 0,
    unsent: 0,
    send_window: 0,
    consumed: 0,
    left: None,
    interim: 0,
    blocked_since: UNSET,
};

/// Whose a stream is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Owner {
    Slot(u16),
    /// It was cancelled: the peer may not know that yet.
    Cancelled,
    /// It has ended.
    Ended,
    /// It was never opened.
    Idle,
}

impl Streams {
    pub(super) fn new(slots: u16) -> Self {
        Self {
            states: vec![FREE; usize::from(slots)],
            open: 0,
            next: 1,
            hints: vec![0; usize::from(slots).next_power_of_two() * 2],
            waiting: VecDeque::new(),
            cancelled: VecDeque::new(),
            has_forgotten: false,
        }
    }

    pub(super) fn state(&mut self, slot: u16) -> &mut StreamState {
        &mut self.states[usize::from(slot)]
    }

    /// Returns the number of open streams.
    pub(super) fn open(&self) -> u32 {
        self.open
    }

    /// Returns whether any exchange is running or waiting.
    pub(super) fn is_active(&self) -> bool {
        self.open > 0 || !self.waiting.is_empty()
    }

    /// Returns the number of exchanges that are running or waiting.
    pub(super) fn active_count(&self) -> usize {
        self.open as usize + self.waiting.len()
    }

    /// Sets the number of the next stream.
    #[cfg(any(test, feature = "line-protocol"))]
    pub(super) fn skip_to(&mut self, next: u32) {
        self.next = next;
    }

    /// Returns whether there are numbers left for more streams.
    pub(super) fn has_numbers(&self) -> bool {
        self.next <= LAST_STREAM
    }

    /// Lets a slot wait for a stream, which the server has not allowed since then.
    pub(super) fn wait(&mut self, slot: u16, blocked_since: Nanos) {
        *self.state(slot) = StreamState { phase: StreamPhase::Waiting, blocked_since, ..FREE };
        self.waiting.push_back(slot);
    }

    /// Takes note that the server, which has sent settings, lets all slots that wait for a stream wait from
    /// now on, unless it has done so before.
    pub(super) fn start_waits(&mut self, now: Nanos) {
        for slot in &self.waiting {
            let since = &mut self.states[usize::from(*slot)].blocked_since;
            *since = if *since == UNSET { now } else { *since };
        }
    }

    /// Returns whether the server allows a slot no stream, or no more of its request's body.
    pub(super) fn is_blocked(&self, slot: u16) -> bool {
        self.states[usize::from(slot)].blocked_since != UNSET
    }

    /// Returns the slots that wait for a stream, in their order.
    pub(super) fn waiting(&self) -> &VecDeque<u16> {
        &self.waiting
    }

    /// Opens a stream for the first slot that waits.
    pub(super) fn open_first(&mut self, slot: u16, send_window: i64) -> u32 {
        self.waiting.pop_front();
        let stream = self.next;
        self.next += 2;
        self.open += 1;
        let hint = self.hint(stream);
        self.hints[hint] = slot;
        *self.state(slot) = StreamState { phase: StreamPhase::Head, stream, send_window, ..FREE };
        stream
    }

    /// Ends what a slot does.
    pub(super) fn end(&mut self, slot: u16) {
        let state = std::mem::replace(self.state(slot), FREE);
        match state.phase {
            StreamPhase::Free => {}
            StreamPhase::Waiting => self.waiting.retain(|waiting| *waiting != slot),
            StreamPhase::Head | StreamPhase::Body => self.open -= 1,
        }
    }

    /// Ends what a slot does before the peer has ended its stream.
    pub(super) fn cancel(&mut self, slot: u16) {
        let stream = self.state(slot).stream;
        self.end(slot);
        if self.cancelled.len() == MAX_CANCELLED {
            self.cancelled.pop_front();
            self.has_forgotten = true;
        }
        self.cancelled.push_back(stream);
    }

    /// Returns whether a slot has a stream.
    pub(super) fn has(&self, stream: u32, slot: u16) -> bool {
        self.states.get(usize::from(slot)).is_some_and(|state| state.stream == stream)
    }

    /// Returns whose a stream is.
    #[inline]
    pub(super) fn owner(&self, stream: u32) -> Owner {
        if stream == 0 {
            return Owner::Idle;
        }
        let hint = self.hints[self.hint(stream)];
        if self.has(stream, hint) {
            return Owner::Slot(hint);
        }
        if stream.is_multiple_of(2) || stream >= self.next {
            return Owner::Idle;
        }
        let slots = (0..).zip(&self.states);
        if let Some((slot, _)) = { slots }.find(|(_, state)| state.stream == stream) {
            return Owner::Slot(slot);
        }
        let is_cancelled = self.has_forgotten || self.cancelled.contains(&stream);
        if is_cancelled { Owner::Cancelled } else { Owner::Ended }
    }

    /// Returns the slots with a running or waiting exchange.
    pub(super) fn active(&self) -> Vec<u16> {
        let slots = (0..).zip(&self.states);
        slots.filter(|(_, state)| state.phase != StreamPhase::Free).map(|(slot, _)| slot).collect()
    }

    /// Adds to the windows of all open streams; returns whether they stay within the limit.
    pub(super) fn add_to_windows(&mut self, count: i64) -> bool {
        let open = self.states.iter_mut().filter(|state| state.stream != 0);
        let mut is_fine = true;
        open.for_each(|state| {
            state.send_window += count;
            is_fine &= state.send_window <= i64::from(LAST_STREAM);
        });
        is_fine
    }

    fn hint(&self, stream: u32) -> usize {
        (stream / 2) as usize & (self.hints.len() - 1)
    }
}
