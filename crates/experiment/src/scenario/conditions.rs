//! Converts tables that name labels of axes (`where`, `against`) to the form in which they are read.

use super::document::{Leaf, NAMING, Value, leaves, table_mut, tables_mut};
use super::source::Source;
use std::borrow::Cow;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Converts labels in a scenario's claims, charts and tables: `a.b = x` and `"a.b" = x` mean the same, as in `[vary]`.
/// A label that is a number in `[vary]` may be a number there, too.
pub(super) fn as_labels(source: &Source, lab: &mut DeTable) {
    for key in NAMING {
        for entry in tables_mut(lab, key) {
            of_entry(source, entry);
            tables_mut(entry, "cell").for_each(|cell| of_entry(source, cell));
        }
    }
}

fn of_entry(source: &Source, entry: &mut DeTable) {
    for key in ["where", "against"] {
        if let Some(wanted) = table_mut(entry, key) {
            let flat = leaves(wanted, |_| false).into_iter().map(|Leaf { path, span, value }| {
                let mut value = value.clone();
                as_written(source, &mut value);
                if let DeValue::Array(labels) = value.get_mut() {
                    labels.iter_mut().for_each(|label| as_written(source, label));
                }
                (Spanned::new(span, Cow::Owned(path)), value)
            });
            *wanted = flat.collect();
        }
    }
}

/// Turns a number or a truth value into its text in the file, the form of plain values' labels.
fn as_written(source: &Source, value: &mut Value) {
    if let (DeValue::Integer(_) | DeValue::Float(_) | DeValue::Boolean(_), Some(text)) =
        (value.get_ref(), source.text.get(value.span()))
    {
        *value = Spanned::new(value.span(), DeValue::String(Cow::Owned(text.to_owned())));
    }
}
