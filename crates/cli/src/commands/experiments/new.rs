//! `sluice new`.

use crate::console::print;
use crate::failure::Failure;
use lab::store::write_whole;
use std::fs;
use std::io::ErrorKind;
use std::path::Path;

const SCENARIO: &str = include_str!("new.toml");
/// The lines of the example that depend on the standard: those of the radio, and the FIFO's limit with its reason.
const RADIO: &str = "\
standard = \"802.11g\"                    # 802.11a, b, g, or with EDCA and A-MPDU n, ac, ax
data_rate = \"54 Mb/s\"                   # or: rate_control = \"minstrel\"
";

/// Writes an example scenario; an existing file is not overwritten.
pub(super) fn new(file: &Path, standard: &str) -> Result<(), Failure> {
    let shown = file.display();
    fs::File::options().write(true).create_new(true).open(file).map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => Failure::wrong(format!("{shown}: already exists; name another file")),
        _ => Failure::unwritten(&error, format!("cannot write {shown}: {error}")),
    })?;
    // The empty file reserved the name; it is removed if the disk is full.
    write_whole(file, scenario(standard).as_bytes()).inspect_err(|_| drop(fs::remove_file(file)))?;
    print(&format!("{shown}: a scenario with a comment for every part; try `sluice reproduce {shown}`\n"))
}

/// The example with the radio of a standard.
fn scenario(standard: &str) -> String {
    let modes = match standard {
        "802.11b" => "data_rate = \"11 Mb/s\"\n",
        "802.11n" => "channel_width = \"20 MHz\"                # or 40 MHz\nmcs = 7                                 # or: rate_control = \"minstrel\"\n",
        "802.11ac" | "802.11ax" => {
            "channel_width = \"80 MHz\"                # 20, 40, 80, 160 MHz\nstreams = 2\nmcs = 7                                 # or: rate_control = \"minstrel\"\n"
        }
        _ => "data_rate = \"54 Mb/s\"                   # or: rate_control = \"minstrel\"\n",
    };
    SCENARIO.replace(RADIO, &format!("standard = \"{standard}\"\n{modes}"))
}
