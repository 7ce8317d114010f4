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
}
