//! The columns of a table, derived from the JSON Schema of its rows. So a new result becomes a column by itself.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::Value;

/// Kinds of values in a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Numbers with a fraction.
    Number,
    /// Whole numbers from zero on.
    Count,
    Text,
    Switch,
}

/// A value with its column's name and kind.
pub(crate) type Cell = (String, Kind, Value);

/// A column: the keys that lead to its value in a row, and the kind of the value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Column {
    /// The keys, outermost first: `delay_s`, `max`.
    pub(crate) path: Vec<String>,
    pub(crate) kind: Kind,
    /// True if the value is a list with one value for each step.
    pub(crate) list: bool,
}

impl Column {
    /// Returns the column's name in tables: `delay_s.max`.
    pub(crate) fn name(&self) -> String {
        self.path.join(".")
    }
}

/// Returns the columns of a `T`, including values that may be absent. Leaves out lists of tables.
pub(crate) fn columns<T: JsonSchema>() -> Vec<Column> {
    let settings = SchemaSettings::default().with(|settings| settings.inline_subschemas = true);
    let schema = settings.into_generator().into_root_schema_for::<T>().to_value();
    let mut columns = Vec::new();
    survey(&schema, &[], false, &mut columns);
    columns
}

fn survey(schema: &Value, path: &[String], list: bool, columns: &mut Vec<Column>) {
    let options = schema["anyOf"].as_array().into_iter().flatten();
    // The schema of a value that may be absent has null as an alternative.
    if let [present] = options.filter(|option| option["type"] != "null").collect::<Vec<_>>()[..] {
        return survey(present, path, list, columns);
    }
    let kind = match &schema["type"] {
        Value::Array(kinds) => kinds.iter().find(|kind| *kind != "null").and_then(Value::as_str),
        kind => kind.as_str(),
    };
    let kind = match kind {
        // A list of tables becomes a table of its own.
        Some("object") if list => return,
        Some("object") => {
            for (key, inner) in schema["properties"].as_object().into_iter().flatten() {
                survey(inner, &[path, std::slice::from_ref(key)].concat(), list, columns);
            }
            return;
        }
        Some("array") => return survey(&schema["items"], path, true, columns),
        Some("number") => Kind::Number,
        Some("integer") => Kind::Count,
        Some("boolean") => Kind::Switch,
        // Text also serves for words of an enumeration, and for a value that is a number or words.
        _ => Kind::Text,
    };
    columns.push(Column { path: path.to_vec(), kind, list });
}
