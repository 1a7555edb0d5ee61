use super::verdict::reduce;
use super::*;
use crate::study::{Extent, Ruling, Statistic, Unit};
use serde_json::{Value, json};

pub(super) fn claim(fields: &Value) -> Claim {
    let mut whole = json!({ "id": "x.1", "says": "", "source": "", "measure": "flows.*.v", "holds": "> 0" });
    for (key, value) in fields.as_object().unwrap() {
        whole[key] = value.clone();
    }
    serde_json::from_value(whole).unwrap()
}

pub(super) fn case(labels: &[(&str, &str)]) -> Case {
    labels.iter().map(|(axis, label)| ((*axis).to_owned(), (*label).to_owned())).collect()
}

/// Makes cases of two schemes times three loads, with values of two flows.
fn cases() -> Vec<Case> {
    let schemes = ["fifo", "adth"].into_iter();
    schemes.flat_map(|scheme| ["1", "2", "3"].map(|load| case(&[("load", load), ("scheme", scheme)]))).collect()
}

fn trees() -> Vec<Value> {
    let rows = [[1.0, 10.0], [2.0, 20.0], [4.0, 40.0], [0.5, 5.0], [0.5, 4.0], [0.25, 2.0]];
    let flow = |name: &str, v: f64| json!({ "name": name, "v": v });
    rows.iter().map(|row| json!({ "flows": [flow("a", row[0]), flow("b", row[1])] })).collect()
}

fn value_of(fields: &Value) -> f64 {
    let (claim, cases, trees) = (claim(fields), cases(), trees());
    let read = Box::new(|case: usize, path: &str| crate::measure::numbers(&trees[case], path));
    let results = Results::of(cases.iter().collect(), 1, read);
    reduce(claim.statistic, &results.answer(&Question::from(&claim)).by_seed[0])
}

fn assert_near(left: f64, right: f64) {
    assert!((left - right).abs() < 1e-12, "{left} is not {right}");
}

#[test]
fn reduces_cases_and_flows_to_one_number() {
    assert_near(value_of(&json!({ "where": { "scheme": "fifo" }, "statistic": "max" })), 40.0);
    assert_near(value_of(&json!({ "where": { "scheme": "fifo" }, "statistic": "min" })), 1.0);
    assert_near(value_of(&json!({ "where": { "scheme": "fifo" } })), 77.0 / 6.0);
    let median = json!({ "where": { "scheme": "fifo" }, "measure": "flows.a.v", "statistic": "median" });
    assert_near(value_of(&median), 2.0);
    assert_near(value_of(&json!({ "where": { "load": ["1", "3"] }, "measure": "flows.a.v" })), 5.75 / 4.0);
}

#[test]
fn compares_one_result_with_another() {
    // b minus a is 9, 18 and 36; the smallest difference of both flows from a is a's own, 0.
    let fields = json!({ "where": { "scheme": "fifo" }, "measure": "flows.b.v", "than": "flows.a.v" });
    assert_near(value_of(&fields), 21.0);
    let fields = json!({ "where": { "scheme": "fifo" }, "than": "flows.a.v", "statistic": "min" });
    assert_near(value_of(&fields), 0.0);
    // The counterpart's result is used: b of fifo divided by a of adth.
    let fields = json!({ "where": { "scheme": "fifo", "load": "1" }, "against": { "scheme": "adth" },
        "measure": "flows.b.v", "than": "flows.a.v", "compare": "ratio" });
    assert_near(value_of(&fields), 20.0);
}

#[test]
fn correlates_the_ranks_of_two_results_over_all_cases() {
    // At loads 1, 2 and 3, fifo has 1, 2, 4 (a) and 10, 20, 40 (b); adth has 0.5, 0.5, 0.25 and 5, 4, 2.
    let fields = |cases: serde_json::Value| json!({ "where": cases, "measure": "flows.a.v", "than": "flows.b.v", "compare": "rank-correlation" });
    assert_near(value_of(&fields(json!({ "scheme": "fifo" }))), 1.0);
    // Ranks are 2.5, 2.5, 1 and 3, 2, 1: their coefficient is 1.5 divided by the root of 1.5 times 2.
    assert_near(value_of(&fields(json!({ "scheme": "adth" }))), 0.75_f64.sqrt());
    assert!(value_of(&fields(json!({ "scheme": "adth", "load": "1" }))).is_nan(), "one case has no order");
}

#[test]
fn compares_each_case_with_its_counterpart() {
    let fields = |compare: &str, statistic: &str| json!({ "where": { "scheme": "adth" }, "against": { "scheme": "fifo" }, "compare": compare, "statistic": statistic });
    // Differences for each load are -0.5 and -5, -1.5 and -16, -3.75 and -38.
    assert_near(value_of(&fields("difference", "min")), -38.0);
    assert_near(value_of(&fields("difference", "mean")), -64.75 / 6.0);
    // Ratios for each load are 0.5 and 0.5, 0.25 and 0.2, 0.0625 and 0.05.
    assert_near(value_of(&fields("ratio", "max")), 0.5);
    assert_near(value_of(&fields("ratio", "mean")), 1.5625 / 6.0);
}

#[test]
fn a_case_is_not_compared_with_itself() {
    let (cases, claim) = (cases(), claim(&json!({ "against": { "scheme": "fifo" } })));
    let pairs = Question::from(&claim).pairs(&cases.iter().collect::<Vec<_>>());
    assert_eq!(pairs, [(3, vec![0]), (4, vec![1]), (5, vec![2])]);
}

#[test]
fn the_values_of_a_case_become_one_before_cases_are_compared() {
    // Sums are 11, 22, 44 for fifo and 5.5, 4.5, 2.25 for adth. The ratio is that of sums, not the mean of ratios.
    let fields = json!({ "where": { "scheme": "adth", "load": "2" }, "against": { "scheme": "fifo" }, "together": "sum",
        "compare": "ratio" });
    assert_near(value_of(&fields), 4.5 / 22.0);
    let most = json!({ "where": { "scheme": "fifo" }, "together": "max" });
    assert_near(value_of(&most), 70.0 / 3.0);
}

#[test]
fn a_formula_makes_one_value_of_several_cases() {
    // At the three loads, a of fifo is 1, 2, 4, and a of adth is 0.5, 0.5, 0.25.
    let line = json!({ "where": { "scheme": "fifo" }, "measure": "flows.a.v", "formula": "here / ((low + high) / 2)",
        "groups": { "low": { "load": "1" }, "here": { "load": "2" }, "high": { "load": "3" } } });
    assert_near(value_of(&line), 0.8);
    // Within each scheme the ranges are (4 - 1) / 1 and (0.5 - 0.25) / 0.5.
    let range = |statistic: &str| {
        json!({ "measure": "flows.a.v", "formula": "(max(all) - min(all)) / one",
        "groups": { "all": { "load": ["1", "2", "3"] }, "one": { "load": "1" } }, "statistic": statistic })
    };
    assert_near(value_of(&range("mean")), 1.75);
    assert_near(value_of(&range("min")), 0.5);
    // The formula combines cases of different schemes: 4 - 2 * 0.5.
    let schemes = json!({ "where": { "load": "3" }, "measure": "flows.a.v", "formula": "fifo - 2 * adth",
        "groups": { "fifo": { "scheme": "fifo" }, "adth": { "scheme": "adth", "load": "2" } } });
    assert_near(value_of(&schemes), 3.0);
    let list = json!({ "measure": "flows.a.v", "formula": "all - 1", "groups": { "all": { "load": ["1", "2"] } } });
    assert!(value_of(&list).is_nan(), "a list is no value");
}

#[test]
fn a_case_is_compared_with_the_best_of_several() {
    // Flow a of fifo has 1, 2, 4 at the three loads; each is compared with the largest.
    let fields = |more: &Value| {
        let mut fields = json!({ "where": { "scheme": "fifo" }, "against": { "load": "*" }, "measure": "flows.a.v",
            "compare": "ratio" });
        fields.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        fields
    };
    assert_near(value_of(&fields(&json!({}))), 7.0 / 4.0 / 3.0);
    assert_near(value_of(&fields(&json!({ "choose": "smallest" }))), 7.0 / 3.0);
    assert_near(value_of(&fields(&json!({ "against": { "load": ["1", "2"] } }))), 7.0 / 2.0 / 3.0);
}

#[test]
fn a_case_is_compared_with_the_first_that_reaches_as_much() {
    // Flow b of adth has 5, 4, 2, that of fifo 10, 20, 40: at which load does fifo's first reach 12, 20 and 60?
    let fields = |load: &str| {
        json!({ "where": { "scheme": "fifo", "load": load }, "against": { "scheme": "fifo", "load": ["1", "2"] },
            "reaching": "flows.b.v", "measure": "flows.a.v", "compare": "ratio" })
    };
    assert_near(value_of(&fields("1")), 1.0);
    assert_near(value_of(&fields("2")), 1.0);
    // No load reaches 40, so the nearest one is taken, here the second.
    assert_near(value_of(&fields("3")), 2.0);
}

#[test]
fn the_first_label_that_comes_near_the_largest_is_a_number() {
    // At loads 1, 2, 3, flow a of fifo has 1, 2, 4, and that of adth 0.5, 0.5, 0.25.
    let fields = |share: f64, more: &Value| {
        let mut fields = json!({ "measure": "flows.a.v", "first": { "axis": "load", "share": share } });
        fields.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        fields
    };
    let fifo = json!({ "where": { "scheme": "fifo" } });
    assert_near(value_of(&fields(0.5, &fifo)), 2.0);
    assert_near(value_of(&fields(0.51, &fifo)), 3.0);
    assert_near(value_of(&fields(0.9, &json!({ "where": { "scheme": "adth" } }))), 1.0);
    assert_near(value_of(&fields(0.9, &json!({ "where": { "scheme": "fifo", "load": ["1", "2"] } }))), 2.0);
    // One scheme is compared with the other, and then there is a step from one scheme to the next.
    let beside = json!({ "where": { "scheme": "fifo" }, "against": { "scheme": "adth" }, "compare": "ratio" });
    assert_near(value_of(&fields(0.9, &beside)), 3.0);
    assert_near(value_of(&fields(0.9, &json!({ "steps": "scheme" }))), -2.0);
}

#[test]
fn the_first_label_that_fulfils_a_condition_is_a_number() {
    // Flow a of fifo has 1, 2, 4 at loads 1, 2, 3: each step doubles it.
    let first = |first: &Value, steps: bool| {
        let mut fields =
            json!({ "where": { "scheme": "fifo" }, "measure": "flows.a.v", "first": first, "compare": "ratio" });
        if steps {
            fields["steps"] = json!("load");
        }
        value_of(&fields)
    };
    assert_near(first(&json!({ "axis": "load", "when": "> 1.5" }), false), 2.0);
    assert!(first(&json!({ "axis": "load", "when": "> 5" }), false).is_nan(), "it never does");
    // Asked is the largest step. Both steps are by a factor of 2, and the first one counts.
    assert_near(first(&json!({ "axis": "load", "share": 1.0 }), true), 2.0);
}

#[test]
fn steps_follow_the_cases() {
    // Steps of fifo are +1, +2 (flow a) and +10, +20 (flow b); those of adth 0, -0.25 and -1, -2.
    let steps = |more: &Value| {
        let mut fields = json!({ "steps": "load" });
        fields.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        value_of(&fields)
    };
    assert_near(steps(&json!({ "where": { "scheme": "fifo" }, "statistic": "min" })), 1.0);
    assert_near(steps(&json!({ "where": { "scheme": "fifo" }, "statistic": "max" })), 20.0);
    // These are steps along one axis while another varies too, and steps as ratios.
    assert_near(steps(&json!({ "statistic": "min" })), -2.0);
    assert_near(steps(&json!({ "where": { "scheme": "fifo" }, "compare": "ratio", "statistic": "range" })), 0.0);
    // These steps are between the remaining labels: from load 1 to load 3.
    assert_near(steps(&json!({ "where": { "scheme": "fifo", "load": ["1", "3"] }, "measure": "flows.a.v" })), 3.0);
}

#[test]
fn a_measure_may_be_computed() {
    // For fifo the share is 10 / 11 at load 1, and 40 / 44 at load 3.
    let fields =
        json!({ "where": { "scheme": "fifo" }, "measure": "flows.b.v / sum(flows.*.v)", "statistic": "range" });
    assert_near(value_of(&fields), 0.0);
    assert_near(
        value_of(&json!({ "where": { "scheme": "fifo", "load": "1" }, "measure": "flows.b.v - 2 * flows.a.v" })),
        8.0,
    );
}

#[test]
fn what_cannot_be_computed_does_not_hold() {
    assert!(reduce(Statistic::Max, &[vec![1.0, f64::NAN]]).is_nan());
    assert!(reduce(Statistic::Mean, &[]).is_nan());
    let verdict = ruled(&json!({ "holds": "<= 2" }), &[f64::NAN, 1.0, 1.0]);
    assert_eq!(verdict.verdict, Ruling::Differs);
    let text = serde_json::to_string(&verdict).unwrap();
    let back: Verdict = serde_json::from_str(&text).unwrap();
    assert!(back.measured.is_nan(), "{text}");
}

/// Makes runs of some cases with some seeds, with these loss ratios.
fn runs(losses: &[(&str, &[f64])]) -> Vec<Run> {
    let of_scheme = |(scheme, losses): &(&str, &[f64])| (case(&[("scheme", scheme)]), losses.to_vec());
    runs_of(&losses.iter().map(of_scheme).collect::<Vec<_>>())
}

/// Makes runs of cases with any labels, with these loss ratios.
pub(super) fn runs_of(losses: &[(Case, Vec<f64>)]) -> Vec<Run> {
    let network = "duration = \"1 ns\"\n[[node]]\nname = \"n0\"\nposition = [\"0 m\", \"0 m\"]";
    let network: sim::config::Network = toml::from_str(network).unwrap();
    let blank = sim::World::new(&network, 1).unwrap().finish();
    let run = |case: &Case, seed: u64, loss: f64| {
        let mut outcome = blank.clone();
        outcome.totals.loss_ratio = loss;
        Run { scenario: "x".to_owned(), seed, case: case.clone(), outcome, ..Run::default() }
    };
    let of_case = |(case, losses): &(Case, Vec<f64>)| {
        losses.iter().zip(1..).map(|(loss, seed)| run(case, seed, *loss)).collect::<Vec<_>>()
    };
    losses.iter().flat_map(of_case).collect()
}

fn sweep<'s>(seeds: &'s [u64], runs: &'s [Run], extent: Extent) -> Sweep<'s> {
    Sweep { seeds, runs, extent, left_out: &[] }
}

#[test]
fn each_seed_is_compared_with_itself() {
    let claims = [claim(&json!({
        "measure": "totals.loss_ratio",
        "where": { "scheme": "adth" },
        "against": { "scheme": "fifo" },
        "holds": "0.3 .. 0.5",
    }))];
    let runs = runs(&[("fifo", &[0.1, 0.2, 0.3]), ("adth", &[0.4, 0.6, 0.8])]);
    let verdicts = judge(&claims, &Rulings::default(), &sweep(&[1, 2, 3], &runs, Extent::Full));
    // Differences 0.3, 0.4, 0.5: mean 0.4, deviation 0.1, half width t(2) * 0.1 / sqrt(3) = 0.248414.
    assert_near(verdicts[0].measured, 0.4);
    assert!((verdicts[0].low - 0.151_586).abs() < 1e-6 && (verdicts[0].high - 0.648_414).abs() < 1e-6, "{verdicts:?}");
    assert_eq!(verdicts[0].verdict, Ruling::NotConfirmed, "the interval is wider than the window");
}

/// Returns the verdict on the loss ratios of one case.
fn ruled(fields: &Value, losses: &[f64]) -> Verdict {
    ruled_as(fields, losses, Extent::Full)
}

fn ruled_as(fields: &Value, losses: &[f64], extent: Extent) -> Verdict {
    let mut whole = json!({ "measure": "totals.loss_ratio" });
    whole.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    let seeds: Vec<u64> = (1..).take(losses.len()).collect();
    judge(&[claim(&whole)], &Rulings::default(), &sweep(&seeds, &runs(&[("fifo", losses)]), extent)).remove(0)
}

#[test]
fn an_interval_that_contains_the_border_confirms_nothing() {
    let losses = [0.1, 0.2, 0.3];
    let word = |holds: &str| ruled(&json!({ "holds": holds }), &losses).verdict;
    // The interval is 0.2 plus or minus 0.248.
    assert_eq!(word("<= 50 %"), Ruling::Holds);
    assert_eq!(word("<= 0.2"), Ruling::NotConfirmed);
    assert_eq!(word("> 0.5"), Ruling::Differs);
    let not_refuted = |holds: &str| ruled(&json!({ "holds": holds, "seeds": "not-refuted" }), &losses).verdict;
    assert_eq!(["< 0.5", "> 0.4", "> 0.5"].map(not_refuted), [Ruling::Holds, Ruling::NotRefuted, Ruling::Differs]);
}

#[test]
fn the_better_side_of_the_window_is_a_verdict_of_its_own() {
    let better = |holds: &str, side: &str, losses: &[f64], more: Value| {
        let mut fields = json!({ "holds": holds, "better": side });
        fields.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        ruled(&fields, losses).verdict
    };
    let few = [0.10, 0.11, 0.12];
    assert_eq!(better("20 % .. 30 %", "below", &few, json!({})), Ruling::Better);
    assert_eq!(better("20 % .. 30 %", "above", &few, json!({})), Ruling::Differs);
    assert_eq!(better("5 % .. 8 %", "below", &few, json!({})), Ruling::Differs);
    assert_eq!(better("11 % .. 30 %", "below", &few, json!({})), Ruling::NotConfirmed, "it contains the bound");
    // The worst seed decides, and a seed that is better than the document is not the worst.
    let every = json!({ "seeds": "every" });
    assert_eq!(better("20 % .. 30 %", "below", &[0.01, 0.25, 0.35], every.clone()), Ruling::Differs);
    assert_eq!(better("20 % .. 30 %", "below", &[0.01, 0.02, 0.05], every), Ruling::Better);
}

#[test]
fn every_seed_must_hold_and_the_worst_is_shown() {
    let every = |holds: &str| ruled(&json!({ "holds": holds, "seeds": "every" }), &[0.1, 0.3, 0.2]);
    let seen = every("<= 0.25");
    assert_eq!((seen.verdict, seen.measured, seen.low, seen.high), (Ruling::Differs, 0.3, 0.1, 0.3));
    assert_eq!(seen.at, "seed 2");
    assert_eq!(every("<= 0.3").verdict, Ruling::Holds);
    let some = ruled(&json!({ "holds": ">= 0.3", "seeds": "some" }), &[0.1, 0.3, 0.2]);
    assert_eq!((some.verdict, some.measured), (Ruling::Holds, 0.3));
}

#[test]
fn a_short_run_says_less_but_nothing_else() {
    let reduced = |fields: &Value, losses: &[f64]| ruled_as(fields, losses, Extent::Reduced).verdict;
    let every = json!({ "holds": "<= 0.2", "seeds": "every" });
    assert_eq!(reduced(&every, &[0.1, 0.2]), Ruling::TooFewSeeds, "another seed may be worse");
    assert_eq!(reduced(&every, &[0.1, 0.3]), Ruling::Differs);
    let some = json!({ "holds": "> 0.2", "seeds": "some" });
    assert_eq!(reduced(&some, &[0.1, 0.3]), Ruling::Holds);
    assert_eq!(reduced(&some, &[0.1, 0.1]), Ruling::TooFewSeeds);
    assert_eq!(reduced(&json!({ "holds": "zero" }), &[0.0, 0.0]), Ruling::TooFewSeeds);
    let full = json!({ "holds": "<= 0.2", "full": true });
    assert_eq!(reduced(&full, &[0.1, 0.1]), Ruling::NeedsFullRuns);
    assert_eq!(ruled(&full, &[0.1, 0.1]).verdict, Ruling::Holds);
    let mean = json!({ "holds": "<= 0.2" });
    assert_eq!(reduced(&mean, &[0.1]), Ruling::TooFewSeeds, "one of several seeds has no interval");
    assert_eq!(ruled(&mean, &[0.1]).verdict, Ruling::Holds, "the scenario asks for one");
}

#[test]
fn what_is_computed_has_the_unit_that_the_claim_names() {
    let unit = |fields: Value| unit(&claim(&fields));
    let computed = "sum(flows.*.goodput_bps * 300 / (300 - flows.*.started_s))";
    assert_eq!(unit(json!({ "measure": computed })), Unit::Number);
    assert_eq!(unit(json!({ "measure": computed, "unit": "bit/s" })), Unit::BitsPerSecond);
    assert_eq!(unit(json!({ "measure": "nodes.*.limit", "holds": "< 1000 packets" })), Unit::Packets);
    assert_eq!(unit(json!({ "measure": "totals.loss_ratio", "holds": "<= 0.1" })), Unit::Share);
}

#[test]
fn zero_is_none_in_the_median_seed_and_next_to_none_in_all() {
    let word = |losses: &[f64]| ruled(&json!({ "holds": "zero" }), losses).verdict;
    assert_eq!(word(&[0.0; 5]), Ruling::Holds);
    assert_eq!(word(&[0.0, 0.0, 0.0, 1e-4, 0.0]), Ruling::Holds, "0.002 % over all");
    assert_eq!(word(&[0.0, 0.0, 0.0, 2e-4, 0.0]), Ruling::Differs, "0.004 % over all");
    assert_eq!(word(&[1e-6, 1e-6, 0.0, 1e-6, 0.0]), Ruling::Differs, "the median seed has some");
}

#[test]
fn shares_and_spreads_of_runs() {
    let share = ruled(&json!({ "share_of_runs": "> 15 %", "holds": ">= 50 %" }), &[0.1, 0.2, 0.3, 0.4]);
    assert_near(share.measured, 0.75);
    let spread = ruled(&json!({ "seeds": "deviation", "holds": "0.09 .. 0.11" }), &[0.1, 0.2, 0.3]);
    assert_eq!(spread.verdict, Ruling::Holds);
    assert_near(ruled(&json!({ "seeds": "relative-deviation", "holds": "> 0" }), &[0.1, 0.2, 0.3]).measured, 0.5);
}

#[test]
fn each_value_is_ruled_on_by_itself() {
    // Means 0.2, 0.3 and 0.5: the middle case's seeds lie so far apart that its interval contains 0.1.
    let cases: [(&str, &[f64]); 3] = [("1", &[0.2, 0.21, 0.19]), ("2", &[0.1, 0.3, 0.5]), ("3", &[0.5, 0.51, 0.49])];
    let rule = |holds: &str| {
        let claims = [claim(&json!({ "measure": "totals.loss_ratio", "statistic": "each", "holds": holds }))];
        judge(&claims, &Rulings::default(), &sweep(&[1, 2, 3], &runs(&cases), Extent::Full)).remove(0)
    };
    let seen = rule("> 0.1");
    assert_eq!((seen.verdict, seen.at.as_str()), (Ruling::NotConfirmed, "scheme = 2"));
    let seen = rule("> 0.3");
    assert_eq!((seen.verdict, seen.at.as_str()), (Ruling::Differs, "scheme = 1"));
    let steps =
        [claim(&json!({ "measure": "totals.loss_ratio", "steps": "scheme", "statistic": "each", "holds": "> 0" }))];
    let seen = judge(&steps, &Rulings::default(), &sweep(&[1, 2, 3], &runs(&cases), Extent::Full)).remove(0);
    assert_eq!((seen.verdict, seen.at.as_str()), (Ruling::NotConfirmed, "scheme = 1 to 2"), "{seen:?}");
}
