//! `sluice new`.

use crate::console::print;
use crate::failure::Failure;
use lab::store::write_whole;
use std::fs;
use std::io::ErrorKind;
use std::path::Path;

const SCENARIO: &str = include_str!("new.toml");
/// The lines of the example that depend on the standard.
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
    // Slow, so that a FIFO of 1000 packets is long, as in the claims.
    let mcs = "mcs = 1                                 # or: rate_control = \"minstrel\"\n";
    let modes = match standard {
        "802.11b" => "data_rate = \"11 Mb/s\"\n".to_owned(),
        "802.11n" => format!("channel_width = \"20 MHz\"                # or 40 MHz\n{mcs}"),
        "802.11ac" | "802.11ax" => {
            format!("channel_width = \"20 MHz\"                # 20, 40, 80, 160 MHz\nstreams = 1\n{mcs}")
        }
        _ => "data_rate = \"54 Mb/s\"                   # or: rate_control = \"minstrel\"\n".to_owned(),
    };
    SCENARIO.replace(RADIO, &format!("standard = \"{standard}\"\n{modes}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_has_the_lines_that_a_standard_replaces() {
        assert_eq!(scenario("802.11g").matches("54 Mb/s").count(), 1);
        let wide = scenario("802.11ax");
        assert!(wide.contains("standard = \"802.11ax\"\nchannel_width") && !wide.contains("data_rate"), "{wide}");
    }
}
