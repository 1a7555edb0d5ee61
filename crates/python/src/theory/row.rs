//! A row of arguments by name, read as the types of crate `theory`.

use super::Told;
use core::num::NonZeroU32;
use std::collections::BTreeMap;
use theory::malone::{Arrivals, Buffer};
use units::{Bytes, Duration};

/// The arguments of all rows, by name.
pub(super) type Columns = BTreeMap<String, Vec<f64>>;

/// The arguments of a row: one value of each, or one for each group.
#[derive(Clone, Copy)]
pub(super) struct Row<'c> {
    columns: &'c Columns,
    first: usize,
    groups: usize,
}

impl<'c> Row<'c> {
    /// Row `number` of `rows`.
    pub(super) fn new(columns: &'c Columns, number: usize, rows: usize) -> Self {
        let groups = columns.values().map(|values| values.len() / rows).min().unwrap_or(0);
        Self { columns, first: number * groups, groups }
    }

    /// The argument of this name, of the first group.
    pub(super) fn read<A: Argument>(self, name: &str) -> Told<A> {
        A::read(self, name)
    }

    /// A structure of the arguments that its fields name.
    pub(super) fn build<A: Argument>(self) -> Told<A> {
        A::read(self, "")
    }

    /// A row for each group.
    pub(super) fn groups(self) -> impl Iterator<Item = Self> {
        (self.first..self.first + self.groups).map(move |first| Self { first, groups: 1, ..self })
    }

    /// None where the argument is left out; of no groups 0.
    fn number(self, name: &str) -> Option<f64> {
        self.columns.get(name).map(|values| values.get(self.first).copied().unwrap_or(0.0))
    }
}

/// A type that is read from a row.
pub(super) trait Argument: Sized {
    fn read(row: Row, name: &str) -> Told<Self>;
}

/// None where the argument is left out.
impl<A: Argument> Argument for Option<A> {
    fn read(row: Row, name: &str) -> Told<Self> {
        row.number(name).map(|_| row.read(name)).transpose()
    }
}

/// The limit of attempts, None where it is infinite.
pub(super) struct Attempts(pub(super) Option<u32>);
pub(super) struct NotNegative(pub(super) f64);
pub(super) struct Positive(pub(super) f64);
pub(super) struct Share(pub(super) f64);

/// Types of a number: what is expected of it, and what it becomes, if it fits.
macro_rules! numbers {
    ($($type:ty: $expected:literal, $fits:expr;)+) => {
        $(impl Argument for $type {
            fn read(row: Row, name: &str) -> Told<Self> {
                let value = row.number(name).ok_or_else(|| format!("{name} is missing"))?;
                let fits: fn(f64) -> Option<Self> = $fits;
                Ok(fits(value).ok_or_else(|| format!("{name} is {value}: expected {}", $expected))?)
            }
        })+
    };
}

numbers! {
    f64: "a number", Some;
    NotNegative: "a number that is not negative", |value| not_negative(value).map(Self);
    Positive: "a number above zero", |value| not_negative(value).filter(|value| *value > 0.0).map(Self);
    Share: "a number from 0 to 1", |value| not_negative(value).filter(|value| *value <= 1.0).map(Self);
    Duration: "a time in seconds", |value| not_negative(value).map(Self::from_secs_f64);
    u32: "a whole number, not negative", whole;
    NonZeroU32: "a whole number, at least 1", |value| Self::new(whole(value)?);
    Bytes: "a whole number, not negative", |value| Some(Self::new(whole(value)?.into()));
    Attempts: "a whole number or infinite", |value| if value == f64::INFINITY { Some(Self(None)) } else { whole(value).map(|value| Self(Some(value))) };
    Arrivals: "a number", |value| Some(Self::Poisson(value));
    Buffer: "0 or 1", |value| Some(if value > 0.0 { Self::Infinite } else { Self::None });
}

fn not_negative(value: f64) -> Option<f64> {
    (value.is_finite() && value >= 0.0).then_some(value)
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is whole and within bounds")]
fn whole(value: f64) -> Option<u32> {
    let is_whole = (0.0..=f64::from(u32::MAX)).contains(&value) && value.fract().abs() < f64::MIN_POSITIVE;
    is_whole.then_some(value as u32)
}

/// Structures of arguments. A field is read from the argument of its own name, or of the one behind it, through the type
/// after `as`, which checks it.
macro_rules! structures {
    ($($type:path { $($field:ident $(: $name:literal)? $(as $check:ident)?),+ })+) => {
        $(impl Argument for $type {
            fn read(row: Row, _: &str) -> Told<Self> {
                Ok(Self { $($field: structures!(@ row $field $($name)? $(as $check)?)),+ })
            }
        })+
    };
    (@ $row:ident $field:ident $(as $check:ident)?) => { structures!(@@ $row (stringify!($field)) $(as $check)?) };
    (@ $row:ident $field:ident $name:literal $(as $check:ident)?) => { structures!(@@ $row ($name) $(as $check)?) };
    (@@ $row:ident $name:tt) => { $row.read($name)? };
    (@@ $row:ident $name:tt as $check:ident) => { $row.read::<$check>($name)?.0 };
}

/// Lists fields, and what methods give, as numbers; with `each` those of one group after another's.
macro_rules! list {
    (each $solved:expr => $($part:ident),+) => {
        $solved.into_iter().flat_map(|solved| list!(solved => $($part),+)).collect()
    };
    ($solved:expr => $($($part:ident $(($($argument:tt)*))?).+),+) => {{
        let solved = $solved;
        vec![$(f64::from(solved $(.$part $(($($argument)*))?)+)),+]
    }};
}

pub(super) use {list, structures};
