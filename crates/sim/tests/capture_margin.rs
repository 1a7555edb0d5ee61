//! A run warns if its frames lie within 1 dB of the capture threshold, if its links are too weak for their rate, or if its
//! controller starves TCP. No other run warns.

use crate::networks::run;

/// Frames are lost only to other frames, as the threshold decides.
const THRESHOLD: &str = "errors.model = \"none\"";

/// Returns what the run says about the capture threshold. `between`: part of the nodes.
fn warning(radio: &str, nodes: &str, flows: &str) -> Option<String> {
    let text = format!("duration = \"5 s\"\n[radio]\n{radio}\n[nodes]\n{nodes}\n{flows}");
    let warnings = run(&text, 1).warnings;
    warnings.into_iter().find(|warning| warning.starts_with("radio.capture_threshold"))
}

fn chain(count: u32, radio: &str) -> Option<String> {
    let flow = |name: &str, from: u32, to: u32| {
        format!(
            "[[flow]]\nname = \"{name}\"\nfrom = \"n{from}\"\nto = \"n{to}\"\n\
             traffic = {{ kind = \"cbr\", rate = \"2 Mb/s\", packet = \"1000 B\" }}\n"
        )
    };
    let nodes = format!("count = {count}\nplacement = \"chain\"\nspacing = \"30 m\"");
    let flows = flow("there", 0, count - 1) + &flow("back", count - 1, 0);
    warning(&format!("range = \"30 m\"\n{radio}"), &nodes, &flows)
}

#[test]
fn three_hops_against_one_are_half_a_decibel_below_the_threshold() {
    // 20 log 3 = 9.54 dB. At n1 the frames of n0 meet those of n4, and at n3 those of n4 meet those of n0.
    let told = chain(5, THRESHOLD).expect("a warning");
    assert!(told.contains("n1") && told.contains("n3") && told.contains("9.54 dB"), "{told}");
    assert!(told.contains("the threshold is 10.00 dB"), "{told}");
    // The same holds for any threshold near one of a chain's ratios: two hops to one give 6.02 dB.
    let half_a_decibel = format!("{THRESHOLD}\ncapture_threshold = \"6.5 dB\"");
    assert!(chain(4, &half_a_decibel).expect("a warning").contains("6.02 dB"));
}

#[test]
fn what_hangs_on_no_decibel_is_not_warned_of() {
    assert_eq!(chain(3, THRESHOLD), None);
    assert_eq!(chain(5, &format!("{THRESHOLD}\ncapture_threshold = \"8 dB\"")), None);
    // If the error model draws, as by default, no decibel decides.
    assert_eq!(chain(5, ""), None);
    let saturated = "[[flow]]\nname = \"up\"\nfrom = \"*\"\nto = \"n0\"\n\
        traffic = { kind = \"saturated\", packet = \"1000 B\" }\n";
    for placement in ["circle", "chain"] {
        let nodes = format!("count = 11\nplacement = \"{placement}\"\nspacing = \"1 m\"");
        assert_eq!(warning(THRESHOLD, &nodes, saturated), None, "{placement}");
    }
}

#[test]
fn a_link_that_noise_spoils_is_warned_of() {
    // 54 Mb/s needs some 24 dB above the noise. 15 dBm over 150 m in free space leaves 19 dB.
    let told = |radio: &str| {
        let text = format!(
            "duration = \"1 s\"\n[radio]\nstandard = \"802.11a\"\npropagation = \"free-space\"\n{radio}\n\
             [nodes]\ncount = 2\nplacement = \"chain\"\nspacing = \"150 m\"\n[[flow]]\nname = \"f\"\nfrom = \"n0\"\n\
             to = \"n1\"\ntraffic = {{ kind = \"cbr\", rate = \"1 Mb/s\", packet = \"1000 B\" }}\n"
        );
        let outcome = run(&text, 1);
        let flow = &outcome.flows[0];
        let missing = 1.0 - flow.received_packets as f64 / flow.sent_packets as f64;
        (outcome.warnings.into_iter().find(|told| told.starts_with("radio.errors")), missing)
    };
    let (warning, lost) = told("");
    let warning = warning.expect("a warning");
    assert!(warning.contains("from n0 to n1 at 54 Mb/s"), "{warning}");
    assert!(lost > 0.9, "{lost}");
    // A lower rate, more power, a range that is given, and no noise.
    for radio in ["data_rate = \"6 Mb/s\"", "tx_power = \"30 dBm\"", "range = \"150 m\"", "errors.model = \"none\""] {
        let (warning, lost) = told(radio);
        assert_eq!(warning, None, "{radio}");
        assert!(lost < 0.02, "{radio}: {lost}");
    }
}

#[test]
fn whatever_the_rate_a_frame_alone_crosses_a_stated_range() {
    let rates = [
        ("802.11b", "11 Mb/s", 1000),
        ("802.11g", "54 Mb/s", 250),
        ("802.11a", "54 Mb/s", 250),
        ("802.11n", "65 Mb/s", 600),
    ];
    for (standard, rate, metres) in rates {
        let text = format!(
            "duration = \"2 s\"\n[radio]\nstandard = \"{standard}\"\ndata_rate = \"{rate}\"\nrange = \"{metres} m\"\n\
             [nodes]\ncount = 2\nplacement = \"chain\"\nspacing = \"{metres} m\"\n[[flow]]\nname = \"f\"\nfrom = \"n0\"\n\
             to = \"n1\"\ntraffic = {{ kind = \"cbr\", rate = \"1 Mb/s\", packet = \"1000 B\" }}\n"
        );
        let outcome = run(&text, 1);
        assert_eq!(outcome.nodes[0].mac.collisions, 0, "{standard} at {rate} over {metres} m");
        assert!(outcome.warnings.is_empty(), "{:?}", outcome.warnings);
    }
}

/// A download over 802.11n with aggregates and a round-trip time of 40 ms, and a stream with as much as the link can carry.
fn warned(controller: &str, flow: &str) -> Option<String> {
    let text = format!(
        "duration = \"12 s\"\nwarmup = \"2 s\"\n[radio]\nstandard = \"802.11n\"\nmcs = 7\n\
         [mac]\naccess = \"edca\"\naggregation.ampdu = \"65535 B\"\nedca.best_effort.txop_limit = \"0 s\"\n\
         [queue]\nlimit = 1000\n{controller}\n\
         [[node]]\nname = \"ap\"\nrole = \"access-point\"\nposition = [\"0 m\", \"0 m\"]\n\
         [[node]]\nname = \"laptop\"\nposition = [\"10 m\", \"0 m\"]\n[[node]]\nname = \"server\"\nrole = \"wired\"\n\
         [[wired]]\nbetween = [\"server\", \"ap\"]\nrate = \"1 Gb/s\"\ndelay = \"20 ms\"\n\
         [[flow]]\nname = \"f\"\nfrom = \"server\"\nto = \"laptop\"\n{flow}\n"
    );
    run(&text, 1).warnings.into_iter().find(|warning| warning.starts_with("queue.controller"))
}

#[test]
fn a_controller_that_starves_tcp_is_warned_of_and_no_other() {
    const TCP: &str = "transport = \"tcp\"\ntraffic = { kind = \"greedy\" }";
    const STREAM: &str = "traffic = { kind = \"cbr\", rate = \"80 Mb/s\", packet = \"1000 B\" }";
    let adth = "controller = \"adth\"\nadth.target_delay = \"50 ms\"";
    let swan = "controller = \"swan_rate\"";
    let said = warned(adth, TCP).expect("TCP starves");
    assert!(said.starts_with("queue.controller: adth at ap dropped "), "{said}");
    let empty = said.split_once("was empty ").and_then(|(_, rest)| rest.split(' ').next()?.parse::<f64>().ok());
    assert!(empty.is_some_and(|percent| percent > 50.0), "a queue that drops is empty most of the time: {said}");
    let said = warned(swan, TCP).expect("TCP is held back");
    assert!(said.starts_with("queue.controller: swan_rate at ap held the traffic to its rate"), "{said}");
    for controller in ["", "controller = \"ebdp\"", "discipline = \"fq-codel\""] {
        assert_eq!(warned(controller, TCP), None, "{controller}");
    }
    assert_eq!(warned(adth, STREAM), None, "it does not back off, and is what ADTH is for");
}
