//! `sluice replay`.

use super::live::{controller, line, row, settings};
use crate::args;
use crate::console::print;
use crate::failure::Failure;
use control::LimitController as _;
use linux::recording;
use std::fs::File;
use std::io::BufReader;

pub(super) fn replay(args: &args::Replay) -> Result<(), Failure> {
    let settings = settings(&args.policy)?;
    let mut controller = controller(&settings)?;
    let name = args.file.display();
    let file = File::open(&args.file).map_err(|error| Failure::wrong(format!("cannot read {name}: {error}")))?;
    let recorded = recording::read(BufReader::new(file)).map_err(|error| Failure::wrong(format!("{name}: {error}")))?;
    if recorded.is_empty() {
        return Err(Failure::wrong(format!("{name} holds no interval")));
    }
    let needs_service = controller.measures().service_weight.is_some();
    if needs_service && recorded.iter().all(|decision| decision.seen.service_ewma.is_none()) {
        let controller = controller.name().as_str();
        return Err(Failure::wrong(format!(
            "{name} holds no service times, which {controller} needs: record with --controller {controller}"
        )));
    }
    let decided = recording::replay(&recorded, &mut controller);
    if args.json {
        let lines: Result<String, Failure> = decided.iter().map(line).collect();
        return print(&lines?);
    }
    let rows = recorded.iter().zip(&decided);
    let rows: Vec<String> = rows.map(|(was, is)| format!("{}  (was {})\n", row(is), was.limit)).collect();
    print(&rows.concat())
}
