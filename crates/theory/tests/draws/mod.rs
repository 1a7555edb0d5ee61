//! The random draws of the Monte Carlo tests.
#![allow(dead_code, reason = "each test file takes what it needs")]

/// Marsaglia's 64-bit xorshift (13, 7, 17); its high bits are good enough to draw slots.
pub(crate) struct Draws(pub(crate) u64);

impl Draws {
    fn bits(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 >> 11
    }

    /// Draws uniformly from 0 ..= `window`.
    pub(crate) fn slots(&mut self, window: u32) -> u64 {
        self.bits() % (u64::from(window) + 1)
    }

    /// Returns true with this probability.
    pub(crate) fn chance(&mut self, probability: f64) -> bool {
        (self.bits() as f64) < probability * (1_u64 << 53) as f64
    }
}
