//! Tallies on loan: whoever has read them, in whatever thread, gives them back empty to the worker
//! that filled them. A worker at work makes no new ones.

use std::ops::Deref;
use std::sync::mpsc::{Receiver, Sender, channel};

use serde::{Deserialize, Serialize};

use super::summary::add_tallies;
use super::tally::Tally;

/// The tallies of one interval, by request. Dropped, they go home.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Books {
    tallies: Vec<Tally>,
    #[serde(skip)]
    home: Option<Sender<Vec<Tally>>>,
}

/// Where the books of one worker come from and return to.
#[derive(Debug)]
pub(crate) struct Shelf {
    home: Sender<Vec<Tally>>,
    returned: Receiver<Vec<Tally>>,
}

impl Default for Shelf {
    fn default() -> Self {
        let (home, returned) = channel();
        Self { home, returned }
    }
}

impl Shelf {
    /// Lends `full` out, and leaves empty ones of the same size in its place.
    pub(crate) fn lend(&self, full: &mut Vec<Tally>) -> Books {
        let empty =
            self.returned.try_recv().unwrap_or_else(|_| full.iter().map(Tally::fresh).collect());
        let tallies = std::mem::replace(full, empty);
        Books { tallies, home: Some(Sender::clone(&self.home)) }
    }
}

impl Books {
    /// Adds what others counted.
    pub(crate) fn add(&mut self, others: &[Tally]) {
        add_tallies(&mut self.tallies, others);
    }
}

impl Deref for Books {
    type Target = [Tally];

    fn deref(&self) -> &[Tally] {
        &self.tallies
    }
}

impl From<Vec<Tally>> for Books {
    fn from(tallies: Vec<Tally>) -> Self {
        Self { tallies, home: None }
    }
}

impl Drop for Books {
    fn drop(&mut self) {
        if let Some(home) = &self.home {
            let mut tallies = std::mem::take(&mut self.tallies);
            tallies.iter_mut().for_each(Tally::clear);
            // A worker that has ended misses no books.
            let _ = home.send(tallies);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted() -> Vec<Tally> {
        let mut tally = Tally { planned: 7, ..Tally::default() };
        tally.accepted.service.record(5_000);
        vec![tally]
    }

    #[test]
    fn books_come_home_empty_and_are_lent_again() {
        let shelf = Shelf::default();
        let mut at_work = counted();
        let lent = shelf.lend(&mut at_work);
        assert_eq!((lent[0].planned, at_work[0].planned), (7, 0));
        let place = lent.as_ptr();
        drop(lent);
        at_work[0].planned = 1;
        let second = shelf.lend(&mut at_work);
        // The very tallies that were lent first are at work now, and nothing is left in them.
        assert_eq!(at_work.as_ptr(), place);
        assert_eq!((at_work[0].planned, at_work[0].accepted.service.count()), (0, 0));
        assert_eq!(second[0].planned, 1);
    }

    #[test]
    fn books_between_processes_belong_to_nobody() {
        let text = serde_json::to_string(&Books::from(counted())).unwrap();
        let read: Books = serde_json::from_str(&text).unwrap();
        assert_eq!(read[0], counted()[0]);
        assert!(read.home.is_none());
    }
}
