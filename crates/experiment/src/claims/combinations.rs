//! Combinations of a claim's keys. A key without effect is refused, because the claim's text would be wrong.

use super::Condition;
use crate::study::{Choose, Claim, Compare, OverSeeds, Side, Statistic, Take, Window};

pub(crate) struct Rule {
    /// Path of the key that breaks the rule, within the claim: `series.take`.
    pub(crate) key: &'static str,
    /// The rule as a sentence, which the refusal prints.
    pub(crate) sentence: &'static str,
    is_broken: fn(&Claim) -> bool,
}

/// Makes the list of rules. Each has a key, a sentence, and a test that is true for a claim that breaks the rule.
macro_rules! rules {
    ($($key:literal, $sentence:literal, |$claim:ident| $is_broken:expr;)*) => {
        /// All rules, in the order in which a claim's value is computed.
        const RULES: &[Rule] = &[$(Rule { key: $key, sentence: $sentence, is_broken: |$claim| $is_broken }),*];
    };
}

rules! {
    "series.take", "set `when` (a condition) exactly where `take` is `reaches`, `stays` or `share`",
    |claim| series(claim, |window| {
        matches!(window.take, Take::Reaches | Take::Stays | Take::Share) != window.when.is_some()
    });
    "series.take", "set `covered` exactly where `take` is `settling`",
    |claim| series(claim, |window| (window.take == Take::Settling) != window.covered.is_some());
    "series.over", "`over` needs `take = \"fall\"`",
    |claim| series(claim, |window| window.over.is_some() && window.take != Take::Fall);
    "series.counting", "`counting` replaces seconds, so it needs `take = \"reaches\"`, `\"stays\"` or `\"settling\"`",
    |claim| series(claim, |window| {
        window.counting.is_some() && !matches!(window.take, Take::Reaches | Take::Stays | Take::Settling)
    });
    "series.relative_to",
    "`relative_to` cannot take `settling`, `reaches`, `stays` or `share`, which need further keys",
    |claim| series(claim, |window| window.relative_to.as_ref().is_some_and(|base| {
        matches!(base.take, Take::Settling | Take::Reaches | Take::Stays | Take::Share)
    }));
    "compare", "a correlation needs two series to compare: set `series`, and `against` or `than`",
    |claim| claim.compare == Compare::Correlation && (claim.series.is_none() || !has_other(claim));
    "compare",
    "a correlation compares whole series, step by step: `take`, `relative_to`, `together` and `first` do not apply",
    |claim| claim.compare == Compare::Correlation && (claim.together.is_some() || claim.first.is_some()
        || series(claim, |window| window.take != Take::Mean || window.relative_to.is_some()));
    "compare",
    "a rank correlation compares two results over all cases: set `than`, and leave out `against`, `series`, `first` and `steps`",
    |claim| claim.compare == Compare::RankCorrelation && (claim.than.is_none() || !claim.against.is_empty()
        || claim.series.is_some() || claim.first.is_some() || claim.steps.is_some());
    "compare", "a claim with `compare` also needs `against`, `than` or `steps`",
    |claim| claim.compare != Compare::Difference && claim.steps.is_none() && !has_other(claim);
    "choose", "`choose` picks one of the cases of `against`: set `against` too",
    |claim| claim.choose != Choose::Largest && claim.against.is_empty();
    "reaching", "`reaching` picks one of the cases of `against`: set `against` too",
    |claim| claim.reaching.is_some() && claim.against.is_empty();
    "choose", "`choose` and `reaching` both pick one of the cases of `against`: leave out `choose` or `reaching`",
    |claim| claim.choose != Choose::Largest && claim.reaching.is_some();
    "first", "`first` needs either `share` or `when`",
    |claim| claim.first.as_ref().is_some_and(|first| first.share.is_some() == first.when.is_some());
    "against", "`first` reduces the cases along its axis to one value: leave this axis out of `against`",
    |claim| claim.first.as_ref().is_some_and(|first| claim.against.contains_key(&first.axis));
    "formula", "set `groups` and `formula` together",
    |claim| claim.groups.is_empty() == claim.formula.is_some();
    "formula", "a claim with `formula` cannot also have `against`, `than`, `compare` or `first`",
    |claim| claim.formula.is_some()
        && (has_other(claim) || claim.first.is_some() || claim.compare != Compare::Difference);
    "statistic", "with `holds = \"zero\"` each value must be zero: leave `statistic` out",
    |claim| is_zero(claim) && claim.statistic != Statistic::default();
    "seeds", "`holds = \"zero\"` compares the median seed and the mean: leave out `seeds` and `share_of_runs`",
    |claim| is_zero(claim) && (claim.seeds != OverSeeds::default() || claim.share_of_runs.is_some());
    "better", "`better` must name a side on which `holds` has a bound",
    |claim| is_unbounded(claim);
    "cause", "a claim with `cause` also needs `why`",
    |claim| claim.cause.is_some() && claim.why.is_none();
}

/// True for a claim on a series whose window fulfils `is_so`.
fn series(claim: &Claim, is_so: impl Fn(&Window) -> bool) -> bool {
    claim.series.as_ref().is_some_and(is_so)
}

/// True for a claim whose window has no bound on its better side.
fn is_unbounded(claim: &Claim) -> bool {
    let outside = claim.better.map(|side| match side {
        Side::Below => f64::MIN,
        Side::Above => f64::MAX,
    });
    let condition = claim.holds.parse::<Condition>().ok();
    outside.zip(condition).is_some_and(|(value, condition)| condition.beyond(value) != claim.better)
}

fn has_other(claim: &Claim) -> bool {
    claim.than.is_some() || !claim.against.is_empty()
}

fn is_zero(claim: &Claim) -> bool {
    claim.holds.parse() == Ok(Condition::Zero)
}

pub(crate) fn broken(claim: &Claim) -> Option<&'static Rule> {
    RULES.iter().find(|rule| (rule.is_broken)(claim))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn claim(fields: &Value) -> Claim {
        let mut whole = json!({ "id": "x.1", "says": "", "source": "", "measure": "flows.*.v", "holds": "> 0" });
        whole.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        serde_json::from_value(whole).unwrap()
    }

    #[test]
    fn each_rule_is_broken_by_its_claim_and_by_no_other() {
        let against = json!({ "scheme": "FIFO" });
        let correlation = json!({ "compare": "correlation", "against": against });
        let with = |base: &Value, more: Value| {
            let mut fields = base.clone();
            fields.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            fields
        };
        let first = json!({ "axis": "load", "share": 0.9 });
        let broken_by = [
            json!({ "series": { "when": "> 1" } }),
            json!({ "series": { "take": "settling" } }),
            json!({ "series": { "take": "max", "over": "1 s" } }),
            json!({ "series": { "take": "max", "counting": "flows.*.v" } }),
            json!({ "series": { "relative_to": { "take": "settling" } } }),
            correlation.clone(),
            with(&correlation, json!({ "series": {}, "together": "sum" })),
            json!({ "compare": "rank-correlation", "than": "flows.b.v", "steps": "load" }),
            json!({ "compare": "ratio" }),
            json!({ "choose": "smallest" }),
            json!({ "reaching": "flows.*.v" }),
            json!({ "choose": "smallest", "reaching": "flows.*.v", "against": against }),
            json!({ "first": { "axis": "load" } }),
            json!({ "first": first, "against": { "load": "1" } }),
            json!({ "formula": "a" }),
            json!({ "formula": "a", "groups": { "a": { "load": "1" } }, "than": "flows.b.v" }),
            json!({ "holds": "zero", "statistic": "max" }),
            json!({ "holds": "zero", "seeds": "every" }),
            json!({ "holds": "<= 1", "better": "below" }),
            json!({ "cause": "open" }),
        ];
        assert_eq!(broken_by.len(), RULES.len());
        for (rule, fields) in RULES.iter().zip(&broken_by) {
            assert_eq!(broken(&claim(fields)).map(|rule| rule.sentence), Some(rule.sentence), "{fields}");
        }
    }

    #[test]
    fn what_goes_together_breaks_no_rule() {
        for fields in [
            json!({}),
            json!({ "compare": "ratio", "steps": "load" }),
            json!({ "compare": "rank-correlation", "than": "flows.b.v", "together": "mean" }),
            json!({ "compare": "correlation", "than": "flows.b.v", "series": { "from": "1 s", "bin": "1 s" } }),
            json!({ "choose": "smallest", "against": { "load": "*" } }),
            json!({ "reaching": "flows.b.v", "against": { "load": "*" }, "together": "sum" }),
            json!({ "first": { "axis": "load", "when": "> 1" }, "against": { "scheme": "FIFO" }, "steps": "target" }),
            json!({ "series": { "take": "reaches", "when": "> 1", "counting": "flows.*.v", "relative_to": {} } }),
            json!({ "series": { "take": "settling", "covered": 0.5 } }),
            json!({ "series": { "take": "fall", "over": "1 s" } }),
            json!({ "holds": "zero" }),
            json!({ "holds": "1 .. 2", "better": "below", "why": "x", "cause": "open" }),
            json!({ "why": "x" }),
            json!({ "share_of_runs": "> 1", "seeds": "every" }),
            json!({ "formula": "max(a)", "groups": { "a": { "load": ["1", "2"] } }, "steps": "scheme" }),
        ] {
            assert!(broken(&claim(&fields)).is_none(), "{fields}");
        }
    }
}
