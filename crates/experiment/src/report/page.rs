//! The page: its head, the list of experiments, and a section for each study.

use super::figure::{self, DIGITS, cell, figure, room, wide};
use super::picture::{Data, Tracks};
use super::text::{Escaped, count, json_in_script, marked, number, ranges};
use super::{Simulator, lines, site, spread, verdicts};
use crate::answer::{self, Part};
use crate::grid::Grid;
use crate::label::short;
use crate::shell;
use crate::statistics::Interval;
use crate::study::{Finding, Run, Study, Table, Verdict};
use crate::tables::blocks;
use itertools::Itertools as _;
use serde::Serialize;
use std::fmt::{self, Write as _};
use std::ops::Range;

const HEAD: &str = include_str!("head.html");
const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");
const SAVE: &str = include_str!("save.js");

/// Writes the report of `studies`, in their order, as one HTML file. `library` is JavaScript that defines `vegaEmbed`
/// and does not contain `</script`. With a simulator, readers can change an experiment's keys and see new charts.
pub fn html(studies: &[Study], library: &str, simulator: Option<&Simulator>) -> String {
    let title = match studies {
        [one] => one.title.clone(),
        _ => format!("Sluice: {}", count(studies.len(), "experiment")),
    };
    let mut page = whole(&title, library, |out, data| {
        let mut tracks = Tracks::default();
        if let [study] = studies {
            out.push_str("<main>\n");
            section(out, 0, study, "h1", data, &mut tracks)?;
        } else {
            write!(out, "<header>\n<h1>{}</h1>\n</header>\n", Escaped(&title))?;
            contents(out, studies)?;
            out.push_str("<main>\n");
            for (n, study) in studies.iter().enumerate() {
                section(out, n, study, "h2", data, &mut tracks)?;
            }
        }
        out.push_str("</main>\n");
        Ok(())
    });
    if let Some(simulator) = simulator {
        page = page.replacen("script-src ", "worker-src blob:; script-src ", 1);
        let end = page.rfind("</body>").unwrap_or(page.len());
        page.insert_str(end, &simulator.scripts());
    }
    page
}

/// A study's charts after new runs, each as a figure, and the data that the page's script reads.
#[derive(Debug, Serialize)]
pub struct Redrawn {
    figures: Vec<String>,
    data: Data,
}

/// Draws a study's charts, to replace those of study `number` in a report of the same experiment.
pub fn charts(number: usize, study: &Study) -> Redrawn {
    let (mut data, mut tracks) = (Data::default(), Tracks::default());
    let draw = |k| {
        let mut out = String::new();
        // Writing to a String cannot fail.
        let _ = drawn(&mut out, (number, k), study, &mut data, &mut tracks);
        out
    };
    let figures = (0..study.charts.len()).map(draw).collect();
    Redrawn { figures, data }
}

/// Writes the figure of chart `k` of the report's study `n`.
fn drawn(out: &mut String, (n, k): (usize, usize), study: &Study, data: &mut Data, tracks: &mut Tracks) -> fmt::Result {
    let chart = &study.charts[k];
    let picture = lines::picture(n, study, chart, format!("chart-{n}-{k}"), data, tracks);
    figure(out, &chart.title, &chart.about, picture, data)
}

/// Writes a page; `body` writes its content and adds the data for the page's script.
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
    out.push_str(&head(title));
    let mut data = Data::default();
    body(out, &mut data)?;
    out.push_str("<footer><p>Made by Sluice. Charts: Vega-Lite, embedded; this page fetches nothing.</p></footer>\n");
    let json = serde_json::to_string(&data).expect("numbers and texts always have a JSON form");
    writeln!(out, "<script type=\"application/json\" id=\"data\">{}</script>", json_in_script(&json))?;
    write!(out, "<script>\n{library}</script>\n<script>\n{SCRIPT}{SAVE}</script>\n</body>\n</html>\n")
}

/// Returns the beginning of a page, up to its body. Its policy forbids fetching anything, also by the library.
fn head(title: &str) -> String {
    HEAD.replace("{style}", STYLE).replacen("{title}", &Escaped(title).to_string(), 1)
}

/// Writes a Vega-Lite chart as one HTML file that fetches nothing. `spec` is the chart's JSON, `library` is as for [`html`].
pub fn chart(title: &str, spec: &str, library: &str) -> String {
    let spec = json_in_script(spec);
    format!(
        "{}<main><div id=\"chart\"></div></main>\n<script type=\"application/json\" id=\"data\">{spec}</script>\n\
         <script>\n{library}</script>\n<script>vegaEmbed(\"#chart\", \
         JSON.parse(document.getElementById(\"data\").textContent), {{ renderer: \"svg\", actions: false, ast: true }});</script>\n\
         </body>\n</html>\n",
        head(title)
    )
}

/// Writes the list of experiments: counts of verdicts over all of them, then for each a link and its answer.
fn contents(out: &mut String, studies: &[Study]) -> fmt::Result {
    out.push_str("<nav aria-label=\"Experiments\">\n");
    let all: Vec<&Verdict> = studies.iter().flat_map(|study| &study.claims).collect();
    out.push_str("<ol class=\"contents\">\n");
    for (n, study) in studies.iter().enumerate() {
        writeln!(
            out,
            "<li><a href=\"#study-{n}\">{}</a> <span class=\"id\">{}</span>",
            Escaped(&study.title),
            Escaped(&study.id)
        )?;
        answer(out, study)?;
        out.push_str("</li>\n");
    }
    out.push_str("</ol>\n");
    verdicts::tally(out, &all)?;
    out.push_str("</nav>\n");
    Ok(())
}

/// Writes the answer of a study, with the measured values in bold.
fn answer(out: &mut String, study: &Study) -> fmt::Result {
    let mut sentences = answer::pieces(study);
    if sentences.is_empty() {
        sentences.push(vec![Part::Text(answer::counts(study))]);
    }
    for sentence in sentences {
        out.push_str("<p class=\"answer\">");
        for piece in sentence {
            match piece {
                Part::Text(text) => write!(out, "{}", Escaped(&text))?,
                Part::Value(value) => write!(out, "<strong>{}</strong>", Escaped(&value))?,
            }
        }
        out.push_str("</p>\n");
    }
    Ok(())
}

/// Writes a study: its answer, the chart that shows it, its claims, tables and other charts, and how to run it again.
fn section(
    out: &mut String,
    n: usize,
    study: &Study,
    heading: &str,
    data: &mut Data,
    tracks: &mut Tracks,
) -> fmt::Result {
    // The heading is one level below the title's, so that no level is skipped.
    let sub = if heading == "h1" { "h2" } else { "h3" };
    write!(
        out,
        "<section class=\"study\" aria-labelledby=\"study-{n}\">\n<p class=\"id\">{}</p>\n\
         <{heading} id=\"study-{n}\">{}</{heading}>\n",
        Escaped(&study.id),
        Escaped(&study.title)
    )?;
    answer(out, study)?;
    let answered = !answer::pieces(study).is_empty();
    if !answered {
        paragraphs(out, &study.about)?;
    }
    if !study.spreads.is_empty() {
        let picture = spread::picture(&study.spreads, format!("spreads-{n}"), data);
        figure(out, "Ratios of all cases", "Share of cases with at most this ratio", picture, data)?;
    }
    for Finding { title, head, rows } in &study.findings {
        let head = head.iter().map(|title| format!("<th scope=\"col\">{}</th>", Escaped(title))).join("");
        let rows = rows.iter().map(|row| (row[0].as_str(), row[1..].iter().map(|cell| Escaped(cell).to_string())));
        writeln!(out, "<{sub}>{}</{sub}>", Escaped(title))?;
        figure::table(out, title, &format!("<tr>{head}</tr>"), rows)?;
    }
    let first = study.charts.iter().position(|chart| chart.first).unwrap_or(0);
    let mut chart = |out: &mut String, k| drawn(out, (n, k), study, data, tracks);
    if !study.charts.is_empty() {
        chart(out, first)?;
    }
    for warning in study.warnings() {
        writeln!(out, "<p class=\"warning\">Warning: {}</p>", Escaped(&warning))?;
    }
    emulations(out, study)?;
    if !study.claims.is_empty() {
        writeln!(out, "<{sub}>Claims</{sub}>")?;
        verdicts::tally(out, &study.claims.iter().collect::<Vec<_>>())?;
        verdicts::claims(out, study)?;
    }
    for table in &study.tables {
        writeln!(out, "<{sub}>{}</{sub}>", Escaped(&table.title))?;
        asked(out, study, table)?;
    }
    site::maps(out, study, sub)?;
    if study.charts.len() > 1 {
        writeln!(out, "<{sub}>More charts</{sub}>")?;
    }
    for k in (0..study.charts.len()).filter(|k| *k != first) {
        chart(out, k)?;
    }
    writeln!(out, "<{sub}>What was run</{sub}>")?;
    if answered {
        paragraphs(out, &study.about)?;
    }
    provenance(out, study)?;
    out.push_str("</section>\n");
    Ok(())
}

/// Writes which flows were real in emulations, and how late their packets were.
fn emulations(out: &mut String, study: &Study) -> fmt::Result {
    for (run, emulation) in study.runs.iter().filter_map(|run| Some((run, run.emulation.as_ref()?))) {
        let real = run.outcome.flows.iter().filter(|flow| flow.kind == "real" && flow.sent_packets > 0);
        let real: Vec<&str> = real.map(|flow| flow.name.as_str()).collect();
        let real = if real.is_empty() { "none".to_owned() } else { real.join(", ") };
        let (lateness, refused) = (emulation.lateness(), emulation.refused_packets.words());
        let gap = if refused.is_empty() { "" } else { "; " };
        let told = format!("This run was in real time. Flows of real programs: {real}. {lateness}{gap}{refused}.");
        writeln!(out, "<p>{}</p>", Escaped(&told))?;
    }
    Ok(())
}

pub(super) fn paragraphs(out: &mut String, text: &str) -> fmt::Result {
    for paragraph in text.split("\n\n").map(str::trim).filter(|p| !p.is_empty()) {
        writeln!(out, "<p>{}</p>", marked(paragraph))?;
    }
    Ok(())
}

/// Writes a table of the scenario.
fn asked(out: &mut String, study: &Study, table: &Table) -> fmt::Result {
    let grid = Grid::new(study, table);
    paragraphs(out, &table.about)?;
    let shown = |value: &Interval| {
        if value.mean.is_nan() { "–".to_owned() } else { cell(&[value.mean, value.low, value.high], 1.0) }
    };
    let across = table.cell.len();
    let widest = |place: usize| {
        let (column, rank) = (place / across, place % across);
        let values = grid.values.iter().map(|row| wide(&shown(&row[column][rank])));
        // A title may be broken between its words.
        table.cell[rank].title.split(' ').map(wide).chain(values).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..grid.columns.len() * across).map(widest).collect();
    let of_columns: Vec<usize> = widths.chunks(across).map(|cells| cells.iter().sum()).collect();
    // Columns that do not fit on the page follow below, with the row labels again. So do a column's cells.
    let room = room(grid.rows.iter().map(String::as_str));
    for columns in blocks(&of_columns, room) {
        let cells = columns.start * across..columns.end * across;
        for part in blocks(&widths[cells.clone()], if columns.len() > 1 { usize::MAX } else { room }) {
            block(out, table, &grid, cells.start + part.start..cells.start + part.end, &shown)?;
        }
    }
    if study.seeds.len() > 1 {
        let seeds = count(study.seeds.len(), "seed");
        writeln!(out, "<p class=\"note\">Means over {seeds}, ± half of the 95 % interval.</p>")?;
    }
    Ok(())
}

/// Writes those cells of each row whose indices are in `places`.
fn block(
    out: &mut String,
    table: &Table,
    grid: &Grid,
    places: Range<usize>,
    shown: &dyn Fn(&Interval) -> String,
) -> fmt::Result {
    let mut head = format!("<tr><th scope=\"col\" rowspan=\"2\">{}</th>", Escaped(&short(&grid.axis)));
    let across = table.cell.len();
    for (column, labels) in grid.columns.iter().enumerate() {
        let cells = places.clone().filter(|place| place / across == column).count();
        if cells > 0 {
            let name = if labels.is_empty() { table.title.clone() } else { labels.join(", ") };
            write!(head, "<th scope=\"colgroup\" class=\"number\" colspan=\"{cells}\">{}</th>", Escaped(&name))?;
        }
    }
    head.push_str("</tr>\n<tr>");
    for place in places.clone() {
        write!(head, "<th scope=\"col\" class=\"number\">{}</th>", Escaped(&table.cell[place % across].title))?;
    }
    let rows = grid.rows.iter().zip(&grid.values).map(|(label, row)| {
        let cells = row.iter().flatten().skip(places.start).take(places.len()).map(shown);
        (label.as_str(), cells)
    });
    figure::table(out, &table.title, &format!("{head}</tr>"), rows)
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
    // Readers copy and execute this command.
    writeln!(
        out,
        "<details><summary>Scenario file</summary>\n<pre tabindex=\"0\"><code>{}</code></pre>\n</details>",
        Escaped(&study.alone)
    )
}

/// Formats a command; the script adds a button that copies it.
pub(super) fn command(line: &str) -> String {
    format!("<span class=\"command\"><code>{}</code></span>", Escaped(line))
}

/// Writes the command that repeats the first run of each case.
fn replays(out: &mut String, study: &Study, cases: &[&Run]) -> fmt::Result {
    if study.file.is_empty() || cases.len() < 2 && study.seeds.len() < 2 {
        return Ok(());
    }
    write!(
        out,
        "<details><summary>Replay one run</summary>\n<p class=\"note\">Each command uses the case's first seed; any \
         other of {} can replace it.</p>\n<ul class=\"replays\">\n",
        ranges(&study.seeds)
    )?;
    for run in cases {
        let labels = study.axes.iter().filter_map(|axis| Some((&axis.name, run.case.get(&axis.name)?)));
        let name = labels.map(|(axis, label)| format!("{axis} = {label}")).join(", ");
        let name = if name.is_empty() { "the scenario as it is".to_owned() } else { name };
        writeln!(out, "<li><span class=\"case\">{}</span> {}</li>", Escaped(&name), command(&replay(study, run)))?;
    }
    out.push_str("</ul>\n</details>\n");
    Ok(())
}

/// Returns the command that repeats one run, with the scenario's file.
fn replay(study: &Study, run: &Run) -> String {
    let mut line = format!("sluice run {} --seed {}", shell::quoted(&study.file), run.seed);
    for (key, value) in &run.set {
        let _ = write!(line, " --set {}", shell::quoted(&format!("{key}={value}")));
    }
    line
}
