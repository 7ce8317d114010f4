//! Counts in the buckets of an HdrHistogram, with memory for the buckets that were used.
//!
//! A histogram of three digits needs 170 KB for one value of a second, whatever else it counts, and
//! a load with many names has one for each name and worker. Here 16 neighbouring buckets that were
//! never used cost two bytes.

use hdrhistogram::Histogram;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Buckets in a page.
const PAGE: usize = 16;

/// In each power of two from here on there are half as many buckets as below it.
const HALF_BITS: u32 = 10;

/// More buckets than an hour of nanoseconds has.
const BUCKETS: i32 = 34_000;

/// The counts of one worker in one interval. Values are as large as the histogram may have them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Buckets {
    /// The number of the page that has these buckets, counted from 1; 0 where none was used.
    directory: Vec<u16>,
    pages: Vec<[u16; PAGE]>,
    /// The bucket of each counter that began again at 0, once for each time.
    overflows: Vec<u32>,
    count: u64,
}

impl Buckets {
    /// Counts one value.
    #[inline]
    pub(crate) fn record(&mut self, value: u64) {
        let bucket = bucket_of(value);
        let number = match self.directory.get(bucket / PAGE) {
            Some(number) if *number > 0 => *number,
            _ => self.add_page(bucket / PAGE),
        };
        let counter = &mut self.pages[usize::from(number) - 1][bucket % PAGE];
        *counter = counter.wrapping_add(1);
        if *counter == 0 {
            self.overflows.push(bucket as u32);
        }
        self.count += 1;
    }

    /// How many values were counted.
    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    /// Adds all counts to a histogram of three digits that grows by itself.
    pub(crate) fn add_to(&self, histogram: &mut Histogram<u64>) {
        // It grows once if the highest bucket comes first.
        self.used_pages().rev().for_each(|(first, page)| add_page(histogram, first, page));
        self.overflowed().for_each(|(bucket, count)| add(histogram, bucket, count));
    }

    /// Returns the buckets that have counts, some of them more than once.
    fn counts(&self) -> impl Iterator<Item = (usize, u64)> {
        let places = self.used_pages().flat_map(|(first, page)| (first..).zip(page));
        let counts = places.map(|(bucket, count)| (bucket, u64::from(*count)));
        counts.filter(|(_, count)| *count > 0).chain(self.overflowed())
    }

    /// Returns the pages that have buckets, each with the number of its first bucket.
    fn used_pages(&self) -> impl DoubleEndedIterator<Item = (usize, &[u16; PAGE])> {
        let places = self.directory.iter().enumerate().filter(|(_, number)| **number > 0);
        places.map(|(place, number)| (place * PAGE, &self.pages[usize::from(*number) - 1]))
    }

    /// Returns the buckets whose counters began again at 0, each with what was counted before.
    fn overflowed(&self) -> impl Iterator<Item = (usize, u64)> {
        self.overflows.iter().map(|bucket| (*bucket as usize, 1 << u16::BITS))
    }

    /// Forgets all counts and keeps the memory.
    pub(crate) fn clear(&mut self) {
        if self.count > 0 {
            self.pages.fill([0; PAGE]);
            self.overflows.clear();
            self.count = 0;
        }
    }

    #[cold]
    fn add_page(&mut self, place: usize) -> u16 {
        if self.directory.len() <= place {
            self.directory.resize(place + 1, 0);
        }
        if self.pages.len() == self.pages.capacity() {
            // Doubling would leave up to half of the memory unused.
            self.pages.reserve_exact(self.pages.len() / 8 + 4);
        }
        self.pages.push([0; PAGE]);
        // An hour of nanoseconds has 2,112 pages.
        self.directory[place] = self.pages.len() as u16;
        self.directory[place]
    }
}

/// Counts that are only added to others: a list of buckets, which is compact in a frame.
#[derive(Debug, Clone, Default)]
pub(crate) struct ListedBuckets {
    /// The distance of each bucket from the one before it in the list, and its count.
    list: Vec<(i32, u64)>,
    count: u64,
}

impl ListedBuckets {
    fn of(counts: impl Iterator<Item = (usize, u64)>) -> Self {
        let (mut all, mut last) = (Self::default(), 0);
        for (bucket, count) in counts {
            let bucket = bucket as i32;
            all.list.push((bucket - last, count));
            all.count += count;
            last = bucket;
        }
        all
    }

    /// How many values were counted.
    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    /// Adds all counts to a histogram of three digits that grows by itself.
    pub(crate) fn add_to(&self, histogram: &mut Histogram<u64>) {
        let mut bucket = 0;
        for (distance, count) in &self.list {
            bucket += distance;
            add(histogram, bucket as usize, *count);
        }
    }
}

impl From<&Buckets> for ListedBuckets {
    fn from(buckets: &Buckets) -> Self {
        Self::of(buckets.counts())
    }
}

impl From<&Histogram<u64>> for ListedBuckets {
    fn from(histogram: &Histogram<u64>) -> Self {
        let recorded = histogram.iter_recorded();
        Self::of(recorded.map(|step| (bucket_of(step.value_iterated_to()), step.count_at_value())))
    }
}

impl Serialize for ListedBuckets {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.list.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for ListedBuckets {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let list = Vec::<(i32, u64)>::deserialize(deserializer)?;
        let (mut bucket, mut all) = (0_i32, 0_u64);
        for (distance, count) in &list {
            let next = bucket.checked_add(*distance).filter(|next| (0..BUCKETS).contains(next));
            bucket = next.ok_or_else(|| D::Error::custom("a bucket that no histogram has"))?;
            let sum = all.checked_add(*count);
            all = sum.ok_or_else(|| D::Error::custom("more counts than a histogram can have"))?;
        }
        Ok(Self { list, count: all })
    }
}

fn add_page(histogram: &mut Histogram<u64>, first: usize, page: &[u16; PAGE]) {
    for (place, count) in page.iter().enumerate().rev() {
        if *count > 0 {
            add(histogram, first + place, u64::from(*count));
        }
    }
}

fn add(histogram: &mut Histogram<u64>, bucket: usize, count: u64) {
    // A growing histogram takes every value.
    let _ = histogram.record_n(lowest_of(bucket), count);
}

/// The number of the bucket of a value, as in a histogram of three digits from 1 on: those below
/// 2,048 have a bucket each.
#[inline]
fn bucket_of(value: u64) -> usize {
    let shift = (u64::BITS - (HALF_BITS + 1)) - (value | ((2 << HALF_BITS) - 1)).leading_zeros();
    ((shift as usize) << HALF_BITS) + (value >> shift) as usize
}

/// The lowest value of a bucket.
fn lowest_of(bucket: usize) -> u64 {
    let shift = (bucket >> HALF_BITS).saturating_sub(1);
    ((bucket - (shift << HALF_BITS)) as u64) << shift
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR_NS: u64 = 3_600_000_000_000;

    fn histogram(values: impl IntoIterator<Item = u64>) -> Histogram<u64> {
        let mut histogram = Histogram::new(3).unwrap();
        values.into_iter().for_each(|value| histogram.record(value).unwrap());
        histogram
    }

    fn added(values: impl IntoIterator<Item = u64>) -> Histogram<u64> {
        let (mut buckets, mut sum) = (Buckets::default(), Histogram::new(3).unwrap());
        values.into_iter().for_each(|value| buckets.record(value));
        buckets.add_to(&mut sum);
        sum
    }

    #[test]
    fn every_bucket_is_that_of_the_histogram() {
        let edges = (0..42).flat_map(|power| [(1_u64 << power) - 1, 1 << power, (1 << power) + 1]);
        let many = (0..100_000_u64).map(|n| n * n * 7919 % HOUR_NS);
        let values: Vec<_> = (0..5000).chain(edges).chain(many).chain([HOUR_NS]).collect();
        assert_eq!(added(values.iter().copied()), histogram(values.iter().copied()));
        for value in values {
            let bucket = bucket_of(value);
            assert!(lowest_of(bucket) <= value && bucket_of(lowest_of(bucket)) == bucket);
        }
    }

    #[test]
    fn a_bucket_counts_beyond_the_size_of_its_counter() {
        let counts = added((0..200_000).map(|n| if n < 150_000 { 7 } else { 1_000_000 }));
        assert_eq!((counts.count_at(7), counts.count_at(1_000_000)), (150_000, 50_000));
        assert_eq!(counts.len(), 200_000);
    }

    #[test]
    fn a_list_has_all_counts_and_is_small_in_a_frame() {
        let values = (0..100_000).map(|n| n % 2).chain((0..100).map(|n| n * n * 100_000));
        let (mut buckets, mut expected) = (Buckets::default(), Histogram::new(3).unwrap());
        values.for_each(|value| {
            buckets.record(value);
            expected.record(value).unwrap();
        });
        for list in [ListedBuckets::from(&buckets), ListedBuckets::from(&expected)] {
            let bytes = postcard::to_stdvec(&list).unwrap();
            assert!(bytes.len() < 400, "{}", bytes.len());
            let read: ListedBuckets = postcard::from_bytes(&bytes).unwrap();
            let mut sum = Histogram::new(3).unwrap();
            read.add_to(&mut sum);
            assert_eq!((read.count(), &sum), (expected.len(), &expected));
        }
    }

    #[test]
    fn a_list_of_buckets_that_do_not_exist_is_refused() {
        let read = |list: &[(i32, u64)]| {
            postcard::from_bytes::<ListedBuckets>(&postcard::to_stdvec(list).unwrap()).is_ok()
        };
        assert!(bucket_of(HOUR_NS) < BUCKETS as usize);
        assert!(read(&[(BUCKETS - 1, 1), (1 - BUCKETS, u64::MAX - 1)]));
        let wrong = [
            vec![(-1, 1)],
            vec![(BUCKETS, 1)],
            vec![(1, 1), (i32::MAX, 1)],
            vec![(0, u64::MAX), (1, 1)],
        ];
        assert!(wrong.iter().all(|list| !read(list)));
    }

    #[test]
    fn what_was_cleared_counts_anew() {
        let mut buckets = Buckets::default();
        (0..70_000).for_each(|_| buckets.record(5));
        buckets.clear();
        buckets.record(6);
        let mut sum = Histogram::new(3).unwrap();
        buckets.add_to(&mut sum);
        assert_eq!((buckets.count(), sum), (1, histogram([6])));
    }

    #[test]
    fn memory_is_that_of_the_buckets_in_use() {
        let mut buckets = Buckets::default();
        (0..10_000).for_each(|n| buckets.record(1_000_000_000 + n * 100));
        let bytes = size_of_val(&*buckets.pages) + size_of_val(&*buckets.directory);
        assert!(bytes < 4_000, "{bytes}");
    }
}
