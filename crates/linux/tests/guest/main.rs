//! Tests of the queue discipline in a kernel that takes it. They change its network: only in the guest of `tests/live`.
#![cfg(feature = "bpf")]
#![expect(clippy::unwrap_used, reason = "all of this is tests")]

mod admitted;
mod attack;
mod chain;
mod classes;
mod downloads;
mod forged;
mod glue;
mod governor;
mod ground;
mod holder;
mod hwsim;
mod instructions;
mod kernel_log;
mod kills;
mod knobs;
mod leaving;
mod medium;
mod mesh;
mod network;
mod overload;
mod parallel;
mod program;
mod queues;
mod radios;
mod rate_steps;
mod reload;
mod rivals;
mod slow_link;
mod stalled;
mod stations;
mod stress;
mod swan;
mod tables;
mod testbed;
mod traffic;
mod transfers;
mod turns;
mod txq;
mod witness;

use control::Limit;
use linux::device::bpf::{Discipline, FOLDER, Mechanism, Slot};
use queue::{End, Purge};
use std::net::UdpSocket;
use std::path::Path;
use std::process::Command;
use units::Instant;

const MECHANISM: Mechanism = Mechanism {
    hard: Limit::Packets(1_000),
    fallback: Limit::Packets(50),
    overflow: End::Tail,
    purge: Purge::Tail,
    burst: queue::LONGEST_PACKET,
};
/// IP and UDP headers.
const HEADERS: usize = 28;

fn load() -> Discipline {
    Discipline::load(Path::new(FOLDER), MECHANISM.hard).unwrap()
}

/// The kernel's monotonic clock.
fn now() -> Instant {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    Instant::from_nanos(u64::try_from(time.tv_sec).unwrap() * 1_000_000_000 + u64::try_from(time.tv_nsec).unwrap())
}

#[expect(clippy::disallowed_methods, reason = "links of a kernel take their time")]
fn pause_until(then: Instant) {
    std::thread::sleep(std::time::Duration::from_nanos(then.since(now().min(then)).as_nanos()));
}

/// Number of this run, if a comparison makes several: its random choices follow from it.
fn run_number() -> u64 {
    std::fs::read_to_string("/tmp/run").map_or(0, |text| text.trim().parse().unwrap())
}

fn shell(line: &str) -> String {
    let output = Command::new("sh").arg("-ec").arg(line).output().unwrap();
    let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    assert!(output.status.success(), "{line}: {said}");
    said
}

/// An interface that takes packets at once.
fn dummy(name: &str, network: u8) {
    shell("modprobe dummy");
    shell(&format!("ip link add {name} type dummy; ip addr add 10.9.{network}.1/24 dev {name}"));
    shell(&format!("ip link set {name} up arp off"));
}

/// Returns the number of an interface of this thread's network namespace.
fn number_of(name: &str) -> u32 {
    rustix::net::netdevice::name_to_index(UdpSocket::bind("0.0.0.0:0").unwrap(), name).unwrap()
}

fn install(slot: &mut Slot, name: &str) {
    slot.announce(number_of(name), now()).unwrap();
    shell(&format!("tc qdisc replace dev {name} root handle {:x}: sluice", slot.handle() >> 16));
}

/// Opens a socket whose packets leave by the interface of this network.
fn towards(network: u8) -> UdpSocket {
    // Enough for all packets of a queue; otherwise the socket would hold the sender back.
    std::fs::write("/proc/sys/net/core/wmem_default", "16777216").unwrap();
    let socket = UdpSocket::bind("0.0.0.0:0").unwrap();
    socket.connect(format!("10.9.{network}.2:9")).unwrap();
    socket
}

/// Returns the bytes of memory that packets of all UDP sockets hold until they are freed.
fn unsent() -> u64 {
    let sockets = std::fs::read_to_string("/proc/net/udp").unwrap();
    let queues = sockets.lines().skip(1).map(|line| line.split_whitespace().nth(4).unwrap());
    queues.map(|queues| u64::from_str_radix(queues.split(':').next().unwrap(), 16).unwrap()).sum()
}
