//! EDCA in whole networks: categories, bursts, refusals.

use crate::networks::{goodputs, refusal, refuses, run};
use sim::results::Outcome;

/// Six 802.11a stations with a saturated flow of every category each.
fn cell(mac: &str) -> String {
    let mut text = format!(
        "duration = \"6 s\"\nwarmup = \"1 s\"\n[radio]\nstandard = \"802.11a\"\n[mac]\naccess = \"edca\"\n{mac}\n\
         [nodes]\ncount = 7\nplacement = \"circle\"\nspacing = \"5 m\"\n"
    );
    for category in ["voice", "video", "best-effort", "background"] {
        let flow = format!(
            "[[flow]]\nname = \"{category}\"\nfrom = \"*\"\nto = \"n0\"\ncategory = \"{category}\"\n\
             traffic = {{ kind = \"saturated\", packet = \"1000 B\" }}\n"
        );
        text += &flow;
    }
    text
}

/// Mean time in the MAC of each category over the six senders, highest category first; infinite if nothing was delivered.
fn access_delays(outcome: &Outcome) -> Vec<f64> {
    let mean = |queue: usize| {
        let times = outcome.nodes[1..].iter().map(|node| node.queues[queue].service_s.expect("EDCA tells them").mean);
        let sum: f64 = times.sum();
        if sum > 0.0 { sum / 6.0 } else { f64::INFINITY }
    };
    (0..4).map(mean).collect()
}

#[test]
fn in_a_saturated_cell_no_category_waits_longer_than_a_lower_one() {
    let one_frame = "[mac.edca]\nvoice.txop_limit = \"0 s\"\nvideo.txop_limit = \"0 s\"\n\
        best_effort.txop_limit = \"0 s\"\nbackground.txop_limit = \"0 s\"";
    for mac in ["", one_frame] {
        let outcome = run(&cell(mac), 1);
        let delays = access_delays(&outcome);
        assert!(delays.is_sorted() && delays[1].is_finite(), "{delays:?}");
        assert_eq!(
            outcome.nodes[0].queues.iter().map(|queue| queue.name.as_str()).collect::<Vec<_>>(),
            ["vo", "vi", "be", "bk"]
        );
    }
}

/// A station that sends all the time at 1 Mb/s, with these keys of the MAC and of its flow.
fn slow(mac: &str, flow: &str) -> String {
    format!(
        "duration = \"1 s\"\n[radio]\ndata_rate = \"1 Mb/s\"\n[mac]\n{mac}\n\
         [nodes]\ncount = 2\nplacement = \"chain\"\nspacing = \"5 m\"\n\
         [[flow]]\nname = \"up\"\nfrom = \"n1\"\n{flow}\ntraffic = {{ kind = \"saturated\", packet = \"1000 B\" }}\n"
    )
}

/// 1066 B at 1 Mb/s and the ACK take 9034 us; the TXOP of best effort has 3264 us.
#[test]
fn a_frame_longer_than_its_txop_is_sent_alone() {
    for to in ["n0", "broadcast"].map(|to| format!("to = \"{to}\"")) {
        let [short, one] = ["", "edca.best_effort.txop_limit = \"0 s\""]
            .map(|txop| goodputs(&run(&slow(&format!("access = \"edca\"\n{txop}"), &to), 1)));
        assert!(short[0] > 800e3 && short == one, "{short:?}, {one:?}");
    }
}

#[test]
fn what_edca_cannot_mean_is_refused() {
    let cases = [
        ("", "category = \"voice\"", "flow.up.category", "set `access = \"edca\"`"),
        ("[mac.edca.voice]\naifsn = 3", "", "mac.edca", "set `access = \"edca\"`"),
        ("access = \"edca\"\n[mac.edca.voice]\naifsn = 1", "", "mac.edca.voice.aifsn", "from 2 to 15"),
        ("access = \"edca\"\n[mac.edca.video]\ncw_max = 3", "", "mac.edca.video.cw_max", "below `cw_min` (15)"),
        ("access = \"edca\"\n[mac.edca.video]\ncw_max = 100", "", "mac.edca.video.cw_max", "a power of two less one"),
        ("access = \"edca\"\n[mac.edca.video]\ntxop_limit = \"3 s\"", "", "mac.edca.video.txop_limit", "2.09712 s"),
    ];
    for (mac, flow, path, says) in cases {
        refuses(&slow(mac, &format!("to = \"n0\"\n{flow}")), path, says);
    }
}

#[test]
fn a_category_can_have_a_queue_of_its_own() {
    let queues =
        "[queue]\nlimit = 10\n[category_queue.voice]\nlimit = 3\n[category_queue.best_effort]\nlimit = \"9 kB\"\n";
    let own = "[[node]]\nname = \"n1\"\ncategory_queue = { background = { limit = 7 } }\n";
    let outcome = run(&(cell("") + queues + own).replace("6 s", "2 s"), 1);
    let limits = |node: usize| {
        let packets = |queue: &sim::results::QueueResult| queue.limit_packets.map(|limit| limit.last);
        outcome.nodes[node].queues.iter().map(packets).collect::<Vec<_>>()
    };
    assert_eq!(limits(1), [Some(3.0), Some(10.0), None, Some(7.0)]);
    assert_eq!(limits(2), [Some(3.0), Some(10.0), None, Some(10.0)]);
}

#[test]
fn queues_of_categories_need_categories() {
    for (queues, path) in [
        ("[category_queue.voice]\nlimit = 3\n", "category_queue"),
        ("[[node]]\nname = \"n1\"\ncategory_queue = { voice = { limit = 3 } }\n", "node.n1.category_queue"),
    ] {
        let text = cell("").replace("edca", "dcf").replace("[mac]", &format!("{queues}[mac]"));
        assert_eq!(refusal(&text).0, path);
    }
    let text = cell("") + "[category_queue.video]\ncontroller = \"adth\"\nadth = { phi_min = 2.0 }\n";
    assert_eq!(refusal(&text).0, "category_queue.video.adth.phi_min");
}

/// What each node has is as if all had it, and of one node alone it moves that node's access.
#[test]
fn a_node_has_contention_parameters_of_its_own() {
    let set = "best_effort = { aifsn = 5, cw_min = 31, cw_max = 127, txop_limit = \"1 ms\" }";
    let one = |name: &str| format!("[[node]]\nname = \"{name}\"\nedca.{set}\n");
    let each: String = (0..7).map(|node| one(&format!("n{node}"))).collect();
    let of_all = run(&cell(&format!("[mac.edca]\n{set}")), 1);
    let of_each = run(&(cell("") + &each), 1);
    assert_eq!(of_each.totals, of_all.totals);
    let voice = |outcome: &Outcome, node: usize| outcome.nodes[node].queues[0].sent_packets;
    let (before, slow) = (run(&cell(""), 1), run(&(cell("") + &one("n1").replace("best_effort", "voice")), 1));
    assert!(voice(&slow, 1) * 2 < voice(&before, 1), "{} of {}", voice(&slow, 1), voice(&before, 1));
    assert!(voice(&slow, 2) > voice(&before, 2));
}

/// An access point may begin one slot before its stations. They, and nodes without categories, may not.
#[test]
fn only_an_access_point_has_an_aifsn_of_one() {
    let text = |ap: u8, station: u8, access: &str| {
        format!(
            "duration = \"3 s\"\n[radio]\nstandard = \"802.11a\"\n[mac]\naccess = \"{access}\"\n\
             [[node]]\nname = \"ap\"\nrole = \"access-point\"\nposition = [\"0 m\", \"0 m\"]\n\
             edca.best_effort.aifsn = {ap}\n[[node]]\nname = \"s\"\nposition = [\"5 m\", \"0 m\"]\n\
             edca.best_effort.aifsn = {station}\n\
             [[flow]]\nname = \"down\"\nfrom = \"ap\"\nto = \"s\"\ntraffic = {{ kind = \"saturated\", packet = \"1000 B\" }}\n\
             [[flow]]\nname = \"up\"\nfrom = \"s\"\nto = \"ap\"\ntraffic = {{ kind = \"saturated\", packet = \"1000 B\" }}\n"
        )
    };
    assert_eq!(refusal(&text(1, 1, "edca")).0, "node.s.edca.best_effort.aifsn");
    assert_eq!(refusal(&text(0, 2, "edca")).0, "node.ap.edca.best_effort.aifsn");
    assert_eq!(refusal(&text(2, 2, "dcf")).0, "node.ap.edca");
    let shares = |ap: u8| {
        let outcome = run(&text(ap, 3, "edca").replace("aifsn", "txop_limit = \"0 s\"\nedca.best_effort.aifsn"), 1);
        outcome.flows[0].goodput_bps / outcome.flows[1].goodput_bps
    };
    assert!(shares(1) > shares(2) && shares(2) > shares(3), "{} {} {}", shares(1), shares(2), shares(3));
    assert!((0.9..1.1).contains(&shares(3)), "{}", shares(3));
}
