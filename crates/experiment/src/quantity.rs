//! Values of claims as text, with units.

use crate::study::Unit;
use units::{Bytes, Duration, Rate};

/// Reads a time, a rate or a number of bytes.
pub(crate) fn in_si(text: &str) -> Option<(f64, Unit)> {
    if let Ok(time) = text.parse::<Duration>() {
        return Some((time.as_secs_f64(), Unit::Seconds));
    }
    if let Ok(rate) = text.parse::<Rate>() {
        return Some((rate.as_bps() as f64, Unit::BitsPerSecond));
    }
    text.parse::<Bytes>().ok().map(|bytes| (bytes.count() as f64, Unit::Bytes))
}

/// Formats a value with its unit, with four significant digits.
pub(crate) fn quantity(value: f64, unit: Unit) -> String {
    with_unit(value, unit, "us", number)
}

/// Formats a value with three significant digits, for sentences and narrow tables.
pub fn short_quantity(value: f64, unit: Unit) -> String {
    let short = |value: f64| {
        // Whole numbers stay as they are.
        let digits = if value == 0.0 { 0.0 } else { (2.0 - value.abs().log10().floor()).clamp(0.0, 12.0) };
        let scale = 10_f64.powf(digits);
        number((value * scale).round() / scale)
    };
    with_unit(value, unit, "us", short)
}

/// Formats a value with a suitable prefix to its unit. `micros` is the text for microseconds.
pub(crate) fn with_unit(value: f64, unit: Unit, micros: &str, number: fn(f64) -> String) -> String {
    let scaled = |by: f64, unit: &str| format!("{} {unit}", number(value / by));
    match (unit, value.abs()) {
        _ if value.is_nan() => number(value),
        (Unit::Seconds, size) if size >= 1.0 || size == 0.0 => scaled(1.0, "s"),
        (Unit::Seconds, size) if size >= 1e-3 => scaled(1e-3, "ms"),
        (Unit::Seconds, _) => scaled(1e-6, micros),
        (Unit::BitsPerSecond, size) if size >= 1e6 => scaled(1e6, "Mb/s"),
        (Unit::BitsPerSecond, size) if size >= 1e3 => scaled(1e3, "kb/s"),
        (Unit::BitsPerSecond, _) => scaled(1.0, "b/s"),
        (Unit::Bytes, _) => scaled(1.0, "B"),
        (Unit::Packets, _) => scaled(1.0, "packets"),
        (Unit::Share, _) => scaled(0.01, "%"),
        (Unit::Number, _) => number(value),
    }
}

/// Formats a number with four significant digits, without trailing zeros.
pub(crate) fn number(value: f64) -> String {
    if value.is_nan() {
        return "none".to_owned();
    }
    let size = value.abs();
    if size > 0.0 && !(1e-4..1e7).contains(&size) {
        return format!("{value:.3e}");
    }
    let digits = [1000.0, 100.0, 10.0, 1.0, 0.1, 0.01].iter().position(|least| size >= *least).unwrap_or(6);
    let text = format!("{value:.digits$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_four_digits() {
        let seen = [0.0, 0.001, 1234.6, 12.345_6, 0.123_456, 1.5e-7, -2.0, f64::NAN].map(number);
        assert_eq!(seen, ["0", "0.001", "1235", "12.35", "0.1235", "1.500e-7", "-2", "none"]);
    }

    #[test]
    fn values_of_claims_have_their_units() {
        assert_eq!(quantity(0.2514, Unit::Seconds), "251.4 ms");
        assert_eq!(quantity(-0.0241, Unit::Share), "-2.41 %");
        assert_eq!(quantity(4.7e6, Unit::BitsPerSecond), "4.7 Mb/s");
        assert_eq!(quantity(f64::NAN, Unit::Seconds), "none");
    }
}
