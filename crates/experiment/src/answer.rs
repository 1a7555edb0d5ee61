//! `[answer]`: sentences that contain measured values.

use crate::quantity::short_quantity;
use crate::study::{Ruling, Study, Verdict};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part<T> {
    Text(T),
    /// The measured value of a claim with its unit. Before the value is known: the claim's full id, or the part of it
    /// after the experiment's id.
    Value(T),
}

impl<T> Part<T> {
    /// Returns the claim or, once it is known, its value.
    pub(crate) fn claim(self) -> Option<T> {
        match self {
            Self::Text(_) => None,
            Self::Value(value) => Some(value),
        }
    }

    fn text(self) -> T {
        match self {
            Self::Text(text) | Self::Value(text) => text,
        }
    }
}

/// Splits a sentence into parts: "the FIFO reached {2}".
pub(crate) fn parts(sentence: &str) -> Result<Vec<Part<&str>>, &'static str> {
    const WRONG: &str = "write the number or the id of a claim between `{` and `}`, as in `{1}` or `{adth-s1a.3}`";
    let mut parts = Vec::new();
    let mut rest = sentence;
    while let Some((before, after)) = rest.split_once('{') {
        let (name, after) = after.split_once('}').ok_or(WRONG)?;
        if before.contains('}') || name.is_empty() || name.contains(['{', ' ']) {
            return Err(WRONG);
        }
        parts.extend([Part::Text(before), Part::Value(name)]);
        rest = after;
    }
    if rest.contains('}') {
        return Err(WRONG);
    }
    parts.push(Part::Text(rest));
    Ok(parts)
}

/// Returns the full id of a claim: `1` means the experiment's claim `<experiment>.1`.
pub(crate) fn full(experiment: &str, name: &str) -> String {
    if name.contains('.') { name.to_owned() } else { format!("{experiment}.{name}") }
}

/// Returns the sentences of a study with the values of its verdicts, as text.
pub(crate) fn sentences(study: &Study) -> Vec<String> {
    pieces(study).into_iter().map(|pieces| pieces.into_iter().map(Part::text).collect()).collect()
}

/// Returns a study's sentences with the values of its verdicts. Leaves out a sentence if a claim in it has no value.
pub(crate) fn pieces(study: &Study) -> Vec<Vec<Part<String>>> {
    study.answer.says.iter().filter_map(|sentence| filled(sentence, &study.id, &study.claims)).collect()
}

/// Fills in the values of an experiment's verdicts; `None` if a verdict has no value.
fn filled(sentence: &str, experiment: &str, verdicts: &[Verdict]) -> Option<Vec<Part<String>>> {
    let told = |part: Part<&str>| match part {
        Part::Text(text) => Some(Part::Text(text.to_owned())),
        Part::Value(name) => value(&full(experiment, name), verdicts).map(Part::Value),
    };
    parts(sentence).ok()?.into_iter().map(told).collect()
}

/// Returns the sentence for a study without an `[answer]`, from the counts of verdicts: "32 of 47 claims hold; 11
/// differ, 4 are not confirmed."
pub(crate) fn counts(study: &Study) -> String {
    let of = |ruling: Ruling| study.claims.iter().filter(|verdict| verdict.verdict == ruling).count();
    let what = if study.claims.iter().any(|verdict| verdict.setting.is_some()) { "verdicts" } else { "claims" };
    let others = Ruling::ALL.into_iter().filter(|ruling| *ruling != Ruling::Holds && of(*ruling) > 0);
    let others: Vec<String> = others.map(|ruling| ruling.counted(of(ruling))).collect();
    match (study.claims.len(), of(Ruling::Holds)) {
        (0, _) => format!("{}, no claims.", runs(study)),
        (1, 1) => "The claim holds.".to_owned(),
        (all, holding) if all == holding => format!("All {all} {what} hold."),
        (all, 1) => format!("1 of {all} {what} holds; {}.", others.join(", ")),
        (all, holding) => format!("{holding} of {all} {what} hold; {}.", others.join(", ")),
    }
}

/// Formats the numbers of runs and of seeds.
pub(crate) fn runs(study: &Study) -> String {
    let count = |n: usize, thing: &str| format!("{n} {thing}{}", if n == 1 { "" } else { "s" });
    format!("{} ({} per case)", count(study.runs.len(), "run"), count(study.seeds.len(), "seed"))
}

/// Formats the value of a claim; for a claim with several settings, each value with its setting.
fn value(id: &str, verdicts: &[Verdict]) -> Option<String> {
    let of_claim: Vec<&Verdict> = verdicts.iter().filter(|verdict| verdict.id == id).collect();
    let told = |verdict: &&Verdict| {
        let known = verdict.verdict != Ruling::NeedsFullRuns && !verdict.measured.is_nan();
        let value = known.then(|| short_quantity(verdict.measured, verdict.unit))?;
        Some(match &verdict.setting {
            Some(setting) if of_claim.len() > 1 => format!("{value} ({setting})"),
            _ => value,
        })
    };
    let values = of_claim.iter().map(told).collect::<Option<Vec<String>>>()?;
    (!values.is_empty()).then(|| values.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::Unit;

    fn verdict(id: &str, setting: Option<&str>, measured: f64, unit: Unit) -> Verdict {
        Verdict {
            id: id.to_owned(),
            setting: setting.map(str::to_owned),
            holds: "> 0".to_owned(),
            measured,
            low: measured,
            high: measured,
            unit,
            verdict: Ruling::Holds,
            ..Verdict::default()
        }
    }

    #[test]
    fn a_sentence_takes_values_with_their_units() {
        let verdicts = [
            verdict("x.1", None, 3.49872, Unit::Seconds),
            verdict("x.2", None, 0.8251, Unit::Share),
            verdict("x-b.1", None, 12_345.0, Unit::Packets),
            verdict("x.4", Some("RTS"), 1.5, Unit::Number),
            verdict("x.4", Some("basic"), f64::NAN, Unit::Number),
            verdict("x.5", Some("RTS"), 1.5, Unit::Number),
            verdict("x.5", Some("basic"), 2.0, Unit::Number),
        ];
        let told = |sentence| Some(filled(sentence, "x", &verdicts)?.into_iter().map(Part::text).collect::<String>());
        assert_eq!(told("FIFO {1}, ADTH {2}; {x-b.1}.").as_deref(), Some("FIFO 3.5 s, ADTH 82.5 %; 12345 packets."));
        assert_eq!(told("{5}").as_deref(), Some("1.5 (RTS), 2 (basic)"));
        assert_eq!((told("{4}"), told("{9}")), (None, None), "no value");
        assert_eq!(told("no value at all").as_deref(), Some("no value at all"));
    }

    #[test]
    fn braces_that_name_no_claim_are_refused() {
        for wrong in ["{", "}", "a {b", "a } b", "{}", "{a b}", "{{1}}"] {
            assert!(parts(wrong).is_err(), "{wrong}");
        }
        assert_eq!(parts("a {1}"), Ok(vec![Part::Text("a "), Part::Value("1"), Part::Text("")]));
    }
}
