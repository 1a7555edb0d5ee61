//! What other users of the machine try against the discipline, and why it does no harm: for `make attack`.

use super::chain::{Chain, install_at};
use super::queues::{attach, start};
use super::{MECHANISM, dummy, install, load, now, number_of, pause_until, shell};
use control::Measures;
use linux::Device as _;
use linux::device::bpf::{Credit, Discipline, FOLDER, Slot};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use units::{Bytes, Duration};

/// A user without privilege.
const NOBODY: &str = "setpriv --reuid 65534 --regid 65534 --clear-groups";
/// A program of his, from `tests/live/attacker.c`.
pub(super) const ATTACKER: &str = "/tmp/attacker";
/// First bits of a mark, and of one past all queues, from `shared.h`.
const MARKS: std::ops::Range<u64> = 0x51c0 << 48..0x51d0 << 48;

/// Time stamps that the kernel shows to the sender of packets over the air.
fn shown(packets: u32, segment: u32) -> Vec<u64> {
    let said = shell(&format!("{NOBODY} {ATTACKER} marks 10.8.0.2 {packets} {segment}"));
    said.lines().map(|line| u64::from_str_radix(line, 16).unwrap()).collect()
}

/// Sends a packet of another interface with each of these departure times.
fn depart_at(times: impl Iterator<Item = u64>) {
    let lines: Vec<String> = times.map(|time| format!("{time:x}")).collect();
    std::fs::write("/tmp/times", lines.join("\n")).unwrap();
    shell(&format!("{NOBODY} {ATTACKER} depart-at 10.9.1.2 < /tmp/times"));
}

#[test]
#[ignore = "needs the guest"]
fn no_sender_is_shown_how_its_packets_are_known_and_none_can_complete_others() {
    let chain = Chain::new();
    dummy("one", 1);
    let discipline = load();
    let mut slot = discipline.free_slot(MECHANISM, Measures::default(), now()).unwrap();
    let credit = Credit { expiry: Duration::from_secs(100), ..Credit::default() };
    discipline.release_by(&mut slot, Some(credit)).unwrap();
    install_at(0, &mut slot);
    let plain = shown(40, 0);
    assert!(plain.len() >= 20, "{} of 40 time stamps came back", plain.len());
    assert!(plain.iter().all(|time| !MARKS.contains(time)), "{plain:x?}");
    // Pieces of large packets are known by marks, which their sender may see.
    let of_pieces = shown(10, 1_000);
    println!("{} time stamps of pieces, {:x?}", of_pieces.len(), of_pieces.first());
    // The radio reports no more data frames.
    chain.medium.swallow_one_in(1);
    slot.take_interval(now()).unwrap();
    shell(&format!("{NOBODY} {ATTACKER} marks 10.8.0.2 4 0; {NOBODY} {ATTACKER} marks 10.8.0.2 4 1000"));
    let below = |slot: &Slot| {
        let below = slot.below().unwrap();
        (below.taken, below.completed)
    };
    slot.take_interval(now()).unwrap();
    let held = below(&slot);
    assert!(held.0 > held.1, "{held:?}");
    // Each mark that was seen again, and in each place of the queue.
    let seen: Vec<u64> = of_pieces.iter().copied().filter(|time| MARKS.contains(time)).collect();
    depart_at(seen.iter().flat_map(|mark| (0..256).map(move |place| mark & !255 | place)));
    depart_at((0..256).map(|place| MARKS.start | place));
    pause_until(now() + Duration::from_millis(100));
    assert_eq!(below(&slot), held, "completions were forged");
    shell("tc qdisc del dev wlan0 root; ip link del one");
    discipline.unload().unwrap();
    chain.end();
}

#[test]
#[ignore = "needs the guest"]
fn whoever_has_a_network_namespace_of_his_own_gets_no_queue_of_ours_there() {
    let discipline = load();
    dummy("one", 1);
    dummy("two", 2);
    let mut slot = discipline.free_slot(MECHANISM, Measures::default(), now()).unwrap();
    let everything = |index: u32| {
        let each = "for n in 0 1 2 3 4 5 6 7 8 9 a b c d e f; do \
                    ! tc qdisc add dev x root handle 51c$n: sluice 2> /dev/null || exit 9; done";
        let make = format!("ip link add x index {index} type dummy; ip link set x up");
        shell(&format!("{NOBODY} unshare -Urn sh -ec '{make}; {each}'"));
    };
    // Before there is a queue, beside it, and after it: with the number of the very interface.
    let index = number_of("one");
    slot.announce(index, now()).unwrap();
    everything(index);
    everything(index + 100);
    install(&mut slot, "one");
    everything(index);
    assert_eq!(slot.interface().unwrap(), Some(index.into()));
    shell("tc qdisc del dev one root");
    slot.take_interval(now()).unwrap();
    everything(index);
    assert_eq!(slot.interface().unwrap(), None);
    // Not even root makes one elsewhere, or where no agent was heard for a while.
    shell("! tc qdisc add dev two root handle 51c0: sluice");
    shell("! tc qdisc add dev one root handle 51c1: sluice");
    pause_until(now() + Duration::from_secs(6));
    shell("! tc qdisc add dev one root handle 51c0: sluice");
    assert!(discipline.is_unused().unwrap());
    shell("ip link del one; ip link del two");
    discipline.unload().unwrap();
}

#[test]
#[ignore = "needs the guest"]
fn in_a_file_system_open_to_everybody_nobody_else_keeps_locks_or_removes_the_discipline() {
    let above = Path::new(FOLDER).parent().unwrap();
    let mode = std::fs::metadata(above).unwrap().mode();
    dummy("one", 1);
    shell(&format!("chmod 1777 {}", above.display()));
    // He is there first, and stays there, which keeps nobody away.
    for he in ["mkdir", "ln -s /etc"] {
        shell(&format!("{NOBODY} {he} {FOLDER}"));
        attach("one").unwrap().restore().unwrap();
        assert!(!Path::new(FOLDER).exists());
    }
    shell(&format!("rm -f {FOLDER}-*; mkdir -m 777 {FOLDER}"));
    let said = attach("one").unwrap_err().to_string();
    assert!(said.contains("can be written by other users"), "{said}");
    shell(&format!("rmdir {FOLDER}"));
    // He holds the folder above, which stops nobody.
    shell(&format!("{NOBODY} flock {} sleep 1000 > /dev/null 2>&1 &", above.display()));
    let mut device = attach("one").unwrap();
    assert_eq!(std::fs::metadata(FOLDER).unwrap().mode() & 0o7777, 0o700);
    shell(&format!("! {NOBODY} ls {FOLDER}; ! {NOBODY} rm -r {FOLDER}; ! {NOBODY} mv {FOLDER} {FOLDER}2"));
    shell(&format!("! {NOBODY} flock -n {FOLDER} true"));
    device.take_interval(now()).unwrap();
    device.restore().unwrap();
    assert!(!Path::new(FOLDER).exists());
    // Who is privileged and holds the folder of the discipline is waited for, for less time than a watchdog has.
    drop(load());
    shell(&format!("flock {FOLDER} sleep 1000 > /dev/null 2>&1 & sleep 0.1"));
    let begun = now();
    let said = attach("one").unwrap_err().to_string();
    assert!(said.contains("another program holds the lock"), "{said}");
    assert!(now().since(begun) < Duration::from_secs(10));
    shell("pkill -x sleep");
    Discipline::unload_unused(Path::new(FOLDER)).unwrap();
    assert!(!Path::new(FOLDER).exists());
    shell(&format!("chmod {:o} {}; ip link del one", mode & 0o7777, above.display()));
}

/// Real-time packets, their length in the network layer, and the interface by which they leave to this address.
const EXPEDITED: u64 = 20;
const LEN: u64 = 1_000;

/// Requires that all packets sent to an address are of real time at the queue of this interface, and that their bytes
/// are those of the network layer, `outside` more than the sender's own.
fn classed(device: &str, address: &str, outside: u64) {
    let discipline = load();
    let mut slot = discipline.free_slot(MECHANISM, Measures::default(), now()).unwrap();
    slot.begin(&linux::Start { classes: true, ..start() }).unwrap();
    install(&mut slot, device);
    slot.take_interval(now()).unwrap();
    let is_ipv6 = address.contains(':');
    let header = if is_ipv6 { 48 } else { 28 };
    let socket = std::net::UdpSocket::bind(if is_ipv6 { "[::]:0" } else { "0.0.0.0:0" }).unwrap();
    socket.connect((address, 9)).unwrap();
    if is_ipv6 {
        rustix::net::sockopt::set_ipv6_tclass(&socket, 46 << 2).unwrap();
    } else {
        rustix::net::sockopt::set_ip_tos(&socket, 46 << 2).unwrap();
    }
    for _ in 0..EXPEDITED {
        socket.send(&vec![0; usize::try_from(LEN - header).unwrap()]).unwrap();
    }
    slot.take_interval(now()).unwrap();
    assert_eq!(slot.beside().real_time, Bytes::new(EXPEDITED * (LEN + outside)), "{device}, {address}");
    shell(&format!("tc qdisc del dev {device} root"));
    discipline.unload().unwrap();
}

#[test]
#[ignore = "needs the guest"]
fn classes_and_bytes_are_read_where_the_network_layer_begins_on_each_kind_of_link() {
    dummy("one", 1);
    shell("ip addr add fd00:9::1/64 dev one nodad; ip neigh add fd00:9::2 lladdr 02:00:00:00:00:02 dev one");
    classed("one", "10.9.1.2", 0);
    classed("one", "fd00:9::2", 0);
    shell("modprobe -a 8021q ipip ip6_tunnel ppp_generic");
    shell(
        "ip link add link one name one.5 type vlan id 5; ip addr add 10.5.0.1/24 dev one.5; ip link set one.5 up arp off",
    );
    classed("one", "10.5.0.2", 0);
    // Twice tagged, and by a provider.
    shell("ip link add link one name pro type vlan proto 802.1ad id 6; ip link set pro up arp off");
    shell(
        "ip link add link pro name pro.7 type vlan id 7; ip addr add 10.6.0.1/24 dev pro.7; ip link set pro.7 up arp off",
    );
    classed("one", "10.6.0.2", 0);
    // A tunnel has no header of the link: its packets begin with that of the network layer.
    shell(
        "ip link add tun4 type ipip local 10.9.1.1 remote 10.9.1.2; ip addr add 10.7.0.1/24 dev tun4; ip link set tun4 up",
    );
    classed("tun4", "10.7.0.2", 0);
    shell("ip link add tun6 type ip6tnl mode ipip6 local fd00:9::1 remote fd00:9::2; ip link set tun6 up");
    shell("ip addr add 10.8.1.1/24 dev tun6");
    classed("tun6", "10.8.1.2", 0);
    // Outside, the tunnel's packets bear its own header, to which the code point is copied.
    shell("ip link change tun4 type ipip local 10.9.1.1 remote 10.9.1.2 tos inherit");
    classed("one", "10.7.0.2", 20);
    shell("[ -e /dev/ppp ] || mknod /dev/ppp c 108 0");
    shell(&format!("{ATTACKER} ppp > /tmp/ppp 2>&1 & until grep -q ppp0 /tmp/ppp; do sleep 0.1; done"));
    shell("ip addr add 10.4.0.1 peer 10.4.0.2 dev ppp0; ip link set ppp0 up");
    classed("ppp0", "10.4.0.2", 0);
    shell("pkill -x attacker; ip link del tun4; ip link del tun6; ip link del one");
}

#[test]
#[ignore = "needs the guest"]
fn two_places_of_one_interface_share_its_limit_of_segments_and_the_last_gives_it_back() {
    const LIMIT: &str = "ip -d link show one | grep -o 'gso_max_segs [0-9]*'";
    shell("modprobe sch_htb");
    dummy("one", 1);
    shell("tc qdisc replace dev one root handle 1: htb default 10");
    for class in ["10", "20"] {
        shell(&format!("tc class add dev one parent 1: classid 1:{class} htb rate 50mbit"));
        shell(&format!("tc qdisc add dev one parent 1:{class} handle {class}: pfifo limit 100"));
    }
    let before = shell(LIMIT);
    assert_ne!(before.trim(), "gso_max_segs 1");
    let attach = |class: &str| {
        let line = format!(
            "/tmp/sluice attach one --parent 1:{class} --backend fifo --gso-segments 1 > /dev/null 2>&1 & echo $!"
        );
        let process = shell(&line).trim().to_string();
        shell(&format!("until tc qdisc show dev one | grep -q ' parent 1:{class} limit 1000p'; do sleep 0.1; done"));
        process
    };
    let end = |process: &str, signal: &str| {
        shell(&format!("kill -{signal} {process}; while [ -e /proc/{process} ]; do sleep 0.1; done"));
    };
    for (first, second) in [("10", "20"), ("20", "10")] {
        let (one, two) = (attach(first), attach(second));
        end(&one, "TERM");
        assert_eq!(shell(LIMIT).trim(), "gso_max_segs 1", "the other still governs");
        end(&two, "TERM");
        assert_eq!(shell(LIMIT), before);
    }
    // A killed one is cleaned up after by hand, whichever ended first.
    let (one, two) = (attach("10"), attach("20"));
    end(&one, "KILL");
    end(&two, "TERM");
    shell("/tmp/sluice detach one --parent 1:10");
    assert_eq!(shell(LIMIT), before);
    shell("ip link del one");
}
