//! Would one run gain from a second core? `lookahead SCENARIO [SECONDS]`
//!
//! Two cores can work on halves of a network, with the same results, as long as nothing that one of them does next can reach
//! the other half: for the *lookahead*. Then they wait for each other. This prints how much work there is between two such
//! moments, what waiting costs on this machine, and the speed-up that follows if the work is split evenly each time, which no
//! network does: a bound that no program exceeds that works by lookahead. On a machine that does something else besides,
//! waiting costs more.
#![expect(clippy::disallowed_methods, reason = "it measures how long things take on this machine")]

use sim::World;
use sim::config::Network;
use std::error::Error;
use std::hint::spin_loop;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;
use units::Duration;

/// What can be looked ahead by, and why.
const LOOKAHEADS: [(Duration, &str); 4] = [
    (Duration::from_nanos(100), "propagation over 30 m: whatever a station does"),
    (
        Duration::from_micros(2),
        "turn-around of 802.11a: who sends is settled by then, where arrivals of packets are known",
    ),
    (Duration::from_micros(16), "SIFS: if back-offs never ended"),
    (Duration::from_micros(34), "DIFS: if nobody ever answered, either"),
];
const ROUNDS: u64 = 1_000_000;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let path = arguments.next().ok_or("usage: lookahead SCENARIO [SECONDS]")?;
    let seconds = arguments.next().map_or(Ok(5), |seconds| seconds.parse())?;
    let mut scenario: toml::Table = toml::from_str(&std::fs::read_to_string(path)?)?;
    for key in ["title", "about", "claim"] {
        scenario.remove(key);
    }
    scenario.insert("duration".to_owned(), format!("{seconds} s").into());
    scenario.remove("warmup");
    let network: Network = scenario.try_into()?;

    let mut world = World::new(&network, 1)?;
    let start = Instant::now();
    world.advance(Duration::from_secs(seconds));
    let event = start.elapsed().as_nanos() as f64 / world.handled() as f64;
    let barrier = barrier();
    println!("{} events in {seconds} s, {event:.1} ns each; to wait for each other {barrier:.0} ns", world.handled());
    println!("lookahead   moments with events   events in each   at most faster   because");
    for (lookahead, reason) in LOOKAHEADS {
        let (moments, events) = moments(&network, lookahead, seconds)?;
        let each = events as f64 / moments as f64;
        let bound = each * event / (each * event / 2.0 + barrier);
        println!("{:>6.1} us {moments:>21} {each:>16.1} {bound:>16.2}   {reason}", lookahead.as_secs_f64() * 1e6);
    }
    Ok(())
}

/// How many spans of this length have events, and how many events there are.
fn moments(network: &Network, lookahead: Duration, seconds: u64) -> Result<(u64, u64), Box<dyn Error>> {
    let mut world = World::new(network, 1)?;
    let (mut moments, mut before) = (0, 0);
    for _ in 0..Duration::from_secs(seconds).as_nanos() / lookahead.as_nanos() {
        world.advance(lookahead);
        moments += u64::from(world.handled() > before);
        before = world.handled();
    }
    Ok((moments, before))
}

/// How long two threads take, in nanoseconds, to wait for each other once: the least of five times.
fn barrier() -> f64 {
    let once = || {
        let [mine, other] = [const { AtomicU64::new(0) }; 2];
        let meet = |mine: &AtomicU64, other: &AtomicU64| {
            for round in 1..=ROUNDS {
                mine.store(round, Ordering::Release);
                while other.load(Ordering::Acquire) < round {
                    spin_loop();
                }
            }
        };
        let start = Instant::now();
        std::thread::scope(|scope| {
            scope.spawn(|| meet(&other, &mine));
            meet(&mine, &other);
        });
        start.elapsed().as_nanos() as f64 / ROUNDS as f64
    };
    (0..5).map(|_| once()).fold(f64::INFINITY, f64::min)
}
