//! Builds the MAC's conventions from the description.

use crate::config::{self, BProtection, Lifetime, MostBytes, Network, Ofdma, Role, RtsThreshold, Standard};
use crate::engine::{List, NodeId};
use crate::mac::{Access, Aggregation, Agreement, Conventions, MuEdca};
use crate::radio::{Format, Mimo, Timing};
use crate::world::basis::Basis;
use crate::world::error::BuildError;
use crate::world::nodes::{Node, access, channels};
use crate::world::radio;
use units::{Bytes, Duration, refuse_if};

pub(crate) fn conventions(network: &Network) -> Result<Conventions, BuildError> {
    let mac = &network.mac;
    let timing = radio::timing(&network.radio)?;
    let (access, categories) = access::access(network, None, &timing)?;
    let limits = [("short_retry_limit", mac.short_retry_limit), ("long_retry_limit", mac.long_retry_limit)];
    for (key, limit) in limits {
        if limit == Some(0) {
            return Err(BuildError::new(format!("mac.{key}"), format!("`{key}` must be at least 1 attempt")));
        }
    }
    let mu_edca = mu_edca(network, &timing, &access)?;
    check_extended(network)?;
    mac.marks.read_where(&[(channels::are_given(network), &["bandwidth"])]);
    let (protection, beside_b) = (network.radio.b_protection(), network.radio.beside_b);
    let rts_threshold = || match mac.marks.read("rts_threshold", mac.rts_threshold) {
        RtsThreshold::Off => None,
        RtsThreshold::Above(bytes) => Some(bytes),
    };
    Ok(Conventions {
        timing,
        access,
        categories,
        // dot11ShortRetryLimit and dot11LongRetryLimit have these defaults (IEEE 802.11-2016, annex C).
        short_retry_limit: mac.short_retry_limit.unwrap_or(7),
        long_retry_limit: mac.long_retry_limit.unwrap_or(4),
        rts_threshold: match protection {
            BProtection::RtsCts => Some(Bytes::new(0)),
            _ => rts_threshold(),
        },
        cts_to_self: mac.cts_to_self || protection == BProtection::CtsToSelf,
        of_dsss: beside_b.then(|| (rts_threshold(), mac.cts_to_self)),
        agreements: [Agreement::NONE; 3],
        old: Agreement::NONE,
        formats: Vec::new(),
        newest: Format::of(network.radio.standard).unwrap_or(Format::Ht),
        aggregation: aggregation(network)?,
        ofdma: ofdma(network)?,
        power_save: network.node.iter().any(|node| node.power_save.is_some()),
        mu_edca,
        bandwidth: channels::matter(network).then_some(mac.bandwidth),
        eifs: mac.eifs,
        first_access: mac.first_access,
        answer_rts: mac.answer_rts,
        window_reset: mac.window_reset,
        tmac: None,
        key: Bytes::new(0),
    }
    .agreed())
}

/// Refuses RTS or CTS before frames of extended range: these announcements do not reach as far.
fn check_extended(network: &Network) -> Result<(), BuildError> {
    let (radio, mac) = (&network.radio, &network.mac);
    let extended = radio.extended_range.is_some() || network.node.iter().any(|node| node.extended_range.is_some());
    let keys = [
        ("mac.rts_threshold", mac.rts_threshold != RtsThreshold::Off),
        ("mac.cts_to_self", mac.cts_to_self),
        ("mac.turns", mac.turns.is_some()),
        ("radio.b_protection", radio.b_protection() != BProtection::None || radio.beside_b),
    ];
    match keys.into_iter().find(|&(_, given)| extended && given) {
        Some((key, _)) => {
            let why =
                "such frames have the legacy format, whose range is below `extended_range`: leave out one of the two";
            Err(BuildError::new(key, why))
        }
        None => Ok(()),
    }
}

/// Returns the contention parameters of stations that are asked for data.
fn mu_edca(network: &Network, timing: &Timing, access: &[Access; 4]) -> Result<Option<MuEdca>, BuildError> {
    let Some(given) = network.mac.mu_edca else { return Ok(None) };
    let refusal = |key: &str, message: &str| Err(BuildError::new(format!("mac.mu_edca{key}"), message));
    if network.mac.ofdma != Ofdma::Both {
        return refusal("", "only `ofdma = \"both\"` asks stations for data; set it, or leave `[mac.mu_edca]` out");
    }
    if given.timer.is_zero() || given.timer > Duration::from_micros(255 * 8_192) {
        return refusal(
            ".timer",
            "`timer` must be above zero and at most 2088.96 ms; for no timer leave `[mac.mu_edca]` out",
        );
    }
    refuse_if!(given.aifsn == 1 || given.aifsn > 15, refusal(".aifsn", "`aifsn` must be 0, or a number from 2 to 15"));
    if given.aifsn == 0 {
        return Ok(Some(MuEdca { timer: given.timer, access: None }));
    }
    let marks = &network.mac.marks;
    access::check_window("mac.mu_edca.cw_min".to_owned(), given.cw_min)?;
    access::check_window("mac.mu_edca.cw_max".to_owned(), given.cw_max)?;
    let space = timing.sifs + timing.slot * u64::from(given.aifsn);
    let access = access.map(|access| {
        let cw_min = marks.read("mu_edca.cw_min", given.cw_min).unwrap_or(access.cw_min);
        Access {
            space,
            cw_min,
            cw_max: marks.read("mu_edca.cw_max", given.cw_max).unwrap_or(access.cw_max.max(cw_min)),
            ..access
        }
    });
    if access.iter().any(|access| access.cw_min > access.cw_max) {
        return refusal(".cw_max", "`cw_max` is below `cw_min`");
    }
    Ok(Some(MuEdca { timer: given.timer, access: Some(access) }))
}

/// Returns OFDMA as described. Refuses it if it has no effect.
fn ofdma(network: &Network) -> Result<Ofdma, BuildError> {
    let mac = &network.mac;
    if mac.ofdma == Ofdma::Off {
        return Ok(Ofdma::Off);
    }
    let refusals = [
        (
            network.radio.standard != Standard::Ax,
            "OFDMA came with 802.11ax; set `standard = \"802.11ax\"` in `[radio]`",
        ),
        (network.ampdu() == MostBytes::Off, "a shared frame is answered by BlockAcks; leave `ampdu` out"),
        (mac.cts_to_self, "a CTS to self precedes frames to one station; write `rts_threshold` instead, for MU-RTS"),
        (mac.turns.is_some(), "T-MAC sends to one station at a time; leave `[mac.turns]` out"),
        (
            network.radio.beside_b && network.radio.b_protection() != BProtection::None,
            "nothing protects nodes of 802.11b from frames to several; write `b_protection = \"none\"` in `[radio]`",
        ),
        (
            !network.node.iter().any(|node| node.role == Role::AccessPoint),
            "access points share their frames among stations; give a node `role = \"access-point\"`",
        ),
    ];
    match refusals.iter().find(|(refused, _)| *refused) {
        Some((_, why)) => Err(BuildError::new("mac.ofdma", *why)),
        None => Ok(mac.ofdma),
    }
}

/// Refuses OFDMA if no access point has two stations that could share a frame: it would have no effect.
pub(crate) fn check_sharing(nodes: &List<NodeId, Node>, basis: &Basis) -> Result<(), BuildError> {
    let Basis { infrastructure, rules, .. } = *basis;
    let mut most = 0;
    for (node, place) in nodes.iter().zip(0..) {
        let stations = || infrastructure.stations(place);
        let mut widths = Vec::new();
        for width in stations().filter_map(|to| node.station.rates.shared_mode(to, rules)).map(Mimo::width) {
            if widths.contains(&width) {
                return Ok(());
            }
            widths.push(width);
        }
        most = most.max(stations().count());
    }
    let why = match most {
        0 | 1 => "an access point with one station has nothing to share; add a station, or leave `ofdma` out",
        _ if rules.aggregation.frames < 2 => "a shared frame is answered by BlockAcks; leave `ampdu_frames` out",
        _ => {
            "no access point has two stations of 802.11ax with the same channel width; change the nodes' `standard` or \
              `channel_width`, or leave `ofdma` out"
        }
    };
    Err(BuildError::new("mac.ofdma", why))
}

/// Returns the limits of aggregation. They lie within IEEE 802.11-2016, tables 9-19 and 9-262, `aPPDUMaxTime` in table
/// 19-25, and the [`Agreement`]s.
fn aggregation(network: &Network) -> Result<Aggregation, BuildError> {
    let mac = &network.mac;
    let given = &mac.aggregation;
    let refusal = |key: &str, message: &str| BuildError::new(format!("mac.aggregation.{key}"), message);
    let limit = |key: &str, given: MostBytes, most: u64| match given {
        MostBytes::Off => Ok(None),
        MostBytes::UpTo(_) if network.access() == config::Access::Dcf => {
            Err(refusal(key, "frames without a category are not aggregated; set `access = \"edca\"` in `[mac]`"))
        }
        MostBytes::UpTo(bytes) if bytes.count() == 0 || bytes.count() > most => {
            Err(refusal(key, &format!("`{key}` must be at most {most} B, or \"off\"")))
        }
        MostBytes::UpTo(bytes) => Ok(Some(bytes)),
    };
    let format = Format::of(network.radio.standard);
    let message = "A-MPDUs came with 802.11n; set `standard = \"802.11n\"` in `[radio]`, or write `ampdu = \"off\"`";
    refuse_if!(network.ampdu() != MostBytes::Off && format.is_none(), Err(refusal("ampdu", message)));
    let (most_frames, longest, shared) = match format {
        None | Some(Format::Ht) => (64, 65_535, 7_935),
        // An MPDU has at most 11454 B.
        Some(Format::Vht) => (64, 1_048_575, 11_424),
        Some(Format::He) => (256, 6_500_631, 11_424),
    };
    let frames = given.ampdu_frames.unwrap_or(most_frames);
    if !(1..=most_frames).contains(&frames) {
        let message = format!("an A-MPDU has 1 to {most_frames} frames: a BlockAck has one bit for each");
        return Err(refusal("ampdu_frames", &message));
    }
    if given.ampdu_duration > Duration::from_micros(5_484) {
        return Err(refusal("ampdu_duration", "a frame must not last longer than 5484 us"));
    }
    let longest = limit("ampdu", network.ampdu(), longest)?;
    let shared = limit("amsdu", given.amsdu, shared)?;
    mac.marks.read_where(&[
        (longest.is_some(), &["aggregation.ampdu_frames", "aggregation.missed_block_ack", "aggregation.lifetime"]),
        (longest.is_some() || shared.is_some(), &["aggregation.ampdu_duration"]),
    ]);
    Ok(Aggregation {
        ampdu: longest,
        frames,
        duration: given.ampdu_duration,
        amsdu: shared,
        missed: given.missed_block_ack,
        lifetime: match given.lifetime {
            Lifetime::Off => None,
            Lifetime::Of(lifetime) => Some(lifetime),
        },
    })
}
