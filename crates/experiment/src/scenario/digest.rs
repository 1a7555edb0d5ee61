//! Hashes of everything that determines the verdicts on claims. They show which rows of a record are out of date.
//!
//! The hashes cover the text of the file and its base, not the structs that read it. So a new key of this version that
//! no scenario sets changes no hash. Descriptions are left out.

use super::document::Value;
use crate::study::Side;
use serde_json::{Map, Value as Json, json};
use std::collections::BTreeMap;
use toml::de::{DeTable, DeValue};

/// Keys of a claim that do not change its verdict in full runs.
const WORDS: [&str; 10] = ["id", "says", "source", "reported", "headline", "statement", "why", "cause", "full", "unit"];

/// Everything that determines the verdict on each claim of a scenario.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Hashes {
    /// Hash of the network, sweep and conventions.
    sweep: String,
    /// The rule of each claim, under the claim's id.
    rules: BTreeMap<String, BTreeMap<String, Json>>,
}

impl Hashes {
    /// Computes the hashes of a file. `root` is the whole file, `network` its network without variations.
    pub(super) fn of(root: &DeTable, network: &DeTable) -> Self {
        let claims = root.get("claim").and_then(|claims| claims.get_ref().as_array());
        let Some(claims) = claims else { return Self::default() };
        let mut sweep = Map::new();
        sweep.insert("network".to_owned(), table(network, &[]));
        for key in ["vary", "rulings", "model"] {
            sweep.insert(key.to_owned(), root.get(key).map_or(Json::Null, value));
        }
        let of_claim = |claim: &DeTable| {
            let id = claim.get("id").and_then(|id| id.get_ref().as_str()).unwrap_or_default().to_owned();
            (id, sorted(claim, &WORDS))
        };
        let tables = claims.iter().filter_map(|claim| claim.get_ref().as_table());
        Self { sweep: hash(&Json::Object(sweep)), rules: tables.map(of_claim).collect() }
    }

    /// Returns the hash of everything that determines the ruling on a claim.
    pub fn get(&self, claim: &str) -> Option<String> {
        Some(self.with(self.rules.get(claim)?.clone()))
    }

    /// Returns the hash that the claim would have with this window and better side.
    pub fn with_window(&self, claim: &str, holds: &str, better: Option<Side>) -> Option<String> {
        let mut rule = self.rules.get(claim)?.clone();
        rule.insert("holds".to_owned(), json!(holds));
        rule.remove("better");
        rule.extend(better.map(|side| ("better".to_owned(), json!(side))));
        Some(self.with(rule))
    }

    fn with(&self, rule: BTreeMap<String, Json>) -> String {
        hash(&json!([self.sweep, rule.into_iter().collect::<Map<_, _>>()]))
    }
}

/// FNV-1a with 128 bits. Unlike the standard library's hashes, it is the same on all machines and in all versions.
pub fn fingerprint(bytes: &[u8]) -> u128 {
    const OFFSET: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
    const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;
    bytes.iter().fold(OFFSET, |hash, byte| (hash ^ u128::from(*byte)).wrapping_mul(PRIME))
}

/// Returns sixteen hexadecimal digits.
fn hash(value: &Json) -> String {
    let whole = fingerprint(value.to_string().as_bytes());
    format!("{:016x}", (whole >> 64) ^ (whole & u128::from(u64::MAX)))
}

/// Returns a table with its keys in alphabetical order.
fn table(table: &DeTable, without: &[&str]) -> Json {
    Json::Object(sorted(table, without).into_iter().collect())
}

fn sorted(table: &DeTable, without: &[&str]) -> BTreeMap<String, Json> {
    let kept = table.iter().filter(|(key, _)| !without.contains(&key.get_ref().as_ref()));
    kept.map(|(key, inner)| (key.get_ref().to_string(), value(inner))).collect()
}

fn value(written: &Value) -> Json {
    match written.get_ref() {
        DeValue::String(text) => json!(text),
        DeValue::Integer(number) => json!({ "number": number.to_string() }),
        DeValue::Float(number) => json!({ "number": number.to_string() }),
        DeValue::Boolean(flag) => json!(flag),
        DeValue::Datetime(time) => json!(time.to_string()),
        DeValue::Array(elements) => elements.iter().map(value).collect(),
        DeValue::Table(inner) => table(inner, &[]),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Scenario, Wishes};
    use super::*;

    const CHAIN: &str = include_str!("../../../cli/tests/fixtures/chain.toml");

    fn hashes(text: &str, set: &[&str]) -> BTreeMap<String, String> {
        let hashes = loaded(text, set);
        hashes.rules.keys().map(|id| (id.clone(), hashes.get(id).unwrap())).collect()
    }

    fn loaded(text: &str, set: &[&str]) -> Hashes {
        let wishes = Wishes { set: set.iter().map(|&set| set.to_owned()).collect(), ..Wishes::default() };
        Scenario::parse("chain.toml", text.as_bytes(), &wishes).unwrap().hashes
    }

    #[test]
    fn a_former_window_has_its_former_hash() {
        let before = CHAIN.replacen("[[claim]]", "[[claim]]\nbetter = \"above\"", 1);
        let (now, then) = (loaded(CHAIN, &[]), loaded(&before, &[]));
        let (id, rule) = now.rules.first_key_value().unwrap();
        let window = rule["holds"].as_str().unwrap();
        assert_eq!(now.with_window(id, window, Some(Side::Above)), then.get(id));
        assert_ne!(now.with_window(id, "> 7", Some(Side::Above)), then.get(id));
        assert_eq!(now.with_window(id, window, None), now.get(id));
    }

    #[test]
    fn words_do_not_count_and_all_else_does() {
        let plain = hashes(CHAIN, &[]);
        assert_eq!(plain.len(), CHAIN.matches("[[claim]]").count());
        let reworded = CHAIN.replace("[[claim]]", "[[claim]]\nwhy = \"It rains.\"\nheadline = true").replacen(
            "title = \"",
            "# A remark.\ntitle = \"Another ",
            1,
        );
        assert_eq!(hashes(&reworded, &[]), plain);
        let changed = |other: &BTreeMap<String, String>| plain.iter().filter(|(id, hash)| other[*id] != **hash).count();
        assert_eq!(changed(&hashes(&CHAIN.replacen("[[claim]]", "[[claim]]\nseeds = \"some\"", 1), &[])), 1);
        let seeds = CHAIN.replace("seeds = 2", "seeds = 3");
        for other in [hashes(CHAIN, &["conventions=ns-2"]), hashes(CHAIN, &["mac.cw_min=31"]), hashes(&seeds, &[])] {
            assert_eq!(changed(&other), plain.len());
        }
    }
}
