//! Movement files: every form that is read, and invalid files.

use super::*;
use std::fmt::Write as _;

fn setdest(text: &str) -> Vec<(String, Movement)> {
    read(text.as_bytes(), Form::Setdest).expect("a valid file").nodes
}

fn fault(text: &str) -> String {
    read(text.as_bytes(), Form::Setdest).expect_err("a fault").to_string()
}

/// Returns where the only node of a file is at these times; `None` while it is off the air.
fn only(movements: Vec<(String, Movement)>, times: &[f64]) -> Vec<Option<(f64, f64, f64)>> {
    let (_, Movement { start, commands, presence }) = movements.into_iter().next().expect("a node");
    let mut motion = Motion::new(vec![Walk::scripted(start, commands).with_presence(presence)]);
    let position = |&seconds: &f64| {
        let Position { x, y, z } = motion.position(0, second(seconds));
        let rounded = |metres: f64| libm::round(metres * 1e5) / 1e5;
        motion.is_present(0, second(seconds)).then_some((rounded(x), rounded(y), rounded(z)))
    };
    times.iter().map(position).collect()
}

const START: &str = "$node_(0) set X_ 1\n$node_(0) set Y_ 2\n";

fn still(start: Position, commands: Vec<Command>) -> Movement {
    Movement { start, commands, presence: Presence::default() }
}

#[test]
fn what_setdest_writes_is_read() {
    let text = "#\n# nodes: 3, pause: 0.00\r\n$node_(0) set X_ 83.36\n$node_(0) set Y_ 239.43\n\
        $node_(0) set Z_ 0.000000000000\n$node_(2) set X_ -1.5e1\n$node_(2) set Y_ 0 ;# start\n\n\
        $god_ set-dist 0 2 16777215\n$ns_ at 0.5 \"$god_ set-dist 0 1 1\"\n\
        $ns_ at 1.000000000000 \"$node_(0) setdest 25.0 1.5 11.25\"\n\
        $ns_ at 0.25 \"$node_(2) setdest 0 0 0\"";
    let first = still(at(83.36, 239.43), vec![command(1.0, at(25.0, 1.5), 11.25)]);
    let last = still(at(-15.0, 0.0), vec![command(0.25, at(0.0, 0.0), 0.0)]);
    assert_eq!(setdest(text), [("0".to_owned(), first), ("2".to_owned(), last)]);
}

#[test]
fn variables_of_tcl_have_any_names() {
    let text = "$node_(4) set X_ 1\n$node_(4) set Y_ 2\n$ns_ at 3 \"$node_(4) setdest 5 6 7\"\n";
    for (ns, node) in [("$ns", "$node_"), ("$nsim", "$n"), ("$ns_", "$mobilenode"), ("$sim2", "$veh")] {
        assert_eq!(setdest(&text.replace("$ns_", ns).replace("$node_", node)), setdest(text));
    }
}

#[test]
fn a_leap_puts_a_node_elsewhere_at_its_time() {
    // On its way to (101, 2) it is at (11, 2) after ten seconds. There only x, or only y and z, are set.
    let text = format!("{START}$node_(0) set Z_ 1.5\n$ns_ at 0 \"$node_(0) setdest 101 2 1\"\n");
    let x = format!("{text}$ns_ at 10 \"$node_(0) set X_ 50\"\n");
    let times = [9.0, 10.0, 60.0];
    assert_eq!(only(setdest(&x), &times), [(10.0, 2.0, 1.5), (50.0, 2.0, 1.5), (50.0, 2.0, 1.5)].map(Some));
    let more = format!(
        "{x}$ns_ at 10.0 \"$node_(0) set Y_ -7  \"\n$ns_ at 10 \"$node_(0) set Z_ 3\";\n$ns_ at 20 \"$node_(0) setdest 53 -3 1\"\n"
    );
    let found = only(setdest(&more), &[10.0, 22.5, 60.0]);
    assert_eq!(found, [(50.0, -7.0, 3.0), (51.5, -5.0, 3.0), (53.0, -3.0, 3.0)].map(Some));
}

#[test]
fn a_node_is_on_the_air_while_its_activity_lasts() {
    let text =
        format!("{START}$ns_ at 1.0 \"$g(0) start\"; # SUMO-ID: veh0\n$ns_ at 3.5 \"$g(0) stop\"; # SUMO-ID: veh0\n");
    let here = Some((1.0, 2.0, 0.0));
    assert_eq!(only(setdest(&text), &[0.0, 0.99, 1.0, 3.49, 3.5, 9.0]), [None, None, here, here, None, None]);
    // Not the node but the traffic of ns-2's cbrgen starts.
    assert!(
        fault(&format!("{START}$ns_ at 1.0 \"$cbr_(0) start\"")).contains("expected `setdest` or `set`, found `start`")
    );
}

#[test]
fn lines_that_move_no_node_are_passed_over() {
    let lines = [
        "$ns_ at 0.0 \"$node_(0) label Source01\"",
        "$ns_ at 0.0 \"$node_(0) label \\\"Source 01\\\"\"",
        "$ns_ initial_node_pos $node_(0) 30",
        "$ns_ at 0.0 \"$node_(0) color red\"",
        "$node_(0) random-motion 0",
        "$ns_ at 150.0 \"$node_(0) reset\";",
        "$ns_ at 150.0 \"stop\"",
        "$ns_ at 150.0 \"finish\"",
        "$ns_ at 150.01 \"puts \\\"end of simulation\\\" ; $ns_ halt\"",
        "$ns_ at 150.01 \"$ns_ halt\"",
        "set opt(nn) 20",
        "set god_ [God instance]",
        "append opt(af) /activity.tcl",
    ];
    for line in lines {
        assert_eq!(setdest(&format!("{line}\n{START}{line}")), setdest(START), "{line}");
    }
}

#[test]
fn faults_say_where_and_what_was_expected() {
    let after = |line: &str| fault(&format!("{START}{line}"));
    let cases = [
        ("$node_(x) set X_ 1", "line 3, column 8: expected a node's number and `)`, found `x) set X_ 1`"),
        ("$node_(1) set Q_ 1", "line 3, column 15: expected `X_`, `Y_` or `Z_`, found `Q_`"),
        ("$node_(0) sett X_ 1", "line 3, column 11: expected `set`, found `sett`"),
        ("$node_(0) set Z_ 2e9", "line 3, column 18: no position is farther away than 1000000 km"),
        ("$node_(0) set X_ inf", "line 3, column 18: expected a number of metres, found `inf`"),
        ("$node_(0) set X_ 2e9", "line 3, column 18: no position is farther away than 1000000 km"),
        (
            "$node_(0) set X_",
            "line 3, column 17: expected a number of metres, and the line ends: is the file cut short?",
        ),
        ("$node_(0) set X_ 1 2", "line 3, column 20: expected the end of the line, found `2`"),
        ("hello", "line 3, column 1: expected `$node_(...)`, `$ns_ at ...` or a comment (`#`), found `hello`"),
        (
            "$ns_ hello",
            "line 3, column 1: expected `$node_(...)`, `$ns_ at ...` or a comment (`#`), found `$ns_ hello`",
        ),
        ("$ns_ at -1 \"$node_(0) setdest 1 1 1\"", "line 3, column 9: a time must be zero or more"),
        ("$ns_ at 1 \"$node_(0) setdest 1 1 -1\"", "line 3, column 34: a speed must be zero or more"),
        (
            "$ns_ at 1 \"$node_(0) setdest 1 1 NaN\"",
            "line 3, column 34: expected a speed in metres per second, found `NaN`",
        ),
        (
            "$ns_ at 1 \"$node_(0) setdest 1 1 1",
            "line 3, column 11: the quotation mark is never closed: is the file cut short?",
        ),
        ("$ns_ at 1 \"$node_(0) setdest 1\"", "line 3, column 31: expected y in metres, found `\"`"),
        ("$ns_ at 1 \"$node_(0) stdest 1 1 1\"", "line 3, column 22: expected `setdest` or `set`, found `stdest`"),
        ("$ns_ at 1 \"hello\"", "line 3, column 12: expected `$node_(...)`, found `hello\"`"),
        ("$ns_ at", "line 3, column 8: expected a time in seconds, and the line ends: is the file cut short?"),
        ("$node_(1) set X_ 1", "line 3, column 1: node 1 has no start: `$node_(1) set Y_ ...` is missing"),
        (
            "$ns_ at 1 \"$node_(1) setdest 1 1 1\"",
            "line 3, column 1: node 1 has no start: `$node_(1) set X_ ...` is missing",
        ),
        ("$ns_ at 1 \"$g(1) start\"", "line 3, column 1: node 1 has no start: `$node_(1) set X_ ...` is missing"),
    ];
    for (line, expected) in cases {
        assert_eq!(after(line), expected, "{line}");
    }
    let disordered = "$ns_ at 2 \"$node_(0) setdest 1 1 1\"\n$ns_ at 1.5 \"$node_(0) setdest 1 1 1\"";
    let expected = "line 4, column 9: the commands of node 0 are not in order: the previous one is at 2 s";
    assert_eq!(after(disordered), expected);
    let disordered = "$ns_ at 2 \"$g(0) start\"\n$ns_ at 1.5 \"$g(0) stop\"";
    assert_eq!(after(disordered), "line 4, column 9: the starts and stops of node 0 are not in order of time");
}

const FCD: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<!-- generated by a test -->
<fcd-export>
    <timestep time="0.00"/>
    <timestep time="1.00">
        <vehicle id="b" x="10.00" y="-5.00" angle="90.00" type="car" speed="0.00" pos="5.10" lane="e_0" slope="0.00"/>
    </timestep>
    <timestep time="2.00">
        <vehicle id="b" x="13.00" y="-1.00" z="2.00" speed="5.00"/>
        <person id="a &amp; c" x="0.00" y="0.00"></person>
    </timestep>
    <timestep time="3.00">
        <person id="a &amp; c" x="0.00" y="1.00"/>
    </timestep>
    <timestep time="5.00">
        <vehicle id="b" x="100.00" y="0.00"/>
        <person id="a &amp; c" x="0.00" y="1.00"/>
    </timestep>
</fcd-export>
"#;

#[test]
fn floating_car_data_of_sumo_is_read() {
    let movements = read(FCD.as_bytes(), Form::Fcd).expect("a valid file").nodes;
    assert_eq!(movements.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(), ["b", "a & c"]);
    // The node is missing in the third step, and at once elsewhere in the last.
    let times = [0.0, 0.99, 1.0, 1.5, 2.0, 2.5, 3.0, 4.9, 5.0, 60.0];
    let (there, far) = (Some((13.0, -1.0, 2.0)), Some((100.0, 0.0, 0.0)));
    let expected = [None, None, Some((10.0, -5.0, 0.0)), Some((11.5, -3.0, 1.0)), there, there, None, None, far, far];
    assert_eq!(only(movements.clone(), &times), expected);
    let person = only(movements[1..].to_vec(), &[1.0, 2.0, 2.25, 4.0, 60.0]);
    let last = Some((0.0, 1.0, 0.0));
    assert_eq!(person, [None, Some((0.0, 0.0, 0.0)), Some((0.0, 0.25, 0.0)), last, last]);
}

#[test]
fn faults_in_floating_car_data_say_where_they_are() {
    let fault = |text: &str| read(text.as_bytes(), Form::Fcd).expect_err("a fault").to_string();
    let with = |old: &str, new: &str| fault(&FCD.replacen(old, new, 1));
    let cases = [
        (with(r#" x="10.00""#, ""), "line 6", "`x` is missing"),
        (with(r#"x="10.00""#, r#"x="ten""#), "line 6", "`x` is not a number: `ten`"),
        (with(r#"x="10.00""#, r#"x="1e10""#), "line 6", "no position is farther away"),
        (with(r#"id="b" "#, ""), "line 6", "`id` is missing"),
        (with(r#"time="2.00""#, r#"time="1.00""#), "line 8", "not in order: the previous step is at 1 s"),
        (with(r#"time="2.00""#, r#"time="-2""#), "line 8", "a time must be zero or more"),
        (with("<fcd-export>", "<routes>"), "line 3", "expected `<fcd-export>` and `<timestep>`, found `<routes>`"),
        (with("</timestep>", "</vehicle>"), "line 7", "this is not XML"),
        (fault(FCD.split_inclusive("</timestep>").next().expect("a step")), "line 7", "is it cut short?"),
        (fault("<fcd-export></fcd-export>"), "line 1", "the file lists no vehicle"),
        (fault(""), "line 1", "the file lists no vehicle"),
        (fault(&FCD.replace("a &amp; c", "b")), "line 10", "`b` appears twice in a time step"),
    ];
    for (found, line, message) in cases {
        assert!(found.starts_with(line) && found.contains(message), "{found}");
    }
}

#[test]
fn degrees_are_never_read_as_metres() {
    let told = |text: &str| read(text.as_bytes(), Form::Fcd).map(|_| ()).map_err(|fault| fault.to_string());
    let ride = |steps: [(&str, &str); 2], speed: &str| {
        let step = |time: usize, (x, y): (&str, &str)| {
            format!("<timestep time=\"{time}\"><vehicle id=\"a\" x=\"{x}\" y=\"{y}\" speed=\"{speed}\"/></timestep>\n")
        };
        told(&format!("<fcd-export>\n{}{}</fcd-export>", step(0, steps[0]), step(1, steps[1])))
    };
    let degrees =
        "the positions are degrees of longitude and latitude: export them in metres, without `--fcd-output.geo`";
    let refused = |read: Result<(), String>| {
        let told = read.expect_err("degrees");
        assert!(told.starts_with("line 2, column ") && told.ends_with(degrees), "{told}");
    };
    // 24.59 m/s in Raleigh; a car that stands still in Berlin.
    refused(ride([("-78.695146", "35.794948"), ("-78.695092", "35.794730")], "24.590000"));
    refused(ride([("13.404954", "52.520008"), ("13.404954", "52.520008")], "0.000000"));
    refused(ride([("13.4050", "52.5200"), ("13.4050", "52.5200")], "0.00"));
    refused(ride([("13.405", "52.520"), ("13.405", "52.521")], "0.00"));
    refused(told("<fcd-export>\n<timestep time=\"0\"><person id=\"a\" lon=\"13.4\" lat=\"52.5\"/>"));
    // Shortened by hand: the car moves by a ten thousandth of its speed.
    refused(ride([("-78.6951", "35.7949"), ("-78.6951", "35.7947")], "24.59"));
    // Metres: near the origin, with many digits, too far for degrees, and of a car without a speed.
    assert_eq!(ride([("13.40", "52.52"), ("13.40", "62.52")], "10.00"), Ok(()));
    assert_eq!(ride([("13.404954", "52.520008"), ("13.404954", "62.520008")], "10.000000"), Ok(()));
    assert_eq!(ride([("532226.326576", "5261763.110695"), ("532226.326576", "5261763.110695")], "0.000000"), Ok(()));
    assert_eq!(ride([("0.00", "0.00"), ("0.00", "0.00")], "0.00"), Ok(()));
    assert_eq!(ride([("13.404", "52.520"), ("13.404", "51.310")], "0.00"), Ok(()));
    let options = |value: &str| {
        let comment = format!("<configuration><output><fcd-output.geo value=\"{value}\"/></output></configuration>");
        told(&FCD.replacen("generated by a test", &comment, 1))
    };
    refused(options("true"));
    assert_eq!(options("false"), Ok(()));
    let offset =
        FCD.replacen("<fcd-export>", "<location netOffset=\"-532226,-5261763\" projParameter=\"+proj=utm\"/>", 1);
    assert!(read(offset.as_bytes(), Form::Fcd).expect_err("no position").to_string().contains("found `<location>`"));
}

#[test]
fn a_file_of_another_form_is_named() {
    let fault = |bytes: &[u8], form| read(bytes, form).expect_err("another form").to_string();
    let csv = "timestep_time;vehicle_id;vehicle_x;vehicle_y\n0.00;a;0.00;0.00\n";
    for form in [Form::Fcd, Form::Setdest] {
        assert!(fault(csv.as_bytes(), form).starts_with("line 1, column 1: this is CSV"));
        assert!(fault(b"PAR1\x15\x04", form).contains("Parquet"));
    }
    assert!(fault(FCD.as_bytes(), Form::Setdest).contains("model `fcd`"));
    assert!(fault(b"\n$node_(0) set X_ 1.0\n", Form::Fcd).contains("model `setdest`"));
    let human = FCD.replacen("time=\"2.00\"", "time=\"00:00:02\"", 1);
    let told = "line 8, column 30: `time` is `00:00:02`: export it in seconds, without `--human-readable-time`";
    assert_eq!(fault(human.as_bytes(), Form::Fcd), told);
}

/// Bytes that resemble a movement file in places.
fn scraps() -> impl Strategy<Value = Vec<u8>> {
    let scrap = prop_oneof![
        Just(b"$node_(1) set X_ 5.0".to_vec()),
        Just(b"$node_(".to_vec()),
        Just(b"$ns_ at 1.0 \"$node_(0) setdest 1.0 2.0 3.0\"".to_vec()),
        Just(b"$ns_ at 1.0 \"$node_(0) set Z_ 1.0\"".to_vec()),
        Just(b"$ns_ at 1.0 \"$g(0) start\"".to_vec()),
        Just(b"$ns_ at ".to_vec()),
        Just(b"label ".to_vec()),
        Just(b"puts ".to_vec()),
        Just(b"$god_ ".to_vec()),
        Just(b"<timestep time=\"1\">".to_vec()),
        Just(b"<vehicle id=\"0\" x=\"1\" y=\"".to_vec()),
        Just(b"2\"/>".to_vec()),
        Just(b"</timestep>".to_vec()),
        Just(b"&".to_vec()),
        Just(b"\n".to_vec()),
        Just(b"\"".to_vec()),
        Just("\u{fc}\u{2003}".as_bytes().to_vec()),
        "[0-9.eE+-]{0,12}".prop_map(String::into_bytes),
        prop::collection::vec(any::<u8>(), 0..20),
    ];
    prop::collection::vec(scrap, 0..20).prop_map(|scraps| scraps.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1024, ..ProptestConfig::default() })]

    #[test]
    fn no_bytes_make_the_readers_panic(bytes in scraps()) {
        for form in [Form::Setdest, Form::Fcd] {
            if let Err(fault) = read(&bytes, form) {
                prop_assert!(fault.line > 0 && fault.column > 0 && !fault.message.is_empty());
            }
        }
    }

    #[test]
    fn what_is_written_is_read_back(
        starts in prop::collection::vec((-1e6..1e6, -1e6..1e6, -1e6..1e6), 1..6),
        legs in prop::collection::vec((0_usize..6, 0.0..1e3, -1e6..1e6, -1e6..1e6, 0.0..100.0), 0..30),
    ) {
        let mut text = String::new();
        let mut written: Vec<(String, Movement)> = Vec::new();
        for (node, &(x, y, z)) in starts.iter().enumerate() {
            for (axis, value) in [("X", x), ("Y", y), ("Z", z)] {
                writeln!(text, "$node_({node}) set {axis}_ {value}").expect("a string takes all");
            }
            written.push((node.to_string(), still(Position { x, y, z }, Vec::new())));
        }
        let mut now = 0.0;
        for (node, gap, x, y, speed) in legs {
            let node = node % starts.len();
            now += gap;
            writeln!(text, "$ns_ at {now} \"$node_({node}) setdest {x} {y} {speed}\"").expect("a string takes all");
            written[node].1.commands.push(command(now, at(x, y), speed));
        }
        prop_assert_eq!(read(text.as_bytes(), Form::Setdest).map(|movements| movements.nodes), Ok(written));
    }
}
