//! How a signal's power varies around the mean at its distance. Log-normal shadowing is the same for the whole run and
//! in both directions between two nodes. Fast fading differs for every frame and listener.

use super::settings::Refusal;
use crate::config::{FadingModel, Radio};
use crate::engine::{Purpose, Stream};
use units::refuse_if;

/// Fast fading: a frame's power divided by its mean has a gamma distribution with this shape and mean 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Fading {
    /// Shape 1: an exponential distribution.
    Rayleigh,
    Nakagami(f64),
}

/// Log-normal shadowing. It depends on the names of two nodes, so a new node does not change that of other pairs.
#[derive(Clone, Debug)]
pub(crate) struct Shadowing {
    /// Standard deviation in dB.
    sigma: f64,
    seed: u64,
    names: Vec<u64>,
}

/// Share of frames that fading raises by more than the model considers: signals that matter only to them are ignored.
pub(super) const NEGLECTED: f64 = 1e-6;

impl Fading {
    /// Returns the fading of a scenario's radio, if it has any.
    pub(crate) fn new(radio: &Radio) -> Result<Option<Self>, Refusal> {
        let settings = &radio.fading;
        if settings.nakagami_m.is_some() && settings.model != FadingModel::Nakagami {
            return Err(Refusal::new("fading.nakagami_m", "this belongs to `model = \"nakagami\"`"));
        }
        if settings.shadowing.is_some_and(|sigma| !(0.0..=30.0).contains(&sigma.as_db())) {
            return Err(Refusal::new("fading.shadowing", "the standard deviation must be between 0 dB and 30 dB"));
        }
        let varies = settings.model != FadingModel::None || settings.shadowing.is_some();
        let why = "`propagation = \"range\"` has no powers that could fade; choose another propagation";
        refuse_if!(varies && !radio.propagation.has_powers(), Err(Refusal::new("fading.model", why)));
        let shape = match settings.model {
            FadingModel::None => return Ok(None),
            FadingModel::Rayleigh => return Ok(Some(Self::Rayleigh)),
            FadingModel::Nakagami => settings.nakagami_m.unwrap_or(1.5),
        };
        // A shape below 0.5 is not possible; with 1000 the power varies by 3 %.
        if !(0.5..=1000.0).contains(&shape) {
            return Err(Refusal::new("fading.nakagami_m", "m must be between 0.5 and 1000"));
        }
        Ok(Some(Self::Nakagami(shape)))
    }

    /// Draws the power of a frame, divided by its mean.
    pub(super) fn draw(self, random: &mut Stream) -> f64 {
        match self {
            Self::Rayleigh => random.exponential(),
            Self::Nakagami(shape) => random.gamma(shape) / shape,
        }
    }

    /// Returns the factor that at most a share [`NEGLECTED`] of the frames exceeds. It follows from Chernoff's bound
    /// for a gamma distribution, P(X > x) <= (x e^(1 - x))^m.
    pub(super) fn luck(self) -> f64 {
        let (mut low, mut high) = (1.0, 2.0);
        let shape = match self {
            Self::Rayleigh => 1.0,
            Self::Nakagami(shape) => shape,
        };
        let bound = |x: f64| shape * (libm::log(x) + 1.0 - x);
        let wanted = libm::log(NEGLECTED);
        while bound(high) > wanted {
            high *= 2.0;
        }
        for _ in 0..50 {
            let middle = f64::midpoint(low, high);
            *(if bound(middle) > wanted { &mut low } else { &mut high }) = middle;
        }
        high
    }
}

impl Shadowing {
    /// Returns the shadowing of a scenario's radio between nodes with these names, if it has any.
    pub(crate) fn new(radio: &Radio, names: &[String], seed: u64) -> Option<Self> {
        let sigma = radio.fading.shadowing?.as_db();
        let names = names.iter().map(|name| Stream::key(name)).collect();
        (sigma > 0.0).then_some(Self { sigma, seed, names })
    }

    /// Returns the factor by which the power between two nodes differs from the mean.
    pub(super) fn gain(&self, a: u32, b: u32) -> f64 {
        let [a, b] = [a, b].map(|node| self.names[node as usize]);
        let pair = [a.min(b).to_le_bytes(), a.max(b).to_le_bytes()];
        let mut random = Stream::of_bytes(self.seed, pair.as_flattened(), Purpose::SHADOWING);
        libm::pow(10.0, self.sigma * random.normal() / 10.0)
    }

    /// Returns the factor that at most one pair in a million exceeds: 4.75 standard deviations of a normal one.
    pub(super) fn luck(&self) -> f64 {
        libm::pow(10.0, 4.75 * self.sigma / 10.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config;
    use units::Decibels;

    fn draws(fading: Fading) -> Vec<f64> {
        let mut random = Stream::new(3, "listener", Purpose::FADING);
        (0..100_000).map(|_| fading.draw(&mut random)).collect()
    }

    fn mean_and_variance(values: &[f64]) -> (f64, f64) {
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        (mean, values.iter().map(|value| (value - mean) * (value - mean)).sum::<f64>() / n)
    }

    #[test]
    fn rayleigh_outage_is_that_of_the_exponential_distribution() {
        let gains = draws(Fading::Rayleigh);
        for threshold in [0.1, 0.5, 1.0, 2.0] {
            let outage = gains.iter().filter(|&&gain| gain < threshold).count() as f64 / gains.len() as f64;
            let expected = 1.0 - libm::exp(-threshold);
            // Four standard deviations of a share among 100,000.
            let tolerance = 4.0 * libm::sqrt(expected * (1.0 - expected) / 1e5);
            assert!((outage - expected).abs() < tolerance, "below {threshold}: {outage}, {expected}");
        }
    }

    #[test]
    fn nakagami_powers_have_mean_one_and_variance_1_over_m() {
        for shape in [0.5, 0.8, 1.0, 1.5, 3.0, 20.0] {
            let (mean, variance) = mean_and_variance(&draws(Fading::Nakagami(shape)));
            // The mean of 100,000 has standard deviation sqrt(1 / m / 1e5); the variance's, by the fourth moment, is
            // sqrt((2 / m^2 + 6 / m^3) / 1e5).
            assert!((mean - 1.0).abs() < 4.0 * libm::sqrt(1.0 / shape / 1e5), "m {shape}: mean {mean}");
            let spread = libm::sqrt((2.0 / shape.powi(2) + 6.0 / shape.powi(3)) / 1e5);
            assert!((variance - 1.0 / shape).abs() < 4.0 * spread, "m {shape}: variance {variance}");
        }
    }

    #[test]
    fn luck_beyond_the_bound_is_as_rare_as_it_says() {
        // Rayleigh: P(X > x) = e^-x, which is 1e-6 at 13.8; the bound lies above.
        let luck = Fading::Rayleigh.luck();
        assert!((13.8..18.0).contains(&luck), "{luck}");
        assert!(Fading::Nakagami(20.0).luck() < Fading::Nakagami(2.0).luck());
    }

    #[test]
    fn shadowing_is_log_normal_alike_both_ways_and_its_pairs_own() {
        let names: Vec<String> = (0..200).map(|index| format!("n{index}")).collect();
        let fading = config::Fading { shadowing: Some(Decibels::new(6.0)), ..config::Fading::default() };
        let radio = Radio { fading, ..Radio::default() };
        let shadowing = Shadowing::new(&radio, &names, 1).expect("there is shadowing");
        let pairs = || (0..200_u32).flat_map(|a| (0..a).map(move |b| (a, b)));
        let decibels: Vec<f64> = pairs().map(|(a, b)| 10.0 * libm::log10(shadowing.gain(a, b))).collect();
        let (mean, variance) = mean_and_variance(&decibels);
        // 19,900 pairs: four standard deviations of the mean, and of the standard deviation.
        assert!(mean.abs() < 4.0 * 6.0 / libm::sqrt(19_900.0), "{mean}");
        assert!((libm::sqrt(variance) - 6.0).abs() < 4.0 * 6.0 / libm::sqrt(2.0 * 19_900.0), "{variance}");
        for (a, b) in pairs().take(100) {
            assert_eq!(shadowing.gain(a, b).to_bits(), shadowing.gain(b, a).to_bits());
        }
        // Another order of names, and new names, leave a pair's shadowing alone.
        let others: Vec<String> = ["new", "n7", "n3"].map(str::to_owned).to_vec();
        let again = Shadowing::new(&radio, &others, 1).expect("there is shadowing");
        assert_eq!(again.gain(1, 2).to_bits(), shadowing.gain(3, 7).to_bits());
    }
}
