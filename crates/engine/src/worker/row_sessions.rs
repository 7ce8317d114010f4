//! The sessions of rows, which are sent by one worker: their captured values, and those that users play.

use std::collections::HashMap;

use net::Nanos;

/// The sessions that have rows.
#[derive(Debug)]
pub(super) struct RowSessions {
    sessions: HashMap<u64, RowSession>,
    captures: usize,
    /// Whether sessions matter: they have values, or are played by users.
    is_needed: bool,
    /// The number of sessions that have come.
    joined: u64,
    /// The number of sessions that are open.
    open: usize,
}

#[derive(Debug)]
struct RowSession {
    values: Vec<Vec<u8>>,
    /// Its rows that have not ended, or that others will name.
    rows: u32,
    /// Its place in the order in which sessions came.
    rank: u64,
    /// Since when a user plays it, if one does, and the pause of the row with which it began.
    opened_at: Option<(Nanos, Nanos)>,
}

impl RowSessions {
    /// Creates sessions of so many values each, which are played by users or are not.
    pub(super) fn new(captures: usize, have_users: bool) -> Self {
        let is_needed = captures > 0 || have_users;
        Self { sessions: HashMap::new(), captures, is_needed, joined: 0, open: 0 }
    }

    /// Returns whether sessions have values at all.
    pub(super) fn have_values(&self) -> bool {
        self.captures > 0
    }

    /// Takes note of another row.
    pub(super) fn join(&mut self, session: u64) {
        if !self.is_needed {
            return;
        }
        let (joined, captures) = (&mut self.joined, self.captures);
        let entry = self.sessions.entry(session).or_insert_with(|| {
            *joined += 1;
            let values = vec![Vec::new(); captures];
            RowSession { values, rows: 0, rank: *joined, opened_at: None }
        });
        entry.rows += 1;
    }

    /// Takes note that a row is no longer needed; the last one takes the values with it, and closes the
    /// session.
    pub(super) fn leave(&mut self, session: u64) {
        if let Some(entry) = self.sessions.get_mut(&session) {
            entry.rows -= 1;
            if entry.rows == 0 {
                self.open -= usize::from(entry.opened_at.is_some());
                self.sessions.remove(&session);
            }
        }
    }

    /// Returns the place of a session in the order in which sessions came, if no user plays it yet.
    pub(super) fn rank_unless_open(&self, session: u64) -> Option<u64> {
        let entry = self.sessions.get(&session)?;
        entry.opened_at.is_none().then_some(entry.rank)
    }

    /// Lets a user play a session from now on, until its last row has left; it begins with a row that has
    /// a pause if its earlier rows have left.
    pub(super) fn open(&mut self, session: u64, now: Nanos, pause: Nanos) {
        if let Some(entry) = self.sessions.get_mut(&session) {
            self.open += usize::from(entry.opened_at.is_none());
            entry.opened_at.get_or_insert((now, pause));
        }
    }

    /// Returns when a row of an open session may start that follows no other, by its pause.
    pub(super) fn start_of(&self, session: u64, pause: Nanos) -> Nanos {
        let opened = self.sessions.get(&session).and_then(|entry| entry.opened_at);
        let (at, first_pause) = opened.unwrap_or_default();
        at.saturating_add(pause.saturating_sub(first_pause))
    }

    /// Returns the number of sessions that users play.
    pub(super) fn open_count(&self) -> usize {
        self.open
    }

    pub(super) fn values(&self, session: u64) -> &[Vec<u8>] {
        self.sessions.get(&session).map_or(&[], |session| &session.values)
    }

    pub(super) fn values_mut(&mut self, session: u64) -> &mut [Vec<u8>] {
        self.sessions.get_mut(&session).map_or(&mut [], |session| &mut session.values)
    }
}
