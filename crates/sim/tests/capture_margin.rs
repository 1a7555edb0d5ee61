//! A run whose frames lie within 1 dB of the capture threshold says so, and no other does.

use crate::networks::run;

/// What the run says of the capture threshold; `between` the nodes.
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
    // 20 log 3 = 9.54 dB. n0's frames at n1 meet n4's, and n4's at n3 n0's.
    let told = chain(5, "").expect("a warning");
    assert!(told.contains("n1") && told.contains("n3") && told.contains("9.54 dB"), "{told}");
    assert!(told.contains("the threshold is 10.00 dB"), "{told}");
    // Any threshold that lies near one of the ratios of a chain: 6.02 dB for two hops against one.
    assert!(chain(4, "capture_threshold = \"6.5 dB\"").expect("a warning").contains("6.02 dB"));
}

#[test]
fn what_hangs_on_no_decibel_is_not_warned_of() {
    assert_eq!(chain(3, ""), None);
    assert_eq!(chain(5, "capture_threshold = \"8 dB\""), None);
    assert_eq!(chain(5, "errors = { model = \"nist\" }"), None);
    let saturated = "[[flow]]\nname = \"up\"\nfrom = \"*\"\nto = \"n0\"\n\
        traffic = { kind = \"saturated\", packet = \"1000 B\" }\n";
    for placement in ["circle", "chain"] {
        let nodes = format!("count = 11\nplacement = \"{placement}\"\nspacing = \"1 m\"");
        assert_eq!(warning("", &nodes, saturated), None, "{placement}");
    }
}
