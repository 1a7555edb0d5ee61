//! Results as tables: one line per flow or node, with the keys of the results as columns (`delay_s.max`).

use crate::grid::Grid;
use crate::label::short;
use crate::statistics::{Interval, entry_of, interval};
use crate::study::{Axis, Run, Study};
use serde_json::Value;
use sim::results::Series;
use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;
use units::refuse_if;

/// The flows or the nodes of a run, to be formatted.
pub type Entries = fn(&Run) -> serde_json::Result<Value>;

/// The flows of a run.
pub const FLOWS: Entries = |run| serde_json::to_value(&run.outcome.flows);
/// The nodes of a run; their queues are the columns `queues.NAME.KEY`.
pub const NODES: Entries = |run| serde_json::to_value(&run.outcome.nodes);

/// Formats the figures of the tables that the scenario asks for: one line per figure, with its interval.
pub fn tables(study: &Study) -> String {
    let mut text = line(["table", "row", "column", "quantity", "mean", "low", "high"].into_iter());
    for table in &study.tables {
        let grid = Grid::new(study, table);
        for (row, values) in grid.rows.iter().zip(&grid.values) {
            for (column, values) in grid.columns.iter().zip(values) {
                for (cell, value) in table.cell.iter().zip(values) {
                    let column = column.join(", ");
                    let numbers = [value.mean, value.low, value.high].map(number);
                    let names = [&table.title, row, &column, &cell.title];
                    text.push_str(&line(names.into_iter().chain(&numbers).map(String::as_str)));
                }
            }
        }
    }
    text
}

/// Formats a number; empty for NaN.
fn number(value: f64) -> String {
    if value.is_nan() { String::new() } else { value.to_string() }
}

/// Formats the time series of one run: a line for each step, with the step's end first and then every series, under the
/// key that charts use.
pub fn series(series: &Series) -> String {
    let of = |path: &str, entry: serde_json::Result<Value>| -> Vec<(String, Vec<Value>)> {
        let Ok(Value::Object(keys)) = entry else { return Vec::new() };
        let column = |(key, values): (String, Value)| match values {
            Value::Array(values) => Some((format!("{path}.{key}"), values)),
            _ => None,
        };
        keys.into_iter().filter_map(column).collect()
    };
    let flows = series.flows.iter().flat_map(|flow| of(&format!("flows.{}", flow.name), serde_json::to_value(flow)));
    let nodes = series.nodes.iter().flat_map(|node| of(&format!("nodes.{}", node.name), serde_json::to_value(node)));
    let emulation = series.emulation.iter().flat_map(|series| of("emulation", serde_json::to_value(series)));
    let columns: Vec<(String, Vec<Value>)> = flows.chain(nodes).chain(emulation).collect();
    let steps = columns.iter().map(|(_, values)| values.len()).max().unwrap_or(0);
    let mut text = line(std::iter::once("time_s").chain(columns.iter().map(|(name, _)| name.as_str())));
    for step in 0..steps {
        // Times are rounded to whole nanoseconds, like simulated time.
        let _ = write!(text, "{}", ((step + 1) as f64 * series.step_s * 1e9).round() / 1e9);
        for (_, values) in &columns {
            let _ = match values.get(step) {
                None | Some(Value::Null) => write!(text, ","),
                Some(value) => write!(text, ",{value}"),
            };
        }
        text.push('\n');
    }
    text
}

/// Returns a file name that distinguishes a run from the other runs of its study: `scheme-ADTH_target-200-ms_seed-1`.
pub fn file_name(axes: &[Axis], labels: &BTreeMap<String, String>, seed: u64) -> String {
    const MOST: usize = 150;
    let labels = axes.iter().filter_map(|axis| Some((&axis.name, labels.get(&axis.name)?)));
    let parts = labels.map(|(axis, label)| plain(&format!("{}-{label}", short(axis))));
    let mut name: String = parts.collect::<Vec<_>>().join("_").chars().take(MOST).collect();
    if !name.is_empty() {
        name.push('_');
    }
    format!("{name}seed-{seed}")
}

/// Keeps letters, digits and points, and replaces all other characters by dashes.
fn plain(text: &str) -> String {
    let kept = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '+');
    let words: Vec<&str> = text.split(|c| !kept(c)).filter(|word| !word.is_empty()).collect();
    words.join("-")
}

/// Formats every entry of every run.
pub fn table(runs: &[Run], entries: Entries) -> String {
    let mut sheet = Sheet::default();
    for run in runs {
        for entry in entries(run).ok().as_ref().and_then(Value::as_array).into_iter().flatten() {
            let mut cells = head(run, Some(run.seed));
            flatten(entry, "", &mut cells);
            sheet.push(cells);
        }
    }
    sheet.text()
}

/// Returns the first cells of a line, which name its case.
fn head(run: &Run, seed: Option<u64>) -> Vec<(String, String)> {
    let scenario = ("scenario".to_owned(), run.scenario.clone());
    let seed = seed.map(|seed| ("seed".to_owned(), seed.to_string()));
    std::iter::once(scenario).chain(seed).chain(run.case.clone()).collect()
}

/// Values of an element: for each key one value per seed, in the order of the keys.
type ByKey = Vec<(String, Vec<String>)>;

/// Formats the means of every entry over the seeds of its case, with a line for each case and entry. Each number has
/// its mean and the ends of the 95 % interval (`delay_s.max`, `delay_s.max.low`, `delay_s.max.high`). Other values stay
/// if they are the same with all seeds.
pub fn means(runs: &[Run], entries: Entries) -> String {
    let mut sheet = Sheet::default();
    for runs in runs.chunk_by(|a, b| a.case == b.case) {
        let mut elements: Vec<(String, ByKey)> = Vec::new();
        for run in runs {
            for entry in entries(run).ok().as_ref().and_then(Value::as_array).into_iter().flatten() {
                let mut cells = Vec::new();
                flatten(entry, "", &mut cells);
                let keys = entry_of(&mut elements, entry["name"].as_str().unwrap_or_default().to_owned());
                for (next, (key, value)) in cells.into_iter().enumerate() {
                    // In most studies all runs have the same keys in the same order.
                    match keys.get_mut(next) {
                        Some((known, values)) if *known == key => values.push(value),
                        _ => entry_of(keys, key).push(value),
                    }
                }
            }
        }
        for (_, keys) in elements {
            let mut cells = head(&runs[0], None);
            cells.push(("seeds".to_owned(), runs.len().to_string()));
            for (key, values) in keys {
                let numbers: Vec<f64> = values.iter().filter_map(|value| value.parse().ok()).collect();
                if key != "name" && !numbers.is_empty() {
                    let Interval { mean, low, high } = interval(&numbers);
                    let names = [key.clone(), format!("{key}.low"), format!("{key}.high")];
                    cells.extend(names.into_iter().zip([mean, low, high].map(number)));
                } else if values.iter().all(|value| *value == values[0]) {
                    cells.push((key, values[0].clone()));
                }
            }
            sheet.push(cells);
        }
    }
    sheet.text()
}

/// A table whose rows have values for some of the columns. Columns are in the order of their first use.
#[derive(Default)]
struct Sheet {
    names: Vec<String>,
    places: HashMap<String, usize>,
    rows: Vec<Vec<(usize, String)>>,
}

impl Sheet {
    fn push(&mut self, cells: Vec<(String, String)>) {
        let mut place = |name: String| {
            *self.places.entry(name).or_insert_with_key(|name| {
                self.names.push(name.clone());
                self.names.len() - 1
            })
        };
        self.rows.push(cells.into_iter().map(|(name, value)| (place(name), value)).collect());
    }

    fn text(&self) -> String {
        let mut text = line(self.names.iter().map(String::as_str));
        for row in &self.rows {
            let mut cells = vec![""; self.names.len()];
            for (index, value) in row {
                cells[*index] = value;
            }
            text.push_str(&line(cells.into_iter()));
        }
        text
    }
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

/// Parses the cells of every line according to RFC 4180.
///
/// # Errors
/// The last line lacks a line feed.
pub fn parsed(text: &str) -> Result<Vec<Vec<String>>, String> {
    refuse_if!(!text.is_empty() && !text.ends_with('\n'), Err("the last line lacks a line feed".to_owned()));
    let mut reader = ::csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(text.as_bytes());
    reader.deserialize().collect::<Result<_, _>>().map_err(|error| error.to_string())
}

/// Formats a line, with quotes where RFC 4180 requires them.
pub fn line<'c>(cells: impl Iterator<Item = &'c str>) -> String {
    let mut writer = ::csv::Writer::from_writer(Vec::new());
    // Writing to memory cannot fail, and the cells are UTF-8.
    let bytes = writer.write_record(cells).ok().and_then(|()| writer.into_inner().ok());
    bytes.and_then(|bytes| String::from_utf8(bytes).ok()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use sim::results::{FlowSeries, NodeSeries};

    #[test]
    fn lists_become_columns_by_name() {
        let mut cells = Vec::new();
        let node = json!({ "name": "n0", "queues": [{ "name": "be", "sojourn_s": { "max": 0.5 } }], "limit": null });
        flatten(&node, "", &mut cells);
        let expected = [("name", "n0"), ("queues.be.name", "be"), ("queues.be.sojourn_s.max", "0.5"), ("limit", "")];
        assert_eq!(cells, expected.map(|(name, value)| (name.to_owned(), value.to_owned())));
    }

    #[test]
    fn a_series_has_a_line_a_step_with_its_time() {
        let flow = FlowSeries {
            name: "a, b".to_owned(),
            goodput_bps: vec![1e6, 2.5],
            delay_mean_s: vec![None, Some(0.25)],
            delay_max_s: vec![None, Some(0.5)],
            ..FlowSeries::default()
        };
        let node = NodeSeries { name: "n0 be".to_owned(), limit: vec![5.0, 6.0], ..NodeSeries::default() };
        let text = series(&Series { step_s: 0.1, flows: vec![flow], nodes: vec![node], emulation: None });
        let lines: Vec<&str> = text.lines().collect();
        let head =
            ["time_s", "\"flows.a, b.goodput_bps\"", "\"flows.a, b.delay_mean_s\"", "\"flows.a, b.delay_max_s\""];
        assert!(lines[0].starts_with(&head.join(",")) && lines[0].contains(",nodes.n0 be.limit,"), "{text}");
        assert!(lines[1].starts_with("0.1,1000000.0,,,5.0,"), "{text}");
        assert!(lines[2].starts_with("0.2,2.5,0.25,0.5,6.0,"), "{text}");
        assert_eq!(lines.len(), 3);
    }

    #[test]
    fn means_of_a_case_have_their_interval() {
        let study = crate::report::tests::sample::targets();
        let text = means(&study.runs, FLOWS);
        let lines = parsed(&text).unwrap();
        let column = |name: &str| lines[0].iter().position(|column| column == name).unwrap();
        let cases = study.runs.chunk_by(|a, b| a.case == b.case).count();
        assert_eq!(lines.len(), 1 + cases * study.runs[0].outcome.flows.len());
        let values: Vec<f64> =
            study.runs[..study.seeds.len()].iter().map(|run| run.outcome.flows[0].delay_s.max).collect();
        let Interval { mean, low, high } = interval(&values);
        let seen = ["delay_s.max", "delay_s.max.low", "delay_s.max.high"].map(|name| lines[1][column(name)].parse());
        assert_eq!(seen, [Ok(mean), Ok(low), Ok(high)]);
        assert_eq!(lines[1][column("seeds")], study.seeds.len().to_string());
        assert!(!lines[0].contains(&"seed".to_owned()) && !lines[1][column("name")].is_empty());
    }

    #[test]
    fn quotes_commas_and_quotes() {
        assert_eq!(line(["a", "b, c", "\"d\""].into_iter()), "a,\"b, c\",\"\"\"d\"\"\"\n");
    }
}
