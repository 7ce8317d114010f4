//! The captured values of sessions, whose rows are sent by one worker.

use std::collections::HashMap;

/// The values of each session, as long as it has rows.
#[derive(Debug)]
pub(super) struct RowSessions {
    sessions: HashMap<u64, RowSession>,
    captures: usize,
}

#[derive(Debug)]
struct RowSession {
    values: Vec<Vec<u8>>,
    /// Its rows that have not ended, or that others will name.
    rows: u32,
}

impl RowSessions {
    /// Creates sessions of so many values each.
    pub(super) fn new(captures: usize) -> Self {
        Self { sessions: HashMap::new(), captures }
    }

    /// Returns whether sessions have values at all.
    pub(super) fn have_values(&self) -> bool {
        self.captures > 0
    }

    /// Takes note of another row.
    pub(super) fn join(&mut self, session: u64) {
        if self.captures > 0 {
            let values = || vec![Vec::new(); self.captures];
            let entry = self.sessions.entry(session);
            entry.or_insert_with(|| RowSession { values: values(), rows: 0 }).rows += 1;
        }
    }

    /// Takes note that a row is no longer needed; the last one takes the values with it.
    pub(super) fn leave(&mut self, session: u64) {
        if let Some(entry) = self.sessions.get_mut(&session) {
            entry.rows -= 1;
            if entry.rows == 0 {
                self.sessions.remove(&session);
            }
        }
    }

    pub(super) fn values(&self, session: u64) -> &[Vec<u8>] {
        self.sessions.get(&session).map_or(&[], |session| &session.values)
    }

    pub(super) fn values_mut(&mut self, session: u64) -> &mut [Vec<u8>] {
        self.sessions.get_mut(&session).map_or(&mut [], |session| &mut session.values)
    }
}
