//! Verdicts on a claim for every setting of `[rulings]`, and for neighbouring choices of parameters.

use super::results::Results;
use super::{Case, Question, Sweep, verdict};
use crate::study::{Beside, Claim, Labels, Neighbour, Ruling, Rulings, Verdict};
use itertools::Itertools as _;

/// Makes a claim for each label of the axis `each`, restricted to that label's cases, in the order of the cases. A
/// claim of a scenario without `each` stays whole.
pub(crate) fn settings(claim: &Claim, rulings: &Rulings, cases: &[&Case]) -> Vec<(Option<String>, Claim)> {
    let Some(axis) = &rulings.each else { return vec![(None, claim.clone())] };
    let labels = cases.iter().filter_map(|case| case.get(axis)).unique();
    let labels = labels.filter(|label| claim.cases.get(axis).is_none_or(|named| named.contains(label)));
    let within = |label: &String| {
        let mut claim = claim.clone();
        claim.cases.insert(axis.clone(), Labels::One(label.clone()));
        (Some(label.clone()), claim)
    };
    labels.map(within).collect()
}

/// Returns the verdict on a claim for one setting, and the verdicts for each neighbouring choice.
pub(super) fn ruled(
    setting: Option<String>,
    claim: &Claim,
    neighbours: &[Neighbour],
    results: &Results,
    sweep: &Sweep,
) -> Verdict {
    let cases = results.cases();
    let all: Vec<&Case> = cases.iter().copied().chain(sweep.left_out).collect();
    let needed = Question::from(claim).needs(&all);
    let mut whole = Verdict { setting, ..verdict::verdict(claim, results, sweep) };
    // `--quick` left out a case that the claim needs.
    if needed.iter().any(|index| *index >= cases.len()) {
        let none = f64::NAN;
        whole = Verdict { measured: none, low: none, high: none, at: String::new(), ..whole };
        whole.verdict = Ruling::NeedsFullRuns;
    }
    let needed: Vec<&Case> = needed.into_iter().map(|index| all[index]).collect();
    for neighbour in neighbours {
        for label in &neighbour.instead {
            let Some(other) = with_choice(claim, neighbour, label) else { continue };
            let can_be = has_cases(&needed, neighbour, label, cases);
            let seen = can_be.then(|| verdict::verdict(&other, results, sweep));
            let of = |value: fn(&Verdict) -> f64| seen.as_ref().map_or(f64::NAN, value);
            let (measured, low, high) = (of(|v| v.measured), of(|v| v.low), of(|v| v.high));
            let verdict = seen.as_ref().map(|seen| seen.verdict);
            let parameter = neighbour.parameter.clone();
            if verdict.is_some_and(|verdict| verdict != whole.verdict) && !whole.depends_on.contains(&parameter) {
                whole.depends_on.push(parameter.clone());
            }
            whole.neighbours.push(Beside { parameter, label: label.clone(), measured, low, high, verdict });
        }
    }
    whole
}

/// Returns the claim with `label` replacing the neighbour's label; `None` if the claim does not name that label.
fn with_choice(claim: &Claim, neighbour: &Neighbour, label: &str) -> Option<Claim> {
    let mut other = claim.clone();
    let mut named = false;
    let tables = other.groups.values_mut().chain([&mut other.cases, &mut other.against]);
    for labels in tables.filter_map(|labels| labels.get_mut(&neighbour.axis)) {
        named |= labels.contains(&neighbour.label);
        *labels = labels.with(&neighbour.label, label);
    }
    named.then_some(other)
}

/// True if every case that a claim needs was run, with `label` replacing the neighbour's label.
fn has_cases(needed: &[&Case], neighbour: &Neighbour, label: &str, cases: &[&Case]) -> bool {
    needed.iter().all(|case| {
        let mut wanted = (*case).clone();
        if case.get(&neighbour.axis) == Some(&neighbour.label) {
            wanted.insert(neighbour.axis.clone(), label.to_owned());
        }
        cases.contains(&&wanted)
    })
}

impl Labels {
    /// Returns these labels, with `new` instead of `old`.
    fn with(&self, old: &str, new: &str) -> Self {
        let of = |label: &String| if label == old { new.to_owned() } else { label.clone() };
        match self {
            Self::One(one) => Self::One(of(one)),
            Self::Any(any) => Self::Any(any.iter().map(of).collect()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{case, claim, runs_of};
    use super::super::{Sweep, judge};
    use super::*;
    use crate::study::Extent;
    use serde_json::{Value, json};

    /// Losses of two settings, two loads and four systems; one system has only one load. There is one seed.
    const LOSSES: &[(&str, &str, &str, f64)] = &[
        ("rts", "8", "original", 0.4),
        ("rts", "8", "swan", 0.2),
        ("rts", "8", "short", 0.1),
        ("rts", "8", "wide", 0.3),
        ("rts", "32", "original", 0.8),
        ("rts", "32", "swan", 0.3),
        ("rts", "32", "short", 0.2),
        ("basic", "8", "original", 0.2),
        ("basic", "8", "swan", 0.1),
        ("basic", "8", "short", 0.3),
        ("basic", "8", "wide", 0.1),
        ("basic", "32", "original", 0.4),
        ("basic", "32", "swan", 0.2),
        ("basic", "32", "short", 0.6),
    ];

    fn rulings() -> Rulings {
        let neighbours = [("T", "short"), ("g", "wide")];
        let neighbour = |(parameter, label)| json!({ "parameter": parameter, "axis": "system", "label": "swan", "instead": [label] });
        let neighbours: Vec<Value> = neighbours.into_iter().map(neighbour).collect();
        serde_json::from_value(json!({ "each": "access", "neighbour": neighbours })).unwrap()
    }

    fn labels(access: &str, load: &str, system: &str) -> Case {
        case(&[("access", access), ("load", load), ("system", system)])
    }

    fn verdicts(fields: &Value, rulings: &Rulings, left_out: &[Case]) -> Vec<Verdict> {
        let mut whole = json!({ "measure": "totals.loss_ratio" });
        whole.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        let losses: Vec<_> = LOSSES
            .iter()
            .map(|(access, load, system, loss)| (labels(access, load, system), vec![*loss]))
            .filter(|(case, _)| !left_out.contains(case))
            .collect();
        let extent = if left_out.is_empty() { Extent::Full } else { Extent::Reduced };
        judge(&[claim(&whole)], rulings, &Sweep { seeds: &[1], runs: &runs_of(&losses), extent, left_out })
    }

    fn told(verdicts: &[Verdict]) -> Vec<(Option<&str>, f64, Ruling)> {
        verdicts.iter().map(|v| (v.setting.as_deref(), (v.measured * 1e9).round() / 1e9, v.verdict)).collect()
    }

    #[test]
    fn each_setting_has_a_verdict_by_its_own_cases() {
        let alone = Rulings { neighbour: Vec::new(), ..rulings() };
        let swan = json!({ "where": { "system": "swan" }, "statistic": "max", "holds": "< 0.25" });
        let seen = verdicts(&swan, &alone, &[]);
        assert_eq!(told(&seen), [(Some("rts"), 0.3, Ruling::Differs), (Some("basic"), 0.2, Ruling::Holds)]);
        assert_eq!([&seen[0].id, &seen[1].id], ["x.1", "x.1"]);
        // 0.3 / 0.8 and 0.2 / 0.4 must be compared with load 8: 0.2 / 0.4 and 0.1 / 0.2.
        let ratio = json!({ "where": { "system": "swan", "load": "32" }, "against": { "system": "original" },
            "compare": "ratio", "holds": "< 0.4" });
        let seen = verdicts(&ratio, &alone, &[]);
        assert_eq!(told(&seen), [(Some("rts"), 0.375, Ruling::Holds), (Some("basic"), 0.5, Ruling::Differs)]);
        let one = json!({ "where": { "system": "swan", "access": "basic" }, "statistic": "max" });
        assert_eq!(told(&verdicts(&one, &alone, &[])), [(Some("basic"), 0.2, Ruling::Holds)]);
        let plain = verdicts(&swan, &Rulings::default(), &[]);
        assert_eq!(told(&plain), [(None, 0.3, Ruling::Differs)]);
    }

    #[test]
    fn neighbours_show_a_range_and_what_a_verdict_depends_on() {
        let swan = json!({ "where": { "system": "swan", "load": "8" }, "holds": "< 0.25" });
        let seen = verdicts(&swan, &rulings(), &[]);
        assert_eq!(told(&seen), [(Some("rts"), 0.2, Ruling::Holds), (Some("basic"), 0.1, Ruling::Holds)]);
        assert_eq!((seen[0].range(Some("T")), seen[0].range(Some("g"))), (Some((0.1, 0.2)), Some((0.2, 0.3))));
        assert_eq!((seen[0].range(None), &seen[0].depends_on), (Some((0.1, 0.3)), &vec!["g".to_owned()]));
        assert_eq!((seen[1].range(None), &seen[1].depends_on), (Some((0.1, 0.3)), &vec!["T".to_owned()]));
        // Neighbouring choices also replace labels in `against`: 0.4 - 0.2, and 0.4 - 0.1.
        let against = json!({ "where": { "system": "original", "load": "8" }, "against": { "system": "swan" } });
        let seen = verdicts(&against, &rulings(), &[]);
        assert_eq!((seen[0].measured, seen[0].range(Some("T"))), (0.2, Some((0.2, 0.4 - 0.1))));
    }

    #[test]
    fn a_neighbour_that_lacks_a_case_is_left_out() {
        let both = json!({ "where": { "system": "swan" }, "statistic": "max", "holds": "< 0.25" });
        let seen = verdicts(&both, &rulings(), &[]);
        assert_eq!(seen[0].range(None), Some((0.2, 0.3)), "short alone");
        assert_eq!((seen[0].range(Some("g")), seen[0].neighbours[1].verdict), (None, None));
        // 0.3 differs and 0.2 holds; with basic access it is the opposite: 0.2 holds and 0.6 differs.
        assert_eq!([&seen[0].depends_on, &seen[1].depends_on], [&vec!["T".to_owned()]; 2]);
        let others = json!({ "where": { "system": "original" }, "statistic": "max" });
        assert!(verdicts(&others, &rulings(), &[])[0].neighbours.is_empty(), "it does not name the label");
    }

    #[test]
    fn a_claim_about_a_case_that_was_left_out_needs_full_runs() {
        let left_out = [labels("rts", "32", "swan"), labels("rts", "8", "short")];
        let swan = json!({ "where": { "system": "swan" }, "statistic": "max", "holds": "< 1", "seeds": "some" });
        let seen = verdicts(&swan, &rulings(), &left_out);
        assert_eq!((seen[0].verdict, seen[1].verdict), (Ruling::NeedsFullRuns, Ruling::Holds));
        assert!(seen[0].measured.is_nan() && seen[0].depends_on.is_empty());
        let against = json!({ "where": { "system": "original" }, "against": { "system": "swan" }, "statistic": "max" });
        assert_eq!(verdicts(&against, &rulings(), &left_out)[0].verdict, Ruling::NeedsFullRuns);
        let light = json!({ "where": { "system": "swan", "load": "8" }, "holds": "< 1", "seeds": "some" });
        let seen = verdicts(&light, &rulings(), &left_out);
        assert_eq!((seen[0].verdict, seen[0].range(Some("T"))), (Ruling::Holds, None));
    }

    #[test]
    fn a_case_without_a_counterpart_is_not_compared() {
        let wide = json!({ "where": { "system": "swan" }, "against": { "system": "wide" }, "statistic": "max" });
        let alone = Rulings { neighbour: Vec::new(), ..rulings() };
        let seen = verdicts(&wide, &alone, &[]);
        assert_eq!(told(&seen).iter().map(|(_, value, _)| *value).collect::<Vec<_>>(), [-0.1, 0.0]);
    }
}
