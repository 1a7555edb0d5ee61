//! The columns of a table, derived from the type of its rows, so that a new result of a run becomes a column by itself.

use serde::de::value::{Error, MapDeserializer, SeqDeserializer};
use serde::de::{DeserializeOwned, Deserializer, IntoDeserializer, Visitor};
use serde::forward_to_deserialize_any;
use std::cell::RefCell;
use std::iter;

/// The kind of values in a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Numbers with a fraction.
    Number,
    /// Whole numbers, not negative.
    Count,
    /// Text.
    Text,
    /// True or false.
    Switch,
}

/// A column: the keys that lead to a value in a row, and the kind of the value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Column {
    /// The keys, outermost first: `delay_s`, `max`.
    pub(crate) path: Vec<&'static str>,
    pub(crate) kind: Kind,
    /// True for a list, with one value per step.
    pub(crate) list: bool,
}

impl Column {
    /// Returns its name in tables: `delay_s.max`.
    pub(crate) fn name(&self) -> String {
        self.path.join(".")
    }
}

/// Returns the columns of a `T`, those that may be absent included. Lists of tables are left out.
pub(crate) fn columns<T: DeserializeOwned>() -> Vec<Column> {
    let found = RefCell::default();
    // If a type refuses an example, the columns found up to there are an error of this crate, which tests find.
    let _ = T::deserialize(Surveyor { path: Vec::new(), list: false, found: &found });
    let mut columns = found.into_inner();
    columns.retain(|column| !column.path.is_empty());
    columns
}

/// Shows a type one example of everything that it asks for, and records what it asked for.
#[derive(Clone)]
struct Surveyor<'s> {
    path: Vec<&'static str>,
    /// Within a list.
    list: bool,
    found: &'s RefCell<Vec<Column>>,
}

impl Surveyor<'_> {
    fn found(&self, kind: Kind) {
        self.found.borrow_mut().push(Column { path: self.path.clone(), kind, list: self.list });
    }

    /// Surveys the value of a field.
    fn below(&self, field: &'static str) -> Self {
        Self { path: [&self.path[..], &[field]].concat(), ..self.clone() }
    }
}

impl<'de> IntoDeserializer<'de, Error> for Surveyor<'_> {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

macro_rules! plain {
    ($($method:ident $visit:ident $kind:ident $value:expr;)*) => {
        $(fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
            self.found(Kind::$kind);
            visitor.$visit($value)
        })*
    };
}

impl<'de> Deserializer<'de> for Surveyor<'_> {
    type Error = Error;

    plain! {
        deserialize_bool visit_bool Switch false;
        deserialize_f32 visit_f32 Number 0.0;
        deserialize_f64 visit_f64 Number 0.0;
        deserialize_u8 visit_u8 Count 0;
        deserialize_u16 visit_u16 Count 0;
        deserialize_u32 visit_u32 Count 0;
        deserialize_u64 visit_u64 Count 0;
        // A number or words: text serves for both.
        deserialize_any visit_str Text "";
    }

    // Types that no result has refuse this text.
    forward_to_deserialize_any! {
        str string i8 i16 i32 i64 char bytes byte_buf unit unit_struct tuple tuple_struct identifier
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_seq(SeqDeserializer::new(iter::once(Self { list: true, ..self })))
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.deserialize_struct("", &[], visitor)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        let before = self.found.borrow().len();
        let value = visitor.visit_map(MapDeserializer::new(fields.iter().map(|field| (*field, self.below(field)))))?;
        // A list of tables is a table of its own.
        if self.list {
            self.found.borrow_mut().truncate(before);
        }
        Ok(value)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.found(Kind::Text);
        visitor.visit_enum(variants.first().copied().unwrap_or_default().into_deserializer())
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_unit()
    }
}
