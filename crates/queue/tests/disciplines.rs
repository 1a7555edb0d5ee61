//! Properties of every discipline, and those that only several flows show.

use crate::piece::{Piece, at, piece, put, queue, take};
use control::Limit;
use proptest::prelude::*;
use queue::{DisciplineName, Ecn, Settings, fq_codel};
use std::collections::BTreeMap;
use units::{Bytes, Duration, Instant};

#[test]
fn new_flows_go_first_and_then_take_their_turn_among_the_old() {
    let mut queue = queue("discipline = \"fq-codel\"");
    put(&mut queue, 0, 1, 1..=8);
    // A quantum of 1514 B is two packets: the second overdraws it by 486 B.
    assert_eq!(take(&mut queue, 1, 2), [(1, 1), (1, 2)]);
    put(&mut queue, 1, 2, 1..=5);
    // Flow 1 (-486 + 1514 = 1028 B) becomes an old one. Flow 2, the only new one, sends two and becomes old too; flow 1
    // sends two of its 1028 B, then flow 2 (-486 + 1514) two of its own.
    assert_eq!(take(&mut queue, 2, 6), [(2, 1), (2, 2), (1, 3), (1, 4), (2, 3), (2, 4)]);
    // Both flows have -972 + 1514 = 542 B: one packet each, the last of flow 2.
    assert_eq!(take(&mut queue, 2, 2), [(1, 5), (2, 5)]);
    // Flow 2 is empty but still in its list. A packet that comes now waits for its turn, behind flow 1 with 1056 B.
    put(&mut queue, 2, 2, 6..=6);
    assert_eq!(take(&mut queue, 2, 9), [(1, 6), (1, 7), (2, 6), (1, 8)]);
    assert!(queue.is_empty());
}

#[test]
fn a_new_flow_that_empties_does_not_come_back_before_the_old_ones() {
    let mut queue = queue("discipline = \"fq-codel\"");
    put(&mut queue, 0, 1, 1..=4);
    assert_eq!(take(&mut queue, 0, 2), [(1, 1), (1, 2)]);
    put(&mut queue, 0, 2, 1..=1);
    assert_eq!(take(&mut queue, 0, 2), [(2, 1), (1, 3)], "flow 2 empties and passes through the old flows");
    put(&mut queue, 0, 2, 2..=2);
    assert_eq!(take(&mut queue, 0, 3), [(1, 4), (2, 2)], "it is no new flow yet");
}

#[test]
fn the_longest_flow_makes_way_half_at_once() {
    let mut queue = queue("discipline = \"fq-codel\"\nlimit = 10");
    put(&mut queue, 0, 1, 1..=7);
    put(&mut queue, 0, 2, 1..=3);
    let mut dropped = Vec::new();
    queue.enqueue(at(0), piece(3, 1), &mut |packet| dropped.push((packet.flow, packet.number)));
    assert_eq!(dropped, [(1, 1), (1, 2), (1, 3), (1, 4)]);
    assert_eq!(queue.backlog().packets, 7);
    assert_eq!(queue.backlog_level(at(1)).max, 10, "the limit is never exceeded");
    let mut single = self::queue("discipline = \"fq-codel\"\nlimit = 10\n[fq_codel]\ndrop_batch = 1");
    put(&mut single, 0, 1, 1..=10);
    single.enqueue(at(0), piece(2, 1), &mut |packet| dropped.push((packet.flow, packet.number)));
    assert_eq!((&dropped[4..], single.backlog().packets), (&[(1, 1)][..], 10));
}

#[test]
fn a_packet_that_finds_no_room_counts_among_those_of_its_flow() {
    // Both flows have two packets. A third makes its own flow the longest, which gives up its first.
    for flow in [1, 2] {
        let mut queue = queue("discipline = \"fq-codel\"\nlimit = 4");
        put(&mut queue, 0, 1, 1..=2);
        put(&mut queue, 0, 2, 1..=2);
        let mut dropped = Vec::new();
        queue.enqueue(at(0), piece(flow, 3), &mut |packet| dropped.push((packet.flow, packet.number)));
        assert_eq!(dropped, [(flow, 1)]);
    }
}

#[test]
fn flows_are_spread_over_the_queues_as_by_chance() {
    let mut queue = queue("discipline = \"fq-codel\"\nlimit = 2000\n[fq_codel]\nquantum = \"1000 B\"");
    (0..1024).for_each(|flow| put(&mut queue, 0, flow, 1..=1));
    // A turn is one packet. So the first round yields the first packet of each queue, in order of arrival.
    let left = take(&mut queue, 0, 1024);
    let occupied = 1 + left.windows(2).take_while(|pair| pair[0] < pair[1]).count();
    // 1024 flows leave 1024 * (1 - 1/1024)^1024 = 376.5 of as many queues empty, with a standard deviation of 10.
    assert!((607..=687).contains(&occupied), "{occupied} queues");
}

#[test]
fn each_flow_has_a_codel_of_its_own() {
    let mut queue = queue("discipline = \"fq-codel\"\n[fq_codel]\necn = false");
    let mut dropped = BTreeMap::new();
    for tick in 0..3_000_u64 {
        let mut drop = |packet: Piece| *dropped.entry(packet.flow).or_insert(0) += 1;
        // Flow 1 asks for four times the link's rate, flow 2 for an eighth.
        for _ in 0..4 {
            queue.enqueue(at(tick), piece(1, 0), &mut drop);
        }
        if tick % 8 == 0 {
            queue.enqueue(at(tick), piece(2, 0), &mut drop);
        }
        queue.take(at(tick), 0, &mut drop);
    }
    assert!(dropped[&1] > 100 && !dropped.contains_key(&2), "{dropped:?}");
}

#[test]
fn a_flow_that_ignores_drops_overflows_the_queue_less_and_less_under_cobalt() {
    // Four times what leaves: CoDel's square root takes very long, BLUE adds 1/256 each 5 ms of overflow until 3/4 go.
    let refused = |discipline: &str| {
        let mut queue = queue(&format!("discipline = \"{discipline}\"\nlimit = 500"));
        let mut waits = Vec::new();
        for tick in 0..20_000_u64 {
            (0..4).for_each(|_| queue.enqueue(at(tick), piece(1, 0), &mut |_| ()));
            if tick % 8 == 0 {
                queue.enqueue(at(tick), piece(2, 0), &mut |_| ());
            }
            let next = queue.take(at(tick), 0, &mut |_| ());
            waits.extend(
                next.filter(|next| tick > 10_000 && next.packet.flow == 1)
                    .map(|next| next.waited.as_nanos() / 1_000_000),
            );
        }
        waits.iter().sum::<u64>() / waits.len() as u64
    };
    let [codel, cobalt] = ["fq-codel", "fq-cobalt"].map(refused);
    assert!(codel > 80 && cobalt < codel / 2, "{codel} and {cobalt} ms");
}

#[test]
fn under_overload_each_discipline_keeps_the_wait_where_it_promises() {
    // 1.1 times what leaves, one packet of 1000 B every millisecond: a second of overload fills any plain queue.
    for (toml, most) in [
        ("discipline = \"codel\"", 200),
        ("discipline = \"fq-codel\"", 200),
        ("discipline = \"fq-cobalt\"", 200),
        ("discipline = \"pie\"", 40),
        ("discipline = \"dualpi2\"", 40),
        ("discipline = \"red\"\n[red]\nbandwidth = \"8 Mb/s\"", 40),
    ] {
        let mut queue = queue(&format!("limit = 5000\n{toml}"));
        for tick in 0..30_000_u64 {
            queue.enqueue(at(tick), piece(1, 0), &mut |_| ());
            if tick % 10 == 0 {
                queue.enqueue(at(tick), piece(1, 0), &mut |_| ());
            }
            queue.take(at(tick), 0, &mut |_| ());
            if tick == 20_000 {
                queue.take_interval(at(tick));
            }
        }
        let mean = queue.take_interval(at(30_000)).sojourn.mean;
        assert!(mean < Duration::from_millis(most), "{toml}: {mean:?}");
        assert!(mean > Duration::from_millis(3), "{toml}: {mean:?}");
    }
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Put(u64, u64, bool),
    PutFirst(u64),
    Take(usize),
    Peek(usize),
    Limit(u32),
    Discard(u64),
    Wait(u64),
    Restart,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        12 => (0_u64..4, prop_oneof![1 => Just(0), 9 => 0_u64..3000], any::<bool>())
            .prop_map(|(flow, bytes, ect)| Step::Put(flow, bytes, ect)),
        1 => (0_u64..4).prop_map(Step::PutFirst),
        7 => (0_usize..2).prop_map(Step::Take),
        2 => (0_usize..70).prop_map(Step::Peek),
        1 => (0_u32..40).prop_map(Step::Limit),
        1 => (0_u64..4).prop_map(Step::Discard),
        6 => prop_oneof![0_u64..30_000_000, 0_u64..2_000_000_000, Just(u64::MAX / 64)].prop_map(Step::Wait),
        1 => Just(Step::Restart),
    ];
    prop::collection::vec(step, 0..400)
}

fn discipline() -> impl Strategy<Value = &'static str> {
    prop::sample::select(DisciplineName::ALL).prop_map(DisciplineName::as_str)
}

const TABLES: &str = "[codel]\necn = true\ntarget = \"1 us\"\ninterval = \"20 ms\"\n\
                      [fq_codel]\nflows = 2\ntarget = \"1 us\"\ninterval = \"20 ms\"\nquantum = \"256 B\"\n\
                      [fq_cobalt]\nrtt = \"20 us\"\n\
                      [dualpi2]\nstep_thresh = \"0 s\"\nalpha = 10.0\ntupdate = \"1 ms\"\n\
                      [pie]\necn = true\nmax_burst = \"0 s\"\n\
                      [red]\necn = true\nw_q = 0.5\nmin_th = 1.0\nmax_p = 0.5\n";

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]
    #[test]
    fn packets_are_conserved_and_keep_their_order_and_the_limit_holds(
        discipline in discipline(), none: bool, in_bytes: bool, hard in 1_u32..40, steps in steps(),
    ) {
        let limit = |n: u32| if in_bytes { Limit::Bytes(Bytes::new(1_000 * u64::from(n))) } else { Limit::Packets(n) };
        let purge = if none { "purge = \"none\"\n" } else { "" };
        let mut settings: Settings = toml::from_str(&format!("discipline = \"{discipline}\"\n{purge}{TABLES}")).unwrap();
        settings.limit = limit(hard);
        let (mut queue, _) = settings.build::<Piece>(3).unwrap();
        let (mut now, mut put, mut taken, mut dropped) = (Instant::ZERO, 0_u64, 0_u64, Vec::new());
        // By flow and way of joining: the number of the last packet that left.
        let mut last = BTreeMap::new();
        for (number, step) in (0_u32..).zip(steps) {
            match step {
                Step::Put(flow, bytes, ect) => {
                    let ecn = match (ect, flow) {
                        // All packets of this flow, since a queue for L4S beside another would not keep their order.
                        (_, 3) => Ecn::Ect1,
                        (true, _) => Ecn::Ect0,
                        (false, _) => Ecn::NotEct,
                    };
                    queue.enqueue(now, Piece { flow, number, bytes, ecn }, &mut |packet| dropped.push(packet));
                    put += 1;
                }
                Step::PutFirst(flow) => {
                    let packet = Piece { flow: flow + 10, number, bytes: 60, ecn: Ecn::NotEct };
                    queue.enqueue_first(now, packet, &mut |packet| dropped.push(packet));
                    put += 1;
                }
                Step::Take(index) => {
                    let left = queue.take(now, index, &mut |packet| dropped.push(packet));
                    prop_assert!(left.is_some() || index > 0 || queue.is_empty());
                    if let Some(departure) = left {
                        taken += 1;
                        let Piece { flow, number, .. } = departure.packet;
                        if index == 0 && flow < 10 {
                            let before = last.insert(flow, number).unwrap_or(0);
                            prop_assert!(before <= number, "flow {flow}: {number} after {before}");
                        }
                    }
                }
                Step::Peek(index) => {
                    let seen = queue.peek(now, index, &mut |packet| dropped.push(packet)).copied();
                    let again = queue.peek(now, index, &mut |packet| dropped.push(packet)).copied();
                    prop_assert_eq!(seen, again);
                }
                Step::Limit(n) => {
                    queue.set_limit(now, limit(n), &mut |packet| dropped.push(packet));
                    let held = match queue.limit() {
                        Limit::Packets(packets) => queue.backlog().packets <= u64::from(packets),
                        Limit::Bytes(bytes) => queue.backlog().bytes <= bytes,
                    };
                    prop_assert!(none || held);
                }
                Step::Discard(flow) => {
                    queue.discard_where(now, &mut |packet| packet.flow == flow, &mut |packet| dropped.push(packet));
                }
                Step::Wait(nanos) => now += Duration::from_nanos(nanos),
                Step::Restart => {
                    queue.restart_statistics(now);
                    (put, taken) = (queue.backlog().packets, 0);
                    dropped.clear();
                }
            }
            let totals = queue.totals();
            prop_assert_eq!(totals.arrived.packets, put);
            prop_assert_eq!((totals.sent.packets, totals.dropped.packets), (taken, dropped.len() as u64));
            prop_assert_eq!(queue.backlog().packets, put - taken - dropped.len() as u64);
            prop_assert_eq!(queue.backlog_level(now).last, queue.backlog().packets);
            prop_assert!(queue.backlog_level(now).max <= hard.into() || in_bytes);
            prop_assert_eq!(queue.is_empty(), queue.backlog().packets == 0);
        }
    }
}

#[test]
fn one_packet_makes_way_and_the_limit_stays() {
    let mut queue = queue("limit = 10");
    put(&mut queue, 0, 1, 1..=5);
    let mut gone = Vec::new();
    queue.make_way(at(1), &mut |packet| gone.push(packet.number));
    assert_eq!((gone.as_slice(), queue.backlog().packets, queue.limit()), (&[5][..], 4, Limit::Packets(10)));
}

#[test]
fn marks_are_counted() {
    for (discipline, table, ecn) in [
        ("codel", "[codel]\necn = true", Ecn::Ect0),
        ("codel", "[codel]\necn = true", Ecn::Ect1),
        ("fq-codel", "", Ecn::Ect0),
        ("fq-codel", "", Ecn::Ect1),
        ("fq-cobalt", "", Ecn::Ect1),
        ("dualpi2", "[dualpi2]\ndrop_on_overload = false", Ecn::Ect1),
    ] {
        let mut queue = queue(&format!("discipline = \"{discipline}\"\n{table}"));
        let mut marks = 0;
        for tick in 0..400 {
            for _ in 0..2 {
                let packet = Piece { ecn, ..piece(1, 0) };
                queue.enqueue(at(tick), packet, &mut |_| panic!("a packet that can be marked is dropped"));
            }
            let departure = queue.take(at(tick), 0, &mut |_| panic!("a packet that can be marked is dropped"));
            marks += u64::from(departure.is_some_and(|departure| departure.packet.ecn == Ecn::Ce));
        }
        let counted = queue.totals().marked;
        assert!(marks > 0, "{discipline}");
        assert_eq!((counted.packets, counted.bytes), (marks, Bytes::new(marks * 1_000)), "{discipline}");
    }
}

#[test]
fn red_marks_what_can_be_marked_and_drops_the_rest() {
    // The average is the number that waits. At one the probability is 0, from two on it is 1; four are twice `max_th`.
    let table = "[red]\necn = true\nadaptive = false\nw_q = 1.0\nmin_th = 1.0\nmax_th = 2.0\nmax_p = 1.0";
    for (ecn, left, gone) in [
        (Ecn::Ect0, &[(1, Ecn::Ect0), (2, Ecn::Ect0), (3, Ecn::Ce), (4, Ecn::Ce)][..], &[5][..]),
        (Ecn::NotEct, &[(1, Ecn::NotEct), (2, Ecn::NotEct)], &[3, 4, 5]),
    ] {
        let mut queue = queue(&format!("discipline = \"red\"\n{table}"));
        let mut dropped = Vec::new();
        for number in 1..=5 {
            queue.enqueue(at(0), Piece { ecn, ..piece(1, number) }, &mut |packet| dropped.push(packet.number));
        }
        let departures = std::iter::from_fn(|| queue.take(at(1), 0, &mut |_| ()));
        let packets: Vec<_> = departures.map(|departure| (departure.packet.number, departure.packet.ecn)).collect();
        assert_eq!((packets.as_slice(), dropped.as_slice()), (left, gone), "{ecn:?}");
    }
}

#[test]
fn fq_codel_follows_other_parameters_and_remembers_its_flows() {
    let mut queue = queue("discipline = \"fq-codel\"");
    for number in 1..=9 {
        queue.enqueue(at(0), Piece { ecn: Ecn::Ect0, ..piece(1, number) }, &mut |_| panic!("there is room"));
    }
    // The wait is too long from 10 ms on, and for an interval at 110 ms, whatever is set in between.
    assert_eq!(take(&mut queue, 10, 1), [(1, 1)]);
    queue.follow(&fq_codel::Params { ecn: false, ..fq_codel::Params::default() });
    let mut dropped = Vec::new();
    let next = queue.take(at(110), 0, &mut |packet| dropped.push(packet.number)).map(|next| next.packet);
    assert_eq!((next.map(|packet| (packet.number, packet.ecn)), dropped), (Some((3, Ecn::Ect0)), vec![2]));
}

#[test]
fn packets_without_bytes_leave_when_the_limit_shrinks() {
    for discipline in DisciplineName::ALL {
        for ecn in [Ecn::NotEct, Ecn::Ect1] {
            let mut settings: Settings = toml::from_str(&format!("discipline = \"{}\"", discipline.as_str())).unwrap();
            settings.limit = Limit::Packets(8);
            let [mut queue, mut alone] = [3, 4].map(|seed| settings.build::<Piece>(seed).unwrap().0);
            alone.enqueue_first(Instant::ZERO, Piece { flow: 0, number: 0, bytes: 60, ecn }, &mut |_| ());
            alone.set_limit(Instant::ZERO, Limit::Packets(0), &mut |_| ());
            let mut dropped = 0;
            for number in 0..8 {
                let piece = Piece { flow: number.into(), number, bytes: 0, ecn };
                queue.enqueue(Instant::ZERO, piece, &mut |_| dropped += 1);
            }
            queue.set_limit(Instant::ZERO, Limit::Packets(1), &mut |_| dropped += 1);
            assert!(queue.backlog().packets <= 1, "{discipline:?}");
            assert_eq!(queue.backlog().packets + dropped, 8, "{discipline:?}");
        }
    }
}
