//! Interfaces of all kinds for the stress, and traffic on those whose packets it does not count one by one.

use super::attack::ATTACKER;
use super::slow_link::SlowLink;
use super::stress::{Choices, attempt};
use super::turns::Cell;
use super::{now, pause_until, shell};
use rustix::net::sockopt::set_ip_tos;
use std::net::UdpSocket;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{JoinHandle, spawn};
use units::Duration;

/// Five interfaces take packets at once: `d0` and `d1` without another end (`d1` is sometimes renamed to `r1`, or moved), `v0` to
/// namespace `far`, `many` with four transmit queues, and `ppp0`. `sl0` is slow and pushes back, and `wlan0` belongs to an
/// access point with two stations.
pub(super) const INTERFACES: [&str; 8] = ["d0", "d1", "r1", "v0", "many", "ppp0", "sl0", "wlan0"];
/// An interface with a shaper, and its classes, each a place of its own.
pub(super) const SHAPED: &str = "two";
pub(super) const CLASSES: [&str; 2] = ["1:10", "1:20"];
/// Best effort, real time that was admitted a while ago and lately, signalling; all ECN-capable.
pub(super) const KINDS: [u8; 4] = [2, 46 << 2 | 2, 47 << 2 | 2, 40 << 2 | 2];
/// Receivers behind the interfaces of which the stress does not count each packet.
const UNCOUNTED: [&str; 5] = ["10.8.0.2:9", "10.8.0.3:9", "10.9.4.2:9", "10.9.5.2:9", "10.9.6.2:9"];
/// Answers probes of admission at the other end of `v0`.
const FAR: &str = "netns exec far /tmp/sluice agent --config /tmp/far.toml --state /tmp/far";

pub(super) fn dummy(name: &str) {
    let network = if name == "d0" { 1 } else { 2 };
    attempt(&format!(
        "ip link add {name} type dummy; ip addr add 10.9.{network}.1/24 dev {name}; ip link set {name} up arp off"
    ));
}

pub(super) struct Ground {
    pub(super) link: SlowLink,
    cell: Cell,
    neighbour: Child,
    /// Settings of the cell's phy, and the interface's queue.
    before: String,
}

impl Ground {
    pub(super) fn new(bytes_per_second: u64) -> Self {
        shell("modprobe -a dummy ifb ppp_generic sch_fq_codel sch_htb; ip netns add far; ip netns add away");
        shell("sysctl -qw net.ipv6.conf.default.disable_ipv6=1 net.ipv6.conf.all.disable_ipv6=1");
        shell("ip link add v0 type veth peer name v1 netns far; ip addr add 10.9.3.1/24 dev v0; ip link set v0 up");
        shell("ip -n far addr add 10.9.3.2/24 dev v1; ip -n far link set v1 up");
        for name in ["d0", "d1"] {
            dummy(name);
        }
        shell("ip link add many numtxqueues 4 type ifb; ip addr add 10.9.4.1/24 dev many; ip link set many up arp off");
        shell("ip link add two type dummy; ip addr add 10.9.5.1/24 dev two; ip link set two up arp off");
        shell("tc qdisc replace dev two root handle 1: htb default 10");
        for class in CLASSES {
            shell(&format!("tc class add dev two parent 1: classid {class} htb rate 20mbit"));
        }
        shell("[ -e /dev/ppp ] || mknod /dev/ppp c 108 0");
        shell(&format!("{ATTACKER} ppp > /tmp/ppp 2>&1 & until grep -q ppp0 /tmp/ppp; do sleep 0.1; done"));
        shell("ip addr add 10.9.6.1 peer 10.9.6.2 dev ppp0; ip link set ppp0 up");
        let link = SlowLink::new(bytes_per_second);
        let cell = Cell::new(2, 1);
        // With this driver packets that AQL holds back leave when others come, not when a frame is done.
        shell("echo 0 > /sys/kernel/debug/ieee80211/$(cat /sys/class/net/wlan0/phy80211/name)/aql_enable");
        std::fs::write("/tmp/far.toml", "[admission]\ninterfaces = [\"v1\"]\n").unwrap();
        let neighbour = Command::new("ip").args(FAR.split(' ')).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        Self { link, cell, neighbour: neighbour.unwrap(), before: Self::of_cell() }
    }

    /// On a busy host stations may leave; no weight of one that is there may differ from the default.
    fn of_cell() -> String {
        shell(
            "phy=$(cat /sys/class/net/wlan0/phy80211/name); cat /sys/kernel/debug/ieee80211/$phy/aql_txq_limit \
             /sys/kernel/debug/ieee80211/$phy/aql_threshold; iw phy $phy get txq | grep -i 'packet limit:'; \
             iw dev wlan0 station dump | grep 'airtime weight' | grep -v 256 || true; tc -j qdisc show dev wlan0",
        )
    }

    /// Checks that the cell's settings are what they were, and removes all.
    pub(super) fn end(mut self) -> u64 {
        self.neighbour.kill().unwrap();
        self.neighbour.wait().unwrap();
        attempt("tc qdisc del dev wlan0 root");
        assert_eq!(Self::of_cell(), self.before);
        self.cell.end();
        let delivered = self.link.end().packets;
        shell("pkill -x attacker; ip link del two; ip link del many; ip link del v0; ip link del d0");
        shell("ip link del d1 || ip link del r1; ip netns del far; ip netns del away");
        delivered
    }
}

/// Sends packets of all kinds, in bursts, until it is told to end; returns the socket, which may still hold some.
pub(super) fn uncounted(seed: u64, enough: &Arc<AtomicBool>) -> JoinHandle<UdpSocket> {
    let (enough, mut choices) = (Arc::clone(enough), Choices(seed));
    spawn(move || {
        let socket = UdpSocket::bind("0.0.0.0:0").unwrap();
        while !enough.load(Ordering::Relaxed) {
            set_ip_tos(&socket, choices.of(&KINDS)).unwrap();
            let to = choices.of(&UNCOUNTED);
            for _ in 0..choices.below(60) {
                let length = usize::try_from(choices.below(1_400)).unwrap();
                // The interface may be down, or without a queue just now.
                let _ = socket.send_to(&[0; 1_400][..length], to);
            }
            pause_until(now() + Duration::from_nanos(choices.below(60_000_000)));
        }
        socket
    })
}
