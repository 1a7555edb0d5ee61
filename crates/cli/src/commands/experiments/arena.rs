use super::reproduce::reproduce;
use crate::args;
use crate::console::print;
use crate::failure::{Failure, HOLDS};
use experiment::homes::Home;
use lab::store::{make_folder, write_whole};

/// Runs all hazards or random homes, or writes the homes as scenarios.
pub(super) fn arena(args: args::Arena) -> Result<u8, Failure> {
    let Some(folder) = args.write.clone() else { return reproduce(args.into()) };
    make_folder(&folder)?;
    for Home { number, text, .. } in args.drawn().unwrap_or_default() {
        let file = folder.join(format!("home-{number}.toml"));
        write_whole(&file, text.as_bytes())?;
        print(&format!("{}\n", file.display()))?;
    }
    Ok(HOLDS)
}
