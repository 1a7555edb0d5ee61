//! Labels of an axis as positions: `200 ms` is at 0.2 and `6 hops` at 6, but `FIFO-DF` only has a rank.

use crate::quantity::in_si;
use serde::Serialize;
use units::Length;

/// The x axis of a picture.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Scale {
    /// Title of the axis, with the unit that all labels share.
    pub(crate) title: String,
    /// The position of each label.
    pub(crate) at: Vec<f64>,
    pub(crate) labels: Vec<String>,
    /// True if `at` has ranks: their distances mean nothing, so no line joins the points.
    pub(crate) ordinal: bool,
    pub(crate) log: bool,
}

impl Scale {
    /// Makes the scale of the labels of the axis `name`.
    pub(crate) fn new(name: &str, labels: &[String]) -> Self {
        let name = short(name);
        let places: Option<Vec<f64>> = labels.iter().map(|label| place(label)).collect();
        let Some(at) = places.filter(|at| distinct(at)) else {
            let at = (0..labels.len()).map(|rank| rank as f64).collect();
            return Self { title: name, at, labels: labels.to_vec(), ordinal: true, log: false };
        };
        let (labels, unit) = without_shared_unit(labels);
        let title = match unit {
            Some(unit) if unit != name => format!("{name} ({unit})"),
            _ => name,
        };
        Self { title, at, labels, ordinal: false, log: false }
    }
}

/// Returns the last word of a key: `queue.adth.target_delay` is "target delay".
pub(crate) fn short(key: &str) -> String {
    key.rsplit('.').next().unwrap_or(key).replace('_', " ")
}

/// Returns the number that a label means: a quantity in its SI unit, or a number, perhaps with a word.
pub(crate) fn place(label: &str) -> Option<f64> {
    if let Some((value, _)) = in_si(label) {
        return Some(value);
    }
    if let Ok(length) = label.parse::<Length>() {
        return Some(length.as_metres());
    }
    let (number, word) = label.split_once(' ').unwrap_or((label, ""));
    let plain = word.chars().all(|c| c.is_alphabetic() || c == '%');
    number.parse().ok().filter(|value: &f64| plain && value.is_finite())
}

/// True if all labels have different positions, so that none is drawn over another label.
fn distinct(at: &[f64]) -> bool {
    let mut sorted = at.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.windows(2).all(|pair| pair[0] < pair[1])
}

/// Returns the labels without the unit that they share, and that unit.
fn without_shared_unit(labels: &[String]) -> (Vec<String>, Option<String>) {
    let parts: Vec<_> = labels.iter().filter_map(|label| label.split_once(' ')).collect();
    match parts.first() {
        Some((_, unit)) if parts.len() == labels.len() && parts.iter().all(|(_, u)| u == unit) => {
            (parts.iter().map(|(number, _)| (*number).to_owned()).collect(), Some((*unit).to_owned()))
        }
        _ => (labels.to_vec(), None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scale(name: &str, labels: &[&str]) -> Scale {
        Scale::new(name, &labels.iter().map(|&l| l.to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn a_shared_unit_moves_into_the_title() {
        let target = scale("queue.adth.target_delay", &["200 ms", "400 ms"]);
        assert_eq!(target.title, "target delay (ms)");
        assert_eq!(target.labels, ["200", "400"]);
        assert_eq!(target.at, [0.2, 0.4]);
        assert!(!target.ordinal);
        assert_eq!(scale("hops", &["3 hops", "6 hops"]).title, "hops");
    }

    #[test]
    fn mixed_units_stay_in_the_labels() {
        let target = scale("target", &["800 ms", "1 s"]);
        assert_eq!(target.title, "target");
        assert_eq!(target.labels, ["800 ms", "1 s"]);
        assert_eq!(target.at, [0.8, 1.0]);
    }

    #[test]
    fn words_have_ranks() {
        let scheme = scale("scheme", &["FIFO-DF", "ADTH-DF", "FIFO-DF 50"]);
        assert!(scheme.ordinal);
        assert_eq!(scheme.at, [0.0, 1.0, 2.0]);
        assert_eq!(scheme.labels[2], "FIFO-DF 50");
    }

    #[test]
    fn quantities_and_bare_numbers_have_places() {
        assert_eq!(scale("rate", &["1 Mb/s", "1.25 Mb/s"]).at, [1e6, 1.25e6]);
        assert_eq!(scale("packet", &["300 B", "1500 B"]).at, [300.0, 1500.0]);
        assert_eq!(scale("n", &["1", "50"]).at, [1.0, 50.0]);
        assert!(scale("n", &["3", "3 hops"]).ordinal, "two labels at one place");
    }
}
