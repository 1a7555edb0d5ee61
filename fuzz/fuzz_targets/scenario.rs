//! Reading a scenario never panics, whatever the bytes; nor does telling what is wrong with them.

#![no_main]

use lab::scenario::{Scenario, Wishes};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Err(refusal) = Scenario::parse("fuzz.toml", bytes, &Wishes::default()) {
        assert!(!refusal.to_string().is_empty());
    }
});
