//! Random streams: one generator for each seed, name and purpose. New nodes, or schemes that draw more often, change no
//! other stream. Two schemes thus meet the same traffic and the same back-offs (common random numbers).

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// Purpose of a stream. Its name separates the draws from those of other streams.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Purpose(&'static str);

impl Purpose {
    /// Back-off of a node.
    pub(crate) const BACKOFF: Self = Self("backoff");
    /// Packet times of a flow.
    pub(crate) const TRAFFIC: Self = Self("traffic");
    /// Rate of the flows that share a draw.
    pub(crate) const LOAD: Self = Self("load");
    /// Random decisions in the queues of a node.
    pub(crate) const QUEUES: Self = Self("queues");
    /// Source and destination of a flow.
    pub(crate) const ENDS: Self = Self("ends");
    pub(crate) const ADMISSION: Self = Self("admission");
    pub(crate) const ROUTING: Self = Self("routing");
    pub(crate) const MOTION: Self = Self("motion");
    /// Bit errors at a receiver.
    pub(crate) const RECEPTION: Self = Self("reception");
    pub(crate) const FADING: Self = Self("fading");
    /// Shadowing between two nodes.
    pub(crate) const SHADOWING: Self = Self("shadowing");
    /// Sampling by a node's rate control.
    pub(crate) const RATE_CONTROL: Self = Self("rate control");
    /// Times at which a node sends its notes.
    pub(crate) const NOTES: Self = Self("notes");
    /// Which packets a wired link corrupts.
    pub(crate) const DAMAGE: Self = Self("damage");
}

/// A stream of random numbers. The generator's published algorithm and this module's code determine its values.
#[derive(Clone, Debug)]
pub(crate) struct Stream(Xoshiro256PlusPlus);

impl Stream {
    /// Makes the stream of `name` (a node or flow) for a purpose, in the run with this seed.
    pub(crate) fn new(seed: u64, name: &str, purpose: Purpose) -> Self {
        Self::of_bytes(seed, name.as_bytes(), purpose)
    }

    /// Makes the stream whose name is these bytes.
    pub(crate) fn of_bytes(seed: u64, name: &[u8], purpose: Purpose) -> Self {
        // The generator's own seeding mixes the parts further.
        let parts = [&seed.to_le_bytes(), name, b"/", purpose.0.as_bytes()];
        Self(Xoshiro256PlusPlus::seed_from_u64(fnv(parts.into_iter().flatten())))
    }

    /// Returns a number that stands for a node's or flow's name within the name of a stream.
    pub(crate) fn key(name: &str) -> u64 {
        fnv(name.as_bytes())
    }

    /// Draws uniformly from 0 to `max`. The bias of multiply-and-shift is below `max` / 2^64.
    pub(crate) fn up_to(&mut self, max: u64) -> u64 {
        ((u128::from(self.0.next_u64()) * (u128::from(max) + 1)) >> 64) as u64
    }

    /// Draws uniformly from (0, 1], with 53 random bits: never zero, so that logarithms and negative powers are finite.
    pub(crate) fn unit(&mut self) -> f64 {
        ((self.0.next_u64() >> 11) + 1) as f64 / (1_u64 << 53) as f64
    }

    /// Draws from the exponential distribution with mean 1, by inversion.
    pub(crate) fn exponential(&mut self) -> f64 {
        -libm::log(self.unit())
    }

    /// Draws from the normal distribution with mean 0 and variance 1 (Box and Muller's transform).
    pub(crate) fn normal(&mut self) -> f64 {
        let radius = libm::sqrt(2.0 * self.exponential());
        radius * libm::cos(2.0 * core::f64::consts::PI * self.unit())
    }

    /// Draws from the gamma distribution with this shape and scale 1 (Marsaglia and Tsang, A simple method for
    /// generating gamma variables, 2000).
    pub(crate) fn gamma(&mut self, shape: f64) -> f64 {
        if shape < 1.0 {
            return self.gamma(shape + 1.0) * libm::pow(self.unit(), 1.0 / shape);
        }
        let d = shape - 1.0 / 3.0;
        let c = 1.0 / libm::sqrt(9.0 * d);
        loop {
            let x = self.normal();
            let root = 1.0 + c * x;
            let v = root * root * root;
            if root > 0.0 && libm::log(self.unit()) < 0.5 * x * x + d - d * v + d * libm::log(v) {
                return d * v;
            }
        }
    }

    /// Returns true with this probability. It draws a number only if the probability is neither 0 nor 1.
    pub(crate) fn happens(&mut self, probability: f64) -> bool {
        probability >= 1.0 || (probability > 0.0 && self.unit() <= probability)
    }
}

/// Returns the FNV-1a hash.
fn fnv<'a>(bytes: impl IntoIterator<Item = &'a u8>) -> u64 {
    let step = |hash: u64, &byte: &u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    bytes.into_iter().fold(0xcbf2_9ce4_8422_2325_u64, step)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_repeat_and_differ_by_seed_name_and_purpose() {
        let draw = |seed, name, purpose| Stream::new(seed, name, purpose).up_to(u64::MAX - 1);
        let first = draw(1, "n0", Purpose::BACKOFF);
        assert_eq!(first, draw(1, "n0", Purpose::BACKOFF));
        assert_ne!(first, draw(2, "n0", Purpose::BACKOFF));
        assert_ne!(first, draw(1, "n1", Purpose::BACKOFF));
        assert_ne!(first, draw(1, "n0", Purpose::TRAFFIC));
    }

    #[test]
    fn draws_are_uniform_and_exponential() {
        let mut stream = Stream::new(7, "test", Purpose::TRAFFIC);
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
