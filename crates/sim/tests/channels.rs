//! Access points on channels that overlap in part.

use crate::networks::{goodputs, pair, refusal, run, sent};
use proptest::prelude::*;
use sim::config::ChannelWidth;
use sim::radio::Mode;
use sim::trace::{Frame, Kind};
use units::{Duration, Instant};

/// SIFS and a slot: the time for which a secondary channel has to be idle.
const PIFS: Duration = Duration::from_micros(25);

const RADIO: &str = "[radio]\nstandard = \"802.11ax\"\nchannel_width = \"160 MHz\"\nstreams = 2\nmcs = 9\n";

/// A cell: its name, the number of its primary channel, its width in MHz, and its distance in metres.
type Cell = (&'static str, u8, u32, u32);

/// Cells of an access point and a station 3 m away, for which the access point always has packets.
fn cells(cells: &[Cell], keys: &str) -> String {
    let mut text = format!("duration = \"200 ms\"\nwarmup = \"50 ms\"\n{keys}\n");
    for (name, channel, width, at) in cells {
        text += &pair(name, *at, &format!("channel = {channel}\nchannel_width = \"{width} MHz\""));
    }
    text
}

/// Returns when each data frame of a node was sent, its duration, and its width.
fn frames(text: &str, node: u32) -> Vec<(Instant, Duration, ChannelWidth)> {
    let of = |(at, frame): (Instant, Frame)| match frame.mode {
        Mode::Mimo(mode) if frame.kind == Kind::Data => Some((at, frame.length, mode.width())),
        _ => None,
    };
    sent(text, &[node]).into_iter().filter_map(of).collect()
}

/// True if a frame or its acknowledgement takes the channel within PIFS before a time. They end within SIFS and 100 us.
fn disturbed(at: Instant, others: &[(Instant, Duration, ChannelWidth)], after: Duration) -> bool {
    others.iter().any(|&(start, length, _)| start < at && at < start + length + after)
}

/// A cell of 80 MHz is beside one of 20 MHz on one of its secondary channels. A frame has the idle channels: all, or the first
/// two if the neighbour is on the third or fourth, or the first one if it is on the second.
#[test]
fn a_busy_secondary_channel_narrows_a_frame() {
    for (neighbour, narrow) in [(40, ChannelWidth::Mhz20), (44, ChannelWidth::Mhz40), (48, ChannelWidth::Mhz40)] {
        let text = cells(&[("wide", 36, 80, 0), ("slim", neighbour, 20, 5)], RADIO);
        let (wide, slim) = (frames(&text, 0), frames(&text, 2));
        let of = |width| wide.iter().filter(|&&(.., found)| found == width).count();
        assert_eq!(of(ChannelWidth::Mhz80) + of(narrow), wide.len(), "beside {neighbour}");
        assert!(of(narrow) > 20, "{} of {} frames are narrow", of(narrow), wide.len());
        for &(at, _, width) in &wide {
            let during = disturbed(at, &slim, Duration::ZERO);
            assert!(!during || width == narrow, "{at:?}: {width:?} beside {neighbour}");
            let lately = disturbed(at, &slim, Duration::from_micros(16 + 100) + PIFS);
            assert!(lately || width == ChannelWidth::Mhz80, "{at:?}: {width:?} beside {neighbour}");
        }
        // The wide frames that the narrow cell hears make its medium busy.
        let over = |at| {
            wide.iter().any(|&(start, length, width)| {
                width == ChannelWidth::Mhz80 && start + Duration::from_micros(9) < at && at < start + length
            })
        };
        assert_eq!(slim.iter().filter(|&&(at, ..)| over(at)).count(), 0);
    }
}

#[test]
fn static_bandwidth_waits_for_all_of_the_channel() {
    let text = cells(&[("wide", 36, 80, 0), ("slim", 44, 20, 5)], &format!("[mac]\nbandwidth = \"static\"\n{RADIO}"));
    let (wide, slim) = (frames(&text, 0), frames(&text, 2));
    assert!(wide.len() > 2 && slim.len() > 20, "{} and {}", wide.len(), slim.len());
    for &(at, _, width) in &wide {
        assert_eq!(width, ChannelWidth::Mhz80);
        // Both may begin in the same slot.
        assert!(
            !disturbed(at, &slim, PIFS)
                || slim.iter().any(|&(start, ..)| start < at && at.since(start) < Duration::from_micros(9))
        );
    }
    let dynamic = goodputs(&run(&cells(&[("wide", 36, 80, 0), ("slim", 44, 20, 5)], RADIO), 1));
    let waiting = goodputs(&run(&text, 1));
    // If it does not wait, it sends at the same time as the other.
    assert!(waiting.iter().zip(&dynamic).all(|(less, more)| less < more), "{waiting:?}, {dynamic:?}");
}

/// A cell of 80 MHz, and one of 20 MHz on its third channel, 130 m away, beyond its station at 80 m. In free space, -74 dBm of
/// the latter's frames arrive at the access point (-72 dBm is busy), and -66 dBm at the station. It sends now and then.
fn hidden(keys: &str) -> String {
    let radio = "[radio]\nstandard = \"802.11ax\"\nchannel_width = \"80 MHz\"\nmcs = 2\npropagation = \"free-space\"\n";
    let keys = format!("{radio}[mac]\nrts_threshold = \"0 B\"\n{keys}[mac.edca]\nbest_effort.txop_limit = \"0 s\"\n");
    let text = cells(&[("wide", 36, 80, 0), ("slim", 44, 20, 130)], &keys).replace("200 ms", "600 ms").replace(
        "name = \"wide-s\"\naccess_point = \"wide\"\nposition = [\"0 m\", \"3 m\"]",
        "name = \"wide-s\"\naccess_point = \"wide\"\nposition = [\"80 m\", \"0 m\"]",
    );
    let (before, of_slim) = text.split_once("name = \"to-slim\"").expect("its flow");
    let now_and_then = of_slim.replace("kind = \"saturated\"", "kind = \"poisson\", rate = \"3 Mb/s\"");
    format!("{before}name = \"to-slim\"{now_and_then}")
}

/// An RTS and the data that follow it, each with its start.
type Announced = (Instant, Frame, Instant, Frame);

/// Returns those of node 0, and the frames of the other cell.
fn announced(text: &str) -> (Vec<Announced>, Vec<(Instant, Duration, ChannelWidth)>) {
    let other = sent(text, &[2, 3]).into_iter().map(|(at, frame)| (at, frame.length, ChannelWidth::Mhz20));
    let of = |pair: &[(Instant, Frame)]| {
        let [(at, rts), (then, data)] = pair else { return None };
        let follows = (rts.kind, data.kind) == (Kind::Rts, Kind::Data);
        follows.then(|| (*at, rts.clone(), *then, data.clone()))
    };
    (sent(text, &[0]).windows(2).filter_map(of).collect(), other.collect())
}

#[test]
fn a_cts_narrows_a_txop_to_what_is_idle_at_the_receiver() {
    let text = hidden("");
    let (wide, slim) = announced(&text);
    let (mut narrow, mut whole) = (0, 0);
    for (at, rts, then, data) in &wide {
        // Both may begin in the same slot.
        if slim.iter().any(|&(start, ..)| start.max(*at).since(start.min(*at)) < Duration::from_micros(9)) {
            continue;
        }
        let Mode::Mimo(mode) = data.mode else { panic!("{data:?}") };
        let during = disturbed(*at, &slim, Duration::ZERO);
        let lately = disturbed(*at, &slim, PIFS);
        assert!(!during || mode.width() == ChannelWidth::Mhz40, "{at:?}: {mode:?}");
        assert!(lately || mode.width() == ChannelWidth::Mhz80, "{at:?}: {mode:?}");
        *(if mode.width() == ChannelWidth::Mhz40 { &mut narrow } else { &mut whole }) += 1;
        // If the CTS allows half the width, data end when the announced data would have ended. After them come SIFS and a
        // BlockAck of 56 B at 12 Mb/s: 60 us.
        let end = *then + data.length + Duration::from_micros(16 + 60);
        assert!(end <= *at + rts.length + rts.reserves + Duration::from_micros(2), "{rts:?}, then {data:?}");
    }
    assert!(narrow > 5 && whole > 5, "{narrow} and {whole} of {}", wide.len());
    // Without RTS, what is sent during the other's frames is lost.
    let lost = |text: &str| run(text, 1).nodes[0].mac.lost_mpdus.expect("aggregates");
    let (heard, deaf) = (lost(&text), lost(&text.replace("rts_threshold = \"0 B\"\n", "")));
    assert!(10 * heard < deaf, "{heard} {deaf}");
}

#[test]
fn static_bandwidth_has_no_cts_unless_all_is_idle() {
    let text = hidden("bandwidth = \"static\"\n");
    let (wide, slim) = announced(&text);
    for (at, .., data) in &wide {
        let Mode::Mimo(mode) = data.mode else { panic!("{data:?}") };
        assert!(mode.width() == ChannelWidth::Mhz80 && !disturbed(*at, &slim, Duration::ZERO), "{at:?}");
    }
    let mac = &run(&text, 1).nodes[0].mac;
    assert!(!wide.is_empty() && mac.rts_attempts > mac.attempts + 5, "{} {}", mac.rts_attempts, mac.attempts);
}

/// A category that loses to another one may give up a frame while the TXOP that the other has won has to wait. Every packet is
/// accounted for at the end of the run.
#[test]
fn what_is_given_up_while_a_txop_waits_is_accounted_for() {
    let keys = format!("[mac]\nbandwidth = \"static\"\nshort_retry_limit = 1\n{RADIO}");
    let calls = "[[flow]]\nname = \"call\"\nfrom = \"wide\"\nto = \"wide-s\"\ncategory = \"voice\"\n\
                 traffic = { kind = \"saturated\", packet = \"100 B\" }\n";
    let text = cells(&[("wide", 36, 80, 0), ("slim", 44, 20, 5)], &keys).replace("50 ms", "1 ms") + calls;
    let given_up = |seed| run(&text, seed).nodes.iter().map(|node| node.mac.retry_drops).sum::<u64>();
    assert!((1..10).map(given_up).sum::<u64>() > 0);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    /// Cells without a common channel have the same results of flows and nodes as alone, to the last bit, and cost what they cost alone. This also
    /// holds if one has a neighbour on its channel.
    #[test]
    fn cells_without_a_common_channel_do_not_disturb_one_another(
        seed in 1_u64..1_000,
        first in (prop::sample::select(&[36_u8, 40, 44, 48]), prop::sample::select(&[20_u32, 40, 80])),
        second in (prop::sample::select(&[52_u8, 56, 100, 112]), prop::sample::select(&[20_u32, 40, 80])),
        is_static in any::<bool>(),
    ) {
        let keys = if is_static { format!("[mac]\nbandwidth = \"static\"\n{RADIO}") } else { RADIO.to_owned() };
        let (first, second) = (("one", first.0, first.1, 0), ("two", second.0, second.1, 2));
        let near = ("near", first.1, 20, 4);
        let outcome = |of: &[Cell]| run(&cells(of, &keys), seed);
        let (all, mut pair, alone) = (outcome(&[first, near, second]), outcome(&[first, near]), outcome(&[second]));
        prop_assert!(all.flows.iter().all(|flow| flow.goodput_bps > 1e6));
        prop_assert!(all.events <= pair.events + alone.events, "{} {} {}", all.events, pair.events, alone.events);
        pair.flows.extend(alone.flows);
        pair.nodes.extend(alone.nodes);
        prop_assert_eq!((all.flows, all.nodes), (pair.flows, pair.nodes));
    }
}

#[test]
fn impossible_channels_are_refused() {
    let one = |channel, width, keys: &str| cells(&[("ap", channel, width, 0)], keys);
    for (text, expected) in [
        (one(37, 20, RADIO), "the nearest is 36"),
        (one(140, 160, RADIO), "no channel of 160 MHz holds channel 140; the nearest is 149"),
        (one(2, 20, &format!("{RADIO}frequency = \"5.955 GHz\"\n")), "at 6 GHz no channel of 20 MHz holds channel 2"),
        (
            one(36, 20, "[radio]\nstandard = \"802.11ax\"\nfrequency = \"2.437 GHz\"\nchannel_width = \"40 MHz\"\n"),
            "at 2.4 GHz",
        ),
        (one(36, 20, &format!("{RADIO}propagation = \"range\"\nrange = \"30 m\"\n")), "need received powers"),
        (one(36, 20, &format!("{RADIO}capture = \"any-signal\"\n")), "needs one channel"),
        (one(36, 80, RADIO).replace("access_point = \"ap\"", "channel = 40"), "the channel of its access point"),
        (
            cells(&[("a", 36, 20, 0), ("b", 40, 20, 5)], RADIO).replace("channel = 40\n", ""),
            "this access point needs one too",
        ),
    ] {
        let (_, why) = refusal(&text);
        assert!(why.contains(expected), "{why}");
    }
}
