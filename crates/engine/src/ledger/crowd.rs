//! How many users there were, and when.

use net::Nanos;

/// The number of users over the time of a test; only what changed is kept.
#[derive(Debug, Default)]
pub(super) struct Crowd {
    changes: Vec<(Nanos, u64)>,
}

impl Crowd {
    /// Notes how many there are at a time that is no earlier than the last one.
    pub(super) fn note(&mut self, at: Nanos, users: u64) {
        if self.changes.last().is_none_or(|(_, last)| *last != users) {
            self.changes.push((at, users));
        }
    }

    /// The most that there were between two times.
    pub(super) fn most(&self, from: Nanos, to: Nanos) -> u64 {
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
        let mut crowd = Crowd::default();
        assert_eq!(crowd.most(0, 100), 0);
        for (at, users) in [(5, 5), (10, 5), (20, 20), (30, 10)] {
            crowd.note(at, users);
        }
        assert_eq!(crowd.changes.len(), 3);
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
            assert_eq!(crowd.most(from, to), most, "{from} to {to}");
        }
    }
}
