//! Transmit power, antenna and noise of individual nodes at the ends of a link, relative to those of `[radio]`.

use units::{Decibels, Power};

/// The factors of every node, in order of address.
#[derive(Clone, Debug)]
pub(crate) struct Ends(Vec<End>);

/// Factors by which a node's sending, receiving and noise differ from `[radio]`.
#[derive(Clone, Copy, Debug)]
struct End {
    sends: f64,
    hears: f64,
    noise: f64,
}

impl Ends {
    /// Makes the factors of nodes with these powers, antenna gains and noise figures, relative to common ones.
    pub(crate) fn new(
        nodes: impl Iterator<Item = (Power, Decibels, Decibels)>,
        (power, figure): (Power, Decibels),
    ) -> Self {
        let end = |(own, gain, own_figure): (Power, Decibels, Decibels)| End {
            sends: own.as_watts() / power.as_watts() * gain.as_ratio(),
            hears: gain.as_ratio(),
            noise: own_figure.as_ratio() / figure.as_ratio(),
        };
        let ends = Self(nodes.map(end).collect());
        debug_assert!(ends.0.iter().all(|end| end.sends > 0.0 && end.hears > 0.0), "powers are ratios");
        ends
    }

    /// Returns the factor of the power that one node receives from another.
    pub(super) fn gain(&self, from: u32, to: u32) -> f64 {
        self.0[from as usize].sends * self.0[to as usize].hears
    }

    /// Returns the largest factor between any two nodes.
    pub(super) fn most(&self) -> f64 {
        let most = |of: fn(&End) -> f64| self.0.iter().map(of).fold(0.0, f64::max);
        most(|end| end.sends) * most(|end| end.hears)
    }

    /// Returns the factor of each node's noise, if some differ from 1.
    #[expect(clippy::float_cmp, reason = "a ratio of equals is one")]
    pub(crate) fn noise(&self) -> Option<Vec<f64>> {
        let noise = || self.0.iter().map(|end| end.noise);
        noise().any(|factor| factor != 1.0).then(|| noise().collect())
    }

    pub(super) fn least_noise(&self) -> f64 {
        self.0.iter().map(|end| end.noise).fold(f64::INFINITY, f64::min)
    }
}
