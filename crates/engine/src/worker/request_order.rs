//! The order in which a group sends its requests.

use crate::plan::Source;
use crate::prepare::PreparedGroup;
use crate::random::SplitMix;

/// The order of one group's requests, in one worker.
pub(super) struct RequestOrder {
    first: u16,
    count: u16,
    order: Order,
}

enum Order {
    /// The only request.
    One,
    /// In turn; the number of the next one.
    Turn(u16),
    /// At random; the sums of the weights up to each request.
    Weighted(Vec<u64>, SplitMix),
    /// By the step of the user.
    Steps,
}

impl RequestOrder {
    /// Creates the order of a source. `part` is the number of the worker's part, so that workers begin
    /// with different requests.
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

    /// Returns the number of the next request, for a user at `step`.
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

    /// Returns the number of the request at a place, which a row has chosen.
    pub(super) fn at(&self, place: u16) -> u16 {
        self.first + place.min(self.count - 1)
    }

    /// Returns the number of steps in an iteration of a user; `None` without steps.
    pub(super) fn steps(&self) -> Option<u16> {
        matches!(self.order, Order::Steps).then_some(self.count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::RequestPlan;

    fn order(source: &Source, part: u64, count: usize) -> Vec<u16> {
        let group = PreparedGroup { first: 5, count: 3, rows: None, captures: 0 };
        let mut order = RequestOrder::new(source, &group, part, 9);
        (0..count).map(|_| order.next(2)).collect()
    }

    fn requests() -> Vec<RequestPlan> {
        vec![RequestPlan::get("http://h/"); 3]
    }

    #[test]
    fn requests_follow_each_other_from_the_start_of_the_part() {
        let turn = Source::Turn { requests: requests() };
        assert_eq!(order(&turn, 0, 4), [5, 6, 7, 5]);
        assert_eq!(order(&turn, 4, 4), [6, 7, 5, 6]);
    }

    #[test]
    fn requests_are_chosen_by_weight_and_one_of_weight_zero_is_not() {
        let weighted = Source::Weighted { requests: requests(), weights: vec![3, 0, 1] };
        let all = order(&weighted, 0, 100_000);
        let count = |number| all.iter().filter(|chosen| **chosen == number).count();
        assert!((74_000..76_000).contains(&count(5)), "{}", count(5));
        assert_eq!((count(6), count(5) + count(7)), (0, 100_000));
    }

    #[test]
    fn the_step_of_the_user_chooses_and_a_single_request_is_always_chosen() {
        assert_eq!(order(&Source::Steps { requests: requests() }, 0, 2), [7, 7]);
        assert_eq!(order(&Source::One { request: requests().remove(0) }, 0, 2), [5, 5]);
    }
}
