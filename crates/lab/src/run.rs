//! One run of one network, and the time that it takes.

use experiment::watch::{Timed, Watch};
use sim::config::Network;
use sim::trace::TraceEvent;
use std::io;

/// Gets every event of a run.
pub(crate) trait Observer {
    /// Takes the events since the last call.
    ///
    /// # Errors
    /// The events cannot be written.
    fn see(&mut self, events: &[TraceEvent]) -> io::Result<()>;

    /// Completes the record of a run that has ended or was stopped.
    ///
    /// # Errors
    /// The last events cannot be written.
    fn finish(&mut self) -> io::Result<()>;
}

/// Runs `network` with `seed` to its end; `None` if the watcher stopped the run.
///
/// # Errors
/// The network cannot be built; the error says why. Or a discipline that the program registered has failed.
pub fn run(network: &Network, seed: u64, watch: &dyn Watch) -> Result<Option<Timed>, sim::BuildError> {
    let begun = (wall_clock(), thread_time());
    to_end(sim::World::new(network, seed)?, watch, begun, |world| sim::sound(world))
}

/// Runs a world, which started at `begun`, to its end in short advances. Reports the progress to the watcher and calls
/// `each` after each advance. `None` if the watcher stopped the run.
fn to_end<E>(
    mut world: sim::World,
    watch: &dyn Watch,
    (wall, cpu): (std::time::Instant, std::time::Duration),
    mut each: impl FnMut(&mut sim::World) -> Result<(), E>,
) -> Result<Option<Timed>, E> {
    while !world.finished() && !watch.stopped() {
        let before = world.now();
        world.advance_a_little();
        watch.advanced(world.now().since(before));
        each(&mut world)?;
    }
    let timed = |outcome| Timed {
        outcome,
        wall_s: wall.elapsed().as_secs_f64(),
        cpu_s: thread_time().saturating_sub(cpu).as_secs_f64(),
    };
    Ok(world.finished().then(|| timed(world.finish())))
}

/// Runs `world` to its end as [`run`] does, and gives all events at the watched nodes to `observer`. Errors: those of
/// the observer.
pub(crate) fn observed(world: sim::World, watch: &dyn Watch, observer: &mut dyn Observer) -> io::Result<Option<Timed>> {
    let see = |world: &mut sim::World| {
        sim::sound(world).map_err(io::Error::other)?;
        observer.see(&world.take_events())
    };
    let timed = to_end(world, watch, (wall_clock(), thread_time()), see)?;
    observer.finish()?;
    Ok(timed)
}

/// Runs `network` with `seed` to its end. `steered` returns queues with their intervals. `decide` replaces the
/// controllers of these queues and gets a queue's index in the list. `None` if the watcher stopped the run.
///
/// # Panics
/// Never.
///
/// # Errors
/// The network cannot be built or steered, or `decide` fails.
pub fn steered<E: From<sim::BuildError>>(
    network: &Network,
    seed: u64,
    steered: impl FnOnce(&sim::World) -> Result<Vec<(sim::Place, control::Period)>, E>,
    watch: &dyn Watch,
    mut decide: impl FnMut(usize, &sim::Asked) -> Result<control::Orders, E>,
) -> Result<Option<Timed>, E> {
    let begun = (wall_clock(), thread_time());
    let mut world = sim::World::new(network, seed)?;
    let steered = steered(&world)?;
    for &(place, interval) in &steered {
        world.steer(place, interval)?;
    }
    to_end(world, watch, begun, |world| {
        sim::sound(world)?;
        while let Some(asked) = world.asked() {
            let number = steered.iter().position(|&(place, _)| place == asked.place);
            let orders = decide(number.expect("only these are asked about"), &asked)?;
            world.order(&asked, &orders);
        }
        Ok(())
    })
}

#[expect(clippy::disallowed_methods, reason = "how long a run took is told beside its results")]
fn wall_clock() -> std::time::Instant {
    std::time::Instant::now()
}

/// Returns the processor time that this thread has used.
#[cfg(unix)]
fn thread_time() -> std::time::Duration {
    use rustix::time::{ClockId, clock_gettime};
    std::time::Duration::try_from(clock_gettime(ClockId::ThreadCPUTime)).expect("this clock begins at zero")
}

/// Returns the time since the first call, for systems without a clock of a thread's processor time.
#[cfg(not(unix))]
fn thread_time() -> std::time::Duration {
    static FIRST: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
    FIRST.get_or_init(wall_clock).elapsed()
}
