//! Tallies of intervals, which return empty to the pool of their worker when another thread has read them,
//! so that a worker allocates none while it sends requests.

use std::ops::Deref;
use std::sync::mpsc::{Receiver, Sender, channel};

use serde::{Deserialize, Serialize};

use super::summary::add_tallies;
use super::tally::Tally;

/// The tallies of one interval, by request. Dropping them returns them to their pool.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct PooledTallies {
    tallies: Vec<Tally>,
    #[serde(skip)]
    pool: Option<Sender<Vec<Tally>>>,
}

/// The empty tallies of one worker.
#[derive(Debug)]
pub(crate) struct TallyPool {
    sender: Sender<Vec<Tally>>,
    returned: Receiver<Vec<Tally>>,
}

impl Default for TallyPool {
    fn default() -> Self {
        let (sender, returned) = channel();
        Self { sender, returned }
    }
}

impl TallyPool {
    /// Takes the tallies from `full`, and leaves empty ones of the same size there.
    pub(crate) fn take(&self, full: &mut Vec<Tally>) -> PooledTallies {
        let empty =
            self.returned.try_recv().unwrap_or_else(|_| full.iter().map(Tally::fresh).collect());
        let tallies = std::mem::replace(full, empty);
        PooledTallies { tallies, pool: Some(Sender::clone(&self.sender)) }
    }
}

impl PooledTallies {
    /// Adds other tallies, one by one.
    pub(crate) fn add(&mut self, others: &[Tally]) {
        if self.pool.is_some() {
            // A sum grows into histograms, which the worker would fill from then on: its own go back.
            *self = Self::from(self.tallies.clone());
        }
        add_tallies(&mut self.tallies, others);
    }
}

impl Deref for PooledTallies {
    type Target = [Tally];

    fn deref(&self) -> &[Tally] {
        &self.tallies
    }
}

impl From<Vec<Tally>> for PooledTallies {
    fn from(tallies: Vec<Tally>) -> Self {
        Self { tallies, pool: None }
    }
}

impl Drop for PooledTallies {
    fn drop(&mut self) {
        if let Some(pool) = &self.pool {
            let mut tallies = std::mem::take(&mut self.tallies);
            tallies.iter_mut().for_each(Tally::clear);
            // The worker may have ended.
            let _ = pool.send(tallies);
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
    fn tallies_return_empty_and_are_used_again() {
        let pool = TallyPool::default();
        let mut at_work = counted();
        let first = pool.take(&mut at_work);
        assert_eq!((first[0].planned, at_work[0].planned), (7, 0));
        let place = first.as_ptr();
        drop(first);
        at_work[0].planned = 1;
        let second = pool.take(&mut at_work);
        // The worker uses the tallies that were taken first, which are empty again.
        assert_eq!(at_work.as_ptr(), place);
        assert_eq!((at_work[0].planned, at_work[0].accepted.service.count()), (0, 0));
        assert_eq!(second[0].planned, 1);
    }

    #[test]
    fn tallies_to_which_others_were_added_return_as_their_worker_left_them() {
        let pool = TallyPool::default();
        let mut at_work = counted();
        let (place, mut sum) = (at_work.as_ptr(), pool.take(&mut at_work));
        sum.add(&counted());
        assert_eq!((sum[0].planned, sum[0].accepted.service.count()), (14, 2));
        assert!(sum[0].accepted.service.is_histogram());
        drop(sum);
        drop(pool.take(&mut at_work));
        assert_eq!(at_work.as_ptr(), place);
        at_work[0].accepted.service.record(5_000);
        assert!(!at_work[0].accepted.service.is_histogram());
    }

    #[test]
    fn tallies_of_another_process_have_no_pool() {
        let text = serde_json::to_string(&PooledTallies::from(counted())).unwrap();
        let read: PooledTallies = serde_json::from_str(&text).unwrap();
        assert_eq!(read[0], counted()[0]);
        assert!(read.pool.is_none());
    }
}
