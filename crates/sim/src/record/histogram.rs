//! Histograms that take as little memory as their numbers allow.
//!
//! The bins are those of HDR histograms with three digits: 1024 per doubling, none finer than 1, so that a number's bin
//! gives it to 0.1 %. Most of 1000 stations have few different numbers. So a histogram stores only the bins in use,
//! sorted; if they become many, it stores pages of neighbouring bins.

use std::num::NonZeroU16;

/// Number of bits below the leading bit that a bin keeps.
const BITS: u32 = 10;
/// Number of bins above which sorted look-ups cost more than the saved memory is worth.
const FEW: usize = 32;
/// Bins per page: a cache line of counts.
const PAGE: u32 = 16;

#[derive(Clone, Debug)]
pub(super) enum Histogram {
    /// (bin, count), by bin.
    Sparse(Vec<(u32, u32)>),
    Dense(Pages),
}

/// Bins by page; only pages with a recorded number exist.
#[derive(Clone, Debug, Default)]
pub(super) struct Pages {
    /// The lowest page, and the offsets among the counts of this and the following pages, if they exist.
    first: u32,
    places: Vec<Option<NonZeroU16>>,
    counts: Vec<[u32; PAGE as usize]>,
}

impl Default for Histogram {
    fn default() -> Self {
        Self::Sparse(Vec::new())
    }
}

impl Histogram {
    /// Counts a number `times` times.
    pub(super) fn record(&mut self, number: u64, times: u32) {
        self.add(bin(number), times);
    }

    #[inline(always)] // once a packet, where times differ: the call costs a download 0.5 %
    pub(super) fn add(&mut self, bin: u32, times: u32) {
        match self {
            Self::Dense(pages) => pages.add(bin, times),
            Self::Sparse(few) => match few.binary_search_by_key(&bin, |&(bin, _)| bin) {
                Ok(at) => few[at].1 = few[at].1.saturating_add(times),
                Err(at) if few.len() < FEW => {
                    // Growing step by step would cost more than this memory.
                    few.reserve_exact(FEW - few.len());
                    few.insert(at, (bin, times));
                }
                Err(_) => {
                    let mut pages = Pages::of(few);
                    pages.add(bin, times);
                    *self = Self::Dense(pages);
                }
            },
        }
    }

    /// (bin, count), by bin.
    pub(super) fn bins(&self) -> impl Iterator<Item = (u32, u32)> {
        let (few, pages) = match self {
            Self::Sparse(few) => (Some(few), None),
            Self::Dense(pages) => (None, Some(pages)),
        };
        let counted = pages.into_iter().flat_map(Pages::bins).filter(|&(_, count)| count > 0);
        few.into_iter().flatten().copied().chain(counted)
    }

    /// Upper end of the bin of the `rank`-th smallest number, counted from 1; 0 if there are fewer numbers.
    pub(super) fn ranked(&self, rank: u64) -> u64 {
        match self {
            Self::Sparse(few) => find(few.iter().copied(), rank),
            Self::Dense(pages) => pages.ranked(rank),
        }
    }
}

impl Pages {
    /// The same counts in pages.
    #[cold]
    fn of(few: &[(u32, u32)]) -> Self {
        let page = |bin: Option<&(u32, u32)>| bin.map_or(0, |&(bin, _)| bin / PAGE);
        let reach = page(few.last()) - page(few.first());
        let places = Vec::with_capacity(reach as usize + 1);
        let mut pages = Self { first: 0, places, counts: Vec::with_capacity(few.len() + 1) };
        for &(bin, count) in few {
            pages.add(bin, count);
        }
        pages
    }

    #[inline]
    fn add(&mut self, bin: u32, numbers: u32) {
        let page = bin / PAGE;
        let known = page.checked_sub(self.first).and_then(|at| self.places.get(at as usize).copied().flatten());
        let place = known.unwrap_or_else(|| self.place(page));
        let count = &mut self.counts[usize::from(place.get()) - 1][(bin % PAGE) as usize];
        *count = count.saturating_add(numbers);
    }

    #[cold]
    fn place(&mut self, page: u32) -> NonZeroU16 {
        if self.places.is_empty() {
            self.first = page;
        } else if page < self.first {
            self.places.splice(0..0, std::iter::repeat_n(None, (self.first - page) as usize));
            self.first = page;
        }
        let at = (page - self.first) as usize;
        self.places.resize(self.places.len().max(at + 1), None);
        self.counts.push([0; PAGE as usize]);
        let place = u16::try_from(self.counts.len()).ok().and_then(NonZeroU16::new);
        let place = place.expect("65 doublings have 4160 pages");
        self.places[at] = Some(place);
        place
    }

    /// (bin, count), by bin.
    fn bins(&self) -> impl Iterator<Item = (u32, u32)> {
        (self.first..).zip(&self.places).flat_map(|(page, place)| {
            let counts = place.iter().flat_map(|place| self.counts[usize::from(place.get()) - 1]);
            (page * PAGE..).zip(counts)
        })
    }

    /// See [`Histogram::ranked`]. Most pages are skipped by the sum of their counts.
    fn ranked(&self, mut rank: u64) -> u64 {
        for (page, place) in (self.first..).zip(&self.places) {
            let Some(place) = place else { continue };
            let counts = &self.counts[usize::from(place.get()) - 1];
            let of_page: u64 = counts.iter().copied().map(u64::from).sum();
            if of_page >= rank {
                return find((page * PAGE..).zip(counts.iter().copied()), rank);
            }
            rank -= of_page;
        }
        0
    }
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

#[expect(clippy::cast_possible_truncation, reason = "a bin keeps eleven bits, and there are 65 doublings")]
fn bin(number: u64) -> u32 {
    let shift = (u64::BITS - number.leading_zeros()).saturating_sub(BITS + 1);
    (shift << BITS) + (number >> shift) as u32
}

/// Upper end of a bin.
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
            numbers in prop::collection::vec(prop_oneof![1_u64..3000, 1_000_000_u64..9_000_000], 1..600),
        ) {
            let mut histogram = Histogram::default();
            for &number in &numbers {
                histogram.record(number, 1);
            }
            let mut sorted = numbers;
            sorted.sort_unstable();
            for (&number, rank) in sorted.iter().zip(1..) {
                prop_assert_eq!(histogram.ranked(rank), largest(bin(number)));
            }
        }
    }

    #[test]
    fn few_different_numbers_take_little_memory_and_far_ones_no_page_between_them() {
        let mut histogram = Histogram::default();
        for number in 0..1_000_000 {
            histogram.record(number % 30 * 10_000, 1);
        }
        assert!(matches!(&histogram, Histogram::Sparse(few) if few.len() == 30));
        for number in 0..100_000 {
            histogram.record(number % 500 * 10_000, 1);
        }
        let Histogram::Dense(pages) = &histogram else { panic!("too many to be sorted") };
        assert!(pages.counts.len() <= 500, "{} pages", pages.counts.len());
        assert_eq!(histogram.ranked(1_100_000), largest(bin(499 * 10_000)));
        assert_eq!(histogram.ranked(1), 0);
    }
}
