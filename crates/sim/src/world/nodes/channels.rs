//! The channel of each node: the access point's channel, limited to the node's width.

use crate::config::{Capture, Network, Radio, Role, Standard};
use crate::radio::{Band, Reuse, USUAL_POWER};
use crate::world::basis::Basis;
use crate::world::error::BuildError;
use units::{Frequency, Power};

/// Power above which the primary channel is busy even if no frame can be decoded (IEEE 802.11-2020, 17.3.10.6).
const ENERGY: Power = Power::dbm(-62.0);

/// True if access points have their own channels.
pub(crate) fn are_given(network: &Network) -> bool {
    network.node.iter().any(|node| node.channel.is_some())
}

/// True if power is counted in each 20 MHz channel.
pub(crate) fn matter(network: &Network) -> bool {
    are_given(network) || network.mac.obss_pd.is_some()
}

/// Returns the radio with the energy detection threshold of networks with several channels.
pub(crate) fn radio(network: &Network) -> Radio {
    let radio = network.radio.clone();
    let given = [radio.carrier_sense_threshold.is_some(), radio.carrier_sense_range.is_some(), radio.range.is_some()];
    if !matter(network) || given.contains(&true) {
        return radio;
    }
    Radio { carrier_sense_threshold: Some(ENERGY), ..radio }
}

/// Returns the channels of all nodes in order of address; `None` if all share one.
pub(crate) fn bands(basis: &Basis) -> Result<Option<Vec<Band>>, BuildError> {
    let Basis { network, sites, infrastructure, generations, .. } = *basis;
    if !are_given(network) {
        let nodes = 0..infrastructure.radios();
        let same = nodes.map(|node| Band::only(generations.width(node, network)));
        return Ok(matter(network).then(|| same.collect()));
    }
    let carrier = network.radio.carrier();
    let high = carrier >= Frequency::hertz(5_925_000_000);
    let with_radio = infrastructure.with_radio(sites);
    let mut of_cells = Vec::new();
    for (site, node) in with_radio.iter().zip(0..) {
        let refuse = |why: String| Err(BuildError::new(format!("node.{}.channel", site.name), why));
        let number = match (site.role, site.channel) {
            (Role::AccessPoint, Some(number)) => number,
            (Role::AccessPoint, None) => {
                return refuse("other access points have a `channel`; this access point needs one too".to_owned());
            }
            (_, Some(_)) => {
                return refuse(format!("`{}` uses the channel of its access point; leave `channel` out", site.name));
            }
            (_, None) => continue,
        };
        if carrier < Frequency::hertz(4_000_000_000) {
            return refuse("overlapping channels at 2.4 GHz are not simulated; leave `channel` out".to_owned());
        }
        if !network.radio.propagation.has_powers() {
            return refuse("channels need received powers: replace `propagation = \"range\"`".to_owned());
        }
        if network.radio.capture == Capture::AnySignal {
            return refuse("`capture = \"any-signal\"` needs one channel; leave `capture` or `channel` out".to_owned());
        }
        match Band::new(number, generations.width(node, network), high) {
            Ok(band) => of_cells.push((node, band)),
            Err(why) => return refuse(why),
        }
    }
    let of = |node: u32| {
        let cell = infrastructure.access_point(node).unwrap_or(node);
        let (_, band) = of_cells.iter().find(|&&(access_point, _)| access_point == cell)?;
        Some(band.at_most(generations.width(node, network)))
    };
    // If there are access points, every other node with a radio is a station of one of them.
    Ok((0..infrastructure.radios()).map(of).collect())
}

/// Returns the rules of spatial reuse, if there are any.
pub(crate) fn reuse(basis: &Basis) -> Result<Option<Reuse>, BuildError> {
    let Basis { network, infrastructure, generations, .. } = *basis;
    let Some(level) = network.mac.obss_pd else { return Ok(None) };
    let radio = &network.radio;
    let access_points = network.node.iter().filter(|node| node.role == Role::AccessPoint).count();
    let refusals = [
        (
            radio.standard != Standard::Ax,
            "spatial reuse came with 802.11ax; set `standard = \"802.11ax\"` in `[radio]`",
        ),
        (!(-82.0..=-62.0).contains(&level.as_dbm()), "an OBSS PD level lies between -82 and -62 dBm"),
        (access_points < 2, "there are no frames of other access points' cells to ignore; leave `obss_pd` out"),
        (!radio.propagation.has_powers(), "`propagation = \"range\"` has no powers; choose another propagation"),
        (radio.capture == Capture::AnySignal, "capture as in ns-2 ignores no frames; leave `capture` out"),
        (
            radio.range.is_some() && radio.tx_power.is_none(),
            "`obss_pd` limits the transmit power, which `range` leaves open; set `tx_power` too",
        ),
    ];
    if let Some((_, why)) = refusals.iter().find(|(refused, _)| *refused) {
        return Err(BuildError::new("mac.obss_pd", *why));
    }
    let nodes = (0..infrastructure.radios()).map(|node| match infrastructure.access_point(node) {
        Some(cell) => (cell, false),
        None => (node, generations.streams(node, network) > 2),
    });
    Ok(Some(Reuse::new(level, radio.tx_power.unwrap_or(USUAL_POWER), nodes)))
}
