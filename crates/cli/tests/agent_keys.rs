//! Every key of the agent's configuration is explained by its own help where its value is wrong.

use crate::command::{sluice, stderr};
use experiment::scenario::parse;
use experiment::scenario::schema;
use linux::agent::config::Config;
use serde_json::Value;
use std::fs;

/// Formats a description on one line, as errors print it.
fn about(schema: &Value) -> String {
    schema["description"].as_str().unwrap().split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn an_error_at_a_key_of_the_agent_is_told_with_its_own_help() {
    let schema = schema::of::<Config>();
    let keys = |name: &str| schema["$defs"][name]["properties"].as_object().unwrap().clone();
    let tables =
        [("metrics", keys("Metrics")), ("admission", keys("Admission")), ("interface.eth0", keys("Interface"))];
    let mut tried = 0;
    for (table, keys) in &tables {
        for (key, described) in keys {
            for wrong in ["-1", "1979-05-27", "\"3 parsec\"", "[[[0]]]"] {
                let text = format!("[{table}]\n{key} = {wrong}\n");
                let Err(refusal) = parse::<Config>("agent.toml", text.as_bytes()) else { continue };
                let said = refusal.to_string();
                // For a choice, the error lists all values instead.
                if !said.starts_with("agent.toml:2:") || said.contains("unknown value") {
                    continue;
                }
                tried += 1;
                // The keys of `[queue]` are those of scenarios, which have a test of their own.
                let help = format!("`{key}`: {}", about(described));
                assert!(
                    said.contains(&help) || ["queue", "real_time"].contains(&key.as_str()),
                    "{table}.{key} = {wrong}: {said}\ninstead of {help}"
                );
            }
        }
    }
    assert!(tried > 25, "{tried}");
}

#[test]
fn an_address_that_others_can_reach_is_explained_as_an_address() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("agent.toml"), "[interface.eth0]\n[metrics]\nlisten = \"0.0.0.0:9477\"\n").unwrap();
    let output = sluice(folder.path()).args(["agent", "--config", "agent.toml", "--state", "state"]).output().unwrap();
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("agent.toml:3:10: 0.0.0.0 can be reached from other hosts"), "{said}");
    assert!(said.contains("`listen`: Where metrics are served"), "{said}");
    assert!(!said.contains("mW"), "{said}");
}
