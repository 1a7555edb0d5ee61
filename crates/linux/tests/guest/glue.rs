//! What stands around the law in the kernel: the same packets to the discipline and to crate `queue`, which must count and drop
//! alike. Whose a packet is: `conformance_glue.rs`.

use super::slow_link::SlowLink;
use super::{HEADERS, MECHANISM, attack, dummy, install, load, now, pause_until, shell};
use control::{Limit, Measures};
use linux::device::bpf::{Order, Slot, Turns};
use queue::turns::Params;
use queue::{Departure, DisciplineName, Ecn, Packet, Queue, Settings};
use std::net::UdpSocket;
use units::{Bytes, Duration, Positive, Within};

#[derive(Clone, Copy)]
struct Sent {
    len: Bytes,
    flow: u64,
}

impl Packet for Sent {
    fn len(&self) -> Bytes {
        self.len
    }

    fn flow(&self) -> u64 {
        self.flow
    }

    fn ecn(&self) -> Ecn {
        Ecn::NotEct
    }

    fn mark(&mut self) {}
}

fn target() -> Positive<Duration> {
    Positive::<Duration>::new(Duration::from_millis(100)).unwrap()
}

fn turns(slot: &mut Slot) {
    slot.set_order(Order::Turns(Turns { target: target(), bulk: None, by_station: false })).unwrap();
}

/// Packets and bytes that came, were dropped, and wait.
type Accounts = [(u64, u64); 3];

/// What crate `queue` counts of these packets, of which so many leave as they come.
fn counted(packets: &[(u16, usize)], leave: u64, limit: u32) -> Accounts {
    let turns = Some(Params { target_delay: target(), flows: Within::<u32, 1, 65_536>::new(65_536).unwrap() });
    let settings =
        Settings { discipline: DisciplineName::Turns, limit: Limit::Packets(limit), turns, ..Settings::default() };
    let mut queue: Queue<Sent> = settings.build(1).unwrap().0;
    let (mut arrived, mut dropped, mut left) = ((0, 0), (0, 0), 0);
    for (flow, len) in packets {
        let len = Bytes::new(*len as u64);
        arrived = (arrived.0 + 1, arrived.1 + len.count());
        queue.enqueue(now(), Sent { len, flow: (*flow).into() }, &mut |gone: Sent| {
            dropped = (dropped.0 + 1, dropped.1 + gone.len.count());
        });
        if left < leave {
            let Departure { .. } = queue.take(now(), 0, &mut |_| ()).unwrap();
            left += 1;
        }
    }
    [arrived, dropped, (queue.backlog().packets, queue.backlog().bytes.count())]
}

#[test]
#[ignore = "needs the guest"]
fn the_same_packets_are_counted_and_dropped_as_in_crate_queue() {
    for limit in [20, 60] {
        let discipline = load();
        // Nothing leaves once the terminal is full.
        let link = SlowLink::new(1_000);
        let mut slot = discipline.free_slot(MECHANISM, Measures::default(), now()).unwrap();
        turns(&mut slot);
        slot.set_limit(Limit::Packets(limit)).unwrap();
        install(&mut slot, "sl0");
        slot.take_interval(now()).unwrap();
        let socket = UdpSocket::bind("0.0.0.0:0").unwrap();
        // Some flows send longer packets, some more of them.
        let packets: Vec<(u16, usize)> =
            (0..300_u16).map(|number| (number % 7 % 5, 28 + usize::from(number) * 397 % 1_300)).collect();
        for (flow, len) in &packets {
            socket.send_to(&vec![0; len - HEADERS], ("10.9.9.2", 20_000 + flow)).unwrap();
        }
        let seen = slot.take_interval(now()).unwrap();
        let of = |packets, bytes: Bytes| (packets, bytes.count());
        let accounts = [
            of(seen.arrived.packets, seen.arrived.bytes),
            of(seen.dropped.packets, seen.dropped.bytes),
            of(seen.backlog.packets, seen.backlog.bytes),
        ];
        println!("limit {limit}: came, were dropped, wait: {accounts:?}; {} left", seen.sent.packets);
        assert!(seen.sent.packets < 100 && seen.dropped.packets > 100, "{seen:?}");
        assert_eq!(accounts, counted(&packets, seen.sent.packets, limit));
        let shown = shell("tc -s qdisc show dev sl0 root");
        assert!(shown.contains(&format!(" {}p ", seen.backlog.packets)), "{shown}");
        link.end();
        drop(slot);
        discipline.unload().unwrap();
    }
}

/// A large packet (GSO) counts once in packets, with the bytes of its segments and, as the kernel counts, a header of the link
/// for each but the first.
#[test]
#[ignore = "needs the guest"]
fn a_large_packet_counts_once_and_with_the_bytes_of_its_segments() {
    const ETHERNET: u64 = 14;
    dummy("one", 1);
    let discipline = load();
    let mut slot = discipline.free_slot(MECHANISM, Measures::default(), now()).unwrap();
    turns(&mut slot);
    install(&mut slot, "one");
    slot.take_interval(now()).unwrap();
    // Eight pieces of 1000 B.
    shell(&format!("{} marks 10.9.1.2 10 1000", attack::ATTACKER));
    pause_until(now() + Duration::from_millis(10));
    let seen = slot.take_interval(now()).unwrap();
    let each = 8 * (1_000 + HEADERS as u64) + 7 * ETHERNET;
    assert_eq!((seen.arrived.packets, seen.arrived.bytes.count()), (10, 10 * each));
    assert_eq!((seen.sent.packets, seen.sent.bytes), (10, seen.arrived.bytes));
    shell("ip link del one");
    discipline.unload().unwrap();
}
