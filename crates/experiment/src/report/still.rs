//! Charts as SVG. The page shows them until its script replaces them, or for good if a strict policy forbids scripts.
//!
//! Policies that forbid scripts forbid styles, too. So colours are attributes, which a style overrides if allowed.

use super::lines::COLOURS;
use super::picture::{Data, Line, Panel, Picture, Rule, Scatter, Style, Y};
use super::text::{Escaped, number};
use std::fmt::{self, Write as _};

/// Edges of the plot in the picture, in pixels.
const LEFT: f64 = 56.0;
const RIGHT: f64 = 628.0;
const TOP: f64 = 10.0;
const BOTTOM: f64 = 220.0;
const WIDTH: u32 = 640;
/// Height below the plot, in pixels: for labels and the axis' title, and the additional height of slanted labels.
const FOOT: f64 = 40.0;
const SLANTED: f64 = 64.0;
/// Width of a character of a label, in pixels.
const CHARACTER: f64 = 6.5;
/// Columns of a chart. If a series has more than twice as many values, only the extremes of each column are drawn.
const COLUMNS: usize = 286;

/// Colours that can be seen on a white and on a dark page.
const PALETTE: [&str; COLOURS] = ["#0072b2", "#d55e00", "#00875f", "#b8518e", "#b57b00", "#2b8ac4", "#808080"];
/// Dash patterns, equal to those of the page's style and script.
const DASHES: [&str; 4] = ["", "6 3", "2 3", "8 3 2 3"];

/// Returns the attributes for a line's style.
pub(super) fn look(style: &Style) -> String {
    let (colour, dash) = (style.colour % COLOURS, style.dash % DASHES.len());
    let deep = if style.dash % 2 == 1 { "-deep" } else { "" };
    let dashes = if dash == 0 { String::new() } else { format!(" stroke-dasharray=\"{}\"", DASHES[dash]) };
    format!("class=\"stroke-{colour}{deep} dash-{dash}\" stroke=\"{}\"{dashes}", PALETTE[colour])
}

/// Writes a panel of a picture.
pub(super) fn svg(out: &mut String, picture: &Picture, panel: &Panel, data: &Data) -> fmt::Result {
    if let Some(scatter) = &panel.scatter {
        return scattered(out, picture, scatter);
    }
    let (x, labels) = across(picture, panel, data);
    let y = Axis { nice: true, ..Axis::of(&picture.y) };
    let y = y.widened();
    let slanted = begin(out, &labels, &x, &y)?;
    for rule in &panel.rules {
        self::rule(out, picture, rule, &x, &y)?;
    }
    for (rank, line) in panel.lines.iter().enumerate() {
        let style = &picture.legend[line.key];
        if picture.x.is_some() {
            let beside = (rank as f64 - (panel.lines.len() - 1) as f64 / 2.0) * 5.0;
            places(out, picture, line, style, (&x, &y), beside)?;
        } else {
            let at = |place: usize, step: f64| match &picture.values {
                Some(values) => values.at[place],
                None => (place + 1) as f64 * step,
            };
            let Some(track) = line.series.map(|series| &data.series[series]) else { continue };
            let value = |(place, value): (usize, &Option<f64>)| {
                value.and_then(|value| Some((x.place(at(place, track.step))?, y.place(value * picture.y.factor)?)))
            };
            let path = path(&track.values.iter().enumerate().map(value).collect::<Vec<_>>());
            writeln!(out, "<path d=\"{path}\" fill=\"none\" stroke-width=\"1.4\" {}/>", look(style))?;
        }
    }
    end(out, &x.title, slanted)
}

/// Returns the x axis of a picture with lines, and the axis' labels with their positions.
fn across(picture: &Picture, panel: &Panel, data: &Data) -> (Axis, Vec<(f64, String)>) {
    let Some(scale) = &picture.x else {
        let (title, log, ends) = if let Some(values) = &picture.values {
            (values.title.clone(), values.log, [values.at[0], values.at[values.at.len() - 1]])
        } else {
            let tracks = panel.lines.iter().filter_map(|line| Some(&data.series[line.series?]));
            let last = tracks.map(|track| track.step * track.values.len() as f64).fold(0.0, f64::max);
            ("time (s)".to_owned(), false, [0.0, last])
        };
        let axis = Axis { title, log, low: ends[0], high: ends[1], vertical: false, nice: false };
        let labels = axis.labels();
        return (axis, labels);
    };
    let (low, high) =
        scale.at.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &at| (low.min(at), high.max(at)));
    let log = scale.log && !scale.ordinal && low > 0.0;
    let part = if scale.ordinal { 0.5 / (scale.at.len().max(2) - 1) as f64 } else { 0.05 };
    let (low, high) = match (high > low, log) {
        (true, false) => (low - (high - low) * part, high + (high - low) * part),
        (true, true) => (low / (high / low).powf(part), high * (high / low).powf(part)),
        (false, false) => (low - 1.0, high + 1.0),
        (false, true) => (low / 2.0, high * 2.0),
    };
    let labels = scale.at.iter().copied().zip(scale.labels.iter().cloned()).collect();
    (Axis { title: scale.title.clone(), log, low, high, vertical: false, nice: false }, labels)
}

/// An axis: its ends in the title's unit.
struct Axis {
    title: String,
    log: bool,
    low: f64,
    high: f64,
    vertical: bool,
    /// True if the axis ends at round values.
    nice: bool,
}

impl Axis {
    /// Returns the vertical axis of a picture.
    fn of(y: &Y) -> Self {
        let [low, high] = y.domain.map(|end| end * y.factor);
        Self { title: y.title.clone(), log: y.log, low, high, vertical: true, nice: false }
    }

    /// Returns the range widened to the next round values.
    fn widened(self) -> Self {
        let step = if self.log { 1.0 } else { step(self.high - self.low) };
        let round = |value: f64, to: fn(f64) -> f64| {
            if self.log { 10_f64.powf(to(value.log10())) } else { to(value / step) * step }
        };
        let (low, high) = (round(self.low, f64::floor), round(self.high, f64::ceil));
        if self.nice { Self { low, high, ..self } } else { self }
    }

    /// Returns the position of a value in pixels; `None` if the axis cannot show the value.
    fn place(&self, value: f64) -> Option<f64> {
        let share = if self.log {
            (value / self.low).ln() / (self.high / self.low).ln()
        } else {
            (value - self.low) / (self.high - self.low)
        };
        let (from, to) = if self.vertical { (BOTTOM, TOP) } else { (LEFT, RIGHT) };
        share.is_finite().then(|| from + (to - from) * share.clamp(0.0, 1.0))
    }

    /// Returns round values on the axis, with their texts.
    fn labels(&self) -> Vec<(f64, String)> {
        let within = |value: &f64| (self.low..=self.high).contains(value);
        let powers = |factors: &[f64]| {
            // There are at most as many decades as a double has.
            let decades =
                (-308..=308).map(|decade| 10_f64.powi(decade)).filter(|ten| within(ten) || within(&(ten * 9.0)));
            let all = decades.flat_map(|ten| factors.iter().map(move |factor| factor * ten));
            all.filter(within).collect::<Vec<_>>()
        };
        let values = if self.log {
            let tens = powers(&[1.0]);
            if tens.len() > 1 { tens } else { powers(&[1.0, 2.0, 5.0]) }
        } else {
            let step = step(self.high - self.low);
            let first = (self.low / step).ceil();
            (0..20).map(|k| (first + f64::from(k)) * step).filter(|value| *value <= self.high + step * 1e-6).collect()
        };
        values.into_iter().map(|value| (value, number(value, 4))).collect()
    }
}

/// Returns a round step that is about a fifth of the span.
fn step(span: f64) -> f64 {
    let rough = if span > 0.0 { span / 5.0 } else { 1.0 };
    let power = 10_f64.powf(rough.log10().floor());
    let factor = [1.0, 2.0, 5.0].into_iter().find(|factor| factor * power >= rough * 0.99).unwrap_or(10.0);
    factor * power
}

/// Writes the beginning: grid, labels and the vertical axis' title. Returns true if the labels of x are slanted.
fn begin(out: &mut String, labels: &[(f64, String)], x: &Axis, y: &Axis) -> Result<bool, fmt::Error> {
    let widest = labels.iter().map(|(_, label)| label.chars().count()).max().unwrap_or(0) as f64 * CHARACTER;
    let room = (RIGHT - LEFT) / labels.len().max(1) as f64;
    let slanted = widest + 8.0 > room && labels.iter().any(|(_, label)| label.parse::<f64>().is_err());
    let height = BOTTOM + FOOT + if slanted { SLANTED } else { 0.0 };
    writeln!(
        out,
        "<svg width=\"{WIDTH}\" height=\"{height}\" viewBox=\"0 0 {WIDTH} {height}\" font-family=\"sans-serif\" font-size=\"11\" \
         fill=\"currentColor\" aria-hidden=\"true\">"
    )?;
    for (value, label) in y.labels() {
        let Some(at) = y.place(value).map(short) else { continue };
        writeln!(
            out,
            "<path d=\"M{LEFT},{at}H{RIGHT}\" stroke=\"currentColor\" opacity=\".15\"/><text x=\"{}\" y=\"{}\" \
             text-anchor=\"end\">{label}</text>",
            LEFT - 6.0,
            at + 4.0
        )?;
    }
    let mut free = f64::NEG_INFINITY;
    for (value, label) in labels {
        let Some(at) = x.place(*value).map(short) else { continue };
        let label = Escaped(label);
        if slanted {
            let below = BOTTOM + 16.0;
            writeln!(
                out,
                "<text x=\"{at}\" y=\"{below}\" text-anchor=\"end\" transform=\"rotate(-30 {at} {below})\">{label}</text>"
            )?;
        } else if at - widest / 2.0 > free {
            free = at + widest / 2.0 + 4.0;
            writeln!(out, "<text x=\"{at}\" y=\"{}\" text-anchor=\"middle\">{label}</text>", BOTTOM + 16.0)?;
        }
    }
    let middle = f64::midpoint(TOP, BOTTOM);
    writeln!(
        out,
        "<path d=\"M{LEFT},{BOTTOM}H{RIGHT}\" stroke=\"currentColor\" opacity=\".5\"/>\
         <text x=\"10\" y=\"{middle}\" text-anchor=\"middle\" transform=\"rotate(-90 10 {middle})\">{}</text>",
        Escaped(&y.title)
    )?;
    Ok(slanted)
}

/// Writes the horizontal axis' title and the end of the picture.
fn end(out: &mut String, title: &str, slanted: bool) -> fmt::Result {
    let below = BOTTOM + FOOT - 6.0 + if slanted { SLANTED } else { 0.0 };
    let middle = f64::midpoint(LEFT, RIGHT);
    write!(out, "<text x=\"{middle}\" y=\"{below}\" text-anchor=\"middle\">{}</text>\n</svg>", Escaped(title))
}

/// Writes a line whose points are at positions of an axis, with their intervals.
fn places(
    out: &mut String,
    picture: &Picture,
    line: &Line,
    style: &Style,
    (x, y): (&Axis, &Axis),
    beside: f64,
) -> fmt::Result {
    let Some(scale) = &picture.x else { return Ok(()) };
    let (factor, look) = (picture.y.factor, look(style));
    let at = |place: usize| x.place(scale.at[place]).map(|at| at + beside);
    let value = |&(place, [mean, ..]): &(usize, [f64; 3])| Some((at(place)?, y.place(mean * factor)?));
    if !scale.ordinal {
        let path = path(&line.points.iter().map(value).collect::<Vec<_>>());
        writeln!(out, "<path d=\"{path}\" fill=\"none\" stroke-width=\"1.5\" {look}/>")?;
    }
    for point in &line.points {
        let Some((left, top)) = value(point) else { continue };
        let [_, low, high] =
            point.1.map(|value| y.place(value * factor).unwrap_or(if value > 0.0 { top } else { BOTTOM }));
        dot(out, style, [left, left, left], [top, low, high], true)?;
    }
    Ok(())
}

/// Writes a point with its mean and interval in both directions.
fn dot(out: &mut String, style: &Style, x: [f64; 3], y: [f64; 3], full: bool) -> fmt::Result {
    let ([left, from, to], [top, low, high]) = (x.map(short), y.map(short));
    let colour = PALETTE[style.colour % COLOURS];
    let inside = if full && style.dash == 0 { colour } else { "none" };
    let class = style.colour % COLOURS;
    write!(out, "<g class=\"stroke-{class}\" stroke=\"{colour}\" stroke-width=\"1.5\">")?;
    if from < to {
        write!(out, "<path d=\"M{from},{top}H{to}\"/>")?;
    }
    if high < low {
        write!(out, "<path d=\"M{left},{low}V{high}\"/>")?;
    }
    writeln!(out, "<circle cx=\"{left}\" cy=\"{top}\" r=\"3.2\" fill=\"{inside}\"/></g>")
}

/// Writes a deadline or target, with its name.
fn rule(out: &mut String, picture: &Picture, rule: &Rule, x: &Axis, y: &Axis) -> fmt::Result {
    let dash = if rule.kind == "deadline" { "7 4" } else { "2 3" };
    let (path, left, top) = match (&picture.values, rule.at) {
        (Some(values), Some(at)) => {
            let Some(at) = x.place(at * values.factor).filter(|at| *at < RIGHT).map(short) else { return Ok(()) };
            (format!("M{at},{TOP}V{BOTTOM}"), at - 4.0, BOTTOM - 6.0)
        }
        (None, Some(at)) => {
            let Some(at) = y.place(at * picture.y.factor).map(short) else { return Ok(()) };
            (format!("M{LEFT},{at}H{RIGHT}"), RIGHT - 4.0, at - 4.0)
        }
        (_, None) => {
            let Some(scale) = &picture.x else { return Ok(()) };
            let of =
                |&(place, value): &(usize, f64)| Some((x.place(scale.at[place])?, y.place(value * picture.y.factor)?));
            let mut points: Vec<_> = rule.along.iter().filter_map(of).collect();
            points.sort_by(|one, other| one.0.total_cmp(&other.0));
            let Some(&(left, top)) = points.last() else { return Ok(()) };
            (self::path(&points.into_iter().map(Some).collect::<Vec<_>>()), short(left), short(top - 8.0))
        }
    };
    writeln!(
        out,
        "<path d=\"{path}\" fill=\"none\" stroke=\"currentColor\" stroke-dasharray=\"{dash}\" opacity=\".7\"/>\
         <text x=\"{left}\" y=\"{top}\" text-anchor=\"end\">{}</text>",
        Escaped(&rule.name)
    )
}

/// Writes points over a result, each with its name.
fn scattered(out: &mut String, picture: &Picture, scatter: &Scatter) -> fmt::Result {
    let (x, y) = (Axis { vertical: false, ..Axis::of(&scatter.x) }, Axis::of(&scatter.y));
    let slanted = begin(out, &x.labels(), &x, &y)?;
    for point in &scatter.points {
        let style = &picture.legend[point.key];
        let along = |axis: &Axis, values: [f64; 3], factor: f64| {
            let middle = axis.place(values[0] * factor)?;
            Some(values.map(|value| axis.place(value * factor).unwrap_or(middle)))
        };
        let (Some(left), Some(top)) = (along(&x, point.x, scatter.x.factor), along(&y, point.y, scatter.y.factor))
        else {
            continue;
        };
        dot(out, style, left, top, point.full)?;
        let (right, above) = (short(left[0]), short(top[0] - 5.0));
        // The name stays within the picture.
        let wide = style.name.chars().count() as f64 * CHARACTER;
        let (at, anchor) = if right + wide > f64::from(WIDTH) { (right - 6.0, "end") } else { (right + 6.0, "start") };
        writeln!(out, "<text x=\"{at}\" y=\"{above}\" text-anchor=\"{anchor}\">{}</text>", Escaped(&style.name))?;
    }
    end(out, &x.title, slanted)
}

/// Formats a path through points, with gaps at missing values. Of many points it shows the extremes of each column.
fn path(points: &[Option<(f64, f64)>]) -> String {
    let chunk = points.len().div_ceil(COLUMNS);
    let mut path = String::new();
    let mut open = false;
    for column in points.chunks(chunk.max(1)) {
        let extremes = |column: &[Option<(f64, f64)>]| {
            let known = || column.iter().flatten().copied();
            let low = known().min_by(|one, other| one.1.total_cmp(&other.1));
            let high = known().max_by(|one, other| one.1.total_cmp(&other.1));
            let (first, second) =
                if low.map(|low| low.0) < high.map(|high| high.0) { (low, high) } else { (high, low) };
            if first == second { vec![first] } else { vec![first, second] }
        };
        let drawn = if chunk > 2 { extremes(column) } else { column.to_vec() };
        for point in drawn {
            let Some((x, y)) = point else {
                open = false;
                continue;
            };
            let _ = write!(path, "{}{},{}", if open { " " } else { "M" }, short(x), short(y));
            open = true;
        }
    }
    path
}

/// Rounds to a tenth of a pixel.
fn short(pixels: f64) -> f64 {
    (pixels * 10.0).round() / 10.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axis(log: bool, low: f64, high: f64) -> Axis {
        Axis { title: String::new(), log, low, high, vertical: false, nice: true }.widened()
    }

    #[test]
    fn an_axis_ends_at_round_values_and_has_some_between() {
        let texts = |axis: &Axis| axis.labels().into_iter().map(|(_, text)| text).collect::<Vec<_>>();
        assert_eq!(texts(&axis(false, 0.0, 9.3)), ["0", "2", "4", "6", "8", "10"]);
        assert_eq!(texts(&axis(false, -0.03, 0.04)), ["−0.04", "−0.02", "0", "0.02", "0.04"]);
        assert_eq!(texts(&axis(true, 0.02, 700.0)), ["0.01", "0.1", "1", "10", "100", "1000"]);
        assert_eq!(texts(&Axis { nice: false, ..axis(true, 12.0, 60.0) })[0], "10");
        let placed = axis(false, 0.0, 10.0).place(5.0).unwrap();
        assert!((placed - f64::midpoint(LEFT, RIGHT)).abs() < 1e-9);
        assert_eq!(axis(true, 1.0, 10.0).place(0.0), None, "zero has no place there");
    }

    #[test]
    fn a_long_series_keeps_its_extremes_and_a_pause_stays_open() {
        let value = |k: usize| Some((k as f64, if k == 4_567 { 1.0 } else { 100.0 }));
        let drawn = path(&(0..10_000).map(value).collect::<Vec<_>>());
        assert!(drawn.contains("4567,1 ") && drawn.split(' ').count() <= 2 * COLUMNS, "{drawn}");
        assert_eq!(path(&[Some((0.0, 1.0)), Some((1.0, 2.04)), None, Some((3.0, 4.0))]), "M0,1 1,2M3,4");
        assert_eq!(path(&[]), "");
    }
}
