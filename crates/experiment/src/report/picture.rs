//! Data for the page's script: pictures with panels, lines and rules, in SI units. Every series is stored once.

use super::distribution::Values;
use super::text;
use crate::label::Scale;
use serde::{Serialize, Serializer};
use std::collections::BTreeMap;

/// All data of a page.
#[derive(Debug, Default, Serialize)]
pub(super) struct Data {
    pub(super) series: Vec<Track>,
    pub(super) pictures: Vec<Picture>,
}

/// A series over time. Value `k` is for the step that ends at `(k + 1) * step`, and is drawn at that end.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Track {
    pub(super) step: f64,
    #[serde(serialize_with = "short_options")]
    pub(super) values: Vec<Option<f64>>,
}

/// One chart of a scenario.
#[serde_with::skip_serializing_none]
#[derive(Debug, Serialize)]
pub(super) struct Picture {
    /// Id, unique in the page; the element for panel `k` has the id `{id}-{k}`.
    pub(super) id: String,
    /// Positions on the x axis; `None` if the axis is time.
    pub(super) x: Option<Scale>,
    /// Positions of the series' values, for distributions.
    pub(super) values: Option<Values>,
    pub(super) y: Y,
    pub(super) panels: Vec<Panel>,
    /// Remarks below the chart, on seeds, steps and what is not shown.
    #[serde(skip)]
    pub(super) notes: Vec<String>,
    /// Name, colour and dash pattern of every line; each name occurs once.
    pub(super) legend: Vec<Style>,
}

/// The y axis of all panels, or of a panel with points.
#[derive(Debug, PartialEq, Serialize)]
pub(super) struct Y {
    pub(super) title: String,
    /// Factor from SI values to the title's unit.
    pub(super) factor: f64,
    pub(super) log: bool,
    /// Smallest and largest value shown, in SI units.
    #[serde(serialize_with = "short_pair")]
    pub(super) domain: [f64; 2],
}

/// One frame of a picture.
#[derive(Debug, Serialize)]
pub(super) struct Panel {
    #[serde(skip)]
    pub(super) title: Option<String>,
    pub(super) lines: Vec<Line>,
    pub(super) rules: Vec<Rule>,
    /// Points that are drawn instead of lines, with the axes of this panel.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) scatter: Option<Scatter>,
}

/// Points of one panel over results.
#[derive(Debug, Serialize)]
pub(super) struct Scatter {
    pub(super) x: Y,
    pub(super) y: Y,
    pub(super) points: Vec<Point>,
    /// Text that names the points on the front.
    #[serde(skip)]
    pub(super) front: Option<String>,
}

/// A case as a point.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Point {
    /// Index into the picture's legend.
    pub(super) key: usize,
    /// Mean and ends of the 95 % interval, in SI units.
    pub(super) x: [f64; 3],
    pub(super) y: [f64; 3],
    /// True if the point may be on the front.
    pub(super) full: bool,
}

/// The name and the look of a line.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Style {
    pub(super) name: String,
    /// Index of a colour of the page's palette.
    pub(super) colour: usize,
    /// Index of a dash pattern; 0 is a full line.
    pub(super) dash: usize,
}

#[derive(Debug, Default, Serialize)]
pub(super) struct Line {
    /// Index into the picture's legend.
    pub(super) key: usize,
    /// If the axis is time: index in the page's series.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) series: Option<usize>,
    /// If the axis is not time: index of the position on the axis, mean, and ends of the 95 % interval.
    #[serde(skip_serializing_if = "Vec::is_empty", serialize_with = "short_points")]
    pub(super) points: Vec<(usize, [f64; 3])>,
}

/// A deadline or target.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Rule {
    pub(super) name: String,
    /// `deadline` or `target`; each has its own dash pattern.
    pub(super) kind: &'static str,
    /// Value for the whole width; `None` if the value varies along the x axis.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) at: Option<f64>,
    /// If `at` is `None`: for each position on the x axis its index and the value.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) along: Vec<(usize, f64)>,
}

/// Indices of the series already stored, so that none is stored twice.
#[derive(Debug, Default)]
pub(super) struct Tracks {
    places: BTreeMap<(usize, usize, String), usize>,
}

impl Tracks {
    /// Returns the index in `data` of the series of this study, run and key (`flows.forward.delay_max_s`); adds the
    /// series if it is new.
    pub(super) fn index(&mut self, data: &mut Data, place: (usize, usize, String), track: Track) -> usize {
        *self.places.entry(place).or_insert_with(|| {
            data.series.push(track);
            data.series.len() - 1
        })
    }
}

/// A number with five digits, finer than any screen. Whole numbers have no ".0", which makes the page a third smaller.
struct Short(f64);

impl Serialize for Short {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let rounded = text::round(self.0, 5);
        if rounded.fract().abs() > 0.0 || rounded.abs() >= 1e15 {
            return serializer.serialize_f64(rounded);
        }
        #[expect(clippy::cast_possible_truncation, reason = "a whole number below 10^15")]
        serializer.serialize_i64(rounded as i64)
    }
}

#[expect(clippy::ptr_arg, reason = "serde passes the field's own type")]
fn short_options<S: Serializer>(values: &Vec<Option<f64>>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(values.iter().map(|value| value.map(Short)))
}

#[expect(clippy::ptr_arg, reason = "serde passes the field's own type")]
fn short_points<S: Serializer>(points: &Vec<(usize, [f64; 3])>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(points.iter().map(|&(place, values)| (place, values.map(Short))))
}

fn short_pair<S: Serializer>(pair: &[f64; 2], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(pair.iter().map(|&value| Short(value)))
}
