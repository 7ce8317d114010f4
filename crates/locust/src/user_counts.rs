//! The number of users over time.

use net::Nanos;

/// The changes of the number of users in a test.
#[derive(Debug, Default)]
pub(super) struct UserCounts {
    changes: Vec<(Nanos, u64)>,
}

impl UserCounts {
    /// Records the number of users at a time, which must not be earlier than the last one.
    pub(super) fn record(&mut self, at: Nanos, users: u64) {
        if self.changes.last().is_none_or(|(_, last)| *last != users) {
            self.changes.push((at, users));
        }
    }

    /// Returns the maximum number between two times.
    pub(super) fn max_between(&self, from: Nanos, to: Nanos) -> u64 {
        let begun = self.changes.partition_point(|(at, _)| *at <= from).saturating_sub(1);
        let within = self.changes[begun.min(self.changes.len())..].iter();
        within.take_while(|(at, _)| *at < to).map(|(_, users)| *users).max().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_has_as_many_users_as_there_were_at_most_within_it() {
        let mut user_counts = UserCounts::default();
        assert_eq!(user_counts.max_between(0, 100), 0);
        for (at, users) in [(5, 5), (10, 5), (20, 20), (30, 10)] {
            user_counts.record(at, users);
        }
        assert_eq!(user_counts.changes.len(), 3);
        let table = [
            ((0, 5), 0),
            ((0, 6), 5),
            ((6, 20), 5),
            ((15, 25), 20),
            ((25, 40), 20),
            ((30, 40), 10),
            ((90, 99), 10),
        ];
        for ((from, to), most) in table {
            assert_eq!(user_counts.max_between(from, to), most, "{from} to {to}");
        }
    }
}
