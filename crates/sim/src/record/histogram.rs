//! Counts of numbers in bins, in as little memory as the numbers allow.
//!
//! Bins are those of HDR histograms with three digits: 1024 to every doubling, none finer than 1, so that a number's bin
//! gives it to 0.1 %. Of 1000 stations most have met few different numbers: while these are few, only their bins are
//! kept, sorted; then all bins from the lowest to the highest.

/// How many bits of a number its bin keeps below the leading one.
const BITS: u32 = 10;
/// From so many bins on, looking one up among the sorted costs more than the memory is worth.
const FEW: usize = 512;

/// Counts by bin.
#[derive(Debug)]
pub(super) enum Histogram {
    /// (bin, count), by bin, and where the last number went: packets of one aggregate often take the same time.
    Sparse(Vec<(u32, u32)>, usize),
    /// The lowest bin, and the counts from there on.
    Dense(u32, Vec<u32>),
}

impl Default for Histogram {
    fn default() -> Self {
        Self::Sparse(Vec::new(), 0)
    }
}

impl Histogram {
    /// Counts a number.
    #[inline]
    pub(super) fn record(&mut self, number: u64) {
        let bin = bin(number);
        match self {
            Self::Dense(first, counts) => match bin.checked_sub(*first).and_then(|at| counts.get_mut(at as usize)) {
                Some(count) => *count = count.saturating_add(1),
                None => widen(first, counts, bin),
            },
            Self::Sparse(few, last) => {
                if few.get(*last).is_none_or(|&(known, _)| known != bin) {
                    match few.binary_search_by_key(&bin, |&(bin, _)| bin) {
                        Ok(at) => *last = at,
                        Err(at) if few.len() < FEW => {
                            few.insert(at, (bin, 0));
                            *last = at;
                        }
                        Err(_) => {
                            *self = dense(few);
                            return self.record(number);
                        }
                    }
                }
                few[*last].1 = few[*last].1.saturating_add(1);
            }
        }
    }

    /// The largest number in the bin of the `rank`-th smallest number counted, from 1; 0 where there are fewer.
    pub(super) fn ranked(&self, rank: u64) -> u64 {
        match self {
            Self::Sparse(few, _) => find(few.iter().copied(), rank),
            Self::Dense(first, counts) => find((*first..).zip(counts.iter().copied()), rank),
        }
    }
}

/// All bins from the lowest to the highest of some.
fn dense(few: &[(u32, u32)]) -> Histogram {
    let first = few[0].0;
    let mut counts = vec![0; (few[few.len() - 1].0 - first) as usize + 1];
    for &(bin, count) in few {
        counts[(bin - first) as usize] = count;
    }
    Histogram::Dense(first, counts)
}

fn find(bins: impl Iterator<Item = (u32, u32)>, rank: u64) -> u64 {
    let mut below = 0;
    for (bin, count) in bins {
        below += u64::from(count);
        if below >= rank {
            return largest(bin);
        }
    }
    0
}

/// Makes room for a bin outside of those kept, and counts one in it.
#[cold]
fn widen(first: &mut u32, counts: &mut Vec<u32>, bin: u32) {
    if bin < *first {
        counts.splice(0..0, std::iter::repeat_n(0, (*first - bin) as usize));
        *first = bin;
    }
    let at = (bin - *first) as usize;
    counts.resize(counts.len().max(at + 1), 0);
    counts[at] += 1;
}

#[expect(clippy::cast_possible_truncation, reason = "a bin keeps eleven bits, and there are 65 doublings")]
fn bin(number: u64) -> u32 {
    let shift = (u64::BITS - number.leading_zeros()).saturating_sub(BITS + 1);
    (shift << BITS) + (number >> shift) as u32
}

/// The largest number in a bin.
fn largest(bin: u32) -> u64 {
    let shift = (bin >> BITS).saturating_sub(1);
    let next = u128::from(bin - (shift << BITS)) + 1;
    u64::try_from((next << shift) - 1).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_bin_gives_its_numbers_to_a_thousandth(number in prop_oneof![any::<u64>(), 0_u64..5000]) {
            let largest = largest(bin(number));
            prop_assert!(largest >= number && largest - number <= number >> BITS);
            prop_assert_eq!(bin(largest), bin(number));
            prop_assert!(largest == u64::MAX || bin(largest + 1) == bin(number) + 1);
        }

        #[test]
        fn ranks_are_those_of_the_sorted_numbers(
            numbers in prop::collection::vec(prop_oneof![1_u64..3000, 1_000_000_u64..9_000_000], 1..2000),
        ) {
            let mut histogram = Histogram::default();
            for &number in &numbers {
                histogram.record(number);
            }
            let mut sorted = numbers;
            sorted.sort_unstable();
            for (&number, rank) in sorted.iter().zip(1..) {
                prop_assert_eq!(histogram.ranked(rank), largest(bin(number)));
            }
        }
    }

    #[test]
    fn few_different_numbers_take_little_memory_and_many_are_kept_whole() {
        let mut histogram = Histogram::default();
        for number in 0..1_000_000 {
            histogram.record(number % 500 * 10_000);
        }
        assert!(matches!(&histogram, Histogram::Sparse(few, _) if few.len() == 500));
        for number in 0..100_000 {
            histogram.record(number);
        }
        assert!(matches!(histogram, Histogram::Dense(0, _)));
        assert_eq!(histogram.ranked(1_100_000), largest(bin(499 * 10_000)));
    }
}
