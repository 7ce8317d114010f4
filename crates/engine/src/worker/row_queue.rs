//! The rows of a worker that come while the load runs: which may start, and when.
//!
//! A row waits for its time, and until the rows have ended that it names. Then it is ready, and the
//! scheduler takes it. It keeps its place until its attempt has ended.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use net::Nanos;

use super::row_sessions::RowSessions;
use super::row_waits::{Missing, RowWaits};
use crate::feed::{FeedInbox, FeedRow};

/// A row, and what it waits for.
#[derive(Debug)]
struct RowPlace {
    row: FeedRow,
    /// The weight of its values, until they are no longer needed.
    weight: u64,
    missing: Missing,
}

/// A row that has been taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TakenRow {
    pub(super) place: u32,
    /// The time from which it could start.
    pub(super) intended: Nanos,
}

/// The rows of one group.
#[derive(Debug)]
pub(super) struct RowQueue {
    inbox: FeedInbox,
    places: Vec<Option<RowPlace>>,
    free: Vec<u32>,
    /// Rows that wait for nothing but their time, by it and by their number.
    ready: BinaryHeap<Reverse<(Nanos, u64, u32)>>,
    waits: RowWaits,
    sessions: RowSessions,
    /// The start of the due times; `Nanos::MAX` while it is unknown.
    origin: Nanos,
    is_timed: bool,
    /// The number of rows that have not started.
    waiting: usize,
    has_begun: bool,
    is_complete: bool,
    /// The requests of rows that are left out, not counted yet.
    left_out: Vec<u16>,
    /// Rows that end one by one, kept for its memory.
    endings: Vec<(u32, bool)>,
}

impl RowQueue {
    /// Creates an empty queue, whose sessions have so many captured values.
    pub(super) fn new(inbox: FeedInbox, is_timed: bool, captures: usize) -> Self {
        Self {
            inbox,
            places: Vec::new(),
            free: Vec::new(),
            ready: BinaryHeap::new(),
            waits: RowWaits::default(),
            sessions: RowSessions::new(captures),
            origin: if is_timed { Nanos::MAX } else { 0 },
            is_timed,
            waiting: 0,
            has_begun: false,
            is_complete: false,
            left_out: Vec::new(),
            endings: Vec::new(),
        }
    }

    /// Sets the time from which due times count.
    pub(super) fn set_origin(&mut self, start: Nanos) {
        if self.is_timed {
            self.origin = start;
        }
    }

    /// Takes the rows that have come.
    pub(super) fn receive(&mut self) {
        while let Some(batch) = self.inbox.take() {
            self.has_begun = true;
            self.is_complete |= batch.is_last;
            for row in batch.rows {
                self.add(row);
            }
        }
    }

    /// Returns whether the first rows have come.
    pub(super) fn has_begun(&self) -> bool {
        self.has_begun
    }

    /// Returns whether every row has started, and no other comes.
    pub(super) fn is_exhausted(&self) -> bool {
        self.is_complete && self.waiting == 0
    }

    /// Returns whether a row is wanted and none can start, while others may still come.
    pub(super) fn is_starved(&self, has_idle_slot: bool, now: Nanos) -> bool {
        let is_missed = if self.is_timed {
            self.ready.is_empty()
        } else {
            has_idle_slot && self.next_at() > now
        };
        is_missed && !self.is_complete
    }

    /// Returns when the next row may start; `Nanos::MAX` if that is unknown.
    pub(super) fn next_at(&self) -> Nanos {
        let next = self.ready.peek().map(|Reverse((at, ..))| self.origin.saturating_add(*at));
        next.unwrap_or(Nanos::MAX)
    }

    /// Takes the next row if it could start at `until`.
    pub(super) fn take(&mut self, until: Nanos) -> Option<TakenRow> {
        if self.next_at() > until {
            return None;
        }
        let Reverse((at, _, place)) = self.ready.pop()?;
        self.waiting -= 1;
        Some(TakenRow { place, intended: self.origin.saturating_add(at) })
    }

    /// Takes note that there is a place for a request, and no row to send.
    pub(super) fn starve(&self) {
        self.inbox.starve();
    }

    /// Returns a row that has been taken.
    pub(super) fn row(&self, place: u32) -> Option<&FeedRow> {
        self.places.get(place as usize)?.as_ref().map(|place| &place.row)
    }

    /// Returns how long a row was kept from starting by others, if rows have times and it was.
    pub(super) fn postponement(&self, place: u32, intended: Nanos) -> Option<Nanos> {
        let due = self.origin.saturating_add(self.row(place)?.due_ns);
        (self.is_timed && intended > due).then(|| intended - due)
    }

    /// Returns whether rows are due at their times, not when a user has none.
    pub(super) fn is_timed(&self) -> bool {
        self.is_timed
    }

    /// Returns the captured values of a row's session.
    pub(super) fn values(&self, place: u32) -> &[Vec<u8>] {
        self.row(place).map_or(&[], |row| self.sessions.values(row.session))
    }

    /// Does the same to change them.
    pub(super) fn values_mut(&mut self, place: u32) -> &mut [Vec<u8>] {
        match self.places.get(place as usize) {
            Some(Some(place)) => self.sessions.values_mut(place.row.session),
            _ => &mut [],
        }
    }

    /// Frees the values of a row, whose request is encoded.
    pub(super) fn release(&mut self, place: u32) {
        if let Some(Some(place)) = self.places.get_mut(place as usize) {
            place.row.cells = Vec::new();
            self.inbox.use_up(std::mem::take(&mut place.weight));
        }
    }

    /// Takes note that the attempt of a row has ended; those that waited for it become ready. If they
    /// need values of an attempt that failed, they are left out.
    pub(super) fn ended(&mut self, place: u32, at: Nanos, is_ok: bool) {
        let end = at.saturating_sub(self.origin);
        let mut endings = std::mem::take(&mut self.endings);
        endings.push((place, is_ok || !self.sessions.have_values()));
        while let Some((place, is_useful)) = endings.pop() {
            self.release(place);
            let Some(entry) = self.places[place as usize].take() else { continue };
            self.free.push(place);
            let (waiting, is_kept) = self.waits.end(entry.row.number, end, is_useful);
            if !is_kept {
                self.sessions.leave(entry.row.session);
            }
            for next in waiting {
                if let Some(later) = self.place_mut(next) {
                    later.missing.rows -= 1;
                    later.missing.latest_end = later.missing.latest_end.max(end);
                    later.missing.has_failed |= !is_useful;
                }
                if self.starts_or_is_left_out(next) {
                    endings.push((next, false));
                }
            }
        }
        self.endings = endings;
    }

    /// Takes the requests of rows that were left out.
    pub(super) fn take_left_out(&mut self) -> Vec<u16> {
        std::mem::take(&mut self.left_out)
    }

    fn add(&mut self, row: FeedRow) {
        let place = self.free.pop().unwrap_or_else(|| {
            self.places.push(None);
            self.places.len() as u32 - 1
        });
        let mut missing = Missing::default();
        self.sessions.join(row.session);
        for earlier in &row.after {
            if let Some(session) = self.waits.wait_for(*earlier, place, &mut missing) {
                self.sessions.leave(session);
            }
        }
        self.waits.add(row.number, row.session, row.followers);
        let weight = row.weight();
        self.places[place as usize] = Some(RowPlace { row, weight, missing });
        self.waiting += 1;
        if self.starts_or_is_left_out(place) {
            self.ended(place, 0, false);
        }
    }

    /// Makes a row ready if it waits for no other; returns whether it is left out instead.
    fn starts_or_is_left_out(&mut self, place: u32) -> bool {
        let is_timed = self.is_timed;
        let Some(entry) = self.place_mut(place) else { return false };
        if entry.missing.rows > 0 {
            return false;
        }
        if entry.missing.has_failed {
            let request = entry.row.request;
            self.waiting -= 1;
            self.left_out.push(request);
            return true;
        }
        let pause = if entry.row.after.is_empty() { 0 } else { entry.row.pause_ns };
        let earliest = entry.missing.latest_end.saturating_add(pause);
        let due = if is_timed { entry.row.due_ns } else { 0 };
        let key = (due.max(earliest), entry.row.number, place);
        self.ready.push(Reverse(key));
        false
    }

    fn place_mut(&mut self, place: u32) -> Option<&mut RowPlace> {
        self.places.get_mut(place as usize)?.as_mut()
    }
}
