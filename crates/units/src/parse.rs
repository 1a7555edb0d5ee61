//! Parses numbers from text. Decimals are read exactly, and errors say what to write instead.

use crate::refuse_if;
use core::fmt;

/// What describes a kind of quantity: its name in sentences, its units, its largest value.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Kind {
    /// Name of the kind with its article: `a duration`.
    pub(crate) name: &'static str,
    /// Units as messages name them.
    pub(crate) examples: &'static [&'static str],
    /// Units that error messages list.
    pub(crate) units: &'static str,
    /// The smallest unit; empty for quantities that are kept as floats.
    pub(crate) smallest: &'static str,
    /// Zero as it is printed; empty for quantities that are kept as floats.
    pub(crate) zero: &'static str,
    /// The largest value as text; empty for quantities that are kept as floats.
    pub(crate) largest: &'static str,
}

/// The examples, quoted and separated by commas.
pub(crate) struct Examples(pub(crate) &'static Kind);

impl fmt::Display for Examples {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, example) in self.0.examples.iter().enumerate() {
            write!(f, "{}{example:?}", if i == 0 { "" } else { ", " })?;
        }
        Ok(())
    }
}

/// Why a text is not a quantity. Its `Display` is a sentence for the author of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParseError {
    kind: &'static Kind,
    fault: Fault,
    text: Excerpt,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    NotWritten,
    UnknownUnit(Excerpt),
    Exponent,
    Negative,
    TooLarge,
    TooFine,
    NotAboveZero,
}

/// The start of a text, kept without an allocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Excerpt {
    bytes: [u8; Excerpt::ROOM],
    len: usize,
    cut: bool,
}

impl Excerpt {
    const ROOM: usize = 40;

    fn of(text: &str) -> Self {
        let mut len = text.len().min(Self::ROOM);
        while !text.is_char_boundary(len) {
            len -= 1;
        }
        let mut bytes = [0; Self::ROOM];
        for (to, from) in bytes.iter_mut().zip(text[..len].bytes()) {
            *to = from;
        }
        Self { bytes, len, cut: len < text.len() }
    }
}

impl fmt::Display for Excerpt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = str::from_utf8(&self.bytes[..self.len]).unwrap_or_default();
        write!(f, "{text:?}{}", if self.cut { "..." } else { "" })
    }
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Kind { name, units, smallest, largest, .. } = self.kind;
        let text = &self.text;
        match &self.fault {
            Fault::NotWritten => {
                let examples = Examples(self.kind);
                write!(f, "{text} is not {name}; write a number and a unit: {examples}")
            }
            Fault::UnknownUnit(unit) => {
                write!(f, "{text} has an unknown unit {unit}; {name} is written with {units}")
            }
            Fault::Exponent => {
                let examples = Examples(self.kind);
                write!(f, "{text} has an exponent; write {name} as a plain number and a unit: {examples}")
            }
            Fault::Negative => write!(f, "{text} is negative; {name} is zero or more"),
            Fault::TooLarge if largest.is_empty() => write!(f, "{text} is too large"),
            Fault::TooLarge => write!(f, "{text} is too large; {name} is at most {largest}"),
            Fault::TooFine => write!(f, "{text} is too precise; {name} is a whole number of {smallest}"),
            Fault::NotAboveZero => {
                write!(f, "{text} is not above zero, as {name} in watts must be")
            }
        }
    }
}

impl core::error::Error for ParseError {}

/// A text that was split into parts, here for `-1.5 ms`.
pub(crate) struct Written<'a> {
    kind: &'static Kind,
    text: &'a str,
    negative: bool,
    /// `1.5`
    decimal: &'a str,
    /// `1`
    whole: &'a str,
    /// `5`, without the zeros at its end
    fraction: &'a str,
    /// `ms`
    pub(crate) unit: &'a str,
}

impl<'a> Written<'a> {
    /// Splits a text into a sign, digits with or without a decimal point, any spaces, and a unit that is not empty.
    pub(crate) fn split(text: &'a str, kind: &'static Kind) -> Result<Self, ParseError> {
        let refuse = || ParseError { kind, fault: Fault::NotWritten, text: Excerpt::of(text) };
        let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
        let is_unit = |c: char| !c.is_ascii_digit() && c != '.';
        let (decimal, unit) = unsigned.split_at(unsigned.find(is_unit).ok_or_else(refuse)?);
        let unit = unit.trim_start_matches(' ');
        let (whole, fraction) = decimal.split_once('.').unwrap_or((decimal, "0"));
        refuse_if!(whole.is_empty() || fraction.is_empty() || fraction.contains('.') || unit.is_empty(), Err(refuse()));
        let negative = text.starts_with('-');
        Ok(Self { kind, text, negative, decimal, whole, fraction: fraction.trim_end_matches('0'), unit })
    }

    pub(crate) fn refuse(&self, fault: Fault) -> ParseError {
        ParseError { kind: self.kind, fault, text: Excerpt::of(self.text) }
    }

    pub(crate) fn unknown_unit(&self) -> ParseError {
        let exponent = self.unit.strip_prefix(['e', 'E']).map(|rest| rest.trim_start_matches(['-', '+']));
        let exponent = exponent.is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
        self.refuse(if exponent { Fault::Exponent } else { Fault::UnknownUnit(Excerpt::of(self.unit)) })
    }

    /// Returns the number times `scale`, exactly. Error: the result is negative, not whole, or above 64 bits.
    pub(crate) fn whole_times(&self, scale: u64) -> Result<u64, ParseError> {
        // No unit is 2^21 or 5^21 of the smallest one, or a multiple of it. So more digits never give a whole number.
        const DIGITS: usize = 20;
        refuse_if!(self.fraction.len() > DIGITS, Err(self.refuse(Fault::TooFine)));
        let too_large = || self.refuse(Fault::TooLarge);
        let whole =
            self.whole.bytes().try_fold(0_u64, |sum, digit| sum.checked_mul(10)?.checked_add(u64::from(digit - b'0')));
        let whole = whole.and_then(|n| n.checked_mul(scale)).ok_or_else(too_large)?;
        let mut parts = 0_u128;
        let mut one = 1_u128;
        for digit in self.fraction.bytes() {
            parts = parts * 10 + u128::from(digit - b'0');
            one *= 10;
        }
        // This is at most 10^20 times 3.6 * 10^12 (nanoseconds in an hour), far below 2^128.
        let parts = parts * u128::from(scale);
        refuse_if!(!parts.is_multiple_of(one), Err(self.refuse(Fault::TooFine)));
        let parts = u64::try_from(parts / one).map_err(|_| too_large())?;
        let value = whole.checked_add(parts).ok_or_else(too_large)?;
        refuse_if!(self.negative && value > 0, Err(self.refuse(Fault::Negative)));
        Ok(value)
    }

    /// Returns the double nearest to the number.
    pub(crate) fn float(&self) -> Result<f64, ParseError> {
        let value: f64 = self.decimal.parse().map_err(|_| self.refuse(Fault::NotWritten))?;
        refuse_if!(value.is_infinite(), Err(self.refuse(Fault::TooLarge)));
        Ok(if self.negative { -value } else { value })
    }
}
