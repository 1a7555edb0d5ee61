//! Tables for a terminal.

mod layout;
mod worst;

use crate::answer::{self, runs};
use crate::claims::in_unit;
use crate::grid::Grid;
use crate::label::short;
use crate::quantity::{number, quantity, short_quantity};
use crate::statistics::Interval;
use crate::study::{Cell, Finding, Origin, Reported, Ruling, Study, Table, Unit, Verdict};
use itertools::Itertools as _;
pub(crate) use layout::blocks;
pub use layout::{Columns, table, wrapped};
use layout::{longest_word, width};
use serde_json::{Value, json};
use sim::results::{CellTotals, Flow, Node, Outcome, Roam};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use worst::worst;

/// Formats a study in at most `width` columns, if its words allow. First come the answer, the requested tables and the
/// counts of verdicts, then a line for each claim that does not hold. With `all`, a table of all claims and the reasons
/// why claims do not hold follow.
pub fn study(study: &Study, width: usize, all: bool) -> String {
    let mut text = format!("{}: {}\n", study.id, study.title);
    let answer = answer::sentences(study);
    if !answer.is_empty() {
        let sentences = answer.iter().map(|sentence| wrapped(sentence, width, 0) + "\n");
        let _ = write!(text, "\n{}", sentences.collect::<String>());
    }
    for table in study.tables.iter().filter(|table| !table.report_only) {
        let _ = write!(text, "\n{}", asked(study, table, width));
    }
    for Finding { title, head, rows } in &study.findings {
        let _ = write!(text, "\n{title}\n{}", table(head, rows, &Columns { right: &[], prose: &[1, 2] }, width));
    }
    if all && !study.claims.is_empty() {
        let _ = write!(text, "\n{}{}", claims(&study.claims, width), reasons(study, width));
    }
    let verdicts: Vec<&Verdict> = study.claims.iter().collect();
    let tallies = by_origin(&verdicts).into_iter().map(|(whose, claims)| tallied_of(whose, &claims));
    let tallies: String = tallies.map(|tally| wrapped(&tally, width, 2) + "\n").collect();
    let _ = write!(text, "\n{}", if tallies.is_empty() { "no claims\n" } else { &tallies });
    if !all {
        text += &failing(&study.claims, width);
    }
    let cpu: f64 = study.runs.iter().map(|run| run.cpu_s).sum();
    let simulated: f64 = study.runs.iter().map(|run| run.outcome.simulated_s).sum();
    text + &format!("\n{}, {simulated:.0} simulated seconds, {cpu:.1} s of CPU\n", runs(study))
}

/// Groups verdicts by the origin of their statements. Each group has a name: "" if all statements are the document's,
/// otherwise " of the document", " of our own" and so on.
pub(crate) fn by_origin<'v>(verdicts: &[&'v Verdict]) -> Vec<(&'static str, Vec<&'v Verdict>)> {
    let kinds = [
        (None, " of the document"),
        (Some(Origin::Ours), " of our own"),
        (Some(Origin::Other), " of other papers"),
        (Some(Origin::Duplicate), " that repeat another claim"),
    ];
    if verdicts.iter().all(|verdict| verdict.statement.is_none()) {
        return if verdicts.is_empty() { Vec::new() } else { vec![("", verdicts.to_vec())] };
    }
    let of = |kind| verdicts.iter().filter(|verdict| verdict.statement == kind).copied().collect::<Vec<_>>();
    kinds.into_iter().map(|(kind, whose)| (whose, of(kind))).filter(|(_, verdicts)| !verdicts.is_empty()).collect()
}

/// Formats "41 claims of the document: 30 hold, 11 differ".
fn tallied_of(whose: &str, verdicts: &[&Verdict]) -> String {
    let tally = tally(verdicts.iter().copied());
    tally.split_once(':').map_or_else(String::new, |(claims, counts)| format!("{claims}{whose}:{counts}"))
}

/// Formats a line of at most `width` columns for each claim that does not hold, sorted by verdict. It has the id, the
/// statement (cut if necessary), the document's value or, if it has none, the window, and our value.
fn failing(verdicts: &[Verdict], width: usize) -> String {
    const MOST: usize = 17;
    let line = |ruling: Ruling, of_claim: &[Verdict]| {
        let failing: Vec<&Verdict> = of_claim.iter().filter(|verdict| verdict.verdict == ruling).collect();
        let first = failing.first()?;
        let settings: Vec<&str> = failing.iter().filter_map(|verdict| verdict.setting.as_deref()).collect();
        let within = if settings.is_empty() { String::new() } else { format!("({}) ", settings.join(", ")) };
        let document = if first.reported.is_some() { reported(first) } else { window(&first.holds, first.unit) };
        let ours = short_quantity(first.measured, first.unit);
        Some([first.id.clone(), within + &first.says, cut(&document, MOST), cut(&ours, MOST)])
    };
    let of = |ruling| -> Vec<[String; 4]> {
        verdicts.chunk_by(|a, b| a.id == b.id).filter_map(|of_claim| line(ruling, of_claim)).collect()
    };
    let groups: Vec<(Ruling, Vec<[String; 4]>)> =
        Ruling::ALL.into_iter().filter(|ruling| ruling.fails()).map(|ruling| (ruling, of(ruling))).collect();
    let lines = || groups.iter().flat_map(|(_, lines)| lines);
    let widest = |column: usize, least: usize| lines().map(|line| layout::width(&line[column])).fold(least, usize::max);
    let (id, document, ours) = (widest(0, 0), widest(2, "document".len()), widest(3, "ours".len()));
    let room = width.saturating_sub(id + document + ours + 8).max(10);
    let mut text = String::new();
    for (ruling, lines) in groups.iter().filter(|(_, lines)| !lines.is_empty()) {
        let head = format!("{}:", ruling.word());
        let _ = write!(text, "\n{head:<0$}  {1:<document$}  ours\n", id + room + 4, "document");
        for [name, says, reported, measured] in lines {
            let says = cut(says, room);
            let line = format!("  {name:<id$}  {says:<room$}  {reported:<document$}  {measured}");
            let _ = writeln!(text, "{}", line.trim_end());
        }
    }
    text
}

/// Cuts a text to this number of columns; an ellipsis shows that it was cut.
fn cut(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    let kept: String = text.chars().take(columns.saturating_sub(1)).collect();
    format!("{}…", kept.trim_end())
}

/// Formats the reasons that the scenario gives for claims that do not hold.
fn reasons(study: &Study, width: usize) -> String {
    let mut text = String::new();
    for claims in study.claims.chunk_by(|a, b| a.id == b.id) {
        let fails = claims.iter().any(|claim| claim.verdict.fails());
        if let Some(why) = claims[0].why.as_ref().filter(|_| fails) {
            let _ = writeln!(text, "{}", wrapped(&format!("{}: {why}", claims[0].id), width, 2));
        }
    }
    text
}

/// Formats the verdicts on a study's claims in a block for each claim: statement, document's value, our value. If a
/// claim has several verdicts, each has a line with its setting. Lines longer than `width` are wrapped at words.
pub fn claims(verdicts: &[Verdict], width: usize) -> String {
    let with_settings = verdicts.iter().any(|verdict| verdict.setting.is_some());
    let mut rows: Vec<Vec<String>> = Vec::new();
    for (rank, verdict) in verdicts.iter().enumerate() {
        let again = rank > 0 && verdicts[rank - 1].id == verdict.id;
        let statement =
            [verdict.id.clone(), verdict.says.clone(), reported(verdict), window(&verdict.holds, verdict.unit)];
        let mut row = if again { vec![String::new(); statement.len()] } else { statement.to_vec() };
        if with_settings {
            row.push(verdict.setting.clone().unwrap_or_default());
        }
        row.extend([quantity(verdict.measured, verdict.unit), remarks(verdict), word(verdict)]);
        rows.push(row);
    }
    let mut head = vec!["claim", "says", "reported", "holds if", "ours", "95 % interval", "verdict"];
    let (mut right, mut prose) = (vec![4], vec![1, 2, 3, 5, 6]);
    if with_settings {
        head.insert(4, "setting");
        (right, prose) = (vec![5], vec![1, 2, 3, 4, 6, 7]);
    }
    table(&head, &rows, &Columns { right: &right, prose: &prose }, width)
}

/// Formats the interval, the case that decided, and the range over neighbouring choices with their parameters.
fn remarks(verdict: &Verdict) -> String {
    let value = |value: f64| quantity(value, verdict.unit);
    let interval = if verdict.low.to_bits() == verdict.high.to_bits() {
        String::new()
    } else {
        format!("{} .. {}", value(verdict.low), value(verdict.high)).replace(' ', "\u{a0}")
    };
    let at = if verdict.at.is_empty() { String::new() } else { format!("({})", verdict.at) };
    let names: Vec<&str> =
        verdict.parameters().into_iter().filter(|name| verdict.range(Some(name)).is_some()).collect();
    let range =
        verdict.range(None).map(|(low, high)| format!("; {} .. {} over {}", value(low), value(high), names.join(", ")));
    let text = [interval, at].join(" ").trim().to_owned() + &range.unwrap_or_default();
    text.trim_start_matches("; ").to_owned()
}

/// Formats the verdict and the parameters on which it depends, so that failing claims stand out.
fn word(verdict: &Verdict) -> String {
    let word = verdict.verdict.word();
    let word = if verdict.verdict.fails() { word.to_uppercase() } else { word.to_owned() };
    if verdict.depends_on.is_empty() { word } else { format!("{word}, depends on {}", verdict.depends_on.join(", ")) }
}

/// Counts verdicts in a line: "7 claims: 5 hold, 1 differs, 1 is not confirmed". If claims have several verdicts, the
/// verdicts are counted: "7 claims, 14 verdicts: ...".
pub fn tally<'v>(verdicts: impl IntoIterator<Item = &'v Verdict>) -> String {
    tallied(verdicts.into_iter().map(|verdict| (verdict.id.as_str(), verdict.verdict)))
}

/// Counts the verdicts of claims; each verdict comes with its claim's id.
pub fn tallied<'v>(verdicts: impl Iterator<Item = (&'v str, Ruling)>) -> String {
    let (ids, rulings): (Vec<&str>, Vec<Ruling>) = verdicts.unzip();
    let count = |ruling: &Ruling| rulings.iter().filter(|other| *other == ruling).count();
    let counts = Ruling::ALL.iter().map(|ruling| (ruling, count(ruling))).filter(|(_, count)| *count > 0);
    let told = counts.map(|(ruling, count)| ruling.counted(count)).join(", ");
    if ids.is_empty() { "no claims".to_owned() } else { format!("{}: {told}", of_ids(&ids)) }
}

/// Formats "7 claims", or "7 claims, 14 verdicts" if some claims have several verdicts.
pub(crate) fn counted<'v>(verdicts: impl IntoIterator<Item = &'v Verdict>) -> String {
    of_ids(&verdicts.into_iter().map(|verdict| verdict.id.as_str()).collect::<Vec<_>>())
}

fn of_ids(ids: &[&str]) -> String {
    let claims = ids.iter().collect::<BTreeSet<_>>().len();
    let claims_told = if claims == 1 { "1 claim".to_owned() } else { format!("{claims} claims") };
    if claims == ids.len() { claims_told } else { format!("{claims_told}, {} verdicts", ids.len()) }
}

/// Formats the access points of a run if there are several; of very many it shows only the slowest.
pub fn cells(outcome: &Outcome, width: usize) -> String {
    let row = |cell: &CellTotals| {
        let stations = outcome.nodes.iter().find(|node| node.name == cell.name).map_or(0, |node| node.hops.len());
        let figures = [rate(cell.goodput_bps), percent(cell.busy_ratio), time(cell.delay_p99_max_s)];
        let names = [cell.name.clone(), stations.to_string()];
        (cell.delay_p99_max_s, names.into_iter().chain(figures).collect())
    };
    let (rows, said) =
        worst(outcome.totals.cells.iter().map(row).collect(), "access points", "99th percentile of delay");
    if rows.is_empty() {
        return said;
    }
    let head = ["access point", "stations", "goodput", "channel busy", "largest delay p99"];
    table(&head, &rows, &Columns { right: &[1, 2, 3, 4], prose: &[] }, width) + &said + "\n"
}

/// Formats the flows of a run, at most `width` characters wide if the names allow. With TCP it shows the data that
/// arrived in order next to all data that arrived. Of very many flows it shows only the slowest.
pub fn flows(outcome: &Outcome, width: usize) -> String {
    let tcp = outcome.flows.iter().any(|flow| flow.carried_bps.is_some());
    let with_carried = |mut cells: Vec<String>, carried: String| {
        if tcp {
            cells.insert(3, carried);
        }
        cells
    };
    let rows = outcome.flows.iter().map(|flow| {
        let late = flow.deadline_s.map_or_else(|| "-".to_owned(), |_| percent(flow.deadline_miss_ratio));
        let time = |delay| if flow.received_packets == 0 { "-".to_owned() } else { time(delay) };
        let cells = vec![
            flow.name.clone(),
            format!("{} -> {}", flow.from, flow.to),
            rate(flow.goodput_bps),
            percent(flow.loss_ratio),
            time(flow.delay_s.mean),
            time(flow.delay_s.p99),
            time(flow.delay_s.max),
            late,
        ];
        (flow.delay_s.p99, with_carried(cells, flow.carried_bps.map_or_else(|| "-".to_owned(), rate)))
    });
    let (rows, said) = worst(rows.collect(), "flows", "99th percentile of delay");
    let head = ["flow", "path", "goodput", "loss", "delay mean", "delay p99", "delay max", "late"].map(str::to_owned);
    table(&with_carried(head.into(), "carried".to_owned()), &rows, &FIGURES, width) + &said
}

/// Formats a line for each flow that replays only part of a recording: how many frames are left out, and why.
pub fn left_out(outcome: &Outcome, width: usize) -> String {
    let line = |flow: &Flow| {
        let reasons = flow.left_out?.reasons();
        let told: Vec<String> = reasons.iter().map(|(frames, reason)| format!("{frames} {reason}")).collect();
        (!told.is_empty()).then(|| format!("{}: frames that are not replayed: {}", flow.name, told.join(", ")))
    };
    let lines: String = outcome.flows.iter().filter_map(line).map(|line| wrapped(&line, width, 2) + "\n").collect();
    if lines.is_empty() { lines } else { lines + "\n" }
}

/// Formats a line for each station that has moved to other access points.
pub fn roams(outcome: &Outcome, width: usize) -> String {
    let line = |node: &Node| {
        let told = node.roams.iter().map(|Roam { access_point, left_s, joined_s }| {
            format!("to {access_point} after {left_s:.2} s ({} without data)", time(joined_s - left_s))
        });
        wrapped(&format!("{}: {}", node.name, told.format(", ")), width, 2) + "\n"
    };
    let lines: String = outcome.nodes.iter().filter(|node| !node.roams.is_empty()).map(line).collect();
    if lines.is_empty() { lines } else { lines + "\n" }
}

/// Formats the packet reception ratio of all broadcast flows at each distance, at most `width` characters wide; empty
/// if it was not recorded.
pub fn receptions(outcome: &Outcome, width: usize) -> String {
    let mut classes: Vec<(&str, u64, u64)> = Vec::new();
    for flow in &outcome.flows {
        for (place, class) in flow.by_distance.iter().enumerate() {
            if place == classes.len() {
                classes.push((&class.name, 0, 0));
            }
            classes[place].1 += class.expected_receptions;
            classes[place].2 += class.receptions;
        }
    }
    if classes.is_empty() {
        return String::new();
    }
    let row = |&(name, nodes, received): &(&str, u64, u64)| {
        let ratio = if nodes == 0 { "-".to_owned() } else { percent(received as f64 / nodes as f64) };
        [name.to_owned(), nodes.to_string(), received.to_string(), ratio]
    };
    let rows: Vec<[String; 4]> = classes.iter().map(row).collect();
    let head = ["up to", "expected receptions", "receptions", "packet reception ratio"];
    table(&head, &rows, &Columns { right: &[0, 1, 2, 3], prose: &[] }, width) + "\n"
}

/// Formats the queues of a run, at most `width` characters wide if the names allow. Of many it shows only the slowest.
pub fn queues(outcome: &Outcome, width: usize) -> String {
    let mut rows = Vec::new();
    let queues = || outcome.nodes.iter().flat_map(|node| &node.queues);
    let governed = queues().any(|queue| queue.controller != control::Name::None.as_str());
    for node in &outcome.nodes {
        for queue in &node.queues {
            let limit =
                queue.limit_packets.or(queue.limit_bytes).map_or_else(|| "-".to_owned(), |level| number(level.mean));
            // A queue's name is needed only if the node has several queues.
            let name = if node.queues.len() == 1 { node.name.clone() } else { format!("{} {}", node.name, queue.name) };
            let is_governed = queue.controller != control::Name::None.as_str();
            let controller = if is_governed { format!(", {}", queue.controller) } else { String::new() };
            let time = |delay| if queue.arrived_packets == 0 { "-".to_owned() } else { time(delay) };
            let cells = vec![
                name,
                queue.scheduler.clone() + &controller,
                queue.arrived_packets.to_string(),
                queue.dropped_packets.to_string(),
                limit,
                number(queue.backlog_packets.mean),
                time(queue.nodal_delay_s.mean),
                time(queue.nodal_delay_s.max),
            ];
            rows.push((queue.nodal_delay_s.mean, cells));
        }
    }
    let serves = if governed { "scheduler, controller" } else { "scheduler" };
    let figures = ["packets in", "dropped", "limit mean", "backlog mean", "nodal delay mean", "nodal delay max"];
    let right: Vec<usize> = (2..2 + figures.len()).collect();
    let (rows, said) = worst(rows, "queues", "mean nodal delay");
    let columns = Columns { right: &right, prose: FIGURES.prose };
    table(&[&["node", serves], &figures[..]].concat(), &rows, &columns, width) + &said
}

/// Formats a table that a scenario asks for: its title, the names of a cell's figures, and the means over the seeds. At
/// most `width` characters wide, if the labels allow.
pub fn asked(study: &Study, table: &Table, width: usize) -> String {
    let grid = Grid::new(study, table);
    let titles = table.cell.iter().map(|cell| &cell.title).join(" / ");
    let figure = |cell: &Vec<Interval>| cell.iter().map(|value| rounded(value.mean)).join(" / ");
    let head: Vec<String> = grid.columns.iter().map(|labels| labels.join(", ")).collect();
    let rows: Vec<Vec<String>> = grid.values.iter().map(|row| row.iter().map(figure).collect()).collect();
    let labels = grid.rows.iter().map(|label| layout::width(label)).fold(longest_word(&short(&grid.axis)), usize::max);
    let widest = |column: usize| {
        let cells = rows.iter().map(|row| layout::width(&row[column]));
        cells.fold(longest_word(&head[column]), usize::max) + 2
    };
    let widths: Vec<usize> = (0..head.len()).map(widest).collect();
    let mut text = wrapped(&format!("{}: {titles}", table.title), width, 2) + "\n";
    // A table with too many columns for the width continues below, with its labels again.
    for (rank, columns) in blocks(&widths, width.saturating_sub(labels)).into_iter().enumerate() {
        let head: Vec<String> = std::iter::once(short(&grid.axis)).chain(head[columns.clone()].to_vec()).collect();
        let line = |(label, row): (&String, &Vec<String>)| -> Vec<String> {
            std::iter::once(label.clone()).chain(row[columns.clone()].to_vec()).collect()
        };
        let rows: Vec<Vec<String>> = grid.rows.iter().zip(&rows).map(line).collect();
        let right: Vec<usize> = (1..head.len()).collect();
        text += if rank > 0 { "\n" } else { "" };
        text += &self::table(&head, &rows, &Columns { right: &right, prose: &[] }, width);
    }
    text
}

/// Returns a scenario's tables, with the means over the seeds and their 95 % intervals (`null` for no value).
pub fn json(study: &Study) -> Value {
    let of_table = |table: &Table| {
        let grid = Grid::new(study, table);
        let cell = |(cell, value): (&Cell, &Interval)| json!({ "title": cell.title, "mean": value.mean, "low": value.low, "high": value.high });
        let of_column = |(labels, values): (&Vec<String>, &Vec<Interval>)| {
            let labels: BTreeMap<&String, &String> = table.columns.iter().zip(labels).collect();
            json!({ "column": labels, "values": table.cell.iter().zip(values).map(cell).collect::<Value>() })
        };
        let of_row = |(row, values): (&String, &Vec<Vec<Interval>>)| json!({ "row": row, "cells": grid.columns.iter().zip(values).map(of_column).collect::<Value>() });
        let rows: Value = grid.rows.iter().zip(&grid.values).map(of_row).collect();
        json!({ "title": table.title, "axis": grid.axis, "rows": rows })
    };
    study.tables.iter().map(of_table).collect()
}

/// Formats a number with three significant digits, trailing zeros included.
fn rounded(value: f64) -> String {
    let size = value.abs();
    match [100.0, 10.0, 1.0, 0.1, 0.01, 0.001, 1e-4].iter().position(|least| size >= *least) {
        Some(digits) => format!("{value:.digits$}"),
        None if size.is_nan() => "-".to_owned(),
        None if size == 0.0 => format!("{value:.2}"),
        None => format!("{value:.2e}"),
    }
}

/// Two names, then figures. If the width is too small, a unit goes below its value, and a path takes several lines.
const FIGURES: Columns<'static> = Columns { right: &[2, 3, 4, 5, 6, 7, 8], prose: &[0, 1, 2, 3, 4, 5, 6, 7, 8] };

fn reported(verdict: &Verdict) -> String {
    match &verdict.reported {
        None => "-".to_owned(),
        Some(Reported::Number(value)) => quantity(*value, verdict.unit),
        Some(Reported::Words(words)) => words.clone(),
    }
}

/// Formats the window of a claim in the unit of its value.
pub fn window(holds: &str, unit: Unit) -> String {
    in_unit(holds, unit, |value| quantity(value, unit))
}

fn percent(ratio: f64) -> String {
    format!("{:.2} %", ratio * 100.0)
}

fn time(seconds: f64) -> String {
    match seconds {
        s if s >= 1.0 => format!("{s:.3} s"),
        s if s >= 0.1 => format!("{:.1} ms", s * 1e3),
        s if s >= 1e-3 => format!("{:.2} ms", s * 1e3),
        s => format!("{:.1} us", s * 1e6),
    }
}

fn rate(bps: f64) -> String {
    match bps {
        r if r >= 1e6 => format!("{:.3} Mb/s", r / 1e6),
        r if r >= 1e3 => format!("{:.2} kb/s", r / 1e3),
        r => format!("{r:.0} b/s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::{Ruling, Unit};
    use sim::results::{DistanceClass, LeftOut, Times};

    #[test]
    fn figures_of_tables_have_three_digits() {
        let seen = [0.001_234, 0.0501, 0.5, 1.0, 12.345, 1234.5, 0.0, 5.9e-5].map(rounded);
        assert_eq!(seen, ["0.00123", "0.0501", "0.500", "1.00", "12.3", "1234", "0.00", "5.90e-5"]);
    }

    #[test]
    fn frames_that_are_not_replayed_are_told_with_their_reasons() {
        let mut outcome = crate::report::tests::sample::targets().runs[0].outcome.clone();
        assert_eq!(left_out(&outcome, 80), "");
        let told = LeftOut { not_ip: 3, bad_fcs: 2, ..LeftOut::default() };
        let flow = |name: &str, told| Flow { name: name.to_owned(), left_out: Some(told), ..Flow::default() };
        outcome.flows.extend([flow("whole", LeftOut::default()), flow("f", told)]);
        let expected = "f: frames that are not replayed: 3 without an IP packet, 2 with an invalid checksum\n\n";
        assert_eq!(left_out(&outcome, 100), expected);
    }

    #[test]
    fn tables_of_flows_and_queues_fit_a_terminal_of_80_columns() {
        let mut outcome = crate::report::tests::sample::targets().runs[0].outcome.clone();
        for flow in &mut outcome.flows {
            (flow.from, flow.to) = ("server".to_owned(), "television".to_owned());
            (flow.goodput_bps, flow.carried_bps) = (160_925_000.0, Some(160_925_000.0));
        }
        let mut queue = outcome.nodes[0].queues[0].clone();
        (queue.name, queue.scheduler, queue.controller) = ("wired-to-server".into(), "mac80211".into(), "none".into());
        outcome.nodes[0].queues.push(queue);
        for text in [flows(&outcome, 80), queues(&outcome, 80)] {
            assert!(text.lines().all(|line| width(line) <= 80), "{text}");
        }
        assert!(flows(&outcome, 100).contains("server -> television"), "a wide one keeps its lines whole");
    }

    #[test]
    fn of_very_many_rows_only_the_worst_are_shown() {
        let flow = |number: u32| Flow {
            name: format!("f{number}"),
            received_packets: 1,
            delay_s: Times { p99: f64::from(number % 70), ..Times::default() },
            ..Flow::default()
        };
        let of = |count: u32| Outcome { flows: (0..count).map(flow).collect(), ..Outcome::default() };
        let (few, many) = (flows(&of(60), 100), flows(&of(140), 100));
        assert_eq!((few.lines().count(), many.lines().count()), (2 + 60, 2 + 10 + 1), "{many}");
        let first: Vec<&str> = many.lines().skip(2).take(3).filter_map(|line| line.split(' ').next()).collect();
        assert_eq!(first, ["f69", "f139", "f68"]);
        assert!(
            many.contains("These are the 10 of 140 flows with the largest 99th percentile of delay; `--json` has all.")
        );
        assert_eq!(cells(&of(1), 100), "");
    }

    #[test]
    fn queues_say_what_serves_them_and_name_controllers_where_there_are_some() {
        let mut outcome = crate::report::tests::sample::targets().runs[0].outcome.clone();
        let text = queues(&outcome, 100);
        assert!(["scheduler", "drop-head", "controller", "adth"].iter().all(|word| text.contains(word)), "{text}");
        for queue in outcome.nodes.iter_mut().flat_map(|node| &mut node.queues) {
            (queue.scheduler, queue.controller) = ("turns".to_owned(), "none".to_owned());
        }
        let text = queues(&outcome, 100);
        assert!(text.contains("turns") && !text.contains("controller") && !text.contains("none"), "{text}");
    }

    #[test]
    fn receptions_of_all_flows_are_summed_by_distance() {
        let mut outcome = crate::report::tests::sample::targets().runs[0].outcome.clone();
        assert_eq!(receptions(&outcome, 80), "");
        let class = |name: &str, expected_receptions, receptions| DistanceClass {
            name: name.to_owned(),
            expected_receptions,
            receptions,
            ..DistanceClass::default()
        };
        outcome.flows[0].by_distance = vec![class("50 m", 0, 0), class("100 m", 10, 10)];
        let second = vec![class("50 m", 0, 0), class("100 m", 30, 20), class("150 m", 4, 1)];
        outcome.flows.push(Flow { by_distance: second, ..Flow::default() });
        let text = receptions(&outcome, 80);
        let rows: Vec<Vec<&str>> = text.lines().skip(2).map(|line| line.split_whitespace().collect()).collect();
        let expected: [&[&str]; 4] = [
            &["50", "m", "0", "0", "-"],
            &["100", "m", "40", "30", "75.00", "%"],
            &["150", "m", "4", "1", "25.00", "%"],
            &[],
        ];
        assert_eq!(rows, expected);
    }

    #[test]
    fn a_claim_that_does_not_hold_has_one_line_that_fits() {
        let mut study = crate::report::tests::sample::targets();
        study.answer.says = vec!["The FIFO reaches {2}.".to_owned(), "No value: {9}.".to_owned()];
        study.claims[1].says = "the peak one-way delay of FIFO-DF is far above the bound of ADTH-DF".to_owned();
        study.claims[2].statement = Some(Origin::Ours);
        let text = super::study(&study, 80, false);
        assert!(text.lines().all(|line| width(line) <= 80), "{text}");
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(
            lines[2..6],
            [
                "The FIFO reaches 4.21 s.",
                "",
                "2 claims of the document: 1 holds, 1 differs",
                "1 claim of our own: 1 holds"
            ]
        );
        let of = |id: &str| lines.iter().filter(|line| line.contains(id)).copied().collect::<Vec<_>>();
        assert!(of("sample-targets.1").is_empty() && of("sample-targets.3").is_empty(), "{text}");
        let [line] = of("sample-targets.2")[..] else { panic!("{text}") };
        assert!(line.starts_with("  sample-targets.2  the peak one-way") && line.contains("…  above 7 s"), "{text}");
        assert!(line.ends_with("4.21 s"), "{text}");
        assert!(lines.iter().any(|line| line.starts_with("differs: ") && line.ends_with("ours")), "{text}");
        let all = super::study(&study, 80, true);
        assert!(
            ["sample-targets.1", "sample-targets.2", "sample-targets.3"].iter().all(|id| all.contains(id)),
            "{all}"
        );
    }

    #[test]
    fn a_long_statement_is_wrapped_and_the_table_stays_narrow() {
        let verdict = Verdict {
            id: "adth-s1a.1".to_owned(),
            says: "no packet arrives after its deadline ".repeat(5),
            reported: Some(Reported::Words("below 0.1 % in all of its runs".to_owned())),
            holds: "<= 0.001".to_owned(),
            measured: 0.000_5,
            high: 0.001,
            unit: Unit::Share,
            at: "target = 200 ms".to_owned(),
            verdict: Ruling::NotConfirmed,
            ..Verdict::default()
        };
        for most in [70, 80, 100] {
            let text = claims(std::slice::from_ref(&verdict), most);
            assert!(text.lines().all(|line| line.chars().count() <= most), "{text}");
            assert!(text.lines().count() > 3, "{text}");
        }
        let text = claims(&[verdict], 100);
        for part in ["0.05 %", "0 % .. 0.1 %", "(target", "CONFIRMED"] {
            assert!(text.contains(part), "{part}: {text}");
        }
    }
}
