//! One run of one network.

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
    let (wall, cpu) = (wall_clock(), thread_time());
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
    let (wall, cpu) = (wall_clock(), thread_time());
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
    let (wall, cpu) = (wall_clock(), thread_time());
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

fn timed(outcome: Outcome, wall: std::time::Instant, cpu: std::time::Duration) -> Timed {
    Timed { outcome, wall_s: wall.elapsed().as_secs_f64(), cpu_s: thread_time().saturating_sub(cpu).as_secs_f64() }
}

/// The results that a run of `network` will have, without having run: all names, no values.
pub(crate) fn blank(network: &Network) -> Result<Outcome, sim::BuildError> {
    drop(sim::World::new(network, 0)?);
    let no_time = Network { duration: Duration::from_nanos(1), warmup: Duration::ZERO, ..network.clone() };
    Ok(sim::World::new(&no_time, 0)?.finish())
}

#[expect(clippy::disallowed_methods, reason = "how long a run took is told beside its results")]
fn wall_clock() -> std::time::Instant {
    std::time::Instant::now()
}

/// Processor time of this thread so far.
#[cfg(unix)]
fn thread_time() -> std::time::Duration {
    use rustix::time::{ClockId, clock_gettime};
    std::time::Duration::try_from(clock_gettime(ClockId::ThreadCPUTime)).expect("this clock begins at zero")
}

/// Time since the first call, where the system does not tell a thread's processor time by a clock.
#[cfg(not(unix))]
fn thread_time() -> std::time::Duration {
    static FIRST: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
    FIRST.get_or_init(wall_clock).elapsed()
}
