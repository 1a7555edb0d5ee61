//! One run of one network, and how long it takes.

use experiment::watch::{Timed, Watch};
use sim::config::Network;
use sim::results::Outcome;
use sim::trace::TraceEvent;
use std::io;

/// A receiver of every event of a run.
pub(crate) trait Observer {
    /// Takes the events since the last call.
    ///
    /// # Errors
    /// If they cannot be written.
    fn see(&mut self, events: &[TraceEvent]) -> io::Result<()>;

    /// Ends the record of a run that is over or was stopped.
    ///
    /// # Errors
    /// If the last events cannot be written.
    fn finish(&mut self) -> io::Result<()>;
}

/// Runs `network` with `seed` to its end; `None` if the watcher stopped it.
///
/// # Errors
/// The reason why the network cannot be built.
pub fn run(network: &Network, seed: u64, watch: &dyn Watch) -> Result<Option<Timed>, sim::BuildError> {
    let (wall, cpu) = (wall_clock(), thread_time());
    let mut world = sim::World::new(network, seed)?;
    while !world.finished() && !watch.stopped() {
        advance(&mut world, watch);
    }
    Ok(world.finished().then(|| timed(world.finish(), wall, cpu)))
}

/// Advances the run by a short time, and reports the progress to the watcher.
fn advance(world: &mut sim::World, watch: &dyn Watch) {
    let before = world.now();
    world.advance_a_little();
    watch.advanced(world.now().since(before));
}

/// Runs `world` to its end as [`run`] does, and passes to `observer` all events at the nodes that it watches.
///
/// # Errors
/// The observer's error.
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

/// Runs `network` with `seed` to its end. `decide` replaces the controllers of the queues that `steered` chooses (with
/// their intervals), and gets their index in that list. `None` if the watcher stopped it.
///
/// # Panics
/// Never.
///
/// # Errors
/// The reason why the network cannot be built or steered, or the error of `decide`.
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

#[expect(clippy::disallowed_methods, reason = "how long a run took is told beside its results")]
fn wall_clock() -> std::time::Instant {
    std::time::Instant::now()
}

/// Returns the processor time of this thread so far.
#[cfg(unix)]
fn thread_time() -> std::time::Duration {
    use rustix::time::{ClockId, clock_gettime};
    std::time::Duration::try_from(clock_gettime(ClockId::ThreadCPUTime)).expect("this clock begins at zero")
}

/// Returns the time since the first call, on systems without a clock for a thread's processor time.
#[cfg(not(unix))]
fn thread_time() -> std::time::Duration {
    static FIRST: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
    FIRST.get_or_init(wall_clock).elapsed()
}
