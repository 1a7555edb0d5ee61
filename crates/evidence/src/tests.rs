use super::*;
use experiment::scenario::Wishes;
use std::collections::BTreeMap;

const CHAIN: &str = include_str!("../../cli/tests/fixtures/chain.toml");

fn scenario(text: &str, set: &[&str]) -> Scenario {
    let wishes = Wishes { set: set.iter().map(|&set| set.to_owned()).collect(), ..Wishes::default() };
    Scenario::parse("chain.toml", text.as_bytes(), &wishes).unwrap()
}

/// Makes a row for the first claim of the chain.
fn row(text: &str, conventions: &str, ours: f64, verdict: Ruling) -> Row {
    let set = format!("conventions={conventions}");
    let set = [set.as_str()];
    let scenario = scenario(text, if conventions == "standard" { &[] } else { &set });
    let claim = &scenario.claims[0];
    let row = Row {
        id: claim.id.clone(),
        conventions: conventions.to_owned(),
        ours,
        low: ours,
        high: f64::NAN,
        unit: Unit::Seconds,
        at: "n1; seed 3".to_owned(),
        window: claim.holds.clone(),
        verdict,
        neighbours: "SWAN, T = 0.1 s: 0.5 holds".to_owned(),
        depends_on: "T".to_owned(),
        date: day(1_778_284_800),
        command: command(&scenario),
        hash: scenario.hashes.get(&claim.id).unwrap(),
        ..Row::default()
    };
    row.reworded(claim)
}

/// Returns the chain with one claim, to which these keys are added.
fn with_claim(keys: &str) -> String {
    let mut parts = CHAIN.split("[[claim]]");
    format!("{}[[claim]]{}\n{keys}\n", parts.next().unwrap(), parts.next().unwrap().split("[[").next().unwrap())
}

fn told(text: &str, rows: &[Row]) -> Vec<String> {
    let named = |set: &[&str]| [Named { document: "paper".to_owned(), scenario: scenario(text, set) }];
    let records = BTreeMap::from([("paper".to_owned(), rows.to_vec())]);
    problems(&named(&[]), &named(&["conventions=ns-2"]), &records)
}

#[test]
fn a_record_is_read_as_it_was_written() {
    let text =
        with_claim("reported = 0.4\nstatement = \"other\"\nheadline = true\nwhy = \"It rains\"\ncause = \"open\"");
    let rows = vec![row(&text, "standard", 1.234_567_89e-3, Ruling::Better), row(CHAIN, "ns-2", 2.0, Ruling::Holds)];
    let written = write(&rows);
    let again = read(&written).unwrap();
    assert_eq!(write(&again), written);
    assert!(again[0].high.is_nan() && number(again[0].ours) == "0.00123457");
    let plain = |row: &Row| Row { ours: 0.0, low: 0.0, high: 0.0, ..row.clone() };
    assert_eq!(again.iter().map(plain).collect::<Vec<_>>(), rows.iter().map(plain).collect::<Vec<_>>());
    assert_eq!(
        (again[0].experiment(), again[1].command.as_str()),
        ("chain", "sluice reproduce chain --set conventions=ns-2")
    );
    let endless = Row { high: f64::INFINITY, low: f64::NEG_INFINITY, ..rows[1].clone() };
    let kept = read(&write(&[endless])).unwrap();
    assert!(kept[0].high == f64::INFINITY && kept[0].low == f64::NEG_INFINITY, "{kept:?}");
    assert!(read(&written.replace(",2,2,", ",2,many,")).is_err(), "{written}");
    assert!(read("a,b\n").is_err() && read(&written.replace("better", "bettr")).unwrap_err().contains("row 1"));
    assert!(read(&written[..written.len() - 5]).is_err());
}

#[test]
fn a_record_that_fits_its_scenarios_has_no_problem() {
    let text = with_claim("");
    assert_eq!(
        told(&text, &[row(&text, "standard", 1.0, Ruling::Holds), row(&text, "ns-2", 1.0, Ruling::Differs)]),
        [""; 0]
    );
}

#[test]
fn what_is_missing_stale_orphaned_or_unexplained_is_found() {
    let text = with_claim("");
    let fits = row(&text, "standard", 1.0, Ruling::Holds);
    let one = |text: &str, rows: &[Row], part: &str| {
        let found = told(text, rows);
        assert!(found.len() == 1 && found[0].contains(part), "{part}: {found:?}");
    };
    one(&text, &[], "not on record");
    one(&text, &[row(&text, "ns-2", 1.0, Ruling::Holds)], "not on record");
    one(&text, &[fits.clone(), Row { id: "chain.9".to_owned(), ..fits.clone() }], "none of whose scenarios");
    one(&text, &[fits.clone(), fits.clone()], "twice on record");
    one(&text, &[Row { hash: "0".to_owned(), ..fits.clone() }], "outdated: run and record `sluice reproduce chain`");
    one(&text.replace("ADTH delays", "ADTH never delays"), std::slice::from_ref(&fits), "has changed");
    one(&text, &[Row { verdict: Ruling::Differs, ..fits.clone() }], "lacks `why` or `cause`");
    let explained = with_claim("why = \"It rains.\"\ncause = \"open\"");
    assert_eq!(told(&explained, &[row(&explained, "standard", 1.0, Ruling::Differs)]), [""; 0]);
}

#[test]
fn new_runs_replace_those_on_record_and_words_are_the_scenarios() {
    let text = with_claim("headline = true");
    let old = [row(CHAIN, "standard", 1.0, Ruling::Holds), row(CHAIN, "ns-2", 3.0, Ruling::Holds)];
    let gone = Row { id: "chain.9".to_owned(), ..old[0].clone() };
    let new = [row(CHAIN, "standard", 2.0, Ruling::Differs)];
    let merged = merged(&[scenario(&text, &[])], &new, &[old.as_slice(), &[gone]].concat());
    let told: Vec<_> = merged.iter().map(|row| (row.conventions.as_str(), row.ours, row.headline)).collect();
    assert_eq!(told, [("standard", 2.0, true), ("ns-2", 3.0, true)]);
}

#[test]
fn what_is_no_evidence_is_found() {
    let number = with_claim("reported = 0.4");
    let fits = row(&number, "standard", 0.0, Ruling::Holds);
    let found = told(&number, std::slice::from_ref(&fits));
    assert!(found.len() == 1 && found[0].contains("has one bound only"), "{found:?}");
    let words = with_claim("reported = \"low: 400 ms\"");
    assert_eq!(told(&words, &[row(&words, "standard", 0.0, Ruling::Holds)]), [""; 0]);
    let why = "why = \"It rains.\"\ncause = \"open\"";
    let differs = with_claim(&format!("reported = 0.4\n{why}"));
    assert_eq!(told(&differs, &[row(&differs, "standard", 1.0, Ruling::Differs)]), [""; 0]);
    let chosen = format!("chosen_by = {{ \"queue.limit\" = [\"chain.1\", \"chain.9\"] }}\n{}", with_claim(""));
    let found = told(&chosen, &[row(&chosen, "standard", 0.0, Ruling::Holds)]);
    assert!(found.len() == 2 && found[0].contains("no claim chain.9"), "{found:?}");
    assert!(found[1].contains("chain.1: `queue.limit` was chosen to make the claim hold"), "{found:?}");
    let ours = chosen.replacen("[[claim]]", "[[claim]]\nstatement = \"ours\"", 1).replace(", \"chain.9\"", "");
    assert_eq!(told(&ours, &[row(&ours, "standard", 0.0, Ruling::Holds)]), [""; 0]);
    let cost = with_claim("better = \"above\"").replace("ADTH delays less", "ADTH costs less");
    let found = told(&cost, &[row(&cost, "standard", 0.0, Ruling::Holds)]);
    assert!(found.len() == 1 && found[0].contains("leave `better` out"), "{found:?}");
}

#[test]
fn a_row_is_ruled_on_again_where_its_window_alone_has_changed() {
    let (before, now) = (with_claim("better = \"above\""), with_claim(""));
    let old = Row { neighbours: "T = 0.1 s: 0.5 better".to_owned(), ..row(&before, "standard", 1.0, Ruling::Better) };
    let again = merged(&[scenario(&now, &[])], &[], std::slice::from_ref(&old));
    assert_eq!((again[0].verdict, again[0].neighbours.as_str()), (Ruling::Differs, "T = 0.1 s: 0.5 differs"));
    let explained = with_claim("why = \"It rains.\"\ncause = \"open\"");
    assert_eq!(told(&explained, &merged(&[scenario(&explained, &[])], &[], &again)), [""; 0]);
    let wider = now.replace("<= 0.001", "<= 2");
    let plain = Row { neighbours: String::new(), high: 1.5, ..row(&now, "standard", 1.0, Ruling::Differs) };
    let again = merged(&[scenario(&wider, &[])], &[], std::slice::from_ref(&plain));
    assert_eq!((again[0].verdict, again[0].window.as_str()), (Ruling::Holds, "<= 2"));
    // The interval is enough to decide, unless one of several cases decides or the network differs.
    for other in [wider.replace("statistic = \"max\"", "statistic = \"each\""), wider.replace("seeds = 2", "seeds = 3")]
    {
        assert_eq!(merged(&[scenario(&other, &[])], &[], std::slice::from_ref(&plain))[0].hash, plain.hash);
    }
}

#[test]
fn a_short_run_may_say_less_and_nothing_else() {
    use Ruling::{Better, Differs, Holds, NeedsFullRuns, NotConfirmed, NotRefuted};
    let of = |full: bool, now: Ruling, recorded: Ruling| {
        let row = row(CHAIN, "standard", 1.0, recorded);
        let verdict = Verdict {
            id: row.id.clone(),
            holds: row.window.clone(),
            measured: 1.0,
            low: 1.0,
            high: f64::NAN,
            unit: Unit::Seconds,
            seeds: experiment::study::OverSeeds::Mean,
            verdict: now,
            ..Verdict::default()
        };
        let moved = Verdict { measured: 1.1, ..verdict.clone() };
        let found = |verdict: Verdict| contradictions(std::slice::from_ref(&row), &[verdict], "standard", full).len();
        (found(verdict), found(moved))
    };
    for (now, recorded) in [(Holds, Holds), (NotConfirmed, Holds), (NeedsFullRuns, Differs), (Holds, NotRefuted)] {
        assert_eq!(of(false, now, recorded), (0, 0), "{now:?} {recorded:?}");
    }
    for (now, recorded) in [(Differs, Holds), (Holds, Differs), (Better, Holds), (Differs, NotConfirmed)] {
        assert_eq!(of(false, now, recorded), (1, 1), "{now:?} {recorded:?}");
    }
    assert_eq!((of(true, Holds, Holds), of(true, NotConfirmed, Holds)), ((0, 1), (1, 1)));
}

#[test]
fn tables_have_a_line_for_each_row_of_a_claim() {
    let text = with_claim("reported = 0.4\nheadline = true\nwhy = \"It rains\"\ncause = \"open\"");
    let rows = [row(&text, "standard", 0.012_345, Ruling::Differs), row(&text, "ns-2", 2.0, Ruling::Holds)];
    let rows: Vec<&Row> = rows.iter().collect();
    let shown = table(&rows, 80);
    assert!(shown.lines().all(|line| line.chars().count() <= 80), "{shown}");
    assert!(shown.contains("400 ms") && shown.contains("12.3 ms") && shown.contains("ns-2: 2 s"), "{shown}");
    let records = BTreeMap::from([("paper".to_owned(), rows.iter().map(|row| (*row).clone()).collect())]);
    let page = markdown(&records, false);
    assert!(
        page.lines()
            .nth(2)
            .unwrap()
            .ends_with("| 400 ms | 12.3 ms<br>ns-2: 2 s | differs, depends on T<br>holds, depends on T | open |"),
        "{page}"
    );
    assert!(documents(&records, 80).lines().nth(2).unwrap().starts_with("paper"), "ns-2's verdicts are not counted");
    assert!(
        counts(&rows, 200)
            .contains("statements of the document: 1 claim: 1 differs\nwith the conventions of ns-2: 1 claim: 1 holds")
    );
    let one = claim(&rows, Some("It rains"), 60);
    assert!(one.contains("why         It rains") && one.contains("holds if"), "{one}");
    assert_eq!(json(&rows)[0]["document"], serde_json::json!(0.4));
}

#[test]
fn days_are_counted_from_1970() {
    let days =
        [(0, "1970-01-01"), (951_782_399, "2000-02-28"), (951_782_400, "2000-02-29"), (1_798_675_200, "2026-12-31")];
    for (seconds, told) in days {
        assert_eq!(day(seconds), told);
    }
}
