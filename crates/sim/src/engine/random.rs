//! Random streams: one generator a (seed, name, purpose), so that a new node or a scheme that draws more moves nobody
//! else's draws, and two schemes meet the same traffic and the same back-offs (common random numbers).

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// What a stream is for.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Purpose {
    /// A node's back-off.
    Backoff,
    /// A flow's packet times.
    Traffic,
    /// A node's routing protocol.
    Routing,
    /// A node's way.
    Motion,
}

impl Purpose {
    const fn name(self) -> &'static str {
        match self {
            Self::Backoff => "backoff",
            Self::Traffic => "traffic",
            Self::Routing => "routing",
            Self::Motion => "motion",
        }
    }
}

/// A stream of random numbers. Its values are fixed by the generator's published algorithm and the 20 lines below.
#[derive(Clone, Debug)]
pub(crate) struct Stream(Xoshiro256PlusPlus);

impl Stream {
    /// The stream of `name` (a node or flow) for a purpose in the run with this seed.
    pub(crate) fn new(seed: u64, name: &str, purpose: Purpose) -> Self {
        // FNV-1a over all that names the stream; the generator's own seeding mixes the rest.
        let parts = [&seed.to_le_bytes(), name.as_bytes(), b"/", purpose.name().as_bytes()];
        let hash = parts
            .into_iter()
            .flatten()
            .fold(0xcbf2_9ce4_8422_2325_u64, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
        Self(Xoshiro256PlusPlus::seed_from_u64(hash))
    }

    /// Uniform on 0 ..= `max`. The bias of multiply-and-shift is below `max` / 2^64.
    #[inline]
    pub(crate) fn up_to(&mut self, max: u64) -> u64 {
        ((u128::from(self.0.next_u64()) * (u128::from(max) + 1)) >> 64) as u64
    }

    /// Uniform on (0, 1]: 53 random bits, never zero, so that logarithms and negative powers are finite.
    #[inline]
    pub(crate) fn unit(&mut self) -> f64 {
        ((self.0.next_u64() >> 11) + 1) as f64 / (1_u64 << 53) as f64
    }

    /// Exponential with mean 1, by inversion.
    #[inline]
    pub(crate) fn exponential(&mut self) -> f64 {
        -libm::log(self.unit())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_repeat_and_differ_by_seed_name_and_purpose() {
        let draw = |seed, name, purpose| Stream::new(seed, name, purpose).up_to(u64::MAX - 1);
        let first = draw(1, "n0", Purpose::Backoff);
        assert_eq!(first, draw(1, "n0", Purpose::Backoff));
        assert_ne!(first, draw(2, "n0", Purpose::Backoff));
        assert_ne!(first, draw(1, "n1", Purpose::Backoff));
        assert_ne!(first, draw(1, "n0", Purpose::Traffic));
    }

    #[test]
    fn draws_are_uniform_and_exponential() {
        let mut stream = Stream::new(7, "test", Purpose::Traffic);
        let mut counts = [0_u32; 32];
        for _ in 0..32_000 {
            counts[usize::try_from(stream.up_to(31)).expect("at most 31")] += 1;
        }
        // Chi-square with 31 degrees of freedom lies below 61.1 with probability 0.999.
        let chi2: f64 = counts.iter().map(|&n| (f64::from(n) - 1000.0).powi(2) / 1000.0).sum();
        assert!(chi2 < 61.1, "{chi2}");
        let n = 100_000;
        let mean = (0..n).map(|_| stream.exponential()).sum::<f64>() / f64::from(n);
        assert!((mean - 1.0).abs() < 0.01, "{mean}");
    }
}
