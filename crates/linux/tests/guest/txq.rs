//! The common limit of mac80211's queues, moved over nl80211 and read back with `iw`.

use super::chain::{Chain, Sink, send};
use super::queues::start;
use super::{now, pause_until, shell};
use control::Limit;
use linux::kernel::rtnetlink::ROOT;
use linux::{Device, Place, STATE_FOLDER, Txq, detach};
use units::Duration;

/// Returns the limit of wlan0's phy, as `iw` shows it.
fn limit() -> String {
    shell("iw phy $(cat /sys/class/net/wlan0/phy80211/name) get txq | sed -n 's/.*[Pp]acket limit:[^0-9]*\\([0-9]*\\).*/\\1/p'")
        .trim()
        .to_owned()
}

fn set(packets: u32) {
    shell(&format!("iw phy $(cat /sys/class/net/wlan0/phy80211/name) set txq limit {packets}"));
}

#[test]
#[ignore = "needs the guest"]
fn the_limit_of_a_phy_is_moved_read_back_and_put_back() {
    shell("modprobe mac80211_hwsim radios=1; ip link set wlan0 up");
    set(777);
    let before = (limit(), shell("tc -j qdisc show dev wlan0"));
    assert_eq!(before.0, "777");
    let place = Place { device: "wlan0".into(), parent: ROOT, state_folder: STATE_FOLDER.into() };
    let mut device = Txq::attach(&place, &start()).unwrap();
    assert_eq!(device.capabilities().kind, "txq");
    for packets in [100, 1] {
        device.apply(&Limit::Packets(packets).into()).unwrap();
        assert_eq!(limit(), packets.to_string());
        let seen = device.take_interval(now()).unwrap();
        assert_eq!((seen.backlog.packets, seen.dropped.packets), (0, 0), "nobody sends");
    }

    // There is one limit for all interfaces of the phy.
    shell("iw phy $(cat /sys/class/net/wlan0/phy80211/name) interface add wlan9 type managed");
    let other = Place { device: "wlan9".into(), ..place.clone() };
    let refused = Txq::attach(&other, &start()).err().unwrap().to_string();
    assert!(refused.contains("an agent already governs another interface of this phy"), "{refused}");
    shell("iw dev wlan9 del");

    set(50);
    let replaced = device.take_interval(now()).unwrap_err().to_string();
    assert!(replaced.contains("50 packets"), "{replaced}");
    device.restore().unwrap();
    // The other program's limit stays.
    assert_eq!((limit(), shell("tc -j qdisc show dev wlan0")), ("50".into(), before.1));
    drop(device);
    assert_eq!(detach(&place).unwrap(), None, "nothing is left to be put back");

    shell("modprobe dummy; ip link add d9 type dummy");
    let wire = Place { device: "d9".into(), ..place };
    let refused = Txq::attach(&wire, &start()).err().unwrap().to_string();
    assert!(refused.contains("d9 is not a Wi-Fi interface"), "{refused}");
    shell("ip link del d9; modprobe -r mac80211_hwsim");
}

/// The air carries far more than one packet in 10 ms. A mesh node sometimes sends a frame of its own, too.
#[test]
#[ignore = "needs the guest"]
fn what_leaves_for_a_station_is_counted() {
    let chain = Chain::new();
    let place = Place { device: "wlan0".into(), parent: ROOT, state_folder: STATE_FOLDER.into() };
    let sink = Sink::new();
    let mut device = Txq::attach(&place, &start()).unwrap();
    let sent = send(Duration::from_millis(10), now() + Duration::from_secs(2), || ());
    pause_until(now() + Duration::from_millis(100));
    let seen = device.take_interval(now()).unwrap();
    println!("{sent} packets: {seen:?}");
    assert_eq!(sink.end().len() as u64, sent);
    assert!((sent..sent + 10).contains(&seen.sent.packets), "{seen:?}");
    // With the headers of UDP and IP; those of a mesh are longer than those that are subtracted.
    let mean = seen.sent.bytes.count() / seen.sent.packets;
    assert!((1_000..1_060).contains(&mean), "{mean} B");
    assert_eq!((seen.dropped.packets, seen.backlog.packets), (0, 0));
    device.restore().unwrap();
    chain.end();
}
