//! Results by their path, as in claims, but with the names of what they are of: a chart draws a line for each.

use serde_json::Value;

/// One value that a path leads to, and the names on the way: `["n1", "be"]`.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Found {
    pub(super) element: Vec<String>,
    pub(super) value: f64,
}

/// All numbers that `path` leads to; `*` or a name chooses among the entries of a list. Values that are absent (a target
/// delay without a controller) are left out.
pub(super) fn find(tree: &Value, path: &str) -> Vec<Found> {
    let mut places = vec![(Vec::new(), tree)];
    for word in path.split('.') {
        places = places.into_iter().flat_map(|(names, value)| step(&names, value, word)).collect();
    }
    let number = |(element, value): (Vec<String>, &Value)| value.as_f64().map(|value| Found { element, value });
    places.into_iter().filter_map(number).collect()
}

fn step<'a>(names: &[String], value: &'a Value, word: &str) -> Vec<(Vec<String>, &'a Value)> {
    match value {
        Value::Array(entries) => entries
            .iter()
            .filter_map(|entry| Some((entry.get("name")?.as_str()?, entry)))
            .filter(|(name, _)| word == "*" || word == *name)
            .map(|(name, entry)| (names.iter().cloned().chain([name.to_owned()]).collect(), entry))
            .collect(),
        _ => value.get(word).map(|value| (names.to_vec(), value)).into_iter().collect(),
    }
}

/// The words for the last part of a path: `delay_s.max` is "largest delay", `backlog_packets` "backlog".
pub(super) fn words(path: &str) -> String {
    let mut parts: Vec<&str> = path.split('.').collect();
    let statistic = match parts.last().copied() {
        Some("max") => Some("largest "),
        Some("min") => Some("smallest "),
        Some("mean") => Some("mean "),
        Some("last") => Some("last "),
        Some("p50") => Some("median "),
        Some("p95") => Some("95th percentile of "),
        Some("p99") => Some("99th percentile of "),
        Some("p999") => Some("99.9th percentile of "),
        _ => None,
    };
    if statistic.is_some() {
        parts.pop();
    }
    let mut name = parts.last().copied().unwrap_or_default();
    // The y axis' title has the unit. `_ratio` is no unit: a loss ratio is called so.
    for unit in ["_s", "_bps", "_packets", "_bytes"] {
        name = name.strip_suffix(unit).unwrap_or(name);
    }
    let (name, statistic) = match (name.strip_suffix("_mean"), name.strip_suffix("_max")) {
        (Some(name), _) => (name, "mean "),
        (_, Some(name)) => (name, "largest "),
        _ => (name, statistic.unwrap_or_default()),
    };
    format!("{statistic}{}", name.replace('_', " "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn results() -> Value {
        json!({
            "flows": [{"name": "forward", "delay_s": {"max": 0.3}}, {"name": "reverse", "delay_s": {"max": 0.4}}],
            "nodes": [{"name": "n1", "queues": [{"name": "be", "target_delay_s": null}]}],
            "totals": {"loss_ratio": 0.04},
        })
    }

    fn found(path: &str) -> Vec<(String, f64)> {
        find(&results(), path).into_iter().map(|f| (f.element.join(" "), f.value)).collect()
    }

    #[test]
    fn paths_lead_to_numbers() {
        assert_eq!(found("flows.*.delay_s.max"), [("forward".to_owned(), 0.3), ("reverse".to_owned(), 0.4)]);
        assert_eq!(found("flows.reverse.delay_s.max"), [("reverse".to_owned(), 0.4)]);
        assert_eq!(found("totals.loss_ratio"), [(String::new(), 0.04)]);
    }

    #[test]
    fn what_is_absent_is_left_out() {
        assert_eq!(found("nodes.*.queues.*.target_delay_s"), []);
        assert_eq!(found("flows.sideways.delay_s.max"), []);
        assert_eq!(found("flows.*.delay_s"), []);
    }

    #[test]
    fn paths_have_words() {
        assert_eq!(words("flows.*.delay_s.max"), "largest delay");
        assert_eq!(words("flows.*.delay_max_s"), "largest delay");
        assert_eq!(words("nodes.*.backlog_packets"), "backlog");
        assert_eq!(words("nodes.n1.queues.*.nodal_delay_s.p999"), "99.9th percentile of nodal delay");
        assert_eq!(words("totals.loss_ratio"), "loss ratio");
    }
}
