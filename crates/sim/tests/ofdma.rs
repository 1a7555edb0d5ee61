//! An access point of 802.11ax that shares its frames among stations.

use crate::networks::{network, refuses, run, sends, watched};
use proptest::prelude::*;
use sim::World;
use sim::radio::{Mode, Ru};
use sim::results::Outcome;
use sim::trace::{Asks, Frame, Kind};
use std::fmt::Write as _;
use units::{Duration, Instant};

/// An access point over 80 MHz, MCS 11, two streams, with saturated flows to `stations` stations at 3 m.
fn cell(stations: usize, queues: &str, more: &str) -> String {
    let mut text = format!(
        "duration = \"1100 ms\"\nwarmup = \"100 ms\"\n\
         [radio]\nstandard = \"802.11ax\"\nchannel_width = \"80 MHz\"\nstreams = 2\nmcs = 11\n\
         [mac]\nofdma = \"downlink\"\n{more}\n[queue]\nlimit = 3000\n\
         [[node]]\nname = \"ap\"\nrole = \"access-point\"\nposition = [\"0 m\", \"0 m\"]\nqueues = \"{queues}\"\n\
         [[node]]\nname = \"s\"\ncount = {stations}\nposition = [\"3 m\", \"0 m\"]\n"
    );
    text += "[[flow]]\nname = \"down\"\nfrom = \"ap\"\nto = \"s*\"\ntraffic = { kind = \"saturated\", packet = \"1000 B\" }\n";
    text
}

/// Frames of 4 ms, for closed forms: one to a TXOP.
const LONG: &str = "[mac.edca.best_effort]\ntxop_limit = \"0 s\"\n";

/// Returns the access point's frames to several stations: PPDUs, parts, padding and use of the channel.
fn shared(outcome: &Outcome) -> (u64, u64, f64, f64) {
    let ap = outcome.nodes.iter().find(|node| node.name == "ap").expect("an access point");
    let found = ap.mac.multi_user.expect("frames to several stations");
    (found.ppdus, found.psdus, found.padding_ratio, found.channel_use_ratio)
}

/// Stations that share a frame share its airtime: together their airtime is at most what their access point has sent.
#[test]
fn a_frame_to_several_stations_counts_once() {
    let outcome = run(&cell(4, "per-station", ""), 1);
    let ap = outcome.nodes.iter().find(|node| node.name == "ap").expect("an access point");
    assert!(shared(&outcome).0 > 50);
    let (hops, all): (f64, f64) = (ap.hops.iter().map(|hop| hop.airtime_s).sum(), ap.mac.airtime_s);
    assert!(0.9 * all < hops && hops <= all, "{hops} s of {all} s");
}

/// Returns the frames that the first nodes send in 30 ms after a time.
pub(crate) fn sent(text: &str, nodes: u32, after: Duration) -> Vec<(Instant, Frame)> {
    let mut world = World::new(&network(text), 1).expect("a network that can be built");
    world.watch(&(0..nodes).collect::<Vec<_>>());
    world.advance(after);
    world.take_events();
    world.advance(Duration::from_millis(30));
    let sent = sends(world.take_events());
    world.finish();
    sent
}

/// The exchange with four stations: 12 B of header to each less than a symbol, all by the tables of the standard.
///
/// 242 tones, two streams, MCS 11: 3900 bits a symbol of 13.6 us. HE-SIG-B: 79 bits in one symbol, so that the preamble lasts
/// 36 + 4 + 2 * 7.2 us. Within 4 ms 290 symbols, 141372 B: 131 MPDUs of 1066 B behind delimiters of 4 B and with 2 B of
/// padding, 140430 B or 289 symbols. The trigger has 64 B at 6 Mb/s: 20 + 23 * 4 us. The acknowledgements of 56 B have one stream of
/// 16-QAM 1/2, 468 bits a symbol of 14.4 us: two behind 36 + 4 + 8 us.
#[test]
fn an_exchange_lasts_what_the_standard_says() {
    let ns = Duration::from_nanos;
    let text = cell(4, "per-station", LONG);
    let sent = sent(&text, 5, Duration::ZERO);
    // The first frame is sent before the other ports are filled.
    let begin = sent.iter().position(|(_, frame)| matches!(frame.kind, Kind::Trigger { .. })).expect("a trigger") + 5;
    let exchange = &sent[begin..begin + 9];
    let start = exchange[0].0;
    for (at, part) in &exchange[..4] {
        assert_eq!(
            (*at, part.kind, part.length, part.mpdus.len()),
            (start, Kind::Data, ns(54_400 + 289 * 13_600), 131)
        );
        let Mode::Mimo(mode) = part.mode else { panic!("{part:?}") };
        assert_eq!((mode.ru(), mode.mcs(), mode.streams()), (Some(Ru::T242), 11, 2));
    }
    let after = |before: (Instant, Duration)| before.0 + before.1 + ns(16_000);
    let (at, trigger) = &exchange[4];
    assert_eq!(
        (*at, trigger.kind, trigger.length),
        (after((start, exchange[0].1.length)), Kind::Trigger { asks: Asks::BlockAcks, users: 4 }, ns(112_000))
    );
    let lasts = ns(48_000 + 2 * 14_400);
    // The medium is reserved for SIFS and the responses.
    assert_eq!((trigger.reserves, exchange[0].1.reserves), (ns(16_000) + lasts, ns(16_000 + 112_000 + 16_000) + lasts));
    for (heard, answer) in &exchange[5..] {
        // The stations are 10 ns away.
        assert!(heard.since(after((*at, trigger.length))) < ns(30), "{heard:?}");
        assert!(matches!(answer.kind, Kind::BlockAck { long: true, .. }) && answer.length == lasts, "{answer:?}");
    }
}

/// The saturated cell: every exchange is AIFS, a mean back-off of 7.5 slots, the PPDU, the trigger and the responses.
/// Within 1 %: the statistics of 250 back-offs. Every PPDU ends with the packet extension that stations and access point ask
/// for, 4 us for each quarter of the last symbol with data; or a MU-RTS of 28 B and 5 B a station and the CTS of 14 B, both at
/// 6 Mb/s, come before it.
#[test]
fn a_saturated_cell_carries_what_the_closed_form_says() {
    // RUs, data subcarriers, those of a quarter of a symbol, HE-SIG-B symbols of 208 bits.
    let rus: [(u64, u64, u64, u64); 5] =
        [(2, 468, 120, 1), (4, 234, 60, 1), (8, 102, 24, 1), (16, 48, 12, 2), (37, 24, 6, 3)];
    let variants = [(false, false), (true, false), (false, true)];
    for ((stations, subcarriers, quarter, sig_b), (padded, protected)) in
        rus.into_iter().flat_map(|ru| variants.map(|variant| (ru, variant)))
    {
        let lasts = |data: u64, (bits, quarter): (u64, u64), symbol: u64| {
            let (all, excess) = (data + 22, (data + 22) % bits);
            let quarters = if excess == 0 { 4 } else { excess.div_ceil(quarter).min(4) };
            all.div_ceil(bits) * symbol + if padded { 4_000 * quarters } else { 0 }
        };
        let header = 36_000 + 4_000 * sig_b + 14_400;
        let twelfths = 2 * 100;
        let of = |mpdus: u64| {
            header + lasts((mpdus * 1_072 - 2) * 8, (subcarriers * twelfths / 12, quarter * twelfths / 12), 13_600)
        };
        let mpdus = (1..=256).take_while(|&mpdus| of(mpdus) <= 4_000_000).last().expect("one fits");
        let trigger = 20_000 + 4_000 * (22 + 8 * (28 + 9 * stations)).div_ceil(24);
        let responses = 48_000 + lasts(8 * 56, (subcarriers * 2, quarter * 2), 14_400);
        let request = 20_000 + 4_000 * (22 + 8 * (28 + 5 * stations)).div_ceil(24);
        let before = if protected { request + 16_000 + 44_000 + 16_000 } else { 0 };
        let cycle = 43_000 + 67_500 + before + of(mpdus) + 16_000 + trigger + 16_000 + responses;
        let expected = (stations * mpdus * 8_000) as f64 * 1e9 / cycle as f64;
        let text = cell(usize::try_from(stations).expect("few"), "per-station", LONG);
        let text = if padded { text.replace("[mac]", "packet_padding = \"16 us\"\n[mac]") } else { text };
        let text = if protected { text.replace("\"downlink\"", "\"downlink\"\nrts_threshold = \"0 B\"") } else { text };
        let outcome = run(&text, 1);
        let off = outcome.totals.goodput_bps / expected - 1.0;
        let (ppdus, parts, padding, used) = shared(&outcome);
        println!(
            "{stations} stations: {expected:.4e} b/s, {off:+.4}; padding {padding:.3}, use {used:.3}, {mpdus} MPDUs"
        );
        assert!(off.abs() < 0.01, "{stations}: {off}");
        assert_eq!(parts, ppdus * stations);
        // Padding is less than an MPDU and a symbol; use is the data subcarriers of all RUs together.
        let all = stations as f64 * subcarriers as f64 / 980.0;
        assert!(padding < 0.01 && (used - all * (1.0 - padding)).abs() < 1e-9, "{padding} {used}");
        assert!(outcome.totals.jain_index > 0.9999);
    }
}

/// Whatever the queues, all stations get their turns, even if there are more stations than parts.
#[test]
fn stations_share_equally_under_every_queue() {
    for queues in ["one", "per-station", "mac80211", "turns"] {
        for stations in [2, 3, 6, 11] {
            let outcome = run(&cell(stations, queues, ""), 1);
            let (ppdus, parts, ..) = shared(&outcome);
            let totals = &outcome.totals;
            println!("{queues} {stations}: {:.4e}, Jain {:.4}, {ppdus} {parts}", totals.goodput_bps, totals.jain_index);
            assert!(totals.jain_index > 0.98, "{queues}, {stations} stations: {}", totals.jain_index);
            assert!(totals.goodput_bps > 7e8 && parts > ppdus, "{queues}, {stations} stations");
        }
    }
}

/// Above the RTS threshold a MU-RTS comes before a PPDU: 48 B to four stations, 20 + 17 * 4 us; each answers with a CTS of 44 us.
/// The medium is reserved for all of the exchange, as in the closed form above.
#[test]
fn stations_answer_a_mu_rts_all_at_once() {
    let ns = Duration::from_nanos;
    let text = cell(4, "per-station", LONG).replace("\"downlink\"", "\"downlink\"\nrts_threshold = \"20 kB\"");
    let sent = sent(&text, 5, Duration::ZERO);
    let is_request = |kind| kind == Kind::Trigger { asks: Asks::Clear, users: 4 };
    let begin = sent.iter().position(|(_, frame)| is_request(frame.kind)).expect("a MU-RTS");
    let (at, request) = &sent[begin];
    let ppdu = ns(54_400 + 289 * 13_600);
    let after = ns(16_000 + 112_000 + 16_000 + 48_000 + 2 * 14_400);
    assert_eq!((request.length, request.reserves), (ns(88_000), ns(16_000 + 44_000 + 16_000) + ppdu + after));
    for (heard, answer) in &sent[begin + 1..begin + 5] {
        // The stations are 10 ns away.
        assert!(heard.since(*at + ns(88_000 + 16_000)) < ns(30), "{heard:?}");
        assert_eq!((answer.kind, answer.to, answer.length), (Kind::Cts, Some(0), ns(44_000)));
        assert_eq!(answer.reserves, ns(16_000) + ppdu + after);
    }
    for (start, part) in &sent[begin + 5..begin + 9] {
        assert!(start.since(*at + ns(88_000 + 16_000 + 44_000 + 16_000)) < ns(60), "{start:?}");
        assert_eq!((part.kind, part.length, part.reserves, part.mpdus.len()), (Kind::Data, ppdu, after, 131));
    }
    assert!(matches!(sent[begin + 9].1.kind, Kind::Trigger { asks: Asks::BlockAcks, .. }), "{:?}", sent[begin + 9]);
}

/// With a quarter of the requests neither of two stations answers: the frames are sent later.
#[test]
fn a_mu_rts_without_a_cts_is_repeated() {
    let errors = "[radio.errors]\nmodel = \"fixed\"\npacket_error_ratio = 0.3\ncontrol_frames = true\n";
    for ofdma in ["downlink", "both"] {
        let text = cell(2, "per-station", errors)
            .replace("\"downlink\"", &format!("\"{ofdma}\"\nrts_threshold = \"0 B\"\nshort_retry_limit = 20"));
        let (events, Outcome { totals, .. }) = watched(&text, &[0]);
        let sent: Vec<_> = sends(events).into_iter().map(|(_, frame)| frame.kind).collect();
        let is_request = |kind| matches!(kind, Kind::Trigger { asks: Asks::Clear, .. });
        let pairs = || sent.windows(2).filter(|pair| is_request(pair[0]));
        let answered = pairs().filter(|pair| pair[1] == Kind::Data).count() as f64 / pairs().count() as f64;
        // A request or its answer is lost at one station in 1 - 0.7 * 0.7 of all cases, and at both in 0.26.
        assert!(pairs().count() > 200 && (answered - 0.74).abs() < 0.1, "{ofdma}: {answered} of {}", pairs().count());
        assert!(totals.jain_index > 0.9 && totals.goodput_bps > 1e8, "{totals:?}");
    }
}

/// Stations with little traffic lengthen nobody's frame; what one has beyond the others is sent alone.
#[test]
fn the_longest_part_is_cut_to_the_second_longest() {
    let slow = "traffic = { kind = \"cbr\", rate = \"2 Mb/s\", packet = \"1000 B\" }\n";
    let text = cell(4, "per-station", "").replace("to = \"s*\"", "to = \"s1\"")
        + &[2, 3, 4].map(|to| format!("[[flow]]\nname = \"slow{to}\"\nfrom = \"ap\"\nto = \"s{to}\"\n{slow}")).concat();
    let outcome = run(&text, 1);
    let (.., padding, used) = shared(&outcome);
    println!("padding {padding}, use {used}");
    // The padding was more than that before the longest part was cut.
    assert!(padding < 0.4);
    assert!(outcome.flows[0].goodput_bps > 5e8, "{:?}", outcome.flows[0]);
    assert!(outcome.flows.iter().all(|flow| flow.loss_ratio < 0.02), "{:?}", outcome.flows);
}

/// Lost frames are sent again to those that lack them, and a station that does not answer does not stop the others.
#[test]
fn losses_are_made_up() {
    let errors = "[radio.errors]\nmodel = \"fixed\"\npacket_error_ratio = 0.2\n";
    for missed in ["retransmit", "request"] {
        let text = cell(4, "per-station", &format!("{errors}[mac.aggregation]\nmissed_block_ack = \"{missed}\"\n"));
        let outcome = run(&text, 1);
        let ap = &outcome.nodes[0].mac;
        let (lost, all) = (ap.lost_mpdus.expect("MPDUs"), ap.mpdus.expect("MPDUs"));
        assert!((lost as f64 / all as f64 - 0.2).abs() < 0.02, "{missed}: {lost} of {all}");
        assert!(outcome.totals.jain_index > 0.99 && outcome.totals.goodput_bps > 5e8, "{:?}", outcome.totals);
    }
}

/// Older stations take no part: they get frames of their own.
#[test]
fn older_stations_get_frames_of_their_own() {
    let mut text = cell(2, "per-station", "");
    for (name, own) in [("old", "standard = \"802.11ac\""), ("narrow", "channel_width = \"20 MHz\"")] {
        write!(text, "[[node]]\nname = \"{name}\"\nposition = [\"4 m\", \"0 m\"]\n{own}\n").expect("text");
        write!(text, "[[flow]]\nname = \"{name}\"\nfrom = \"ap\"\nto = \"{name}\"\n").expect("text");
        text += "traffic = { kind = \"saturated\", packet = \"1000 B\" }\n";
    }
    let (events, outcome) = watched(&text, &[0]);
    let data = |(_, frame): (Instant, Frame)| match (frame.mode, frame.to, frame.kind) {
        (Mode::Mimo(mode), Some(to), Kind::Data) => Some((to, mode.ru().is_none())),
        _ => None,
    };
    let whole: Vec<_> = sends(events).into_iter().filter_map(data).collect();
    assert!(outcome.flows.iter().all(|flow| flow.goodput_bps > 1e7));
    assert!([3, 4].iter().all(|&old| whole.iter().filter(|(to, _)| *to == old).all(|(_, alone)| *alone)));
    assert!(
        [1, 2].iter().all(|&new| whole.iter().filter(|(to, alone)| *to == new && !alone).count() > 50),
        "{whole:?}"
    );
}

#[test]
fn what_contradicts_it_is_refused() {
    let good = cell(4, "per-station", "");
    let refused = [
        (good.replace("802.11ax", "802.11ac").replace("mcs = 11", "mcs = 9"), "802.11ax"),
        (good.replace("[queue", "cts_to_self = true\n[queue"), "MU-RTS"),
        (good.replace("[queue", "aggregation = { ampdu = \"off\" }\n[queue"), "BlockAcks"),
        (good.replace("role = \"access-point\"", "").replace("queues = \"per-station\"", ""), "access-point"),
        (cell(1, "per-station", ""), "one station"),
        (cell(2, "per-station", "[mac.aggregation]\nampdu_frames = 1\n"), "`ampdu_frames`"),
        (good.replace("name = \"s\"", "name = \"s\"\nstandard = \"802.11ac\""), "802.11ax with the same"),
    ];
    for (text, why) in refused {
        refuses(&text, "mac.ofdma", why);
    }
}

#[derive(Clone, Debug)]
struct Drawn {
    stations: Vec<(u8, u8, u8)>,
    flows: Vec<(usize, bool, u8, u16, u16)>,
    queues: usize,
    hardware: usize,
    errors: usize,
    settings: [bool; 6],
    seed: u64,
}

fn drawn() -> impl Strategy<Value = Drawn> {
    let station = (0_u8..60, 0_u8..60, 0_u8..6);
    prop::collection::vec(station, 2..12).prop_flat_map(|stations| {
        let flow = (0..stations.len(), any::<bool>(), 0_u8..3, 40_u16..1_500, 100_u16..30_000);
        let (flows, rest) = (prop::collection::vec(flow, 2..9), (0_usize..4, 0_usize..4, 0_usize..4));
        (Just(stations), flows, rest, any::<[bool; 6]>(), 0_u64..1_000).prop_map(
            |(stations, flows, (queues, hardware, errors), settings, seed)| Drawn {
                stations,
                flows,
                queues,
                hardware,
                errors,
                settings,
                seed,
            },
        )
    })
}

impl Drawn {
    fn text(&self) -> String {
        let errors = [
            "",
            "[radio.errors]\nmodel = \"fixed\"\npacket_error_ratio = 0.3\n",
            "[radio.fading]\nmodel = \"rayleigh\"\n",
            "[radio.errors]\nmodel = \"none\"\n",
        ];
        let hardware = ["off", "40 packets", "2 aggregates", "3 ms"][self.hardware];
        let [lifetime, request, txop, uplink, padded, protected] = self.settings;
        let mut text = format!(
            "duration = \"300 ms\"\n[radio]\nstandard = \"802.11ax\"\nchannel_width = \"80 MHz\"\nstreams = 2\nmcs = 5\n\
             tx_power = \"10 dBm\"\n{}{}[mac]\nofdma = \"{}\"\n{}hardware_queue = \"{hardware}\"\n\
             [mac.aggregation]\n{}\nmissed_block_ack = \"{}\"\namsdu = \"{}\"\n[mac.edca.best_effort]\n{}\n\
             [queue]\nlimit = 200\n\
             [[node]]\nname = \"ap\"\nrole = \"access-point\"\nposition = [\"30 m\", \"30 m\"]\nqueues = \"{}\"\n",
            if padded { "packet_padding = \"16 us\"\n" } else { "" },
            errors[self.errors],
            if uplink { "both" } else { "downlink" },
            if protected { "rts_threshold = \"2 kB\"\n" } else { "" },
            if lifetime { "lifetime = \"20 ms\"" } else { "" },
            if request { "request" } else { "retransmit" },
            if txop { "3000 B" } else { "off" },
            if txop { "txop_limit = \"0 s\"" } else { "" },
            ["one", "per-station", "mac80211", "turns"][self.queues],
        );
        for (index, (x, y, kind)) in self.stations.iter().enumerate() {
            // An access point that announces frames has no extended range.
            let far = if protected { "" } else { "extended_range = \"242 tones\"" };
            let own = ["", "", "mcs = 0", "standard = \"802.11ac\"", "channel_width = \"20 MHz\"", far];
            let own = own[usize::from(*kind)];
            write!(text, "[[node]]\nname = \"s{index}\"\nposition = [\"{x} m\", \"{y} m\"]\n{own}\n").expect("text");
        }
        for (index, (station, down, kind, packet, rate)) in self.flows.iter().enumerate() {
            let (station, ap) = (format!("s{station}"), "ap".to_owned());
            let [from, to] = if *down || index < 2 { [ap, station] } else { [station, ap] };
            let traffic = match kind {
                0 => format!("traffic = {{ kind = \"saturated\", packet = \"{packet} B\" }}"),
                1 => format!("traffic = {{ kind = \"poisson\", packet = \"{packet} B\", rate = \"{rate} kb/s\" }}"),
                _ => "transport = \"tcp\"\ntraffic = { kind = \"greedy\" }".to_owned(),
            };
            write!(text, "[[flow]]\nname = \"f{index}\"\nfrom = \"{from}\"\nto = \"{to}\"\n{traffic}\n").expect("text");
        }
        text
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    /// The accounts balance, which the simulator itself checks at the end, and time can be cut anywhere.
    #[test]
    fn accounts_balance_with_shared_frames(drawn in drawn(), micros in 50_u64..50_000) {
        let network = network(&drawn.text());
        let outcome = |slice: Duration| {
            let mut world = World::new(&network, drawn.seed).ok()?;
            while !world.finished() {
                world.advance(slice);
            }
            Some(world.finish())
        };
        // A station that is out of range is refused.
        if let Some(whole) = outcome(Duration::MAX) {
            prop_assert_eq!(&whole, &outcome(Duration::from_micros(micros)).expect("it was built before"));
            let sum: u64 = whole.nodes[0].hops.iter().map(|hop| hop.attempts).sum();
            prop_assert_eq!(whole.nodes[0].mac.attempts, sum);
            if let Some(shared) = whole.nodes[0].mac.multi_user {
                prop_assert!(shared.psdus >= 2 * shared.ppdus && shared.psdus <= whole.nodes[0].mac.attempts);
                prop_assert!((0.0..=1.0).contains(&shared.padding_ratio) && (0.0..=1.0).contains(&shared.channel_use_ratio));
            }
        }
    }
}
