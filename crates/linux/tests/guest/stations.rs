//! Readings of the stations of a mac80211 interface, compared with the kernel's tools.

use super::chain::{Chain, Sink, send};
use super::program::Program;
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
    assert!(doctor.contains("no   airtime: the driver reports no airtime"), "{doctor}");
    assert!(doctor.contains("no   AQL: the driver has no airtime queue limits"), "{doctor}");
    assert!(doctor.contains("airtime not available: its driver reports no airtime"), "{doctor}");
    assert!(doctor.contains("no   channel: the driver does not report how long its channel is busy"), "{doctor}");
    let survey = shell("iw dev wlan0 survey dump");
    assert_eq!(air.channel.frequency.is_some(), survey.contains("[in use]"));
    program.signal("TERM");
    assert_eq!(program.end(), Some(0));
    chain.end();
}
