//! The document: head, summary, and a section a study.

use super::lines;
use super::picture::{Data, Picture, Style, Tracks};
use super::text::{Escaped, count, json_in_script, number, quantity, ranges};
use crate::answer;
use crate::grid::Grid;
use crate::label::short;
use crate::shell;
use crate::study::{Reported, Ruling, Run, Study, Table, Verdict};
use crate::tables::counted;
use std::fmt::{self, Write as _};

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");
const SAVE: &str = include_str!("save.js");

/// Dash patterns of the page's style and script.
const DASHES: usize = 4;

/// Digits of numbers in tables.
const DIGITS: usize = 4;

/// The whole page. `library` is JavaScript that defines `vegaEmbed` and holds no `</script`.
pub(super) fn document(studies: &[Study], library: &str) -> String {
    let title = match studies {
        [one] => one.title.clone(),
        _ => format!("Sluice: {}", count(studies.len(), "experiment")),
    };
    whole(&title, library, |out, data| {
        let mut tracks = Tracks::default();
        if let [study] = studies {
            out.push_str("<main>\n");
            section(out, 0, study, "h1", data, &mut tracks)?;
        } else {
            write!(out, "<header>\n<h1>{}</h1>\n</header>\n", Escaped(&title))?;
            summary(out, studies)?;
            out.push_str("<main>\n");
            for (n, study) in studies.iter().enumerate() {
                section(out, n, study, "h2", data, &mut tracks)?;
            }
        }
        out.push_str("</main>\n");
        Ok(())
    })
}

/// A page whose `body` is written by a function, which says too what the page's script is to draw.
pub(super) fn whole(title: &str, library: &str, body: impl FnOnce(&mut String, &mut Data) -> fmt::Result) -> String {
    let mut out = String::with_capacity(library.len() + 100_000);
    write(&mut out, title, library, body).expect("a String takes all text");
    out
}

fn write(
    out: &mut String,
    title: &str,
    library: &str,
    body: impl FnOnce(&mut String, &mut Data) -> fmt::Result,
) -> fmt::Result {
    // The policy forbids the page to fetch anything, whatever the library might want.
    write!(
        out,
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; \
         script-src 'unsafe-inline' 'unsafe-eval'; img-src data:; base-uri 'none'; form-action 'none'\">\n\
         <link rel=\"icon\" href=\"data:,\">\n\
         <title>{}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n",
        Escaped(title)
    )?;
    let mut data = Data::default();
    body(out, &mut data)?;
    out.push_str("<footer><p>Made by Sluice. Charts: Vega-Lite, embedded; this page fetches nothing.</p></footer>\n");
    let json = serde_json::to_string(&data).expect("numbers and texts always have a JSON form");
    writeln!(out, "<script type=\"application/json\" id=\"data\">{}</script>", json_in_script(&json))?;
    write!(out, "<script>\n{library}</script>\n<script>\n{SCRIPT}{SAVE}</script>\n</body>\n</html>\n")
}

/// What holds and what differs, study by study, with links: the table of contents.
fn summary(out: &mut String, studies: &[Study]) -> fmt::Result {
    let claims = || studies.iter().flat_map(|study| &study.claims);
    let tally = |ruling: Ruling, claims: &mut dyn Iterator<Item = &Verdict>| {
        claims.filter(|claim| claim.verdict == ruling).count()
    };
    // Claims that were not ruled on have a column only where there are any: in a short run.
    let (always, short) = Ruling::ALL.split_at(5);
    let short = short.iter().filter(|ruling| tally(**ruling, &mut claims()) > 0);
    let columns: Vec<Ruling> = always.iter().chain(short).copied().collect();
    let tags = columns.iter().map(|ruling| tag(*ruling, Some(tally(*ruling, &mut claims()))));
    write!(
        out,
        "<nav aria-label=\"Experiments\">\n<p class=\"tally\">{}: {}</p>\n\
         <div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Experiments and their claims\">\n\
         <table class=\"contents\"><caption class=\"unseen\">Experiments and their claims</caption>\n<thead><tr>\
         <th scope=\"col\">Experiment</th>",
        counted(claims()),
        tags.collect::<Vec<_>>().join(" "),
    )?;
    for ruling in &columns {
        write!(out, "<th scope=\"col\" class=\"number\">{}</th>", capital(ruling.word()))?;
    }
    out.push_str("</tr></thead>\n<tbody>\n");
    for (n, study) in studies.iter().enumerate() {
        write!(
            out,
            "<tr><th scope=\"row\"><a href=\"#study-{n}\">{}</a> <span class=\"id\">{}</span>{}</th>",
            Escaped(&study.title),
            Escaped(&study.id),
            answer::sentences(study)
                .first()
                .map_or_else(String::new, |first| format!(" <span class=\"source\">{}</span>", Escaped(first))),
        )?;
        for ruling in &columns {
            let n = tally(*ruling, &mut study.claims.iter());
            let class = if n > 0 && ruling.fails() { " some" } else { "" };
            write!(out, "<td class=\"number{class}\">{n}</td>")?;
        }
        out.push_str("</tr>\n");
    }
    out.push_str("</tbody></table>\n</div>\n</nav>\n");
    Ok(())
}

fn section(
    out: &mut String,
    n: usize,
    study: &Study,
    heading: &str,
    data: &mut Data,
    tracks: &mut Tracks,
) -> fmt::Result {
    // One level below the title, so that no level is skipped.
    let sub = if heading == "h1" { "h2" } else { "h3" };
    write!(
        out,
        "<section class=\"study\" aria-labelledby=\"study-{n}\">\n<p class=\"id\">{}</p>\n\
         <{heading} id=\"study-{n}\">{}</{heading}>\n",
        Escaped(&study.id),
        Escaped(&study.title)
    )?;
    let answers = answer::sentences(study);
    for sentence in &answers {
        writeln!(out, "<p class=\"answer\">{}</p>", Escaped(sentence))?;
    }
    let mut chart = |out: &mut String, k: usize| {
        let chart = &study.charts[k];
        let picture = lines::picture(n, study, chart, format!("chart-{n}-{k}"), data, tracks);
        figure(out, &chart.title, &chart.about, picture, data)
    };
    let first = study.charts.iter().position(|chart| chart.first).or((!study.charts.is_empty()).then_some(0));
    if answers.is_empty() {
        paragraphs(out, &study.about)?;
    }
    for warning in study.warnings() {
        writeln!(out, "<p class=\"warning\">Warning: {}</p>", Escaped(warning))?;
    }
    if let Some(first) = first {
        chart(out, first)?;
    }
    if !answers.is_empty() {
        out.push_str("<details class=\"about\"><summary>What was simulated</summary>\n");
        paragraphs(out, &study.about)?;
        out.push_str("</details>\n");
    }
    if !study.claims.is_empty() {
        writeln!(out, "<{sub}>Claims</{sub}>")?;
        claims(out, study)?;
    }
    for table in &study.tables {
        writeln!(out, "<{sub}>{}</{sub}>", Escaped(&table.title))?;
        asked(out, study, table)?;
    }
    if study.charts.len() > 1 {
        writeln!(out, "<{sub}>More charts</{sub}>")?;
    }
    for k in (0..study.charts.len()).filter(|k| Some(*k) != first) {
        chart(out, k)?;
    }
    writeln!(out, "<{sub}>What was run</{sub}>")?;
    provenance(out, study)?;
    out.push_str("</section>\n");
    Ok(())
}

/// A chart with its title and a remark; or why there is none.
pub(super) fn figure(
    out: &mut String,
    title: &str,
    about: &str,
    picture: Result<Picture, String>,
    data: &mut Data,
) -> fmt::Result {
    writeln!(out, "<figure>\n<figcaption><strong>{}</strong>", Escaped(title))?;
    if !about.is_empty() {
        write!(out, " {}", Escaped(about))?;
    }
    out.push_str("</figcaption>\n");
    match picture {
        Ok(picture) => {
            frames(out, &picture, title)?;
            data.pictures.push(picture);
        }
        Err(reason) => writeln!(out, "<p class=\"empty\">{}</p>", Escaped(&reason))?,
    }
    out.push_str("</figure>\n");
    Ok(())
}

pub(super) fn paragraphs(out: &mut String, text: &str) -> fmt::Result {
    for paragraph in text.split("\n\n").map(str::trim).filter(|p| !p.is_empty()) {
        writeln!(out, "<p>{}</p>", Escaped(paragraph))?;
    }
    Ok(())
}

/// `✓ holds`, `≠ differs`: told by sign and word, not by colour alone.
fn tag(ruling: Ruling, n: Option<usize>) -> String {
    let class = kebab(ruling);
    let sign = match ruling {
        Ruling::Holds => "✓",
        Ruling::NotRefuted => "~",
        Ruling::Better => "+",
        Ruling::Differs => "≠",
        Ruling::NotConfirmed => "?",
        Ruling::NeedsFullRuns => "–",
    };
    let word = ruling.word();
    let told = n.map_or_else(|| word.to_owned(), |n| ruling.counted(n));
    format!("<span class=\"tag {class}\"><span aria-hidden=\"true\">{sign} </span>{told}</span>")
}

fn capital(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// The verdicts: how many there are of each, which filters the claims; those that do not hold; the others folded.
fn claims(out: &mut String, study: &Study) -> fmt::Result {
    let of = |ruling: &Ruling| study.claims.iter().filter(|claim| claim.verdict == *ruling).count();
    write!(out, "<p class=\"tally\">{}:", counted(&study.claims))?;
    for ruling in Ruling::ALL.iter().filter(|ruling| of(ruling) > 0) {
        let (verdict, shown) = (kebab(*ruling), tag(*ruling, Some(of(ruling))));
        write!(
            out,
            " <button type=\"button\" class=\"filter\" aria-pressed=\"false\" data-verdict=\"{verdict}\" \
             title=\"Only these\">{shown}</button>"
        )?;
    }
    out.push_str("</p>\n");
    let claims: Vec<&[Verdict]> = study.claims.chunk_by(|a, b| a.id == b.id).collect();
    let fails = |verdicts: &&[Verdict]| verdicts.iter().any(|verdict| verdict.verdict.fails());
    let (failing, others): (Vec<_>, Vec<_>) = claims.into_iter().partition(fails);
    if !failing.is_empty() {
        rows(out, &format!("Claims of {} that do not hold", study.id), &failing)?;
    }
    if !others.is_empty() {
        let open = if failing.is_empty() { " open" } else { "" };
        let told = if failing.is_empty() { "All claims".to_owned() } else { format!("The other {}", others.len()) };
        writeln!(out, "<details class=\"others\"{open}><summary>{told}</summary>")?;
        rows(out, &format!("Other claims of {}", study.id), &others)?;
        out.push_str("</details>\n");
    }
    if study.seeds.len() > 1 {
        writeln!(
            out,
            "<p class=\"note\">Ours: mean over {} and its 95 % interval, which decides: a claim whose border it contains is \
             not confirmed. Where one seed decides, its value and those of the smallest and the largest.</p>",
            count(study.seeds.len(), "seed")
        )?;
    }
    Ok(())
}

/// A table of claims.
fn rows(out: &mut String, caption: &str, claims: &[&[Verdict]]) -> fmt::Result {
    // A phone shows rows as cards, for which the style takes the table's roles away; the attributes give them back.
    write!(
        out,
        "<table class=\"claims\" role=\"table\"><caption class=\"unseen\">{}</caption>\n\
         <thead role=\"rowgroup\"><tr role=\"row\">",
        Escaped(caption)
    )?;
    for column in ["Statement", "Document", "Ours", "Verdict"] {
        write!(out, "<th scope=\"col\" role=\"columnheader\">{column}</th>")?;
    }
    out.push_str("</tr></thead>\n<tbody role=\"rowgroup\">\n");
    for verdicts in claims {
        let claim = &verdicts[0];
        let of: Vec<&str> = verdicts.iter().map(|verdict| kebab(verdict.verdict)).collect();
        writeln!(
            out,
            "<tr role=\"row\" data-verdicts=\"{}\"><th scope=\"row\" role=\"rowheader\">{} \
             <span class=\"source\"><span class=\"id\">{}</span> {}</span>{}</th>\
             <td role=\"cell\" data-label=\"Document\">{} <span class=\"interval\">holds if {}</span></td>\
             <td role=\"cell\" data-label=\"Ours\">{}</td><td role=\"cell\" data-label=\"Verdict\">{}</td></tr>",
            of.join(" "),
            Escaped(&claim.says),
            Escaped(&claim.id),
            Escaped(&claim.source),
            why(verdicts),
            reported(claim),
            Escaped(&claim.holds),
            each(verdicts, |verdict| measured(verdict) + &beside(verdict)),
            each(verdicts, ruled),
        )?;
    }
    out.push_str("</tbody></table>\n");
    Ok(())
}

/// The verdict's class in the page.
fn kebab(ruling: Ruling) -> &'static str {
    match ruling {
        Ruling::Holds => "holds",
        Ruling::NotRefuted => "not-refuted",
        Ruling::Better => "better",
        Ruling::Differs => "differs",
        Ruling::NotConfirmed => "not-confirmed",
        Ruling::NeedsFullRuns => "needs-full-runs",
    }
}

/// A table that the scenario asks for.
fn asked(out: &mut String, study: &Study, table: &Table) -> fmt::Result {
    let grid = Grid::new(study, table);
    paragraphs(out, &table.about)?;
    write!(
        out,
        "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{}\">\n<table class=\"values\">\n<thead><tr>\
         <th scope=\"col\" rowspan=\"2\">{}</th>",
        Escaped(&table.title),
        Escaped(&short(&grid.axis))
    )?;
    let across = table.cell.len();
    for labels in &grid.columns {
        let name = if labels.is_empty() { table.title.clone() } else { labels.join(", ") };
        write!(out, "<th scope=\"colgroup\" class=\"number\" colspan=\"{across}\">{}</th>", Escaped(&name))?;
    }
    out.push_str("</tr>\n<tr>");
    for cell in grid.columns.iter().flat_map(|_| &table.cell) {
        write!(out, "<th scope=\"col\" class=\"number\">{}</th>", Escaped(&cell.title))?;
    }
    out.push_str("</tr></thead>\n<tbody>\n");
    for (label, row) in grid.rows.iter().zip(&grid.values) {
        write!(out, "<tr><th scope=\"row\">{}</th>", Escaped(label))?;
        for value in row.iter().flatten() {
            let shown =
                if value.mean.is_nan() { "–".to_owned() } else { cell(&[value.mean, value.low, value.high], 1.0) };
            write!(out, "<td class=\"number\">{shown}</td>")?;
        }
        out.push_str("</tr>\n");
    }
    out.push_str("</tbody></table>\n</div>\n");
    if study.seeds.len() > 1 {
        let seeds = count(study.seeds.len(), "seed");
        writeln!(out, "<p class=\"note\">Means over {seeds}, ± half of the 95 % interval.</p>")?;
    }
    Ok(())
}

/// What a cell of a claim says: of several verdicts each in a block with its setting.
fn each(verdicts: &[Verdict], cell: impl Fn(&Verdict) -> String) -> String {
    let block = |verdict: &Verdict| match &verdict.setting {
        None => cell(verdict),
        Some(setting) => {
            format!("<div class=\"setting\"><span class=\"source\">{}</span> {}</div>", Escaped(setting), cell(verdict))
        }
    };
    verdicts.iter().map(block).collect()
}

/// The verdict, and the parameters with a neighbouring choice that has another one.
fn ruled(verdict: &Verdict) -> String {
    let depends = match verdict.depends_on.as_slice() {
        [] => String::new(),
        names => format!(" <span class=\"interval\">depends on {}</span>", Escaped(&names.join(", "))),
    };
    tag(verdict.verdict, None) + &depends
}

/// The range over the neighbouring choices of every parameter, and the choices that were left out.
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
        format!("; left out, not all cases run: {}", left_out.join("; "))
    };
    format!(" <span class=\"interval beside\">over neighbours: {}{left_out}</span>", ranges.join("; "))
}

/// The reason why a claim does not hold, where the scenario says it.
fn why(verdicts: &[Verdict]) -> String {
    let fails = verdicts.iter().any(|verdict| verdict.verdict.fails());
    let why = verdicts[0].why.as_ref().filter(|_| fails);
    why.map_or_else(String::new, |text| format!("<p class=\"why\">{}</p>", Escaped(text)))
}

fn reported(claim: &Verdict) -> String {
    match &claim.reported {
        Some(Reported::Number(value)) => format!("<span class=\"value\">{}</span>", quantity(*value, claim.unit)),
        Some(Reported::Words(words)) => Escaped(words).to_string(),
        None => "<span class=\"absent\">no number</span>".to_owned(),
    }
}

fn measured(claim: &Verdict) -> String {
    if claim.measured.is_nan() {
        return "<span class=\"absent\">no value</span>".to_owned();
    }
    let mut text = format!("<span class=\"value\">{}</span>", quantity(claim.measured, claim.unit));
    if claim.low.total_cmp(&claim.high).is_ne() {
        let (low, high) = (quantity(claim.low, claim.unit), quantity(claim.high, claim.unit));
        let _ = write!(text, " <span class=\"interval\">{low} to {high}</span>");
    }
    if !claim.at.is_empty() {
        let _ = write!(text, " <span class=\"interval\">{}</span>", Escaped(&claim.at));
    }
    text
}

/// Legend, panels, notes and, over an axis, the values as a table.
fn frames(out: &mut String, picture: &Picture, title: &str) -> fmt::Result {
    if picture.legend.len() > 1 || picture.panels.len() > 1 {
        legend(out, &picture.legend)?;
    }
    let class = if picture.panels.len() > 1 { "panels" } else { "panels single" };
    writeln!(out, "<div class=\"{class}\">")?;
    for (k, panel) in picture.panels.iter().enumerate() {
        let lines = panel.lines.iter().map(|line| line.style.name.as_str()).collect::<Vec<_>>().join("; ");
        let rules = panel.rules.iter().map(|rule| rule.name.as_str()).collect::<Vec<_>>().join("; ");
        let shown = [title, panel.title.as_deref().unwrap_or_default(), &picture.y.title, &lines, &rules];
        let told = shown.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(". ");
        out.push_str("<div class=\"panel\">\n");
        if let Some(title) = &panel.title {
            writeln!(out, "<p class=\"panel-title\">{}</p>", Escaped(title))?;
        }
        writeln!(
            out,
            "<div class=\"plot\" id=\"{}-{k}\" role=\"img\" aria-label=\"{}\"></div>\n</div>",
            picture.id,
            Escaped(&told)
        )?;
    }
    out.push_str("</div>\n");
    if !picture.notes.is_empty() {
        writeln!(out, "<p class=\"note\">{}</p>", Escaped(&picture.notes.join(" ")))?;
    }
    values(out, picture)
}

fn legend(out: &mut String, styles: &[Style]) -> fmt::Result {
    out.push_str("<ul class=\"legend\">\n");
    for (key, style) in styles.iter().enumerate() {
        writeln!(
            out,
            "<li><button type=\"button\" aria-pressed=\"true\" data-key=\"{key}\">\
             <svg width=\"26\" height=\"10\" aria-hidden=\"true\"><line x1=\"1\" x2=\"25\" y1=\"5\" y2=\"5\" \
             class=\"stroke-{}{} dash-{}\"/></svg> {}</button></li>",
            style.colour,
            if style.dash % 2 == 1 { "-deep" } else { "" },
            style.dash % DASHES,
            Escaped(&style.name)
        )?;
    }
    out.push_str("</ul>\n");
    Ok(())
}

fn values(out: &mut String, picture: &Picture) -> fmt::Result {
    let Some(scale) = &picture.x else { return Ok(()) };
    let unit = &picture.y.title;
    write!(
        out,
        "<details><summary>Values</summary>\n<div class=\"scroll\" tabindex=\"0\" role=\"region\" \
         aria-label=\"Values\">\n<table class=\"values\">\n<thead><tr><th scope=\"col\">{}</th>",
        Escaped(unit)
    )?;
    for label in &scale.labels {
        write!(out, "<th scope=\"col\" class=\"number\">{}</th>", Escaped(label))?;
    }
    out.push_str("</tr></thead>\n<tbody>\n");
    for panel in &picture.panels {
        for line in &panel.lines {
            let parts = [panel.title.as_deref(), Some(line.style.name.as_str())];
            let name = parts.into_iter().flatten().collect::<Vec<_>>().join(": ");
            write!(out, "<tr><th scope=\"row\">{}</th>", Escaped(&name))?;
            for place in 0..scale.labels.len() {
                let point = line.points.iter().find(|(at, _)| *at == place);
                let cell = point.map_or_else(String::new, |(_, values)| cell(values, picture.y.factor));
                write!(out, "<td class=\"number\">{cell}</td>")?;
            }
            out.push_str("</tr>\n");
        }
    }
    out.push_str("</tbody></table>\n</div>\n</details>\n");
    Ok(())
}

/// Mean and half the width of the interval, which is symmetric.
fn cell(&[mean, _, high]: &[f64; 3], factor: f64) -> String {
    let (mean, half) = (mean * factor, (high - mean) * factor);
    if half > 0.0 { format!("{} ± {}", number(mean, DIGITS), number(half, 2)) } else { number(mean, DIGITS) }
}

fn provenance(out: &mut String, study: &Study) -> fmt::Result {
    let cases: Vec<&Run> = study.runs.chunk_by(|a, b| a.case == b.case).map(|runs| &runs[0]).collect();
    write!(
        out,
        "<dl class=\"facts\">\n<div><dt>Runs</dt><dd>{} of {}</dd></div>\n<div><dt>Seeds</dt><dd>{}</dd></div>\n",
        count(study.runs.len(), "run"),
        count(cases.len(), "case"),
        ranges(&study.seeds)
    )?;
    if let Some(run) = study.runs.first() {
        let simulated = number(run.outcome.simulated_s, DIGITS);
        writeln!(out, "<div><dt>Simulated</dt><dd>{simulated} s a run</dd></div>")?;
    }
    write!(
        out,
        "<div><dt>Version</dt><dd>Sluice {}</dd></div>\n<div class=\"wide\"><dt>Again</dt><dd>{}</dd></div>\n</dl>\n",
        Escaped(&study.version),
        command(&study.command)
    )?;
    replays(out, study, &cases)?;
    writeln!(
        out,
        "<details><summary>Scenario file</summary>\n<pre tabindex=\"0\"><code>{}</code></pre>\n</details>",
        Escaped(&study.text)
    )
}

/// A line to copy: the script adds the button where the browser has a clipboard.
pub(super) fn command(line: &str) -> String {
    format!("<span class=\"command\"><code>{}</code></span>", Escaped(line))
}

/// The command of every case's first run.
fn replays(out: &mut String, study: &Study, cases: &[&Run]) -> fmt::Result {
    if cases.len() < 2 && study.seeds.len() < 2 {
        return Ok(());
    }
    write!(
        out,
        "<details><summary>Replay one run</summary>\n<p class=\"note\">Each with the case's first seed; any other of {} \
         may stand in its place.</p>\n<ul class=\"replays\">\n",
        ranges(&study.seeds)
    )?;
    for run in cases {
        let labels = study.axes.iter().filter_map(|axis| Some((&axis.name, run.case.get(&axis.name)?)));
        let name = labels.map(|(axis, label)| format!("{axis} = {label}")).collect::<Vec<_>>().join(", ");
        let name = if name.is_empty() { "the scenario as it is".to_owned() } else { name };
        writeln!(out, "<li><span class=\"case\">{}</span> {}</li>", Escaped(&name), command(&replay(study, run)))?;
    }
    out.push_str("</ul>\n</details>\n");
    Ok(())
}

/// The command that makes one run again: `sluice run` takes files, not ids.
fn replay(study: &Study, run: &Run) -> String {
    let mut line = format!("sluice run {} --seed {}", shell::quoted(&study.file), run.seed);
    for (key, value) in &run.set {
        let _ = write!(line, " --set {}", shell::quoted(&format!("{key}={value}")));
    }
    line
}
