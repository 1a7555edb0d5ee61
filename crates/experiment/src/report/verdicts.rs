//! Claims on the page: counts of verdicts, which filter the claims; claims that do not hold, with the reasons; and,
//! folded, claims that hold.

use super::text::{Escaped, count, marked, quantity};
use crate::claims::in_unit;
use crate::study::{Origin, Reported, Ruling, Study, Verdict};
use crate::tables::{by_origin, counted};
use std::fmt::{self, Write as _};

const COLUMNS: [&str; 4] = ["Statement", "Document", "Ours", "Verdict"];

/// Writes the counts of verdicts as buttons that filter the claims, with a line for each origin of the statements.
pub(super) fn tally(out: &mut String, verdicts: &[&Verdict]) -> fmt::Result {
    for (whose, verdicts) in by_origin(verdicts) {
        let (origin, _) = origin(verdicts[0].statement);
        let of = |ruling: &Ruling| verdicts.iter().filter(|claim| claim.verdict == *ruling).count();
        let rulings = Ruling::ALL.iter().filter(|ruling| of(ruling) > 0);
        let button = |ruling: &Ruling| {
            let (word, (class, sign)) = (key(*ruling), look(*ruling));
            format!(
                "<button type=\"button\" class=\"tag {class}\" aria-pressed=\"false\" data-verdict=\"{word}\" \
                 data-origin=\"{origin}\"><span aria-hidden=\"true\">{sign} </span>{}</button>",
                ruling.counted(of(ruling))
            )
        };
        let buttons = rulings.map(button).collect::<Vec<_>>().join(" ");
        writeln!(out, "<p class=\"tally\">{}{whose}: {buttons}</p>", counted(verdicts.iter().copied()))?;
    }
    Ok(())
}

/// Writes a study's claims: those that do not hold, and, folded, those that hold.
pub(super) fn claims(out: &mut String, study: &Study) -> fmt::Result {
    let all: Vec<&[Verdict]> = study.claims.chunk_by(|a, b| a.id == b.id).collect();
    let fails = |claim: &&[Verdict]| claim.iter().any(|verdict| verdict.verdict.fails());
    let (failing, others): (Vec<_>, Vec<_>) = all.into_iter().partition(fails);
    if !failing.is_empty() {
        table(out, &failing, &format!("Claims of {} that do not hold", study.id))?;
    }
    if !others.is_empty() {
        let all_hold = others.iter().flat_map(|claim| claim.iter()).all(|verdict| verdict.verdict == Ruling::Holds);
        let what = match (failing.is_empty(), all_hold) {
            (true, _) => count(others.len(), "claim"),
            (false, true) => {
                format!("{} that {}", count(others.len(), "claim"), if others.len() == 1 { "holds" } else { "hold" })
            }
            (false, false) => format!("{} more", count(others.len(), "claim")),
        };
        writeln!(out, "<details class=\"rest\"><summary>{what}</summary>")?;
        table(out, &others, &format!("Other claims of {}", study.id))?;
        out.push_str("</details>\n");
    }
    if study.seeds.len() > 1 {
        writeln!(
            out,
            "<p class=\"note\">Ours: the mean over {} and its 95 % interval. The interval decides; if it contains \
             the bound, the claim is not confirmed. Where one seed decides, its value is followed by the smallest and the largest value.</p>",
            count(study.seeds.len(), "seed")
        )?;
    }
    Ok(())
}

/// Writes a table with one body for each claim. On a phone each body is a card; that style hides the table's roles from
/// screen readers, and attributes restore them.
fn table(out: &mut String, claims: &[&[Verdict]], caption: &str) -> fmt::Result {
    write!(
        out,
        "<table class=\"claims\" role=\"table\"><caption class=\"unseen\">{}</caption>\n\
         <thead role=\"rowgroup\"><tr role=\"row\">",
        Escaped(caption)
    )?;
    for column in COLUMNS {
        write!(out, "<th scope=\"col\" role=\"columnheader\">{column}</th>")?;
    }
    out.push_str("</tr></thead>\n");
    for verdicts in claims {
        claim(out, verdicts)?;
    }
    out.push_str("</table>\n");
    Ok(())
}

/// Writes a row for each verdict, and a row with the reason if the claim does not hold.
fn claim(out: &mut String, verdicts: &[Verdict]) -> fmt::Result {
    let first = &verdicts[0];
    let mut keys: Vec<String> = verdicts.iter().map(|verdict| key(verdict.verdict)).collect();
    keys.dedup();
    writeln!(
        out,
        "<tbody role=\"rowgroup\" class=\"claim\" data-verdicts=\"{}\" data-origin=\"{}\">",
        keys.join(" "),
        origin(first.statement).0
    )?;
    for (rank, verdict) in verdicts.iter().enumerate() {
        out.push_str("<tr role=\"row\">");
        if rank == 0 {
            let rows = verdicts.len();
            write!(
                out,
                "<th scope=\"rowgroup\" role=\"rowheader\" rowspan=\"{rows}\">{} <span class=\"source\">{} · {}{}</span></th>\
                 <td role=\"cell\" rowspan=\"{rows}\" data-label=\"Document\"><div>{} \
                 <span class=\"interval\">holds if {}</span></div></td>",
                Escaped(&first.says),
                Escaped(&first.id),
                Escaped(&first.source),
                origin(first.statement).1,
                reported(first),
                Escaped(&in_unit(&first.holds, first.unit, |value| quantity(value, first.unit))),
            )?;
        }
        writeln!(
            out,
            "<td role=\"cell\" data-label=\"Ours\"><div>{}</div></td>\
             <td role=\"cell\" data-label=\"Verdict\"><div>{}</div></td></tr>",
            measured(verdict) + &beside(verdict),
            ruled(verdict)
        )?;
    }
    if let Some(why) = first.why.as_ref().filter(|_| verdicts.iter().any(|verdict| verdict.verdict.fails())) {
        let cause = first.cause.map_or_else(String::new, |cause| {
            format!(" <span class=\"source\">Cause: {}.</span>", Escaped(cause.words()))
        });
        writeln!(
            out,
            "<tr role=\"row\" class=\"why\"><td role=\"cell\" colspan=\"4\"><strong>Why:</strong> {}{cause}</td></tr>",
            marked(why)
        )?;
    }
    out.push_str("</tbody>\n");
    Ok(())
}

/// Returns the verdict's name as attributes have it: `not-confirmed`.
fn key(ruling: Ruling) -> String {
    ruling.word().replace(' ', "-")
}

/// Returns the class that colours a verdict, and a sign that distinguishes the verdict without colour.
fn look(ruling: Ruling) -> (&'static str, char) {
    match ruling {
        Ruling::Holds => ("holds", '✓'),
        Ruling::NotRefuted => ("holds", '~'),
        Ruling::Better => ("holds", '+'),
        Ruling::Differs => ("differs", '≠'),
        Ruling::NotConfirmed => ("differs", '?'),
        Ruling::TooFewSeeds => ("open", '…'),
        Ruling::NeedsFullRuns => ("open", '–'),
    }
}

/// Returns an origin's name as attributes have it, and the text that is shown if the origin is not the document.
fn origin(origin: Option<Origin>) -> (&'static str, &'static str) {
    match origin {
        None => ("document", ""),
        Some(Origin::Ours) => ("ours", " · our own statement"),
        Some(Origin::Other) => ("other", " · another paper’s statement"),
        Some(Origin::Duplicate) => ("duplicate", " · repeats another claim"),
    }
}

/// Formats a verdict, and the parameters for which a neighbouring choice has another verdict.
fn ruled(verdict: &Verdict) -> String {
    let depends = match verdict.depends_on.as_slice() {
        [] => String::new(),
        names => format!(" <span class=\"interval\">depends on {}</span>", Escaped(&names.join(", "))),
    };
    let ruling = verdict.verdict;
    let (class, sign) = look(ruling);
    format!(
        "<span class=\"tag {class}\" data-verdict=\"{}\"><span aria-hidden=\"true\">{sign} </span>{}</span>{depends}",
        key(ruling),
        ruling.word()
    )
}

/// Formats each parameter's range of values over its neighbouring choices, and the choices that were not run.
fn beside(verdict: &Verdict) -> String {
    let value = |value: f64| quantity(value, verdict.unit);
    let range = |name: &&str| match verdict.range(Some(name)) {
        Some((low, high)) => format!("{}: {} to {}", Escaped(name), value(low), value(high)),
        None => format!("{}: no value", Escaped(name)),
    };
    let ranges: Vec<String> = verdict.parameters().iter().map(range).collect();
    if ranges.is_empty() {
        return String::new();
    }
    let left_out = verdict.neighbours.iter().filter(|neighbour| neighbour.verdict.is_none());
    let left_out: Vec<String> = left_out.map(|neighbour| Escaped(&neighbour.label).to_string()).collect();
    let left_out = if left_out.is_empty() {
        String::new()
    } else {
        format!("; left out because not all of their cases were run: {}", left_out.join("; "))
    };
    format!(" <span class=\"interval\">over neighbours: {}{left_out}</span>", ranges.join("; "))
}

/// Formats the value that the document reports.
fn reported(claim: &Verdict) -> String {
    match &claim.reported {
        Some(Reported::Number(value)) => format!("<span class=\"value\">{}</span>", quantity(*value, claim.unit)),
        Some(Reported::Words(words)) => Escaped(words).to_string(),
        None => "<span class=\"absent\">no number</span>".to_owned(),
    }
}

/// Formats our value with its setting, its interval, and the case or seed that decided.
fn measured(claim: &Verdict) -> String {
    let mut text = String::new();
    if let Some(setting) = &claim.setting {
        let _ = write!(text, "<span class=\"source\">{}</span> ", Escaped(setting));
    }
    if claim.measured.is_nan() {
        return text + "<span class=\"absent\">no value</span>";
    }
    let _ = write!(text, "<span class=\"value\">{}</span>", quantity(claim.measured, claim.unit));
    if claim.low.total_cmp(&claim.high).is_ne() {
        let (low, high) = (quantity(claim.low, claim.unit), quantity(claim.high, claim.unit));
        let _ = write!(text, " <span class=\"interval\">{low} to {high}</span>");
    }
    if !claim.at.is_empty() {
        let _ = write!(text, " <span class=\"interval\">{}</span>", Escaped(&claim.at));
    }
    text
}
