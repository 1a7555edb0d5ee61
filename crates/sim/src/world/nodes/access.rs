//! Contention parameters of nodes.

use super::sites::Site;
use crate::config::{self, Contention, Edca, Network, Role, Standard, TimeoutDeferral};
use crate::mac::Access;
use crate::radio::{Mode, Timing};
use crate::world::error::BuildError;
use units::{Duration, refuse_if};

/// The smallest window of 802.11b.
const OF_B: u16 = 31;
/// Longest TXOP that an access point can announce (9.4.2.29): a field of 16 bits in units of 32 us.
const LONGEST_TXOP: Duration = Duration::from_micros(65_535 * 32);

/// Refuses a contention window that no frame can announce: the field is an exponent of 4 bits (9.4.2.29).
pub(crate) fn check_window(path: String, window: Option<u16>) -> Result<(), BuildError> {
    let is_announced = |window: u16| window <= 32_767 && (window + 1).is_power_of_two();
    let why = "a window must be a power of two less one, at most 32767";
    if window.is_none_or(is_announced) { Ok(()) } else { Err(BuildError::new(path, why)) }
}

/// Returns the contention parameters of all nodes or of a node with its own, and the number of categories.
pub(crate) fn access(
    network: &Network,
    site: Option<&Site>,
    timing: &Timing,
) -> Result<([Access; 4], usize), BuildError> {
    let mac = &network.mac;
    // Table 18-5 of IEEE 802.11-2016: aCWmin(0) if the station, or all access points, have only 802.11b rates.
    let is_b = |site: &Site| network.radio.beside_b && site.standard == Some(Standard::B);
    let mut points = network.node.iter().filter(|site| site.role == Role::AccessPoint).peekable();
    let usual = if points.peek().is_some() && points.all(is_b) { OF_B } else { timing.cw_min };
    let cw_min = mac.cw_min.unwrap_or(usual);
    let cw_max = mac.cw_max.unwrap_or(timing.cw_max.max(cw_min));
    refuse_if!(cw_min > cw_max, Err(BuildError::new("mac.cw_max", format!("`cw_max` is below `cw_min` ({cw_min})"))));
    let own = site.and_then(|site| Some((site, site.edca.as_ref()?)));
    let after_timeout = Duration::ZERO;
    let dcf = Access { space: timing.difs, cw_min, cw_max, after_timeout, txop_limit: Duration::ZERO };
    let dcf = if site.is_some_and(is_b) && mac.cw_min.is_none() { dcf.with_window(Some(OF_B)) } else { dcf };
    let (access, categories) = match network.access() {
        config::Access::Dcf if mac.edca.is_some() || own.is_some() => {
            let path = own.map_or("mac.edca".to_owned(), |(site, _)| format!("node.{}.edca", site.name));
            return Err(BuildError::new(path, "the DCF has no categories; set `access = \"edca\"` in `[mac]`"));
        }
        config::Access::Dcf => ([dcf; 4], 1),
        config::Access::Edca => (edca(mac.edca.as_ref(), own, timing, (cw_min, cw_max))?, 4),
    };
    let defers = mac.timeout_deferral == TimeoutDeferral::Difs;
    Ok((access.map(|it| if defers { Access { after_timeout: it.space, ..it } } else { it }), categories))
}

/// Returns the four categories of one node or of all, highest priority first. Defaults: IEEE 802.11-2016, table 9-137.
fn edca(
    given: Option<&Edca>,
    own: Option<(&Site, &Edca)>,
    timing: &Timing,
    (min, max): (u16, u16),
) -> Result<[Access; 4], BuildError> {
    let given = given.cloned().unwrap_or_default();
    let table = own.map_or("mac.edca".to_owned(), |(site, _)| format!("node.{}.edca", site.name));
    // 9.4.2.29: a station that is not an access point waits at least two slots after SIFS.
    let least = if own.is_some_and(|(site, _)| site.role == Role::AccessPoint) { 1 } else { 2 };
    let own = own.map(|(_, own)| own.clone()).unwrap_or_default();
    let dsss = matches!(timing.basic, Mode::Dsss { .. });
    let micros = |dsss_limit, limit| Duration::from_micros(if dsss { dsss_limit } else { limit });
    let part = |divisor| u16::try_from((u32::from(min) + 1) / divisor).expect("a part of it").saturating_sub(1);
    let category = |key: &str, own: Contention, all: Contention, (aifsn, cw_min, cw_max): (u8, u16, u16), txop| {
        let aifsn = own.aifsn.or(all.aifsn).unwrap_or(aifsn);
        let cw_min = own.cw_min.or(all.cw_min).unwrap_or(cw_min);
        let cw_max = own.cw_max.or(all.cw_max).unwrap_or(cw_max.max(cw_min));
        if !(least..=15).contains(&aifsn) {
            let message = format!("`aifsn` must be from {least} to 15");
            return Err(BuildError::new(format!("{table}.{key}.aifsn"), message));
        }
        check_window(format!("{table}.{key}.cw_min"), own.cw_min.or(all.cw_min))?;
        check_window(format!("{table}.{key}.cw_max"), own.cw_max.or(all.cw_max))?;
        if cw_min > cw_max {
            let message = format!("`cw_max` is below `cw_min` ({cw_min})");
            return Err(BuildError::new(format!("{table}.{key}.cw_max"), message));
        }
        let space = timing.sifs + timing.slot * u64::from(aifsn);
        let txop_limit = own.txop_limit.or(all.txop_limit).unwrap_or(txop);
        if txop_limit > LONGEST_TXOP {
            return Err(BuildError::new(format!("{table}.{key}.txop_limit"), "a TXOP has at most 2.09712 s"));
        }
        Ok(Access { space, cw_min, cw_max, after_timeout: Duration::ZERO, txop_limit })
    };
    Ok([
        category("voice", own.voice, given.voice, (2, part(4), part(2)), micros(3_264, 2_080))?,
        category("video", own.video, given.video, (2, part(2), min), micros(6_016, 4_096))?,
        category("best_effort", own.best_effort, given.best_effort, (3, min, max), micros(3_264, 2_528))?,
        category("background", own.background, given.background, (7, min, max), micros(3_264, 2_528))?,
    ])
}
