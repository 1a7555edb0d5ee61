//! Reading what iw says of an interface never panics, whatever the text, and what it is read as is a scenario or is refused
//! with a sentence.

#![no_main]

use experiment::scenario::{Scenario, Wishes};
use lab::interface;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| match interface::read(text).and_then(|it| interface::scenario(&it, "fuzz.txt")) {
    Ok(text) => assert!(Scenario::parse("copy.toml", text.as_bytes(), &Wishes::default()).is_ok(), "{text}"),
    Err(why) => assert!(!why.to_string().is_empty()),
});
