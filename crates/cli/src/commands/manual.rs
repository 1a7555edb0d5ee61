//! What documents the command itself: completions, manual pages, the scenario's reference.

use crate::args::Args;
use crate::console::print;
use crate::failure::Failure;
use clap::CommandFactory as _;
use clap_complete::Shell;
use lab::store::write_whole;
use std::path::Path;

pub(super) fn completions(shell: Shell) -> Result<(), Failure> {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut Args::command(), "sluice", &mut text);
    print(&String::from_utf8_lossy(&text))
}

pub(super) fn man(folder: Option<&Path>) -> Result<(), Failure> {
    let Some(folder) = folder else {
        let mut text = Vec::new();
        let rendered = clap_mangen::Man::new(Args::command()).render(&mut text);
        rendered.map_err(|error| Failure::failed(format!("cannot make the manual page: {error}")))?;
        return print(&String::from_utf8_lossy(&text));
    };
    let written = std::fs::create_dir_all(folder).and_then(|()| clap_mangen::generate_to(Args::command(), folder));
    written.map_err(|error| Failure::wrong(format!("cannot write {}: {error}", folder.display())))
}

pub(super) fn docs(folder: &Path) -> Result<(), Failure> {
    write_whole(&folder.join("scenario.md"), lab::schema::markdown().as_bytes())?;
    write_whole(&folder.join("scenario.schema.json"), lab::schema::json_text().as_bytes())?;
    Ok(())
}
