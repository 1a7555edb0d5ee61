use crate::console::print;
use crate::failure::Failure;
use experiment::shell::quoted;
use lab::store::write_whole;
use std::fs;
use std::io::ErrorKind;
use std::path::Path;

const SCENARIO: &str = include_str!("new.toml");
/// Lines of the example that depend on the standard.
const RADIO: &str = "\
standard = \"802.11g\"                    # 802.11a, b, g, or with EDCA and A-MPDU n, ac, ax
data_rate = \"54 Mb/s\"                   # or, instead of this line:
";

/// Writes an example scenario; an existing file is not overwritten.
pub(super) fn new(file: &Path, standard: &str) -> Result<(), Failure> {
    let shown = file.display();
    fs::File::options().write(true).create_new(true).open(file).map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => Failure::wrong(format!("{shown}: already exists; name another file")),
        _ => Failure::unwritten(&error, &shown),
    })?;
    // The empty file has reserved the name, and is removed if the disk is full.
    write_whole(file, scenario(standard).as_bytes()).inspect_err(|_| drop(fs::remove_file(file)))?;
    let next = quoted(&shown.to_string());
    print(&format!("{shown}: a scenario with a comment for every part; try `sluice reproduce {next}`\n"))
}

/// Returns the example with the radio of a standard. With a fast radio no TCP flow fills a queue within seconds, so
/// load, queue and claims differ.
fn scenario(standard: &str) -> String {
    let modes = match standard {
        "802.11b" => "data_rate = \"11 Mb/s\"                   # or, instead of this line:\n".to_owned(),
        // A slow rate makes a FIFO of 1000 packets long, as the claims say.
        "802.11n" => "channel_width = \"20 MHz\"                # or 40 MHz\n\
                      mcs = 1                                 # or, instead of this line:\n"
            .to_owned(),
        "802.11ac" => fast(9),
        "802.11ax" => fast(11),
        _ => "data_rate = \"54 Mb/s\"                   # or, instead of this line:\n".to_owned(),
    };
    let text = SCENARIO.replace(RADIO, &format!("standard = \"{standard}\"\n{modes}"));
    if !matches!(standard, "802.11ac" | "802.11ax") {
        return text;
    }
    FAST.iter().fold(text, |text, (slow, fast)| {
        debug_assert!(text.contains(slow), "the example has {slow}");
        text.replace(slow, fast)
    })
}

fn fast(mcs: u8) -> String {
    format!(
        "channel_width = \"80 MHz\"                # 20, 40, 80, 160 MHz\n\
         streams = 2                             # spatial streams: 1 to 8\n\
         mcs = {mcs:<2}                                # or, instead of this line:\n"
    )
}

/// Lines of the example that differ with a fast standard.
const FAST: [(&str, &str); 10] = [
    ("a download and a game", "a backup and a game"),
    ("does a download do", "does a backup do"),
    ("duration = \"40 s\"\nwarmup = \"10 s\" ", "duration = \"4 s\"\nwarmup = \"1 s\"  "),
    ("rate = \"1 Gb/s\"\ndelay = \"20 ms\"", "rate = \"2.5 Gb/s\"\ndelay = \"2 ms\""),
    (
        "limit = 1000                            # packets, or a size: \"64 kB\"",
        "limit = 10000                           # packets, or a size: \"8 MB\"",
    ),
    (
        "transport = \"tcp\"\ntraffic = { kind = \"greedy\" }           # as much as TCP can send",
        "traffic = { kind = \"cbr\", rate = \"2 Gb/s\", packet = \"1472 B\" }   # over UDP, more than the radio carries",
    ),
    ("FIFO of 1000", "FIFO of 10000"),
    ("1000 packets of 1500 B take half a second at 24 Mb/s", "10000 packets of 1500 B take 0.12 s at 1 Gb/s"),
    ("download", "backup"),
    ("series = \"500 ms\"", "series = \"100 ms\""),
];

#[cfg(test)]
mod tests {
    use super::*;
    use experiment::scenario::{Scenario, Wishes};

    #[test]
    fn the_example_has_the_lines_that_a_standard_replaces() {
        assert_eq!(scenario("802.11g").matches("54 Mb/s").count(), 1);
        for (standard, mcs) in [("802.11ac", "mcs = 9 "), ("802.11ax", "mcs = 11 ")] {
            let wide = scenario(standard);
            assert!(wide.contains(&format!("standard = \"{standard}\"\nchannel_width = \"80 MHz\"")), "{wide}");
            assert!(wide.contains("\nstreams = 2 ") && wide.contains(mcs) && !wide.contains("data_rate"), "{wide}");
            assert!(!wide.contains("download") && !wide.contains("greedy"), "{wide}");
        }
    }

    #[test]
    fn rate_control_takes_the_place_of_the_line_that_says_so() {
        for standard in ["802.11b", "802.11g", "802.11n", "802.11ac", "802.11ax"] {
            let text = scenario(standard);
            let (before, after) = text.split_once("# or, instead of this line:\n# [mac.rate_control]\n# algo").unwrap();
            let (kept, _) = before.rsplit_once('\n').unwrap();
            let text = format!("{kept}\n[mac.rate_control]\nalgo{after}");
            let read = Scenario::parse("new.toml", text.as_bytes(), &Wishes::default());
            read.unwrap_or_else(|refusal| panic!("{standard}: {refusal}"));
        }
    }
}
