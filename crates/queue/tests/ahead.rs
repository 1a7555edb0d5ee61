//! Look-ahead by a host: it sees exactly the packets that leave, and each is judged exactly once.

use crate::piece::{Piece, at, piece, put, queue, take};
use control::Limit;
use proptest::prelude::*;
use queue::DisciplineName;

#[test]
fn what_was_looked_at_ahead_is_not_what_waits_behind() {
    for discipline in ["codel", "fq-codel"] {
        // Two packets are looked at when they have waited too long, for an interval not yet. When the third is judged,
        // with four there is one behind it, less than the MTU, and nothing is dropped; with five there are two.
        for (packets, dropped) in [(4, &[][..]), (5, &[3])] {
            let mut queue = queue(&format!("discipline = \"{discipline}\""));
            put(&mut queue, 0, 1, 1..=packets);
            let mut gone = Vec::new();
            let second = queue.peek(at(10), 1, &mut |packet| gone.push(packet.number)).copied();
            assert_eq!((second, gone.as_slice()), (Some(piece(1, 2)), &[][..]));
            queue.peek(at(120), 2, &mut |packet| gone.push(packet.number));
            assert_eq!(gone, dropped, "{discipline}, {packets} packets");
        }
    }
}

#[test]
fn what_was_seen_is_yielded() {
    for discipline in ["codel", "fq-codel"] {
        let mut queue = queue(&format!("discipline = \"{discipline}\"\n[fq_codel]\necn = false"));
        put(&mut queue, 0, 1, 1..=90);
        put(&mut queue, 0, 2, 1..=90);
        for now in 100..180 {
            let mut seen = Vec::new();
            for index in 0..100 {
                seen.extend(queue.peek(at(now), index, &mut |_| ()).copied());
            }
            assert!(seen.len() <= queue::LOOK_AHEAD, "{discipline}");
            let third = queue.take(at(now), 2, &mut |_| ()).map(|departure| departure.packet);
            assert_eq!(third, seen.get(2).copied(), "{discipline} at {now}");
            let first = queue.take(at(now), 0, &mut |_| ()).map(|departure| departure.packet);
            assert_eq!(first, seen.first().copied(), "{discipline} at {now}");
        }
    }
}

#[test]
fn what_passed_is_not_judged_again_and_what_did_not_is() {
    for discipline in ["codel", "fq-codel"] {
        let mut queue = queue(&format!("discipline = \"{discipline}\"\npurge = \"head\""));
        put(&mut queue, 0, 1, 1..=12);
        // Packets 1 to 3 pass at 10 ms, after a wait above the target; for an interval at 110 ms.
        assert!(queue.peek(at(10), 2, &mut |_| panic!("not yet for an interval")).is_some());
        assert_eq!(take(&mut queue, 20, 1), [(1, 1)]);
        queue.discard_where(at(20), &mut |packet| packet.number == 2, &mut |_| ());
        queue.set_limit(at(20), queue.limit(), &mut |_| panic!("all fit"));
        queue.enqueue_first(at(20), piece(1, 100), &mut |_| panic!("there is room"));
        // At 120 ms CoDel would drop either. The one that goes first is not for CoDel to judge, and 3 has passed.
        assert_eq!(take(&mut queue, 120, 2), [(1, 100), (1, 3)], "{discipline}");
        let mut dropped = Vec::new();
        let next = queue.take(at(120), 0, &mut |packet| dropped.push(packet.number));
        assert_eq!((next.map(|next| next.packet.number), dropped), (Some(5), vec![4]), "{discipline}");
    }
}

#[test]
fn a_limit_that_takes_packets_from_the_head_leaves_those_behind_them_passed() {
    let mut queue = queue("discipline = \"codel\"\npurge = \"head\"");
    put(&mut queue, 0, 1, 1..=12);
    assert!(queue.peek(at(10), 2, &mut |_| panic!("not yet for an interval")).is_some());
    let mut dropped = Vec::new();
    queue.set_limit(at(20), Limit::Packets(10), &mut |packet| dropped.push(packet.number));
    assert_eq!((dropped.as_slice(), take(&mut queue, 120, 1)), (&[1, 2][..], vec![(1, 3)]), "3 passed at 10 ms");
    let next = queue.take(at(120), 0, &mut |packet| dropped.push(packet.number));
    assert_eq!((next.map(|next| next.packet.number), dropped), (Some(5), vec![1, 2, 4]));
}

#[test]
fn each_discipline_shows_what_it_will_yield_and_forgets_what_is_unwanted() {
    for discipline in DisciplineName::ALL.iter().map(|name| name.as_str()) {
        let mut queue = queue(&format!("discipline = \"{discipline}\""));
        put(&mut queue, 0, 1, 1..=5);
        let seen: Vec<_> = (0..6).map_while(|index| queue.peek(at(1), index, &mut |_| ()).copied()).collect();
        assert_eq!(seen, [1, 2, 3, 4, 5].map(|number| piece(1, number)), "{discipline}");
        let mut dropped = Vec::new();
        queue.discard_where(at(1), &mut |packet| packet.number % 2 == 1, &mut |packet| dropped.push(packet.number));
        assert_eq!((dropped, queue.backlog().packets), (vec![1, 3, 5], 2), "{discipline}");
        assert_eq!(take(&mut queue, 1, 3), [(1, 2), (1, 4)], "{discipline}");
    }
}

/// Queries of a queue in which CoDel has nothing to drop.
#[derive(Clone, Debug)]
enum Asked {
    Comes(bool),
    Looks(usize),
    Goes(usize),
    Limit(u32),
    MakesWay,
    Without(u32),
}

fn asked() -> impl Strategy<Value = Vec<Asked>> {
    let one = prop_oneof![
        6 => any::<bool>().prop_map(Asked::Comes),
        3 => (0_usize..12).prop_map(Asked::Looks),
        4 => (0_usize..12).prop_map(Asked::Goes),
        1 => (1_u32..16).prop_map(Asked::Limit),
        1 => Just(Asked::MakesWay),
        1 => (2_u32..5).prop_map(Asked::Without),
    ];
    prop::collection::vec(one, 1..200)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// CoDel with a target that is never reached is the plain queue, however far its host looks ahead.
    #[test]
    fn codel_without_a_reason_to_drop_is_a_drop_tail_queue(asked in asked(), purge in prop::sample::select(vec!["head", "tail", "none"])) {
        let settings = |discipline: &str| format!(
            "discipline = \"{discipline}\"\nlimit = 16\npurge = \"{purge}\"\n[codel]\ntarget = \"1000 s\""
        );
        let mut queues = ["codel", "drop-tail"].map(|discipline| queue(&settings(discipline)));
        for (number, asked) in (0_u32..).zip(asked) {
            let now = at(u64::from(number));
            let [codel, plain] = queues.each_mut().map(|queue| {
                let mut gone = Vec::new();
                let mut dropped = |packet: Piece| gone.push(packet.number);
                let seen = match asked {
                    Asked::Comes(first) if first => { queue.enqueue_first(now, piece(1, number), &mut dropped); None }
                    Asked::Comes(_) => { queue.enqueue(now, piece(1, number), &mut dropped); None }
                    Asked::Looks(index) => queue.peek(now, index, &mut dropped).map(|packet| packet.number),
                    Asked::Goes(index) => queue.take(now, index, &mut dropped).map(|departure| departure.packet.number),
                    Asked::Limit(packets) => { queue.set_limit(now, Limit::Packets(packets), &mut dropped); None }
                    Asked::MakesWay => { queue.make_way(now, &mut dropped); None }
                    Asked::Without(part) => {
                        queue.discard_where(now, &mut |packet| packet.number.is_multiple_of(part), &mut dropped);
                        None
                    }
                };
                (seen, gone, queue.backlog(), queue.totals())
            });
            prop_assert_eq!(codel, plain, "{:?}", asked);
        }
    }
}
