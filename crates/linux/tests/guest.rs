//! The queue discipline in a kernel that takes it: run in the guest by `tests/live`, see there.
#![cfg(feature = "bpf")]

use control::{Interval, Limit, Measures};
use linux::bpf::{Discipline, Mechanism, Slot};
use queue::{End, Purge};
use std::net::UdpSocket;
use std::path::Path;
use std::process::Command;
use units::{Bytes, Instant};

const PINS: &str = "/sys/fs/bpf/sluice";
const MECHANISM: Mechanism = Mechanism {
    hard: Limit::Packets(100),
    fallback: Limit::Packets(50),
    overflow: End::Tail,
    purge: Purge::Tail,
};

fn now() -> Instant {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    Instant::from_nanos(u64::try_from(time.tv_sec).unwrap() * 1_000_000_000 + u64::try_from(time.tv_nsec).unwrap())
}

fn shell(line: &str) -> String {
    let output = Command::new("sh").arg("-c").arg(line).output().unwrap();
    let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    assert!(output.status.success(), "{line}: {said}");
    said
}

/// An interface that takes packets at once, with the queue of a slot on it.
fn dummy(name: &str, network: u8, slot: &Slot) {
    shell(&format!("ip link add {name} type dummy"));
    shell(&format!("ip addr add 10.9.{network}.1/24 dev {name}; ip link set {name} up arp off"));
    shell(&format!("tc qdisc replace dev {name} root handle {}: sluice", slot.number()));
}

fn send(network: u8, packets: u32) {
    let socket = UdpSocket::bind("0.0.0.0:0").unwrap();
    for _ in 0..packets {
        socket.send_to(&[0; 972], format!("10.9.{network}.2:9")).unwrap();
    }
}

fn balanced(interval: &Interval) {
    assert_eq!(interval.arrived.packets, interval.sent.packets + interval.dropped.packets + interval.backlog.packets);
}

#[test]
#[ignore = "needs the guest"]
fn two_interfaces_have_queues_and_counters_of_their_own() {
    let discipline = Discipline::load(Path::new(PINS), MECHANISM.hard).unwrap();
    let mut one = discipline.free_slot(MECHANISM, Measures::default(), now()).unwrap();
    dummy("one", 1, &one);
    let mut two = discipline.free_slot(MECHANISM, Measures::default(), now()).unwrap();
    dummy("two", 2, &two);
    assert_ne!(one.number(), two.number());
    one.take_interval(now()).unwrap();
    two.take_interval(now()).unwrap();
    send(1, 10);
    send(2, 30);
    let (first, second) = (one.take_interval(now()).unwrap(), two.take_interval(now()).unwrap());
    balanced(&first);
    balanced(&second);
    assert_eq!((first.sent.packets, second.sent.packets), (10, 30));
    // 972 B of payload, 8 B of UDP and 20 B of IP; the link's header does not count.
    assert_eq!(second.sent.bytes, Bytes::new(30 * 1_000));
    println!("{}", shell("tc -s qdisc show dev two"));
    shell("ip link del one; ip link del two");
    assert_eq!((one.interface().unwrap(), two.interface().unwrap()), (None, None));
    discipline.unload().unwrap();
    assert!(!Path::new(PINS).exists());
}
