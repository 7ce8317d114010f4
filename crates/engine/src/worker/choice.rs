//! Which of its requests a group sends next.

use crate::plan::Source;
use crate::prepare::PreparedGroup;
use crate::random::SplitMix;

/// The order of one group's requests, in one worker.
pub(super) struct Choice {
    first: u16,
    count: u16,
    order: Order,
}

enum Order {
    /// There is only one.
    One,
    /// The number of the next.
    Turn(u16),
    /// The sums of the weights up to each request.
    Weighted(Vec<u64>, SplitMix),
    /// The user knows.
    Steps,
}

impl Choice {
    /// The order of a source; `part` is where this worker begins, so that not all begin alike.
    pub(super) fn new(source: &Source, group: &PreparedGroup, part: u64, seed: u64) -> Self {
        let count = group.count;
        let order = match source {
            Source::One { .. } => Order::One,
            // A remainder of a 16-bit number fits 16 bits.
            Source::Turn { .. } => Order::Turn((part % u64::from(count)) as u16),
            Source::Weighted { weights, .. } => {
                let sums = weights.iter().scan(0, |sum, weight| {
                    *sum += u64::from(*weight);
                    Some(*sum)
                });
                Order::Weighted(sums.collect(), SplitMix::new(seed))
            }
            Source::Steps { .. } => Order::Steps,
        };
        Self { first: group.first, count, order }
    }

    /// The number of the next request, for a user at `step`.
    pub(super) fn next(&mut self, step: u16) -> u16 {
        let within = match &mut self.order {
            Order::One => 0,
            Order::Turn(next) => {
                let now = *next;
                *next = (now + 1) % self.count;
                now
            }
            Order::Weighted(sums, random) => {
                let at = random.next() % sums.last().copied().unwrap_or(1);
                // As many requests as fit 16 bits were prepared.
                sums.partition_point(|sum| *sum <= at) as u16
            }
            Order::Steps => step,
        };
        self.first + within
    }

    /// How many steps a user's pass has; none where users take no steps.
    pub(super) fn steps(&self) -> Option<u16> {
        matches!(self.order, Order::Steps).then_some(self.count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::RequestPlan;

    fn chosen(source: &Source, part: u64, count: usize) -> Vec<u16> {
        let group = PreparedGroup { first: 5, count: 3, rows: None, captures: 0 };
        let mut choice = Choice::new(source, &group, part, 9);
        (0..count).map(|_| choice.next(2)).collect()
    }

    fn requests() -> Vec<RequestPlan> {
        vec![RequestPlan::get("http://h/"); 3]
    }

    #[test]
    fn in_turn_each_follows_the_other_from_the_parts_own_start() {
        let turn = Source::Turn { requests: requests() };
        assert_eq!(chosen(&turn, 0, 4), [5, 6, 7, 5]);
        assert_eq!(chosen(&turn, 4, 4), [6, 7, 5, 6]);
    }

    #[test]
    fn weights_are_kept_and_a_weight_of_zero_is_never_chosen() {
        let weighted = Source::Weighted { requests: requests(), weights: vec![3, 0, 1] };
        let all = chosen(&weighted, 0, 100_000);
        let count = |number| all.iter().filter(|chosen| **chosen == number).count();
        assert!((74_000..76_000).contains(&count(5)), "{}", count(5));
        assert_eq!((count(6), count(5) + count(7)), (0, 100_000));
    }

    #[test]
    fn steps_are_the_users_and_one_request_is_always_the_same() {
        assert_eq!(chosen(&Source::Steps { requests: requests() }, 0, 2), [7, 7]);
        assert_eq!(chosen(&Source::One { request: requests().remove(0) }, 0, 2), [5, 5]);
    }
}
