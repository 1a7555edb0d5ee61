//! Tests that reading a file gives a scenario or a refusal, whatever it contains, and never a panic.

use experiment::scenario::{Scenario, Wishes};
use proptest::prelude::*;

const CHAIN: &str = include_str!("../../cli/tests/fixtures/chain.toml");
const INTRO: &str = include_str!("../../../scenarios/buffer-sizing/intro.toml");

/// Words that mean something to the parser, which random text would hardly contain.
const WORDS: &[&str] = &[
    "\"", "'''", "[", "]]", "{", "}", "=", ".", "*", "\n", "\u{0}", "é", "-1", "0", "1e999", "18446744073709551616",
    "nan", "true", "1979-05-27", "\"0 s\"", "\"1e9 s\"", "[vary]", "seeds", "label", "set", "flow", "node", "queue",
    "queue.adth", "flow.*.traffic", "[[claim]]", "[[chart]]", "where", "vary = 1", "a.b.c = {}", "x = []", "..",
];

fn never_panics(bytes: &[u8], wishes: &Wishes) {
    if let Err(refusal) = Scenario::parse("a.toml", bytes, wishes) {
        let text = refusal.to_string();
        assert!(text.starts_with("a.toml") || text.starts_with("--set"), "{text}");
    }
}

#[derive(Clone, Debug)]
enum Edit {
    Delete(usize, usize),
    Insert(usize, &'static str),
    Copy(usize, usize, usize),
    Byte(usize, u8),
}

fn edit() -> impl Strategy<Value = Edit> {
    let place = || 0..CHAIN.len().max(INTRO.len());
    prop_oneof![
        (place(), 1_usize..40).prop_map(|(at, length)| Edit::Delete(at, length)),
        (place(), prop::sample::select(WORDS)).prop_map(|(at, word)| Edit::Insert(at, word)),
        (place(), 1_usize..200, place()).prop_map(|(from, length, to)| Edit::Copy(from, length, to)),
        (place(), any::<u8>()).prop_map(|(at, byte)| Edit::Byte(at, byte)),
    ]
}

fn apply(bytes: &mut Vec<u8>, edit: &Edit) {
    let inside = |at: usize| at.min(bytes.len());
    match *edit {
        Edit::Delete(at, length) => drop(bytes.drain(inside(at)..inside(at + length))),
        Edit::Insert(at, word) => {
            let at = inside(at);
            bytes.splice(at..at, word.bytes());
        }
        Edit::Copy(from, length, to) => {
            let (part, to) = (bytes[inside(from)..inside(from + length)].to_vec(), inside(to));
            bytes.splice(to..to, part);
        }
        Edit::Byte(at, byte) => {
            if let Some(place) = bytes.get_mut(at) {
                *place = byte;
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        never_panics(&bytes, &Wishes::default());
    }

    #[test]
    fn any_edits_of_a_scenario(text in prop::sample::select(vec![CHAIN, INTRO]), edits in prop::collection::vec(edit(), 1..6)) {
        let mut bytes = text.as_bytes().to_vec();
        for edit in &edits {
            apply(&mut bytes, edit);
        }
        never_panics(&bytes, &Wishes::default());
    }

    #[test]
    fn any_setting(path in "[a-z.*_0-9]{0,30}", value in "\\PC{0,20}") {
        let known = format!("flow.*.{path}={value}");
        for set in [format!("{path}={value}"), known, value] {
            never_panics(CHAIN.as_bytes(), &Wishes { set: vec![set], ..Wishes::default() });
        }
    }
}
