//! Tests of powers at a receiver, frame by frame: capture at 10 dB, carrier sense at 100 units, decodable from 100 on.

use super::{Heard, Medium, Signal};
use crate::config::{Capture, ChannelWidth, Preamble};
use crate::engine::Handle;
use crate::radio::mode::{DsssRate, Mode};
use crate::radio::propagation::Link;
use crate::radio::{Judge, Links, Mpdu, Reception, Shape};
use proptest::prelude::*;
use std::collections::BTreeSet;
use units::{Bytes, Duration, Instant};

const fn us(micros: u64) -> Duration {
    Duration::from_micros(micros)
}

const fn at(micros: u64) -> Instant {
    Instant::from_nanos(micros * 1_000)
}

/// An 802.11b frame with a long preamble.
fn shape(micros: u64) -> Shape {
    let mode = Mode::Dsss { rate: DsssRate::K11000, preamble: Preamble::Long };
    Shape {
        mode,
        psdu: Bytes::new(1000),
        duration: us(micros),
        aggregate: false,
        control: false,
        answers: Shape::NOBODY,
        width: ChannelWidth::Mhz20,
        limited: false,
    }
}

/// A medium in which node `from` arrives at node `to` with `powers[from][to]`; zero means that it does not arrive.
fn medium(powers: &[Vec<u64>]) -> Medium<u32> {
    medium_with(powers, Capture::FirstFrame)
}

fn medium_with(powers: &[Vec<u64>], order: Capture) -> Medium<u32> {
    let link = |(to, &power): (usize, &u64)| {
        (power > 0).then(|| Link {
            to: u32::try_from(to).expect("few nodes"),
            delay: Duration::from_nanos(1 + to as u64),
            power,
            decodable: power >= 100,
        })
    };
    let of = powers.iter().map(|row| row.iter().enumerate().filter_map(link).collect()).collect();
    let reception = Reception { carrier_sense: 100, receive: 100, capture: 10.0, order };
    Medium::new(Links::fixed(of, reception), Judge::by_capture())
}

impl<F: Copy> Medium<F> {
    /// Passes the front of a frame to the `index`-th listener of its sender.
    pub(super) fn front_at(&mut self, of: Handle, index: usize, now: Instant) -> bool {
        let (frame, links, receivers) = self.listeners(of);
        receivers.front(frame, &links[index], now)
    }

    /// Passes the tail of a frame to the `index`-th listener of its sender.
    pub(super) fn tail_at(&mut self, of: Handle, index: usize, now: Instant, mpdus: &[Mpdu]) -> Heard {
        let (frame, links, receivers) = self.listeners(of);
        receivers.tail(frame, &links[index], now, mpdus)
    }
}

/// Sends frames (sender, start, end), which carry their sender's number; returns how node 0 judges their tails.
fn at_node_0(powers_at_0: &[u64], frames: &[(usize, u64, u64)]) -> Vec<(u32, &'static str)> {
    at_node_0_with(Capture::FirstFrame, powers_at_0, frames)
}

fn at_node_0_with(order: Capture, powers_at_0: &[u64], frames: &[(usize, u64, u64)]) -> Vec<(u32, &'static str)> {
    let rows: Vec<Vec<u64>> = powers_at_0.iter().map(|&power| vec![power]).collect();
    let mut medium = medium_with(&rows, order);
    let mut times: Vec<(u64, bool, usize)> = Vec::new();
    for (index, &(_, start, end)) in frames.iter().enumerate() {
        times.extend([(start, true, index), (end, false, index)]);
    }
    times.sort_unstable();
    let mut handles = vec![None; frames.len()];
    let mut found = Vec::new();
    for (time, starts, index) in times {
        let (from, start, end) = frames[index];
        let from = u32::try_from(from).expect("few nodes");
        if starts {
            let (of, _) = medium.start(from, from, at(time), shape(end - start));
            handles[index] = Some(of);
            if from != 0 {
                medium.front_at(of, 0, at(time));
            }
        } else {
            let of = handles[index].expect("it started");
            medium.end(of);
            if from != 0 {
                let what = match medium.tail_at(of, 0, at(time), &[]).what {
                    Signal::Good { whole } => {
                        assert_eq!((medium.frame(of), whole), (from, true));
                        "good"
                    }
                    Signal::Bad { header_read: true } => "bad",
                    Signal::Bad { header_read: false } => "bad header",
                    Signal::Noise => "noise",
                    Signal::Nothing | Signal::Foreign => "nothing",
                };
                found.push((from, what));
            }
            medium.clear(of);
        }
    }
    assert_eq!(medium.receivers.of[0].energy, 0);
    assert!(medium.receivers.of[0].lock.is_none());
    found
}

#[test]
fn the_first_of_two_alike_is_spoilt_and_the_second_is_noise() {
    let found = at_node_0(&[0, 1_000, 1_000], &[(1, 0, 1_000), (2, 500, 1_500)]);
    assert_eq!(found, [(1, "bad"), (2, "noise")]);
}

#[test]
fn a_collision_within_the_header_leaves_no_header() {
    for (second, what) in [(0, "bad header"), (191, "bad header"), (192, "bad"), (999, "bad")] {
        let found = at_node_0(&[0, 1_000, 1_000], &[(1, 0, 1_000), (2, second, 2_000)]);
        assert_eq!(found, [(1, what), (2, "noise")], "second at {second}");
    }
}

#[test]
fn what_is_10_db_weaker_disturbs_nobody() {
    for (weaker, what) in [(100, "good"), (101, "bad")] {
        let found = at_node_0(&[0, 1_000, weaker], &[(1, 0, 1_000), (2, 500, 1_500)]);
        assert_eq!(found, [(1, what), (2, "noise")]);
        // The first frame is decoded: the stronger one that comes later spoils it and is not received itself.
        let found = at_node_0(&[0, 1_000, weaker], &[(2, 0, 1_500), (1, 500, 1_000)]);
        assert_eq!(found, [(1, "noise"), (2, "bad")]);
    }
}

#[test]
fn a_frame_10_db_above_what_is_there_undecoded_is_received() {
    for (noise, what) in [(99, "good"), (101, "noise")] {
        // Node 2 starts while node 0 itself sends, so that it is only noise afterwards.
        let found = at_node_0(&[0, 1_000, noise], &[(0, 0, 200), (2, 100, 1_500), (1, 500, 1_000)]);
        assert_eq!(found, [(1, what), (2, if noise < 100 { "nothing" } else { "noise" })]);
    }
}

#[test]
fn weak_signals_add_up() {
    let frames = [(1, 0, 1_000), (2, 300, 600), (3, 400, 700), (4, 500, 800)];
    assert_eq!(at_node_0(&[0, 1_000, 33, 33, 34], &frames)[3], (1, "good"));
    assert_eq!(at_node_0(&[0, 1_000, 34, 33, 34], &frames)[3], (1, "bad"));
    // The same three frames, but never more than two at once.
    let frames = [(1, 0, 1_000), (2, 300, 450), (3, 400, 500), (4, 500, 800)];
    assert_eq!(at_node_0(&[0, 1_000, 34, 33, 66], &frames)[2], (4, "nothing"));
    assert_eq!(at_node_0(&[0, 1_000, 34, 33, 66], &frames)[3], (1, "good"));
}

#[test]
fn weak_signals_together_keep_the_medium_busy() {
    let mut medium = medium(&[vec![0], vec![60], vec![60]]);
    let (one, _) = medium.start(1, 1, at(0), shape(10));
    assert!(!medium.front_at(one, 0, at(0)));
    let (two, _) = medium.start(2, 2, at(4), shape(10));
    assert!(medium.front_at(two, 0, at(4)));
    assert_eq!(medium.busy_time(0, at(7)), us(3));
    medium.end(one);
    let heard = medium.tail_at(one, 0, at(10), &[]);
    assert!(heard.turned_idle && matches!(heard.what, Signal::Nothing));
    assert_eq!(medium.busy_time(0, at(20)), us(6));
}

#[test]
fn any_signal_that_is_sensed_can_hold_the_receiver() {
    let ns_2 = |powers: &[u64], frames: &[(usize, u64, u64)]| at_node_0_with(Capture::AnySignal, powers, frames);
    // A weak frame is being received when one comes that is ten times as strong: both are lost. The longer one holds
    // the receiver, so node 3's frame is lost although nothing else is as strong.
    let frames = [(1, 0, 1_000), (2, 500, 1_500), (3, 1_100, 1_400)];
    assert_eq!(ns_2(&[0, 100, 1_000, 20_000], &frames), [(1, "noise"), (3, "noise"), (2, "noise")]);
    // The weak one is the longer one and keeps the receiver.
    let frames = [(1, 0, 1_000), (2, 500, 700), (3, 800, 900)];
    assert_eq!(ns_2(&[0, 100, 1_000, 20_000], &frames), [(2, "noise"), (3, "noise"), (1, "bad")]);
    // Frames ten times as weak are ignored, one by one: even three of them together do not matter.
    let frames = [(1, 0, 1_000), (2, 300, 600), (3, 400, 700), (4, 500, 800)];
    let found = ns_2(&[0, 1_000, 100, 100, 100], &frames);
    assert_eq!(found, [(2, "noise"), (3, "noise"), (4, "noise"), (1, "good")]);
    // A frame that began while the node sent holds it afterwards, as does one that it was receiving before.
    let found = ns_2(&[0, 100, 5_000], &[(0, 0, 200), (1, 100, 1_500), (2, 500, 1_000)]);
    assert_eq!(found, [(2, "noise"), (1, "noise")]);
    let found = ns_2(&[0, 100, 5_000], &[(1, 0, 1_500), (0, 100, 200), (2, 500, 1_000)]);
    assert_eq!(found, [(2, "noise"), (1, "noise")]);
    // By the rule of the first frame the strong frame is received in both cases.
    let found = at_node_0(&[0, 100, 5_000], &[(1, 0, 1_500), (0, 100, 200), (2, 500, 1_000)]);
    assert_eq!(found, [(2, "good"), (1, "noise")]);
}

#[test]
fn the_strongest_preamble_of_four_microseconds_is_chosen() {
    let ns_3 =
        |powers: &[u64], frames: &[(usize, u64, u64)]| at_node_0_with(Capture::StrongestPreamble, powers, frames);
    for (second, expected) in [
        // The second is heard within the first's time, and the first is then noise.
        (3, [(1, "noise"), (2, "good")]),
        // The first has been chosen, and is spoilt in its header.
        (4, [(1, "bad header"), (2, "noise")]),
    ] {
        let found = ns_3(&[0, 100, 1_000], &[(1, 0, 900), (2, second, 1_000)]);
        assert_eq!(found, expected, "second at {second}");
    }
    // Two of equal power: neither is detected, and a later frame is judged by itself.
    let found = ns_3(&[0, 100, 100, 5_000], &[(1, 0, 900), (2, 1, 1_000), (3, 500, 700)]);
    assert_eq!(found, [(3, "good"), (1, "noise"), (2, "noise")]);
    // A weaker frame within this time disturbs the choice if it is within 10 dB.
    for (weaker, what) in [(100, "good"), (101, "noise")] {
        let found = ns_3(&[0, 1_000, weaker], &[(1, 0, 900), (2, 2, 3)]);
        assert_eq!(found[1], (1, "good"), "gone before the choice");
        let found = ns_3(&[0, 1_000, weaker], &[(1, 0, 900), (2, 2, 800)]);
        assert_eq!(found, [(2, "noise"), (1, what)]);
    }
    // For a frame alone, the header ends as always, although the choice was made later.
    let mut medium = medium_with(&[vec![0], vec![1_000]], Capture::StrongestPreamble);
    let (of, _) = medium.start(1, 1, at(0), shape(1_000));
    assert!(medium.front_at(of, 0, at(0)));
    assert!(!medium.receives(0, at(191)) && medium.receives(0, at(192)));
}

#[test]
fn a_node_that_sends_receives_nothing() {
    // A frame that began while the node sent, also if it ends later.
    assert_eq!(at_node_0(&[0, 1_000], &[(0, 0, 500), (1, 100, 400)]), [(1, "nothing")]);
    assert_eq!(at_node_0(&[0, 1_000], &[(0, 0, 500), (1, 100, 900)]), [(1, "noise")]);
    // A frame that it was decoding when it began to send, whether or not that frame ended first.
    assert_eq!(at_node_0(&[0, 1_000], &[(1, 100, 900), (0, 200, 950)]), [(1, "nothing")]);
    assert_eq!(at_node_0(&[0, 1_000], &[(1, 100, 900), (0, 200, 300)]), [(1, "noise")]);
    // And the next frame is received again.
    let found = at_node_0(&[0, 1_000, 1_000], &[(1, 100, 900), (0, 200, 300), (2, 950, 990)]);
    assert_eq!(found, [(1, "noise"), (2, "good")]);
}

#[test]
fn a_sender_is_busy_until_its_frame_and_all_others_are_over() {
    let mut medium = medium(&[vec![0], vec![1_000]]);
    let (own, turned_busy) = medium.start(0, 0, at(0), shape(10));
    assert!(turned_busy);
    let (other, _) = medium.start(1, 1, at(5), shape(10));
    assert!(!medium.front_at(other, 0, at(5)));
    assert!(!medium.end(own).1);
    medium.end(other);
    assert!(medium.tail_at(other, 0, at(15), &[]).turned_idle);
    assert_eq!(medium.busy_time(0, at(20)), us(15));
    assert_eq!(medium.on_air_time(at(20)), us(15));
}

#[test]
fn a_header_is_read_when_it_is_over_and_was_not_disturbed() {
    let mut medium = medium(&[vec![0], vec![1_000], vec![1_000]]);
    let (of, _) = medium.start(1, 1, at(0), shape(1_000));
    medium.front_at(of, 0, at(0));
    assert!(!medium.receives(0, at(191)) && medium.receives(0, at(192)));
    let (late, _) = medium.start(2, 2, at(400), shape(1_000));
    medium.front_at(late, 0, at(400));
    assert!(medium.receives(0, at(500)), "only the payload is lost");
}

proptest! {
    /// For any transmissions: at the end no energy is left, and no node is busy or decodes. The fast path gives the same
    /// results as the plain path.
    #[test]
    fn energy_returns_to_zero_on_either_path(
        order in prop::sample::select(vec![Capture::FirstFrame, Capture::StrongestPreamble, Capture::AnySignal]),
        powers in prop::collection::vec(prop::collection::vec(0_u64..2_000, 5), 5),
        frames in prop::collection::vec((0_u32..5, 0_u64..2_000, 1_u64..500), 1..40),
    ) {
        let mut powers = powers;
        (0..5).for_each(|node| powers[node][node] = 0);
        let mut medium = medium_with(&powers, order);
        let mut plain = medium_with(&powers, order);
        prop_assert!(std::mem::take(&mut plain.receivers.fast));
        // (time, order, act); a front comes before the tail at the same time.
        let mut acts = BTreeSet::new();
        for &(from, start, length) in &frames {
            acts.insert((start * 1_000, 0, from, 0, length));
        }
        let mut handles = Vec::new();
        let (mut fronts, mut tails) = (0, 0);
        while let Some((time, what, from, id, length)) = acts.pop_first() {
            let now = Instant::from_nanos(time);
            if what == 0 {
                if medium.receivers.of[from as usize].sending {
                    continue;
                }
                let id = handles.len();
                prop_assert_eq!(medium.receives(from, now), plain.receives(from, now));
                let (of, turned_busy) = medium.start(from, from, now, shape(length));
                prop_assert_eq!(plain.start(from, from, now, shape(length)), (of, turned_busy));
                handles.push(of);
                acts.insert((time + length * 1_000, 1, from, id, 0));
                for listener in 0..medium.links.of(from).len() {
                    let listener_delay = medium.links.of(from)[listener].delay.as_nanos();
                    acts.insert((time + listener_delay, 2, from, id, listener as u64));
                    acts.insert((time + listener_delay + length * 1_000, 3, from, id, listener as u64));
                }
                continue;
            }
            let of = handles[id];
            let index = usize::try_from(length).expect("few listeners");
            match what {
                1 => prop_assert_eq!(medium.end(of).1, plain.end(of).1),
                2 => {
                    prop_assert_eq!(medium.front_at(of, index, now), plain.front_at(of, index, now));
                    fronts += 1;
                }
                _ => {
                    let heard = medium.tail_at(of, index, now, &[]);
                    prop_assert_eq!(heard, plain.tail_at(of, index, now, &[]));
                    let decodable = medium.links.of(from)[index].decodable;
                    prop_assert!(decodable || !matches!(heard.what, Signal::Good { .. }), "too weak");
                    tails += 1;
                }
            }
        }
        prop_assert_eq!(fronts, tails);
        let end = at(10_000);
        let busy: Vec<Duration> = (0..5).map(|node| medium.busy_time(node, end)).collect();
        for (node, receiver) in medium.receivers.of.iter().enumerate() {
            prop_assert!(receiver.energy == 0 && !receiver.busy && !receiver.sending && receiver.lock.is_none());
            prop_assert!(busy[node] <= us(2_500) + Duration::from_nanos(5));
            prop_assert_eq!(busy[node], plain.busy_time(u32::try_from(node).expect("few nodes"), end));
        }
        let verdicts = |medium: &Medium<u32>| {
            medium.margins().0.iter().map(|margins| (margins.verdicts, margins.near, margins.nearest)).collect::<Vec<_>>()
        };
        prop_assert_eq!(verdicts(&medium), verdicts(&plain));
        prop_assert_eq!(medium.on_air, 0);
        for of in handles {
            medium.clear(of);
        }
        prop_assert_eq!(medium.air.live(), 0);
    }
}
