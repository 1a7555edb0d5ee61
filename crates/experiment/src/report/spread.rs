//! Distributions over cases.

use super::distribution::{PLACES, Values};
use super::picture::{Data, Line, Panel, Picture, Style, Track, Y};
use crate::study::Spread;
use units::refuse_if;

/// Ends of the axis of values; few values lie beyond them.
const ENDS: [f64; 2] = [0.1, 10.0];

/// Makes a picture with a panel for each spread. Its lines show the share of cases up to each value.
pub(super) fn picture(spreads: &[Spread], id: String, data: &mut Data) -> Result<Picture, String> {
    let all = spreads.iter().flat_map(|spread| &spread.lines).flat_map(|(_, values)| values).map(|(_, value)| *value);
    let drawn = all.filter(|value| *value > 0.0).map(|value| value.clamp(ENDS[0], ENDS[1]));
    let (low, high) = drawn.fold((f64::INFINITY, 0.0_f64), |(low, high), value| (low.min(value), high.max(value)));
    refuse_if!(high <= 0.0, Err("None of this was measured.".to_owned()));
    let at = |place: u32| low * (high / low).powf(f64::from(place) / f64::from(PLACES - 1));
    let at: Vec<f64> = (0..PLACES).map(at).collect();
    let style = |(colour, (name, _)): (usize, &(String, _))| Style { name: name.clone(), colour, dash: 0 };
    let legend = spreads[0].lines.iter().enumerate().map(style).collect();
    let mut line = |key, values: &[(String, f64)]| {
        debug_assert!(values.is_sorted_by(|a, b| a.1 <= b.1), "shares are counted from the smallest value");
        let below = |place: &f64| values.partition_point(|(_, value)| value <= place) as f64 / values.len() as f64;
        data.series.push(Track { step: 0.0, values: at.iter().map(|place| Some(below(place))).collect() });
        Line { key, series: Some(data.series.len() - 1), ..Line::default() }
    };
    let panel = |spread: &Spread| {
        let measured = spread.lines.iter().enumerate().filter(|(_, (_, values))| !values.is_empty());
        let (title, lines) =
            (Some(spread.title.clone()), measured.map(|(key, (_, values))| line(key, values)).collect());
        Panel { title, lines, rules: Vec::new(), scatter: None }
    };
    let panels = spreads.iter().map(panel).collect();
    let values = Values { title: "ratio".to_owned(), unit: String::new(), factor: 1.0, log: true, at: at.clone() };
    let y = Y { title: "share".to_owned(), factor: 1.0, log: false, domain: [0.0, 1.0] };
    Ok(Picture { id, x: None, values: Some(values), y, panels, notes: Vec::new(), legend })
}
