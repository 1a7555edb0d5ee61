//! What a machine says of its radios: which come after the agent, how many interfaces each has, and whose modules they are.

use super::chain::at;
use super::program::{Program, run, said, until, until_said};
use super::{now, pause_until, shell};
use units::Duration;

const CONFIG: &str = "[interface.\"*wifi\"]\nbackend = \"knobs\"\n[interface.\"no-such-0\"]\nbackend = \"bfp\"\n";

/// Ends access points and stations in namespaces, and takes the radios away.
pub(super) fn unload() {
    shell("for n in $(ls /run/netns 2> /dev/null); do case $n in n[0-9]*) ip netns del $n;; esac; done");
    shell("! pidof hostapd > /dev/null || kill $(pidof hostapd) || true");
    shell(
        "! [ -d /sys/module/mac80211_hwsim ] || rmmod mac80211_hwsim; ! [ -d /sys/module/mac80211 ] || rmmod mac80211",
    );
}

/// Makes radios with AQL in the place of any that are there, by these parameters of the driver.
pub(super) fn with_aql(parameters: &str) {
    unload();
    shell("mountpoint -q /sys/kernel/debug || mount -t debugfs debugfs /sys/kernel/debug");
    // First what mac80211 depends on.
    shell("modprobe mac80211; rmmod mac80211; insmod /usr/lib/aql/mac80211.ko");
    shell(&format!("insmod /usr/lib/aql/mac80211_hwsim.ko {parameters}"));
}

/// Lets a station of a node join a network, whose name and frequency these are.
pub(super) fn join_at(node: usize, station: usize, network: &str) {
    until(&format!("wlan{station} joins"), || {
        at(node, &format!("iw dev wlan{station} connect {network} 2> /dev/null || true"));
        pause_until(now() + Duration::from_millis(200));
        at(node, &format!("iw dev wlan{station} link")).starts_with("Connected")
    });
}

/// Begins an access point with these settings.
pub(super) fn access_point(settings: &str) {
    std::fs::write("/tmp/hostapd.conf", format!("interface=wlan0\ndriver=nl80211\n{settings}")).unwrap();
    shell("hostapd -B /tmp/hostapd.conf > /tmp/hostapd.said || { cat /tmp/hostapd.said; false; }");
}

#[test]
#[ignore = "needs the guest"]
fn radios_that_come_after_the_agent_are_governed_one_interface_of_each() {
    unload();
    std::fs::write("/tmp/agent.toml", CONFIG).unwrap();
    let program = Program::start("agent --config /tmp/agent.toml");
    until_said("the agent ignores this table", 1);
    shell("modprobe mac80211_hwsim radios=2; ip link set wlan0 up; ip link set wlan1 up");
    until_said("wlan0 attached", 1);
    until_said("wlan1 attached", 1);
    // Another network of the first radio, as `wifi reload` makes them: the first one's settings hold for both.
    let phy = shell("cat /sys/class/net/wlan0/phy80211/name");
    shell(&format!("iw phy {} interface add wlan8 type managed; ip link set wlan8 up", phy.trim()));
    pause_until(now() + Duration::from_secs(2));
    assert!(!said().contains("wlan8 attached"), "{}", said());
    // Its interface goes: another one of the radio takes its place.
    shell("iw dev wlan0 del");
    until_said("wlan8 attached", 1);
    assert_eq!(said().matches("wlan1 attached").count(), 1, "{}", said());
    program.stop();
    unload();
}

/// As with iwlwifi, `ath10k_pci`, ath11k, rtw88 and rtw89: the module of the device's driver uses no mac80211 itself.
#[test]
#[ignore = "needs the guest"]
fn a_driver_of_several_modules_belongs_to_mac80211() {
    unload();
    shell("modprobe mac80211_hwsim radios=1; ip link set wlan0 up");
    shell("mount -t tmpfs none /sys/module/mac80211/holders");
    let doctor = shell("/tmp/sluice doctor wlan0 || true");
    assert!(doctor.contains("whose packets mac80211 takes at once"), "{doctor}");
    assert_eq!(run("attach wlan0 --backend fifo --controller ebdp"), Some(2), "{}", said());
    assert!(said().contains("no packet ever waits in this queue of wlan0"), "{}", said());
    shell("umount /sys/module/mac80211/holders");
    unload();
}
