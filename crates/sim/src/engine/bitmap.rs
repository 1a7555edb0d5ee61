//! One bit for each frame that a block acknowledgement can report.

/// Bits 0 to 255.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bitmap([u64; Self::WORDS]);

impl Bitmap {
    pub(crate) const BITS: u16 = 256;
    const WORDS: usize = 4;
    pub(crate) const ALL: Self = Self([u64::MAX; Self::WORDS]);

    /// Returns the bits in words of 64 bits, the lowest first.
    pub fn words(self) -> [u64; Self::WORDS] {
        self.0
    }

    /// True if bit `index` is set.
    pub(crate) fn has(&self, index: usize) -> bool {
        self.0[index / 64] >> (index % 64) & 1 == 1
    }

    /// Sets bit `index`.
    pub(crate) fn set(&mut self, index: usize) {
        self.0[index / 64] |= 1 << (index % 64);
    }

    /// Sets `count` bits from `first` on.
    #[inline]
    pub(crate) fn set_row(&mut self, first: u16, count: u16) {
        let (mut from, end) = (u32::from(first), u32::from(first + count).min(u32::from(Self::BITS)));
        while from < end {
            let (word, bit) = (from / 64, from % 64);
            let here = (64 - bit).min(end - from);
            self.0[word as usize] |= u64::MAX >> (64 - here) << bit;
            from += here;
        }
    }

    /// Moves all bits down by `by`. Bits that would fall below index 0 are dropped.
    #[inline]
    pub(crate) fn shift_down(&mut self, by: u16) {
        let (words, bits) = (usize::from(by / 64), u32::from(by % 64));
        for index in 0..Self::WORDS {
            let word = |at: usize| self.0.get(at).copied().unwrap_or(0);
            let above = word(index + words + 1).checked_shl(64 - bits).unwrap_or(0);
            self.0[index] = word(index + words) >> bits | above;
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0 == [0; Self::WORDS]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(bits: &[bool]) -> Bitmap {
        let mut bitmap = Bitmap::default();
        bits.iter().enumerate().filter(|(_, set)| **set).for_each(|(index, _)| bitmap.set(index));
        bitmap
    }

    proptest! {
        #[test]
        fn it_is_a_row_of_bits(
            bits in prop::collection::vec(any::<bool>(), 256), by in 0_u16..300, first in 0_u16..256, count in 0_u16..257,
        ) {
            let mut bitmap = of(&bits);
            bitmap.shift_down(by);
            let moved = |index: usize| bits.get(index + usize::from(by)).copied().unwrap_or(false);
            prop_assert!((0..256).all(|index| bitmap.has(index) == moved(index)));
            let count = count.min(256 - first);
            bitmap.set_row(first, count);
            let row = usize::from(first)..usize::from(first + count);
            prop_assert!((0..256).all(|index| bitmap.has(index) == (moved(index) || row.contains(&index))));
            prop_assert_eq!(bitmap.is_empty(), bitmap == Bitmap::default());
        }
    }
}
