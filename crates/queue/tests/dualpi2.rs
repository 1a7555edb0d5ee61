//! `DualPI2`: which queue has its turn, how long both wait, and what an overload does.

use crate::piece::{Piece, at, piece, queue};
use queue::{Ecn, Queue};
use units::{Duration, Instant};

const DUALPI2: &str = "limit = 10000\ndiscipline = \"dualpi2\"\n";

fn l4s(number: u32) -> Piece {
    Piece { ecn: Ecn::Ect1, ..piece(2, number) }
}

fn put(queue: &mut Queue<Piece>, now: u64, packets: impl IntoIterator<Item = Piece>) {
    packets.into_iter().for_each(|packet| queue.enqueue(at(now), packet, &mut |gone| panic!("{gone:?} is dropped")));
}

/// Returns the flows of the packets that leave.
fn flows(queue: &mut Queue<Piece>, now: u64, packets: usize) -> Vec<u64> {
    let next = |_| queue.take(at(now), 0, &mut |gone| panic!("{gone:?} is dropped")).map(|next| next.packet.flow);
    (0..packets).map_while(next).collect()
}

#[test]
fn packets_of_l4s_go_first_and_the_classic_queue_has_its_share() {
    let mut queue = queue(DUALPI2);
    put(&mut queue, 0, (0..50).map(|number| piece(1, number)));
    put(&mut queue, 0, (0..50).map(l4s));
    // The credit begins at -0.8 * 1514 B and rises by 100 B with each packet of L4S: above zero after thirteen (88.8 B). A
    // classic packet takes 900 B: nine more of L4S until -811.2 + 900 B.
    let left = flows(&mut queue, 0, 34);
    let turns: Vec<_> = (0..).zip(&left).filter(|(_, flow)| **flow == 1).map(|(index, _)| index).collect();
    assert_eq!(turns, [13, 23, 33]);
    // Each of the queues sends all it has when it is alone.
    queue.discard_where(at(0), &mut |packet| packet.flow == 2, &mut |_| ());
    assert_eq!(flows(&mut queue, 0, 9), [1; 9]);
}

#[test]
fn by_their_ecn_field_packets_are_of_l4s_or_classic() {
    let mut queue = queue(DUALPI2);
    let fields = [Ecn::NotEct, Ecn::Ect0, Ecn::Ect1, Ecn::Ce];
    put(&mut queue, 0, (0..).zip(fields).map(|(number, ecn)| Piece { ecn, ..piece(u64::from(number), number) }));
    assert_eq!(flows(&mut queue, 0, 4), [2, 3, 0, 1]);
}

#[test]
fn a_packet_of_l4s_that_waits_beyond_the_step_leaves_with_a_mark() {
    let mut queue = queue(DUALPI2);
    put(&mut queue, 0, [l4s(0), Piece { ecn: Ecn::Ce, ..l4s(1) }, piece(1, 2)]);
    let left: Vec<_> = (0..3).filter_map(|_| queue.take(at(2), 0, &mut |_| ())).map(|next| next.packet.ecn).collect();
    assert_eq!(left, [Ecn::Ce, Ecn::Ce, Ecn::NotEct]);
    assert_eq!(queue.totals().marked.packets, 1, "one was marked before it came");
}

#[test]
fn a_full_queue_refuses_what_comes_and_a_lower_limit_takes_from_the_longer_queue() {
    let mut queue = queue("limit = 3\ndiscipline = \"dualpi2\"");
    put(&mut queue, 0, [l4s(0), l4s(1), piece(1, 2)]);
    let mut gone = Vec::new();
    queue.enqueue(at(0), l4s(3), &mut |packet| gone.push(packet.number));
    queue.make_way(at(0), &mut |packet| gone.push(packet.number));
    assert_eq!((gone, queue.backlog().packets), (vec![3, 0], 2));
}

/// A load that ignores marks, and what became of it.
struct Seen {
    /// Mean wait of classic and L4S packets, in milliseconds.
    wait: [f64; 2],
    /// Share of the classic and of the L4S packets that was dropped, and share of those sent that was marked.
    dropped: [f64; 2],
    marked: [f64; 2],
}

/// One packet leaves each 0.1 ms. In each 100 of these times `classic` and `low_latency` packets come by turns.
fn loaded(settings: &str, classic: u32, low_latency: u32, ecn: Ecn) -> Seen {
    let mut queue = queue(&format!("{DUALPI2}{settings}"));
    let (mut came, mut gone, mut sent, mut marked, mut waited) = ([0.0; 2], [0.0; 2], [0.0; 2], [0.0; 2], [0.0; 2]);
    for tick in 0..400_000_u64 {
        let now = Instant::ZERO + Duration::from_micros(100 * tick);
        let counts = tick >= 200_000;
        let of = |packet: &Piece| usize::from(packet.flow == 2);
        for (flow, load, ecn) in [(1, classic, ecn), (2, low_latency, Ecn::Ect1)] {
            let load = u64::from(load);
            for _ in tick * load / 100..(tick + 1) * load / 100 {
                let packet = Piece { ecn, ..piece(flow, 0) };
                came[of(&packet)] += f64::from(u32::from(counts));
                queue.enqueue(now, packet, &mut |_| panic!("the limit is far"));
            }
        }
        let drop = &mut |packet: Piece| gone[of(&packet)] += f64::from(u32::from(counts));
        if let Some(next) = queue.take(now, 0, drop).filter(|_| counts) {
            let index = of(&next.packet);
            sent[index] += 1.0;
            waited[index] += next.waited.as_secs_f64() * 1e3;
            marked[index] += f64::from(u32::from(next.packet.ecn == Ecn::Ce));
        }
    }
    let ratio = |parts: [f64; 2], wholes: [f64; 2]| [0, 1].map(|index| parts[index] / wholes[index]);
    Seen { wait: ratio(waited, sent), dropped: ratio(gone, came), marked: ratio(marked, sent) }
}

fn close(seen: f64, expected: f64, tolerance: f64) {
    assert!((seen / expected - 1.0).abs() <= tolerance, "{seen} instead of {expected}");
}

#[test]
fn under_a_load_that_answers_nothing_the_wait_is_the_target_and_the_loss_what_is_too_much() {
    // In the steady state the integral is at rest: the wait is the target, and 1 - 1/r of a load of r is dropped.
    for load in [110, 130, 200, 400] {
        let seen = loaded("", load, 0, Ecn::NotEct);
        close(seen.wait[0], 15.0, 0.05);
        close(seen.dropped[0], 1.0 - 100.0 / f64::from(load), 0.05);
    }
    // Marks are no help against overload: classic ECN is dropped too once all of L4S would be marked.
    let seen = loaded("", 200, 0, Ecn::Ect0);
    close(seen.wait[0], 15.0, 0.05);
    close(seen.dropped[0], 0.5, 0.05);
}

#[test]
fn l4s_is_marked_with_the_coupled_probability_and_waits_little_beside_a_classic_overload() {
    // A tenth of the link for L4S, evenly spaced, and 1.2 times what is left for the rest: p'^2 = 1 - 0.9 / 1.08.
    let seen = loaded("", 108, 10, Ecn::NotEct);
    close(seen.dropped[0], 1.0 / 6.0, 0.05);
    close(seen.marked[1], 2.0 * (1.0_f64 / 6.0).sqrt(), 0.05);
    assert!(seen.wait[1] < 0.3 && seen.dropped[1] <= 0.0, "{:?} ms", seen.wait);
}

#[test]
fn an_overload_of_l4s_leaves_the_classic_queue_its_share_and_is_dropped() {
    let seen = loaded("", 30, 200, Ecn::NotEct);
    // Both meet the same drops: (0.3 + 2) (1 - p'^2) = 1, and the queues wait for the same controller.
    let expected = 1.0 - 1.0 / 2.3;
    close(seen.dropped[1], expected, 0.1);
    close(seen.dropped[0], expected, 0.1);
    assert!(seen.marked[1] > 0.999);
    assert!(seen.wait.iter().all(|wait| *wait < 30.0), "{:?}", seen.wait);
}

#[test]
#[should_panic(expected = "the limit is far")]
fn without_drops_on_overload_l4s_fills_the_queue() {
    loaded("[dualpi2]\ndrop_on_overload = false", 0, 150, Ecn::NotEct);
}
