//! A page of charts over time in one HTML file, for example of a live queue's recording.

use super::figure::figure;
use super::lines::COLOURS;
use super::page;
use super::picture::{Data, Line, Panel, Picture, Rule, Style, Track, Y};
use super::text::{Escaped, readable_unit, seconds};
use std::fmt::Write as _;
use units::refuse_if;

/// A page of charts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Page {
    /// The title.
    pub title: String,
    /// Paragraphs below the title.
    pub about: String,
    /// The command that writes the page again.
    pub command: String,
    /// The charts, in their order.
    pub charts: Vec<Chart>,
}

/// A chart of quantities over time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Chart {
    /// The title.
    pub title: String,
    /// A remark under the title; may be empty.
    pub about: String,
    /// The title of the y axis with its SI unit: `delay (s)`.
    pub y_title: String,
    /// The lines, each with its name.
    pub lines: Vec<(String, Vec<Point>)>,
    /// Target values, each with a name.
    pub targets: Vec<(String, f64)>,
}

/// The value during a span of time, if any was measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// The end of the span, in seconds.
    pub at: f64,
    /// The value in SI units.
    pub value: Option<f64>,
}

/// Maximum number of values of a line: more than a screen has columns.
const MOST: usize = 3_000;

/// Writes the page as one HTML file; `library` is as for [`report::html`](super::html).
pub fn html(page: &Page, library: &str) -> String {
    page::whole(&page.title, library, |out, data| {
        write!(out, "<main>\n<section class=\"study\">\n<h1>{}</h1>\n", Escaped(&page.title))?;
        page::paragraphs(out, &page.about)?;
        let grid = Grid::over(page.charts.iter().flat_map(|chart| &chart.lines).map(|(_, points)| points.as_slice()));
        for (number, chart) in page.charts.iter().enumerate() {
            let picture = picture(chart, number, grid, data);
            figure(out, &chart.title, &chart.about, picture, data)?;
        }
        writeln!(
            out,
            "<dl class=\"facts\">\n<div class=\"wide\"><dt>Again</dt><dd>{}</dd></div>\n</dl>",
            page::command(&page.command)
        )?;
        out.push_str("</section>\n</main>\n");
        Ok(())
    })
}

/// Equal steps of time from zero, as the page draws them.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Grid {
    /// Usual time between two values, in seconds.
    span: f64,
    step: f64,
    steps: usize,
}

impl Grid {
    /// Makes steps as long as the median distance between points, but at most [`MOST`] of them.
    fn over<'p>(lines: impl Iterator<Item = &'p [Point]>) -> Self {
        let (mut end, mut gaps) = (0.0_f64, Vec::new());
        for points in lines {
            end = points.iter().fold(end, |end, point| end.max(point.at));
            gaps.extend(points.windows(2).map(|pair| pair[1].at - pair[0].at).filter(|gap| *gap > 0.0));
        }
        gaps.sort_by(f64::total_cmp);
        // Times are whole nanoseconds; the difference of two in seconds has more digits than it means.
        let span = (gaps.get(gaps.len() / 2).copied().unwrap_or(end) * 1e9).round() / 1e9;
        let step = span.max(end / MOST as f64);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most MOST, and a little")]
        let steps = if step > 0.0 { (end / step).round().max(1.0) as usize } else { 0 };
        Self { span, step, steps }
    }

    /// Returns for each step the mean of values whose middle is in the step; `None` if there are none.
    fn values(&self, points: &[Point]) -> Vec<Option<f64>> {
        let mut sums = vec![(0.0, 0_u32); self.steps];
        for point in points {
            let Some(value) = point.value else { continue };
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the cast saturates")]
            let step = (((point.at - self.span / 2.0) / self.step) as usize).min(self.steps.saturating_sub(1));
            if let Some((sum, count)) = sums.get_mut(step) {
                *sum += value;
                *count += 1;
            }
        }
        sums.into_iter().map(|(sum, count)| (count > 0).then(|| sum / f64::from(count))).collect()
    }
}

/// Makes the picture of a chart, or returns why that is impossible.
fn picture(chart: &Chart, number: usize, grid: Grid, data: &mut Data) -> Result<Picture, String> {
    let (mut lines, mut legend, mut most) = (Vec::new(), Vec::new(), 0.0_f64);
    for (name, points) in &chart.lines {
        let values = grid.values(points);
        if values.iter().all(Option::is_none) {
            continue;
        }
        most = values.iter().flatten().copied().fold(most, f64::max);
        let (key, series) = (lines.len(), data.series.len());
        data.series.push(Track { step: grid.step, values });
        legend.push(Style { name: name.clone(), colour: key % COLOURS, dash: key / COLOURS });
        lines.push(Line { key, series: Some(series), points: Vec::new() });
    }
    refuse_if!(lines.is_empty(), Err("None of this was measured.".to_owned()));
    let rules = chart.targets.iter().map(|(name, at)| {
        most = most.max(*at);
        Rule { name: name.clone(), kind: "target", at: Some(*at), along: Vec::new() }
    });
    let rules = rules.collect();
    let top = if most > 0.0 { most } else { 1.0 };
    let (title, factor) = readable_unit(&chart.y_title, top);
    let notes = vec![format!("Each value covers {}.", seconds(grid.step))];
    let y = Y { title, factor, log: false, domain: [0.0, top] };
    let panels = vec![Panel { title: None, lines, rules, scatter: None }];
    Ok(Picture { id: format!("chart-{number}"), x: None, values: None, y, panels, notes, legend })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(values: &[f64]) -> Vec<Point> {
        let point = |(number, value): (u32, &f64)| Point { at: f64::from(number) * 0.1, value: Some(*value) };
        (1..).zip(values).map(point).collect()
    }

    fn page(lines: Vec<(String, Vec<Point>)>) -> Page {
        let chart =
            Chart { y_title: "delay (s)".into(), lines, targets: vec![("target".into(), 0.05)], ..Chart::default() };
        Page { title: "a <b>".into(), command: "sluice replay x".into(), charts: vec![chart], ..Page::default() }
    }

    #[test]
    fn lines_over_time_are_drawn_in_the_units_that_suit_them() {
        let lines =
            vec![("recorded".into(), points(&[0.01, 0.02, 0.03])), ("adth".into(), points(&[0.02, 0.02, 0.02]))];
        let html = html(&page(lines), "/* library */");
        assert!(html.contains("<h1>a &lt;b&gt;</h1>") && html.contains("delay (ms)"), "{html}");
        assert!(html.contains("{\"step\":0.1,\"values\":[0.01,0.02,0.03]}"), "{html}");
        assert!(html.contains("\"name\":\"target\"") && html.contains("data-key=\"1\""), "{html}");
        assert!(html.contains("sluice replay x"), "{html}");
    }

    #[test]
    fn what_was_not_measured_is_said() {
        let html = html(&page(vec![("recorded".into(), Vec::new())]), "x");
        assert!(html.contains("None of this was measured."), "{html}");
    }

    #[test]
    fn a_long_recording_is_thinned_by_means_and_a_pause_stays_empty() {
        let long: Vec<f64> = (0..30_000).map(f64::from).collect();
        let long = points(&long);
        let grid = Grid::over([long.as_slice()].into_iter());
        assert_eq!(grid.steps, MOST);
        let values = grid.values(&long);
        assert!(values.iter().all(Option::is_some));
        assert!((values[0].unwrap() - 4.5).abs() < 1.0, "{:?}", values[0]);
        let paused = [
            Point { at: 0.1, value: Some(1.0) },
            Point { at: 0.2, value: Some(2.0) },
            Point { at: 0.5, value: Some(5.0) },
        ];
        let grid = Grid { span: 0.1, step: 0.1, steps: 5 };
        assert_eq!(grid.values(&paused), [Some(1.0), Some(2.0), None, None, Some(5.0)]);
    }
}
