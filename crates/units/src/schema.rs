//! JSON Schemas of quantities: strings with a pattern, so that an editor marks a missing unit; numbers with bounds.

extern crate alloc;

use crate::text::Text;
use crate::{Bytes, Decibels, Duration, Energy, Frequency, Length, Positive, Power, Rate, Share, Speed, Within};
use alloc::{borrow::Cow, format, vec::Vec};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

fn schema_of<T: Text>() -> Schema {
    let units = T::unit_names().collect::<Vec<_>>().join("|");
    let sign = if T::SIGNED { "[-+]?" } else { "\\+?" };
    json_schema!({
        "type": "string",
        "description": format!("A number and a unit: {} is written with {}.", T::KIND.name, T::KIND.units),
        "pattern": format!("^{sign}[0-9]+(\\.[0-9]+)? *({units})$"),
        "examples": T::KIND.examples,
    })
}

macro_rules! schemas {
    ($($type:ident)*) => {$(
        impl JsonSchema for $type {
            fn schema_name() -> Cow<'static, str> {
                stringify!($type).into()
            }

            fn schema_id() -> Cow<'static, str> {
                concat!("units::", stringify!($type)).into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                schema_of::<$type>()
            }
        }
    )*};
}

schemas!(Duration Rate Bytes Energy Frequency Length Speed Power Decibels);

/// Pattern of a number above zero: it has a digit that is not zero, and no minus sign before it.
const ABOVE_ZERO: &str = "^\\+?[0-9.]*[1-9]";

/// Returns the schema of a quantity that must be above zero.
fn above_zero<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    let mut schema = generator.subschema_for::<T>();
    schema.insert("pattern".into(), ABOVE_ZERO.into());
    schema
}

/// Makes an anonymous schema. It is inlined where it is used, so that the documentation shows the bounded type itself.
macro_rules! bounded {
    ($([$($of:tt)*] $type:ty, |$generator:ident| $schema:expr;)*) => {$(
        impl<$($of)*> JsonSchema for $type {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> Cow<'static, str> {
                stringify!($type).into()
            }

            fn json_schema($generator: &mut SchemaGenerator) -> Schema {
                $schema
            }
        }
    )*};
}

bounded! {
    [] Positive<Duration>, |generator| above_zero::<Duration>(generator);
    [] Positive<Rate>, |generator| above_zero::<Rate>(generator);
    [] Positive<Bytes>, |generator| above_zero::<Bytes>(generator);
    [] Positive<Frequency>, |generator| above_zero::<Frequency>(generator);
    [] Positive<Length>, |generator| above_zero::<Length>(generator);
    [] Positive<Speed>, |generator| above_zero::<Speed>(generator);
    [] Positive<f64>, |_generator| json_schema!({ "type": "number", "format": "double", "exclusiveMinimum": 0 });
    [] Share, |_generator| json_schema!({ "type": "number", "format": "double", "minimum": 0, "maximum": 1 });
    [] Positive<Share>, |_generator| json_schema!({
        "type": "number", "format": "double", "exclusiveMinimum": 0, "maximum": 1,
    });
    // A pattern cannot compare texts that have units; it only refuses zero.
    [const LEAST: u64, const MOST: u64] Within<Duration, LEAST, MOST>, |generator| match LEAST {
        0 => generator.subschema_for::<Duration>(),
        _ => above_zero::<Duration>(generator),
    };
    [const LEAST: u64, const MOST: u64] Within<Bytes, LEAST, MOST>, |generator| match LEAST {
        0 => generator.subschema_for::<Bytes>(),
        _ => above_zero::<Bytes>(generator),
    };
    [const LEAST: u64, const MOST: u64] Within<u32, LEAST, MOST>, |_generator| json_schema!({
        "type": "integer", "format": "uint32", "minimum": LEAST, "maximum": MOST,
    });
}
