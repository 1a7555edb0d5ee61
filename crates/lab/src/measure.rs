//! Finding a result by its path: `flows.*.delay_s.max`, `nodes.n1.queues.*.nodal_delay_s.p999`, `totals.loss_ratio`.

use serde_json::{Value, json};
use sim::results::Outcome;

/// A result that does not exist.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Missing {
    /// The part of the path that leads nowhere.
    pub(crate) name: String,
    /// What is there instead.
    pub(crate) known: Vec<String>,
}

/// The results of a run, without series, as a tree of their keys.
pub(crate) fn tree(outcome: &Outcome) -> Value {
    json!({
        "simulated_s": outcome.simulated_s,
        "events": outcome.events,
        "flows": outcome.flows,
        "nodes": outcome.nodes,
        "totals": outcome.totals,
    })
}

/// All values at `path`, in the scenario's order. Elements of a list are addressed by name, all of them by `*`.
pub(crate) fn find<'v>(root: &'v Value, path: &str) -> Result<Vec<&'v Value>, Missing> {
    let mut nodes = vec![root];
    for segment in path.split('.') {
        let mut below = Vec::new();
        for node in nodes {
            match node {
                Value::Array(elements) => {
                    let wanted = |element: &&Value| segment == "*" || element["name"] == segment;
                    let before = below.len();
                    below.extend(elements.iter().filter(wanted));
                    if below.len() == before {
                        let names = elements.iter().filter_map(|element| element["name"].as_str());
                        return Err(Missing { name: segment.to_owned(), known: names.map(str::to_owned).collect() });
                    }
                }
                Value::Object(keys) => match keys.get(segment) {
                    Some(value) => below.push(value),
                    None => return Err(Missing { name: segment.to_owned(), known: keys.keys().cloned().collect() }),
                },
                _ => return Err(Missing { name: segment.to_owned(), known: Vec::new() }),
            }
        }
        nodes = below;
    }
    Ok(nodes)
}

/// The numbers at `path`, in the scenario's order; NaN for a result that is not a number. Empty where `path` leads nowhere.
pub(crate) fn numbers(root: &Value, path: &str) -> Vec<f64> {
    let found = find(root, path).unwrap_or_default();
    found.into_iter().map(|value| value.as_f64().unwrap_or(f64::NAN)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn results() -> Value {
        json!({
            "flows": [
                { "name": "a", "loss_ratio": 0.5, "delay_s": { "max": 2.0 } },
                { "name": "b", "loss_ratio": 0.25, "delay_s": { "max": 3.0 } },
            ],
            "totals": { "loss_ratio": 0.3 },
        })
    }

    #[test]
    fn finds_by_name_and_by_star() {
        assert_eq!(numbers(&results(), "flows.*.delay_s.max"), [2.0, 3.0]);
        assert_eq!(numbers(&results(), "flows.b.loss_ratio"), [0.25]);
        assert_eq!(numbers(&results(), "totals.loss_ratio"), [0.3]);
    }

    #[test]
    fn says_what_is_there_instead() {
        let missing = find(&results(), "flows.c.loss_ratio").unwrap_err();
        assert_eq!(missing, Missing { name: "c".to_owned(), known: vec!["a".to_owned(), "b".to_owned()] });
        assert_eq!(find(&results(), "totals.loss").unwrap_err().known, ["loss_ratio"]);
        assert_eq!(find(&results(), "totals.loss_ratio.max").unwrap_err().known, [""; 0]);
    }
}
