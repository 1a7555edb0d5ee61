//! The commands that simulate.

mod check;
#[cfg(feature = "evidence")]
mod claims;
#[cfg(target_os = "linux")]
mod emulate;
mod forecast;
mod new;
mod replay;
mod report;
mod reproduce;
mod run;
mod scenario_from;
mod targets;

use crate::args::Experiment;
use crate::console::print;
use crate::failure::{Failure, HOLDS};
use experiment::scenario::schema;
use lab::store::{make_folder, write_whole};
use std::path::Path;

pub(super) fn experiment(experiment: Experiment) -> Result<u8, Failure> {
    match experiment {
        Experiment::Run(args) => run::run(args),
        #[cfg(target_os = "linux")]
        Experiment::Emulate(args) => emulate::emulate(&args),
        #[cfg(target_os = "linux")]
        Experiment::Enter(args) => emulate::enter(&args),
        Experiment::Reproduce(args) => reproduce::reproduce(args),
        Experiment::Arena(args) => reproduce::arena(args),
        Experiment::New(args) => new::new(&args.file, &args.standard).map(|()| HOLDS),
        Experiment::Check(args) => check::check(&args).map(|()| HOLDS),
        #[cfg(feature = "evidence")]
        Experiment::Claims(args) => claims::claims(&args),
        Experiment::List(args) => check::list(&args.targets).map(|()| HOLDS),
        Experiment::Report(args) => report::report(&args.folder, args.out).map(|()| HOLDS),
        Experiment::Replay(args) => replay::replay(&args).map(|()| HOLDS),
        Experiment::Forecast(args) => forecast::run(&args).map(|()| HOLDS),
        Experiment::ScenarioFrom(args) => scenario_from::scenario_from(&args).map(|()| HOLDS),
        Experiment::Schema => print(&schema::json_text()).map(|()| HOLDS),
        Experiment::Docs { folder } => docs(&folder).map(|()| HOLDS),
    }
}

fn docs(folder: &Path) -> Result<(), Failure> {
    let reference = folder.join("scenario");
    make_folder(&reference)?;
    for page in schema::pages() {
        write_whole(&reference.join(page.file), page.text.as_bytes())?;
    }
    write_whole(&folder.join("scenario.schema.json"), schema::json_text().as_bytes())?;
    Ok(())
}
