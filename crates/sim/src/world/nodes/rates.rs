//! Builds the modes with which a node sends.

use super::sites::Site;
use crate::config::{LowLevel, Network, RateAlgorithm};
use crate::engine::{Purpose, Stream};
use crate::mac::{Algorithm, Conventions, Costs, Rates};
use crate::world::energy::low_mode;
use crate::world::error::BuildError;
use crate::world::radio;

/// With which modes a node sends: always its own, in one of two as it is told, or as rate control decides.
pub(crate) fn rates(
    site: &Site,
    network: &Network,
    rules: &Conventions,
    low: Option<&LowLevel>,
    seed: u64,
) -> Result<Rates, BuildError> {
    let mode = radio::mode(site, &network.radio)?;
    if let Some(low) = low {
        return Ok(Rates::of_two(mode, low_mode(site, network, rules, low)?));
    }
    let (algorithm, modes) = match network.mac.rate_control.algorithm {
        RateAlgorithm::Fixed => return Ok(Rates::fixed(mode)),
        RateAlgorithm::Arf => (Algorithm::Arf, network.radio.ladder()),
        RateAlgorithm::Aarf => (Algorithm::Aarf, network.radio.ladder()),
        RateAlgorithm::MinstrelHt => (Algorithm::Minstrel, network.radio.all_modes()),
    };
    if site.data_rate.is_some() || site.mcs.is_some() {
        let why = "rate control chooses the mode; leave `data_rate` and `mcs` of nodes out";
        return Err(BuildError::new(format!("node.{}", site.name), why));
    }
    if network.radio.nominal_rate.is_some() {
        let why = "a nominal rate has no slower ones; write `mcs`, or `algorithm = \"fixed\"`";
        return Err(BuildError::new("mac.rate_control.algorithm", why));
    }
    let random = Stream::new(seed, &site.name, Purpose::RateControl);
    Ok(Rates::new(algorithm, modes, &Costs::new(&rules.timing), random))
}
