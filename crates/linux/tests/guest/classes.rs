//! Strict priority of real time, and the rate of best effort.
//!
//! The bounds follow from the link and the bucket; they were set before anything was measured. The link takes packets
//! in chunks of up to 4 KiB, 3.3 ms at 10 Mb/s, which is the longest wait of a packet that finds the terminal full.

use super::overload::LEN;
use super::program::{Program, nothing_is_left, queue, run, said};
use super::slow_link::{BELOW_THE_QUEUE, CHUNK, Received, SlowLink};
use super::{HEADERS, MECHANISM, install, load, now, pause_until, shell, towards};
use control::{Mark, Measures, Orders};
use linux::Start;
use linux::device::bpf::{Discipline, FOLDER, Slot};
use rustix::net::sockopt::set_ip_tos;
use std::net::UdpSocket;
use units::{Bytes, Duration, Instant, Rate};

/// 10 Mb/s.
const LINK: u64 = 1_250_000;
const REAL_TIME: u8 = 46;
const REAL_TIME_NEW: u8 = 47;
const SMALL: usize = 108;
/// Time between two packets of best effort (16 Mb/s), and of real time.
const OFFERED_EVERY: Duration = Duration::from_micros(500);
const REAL_TIME_EVERY: Duration = Duration::from_millis(20);
/// Burst of the discipline's leaky bucket, in bytes.
const BURST: u64 = 2_304;

fn begin(discipline: &Discipline, rate: Option<Rate>, late_after: Option<Duration>) -> Slot {
    let mut slot = discipline.free_slot(MECHANISM, Measures::default(), now()).unwrap();
    let orders = Orders { rate, ..MECHANISM.hard.into() };
    let (measures, every) = (Measures::default(), Duration::from_millis(1));
    slot.begin(&Start { orders, measures, late_after, classes: true, marks: false, hops: false, every, at: now() })
        .unwrap();
    install(&mut slot, "sl0");
    slot.take_interval(now()).unwrap();
    slot
}

fn obey(slot: &mut Slot, rate: Rate) {
    slot.obey(&Orders { rate: Some(rate), ..MECHANISM.hard.into() }).unwrap();
}

fn of_class(dscp: u8) -> UdpSocket {
    let socket = towards(9);
    set_ip_tos(&socket, dscp << 2).unwrap();
    socket
}

fn send(socket: &UdpSocket, length: usize) {
    let mut payload = [0; LEN - HEADERS];
    payload[..8].copy_from_slice(&now().as_nanos().to_be_bytes());
    socket.send(&payload[..length - HEADERS]).unwrap();
}

/// Sends both classes until a time; returns how many packets of each.
fn offer(until: Instant, sockets: [&UdpSocket; 2]) -> [u64; 2] {
    let (mut next, mut next_real_time, mut offered) = (now(), now(), [0; 2]);
    while now() < until {
        send(sockets[0], LEN);
        offered[0] += 1;
        if next_real_time <= now() {
            send(sockets[1], SMALL);
            offered[1] += 1;
            next_real_time += REAL_TIME_EVERY;
        }
        next += OFFERED_EVERY;
        pause_until(next);
    }
    offered
}

impl Received {
    /// Times at which packets of a class were sent and received.
    fn of(&self, dscp: u8) -> Vec<(Instant, Instant)> {
        let both = self.delays.iter().zip(&self.tos);
        both.filter(|(_, tos)| **tos >> 2 == dscp).map(|((sent, delay), _)| (*sent, *sent + *delay)).collect()
    }
}

/// Returns the bytes received in a span of time; all packets have this length.
fn came(packets: &[(Instant, Instant)], from: Instant, to: Instant) -> u64 {
    packets.iter().filter(|(_, came)| (from..to).contains(came)).count() as u64 * LEN as u64
}

fn in_order(packets: &[(Instant, Instant)]) {
    assert!(packets.is_sorted(), "packets of a class overtook each other");
}

#[test]
#[ignore = "needs the guest"]
fn best_effort_keeps_to_its_rate_and_real_time_does_not_wait_behind_it() {
    let second = Duration::from_secs(1);
    let discipline = load();
    let link = SlowLink::new(LINK);
    let (best_effort, real_time) = (of_class(0), of_class(REAL_TIME));
    let mut slot = begin(&discipline, Some(Rate::mbps(2)), None);
    let mut phases = Vec::new();
    let mut offered = [0; 2];
    for rate in [Rate::mbps(2), Rate::kbps(500), Rate::mbps(5)] {
        obey(&mut slot, rate);
        let begun = now();
        for _ in 0..2 {
            let [more, more_real_time] = offer(now() + second, [&best_effort, &real_time]);
            offered = [offered[0] + more, offered[1] + more_real_time];
            let seen = slot.take_interval(now()).unwrap();
            let class = slot.beside().class.unwrap();
            assert_eq!(class.sent.packets, class.arrived.packets);
            assert_eq!(slot.beside().real_time, Bytes::new(class.sent.packets * SMALL as u64));
            assert_eq!(slot.beside().real_time_new, Bytes::new(0));
            assert!(seen.backlog.packets > 900, "{}", seen.backlog.packets);
        }
        phases.push((rate, begun, now()));
    }
    // What leaves now waits in the terminal.
    obey(&mut slot, Rate::bps(1));
    pause_until(now() + Duration::from_millis(100));
    shell("tc qdisc del dev sl0 root");
    let received = link.end();
    discipline.unload().unwrap();
    let [best_effort, real_time] = [0, REAL_TIME].map(|dscp| received.of(dscp));
    in_order(&best_effort);
    in_order(&real_time);
    assert_eq!(real_time.len() as u64, offered[1], "none was lost");
    for (rate, begun, ended) in phases {
        let expected = rate.as_bps() as f64 / 8.0 * ended.since(begun).as_secs_f64();
        let came = came(&best_effort, begun, ended) as f64;
        // A burst, a packet, the terminal's contents, and one percent.
        let slack = (BURST + LEN as u64 + BELOW_THE_QUEUE) as f64 + expected / 100.0;
        println!("rate {rate}: {came} B came, {expected} B expected");
        assert!((came - expected).abs() <= slack, "rate {rate}: {came} B came, {expected} B expected");
    }
    // Packets of each class in the terminal, and the reader's chunk.
    let longest = real_time.iter().map(|(sent, came)| came.since(*sent)).max().unwrap();
    let waiting = best_effort.iter().map(|(sent, came)| came.since(*sent)).max().unwrap();
    println!("longest delay: real time {longest:?}, best effort {waiting:?}");
    assert!(longest <= Duration::from_nanos((CHUNK + 2 * LEN as u64) * 1_000_000_000 / LINK), "{longest:?}");
    assert!(waiting >= second, "{waiting:?}");
}

/// Sends best effort and packets of this class together, 16 Mb/s of each, into 10 Mb/s. Returns the bytes of best effort and of
/// the class that left, and what was received.
fn together(dscp: u8, seconds: u64) -> (u64, u64, Received) {
    let discipline = load();
    let link = SlowLink::new(LINK);
    let (best_effort, of_class) = (of_class(0), of_class(dscp));
    let mut slot = begin(&discipline, None, None);
    let mut next = now();
    let until = next + Duration::from_secs(seconds);
    while now() < until {
        send(&best_effort, LEN);
        send(&of_class, LEN);
        next += OFFERED_EVERY;
        pause_until(next);
    }
    let others = slot.take_interval(now()).unwrap().sent.bytes.count();
    let first = slot.beside().class.unwrap().sent.bytes.count();
    println!("of class {dscp}: {first} B, best effort: {others} B");
    shell("tc qdisc del dev sl0 root");
    let received = link.end();
    discipline.unload().unwrap();
    (others, first, received)
}

#[test]
#[ignore = "needs the guest"]
fn signalling_beyond_its_share_of_the_link_does_not_go_before_others() {
    /// From `class.h`, and 5 % in 1/256.
    const BURST: u64 = 16_384;
    const SHARE: u64 = 13;
    let (others, first, _) = together(48, 2);
    assert!(first > BURST / 2 && first <= BURST + (first + others) * SHARE / 256 + LEN as u64, "{first} and {others}");
}

#[test]
#[ignore = "needs the guest"]
fn real_time_beyond_its_share_of_the_link_does_not_starve_best_effort() {
    /// From `share.h`, and 75 % in 1/256.
    const BURST: u64 = 16_384;
    const SHARE: u64 = 192;
    let (others, first, received) = together(REAL_TIME, 3);
    in_order(&received.of(0));
    in_order(&received.of(REAL_TIME));
    // The burst passes before best effort has its share.
    let share = (first + others) * SHARE / 256;
    assert!(first >= share && first - share <= BURST * 256 / (256 - SHARE), "{first} and {others}");
}

#[test]
#[ignore = "needs the guest"]
fn after_a_pause_a_burst_and_a_packet_leave_at_once() {
    let discipline = load();
    let link = SlowLink::new(LINK);
    let slot = begin(&discipline, Some(Rate::kbps(100)), None);
    pause_until(now() + Duration::from_millis(500));
    let socket = of_class(0);
    let begun = now();
    for _ in 0..10 {
        send(&socket, LEN);
    }
    // A packet takes 80 ms at this rate.
    pause_until(begun + Duration::from_millis(20));
    // 0, 1000 and 2000 B are within the burst, 3000 B are not: the fourth packet waits.
    assert_eq!(slot.backlog().unwrap().packets, 7);
    // 696 B must drain until it leaves: 55.7 ms.
    pause_until(begun + Duration::from_millis(54));
    assert_eq!(slot.backlog().unwrap().packets, 7);
    pause_until(begun + Duration::from_millis(58));
    assert_eq!(slot.backlog().unwrap().packets, 6);
    link.end();
    discipline.unload().unwrap();
}

#[test]
#[ignore = "needs the guest"]
fn with_an_agent_that_is_silent_nothing_is_shaped_or_told_apart() {
    let discipline = load();
    let link = SlowLink::new(LINK);
    let slot = begin(&discipline, Some(Rate::kbps(8)), None);
    let (best_effort, real_time) = (of_class(0), of_class(REAL_TIME_NEW));
    for _ in 0..20 {
        send(&best_effort, LEN);
    }
    // One packet per second leaves, and after the first five the agent counts as dead: then all leave.
    pause_until(now() + Duration::from_millis(4_500));
    let held = slot.backlog().unwrap().packets;
    assert!((10..20).contains(&held), "{held}");
    pause_until(now() + Duration::from_millis(1_000));
    assert_eq!(slot.backlog().unwrap().packets, 0);
    send(&real_time, SMALL);
    pause_until(now() + Duration::from_millis(100));
    assert_eq!(link.end().of(REAL_TIME_NEW).len(), 1);
    discipline.unload().unwrap();
}

#[test]
#[ignore = "needs the guest"]
fn packets_that_the_driver_kept_waiting_count_as_late() {
    let discipline = load();
    let link = SlowLink::new(LINK);
    let mut slot = begin(&discipline, None, Some(Duration::from_millis(5)));
    let (best_effort, real_time) = (of_class(0), of_class(REAL_TIME));
    offer(now() + Duration::from_secs(1), [&best_effort, &real_time]);
    // A chunk takes at most 3.3 ms.
    slot.take_interval(now()).unwrap();
    assert_eq!(slot.beside().late, 0);
    // Now up to 33 ms, and a single packet 8 ms: at least the first of each chunk is late.
    link.set_rate(LINK / 10);
    pause_until(now() + Duration::from_millis(200));
    slot.take_interval(now()).unwrap();
    offer(now() + Duration::from_secs(1), [&best_effort, &real_time]);
    let seen = slot.take_interval(now()).unwrap();
    let (late, chunks) = (slot.beside().late, LINK / 10 / CHUNK);
    println!("{late} late of {}", seen.sent.packets);
    assert!(
        (chunks - 1..=seen.sent.packets + slot.beside().class.unwrap().sent.packets).contains(&late),
        "{late} packets"
    );
    // Of packets at a rate that the link carries none is late, however long they wait for their turn.
    obey(&mut slot, Rate::kbps(400));
    pause_until(now() + Duration::from_millis(200));
    slot.take_interval(now()).unwrap();
    offer(now() + Duration::from_secs(1), [&best_effort, &real_time]);
    let seen = slot.take_interval(now()).unwrap();
    assert!(seen.sent.packets > 40 && seen.backlog.packets > 900, "{seen:?}");
    assert_eq!(slot.beside().late, 0);
    link.end();
    discipline.unload().unwrap();
}

/// Sends ten packets from each socket of these code points and ECN fields. Returns how many of each arrived marked.
fn marked(discipline: &Discipline, slot: &mut Slot, mark: Mark, tos: &[u8]) -> Vec<usize> {
    let link = SlowLink::new(LINK);
    install(slot, "sl0");
    let index = std::fs::read_to_string("/sys/class/net/sl0/ifindex").unwrap().trim().parse().unwrap();
    discipline.mark(slot, Some(index)).unwrap();
    slot.take_interval(now()).unwrap();
    slot.obey(&Orders { mark, ..MECHANISM.hard.into() }).unwrap();
    let before = slot.marked().unwrap();
    let sockets: Vec<UdpSocket> = tos.iter().map(|tos| of_class(tos >> 2)).collect();
    for (socket, tos) in sockets.iter().zip(tos) {
        set_ip_tos(socket, *tos).unwrap();
        for _ in 0..10 {
            send(socket, SMALL);
        }
    }
    pause_until(now() + Duration::from_millis(200));
    let counted = slot.marked().unwrap() - before;
    let ports: Vec<u16> = sockets.iter().map(|socket| socket.local_addr().unwrap().port()).collect();
    let received = link.end();
    assert_eq!((received.delays.len(), received.wrong), (tos.len() * 10, 0));
    let all: Vec<usize> = (0..received.tos.len()).filter(|at| received.tos[*at] & 3 == 3).collect();
    assert_eq!(counted, all.len() as u64);
    ports.iter().map(|port| all.iter().filter(|at| received.port[**at] == *port).count()).collect()
}

#[test]
#[ignore = "needs the guest"]
fn real_time_that_is_capable_of_it_is_marked_as_ordered() {
    /// ECT(0) and ECT(1).
    const CAPABLE: u8 = 2;
    const ALSO_CAPABLE: u8 = 1;
    let tos = [REAL_TIME << 2 | CAPABLE, REAL_TIME_NEW << 2 | ALSO_CAPABLE, REAL_TIME << 2, CAPABLE, 40 << 2 | CAPABLE];
    let discipline = load();
    let mut slot = discipline.free_slot(MECHANISM, Measures::default(), now()).unwrap();
    let (measures, every) = (Measures::default(), Duration::from_millis(1));
    let (orders, late_after) = (MECHANISM.hard.into(), None);
    slot.begin(&Start { orders, measures, late_after, classes: true, marks: true, hops: false, every, at: now() })
        .unwrap();
    let mut marked = |mark: Mark, tos: &[u8]| marked(&discipline, &mut slot, mark, tos);
    assert_eq!(marked(Mark::None, &tos), [0, 0, 0, 0, 0]);
    assert_eq!(marked(Mark::All, &tos), [10, 10, 0, 0, 0]);
    assert_eq!(marked(Mark::NewOfSet { of: 1, index: 0 }, &tos), [0, 10, 0, 0, 0]);
    // All packets of a flow belong to one set, and about one flow in four to this set.
    let flows = vec![REAL_TIME << 2 | CAPABLE; 64];
    let of_set = marked(Mark::Set { of: 4, index: 1 }, &flows);
    let hit = of_set.iter().filter(|packets| **packets == 10).count();
    assert!(of_set.iter().all(|packets| [0, 10].contains(packets)), "{of_set:?}");
    assert!((4..=32).contains(&hit), "{hit} of 64 flows are of one set in four");
    discipline.mark(&slot, None).unwrap();
    discipline.unload().unwrap();
}

#[test]
#[ignore = "needs the guest"]
fn swan_mark_attaches_and_its_program_goes_with_it() {
    let link = SlowLink::new(LINK);
    let before = shell("tc -j qdisc show dev sl0");
    let attach = "attach sl0 --backend bpf --controller swan_mark";
    let program = Program::attached(attach, "sl0");
    let is_mark = |name: &str| name.starts_with("mark-");
    let pinned = || std::fs::read_dir(FOLDER).unwrap().any(|one| is_mark(&one.unwrap().file_name().to_string_lossy()));
    let until = now() + Duration::from_secs(5);
    while !pinned() && now() < until {
        pause_until(now() + Duration::from_millis(10));
    }
    assert!(pinned(), "{}", said());
    program.stop();
    nothing_is_left();
    // And after a kill.
    Program::attached(attach, "sl0").kill();
    assert_eq!(run("detach sl0"), Some(0));
    assert_eq!(shell("tc -j qdisc show dev sl0"), before);
    nothing_is_left();
    link.end();
}

#[test]
#[ignore = "needs the guest"]
fn swan_rate_governs_an_interface_and_all_of_it_goes_with_its_agent() {
    let link = SlowLink::new(LINK);
    shell("tc qdisc replace dev sl0 root handle 7: pfifo limit 77");
    let before = shell("tc -j qdisc show dev sl0");
    assert_eq!(run("attach sl0 --backend fifo --controller swan_rate"), Some(2));
    assert!(said().contains("swan_rate needs the MAC delay of each packet, which pfifo cannot measure"), "{}", said());
    assert_eq!(shell("tc -j qdisc show dev sl0"), before);
    assert_eq!(run("attach sl0 --backend fifo --controller none --classes"), Some(2));
    assert!(said().contains("has service classes"), "{}", said());
    let program = Program::attached("attach sl0 --backend bpf --controller swan_rate --set limit=1000", "sl0");
    let (best_effort, real_time) = (towards(9), of_class(REAL_TIME));
    let mut next = now();
    let end = now() + Duration::from_secs(5);
    while now() < end {
        // 100 kb/s.
        send(&best_effort, LEN);
        send(&real_time, SMALL);
        next += Duration::from_millis(80);
        pause_until(next);
    }
    shell("/tmp/sluice status --json > /tmp/status");
    let status: serde_json::Value = serde_json::from_str(&std::fs::read_to_string("/tmp/status").unwrap()).unwrap();
    let status = &status[0];
    let rate = status["rate_bps"].as_f64().unwrap();
    // No packet is late, so the rate grows by 35 kb/s or to a tenth above what left, whichever is less: the latter.
    let left = status["last"]["sent_bytes"].as_f64().unwrap() * 8.0 / status["last"]["length_s"].as_f64().unwrap();
    assert!((rate - left * 1.1).abs() <= 1.0 && rate > 35_000.0, "{rate} bit/s, {left} left");
    let sent = status["real_time"]["totals"]["sent_packets"].as_u64().unwrap();
    assert!((40..=63).contains(&sent), "{sent}");
    let shown = shell("/tmp/sluice status");
    assert!(shown.contains("best effort at most") && shown.contains("real time: 0 wait"), "{shown}");
    // A killed agent leaves the queue, and its rate for five seconds.
    program.kill();
    for _ in 0..100 {
        send(&best_effort, LEN);
    }
    assert!(queue("sl0").contains("sluice"));
    pause_until(now() + Duration::from_secs(7));
    assert!(shell("tc -s qdisc show dev sl0 root").contains("backlog 0b 0p"));
    assert_eq!(run("detach sl0"), Some(0));
    assert_eq!(shell("tc -j qdisc show dev sl0"), before);
    nothing_is_left();
    link.end();
}

#[test]
#[ignore = "needs the guest"]
fn a_full_queue_of_biased_discards_by_drop_precedence() {
    /// AF11 and AF13 (RFC 2597).
    const KEPT: u8 = 10;
    const DROPPED_FIRST: u8 = 14;
    let link = SlowLink::new(LINK);
    let before = queue("sl0");
    for refused in ["--classes", "--set purge=head"] {
        assert_eq!(run(&format!("attach sl0 --backend bpf --set discipline=biased {refused}")), Some(2));
        assert!(said().contains("discards by priority alone"), "{}", said());
    }
    let program = Program::attached("attach sl0 --backend bpf --set discipline=biased --set limit=50", "sl0");
    let sockets = [KEPT, DROPPED_FIRST].map(of_class);
    let (mut next, mut offered) = (now(), 0);
    let until = next + Duration::from_secs(2);
    // 8 Mb/s of each.
    while now() < until {
        for socket in &sockets {
            send(socket, LEN);
        }
        offered += 1;
        next += OFFERED_EVERY * 2;
        pause_until(next);
    }
    pause_until(now() + Duration::from_millis(200));
    program.stop();
    assert_eq!(queue("sl0"), before);
    nothing_is_left();
    let received = link.end();
    let [kept, dropped] = [KEPT, DROPPED_FIRST].map(|dscp| received.of(dscp));
    println!("of {offered} each, {} and {} came", kept.len(), dropped.len());
    in_order(&kept);
    in_order(&dropped);
    assert_eq!(kept.len(), offered);
    assert!((offered / 8..offered / 2).contains(&dropped.len()), "{}", dropped.len());
}
