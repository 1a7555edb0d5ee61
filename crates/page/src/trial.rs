//! A whole experiment: every case with every seed, one after the other, and the charts of its report.

use crate::stage::Refused;
use experiment::jobs;
use experiment::report::{self, Redrawn};
use experiment::scenario::{Scenario, Wishes};
use experiment::study::Run;
use experiment::watch::Timed;
use serde::{Deserialize, Serialize};
use sim::World;

/// Number of short advances in a slice: some tens of milliseconds of work, after which the page can respond.
const SLICE: usize = 16;

/// An experiment with other values.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Trial {
    /// Text of the scenario.
    pub toml: String,
    /// Keys that are set from outside, as with `--set`.
    #[serde(default)]
    pub set: Vec<String>,
    /// Number of seeds for each case.
    pub seeds: usize,
    /// True for the scenario's shorter runs, as `--quick` asks for.
    #[serde(default)]
    pub quick: bool,
    /// Index of the experiment in its report, from 0.
    pub number: usize,
}

/// How far an experiment has come.
#[derive(Debug, Serialize)]
pub struct Progress {
    /// Share of the simulated time that is done, 0 to 1.
    share: f64,
    /// Number of runs in all.
    of: usize,
    /// The charts; `None` before all runs are done.
    drawn: Option<Redrawn>,
}

/// An experiment that is running.
pub struct Experiment {
    scenario: Scenario,
    number: usize,
    world: Option<World>,
    runs: Vec<Run>,
}

impl Experiment {
    /// Reads the scenario.
    ///
    /// # Errors
    /// Those of the command.
    pub fn open(trial: &Trial) -> Result<Self, Refused> {
        let seeds = Some(trial.seeds.max(1));
        let wishes = Wishes { set: trial.set.clone(), seeds, quick: trial.quick, ..Wishes::default() };
        let scenario = Scenario::read("scenario.toml", "scenario", trial.toml.as_bytes(), &(), &wishes)?;
        Ok(Self { scenario, number: trial.number, world: None, runs: Vec::new() })
    }

    fn total(&self) -> usize {
        self.scenario.cases.len() * self.scenario.seeds.len()
    }

    /// Simulates for one slice.
    ///
    /// # Errors
    /// A network cannot be built with one of the seeds.
    pub fn advance(&mut self) -> Result<Progress, Refused> {
        let total = self.total();
        if self.runs.len() < total {
            let job = jobs::job(&self.scenario, self.runs.len(), "page");
            let world = match self.world.take() {
                Some(world) => world,
                None => World::new(&job.network, job.seed).map_err(|error| Refused::from(error.to_string()))?,
            };
            self.world = self.slice(world, job.seed);
        }
        let done = self.runs.len() as f64;
        let part = self.world.as_ref().map_or(0.0, |world| {
            let case = &self.scenario.cases[self.runs.len() / self.scenario.seeds.len()];
            world.now().since(units::Instant::ZERO).as_secs_f64() / case.network.duration.as_secs_f64()
        });
        let drawn = (self.runs.len() == total).then(|| {
            let study = jobs::study(&self.scenario, std::mem::take(&mut self.runs), "");
            report::charts(self.number, &study)
        });
        Ok(Progress { share: (done + part) / total as f64, of: total, drawn })
    }

    /// Runs a network for one slice. A network that has ended becomes a run.
    fn slice(&mut self, mut world: World, seed: u64) -> Option<World> {
        for _ in 0..SLICE {
            if world.finished() {
                let timed = Timed { outcome: world.finish(), wall_s: 0.0, cpu_s: 0.0 };
                let case = &self.scenario.cases[self.runs.len() / self.scenario.seeds.len()];
                self.runs.push(jobs::record(&self.scenario, case, seed, timed));
                return None;
            }
            world.advance_a_little();
        }
        Some(world)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CELL: &str = "id = \"cell\"\ntitle = \"A cell\"\nduration = \"2 s\"\n[radio]\nrange = \"30 m\"\n\
        [[node]]\nname = \"ap\"\nposition = [\"0 m\", \"0 m\"]\n[[node]]\nname = \"s\"\nposition = [\"5 m\", \"1 m\"]\n\
        [[flow]]\nname = \"up\"\nfrom = \"s\"\nto = \"ap\"\n\
        traffic = { kind = \"cbr\", rate = \"400 kb/s\", packet = \"500 B\" }\n\
        [vary]\n\"queue.limit\" = [1, 10]\n\
        [[chart]]\ntitle = \"Goodput\"\nx = \"queue.limit\"\ny = [\"flows.up.goodput_bps\"]\ny_title = \"goodput (Mb/s)\"\n";

    fn trial(set: &[&str]) -> Trial {
        let set = set.iter().map(|&set| set.to_owned()).collect();
        Trial { toml: CELL.to_owned(), set, seeds: 2, quick: false, number: 3 }
    }

    fn drawn(trial: &Trial) -> String {
        let mut experiment = Experiment::open(trial).unwrap_or_else(|refused| panic!("{refused:?}"));
        let mut share = 0.0;
        loop {
            let progress = experiment.advance().unwrap_or_else(|refused| panic!("{refused:?}"));
            assert!(progress.share >= share && progress.of == 4, "{progress:?}");
            share = progress.share;
            if let Some(drawn) = progress.drawn {
                return serde_json::to_string(&drawn).expect("texts and numbers");
            }
        }
    }

    #[test]
    fn the_charts_stand_for_the_runs_with_the_values_that_were_set() {
        let reported = drawn(&trial(&[]));
        assert!(reported.contains("chart-3-0-0") && reported.contains("Goodput"), "{reported}");
        assert_eq!(reported, drawn(&trial(&["flow.up.traffic.rate=400 kb/s"])));
        assert_ne!(reported, drawn(&trial(&["flow.up.traffic.rate=200 kb/s"])));
    }

    #[test]
    fn what_is_wrong_is_refused_as_by_the_command() {
        let refused = Experiment::open(&trial(&["queue.limt=3"])).err().expect("no such key");
        assert!(serde_json::to_string(&refused).is_ok_and(|text| text.contains("limit")), "{refused:?}");
    }
}
