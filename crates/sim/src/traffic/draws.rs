//! Random lengths, sizes and times of sources.

use crate::engine::Stream;
use units::{Bytes, Duration};

/// Lengths of packets.
#[derive(Clone, Debug)]
pub(crate) enum Lengths {
    One(Bytes),
    /// One of these lengths, with equal probabilities; at least one is given.
    Any(Vec<Bytes>),
    /// A whole number of bytes from the first to the second length, with equal probabilities.
    Between(Bytes, Bytes),
}

impl Lengths {
    /// Draws a length. A random number is used only if there is a choice.
    pub(crate) fn draw(&self, random: &mut Stream) -> Bytes {
        match self {
            Self::One(length) => *length,
            Self::Any(lengths) => {
                let index = random.up_to(lengths.len() as u64 - 1);
                lengths[usize::try_from(index).expect("an index of the list")]
            }
            Self::Between(from, to) => *from + Bytes::new(random.up_to((*to - *from).count())),
        }
    }

    pub(crate) fn longest(&self) -> Bytes {
        match self {
            Self::One(length) | Self::Between(_, length) => *length,
            Self::Any(lengths) => lengths.iter().copied().max().unwrap_or_default(),
        }
    }

    pub(crate) fn mean_bits(&self) -> f64 {
        match self {
            Self::One(length) => length.bits() as f64,
            Self::Any(lengths) => lengths.iter().map(|length| length.bits() as f64).sum::<f64>() / lengths.len() as f64,
            Self::Between(from, to) => f64::midpoint(from.bits() as f64, to.bits() as f64),
        }
    }
}

/// A Pareto distribution: P(X > x) = (scale / x)^shape for x of at least `scale`. It is not truncated: 53 random bits
/// reach up to 2^(53 / shape) times the scale.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pareto {
    scale: f64,
    shape: f64,
}

impl Pareto {
    /// Makes a distribution with this mean. The shape must be above 1; otherwise there is no mean.
    pub(crate) fn with_mean(mean: f64, shape: f64) -> Self {
        Self { scale: mean * (shape - 1.0) / shape, shape }
    }

    /// Draws by inversion.
    pub(crate) fn draw(self, random: &mut Stream) -> f64 {
        self.scale * libm::pow(random.unit(), -1.0 / self.shape)
    }

    /// Draws the rest of a time at a random moment of a renewal process (the equilibrium distribution): with
    /// probability 1 - 1/shape uniform up to `scale`, otherwise Pareto-distributed with a shape lower by one.
    fn residual(self, random: &mut Stream) -> f64 {
        if random.unit() * self.shape > 1.0 {
            self.scale * random.unit()
        } else {
            self.scale * libm::pow(random.unit(), -1.0 / (self.shape - 1.0))
        }
    }
}

/// Random times with a known mean.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Times {
    Exponential(Duration),
    /// Pareto-distributed, in seconds.
    Pareto(Pareto),
}

impl Times {
    pub(crate) fn draw(self, random: &mut Stream) -> Duration {
        Duration::from_secs_f64(match self {
            Self::Exponential(mean) => mean.as_secs_f64() * random.exponential(),
            Self::Pareto(pareto) => pareto.draw(random),
        })
    }

    /// Draws the rest of such a time at a random moment.
    pub(crate) fn residual(self, random: &mut Stream) -> Duration {
        match self {
            // An exponential time has no memory.
            Self::Exponential(_) => self.draw(random),
            Self::Pareto(pareto) => Duration::from_secs_f64(pareto.residual(random)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Purpose;

    const N: u32 = 100_000;

    fn stream() -> Stream {
        Stream::new(1, "draws", Purpose::TRAFFIC)
    }

    #[test]
    fn pareto_draws_have_the_shape_that_maximum_likelihood_finds() {
        for shape in [1.2, 1.5, 2.5] {
            let pareto = Pareto::with_mean(1.0, shape);
            let mut random = stream();
            let logs: f64 = (0..N).map(|_| (pareto.draw(&mut random) / pareto.scale).ln()).sum();
            // Hill's estimator n / sum(ln(x / scale)); its relative standard deviation is 1 / sqrt(n) = 0.32 %.
            let found = f64::from(N) / logs;
            assert!((found / shape - 1.0).abs() < 0.012, "{found} for {shape}");
        }
    }

    #[test]
    fn pareto_draws_have_the_mean_asked_for() {
        // Shape 3: variance scale^2 * 3 / 4 with scale 2/3, so 0.58 standard deviations of 1 / sqrt(n).
        let pareto = Pareto::with_mean(1.0, 3.0);
        let mut random = stream();
        let mean = (0..N).map(|_| pareto.draw(&mut random)).sum::<f64>() / f64::from(N);
        assert!((mean - 1.0).abs() < 4.0 * 0.58 / f64::from(N).sqrt(), "{mean}");
    }

    #[test]
    fn residual_times_follow_the_equilibrium_distribution() {
        // P(residual > x) = 1 - x / mean up to the scale, then (scale / x)^(shape - 1) / shape.
        let (mean, shape) = (3.0, 1.5);
        let pareto = Pareto::with_mean(mean, shape);
        let mut random = stream();
        let draws: Vec<f64> = (0..N).map(|_| Times::Pareto(pareto).residual(&mut random).as_secs_f64()).collect();
        for (x, above) in [(0.5, 1.0 - 0.5 / 3.0), (1.0, 2.0 / 3.0), (4.0, 1.0 / 3.0), (100.0, 1.0 / 15.0)] {
            let found = draws.iter().filter(|&&draw| draw > x).count() as f64 / f64::from(N);
            // Standard deviation at most 0.0016.
            assert!((found - above).abs() < 0.0065, "{found} above {x}, {above} expected");
        }
    }

    #[test]
    fn the_longest_times_saturate() {
        let mut random = stream();
        for _ in 0..1000 {
            Times::Pareto(Pareto::with_mean(1e9, 1.001)).draw(&mut random);
            Times::Exponential(Duration::MAX).residual(&mut random);
        }
    }
}
