//! Tests that the picture of a report in the README is of what the command reports today.

use experiment::scenario::Wishes;
use lab::files;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// The content of the picture that `make picture` writes.
#[derive(Debug, PartialEq, serde::Deserialize)]
struct Shown {
    experiment: String,
    title: String,
    says: Vec<String>,
    chart: String,
    claims: usize,
    verdicts: BTreeMap<String, usize>,
}

#[test]
fn the_picture_in_the_readme_is_of_the_present_report() {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    let file = root.join("scenarios/arena/home.toml");
    let scenario = files::load(&file, &Wishes::default()).unwrap();
    let record = fs::read_to_string(root.join("evidence/arena.csv")).unwrap();
    let rows = evidence::read(&record).unwrap();
    let mut verdicts = BTreeMap::new();
    for row in rows.iter().filter(|row| row.experiment() == scenario.id && row.conventions == scenario.conventions) {
        let word = serde_json::to_value(row.verdict).unwrap().as_str().unwrap().to_owned();
        *verdicts.entry(word).or_default() += 1;
    }
    let wanted = Shown {
        experiment: scenario.id,
        title: scenario.title,
        says: scenario.answer.says,
        chart: scenario.charts.iter().find(|chart| chart.first).unwrap().title.clone(),
        claims: scenario.claims.len(),
        verdicts,
    };
    let png = fs::read(root.join("docs/report.png")).unwrap();
    let mark = b"tEXtDescription\0";
    let at = png.windows(mark.len()).position(|window| window == mark).expect("`make picture` made the picture");
    let text = at + mark.len();
    let end = at + 4 + u32::from_be_bytes(png[at - 4..at].try_into().unwrap()) as usize;
    let shown: Shown = serde_json::from_slice(&png[text..end]).unwrap();
    assert_eq!(shown, wanted, "`make picture` draws docs/report.png again");
}
