//! Durations in buckets that grow with them: four to each power of two, so that a percentile is at most a
//! quarter too long.
use crate::cells::Count;
use core::array;

/// Buckets of each power of two.
const PARTS: u64 = 4;
/// How many buckets there are; the last one takes all from 2^41 ns, half an hour, on.
pub const BUCKETS: usize = 160;

/// The bucket of `value`.
#[inline]
fn bucket(value: u64) -> usize {
    if value < PARTS {
        return value as usize;
    }
    let exponent = u64::from(value.ilog2());
    let part = (value >> (exponent - 2)) - PARTS;
    (((exponent - 1) * PARTS + part) as usize).min(BUCKETS - 1)
}

/// The greatest value of a bucket but the last.
fn ceiling(bucket: usize) -> u64 {
    let bucket = bucket as u64;
    if bucket < PARTS {
        return bucket;
    }
    let (exponent, part) = (bucket / PARTS + 1, bucket % PARTS);
    ((PARTS + part + 1) << (exponent - 2)) - 1
}

/// How often each duration occurred, and the longest one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Histogram {
    buckets: [u64; BUCKETS],
    max: u64,
}

impl Default for Histogram {
    fn default() -> Self {
        Self { buckets: [0; BUCKETS], max: 0 }
    }
}

impl Histogram {
    /// Counts one.
    pub fn record(&mut self, value: u64) {
        self.buckets[bucket(value)] += 1;
        self.max = self.max.max(value);
    }

    /// How many were counted.
    pub fn count(&self) -> u64 {
        self.buckets.iter().sum()
    }

    /// The longest; after [`Histogram::since`] that of the whole time.
    pub fn max(&self) -> u64 {
        self.max
    }

    /// What so many of a hundred do not exceed, rounded up to the end of its bucket; 0 if nothing was
    /// counted.
    pub fn percentile(&self, percent: u64) -> u64 {
        let wanted = (self.count() * percent).div_ceil(100);
        let mut seen = 0;
        for (index, &times) in self.buckets.iter().enumerate() {
            seen += times;
            if seen >= wanted && times > 0 {
                return ceiling(index).min(self.max);
            }
        }
        0
    }

    /// Adds what `other` has counted.
    pub fn merge(&mut self, other: &Self) {
        for (mine, theirs) in self.buckets.iter_mut().zip(other.buckets) {
            *mine += theirs;
        }
        self.max = self.max.max(other.max);
    }

    /// What was counted after `earlier`, an older state of the same histogram. The maximum is 0 if nothing
    /// was, and else that of the whole time, unless its bucket shows that it is older.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        let buckets: [u64; BUCKETS] =
            array::from_fn(|index| self.buckets[index].saturating_sub(earlier.buckets[index]));
        let highest = buckets.iter().rposition(|&times| times > 0);
        let max = highest
            .map_or(0, |index| if index == BUCKETS - 1 { self.max } else { self.max.min(ceiling(index)) });
        Self { buckets, max }
    }
}

/// A histogram that one context writes and others may read meanwhile.
#[derive(Debug)]
pub struct LiveHistogram {
    buckets: [Count; BUCKETS],
    max: Count,
}

impl Default for LiveHistogram {
    fn default() -> Self {
        Self::NEW
    }
}

impl LiveHistogram {
    /// An empty one, as a constant.
    #[expect(clippy::declare_interior_mutable_const, reason = "statics are made of it")]
    pub const NEW: Self = Self { buckets: [const { Count::new(0) }; BUCKETS], max: Count::new(0) };

    /// Counts one; its one writer calls it.
    #[inline]
    pub fn record(&self, value: u64) {
        self.buckets[bucket(value)].add(1);
        self.max.raise(value);
    }

    /// What it holds at about this moment.
    pub fn read(&self) -> Histogram {
        Histogram { buckets: array::from_fn(|index| self.buckets[index].get()), max: self.max.get() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_follow_each_other_without_a_gap() {
        for value in 0..100_000_u64 {
            let at = bucket(value);
            assert!(ceiling(at) >= value, "{value} is above the end of its bucket {at}");
            assert!(at == 0 || ceiling(at - 1) < value, "{value} belongs into bucket {}", at - 1);
        }
        assert_eq!(bucket(u64::MAX), BUCKETS - 1);
        assert!(
            ceiling(BUCKETS - 2) >= 1_000_000_000_000,
            "a quarter of an hour is told apart from for ever"
        );
    }

    #[test]
    fn a_percentile_is_at_most_a_quarter_too_long() {
        let mut histogram = Histogram::default();
        assert_eq!((histogram.percentile(50), histogram.max()), (0, 0));
        for value in 1..=1000 {
            histogram.record(value);
        }
        for percent in [1, 50, 99] {
            let (found, exact) = (histogram.percentile(percent), percent * 10);
            assert!(found >= exact && found <= exact + exact.div_ceil(4), "p{percent} is {found}");
        }
        assert_eq!((histogram.percentile(100), histogram.max(), histogram.count()), (1000, 1000, 1000));
    }

    #[test]
    fn what_came_later_is_told_apart() {
        let mut early = Histogram::default();
        early.record(1_000_000);
        let mut late = early.clone();
        assert_eq!(late.since(&early), Histogram::default());
        late.record(10);
        let later = late.since(&early);
        assert_eq!((later.count(), later.max(), later.percentile(99)), (1, 11, 11));
        late.merge(&early);
        assert_eq!((late.count(), late.max()), (3, 1_000_000));
    }

    #[test]
    fn a_live_histogram_reads_like_a_plain_one() {
        let (live, mut plain) = (LiveHistogram::NEW, Histogram::default());
        for value in [0, 7, 7, 90_000] {
            live.record(value);
            plain.record(value);
        }
        assert_eq!(live.read(), plain);
    }
}
