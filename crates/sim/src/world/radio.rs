//! Builds the radio: propagation, errors, and rules of reception.

use super::error::BuildError;
use super::nodes::sites::Site;
use crate::config;
use crate::radio::{Channel, Ends, Mode, Refusal, Timing, USUAL_POWER};
use units::{Decibels, Power, refuse_if};

/// Bounds of powers in dBm, with a margin on both sides. Licence-free stations may radiate at most 36 dBm; noise at
/// room temperature has -101 dBm in 20 MHz.
const POWERS: (f64, f64) = (-200.0, 60.0);
const NO_POWERS: &str = "`propagation = \"range\"` has no powers; choose another propagation";
const BEYOND: &str = "a radio's power lies between -200 dBm, far below noise, and 60 dBm, a kilowatt";
/// Largest ratio of the strongest signal to the weakest, in dB.
const MOST_DECIBELS: f64 = 200.0;

/// Refuses contradictory or impossible settings. Thresholds may be given as powers or as ranges, but not as both.
pub(super) fn check_radio(radio: &config::Radio) -> Result<(), BuildError> {
    let both = [
        (radio.range.is_some() && radio.receive_threshold.is_some(), "range", "receive_threshold"),
        (
            radio.carrier_sense_range.is_some() && radio.carrier_sense_threshold.is_some(),
            "carrier_sense_range",
            "carrier_sense_threshold",
        ),
    ];
    for (given, one, other) in both {
        refuse_if!(given, Err(BuildError::new(format!("radio.{other}"), format!("write either `{one}` or `{other}`"))));
    }
    let powers = [
        ("tx_power", radio.tx_power),
        ("receive_threshold", radio.receive_threshold),
        ("carrier_sense_threshold", radio.carrier_sense_threshold),
    ];
    for (key, power) in powers {
        refuse_if!(power.is_some_and(is_beyond), Err(BuildError::new(format!("radio.{key}"), BEYOND)));
    }
    let ratios = [
        ("capture_threshold", radio.capture_threshold),
        ("errors.noise_figure", radio.errors.noise_figure),
        ("fading.shadowing", radio.fading.shadowing),
    ];
    for (key, ratio) in ratios {
        if ratio.is_some_and(|ratio| ratio.as_db().abs() > MOST_DECIBELS) {
            let message = format!("a ratio is at most {MOST_DECIBELS} dB, about the strongest signal to noise");
            return Err(BuildError::new(format!("radio.{key}"), message));
        }
    }
    let lengths = [
        ("range", radio.range),
        ("carrier_sense_range", radio.carrier_sense_range),
        ("antenna_height", radio.antenna_height),
        ("breakpoint", radio.breakpoint),
    ];
    for (key, length) in lengths {
        if length.is_some_and(|length| length.as_metres() <= 0.0) {
            return Err(BuildError::new(format!("radio.{key}"), format!("`{key}` must be above zero")));
        }
    }
    if radio.path_loss_exponent.is_some_and(|exponent| !(exponent > 0.0 && exponent.is_finite())) {
        return Err(BuildError::new("radio.path_loss_exponent", "`path_loss_exponent` must be above zero"));
    }
    if radio.frequency.is_some_and(|frequency| frequency.as_hertz() == 0) {
        return Err(BuildError::new("radio.frequency", "`frequency` must be above zero"));
    }
    Ok(())
}

fn is_beyond(power: Power) -> bool {
    !(POWERS.0..=POWERS.1).contains(&power.as_dbm())
}

/// Returns the settings in which individual nodes with a radio differ, if any: transmit power, antenna, noise.
pub(super) fn ends(network: &config::Network, sites: &[Site]) -> Result<Option<Ends>, BuildError> {
    let radio = &network.radio;
    let given = |site: &Site| site.tx_power.is_some() || site.antenna_gain.is_some() || site.noise_figure.is_some();
    if !sites.iter().any(given) {
        return Ok(None);
    }
    for site in sites {
        let beyond = |ratio: Option<Decibels>, (least, most)| {
            ratio.is_some_and(|ratio| !(least..=most).contains(&ratio.as_db()))
        };
        let (power, has_powers) = (site.tx_power, radio.propagation.has_powers());
        let refusals = [
            (power.is_some_and(is_beyond), "tx_power", BEYOND),
            (
                power.is_some() && radio.range.is_some() && radio.tx_power.is_none(),
                "tx_power",
                "`radio.range` leaves the power of all other nodes open; set `radio.tx_power` too",
            ),
            (
                power.is_some() && network.mac.obss_pd.is_some(),
                "tx_power",
                "with `obss_pd` all nodes have one transmit power",
            ),
            (power.is_some() && !has_powers, "tx_power", NO_POWERS),
            (site.antenna_gain.is_some() && !has_powers, "antenna_gain", NO_POWERS),
            (
                site.noise_figure.is_some() && !radio.is_by_ratio(),
                "noise_figure",
                "no error model compares signals with noise; set `errors.model = \"nist\"` in `[radio]`",
            ),
            (beyond(site.antenna_gain, (-60.0, 60.0)), "antenna_gain", "a gain lies between -60 and 60 dB"),
            (beyond(site.noise_figure, (0.0, 50.0)), "noise_figure", "a noise figure must be between 0 dB and 50 dB"),
        ];
        if let Some((_, key, why)) = refusals.iter().find(|(refused, ..)| *refused) {
            return Err(BuildError::new(format!("node.{}.{key}", site.name), *why));
        }
    }
    let power = radio.tx_power.unwrap_or(USUAL_POWER);
    let (figure, none) = (radio.errors.noise_figure.unwrap_or(Decibels::new(7.0)), Decibels::new(0.0));
    let own = |site: &Site| {
        (site.tx_power.unwrap_or(power), site.antenna_gain.unwrap_or(none), site.noise_figure.unwrap_or(figure))
    };
    Ok(Some(Ends::new(sites.iter().map(own), (power, figure))))
}

/// Refuses rooms if the model has no powers, or if nodes move.
pub(super) fn check_rooms(radio: &config::Radio, is_moving: bool) -> Result<(), BuildError> {
    let Some(rooms) = &radio.rooms else { return Ok(()) };
    let mut losses = [rooms.wall, rooms.floor].into_iter().flatten();
    let refusals = [
        (!radio.propagation.has_powers(), NO_POWERS),
        (is_moving, "walls are for nodes that stand still; leave `rooms` or the movement out"),
        (rooms.size.iter().any(|side| side.as_metres() <= 0.0), "sides are above zero"),
        (losses.any(|loss| loss.as_db() < 0.0), "walls and floors weaken signals: 0 dB or more"),
    ];
    let refusal = refusals.into_iter().find(|&(refused, _)| refused);
    refusal.map_or(Ok(()), |(_, why)| Err(BuildError::new("radio.rooms", why)))
}

fn refused(table: &str, refusal: Refusal) -> BuildError {
    BuildError::new(format!("{table}.{}", refusal.key), refusal.why)
}

/// Returns the radio of a node that has a generation of its own.
pub(super) fn own(site: &Site, radio: &config::Radio) -> Result<Option<config::Radio>, BuildError> {
    radio.of_node(site).map_err(|refusal| refused(&format!("node.{}", site.name), refusal))
}

/// Returns the mode of a node's data frames: its own, or else the radio's.
pub(super) fn mode(site: &Site, radio: &config::Radio) -> Result<Mode, BuildError> {
    let general = radio.data_mode().map_err(|refusal| refused("radio", refusal))?;
    let mode = match radio.of_node(site) {
        Ok(Some(own)) => own.data_mode().map(Some),
        Ok(None) => radio.node_mode(site.data_rate, site.mcs),
        Err(refusal) => Err(refusal),
    };
    Ok(mode.map_err(|refusal| refused(&format!("node.{}", site.name), refusal))?.unwrap_or(general))
}

/// Returns the channel's effects besides path loss.
pub(super) fn channel(radio: &config::Radio, names: &[String], seed: u64) -> Result<Channel, BuildError> {
    Channel::new(radio, names, seed).map_err(|refusal| refused("radio", refusal))
}

pub(super) fn timing(radio: &config::Radio) -> Result<Timing, BuildError> {
    Timing::new(radio).map_err(|refusal| refused("radio", refusal))
}
