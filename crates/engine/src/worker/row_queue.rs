//! The rows of a worker that come while the load runs: which may start, and when.
//!
//! A row waits for its time, and until the rows have ended that it names. Then it is ready, and the
//! scheduler takes it. It keeps its place until its attempt has ended.
//!
//! In a closed loop, a user plays one session after another: as many sessions are open as there are
//! users, and a row of another session waits until one of them has ended. A user who thinks between two
//! rows of its session takes no other session. Rows of a session that run beside each other share the
//! slots of all users; if none is free, they wait, before any session is opened.

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
    /// How long it was kept from starting, once it is taken.
    postponed_ns: Nanos,
}

/// A row that has been taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TakenRow {
    pub(super) place: u32,
    /// The time from which it could start: if rows have times, or its user has thought, from then on;
    /// otherwise since its user has a free slot.
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
    /// Rows that wait for nothing but a user who plays their session, by the order of the sessions.
    unopened: BinaryHeap<Reverse<(u64, u64, u32)>>,
    waits: RowWaits,
    sessions: RowSessions,
    /// The start of the due times; `Nanos::MAX` while it is unknown.
    origin: Nanos,
    /// The number of users; `None` if rows have times.
    users: Option<usize>,
    /// The number of rows that have started and not ended.
    in_flight: usize,
    /// The last time at which as many rows were in flight as there are users.
    full_until: Nanos,
    /// Since when there is a place for a request, and no row to send.
    starved_since: Option<Nanos>,
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
    /// Creates an empty queue, whose sessions have so many captured values. Without users, rows are due
    /// at their times.
    pub(super) fn new(inbox: FeedInbox, users: Option<u32>, captures: usize) -> Self {
        Self {
            inbox,
            places: Vec::new(),
            free: Vec::new(),
            ready: BinaryHeap::new(),
            unopened: BinaryHeap::new(),
            waits: RowWaits::default(),
            sessions: RowSessions::new(captures, users.is_some()),
            origin: if users.is_none() { Nanos::MAX } else { 0 },
            users: users.map(|users| users as usize),
            in_flight: 0,
            full_until: 0,
            starved_since: None,
            waiting: 0,
            has_begun: false,
            is_complete: false,
            left_out: Vec::new(),
            endings: Vec::new(),
        }
    }

    /// Sets the time from which due times count.
    pub(super) fn set_origin(&mut self, start: Nanos) {
        if self.is_timed() {
            self.origin = start;
        }
    }

    /// Takes the rows that have come.
    pub(super) fn receive(&mut self, now: Nanos) {
        while let Some(batch) = self.inbox.take() {
            self.has_begun = true;
            for row in batch.rows {
                self.add(row, now);
            }
            if batch.is_last {
                self.is_complete = true;
                let unnamed = self.waits.complete();
                unnamed.into_iter().for_each(|session| self.sessions.leave(session));
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
        let is_missed = match self.users {
            None => self.ready.is_empty(),
            // A user who thinks misses nothing.
            Some(users) => {
                let busy = self.in_flight + self.ready.len();
                let has_idle_user = busy < users || self.sessions.open_count() < users;
                has_idle_slot && has_idle_user && self.next_at() > now
            }
        };
        is_missed && !self.is_complete
    }

    /// Returns when the next row may start; `Nanos::MAX` if that is unknown.
    pub(super) fn next_at(&self) -> Nanos {
        if self.may_open() { 0 } else { self.next_ready_at() }
    }

    /// Takes the next row if it could start at `until`: a later row of an open session, or the first of
    /// another one.
    pub(super) fn take(&mut self, until: Nanos) -> Option<TakenRow> {
        if self.next_ready_at() > until && self.may_open() {
            self.open_session(until);
        }
        if self.next_ready_at() > until {
            return None;
        }
        let Reverse((at, _, place)) = self.ready.pop()?;
        self.waiting -= 1;
        self.in_flight += 1;
        let (startable_at, is_timed) = (self.origin.saturating_add(at), self.is_timed());
        // As many rows as there are users were in flight after this one could start.
        let waited = if self.full_until > at { until.saturating_sub(at) } else { 0 };
        let entry = self.place_mut(place)?;
        let later = at.saturating_sub(entry.row.due_ns);
        entry.postponed_ns = if is_timed { later } else { waited };
        let has_thought = waited == 0 && entry.row.pause_ns > 0;
        let intended = if is_timed || has_thought { startable_at } else { until };
        Some(TakenRow { place, intended })
    }

    fn next_ready_at(&self) -> Nanos {
        let next = self.ready.peek().map(|Reverse((at, ..))| self.origin.saturating_add(*at));
        next.unwrap_or(Nanos::MAX)
    }

    /// Returns whether a user has no session, and there is one.
    fn may_open(&self) -> bool {
        let has_user = self.users.is_some_and(|users| self.sessions.open_count() < users);
        has_user && !self.unopened.is_empty()
    }

    /// Lets a user play the next session, whose first rows may start now, or after their pauses.
    fn open_session(&mut self, now: Nanos) {
        let next = self.unopened.peek().map(|Reverse((rank, ..))| *rank);
        while let Some(Reverse((rank, number, place))) = self.unopened.peek().copied()
            && Some(rank) == next
        {
            self.unopened.pop();
            let Some(row) = self.row(place) else { continue };
            let (session, pause) = (row.session, row.pause_from_opening());
            self.sessions.open(session, now, pause);
            self.ready.push(Reverse((self.sessions.start_of(session, pause), number, place)));
        }
    }

    /// Takes note whether there is a place for a request and no row to send, from now on.
    pub(super) fn note_starvation(&mut self, is_starved: bool, now: Nanos) {
        if let Some(since) = self.starved_since {
            self.inbox.starve(now.saturating_sub(since));
        }
        self.starved_since = is_starved.then_some(now);
    }

    /// Returns a row that has been taken.
    pub(super) fn row(&self, place: u32) -> Option<&FeedRow> {
        self.places.get(place as usize)?.as_ref().map(|place| &place.row)
    }

    /// Returns how long a row that was taken was kept from starting by others, if it was: after its
    /// time, or, in a closed loop, after it could have started, since no slot was free.
    pub(super) fn postponement(&self, place: u32) -> Option<Nanos> {
        let entry = self.places.get(place as usize)?.as_ref()?;
        (entry.postponed_ns > 0).then_some(entry.postponed_ns)
    }

    /// Returns whether rows are due at their times, not when a user has none.
    pub(super) fn is_timed(&self) -> bool {
        self.users.is_none()
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

    /// Takes note that the attempt of a row has ended; those that waited for it become ready, in a closed
    /// loop from `free_at` on. If they need values of an attempt that failed, they are left out.
    pub(super) fn ended(&mut self, place: u32, at: Nanos, free_at: Nanos, is_ok: bool) {
        if self.users.is_some_and(|users| self.in_flight >= users) {
            self.full_until = at;
        }
        self.in_flight -= 1;
        self.leave(place, if self.is_timed() { at } else { free_at }, is_ok);
    }

    /// Lets a row leave its place, and those that need what it did not bring.
    fn leave(&mut self, place: u32, at: Nanos, is_ok: bool) {
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
                if self.starts_or_is_left_out(next, 0) {
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

    fn add(&mut self, row: FeedRow, now: Nanos) {
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
        self.places[place as usize] = Some(RowPlace { row, weight, missing, postponed_ns: 0 });
        self.waiting += 1;
        if self.starts_or_is_left_out(place, now) {
            self.leave(place, 0, false);
        }
    }

    /// Makes a row ready, which came at `came`, if it waits for no other; returns whether it is left out
    /// instead.
    fn starts_or_is_left_out(&mut self, place: u32, came: Nanos) -> bool {
        let is_timed = self.is_timed();
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
        let row = &entry.row;
        let (number, session, due, pause) = (row.number, row.session, row.due_ns, row.pause_ns);
        let (latest_end, is_first) = (entry.missing.latest_end, row.after.is_empty());
        let at = if is_timed {
            due.max(if is_first { 0 } else { latest_end.saturating_add(pause) })
        } else if let Some(rank) = self.sessions.rank_unless_open(session) {
            self.unopened.push(Reverse((rank, number, place)));
            return false;
        } else {
            came.max(if is_first {
                self.sessions.start_of(session, pause)
            } else {
                latest_end.saturating_add(pause)
            })
        };
        self.ready.push(Reverse((at, number, place)));
        false
    }

    fn place_mut(&mut self, place: u32) -> Option<&mut RowPlace> {
        self.places.get_mut(place as usize)?.as_mut()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::feed::{FeedBatch, FeedSender, feed_channels};

    const MS: Nanos = 1_000_000;

    /// A queue for so many users, and the feeder's end of it.
    fn queue(users: u32) -> (RowQueue, FeedSender) {
        let (mut senders, mut inboxes) = feed_channels(1);
        (RowQueue::new(inboxes.remove(0), Some(users), 0), senders.remove(0))
    }

    /// A row of a session after another one, and followed by so many.
    fn row(number: u64, session: u64, after: &[u64], followers: u32) -> FeedRow {
        let pause_ns = if after.is_empty() { 0 } else { 10 * MS };
        let (after, followers) = (after.to_vec(), Some(followers));
        FeedRow { number, session, after, followers, pause_ns, ..FeedRow::default() }
    }

    fn send(sender: &FeedSender, rows: Vec<FeedRow>, is_last: bool) {
        assert!(sender.send(FeedBatch { rows, is_last }));
    }

    /// The number of the row that starts at a time, and its place.
    fn take(queue: &mut RowQueue, at: Nanos) -> Option<(u64, u32)> {
        let place = queue.take(at)?.place;
        queue.row(place).map(|row| (row.number, place))
    }

    #[test]
    fn a_user_waits_for_announced_rows_of_its_session_until_no_other_row_comes() {
        let (mut queue, sender) = queue(1);
        send(&sender, vec![row(0, 7, &[], 1), row(1, 8, &[], 0)], false);
        queue.receive(0);
        assert_eq!(take(&mut queue, 0), Some((0, 0)));
        queue.ended(0, MS, MS, true);
        assert_eq!((take(&mut queue, 2 * MS), queue.next_at()), (None, Nanos::MAX));
        assert!(queue.is_starved(true, 2 * MS), "the session has no row, and the user no other");
        send(&sender, Vec::new(), true);
        queue.receive(3 * MS);
        assert_eq!(take(&mut queue, 3 * MS), Some((1, 1)));
        assert!(queue.is_exhausted());
    }

    #[test]
    fn a_row_that_comes_late_continues_its_session_before_others_begin() {
        let (mut queue, sender) = queue(1);
        send(&sender, vec![row(0, 7, &[], 1), row(2, 8, &[], 0)], false);
        queue.receive(0);
        assert_eq!(take(&mut queue, 0), Some((0, 0)));
        queue.ended(0, MS, MS, true);
        send(&sender, vec![row(1, 7, &[0], 0)], true);
        queue.receive(5 * MS);
        assert_eq!((queue.next_at(), take(&mut queue, 10 * MS)), (11 * MS, None));
        assert_eq!(take(&mut queue, 11 * MS), Some((1, 0)));
        queue.ended(0, 12 * MS, 12 * MS, true);
        assert_eq!(take(&mut queue, 12 * MS), Some((2, 1)));
        assert_eq!(queue.postponement(1), None);
    }

    #[test]
    fn a_row_that_comes_after_the_end_of_the_one_before_it_waits_for_its_think_time_from_that_end()
    {
        let (mut senders, mut inboxes) = feed_channels(1);
        let (mut queue, sender) = (RowQueue::new(inboxes.remove(0), None, 0), senders.remove(0));
        queue.set_origin(100 * MS);
        let unknown = |number, after| FeedRow { followers: None, ..row(number, 7, after, 0) };
        send(&sender, vec![unknown(0, &[])], false);
        queue.receive(0);
        let first = queue.take(100 * MS).unwrap().place;
        queue.ended(first, 150 * MS, 150 * MS, true);
        send(&sender, vec![FeedRow { due_ns: 20 * MS, ..unknown(1, &[0]) }], true);
        queue.receive(151 * MS);
        assert_eq!(queue.next_at(), 160 * MS);
        let next = queue.take(160 * MS).unwrap();
        assert_eq!((next.intended, queue.postponement(next.place)), (160 * MS, Some(40 * MS)));
    }

    #[test]
    fn rows_without_predecessors_wait_for_their_pauses_from_the_opening_of_their_session() {
        let (mut queue, sender) = queue(1);
        let beside = |number, pause| FeedRow { pause_ns: pause * MS, ..row(number, 7, &[], 0) };
        send(&sender, vec![row(0, 7, &[], 0), beside(1, 10), row(9, 8, &[], 0)], false);
        queue.receive(0);
        assert_eq!(take(&mut queue, 100 * MS), Some((0, 0)));
        assert_eq!((queue.next_at(), take(&mut queue, 109 * MS)), (110 * MS, None));
        send(&sender, vec![beside(2, 30), beside(3, 5)], true);
        queue.receive(106 * MS);
        assert_eq!(take(&mut queue, 106 * MS), Some((3, 4)), "its time has passed");
        queue.ended(4, 107 * MS, 107 * MS, true);
        let second = queue.take(111 * MS).unwrap();
        assert_eq!(second, TakenRow { place: 1, intended: 110 * MS });
        for place in [0, 1] {
            queue.ended(place, 120 * MS, 120 * MS, true);
        }
        assert_eq!((queue.next_at(), take(&mut queue, 129 * MS)), (130 * MS, None));
        assert_eq!(take(&mut queue, 130 * MS), Some((2, 3)));
    }

    #[test]
    fn a_session_that_begins_anew_does_not_wait_for_the_pause_from_its_first_row() {
        let (mut queue, sender) = queue(1);
        let unknown = |number, pause| {
            let pause_ns = pause * MS;
            FeedRow { pause_ns, followers: None, ..row(number, 7, &[], 0) }
        };
        send(&sender, vec![unknown(0, 0)], false);
        queue.receive(0);
        assert_eq!(take(&mut queue, 0), Some((0, 0)));
        queue.ended(0, MS, MS, true);
        send(&sender, vec![unknown(1, 90), unknown(2, 95)], true);
        queue.receive(50 * MS);
        assert_eq!(take(&mut queue, 50 * MS).map(|(number, _)| number), Some(1));
        assert_eq!((queue.next_at(), take(&mut queue, 54 * MS)), (55 * MS, None));
        assert_eq!(take(&mut queue, 55 * MS).map(|(number, _)| number), Some(2));
    }

    #[test]
    fn rows_that_pause_hide_no_user_without_a_session() {
        let (mut queue, sender) = queue(2);
        let beside = |number, pause| FeedRow { pause_ns: pause * MS, ..row(number, 7, &[], 0) };
        send(&sender, vec![row(0, 7, &[], 0), beside(1, 10), beside(2, 20)], false);
        queue.receive(0);
        assert_eq!(take(&mut queue, 0), Some((0, 0)));
        assert!(queue.is_starved(true, 0));
    }

    #[test]
    fn users_who_think_miss_no_rows_and_users_without_a_session_do() {
        let (mut queue, sender) = queue(2);
        send(&sender, vec![row(0, 7, &[], 1), row(1, 7, &[0], 0)], false);
        queue.receive(0);
        let (_, place) = take(&mut queue, 0).unwrap();
        assert!(queue.is_starved(true, 0), "the second user has no session");
        send(&sender, vec![row(2, 8, &[], 1), row(3, 8, &[2], 0)], false);
        queue.receive(0);
        assert!(!queue.is_starved(true, 0));
        let (_, other) = take(&mut queue, 0).unwrap();
        for place in [place, other] {
            queue.ended(place, MS, MS, true);
        }
        assert!(!queue.is_starved(true, MS), "both users think");
        assert_eq!(queue.next_at(), 11 * MS);
    }

    #[test]
    fn a_row_that_comes_after_its_session_was_forgotten_does_not_count_as_kept_from_starting() {
        let (mut queue, sender) = queue(1);
        send(&sender, vec![row(0, 7, &[], 0)], false);
        queue.receive(0);
        assert_eq!(take(&mut queue, 0), Some((0, 0)));
        queue.ended(0, MS, MS, true);
        send(&sender, vec![row(1, 7, &[0], 0)], true);
        queue.receive(90 * MS);
        let (_, place) = take(&mut queue, 95 * MS).unwrap();
        assert_eq!(queue.postponement(place), None);
    }
}
