//! Tests that links found through the index equal those found by comparing every pair.

use super::*;
use crate::config::{Propagation, WalkStart};
use crate::engine::{Purpose, Stream};
use crate::motion::{Command, Order, Presence, RandomWaypoint, Walk};
use crate::radio::channel::Channel;
use proptest::prelude::*;
use units::Length;

/// (listener, delay, power, decodable), nearest first.
type Heard = Vec<(u32, Duration, u64, bool)>;

fn heard(links: &[Link]) -> Heard {
    links.iter().map(|link| (link.to, link.delay, link.power, link.decodable)).collect()
}

/// Returns the listeners of `from`, by checking every node.
fn brute_force(radio: &Radio, motion: &mut Motion, from: u32, now: Instant) -> Heard {
    let model = Model::new(radio, motion.nodes(), motion.heights(), &Channel::clear());
    if !motion.is_present(from, now) {
        return Vec::new();
    }
    let position = motion.position(from, now);
    let others: Vec<u32> = nodes_of(motion.nodes()).filter(|&to| to != from && motion.is_present(to, now)).collect();
    let links = others.into_iter().filter_map(|to| model.link((position, motion.position(to, now)), from, to));
    let mut links: Vec<Link> = links.collect();
    links.sort_by_key(|link| (link.delay, link.to));
    heard(&links)
}

fn radios() -> impl Strategy<Value = Radio> {
    use Propagation::{FreeSpace, LogDistance, Range, TwoRay};
    let propagation = prop_oneof![Just(FreeSpace), Just(LogDistance), Just(Range), Just(TwoRay)];
    let range = prop_oneof![Just(None), (0.1..600.0_f64).prop_map(|metres| Some(Length::metres(metres)))];
    (propagation, range).prop_map(|(propagation, range)| Radio { propagation, range, ..Radio::default() })
}

/// Positions on a square, some of them shared.
fn positions() -> impl Strategy<Value = Vec<Position>> {
    let one = prop_oneof![
        9 => (-1000.0..1000.0, -1000.0..1000.0).prop_map(|(x, y)| Position { x, y, z: 0.0 }),
        1 => Just(Position { x: 10.0, y: 20.0, z: 5.0 }),
    ];
    prop::collection::vec(one, 1..60)
}

/// Returns a walk from a position: by random waypoint, by commands, or none.
fn walk(position: Position, node: usize, kind: u8) -> Walk {
    match kind {
        0 => Walk::still(position),
        1 => {
            let command = |seconds: u64, x, y, speed| Command {
                time: Instant::ZERO + Duration::from_secs(seconds),
                order: Order::Go { x, y, z: Some(x / 10.0), speed },
            };
            let back = command(20, position.x, position.y, 50.0);
            Walk::scripted(position, vec![command(1, 0.0, 0.0, 3.0), command(5, 500.0, -position.y, 20.0), back])
        }
        2 => {
            // The node appears after a second, is at once elsewhere, leaves, and appears again.
            let second = |seconds| Instant::ZERO + Duration::from_secs(seconds);
            let mut presence = Presence::default();
            for (time, comes) in [(1, true), (7, false), (12, true)] {
                presence.turn(second(time), comes);
            }
            let leap = Order::Set { x: Some(-position.x), y: None, z: Some(30.0) };
            Walk::scripted(position, vec![Command { time: second(4), order: leap }]).with_presence(presence)
        }
        _ => {
            let area = Position { x: 1000.0, y: 1000.0, z: 0.0 };
            let random = Stream::new(1, &node.to_string(), Purpose::MOTION);
            let walk = RandomWaypoint::new(area, 1.0, 20.0, Duration::from_secs(2), random);
            Walk::random(walk, WalkStart::Uniform)
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, ..ProptestConfig::default() })]

    #[test]
    fn links_of_standing_nodes_are_those_of_all_pairs(radio in radios(), positions in positions()) {
        let mut motion = Motion::new(positions.into_iter().map(Walk::still).collect());
        let links = Links::new(&radio, motion.clone(), &Channel::clear());
        for from in nodes_of(motion.nodes()) {
            prop_assert_eq!(heard(links.of(from)), brute_force(&radio, &mut motion, from, Instant::ZERO));
        }
    }

    #[test]
    fn links_of_moving_nodes_are_those_of_all_pairs_where_they_are_now(
        radio in radios(),
        positions in positions(),
        kinds in prop::collection::vec(0_u8..4, 60),
        sends in prop::collection::vec((0_usize..60, 1_u64..4_000), 1..60),
    ) {
        let walks = positions.into_iter().zip(kinds).enumerate().map(|(node, (position, kind))| walk(position, node, kind));
        let mut motion = Motion::new(walks.collect());
        let mut links = Links::new(&radio, motion.clone(), &Channel::clear());
        let mut now = Instant::ZERO;
        for (sender, millis) in sends {
            now += Duration::from_millis(millis);
            let from = u32::try_from(sender % motion.nodes()).expect("few nodes");
            links.refresh(from, now);
            prop_assert_eq!(heard(links.of(from)), brute_force(&radio, &mut motion, from, now));
        }
    }
}

#[test]
fn links_are_kept_until_a_distance_may_have_changed_by_a_centimetre() {
    let away = Command { time: Instant::ZERO, order: Order::Go { x: 1000.0, y: 0.0, z: None, speed: 1.0 } };
    let start = Position { x: 30.0, ..Position::default() };
    let walks = vec![Walk::still(Position::default()), Walk::scripted(start, vec![away])];
    let mut links = Links::new(&Radio::default(), Motion::new(walks), &Channel::clear());
    let mut power_after = |millis: u64| {
        links.refresh(0, Instant::ZERO + Duration::from_millis(millis));
        links.of(0)[0].power
    };
    // Two nodes at 1 m/s can come a centimetre closer in 5 ms.
    let first = power_after(0);
    assert_eq!(power_after(5), first);
    assert!(power_after(6) < first);
}
