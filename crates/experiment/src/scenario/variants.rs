//! Values of a sweep that exist only with one simulator's conventions: `only = { conventions = "standard" }`.
//!
//! They are left out before the rest is read, so a scenario with other conventions equals a file without them,
//! including the hashes of its claims.

use super::conventions::KEY;
use super::document::{NAMING, Value, array_mut, as_table_mut, table_mut};
use toml::de::{DeArray, DeTable, DeValue};

/// Leaves out of a file what belongs to other conventions than `chosen`: values of axes with such a condition, values
/// that occur only with those, and claims, charts and tables that name no other values. An axis may also vary the
/// conventions.
pub(super) fn leave_out(root: &mut DeTable<'_>, chosen: &str) {
    let Some(vary) = table_mut(root, "vary") else { return };
    if vary.contains_key(KEY) {
        return;
    }
    let mut gone = remove_labels(vary, |only| match only.remove(KEY) {
        Some(named) => names(&named).any(|name| name == chosen),
        None => true,
    });
    loop {
        let more = remove_labels(vary, |only| keep_present(only, &gone));
        if more.is_empty() {
            break;
        }
        gone.extend(more);
    }
    if gone.is_empty() {
        return;
    }
    for key in NAMING {
        let Some(entries) = array_mut(root, key) else { continue };
        retain(entries, |entry| {
            ["where", "against"]
                .into_iter()
                .all(|key| table_mut(entry, key).is_none_or(|named| keep_present(named, &gone)))
        });
    }
    let Some(neighbours) = table_mut(root, "rulings").and_then(|rulings| array_mut(rulings, "neighbour")) else {
        return;
    };
    retain(neighbours, |neighbour| {
        let axis = neighbour.get("axis").and_then(|axis| axis.get_ref().as_str()).unwrap_or_default().to_owned();
        array_mut(neighbour, "instead").is_none_or(|instead| keep_labels(instead, &axis, &gone))
    });
}

/// Keeps the tables of an array that pass the test, and all entries that are not tables.
fn retain<'s>(entries: &mut DeArray<'s>, mut passes: impl FnMut(&mut DeTable<'s>) -> bool) {
    for mut entry in std::mem::replace(entries, DeArray::new()) {
        if as_table_mut(&mut entry).is_none_or(&mut passes) {
            entries.push(entry);
        }
    }
}

/// An axis, and a label that was removed from it.
type Gone = (String, String);

/// Removes each value whose `only` fails `passes`. Returns those removed labels that no value of their axis has now.
fn remove_labels(vary: &mut DeTable<'_>, mut passes: impl FnMut(&mut DeTable<'_>) -> bool) -> Vec<Gone> {
    let mut gone = Vec::new();
    for (axis, values) in vary.iter_mut() {
        let DeValue::Array(values) = values.get_mut() else { continue };
        let mut removed = Vec::new();
        retain(values, |value| {
            let Some(only) = table_mut(value, "only") else { return true };
            let stays = passes(only);
            let empty = only.is_empty();
            if stays && empty {
                value.remove("only");
            } else if !stays {
                removed.extend(label(value));
            }
            stays
        });
        let left: Vec<String> = values.iter().filter_map(|value| label(value.get_ref().as_table()?)).collect();
        removed.retain(|label| !left.contains(label));
        gone.extend(removed.into_iter().map(|label| (axis.get_ref().to_string(), label)));
    }
    gone
}

/// Removes labels that no longer exist from a table of axes and labels; false if an axis keeps none of its labels.
fn keep_present(named: &mut DeTable<'_>, gone: &[Gone]) -> bool {
    named.iter_mut().all(|(axis, labels)| match labels.get_mut() {
        DeValue::Array(labels) => keep_labels(labels, axis.get_ref(), gone),
        DeValue::String(label) => !is_gone(axis.get_ref(), label, gone),
        _ => true,
    })
}

/// Removes labels that no longer exist from a list; false if the list becomes empty.
fn keep_labels(labels: &mut DeArray<'_>, axis: &str, gone: &[Gone]) -> bool {
    let none = labels.is_empty();
    for label in std::mem::replace(labels, DeArray::new()) {
        if !label.get_ref().as_str().is_some_and(|label| is_gone(axis, label, gone)) {
            labels.push(label);
        }
    }
    none || !labels.is_empty()
}

fn is_gone(axis: &str, label: &str, gone: &[Gone]) -> bool {
    gone.iter().any(|(other, lost)| other == axis && lost == label)
}

/// Iterates over one name or a list of names.
fn names<'v>(named: &'v Value<'_>) -> impl Iterator<Item = &'v str> {
    let list = named.get_ref().as_array().map_or(&[][..], |names| &names[..]);
    named.get_ref().as_str().into_iter().chain(list.iter().filter_map(|name| name.get_ref().as_str()))
}

fn label(value: &DeTable<'_>) -> Option<String> {
    Some(value.get("label")?.get_ref().as_str()?.to_owned())
}

#[cfg(test)]
mod tests {
    use crate::scenario::{Scenario, Wishes};

    const NETWORK: &str = "title = \"t\"\nduration = \"1 s\"\n[nodes]\ncount = 2\nplacement = \"chain\"\nspacing = \"30 m\"\n\
        [[flow]]\nname = \"f\"\nfrom = \"n0\"\nto = \"n1\"\ntraffic = { kind = \"saturated\", packet = \"500 B\" }\n";

    fn claim(id: &str, labels: &str) -> String {
        format!(
            "[[claim]]\nid = \"{id}\"\nsays = \"s\"\nsource = \"o\"\nmeasure = \"flows.f.goodput_bps\"\n\
             where = {{ access = {labels} }}\nholds = \"> 0\"\n"
        )
    }

    fn read(text: &str, sets: &[&str]) -> Result<Scenario, String> {
        let wishes = Wishes { set: sets.iter().map(|&set| set.to_owned()).collect(), ..Wishes::default() };
        Scenario::parse("t.toml", text.as_bytes(), &wishes).map_err(|refusal| refusal.to_string())
    }

    /// Returns the sweep of a scenario with the conventions of ns-2, and the sweep for the standard alone.
    fn both() -> (String, String) {
        let rts = "[vary]\naccess = [\n{ label = \"basic\", ONLYset = { \"mac.rts_threshold\" = \"off\" } },\n\
            { label = \"RTS\", ONLYset = { \"mac.rts_threshold\" = \"0 B\" } },\nNS2]\nwindow = [\n\
            { label = \"small\", only = { access = \"basic\" }, set = { \"mac.cw_min\" = 15 } },\n\
            { label = \"large\", only = { access = [\"RTS\"OR] }, set = { \"mac.cw_min\" = 63 } },\n]\n";
        let with = rts
            .replace("ONLY", "only = { conventions = \"standard\" }, ")
            .replace("NS2", "{ label = \"ns-2\", only = { conventions = \"ns-2\" }, set = {} },\n")
            .replace("OR", ", \"ns-2\"");
        let without = rts.replace("ONLY", "").replace("NS2", "").replace("OR", "");
        let claims = claim("a", "\"basic\"") + &claim("b", "\"RTS\"");
        let both = format!("conventions = \"ns-2\"\n{NETWORK}{with}{claims}{}", claim("c", "[\"basic\", \"ns-2\"]"));
        (both, format!("{NETWORK}{without}{claims}{}", claim("c", "[\"basic\"]")))
    }

    #[test]
    fn each_conventions_have_their_values_and_claims() {
        let (text, _) = both();
        let told = |scenario: &Scenario| {
            let cases: Vec<String> = scenario
                .cases
                .iter()
                .map(|case| format!("{} {}", case.labels["access"], case.labels["window"]))
                .collect();
            let claims: Vec<String> = scenario.claims.iter().map(|claim| claim.id.clone()).collect();
            (cases.join(", "), claims.join(" "))
        };
        let own = read(&text, &[]).expect("valid");
        assert_eq!(told(&own), ("ns-2 large".to_owned(), "c".to_owned()));
        let standard = read(&text, &["conventions=standard"]).expect("valid");
        assert_eq!(told(&standard), ("basic small, RTS large".to_owned(), "a b c".to_owned()));
    }

    #[test]
    fn the_hashes_are_those_of_a_file_without_the_others() {
        let (text, alone) = both();
        let (set, alone) = (read(&text, &["conventions=standard"]).unwrap(), read(&alone, &[]).unwrap());
        assert_eq!(set.hashes, alone.hashes);
        assert_ne!(read(&text, &[]).unwrap().hashes.get("c"), alone.hashes.get("c"));
    }
}
