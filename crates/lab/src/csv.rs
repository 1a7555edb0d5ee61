//! Results as tables: one line a flow or node, the keys of the results as columns (`delay_s.max`).

use crate::study::Run;
use serde_json::Value;
use std::borrow::Cow;

/// Every flow of every run.
pub(crate) fn flows(runs: &[Run]) -> String {
    table(runs, |run| serde_json::to_value(&run.outcome.flows))
}

/// Every node of every run; its queues as `queues.NAME.KEY`.
pub(crate) fn nodes(runs: &[Run]) -> String {
    table(runs, |run| serde_json::to_value(&run.outcome.nodes))
}

fn table(runs: &[Run], entries: impl Fn(&Run) -> serde_json::Result<Value>) -> String {
    let mut columns: Vec<String> = Vec::new();
    let mut rows: Vec<Vec<(usize, String)>> = Vec::new();
    for run in runs {
        let head = || {
            let labels = run.case.iter().map(|(axis, label)| (axis.clone(), label.clone()));
            [("scenario".to_owned(), run.scenario.clone()), ("seed".to_owned(), run.seed.to_string())]
                .into_iter()
                .chain(labels)
        };
        for entry in entries(run).ok().as_ref().and_then(Value::as_array).into_iter().flatten() {
            let mut cells: Vec<(String, String)> = head().collect();
            flatten(entry, "", &mut cells);
            let row = cells.into_iter().map(|(name, value)| (index_of(&mut columns, name), value));
            rows.push(row.collect());
        }
    }
    let mut text = line(columns.iter().map(String::as_str));
    for row in rows {
        let mut cells = vec![""; columns.len()];
        for (index, value) in &row {
            cells[*index] = value;
        }
        text.push_str(&line(cells.into_iter()));
    }
    text
}

fn index_of(columns: &mut Vec<String>, name: String) -> usize {
    columns.iter().position(|column| *column == name).unwrap_or_else(|| {
        columns.push(name);
        columns.len() - 1
    })
}

fn flatten(value: &Value, path: &str, cells: &mut Vec<(String, String)>) {
    let join = |key: &str| if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
    match value {
        Value::Object(keys) => keys.iter().for_each(|(key, value)| flatten(value, &join(key), cells)),
        Value::Array(entries) => {
            for entry in entries {
                flatten(entry, &join(entry["name"].as_str().unwrap_or_default()), cells);
            }
        }
        Value::String(text) => cells.push((path.to_owned(), text.clone())),
        Value::Null => cells.push((path.to_owned(), String::new())),
        other => cells.push((path.to_owned(), other.to_string())),
    }
}

/// Quotes where RFC 4180 asks for it.
fn line<'c>(cells: impl Iterator<Item = &'c str>) -> String {
    let quoted = cells.map(|cell| {
        if cell.contains([',', '"', '\n', '\r']) {
            Cow::Owned(format!("\"{}\"", cell.replace('"', "\"\"")))
        } else {
            Cow::Borrowed(cell)
        }
    });
    let mut line = quoted.collect::<Vec<_>>().join(",");
    line.push('\n');
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn lists_become_columns_by_name() {
        let mut cells = Vec::new();
        let node = json!({ "name": "n0", "queues": [{ "name": "be", "sojourn_s": { "max": 0.5 } }], "limit": null });
        flatten(&node, "", &mut cells);
        let expected = [("name", "n0"), ("queues.be.name", "be"), ("queues.be.sojourn_s.max", "0.5"), ("limit", "")];
        assert_eq!(cells, expected.map(|(name, value)| (name.to_owned(), value.to_owned())));
    }

    #[test]
    fn quotes_commas_and_quotes() {
        assert_eq!(line(["a", "b, c", "\"d\""].into_iter()), "a,\"b, c\",\"\"\"d\"\"\"\n");
    }
}
