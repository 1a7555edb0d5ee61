//! Uses of recordings: replays side by side, charts, scenarios.

use crate::command::{sluice, stderr, stdout};
use std::path::Path;
use std::process::Output;

const LINK: &str = r#"
title = "A full link"
duration = "5 s"
[[node]]
name = "a"
role = "wired"
[[node]]
name = "b"
role = "wired"
[[wired]]
between = ["a", "b"]
rate = "2 Mb/s"
[[flow]]
name = "load"
from = "a"
to = "b"
traffic = { kind = "cbr", rate = "3 Mb/s", packet = "972 B" }
"#;

/// Runs the command in `folder`; `words` are its arguments, separated by spaces.
fn run(folder: &Path, words: &str) -> Output {
    sluice(folder).args(words.split(' ')).output().unwrap()
}

fn done(folder: &Path, words: &str) -> String {
    let output = run(folder, words);
    assert_eq!(output.status.code(), Some(0), "{words}: {}", stderr(&output));
    stdout(&output)
}

/// Creates a folder with `link.toml` and `link.jsonl`, the recording of the link's queue under eBDP.
fn recorded() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("link.toml"), LINK).unwrap();
    done(folder.path(), "run link.toml --set wired.0.queue.controller=ebdp --record-intervals link.jsonl --node a");
    folder
}

#[test]
fn a_simulated_queue_is_recorded_and_the_same_controller_decides_the_same_over_it() {
    let folder = recorded();
    let recording = std::fs::read_to_string(folder.path().join("link.jsonl")).unwrap();
    assert!(recording.lines().count() > 100);
    assert_eq!(done(folder.path(), "replay link.jsonl --controller ebdp --json"), recording);
}

#[test]
fn controllers_are_replayed_side_by_side_as_text_as_json_and_as_a_picture() {
    let folder = recorded();
    let both = "replay link.jsonl --controller adth --controller alt --target-delay 50ms";
    let text = done(folder.path(), both);
    assert!(text.lines().all(|line| line.contains("  adth ") && line.contains("  alt ")), "{text}");
    let json = done(folder.path(), &format!("{both} --json"));
    let first: serde_json::Value = serde_json::from_str(json.lines().next().unwrap()).unwrap();
    assert!(
        first["limits"]["adth"].is_u64() && first["limits"]["alt"].is_u64() && first["seen"].is_object(),
        "{first}"
    );
    let said = run(folder.path(), &format!("{both} --report link.html"));
    // A build without the charting library says how to get it.
    if said.status.code() == Some(3) {
        assert!(stderr(&said).contains("run `make charts`"), "{}", stderr(&said));
        return;
    }
    assert_eq!(stdout(&said), "report: link.html\n");
    let page = std::fs::read_to_string(folder.path().join("link.html")).unwrap();
    for shown in
        ["limit, recorded", "\"name\":\"adth\"", "target 50 ms", "--target-delay &#39;50 ms&#39;", "Queueing delay"]
    {
        assert!(page.contains(shown), "{shown} is missing");
    }
}

#[test]
fn a_recording_becomes_a_scenario_that_runs() {
    let folder = recorded();
    assert_eq!(done(folder.path(), "scenario-from link.jsonl -o copy.toml"), "");
    let json = done(folder.path(), "run copy.toml --set wired.0.queue.controller=adth --json");
    let run: serde_json::Value = serde_json::from_str(&json).unwrap();
    // 2 Mb/s with the headers of IP and UDP.
    let goodput = run["flows"][0]["goodput_bps"].as_f64().unwrap();
    assert!((goodput / (2e6 * 0.972) - 1.0).abs() < 0.02, "{goodput}");
    assert!(done(folder.path(), "scenario-from link.jsonl").starts_with("title = "));
}

/// What iw says of an access point with a station of 802.11ac and one of 802.11ax.
const IW: &str = "Interface wlan0\n\ttype AP\n\tchannel 36 (5180 MHz), width: 80 MHz, center1: 5210 MHz\n\
    Station 02:00:00:00:00:01 (on wlan0)\n\ttx bitrate:\t650.0 MBit/s VHT-MCS 7 80MHz short GI VHT-NSS 2\n\
    Station 02:00:00:00:00:02 (on wlan0)\n\ttx bitrate:\t1200.9 MBit/s 80MHz HE-MCS 11 HE-NSS 2 HE-GI 0 HE-DCM 0\n\
    \trx bitrate:\t720.6 MBit/s 80MHz HE-MCS 7 HE-NSS 2 HE-GI 0 HE-DCM 0\n";

#[test]
fn what_iw_says_of_an_access_point_becomes_a_scenario_that_runs() {
    let folder = recorded();
    std::fs::write(folder.path().join("wlan0.txt"), IW).unwrap();
    assert_eq!(done(folder.path(), "scenario-from wlan0.txt -o wlan0.toml"), "");
    let json = done(folder.path(), "run wlan0.toml --set duration=1s --set warmup=0.5s --json");
    let results: serde_json::Value = serde_json::from_str(&json).unwrap();
    let goodput = results["totals"]["goodput_bps"].as_f64().unwrap();
    assert!(goodput > 2e8, "{goodput}");
    // Older ones are copied too, at 2.4 GHz beside 802.11ax: one that is idle is counted as left out.
    let low = IW.replace("36 (5180 MHz), width: 80", "6 (2437 MHz), width: 20").replace("80MHz ", "");
    let old = |rates: [&str; 4]| {
        rates
            .map(|rate| format!("Station 02:00:00:00:00:{}0 (on wlan0)\n\ttx bitrate:\t{rate} MBit/s\n", &rate[..1]))
            .concat()
    };
    std::fs::write(folder.path().join("old.txt"), low + &old(["11.0", "54.0", "24.0", "6.0"])).unwrap();
    let copied = run(folder.path(), "scenario-from old.txt -o old.toml");
    assert!(copied.status.success() && stderr(&copied).contains("1 of 6 stations are left out"), "{}", stderr(&copied));
    let said = done(folder.path(), "check old.toml");
    assert!(said.contains("old.toml"), "{said}");
    let json = done(folder.path(), "run old.toml --set duration=2s --set warmup=0.5s --json");
    let results: serde_json::Value = serde_json::from_str(&json).unwrap();
    let flows = results["flows"].as_array().unwrap();
    for flow in flows.iter().filter(|flow| flow["name"].as_str().unwrap().starts_with("down")) {
        assert!(flow["goodput_bps"].as_f64().unwrap() > 1e5, "{flow}");
    }
    std::fs::write(folder.path().join("bad.txt"), IW.replace("width: 80", "width: 90")).unwrap();
    let refused = run(folder.path(), "scenario-from bad.txt");
    assert_eq!(refused.status.code(), Some(2));
    assert!(stderr(&refused).contains("cannot make a scenario from bad.txt: line 3: "), "{}", stderr(&refused));
}

#[test]
fn a_recording_that_was_cut_off_is_replayed_but_for_its_last_line() {
    let folder = recorded();
    let recording = std::fs::read_to_string(folder.path().join("link.jsonl")).unwrap();
    std::fs::write(folder.path().join("cut.jsonl"), &recording[..recording.len() - 40]).unwrap();
    let lines = recording.lines().count();
    let whole = recording.lines().take(lines - 1).collect::<Vec<_>>().join("\n") + "\n";
    let output = run(folder.path(), "replay cut.jsonl --controller ebdp --json");
    assert_eq!((output.status.code(), stdout(&output)), (Some(0), whole));
    let warning = format!("warning: cut.jsonl: the last line ({lines}) was cut off and is left out\n");
    assert_eq!(stderr(&output), warning);
    let output = run(folder.path(), "scenario-from cut.jsonl -o copy.toml");
    assert_eq!((output.status.code(), stderr(&output)), (Some(0), warning));
}

#[test]
fn what_cannot_be_used_is_refused_with_its_reason() {
    let folder = recorded();
    for (words, why) in [
        ("run link.toml --record-intervals x", "only one queue can be recorded: choose one of"),
        ("run link.toml --record-intervals x --node a --queue be", "choose one of a wired-to-b with"),
        ("scenario-from link.toml", "it is no recording, output of iw with interfaces, CSV with columns"),
        ("scenario-from link.jsonl -o link.jsonl", "link.jsonl is what the command reads: name another file to write"),
        ("run link.toml --trace link.toml", "link.toml is what the command reads"),
        ("run link.toml --node a", "--pcap <DIR>|--trace <FILE>|--record-intervals <FILE>"),
        ("arena --quick --first 7", "cannot be used with"),
        ("attach lo --dry-run --backend knobs", "cannot be used with"),
        ("scenario-from none", "cannot read none: neither a file nor a Wi-Fi interface of this machine has this name"),
        ("scenario-from lo", "cannot read lo: neither a file"),
        ("replay link.jsonl --controller adht", "adht"),
    ] {
        let refused = run(folder.path(), words);
        assert_eq!(refused.status.code(), Some(2), "{words}");
        assert!(stderr(&refused).contains(why), "{words}: {}", stderr(&refused));
    }
    std::fs::write(folder.path().join("empty"), "").unwrap();
    let refused = run(folder.path(), "scenario-from empty");
    assert!(stderr(&refused).contains("empty: it is no recording"), "{}", stderr(&refused));
}

#[test]
fn a_forecast_says_why_it_cannot_tell_or_what_is_wrong() {
    let folder = recorded();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write("wlan0.txt", IW);
    write("none.jsonl", "");
    let station = r#"{"address":"station 1","sent_bytes":0,"received_bytes":0,"sent_mode":{"format":"HE","mcs":7,"streams":2,"width_mhz":80}}"#;
    let idle = r#"{"address":"station 2","sent_mode":{"format":"non-HT","mcs":null,"streams":null,"width_mhz":20}}"#;
    let line =
        |at: u32| format!("{{\"air\":{{\"role\":\"access point\",\"stations\":[{station},{idle}]}},\"at_s\":{at}}}\n");
    write("blind.jsonl", &(0..60).map(line).collect::<String>());
    write("short.jsonl", &line(0));
    write("legacy.jsonl", &(0..60).map(|at| line(at).replace("HE", "non-HT")).collect::<String>());
    write("alone.jsonl", "{\"air\":{\"role\":\"access point\"},\"at_s\":0}\n{\"air\":{},\"at_s\":60}\n");
    write("sta.jsonl", &(0..60).map(|at| line(at).replace("access point", "station")).collect::<String>());
    for (file, why) in [
        ("wlan0.txt", "Cannot tell, because iw lists the stations, but neither their traffic nor that of other cells"),
        ("blind.jsonl", "Cannot tell, because the driver does not report how busy other cells keep the channel"),
    ] {
        let told = done(folder.path(), &format!("forecast {file}"));
        assert!(told.starts_with(why), "{told}");
    }
    let json: serde_json::Value = serde_json::from_str(&done(folder.path(), "forecast blind.jsonl --json")).unwrap();
    assert_eq!((&json["forecast"]["stations"], &json["forecast"]["legacy"]), (&2.into(), &1.into()), "{json}");
    for (words, why) in [
        ("forecast nowhere", "nowhere cannot be read as a file (No such file"),
        (
            "forecast none.jsonl",
            "none.jsonl contains neither a radio's measurements nor output of iw: record a Wi-Fi interface",
        ),
        ("forecast link.jsonl", "link.jsonl contains neither a radio's measurements"),
        ("forecast short.jsonl", "short.jsonl covers less than a second"),
        ("forecast legacy.jsonl", "legacy.jsonl contains no station of 802.11n or newer"),
        ("forecast alone.jsonl", "alone.jsonl contains no station"),
        ("forecast sta.jsonl", "sta.jsonl was not recorded on an access point"),
    ] {
        let refused = run(folder.path(), words);
        assert_eq!(refused.status.code(), Some(2), "{words}");
        assert!(stderr(&refused).contains(why), "{words}: {}", stderr(&refused));
    }
}
