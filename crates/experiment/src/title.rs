//! The unit in a title: results are in SI units, and the title `p95 (ms)` asks for milliseconds.

use crate::claims::Expression;
use crate::study::{Compare, Labels, Unit};
use std::collections::BTreeMap;

/// Units allowed in parentheses at the end of a title, each with its factor from SI values.
const WRITTEN: &[(&[&str], Unit, f64)] = &[
    (&["s", "sec", "seconds"], Unit::Seconds, 1.0),
    (&["ms", "msec", "milliseconds"], Unit::Seconds, 1e3),
    (&["us", "µs", "μs", "usec", "microseconds"], Unit::Seconds, 1e6),
    (&["ns", "nanoseconds"], Unit::Seconds, 1e9),
    (&["min", "minutes"], Unit::Seconds, 1.0 / 60.0),
    (&["h", "hours"], Unit::Seconds, 1.0 / 3600.0),
    (&["b/s", "bit/s", "bps", "bits/s"], Unit::BitsPerSecond, 1.0),
    (&["kb/s", "kbit/s", "kbps"], Unit::BitsPerSecond, 1e-3),
    (&["Mb/s", "Mbit/s", "Mbps"], Unit::BitsPerSecond, 1e-6),
    (&["Gb/s", "Gbit/s", "Gbps"], Unit::BitsPerSecond, 1e-9),
    (&["B", "bytes"], Unit::Bytes, 1.0),
    (&["kB"], Unit::Bytes, 1e-3),
    (&["MB"], Unit::Bytes, 1e-6),
    (&["KiB"], Unit::Bytes, 1.0 / 1024.0),
    (&["MiB"], Unit::Bytes, 1.0 / 1_048_576.0),
    (&["packets", "packet"], Unit::Packets, 1.0),
    (&["%", "percent", "per cent"], Unit::Share, 100.0),
];

/// Returns the unit of the values that a chart or a table shows for a measure.
pub(crate) fn unit(measure: &str, against: &BTreeMap<String, Labels>, compare: Compare) -> Unit {
    if !against.is_empty() && compare == Compare::Ratio {
        return Unit::Share;
    }
    Expression::parse(measure).map_or(Unit::Number, |expression| expression.unit())
}

/// Returns the factor from SI values to the unit in the title; 1 if it names none. Errors: the values cannot have this
/// unit; the text says which they have.
pub(crate) fn factor(title: &str, measure: &str, unit: Unit) -> Result<f64, String> {
    let Some(given) = in_parentheses(title) else { return Ok(1.0) };
    // The unit of computed or counted values is not always known.
    let open = unit == Unit::Number;
    let is_word = !given.is_empty() && given.chars().all(|c| c.is_alphabetic() || c == '/');
    match known(given) {
        Some((_, factor)) if open && measure.contains(' ') => Ok(if given == "%" { factor } else { 1.0 }),
        Some((Unit::Share, factor)) if open => Ok(factor),
        Some((Unit::Packets | Unit::Bytes, factor)) if open && (factor - 1.0).abs() < 1e-9 => Ok(1.0),
        Some((written, factor)) if written == unit => Ok(factor),
        // The parentheses contain a remark, unless it is one word where a unit is expected.
        None if !is_word || !matches!(unit, Unit::Seconds | Unit::BitsPerSecond | Unit::Bytes) => Ok(1.0),
        _ => Err(refusal(given, measure, unit)),
    }
}

/// Returns the factor from SI values for a title that was already checked.
pub(crate) fn scale(title: &str) -> f64 {
    in_parentheses(title).and_then(known).map_or(1.0, |(_, factor)| factor)
}

fn in_parentheses(title: &str) -> Option<&str> {
    let (_, given) = title.trim_end().strip_suffix(')')?.rsplit_once('(')?;
    Some(given.trim())
}

fn known(given: &str) -> Option<(Unit, f64)> {
    WRITTEN.iter().find(|(names, ..)| names.contains(&given)).map(|&(_, unit, factor)| (unit, factor))
}

fn refusal(given: &str, measure: &str, unit: Unit) -> String {
    let names: Vec<String> =
        WRITTEN.iter().filter(|(_, of, _)| *of == unit).map(|(names, ..)| format!("({})", names[0])).collect();
    let instead = if names.is_empty() { "leave it out".to_owned() } else { format!("write {}", names.join(", ")) };
    format!("`{measure}` is {}, which is not written in `({given})`: {instead}", unit.words())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(title: &str, measure: &str) -> Result<f64, String> {
        factor(title, measure, unit(measure, &BTreeMap::new(), Compare::Ratio))
    }

    #[test]
    fn the_unit_in_a_title_converts() {
        for (title, measure, expected) in [
            ("p95 (ms)", "flows.*.delay_s.p95", 1e3_f64),
            ("p95 (s)", "flows.*.delay_s.p95", 1.0),
            ("delay", "flows.*.delay_s.p95", 1.0),
            ("delay (µs)", "flows.*.delay_max_s", 1e6),
            ("goodput (Mb/s)", "totals.goodput_bps", 1e-6),
            ("goodput (Mbps)", "flows.a.goodput_bps", 1e-6),
            ("loss (%)", "totals.loss_ratio", 100.0),
            ("backlog (packets)", "nodes.n1.backlog_packets", 1.0),
            ("limit (packets)", "nodes.n1.limit", 1.0),
            ("delay (5 hops)", "flows.*.delay_s.p95", 1.0),
            ("delay (ADTH) (ms)", "flows.*.delay_s.p95", 1e3),
        ] {
            assert_eq!(of(title, measure).map(f64::to_bits), Ok(expected.to_bits()), "{title}");
        }
    }

    #[test]
    fn a_unit_that_the_values_do_not_have_is_refused() {
        for (title, measure, words) in [
            (
                "p95 (Mb/s)",
                "flows.*.delay_s.p95",
                "`flows.*.delay_s.p95` is a time, which is not written in `(Mb/s)`: write (s), (ms)",
            ),
            ("p95 (%)", "flows.*.delay_s.p95", "is a time, which is not written in `(%)`"),
            ("loss (ms)", "totals.loss_ratio", "is a share, which is not written in `(ms)`: write (%)"),
            ("delay (milisec)", "flows.*.delay_s.p95", "not written in `(milisec)`"),
            ("tries (ms)", "nodes.n1.mac.attempts", "is a plain number, which is not written in `(ms)`: leave it out"),
        ] {
            let said = of(title, measure).unwrap_err();
            assert!(said.contains(words), "{said}");
        }
    }
}
