//! Mesh nodes in a row (802.11s), whose inner nodes forward as IP routers: a mesh point that forwards by itself never
//! shows those packets to a queue discipline.

use super::medium::{Choices, Medium, SLOWEST};
use super::{now, number_of, pause_until, shell};
use linux::device::bpf::Slot;
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
use std::fs::File;
use std::net::UdpSocket;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{JoinHandle, spawn};
use units::{Duration, Instant};

/// Nodes of most tests; the first is in the tests' own namespace, the others in `n1` and `n2`. 10.8.0.1 to 10.8.0.3.
pub(super) const NODES: usize = 3;
/// Payload of a UDP packet, in bytes.
pub(super) const PAYLOAD: usize = 1_000;
const PORT: u16 = 4_000;
/// Longest time until all neighbours know each other: one undisturbed beacon of each, one per second.
const ACQUAINTED_WITHIN: Duration = Duration::from_secs(30);

pub(super) struct Chain {
    pub(super) medium: Medium,
    nodes: usize,
    former: Former,
}

/// Settings of the machine's own network namespace, with the first node; new namespaces copy TCP's. Restored on drop.
#[derive(Default)]
struct Former(Vec<(String, String)>);

impl Drop for Former {
    fn drop(&mut self) {
        for (file, value) in self.0.drain(..).rev() {
            std::fs::write(file, value).unwrap();
        }
    }
}

impl Chain {
    pub(super) fn new() -> Self {
        Self::of(NODES, SLOWEST)
    }

    /// Makes a chain of `nodes` nodes.
    pub(super) fn of(nodes: usize, choices: Choices) -> Self {
        // A test that failed left its own.
        shell("for n in $(ls /run/netns); do case $n in n?) ip netns del $n;; esac; done");
        shell("[ ! -d /sys/module/mac80211_hwsim ] || modprobe -r mac80211_hwsim");
        shell(&format!("modprobe mac80211_hwsim radios={nodes}"));
        let medium = Medium::new(nodes, choices);
        for node in 1..nodes {
            shell(&format!(
                "ip netns add n{node}; iw phy $(cat /sys/class/net/wlan{node}/phy80211/name) set netns name n{node}"
            ));
        }
        for node in 0..nodes {
            let device = format!("wlan{node}");
            // Few beacons, and paths that stay known: the model has neither. A test may choose any rate of 802.11b.
            let join = "mesh join chain freq 2412 NOHT basic-rates 1,2,5.5,11 beacon-interval 1000 mesh_fwding=0 \
                        mesh_hwmp_active_path_timeout=600000";
            at(node, &format!("iw dev {device} set type mp; ip link set {device} gso_max_segs 1 up"));
            at(node, &format!("iw dev {device} {join}; ip addr add 10.8.0.{}/24 dev {device}", node + 1));
            at(node, &format!("sysctl -qw net.ipv6.conf.{device}.disable_ipv6=1"));
            let settings = "net.ipv4.conf.all.send_redirects=0 net.ipv4.conf.all.accept_redirects=0";
            at(node, &format!("sysctl -qw net.ipv4.ip_forward=1 {settings} net.ipv4.conf.{device}.send_redirects=0"));
            for other in (0..nodes).filter(|other| choices.reaches(node, *other)) {
                let address = format!("02:00:00:00:{other:02x}:00");
                at(node, &format!("ip neigh add 10.8.0.{} lladdr {address} dev {device}", other + 1));
            }
            // To the ends by the next node.
            if node + 2 < nodes && !choices.reaches(node, nodes - 1) {
                at(node, &format!("ip route add 10.8.0.{nodes} via 10.8.0.{}", node + 2));
            }
            if node > 1 && !choices.reaches(node, 0) {
                at(node, &format!("ip route add 10.8.0.1 via 10.8.0.{node}"));
            }
        }
        let joined = now();
        shell(&format!("until ping -c 1 -W 1 10.8.0.{nodes} > /dev/null; do true; done"));
        let took = now().since(joined);
        assert!(took <= ACQUAINTED_WITHIN, "{took:?}");
        Self { medium, nodes, former: Former::default() }
    }

    /// Sets a setting below `/proc/sys/net/ipv4` at every node until the end of the chain.
    pub(super) fn set(&mut self, name: &str, value: &str) {
        let file = format!("/proc/sys/net/ipv4/{name}");
        self.former.0.push((file.clone(), std::fs::read_to_string(&file).unwrap()));
        for node in 0..self.nodes {
            at(node, &format!("echo \"{value}\" > {file}"));
        }
    }

    pub(super) fn end(self) {
        // While there is a medium, the radios wait for its answers.
        drop(self.medium);
        for node in 1..self.nodes {
            shell(&format!("ip netns del n{node}"));
        }
        shell("modprobe -r mac80211_hwsim");
    }
}

/// Runs a command at a node.
pub(super) fn at(node: usize, line: &str) -> String {
    match node {
        0 => shell(line),
        _ => shell(&format!("ip netns exec n{node} sh -ec '{line}'")),
    }
}

/// Makes our queue at a node.
pub(super) fn install_at(node: usize, slot: &mut Slot) {
    let device = format!("wlan{node}");
    inside(node, || slot.announce(number_of(&device), now()).unwrap());
    at(node, &format!("tc qdisc replace dev {device} root handle {:x}: sluice", slot.handle() >> 16));
}

/// Calls a function in the network namespace of a node.
pub(super) fn inside<T: Send>(node: usize, what: impl FnOnce() -> T + Send) -> T {
    let enter = || {
        if node > 0 {
            let space = File::open(format!("/run/netns/n{node}")).unwrap();
            move_into_link_name_space(space.as_fd(), Some(LinkNameSpaceType::Network)).unwrap();
        }
        what()
    };
    std::thread::scope(|scope| scope.spawn(enter).join().unwrap())
}

/// Receives at the end of the chain until it is stopped.
pub(super) struct Sink {
    thread: JoinHandle<Vec<(Instant, Duration)>>,
    ends: Arc<AtomicBool>,
}

impl Sink {
    pub(super) fn new() -> Self {
        std::fs::write("/proc/sys/net/core/rmem_default", "4194304").unwrap();
        let socket = inside(2, || UdpSocket::bind(("0.0.0.0", PORT)).unwrap());
        socket.set_read_timeout(Some(std::time::Duration::from_millis(50))).unwrap();
        let ends = Arc::new(AtomicBool::new(false));
        let told = Arc::clone(&ends);
        let receive = move || {
            let mut received = Vec::new();
            let mut payload = [0; PAYLOAD];
            while !told.load(Ordering::Relaxed) {
                if socket.recv(&mut payload).is_ok() {
                    let sent = Instant::from_nanos(u64::from_be_bytes(payload[..8].try_into().unwrap()));
                    received.push((sent, now().since(sent)));
                }
            }
            received
        };
        Self { thread: spawn(receive), ends }
    }

    /// Send time and delay of each packet.
    pub(super) fn end(self) -> Vec<(Instant, Duration)> {
        self.ends.store(true, Ordering::Relaxed);
        self.thread.join().unwrap()
    }
}

/// Sends from the first node to the last; `each` runs before every packet. Returns how many packets were sent.
pub(super) fn send(every: Duration, until: Instant, mut each: impl FnMut()) -> u64 {
    // Enough for all packets of a queue; otherwise the socket would hold the sender back.
    std::fs::write("/proc/sys/net/core/wmem_default", "16777216").unwrap();
    let socket = UdpSocket::bind("0.0.0.0:0").unwrap();
    socket.connect(("10.8.0.3", PORT)).unwrap();
    let mut sent = 0;
    let mut next = now();
    while now() < until {
        each();
        let mut payload = [0; PAYLOAD];
        payload[..8].copy_from_slice(&now().as_nanos().to_be_bytes());
        socket.send(&payload).unwrap();
        sent += 1;
        next += every;
        pause_until(next);
    }
    sent
}
