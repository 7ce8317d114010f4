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

/// Of so many ended rows, at least, the ends are known to rows that come later; of twice as many at most.
const RECENT_ENDS: usize = 1 << 15;

/// The ends of the latest rows, by their numbers.
#[derive(Debug, Default)]
struct RecentEnds {
    latest: HashMap<u64, Nanos>,
    earlier: HashMap<u64, Nanos>,
}

impl RecentEnds {
    fn add(&mut self, number: u64, end: Nanos) {
        if self.latest.len() == RECENT_ENDS {
            std::mem::swap(&mut self.latest, &mut self.earlier);
            self.latest.clear();
        }
        self.latest.insert(number, end);
    }

    fn of(&self, number: u64) -> Option<Nanos> {
        self.latest.get(&number).or_else(|| self.earlier.get(&number)).copied()
    }
}

/// The rows that others wait for, by their numbers.
#[derive(Debug, Default)]
pub(super) struct RowWaits {
    rows: HashMap<u64, Predecessor>,
    /// The ends of rows that an unknown number of others may name.
    ends: RecentEnds,
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
        let Some(row) = self.rows.get_mut(&number) else {
            missing.latest_end = missing.latest_end.max(self.ends.of(number).unwrap_or(0));
            return None;
        };
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
        // If their number is unknown, those that come later find only its end.
        if row.followers.is_none() {
            self.ends.add(number, at);
        }
        let is_kept = row.followers.is_some_and(|left| left > 0);
        if !is_kept {
            self.rows.remove(&number);
        }
        (waiting, is_kept)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ends_of_the_latest_rows_are_known_and_no_more_than_twice_as_many() {
        let (mut ends, count) = (RecentEnds::default(), 3 * RECENT_ENDS as u64 + 5);
        (0..count).for_each(|number| ends.add(number, number + 7));
        assert!(ends.latest.len() + ends.earlier.len() <= 2 * RECENT_ENDS);
        let oldest = count - RECENT_ENDS as u64;
        assert_eq!((ends.of(0), ends.of(oldest)), (None, Some(oldest + 7)));
    }
}
