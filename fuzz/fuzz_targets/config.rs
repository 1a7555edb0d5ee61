//! Reading an agent's configuration never panics, whatever the bytes, nor does telling what is wrong with them.

#![no_main]

use experiment::scenario::parse;
use libfuzzer_sys::fuzz_target;
use linux::agent::config::Config;
use std::path::Path;

fuzz_target!(|bytes: &[u8]| {
    match parse::<Config>("agent.toml", bytes) {
        Ok(config) => {
            if let Err(why) = config.wishes(Path::new("/run/sluice")) {
                assert!(!why.is_empty());
            }
        }
        Err(refusal) => assert!(!refusal.to_string().is_empty()),
    }
});
