//! One duration, counted: a histogram with exact sums beside it.
//!
//! HDR, 3 significant digits, 1 ns to 1 h; longer values are clamped and counted. Merging adds;
//! percentiles are only ever read from the merged histogram.

use std::borrow::Cow;
use std::cell::RefCell;

use hdrhistogram::Histogram;
use net::Nanos;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value, json};

use super::buckets::{Buckets, ListedBuckets};
use super::packer::{pack, unpack};

const ONE_HOUR_NS: u64 = 3_600_000_000_000;

/// The percentiles that are shown, with their names in files.
pub(crate) const PERCENTILES: &[(&str, f64)] = &[
    ("p50", 0.50),
    ("p75", 0.75),
    ("p90", 0.90),
    ("p95", 0.95),
    ("p99", 0.99),
    ("p99_9", 0.999),
    ("p99_99", 0.9999),
];

/// Statistics of nanoseconds as files have them, and their histogram.
#[must_use]
pub fn statistics(values: impl IntoIterator<Item = Nanos>) -> Value {
    let mut metric = Metric::default();
    values.into_iter().for_each(|value| metric.record(value));
    json!({ "stats": metric.to_json(), "histogram": metric.to_base64() })
}

/// Says of which of these statistics only a lower bound is known.
pub(crate) fn mark_at_least(stats: &mut Value, names: &[&str]) {
    if let Value::Object(stats) = stats
        && !names.is_empty()
    {
        stats.insert("at_least".into(), names.into());
    }
}

/// A histogram of nanoseconds, with the exact sum and sum of squares.
#[derive(Debug, Clone, Default)]
pub struct Metric {
    counts: MetricCounts,
    sum: u128,
    sum_of_squares: u128,
    clamped: u64,
}

/// How often each value was counted.
#[derive(Debug, Clone, Default)]
enum MetricCounts {
    /// Before the first value: most metrics of most requests never have one.
    #[default]
    None,
    /// Of one worker in one interval.
    Buckets(Buckets),
    /// Those of another process.
    Listed(ListedBuckets),
    /// Merged or read.
    Histogram(Histogram<u64>),
}

impl MetricCounts {
    /// Reads the counts as a histogram, if there are any. The function may read no other counts.
    fn read<T>(&self, read: impl FnOnce(&Histogram<u64>) -> T) -> Option<T> {
        match self {
            Self::Histogram(histogram) => Some(histogram).filter(|all| !all.is_empty()).map(read),
            _ if self.count() == 0 => None,
            _ => Some(SCRATCH.with_borrow_mut(|histogram| {
                histogram.reset();
                self.add_to(histogram);
                read(histogram)
            })),
        }
    }

    /// The counts as a histogram, if there are any.
    fn histogram(&self) -> Option<Cow<'_, Histogram<u64>>> {
        match self {
            Self::None => None,
            Self::Histogram(histogram) => Some(Cow::Borrowed(histogram)),
            Self::Buckets(_) | Self::Listed(_) => {
                let mut histogram = empty();
                self.add_to(&mut histogram);
                Some(Cow::Owned(histogram))
            }
        }
        .filter(|histogram| !histogram.is_empty())
    }

    fn add_to(&self, histogram: &mut Histogram<u64>) {
        match self {
            Self::None => {}
            Self::Buckets(buckets) => buckets.add_to(histogram),
            Self::Listed(list) => list.add_to(histogram),
            // Adding cannot fail on a histogram that grows.
            Self::Histogram(other) => drop(histogram.add(other)),
        }
    }

    fn count(&self) -> u64 {
        match self {
            Self::None => 0,
            Self::Buckets(buckets) => buckets.count(),
            Self::Listed(list) => list.count(),
            Self::Histogram(histogram) => histogram.len(),
        }
    }

    /// Turns the counts into a histogram, to which others are added.
    fn as_sum(&mut self) -> &mut Histogram<u64> {
        if !matches!(self, Self::Histogram(_)) {
            *self = Self::Histogram(self.histogram().map_or_else(empty, Cow::into_owned));
        }
        let Self::Histogram(histogram) = self else { unreachable!("it was just made one") };
        histogram
    }
}

impl PartialEq for Metric {
    fn eq(&self, other: &Self) -> bool {
        self.counts.histogram() == other.counts.histogram()
            && (self.sum, self.sum_of_squares, self.clamped)
                == (other.sum, other.sum_of_squares, other.clamped)
    }
}

thread_local! {
    /// Counts that are being read: a new histogram for each would be 170 KB of new memory.
    static SCRATCH: RefCell<Histogram<u64>> = RefCell::new(empty());
}

/// Three digits are always valid, and so is growing from the smallest range.
#[allow(clippy::expect_used)]
fn empty() -> Histogram<u64> {
    Histogram::new(3).expect("3 significant digits are within 0..=5")
}

impl Metric {
    /// Counts one value.
    #[inline]
    pub fn record(&mut self, nanos: Nanos) {
        let value = nanos.min(ONE_HOUR_NS);
        self.clamped += u64::from(value < nanos);
        self.sum += u128::from(value);
        self.sum_of_squares += u128::from(value) * u128::from(value);
        match &mut self.counts {
            MetricCounts::Buckets(buckets) => buckets.record(value),
            // A growing histogram takes every value up to an hour.
            MetricCounts::Histogram(histogram) => drop(histogram.record(value)),
            MetricCounts::Listed(_) => drop(self.counts.as_sum().record(value)),
            MetricCounts::None => {
                let mut buckets = Buckets::default();
                buckets.record(value);
                self.counts = MetricCounts::Buckets(buckets);
            }
        }
    }

    #[cfg(test)]
    pub(crate) fn is_histogram(&self) -> bool {
        matches!(self.counts, MetricCounts::Histogram(_))
    }

    /// Empties it; it keeps its memory.
    pub fn clear(&mut self) {
        let mut counts = std::mem::take(&mut self.counts);
        match &mut counts {
            MetricCounts::Buckets(buckets) => buckets.clear(),
            MetricCounts::Histogram(histogram) if !histogram.is_empty() => histogram.reset(),
            MetricCounts::Listed(_) => counts = MetricCounts::None,
            MetricCounts::None | MetricCounts::Histogram(_) => {}
        }
        *self = Self { counts, ..Self::default() };
    }

    /// Adds what another one counted.
    pub fn merge(&mut self, other: &Self) {
        if other.count() > 0 {
            other.counts.add_to(self.counts.as_sum());
        }
        self.sum += other.sum;
        self.sum_of_squares += other.sum_of_squares;
        self.clamped += other.clamped;
    }

    /// How many values were counted.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.counts.count()
    }

    /// Values beyond the range, counted at one hour.
    #[must_use]
    pub fn clamped(&self) -> u64 {
        self.clamped
    }

    /// The percentile, or `None` where fewer than 10/(1−p) values were counted.
    #[must_use]
    pub fn percentile(&self, p: f64) -> Option<Nanos> {
        self.has_percentile(p).then(|| self.quantile(p))
    }

    #[allow(clippy::cast_precision_loss)]
    fn has_percentile(&self, p: f64) -> bool {
        // One part in 10^9 forgives that 1 − 0.99 is not exactly 0.01.
        self.count() as f64 * (1.0 - p) >= 10.0 * (1.0 - 1e-9)
    }

    /// A quantile of however few values: for judging, not for showing.
    #[must_use]
    pub fn quantile(&self, p: f64) -> Nanos {
        self.counts.read(|histogram| histogram.value_at_quantile(p)).unwrap_or(0)
    }

    /// A quantile of several metrics together; None when none of them has a value.
    #[must_use]
    pub fn quantile_of_all<'a>(metrics: impl Iterator<Item = &'a Self>, p: f64) -> Option<Nanos> {
        let mut counted = metrics.filter(|metric| metric.count() > 0);
        let first = counted.next()?;
        let Some(second) = counted.next() else { return Some(first.quantile(p)) };
        let mut all = first.clone();
        std::iter::once(second).chain(counted).for_each(|metric| all.merge(metric));
        Some(all.quantile(p))
    }

    /// The mean, in ns.
    #[must_use]
    #[allow(clippy::cast_precision_loss)]
    pub fn mean(&self) -> f64 {
        self.sum as f64 / self.count().max(1) as f64
    }

    /// The standard deviation of the counted values (not an estimate for more), in ns.
    #[must_use]
    #[allow(clippy::cast_precision_loss)]
    pub fn stdev(&self) -> f64 {
        let count = u128::from(self.count().max(1));
        // n·Σx² − (Σx)² is exact in integers, where the difference of two large floats is not.
        let squares = count.checked_mul(self.sum_of_squares);
        match squares.zip(self.sum.checked_mul(self.sum)) {
            Some((squares, square)) => {
                (squares.saturating_sub(square) as f64).sqrt() / count as f64
            }
            None => {
                (self.sum_of_squares as f64 / count as f64 - self.mean().powi(2)).max(0.0).sqrt()
            }
        }
    }

    /// Percent of the values within one standard deviation of the mean, by bucket midpoints.
    #[allow(clippy::cast_precision_loss)]
    fn within_stdev_rate(&self, histogram: &Histogram<u64>) -> f64 {
        let (mean, stdev) = (self.mean(), self.stdev());
        let inside: u64 = histogram
            .iter_recorded()
            .map(|step| (step.value_iterated_to(), step.count_at_value()))
            .filter(|(value, _)| {
                let low = histogram.lowest_equivalent(*value) as f64;
                let high = histogram.highest_equivalent(*value) as f64;
                ((low + high) / 2.0 - mean).abs() <= stdev
            })
            .map(|(_, count)| count)
            .sum();
        100.0 * inside as f64 / self.count().max(1) as f64
    }

    /// The statistics in milliseconds, as files have them; null when nothing was counted.
    #[must_use]
    pub fn to_json(&self) -> Value {
        self.counts.read(|histogram| self.statistics(histogram)).unwrap_or(Value::Null)
    }

    fn statistics(&self, histogram: &Histogram<u64>) -> Value {
        let mut stats = Map::new();
        stats.insert("n".into(), self.count().into());
        stats.insert("mean".into(), json!(self.mean() / 1e6));
        stats.insert("stdev".into(), json!(self.stdev() / 1e6));
        stats.insert("within_stdev_rate".into(), json!(self.within_stdev_rate(histogram)));
        stats.insert("min".into(), milliseconds(histogram.min()));
        for (name, p) in PERCENTILES {
            let value = self.has_percentile(*p).then(|| histogram.value_at_quantile(*p));
            stats.insert((*name).into(), value.map_or(Value::Null, milliseconds));
        }
        stats.insert("max".into(), milliseconds(histogram.max()));
        Value::Object(stats)
    }

    /// The same, with the mean and every percentile only known to be at least what they say.
    #[must_use]
    pub(crate) fn to_json_at_least(&self) -> Value {
        let mut stats = self.to_json();
        let percentiles = PERCENTILES.iter().map(|(name, _)| *name);
        let names: Vec<_> = ["mean"].into_iter().chain(percentiles).chain(["max"]).collect();
        mark_at_least(&mut stats, &names);
        stats
    }

    /// The histogram in HdrHistogram's V2 form, compressed, in base64.
    #[must_use]
    pub fn to_base64(&self) -> String {
        self.counts.histogram().map_or_else(|| pack(&empty()), |histogram| pack(&histogram))
    }

    fn from_parts(parts: Parts) -> Result<Self, String> {
        let mut histogram = empty();
        histogram.add(unpack(&parts.histogram)?).map_err(|error| error.to_string())?;
        let number = |text: &str| text.parse().map_err(|_| format!("{text:?} is no sum"));
        Ok(Self {
            counts: if histogram.is_empty() {
                MetricCounts::None
            } else {
                MetricCounts::Histogram(histogram)
            },
            sum: number(&parts.sum)?,
            sum_of_squares: number(&parts.sum_of_squares)?,
            clamped: parts.clamped,
        })
    }
}

fn milliseconds(nanos: Nanos) -> Value {
    #[allow(clippy::cast_precision_loss)]
    Value::from(nanos as f64 / 1e6)
}

/// A metric in JSON: sums as decimal text, since JSON numbers end at 2^53.
#[derive(Serialize, Deserialize)]
struct Parts {
    histogram: String,
    sum: String,
    sum_of_squares: String,
    clamped: u64,
}

/// A metric in frames.
#[derive(Serialize, Deserialize)]
struct FrameForm {
    counts: ListedBuckets,
    sum: u128,
    sum_of_squares: u128,
    clamped: u64,
}

impl Serialize for Metric {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { sum, sum_of_squares, clamped, .. } = *self;
        if !serializer.is_human_readable() {
            let counts = match &self.counts {
                MetricCounts::None => ListedBuckets::default(),
                MetricCounts::Buckets(buckets) => buckets.into(),
                MetricCounts::Listed(list) => list.clone(),
                MetricCounts::Histogram(histogram) => histogram.into(),
            };
            return FrameForm { counts, sum, sum_of_squares, clamped }.serialize(serializer);
        }
        let (sum, sum_of_squares) = (sum.to_string(), sum_of_squares.to_string());
        let parts = Parts { histogram: self.to_base64(), sum, sum_of_squares, clamped };
        parts.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Metric {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if deserializer.is_human_readable() {
            let parts = Parts::deserialize(deserializer)?;
            return Self::from_parts(parts).map_err(serde::de::Error::custom);
        }
        let form = FrameForm::deserialize(deserializer)?;
        let FrameForm { counts, sum, sum_of_squares, clamped } = form;
        let counts = match counts.count() {
            0 => MetricCounts::None,
            _ => MetricCounts::Listed(counts),
        };
        Ok(Self { counts, sum, sum_of_squares, clamped })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn metric(values: impl IntoIterator<Item = Nanos>) -> Metric {
        let mut metric = Metric::default();
        values.into_iter().for_each(|value| metric.record(value));
        metric
    }

    #[test]
    fn k_recorders_give_bin_by_bin_the_histogram_of_one() {
        let values: Vec<Nanos> = (0..30_000_u64).map(|n| n * n * 7919 % 5_000_000_000).collect();
        let mut merged = Metric::default();
        for part in 0..7 {
            merged.merge(&metric(values.iter().skip(part).step_by(7).copied()));
        }
        assert_eq!(merged, metric(values));
    }

    #[test]
    fn statistics_are_those_of_the_merged_counts_whatever_was_read_before() {
        let (small, large) = (metric(1..=1000), metric((1..=1000).map(|n| n * 1_000_000)));
        let mut merged = Metric::default();
        merged.merge(&small);
        assert!(large.quantile(1.0) >= 1_000_000_000);
        assert_eq!(small.to_json(), merged.to_json());
        assert_eq!((small.quantile(0.5), small.percentile(0.99)), (500, Some(990)));
    }

    #[test]
    fn survives_the_way_through_bytes() {
        let metric = metric([0, 1, 999, 12_345_678, u64::MAX]);
        let text = serde_json::to_string(&metric).unwrap();
        assert_eq!(serde_json::from_str::<Metric>(&text).unwrap(), metric);
        assert!(metric.to_base64().starts_with("HISTFAAA"));
    }

    #[test]
    fn survives_the_way_through_frames_counted_or_merged() {
        let recorded = metric([0, 1, 999, 12_345_678, 12_345_679, u64::MAX]);
        let mut merged = metric((0..100_000).map(|number| number % 2));
        merged.merge(&recorded);
        for metric in [Metric::default(), recorded, merged] {
            let bytes = postcard::to_stdvec(&metric).unwrap();
            assert_eq!(postcard::from_bytes::<Metric>(&bytes).unwrap(), metric);
        }
    }

    #[test]
    fn sums_are_exact_and_the_spread_is_that_of_the_values() {
        let metric = metric([2, 4, 4, 4, 5, 5, 7, 9]);
        assert!((metric.mean() - 5.0).abs() < 1e-12);
        assert!((metric.stdev() - 2.0).abs() < 1e-12);
        assert_eq!(metric.to_json()["within_stdev_rate"], 75.0);
    }

    #[test]
    fn a_percentile_needs_ten_values_beyond_it() {
        assert_eq!(metric(vec![1; 19]).percentile(0.5), None);
        assert_eq!(metric(vec![1; 20]).percentile(0.5), Some(1));
        assert_eq!(metric(vec![1; 999]).percentile(0.99), None);
        assert_eq!(metric(vec![1; 1000]).percentile(0.99), Some(1));
        assert_eq!(metric(vec![1; 10_000]).percentile(0.999), Some(1));
    }

    #[test]
    fn values_beyond_an_hour_are_clamped_and_counted() {
        let metric = metric([ONE_HOUR_NS + 1, ONE_HOUR_NS]);
        assert_eq!((metric.count(), metric.clamped()), (2, 1));
    }

    #[test]
    fn nothing_counted_is_null() {
        assert_eq!(Metric::default().to_json(), Value::Null);
    }
}
