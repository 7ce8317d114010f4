//! Which rows wait for which: the rows that others name, until all of those have come.

use std::collections::HashMap;

use net::Nanos;

/// A row that later rows name, or may name.
#[derive(Debug)]
struct Predecessor {
    session: u64,
    /// When it ended, and whether others may follow it.
    end: Option<(Nanos, bool)>,
    /// The places of rows that wait for its end.
    waiting: Vec<u32>,
    /// How many rows that name it have not come; unknown for some sources.
    followers: Option<u32>,
}

/// The rows that others wait for, by their numbers.
#[derive(Debug, Default)]
pub(super) struct RowWaits {
    rows: HashMap<u64, Predecessor>,
}

/// What a row waits for when it comes.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Missing {
    /// The number of rows that have not ended.
    pub(super) rows: u32,
    /// The end of the latest of the others.
    pub(super) latest_end: Nanos,
    /// Whether one of them failed.
    pub(super) has_failed: bool,
}

impl RowWaits {
    /// Adds a row that others may name.
    pub(super) fn add(&mut self, number: u64, session: u64, followers: Option<u32>) {
        if followers != Some(0) {
            let row = Predecessor { session, end: None, waiting: Vec::new(), followers };
            self.rows.insert(number, row);
        }
    }

    /// Lets the row at a place wait for the row with a number, which is unknown if it ended long ago or
    /// never came. Returns the session of a row that no other will name.
    pub(super) fn wait_for(
        &mut self,
        number: u64,
        place: u32,
        missing: &mut Missing,
    ) -> Option<u64> {
        let row = self.rows.get_mut(&number)?;
        row.followers = row.followers.map(|left| left.saturating_sub(1));
        let Some((end, is_useful)) = row.end else {
            row.waiting.push(place);
            missing.rows += 1;
            return None;
        };
        missing.latest_end = missing.latest_end.max(end);
        missing.has_failed |= !is_useful;
        if row.followers == Some(0) {
            self.rows.remove(&number).map(|row| row.session)
        } else {
            None
        }
    }

    /// Takes note that no other row comes; returns the sessions of ended rows that others were to name.
    pub(super) fn complete(&mut self) -> Vec<u64> {
        let mut unnamed = Vec::new();
        self.rows.retain(|_, row| {
            row.followers = Some(0);
            if row.end.is_some() {
                unnamed.push(row.session);
            }
            row.end.is_none()
        });
        unnamed
    }

    /// Takes note that a row has ended; returns the places of those that waited for it, and whether
    /// more may come.
    pub(super) fn end(&mut self, number: u64, at: Nanos, is_useful: bool) -> (Vec<u32>, bool) {
        let Some(row) = self.rows.get_mut(&number) else { return (Vec::new(), false) };
        row.end = Some((at, is_useful));
        let waiting = std::mem::take(&mut row.waiting);
        // If their number is unknown, those that come later find it ended.
        let is_kept = row.followers.is_some_and(|left| left > 0);
        if !is_kept {
            self.rows.remove(&number);
        }
        (waiting, is_kept)
    }
}
