//! Random think times from a seed.

use net::Nanos;

use crate::plan::Think;
use crate::random::SplitMix;

/// The think times of one group.
#[derive(Debug, Clone)]
pub(crate) struct Thoughts {
    think: Think,
    random: SplitMix,
}

impl Thoughts {
    pub(crate) fn new(think: &Think, seed: u64) -> Self {
        Self { think: think.clone(), random: SplitMix::new(seed) }
    }

    /// Returns the rest of a think time that has begun before the start, so that not all users begin at
    /// once.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss)]
    pub(crate) fn rest(&mut self) -> Nanos {
        (self.next() as f64 * self.random.uniform()) as Nanos
    }

    /// Returns the next think time.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss)]
    pub(crate) fn next(&mut self) -> Nanos {
        match self.think {
            Think::Uniform { from_ns, to_ns } => {
                let span = to_ns.saturating_sub(from_ns) as f64;
                from_ns + (self.random.uniform() * span) as Nanos
            }
            Think::Exponential { mean_ns } => (self.random.exponential() * mean_ns as f64) as Nanos,
            // A conversion to an integer makes zero of what is below.
            Think::Normal { mean_ns, deviation_ns } => {
                (mean_ns as f64 + self.random.normal() * deviation_ns as f64) as Nanos
            }
            Think::LogNormal { median_ns, sigma } => {
                (median_ns as f64 * (self.random.normal() * sigma).exp()) as Nanos
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(think: &Think) -> Vec<Nanos> {
        let mut thoughts = Thoughts::new(think, 7);
        (0..100_000).map(|_| thoughts.next()).collect()
    }

    #[allow(clippy::cast_precision_loss)]
    fn mean(values: &[Nanos]) -> f64 {
        values.iter().sum::<Nanos>() as f64 / values.len() as f64
    }

    #[test]
    fn thoughts_lie_where_the_plan_says() {
        let uniform = drawn(&Think::Uniform { from_ns: 1_000, to_ns: 3_000 });
        assert!(uniform.iter().all(|time| (1_000..=3_000).contains(time)));
        assert!((mean(&uniform) - 2_000.0).abs() < 10.0);
        assert_eq!(drawn(&Think::Uniform { from_ns: 500, to_ns: 500 }), vec![500; 100_000]);
        let exponential = drawn(&Think::Exponential { mean_ns: 2_000 });
        assert!((mean(&exponential) - 2_000.0).abs() < 30.0);
        let long = exponential.iter().filter(|time| **time > 4_000).count();
        // e^-2 of them, 13,534, are longer than twice the mean.
        assert!((13_000..14_000).contains(&long), "{long}");
    }

    fn count_above(times: &[Nanos], limit: Nanos) -> usize {
        times.iter().filter(|time| **time > limit).count()
    }

    #[test]
    fn normal_and_lognormal_thoughts_have_their_middle_and_their_width() {
        let normal = drawn(&Think::Normal { mean_ns: 10_000, deviation_ns: 1_000 });
        // 15.87 % are longer than the mean by more than the standard deviation.
        let counts = [10_000, 11_000].map(|limit| count_above(&normal, limit));
        assert!((49_000..51_000).contains(&counts[0]), "{counts:?}");
        assert!((15_400..16_300).contains(&counts[1]), "{counts:?}");
        let lognormal = drawn(&Think::LogNormal { median_ns: 10_000, sigma: 0.5 });
        // e^0.5 is 1.6487.
        let counts = [10_000, 16_487].map(|limit| count_above(&lognormal, limit));
        assert!((49_000..51_000).contains(&counts[0]), "{counts:?}");
        assert!((15_400..16_300).contains(&counts[1]), "{counts:?}");
    }

    #[test]
    fn no_time_is_below_zero_or_without_an_end() {
        let normal = drawn(&Think::Normal { mean_ns: 10, deviation_ns: 1_000 });
        assert!((48_000..51_500).contains(&normal.iter().filter(|time| **time == 0).count()));
        let endless = drawn(&Think::LogNormal { median_ns: Nanos::MAX, sigma: 5.0 });
        assert!(count_above(&endless, Nanos::MAX - 1) > 40_000);
    }
}
