//! Random numbers from a seed.

use std::hash::{BuildHasher, Hasher, RandomState};

/// SplitMix64 (Steele, Lea and Flood 2014): small, seeded, and good enough for gaps.
#[derive(Debug, Clone)]
pub(crate) struct SplitMix(u64);

impl SplitMix {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// From the machine's own randomness: never the same twice.
    pub(crate) fn of_this_moment() -> Self {
        Self(RandomState::new().build_hasher().finish())
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        finish(self.0)
    }

    /// Uniform in (0, 1].
    #[allow(clippy::cast_precision_loss)]
    pub(crate) fn uniform(&mut self) -> f64 {
        ((self.next() >> 11) + 1) as f64 / (1_u64 << 53) as f64
    }

    /// Exponential with mean 1, by inversion.
    pub(crate) fn exponential(&mut self) -> f64 {
        -self.uniform().ln()
    }

    /// Normal with mean 0 and standard deviation 1 (Box and Muller 1958).
    pub(crate) fn normal(&mut self) -> f64 {
        let radius = (2.0 * self.exponential()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform()).cos()
    }
}

/// A seed for part `part` of whatever `seed` seeds.
#[must_use]
pub(crate) fn mix(seed: u64, part: u64) -> u64 {
    finish(seed ^ finish(part.wrapping_add(0x9e37_79b9_7f4a_7c15)))
}

fn finish(mut bits: u64) -> u64 {
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}
