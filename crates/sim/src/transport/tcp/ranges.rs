//! A set of octets as disjoint ranges in ascending order: octets that a receiver holds out of order, or a sender knows.

use super::Block;
use std::collections::VecDeque;

/// Ranges that neither overlap nor touch. Costs grow with the ranges that a call touches, not with the octets or the window.
#[derive(Clone, Debug, Default)]
pub(super) struct Ranges(VecDeque<Block>);

impl Ranges {
    /// Adds `block`, and returns the range that now contains it; an empty block changes nothing.
    pub(super) fn insert(&mut self, block: Block) -> Block {
        if block.len() == 0 {
            return block;
        }
        let first = self.0.partition_point(|range| range.end < block.start);
        let after = first + self.0.range(first..).take_while(|range| range.start <= block.end).count();
        if first == after {
            self.0.insert(first, block);
            return block;
        }
        let merged = Block { start: block.start.min(self.0[first].start), end: block.end.max(self.0[after - 1].end) };
        self.0[first] = merged;
        self.0.drain(first + 1..after);
        debug_assert!(first == 0 || self.0[first - 1].end < merged.start, "ranges do not touch");
        debug_assert!(self.0.get(first + 1).is_none_or(|next| merged.end < next.start), "ranges do not touch");
        merged
    }

    /// Removes all octets below `number`.
    pub(super) fn remove_below(&mut self, number: u64) {
        while self.0.front().is_some_and(|range| range.end <= number) {
            self.0.pop_front();
        }
        if let Some(range) = self.0.front_mut() {
            range.start = range.start.max(number);
        }
        debug_assert!(self.first().is_none_or(|range| range.start >= number && range.len() > 0));
    }

    /// Returns the number of octets of `block`, which may end before it starts, that are not in the set.
    pub(super) fn missing(&self, block: Block) -> u64 {
        if self.0.is_empty() { block.len() } else { self.missing_among(block) }
    }

    /// Counts missing octets of `block` if the set is not empty.
    fn missing_among(&self, block: Block) -> u64 {
        if block.len() == 0 {
            return 0;
        }
        let first = self.0.partition_point(|range| range.end <= block.start);
        let overlaps = self.0.range(first..).take_while(|range| range.start < block.end);
        let held: u64 = overlaps.map(|range| range.end.min(block.end) - range.start.max(block.start)).sum();
        block.len() - held
    }

    /// The range that holds `number`.
    pub(super) fn containing(&self, number: u64) -> Option<Block> {
        let range = *self.0.get(self.0.partition_point(|range| range.end <= number))?;
        (range.start <= number).then_some(range)
    }

    /// The first octets from `number` on that are not in the set, up to the next range or without end.
    pub(super) fn hole(&self, number: u64) -> Block {
        let start = self.containing(number).map_or(number, |range| range.end);
        let next = self.0.get(self.0.partition_point(|range| range.end <= start));
        Block { start, end: next.map_or(u64::MAX, |range| range.start) }
    }

    /// The parts of `block` that are not in the set.
    pub(super) fn gaps(&self, block: Block) -> impl Iterator<Item = Block> + '_ {
        let mut from = block.start;
        std::iter::from_fn(move || {
            let hole = self.hole(from);
            from = hole.end.min(block.end);
            (hole.start < block.end).then_some(Block { start: hole.start, end: from })
        })
    }

    pub(super) fn first(&self) -> Option<Block> {
        self.0.front().copied()
    }

    pub(super) fn descending(&self) -> impl Iterator<Item = Block> + '_ {
        self.0.iter().rev().copied()
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn octets(ranges: &Ranges) -> BTreeSet<u64> {
        ranges.descending().flat_map(|range| range.start..range.end).collect()
    }

    proptest! {
        #[test]
        fn ranges_are_a_set_of_octets(steps in prop::collection::vec((0u64..60, 0u64..9, 0u8..5), 1..60)) {
            let (mut ranges, mut reference) = (Ranges::default(), BTreeSet::new());
            for (start, length, choice) in steps {
                let block = Block { start, end: (start + length).saturating_sub(2) };
                let missing = (block.start..block.end).filter(|octet| !reference.contains(octet)).count() as u64;
                prop_assert_eq!(ranges.missing(block), missing);
                if choice == 0 {
                    ranges.remove_below(start / 4);
                    reference.retain(|&octet| octet >= start / 4);
                } else {
                    let merged = ranges.insert(block);
                    reference.extend(block.start..block.end);
                    prop_assert!(merged.start <= block.start && merged.end >= block.end);
                }
                prop_assert_eq!(&octets(&ranges), &reference);
                let gaps: BTreeSet<u64> = ranges.gaps(block).flat_map(|gap| gap.start..gap.end).collect();
                prop_assert_eq!(gaps, (block.start..block.end).filter(|octet| !reference.contains(octet)).collect());
                let apart: Vec<Block> = ranges.descending().collect();
                prop_assert!(apart.windows(2).all(|pair| pair[1].end < pair[0].start));
                let hole = ranges.hole(start);
                prop_assert_eq!(hole.start, (start..100).find(|octet| !reference.contains(octet)).unwrap());
                let next = reference.range(hole.start..).next().copied();
                prop_assert_eq!(hole.end, next.unwrap_or(u64::MAX));
            }
        }
    }
}
