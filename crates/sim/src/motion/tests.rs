//! Positions of nodes: legs by hand, and the known laws of random waypoint.

use super::*;
use crate::engine::{Purpose, Stream};
use proptest::prelude::*;
use units::Duration;

fn second(seconds: f64) -> Instant {
    Instant::ZERO + Duration::from_secs_f64(seconds)
}

fn at(x: f64, y: f64) -> Position {
    Position { x, y, z: 0.0 }
}

fn command(seconds: f64, Position { x, y, .. }: Position, speed: f64) -> Command {
    Command { time: second(seconds), order: Order::Go { x, y, z: None, speed } }
}

fn positions(walk: Walk, times: &[f64]) -> Vec<(f64, f64)> {
    let mut motion = Motion::new(vec![walk]);
    let position = |&seconds: &f64| {
        let Position { x, y, .. } = motion.position(0, second(seconds));
        (libm::round(x * 1e6) / 1e6, libm::round(y * 1e6) / 1e6)
    };
    times.iter().map(position).collect()
}

#[test]
fn a_node_goes_straight_and_waits_where_it_arrives() {
    // From second 2 on 5 m, at 2 m/s, along 3-4-5.
    let walk = Walk::scripted(at(0.0, 0.0), vec![command(2.0, at(3.0, 4.0), 2.0)]);
    let found = positions(walk, &[0.0, 2.0, 3.25, 4.5, 100.0]);
    assert_eq!(found, [(0.0, 0.0), (0.0, 0.0), (1.5, 2.0), (3.0, 4.0), (3.0, 4.0)]);
}

#[test]
fn a_new_command_replaces_the_one_under_way_and_speed_zero_stops() {
    let turned =
        Walk::scripted(at(0.0, 0.0), vec![command(0.0, at(100.0, 0.0), 1.0), command(10.0, at(10.0, 50.0), 5.0)]);
    assert_eq!(positions(turned, &[9.0, 10.0, 15.0, 30.0]), [(9.0, 0.0), (10.0, 0.0), (10.0, 25.0), (10.0, 50.0)]);
    let stopped =
        Walk::scripted(at(0.0, 0.0), vec![command(0.0, at(100.0, 0.0), 1.0), command(4.0, at(0.0, 0.0), 0.0)]);
    assert_eq!(positions(stopped, &[3.0, 50.0]), [(3.0, 0.0), (4.0, 0.0)]);
}

#[test]
fn of_commands_at_one_time_the_last_counts() {
    let walk = Walk::scripted(at(0.0, 0.0), vec![command(1.0, at(9.0, 0.0), 1.0), command(1.0, at(0.0, 9.0), 1.0)]);
    assert_eq!(positions(walk, &[2.0]), [(0.0, 1.0)]);
}

proptest! {
    #[test]
    fn nobody_jumps_and_questions_change_nothing(
        legs in prop::collection::vec((0.0..20.0, -99.0..99.0, -99.0..99.0, 0.0..30.0), 0..8),
        steps in prop::collection::vec(0.001..10.0, 1..20),
    ) {
        let mut time = 0.0;
        let commands = legs.into_iter().map(|(gap, x, y, speed)| {
            time += gap;
            command(time, at(x, y), speed)
        });
        let walk = Walk::scripted(at(1.0, 2.0), commands.collect());
        let mut asked_often = Motion::new(vec![walk.clone()]);
        let mut now = 0.0;
        for step in steps {
            let before = asked_often.position(0, second(now));
            now += step;
            let position = asked_often.position(0, second(now));
            prop_assert!(before.distance(position) <= asked_often.top_speed * step + 1e-6);
            prop_assert_eq!(Motion::new(vec![walk.clone()]).position(0, second(now)), position);
        }
    }
}

const AREA: Position = Position { x: 1500.0, y: 300.0, z: 0.0 };
const SPEEDS: (f64, f64) = (1.0, 20.0);

fn walkers(count: u32, pause: f64, start: WalkStart) -> Motion {
    let walk = |node: u32| {
        let random = Stream::new(4, &format!("n{node}"), Purpose::MOTION);
        let walk = RandomWaypoint::new(AREA, SPEEDS.0, SPEEDS.1, Duration::from_secs_f64(pause), random);
        Walk::random(walk, start)
    };
    Motion::new((0..count).map(walk).collect())
}

/// Returns the mean of the nodes' speeds at a time, its standard error, and the share of nodes that move.
fn speeds(motion: &mut Motion, seconds: f64) -> (f64, f64, f64) {
    const STEP: f64 = 1e-3;
    let count = u32::try_from(motion.nodes()).expect("few nodes");
    let found: Vec<f64> = (0..count)
        .map(|node| {
            let before = motion.position(node, second(seconds));
            before.distance(motion.position(node, second(seconds + STEP))) / STEP
        })
        .collect();
    let n = f64::from(count);
    let mean = found.iter().sum::<f64>() / n;
    let variance = found.iter().map(|speed| (speed - mean) * (speed - mean)).sum::<f64>() / (n - 1.0);
    let moving = found.iter().filter(|&&speed| speed > 0.0).count() as f64 / n;
    (mean, libm::sqrt(variance / n), moving)
}

/// Returns the time average of a speed that is uniform from leg to leg: legs last as 1 / v.
fn stationary_speed() -> f64 {
    (SPEEDS.1 - SPEEDS.0) / libm::log(SPEEDS.1 / SPEEDS.0)
}

#[test]
fn the_stationary_start_has_the_stationary_mean_speed_from_the_first_moment_on() {
    let mut motion = walkers(4000, 0.0, WalkStart::Stationary);
    for seconds in [0.0, 10.0, 100.0, 1000.0] {
        let (mean, error, _) = speeds(&mut motion, seconds);
        // Four moments, each within 3.5 standard errors with probability 0.9995.
        assert!((mean - stationary_speed()).abs() < 3.5 * error, "{mean} m/s after {seconds} s, error {error}");
    }
}

#[test]
fn the_uniform_start_begins_fast_and_slows_down() {
    let mut motion = walkers(4000, 0.0, WalkStart::Uniform);
    let (first, error, _) = speeds(&mut motion, 0.0);
    let uniform_mean = f64::midpoint(SPEEDS.0, SPEEDS.1);
    assert!((first - uniform_mean).abs() < 3.5 * error, "{first}");
    let (later, error, _) = speeds(&mut motion, 3000.0);
    assert!((later - stationary_speed()).abs() < 3.5 * error, "{later}");
    assert!(later < 0.65 * first, "from {first} to {later} m/s");
}

#[test]
fn as_many_pause_at_the_start_as_ever_after() {
    // The share that moves is E[leg] / (E[leg] + pause): 517.7 m / 6.342 m/s = 81.6 s against 40 s of pause.
    let mut motion = walkers(4000, 40.0, WalkStart::Stationary);
    let mut expected = None;
    for seconds in [0.0, 30.0, 1000.0] {
        let (_, _, moving) = speeds(&mut motion, seconds);
        let share = *expected.get_or_insert_with(|| {
            let leg = mean_leg_by_sampling() / stationary_speed();
            leg / (leg + 40.0)
        });
        let error = libm::sqrt(share * (1.0 - share) / 4000.0);
        assert!((moving - share).abs() < 3.5 * error, "{moving} of {share} move after {seconds} s");
    }
}

/// Returns the mean distance of two uniform positions, by simulation.
fn mean_leg_by_sampling() -> f64 {
    let mut random = Stream::new(9, "pairs", Purpose::MOTION);
    let mut position = || at(AREA.x * random.unit(), AREA.y * random.unit());
    let n = 200_000;
    (0..n).map(|_| position().distance(position())).sum::<f64>() / f64::from(n)
}

/// Returns the number of positions in the middle ninth of the area.
fn in_the_centre(motion: &mut Motion, seconds: f64) -> f64 {
    let count = u32::try_from(motion.nodes()).expect("few nodes");
    let central = |side: f64, at: f64| at > side / 3.0 && at < side * 2.0 / 3.0;
    let found = (0..count).filter(|&node| {
        let position = motion.position(node, second(seconds));
        central(AREA.x, position.x) && central(AREA.y, position.y)
    });
    found.count() as f64 / f64::from(count)
}

#[test]
fn nodes_are_as_dense_in_the_centre_at_the_start_as_ever_after() {
    // The stationary position lies uniformly on a path drawn with a weight of its length (Navidi and Camp, theorem 2).
    // So the expected share is that part of all paths of uniform pairs that lies in the middle ninth, by sampling.
    let mut random = Stream::new(5, "paths", Purpose::MOTION);
    let (mut inside, mut all) = (0.0, 0.0);
    for _ in 0..400_000 {
        let mut unit = || random.unit();
        let (from, to) = (at(unit(), unit()), at(unit(), unit()));
        let length = at(from.x * AREA.x, from.y * AREA.y).distance(at(to.x * AREA.x, to.y * AREA.y));
        let position = from.towards(to, unit());
        let central = |at: f64| at > 1.0 / 3.0 && at < 2.0 / 3.0;
        all += length;
        inside += if central(position.x) && central(position.y) { length } else { 0.0 };
    }
    let share = inside / all;
    assert!(share > 0.15, "uniform nodes would have 0.111 there, these have {share}");
    let mut motion = walkers(8000, 0.0, WalkStart::Stationary);
    for seconds in [0.0, 500.0, 1000.0] {
        let found = in_the_centre(&mut motion, seconds);
        let error = libm::sqrt(share * (1.0 - share) / 8000.0);
        assert!((found - share).abs() < 3.5 * error + 0.001, "{found} of {share} after {seconds} s");
    }
    let uniform = in_the_centre(&mut walkers(8000, 0.0, WalkStart::Uniform), 0.0);
    assert!((uniform - 1.0 / 9.0).abs() < 3.5 * libm::sqrt(1.0 / 9.0 * 8.0 / 9.0 / 8000.0), "{uniform}");
}

mod files;
