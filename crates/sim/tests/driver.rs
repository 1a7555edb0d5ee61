//! A node whose queues are those of a kernel: frames come from outside, and each gets a status.

use crate::networks::network;
use proptest::prelude::*;
use sim::config::{ChannelWidth, GuardInterval};
use sim::radio::{Format, Mimo, Mode, OfdmRate};
use sim::{Arrival, Datagram, Series, Status, Way, World};
use units::{Bytes, Duration, Instant};

/// An access point, a station near it, and one that only MCS 0 reaches. `far`: the position of the latter.
fn cell(far: &str) -> String {
    let node = |name: &str, x: &str, more: &str| {
        format!(
            "[[node]]\nname = \"{name}\"\nposition = [\"{x}\", \"0 m\"]\nreal = true\nqueues = \"driver\"\n{more}\n"
        )
    };
    let of_ap = "access_point = \"ap\"";
    "duration = \"2 s\"\n[radio]\nstandard = \"802.11n\"\nbasic_rate = \"6 Mb/s\"\npropagation = \"free-space\"\n\
     tx_power = \"0 dBm\"\nreceive_threshold = \"-95 dBm\"\n[radio.errors]\nmodel = \"nist\"\n[mac]\naccess = \"edca\"\n\
     [mac.aggregation]\nampdu = \"65535 B\"\n"
        .to_owned()
        + &node("ap", "0 m", "role = \"access-point\"")
        + &node("near", "10 m", of_ap)
        + &node("far", far, of_ap)
}

fn world(text: &str, seed: u64) -> World {
    World::new(&network(text), seed).expect("a network that can be built")
}

fn way(world: &World, from: u32, to: u32) -> Way {
    world.ways().find(|way| (way.from, way.to) == (from, to)).expect("such a way")
}

fn frame(length: u64, content: u8) -> Datagram {
    Datagram { bytes: Box::new([content]), length: Bytes::new(length), tos: 0, key: 0 }
}

fn mcs(coding: u8) -> Mode {
    Mode::Mimo(Mimo::new(Format::Ht, coding, 1, ChannelWidth::Mhz20, GuardInterval::Long).expect("a mode of HT"))
}

fn series<const N: usize>(steps: [(Mode, u8); N]) -> Series {
    Series(std::array::from_fn(|place| steps.get(place).copied()))
}

/// Runs until a time or the end, and returns all arrivals and statuses.
fn run(world: &mut World, until: Instant) -> (Vec<Arrival>, Vec<Status>) {
    let (mut arrivals, mut statuses) = (Vec::new(), Vec::new());
    while world.now() < until && !world.finished() {
        world.run_to(until);
        arrivals.extend(std::iter::from_fn(|| world.outside().take_arrival()));
        statuses.extend(std::iter::from_fn(|| world.outside().take_status()));
    }
    (arrivals, statuses)
}

const ALL: u32 = u32::MAX;

#[test]
fn frames_share_aggregates_and_each_has_a_status_when_it_is_done() {
    let mut world = world(&cell("10 m"), 1);
    let down = way(&world, 0, 1);
    let mut numbers: Vec<u32> = Vec::new();
    for content in 0..50 {
        numbers.extend(world.outside().submit(down, frame(1_500, content), series([(mcs(7), 4)])));
    }
    let (arrivals, statuses) = run(&mut world, Instant::NEVER);
    let contents: Vec<u8> = arrivals.iter().map(|arrival| arrival.bytes[0]).collect();
    assert_eq!(contents, (0..50).collect::<Vec<u8>>());
    assert_eq!(statuses.iter().map(|status| status.number).collect::<Vec<_>>(), numbers);
    assert!(statuses.iter().all(|status| status.acknowledged && status.transmissions == 1 && status.way == down));
    // They shared frames of at most 4 ms, and were finished when their BlockAck had come.
    let mut ends: Vec<Instant> = statuses.iter().map(|status| status.at).collect();
    ends.dedup();
    assert!((3..8).contains(&ends.len()), "{}", ends.len());
    assert!(arrivals[0].at < statuses[0].at);
    let airtime = world.outside().take_airtime(0, 1, false);
    let alone = Duration::from_micros(200) * 50;
    assert!(airtime > alone / 2 && airtime < alone * 11 / 10, "{airtime:?}");
    assert_eq!(world.outside().take_airtime(1, 0, true), airtime);
    assert_eq!(world.outside().take_airtime(0, 1, false), Duration::ZERO, "it was taken");
}

#[test]
fn a_frame_goes_through_the_modes_of_its_series() {
    let mut world = world(&cell("130 m"), 1);
    let down = way(&world, 0, 2);
    world.outside().submit(down, frame(1_500, 1), series([(mcs(7), 2), (mcs(5), 1), (mcs(0), 1)]));
    let (arrivals, statuses) = run(&mut world, Instant::NEVER);
    assert_eq!((arrivals.len(), statuses.len()), (1, 1));
    assert!(statuses[0].acknowledged && statuses[0].transmissions == 4, "{statuses:?}");
    // The last mode of the series is used until the retry limit.
    world = self::world(&cell("130 m"), 1);
    world.outside().submit(down, frame(1_500, 1), series([(mcs(7), 1), (mcs(6), 1)]));
    let (arrivals, statuses) = run(&mut world, Instant::NEVER);
    assert_eq!((arrivals.len(), statuses[0].acknowledged, statuses[0].transmissions), (0, false, 7));
}

#[test]
fn a_legacy_mode_carries_no_aggregate() {
    let mut world = world(&cell("10 m"), 1);
    let down = way(&world, 0, 1);
    for content in 0..4 {
        world.outside().submit(down, frame(300, content), series([(Mode::Ofdm(OfdmRate::M6), 4)]));
    }
    let (arrivals, statuses) = run(&mut world, Instant::NEVER);
    let mut ends: Vec<Instant> = statuses.iter().map(|status| status.at).collect();
    ends.dedup();
    assert_eq!((arrivals.len(), ends.len()), (4, 4));
    // This is 334 B at 6 Mb/s.
    assert!(ends[3].since(ends[2]) > Duration::from_micros(445));
}

#[test]
fn a_broadcast_comes_to_all_and_is_done_when_it_is_sent() {
    let mut world = world(&cell("20 m"), 1);
    let to_all = way(&world, 0, ALL);
    world.outside().submit(to_all, frame(200, 9), series([(mcs(7), 1)]));
    let (arrivals, statuses) = run(&mut world, Instant::NEVER);
    let mut came: Vec<(u32, &[u8])> = arrivals.iter().map(|arrival| (arrival.way.to, &arrival.bytes[..])).collect();
    came.sort_unstable();
    assert_eq!(came, [(1, &[9][..]), (2, &[9][..])]);
    assert_eq!((statuses.len(), statuses[0].way), (1, to_all));
    // The basic rate is used, whatever the series says: 234 B at 6 Mb/s.
    assert!(statuses[0].at.since(Instant::ZERO) > Duration::from_micros(312));
}

#[test]
fn one_that_cannot_be_reached_has_a_status_all_the_same() {
    // The station leaves while its frames are sent.
    let away = "access_point = \"ap\"\nwaypoints = [{ time = \"1 ms\", position = [\"9000 m\", \"0 m\"], speed = \"9000000 m/s\" }]";
    let text = cell("20 m");
    let (before, last) = text.rsplit_once("access_point = \"ap\"").expect("it has an access point");
    let mut world = world(&format!("{before}{away}{last}"), 1);
    world.run_to(Instant::ZERO + Duration::from_millis(100));
    let (down, beside) = (way(&world, 0, 2), way(&world, 0, 1));
    for content in 0..40 {
        world.outside().submit(down, frame(1_500, content), Series::default());
        world.outside().submit(beside, frame(1_500, content), Series::default());
    }
    let (arrivals, statuses) = run(&mut world, Instant::NEVER);
    assert_eq!((arrivals.len(), statuses.len()), (40, 80));
    for status in statuses {
        assert_eq!(
            (status.acknowledged, status.transmissions),
            if status.way == down { (false, 7) } else { (true, 1) }
        );
    }
}

#[test]
fn a_frame_to_be_sent_again_has_its_turn_beside_others() {
    let mut world = world(&cell("130 m"), 1);
    let (beside, down) = (way(&world, 0, 1), way(&world, 0, 2));
    world.outside().submit(down, frame(1_500, 0), series([(mcs(7), 1), (mcs(0), 6)]));
    for _ in 0..1_000 {
        world.outside().submit(beside, frame(1_500, 0), Series::default());
    }
    let (_, statuses) = run(&mut world, Instant::NEVER);
    let place = statuses.iter().position(|status| status.way == down).expect("it was done");
    assert!(statuses[place].acknowledged && place < 100, "{place}");
}

#[test]
fn more_than_any_ring_holds_is_taken_and_sent() {
    let mut world = world(&cell("10 m"), 1);
    let down = way(&world, 0, 1);
    for _ in 0..5_000 {
        assert!(world.outside().submit(down, frame(1_500, 0), Series::default()).is_some());
    }
    let (arrivals, statuses) = run(&mut world, Instant::NEVER);
    assert_eq!((arrivals.len(), statuses.len()), (5_000, 5_000));
}

#[test]
fn keys_that_make_no_sense_beside_a_driver_are_refused() {
    let refusal = |text: &str| World::new(&network(text), 1).err().expect("a refusal").to_string();
    let text = cell("10 m");
    let unreal = text.replace("real = true\nqueues = \"driver\"\naccess_point", "queues = \"driver\"\naccess_point");
    assert!(refusal(&unreal).contains("needs a real kernel: set `real = true` for `near`"), "{}", refusal(&unreal));
    let mixed = text.replacen("queues = \"driver\"\naccess_point", "access_point", 1);
    assert!(refusal(&mixed).contains("write it at all real nodes or at none"), "{}", refusal(&mixed));
    let limited = text.replace("role = \"access-point\"", "role = \"access-point\"\nqueue = { limit = 50 }");
    assert!(refusal(&limited).contains("`queues = \"driver\"` brings"), "{}", refusal(&limited));
    let flow = "[[flow]]\nname = \"f\"\nfrom = \"ap\"\nto = \"near\"\ntraffic = { kind = \"saturated\", packet = \"1000 B\" }\n";
    let sends = format!("{text}{flow}");
    assert!(refusal(&sends).contains("`ap` has `queues = \"driver\"`: only its kernel"), "{}", refusal(&sends));
    let sleeps = text.replacen("access_point = \"ap\"", "access_point = \"ap\"\npower_save = {}", 1);
    assert!(refusal(&sleeps).contains("decides about its power save"), "{}", refusal(&sleeps));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// The same things become of the same frames at the same times, however the run is cut. Every frame gets one status.
    #[test]
    fn the_same_frames_have_the_same_fate(
        frames in prop::collection::vec((0_u32..3, 0_u32..4, 28_u64..2_304, 0_u8..8, 0_u64..400), 1..80),
        step in 100_u64..50_000,
        seed: u64,
    ) {
        let fate = |step: u64| {
            let mut world = world(&cell("110 m"), seed);
            let (mut arrivals, mut statuses, mut sent, mut time) = (Vec::new(), Vec::new(), 0, Instant::ZERO);
            for &(from, to, length, coding, wait) in &frames {
                time += Duration::from_micros(wait);
                let mut at = world.now();
                while at < time {
                    at = (at + Duration::from_micros(step)).min(time);
                    let (came, done) = run(&mut world, at);
                    arrivals.extend(came);
                    statuses.extend(done);
                }
                // Stations send to the access point, and the access point to them.
                let to = if to == 3 { ALL } else if from == 0 { 1 + to % 2 } else { 0 };
                let steps = series([(mcs(coding), 2), (Mode::Ofdm(OfdmRate::M12), 2)]);
                let way = way(&world, from, to);
                sent += usize::from(world.outside().submit(way, frame(length, coding), steps).is_some());
            }
            let (came, done) = run(&mut world, Instant::NEVER);
            arrivals.extend(came);
            statuses.extend(done);
            (arrivals, statuses, sent)
        };
        let (arrivals, statuses, sent) = fate(step);
        prop_assert_eq!(statuses.len(), sent);
        prop_assert!(statuses.is_sorted_by_key(|status| status.at));
        let acknowledged = statuses.iter().filter(|status| status.acknowledged && status.way.to != ALL).count();
        prop_assert!(arrivals.iter().filter(|arrival| arrival.way.to != ALL).count() >= acknowledged);
        let (again, done, _) = fate(1_000_000);
        prop_assert_eq!((arrivals, statuses), (again, done));
    }
}
