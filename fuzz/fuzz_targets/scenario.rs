//! Reading a scenario never panics, whatever the bytes; nor does telling what is wrong with them. What follows the first
//! NUL byte is a `--set` argument.

#![no_main]

use experiment::scenario::{Scenario, Wishes};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let mut parts = bytes.splitn(2, |byte| *byte == 0);
    let file = parts.next().unwrap_or_default();
    let set = parts.next().map(|set| String::from_utf8_lossy(set).into_owned()).into_iter().collect();
    if let Err(refusal) = Scenario::parse("fuzz.toml", file, &Wishes { set, ..Wishes::default() }) {
        assert!(!refusal.to_string().is_empty());
    }
});
