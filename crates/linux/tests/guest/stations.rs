//! Readings of a mac80211 interface and its stations, compared with the kernel's tools.

use super::chain::{Chain, Sink, at, send};
use super::program::Program;
use super::radios::{access_point, join_at, unload, with_aql};
use super::{now, pause_until, shell};
use linux::telemetry::stations::look;
use units::{Duration, Rate};

/// Rate of the relay in a line of `iw dev wlan0 station get`: `tx bitrate: 11.0 MBit/s`.
fn shown_by_iw(line: &str) -> Rate {
    let dump = shell("iw dev wlan0 station get 02:00:00:00:01:00");
    let value = dump.lines().find_map(|text| text.trim().strip_prefix(line)).unwrap();
    Rate::mbps(1).scaled(value.split_whitespace().next().unwrap().parse().unwrap())
}

#[test]
#[ignore = "needs the guest"]
fn stations_are_shown_as_the_kernel_has_them() {
    let chain = Chain::new();
    let program = Program::attached("attach wlan0 --backend bpf --controller adth --target-delay 50ms", "wlan0");
    let sink = Sink::new();
    send(Duration::from_millis(10), now() + Duration::from_secs(1), || ());
    pause_until(now() + Duration::from_millis(100));
    assert!(!sink.end().is_empty());

    let air = look("wlan0").unwrap().unwrap();
    let peer = air.stations.iter().find(|peer| peer.address == "02:00:00:00:01:00").unwrap();
    assert_eq!(peer.sent_at, Ok(shown_by_iw("tx bitrate:")));
    assert_eq!(peer.received_at, Ok(shown_by_iw("rx bitrate:")));

    let status = shell("/tmp/sluice status --json");
    println!("{status}");
    let rate = peer.sent_at.as_ref().unwrap().as_bps();
    assert!(status.contains(&format!("\"sent_rate_bps\":{rate}")), "{status}");
    let doctor = shell("/tmp/sluice doctor wlan0");
    println!("{doctor}");
    // The driver of these radios supports none of it.
    assert!(doctor.contains("bad  airtime: the driver reports no airtime"), "{doctor}");
    assert!(doctor.contains("bad  AQL: the driver has no airtime queue limits"), "{doctor}");
    assert!(doctor.contains("airtime not available: its driver reports no airtime"), "{doctor}");
    assert!(doctor.contains("bad  channel: the driver does not report how long its channel is busy"), "{doctor}");
    let survey = shell("iw dev wlan0 survey dump");
    assert_eq!(air.channel.frequency.is_some(), survey.contains("[in use]"));
    program.stop();
    chain.end();
}

/// Access points of 802.11n, and of 802.11ac over 80 MHz.
const SLOW: &str = "hw_mode=g\nchannel=1\nieee80211n=1\n";
const FAST: &str = "country_code=US\nhw_mode=a\nchannel=36\nieee80211n=1\nht_capab=[HT40+][SHORT-GI-40]\nieee80211ac=1\n\
                    vht_capab=[SHORT-GI-80]\nvht_oper_chwidth=1\nvht_oper_centr_freq_seg0_idx=42\n";
/// Longest time for anything that is waited for.
const PATIENCE: Duration = Duration::from_secs(60);

/// Makes an access point, wlan0, and a station in a namespace of its own that has exchanged packets with it. `module`:
/// parameters of the driver; `rates`: those that rate control may choose.
fn cell(hostapd: &str, frequency: u32, module: &str, rates: &str) {
    with_aql(&format!("radios=2 {module}"));
    access_point(&format!("ssid=modes\nwmm_enabled=1\n{hostapd}"));
    shell("ip addr add 10.8.0.1/24 dev wlan0; sysctl -qw net.ipv6.conf.wlan0.disable_ipv6=1");
    shell("ip netns add n1; iw phy $(cat /sys/class/net/wlan1/phy80211/name) set netns name n1");
    at(1, "sysctl -qw net.ipv6.conf.wlan1.disable_ipv6=1; ip addr add 10.8.0.2/24 dev wlan1; ip link set wlan1 up");
    join_at(1, 1, &format!("modes {frequency}"));
    shell(&format!("iw dev wlan0 set bitrates {rates}"));
    at(1, &format!("iw dev wlan1 set bitrates {rates}"));
}

#[test]
#[ignore = "needs the guest"]
fn a_network_is_read_as_iw_shows_it() {
    let low = "channel 1 (2412 MHz), 20 MHz wide around 2412 MHz";
    let high = "channel 36 (5180 MHz), 80 MHz wide around 5210 MHz";
    let (slow, fast) = ("ht-mcs-2.4 12", "vht-mcs-5 2:9");
    for (hostapd, frequency, module, rates, said, standard, mode) in [
        (SLOW, 2_412, "", slow, low, "802.11n", " HT MCS 12, 2 streams, "),
        (FAST, 5_180, "", fast, high, "802.11ac", " VHT MCS 9, 2 streams, "),
        (FAST, 5_180, "he=1", fast, high, "802.11ax", " HE MCS 9, 2 streams, "),
    ] {
        cell(hostapd, frequency, module, rates);
        let until = now() + PATIENCE;
        // Rate control begins slowly and tries others now and then, and the last frame may change between two looks.
        let (iw, own, doctor) = loop {
            shell("ping -q -c 50 -i 0.01 -s 1400 10.8.0.2");
            let iw = shell("(iw dev wlan0 info; iw dev wlan0 station dump) | tee /tmp/wlan0.txt");
            let scenarios =
                ["wlan0.txt", "wlan0"].map(|from| shell(&format!("cd /tmp; /tmp/sluice scenario-from {from}")));
            let [of_iw, own] = scenarios.map(|text| text.replacen(text.lines().nth(1).unwrap(), "", 1));
            let doctor = shell("/tmp/sluice doctor wlan0");
            if of_iw == own && doctor.lines().any(|line| line.starts_with("wlan0 ") && line.contains(mode)) {
                break (iw, own, doctor);
            }
            assert!(now() < until, "{mode}: {iw}\n{of_iw}\n{own}\n{doctor}");
        };
        println!("{iw}{doctor}");
        assert!(own.contains(&format!("standard = \"{standard}\"")), "{own}");
        let power = iw.lines().find_map(|line| line.trim().strip_prefix("txpower ")?.strip_suffix("0 dBm")).unwrap();
        // The card of these radios has 802.11be.
        let network = format!(
            "ok   network: access point on {said}, {power} dBm, by a card of 802.11be; stations: 1 of {standard}"
        );
        assert!(doctor.contains(&network), "{network}: {doctor}");
        let json: serde_json::Value = serde_json::from_str(&shell("/tmp/sluice doctor wlan0 --json")).unwrap();
        let air = &json["wireless"]["wlan0"];
        assert_eq!((&air["station_count"], &air["channel_mhz"]), (&1.into(), &frequency.into()));
        let received = &air["stations"][0]["received_mode"];
        assert!(mode.contains(&format!("MCS {}, {} streams, ", received["mcs"], received["streams"])), "{received}");
        // And from the other side, where the one in the list is the access point.
        let other = at(1, "/tmp/sluice doctor wlan1");
        assert!(other.contains("network: station on channel"), "{other}");
        assert!(at(1, "/tmp/sluice scenario-from wlan1").contains("role = \"access-point\""));
        unload();
        shell("iw reg set 00");
    }
}

/// What `lane_of` takes over from mac80211: categories of code points, and that a tag hides them.
#[test]
#[ignore = "needs the guest"]
fn mac80211_gives_packets_the_access_category_of_the_table() {
    const BY_NUMBER: [&str; 4] = ["voice", "video", "best-effort", "background"];
    cell(SLOW, 2_412, "", "ht-mcs-2.4 12");
    shell("modprobe 8021q; ip link add link wlan0 name tagged type vlan id 7 egress-qos-map 0:6 2:6 4:6 6:6");
    shell("ip addr add 10.9.0.1/24 dev tagged; ip link set tagged up");
    shell(
        "for to in '10.8.0.2 dev wlan0' '10.9.0.2 dev tagged'; do ip neigh replace $to lladdr 02:00:00:00:01:00; done",
    );
    let phy = shell("cat /sys/class/net/wlan0/phy80211/name");
    let file = format!("/sys/kernel/debug/ieee80211/{}/netdev:wlan0/stations/02:00:00:00:01:00/aqm", phy.trim());
    // A line for each queue: its category is the second word, packets that left it the eleventh.
    let left = || {
        std::fs::read_to_string(&file).unwrap().lines().skip(1).fold([0_u64; 4], |mut left, line| {
            let words: Vec<&str> = line.split_whitespace().collect();
            left[words[1].parse::<usize>().unwrap()] += words[10].parse::<u64>().unwrap();
            left
        })
    };
    let socket = std::net::UdpSocket::bind("0.0.0.0:0").unwrap();
    let category = |dscp: u8, to: &str| {
        rustix::net::sockopt::set_ip_tos(&socket, dscp << 2).unwrap();
        let before = left();
        (0..5).for_each(|_| assert_eq!(socket.send_to(&[0; 100], (to, 9)).unwrap(), 100));
        pause_until(now() + Duration::from_millis(20));
        let more: Vec<u64> = left().iter().zip(before).map(|(after, before)| after - before).collect();
        BY_NUMBER[more.iter().position(|more| *more >= 5).unwrap_or_else(|| panic!("{dscp}, {to}: {more:?}"))]
    };
    for (dscp, line) in (0..64).zip(include_str!("../lanes.csv").lines().skip(1)) {
        assert_eq!(line, format!("{dscp},{}", category(dscp, "10.8.0.2")));
        assert_eq!(category(dscp, "10.9.0.2"), "best-effort", "{dscp}, tagged");
    }
    unload();
}
