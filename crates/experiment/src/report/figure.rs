//! A chart on the page: its title, an element for each panel that the script draws, its legend, and a table of values.

use super::picture::{Data, Panel, Picture, Point, Style};
use super::still;
use super::text::{Escaped, number};
use crate::tables::blocks;
use std::fmt::{self, Write as _};

pub(super) const DIGITS: usize = 4;

/// Writes a chart with its title and a remark, or the reason why there is none.
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
            frames(out, &picture, title, data)?;
            data.pictures.push(picture);
        }
        Err(reason) => writeln!(out, "<p class=\"empty\">{}</p>", Escaped(&reason))?,
    }
    out.push_str("</figure>\n");
    Ok(())
}

/// Writes legend, panels and notes; if the x axis is not time, also a table of the values.
fn frames(out: &mut String, picture: &Picture, title: &str, data: &Data) -> fmt::Result {
    if picture.legend.len() > 1 || picture.panels.len() > 1 {
        legend(out, &picture.legend)?;
    }
    let class = if picture.panels.len() > 1 { "panels" } else { "panels single" };
    writeln!(out, "<div class=\"{class}\">")?;
    for (k, panel) in picture.panels.iter().enumerate() {
        let points = panel.scatter.iter().flat_map(|scatter| &scatter.points).map(|point| point.key);
        let keys = panel.lines.iter().map(|line| line.key).chain(points);
        let lines = keys.map(|key| picture.legend[key].name.as_str()).collect::<Vec<_>>().join("; ");
        let rules = panel.rules.iter().map(|rule| rule.name.as_str()).collect::<Vec<_>>().join("; ");
        let shown = [title, panel.title.as_deref().unwrap_or_default(), &picture.y.title, &lines, &rules];
        let told = shown.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(". ");
        out.push_str("<div class=\"panel\">\n");
        if let Some(title) = &panel.title {
            writeln!(out, "<p class=\"panel-title\">{}</p>", Escaped(title))?;
        }
        writeln!(out, "<div class=\"plot\" id=\"{}-{k}\" role=\"img\" aria-label=\"{}\">", picture.id, Escaped(&told))?;
        // Shown until the script draws the panel, or instead.
        still::svg(out, picture, panel, data)?;
        out.push_str("</div>\n");
        if let Some(front) = panel.scatter.as_ref().and_then(|scatter| scatter.front.as_ref()) {
            writeln!(out, "<p class=\"note\">{}</p>", Escaped(front))?;
        }
        out.push_str("</div>\n");
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
             <svg width=\"26\" height=\"10\" aria-hidden=\"true\"><line x1=\"1\" x2=\"25\" y1=\"5\" y2=\"5\" {}/></svg> \
             {}</button></li>",
            still::look(style),
            Escaped(&style.name)
        )?;
    }
    out.push_str("</ul>\n");
    Ok(())
}

/// Writes the values of a picture whose axis is not time as tables, folded.
fn values(out: &mut String, picture: &Picture) -> fmt::Result {
    let named = |panel: &Panel, key: usize| {
        let parts = [panel.title.as_deref(), Some(picture.legend[key].name.as_str())];
        parts.into_iter().flatten().collect::<Vec<_>>().join(": ")
    };
    let points = picture.panels.iter().filter_map(|panel| Some((panel, panel.scatter.as_ref()?))).flat_map(
        |(panel, scatter)| {
            let row = move |point: &Point| {
                let cells = vec![cell(&point.x, scatter.x.factor), cell(&point.y, scatter.y.factor)];
                (named(panel, point.key), cells)
            };
            scatter.points.iter().map(row)
        },
    );
    let mut rows: Vec<(String, Vec<String>)> = points.collect();
    let (first, labels) = match (picture.panels.iter().find_map(|panel| panel.scatter.as_ref()), &picture.x) {
        (Some(scatter), _) => ("", vec![scatter.x.title.clone(), scatter.y.title.clone()]),
        (None, Some(scale)) => (picture.y.title.as_str(), scale.labels.clone()),
        (None, None) => return Ok(()),
    };
    let lines = picture.panels.iter().flat_map(|panel| panel.lines.iter().map(move |line| (panel, line)));
    rows.extend(lines.map(|(panel, line)| {
        let at = |place: usize| {
            let point = line.points.iter().find(|(at, _)| *at == place);
            point.map_or_else(String::new, |(_, values)| cell(values, picture.y.factor))
        };
        (named(panel, line.key), (0..labels.len()).map(at).collect())
    }));
    let widest =
        |column: usize| rows.iter().map(|(_, cells)| wide(&cells[column])).fold(wide(&labels[column]), usize::max);
    let widths: Vec<usize> = (0..labels.len()).map(widest).collect();
    out.push_str("<details><summary>Values</summary>\n");
    for columns in blocks(&widths, room(rows.iter().map(|(name, _)| name.as_str()))) {
        let mut head = format!("<tr><th scope=\"col\">{}</th>", Escaped(first));
        for label in &labels[columns.clone()] {
            write!(head, "<th scope=\"col\" class=\"number\">{}</th>", Escaped(label))?;
        }
        let rows = rows.iter().map(|(name, cells)| (name.as_str(), cells[columns.clone()].iter().cloned()));
        table(out, "Values", &format!("{head}</tr>"), rows)?;
    }
    out.push_str("</details>\n");
    Ok(())
}

/// Writes a table of numbers that scrolls on its own: its name, its head, and the named rows.
pub(super) fn table<'r, C: Iterator<Item = String>>(
    out: &mut String,
    name: &str,
    head: &str,
    rows: impl Iterator<Item = (&'r str, C)>,
) -> fmt::Result {
    writeln!(
        out,
        "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{}\">\n<table class=\"values\">\n\
         <thead>{head}</thead>\n<tbody>",
        Escaped(name)
    )?;
    for (name, cells) in rows {
        write!(out, "<tr><th scope=\"row\">{}</th>", Escaped(name))?;
        for cell in cells {
            write!(out, "<td class=\"number\">{cell}</td>")?;
        }
        out.push_str("</tr>\n");
    }
    out.push_str("</tbody></table>\n</div>\n");
    Ok(())
}

/// Returns the width of a cell in characters, including the gap to the next cell.
pub(super) fn wide(text: &str) -> usize {
    const GAP: usize = 3;
    text.chars().count() + GAP
}

/// Returns the width that row labels leave for columns, in characters. Long labels are broken between words.
pub(super) fn room<'l>(labels: impl Iterator<Item = &'l str>) -> usize {
    const PAGE: usize = 110;
    const LABEL: usize = 40;
    PAGE - labels.map(wide).max().unwrap_or(0).min(LABEL)
}

/// Formats a mean and half the width of its interval, which is symmetric.
pub(super) fn cell(&[mean, _, high]: &[f64; 3], factor: f64) -> String {
    let (mean, half) = (mean * factor, (high - mean) * factor);
    if half > 0.0 { format!("{} ± {}", number(mean, DIGITS), number(half, 2)) } else { number(mean, DIGITS) }
}
