//! `sluice scenario-from`.

use super::replay::read;
use crate::args;
use crate::console::print;
use crate::failure::Failure;
use lab::store::write_whole;
use lab::{interface, recorded};

pub(super) fn scenario_from(args: &args::ScenarioFrom) -> Result<(), Failure> {
    let name = args.recording.display();
    let unusable = |why: &dyn std::fmt::Display| Failure::wrong(format!("{name} makes no scenario: {why}"));
    // What cannot be read as text is refused as a recording.
    let text = std::fs::read_to_string(&args.recording).unwrap_or_default();
    if interface::is_interface(&text) {
        let scenario = interface::scenario(&text, &name.to_string()).map_err(|why| unusable(&why))?;
        return finish(args, &scenario);
    }
    let recording = read(&args.recording)?;
    let text = recorded::scenario(&recording, &name.to_string()).map_err(|why| unusable(&why))?;
    finish(args, &text)
}

fn finish(args: &args::ScenarioFrom, text: &str) -> Result<(), Failure> {
    match &args.out {
        None => print(text),
        Some(out) => Ok(write_whole(out, text.as_bytes())?),
    }
}
