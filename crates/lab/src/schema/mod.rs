//! The scenario's format, told from the structs that read it: as a JSON Schema for editors, as tables of keys for hints,
//! and as the reference `docs/scenario.md`.

mod markdown;
mod tables;

pub use markdown::markdown;
pub(crate) use tables::Tables;

use crate::scenario::Head;
use serde_json::{Map, Value, json};

/// The JSON Schema of a scenario.
pub fn json() -> Value {
    let mut whole = schemars::schema_for!(Head).to_value();
    let network = schemars::schema_for!(sim::config::Network).to_value();
    take_in(&mut whole, &network, "properties");
    take_in(&mut whole, &network, "$defs");
    if let Some(required) = network["required"].as_array()
        && let Some(all) = whole["required"].as_array_mut()
    {
        all.extend(required.iter().cloned());
    }
    whole["title"] = json!("Scenario");
    whole["description"] = json!("A network, what to vary in it, and what is claimed about it.");
    whole["properties"]["vary"] = vary();
    whole
}

/// The JSON Schema as a file's text.
pub fn json_text() -> String {
    format!("{:#}\n", json())
}

fn take_in(whole: &mut Value, part: &Value, key: &str) {
    let Some(part) = part[key].as_object() else { return };
    if whole[key].is_null() {
        whole[key] = Value::Object(Map::new());
    }
    if let Some(all) = whole[key].as_object_mut() {
        all.extend(part.iter().map(|(name, value)| (name.clone(), value.clone())));
    }
}

/// Written by hand: its keys are paths into the other tables, which no struct can say.
fn vary() -> Value {
    let choice = json!({
        "type": "object",
        "required": ["label", "set"],
        "additionalProperties": false,
        "properties": {
            "label": { "type": "string", "description": "The value's name in tables and charts." },
            "set": { "type": "object", "description": "Dotted paths and their values, as in the scenario itself." },
        },
    });
    json!({
        "type": "object",
        "description": "A sweep: every combination of the values below, each run with every seed.",
        "properties": {
            "seeds": {
                "description": "How many seeds (1, 2, ...), or the seeds themselves.",
                "default": 1,
                "anyOf": [
                    { "type": "integer", "minimum": 1 },
                    { "type": "array", "items": { "type": "integer", "minimum": 0 }, "minItems": 1 },
                ],
            },
        },
        "additionalProperties": {
            "type": ["array", "object"],
            "description": "A dotted path and its values, or a name and a list of `{ label, set }`.",
            "items": { "anyOf": [choice, {}] },
        },
    })
}
