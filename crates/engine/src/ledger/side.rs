//! The tallies of one page, for the rows that something happened to.

use crate::tally::Tally;

const NOWHERE: u32 = u32::MAX;

/// One side of an open page: of the window, or of the warm-up.
#[derive(Debug, Default)]
pub(super) struct Side {
    /// Where the tally of a row is.
    places: Vec<u32>,
    rows: Vec<u32>,
    tallies: Vec<Tally>,
}

impl Side {
    /// The tally of a row.
    pub(super) fn tally(&mut self, row: u32) -> &mut Tally {
        let at = row as usize;
        if self.places.len() <= at {
            self.places.resize(at + 1, NOWHERE);
        }
        if self.places[at] == NOWHERE {
            // No more than there are rows.
            self.places[at] = self.rows.len() as u32;
            self.rows.push(row);
            self.tallies.push(Tally::default());
        }
        &mut self.tallies[self.places[at] as usize]
    }

    /// Takes rows and tallies, one beside the other, and begins anew.
    pub(super) fn take(&mut self) -> (Vec<u32>, Vec<Tally>) {
        self.places.clear();
        (std::mem::take(&mut self.rows), std::mem::take(&mut self.tallies))
    }
}
