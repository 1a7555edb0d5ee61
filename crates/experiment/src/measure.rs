//! Finds a result by its path: `flows.*.delay_s.max`, `nodes.n1.queues.*.nodal_delay_s.p999`, `totals.loss_ratio`.

use crate::study::{Modelled, Run};
use serde_json::{Value, json};
use sim::config::Role;
use sim::results::{Distributions, Flow, Hop, Outcome, Series, shares};

/// One value at the end of a path.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Found<'v> {
    /// The names of the list entries on the path: `["n1", "be"]`.
    pub(crate) names: Vec<&'v str>,
    pub(crate) value: &'v Value,
}

/// A result that does not exist.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Missing {
    /// The part of the path that does not exist.
    pub(crate) name: String,
    /// The names that exist at that point of the path.
    pub(crate) known: Vec<String>,
}

/// Returns a run's results, without series, as a tree of their keys, together with results of models.
pub(crate) fn tree(outcome: &Outcome, model: Option<&Modelled>) -> Value {
    let mut tree = of_outcome(outcome);
    if let Some(model) = model {
        tree["model"] = json!(model);
    }
    tree
}

fn of_outcome(outcome: &Outcome) -> Value {
    with_percentiles(
        outcome.distributions.as_ref(),
        json!({
            "simulated_s": outcome.simulated_s,
            "events": outcome.events,
            "flows": flows(&outcome.flows),
            "nodes": outcome.nodes,
            "totals": outcome.totals,
        }),
    )
}

/// Returns flows, each with true if it was refused: it asked for admission and is not admitted at the end. Flows that
/// do not ask count as not refused, so that systems with and without admission can be compared.
fn flows<'f>(of: impl IntoIterator<Item = &'f Flow>) -> Value {
    let told = |flow: &Flow| {
        let mut tree = json!(flow);
        tree["refused"] = json!(flow.admission.as_ref().is_some_and(|admission| !admission.admitted));
        tree
    };
    of.into_iter().map(told).collect()
}

/// Adds each access point's frames to each station to a future run's results. `roles`: name and role of each node.
pub(crate) fn add_stations(tree: &mut Value, roles: &[(String, Role)]) {
    let of = |wanted: Role| roles.iter().filter(move |(_, role)| *role == wanted).map(|(name, _)| name);
    let hop = |name: &String| Hop { name: name.clone(), ..Hop::default() };
    let stations: Vec<Hop> = of(Role::Station).map(hop).collect();
    for node in list(tree, "nodes") {
        if of(Role::AccessPoint).any(|name| node["name"] == **name) {
            node["hops"] = json!(stations);
        }
    }
}

/// Returns the entries of a list, none if the list is missing.
fn list<'v>(tree: &'v mut Value, key: &str) -> impl Iterator<Item = &'v mut Value> {
    tree.get_mut(key).and_then(Value::as_array_mut).into_iter().flatten()
}

/// Adds the percentiles of recorded distributions to the times of flows and queues: `p1`, `p2` and so on, `p995` for 99.5 %.
fn with_percentiles(distributions: Option<&Distributions>, mut tree: Value) -> Value {
    let Some(distributions) = distributions else { return tree };
    let names: Vec<String> = shares().into_iter().map(percentile).collect();
    let add = |times: &mut Value, key: &str, quantiles: &[f64]| {
        let Some(times) = times.get_mut(key).and_then(Value::as_object_mut) else { return };
        for (rank, name) in names.iter().enumerate().filter(|(_, name)| !matches!(name.as_str(), "p0" | "p100")) {
            times.entry(name).or_insert_with(|| json!(quantiles.get(rank).copied().unwrap_or_default()));
        }
    };
    for flow in list(&mut tree, "flows") {
        let Some(of) = distributions.flows.iter().find(|of| flow["name"] == *of.name) else { continue };
        for (key, quantiles) in [("delay_s", &of.delay_s), ("rtt_s", &of.rtt_s), ("completion_s", &of.completion_s)] {
            add(flow, key, quantiles);
        }
    }
    for node in list(&mut tree, "nodes") {
        let name = node["name"].as_str().unwrap_or_default().to_owned();
        let several = node["queues"].as_array().is_some_and(|queues| queues.len() > 1);
        for queue in list(node, "queues") {
            let own = queue["name"].as_str().unwrap_or_default();
            let full = if several { format!("{name} {own}") } else { name.clone() };
            let Some(of) = distributions.nodes.iter().find(|of| of.name == full) else { continue };
            for (key, quantiles) in [("sojourn_s", &of.sojourn_s), ("nodal_delay_s", &of.nodal_delay_s)] {
                add(queue, key, quantiles);
            }
        }
    }
    tree
}

/// Names the percentile of a share: `p90`, `p995` for 99.5 %.
fn percentile(share: f64) -> String {
    format!("p{}", ((share * 1e6).round() / 1e4).to_string().replace('.', ""))
}

/// Reads the name of a percentile as the percentage that it means: `p90` is "90", `p999` is "99.9".
pub(crate) fn percentage(name: &str) -> Option<String> {
    let digits = name.strip_prefix('p').filter(|digits| digits.chars().all(|c| c.is_ascii_digit()))?;
    match digits.len() {
        0 => None,
        1 | 2 => Some(digits.to_owned()),
        _ => Some(format!("{}.{}", &digits[..2], &digits[2..])),
    }
}

/// Returns only the part of [`tree`] that `path` needs: whole trees of large sweeps would take minutes.
pub(crate) fn branch(run: &Run, path: &str) -> Value {
    let outcome = &run.outcome;
    let mut segments = path.split('.');
    match (segments.next(), segments.next()) {
        (Some("flows"), Some(name)) => {
            let meant = flows(outcome.flows.iter().filter(|flow| means(name, &flow.name)));
            with_percentiles(outcome.distributions.as_ref(), json!({ "flows": meant }))
        }
        (Some("nodes"), Some(name)) => {
            let nodes: Vec<_> = outcome.nodes.iter().filter(|node| means(name, &node.name)).collect();
            with_percentiles(outcome.distributions.as_ref(), json!({ "nodes": nodes }))
        }
        (Some("totals"), _) => json!({ "totals": outcome.totals }),
        (Some("model"), _) => json!({ "model": run.model }),
        _ => tree(outcome, run.model.as_ref()),
    }
}

/// Returns all values at `path`, in the scenario's order. Elements of a list are addressed by their names. `*` means
/// all of them, `down*` those that begin so, and `down* be` those that also end so.
pub(crate) fn find<'v>(root: &'v Value, path: &str) -> Result<Vec<Found<'v>>, Missing> {
    let mut places = vec![Found { names: Vec::new(), value: root }];
    for segment in path.split('.') {
        let below: Result<Vec<_>, Missing> = places.into_iter().map(|place| step(place, segment)).collect();
        places = below?.into_iter().flatten().collect();
    }
    Ok(places)
}

/// Returns the values at the next segment of a path.
fn step<'v>(place: Found<'v>, segment: &str) -> Result<Vec<Found<'v>>, Missing> {
    let missing = |known: Vec<String>| Err(Missing { name: segment.to_owned(), known });
    match place.value {
        Value::Array(elements) => {
            let named = elements.iter().filter_map(|element| Some((element["name"].as_str()?, element)));
            let wanted = named.clone().filter(|(name, _)| means(segment, name));
            let found: Vec<_> = wanted
                .map(|(name, value)| Found { names: [place.names.as_slice(), &[name]].concat(), value })
                .collect();
            if found.is_empty() { missing(named.map(|(name, _)| name.to_owned()).collect()) } else { Ok(found) }
        }
        Value::Object(keys) => match keys.get(segment) {
            Some(value) => Ok(vec![Found { value, ..place }]),
            None => missing(keys.keys().cloned().collect()),
        },
        _ => missing(Vec::new()),
    }
}

/// True if `segment` of a path means the element named `name`.
pub fn means(segment: &str, name: &str) -> bool {
    segment == name
        || segment
            .split_once('*')
            .is_some_and(|(beginning, end)| name.strip_prefix(beginning).is_some_and(|rest| rest.ends_with(end)))
}

/// Returns the series at `nodes.NAME.KEY` or `flows.NAME.KEY` with their names, in the scenario's order. Names may
/// contain dots, and `*` works as in results. Empty if there is none.
pub(crate) fn series(series: &Series, path: &str) -> Vec<(String, Vec<Option<f64>>)> {
    let Some((kind, (name, field))) = path.split_once('.').and_then(|(k, rest)| Some((k, rest.rsplit_once('.')?)))
    else {
        return Vec::new();
    };
    let flows = series.flows.iter().filter(|flow| kind == "flows" && means(name, &flow.name));
    let nodes = series.nodes.iter().filter(|node| kind == "nodes" && means(name, &node.name));
    let flows = flows.map(|flow| (flow.name.clone(), json!(flow)));
    let trees = flows.chain(nodes.map(|node| (node.name.clone(), json!(node))));
    let values = |tree: &Value| Some(tree[field].as_array()?.iter().map(Value::as_f64).collect());
    trees.filter_map(|(name, tree)| Some((name, values(&tree)?))).collect()
}

/// Returns the numbers at `path`, in the scenario's order. True is 1 and false is 0; any other result that is not a
/// number is NaN. Empty if nothing is at `path`.
pub(crate) fn numbers(root: &Value, path: &str) -> Vec<f64> {
    let number = |value: &Value| value.as_f64().or_else(|| value.as_bool().map(|is| f64::from(u8::from(is))));
    let found = find(root, path).unwrap_or_default();
    found.into_iter().map(|found| number(found.value).unwrap_or(f64::NAN)).collect()
}

/// Returns the names of the elements at `path`: `n1 be`. Empty if nothing is at `path`.
pub(crate) fn names(root: &Value, path: &str) -> Vec<String> {
    find(root, path).unwrap_or_default().into_iter().map(|found| found.names.join(" ")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use sim::results::{Admission, FlowDistribution, NodeDistribution};

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
    fn a_flow_is_refused_if_it_asked_and_is_not_admitted_at_the_end() {
        let flow = |name: &str, admitted: Option<bool>| Flow {
            name: name.to_owned(),
            admission: admitted.map(|admitted| Admission { admitted, ..Admission::default() }),
            ..Flow::default()
        };
        let flows = [flow("a", None), flow("b", Some(true)), flow("c", Some(false))];
        let told = json!({ "flows": super::flows(&flows) });
        assert_eq!(numbers(&told, "flows.*.refused"), [0.0, 0.0, 1.0]);
    }

    #[test]
    fn finds_by_name_and_by_star() {
        assert_eq!(numbers(&results(), "flows.*.delay_s.max"), [2.0, 3.0]);
        assert_eq!(numbers(&results(), "flows.b.loss_ratio"), [0.25]);
        assert_eq!(numbers(&results(), "totals.loss_ratio"), [0.3]);
        let named =
            json!({ "flows": [{ "name": "up-1", "v": 1 }, { "name": "down-1", "v": 2 }, { "name": "up-2", "v": 3 }] });
        assert_eq!(numbers(&named, "flows.up-*.v"), [1.0, 3.0]);
        assert_eq!(numbers(&named, "flows.*-1.v"), [1.0, 2.0]);
        assert!(means("up*p", "upp") && !means("up*p", "up"), "no letter is both beginning and end");
    }

    #[test]
    fn recorded_distributions_have_every_percentile() {
        let usual = json!({
            "flows": [{ "name": "f", "delay_s": { "p95": 7.0 } }],
            "nodes": [{ "name": "n", "queues": [{ "name": "be", "sojourn_s": {} }] }],
        });
        let path = "flows.f.delay_s.p90";
        assert!(find(&with_percentiles(None, usual.clone()), path).is_err(), "there are the usual ones alone");
        let times: Vec<f64> = (0_u32..107).map(f64::from).collect();
        let flow = FlowDistribution { name: "f".to_owned(), delay_s: times.clone(), ..FlowDistribution::default() };
        let node = NodeDistribution { name: "n".to_owned(), sojourn_s: times, ..NodeDistribution::default() };
        let tree = with_percentiles(Some(&Distributions { flows: vec![flow], nodes: vec![node] }), usual);
        assert_eq!(numbers(&tree, path), [90.0]);
        assert_eq!(numbers(&tree, "nodes.n.queues.*.sojourn_s.p995"), [100.0]);
        assert_eq!(numbers(&tree, "flows.f.delay_s.p95"), [7.0], "the run's own stays");
        assert_eq!(
            ["p5", "p90", "p999", "p9995", "p", "px"].map(percentage),
            [
                Some("5".to_owned()),
                Some("90".to_owned()),
                Some("99.9".to_owned()),
                Some("99.95".to_owned()),
                None,
                None
            ]
        );
    }

    #[test]
    fn tells_whose_a_value_is() {
        let nodes = json!({ "nodes": [{ "name": "n1", "queues": [{ "name": "be", "limit": null }] }] });
        let found = find(&nodes, "nodes.*.queues.*.limit").unwrap();
        assert_eq!(found, [Found { names: vec!["n1", "be"], value: &Value::Null }]);
    }

    #[test]
    fn says_what_is_there_instead() {
        let missing = find(&results(), "flows.c.loss_ratio").unwrap_err();
        assert_eq!(missing, Missing { name: "c".to_owned(), known: vec!["a".to_owned(), "b".to_owned()] });
        assert_eq!(find(&results(), "totals.loss").unwrap_err().known, ["loss_ratio"]);
        assert_eq!(find(&results(), "totals.loss_ratio.max").unwrap_err().known, [""; 0]);
    }
}
