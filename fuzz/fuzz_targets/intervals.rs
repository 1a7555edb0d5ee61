//! Reading a recording of intervals never panics, whatever the bytes; nor does replaying it into any controller, nor making
//! a scenario of it, which can be read or is refused with a sentence.

#![no_main]

use control::{AnyController, Limit, Name, Parameters};
use experiment::scenario::{Scenario, Wishes};
use lab::recorded;
use lab::recording::{decide, read};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let recording = match read(bytes) {
        Ok(recording) => recording.decisions,
        Err(error) => return assert!(error.to_string().starts_with("line ")),
    };
    for name in Name::ALL {
        for limit in [Limit::Packets(1_000), Limit::Bytes(units::Bytes::new(64_000))] {
            let mut controller =
                AnyController::new(*name, &Parameters::default(), &limit.into()).expect("the defaults are sound");
            assert_eq!(decide(&recording, &mut controller).len(), recording.len());
        }
    }
    match recorded::scenario(&recording, "fuzz.jsonl") {
        Ok(text) => {
            if let Err(refusal) = Scenario::parse("copy.toml", text.as_bytes(), &Wishes::default()) {
                assert!(!refusal.to_string().contains("expected"), "{refusal}");
            }
        }
        Err(why) => assert!(!why.to_string().is_empty()),
    }
});
