//! Formats text and numbers for HTML.

use crate::study::Unit;
use itertools::Itertools as _;
use std::fmt::{self, Write as _};

/// Text from a scenario or a result, made safe for HTML text and for attributes in double quotes.
pub(super) struct Escaped<'a>(pub(super) &'a str);

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rest = self.0;
        while let Some(at) = rest.find(['&', '<', '>', '"', '\'']) {
            f.write_str(&rest[..at])?;
            f.write_str(match rest.as_bytes()[at] {
                b'&' => "&amp;",
                b'<' => "&lt;",
                b'>' => "&gt;",
                b'"' => "&quot;",
                _ => "&#39;",
            })?;
            rest = &rest[at + 1..];
        }
        f.write_str(rest)
    }
}

/// Escapes text of a scenario for HTML text; parts between backticks become code.
pub(super) fn marked(text: &str) -> String {
    let parts: Vec<&str> = text.split('`').collect();
    // If the number of backticks is odd, the last backtick stays one.
    let pairs = (parts.len() - 1) / 2;
    let mut out = String::new();
    for (rank, part) in parts.iter().enumerate() {
        let escaped = Escaped(part);
        let (before, after) = match rank {
            _ if rank % 2 == 1 && rank < 2 * pairs => ("<code>", "</code>"),
            _ if rank == 2 * pairs + 1 => ("`", ""),
            _ => ("", ""),
        };
        let _ = write!(out, "{before}{escaped}{after}");
    }
    out
}

/// Escapes JSON, so that it cannot end the `<script>` that contains it.
pub(super) fn json_in_script(json: &str) -> String {
    json.replace('<', "\\u003c")
}

/// Formats a number with `digits` significant digits: `0.0124`, `1 800 000`, `5.9 × 10⁻⁵`. NaN and infinity are "none".
pub(super) fn number(value: f64, digits: usize) -> String {
    if value.is_nan() {
        return "none".to_owned();
    }
    if value.is_infinite() {
        return if value > 0.0 { "∞" } else { "−∞" }.to_owned();
    }
    let rounded = round(value, digits);
    let size = rounded.abs();
    let text = if size > 0.0 && !(1e-4..1e12).contains(&size) {
        scientific(size, digits)
    } else {
        // `round` left at most `digits` digits, and Display prints the shortest text that reads back.
        grouped(&format!("{size}"))
    };
    if rounded < 0.0 { format!("−{text}") } else { text }
}

/// Returns the nearest double with `digits` significant digits.
pub(super) fn round(value: f64, digits: usize) -> f64 {
    if value.is_finite() { format!("{value:.*e}", digits.saturating_sub(1)).parse().unwrap_or(value) } else { value }
}

/// Formats a number as `5.9 × 10⁻⁵`.
fn scientific(size: f64, digits: usize) -> String {
    let text = format!("{:e}", round(size, digits));
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let raised: String = exponent.chars().map(superscript).collect();
    format!("{mantissa} × 10{raised}")
}

fn superscript(c: char) -> char {
    match c {
        '-' => '⁻',
        '1' => '¹',
        '2' => '²',
        '3' => '³',
        '4'..='9' => char::from_u32('⁴' as u32 + (c as u32 - '4' as u32)).unwrap_or(c),
        _ => '⁰',
    }
}

/// Puts narrow spaces between groups of three digits in numbers of five or more digits.
fn grouped(text: &str) -> String {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let mut out = String::with_capacity(text.len() + 8);
    for (i, digit) in whole.chars().enumerate() {
        if i > 0 && whole.len() > 4 && (whole.len() - i).is_multiple_of(3) {
            out.push('\u{202f}');
        }
        out.push(digit);
    }
    if !fraction.is_empty() {
        out.push('.');
        out.push_str(fraction);
    }
    out
}

/// Formats a time in a suitable unit: `400 ms`, `1.5 s`.
pub(super) fn seconds(value: f64) -> String {
    quantity(value, Unit::Seconds)
}

/// Formats a value with its unit: `400 ms`, `1.8 Mb/s`, `3.1 %`, `50 packets`.
pub(super) fn quantity(value: f64, unit: Unit) -> String {
    crate::quantity::with_unit(value, unit, "µs", |value| number(value, 4))
}

/// Formats a count: `1 run`, `3 runs`.
pub(super) fn count(n: usize, thing: &str) -> String {
    if n == 1 { format!("1 {thing}") } else { format!("{n} {thing}s") }
}

/// Formats seeds as ranges: `1 to 10`, `3, 7, 9 to 12`.
pub(super) fn ranges(seeds: &[u64]) -> String {
    let told = |run: &[u64]| match run {
        [first, _, .., last] => format!("{first} to {last}"),
        _ => run.iter().join(", "),
    };
    seeds.chunk_by(|a, b| a.checked_add(1) == Some(*b)).map(told).join(", ")
}

/// Returns the title and the factor of an axis up to `high`: milliseconds for short times, Mb/s for rates.
pub(super) fn readable_unit(title: &str, high: f64) -> (String, f64) {
    let with = |unit: &str, prefixed: &str, factor: f64| {
        (title.replace(&format!("({unit})"), &format!("({prefixed})")), factor)
    };
    if title.ends_with("(s)") && high < 0.5 {
        return with("s", "ms", 1e3);
    }
    for unit in ["bit/s", "b/s"] {
        if title.ends_with(&format!("({unit})")) && high >= 1e6 {
            return with(unit, "Mb/s", 1e-6);
        }
        if title.ends_with(&format!("({unit})")) && high >= 1e3 {
            return with(unit, "kb/s", 1e-3);
        }
    }
    (title.to_owned(), crate::title::scale(title))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_becomes_text() {
        let title = r#"</script><img src=x onerror="a('b')"> & more"#;
        assert_eq!(
            Escaped(title).to_string(),
            "&lt;/script&gt;&lt;img src=x onerror=&quot;a(&#39;b&#39;)&quot;&gt; &amp; more"
        );
        assert_eq!(json_in_script(r#"["</script>"]"#), r#"["\u003c/script>"]"#);
    }

    #[test]
    fn backticks_make_code_in_pairs() {
        assert_eq!(marked("with `--set a=<b>`, see `c`"), "with <code>--set a=&lt;b&gt;</code>, see <code>c</code>");
        assert_eq!(marked("a ` sign"), "a ` sign");
        assert_eq!(marked("`a` and `b"), "<code>a</code> and `b");
        assert_eq!(marked("none"), "none");
    }

    #[test]
    fn numbers_read_well() {
        assert_eq!(number(0.0, 4), "0");
        assert_eq!(number(0.012_436, 4), "0.01244");
        assert_eq!(number(-2.5, 4), "−2.5");
        assert_eq!(number(1_800_000.0, 4), "1\u{202f}800\u{202f}000");
        assert_eq!(number(1234.0, 4), "1234");
        assert_eq!(number(5.9e-5, 4), "5.9 × 10⁻⁵");
        assert_eq!(number(f64::NAN, 4), "none");
        assert_eq!(number(f64::INFINITY, 4), "∞");
        assert_eq!(round(123_456.0, 5).to_bits(), 123_460.0_f64.to_bits());
    }

    #[test]
    fn times_take_the_unit_that_suits_them() {
        assert_eq!(seconds(0.4), "400 ms");
        assert_eq!(seconds(1.5), "1.5 s");
        assert_eq!(seconds(0.167), "167 ms");
        assert_eq!(seconds(2.5e-4), "250 µs");
        assert_eq!(seconds(0.0), "0 s");
    }

    #[test]
    fn values_have_their_units() {
        assert_eq!(quantity(1.8e6, Unit::BitsPerSecond), "1.8 Mb/s");
        assert_eq!(quantity(-0.031, Unit::Share), "−3.1 %");
        assert_eq!(quantity(-0.0025, Unit::Seconds), "−2.5 ms");
        assert_eq!(quantity(50.0, Unit::Packets), "50 packets");
        assert_eq!(quantity(0.98, Unit::Number), "0.98");
    }

    #[test]
    fn seeds_in_a_row_are_a_range() {
        assert_eq!(ranges(&[1, 2, 3, 4]), "1 to 4");
        assert_eq!(ranges(&[3, 7, 9, 10, 11]), "3, 7, 9 to 11");
        assert_eq!(ranges(&[1, 2]), "1, 2");
        assert_eq!(ranges(&[]), "");
    }
}
