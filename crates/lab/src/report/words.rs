//! Names of results in legends.

/// Returns the words for the last part of a path: "largest delay" for `delay_s.max`, "backlog" for `backlog_packets`.
pub(super) fn words(path: &str) -> String {
    let mut parts: Vec<&str> = path.split('.').collect();
    let statistic = match parts.last().copied() {
        Some("max") => Some("largest "),
        Some("min") => Some("smallest "),
        Some("mean") => Some("mean "),
        Some("last") => Some("last "),
        Some("p5") => Some("5th percentile of "),
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

    #[test]
    fn paths_have_words() {
        assert_eq!(words("flows.*.delay_s.max"), "largest delay");
        assert_eq!(words("flows.*.delay_max_s"), "largest delay");
        assert_eq!(words("nodes.*.backlog_packets"), "backlog");
        assert_eq!(words("nodes.n1.queues.*.nodal_delay_s.p999"), "99.9th percentile of nodal delay");
        assert_eq!(words("totals.loss_ratio"), "loss ratio");
    }
}
