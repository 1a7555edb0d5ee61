//! Quantities in a JSON Schema: strings with a pattern, so that an editor points at a missing unit.

extern crate alloc;

use crate::text::Text;
use crate::{Bytes, Decibels, Duration, Frequency, Length, Power, Rate, Speed};
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

schemas!(Duration Rate Bytes Frequency Length Speed Power Decibels);
