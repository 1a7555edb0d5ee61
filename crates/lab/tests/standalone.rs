//! Tests that a scenario of the project, written with all that it inherits, is valid and gives the same results.

use experiment::scenario::{Case, Refusal, Scenario, Wishes};
use lab::files::{self, Folder};
use sim::World;
use std::fs;
use std::path::{Path, PathBuf};
use units::Duration;

/// Simulated time over which they are compared.
const SPAN: Duration = Duration::from_secs(2);

fn scenarios(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    let within = |path: PathBuf| if path.is_dir() { scenarios(&path) } else { vec![path] };
    let mut all: Vec<_> = entries.flat_map(within).filter(|path| path.extension() == Some("toml".as_ref())).collect();
    all.sort();
    all
}

fn results(case: &Case) -> String {
    let mut world = World::new(&case.network, 1).expect("every network was built when the scenario was read");
    world.advance(SPAN);
    serde_json::to_string(&world.stop()).expect("text and numbers")
}

#[test]
fn a_scenario_without_its_base_is_accepted_and_has_the_same_results() {
    let mut shorter = 0;
    for file in scenarios(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios")) {
        let (name, folder) = (file.display().to_string(), Folder::of(&file));
        if !fs::read_to_string(&file).expect("a file").contains("\nbase = ") {
            continue;
        }
        let right = |read: Result<Scenario, Refusal>| read.unwrap_or_else(|refusal| panic!("{refusal}"));
        let skimmed = right(files::skim(&file, &Wishes::default()));
        let whole = right(files::load(&file, &Wishes::default()));
        if whole.alone == skimmed.alone {
            continue;
        }
        shorter += 1;
        let alone = right(Scenario::read(&name, "another", whole.alone.as_bytes(), &folder, &Wishes::default()));
        let labels = |scenario: &Scenario| scenario.cases.iter().map(|case| case.labels.clone()).collect::<Vec<_>>();
        assert_eq!((&alone.id, labels(&alone), &alone.seeds), (&whole.id, labels(&whole), &whole.seeds), "{name}");
        let last = whole.cases.len() - 1;
        assert_eq!(results(&alone.cases[last]), results(&whole.cases[last]), "{name}");
    }
    assert!(shorter > 20, "only {shorter} bases have settings without effect");
}
