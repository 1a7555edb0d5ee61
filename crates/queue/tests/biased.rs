//! Biased queue management, compared with a search through all waiting packets as the document describes it.

use crate::piece::at;
use control::Limit;
use proptest::prelude::*;
use queue::{Ecn, Packet, Queue};
use units::Bytes;

/// A packet with a discard priority.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Marked {
    number: u32,
    priority: Option<u8>,
    length: u64,
}

impl Packet for Marked {
    fn len(&self) -> Bytes {
        Bytes::new(self.length)
    }

    fn flow(&self) -> u64 {
        1
    }

    fn ecn(&self) -> Ecn {
        Ecn::NotEct
    }

    fn discard_priority(&self) -> Option<u8> {
        self.priority
    }

    fn mark(&mut self) {}
}

fn rank(packet: &Marked) -> u8 {
    packet.priority.unwrap_or(7).min(7)
}

/// Returns the packets that are dropped when one comes to the waiting ones, as the document words it.
fn searched(waiting: &mut Vec<Marked>, packet: Marked, fits: &dyn Fn(&[Marked]) -> bool) -> Vec<Marked> {
    let mut gone = Vec::new();
    waiting.push(packet);
    while !fits(waiting) {
        let least = waiting.iter().map(rank).min().expect("an empty queue is within its limit");
        let first = waiting.iter().position(|packet| rank(packet) == least).expect("it is one of them");
        gone.push(waiting.remove(first));
    }
    gone
}

#[derive(Clone, Debug)]
enum Step {
    Come { priority: Option<u8>, length: u64 },
    Leave { index: usize },
    Limit(u32),
    Discard { number: u32 },
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => (prop::option::of(0_u8..10), 40_u64..1_500).prop_map(|(priority, length)| Step::Come { priority, length }),
        2 => (0_usize..4).prop_map(|index| Step::Leave { index }),
        1 => (1_u32..12).prop_map(Step::Limit),
        1 => (0_u32..60).prop_map(|number| Step::Discard { number }),
    ]
}

fn queue(text: &str) -> Queue<Marked> {
    crate::piece::build(&format!("discipline = \"biased\"\n{text}"))
}

proptest! {
    #[test]
    fn what_goes_and_what_stays_is_what_a_search_finds(
        steps in prop::collection::vec(step(), 1..120),
        in_bytes in any::<bool>(),
    ) {
        let limit = |count: u32| if in_bytes { Limit::Bytes(Bytes::new(u64::from(count) * 700)) } else { Limit::Packets(count) };
        let fits = |limit: Limit, waiting: &[Marked]| match limit {
            Limit::Packets(most) => waiting.len() <= most as usize,
            Limit::Bytes(most) => waiting.iter().map(|packet| packet.length).sum::<u64>() <= most.count(),
        };
        let mut queue = queue(if in_bytes { "limit = \"8400 B\"" } else { "limit = 12" });
        let (mut waiting, mut now, mut held) = (Vec::new(), 0, limit(12));
        for (number, step) in (0_u32..).zip(steps) {
            now += 1;
            let mut gone = Vec::new();
            match step {
                Step::Come { priority, length } => {
                    let packet = Marked { number, priority, length };
                    let expected = if fits(held, &[packet]) {
                        searched(&mut waiting, packet, &|waiting| fits(held, waiting))
                    } else {
                        vec![packet]
                    };
                    queue.enqueue(at(now), packet, &mut |packet| gone.push(packet));
                    prop_assert_eq!(gone, expected);
                }
                Step::Leave { index } => {
                    let seen = queue.peek(at(now), index, &mut |packet| gone.push(packet)).copied();
                    let left = queue.take(at(now), index, &mut |packet| gone.push(packet)).map(|left| left.packet);
                    let expected = (index < waiting.len()).then(|| waiting.remove(index));
                    prop_assert_eq!((seen, left, gone), (expected, expected, Vec::new()));
                }
                Step::Limit(count) => {
                    held = limit(count);
                    queue.set_limit(at(now), held, &mut |packet| gone.push(packet));
                    let mut expected = Vec::new();
                    if !fits(held, &waiting) {
                        let last = waiting.pop().expect("an empty queue is within its limit");
                        expected = searched(&mut waiting, last, &|waiting| fits(held, waiting));
                    }
                    prop_assert_eq!(gone, expected);
                }
                Step::Discard { number } => {
                    queue.discard_where(at(now), &mut |packet| packet.number % 60 == number, &mut |packet| gone.push(packet));
                    let expected: Vec<Marked> = waiting.iter().filter(|packet| packet.number % 60 == number).copied().collect();
                    waiting.retain(|packet| packet.number % 60 != number);
                    prop_assert_eq!(gone, expected);
                }
            }
            prop_assert_eq!(queue.backlog().packets, waiting.len() as u64);
        }
        let mut rest = Vec::new();
        while let Some(left) = queue.take(at(now), 0, &mut |_| panic!("nothing is dropped as it leaves")) {
            rest.push(left.packet);
        }
        prop_assert_eq!(rest, waiting);
    }
}

#[test]
fn purge_says_which_packets_a_smaller_limit_takes() {
    let packets = [(1, Some(2)), (2, Some(0)), (3, None), (4, Some(0)), (5, Some(1))];
    for (purge, gone) in [("", vec![2, 4, 5]), ("purge = \"head\"", vec![1, 2, 3]), ("purge = \"tail\"", vec![5, 4, 3])]
    {
        let mut queue = queue(&format!("limit = 5\n{purge}"));
        for (number, priority) in packets {
            queue.enqueue(at(0), Marked { number, priority, length: 100 }, &mut |_| panic!("there is room"));
        }
        let mut dropped = Vec::new();
        queue.set_limit(at(1), Limit::Packets(2), &mut |packet| dropped.push(packet.number));
        assert_eq!(dropped, gone, "{purge}");
    }
}

/// In a million arrivals, three for two that leave, the dropped packet is the first of those of lowest priority.
#[test]
fn no_packet_is_dropped_while_one_of_a_lower_priority_waits() {
    let mut queue = queue("limit = 50");
    // By priority, the numbers of the waiting packets, in order.
    let mut waiting: [std::collections::VecDeque<u32>; 4] = Default::default();
    let (mut state, mut drops) = (1_u32, 0);
    for number in 0..1_000_000_u32 {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let priority = u8::try_from(state >> 30).expect("two bits");
        waiting[usize::from(priority)].push_back(number);
        queue.enqueue(at(u64::from(number)), Marked { number, priority: Some(priority), length: 100 }, &mut |gone| {
            let lowest = waiting.iter_mut().find(|of| !of.is_empty()).expect("the arrival waits");
            assert_eq!(lowest.pop_front(), Some(gone.number));
            drops += 1;
        });
        if number % 3 != 0 {
            let left = queue.take(at(u64::from(number)), 0, &mut |_| panic!("nothing is dropped as it leaves"));
            if let Some(left) = left {
                let of = &mut waiting[usize::from(rank(&left.packet))];
                assert_eq!(of.pop_front(), Some(left.packet.number));
            }
        }
    }
    assert!(drops > 300_000, "{drops}");
}
