//! The scenario's format, derived from the structs that read it: as a JSON Schema for editors, as tables of keys for
//! hints, and as the reference `docs/scenario`.

mod markdown;
mod tables;

pub use markdown::{Page, pages};
#[cfg(test)]
pub(crate) use tables::Key;
pub(crate) use tables::Tables;

use super::conventions::Choice as ConventionsKey;
use super::keys::Head;
use schemars::JsonSchema as _;
use schemars::generate::SchemaSettings;
use serde_json::{Value, json};
use sim::config::Network;

/// Returns the schema of `[vary]` and `[quick]`, written by hand: their keys are paths into other tables.
fn sweep() -> Value {
    serde_json::from_str(include_str!("sweep.json")).expect("the file is JSON")
}

/// Returns the JSON Schema of a scenario.
pub fn json() -> Value {
    // One generator for both parts distinguishes types of the same name.
    let mut generator = SchemaSettings::default().into_generator();
    let mut whole = Head::json_schema(&mut generator).to_value();
    let network = Network::json_schema(&mut generator).to_value();
    let conventions = ConventionsKey::json_schema(&mut generator).to_value();
    let properties = |part: &Value| part["properties"].as_object().cloned().unwrap_or_default();
    for (name, key) in [&conventions, &network, &sweep()].into_iter().flat_map(properties) {
        whole["properties"][name] = key;
    }
    let required = network["required"].as_array().into_iter().flatten();
    let all: Vec<Value> = whole["required"].as_array().into_iter().flatten().chain(required).cloned().collect();
    whole["required"] = Value::Array(all);
    whole["title"] = json!("Scenario");
    whole["description"] = json!("A network, its variations, and claims about it.");
    whole["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
    whole["$defs"] = Value::Object(generator.take_definitions(true));
    whole
}

/// Returns the JSON Schema of another file.
pub fn of<T: schemars::JsonSchema>() -> Value {
    SchemaSettings::default().into_generator().into_root_schema_for::<T>().to_value()
}

/// Returns the JSON Schema as a file's text.
pub fn json_text() -> String {
    format!("{:#}\n", json())
}
