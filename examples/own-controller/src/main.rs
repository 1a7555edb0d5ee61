//! A controller of one's own beside a scenario's schemes: `own-controller SCENARIO [AXIS=LABEL [FOLDER]]`.

use control::{Controller, Limit, Needs, Orders, Period, Reads, Seen, Sets};
use experiment::scenario::Wishes;
use experiment::tables;
use experiment::watch::{Fault, Outside, Timed, Watch};
use lab::store::Store;
use lab::{files, run, sweep};
use sim::config::Network;
use sim::{Governed, World};
use std::collections::BTreeMap;
use std::error::Error;
use std::path::Path;
use std::sync::Arc;
use units::Duration;

/// Every 100 ms: a queue holds twice what left it in this time, 200 ms of it, and at least two packets.
#[derive(Debug)]
struct Twice;

const INTERVAL: Duration = Duration::from_millis(100);

impl Controller for Twice {
    fn needs(&self) -> Needs {
        Needs::new(INTERVAL, Reads::COUNTS, Sets::LIMIT)
    }

    fn begin(&self) -> Orders {
        Limit::Packets(1000).into()
    }

    fn update(&mut self, seen: &Seen) -> Orders {
        let sent = u32::try_from(seen.queue.sent.packets).unwrap_or(u32::MAX);
        Limit::Packets(sent.saturating_mul(2).clamp(2, 1000)).into()
    }
}

/// Runs it at every queue at which the scheme whose place it takes has a controller.
impl Outside for Twice {
    fn run(
        &self,
        network: &Network,
        seed: u64,
        _case: &BTreeMap<String, String>,
        queues: &[Governed],
        watch: &dyn Watch,
    ) -> Result<Option<Timed>, Fault> {
        let every = Period::new(INTERVAL).ok_or("an interval of less than 100 us")?;
        let steered = |_: &World| Ok(queues.iter().map(|queue| (queue.place, every)).collect());
        let mut controllers: Vec<Self> = queues.iter().map(|_| Self).collect();
        let done = run::steered(network, seed, steered, watch, |at, asked| {
            let seen = Seen { queue: asked.seen, radio: None, heard: &[] };
            Ok::<_, sim::BuildError>(controllers[at].update(&seen))
        });
        Ok(done?)
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut words = std::env::args().skip(1);
    let file = words.next().ok_or("own-controller SCENARIO [AXIS=LABEL [FOLDER]]")?;
    let (like, folder) = (words.next(), words.next().unwrap_or_else(|| "results/own-controller".to_owned()));
    let twice: Arc<dyn Outside> = Arc::new(Twice);
    let scenario =
        files::load(Path::new(&file), &Wishes::default())?.with_baseline("twice", like.as_deref(), &twice)?;
    let store = Store::create(Path::new(&folder), &scenario.id)?;
    let (build, command) = (env!("CARGO_PKG_VERSION").to_owned(), format!("own-controller {file}"));
    let study = sweep::run(&scenario, &store, &sweep::Settings { threads: 0, build, command, traces: None }, &())?;
    print!("{}", tables::study(&study, 100, false));
    Ok(())
}
