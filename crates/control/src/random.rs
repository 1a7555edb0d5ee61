//! Uniform random numbers from a seed, for schemes that draw. A scheme with them is still a plain value.

/// Steele, Lea and Flood's `SplitMix64` (Fast splittable pseudorandom number generators, OOPSLA 2014): a mixed counter.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// Starts the sequence that belongs to this seed.
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Draws 64 random bits.
    #[inline]
    pub const fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mix(self.0)
    }

    /// Draws a number that is uniform on [0, 1), from 53 random bits.
    #[inline]
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Draws a whole number below `end`; the numbers are equally likely to one part in 2^56. Returns 0 if `end` is 0.
    pub fn below(&mut self, end: u8) -> u8 {
        // The ninth byte of the product is its part above 2^64.
        (u128::from(self.bits()) * u128::from(end)).to_le_bytes()[8]
    }
}

/// Mixes the bits of a number with `SplitMix64`'s output function, a bijection.
#[inline]
pub const fn mix(mut bits: u64) -> u64 {
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_are_uniform() {
        let mut random = Random::new(1);
        let mut counts = [0_u32; 7];
        for _ in 0..70_000 {
            counts[usize::from(random.below(7))] += 1;
        }
        // Four deviations of a count with mean 10,000 are 4 * sqrt(10,000 * 6/7) = 370.
        assert!(counts.iter().all(|count| count.abs_diff(10_000) < 370), "{counts:?}");
        assert_eq!((random.below(1), random.below(0)), (0, 0));
    }

    #[test]
    fn the_numbers_are_those_of_the_reference_implementation() {
        // The first three outputs for seed 1234567, as published with the reference code.
        let mut random = Random::new(1_234_567);
        for published in [6_457_827_717_110_365_317_u64, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423] {
            let expected = (published >> 11) as f64 / (1_u64 << 53) as f64;
            assert_eq!(random.unit().to_bits(), expected.to_bits());
        }
    }
}
