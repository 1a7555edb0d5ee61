//! Bad input is refused with exit status 2, names its place, and leaves earlier results whole.

use crate::command::{CHAIN, scenario, sluice, stderr, stdout};
use std::fs;
use std::path::Path;

/// One fault: the text that is replaced in a valid scenario, and words that the error must contain.
struct Fault {
    from: &'static str,
    to: &'static str,
    says: &'static [&'static str],
}

const fn fault(from: &'static str, to: &'static str, says: &'static [&'static str]) -> Fault {
    Fault { from, to, says }
}

const FAULTS: &[Fault] = &[
    // Keys.
    fault("limit = 200", "limt = 200", &["chain.toml:28:1", "unknown key `limt`", "did you mean `limit`?"]),
    fault("[record]", "[recrod]", &["chain.toml:41:2", "did you mean `record`?"]),
    fault("title = ", "titel = ", &["chain.toml:2:1", "did you mean `title`?"]),
    fault("duration = \"3 s\"", "", &["missing key `duration`", "Simulated time"]),
    fault("packet = \"1000 B\"", "paket = \"1000 B\"", &["chain.toml:38:46", "did you mean `packet`?"]),
    fault(
        "discipline = \"drop-head\"",
        "discipline = \"drop-haed\"",
        &["chain.toml:27:14", "did you mean `drop-head`?"],
    ),
    fault("limit = 200", "phi_max = 1.0", &["chain.toml:28:1", "`phi_max` is a key of [queue.adth]"]),
    fault("[queue]", "[queue", &["chain.toml:26:7", "not TOML"]),
    fault("limit = 200", "\"l\\u001b[31m\" = 200", &["chain.toml:28:1", "unknown key `l\u{fffd}[31m`"]),
    fault("limit = 200", "limit = 2.5", &["chain.toml:28:9: expected a number of packets such as 1000"]),
    fault("[queue]", "[[queue]]", &["chain.toml:26:1: expected one table", "table `[queue]`"]),
    fault("title = \"Two hops, two schemes\"", "title = 5", &["chain.toml:2:9: expected text in quotes"]),
    fault("limit = 200", "a.b.c = 200", &["chain.toml:28:1: unknown key `a`"]),
    fault("limit = 200", "limit = \"200\"", &["chain.toml:28:9: a number of packets is written without quotes"]),
    // Quantities.
    fault(
        "duration = \"3 s\"",
        "duration = \"1e300 s\"",
        &["chain.toml:5:12", "has an exponent; write a duration as a plain"],
    ),
    fault("[\"0 m\", \"0 m\"]", "[\"0 m\"]", &["chain.toml:15:12: expected x and y"]),
    fault("[\"0 m\", \"0 m\"]", "[\"0 m\", \"0 m\", \"2 m\", \"1 m\"]", &["chain.toml:15:12: expected x and y"]),
    fault("deadline = \"200 ms\"", "deadline = \"0 s\"", &["chain.toml:39:12", "always missed"]),
    fault("deadline = \"200 ms\"", "start = \"2 s\"\nstop = \"1 s\"", &["chain.toml:40:8", "stops before it starts"]),
    fault("deadline = \"200 ms\"", "start = \"9 s\"", &["chain.toml:39:9", "before the end of the run"]),
    fault(
        "traffic = { kind = \"cbr\", rate = \"2.5 Mb/s\", packet = \"1000 B\" }",
        "transport = \"tcp\"\ntraffic = { kind = \"transfer\", size = \"1 kB\", every = \"2 us\" }",
        &["chain.toml:39:55", "more than 1000000 transfers"],
    ),
    fault("duration = \"3 s\"", "duration = \"3 m\"", &["chain.toml:5:12", "unknown unit \"m\""]),
    fault("duration = \"3 s\"", "duration = 3", &["chain.toml:5:12"]),
    fault("duration = \"3 s\"", "duration = \"0 s\"", &["chain.toml:5:12", "zero"]),
    fault("duration = \"3 s\"", "duration = \"-3 s\"", &["chain.toml:5:12", "negative"]),
    fault("target_delay = \"100 ms\"", "target_delay = \"0 s\"", &["chain.toml:31:16", "zero"]),
    // The network.
    fault("to = \"n2\"", "to = \"m2\"", &["chain.toml:37:6", "there is no node `m2`", "did you mean `n2`?"]),
    fault("\"50 m\", \"0 m\"", "\"500 m\", \"0 m\"", &["chain.toml:37:6", "no route from `n0` to `n2`"]),
    fault("name = \"n2\"", "name = \"n1\"", &["chain.toml:23:8", "two nodes are called `n1`"]),
    fault("name = \"n2\"", "name = \"n.2\"", &["chain.toml:23:8", "`n.2` cannot be a name"]),
    fault("name = \"n2\"", "name = \"\"", &["chain.toml:23:8", "cannot be a name"]),
    fault(
        "\"queue.controller\" = \"adth\"",
        "\"queue.controller\" = \"none\"",
        &["chain.toml:30:8", "uses the controller `adth`"],
    ),
    fault("series = \"500 ms\"", "series = \"1 ns\"", &["chain.toml:42:10", "more than 1000000 steps"]),
    fault("series = \"500 ms\"", "series = \"0 s\"", &["chain.toml:42:10", "zero"]),
    fault(
        "[record]",
        "[nodes]\ncount = 4000000000\nplacement = \"chain\"\nspacing = \"9 m\"\n[record]",
        &["chain.toml:42:9", "more than 10000 nodes"],
    ),
    // A table of a learned policy that is too large, and one that does not fit its edges.
    fault(
        "[queue.adth]",
        "[queue.learned]\ndelay_edges = [1, 2, 3, 4, 5, 6, 7, 8]\n[queue.adth]",
        &["chain.toml:31:15: expected a list of at most 7"],
    ),
    fault(
        "\"queue.controller\" = \"none\"",
        "\"queue.controller\" = \"learned\", \"queue.learned.factors\" = [[1.0]]",
        &["chain.toml:47:", "`learned.factors` must have a row for each bin of the delay"],
    ),
    // Variations.
    fault(
        "queue.controller\" = \"adth",
        "queue.controler\" = \"adth",
        &["chain.toml:48:31", "did you mean `controller`?"],
    ),
    fault("queue.controller\" = \"adth", "queue.controller\" = \"adht", &["chain.toml:48:52", "did you mean `adth`?"]),
    fault(
        "\"flow.*.traffic.rate\" = [",
        "\"flow.fwd.traffic.rate\" = [",
        &["chain.toml:50:1", "no `[[flow]]` is named `fwd`"],
    ),
    fault("\"0.5 Mb/s\", \"2.5 Mb/s\"]", "\"0.5 Mb/s\", \"fast\"]", &["chain.toml:50:38", "\"fast\" is not a rate"]),
    fault(
        "\"flow.*.traffic.rate\" = [\"0.5 Mb/s\", \"2.5 Mb/s\"]",
        "\"flow.forward.to\" = [\"n2\", \"n9\"]",
        &["chain.toml:50:28", "there is no node `n9`", "in the case flow.forward.to = n9, scheme = FIFO"],
    ),
    fault(
        "seeds = 2",
        "seeds = 2\n\"queue.controller\" = [\"none\", \"adth\"]",
        &["chain.toml:46:1", "`scheme` in `[vary]` sets it"],
    ),
    fault("seeds = 2", "seed = 2", &["chain.toml:45:8", "did you mean `seeds`?"]),
    fault("seeds = 2", "seeds = 2\ntitle = [\"a\"]", &["chain.toml:46:1", "`title` does not describe the network"]),
    fault("seeds = 2", "seeds = 0", &["chain.toml:45:9", "the number of seeds"]),
    fault("label = \"ADTH\"", "label = \"FIFO\"", &["chain.toml:48:5", "two values called `FIFO`"]),
    fault(
        "{ label = \"FIFO\", set = { \"queue.controller\" = \"none\" } },",
        "\"none\",",
        &["chain.toml:47:5: the network has no key `scheme` that takes \"none\"", "{ label = \"small\", set = "],
    ),
    fault(
        "\"flow.*.traffic.rate\" = [",
        "\"flw.*.traffic.rate\" = [",
        &["chain.toml:50:25: the network has no key `flw.*.traffic.rate`", "did you mean `flow`?"],
    ),
    // Titles whose units the values do not have.
    fault(
        "one-way delay (s)",
        "one-way delay (Mb/s)",
        &["chain.toml:76:11: `flows.forward.delay_max_s` is a time, which is not written in"],
    ),
    fault("one-way delay (s)", "one-way delay (milis)", &["chain.toml:76:11", "write (s), (ms)"]),
    fault(
        "[[chart]]",
        "[[table]]\ntitle = \"t\"\nrows = \"scheme\"\ncell = [{ title = \"loss (ms)\", measure = \"totals.loss_ratio\" }]\n[[chart]]",
        &["chain.toml:75:19: `totals.loss_ratio` is a share, which is not written in `(ms)`: write (%)"],
    ),
    // Claims and charts.
    fault(
        "where = { scheme = \"ADTH\" }",
        "where = \"ADTH\"",
        &["chain.toml:57:9: expected a table", "{ scheme = \"ADTH\" }"],
    ),
    fault(
        "where = { \"flow.*.traffic.rate\" = \"0.5 Mb/s\" }",
        "where = { \"flow.*.traffic.rate\" = \"500 kb/s\" }",
        &["chain.toml:67:35: `flow.*.traffic.rate` has no value called `500 kb/s`", "as in `[vary]`: `0.5 Mb/s`"],
    ),
    fault(
        "where = { \"flow.*.traffic.rate\" = \"0.5 Mb/s\" }",
        "where = { flow.fwd.traffic.rate = \"0.5 Mb/s\" }",
        &["chain.toml:67:35: `[vary]` has no `flow.fwd.traffic.rate`", "did you mean `flow.*.traffic.rate`?"],
    ),
    fault(
        "where = { scheme = \"ADTH\" }",
        "where = { scheme = \"*\" }",
        &["chain.toml:57:20", "leave `scheme` out: without it"],
    ),
    fault("flows.*.loss_ratio", "flows.*.los_ratio", &["chain.toml:66:11", "did you mean `loss_ratio`?"]),
    fault("flows.*.loss_ratio", "flows.back.loss_ratio", &["chain.toml:66:11", "expected `forward`"]),
    fault("flows.*.loss_ratio", "flows.*.delay_s", &["chain.toml:66:11", "is not a number", "`p99`"]),
    fault(
        "where = { scheme = \"ADTH\" }",
        "where = { scheme = \"ADHT\" }",
        &["chain.toml:57:20", "did you mean `ADTH`?"],
    ),
    fault(
        "against = { scheme = \"FIFO\" }",
        "against = { shceme = \"FIFO\" }",
        &["chain.toml:58:", "did you mean `scheme`?"],
    ),
    fault("holds = \"<= 0.05\"", "holds = \"small\"", &["chain.toml:70:9", "is not a condition"]),
    fault("reported = 0.0", "reported = nan", &["chain.toml:69:12: expected a number"]),
    fault("id = \"chain.2\"", "id = \"chain.1\"", &["chain.toml:63:6", "has the id `chain.1`"]),
    fault("flows.forward.delay_max_s", "flows.forward.delay_max", &["chain.toml:75:6", "did you mean `delay_max_s`?"]),
    fault("series = \"500 ms\"", "", &["chain.toml:75:6", "a time series is needed"]),
    fault("x = \"time\"", "x = \"sheme\"", &["chain.toml:74:5", "did you mean `scheme`?"]),
];

fn reproduce(folder: &Path, file: &str) -> std::process::Output {
    sluice(folder).args(["reproduce", file, "--quick", "--out", "out"]).output().expect("the program starts")
}

#[test]
fn every_fault_of_a_scenario_is_refused_at_its_place() {
    let folder = tempfile::tempdir().unwrap();
    for Fault { from, to, says } in FAULTS {
        assert_eq!(CHAIN.matches(from).count().min(1), 1, "the fixture has no {from}");
        scenario(folder.path(), &CHAIN.replacen(from, to, 1));
        let output = reproduce(folder.path(), "chain.toml");
        let error = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{to}: {error}");
        for words in *says {
            assert!(error.contains(words), "{to}: expected {words} in\n{error}");
        }
        assert!(!folder.path().join("out").exists(), "{to}: something was written");
    }
}

#[test]
fn a_fault_of_a_movement_file_is_refused_at_the_key_that_names_it_with_the_faulty_line() {
    let folder = tempfile::tempdir().unwrap();
    let text = "title = \"t\"\nduration = \"1 s\"\nmobility = { model = \"setdest\", file = \"cut\" }\n\
        [nodes]\ncount = 2\n[[flow]]\nname = \"f\"\nfrom = \"n0\"\nto = \"broadcast\"\n\
        traffic = { kind = \"cbr\", rate = \"8 kb/s\", packet = \"100 B\" }\n";
    fs::write(folder.path().join("moving.toml"), text).unwrap();
    let start = "$node_(0) set X_ 1\n$node_(0) set Y_ 1\n";
    let cases = [
        ("$ns_ at 1.0 \"$node_(0) setdest 5", "`cut`, line 3, column 13: the quotation mark is never closed"),
        ("$ns_ at 1.0 \"$node_(2) setdest 5 5 1\"", "`cut`, line 3, column 1: node 2 has no start"),
        ("", "no start for node `n1`"),
    ];
    for (last, words) in cases {
        fs::write(folder.path().join("cut"), format!("{start}{last}")).unwrap();
        let output = reproduce(folder.path(), "moving.toml");
        let error = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{last}: {error}");
        for words in ["moving.toml:3:40: ", words, last] {
            assert!(error.contains(words), "{last}: expected {words} in\n{error}");
        }
    }
}

#[test]
fn without_the_page_of_this_version_no_report_becomes_interactive() {
    let folder = tempfile::tempdir().unwrap();
    scenario(folder.path(), CHAIN);
    let reproduce = |option: &str| {
        sluice(folder.path()).args(["reproduce", "chain.toml", "--quick", "--out", "out", option]).output().unwrap()
    };
    fs::write(folder.path().join("old.html"), "<meta name=\"generator\" content=\"Sluice 0.0.1\">").unwrap();
    fs::write(folder.path().join("other.html"), "<p>Hello</p>").unwrap();
    let cases = [
        ("--interactive", "target/page/sluice.html: No such file or directory"),
        ("--interactive=old.html", "old.html: it is of Sluice 0.0.1"),
        ("--interactive=other.html", "other.html: it is not the page that simulates"),
    ];
    for (option, words) in cases {
        let output = reproduce(option);
        let error = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{option}: {error}");
        assert!(error.contains(words) && error.contains("make page"), "{option}: {error}");
        assert!(!folder.path().join("out").exists(), "{option}: something was written");
    }
    let page = format!("<meta name=\"generator\" content=\"Sluice {}\">", env!("CARGO_PKG_VERSION"));
    fs::write(folder.path().join("page.html"), page).unwrap();
    assert_eq!(reproduce("--interactive=page.html").status.code(), Some(0));
    let report = fs::read_to_string(folder.path().join("out/report.html")).unwrap();
    assert!(report.contains("id=\"simulator\"") && report.contains("worker-src blob:"));
}

#[test]
fn files_that_are_no_scenarios_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let cases: [(&str, &[u8], &str); 4] = [
        ("empty.toml", b"", "is empty"),
        ("blank.toml", b" \n\n", "is empty"),
        ("binary.toml", b"title = 1\n\x7fELF\x00\xff\xfe", "line 2 is not UTF-8"),
        ("text.toml", b"Dear Sir or Madam", "not TOML"),
    ];
    for (name, bytes, words) in cases {
        fs::write(folder.path().join(name), bytes).unwrap();
        let output = reproduce(folder.path(), name);
        assert_eq!(output.status.code(), Some(2), "{name}");
        assert!(stderr(&output).contains(name) && stderr(&output).contains(words), "{name}: {}", stderr(&output));
    }
    for (name, words) in [
        ("missing.toml", "no such file"),
        ("./none/missing.toml", "there is no folder ./none"),
        ("blanc.toml", "did you mean `blank.toml`?"),
        ("./blanc.toml", "did you mean `./blank.toml`?"),
        ("nowhere/blank.toml", "there is no folder nowhere"),
        ("blank", "did you mean `blank.toml`?"),
        ("/dev/zero", "larger than 16 MiB"),
    ] {
        let output = reproduce(folder.path(), name);
        assert_eq!(output.status.code(), Some(2), "{name}");
        assert!(stderr(&output).contains(words), "{name}: {}", stderr(&output));
    }
    let output = sluice(folder.path()).args(["run", "."]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("is a folder"), "{}", stderr(&output));
}

#[test]
fn a_key_set_from_outside_is_checked_as_the_file_is() {
    let folder = tempfile::tempdir().unwrap();
    scenario(folder.path(), CHAIN);
    let cases = [
        ("queue.limt=5", "did you mean `limit`?"),
        ("queue.limit=0", "it must be above zero"),
        ("duration=3 parsec", "unknown unit \"parsec\""),
        ("flow.fwd.deadline=1 s", "no `[[flow]]` is named `fwd`"),
        ("queue.limit", "expected KEY=VALUE"),
        ("flow.forward.to=n7", "there is no node `n7`"),
        ("node.n1.queue.limit=[1", "not TOML"),
        ("queue.adth=5", "expected a table"),
        ("node.n1.queue.adth.targt=5 ms", "unknown key `targt`"),
        ("mac.edca.voice.cw_minn=3", "did you mean `cw_min`?"),
        ("node.n7.queue.limit=5", "no `[[node]]` is named `n7`"),
        ("wired.0.rate=1 Mb/s", "no `[[wired]]` is named `0`"),
        ("node.n1.waypoints.0.time=1 s", "no `[[waypoints]]` is named `0`"),
    ];
    for (set, words) in cases {
        let output = sluice(folder.path()).args(["run", "chain.toml", "--set", set]).output().unwrap();
        let error = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{set}: {error}");
        assert!(error.contains(&format!("--set '{set}'")) && error.contains(words), "{set}: {error}");
    }
    for (set, words) in [
        ("queue.controller=adth", "`scheme` in `[vary]` sets it"),
        ("flow.forward.traffic.rate=1 Mb/s", "`flow.*.traffic.rate` in `[vary]` sets it"),
        ("seeds=4", "an option of `sluice reproduce`: `--seeds 4`"),
        (" seed = 4", "an option of `sluice run`: `--seed 4`"),
        ("out=x", "an option of `sluice run`: `--out x`"),
    ] {
        let output = sluice(folder.path()).args(["reproduce", "chain.toml", "--set", set]).output().unwrap();
        assert_eq!(output.status.code(), Some(2));
        assert!(stderr(&output).contains(words), "{}", stderr(&output));
    }
}

#[test]
fn results_that_were_there_stay_whole() {
    let folder = tempfile::tempdir().unwrap();
    scenario(folder.path(), CHAIN);
    assert_eq!(reproduce(folder.path(), "chain.toml").status.code(), Some(0));
    let files = ["manifest.json", "results.jsonl", "claims.json", "flows.csv", "nodes.csv", "scenario.toml"];
    let read = || files.map(|file| fs::read(folder.path().join("out").join(file)).unwrap());
    let before = read();
    scenario(folder.path(), &CHAIN.replace("to = \"n2\"", "to = \"n9\""));
    assert_eq!(reproduce(folder.path(), "chain.toml").status.code(), Some(2));
    assert_eq!(read(), before);
}

#[test]
fn a_folder_with_other_results_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    scenario(folder.path(), CHAIN);
    let other = CHAIN.replace("id = \"chain\"", "id = \"other\"");
    fs::write(folder.path().join("other.toml"), other).unwrap();
    let run = |files: &[&str], out: &str| {
        let arguments = [&["reproduce", "--quick", "--out", out], files].concat();
        sluice(folder.path()).args(arguments).output().unwrap()
    };
    assert_eq!(run(&["chain.toml"], "one").status.code(), Some(0));
    assert_eq!(run(&["chain.toml", "other.toml"], "two").status.code(), Some(0));
    assert!(folder.path().join("two/chain/manifest.json").is_file() && folder.path().join("two/report.html").is_file());
    let manifest = fs::read(folder.path().join("one/manifest.json")).unwrap();
    for (files, out, words) in [
        (&["other.toml"] as &[&str], "one", "one holds results of `chain`"),
        (&["chain.toml", "other.toml"], "one", "one holds results of `chain`"),
        (&["chain.toml"], "two", "two holds results of `chain`, `other`"),
    ] {
        let output = run(files, out);
        assert_eq!(output.status.code(), Some(2), "{files:?} {out}");
        assert!(stderr(&output).contains(words), "{}", stderr(&output));
    }
    assert_eq!(fs::read(folder.path().join("one/manifest.json")).unwrap(), manifest);
    // The results of an interrupted sweep are not overwritten by another experiment either.
    fs::remove_file(folder.path().join("one/manifest.json")).unwrap();
    assert_eq!(run(&["other.toml"], "one").status.code(), Some(2));
    assert_eq!(run(&["chain.toml"], "one").status.code(), Some(0));
}

#[test]
fn a_report_needs_results() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("empty")).unwrap();
    fs::write(folder.path().join("file"), b"").unwrap();
    for (of, words) in
        [("none", "no such file or folder"), ("file", "not a folder"), ("empty", "no results of `sluice reproduce`")]
    {
        let output = sluice(folder.path()).args(["report", of]).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{of}");
        assert!(stderr(&output).contains(words), "{of}: {}", stderr(&output));
    }
}

#[test]
fn a_folder_that_cannot_be_written_to_is_known_before_anything_runs() {
    let folder = tempfile::tempdir().unwrap();
    scenario(folder.path(), CHAIN);
    fs::write(folder.path().join("file"), b"").unwrap();
    for out in ["file", "file/below", "/proc/sluice"] {
        let output = sluice(folder.path()).args(["reproduce", "chain.toml", "--out", out]).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{out}");
        assert!(stderr(&output).contains(&format!("cannot write {out}")), "{out}: {}", stderr(&output));
        assert_eq!(output.stdout, b"", "{out}");
    }
}

/// A limit on the size of files stands in for a full disk, as in [`crate::outputs`].
#[test]
fn a_full_disk_leaves_earlier_results_whole() {
    let folder = tempfile::tempdir().unwrap();
    scenario(folder.path(), CHAIN);
    assert_eq!(reproduce(folder.path(), "chain.toml").status.code(), Some(0));
    let manifest = fs::read(folder.path().join("out/manifest.json")).unwrap();
    let script = "trap '' XFSZ; ulimit -f 1; exec \"$0\" reproduce chain.toml --quick --out out --set 'duration=4 s'";
    let program = env!("CARGO_BIN_EXE_sluice");
    let output =
        std::process::Command::new("sh").current_dir(folder.path()).args(["-c", script, program]).output().unwrap();
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    assert!(stderr(&output).contains("cannot write out/"), "{}", stderr(&output));
    assert_eq!(fs::read(folder.path().join("out/manifest.json")).unwrap(), manifest);
    let left = fs::read_dir(folder.path().join("out/runs")).unwrap().map(|entry| entry.unwrap().file_name());
    let left: Vec<_> = left.filter(|name| name.to_string_lossy().starts_with('.')).collect();
    assert!(left.is_empty(), "half-written files: {left:?}");
}

#[test]
fn parameters_that_may_behave_badly_are_warned_of_and_used() {
    let folder = tempfile::tempdir().unwrap();
    scenario(folder.path(), CHAIN);
    let steps = |a1| {
        let set = ["--set", "queue.controller=alt", "--set", a1];
        sluice(folder.path()).args(["run", "chain.toml", "--json"]).args(set).output().unwrap()
    };
    let output = steps("queue.alt.a1=11");
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let warned: Vec<String> = stderr(&output).lines().map(str::to_owned).collect();
    assert_eq!(warned.len(), 1, "once, though three nodes have the queue: {warned:?}");
    assert!(warned[0].starts_with("warning: queue.alt.a1 is not below 10 + b1"), "{}", warned[0]);
    assert!(warned[0].contains("equation (9)"), "{}", warned[0]);
    assert!(stdout(&output).contains("\"warnings\":[\"queue.alt.a1 is not below"));
    let output = steps("queue.alt.a1=10.9");
    assert_eq!(stderr(&output), "");
    assert!(!stdout(&output).contains("warnings"));
    assert_eq!(steps("queue.alt.a1=0").status.code(), Some(2));
}

#[test]
fn wrong_use_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let cases: [&[&str]; 8] = [
        &["run", "chain.toml", "--seed", "-1"],
        &["reproduce", "--threads", "x"],
        &[],
        &["runn"],
        &["run"],
        &["reproduce", "--seeds", "0"],
        &["reproduce", "--quick", "--seeds", "3"],
        &["reproduce", "no-such-id"],
    ];
    for arguments in cases {
        let output = sluice(folder.path()).args(arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}", stderr(&output));
    }
}
