//! How long requests take: the delay of a request follows from the seed and the request's number.

use serde::{Deserialize, Serialize};

use crate::random;
use crate::settings::{LONGEST_DELAY_NS, SpecError, within};

/// The delays of requests. In JSON, `kind` selects the variant.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Delay {
    /// The same for all.
    Constant {
        /// Nanoseconds, at most an hour.
        ns: u64,
    },
    /// One of two, at random for each request.
    Bimodal {
        /// Nanoseconds, at most `slow_ns`.
        fast_ns: u64,
        /// Nanoseconds, at most an hour.
        slow_ns: u64,
        /// The share of requests that is slow, 0 to 1.
        slow_share: f64,
    },
    /// Log-normal: median · exp(sigma · z), z standard normal; cut at an hour.
    Heavy {
        /// Nanoseconds, at most an hour.
        median_ns: u64,
        /// 0 to 10; at 1 the 99th percentile is ten times the median.
        sigma: f64,
    },
}

impl Delay {
    /// Checks the distribution; `key` is its name in the spec.
    pub(crate) fn check(&self, key: &str) -> Result<(), SpecError> {
        match *self {
            Delay::Constant { ns } => within(&format!("{key}.ns"), ns, 0, LONGEST_DELAY_NS),
            Delay::Bimodal { fast_ns, slow_ns, slow_share } => {
                within(&format!("{key}.slow_ns"), slow_ns, 0, LONGEST_DELAY_NS)?;
                within(&format!("{key}.fast_ns"), fast_ns, 0, slow_ns)?;
                within(&format!("{key}.slow_share"), slow_share, 0.0, 1.0)
            }
            Delay::Heavy { median_ns, sigma } => {
                within(&format!("{key}.median_ns"), median_ns, 0, LONGEST_DELAY_NS)?;
                within(&format!("{key}.sigma"), sigma, 0.0, 10.0)
            }
        }
    }

    /// Returns the delay of request `number`, in nanoseconds.
    pub(crate) fn draw(&self, seed: u64, number: u64) -> u64 {
        match *self {
            Delay::Constant { ns } => ns,
            Delay::Bimodal { fast_ns, slow_ns, slow_share } => {
                let slow = random::unit(seed, 0, number) < slow_share;
                if slow { slow_ns } else { fast_ns }
            }
            Delay::Heavy { median_ns, sigma } => {
                let factor = (sigma * random::normal(seed, 0, number)).exp();
                ((median_ns as f64 * factor) as u64).min(LONGEST_DELAY_NS)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DRAWS: u64 = 20_000;

    #[test]
    fn draws_the_same_delays_from_the_same_seed() {
        let heavy = Delay::Heavy { median_ns: 1_000_000, sigma: 1.0 };
        let draws = |seed| (0..100).map(|number| heavy.draw(seed, number)).collect::<Vec<_>>();
        assert_eq!(draws(1), draws(1));
        assert_ne!(draws(1), draws(2));
    }

    #[test]
    fn a_bimodal_delay_is_slow_in_its_share() {
        let delay = Delay::Bimodal { fast_ns: 1, slow_ns: 9, slow_share: 0.1 };
        let slow = (0..DRAWS).filter(|&number| delay.draw(1, number) == 9).count();
        assert!((1_850..2_150).contains(&slow), "{slow}");
    }

    #[test]
    fn a_heavy_delay_has_its_median_and_its_tail() {
        let delay = Delay::Heavy { median_ns: 1_000_000, sigma: 1.0 };
        let mut draws: Vec<u64> = (0..DRAWS).map(|number| delay.draw(1, number)).collect();
        draws.sort_unstable();
        let (median, p99) = (draws[10_000] as f64, draws[19_800] as f64);
        assert!((median / 1e6 - 1.0).abs() < 0.03, "{median}");
        assert!((p99 / (1e6 * (2.326_f64).exp()) - 1.0).abs() < 0.1, "{p99}");
    }

    #[test]
    fn an_endless_tail_is_cut_at_an_hour() {
        let delay = Delay::Heavy { median_ns: LONGEST_DELAY_NS, sigma: 10.0 };
        assert!((0..100).all(|number| delay.draw(1, number) <= LONGEST_DELAY_NS));
    }
}
