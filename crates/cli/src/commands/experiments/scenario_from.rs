//! `sluice scenario-from`.

use super::replay::read;
use crate::args;
use crate::console::print;
use crate::failure::Failure;
use lab::recorded;
use lab::store::write_whole;

pub(super) fn scenario_from(args: &args::ScenarioFrom) -> Result<(), Failure> {
    let name = args.recording.display();
    let recording = read(&args.recording)?;
    let text = recorded::scenario(&recording, &name.to_string())
        .map_err(|why| Failure::wrong(format!("{name} makes no scenario: {why}")))?;
    match &args.out {
        None => print(&text),
        Some(out) => Ok(write_whole(out, text.as_bytes())?),
    }
}
