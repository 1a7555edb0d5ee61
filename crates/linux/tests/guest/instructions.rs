//! Cost of a packet in executed instructions: for the guest's clock `instructions`, on which one takes 1 ns.

use super::slow_link::SlowLink;
use super::{HEADERS, MECHANISM, dummy, install, load, now, pause_until, shell, towards, unsent};
use control::{Limit, Measures};
use libbpf_rs::query::ProgInfoIter;
use libbpf_rs::{MapCore, MapFlags, MapHandle, Program};
use linux::device::bpf::{Credit, Discipline, FOLDER, Mechanism, Order, Slot, Turns};
use std::net::UdpSocket;
use std::os::fd::AsRawFd;
use std::path::Path;
use units::{Duration, Instant};

const PACKETS: usize = 2_000;
/// The aim over pfifo, with everything on, set before there was anything to measure.
const MOST_OVER_PFIFO: u64 = 1_300;
/// What turns of many stations may cost. The aim was 1700, which they miss.
const MOST_WITH_TURNS: u64 = 2_150;
/// Stations beside those that are not named.
const STATIONS: u8 = 63;
/// A key of the hash by which the queue finds a station, with which 61 have a place: the median of keys.
const KEY: u64 = 0x94d0_49bb_1331_11eb;

/// Returns the median time of a `send` of 1000 bytes into an empty queue, until the device has the packet. It includes
/// one reading of the clock, for every discipline alike.
fn median(network: u8) -> u64 {
    median_of(&[towards(network)])
}

/// As [`median`], to one receiver after the other.
fn median_of(sockets: &[UdpSocket]) -> u64 {
    let cost = |number: usize| {
        let socket = &sockets[number % sockets.len()];
        let before: Instant = now();
        socket.send(&[0; 1_000 - HEADERS]).unwrap();
        now().since(before)
    };
    // The first packets fill the kernel's caches.
    let mut costs: Vec<Duration> = (0..PACKETS + 64).map(cost).skip(64).collect();
    costs.sort_unstable();
    costs[PACKETS / 2].as_nanos()
}

#[test]
#[ignore = "needs the guest and its clock 'instructions'"]
fn a_packet_costs_at_most_1300_instructions_more_than_in_pfifo() {
    shell("modprobe -a sch_fq_codel sch_fq sch_cake");
    let discipline = load();
    dummy("one", 1);
    println!("instructions per send, empty queue");
    let show = |kind: &str| {
        let cost = median(1);
        println!("{kind:16} {cost}");
        cost
    };
    show("noqueue");
    let mut plain = 0;
    for kind in ["pfifo", "pfifo_head_drop", "fq_codel", "fq", "cake"] {
        shell(&format!("tc qdisc replace dev one root {kind}"));
        let cost = show(kind);
        if kind == "pfifo" {
            plain = cost;
        }
    }
    shell("tc qdisc del dev one root");
    let measures = Measures { service_weight: Some(0.02), idle_threshold: 2 };
    let mut slot = discipline.free_slot(MECHANISM, measures, now()).unwrap();
    install(&mut slot, "one");
    let at_will = show("sluice");
    discipline.release_by(&mut slot, Some(Credit::default())).unwrap();
    let by_credit = show("sluice, credit");
    assert!(slot.below().unwrap().completed > PACKETS as u64);
    shell("tc qdisc replace dev one root pfifo");
    show("pfifo beside it");
    drop(slot);
    let turns = |by_station| Turns { target: queue::turns::Params::TARGET_DELAY, bulk: None, by_station };
    let mut slot = discipline.free_slot(MECHANISM, measures, now()).unwrap();
    slot.set_order(Order::Turns(turns(false))).unwrap();
    install(&mut slot, "one");
    let of_one = show("turns");
    shell("tc qdisc del dev one root");
    let mut slot = discipline.free_slot(MECHANISM, measures, now()).unwrap();
    slot.set_order(Order::Turns(turns(true))).unwrap();
    discipline.release_by(&mut slot, Some(Credit::default())).unwrap();
    let sockets = stations(slot.handle());
    install(&mut slot, "one");
    let first = median_of(&sockets[..1]);
    let all = median_of(&sockets);
    println!("turns, a station {first}\nturns, {STATIONS}      {all}");
    assert!(slot.below().unwrap().completed > PACKETS as u64);
    shell("ip link del one");
    discipline.unload().unwrap();
    assert!(at_will <= plain + MOST_OVER_PFIFO, "{at_will} against {plain}");
    assert!(by_credit <= plain + MOST_OVER_PFIFO, "{by_credit} by credit, against {plain}");
    assert!(
        of_one.max(first).max(all) <= plain + MOST_WITH_TURNS,
        "{of_one}, {first}, {all} with turns, against {plain}"
    );
}

/// Names stations of a queue, as an agent would, the first ones behind the last once more, and opens a socket to each.
fn stations(handle: u32) -> Vec<UdpSocket> {
    let map = MapHandle::from_pinned_path(Path::new(FOLDER).join("stations")).unwrap();
    let slot = (handle >> 16) - 0x51c0;
    let mut taken = [true; 64];
    taken[1..].fill(false);
    let (mut sockets, mut element) = (Vec::new(), [[0; 5]; 64]);
    element[0][0] = KEY;
    shell("ip link set one arp on");
    for station in 1..=STATIONS {
        let address = u64::from_le_bytes([2, 0, 0, 0, station, 0, 1, 0]);
        let first = usize::try_from(address.wrapping_mul(KEY) >> 58).unwrap();
        let Some(place) = (first..first + 8).map(|place| place % 64).find(|place| !taken[*place]) else {
            continue;
        };
        taken[place] = true;
        element[place] = [address, 100_000, 5_000, 3_600_000, 64];
        shell(&format!("ip neigh add 10.9.1.{} lladdr 02:00:00:00:{station:02x}:00 dev one", station + 1));
        let socket = UdpSocket::bind("0.0.0.0:0").unwrap();
        socket.connect(format!("10.9.1.{}:9", station + 1)).unwrap();
        sockets.push(socket);
    }
    let element: Vec<u8> = element.iter().cycle().take(71).flatten().flat_map(|word| word.to_ne_bytes()).collect();
    map.update(&slot.to_ne_bytes(), &element, MapFlags::ANY).unwrap();
    println!("{} stations named", sockets.len());
    sockets
}

/// What a link of this rate, in bytes per second, sends in the target fits into no flow of thousands.
const LINK: u64 = 1_250_000;
/// Most instructions of an enqueue that drops, with any number of flows: a hundred flows' cost before, 10,000 took 100,000.
const MOST_OF_A_DROP: u64 = 6_000;

/// Returns the mean time of a `send` to each of so many flows in turn, while more comes than leaves.
fn flooded(flows: u16, packets: usize) -> u64 {
    let socket = UdpSocket::bind("0.0.0.0:0").unwrap();
    rustix::net::sockopt::set_socket_send_buffer_size(&socket, 200_000_000).unwrap();
    let mut costs: Vec<Duration> = Vec::with_capacity(packets);
    for number in 0..packets {
        let port = 10_000 + u16::try_from(number % usize::from(flows)).unwrap();
        let before: Instant = now();
        // A full queue may refuse.
        let _ = socket.send_to(&[0; 150], ("10.9.9.2", port));
        costs.push(now().since(before));
    }
    let warm = costs.split_off(packets / 2);
    warm.iter().map(|cost| cost.as_nanos()).sum::<u64>() / warm.len() as u64
}

#[test]
#[ignore = "needs the guest and its clock 'instructions'"]
fn an_enqueue_costs_the_same_however_many_flows_wait() {
    shell("sysctl -qw kernel.bpf_stats_enabled=1 net.core.wmem_max=400000000; modprobe sch_fq_codel");
    let flows = [1, 100, 1_000, 10_000_u16];
    let mut most = 0;
    for kind in ["pfifo limit 1000", "fq_codel limit 1000"] {
        let link = SlowLink::new(LINK);
        shell(&format!("tc qdisc replace dev sl0 root {kind}"));
        for flows in flows {
            println!("{kind}, {flows} flows: {} instructions a send", flooded(flows, 20_000));
        }
        link.end();
    }
    for target in [100, 1_000] {
        let discipline = load();
        let link = SlowLink::new(LINK);
        let mut slot = discipline.free_slot(MECHANISM, Measures::default(), now()).unwrap();
        let target = units::Positive::<Duration>::new(Duration::from_millis(target)).unwrap();
        slot.set_order(Order::Turns(Turns { target, bulk: None, by_station: false })).unwrap();
        install(&mut slot, "sl0");
        for flows in flows {
            let mut send = 0;
            let (time, count) = calls("sluice_enqueue", || send = flooded(flows, 20_000));
            let (each, waiting) = (time / count.max(1), slot.backlog().unwrap());
            println!(
                "turns, {} ms, {flows} flows: {send} instructions a send, {each} an enqueue; {} packets wait, {} B",
                target.get().as_nanos() / 1_000_000,
                waiting.packets,
                waiting.bytes.count()
            );
            most = most.max(each);
        }
        link.end();
        drop(slot);
        discipline.unload().unwrap();
    }
    assert!(most <= MOST_OF_A_DROP, "{most}");
}

/// The largest hard limit, in packets.
const ROOM: u32 = 65_536;
/// Time for which a processor may receive without pause (`net.core.netdev_budget_usecs`), at one instruction per
/// nanosecond. Nothing may delay its other work for longer.
const LONGEST_HOLD: u64 = 2_000_000;

/// Time and calls of one of our programs until now, as the kernel counts them.
fn spent(program: &str) -> (u64, u64) {
    let found = ProgInfoIter::default().find(|one| one.name == program).unwrap();
    let program = Program::fd_from_id(found.id).unwrap();
    let shown = std::fs::read_to_string(format!("/proc/self/fdinfo/{}", program.as_raw_fd())).unwrap();
    let value = |name: &str| -> u64 {
        let line = shown.lines().find_map(|line| line.strip_prefix(name)).unwrap();
        line.trim_start_matches(':').trim().parse().unwrap()
    };
    (value("run_time_ns"), value("run_cnt"))
}

/// Calls a function; returns the mean time of a program's calls meanwhile, and their number.
fn calls(program: &str, during: impl FnOnce()) -> (u64, u64) {
    let before = spent(program);
    during();
    let after = spent(program);
    (after.0 - before.0, after.1 - before.1)
}

/// Fills a queue of this kind with as many packets as there may be, of many flows, and lowers its limit to ten. Returns the
/// longest calls for a packet that arrives, for one that leaves, and for a reset.
fn longest_calls(order: Option<Order>) -> [u64; 3] {
    shell("sysctl -qw kernel.bpf_stats_enabled=1 net.core.wmem_max=400000000");
    let many = Limit::Packets(ROOM);
    let mechanism = Mechanism { hard: many, fallback: many, ..MECHANISM };
    let discipline = Discipline::load(Path::new(FOLDER), many).unwrap();
    // Almost nothing leaves.
    let link = SlowLink::new(1_000);
    let mut slot = discipline.free_slot(mechanism, Measures::default(), now()).unwrap();
    if let Some(order) = order {
        slot.set_order(order).unwrap();
    }
    install(&mut slot, "sl0");
    let socket = UdpSocket::bind("0.0.0.0:0").unwrap();
    rustix::net::sockopt::set_socket_send_buffer_size(&socket, 200_000_000).unwrap();
    let mut number = 0;
    let mut send = || {
        number = (number + 1) % FLOWS;
        // A full queue may refuse.
        let _ = socket.send_to(&[0; 20], ("10.9.9.2", 10_000 + number));
    };
    let enough = u64::from(ROOM) - 1_000;
    let mut fill = |slot: &mut Slot| {
        slot.set_limit(many).unwrap();
        while slot.backlog().unwrap().packets < enough {
            (0..1_000).for_each(|_| send());
        }
        slot.set_limit(Limit::Packets(10)).unwrap();
    };
    fill(&mut slot);
    let mut arrival = 0;
    for _ in 0..20 {
        let (time, arrivals) = calls("sluice_enqueue", || {
            let _ = socket.send_to(&[0; 20], "10.9.9.2:9");
        });
        assert_eq!(arrivals, 1);
        arrival = arrival.max(time);
    }
    fill(&mut slot);
    let mut departure = 0;
    let until = now() + Duration::from_secs(20);
    while departure == 0 {
        assert!(now() < until, "nothing leaves");
        let (time, departures) = calls("sluice_dequeue", || pause_until(now() + Duration::from_millis(1)));
        departure = time.checked_div(departures).unwrap_or_default();
    }
    fill(&mut slot);
    let (reset, resets) = calls("sluice_reset", || {
        shell("ip link set sl0 down");
    });
    assert_eq!((resets, slot.backlog().unwrap().packets), (1, 0));
    // What the reset left goes with the queue.
    assert!(unsent() > 0);
    link.end();
    assert_eq!(slot.interface().unwrap(), None);
    let left = slot.take_interval(now()).unwrap();
    assert_eq!(left.arrived.packets, left.sent.packets + left.dropped.packets);
    assert_eq!(unsent(), 0);
    discipline.unload().unwrap();
    [arrival, departure, reset]
}

/// More than the queue tells apart.
const FLOWS: u16 = 10_000;

#[test]
#[ignore = "needs the guest and its clock 'instructions'"]
fn no_call_holds_the_processor_for_long_however_much_waits() {
    // So long that time drops nothing.
    let target = units::Positive::<Duration>::new(Duration::from_secs(10_000)).unwrap();
    for order in [None, Some(Order::Turns(Turns { target, bulk: None, by_station: false }))] {
        let kind = if order.is_some() { "turns" } else { "FIFO" };
        let longest = longest_calls(order);
        println!("{kind}, {ROOM} packets wait: instructions of an enqueue, a dequeue and a reset {longest:?}");
        assert!(longest.into_iter().all(|call| call <= LONGEST_HOLD), "{kind}: {longest:?}");
    }
}
