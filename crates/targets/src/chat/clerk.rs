//! Decides times, length and defect of a stream when its request has been read.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

use super::{AnswerLength, ChatDialect, ChatSpec, Defect};
use crate::places::Places;
use crate::random;

/// Series of random numbers that are independent of each other.
const TEXT_SEED: u64 = 0x7465_7874;
const TOKEN_SEED: u64 = 0x746f_6b65;
const DEFECT_SEED: u64 = 0x6465_6665;

/// The maximum number of texts of a stream, so that streams have different random numbers.
pub(crate) const MOST_TOKENS: u64 = 1 << 20;

/// The shared state of the threads of a chat target.
#[derive(Debug)]
pub(crate) struct ChatQueue {
    spec: ChatSpec,
    number: AtomicU64,
    places: Option<Mutex<Places>>,
}

/// The decisions about one request.
#[derive(Debug)]
pub(crate) struct ChatTurn {
    /// Its number, in the order of requests.
    pub(crate) number: u64,
    /// When it has a place.
    pub(crate) start_ns: u64,
    /// When each of its texts is due.
    pub(crate) at_ns: Vec<u64>,
    pub(crate) defect: Option<Defect>,
}

impl ChatTurn {
    /// When its last text is due.
    pub(crate) fn end_ns(&self) -> u64 {
        self.at_ns.last().copied().unwrap_or(self.start_ns)
    }
}

impl ChatQueue {
    pub(crate) fn new(spec: &ChatSpec) -> Self {
        let places = spec.capacity.map(|capacity| Mutex::new(Places::new(capacity)));
        ChatQueue { spec: spec.clone(), number: AtomicU64::new(0), places }
    }

    pub(crate) fn dialect(&self) -> ChatDialect {
        self.spec.dialect
    }

    pub(crate) fn events_per_write(&self) -> usize {
        self.spec.events_per_write
    }

    /// Returns when a retrieval is answered: after the time to a first text.
    pub(crate) fn retrieval(&self, received_ns: u64) -> u64 {
        let number = self.number.fetch_add(1, Relaxed);
        let takes_ns = self.spec.ttft.draw(self.spec.seed, number);
        self.start(received_ns, takes_ns) + takes_ns
    }

    /// Returns the decisions about a stream; deadlines are absolute, so that lateness does not add up.
    pub(crate) fn turn(&self, received_ns: u64) -> ChatTurn {
        let spec = &self.spec;
        let number = self.number.fetch_add(1, Relaxed);
        let mut at_ns = Vec::new();
        let mut offset = spec.ttft.draw(spec.seed, number);
        for text in 0..self.tokens(number) {
            if text > 0 {
                offset += spec.itl.draw(spec.seed ^ TEXT_SEED, number * MOST_TOKENS + text);
            }
            at_ns.push(offset);
        }
        let start_ns = self.start(received_ns, offset);
        at_ns.iter_mut().for_each(|at| *at += start_ns);
        ChatTurn { number, start_ns, at_ns, defect: self.defect(number) }
    }

    fn tokens(&self, number: u64) -> u64 {
        match self.spec.tokens {
            AnswerLength::Constant { n } => n,
            AnswerLength::Uniform { least, most } => {
                let unit = random::unit(self.spec.seed ^ TOKEN_SEED, 0, number);
                (least + (unit * (most - least + 1) as f64) as u64).min(most)
            }
        }
    }

    /// Returns the defect, if there is one: the shares divide the range of one random number.
    fn defect(&self, number: u64) -> Option<Defect> {
        let drawn = random::unit(self.spec.seed ^ DEFECT_SEED, 0, number);
        let mut below = 0.0;
        self.spec.defects.iter().find_map(|chance| {
            below += chance.share;
            (drawn < below).then_some(chance.defect)
        })
    }

    fn start(&self, received_ns: u64, takes_ns: u64) -> u64 {
        let Some(places) = &self.places else {
            return received_ns;
        };
        places.lock().unwrap_or_else(PoisonError::into_inner).book(received_ns, takes_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Delay;
    use crate::chat::Chance;

    fn clerk(change: impl FnOnce(&mut ChatSpec)) -> ChatQueue {
        let mut spec = ChatSpec::new(ChatDialect::Openai);
        spec.ttft = Delay::Constant { ns: 100 };
        spec.itl = Delay::Constant { ns: 10 };
        spec.tokens = AnswerLength::Constant { n: 4 };
        change(&mut spec);
        ChatQueue::new(&spec)
    }

    #[test]
    fn texts_are_due_at_absolute_times() {
        let turn = clerk(|_| ()).turn(1_000);
        assert_eq!(
            (turn.at_ns.as_slice(), turn.end_ns()),
            ([1_100, 1_110, 1_120, 1_130].as_slice(), 1_130)
        );
        assert_eq!(clerk(|spec| spec.tokens = AnswerLength::Constant { n: 0 }).turn(5).end_ns(), 5);
    }

    #[test]
    fn a_request_without_a_free_place_waits_for_one() {
        let clerk = clerk(|spec| spec.capacity = Some(1));
        assert_eq!(clerk.turn(0).at_ns[0], 100);
        // The first one takes 130; the second starts behind it.
        let second = clerk.turn(50);
        assert_eq!((second.start_ns, second.at_ns[0]), (130, 230));
    }

    #[test]
    fn defects_come_in_their_shares_and_never_two_at_once() {
        let chances = vec![
            Chance { defect: Defect::Error, share: 0.1 },
            Chance { defect: Defect::Stall, share: 0.2 },
        ];
        let clerk = clerk(|spec| spec.defects = chances);
        let drawn: Vec<_> = (0..10_000).map(|number| clerk.defect(number)).collect();
        let count = |defect| drawn.iter().filter(|found| **found == Some(defect)).count();
        assert!((900..1_100).contains(&count(Defect::Error)));
        assert!((1_850..2_150).contains(&count(Defect::Stall)));
        let again: Vec<_> = (0..10_000).map(|number| clerk.defect(number)).collect();
        assert_eq!(drawn, again);
    }

    #[test]
    fn numbers_of_tokens_stay_within_their_bounds_and_reach_them() {
        let clerk = clerk(|spec| spec.tokens = AnswerLength::Uniform { least: 2, most: 5 });
        let drawn: std::collections::BTreeSet<_> = (0..1_000).map(|n| clerk.tokens(n)).collect();
        assert_eq!(drawn.into_iter().collect::<Vec<_>>(), [2, 3, 4, 5]);
    }
}
