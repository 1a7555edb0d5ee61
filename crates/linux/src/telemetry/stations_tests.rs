//! Tests of the readers of stations. Texts are as from `scnprintf` in Linux 7.2's `net/mac80211`.

use super::*;
use crate::kernel::nl80211::{Channel, Role};
use proptest::prelude::*;
use std::fs;

const STATION: &str = "Q depth: VO: 0 us VI: 8 us BE: 1596 us BK: 0 us\n\
                       Q limit[low/high]: VO: 5000/12000 VI: 5000/12000 BE: 4000/11000 BK: 5000/12000\n";

fn pending(total: u32) -> String {
    format!(
        "AC     AQL pending\nVO     0 us\nVI     0 us\nBE     {total} us\nBK     0 us\nMC     70 us\ntotal  {total} us\n"
    )
}

pub(crate) fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// Makes a reading of a phy with one station.
pub(crate) fn look(pending: Duration, of_station: Duration) -> Stations {
    let aql = PhyAql { is_on: true, pending, accounted: of_station, threshold: ms(24) };
    let of_station = StationAql {
        pending: [Duration::ZERO, Duration::ZERO, of_station, Duration::ZERO],
        low: [ms(5); 4],
        high: [ms(12); 4],
    };
    let station = Station {
        address: "02:00:00:00:01:00".into(),
        sent_at: Ok(Rate::mbps(11)),
        sent_as: Ok(Mode { width: 20, ..Mode::default() }),
        received_at: Err("nothing came".into()),
        received_as: Err("nothing came".into()),
        sent_for: Ok(ms(1_500)),
        received_for: Err("no".into()),
        aql: Ok(of_station),
        counts: [("sent_bytes", None); 6],
    };
    let channel = Survey { frequency: Some(2_437), active: Some(ms(9_000)), busy: Some(ms(250)), ..Survey::default() };
    let on = Channel { frequency: 2_437, width: Some(40), centres: [Some(2_447), None] };
    let interface =
        Interface { role: Role::AccessPoint, channel: Some(on), power: Some(2_000), ..Interface::default() };
    let (newest, stations) = (Format::Ht, vec![station]);
    let (has_airtime_reports, has_aql) = (true, true);
    Stations { phy: "phy0".into(), has_airtime_reports, has_aql, interface, newest, channel, aql: Ok(aql), stations }
}

#[test]
fn pending_time_and_limits_of_a_station_are_read() {
    let aql = read_station(STATION).unwrap();
    assert_eq!(aql.pending.map(Duration::as_nanos), [0, 8_000, 1_596_000, 0]);
    assert_eq!((aql.low[2], aql.high[2], aql.high[3]), (ms(4), ms(11), ms(12)));
    assert_eq!(aql.total(), Duration::from_micros(1_604));
}

#[test]
fn pending_time_of_a_phy_is_read_with_and_without_what_goes_to_all() {
    assert_eq!(read_pending(&pending(189_276)), Some(Duration::from_micros(189_276)));
    for (line, other) in [("MC     70 us\n", ""), ("MC   ", "BC/MC")] {
        assert_eq!(read_pending(&pending(9).replace(line, other)), Some(Duration::from_micros(9)), "{other}");
    }
}

#[test]
fn a_file_of_another_form_is_not_half_read() {
    for broken in
        ["", "Q depth:", &STATION.replace("5000/12000", "5000"), &STATION.replace("1596", "-1"), "total us us"]
    {
        assert_eq!(read(broken), (None, None), "{broken}");
    }
}

/// The phy has two interfaces, and stations of the other one count, too.
#[test]
fn what_all_stations_of_a_phy_have_is_accounted_for() {
    let folder = tempfile::tempdir().unwrap();
    let write = |path: &str, text: &str| {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    let missing = phy_aql(folder.path()).unwrap_err();
    assert!(missing.contains("CONFIG_MAC80211_DEBUGFS"), "{missing}");
    write("aql_pending", &pending(5_000));
    write("aql_threshold", "24000\n");
    write("aql_enable", "1\n");
    write("netdev:wlan0/stations/02:00:00:00:01:00/aql", STATION);
    write("netdev:wlan1/stations/02:00:00:00:02:00/aql", STATION);
    write("netdev:wlan1/stations/02:00:00:00:03:00/aql", "nonsense");
    let aql = phy_aql(folder.path()).unwrap();
    let accounted = Duration::from_micros(2 * 1_604);
    assert_eq!(aql, PhyAql { is_on: true, pending: ms(5), accounted, threshold: ms(24) });

    let phy = Phy { has_aql: true, ..Phy::default() };
    let peer = Peer { address: [2, 0, 0, 0, 1, 0], sent_for: Some(Duration::ZERO), ..Peer::default() };
    let first = station(&peer, &phy, &folder.path().join("netdev:wlan0"));
    assert_eq!(first.aql.unwrap().total(), Duration::from_micros(1_604));
    assert_eq!(
        first.sent_for,
        Err("its driver reports no airtime".into()),
        "a zero that mac80211 fills in is no report"
    );
    let strange = station(&Peer { address: [2, 0, 0, 0, 3, 0], ..peer }, &phy, &folder.path().join("netdev:wlan1"));
    assert!(strange.aql.unwrap_err().contains("another format"));
    write("aql_threshold", "many\n");
    assert!(phy_aql(folder.path()).unwrap_err().contains("aql_threshold has another format"));
}

#[test]
fn json_has_units_in_its_keys_and_says_what_is_missing() {
    let json = serde_json::to_value(look(ms(13), ms(2))).unwrap();
    assert_eq!(json["aql_pending_s"], 0.013);
    assert_eq!(json["aql_threshold_s"], 0.024);
    assert_eq!((&json["channel_mhz"], &json["channel_busy_s"]), (&2_437.into(), &0.25.into()));
    assert_eq!(json.get("channel_sending_s"), None);
    assert_eq!(json["not_available"]["channel_sending_s"], "the survey of the interface's driver lacks this value");
    assert_eq!(
        (&json["role"], &json["channel"], &json["channel_width_mhz"]),
        (&"access point".into(), &6.into(), &40.into())
    );
    assert_eq!((&json["channel_centers_mhz"], &json["tx_power_dbm"]), (&serde_json::json!([2_447]), &20.0.into()));
    assert_eq!((&json["card_standard"], &json["station_count"]), (&"802.11n".into(), &1.into()));
    let station = &json["stations"][0];
    assert_eq!(station["sent_mode"]["format"], "non-HT");
    assert_eq!(
        (&station["standard"], &station["sent_mode"]["mcs"]),
        (&serde_json::Value::Null, &serde_json::Value::Null)
    );
    assert_eq!(station["sent_rate_bps"], 11_000_000);
    assert_eq!(station["sent_airtime_s"], 1.5);
    assert_eq!(station["aql_pending_s"]["be"], 0.002);
    assert_eq!(station["aql_limit_high_s"]["vo"], 0.012);
    assert_eq!(station["not_available"]["received_rate_bps"], "nothing came");
    assert_eq!(station.get("received_rate_bps"), None);
}

/// Small frames are often sent in an older format than large ones.
#[test]
fn the_standard_of_a_station_is_that_of_its_newest_frame() {
    let guard = Some(Duration::from_nanos(800));
    let fast = Mode { format: Format::He, mcs: Some(11), streams: Some(2), width: 80, guard };
    let peer =
        Peer { received_at: Some(Rate::mbps(6)), sent_as: fast, sent_at: Some(Rate::mbps(1_201)), ..Peer::default() };
    let of = |peer: &Peer| station(peer, &Phy::default(), Path::new("/"));
    assert_eq!(of(&peer).newest(), Some(Format::He));
    let json = serde_json::to_value(of(&peer)).unwrap();
    assert_eq!(json["standard"], "802.11ax");
    let mode = serde_json::json!(
        {"format": "HE", "mcs": 11, "streams": 2, "width_mhz": 80, "guard_interval_s": 8e-7}
    );
    assert_eq!(json["sent_mode"], mode);
    assert_eq!(of(&Peer { sent_as: Mode::default(), ..peer }).newest(), None);
    // Without a rate, the width alone says nothing.
    assert!(of(&Peer { received_at: None, ..peer }).received_as.is_err());
}

#[test]
fn an_interface_that_is_no_wifi_has_no_stations() {
    assert_eq!(super::look("lo").unwrap(), None);
    assert!(super::look("no-such-0").is_err());
}

proptest! {
    #[test]
    fn no_text_makes_a_reader_panic(text in ".{0,300}") {
        let _ = read(&text);
    }

    /// Random text is seldom parsed far, so one character of a valid text is changed, or the text is cut.
    #[test]
    fn broken_files_are_read_to_their_end(at in 0_usize..400, to in any::<char>(), cut in 0_usize..400) {
        for text in [STATION.to_owned(), pending(189_276)] {
            let mut chars: Vec<char> = text.chars().collect();
            let at = at % chars.len();
            chars[at] = to;
            chars.truncate(chars.len().saturating_sub(cut));
            let _ = read(&chars.into_iter().collect::<String>());
        }
    }
}
