//! Findings about a Wi-Fi interface: how its driver and mac80211 share the airtime between stations.

use crate::device::txq::Holder;
use crate::doctor::machine::Finding;
use crate::error::Error;
use crate::kernel::debugfs::{CATEGORIES, phy_folder};
use crate::kernel::nl80211::Survey;
use crate::telemetry::stations::{Stations, look};
use units::Duration;

/// Number of readings before AQL is called stuck, and their spacing: AQL allows much less than a second to be pending.
const LOOKS: usize = 5;
const BETWEEN: std::time::Duration = std::time::Duration::from_millis(200);

/// Finding about a driver whose packets mac80211 does not hold.
const NOT_OF_MAC80211: &str =
    "mac80211 holds none of this interface's packets: the device shares the airtime between stations as it likes";

/// Finding about the size of aggregates.
const AGGREGATES: &str = "drivers do not report their size: wqm and dnb assume that they are as large as the frames' format and \
                          4 ms allow, and count only the stations of this interface";

/// Advice if the driver does not survey the channel.
const OTHER_CARD: &str = "use another driver or card to see the channel's time; wqm works without it if all stations count \
                          as equal: --set wqm.share=equal";

/// Examines an interface: its driver's reports of airtime, and the state of its AQL. `module` is the driver's module.
/// If AQL may be stuck, reads again for a second.
pub(super) fn findings(
    device: &str,
    holder: Holder,
    module: Option<&str>,
) -> Result<(Vec<Finding>, Option<Stations>), Error> {
    let Some(first) = look(device)? else { return Ok((Vec::new(), None)) };
    let mut looks = vec![first];
    while looks.len() < LOOKS && stuck(&looks).is_some() {
        wait(BETWEEN);
        match look(device)? {
            Some(next) => looks.push(next),
            None => return Ok((Vec::new(), None)),
        }
    }
    let first = &looks[0];
    let shared = match holder {
        Holder::Mac80211 => vec![airtime(first), aql(&looks, module)],
        Holder::Driver | Holder::NotWifi => vec![Finding::good("airtime", NOT_OF_MAC80211)],
    };
    let rest = [channel(first), link(device, first), Finding::good("aggregates", AGGREGATES)];
    let found = [network(first)].into_iter().chain(shared).chain(rest).collect();
    Ok((found, looks.pop()))
}

#[expect(clippy::disallowed_methods, reason = "two readings show whether something changes")]
fn wait(time: std::time::Duration) {
    std::thread::sleep(time);
}

/// Returns the finding on the channel, and on the stations' standards and rates.
fn network(stations: &Stations) -> Finding {
    const TOPIC: &str = "network";
    match stations.network() {
        Some(found) => Finding::good(TOPIC, found),
        None => Finding::bad(
            TOPIC,
            format!("{}, on no channel", stations.interface.role.name()),
            "bring the interface up, and start its access point or join a network",
        ),
    }
}

fn airtime(stations: &Stations) -> Finding {
    const TOPIC: &str = "airtime";
    if stations.has_airtime_reports {
        return Finding::good(TOPIC, "the driver reports how long each station is on the air");
    }
    Finding::bad(
        TOPIC,
        "the driver reports no airtime: mac80211 cannot share the air between stations by time, and slow stations take \
         airtime from the others",
        "use another driver or card; Sluice's release by credit needs no such reports, and bounds the delay that all stations share",
    )
}

fn channel(stations: &Stations) -> Finding {
    const TOPIC: &str = "channel";
    match stations.channel {
        Survey { busy: Some(_), sending: Some(_), .. } => {
            Finding::good(TOPIC, "the driver reports its channel's busy time and its own sending time")
        }
        Survey { busy: Some(_), .. } => Finding::bad(
            TOPIC,
            "the driver reports its channel's busy time, but not its own sending time: other senders' time is unknown",
            OTHER_CARD,
        ),
        _ => Finding::bad(TOPIC, "the driver does not report how long its channel is busy", OTHER_CARD),
    }
}

fn link(device: &str, stations: &Stations) -> Finding {
    const TOPIC: &str = "link rate";
    let (known, all) = (stations.stations.iter().filter(|it| it.sent_at.is_ok()).count(), stations.stations.len());
    if known > 0 {
        let copy = format!("`sluice scenario-from {device}` makes a scenario of this network");
        return Finding::good(TOPIC, format!("the bitrate is known for {known} of {all} stations; {copy}"));
    }
    Finding::bad(
        TOPIC,
        format!("the bitrate is known for none of {all} stations: wqm and dnb are refused"),
        "send a frame to a station; if that does not help, use another driver or card",
    )
}

fn aql(looks: &[Stations], module: Option<&str>) -> Finding {
    const TOPIC: &str = "AQL";
    let Some(first) = looks.first() else { return Finding::good(TOPIC, "not read") };
    if !first.has_aql {
        return Finding::bad(
            TOPIC,
            "the driver has no airtime queue limits: only the driver bounds what waits below mac80211",
            "attach Sluice's own discipline, which passes down 8 ms at a time",
        );
    }
    if let Some(why) = stuck(looks) {
        let module = module.unwrap_or("its module");
        let off = phy_folder(&first.phy).join("aql_enable");
        let fix = format!(
            "reload the driver, which takes its interfaces down: modprobe -r {module}; modprobe {module}. Until then AQL can be \
             switched off: echo 0 > {}. If the problem returns, install a newer driver",
            off.display()
        );
        return Finding::bad(TOPIC, format!("stuck: {why}"), fix);
    }
    match &first.aql {
        Ok(aql) if !aql.is_on => Finding::bad(
            TOPIC,
            "AQL is switched off: only the driver bounds what waits below mac80211",
            format!("echo 1 > {}", phy_folder(&first.phy).join("aql_enable").display()),
        ),
        Ok(aql) => Finding::good(
            TOPIC,
            format!(
                "{} of airtime is pending; once {} is pending, stations get their lower limit",
                shown(aql.pending),
                shown(aql.threshold)
            ),
        ),
        Err(why) => Finding::good(TOPIC, format!("the driver has AQL; its pending airtime is not available: {why}")),
    }
}

/// Returns why AQL is stuck, if it is so in all readings. Either more than the phy's threshold is pending but not for
/// any station: no completion will release it. Or a station stays above its limit without change.
fn stuck(looks: &[Stations]) -> Option<String> {
    let first = looks.first()?;
    let lost = |look: &Stations| {
        let aql = look.aql.as_ref().ok().filter(|aql| aql.is_on)?;
        let lost = aql.pending.saturating_sub(aql.accounted);
        (lost >= aql.threshold && !lost.is_zero()).then_some((lost, *aql))
    };
    if let Some(all) = looks.iter().map(lost).collect::<Option<Vec<_>>>() {
        let (lost, aql) = all.into_iter().min_by_key(|(lost, _)| *lost)?;
        return Some(format!(
            "{} of airtime is pending ({} allowed), of which {} belongs to no present station: it was never \
             subtracted, and each station keeps its lower limit",
            shown(aql.pending),
            shown(aql.threshold),
            shown(lost)
        ));
    }
    first.stations.iter().find_map(|station| {
        let now = station.aql.as_ref().ok()?;
        let category = (0..CATEGORIES.len()).find(|&place| {
            let stays = |look: &Stations| {
                let same = look.stations.iter().find(|other| other.address == station.address)?;
                Some(same.aql.as_ref().ok()?.pending[place])
            };
            let pending = now.pending[place];
            !pending.is_zero() && pending >= now.high[place] && looks.iter().all(|look| stays(look) == Some(pending))
        })?;
        Some(format!(
            "{} of airtime stays pending for {}, where AQL allows {}: mac80211 sends this station nothing",
            shown(now.pending[category]),
            station.address,
            shown(now.high[category])
        ))
    })
}

fn shown(time: Duration) -> String {
    format!("{:.1} ms", time.as_secs_f64() * 1e3)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::nl80211::{Channel, Format, Mode};
    use crate::telemetry::stations::Station;
    use crate::telemetry::stations::tests::{look, ms};

    /// Figures of mt76's issue 518: of 189 ms pending for the phy (24 ms are allowed), its one station has 0 to 1.6 ms.
    #[test]
    fn time_that_no_station_has_is_stuck_and_time_that_stations_have_is_not() {
        let leak = [ms(0), Duration::from_micros(1_596), ms(0)].map(|station| look(ms(189) + station, station));
        let why = stuck(&leak).unwrap();
        let all = "189.0 ms of airtime is pending (24.0 ms allowed), of which 189.0 ms belongs to no present";
        assert!(why.starts_with(all), "{why}");
        let finding = aql(&leak, Some("mt7915e"));
        assert!(!finding.good && finding.found.starts_with("stuck: "), "{finding:?}");
        let fix = finding.fix.unwrap();
        assert!(fix.contains("modprobe -r mt7915e; modprobe mt7915e") && fix.contains("phy0/aql_enable"), "{fix}");

        // Busy stations together may exceed the threshold: each still has its lower limit.
        assert_eq!(stuck(&[look(ms(40), ms(39)), look(ms(38), ms(38))]), None);
        // In the second reading the excess is gone.
        assert_eq!(stuck(&[look(ms(189), ms(0)), look(ms(3), ms(3))]), None);
        let mut off = leak.clone();
        for look in &mut off {
            look.aql.as_mut().unwrap().is_on = false;
        }
        assert_eq!(stuck(&off), None);
        let finding = aql(&off, None);
        assert!(!finding.good && finding.found.contains("switched off"), "{finding:?}");
        assert_eq!(stuck(&[]), None);
    }

    #[test]
    fn a_channel_is_surveyed_where_the_time_of_others_is_known() {
        let mut stations = look(ms(0), ms(0));
        assert!(channel(&stations).found.contains("not its own sending time"), "{:?}", channel(&stations));
        stations.channel.sending = Some(ms(9));
        assert!(channel(&stations).good);
        stations.channel = Survey::default();
        assert!(!channel(&stations).good);
    }

    #[test]
    fn a_link_has_a_rate_where_a_station_has_one() {
        let mut stations = look(ms(0), ms(0));
        stations.stations[0].sent_at = Err("nothing was sent to it yet".into());
        assert!(
            !link("w", &stations).good && link("w", &stations).found.contains("none of 1 stations"),
            "{:?}",
            link("w", &stations)
        );
        stations.stations[0].sent_at = Ok(units::Rate::mbps(11));
        assert!(
            link("w", &stations)
                .found
                .starts_with("the bitrate is known for 1 of 1 stations; `sluice scenario-from w`")
        );
    }

    #[test]
    fn a_network_is_its_channel_and_its_stations_by_standard() {
        let mut stations = look(ms(0), ms(0));
        let begin =
            "access point on channel 6 (2437 MHz), 40 MHz wide around 2447 MHz, 20.0 dBm, by a card of 802.11n; ";
        assert_eq!(network(&stations).found, format!("{begin}stations: 1 of a standard not seen yet"));
        let fast = |format| Ok(Mode { format, mcs: Some(7), ..Mode::default() });
        for (format, count) in [(Format::Vht, 1), (Format::Eht, 2)] {
            let station = Station { received_as: fast(format), ..stations.stations[0].clone() };
            stations.stations.extend(vec![station; count]);
        }
        let all = "stations: 2 of 802.11be, 1 of 802.11ac, 1 of a standard not seen yet";
        assert_eq!(network(&stations).found, format!("{begin}{all}"));
        stations.stations.clear();
        stations.interface.power = None;
        let split = Channel { frequency: 60_480, width: Some(160), centres: [Some(5_210), Some(5_530)] };
        (stations.interface.channel, stations.newest) = (Some(split), Format::NonHt);
        let found = "access point on 60480 MHz, 160 MHz wide around 5210 and 5530 MHz; no stations";
        assert_eq!(network(&stations).found, found);
        stations.interface.channel = None;
        assert!(!network(&stations).good && network(&stations).found == "access point, on no channel");
    }

    #[test]
    fn a_station_that_stands_still_above_its_limit_is_stuck() {
        let why = stuck(&[look(ms(13), ms(13)), look(ms(13), ms(13))]).unwrap();
        assert!(
            why.starts_with("13.0 ms of airtime stays pending for 02:00:00:00:01:00, where AQL allows 12.0 ms"),
            "{why}"
        );
        assert_eq!(stuck(&[look(ms(13), ms(13)), look(ms(14), ms(14))]), None, "it moves");
        assert_eq!(stuck(&[look(ms(11), ms(11)), look(ms(11), ms(11))]), None, "it is below its limit");
    }
}
