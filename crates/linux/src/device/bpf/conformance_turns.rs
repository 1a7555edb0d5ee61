//! Drives the law of `turns` with its queues in C and in crate `queue` side by side, and requires equal decisions.

use super::conformance::{Decision, InKernel, START, draw};
use super::mechanism::Mechanism;
use super::shared::{MANY_STATIONS, Measured, NO_AVERAGE, ONE_STATION, Station};
use control::{Limit, Measures};
use libbpf_rs::{MapCore, MapFlags};
use queue::turns::{Law, Params, Ports, Turn};
use queue::{Departure, DisciplineName, Ecn, End, Packet, Purge, Queue, Settings};
use units::{Bytes, Duration, Instant, Positive, Within};

const PROGRAM: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/turns_conformance.bpf.o"));
const STEPS: u32 = 6_000;
const LANES: usize = 4;
/// Flows of a port: few enough for different hashes on both sides. Other tests have more flows than a drop looks at.
const FEW: u64 = 6;
const MANY: u64 = 100;
const CROWD: u64 = 160;
/// Number of buckets of flows in the kernel; see `flows.h`.
const HASHED_FLOWS: u64 = 2_048 - 256;
const ROOM: u32 = 4_096;

#[derive(Clone, Copy, Debug)]
struct Flowing {
    number: u64,
    len: Bytes,
    flow: u64,
}

impl Packet for Flowing {
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

/// Stations of crate `queue`, each with the time that a byte to it takes.
struct InRust {
    law: Law,
    queues: Vec<Queue<Flowing>>,
    stations: Vec<Station>,
}

struct Asked<'q>(&'q [Queue<Flowing>], &'q [Station]);

impl Ports for Asked<'_> {
    fn waits(&self, port: usize) -> bool {
        !self.0[port].is_empty()
    }

    fn has_thin(&self, port: usize) -> bool {
        self.0[port].thin_packets() > 0
    }

    fn has_room(&self, _: usize) -> bool {
        true
    }

    fn turn(&self, port: usize) -> Turn {
        let Station { turn, packets, .. } = self.1[port / LANES];
        Turn { airtime: Duration::from_nanos(turn), packets: packets.try_into().unwrap() }
    }
}

fn queue(target: Positive<Duration>, limit: u32) -> Queue<Flowing> {
    let turns = Some(Params { target_delay: target, flows: Within::<u32, 1, 65_536>::new(65_536).unwrap() });
    let settings =
        Settings { discipline: DisciplineName::Turns, limit: Limit::Packets(limit), turns, ..Settings::default() };
    settings.build(1).unwrap().0
}

impl InRust {
    fn comes(&mut self, now: Instant, port: usize, packet: Flowing) -> Decision {
        let mut dropped = Vec::new();
        let queue = &mut self.queues[port];
        queue.set_pace(self.law.pace(now, port, packet.len));
        let before = queue.thin_packets();
        queue.enqueue(now, packet, &mut |packet: Flowing| dropped.push(packet.number));
        self.law.joined(now, port, packet.len, queue.thin_packets() > before);
        (Some(1), dropped)
    }

    /// Returns the packet that leaves, with its port and its airtime.
    fn goes(&mut self, now: Instant, category: usize) -> Option<(u64, usize, Duration)> {
        let Self { law, queues, stations } = self;
        let port = law.next(now, category, &Asked(queues, stations))?;
        let thin = queues[port].thin_packets() > 0;
        let Departure { packet, .. } = queues[port].take(now, 0, &mut |_| {}).unwrap();
        let Station { per_packet, per_byte, .. } = stations[port / LANES];
        let airtime = Duration::from_nanos(per_packet + per_byte * packet.len.count() / 1_000);
        law.released(now, port, packet.len, airtime, thin);
        Some((packet.number, port, airtime))
    }
}

/// Target delay, and the longest round.
type Times = (Positive<Duration>, Option<Positive<Duration>>);

/// The law in the kernel, and how many flows a port has.
struct Turns(InKernel, u64);

impl Turns {
    fn new(kind: u64, (target, bulk): Times, limit: u32, stations: &[Station], flows: u64) -> Option<Self> {
        let hard = Limit::Packets(limit);
        let mechanism =
            Mechanism { hard, fallback: hard, overflow: End::Head, purge: Purge::Head, burst: queue::LONGEST_PACKET };
        let mut kernel = InKernel::of(PROGRAM, "step", None, mechanism, Measures::default())?;
        kernel.settings.target_delay = target.get().as_nanos();
        kernel.settings.bulk_delay = bulk.map_or(0, |bulk| bulk.get().as_nanos());
        kernel.write();
        let start = START.as_nanos();
        let seen = Measured { idle_since: start, service_average: NO_AVERAGE, discipline: kind, ..Measured::default() };
        kernel.set("measured", &seen.to_bytes());
        let mut all: Vec<u8> = stations.iter().copied().flat_map(Station::to_bytes).collect();
        all.resize(kernel.map("stations").value_size() as usize, 0);
        kernel.map("stations").update(&0_u32.to_ne_bytes(), &all, MapFlags::ANY).unwrap();
        kernel.call([3, 0, 0, 0, 0, 0, 0, 0]);
        Some(Self(kernel, flows))
    }

    fn step(&self, call: [u64; 6]) -> Decision {
        let [call, now, port, hash, len, packet] = call;
        let [.., answer, dropped, _, _] = self.0.call([call, now, len, packet, 0, 0, port | hash << 32, 0]);
        let numbers = if dropped > 0 { self.0.words("dropped") } else { Vec::new() };
        ((answer != 0).then_some(answer), numbers[..usize::try_from(dropped).unwrap()].to_vec())
    }

    fn comes(&self, now: Instant, port: usize, packet: Flowing) -> Decision {
        let bucket = (port as u64 * self.1 + packet.flow) % HASHED_FLOWS;
        let hash = ((bucket << 32) + (1 << 31)) / HASHED_FLOWS;
        self.step([1, now.as_nanos(), port as u64, hash, packet.len.count(), packet.number])
    }

    fn goes(&self, now: Instant, category: usize) -> Option<u64> {
        let (packet, dropped) = self.step([0, now.as_nanos(), category as u64, 0, 0, 0]);
        assert!(dropped.is_empty());
        packet
    }

    fn completed(&self, now: Instant, port: usize, airtime: Duration) {
        self.step([2, now.as_nanos(), port as u64, 0, airtime.as_nanos(), 0]);
    }
}

fn packet(state: &mut u64, number: u64, flows: u64) -> Flowing {
    let len = if draw(state, 3) == 0 { 40 + draw(state, 100) } else { 200 + draw(state, 1_301) };
    Flowing { number, len: Bytes::new(len), flow: draw(state, flows) }
}

/// Returns the numbers of packets that left and that were dropped; `None` if programs cannot be loaded.
fn drive_stations((count, flows): (usize, u64), times: Times, seed: u64) -> Option<(u64, u64)> {
    let mut state = seed;
    let station = |number: u64, state: &mut u64| {
        // Rates from 6 Mb/s without aggregates to 600 Mb/s.
        let per_byte = 13_000 << draw(state, 7);
        let (per_packet, turn, packets) = if per_byte > 400_000 { (200_000, 0, 1) } else { (0, 3_600_000, 64) };
        Station { address: number + 1, per_byte, per_packet, turn, packets }
    };
    let stations: Vec<Station> = (0..count as u64).map(|number| station(number, &mut state)).collect();
    let kernel = Turns::new(MANY_STATIONS, times, ROOM, &stations, flows)?;
    let ports = count * LANES;
    let (target, bulk) = times;
    let queues = (0..ports).map(|_| queue(target, ROOM)).collect();
    let mut rust = InRust { law: Law::new(target, ports, LANES).with_bulk_delay(bulk), queues, stations };
    let (mut now, mut below) = (START, std::collections::VecDeque::new());
    let (mut left, mut lost) = (0, 0);
    for step in 0..STEPS {
        let context = format!("{count} stations, seed {seed}, step {step}");
        now += Duration::from_nanos(draw(&mut state, 300_000));
        // Half of the stations get most of the packets.
        let port =
            usize::try_from(draw(&mut state, if step % 4 == 0 { ports } else { ports.div_ceil(2) } as u64)).unwrap();
        match draw(&mut state, 100) {
            0..45 => {
                // Most packets are best effort.
                let port = if draw(&mut state, 4) > 0 { port / LANES * LANES + 2 } else { port };
                for burst in 0..=draw(&mut state, 3) {
                    let packet = packet(&mut state, u64::from(step) * 8 + burst + 1, flows);
                    let (kept, dropped) = rust.comes(now, port, packet);
                    lost += dropped.len() as u64;
                    assert_eq!(kernel.comes(now, port, packet), (kept, dropped), "{context}");
                }
            }
            45..75 => {
                let some = usize::try_from(draw(&mut state, LANES as u64)).unwrap();
                let category = if draw(&mut state, 2) == 0 { 2 } else { some };
                let gone = rust.goes(now, category);
                assert_eq!(kernel.goes(now, category), gone.map(|(number, ..)| number), "{context}");
                left += u64::from(gone.is_some());
                below.extend(gone.map(|(_, port, airtime)| (port, airtime)));
            }
            _ => {
                for _ in 0..=draw(&mut state, 2) {
                    if let Some((port, airtime)) = below.pop_front() {
                        kernel.completed(now, port, airtime);
                        rust.law.charge(now, port, airtime);
                        rust.law.completed(now, port, airtime);
                    }
                }
            }
        }
    }
    Some((left, lost))
}

/// Like [`drive_stations`], for the queue of one station, which measures the time that a byte takes.
fn drive_one(target: Positive<Duration>, (limit, flows): (u32, u64), seed: u64) -> Option<(u64, u64)> {
    let kernel = Turns::new(ONE_STATION, (target, None), limit, &[], flows)?;
    let mut rust = queue(target, limit);
    let (mut state, mut now, mut left, mut lost) = (seed, START, 0, 0);
    for step in 0..STEPS {
        let context = format!("seed {seed}, step {step}");
        if draw(&mut state, 8) > 0 {
            now += Duration::from_nanos(draw(&mut state, 3_000_000));
        }
        let arrivals = if step / 200 % 2 == 0 { 60 } else { 40 };
        if draw(&mut state, 100) < arrivals {
            let packet = packet(&mut state, u64::from(step) + 1, flows);
            let mut dropped = Vec::new();
            rust.enqueue(now, packet, &mut |packet: Flowing| dropped.push(packet.number));
            lost += dropped.len() as u64;
            let (kept, gone) = kernel.comes(now, 0, packet);
            // The host drops a packet if the queue has no room at all.
            let gone: Vec<u64> = gone.into_iter().chain(kept.is_none().then_some(packet.number)).collect();
            assert_eq!(gone, dropped, "{context}");
        } else {
            let gone = rust.take(now, 0, &mut |_| {}).map(|Departure { packet, .. }| packet.number);
            assert_eq!(kernel.goes(now, 0), gone, "{context}");
            left += u64::from(gone.is_some());
        }
    }
    Some((left, lost))
}

fn target(millis: u64) -> Positive<Duration> {
    Positive::<Duration>::new(Duration::from_millis(millis)).unwrap()
}

#[test]
fn the_law_in_c_decides_as_the_one_in_rust() {
    let mut all = (0, 0);
    // Each row has the number of stations, the target, and the longest round: far below what they need, or near it.
    for (seed, (count, flows, of, round)) in (1..).zip([
        (1, FEW, 100, None),
        (2, FEW, 100, None),
        (8, FEW, 100, None),
        (8, FEW, 5, None),
        (32, FEW, 100, None),
        (64, FEW, 100, None),
        (1, FEW, 100, Some(2)),
        (8, FEW, 100, Some(10)),
        (32, FEW, 20, Some(60)),
        (64, FEW, 100, Some(100)),
        (1, MANY, 100, None),
        (4, MANY, 20, None),
    ]) {
        let Some((left, lost)) = drive_stations((count, flows), (target(of), round.map(target)), seed) else {
            eprintln!("skipped: to load a program into the kernel needs CAP_BPF");
            return;
        };
        all = (all.0 + left, all.1 + lost);
    }
    assert!(all.0 > 4_000 && all.1 > 500, "{all:?} packets left and were dropped");
}

#[test]
fn the_queue_of_one_station_in_c_decides_as_the_one_in_rust() {
    let mut all = (0, 0);
    for (seed, limit, flows) in [
        (1, 1_000, FEW),
        (2, 1_000, FEW),
        (3, 20, FEW),
        (4, 1, FEW),
        (5, 1_000, MANY),
        (6, 50, MANY),
        (7, 5, CROWD),
        (8, 60, CROWD),
    ] {
        let Some((left, lost)) = drive_one(target(20 + 40 * (seed % 2)), (limit, flows), seed) else {
            eprintln!("skipped: to load a program into the kernel needs CAP_BPF");
            return;
        };
        all = (all.0 + left, all.1 + lost);
    }
    assert!(all.0 > 2_000 && all.1 > 500, "{all:?} packets left and were dropped");
}
