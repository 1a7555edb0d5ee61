//! Converts tables that name labels of axes (`where`, `against`) to the form in which they are read.

use super::document::{NAMING, Value, table_mut, tables_mut};
use super::source::Source;
use std::borrow::Cow;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Converts labels in a scenario's claims, charts and tables: `a.b = x` and `"a.b" = x` mean the same, as in `[vary]`.
/// A label that is a number in `[vary]` may be written as a number here.
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
            let mut flat = DeTable::new();
            flatten(source, std::mem::take(wanted), "", &mut flat);
            *wanted = flat;
        }
    }
}

fn flatten<'s>(source: &Source, table: DeTable<'s>, above: &str, flat: &mut DeTable<'s>) {
    for (key, mut value) in table {
        let name = if above.is_empty() { key.get_ref().to_string() } else { format!("{above}.{}", key.get_ref()) };
        if let DeValue::Table(inner) = value.get_mut() {
            flatten(source, std::mem::take(inner), &name, flat);
            continue;
        }
        as_written(source, &mut value);
        if let DeValue::Array(labels) = value.get_mut() {
            labels.iter_mut().for_each(|label| as_written(source, label));
        }
        flat.insert(Spanned::new(key.span(), Cow::Owned(name)), value);
    }
}

/// Replaces a number or a truth value by its text in the file, because labels of plain values are such texts.
fn as_written(source: &Source, value: &mut Value) {
    if let (DeValue::Integer(_) | DeValue::Float(_) | DeValue::Boolean(_), Some(text)) =
        (value.get_ref(), source.text.get(value.span()))
    {
        *value = Spanned::new(value.span(), DeValue::String(Cow::Owned(text.to_owned())));
    }
}
