//! The columns of a table, derived from the type of its rows, so that a new result of a run becomes a column by itself.

use serde::de::value::{BorrowedStrDeserializer, Error};
use serde::de::{DeserializeOwned, DeserializeSeed, Deserializer, EnumAccess, IntoDeserializer, MapAccess, SeqAccess};
use serde::de::{Error as _, VariantAccess, Visitor};

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
    let mut surveyor = Surveyor::default();
    // If a type refuses an example, the columns found up to there are an error of this crate, which tests find.
    let _ = T::deserialize(&mut surveyor);
    surveyor.columns.retain(|column| !column.path.is_empty());
    surveyor.columns
}

/// Shows a type one example of everything that it asks for, and records what it asked for.
#[derive(Default)]
struct Surveyor {
    path: Vec<&'static str>,
    columns: Vec<Column>,
    /// Number of lists around the present place.
    lists: usize,
}

impl Surveyor {
    fn found(&mut self, kind: Kind) {
        self.columns.push(Column { path: self.path.clone(), kind, list: self.lists > 0 });
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

macro_rules! refused {
    ($($method:ident)*) => {
        $(fn $method<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Error> {
            Err(Error::custom(stringify!($method)))
        })*
    };
}

impl<'de> Deserializer<'de> for &mut Surveyor {
    type Error = Error;

    plain! {
        deserialize_bool visit_bool Switch false;
        deserialize_f32 visit_f32 Number 0.0;
        deserialize_f64 visit_f64 Number 0.0;
        deserialize_u8 visit_u8 Count 0;
        deserialize_u16 visit_u16 Count 0;
        deserialize_u32 visit_u32 Count 0;
        deserialize_u64 visit_u64 Count 0;
        deserialize_str visit_str Text "";
        deserialize_string visit_str Text "";
        // A number or words: text serves for both.
        deserialize_any visit_str Text "";
    }

    refused! {
        deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64 deserialize_char deserialize_bytes
        deserialize_byte_buf deserialize_unit deserialize_identifier
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_some(self)
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_unit()
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.lists += 1;
        let value = visitor.visit_seq(One { surveyor: self, shown: false });
        value.inspect(|_| self.lists -= 1)
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, _: usize, _: V) -> Result<V::Value, Error> {
        Err(Error::custom("tuple"))
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(self, _: &'static str, _: usize, _: V) -> Result<V::Value, Error> {
        Err(Error::custom("tuple struct"))
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_map(Fields { surveyor: self, left: &[] })
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        // A list of tables is a table of its own.
        if self.lists > 0 {
            let columns = self.columns.len();
            let value = visitor.visit_map(Fields { surveyor: self, left: fields })?;
            self.columns.truncate(columns);
            return Ok(value);
        }
        visitor.visit_map(Fields { surveyor: self, left: fields })
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.found(Kind::Text);
        visitor.visit_enum(First(variants.first().copied().unwrap_or_default()))
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_unit()
    }
}

/// A list of one.
struct One<'s> {
    surveyor: &'s mut Surveyor,
    shown: bool,
}

impl<'de> SeqAccess<'de> for One<'_> {
    type Error = Error;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Error> {
        if self.shown {
            return Ok(None);
        }
        self.shown = true;
        seed.deserialize(&mut *self.surveyor).map(Some)
    }
}

/// Every field of a struct.
struct Fields<'s> {
    surveyor: &'s mut Surveyor,
    left: &'static [&'static str],
}

impl<'de> MapAccess<'de> for Fields<'_> {
    type Error = Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Error> {
        let Some(field) = self.left.first() else { return Ok(None) };
        seed.deserialize(BorrowedStrDeserializer::new(field)).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Error> {
        let Some((field, left)) = self.left.split_first() else { return Err(Error::custom("no field is left")) };
        self.left = left;
        self.surveyor.path.push(field);
        let value = seed.deserialize(&mut *self.surveyor);
        self.surveyor.path.pop();
        value
    }
}

/// The first variant of an enumeration of plain words.
struct First(&'static str);

impl<'de> EnumAccess<'de> for First {
    type Error = Error;
    type Variant = Self;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, Self), Error> {
        let name: serde::de::value::StrDeserializer<'_, Error> = self.0.into_deserializer();
        Ok((seed.deserialize(name)?, self))
    }
}

impl<'de> VariantAccess<'de> for First {
    type Error = Error;

    fn unit_variant(self) -> Result<(), Error> {
        Ok(())
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, _: T) -> Result<T::Value, Error> {
        Err(Error::custom("a variant with a value"))
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, _: V) -> Result<V::Value, Error> {
        Err(Error::custom("a variant with values"))
    }

    fn struct_variant<V: Visitor<'de>>(self, _: &'static [&'static str], _: V) -> Result<V::Value, Error> {
        Err(Error::custom("a variant with fields"))
    }
}
