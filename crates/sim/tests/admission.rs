//! Flows that ask for admission in whole networks: probes, answers, their losses, and refusals.

use crate::networks::{refuses, run, watched};
use sim::results::{Admission, Outcome};
use sim::trace::{AdmissionStep, TraceEventKind};

/// A chain of three nodes. A call with 16 kb/s of payload from its first node to its last asks for admission at 1 s.
fn chain(admission: &str, more: &str) -> String {
    format!(
        "duration = \"10 s\"\n[radio]\nrange = \"30 m\"\n[nodes]\ncount = 3\nplacement = \"chain\"\nspacing = \"25 m\"\n\
         [[flow]]\nname = \"call\"\nfrom = \"n0\"\nto = \"n2\"\nclass = \"real-time\"\nstart = \"1 s\"\n\
         traffic = {{ kind = \"cbr\", rate = \"16 kb/s\", packet = \"40 B\" }}\nadmission = {{ {admission} }}\n{more}"
    )
}

/// A fourth node far away, in an ad hoc network that has no routes at the start.
const LOST: &str = "[[node]]\nname = \"n9\"\nposition = [\"900 m\", \"0 m\"]\n[routing]\nprotocol = \"aodv\"\n";

fn admission(outcome: &Outcome) -> Admission {
    outcome.flows[0].admission.expect("it asks")
}

/// Returns the steps of the flow's admission, each with its time.
fn steps(text: &str) -> Vec<(f64, AdmissionStep)> {
    let step = |event: sim::trace::TraceEvent| match event.what {
        TraceEventKind::Admission { flow: 0, step } => Some((event.at.since(units::Instant::ZERO).as_secs_f64(), step)),
        _ => None,
    };
    watched(text, &[0]).0.into_iter().filter_map(step).collect()
}

#[test]
fn a_flow_asks_before_its_first_packet_and_sends_when_the_answer_is_there() {
    let outcome = run(&chain("", ""), 1);
    let found = admission(&outcome);
    assert_eq!((found.probes, found.unanswered_probes, found.admitted, found.refused_s), (1, 0, true, None));
    // The probe and its answer make four hops, each with 24 + 28 + 36 B at 1 or 11 Mb/s: at least DIFS, 192 + 64 us and an ACK.
    let waited = found.admitted_s.expect("it was admitted") - 1.0;
    assert!((4.0 * 510e-6..20e-3).contains(&waited), "{waited}");
    // The flow sends 50 packets a second for 9 s, except the packet that started the probe.
    assert_eq!(outcome.flows[0].sent_packets, 449);
    assert_eq!(outcome.flows.len(), 1, "messages are no flows of the scenario");
    let free = run(&chain("", "").replace("admission = {  }", ""), 1);
    assert_eq!((free.flows[0].sent_packets, free.flows[0].admission), (450, None));
    // A relay passes on a probe and an answer in addition.
    let passed = |outcome: &Outcome| outcome.nodes[1].queues[0].arrived_packets;
    assert_eq!(passed(&outcome) + 1, passed(&free) + 2);
}

#[test]
fn a_flow_that_was_admitted_elsewhere_does_not_ask() {
    let outcome = run(&chain("presumed = true", ""), 1);
    assert_eq!((admission(&outcome).probes, admission(&outcome).admitted), (0, true));
    assert_eq!(outcome.flows[0].sent_packets, 450);
}

#[test]
fn without_an_answer_it_asks_again_and_is_refused() {
    let lost = |keys: &str| chain(keys, LOST).replace("to = \"n2\"", "to = \"n9\"");
    let found = admission(&run(&lost(""), 1));
    // The source waits for half a second three times.
    assert_eq!((found.probes, found.unanswered_probes, found.admitted), (3, 3, false));
    assert_eq!((found.admitted_s, found.refused_s), (None, Some(2.5)));
    assert_eq!(
        steps(&lost("gate = { retries = 1, patience = \"100 ms\" }")),
        [(1.0, AdmissionStep::Probe), (1.1, AdmissionStep::Probe), (1.2, AdmissionStep::Refuse)]
    );
    assert_eq!(run(&lost(""), 1).flows[0].sent_packets, 0);
    let outcome = run(&lost("refused = \"best-effort\""), 1);
    // It sends from 2.52 s on. (At 2.5 s the packet comes before the refusal, or at the same time.)
    assert!((374..=375).contains(&outcome.flows[0].sent_packets), "{}", outcome.flows[0].sent_packets);
}

#[test]
fn a_destination_that_leaves_between_probe_and_answer_is_one_that_does_not_answer() {
    // The probe needs two hops and a route, some 3 ms. In the 2 ms from 1.0 s on the node moves 200 m.
    let away = "[[node]]\nname = \"n2\"\nwaypoints = [{ time = \"1 s\", position = [\"900 m\", \"0 m\"], \
                speed = \"100000 m/s\" }]\n[routing]\nprotocol = \"aodv\"\n";
    let found = admission(&run(&chain("", away), 1));
    assert_eq!((found.probes, found.admitted, found.admitted_s), (3, false, None));
}

#[test]
fn what_cannot_ask_is_refused() {
    let with = |from: &str, to: &str| chain("", "").replace(from, to);
    let steady = "kind = \"cbr\", rate = \"16 kb/s\", packet = \"40 B\"";
    for (text, path, says) in [
        (with("class = \"real-time\"\n", ""), "flow.call.admission", "class = \"real-time\""),
        (with("to = \"n2\"", "to = \"broadcast\""), "flow.call.admission", "one destination"),
        (with(steady, "kind = \"saturated\", packet = \"40 B\""), "flow.call.admission", "own sending times"),
        (with(steady, "kind = \"ping\""), "flow.call.admission", "own sending times"),
        (with(steady, "kind = \"voice\", silence = true"), "flow.call.admission.rate", "give the rate to request"),
    ] {
        refuses(&text, path, says);
    }
}

/// Four flows of 200 kb/s, and four more that ask at once; real-time traffic is marked above 1.2 Mb/s and admitted up to 1.05.
fn crowd(regulation: &str, stagger: &str) -> String {
    let flows = |name: &str, from: &str, more: &str| {
        format!(
            "[[flow]]\nname = \"{name}\"\nfrom = \"{from}\"\nto = \"n0\"\ncount = 4\nclass = \"real-time\"\n{more}\n\
             traffic = {{ kind = \"cbr\", rate = \"200 kb/s\", packet = \"1500 B\" }}\n\
             admission = {{ gate = {{ stagger = \"{stagger}\" }} }}\n"
        )
    };
    "duration = \"40 s\"\n[radio]\nerrors.model = \"none\"\n[nodes]\ncount = 3\nplacement = \"circle\"\nspacing = \"20 m\"\n\
     [class_queue.real_time]\ncontroller = \"swan_mark\"\n\
     swan_mark = { admission_rate = \"1.05 Mb/s\", threshold_rate = \"1.2 Mb/s\", regulation = \"REG\" }\n"
        .replace("REG", regulation)
        + &flows("old", "n1", "phase_jitter = \"20 ms\"")
        + &flows("new", "n2", "start = \"20 s\"")
}

/// With headers each flow has 203.7 kb/s, so four have 814.9 kb/s and leave room for one more. All four that ask at once see this
/// room and enter: 1.63 Mb/s. Regulation stops flows until less than 1.05 Mb/s is left, new ones first.
#[test]
fn false_admission_happens_and_is_repaired() {
    for (regulation, stagger) in [("network", "0 s"), ("source", "7 s")] {
        for seed in 1..=5 {
            let outcome = run(&crowd(regulation, stagger), seed);
            let asked = |name: &str| {
                let flows = outcome.flows.iter().filter(|flow| flow.name.starts_with(name));
                flows.map(|flow| flow.admission.expect("it asks")).collect::<Vec<_>>()
            };
            let (old, new) = (asked("old"), asked("new"));
            assert!(old.iter().chain(&new).all(|flow| flow.admitted_s.is_some()), "{regulation}: all were admitted");
            let left = old.iter().chain(&new).filter(|flow| flow.admitted).count();
            assert!((1..=5).contains(&left), "{regulation}, seed {seed}: {left} are left");
            let stops = |flows: &[Admission]| flows.iter().filter_map(|flow| flow.refused_s).collect::<Vec<_>>();
            let (of_old, of_new) = (stops(&old), stops(&new));
            assert!(of_new.len() >= 3, "{regulation}, seed {seed}: {of_new:?}");
            let last_new = of_new.iter().copied().fold(0.0, f64::max);
            assert!(of_old.iter().all(|&at| at > last_new), "{regulation}, seed {seed}: {of_old:?} after {of_new:?}");
            assert!(outcome.nodes.iter().any(|node| node.queues[0].marked_packets.is_some()));
            let ends = |flow: &Admission| flow.until_s == Some(flow.refused_s.unwrap_or(40.0));
            assert!(old.iter().chain(&new).all(ends), "{old:?} {new:?}");
            let waits: Vec<f64> = old.iter().filter_map(|flow| flow.waited_s).collect();
            assert!(new.iter().all(|flow| flow.waited_s.is_none()), "who was admitted just now does not wait");
            assert_eq!(waits.is_empty(), regulation == "network", "{waits:?}");
            assert!(waits.iter().all(|wait| *wait < 7.0));
            assert!(regulation == "network" || waits.len() >= of_old.len(), "who stopped had waited");
        }
    }
}

#[test]
fn a_series_has_the_average_of_real_time_and_the_marks() {
    let outcome = run(&(crowd("network", "0 s") + "[record]\nseries = \"100 ms\"\n"), 1);
    let series = outcome.series.as_ref().expect("recorded");
    for (flow, over_time) in outcome.flows.iter().zip(&series.flows) {
        let found = flow.admission.expect("it asks");
        let lasted = found.until_s.expect("answered") - found.admitted_s.expect("all are admitted");
        assert!((over_time.admitted.iter().sum::<f64>() * 0.1 - lasted).abs() < 0.1 + 1e-9, "{}: {lasted}", flow.name);
    }
    let (mut highest, mut marks) = (0.0_f64, 0);
    for node in &series.nodes {
        for (rate, marked) in node.real_time_bps.iter().zip(&node.marked_packets) {
            marks += marked;
            highest = highest.max(*rate);
        }
    }
    let counted = outcome.nodes.iter().flat_map(|node| &node.queues).filter_map(|queue| queue.marked_packets);
    assert!(marks > 0 && marks == counted.sum::<u64>(), "{marks}");
    assert!(highest > 1.2e6, "{highest}: marks without having been above the threshold");
    assert!(series.nodes.iter().any(|node| node.real_time_bps.is_empty()), "best effort's ports have no such average");
}

/// Below the threshold nothing is marked and no flow stops, however far the load is above the admission rate.
#[test]
fn what_is_between_the_two_rates_is_tolerated() {
    let text = crowd("network", "0 s").replace("1.2 Mb/s", "1.7 Mb/s");
    let outcome = run(&text, 1);
    assert!(outcome.flows.iter().all(|flow| flow.admission.is_some_and(|asked| asked.admitted && asked.probes == 1)));
    assert!(outcome.nodes.iter().all(|node| node.queues[0].marked_packets.is_none()));
}
