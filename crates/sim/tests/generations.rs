//! Stations of several generations in one network, and what they send to each other.

use crate::networks::{run, sent};
use sim::config::ChannelWidth;
use sim::radio::{Format, Mode};
use sim::trace::Kind;
use std::collections::BTreeMap;

/// An 802.11ax access point over 80 MHz, stations of three generations, and a flow in each direction with each.
fn home(mac: &str) -> String {
    let stations = [("new", ""), ("mid", "standard = \"802.11ac\""), ("old", "standard = \"802.11n\"\nstreams = 2")];
    let station = |(name, own): (&str, &str)| {
        format!(
            "[[node]]\nname = \"{name}\"\nposition = [\"3 m\", \"0 m\"]\n{own}\n\
             [[flow]]\nname = \"down {name}\"\nfrom = \"ap\"\nto = \"{name}\"\n\
             traffic = {{ kind = \"saturated\", packet = \"1000 B\" }}\n\
             [[flow]]\nname = \"up {name}\"\nfrom = \"{name}\"\nto = \"ap\"\n\
             traffic = {{ kind = \"saturated\", packet = \"1000 B\" }}\n"
        )
    };
    format!(
        "duration = \"400 ms\"\nwarmup = \"100 ms\"\n\
         [radio]\nstandard = \"802.11ax\"\nchannel_width = \"80 MHz\"\nstreams = 2\n{mac}\n\
         [mac.edca.best_effort]\ntxop_limit = \"0 s\"\n[queue]\nlimit = 300\n\
         [[node]]\nname = \"ap\"\nrole = \"access-point\"\nposition = [\"0 m\", \"0 m\"]\nqueues = \"per-station\"\n"
    ) + &stations.map(station).concat()
}

/// For each station: formats, widths and streams of the data between it and the access point, the longest aggregate, and whether
/// its block acknowledgements have 256 bits.
type Used = BTreeMap<u32, (Vec<(Format, ChannelWidth, u8)>, usize, Vec<bool>)>;

fn used(text: &str) -> Used {
    let mut used = Used::new();
    for (_, frame) in sent(text, &[0, 1, 2, 3]) {
        let Some(to) = frame.to else { continue };
        let (modes, longest, long) = used.entry(frame.from.max(to)).or_default();
        if let Kind::BlockAck { long: is_long, .. } = frame.kind
            && !long.contains(&is_long)
        {
            long.push(is_long);
        }
        if frame.kind != Kind::Data {
            continue;
        }
        let Mode::Mimo(mimo) = frame.mode else { panic!("data in {:?}", frame.mode) };
        let mode = (mimo.format(), mimo.width(), mimo.streams());
        if !modes.contains(&mode) {
            modes.push(mode);
        }
        *longest = (*longest).max(frame.mpdus.len());
    }
    used
}

#[test]
fn two_stations_use_what_both_have() {
    let used = used(&home(""));
    let of = |node| used[&node].clone();
    // MCS 7, two streams and 80 MHz: 4 ms have room for more than 256 packets.
    assert_eq!(of(1), (vec![(Format::He, ChannelWidth::Mhz80, 2)], 256, vec![true]));
    assert_eq!(of(2), (vec![(Format::Vht, ChannelWidth::Mhz80, 1)], 64, vec![false]));
    // HT: 65535 B are 61 packets of 1072 B.
    assert_eq!(of(3), (vec![(Format::Ht, ChannelWidth::Mhz40, 2)], 61, vec![false]));
}

/// The MCS is that of the sender, among stations of one generation and of several.
#[test]
fn a_sender_keeps_its_own_mcs() {
    let own = |name: &str, mcs: u8| format!("name = \"{name}\"\nmcs = {mcs}\n");
    let text = home("mcs = 11").replace("name = \"new\"\n", &own("new", 3)).replace("name = \"mid\"\n", &own("mid", 2));
    let mut used = BTreeMap::new();
    for (_, frame) in sent(&text, &[0, 1, 2, 3]) {
        if let (Mode::Mimo(mimo), Some(to)) = (frame.mode, frame.to) {
            used.insert((frame.from, to), mimo.mcs());
        }
    }
    // HT's index counts the streams: 7 and 15 are both 64-QAM 5/6.
    let expected = [((0, 1), 11), ((0, 2), 9), ((0, 3), 15), ((1, 0), 3), ((2, 0), 2), ((3, 0), 15)];
    assert_eq!(used, expected.into_iter().collect());
}

#[test]
fn rate_control_keeps_to_what_both_have() {
    let used = used(&home("[mac.rate_control]\nalgorithm = \"minstrel-ht\""));
    let limits = [
        (1, Format::He, ChannelWidth::Mhz80, 2),
        (2, Format::Vht, ChannelWidth::Mhz80, 1),
        (3, Format::Ht, ChannelWidth::Mhz40, 2),
    ];
    for (node, format, width, streams) in limits {
        let (modes, ..) = &used[&node];
        assert!(modes.iter().all(|mode| mode.0 == format && mode.1 <= width && mode.2 <= streams), "{node}: {modes:?}");
        assert!(modes.contains(&(format, width, streams)), "{node}: {modes:?}");
    }
}

/// In turns of one aggregate, each station gets what its own generation carries in an aggregate.
#[test]
fn a_turn_carries_an_aggregate_of_the_stations_generation() {
    let outcome = run(&home(""), 2);
    let goodput = |name: &str| outcome.flows.iter().find(|flow| flow.name == name).expect("a flow").goodput_bps;
    let [new, mid, old] = ["down new", "down mid", "down old"].map(goodput);
    assert!(new > mid && mid > old && old > 1e6, "{new} {mid} {old}");
}
