//! Quantities with their units in the type: instants, durations, rates, sizes, lengths, speeds, powers and energies.
//!
//! This crate has arithmetic, parsing ("1.8 Mb/s") and printing of quantities. Code that knows what a quantity is *for*
//! (a queue, a frame, a scenario) belongs to higher crates. This crate reads no clock. Begin with [`Duration`].
#![no_std]
#![cfg_attr(not(test), warn(clippy::exit, clippy::print_stdout, clippy::print_stderr))]

mod bounds;
mod macros;
mod parse;
mod quantities;
mod saturating;
#[cfg(feature = "schema")]
mod schema;
mod text;
mod time;

pub use bounds::{AboveZero, Positive, Share, Within, positive};
/// Puts a macro before an item as an attribute: `#[apply(table)]`.
pub use macro_rules_attribute::apply;
pub use parse::ParseError;
pub use quantities::{Bytes, Decibels, Energy, Frequency, Length, Power, Rate, Speed};
pub use time::{Duration, Instant, date};

/// True if a value is the default of its type. For `#[serde(skip_serializing_if = "units::is_default")]`.
pub fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
