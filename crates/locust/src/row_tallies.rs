//! The tallies of one interval, for rows with requests.

use engine::Tally;

const NO_TALLY: u32 = u32::MAX;

/// The tallies of the window or of the warm-up in the current interval.
#[derive(Debug, Default)]
pub(super) struct RowTallies {
    /// The index of the tally of each row.
    indices: Vec<u32>,
    rows: Vec<u32>,
    tallies: Vec<Tally>,
}

impl RowTallies {
    /// Returns the tally of a row.
    pub(super) fn tally(&mut self, row: u32) -> &mut Tally {
        let at = row as usize;
        if self.indices.len() <= at {
            self.indices.resize(at + 1, NO_TALLY);
        }
        if self.indices[at] == NO_TALLY {
            // There are at most as many as rows.
            self.indices[at] = self.rows.len() as u32;
            self.rows.push(row);
            self.tallies.push(Tally::default());
        }
        &mut self.tallies[self.indices[at] as usize]
    }

    /// Removes and returns the rows and their tallies.
    pub(super) fn take(&mut self) -> (Vec<u32>, Vec<Tally>) {
        self.indices.clear();
        (std::mem::take(&mut self.rows), std::mem::take(&mut self.tallies))
    }
}
