//! TCP in whole networks: every packet is accounted for, the same seed gives the same bytes, and flows share the link.
//!
//! In every debug run, the simulator checks at the end that packets and segments balance. These are debug runs.

use crate::networks::{chain, cut, network, run};
use proptest::prelude::*;
use sim::results::Outcome;
use units::Duration;

/// A small network drawn at random, with flows of all kinds that are answered.
#[derive(Clone, Debug)]
struct Drawn {
    places: Vec<(u8, u8)>,
    flows: Vec<(usize, usize, usize)>,
    settings: [bool; 7],
}

fn drawn() -> impl Strategy<Value = Drawn> {
    (2_usize..6)
        .prop_flat_map(|nodes| {
            let places = prop::collection::vec((0_u8..90, 0_u8..90), nodes);
            let flows = prop::collection::vec((0..nodes, 0..nodes, 0_usize..KINDS.len()), 1..6);
            (places, flows, any::<[bool; 7]>())
        })
        .prop_map(|(places, flows, settings)| Drawn { places, flows, settings })
}

const KINDS: [&str; 9] = [
    "transport = \"tcp\"\ntraffic = { kind = \"greedy\" }",
    "transport = \"tcp\"\ntcp = { congestion = \"cubic\", ecn = true }\ntraffic = { kind = \"greedy\" }\nstop = \"1 s\"",
    "transport = \"tcp\"\ntcp = { recovery = \"newreno\", timestamps = false }\n\
     traffic = { kind = \"transfer\", size = \"20 kB\", every = \"100 ms\" }",
    "transport = \"tcp\"\ntcp = { recovery = \"reno\", delayed_ack = \"0 s\", segment = \"300 B\" }\n\
     traffic = { kind = \"web\", size = \"5 kB\", reading = \"50 ms\" }",
    "transport = \"tcp\"\ntcp = { rto_min = \"20 ms\", initial_window = 1 }\ntraffic = { kind = \"transfer\", size = \"0 B\" }",
    "transport = \"tcp\"\ntcp = { advertised_window = \"700 B\" }\ntraffic = { kind = \"greedy\" }\nstart = \"500 ms\"",
    "transport = \"tcp\"\ntcp = { congestion = \"bbr\", small_queue = \"8 ms\" }\ntraffic = { kind = \"greedy\" }",
    "traffic = { kind = \"ping\", every = \"20 ms\", times = \"exponential\" }",
    "traffic = { kind = \"saturated\", packet = \"500 B\" }\nstart = \"1 s\"",
];

impl Drawn {
    fn text(&self) -> String {
        let [edca, aggregates, aodv, head, short, spoilt, msdus] = self.settings;
        let pick = |yes: bool, one: &'static str, other: &'static str| if yes { one } else { other };
        let mut text = format!(
            "duration = \"2 s\"\nwarmup = \"300 ms\"\n[record]\nseries = \"100 ms\"\n[routing]\nprotocol = \"{}\"\n\
             [radio]\nstandard = \"{}\"\nrange = \"70 m\"\n{}\n[queue]\nlimit = {}\ndiscipline = \"{}\"\n{}",
            pick(aodv, "aodv", "static"),
            pick(aggregates, "802.11n", "802.11g"),
            pick(spoilt, "[radio.errors]\nmodel = \"fixed\"\npacket_error_ratio = 0.2", ""),
            pick(short, "3", "50"),
            pick(head, "drop-head", "drop-tail"),
            pick(edca || aggregates, "[mac]\naccess = \"edca\"\n[tcp]\nack_category = \"video\"\n", ""),
        );
        if aggregates {
            text += pick(
                msdus,
                "[mac.aggregation]\nampdu = \"off\"\namsdu = \"4 kB\"\n",
                "[mac.aggregation]\nampdu = \"20 kB\"\n",
            );
        }
        for (index, (x, y)) in self.places.iter().enumerate() {
            let line = format!("[[node]]\nname = \"n{index}\"\nposition = [\"{x} m\", \"{y} m\"]\n");
            text += &line;
        }
        for (index, (from, to, kind)) in self.flows.iter().enumerate() {
            let to = if from == to { (to + 1) % self.places.len() } else { *to };
            let kind = KINDS[*kind];
            let line = format!("[[flow]]\nname = \"f{index}\"\nfrom = \"n{from}\"\nto = \"n{to}\"\n{kind}\n");
            text += &line;
        }
        text
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn accounts_balance_and_time_can_be_cut_anywhere(drawn in drawn(), micros in 100_u64..100_000) {
        let network = network(&drawn.text());
        // If some of the drawn nodes have no route, there is nothing to run.
        if let Some(whole) = cut(&network, Duration::MAX) {
            let sliced = cut(&network, Duration::from_micros(micros)).expect("it was built before");
            let json = |outcome: &Outcome| serde_json::to_string(outcome).expect("an outcome has a JSON form");
            prop_assert_eq!(json(&whole), json(&sliced));
            prop_assert_eq!(whole.flows.len(), drawn.flows.len());
            for flow in &whole.flows {
                prop_assert!(flow.delay_s.mean <= flow.delay_s.max && (0.0..=1.0).contains(&flow.loss_ratio), "{:?}", flow);
                let lost = flow.sent_packets as f64 * flow.loss_ratio;
                let known = (flow.received_packets + flow.in_flight_packets) as f64 + lost;
                prop_assert!(flow.kind == "ping" || (known - flow.sent_packets as f64).abs() < 1e-6, "{:?}", flow);
                prop_assert!(flow.transfers_completed <= flow.transfers, "{:?}", flow);
                prop_assert!(flow.retransmits.is_none_or(|again| again <= flow.sent_packets + 1_000), "{:?}", flow);
                prop_assert!(flow.srtt_max_s.is_none_or(|srtt| srtt <= flow.rtt_s.expect("of TCP").max + 2.0), "{:?}", flow);
            }
        }
    }
}

/// A server 20 ms from an access point, and stations next to the access point.
fn cell(stations: usize, seconds: u32, more: &str) -> String {
    let mut text = format!(
        "duration = \"{seconds} s\"\nwarmup = \"10 s\"\n[radio]\nstandard = \"802.11g\"\n[queue]\nlimit = 100\n\
         [[node]]\nname = \"ap\"\nrole = \"access-point\"\nposition = [\"0 m\", \"0 m\"]\n\
         [[node]]\nname = \"server\"\nrole = \"wired\"\n\
         [[wired]]\nbetween = [\"server\", \"ap\"]\nrate = \"100 Mb/s\"\ndelay = \"20 ms\"\nqueue = {{ limit = 1000 }}\n"
    );
    for station in 1..=stations {
        let line = format!("[[node]]\nname = \"s{station}\"\nposition = [\"{station} m\", \"0 m\"]\n");
        text += &line;
    }
    text + more
}

#[test]
fn downloads_over_the_same_link_share_it() {
    let flows = "[[flow]]\nname = \"down\"\nfrom = \"server\"\nto = \"*\"\ntransport = \"tcp\"\n\
        traffic = { kind = \"greedy\" }\nphase_jitter = \"1 s\"\n";
    for congestion in ["reno", "cubic", "bbr"] {
        let outcome = run(&cell(2, 310, &format!("[tcp]\ncongestion = \"{congestion}\"\n{flows}")), 1);
        // Each loss halves a difference or more. With some hundred losses both shares are a half, except for what chance makes of
        // the last losses: if one flow had a tenth of the time alone, the index would be 0.96.
        assert!(outcome.totals.jain_index > 0.95, "{congestion}: {}", outcome.totals.jain_index);
        assert!(outcome.totals.goodput_bps > 15e6, "{congestion}: {}", outcome.totals.goodput_bps);
        assert!(outcome.flows.iter().all(|flow| flow.retransmits.is_some_and(|again| again > 0)));
    }
}

#[test]
fn acknowledgements_in_a_higher_category_spare_the_uploads() {
    // Under the DCF the access point has one turn in n + 1 for the acknowledgements of n uploads, so its queue overflows.
    let flows = "[[flow]]\nname = \"up\"\nfrom = \"*\"\nto = \"server\"\ntransport = \"tcp\"\n\
        traffic = { kind = \"greedy\" }\n";
    let queue = |text: String, name: &str| {
        let outcome = run(&text, 1);
        let ap = outcome.nodes.iter().find(|node| node.name == "ap").expect("it is there");
        let queue = ap.queues.iter().find(|queue| queue.name == name).expect("of the acknowledgements");
        (queue.dropped_packets, queue.backlog_packets.mean)
    };
    let (dropped, backlog) = queue(cell(6, 40, flows), "be");
    assert!(dropped > 0 && backlog > 20.0, "{dropped} dropped of the DCF's queue, {backlog} in it");
    let edca = "[mac]\naccess = \"edca\"\n[tcp]\nack_category = \"voice\"\n".to_owned() + flows;
    let (dropped, backlog) = queue(cell(6, 40, &edca), "vo");
    assert!(dropped == 0 && backlog < 5.0, "{dropped} dropped of the voice queue, {backlog} in it");
}

#[test]
fn a_queue_that_marks_need_not_drop() {
    let text = |ecn: bool| {
        let codel = format!("[queue.codel]\necn = true\n[tcp]\necn = {ecn}\n");
        let flow = "[[flow]]\nname = \"down\"\nfrom = \"server\"\nto = \"s1\"\ntransport = \"tcp\"\n\
            traffic = { kind = \"greedy\" }\n";
        cell(1, 60, &(codel + flow)).replace("limit = 100\n", "limit = 1000\ndiscipline = \"codel\"\n")
    };
    let seen = |ecn: bool| {
        let outcome = run(&text(ecn), 1);
        let (flow, queue) = (outcome.flows[0].clone(), &outcome.nodes[0].queues[0]);
        assert!(flow.goodput_bps > 10e6 && queue.sojourn_s.mean < 0.02, "{flow:?} {:?}", queue.sojourn_s);
        (queue.dropped_packets, flow.retransmits, flow.marks, flow.recoveries)
    };
    let (dropped, again, marks, recoveries) = seen(true);
    assert_eq!((dropped, again, recoveries), (0, Some(0), Some(0)));
    assert!(marks > Some(10), "{marks:?}");
    let (dropped, again, marks, recoveries) = seen(false);
    assert!(dropped > 10 && again >= Some(dropped) && recoveries > Some(10), "{dropped} {again:?} {recoveries:?}");
    assert_eq!(marks, Some(0));
}

#[test]
fn transfers_cross_a_mesh_whatever_finds_the_way() {
    for (routing, extra) in [
        ("[routing]\nprotocol = \"static\"\n", ""),
        ("[routing]\nprotocol = \"aodv\"\n", ""),
        ("", "[[routing.route]]\nfrom = \"n0\"\nto = \"n2\"\nvia = [\"n1\"]\n"),
    ] {
        let text = chain(3, "60 s", routing)
            + extra
            + "[[flow]]\nname = \"f\"\nfrom = \"n0\"\nto = \"n2\"\ntransport = \"tcp\"\n\
               traffic = { kind = \"transfer\", size = \"500 kB\" }\n";
        let outcome = run(&text, 1);
        assert_eq!(outcome.flows[0].transfers_completed, Some(1), "{routing}{extra}: {:?}", outcome.flows[0]);
        // What the relay forwards passes it in both directions.
        assert!(outcome.nodes[1].mac.delivered > 750, "500 segments and their acknowledgements");
    }
}

/// Returns, for each node, to which nodes it sent packets.
fn next_hops(outcome: &Outcome) -> Vec<Vec<&str>> {
    let nodes = outcome.nodes.iter();
    nodes.map(|node| node.hops.iter().filter(|hop| hop.attempts > 0).map(|hop| hop.name.as_str()).collect()).collect()
}

#[test]
fn a_way_given_by_hand_holds_for_the_way_back_too() {
    // The path goes round by n3 and n2, although n0 and n1 hear each other.
    let text = "duration = \"10 s\"\n[radio]\nrange = \"30 m\"\n[nodes]\ncount = 4\nplacement = \"grid\"\nspacing = \"20 m\"\n\
        [[routing.route]]\nfrom = \"n0\"\nto = \"n1\"\nvia = [\"n2\", \"n3\"]\n\
        [[flow]]\nname = \"f\"\nfrom = \"n0\"\nto = \"n1\"\ntransport = \"tcp\"\n\
        traffic = { kind = \"transfer\", size = \"10 kB\" }\n\
        [[flow]]\nname = \"p\"\nfrom = \"n0\"\nto = \"n1\"\ntraffic = { kind = \"ping\" }\n";
    let outcome = run(text, 1);
    assert_eq!(next_hops(&outcome), [vec!["n2"], vec!["n3"], vec!["n0", "n3"], vec!["n1", "n2"]]);
    // Answers go another way back if the scenario gives one.
    let other =
        text.replace("[[flow]]\nname = \"f\"", "[[routing.route]]\nfrom = \"n1\"\nto = \"n0\"\n[[flow]]\nname = \"f\"");
    let outcome = run(&other, 1);
    assert_eq!(next_hops(&outcome), [vec!["n2"], vec!["n0"], vec!["n3"], vec!["n1"]]);
    assert_eq!(outcome.flows[0].transfers_completed, Some(1));
}

#[test]
fn connections_that_are_over_leave_nothing_behind() {
    // With five thousand of them and some losses, the counts balance at the end, and the run is not slower.
    let flows = "[[flow]]\nname = \"many\"\nfrom = \"server\"\nto = \"s1\"\ntransport = \"tcp\"\n\
        traffic = { kind = \"transfer\", size = \"3 kB\", every = \"20 ms\" }\n\
        [[flow]]\nname = \"lossy\"\nfrom = \"server\"\nto = \"s1\"\ntransport = \"tcp\"\ntraffic = { kind = \"greedy\" }\n";
    let outcome = run(&cell(1, 110, flows), 1);
    let many = &outcome.flows[0];
    assert_eq!(many.transfers, Some(5_000));
    assert!(many.transfers_completed.is_some_and(|completed| completed > 4_900), "{many:?}");
}
