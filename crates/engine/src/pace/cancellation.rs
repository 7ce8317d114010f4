//! Random moments at which users give up, from a seed.

use net::Nanos;

use super::think::Thoughts;
use crate::plan::{CancelAfter, Cancellation};
use crate::random::SplitMix;

/// The seed of the times, apart from that of the choice who gives up.
const TIME_SEED: u64 = 0x67_69_76_65_75_70;

/// The moment at which the user of one attempt gives up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct GivingUp {
    /// How long after the start of the attempt; `Nanos::MAX` if not by time.
    pub(crate) after_ns: Nanos,
    /// After how many texts; `u64::MAX` if not by texts.
    pub(crate) after_texts: u64,
    /// Whether the times to the first texts count. Of users who give up after a time, only those of fast
    /// responses would be known.
    pub(crate) counts_first_texts: bool,
}

impl GivingUp {
    /// The moment of a user who waits to the end.
    pub(crate) const NEVER: Self =
        Self { after_ns: Nanos::MAX, after_texts: u64::MAX, counts_first_texts: true };
}

/// The moments of one group.
#[derive(Debug, Clone)]
pub(crate) struct Cancellations {
    share: f64,
    random: SplitMix,
    after: After,
}

#[derive(Debug, Clone)]
enum After {
    Time(Thoughts),
    Texts(u64, u64),
}

impl Cancellations {
    pub(crate) fn new(plan: &Cancellation, seed: u64) -> Self {
        let after = match &plan.after {
            CancelAfter::Time { time } => After::Time(Thoughts::new(time, seed ^ TIME_SEED)),
            CancelAfter::Texts { from, to } => After::Texts(*from, *to),
        };
        Self { share: plan.share, random: SplitMix::new(seed), after }
    }

    /// Returns when the user of the next attempt gives up.
    pub(crate) fn next(&mut self) -> GivingUp {
        // From above 0 to 1: all are at most 1, and none is at most 0.
        if self.random.uniform() > self.share {
            return GivingUp::NEVER;
        }
        match &mut self.after {
            After::Time(times) => GivingUp {
                after_ns: times.next(),
                counts_first_texts: self.share >= 1.0,
                ..GivingUp::NEVER
            },
            After::Texts(from, to) => {
                let after_texts = *from + self.random.next() % (*to - *from + 1);
                GivingUp { after_texts, ..GivingUp::NEVER }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Think;

    fn drawn(share: f64, after: CancelAfter) -> Vec<GivingUp> {
        let mut cancellations = Cancellations::new(&Cancellation { share, after }, 7);
        (0..100_000).map(|_| cancellations.next()).collect()
    }

    #[test]
    fn the_share_of_the_plan_gives_up_and_all_or_none_are_exact() {
        let texts = CancelAfter::Texts { from: 3, to: 3 };
        let count = |share| {
            let drawn = drawn(share, texts.clone());
            drawn.iter().filter(|moment| moment.after_texts == 3).count()
        };
        assert_eq!((count(0.0), count(1.0)), (0, 100_000));
        assert!((9_600..10_400).contains(&count(0.1)), "{}", count(0.1));
    }

    #[test]
    fn first_texts_count_unless_users_who_wait_show_them_without_a_bias() {
        let time = CancelAfter::Time { time: Think::Uniform { from_ns: 9, to_ns: 9 } };
        let texts = CancelAfter::Texts { from: 1, to: 1 };
        let counts = |moment: &GivingUp| moment.counts_first_texts;
        assert!(drawn(0.5, time.clone()).iter().all(|m| counts(m) == (m.after_ns > 9)));
        assert!(drawn(1.0, time).iter().all(counts));
        assert!(drawn(0.5, texts).iter().all(counts));
    }

    #[test]
    fn moments_lie_where_the_plan_says() {
        let time = Think::Uniform { from_ns: 1_000, to_ns: 3_000 };
        let times = drawn(1.0, CancelAfter::Time { time });
        assert!(times.iter().all(|moment| (1_000..=3_000).contains(&moment.after_ns)));
        assert!(times.iter().all(|moment| moment.after_texts == u64::MAX));
        let texts = drawn(1.0, CancelAfter::Texts { from: 1, to: 4 });
        for number in 1..=4 {
            let count = texts.iter().filter(|moment| moment.after_texts == number).count();
            assert!((24_000..26_000).contains(&count), "{number}: {count}");
        }
    }
}
