//! Names of results in legends.

use crate::measure::percentage;

/// Returns the words for the last part of a path: "largest delay" for `delay_s.max`, "backlog" for `backlog_packets`.
pub(super) fn words(path: &str) -> String {
    let mut parts: Vec<&str> = path.split('.').collect();
    let statistic = match parts.last().copied().unwrap_or_default() {
        "max" => Some("largest ".to_owned()),
        "min" => Some("smallest ".to_owned()),
        "mean" => Some("mean ".to_owned()),
        "last" => Some("last ".to_owned()),
        "p50" => Some("median ".to_owned()),
        other => percentage(other).map(|percent| format!("{}{} percentile of ", percent, ending(&percent))),
    };
    if statistic.is_some() {
        parts.pop();
    }
    let mut name = parts.last().copied().unwrap_or_default();
    // The y axis' title has the unit. `_ratio` is not a unit: "loss ratio" is the result's name.
    for unit in ["_s", "_bps", "_packets", "_bytes"] {
        name = name.strip_suffix(unit).unwrap_or(name);
    }
    let (name, statistic) = match (name.strip_suffix("_mean"), name.strip_suffix("_max")) {
        (Some(name), _) => (name, "mean ".to_owned()),
        (_, Some(name)) => (name, "largest ".to_owned()),
        _ => (name, statistic.unwrap_or_default()),
    };
    format!("{statistic}{}", name.replace('_', " "))
}

/// Returns the ending of an ordinal number: 91st, 92nd, 93rd, 95th.
fn ending(number: &str) -> &'static str {
    match (number.ends_with("11") || number.ends_with("12") || number.ends_with("13"), number.chars().last()) {
        (false, Some('1')) => "st",
        (false, Some('2')) => "nd",
        (false, Some('3')) => "rd",
        _ => "th",
    }
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
        assert_eq!(words("flows.*.delay_s.p91"), "91st percentile of delay");
        assert_eq!(words("flows.*.delay_s.p90"), "90th percentile of delay");
        assert_eq!(words("totals.loss_ratio"), "loss ratio");
    }
}
