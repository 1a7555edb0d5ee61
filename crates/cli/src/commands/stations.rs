//! The stations of Wi-Fi interfaces, as `sluice status` and `sluice doctor` show them.

use experiment::tables::{Columns, table};
use linux::kernel::nl80211::Format;
use linux::telemetry::stations::{Station, Stations, Told};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use units::{Duration, Rate};

/// Formats a table of all stations, and below it the reasons for missing readings. Empty without Wi-Fi.
pub(super) fn text(wireless: &BTreeMap<String, Stations>, width: usize) -> String {
    let (mut rows, mut lines) = (Vec::new(), String::new());
    for (device, air) in wireless {
        let device = plain(device);
        rows.extend(air.stations.iter().map(|station| row(&device, station)));
        let mut missing: BTreeMap<String, Vec<&str>> = BTreeMap::new();
        let mut note = |what, why: Option<&String>| {
            let whats = why.map(|why| missing.entry(plain(why)).or_default());
            if let Some(whats) = whats.filter(|whats| !whats.contains(&what)) {
                whats.push(what);
            }
        };
        for station in &air.stations {
            note("rate of what is sent", station.sent_at.as_ref().err());
            note("rate of what is received", station.received_at.as_ref().err());
            note("airtime", station.sent_for.as_ref().err());
            note("airtime", station.received_for.as_ref().err());
            note("AQL", station.aql.as_ref().err());
        }
        note("AQL of the phy", air.aql.as_ref().err());
        if air.stations.is_empty() {
            let _ = writeln!(lines, "{device} has no stations");
        }
        if let Ok(aql) = &air.aql {
            let (pending, threshold) = (milliseconds(aql.pending), milliseconds(aql.threshold));
            let _ = writeln!(lines, "{device}, {}: AQL has {pending} pending (threshold {threshold})", plain(&air.phy));
        }
        let channel = air.channel;
        let times = [
            ("on the channel", channel.active),
            ("busy", channel.busy),
            ("receiving", channel.receiving),
            ("sending", channel.sending),
        ];
        let known = times.iter().filter_map(|(what, time)| Some(format!("{} {what}", airtime((*time)?))));
        let known = known.collect::<Vec<_>>().join(", ");
        if let Some(frequency) = channel.frequency.filter(|_| !known.is_empty()) {
            let _ = writeln!(lines, "{device} at {frequency} MHz: {known}");
        }
        for (why, whats) in missing {
            let _ = writeln!(lines, "{device}: {} not available: {why}", whats.join(", "));
        }
    }
    if rows.is_empty() {
        return lines;
    }
    let head = ["interface", "station", "sent at", "received at", "sent for", "received for", "pending", "allowed"];
    table(&head, &rows, &Columns { right: &[2, 3, 4, 5, 6], prose: &[] }, width) + &lines
}

/// Formats a table of the rates and formats of the last frames of all stations. Empty without stations.
pub(super) fn modes(wireless: &BTreeMap<String, Stations>, width: usize) -> String {
    let row = |device: &String, station: &Station| {
        let mode = |mode| cell(mode, ToString::to_string);
        let standard = station.newest().and_then(Format::standard).unwrap_or("-");
        vec![
            plain(device),
            station.address.clone(),
            standard.into(),
            mode(&station.sent_as),
            mode(&station.received_as),
        ]
    };
    let all = wireless.iter().flat_map(|(device, air)| air.stations.iter().map(move |station| (device, station)));
    let rows: Vec<_> = all.map(|(device, station)| row(device, station)).collect();
    if rows.is_empty() {
        return String::new();
    }
    let head = ["interface", "station", "standard", "sent as", "received as"];
    table(&head, &rows, &Columns { right: &[], prose: &[] }, width)
}

fn row(device: &str, station: &Station) -> Vec<String> {
    let allowed = |aql: &linux::telemetry::stations::StationAql| {
        // Only best effort is shown, because it has nearly all packets; the JSON has all four categories.
        format!("{} to {}", milliseconds(aql.low[2]), milliseconds(aql.high[2]))
    };
    vec![
        device.into(),
        station.address.clone(),
        cell(&station.sent_at, |&sent| rate(sent)),
        cell(&station.received_at, |&received| rate(received)),
        cell(&station.sent_for, |&time| airtime(time)),
        cell(&station.received_for, |&time| airtime(time)),
        cell(&station.aql, |aql| milliseconds(aql.total())),
        cell(&station.aql, allowed),
    ]
}

fn cell<T>(value: &Told<T>, shown: impl Fn(&T) -> String) -> String {
    value.as_ref().map_or_else(|_| "-".into(), shown)
}

fn rate(rate: Rate) -> String {
    format!("{:.1} Mb/s", rate.as_bps() as f64 / 1e6)
}

fn airtime(time: Duration) -> String {
    format!("{:.1} s", time.as_secs_f64())
}

/// Replaces control characters in texts of other programs.
pub(super) fn plain(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { '?' } else { c }).collect()
}

/// Formats a time in milliseconds, to a tenth.
pub(super) fn milliseconds(span: Duration) -> String {
    format!("{:.1} ms", span.as_secs_f64() * 1e3)
}

#[cfg(test)]
mod tests {
    use super::*;
    use linux::kernel::nl80211::{Interface, Mode, Survey};
    use linux::telemetry::stations::{PhyAql, StationAql};

    #[test]
    fn stations_are_rows_and_what_is_missing_is_said_once() {
        let ms = Duration::from_millis;
        let station = Station {
            address: "02:00:00:00:01:00".into(),
            sent_at: Ok(Rate::bps(11_000_000)),
            sent_as: Ok(Mode { format: Format::Ht, mcs: Some(9), streams: Some(2), width: 40, guard: None }),
            received_at: Ok(Rate::bps(5_500_000)),
            received_as: Err("nothing came".into()),
            sent_for: Err("its driver reports no airtime".into()),
            received_for: Err("its driver reports no airtime".into()),
            aql: Ok(StationAql { pending: [ms(0), ms(0), ms(3), ms(0)], low: [ms(5); 4], high: [ms(12); 4] }),
            counts: [("sent_bytes", None); 6],
        };
        let second = Station { address: "02:00:00:00:02:00".into(), aql: Err("only\nroot".into()), ..station.clone() };
        let phy = PhyAql { is_on: true, pending: ms(3), accounted: ms(3), threshold: ms(24) };
        let stations = vec![station, second];
        let (active, busy) = (Some(ms(120_000)), Some(ms(30_500)));
        let channel = Survey { frequency: Some(2_437), active, busy, ..Survey::default() };
        let phy_name = "phy0".to_owned();
        let (has_airtime_reports, has_aql, newest, interface) = (false, true, Format::Ht, Interface::default());
        let aql = Ok(phy);
        let air = Stations { phy: phy_name, has_airtime_reports, has_aql, interface, newest, channel, aql, stations };
        let wireless = BTreeMap::from([("wlan0".into(), air)]);
        let modes = modes(&wireless, 200);
        let row = modes.lines().nth(2).unwrap();
        let cells: Vec<&str> = row.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).collect();
        assert_eq!(cells, ["wlan0", "02:00:00:00:01:00", "802.11n", "HT MCS 9, 2 streams, 40 MHz", "-"], "{modes}");
        let text = text(&wireless, 200);
        let lines: Vec<&str> = text.lines().collect();
        let cells: Vec<&str> = lines[2].split("  ").map(str::trim).filter(|cell| !cell.is_empty()).collect();
        let expected = ["wlan0", "02:00:00:00:01:00", "11.0 Mb/s", "5.5 Mb/s", "-", "-", "3.0 ms", "5.0 ms to 12.0 ms"];
        assert_eq!(cells, expected, "{text}");
        let below = [
            "wlan0, phy0: AQL has 3.0 ms pending (threshold 24.0 ms)",
            "wlan0 at 2437 MHz: 120.0 s on the channel, 30.5 s busy",
            "wlan0: airtime not available: its driver reports no airtime",
            "wlan0: AQL not available: only?root",
        ];
        assert_eq!(lines[4..], below, "{text}");
        assert_eq!(
            (super::text(&BTreeMap::new(), 80), super::modes(&BTreeMap::new(), 80)),
            <(String, String)>::default()
        );
    }
}
