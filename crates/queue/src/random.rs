//! Uniform numbers from a seed.

/// Steele, Lea and Flood's `SplitMix64` (Fast splittable pseudorandom number generators, OOPSLA 2014): a counter, mixed.
#[derive(Clone, Debug)]
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Uniform on [0, 1): 53 random bits.
    pub(crate) fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        (mix(self.0) >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// Mixes the bits of a number: `SplitMix64`'s output function, a bijection.
pub(crate) fn mix(mut bits: u64) -> u64 {
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

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
