//! Every key of a network is in one of the networks whose results are held to the last bit: crate `sim`'s fingerprints.

use crate::networks::NETWORKS;
use serde_json::Value;
use sim::config::Network;
use std::collections::BTreeSet;

/// Keys on which no result here can depend: real programs take part only in an emulation, and the tables of `own` are for
/// disciplines that a program registers.
const WITHOUT_RESULT: [&str; 2] = ["Node.real", "Queue.own"];

/// Keys, each with the struct that reads it: `Radio.standard`.
type Keys = BTreeSet<String>;

/// The schemas that `schema` stands for, each with the name of its struct: itself, what it refers to, its alternatives.
fn resolved<'v>(root: &'v Value, name: &str, schema: &'v Value) -> Vec<(String, &'v Value)> {
    if let Some(name) = schema["$ref"].as_str().and_then(|path| path.strip_prefix("#/$defs/")) {
        return resolved(root, name, &root["$defs"][name]);
    }
    let inner = ["anyOf", "oneOf", "allOf"].iter().filter_map(|key| schema[key].as_array()).flatten();
    let inner = inner.flat_map(|schema| resolved(root, name, schema));
    std::iter::once((name.to_owned(), schema)).chain(inner).collect()
}

/// Adds the keys of a schema and of all below it.
fn all(root: &Value, name: &str, schema: &Value, found: &mut Keys) {
    for (name, schema) in resolved(root, name, schema) {
        for (key, inner) in schema["properties"].as_object().into_iter().flatten() {
            let key = format!("{name}.{key}");
            if found.insert(key.clone()) {
                all(root, &key, inner, found);
            }
        }
        if schema["items"].is_object() {
            all(root, &name, &schema["items"], found);
        }
    }
}

/// Adds the keys that a value of this schema has.
fn used(root: &Value, name: &str, schema: &Value, value: &toml::Value, found: &mut Keys) {
    for (name, schema) in resolved(root, name, schema) {
        match value {
            toml::Value::Table(table) => {
                for (key, value) in table {
                    if let Some(inner) = schema["properties"].get(key) {
                        let key = format!("{name}.{key}");
                        used(root, &key, inner, value, found);
                        found.insert(key);
                    }
                }
            }
            toml::Value::Array(values) => {
                for value in values {
                    used(root, &name, &schema["items"], value, found);
                }
            }
            _ => {}
        }
    }
}

#[test]
fn every_key_is_in_a_network_with_a_fingerprint() {
    let root = schemars::schema_for!(Network).to_value();
    let (mut known, mut tried) = (Keys::new(), Keys::new());
    all(&root, "Network", &root, &mut known);
    for (_, text) in NETWORKS {
        used(&root, "Network", &root, &toml::from_str(text).expect("valid TOML"), &mut tried);
    }
    assert!(known.len() > 300 && tried.is_subset(&known), "{} keys", known.len());
    let missing: Vec<&String> = known.difference(&tried).collect();
    assert_eq!(missing, WITHOUT_RESULT, "the keys in no network of crates/sim/tests/networks");
}
