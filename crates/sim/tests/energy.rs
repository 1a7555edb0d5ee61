//! Energy in each state, computed by hand.

use crate::networks::{chain, one_packet, refusal, run};
use sim::results::{Energy, Outcome};
use std::fmt::Write as _;
use theory::energy::Node;

/// 1000 B of payload: a MAC frame of 1064 B at 11 Mb/s, in whole microseconds, after 192 us of preamble.
const DATA_S: f64 = 966e-6;
/// The same at 2 Mb/s.
const SLOW_DATA_S: f64 = 4_448e-6;
/// An ACK at 1 Mb/s.
const ACK_S: f64 = 304e-6;
/// SIFS, and 30 m there and back, in whole nanoseconds.
const GAP_S: f64 = 10.2e-6;

/// Lengths at the middles of sixteen equally likely parts of an exponential distribution.
const EXPONENTIAL: &str = "\"21 B\", \"64 B\", \"110 B\", \"160 B\", \"215 B\", \"274 B\", \"339 B\", \"411 B\", \"492 B\", \"586 B\", \
    \"694 B\", \"825 B\", \"988 B\", \"1207 B\", \"1539 B\", \"2253 B\"";

fn energy(outcome: &Outcome, node: usize) -> Energy {
    outcome.nodes[node].energy.expect("joules are counted")
}

/// Compares to a nanosecond or a nanojoule.
fn near(found: f64, expected: f64) {
    assert!((found - expected).abs() < 2e-9, "{found}, {expected} by hand");
}

#[test]
fn one_frame_by_hand() {
    let found = run(&(chain(2, "2 s", "") + "[consumption]\n" + &one_packet(2)), 1);
    for (node, sent, heard) in [(0, DATA_S, ACK_S), (1, ACK_S, DATA_S)] {
        let energy = energy(&found, node);
        near(energy.transmit_s, sent);
        near(energy.receive_s, heard);
        near(energy.listen_s, 2.0 - sent - heard);
        // The currents are 240, 100 and 95 mA at 3.3 V.
        let expected = [0.792 * sent, 0.33 * heard, 0.3135 * (2.0 - sent - heard)];
        near(energy.transmit_j, expected[0]);
        near(energy.receive_j, expected[1]);
        near(energy.listen_j, expected[2]);
        near(energy.total_j, expected.iter().sum());
        near(energy.mean_w, energy.total_j / 2.0);
        assert!(energy.doze_s.abs() < 1e-12 && energy.low.is_none() && energy.low_up_to_packets.is_none());
    }
    assert!(run(&(chain(2, "2 s", "") + &one_packet(2)), 1).nodes[0].energy.is_none());
}

#[test]
fn a_node_dozes_while_the_medium_is_idle_and_it_has_nothing_to_send() {
    let table = "[consumption]\ndoze = \"2 mW\"\nlisten = \"300 mW\"\n";
    let found = run(&(chain(2, "2 s", "") + table + &one_packet(2)), 1);
    // The sender's idle time with packets is that between its frame and the ACK. A node that sends only its ACK has none.
    for (node, awake) in [(0, GAP_S), (1, 0.0)] {
        let energy = energy(&found, node);
        near(energy.listen_s, awake);
        near(energy.doze_s, 2.0 - DATA_S - ACK_S - awake);
        near(energy.doze_j, 0.002 * energy.doze_s);
        near(energy.listen_j, 0.3 * awake);
    }
}

/// A station that sleeps from 100 ms and a null frame on to the end hears nothing of what others send.
#[test]
fn a_station_with_power_save_dozes_while_it_sleeps_whatever_the_medium_does() {
    let text = "duration = \"2 s\"\n[mac]\ncw_min = 0\n[consumption]\ndoze = \"2 mW\"\nlisten = \"300 mW\"\n\
        [[node]]\nname = \"phone\"\nposition = [\"30 m\", \"0 m\"]\npower_save = {}\n\
        [[node]]\nname = \"desk\"\nposition = [\"-30 m\", \"0 m\"]\n\
        [[node]]\nname = \"ap\"\nrole = \"access-point\"\nposition = [\"0 m\", \"0 m\"]\n\
        [[flow]]\nname = \"f\"\nfrom = \"ap\"\nto = \"desk\"\nstart = \"1 s\"\nstop = \"1.5 s\"\n\
        traffic = { kind = \"cbr\", rate = \"8 kb/s\", packet = \"1000 B\" }\n";
    let found = run(text, 1);
    let phone = energy(&found, 0);
    // A null frame of 28 B takes 192 + 21 us; then SIFS and 60 m in whole nanoseconds; then an ACK.
    let null_s = 213e-6;
    let asleep = 2.0 - 0.1 - null_s - GAP_S - ACK_S;
    near(phone.transmit_s, null_s);
    near(phone.receive_s, ACK_S);
    near(phone.listen_s, 0.1 + GAP_S);
    near(phone.doze_s, asleep);
    near(phone.doze_j, 0.002 * asleep);
}

#[test]
fn the_low_level_serves_up_to_the_threshold_and_is_drawn_apart() {
    let served = |threshold: u32| {
        let text = format!(
            "{}[consumption]\n[consumption.low]\ndata_rate = \"2 Mb/s\"\ntransmit = \"500 mW\"\n[queue]\ncontroller = \"energy\"\n\
             energy.threshold = {threshold}\n[routing]\nprotocol = \"static\"\n{}",
            chain(2, "2 s", ""),
            one_packet(2)
        );
        energy(&run(&text, 1), 0)
    };
    let (low, high) = (served(1), served(0));
    near(low.transmit_s, SLOW_DATA_S);
    near(low.transmit_j, 0.5 * SLOW_DATA_S);
    near(high.transmit_j, 0.792 * DATA_S);
    for (energy, expected) in [(low, 1.0), (high, 0.0)] {
        near(energy.low_up_to_packets.expect("a controller orders it").last, expected);
    }
    for (energy, data, watts) in [(low, SLOW_DATA_S, 0.5), (high, DATA_S, 0.792)] {
        let [of_low, of_high] = [energy.low, energy.high].map(|level| level.expect("it has two levels"));
        let (used, unused) = if watts < 0.7 { (of_low, of_high) } else { (of_high, of_low) };
        assert_eq!((used.packets, unused.packets), (1, 0));
        let service = data + GAP_S + ACK_S;
        near(used.service_mean_s, service);
        // This is the power above that of listening.
        let above = (watts - 0.3135) * data + (0.33 - 0.3135) * ACK_S;
        assert!((used.power_w - above / service).abs() < 1e-6, "{used:?}");
    }
}

/// Two paths to `d`, from `a` and from `b`, join at `c`. No radio hears those of another hop. Each of the three nodes has a
/// threshold of its own. The paths' delays are the sums of `L / lambda` of `theory::energy` with the measured services, to a
/// tenth: a packet keeps its length from node to node, but the closed form draws each service anew.
#[test]
fn two_paths_last_as_long_as_their_three_nodes_hold_packets() {
    let mut text = String::from(
        "duration = \"200 s\"\n[radio]\nstandard = \"802.11a\"\ndata_rate = \"24 Mb/s\"\npropagation = \"range\"\nrange = \"30 m\"\n\
         errors.model = \"none\"\n[consumption]\n[consumption.low]\ndata_rate = \"6 Mb/s\"\ntransmit = \"0.9 W\"\n",
    );
    let thresholds = [("a", 5), ("b", 4), ("c", 2)];
    for (place, (sender, receiver)) in [("a", "x"), ("b", "y"), ("c", "d")].into_iter().enumerate() {
        let threshold = thresholds[place].1;
        let role = "role = \"access-point\"".to_owned();
        let [sends, hears] = if sender == "c" {
            [role, "access_point = \"c\"".to_owned()]
        } else {
            [format!("access_point = \"{receiver}\""), role]
        };
        let _ = write!(
            text,
            "[[node]]\nname = \"{sender}\"\n{sends}\nposition = [\"{place}000 m\", \"0 m\"]\nqueue.controller = \"energy\"\n\
             queue.energy.threshold = {threshold}\nqueue.limit = 400\n\
             [[node]]\nname = \"{receiver}\"\n{hears}\nposition = [\"{place}005 m\", \"0 m\"]\n"
        );
    }
    for (from, relay, rate) in [("a", "x", "1.9 Mb/s"), ("b", "y", "1.26 Mb/s")] {
        let _ = write!(
            text,
            "[[wired]]\nbetween = [\"{relay}\", \"c\"]\nrate = \"1 Gb/s\"\n[[flow]]\nname = \"{from}\"\nfrom = \"{from}\"\nto = \"d\"\n\
             traffic = {{ kind = \"poisson\", rate = \"{rate}\", packet = [{EXPONENTIAL}] }}\n"
        );
    }
    let found = run(&text, 1);
    let rates = [&found.flows[0], &found.flows[1]].map(|flow| flow.received_packets as f64 / 200.0);
    let wait = |place: usize, arrivals: f64| {
        let levels = energy(&found, 2 * place);
        let [low, high] = [levels.low, levels.high].map(|level| 1.0 / level.expect("two levels").service_mean_s);
        let node = Node { arrivals, low, high, power_low: 0.0, power_high: 0.0, weight: 0.0 };
        node.cost(thresholds[place].1).expect("a stable node") / arrivals
    };
    let last = wait(2, rates[0] + rates[1]);
    for (place, flow) in found.flows.iter().enumerate() {
        let expected = wait(place, rates[place]) + last;
        let measured = flow.delay_s.mean;
        assert!((measured / expected - 1.0).abs() < 0.1, "{}: {measured}, {expected} by the closed form", flow.name);
    }
}

/// Two packets come shortly one after the other; the threshold is 1. The first goes at the low level, and the second was alone
/// when its service began. Of three packets, the second has one behind it and goes at the high level.
#[test]
fn a_packet_goes_at_the_level_that_the_queue_has_when_its_service_begins() {
    let flow = |place: u32| {
        format!(
            "[[flow]]\nname = \"f{place}\"\nfrom = \"n0\"\nto = \"n1\"\nstart = \"{} ms\"\nstop = \"{} ms\"\n\
             traffic = {{ kind = \"cbr\", rate = \"8 kb/s\", packet = \"1000 B\" }}\n",
            1_000 + place,
            1_001 + place
        )
    };
    let flows = [0, 1, 2].map(flow).concat();
    let text = format!(
        "{}[consumption.low]\ndata_rate = \"2 Mb/s\"\ntransmit = \"500 mW\"\n[queue]\ncontroller = \"energy\"\n\
         energy.threshold = 1\n[routing]\nprotocol = \"static\"\n{flows}",
        chain(2, "2 s", "")
    );
    let found = energy(&run(&text, 1), 0);
    assert_eq!([found.low, found.high].map(|level| level.unwrap().packets), [2, 1]);
}

#[test]
fn times_by_state_add_up_to_the_run_wherever_it_is_cut() {
    let flow = |name: &str, from: u32, to: u32, packet: u32| {
        format!(
            "[[flow]]\nname = \"{name}\"\nfrom = \"n{from}\"\nto = \"n{to}\"\n\
             traffic = {{ kind = \"saturated\", packet = \"{packet} B\" }}\n"
        )
    };
    for (nanos, doze) in [(7_000_001, ""), (61_234_567, "doze = \"2 mW\"\n"), (103_000_017, "")] {
        let head = format!("warmup = \"{} ns\"\n", nanos / 3);
        let text = chain(4, &format!("{nanos} ns"), &head)
            + "[consumption]\n"
            + doze
            + &flow("a", 0, 1, 1_500)
            + &flow("b", 2, 1, 300)
            + &flow("c", 2, 3, 700);
        let found = run(&text, 3);
        let covered = f64::from(nanos - nanos / 3) * 1e-9;
        for node in 0..4 {
            let energy = energy(&found, node);
            near(energy.transmit_s + energy.receive_s + energy.listen_s + energy.doze_s, covered);
            near(energy.total_j, energy.transmit_j + energy.receive_j + energy.listen_j + energy.doze_j);
            // According to the other count, this is the node's busy time.
            let busy = found.nodes[node].mac.busy_ratio * covered;
            near(energy.transmit_s + energy.receive_s, busy);
        }
    }
}

#[test]
fn a_node_may_have_keys_of_its_own_and_counting_changes_nothing_else() {
    let own = "[[node]]\nname = \"n1\"\nconsumption.transmit = \"1 W\"\n";
    let of = |table: &str| run(&(chain(2, "2 s", "") + table + own + &one_packet(2)), 1);
    let shared = of("[consumption]\nlisten = \"100 mW\"\n");
    near(energy(&shared, 1).transmit_j, ACK_S);
    near(energy(&shared, 0).transmit_j, 0.792 * DATA_S);
    near(energy(&shared, 1).listen_j, 0.1 * energy(&shared, 1).listen_s);
    let alone = of("");
    assert!(alone.nodes[0].energy.is_none());
    near(energy(&alone, 1).transmit_j, ACK_S);
    let without = run(&(chain(2, "2 s", "") + &one_packet(2)), 1);
    assert_eq!((without.flows, without.events), (shared.flows, shared.events));
}

#[test]
fn a_node_without_a_radio_draws_nothing() {
    let text = "duration = \"2 s\"\nwarmup = \"1 s\"\n[consumption]\n[[node]]\nname = \"ap\"\nrole = \"access-point\"\n\
                position = [\"0 m\", \"0 m\"]\n[[node]]\nname = \"server\"\nrole = \"wired\"\n\
                [[wired]]\nbetween = [\"ap\", \"server\"]\nrate = \"10 Mb/s\"\n";
    let found = run(text, 1);
    near(energy(&found, 0).listen_s, 1.0);
    assert!(found.nodes[1].energy.is_none());
}

#[test]
fn what_cannot_be_meant_is_refused() {
    let low = "[consumption.low]\ndata_rate = \"2 Mb/s\"\ntransmit = \"500 mW\"\n";
    let energy = "[queue]\ncontroller = \"energy\"\n";
    for (more, expected) in [
        (energy.to_owned(), "by transmission level"),
        (format!("[consumption]\n{energy}"), "by transmission level"),
        ("[consumption.low]\ntransmit = \"500 mW\"\n".to_owned(), "`data_rate` or an `mcs`"),
        ("[consumption.low]\ndata_rate = \"3 Mb/s\"\ntransmit = \"500 mW\"\n".to_owned(), "no such rate"),
        (format!("[mac]\naccess = \"edca\"\n{low}"), "needs the DCF"),
        (format!("[class_queue]\n{low}"), "no `class_queue`"),
        (format!("[mac.rate_control]\nalgorithm = \"arf\"\n{low}"), "rate control chooses"),
    ] {
        let (_, message) = refusal(&(chain(2, "2 s", "") + &more + &one_packet(2)));
        assert!(message.contains(expected), "{message}");
    }
}
