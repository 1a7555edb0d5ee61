//! Turns a chart of a scenario into a picture: its runs, lines with names and colours, and horizontal rules.

mod scatter;

use super::distribution::{self, Values};
use super::picture::{Data, Line, Panel, Picture, Rule, Style, Track, Tracks, Y};
use super::text::{count, ranges, readable_unit, seconds};
use super::words::words;
use crate::claims::{self, Expression, Question, Results};
use crate::label::{Scale, short};
use crate::measure;
use crate::statistics::{Interval, entry_of, interval};
use crate::study::{Chart, Claim, Run, Spacing, Study};
use serde_json::Value;
use units::refuse_if;

/// Number of colours of the page's palette (`--line-0` and so on in `page.css`).
pub(super) const COLOURS: usize = 7;

/// The runs of one case by seed, and the index of the first of them among the study's runs.
struct Case<'a> {
    first: usize,
    runs: &'a [Run],
}

impl Case<'_> {
    fn label(&self, axis: &str) -> Option<&String> {
        self.runs[0].case.get(axis)
    }

    fn seeds(&self) -> Vec<u64> {
        self.runs.iter().map(|run| run.seed).collect()
    }
}

/// The properties that distinguish a line from other lines of its picture.
#[derive(Clone, Debug, PartialEq)]
struct Identity {
    /// Flow or node; empty for results of the whole network.
    element: String,
    /// The quantity that is drawn.
    measure: String,
    /// Labels of all axes except those of x and of the panels, in the scenario's order.
    labels: Vec<(String, String)>,
}

/// A panel with unnamed lines: its title, its lines with their identities, and its rules (horizontal lines).
type Frame = (Option<String>, Vec<(Identity, Line)>, Vec<Rule>);

/// Makes the picture of `chart`, or returns a sentence that says why there is none. `number` is the index of the study.
pub(super) fn picture(
    number: usize,
    study: &Study,
    chart: &Chart,
    id: String,
    data: &mut Data,
    tracks: &mut Tracks,
) -> Result<Picture, String> {
    let cases = cases(study, chart);
    refuse_if!(cases.is_empty(), Err("No run has the labels that this chart needs.".to_owned()));
    let mut maker = Maker { study, chart, scale: scale(study, chart), values: None };
    if let Some(x_title) = &chart.x_title {
        return maker.scatter(x_title, &cases, id);
    }
    if chart.x == Chart::CDF {
        let curves: Vec<Vec<f64>> = cases.iter().flat_map(|case| maker.curves(case)).map(|(.., curve)| curve).collect();
        maker.values = Values::new(chart, &curves);
        refuse_if!(maker.values.is_none(), Err(maker.nothing(&cases)));
    } else if chart.x != "time" && maker.scale.is_none() {
        return Err(format!("The scenario does not vary “{}”, the axis of this chart.", chart.x));
    }
    let mut frames = Vec::new();
    for (title, cases) in maker.panels(&cases) {
        let drafts = match (&maker.scale, &maker.values) {
            (_, Some(values)) => maker.over_values(&cases, values, data),
            (Some(scale), None) => maker.over_axis(&cases, scale),
            (None, None) => maker.over_time(&cases, number, data, tracks),
        };
        let rules = maker.rules(&cases);
        frames.push((title, drafts, rules));
    }
    maker.finish(frames, &cases, id, data)
}

fn cases<'a>(study: &'a Study, chart: &Chart) -> Vec<Case<'a>> {
    let mut first = 0;
    let mut cases = Vec::new();
    for runs in study.runs.chunk_by(|a, b| a.case == b.case) {
        let case = Case { first, runs };
        first += runs.len();
        if claims::matches(&chart.cases, &runs[0].case) {
            cases.push(case);
        }
    }
    cases
}

fn scale(study: &Study, chart: &Chart) -> Option<Scale> {
    let axis = study.axes.iter().find(|axis| axis.name == chart.x)?;
    Some(Scale { log: chart.x_scale == Spacing::Log, ..Scale::new(&axis.name, &axis.labels) })
}

struct Maker<'a> {
    study: &'a Study,
    chart: &'a Chart,
    scale: Option<Scale>,
    values: Option<Values>,
}

impl Maker<'_> {
    /// Returns the title and the cases of each panel, in the order of the axis' labels.
    fn panels<'c, 's>(&self, cases: &'c [Case<'s>]) -> Vec<(Option<String>, Vec<&'c Case<'s>>)> {
        let axis = self.chart.panels.as_ref().and_then(|name| self.study.axes.iter().find(|axis| axis.name == *name));
        let Some(axis) = axis else {
            return vec![(None, cases.iter().collect())];
        };
        let of = |label: &String| cases.iter().filter(|case| case.label(&axis.name) == Some(label)).collect();
        let panels = axis.labels.iter().map(|label| (Some(spoken(&axis.name, label)), of(label)));
        panels.filter(|(_, cases): &(_, Vec<_>)| !cases.is_empty()).collect()
    }

    /// Returns the labels of a case that may be needed to name a line.
    fn labels(&self, case: &Case) -> Vec<(String, String)> {
        let told = |name: &String| *name != self.chart.x && Some(name) != self.chart.panels.as_ref();
        let axes = self.study.axes.iter().map(|axis| &axis.name).filter(|name| told(name));
        axes.filter_map(|name| Some((name.clone(), case.label(name)?.clone()))).collect()
    }

    fn over_time(&self, cases: &[&Case], study: usize, data: &mut Data, tracks: &mut Tracks) -> Vec<(Identity, Line)> {
        let mut drafts = Vec::new();
        for case in cases {
            let Some(series) = &case.runs[0].outcome.series else { continue };
            for key in &self.chart.y {
                let Some(((kind, _), (_, field))) = key.split_once('.').zip(key.rsplit_once('.')) else { continue };
                for (element, values) in measure::series(series, key) {
                    let place = (study, case.first, format!("{kind}.{element}.{field}"));
                    let index = tracks.index(data, place, Track { step: series.step_s, values });
                    let identity = Identity { element, measure: words(key), labels: self.labels(case) };
                    drafts.push((identity, Line { series: Some(index), ..Line::default() }));
                }
            }
        }
        drafts
    }

    /// Returns the distributions of a case: element, quantity and quantiles.
    fn curves(&self, case: &Case) -> Vec<(String, String, Vec<f64>)> {
        let of = |key: &String| {
            let measure = words(key);
            distribution::quantiles(case.runs, key).into_iter().map(move |(name, curve)| (name, measure.clone(), curve))
        };
        self.chart.y.iter().flat_map(of).collect()
    }

    fn over_values(&self, cases: &[&Case], values: &Values, data: &mut Data) -> Vec<(Identity, Line)> {
        let mut drafts = Vec::new();
        for case in cases {
            for (element, measure, curve) in self.curves(case) {
                data.series.push(Track { step: 0.0, values: values.shares(&curve, self.chart.log) });
                let identity = Identity { element, measure, labels: self.labels(case) };
                drafts.push((identity, Line { series: Some(data.series.len() - 1), ..Line::default() }));
            }
        }
        drafts
    }

    fn over_axis(&self, cases: &[&Case], scale: &Scale) -> Vec<(Identity, Line)> {
        let mut drafts: Vec<(Identity, Line)> = Vec::new();
        for path in &self.chart.y {
            for (case, element, interval) in self.values(cases, path) {
                let Some(place) = self.place(case) else { continue };
                let identity = Identity { element, measure: words(path), labels: self.labels(case) };
                let point = (place, [interval.mean, interval.low, interval.high]);
                entry_of(&mut drafts, identity).points.push(point);
            }
        }
        for (_, line) in &mut drafts {
            line.points.sort_by(|a, b| scale.at[a.0].total_cmp(&scale.at[b.0]));
        }
        drafts
    }

    /// Returns the values to draw, each with its case and element: the mean and the interval over the seeds.
    fn values<'c, 's>(&self, cases: &[&'c Case<'s>], path: &str) -> Vec<(&'c Case<'s>, String, Interval)> {
        let chart = self.chart;
        // An expression that cannot be parsed was refused when the scenario was read.
        let measure = Expression::parse(path).unwrap_or_else(|_| Expression::Path(path.to_owned()));
        if matches!(measure, Expression::Path(_)) && chart.together.is_none() && chart.against.is_empty() {
            let of = |case: &&'c Case<'s>| {
                let trees: Vec<Value> = case.runs.iter().map(|run| measure::branch(run, path)).collect();
                let case = *case;
                over_seeds(&trees, path).into_iter().map(move |(element, interval)| (case, element, interval))
            };
            return cases.iter().flat_map(of).collect();
        }
        let asked = Claim::plain(path, chart.together, &chart.cases, &chart.against, chart.compare);
        let seeds = self.study.seeds.len();
        let answer = Results::new(seeds, &self.study.runs).answer(&Question::from(&asked));
        let mut values = Vec::new();
        for (rank, index) in answer.cases.iter().enumerate() {
            let Some(case) = cases.iter().find(|case| case.first == index * seeds) else { continue };
            let elements = |path: &str| {
                let tree = measure::branch(&case.runs[0], path);
                measure::find(&tree, path).unwrap_or_default().iter().map(element).collect()
            };
            let names = if chart.together.is_some() { vec![String::new()] } else { measure.names(&elements) };
            for (number, name) in names.into_iter().enumerate() {
                let of_seeds: Vec<f64> =
                    answer.by_seed.iter().filter_map(|rows| rows[rank].get(number).copied()).collect();
                values.push((*case, name, interval(&of_seeds)));
            }
        }
        values
    }

    /// Returns the position of the case on the x axis.
    fn place(&self, case: &Case) -> Option<usize> {
        let axis = self.study.axes.iter().find(|axis| axis.name == self.chart.x)?;
        let label = case.label(&axis.name)?;
        axis.labels.iter().position(|known| known == label)
    }

    fn rules(&self, cases: &[&Case]) -> Vec<Rule> {
        let mut rules = Vec::new();
        if self.chart.deadline {
            rules.extend(self.rules_of("deadline", cases, |run| {
                let shown = |flow: &&sim::results::Flow| self.shows("flows", &flow.name);
                run.outcome.flows.iter().filter(shown).filter_map(|flow| flow.deadline_s).collect()
            }));
        }
        if self.chart.target {
            rules.extend(self.rules_of("target", cases, |run| {
                let nodes = run.outcome.nodes.iter().filter(|node| self.shows("nodes", &node.name));
                nodes.flat_map(|node| &node.queues).filter_map(|queue| queue.target_delay_s).collect()
            }));
        }
        rules
    }

    /// True if the chart draws this flow or node, or if it names no flow or node.
    fn shows(&self, kind: &str, name: &str) -> bool {
        let mut named = self.chart.y.iter().filter_map(|key| key.strip_prefix(kind)?.strip_prefix('.')).peekable();
        named.peek().is_none()
            || named.any(|rest| {
                rest.strip_prefix(name).is_some_and(|r| r.starts_with('.'))
                    || rest.split_once('.').is_some_and(|(pattern, _)| measure::means(pattern, name))
            })
    }

    /// Returns a horizontal rule for each value if all cases have the same values. If values differ, returns rules
    /// along the x axis, each with a value of every case.
    fn rules_of(&self, kind: &'static str, cases: &[&Case], values: impl Fn(&Run) -> Vec<f64>) -> Vec<Rule> {
        let with_values: Vec<(&Case, Vec<f64>)> =
            cases.iter().map(|case| (*case, sorted(values(&case.runs[0])))).filter(|(_, v)| !v.is_empty()).collect();
        let all = sorted(with_values.iter().flat_map(|(_, values)| values.iter().copied()).collect());
        let agree = with_values.iter().all(|(_, values)| *values == all);
        if agree || self.scale.is_none() {
            let rule =
                |value: f64| Rule { name: format!("{kind} {}", seconds(value)), kind, at: Some(value), along: vec![] };
            return all.into_iter().map(rule).collect();
        }
        let mut rules: Vec<(usize, Vec<(usize, f64)>)> = Vec::new();
        for (case, values) in &with_values {
            let Some(place) = self.place(case) else { continue };
            for (rank, &value) in values.iter().enumerate() {
                let along = entry_of(&mut rules, rank);
                if !along.contains(&(place, value)) {
                    along.push((place, value));
                }
            }
        }
        rules.into_iter().map(|(_, along)| Rule { name: kind.to_owned(), kind, at: None, along }).collect()
    }

    /// Names the lines that have a value.
    fn finish(&self, frames: Vec<Frame>, cases: &[Case], id: String, data: &Data) -> Result<Picture, String> {
        let (mut identities, mut empty) = (Vec::new(), Vec::new());
        let mut panels = Vec::new();
        for (title, drafts, rules) in frames {
            let mut lines = Vec::new();
            for (identity, mut line) in drafts {
                if line_values(&line, data).is_empty() {
                    empty.push(identity);
                } else {
                    line.key = key(&mut identities, identity);
                    lines.push(line);
                }
            }
            if !lines.is_empty() {
                panels.push(Panel { title, lines, rules, scatter: None });
            }
        }
        refuse_if!(identities.is_empty(), Err(self.nothing(cases)));
        let mut notes = self.notes(cases, data, &panels);
        if !empty.is_empty() {
            notes.push(format!("Nothing was measured for {}.", names(&empty).join("; ")));
        }
        let y = self.y(&panels, data);
        let legend = self.styles(&identities);
        Ok(Picture { id, x: self.scale.clone(), values: self.values.clone(), y, panels, notes, legend })
    }

    /// Returns the reason why no line has a value.
    fn nothing(&self, cases: &[Case]) -> String {
        if self.chart.x == Chart::CDF && cases.iter().all(|case| case.runs[0].outcome.distributions.is_none()) {
            return "These runs recorded no distributions, so there is nothing to draw.".to_owned();
        }
        if self.scale.is_none() && cases.iter().all(|case| case.runs[0].outcome.series.is_none()) {
            return "These runs recorded no series over time, so there is nothing to draw.".to_owned();
        }
        format!("These runs have no values of {}, so there is nothing to draw.", self.chart.y.join(", "))
    }

    /// Returns the style of each line. With a colour axis each label has one colour, the same in all charts of the
    /// study; else each line has its own. Lines of one colour have different dashes.
    fn styles(&self, identities: &[Identity]) -> Vec<Style> {
        let axis = self.chart.colour.as_ref().and_then(|name| self.study.axes.iter().find(|axis| axis.name == *name));
        let hue = |identity: &Identity| {
            let axis = axis?;
            let (_, label) = identity.labels.iter().find(|(name, _)| *name == axis.name)?;
            axis.labels.iter().position(|known| known == label)
        };
        let mut uses = [0; COLOURS];
        let lines = identities.iter().zip(names(identities)).enumerate();
        lines
            .map(|(rank, (identity, name))| {
                let colour = hue(identity).unwrap_or(rank) % COLOURS;
                uses[colour] += 1;
                Style { name, colour, dash: uses[colour] - 1 }
            })
            .collect()
    }

    fn notes(&self, cases: &[Case], data: &Data, panels: &[Panel]) -> Vec<String> {
        let lines = || panels.iter().flat_map(|panel| &panel.lines);
        let mut notes = Vec::new();
        let seeds = cases[0].seeds();
        if self.values.is_some() {
            let side = if self.chart.log { "above" } else { "up to" };
            let over = match seeds.len() {
                1 => format!("Seed {}", ranges(&seeds)),
                count => format!("Quantiles averaged over {count} seeds"),
            };
            notes.push(format!("Each point gives the share of the values {side} it. {over}."));
        } else if self.scale.is_some() {
            notes.push(intervals(&seeds));
        } else {
            let first = lines().find_map(|line| line.series);
            let step = first.map_or(0.0, |index| data.series[index].step);
            notes.push(format!("Seed {}; each value covers {}.", seeds[0], seconds(step)));
        }
        if self.chart.log && lines().flat_map(|line| means(line, data)).any(|value| value <= 0.0) {
            notes.push("Values of zero have no place on a logarithmic axis and are left out.".to_owned());
        }
        notes
    }

    fn y(&self, panels: &[Panel], data: &Data) -> Y {
        let lines = || panels.iter().flat_map(|panel| &panel.lines);
        if self.values.is_some() {
            let shown = lines().flat_map(|line| means(line, data));
            let least = shown.filter(|share| *share > 0.0).fold(1.0, f64::min);
            let domain = if self.chart.log { [least.min(0.1), 1.0] } else { [0.0, 1.0] };
            let (title, factor) = readable_unit(&self.chart.y_title, 1.0);
            return Y { title, factor, log: self.chart.log, domain };
        }
        let mut values: Vec<f64> = lines().flat_map(|line| line_values(line, data)).collect();
        for rule in panels.iter().flat_map(|panel| &panel.rules) {
            values.extend(rule.at);
            values.extend(rule.along.iter().map(|(_, value)| *value));
        }
        let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        // A logarithmic axis cannot show an interval's end at zero or less, so the means decide where this axis ends.
        let low = if self.chart.log {
            let shown = lines().flat_map(|line| means(line, data));
            let rules = panels.iter().flat_map(|panel| &panel.rules).filter_map(|rule| rule.at);
            shown.chain(rules).filter(|value| *value > 0.0).fold(f64::INFINITY, f64::min)
        } else {
            values.iter().copied().fold(0.0, f64::min)
        };
        let domain = match (low, high) {
            (low, high) if low < high && low.is_finite() => [low, high],
            // All values are zero, or there is only one value: any range around the value will do.
            _ if self.chart.log && high > 0.0 => [high / 10.0, high],
            _ => [0.0, 1.0],
        };
        let (title, factor) = readable_unit(&self.chart.y_title, domain[1]);
        Y { title, factor, log: self.chart.log && domain[0] > 0.0, domain }
    }
}

/// Returns the note on the intervals of points over these seeds.
fn intervals(seeds: &[u64]) -> String {
    match seeds.len() {
        1 => format!("Seed {}: with one run per point there are no intervals.", ranges(seeds)),
        several => format!("Means over {} with 95 % intervals.", count(several, "seed")),
    }
}

/// Returns the index of a line's identity in the list of all; adds it if it is new.
fn key(identities: &mut Vec<Identity>, identity: Identity) -> usize {
    identities.iter().position(|known| *known == identity).unwrap_or_else(|| {
        identities.push(identity);
        identities.len() - 1
    })
}

/// Returns the values of a line, without the ends of intervals.
fn means(line: &Line, data: &Data) -> Vec<f64> {
    let over_time = line.series.into_iter().flat_map(|index| data.series[index].values.iter().flatten().copied());
    over_time.chain(line.points.iter().map(|(_, [mean, ..])| *mean)).filter(|value| value.is_finite()).collect()
}

/// Returns the values of a line and the ends of its intervals.
fn line_values(line: &Line, data: &Data) -> Vec<f64> {
    let ends = line.points.iter().flat_map(|(_, [_, low, high])| [*low, *high]).filter(|value| value.is_finite());
    means(line, data).into_iter().chain(ends).collect()
}

/// Returns, for each element of `path`, the mean and the interval over the seeds. Leaves out absent values, such as a
/// target delay without a controller.
fn over_seeds(trees: &[Value], path: &str) -> Vec<(String, Interval)> {
    let mut elements: Vec<(String, Vec<f64>)> = Vec::new();
    for found in trees.iter().flat_map(|tree| measure::find(tree, path).unwrap_or_default()) {
        let Some(value) = found.value.as_f64().or(found.value.as_bool().map(f64::from)) else { continue };
        entry_of(&mut elements, element(&found)).push(value);
    }
    elements.into_iter().map(|(element, values)| (element, interval(&values))).collect()
}

/// Returns the element that a value belongs to.
fn element(found: &measure::Found) -> String {
    match found.names.as_slice() {
        [] => String::new(),
        // A node's only queue needs no name.
        [element] | [element, "be", ..] => (*element).to_owned(),
        [element, queue, ..] => format!("{element} {queue}"),
    }
}

/// Names the lines by the properties in which they differ: "forward, ADTH-DF".
fn names(identities: &[Identity]) -> Vec<String> {
    let varies = |part: &dyn Fn(&Identity) -> String| identities.iter().any(|i| part(i) != part(&identities[0]));
    let element = varies(&|i| i.element.clone());
    let measure = varies(&|i| i.measure.clone());
    let name = |identity: &Identity| {
        let mut parts = Vec::new();
        let what = [(element, &identity.element), (measure, &identity.measure)];
        let what: Vec<&str> = what.iter().filter(|(told, _)| *told).map(|(_, part)| part.as_str()).collect();
        parts.extend((!what.is_empty()).then(|| what.join(" ")));
        for (rank, (axis, label)) in identity.labels.iter().enumerate() {
            if varies(&|i| i.labels.get(rank).map(|(_, label)| label.clone()).unwrap_or_default()) {
                parts.push(spoken(axis, label));
            }
        }
        if parts.is_empty() {
            // A single line is named after its element and measure.
            parts.push(format!("{} {}", identity.element, identity.measure).trim().to_owned());
        }
        parts.join(", ")
    };
    identities.iter().map(name).collect()
}

/// Puts the axis before a label that is only a quantity: `ADTH-DF` stays, but `200 ms` becomes "target 200 ms".
fn spoken(axis: &str, label: &str) -> String {
    if label.starts_with(|c: char| c.is_ascii_digit()) {
        let axis = short(axis);
        // If the label kept the name, "hops 6 hops" would repeat it.
        if label.contains(&axis) { label.to_owned() } else { format!("{axis} {label}") }
    } else {
        label.to_owned()
    }
}

fn sorted(mut values: Vec<f64>) -> Vec<f64> {
    values.sort_by(f64::total_cmp);
    values.dedup_by(|a, b| a.total_cmp(b).is_eq());
    values
}
