//! Charts over a result: every case is a point, and the best points form the Pareto front.

use super::{Case, Identity, Maker, intervals, key};
use crate::claims::Condition;
use crate::report::picture::{Panel, Picture, Point, Scatter, Style, Y};
use crate::report::text::readable_unit;
use crate::study::{Front, Side, Spacing};

impl Maker<'_> {
    /// Makes the picture of a chart over the result `x`, or returns why there is none.
    pub(super) fn scatter(&self, x_title: &str, cases: &[Case], id: String) -> Result<Picture, String> {
        let mut identities: Vec<Identity> = Vec::new();
        let mut frames = Vec::new();
        for (title, cases) in self.panels(cases) {
            let points = self.points(&cases, &mut identities);
            if !points.is_empty() {
                frames.push((title, points));
            }
        }
        if identities.is_empty() {
            return Err(format!("These runs have no values of {} over {}.", self.chart.y.join(", "), self.chart.x));
        }
        let legend = self.styles(&identities);
        let panel = |(title, points)| {
            let scatter = Some(self.panel(x_title, points, &legend));
            Panel { title, lines: Vec::new(), rules: Vec::new(), scatter }
        };
        let panels: Vec<Panel> = frames.into_iter().map(panel).collect();
        let mut notes = vec![intervals(&cases[0].seeds())];
        if let Some(Front { of: Some(of), when: Some(when), .. }) = &self.chart.front {
            notes.push(format!("Hollow points cannot be on the front, because {of} is not {when}."));
        }
        let y = Y { title: self.chart.y_title.clone(), factor: 1.0, log: self.chart.log, domain: [0.0, 1.0] };
        Ok(Picture { id, x: None, values: None, y, panels, notes, legend })
    }

    /// Returns the points of some cases. Each `y` gives a point at the `x` of the same flow or node, or at the only
    /// `x`.
    fn points(&self, cases: &[&Case], identities: &mut Vec<Identity>) -> Vec<Point> {
        let xs = self.values(cases, &self.chart.x);
        let mut points = Vec::new();
        for path in &self.chart.y {
            for (case, element, y) in self.values(cases, path) {
                let of_case: Vec<_> = xs.iter().filter(|(other, ..)| other.first == case.first).collect();
                let same = of_case.iter().find(|(_, other, _)| *other == element);
                let Some((.., x)) = same.or(if of_case.len() == 1 { of_case.first() } else { None }) else { continue };
                if !x.mean.is_finite() || !y.mean.is_finite() {
                    continue;
                }
                let identity = Identity { element, measure: super::words(path), labels: self.labels(case) };
                let (x, y) = ([x.mean, x.low, x.high], [y.mean, y.low, y.high]);
                points.push(Point { key: key(identities, identity), x, y, full: self.may_win(case) });
            }
        }
        points
    }

    /// True if the case fulfils the front's condition, or if the front has no condition.
    fn may_win(&self, case: &Case) -> bool {
        let Some(Front { of: Some(of), when: Some(when), .. }) = &self.chart.front else { return true };
        // A condition that cannot be read was refused when the scenario was read.
        let Ok(condition) = when.parse::<Condition>() else { return true };
        self.values(&[case], of).iter().all(|(.., interval)| condition.holds(interval.mean))
    }

    fn panel(&self, x_title: &str, points: Vec<Point>, legend: &[Style]) -> Scatter {
        let front = self.chart.front.as_ref().map(|front| {
            let names = on_front(front, &points).map(|point| legend[point.key].name.as_str());
            format!("On the front: {}.", names.collect::<Vec<_>>().join("; "))
        });
        let log = self.chart.x_scale == Spacing::Log;
        let x = axis(x_title, log, &points.iter().map(|point| point.x));
        let y = axis(&self.chart.y_title, self.chart.log, &points.iter().map(|point| point.y));
        Scatter { x, y, points, front }
    }
}

/// Returns the Pareto-optimal points: no other point is better along one axis and as good along the other.
fn on_front<'p>(front: &'p Front, points: &'p [Point]) -> impl Iterator<Item = &'p Point> {
    let beats = |ours: f64, theirs: f64, side: Side| match side {
        Side::Below => ours < theirs,
        Side::Above => ours > theirs,
    };
    let beaten = move |point: &Point| {
        points.iter().filter(|other| other.full).any(|other| {
            let (x, y) = ((other.x[0], point.x[0]), (other.y[0], point.y[0]));
            let worse = beats(x.1, x.0, front.x) || beats(y.1, y.0, front.y);
            !worse && (beats(x.0, x.1, front.x) || beats(y.0, y.1, front.y))
        })
    };
    points.iter().filter(move |point| point.full && !beaten(point))
}

/// Makes an axis that shows these values with their intervals.
fn axis(title: &str, log: bool, values: &(impl Iterator<Item = [f64; 3]> + Clone)) -> Y {
    let ends = values.clone().flat_map(|[mean, low, high]| if log { [mean, mean, high] } else { [mean, low, high] });
    let ends = ends.filter(|value| value.is_finite() && (!log || *value > 0.0));
    let (low, high) = ends.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(v), high.max(v)));
    let log = log && low.is_finite();
    let domain = match (low < high, log) {
        (true, true) => [low / (high / low).powf(0.08), high * (high / low).powf(0.25)],
        (true, false) => [low - (high - low) * 0.08, high + (high - low) * 0.08],
        (false, true) => [low / 2.0, low * 2.0],
        (false, false) if low.is_finite() => [low - 1.0, low + 1.0],
        (false, false) => [0.0, 1.0],
    };
    let (title, factor) = readable_unit(title, high);
    Y { title, factor, log, domain }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_front_has_the_points_that_no_other_beats() {
        let names = ["short", "equal", "long", "worse", "slower", "lossy"];
        let places = [(1.0, 3.0), (1.0, 3.0), (2.0, 5.0), (2.0, 4.0), (3.0, 5.0), (0.5, 9.0)];
        let point =
            |(key, (x, y)): (usize, (f64, f64))| Point { key, x: [x; 3], y: [y; 3], full: names[key] != "lossy" };
        let points: Vec<Point> = places.into_iter().enumerate().map(point).collect();
        let front = |x, y| {
            let front = Front { x, y, of: None, when: None };
            on_front(&front, &points).map(|point| names[point.key]).collect::<Vec<_>>()
        };
        assert_eq!(front(Side::Below, Side::Above), ["short", "equal", "long"]);
        assert_eq!(front(Side::Above, Side::Above), ["slower"]);
        assert_eq!(front(Side::Below, Side::Below), ["short", "equal"]);
    }

    #[test]
    fn an_axis_has_room_around_its_values() {
        let values = [[0.02, 0.01, 0.03], [0.1, 0.1, 0.1]];
        let seen = axis("delay (s)", false, &values.into_iter());
        assert_eq!((seen.title.as_str(), seen.factor), ("delay (ms)", 1e3));
        assert!(seen.domain[0] < 0.01 && seen.domain[1] > 0.1, "{:?}", seen.domain);
        let log = axis("delay (s)", true, &[[0.02, -0.01, 0.05], [0.1, 0.1, 0.1]].into_iter());
        assert!(log.log && log.domain[0] > 0.0 && log.domain[0] < 0.02 && log.domain[1] > 0.1, "{:?}", log.domain);
        let one = axis("x", true, &[[0.0; 3]].into_iter());
        assert!(!one.log, "zero has no place on a logarithmic axis");
    }
}
