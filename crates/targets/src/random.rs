//! Random numbers without a state: the n-th number of a seed, in any order.
//!
//! The decisions of a target depend only on the number of a request, not on the thread that read it.

/// Returns the bits of number `number` of a series; the series of a seed are independent of each other.
///
/// Source: Steele, Lea, Flood, *Fast splittable pseudorandom number generators* (SplitMix64),
/// whose state after n steps is seed + n·γ.
pub(crate) fn bits(seed: u64, series: u64, number: u64) -> u64 {
    let stream = mix(seed.wrapping_add(mix(series.wrapping_add(1))));
    mix(stream.wrapping_add(number.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15)))
}

/// Returns a number in 0 ≤ x < 1, evenly distributed.
pub(crate) fn unit(seed: u64, series: u64, number: u64) -> f64 {
    (bits(seed, series, number) >> 11) as f64 / (1u64 << 53) as f64
}

/// Returns a standard normal number, from the series `series` and `series + 1`.
///
/// Source: Box, Muller, *A note on the generation of random normal deviates*.
pub(crate) fn normal(seed: u64, series: u64, number: u64) -> f64 {
    let radius = (-2.0 * (1.0 - unit(seed, series, number)).ln()).sqrt();
    radius * (std::f64::consts::TAU * unit(seed, series + 1, number)).cos()
}

fn mix(state: u64) -> u64 {
    let state = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let state = (state ^ (state >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    state ^ (state >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    const DRAWS: u64 = 100_000;

    #[test]
    fn even_numbers_have_the_mean_and_variance_of_even_numbers() {
        let draws: Vec<f64> = (0..DRAWS).map(|number| unit(1, 0, number)).collect();
        let (mean, variance) = moments(&draws);
        assert!((mean - 0.5).abs() < 0.005, "{mean}");
        assert!((variance - 1.0 / 12.0).abs() < 0.002, "{variance}");
    }

    #[test]
    fn normal_numbers_have_mean_0_and_variance_1() {
        let draws: Vec<f64> = (0..DRAWS).map(|number| normal(7, 0, number)).collect();
        let (mean, variance) = moments(&draws);
        assert!(mean.abs() < 0.015, "{mean}");
        assert!((variance - 1.0).abs() < 0.02, "{variance}");
    }

    fn moments(draws: &[f64]) -> (f64, f64) {
        let n = draws.len() as f64;
        let mean = draws.iter().sum::<f64>() / n;
        (mean, draws.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n)
    }
}
