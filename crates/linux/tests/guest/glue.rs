//! What stands around the law in the kernel: the same packets to the discipline and to crate `queue`, which must count and drop
//! alike. Whose a packet is: `conformance_glue.rs`.

use super::slow_link::SlowLink;
use super::{HEADERS, MECHANISM, attack, dummy, install, load, now, pause_until, shell};
use control::{Limit, Measures};
use linux::device::bpf::{Order, Slot, Turns};
use queue::turns::Params;
use queue::{DisciplineName, Ecn, Packet, Queue, Settings};
use std::net::UdpSocket;
use units::{Bytes, Duration, Positive, Within};

#[derive(Clone, Copy)]
struct Sent {
    len: Bytes,
    flow: u16,
    number: u64,
}

impl Packet for Sent {
    fn len(&self) -> Bytes {
        self.len
    }

    fn flow(&self) -> u64 {
        self.flow.into()
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

/// What crate `queue` does with these packets, which all come before the first leaves: packets and bytes that came, were dropped,
/// and wait, and the numbers of those that wait in the order in which they leave.
fn in_crate_queue(packets: &[Sent], limit: u32) -> ([(u64, u64); 3], Vec<u64>) {
    let turns = Some(Params { target_delay: target(), flows: Within::<u32, 1, 65_536>::new(65_536).unwrap() });
    let settings =
        Settings { discipline: DisciplineName::Turns, limit: Limit::Packets(limit), turns, ..Settings::default() };
    let mut queue: Queue<Sent> = settings.build(1).unwrap().0;
    let (mut arrived, mut dropped) = ((0, 0), (0, 0));
    for sent in packets {
        arrived = (arrived.0 + 1, arrived.1 + sent.len.count());
        queue.enqueue(now(), *sent, &mut |gone: Sent| dropped = (dropped.0 + 1, dropped.1 + gone.len.count()));
    }
    let accounts = [arrived, dropped, (queue.backlog().packets, queue.backlog().bytes.count())];
    (accounts, std::iter::from_fn(|| Some(queue.take(now(), 0, &mut |_| ())?.packet.number)).collect())
}

#[test]
#[ignore = "needs the guest"]
fn the_same_packets_are_counted_and_dropped_as_in_crate_queue() {
    // Some flows send longer packets, some more of them. So few that two of them hardly ever have one hash.
    let one = |at: u16| Sent { len: Bytes::new(36 + u64::from(at) * 397 % 1_300), flow: at % 7 % 3, number: at.into() };
    let packets: Vec<Sent> = (1..=300).map(one).collect();
    for limit in [20, 60] {
        let discipline = load();
        let link = SlowLink::new(1_000);
        let socket = UdpSocket::bind("0.0.0.0:0").unwrap();
        let send = |Sent { len, flow, number }: Sent| {
            let mut payload = vec![0; usize::try_from(len.count()).unwrap() - HEADERS];
            payload[..8].copy_from_slice(&number.to_be_bytes());
            socket.send_to(&payload, ("10.9.9.2", 20_000 + flow)).unwrap();
        };
        // Nothing leaves once the terminal is full: else its driver, and not the queue, would say what waits together.
        (0..20).for_each(|_| send(Sent { len: Bytes::new(1_400), flow: 9, number: 0 }));
        pause_until(now() + Duration::from_millis(100));
        let mut slot = discipline.free_slot(MECHANISM, Measures::default(), now()).unwrap();
        turns(&mut slot);
        slot.set_limit(Limit::Packets(limit)).unwrap();
        install(&mut slot, "sl0");
        slot.take_interval(now()).unwrap();
        packets.iter().copied().for_each(send);
        let seen = slot.take_interval(now()).unwrap();
        let accounts = [seen.arrived, seen.dropped, seen.backlog].map(|of| (of.packets, of.bytes.count()));
        println!("limit {limit}: came, were dropped, wait: {accounts:?}");
        assert!(seen.sent.packets == 0 && seen.dropped.packets > 100, "{seen:?}");
        let shown = shell("tc -s qdisc show dev sl0 root");
        assert!(shown.contains(&format!(" {}p ", seen.backlog.packets)), "{shown}");
        link.set_rate(1_000_000);
        while slot.take_interval(now()).unwrap().backlog.packets > 0 {
            pause_until(now() + Duration::from_millis(100));
        }
        pause_until(now() + Duration::from_millis(500));
        let numbers = link.end().delays.into_iter().map(|(number, _)| number.as_nanos()).filter(|number| *number > 0);
        assert_eq!((accounts, numbers.collect()), in_crate_queue(&packets, limit));
        drop(slot);
        discipline.unload().unwrap();
    }
}

/// A large packet (GSO) counts once, with the bytes of its segments and of the link's header of each but the first.
#[test]
#[ignore = "needs the guest"]
fn a_large_packet_counts_once_and_with_the_bytes_of_its_segments() {
    const ETHERNET: u64 = 14;
    dummy("one", 1);
    // The kernel looks for routers there (RFC 4861), and that packet would count, too.
    shell("sysctl -qw net.ipv6.conf.one.disable_ipv6=1");
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
