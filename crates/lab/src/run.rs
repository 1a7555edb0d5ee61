//! One run of one network.

use rustix::time::{ClockId, clock_gettime};
use sim::Governed;
use sim::config::Network;
use sim::results::Outcome;
use sim::trace::TraceEvent;
use std::collections::BTreeMap;
use std::{fmt, io};
use units::Duration;

/// Who watches a run: told how far it came, and asked whether it should go on.
pub trait Watch: Sync {
    /// True when the run should be given up.
    fn stopped(&self) -> bool {
        false
    }

    /// So much more simulated time has passed.
    fn advanced(&self, _by: Duration) {}
}

/// Of a run that nobody watches.
impl Watch for () {}

/// A run's outcome and what it cost.
#[derive(Clone, Debug, PartialEq)]
pub struct Timed {
    /// What the run measured.
    pub outcome: Outcome,
    /// Time on the wall clock, in seconds.
    pub wall_s: f64,
    /// Processor time, in seconds.
    pub cpu_s: f64,
}

/// Why someone [outside](Outside) did not bring a run to its end.
pub type Fault = Box<dyn std::error::Error + Send + Sync>;

/// Someone who is no part of Sluice and decides upon queues, as controllers that are written in Python do.
pub trait Outside: fmt::Debug + Send + Sync {
    /// Runs `network` to its end, and decides at `places`; nothing when the watcher stopped it. `case`: the labels of what
    /// is varied.
    ///
    /// # Errors
    /// When it cannot.
    fn run(
        &self,
        network: &Network,
        seed: u64,
        case: &BTreeMap<String, String>,
        places: &[Governed],
        watch: &dyn Watch,
    ) -> Result<Option<Timed>, Fault>;
}

/// Who is told every event of a run.
pub(crate) trait Observer {
    /// So much has happened since the last call.
    ///
    /// # Errors
    /// When it cannot be written down.
    fn see(&mut self, events: &[TraceEvent]) -> io::Result<()>;

    /// The run is over, or was given up.
    ///
    /// # Errors
    /// When the last of it cannot be written down.
    fn finish(&mut self) -> io::Result<()>;
}

/// Runs `network` with `seed` to its end; nothing when the watcher stopped it.
///
/// # Errors
/// What makes the network impossible to build.
pub fn run(network: &Network, seed: u64, watch: &dyn Watch) -> Result<Option<Timed>, sim::BuildError> {
    let (wall, cpu) = (seconds(ClockId::Monotonic), seconds(ClockId::ThreadCPUTime));
    let mut world = sim::World::new(network, seed)?;
    while !world.finished() && !watch.stopped() {
        advance(&mut world, watch);
    }
    Ok(world.finished().then(|| timed(world.finish(), wall, cpu)))
}

/// Runs on for a little while, and tells the watcher how far it came.
fn advance(world: &mut sim::World, watch: &dyn Watch) {
    let before = world.now();
    world.advance_a_little();
    watch.advanced(world.now().since(before));
}

/// Runs `world` to its end as [`run`] does, and tells `observer` all that happens at the nodes that it watches.
///
/// # Errors
/// The observer's.
pub(crate) fn observed(
    mut world: sim::World,
    watch: &dyn Watch,
    observer: &mut dyn Observer,
) -> io::Result<Option<Timed>> {
    let (wall, cpu) = (seconds(ClockId::Monotonic), seconds(ClockId::ThreadCPUTime));
    while !world.finished() && !watch.stopped() {
        advance(&mut world, watch);
        observer.see(&world.take_events())?;
    }
    observer.finish()?;
    Ok(world.finished().then(|| timed(world.finish(), wall, cpu)))
}

/// Runs `network` with `seed` to its end, with `decide` in the place of the controllers of the queues that `steered` chooses
/// (with their intervals), which it is told by their place in that list; nothing when the watcher stopped it.
///
/// # Panics
/// Never.
///
/// # Errors
/// What makes the network impossible to build or to be decided upon, or what `decide` fails with.
pub fn steered<E: From<sim::BuildError>>(
    network: &Network,
    seed: u64,
    steered: impl FnOnce(&sim::World) -> Result<Vec<(sim::Place, control::Period)>, E>,
    watch: &dyn Watch,
    mut decide: impl FnMut(usize, &sim::Asked) -> Result<control::Orders, E>,
) -> Result<Option<Timed>, E> {
    let (wall, cpu) = (seconds(ClockId::Monotonic), seconds(ClockId::ThreadCPUTime));
    let mut world = sim::World::new(network, seed)?;
    let steered = steered(&world)?;
    for &(place, interval) in &steered {
        world.steer(place, interval)?;
    }
    while !world.finished() && !watch.stopped() {
        advance(&mut world, watch);
        while let Some(asked) = world.asked() {
            let number = steered.iter().position(|&(place, _)| place == asked.place);
            let orders = decide(number.expect("only these are asked about"), &asked)?;
            world.order(&asked, &orders);
        }
    }
    Ok(world.finished().then(|| timed(world.finish(), wall, cpu)))
}

fn timed(outcome: Outcome, wall: f64, cpu: f64) -> Timed {
    Timed { outcome, wall_s: seconds(ClockId::Monotonic) - wall, cpu_s: seconds(ClockId::ThreadCPUTime) - cpu }
}

/// The results that a run of `network` will have, without having run: all names, no values.
pub(crate) fn blank(network: &Network) -> Result<Outcome, sim::BuildError> {
    drop(sim::World::new(network, 0)?);
    let no_time = Network { duration: Duration::from_nanos(1), warmup: Duration::ZERO, ..network.clone() };
    Ok(sim::World::new(&no_time, 0)?.finish())
}

fn seconds(clock: ClockId) -> f64 {
    let time = clock_gettime(clock);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}
