//! How far nodes are heard, for pictures. No run is needed.

use super::channel::Channel;
use super::propagation::Model;
use crate::config::{Propagation, Radio};
use crate::motion::Motion;
use units::{Instant, Length, Power};

/// How strongly a node is heard over a distance, without fading and shadowing.
pub struct Reach {
    model: Model,
    of_distance_alone: bool,
}

impl Reach {
    pub(crate) fn new(radio: &Radio, nodes: usize, heights: (f64, f64), channel: &Channel) -> Self {
        let model = Model::new(radio, nodes, heights, &channel.without_shadowing());
        Self { model, of_distance_alone: radio.propagation == Propagation::Range }
    }

    /// Returns the largest distance from which a frame can be decoded.
    pub fn decoded(&self) -> Length {
        Length::metres(self.model.decodable_reach())
    }

    /// Returns the largest distance from which the medium is sensed busy.
    pub fn sensed(&self) -> Length {
        Length::metres(self.model.sensed_reach())
    }

    /// Returns the power that arrives over a distance between nodes at the lowest height. `None` if all signals within
    /// the range are equal.
    pub fn power(&self, over: Length) -> Option<Power> {
        (!self.of_distance_alone).then(|| Power::watts(self.model.received_low(over.as_metres())))
    }
}

/// How strongly nodes hear one another while they move, without fading.
pub(crate) struct Signals {
    model: Model,
    motion: Motion,
}

impl Signals {
    pub(crate) fn new(radio: &Radio, motion: Motion, channel: &Channel) -> Self {
        Self { model: Model::new(radio, motion.nodes(), motion.heights(), channel), motion }
    }

    /// Returns the power of one node's signal at another if frames can be decoded. `now` must not go backwards.
    pub(crate) fn decoded(&mut self, from: u32, to: u32, now: Instant) -> Option<Power> {
        let places = (self.motion.position(from, now), self.motion.position(to, now));
        let link = self.model.link(places, from, to).filter(|link| link.decodable)?;
        Some(Power::watts(link.power as f64 * 1e-18))
    }
}

impl core::fmt::Debug for Reach {
    fn fmt(&self, out: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(out, "Reach {{ decoded: {}, sensed: {} }}", self.decoded(), self.sensed())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reach(radio: &Radio) -> Reach {
        Reach::new(radio, 2, (0.0, 0.0), &Channel::clear())
    }

    #[test]
    fn a_stated_range_is_the_reach_in_every_model() {
        for propagation in [Propagation::TwoRay, Propagation::FreeSpace, Propagation::LogDistance, Propagation::Range] {
            let (range, sense) = (Some(Length::metres(30.0)), Some(Length::metres(70.0)));
            let radio = Radio { propagation, range, carrier_sense_range: sense, ..Radio::default() };
            let reach = reach(&radio);
            assert!((reach.decoded().as_metres() - 30.0).abs() < 1e-4, "{propagation:?}: {reach:?}");
            assert!((reach.sensed().as_metres() - 70.0).abs() < 1e-4, "{propagation:?}: {reach:?}");
            assert_eq!(reach.power(Length::metres(9.0)).is_none(), propagation == Propagation::Range);
        }
    }

    #[test]
    fn in_free_space_the_power_falls_by_six_decibels_with_each_doubling() {
        let radio = Radio { propagation: Propagation::FreeSpace, tx_power: Some(Power::dbm(10.0)), ..Radio::default() };
        let watts = |metres| reach(&radio).power(Length::metres(metres)).expect("a power").as_watts();
        assert!((watts(5.0) / watts(10.0) - 4.0).abs() < 1e-9);
        // Friis at 2.4 GHz: 40 dB over the first metre.
        let loss = 10.0 * (0.01 / watts(1.0)).log10();
        assert!((39.5..41.0).contains(&loss), "{loss}");
    }
}
