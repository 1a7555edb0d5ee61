//! Writes a report of made-up studies, to look at and for the browser test, without simulating.
//!
//! `cargo run -p sluice-lab --example sample-report -- FILE`

use lab::{report, study};
use std::error::Error;

mod sample;

fn main() -> Result<(), Box<dyn Error>> {
    let file = std::env::args_os().nth(1).ok_or("usage: sample-report FILE")?;
    std::fs::write(file, report::html(&sample::studies())?)?;
    Ok(())
}
