//! What a machine says of its radios: which come after the agent, how many interfaces each has, and whose modules they are.

use super::program::{Program, run, said};
use super::{now, pause_until, shell};
use units::Duration;

/// Longest time for anything that is waited for.
const PATIENCE: Duration = Duration::from_secs(30);
const CONFIG: &str = "[interface.\"*wifi\"]\nbackend = \"knobs\"\n[interface.\"no-such-0\"]\nbackend = \"bfp\"\n";

fn unload() {
    shell(
        "! [ -d /sys/module/mac80211_hwsim ] || rmmod mac80211_hwsim; ! [ -d /sys/module/mac80211 ] || rmmod mac80211",
    );
}

/// Waits until the agent has said this so often.
fn until(words: &str, times: usize) {
    let until = now() + PATIENCE;
    while said().matches(words).count() < times {
        assert!(now() < until, "{words}: {}", said());
        pause_until(now() + Duration::from_millis(20));
    }
}

#[test]
#[ignore = "needs the guest"]
fn radios_that_come_after_the_agent_are_governed_one_interface_of_each() {
    unload();
    std::fs::write("/tmp/agent.toml", CONFIG).unwrap();
    let program = Program::start("agent --config /tmp/agent.toml");
    until("this interface is left out", 1);
    shell("modprobe mac80211_hwsim radios=2; ip link set wlan0 up; ip link set wlan1 up");
    until("wlan0 attached", 1);
    until("wlan1 attached", 1);
    // Another network of the first radio, as `wifi reload` makes them: the first one's settings hold for both.
    let phy = shell("cat /sys/class/net/wlan0/phy80211/name");
    shell(&format!("iw phy {} interface add wlan8 type managed; ip link set wlan8 up", phy.trim()));
    pause_until(now() + Duration::from_secs(2));
    assert!(!said().contains("wlan8 attached"), "{}", said());
    // Its interface goes: another one of the radio takes its place.
    shell("iw dev wlan0 del");
    until("wlan8 attached", 1);
    assert_eq!(said().matches("wlan1 attached").count(), 1, "{}", said());
    program.signal("TERM");
    assert_eq!(program.end(), Some(0), "{}", said());
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
    assert!(doctor.contains("of mac80211, which holds its packets"), "{doctor}");
    assert_eq!(run("attach wlan0 --backend fifo --controller ebdp"), Some(2), "{}", said());
    assert!(said().contains("nothing ever waits in this queue of wlan0"), "{}", said());
    shell("umount /sys/module/mac80211/holders");
    unload();
}
