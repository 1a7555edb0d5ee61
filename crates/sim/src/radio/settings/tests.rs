//! Modes by settings, and the settings that are refused.

use super::*;
use crate::config::Propagation;

fn n() -> Radio {
    Radio { standard: Standard::N, ..Radio::default() }
}

fn refused(radio: &Radio) -> Refusal {
    radio.data_mode().expect_err("contradicts the standard")
}

#[test]
fn an_ht_rate_means_the_scheme_with_the_fewest_streams() {
    let of = |mbps: u64| Radio { data_rate: Some(Rate::mbps(mbps)), ..n() }.data_mode();
    // 26 Mb/s is MCS 3 and MCS 9.
    assert_eq!(of(26), n().ht_of_index(Some(3)).map(Mode::Mimo));
    assert_eq!(of(65), n().data_mode());
    let short = Radio { guard_interval: GuardInterval::Short, data_rate: Some(Rate::kbps(72_200)), ..n() };
    assert_eq!(short.data_mode(), short.ht_of_index(Some(7)).map(Mode::Mimo));
    let refusal = of(60).expect_err("no such rate");
    assert!(refusal.why.contains("58.5 Mb/s (MCS 6)"), "{}", refusal.why);
}

fn mimo(radio: &Radio) -> Mimo {
    let Ok(Mode::Mimo(mimo)) = radio.data_mode() else { panic!("{:?}", radio.data_mode()) };
    mimo
}

#[test]
fn a_rate_of_802_11ax_means_the_scheme_with_the_fewest_streams() {
    let wide = Radio { standard: Standard::Ax, channel_width: ChannelWidth::Mhz80, ..Radio::default() };
    let of = |mbps, streams| mimo(&Radio { data_rate: Some(Rate::mbps(mbps)), streams, ..wide.clone() });
    assert_eq!((of(1_201, None).coding(), of(1_201, None).streams()), (11, 2));
    assert_eq!((of(1_153, Some(4)).coding(), of(1_153, Some(4)).streams()), (5, 4));
    assert_eq!((mimo(&wide).coding(), mimo(&wide).streams()), (7, 1));
    let two = Radio { streams: Some(2), ..n() };
    assert_eq!((mimo(&two).mcs(), two.all_modes().len(), two.ladder().len()), (15, 16, 8));
    // 20, 40 and 80 MHz, two streams, with the guard interval that is set.
    let two = Radio { streams: Some(2), ..wide };
    assert_eq!((two.all_modes().len(), two.ladder().len()), (3 * 2 * 12, 12));
    // VHT lacks MCS 9 over 20 MHz.
    let short = Radio { standard: Standard::Ac, guard_interval: GuardInterval::Short, ..two };
    assert_eq!((short.all_modes().len(), short.ladder().len()), (2 * 2 * 30 - 4, 10));
}

#[test]
fn a_node_of_an_older_generation_has_its_own_modes() {
    let radio = Radio {
        standard: Standard::Ax,
        channel_width: ChannelWidth::Mhz80,
        guard_interval: GuardInterval::Double,
        mcs: Some(11),
        streams: Some(2),
        ..Radio::default()
    };
    let own = |node: config::Node| radio.of_node(&node).map(|own| own.map(|own| mimo(&own)));
    assert_eq!(own(config::Node::default()), Ok(None));
    let of = |standard, streams| config::Node { standard: Some(standard), streams, ..config::Node::default() };
    let mode = |format, coding, streams, width, guard| Ok(Mimo::new(format, coding, streams, width, guard));
    let (long, double) = (GuardInterval::Long, GuardInterval::Double);
    assert_eq!(own(of(Standard::N, None)), mode(Format::Ht, 7, 1, ChannelWidth::Mhz40, long));
    assert_eq!(own(of(Standard::Ac, Some(2))), mode(Format::Vht, 7, 2, ChannelWidth::Mhz80, long));
    let narrow = config::Node { channel_width: Some(ChannelWidth::Mhz20), ..config::Node::default() };
    let he = mode(Format::He, 11, 2, ChannelWidth::Mhz20, double);
    assert_eq!(own(narrow), he.map(|mode| mode.map(|mode| mode.coded(true))));
    let wide = config::Node { channel_width: Some(ChannelWidth::Mhz160), ..config::Node::default() };
    assert_eq!(radio.of_node(&wide).expect_err("too wide").key, "channel_width");
    let old = Radio { standard: Standard::N, ..Radio::default() };
    assert_eq!(old.of_node(&of(Standard::Ax, None)).expect_err("too new").key, "standard");
    let two = old.of_node(&of(Standard::N, Some(2))).expect("it exists").expect("it differs");
    assert_eq!(mimo(&two).mcs(), 15);
}

#[test]
fn two_nodes_have_extended_range_if_one_of_them_has() {
    let radio = Radio {
        standard: Standard::Ax,
        channel_width: ChannelWidth::Mhz80,
        mcs: Some(11),
        streams: Some(2),
        packet_padding: PacketPadding::Us8,
        ..Radio::default()
    };
    let own = |node: config::Node| radio.of_node(&node).expect("it exists").unwrap_or(radio.clone());
    let far = own(config::Node { extended_range: Some(ExtendedRange::All), ..config::Node::default() });
    let mode = |coding, tones: Option<ExtendedRange>| {
        let mode = Mimo::new(Format::He, coding, 1, ChannelWidth::Mhz20, GuardInterval::Long)?.coded(true);
        tones.map_or(Some(mode), |tones| mode.extended(tones)).map(|mode| mode.padded(PacketPadding::Us8))
    };
    let slow = mode(0, Some(ExtendedRange::All));
    assert_eq!([&far, &radio.common(&far), &far.common(&radio)].map(|radio| Some(mimo(radio))), [slow; 3]);
    let faster = config::Node { extended_range: Some(ExtendedRange::All), mcs: Some(2), ..config::Node::default() };
    assert_eq!(Some(mimo(&own(faster).common(&radio))), mode(2, Some(ExtendedRange::All)));
    let farther = own(config::Node { extended_range: Some(ExtendedRange::Upper), ..config::Node::default() });
    assert_eq!(Some(mimo(&far.common(&farther))), mode(0, Some(ExtendedRange::Upper)));
    // Its modes for rate control, and those with a station that does not know them.
    assert_eq!((far.ladder().len(), far.all_modes().len(), farther.all_modes().len()), (3, 3, 1));
    let older = own(config::Node { standard: Some(Standard::Ac), ..config::Node::default() });
    assert_eq!(mimo(&far.common(&older)).format(), Format::Vht);
    assert_eq!(mimo(&older).padded(PacketPadding::Us8), mimo(&older));
}

/// 802.11ac-2013, 22.3.10.5 and 802.11ax-2021, 27.3.12.5: HT and VHT stations may announce LDPC, HE stations have it.
#[test]
fn two_nodes_have_ldpc_if_both_have_it() {
    use Fec::{Bcc, Ldpc};
    let ldpc = |standard, coding| mimo(&Radio { standard, coding, ..Radio::default() }).has_ldpc();
    assert_eq!([Standard::N, Standard::Ac, Standard::Ax].map(|standard| ldpc(standard, None)), [false, false, true]);
    assert!(ldpc(Standard::N, Some(Ldpc)) && ldpc(Standard::Ac, Some(Ldpc)) && !ldpc(Standard::Ax, Some(Bcc)));
    let radio = Radio { standard: Standard::Ax, guard_interval: GuardInterval::Double, ..Radio::default() };
    let own = |standard, coding| {
        let node = config::Node { standard, coding, ..config::Node::default() };
        radio.of_node(&node).expect("it exists").unwrap_or(radio.clone())
    };
    let (ax, plain) = (own(None, None), own(None, Some(Bcc)));
    let [old, new] = [None, Some(Ldpc)].map(|coding| own(Some(Standard::Ac), coding));
    let common = |one: &Radio, other: &Radio| {
        let found = [one.common(other), other.common(one)].map(|common| mimo(&common).has_ldpc());
        assert_eq!(found[0], found[1]);
        found[0]
    };
    assert_eq!([&ax, &plain, &old, &new].map(|other| common(&ax, other)), [true, false, false, true]);
    assert_eq!([&plain, &old, &new].map(|other| common(&plain, other)), [false; 3]);
    // Every mode of rate control, and those that are derived from a mode.
    let all = |radio: &Radio| radio.all_modes().into_iter().chain(radio.ladder());
    assert!(all(&ax).all(|mode| matches!(mode, Mode::Mimo(mimo) if mimo.has_ldpc())));
    assert!(all(&plain).all(|mode| matches!(mode, Mode::Mimo(mimo) if !mimo.has_ldpc())));
    let ru = crate::radio::ru::Ru::T106;
    let wide = mimo(&Radio { channel_width: ChannelWidth::Mhz80, ..ax });
    let made = [
        wide.within(ru, 1),
        wide.response(ru),
        wide.at_most(ChannelWidth::Mhz20),
        wide.guarded(GuardInterval::Long),
        wide.padded(PacketPadding::Us16),
    ];
    assert!(made.into_iter().all(Mimo::has_ldpc));
    let b = config::Node { coding: Some(Ldpc), ..config::Node::default() };
    assert_eq!(Radio::default().of_node(&b).expect_err("802.11b has none").key, "coding");
}

/// A node that sets another key of its own keeps the streams of `[radio]`.
#[test]
fn a_node_of_the_same_standard_has_the_streams_of_the_radio() {
    let of = |standard, mcs| {
        let radio = Radio { standard, streams: Some(2), ..Radio::default() };
        let node = config::Node { mcs, coding: Some(Fec::Ldpc), ..config::Node::default() };
        mimo(&radio.of_node(&node).expect("it exists").expect("it differs"))
    };
    assert_eq!((of(Standard::Ac, Some(5)).streams(), of(Standard::Ac, None).streams()), (2, 2));
    assert_eq!((of(Standard::Ax, Some(5)).streams(), of(Standard::N, Some(5)).streams()), (2, 1));
}

#[test]
fn what_the_standard_lacks_is_refused_by_its_key() {
    let b = Radio::default;
    let cases = [
        (Radio { data_rate: Some(Rate::mbps(54)), ..b() }, "data_rate"),
        (Radio { standard: Standard::A, preamble: Preamble::Short, ..b() }, "preamble"),
        (Radio { standard: Standard::G, coding: Some(Fec::Ldpc), ..b() }, "coding"),
        (Radio { standard: Standard::G, preamble: Preamble::DataRate, ..b() }, "preamble"),
        (Radio { mcs: Some(3), ..b() }, "mcs"),
        (Radio { channel_width: ChannelWidth::Mhz40, ..b() }, "channel_width"),
        (Radio { guard_interval: GuardInterval::Short, ..b() }, "guard_interval"),
        (Radio { nominal_rate: Some(Rate::mbps(216)), ..b() }, "nominal_rate"),
        (Radio { mcs: Some(32), ..n() }, "mcs"),
        (Radio { mcs: Some(200), ..n() }, "mcs"),
        (Radio { mcs: Some(3), data_rate: Some(Rate::mbps(26)), ..n() }, "mcs"),
        (Radio { nominal_rate: Some(Rate::mbps(216)), channel_width: ChannelWidth::Mhz40, ..n() }, "nominal_rate"),
        (Radio { nominal_rate: Some(Rate::bps(1)), ..n() }, "nominal_rate"),
    ];
    for (radio, key) in cases {
        assert_eq!(refused(&radio).key, key);
    }
    let ac = || Radio { standard: Standard::Ac, ..Radio::default() };
    let ax = || Radio { standard: Standard::Ax, ..Radio::default() };
    let (low, all) = (Some(Frequency::hertz(2_437_000_000)), Some(ExtendedRange::All));
    // A key, and its nearest valid value.
    let newer = [
        (Radio { mcs: Some(10), ..ac() }, "mcs", "0 to 9"),
        (Radio { mcs: Some(12), ..ax() }, "mcs", "0 to 11"),
        (Radio { mcs: Some(9), ..ac() }, "mcs", "the nearest is MCS 8"),
        (
            Radio { mcs: Some(6), streams: Some(3), channel_width: ChannelWidth::Mhz80, ..ac() },
            "mcs",
            "the nearest is MCS 5",
        ),
        (Radio { streams: Some(9), ..ax() }, "streams", "1 to 8"),
        (Radio { streams: Some(0), ..ax() }, "streams", "1 to 8"),
        (Radio { streams: Some(5), ..n() }, "streams", "1 to 4"),
        (Radio { streams: Some(2), mcs: Some(3), ..n() }, "streams", "MCS 3 of 802.11n has 1 streams"),
        (Radio { streams: Some(2), ..b() }, "streams", "802.11n"),
        (Radio { frequency: low, ..ac() }, "frequency", "5.18 GHz"),
        (Radio { frequency: low, channel_width: ChannelWidth::Mhz80, ..ax() }, "channel_width", "40 MHz"),
        (Radio { frequency: low, channel_width: ChannelWidth::Mhz160, ..ax() }, "channel_width", "40 MHz"),
        (Radio { channel_width: ChannelWidth::Mhz80, ..n() }, "channel_width", "40 MHz"),
        (Radio { guard_interval: GuardInterval::Short, ..ax() }, "guard_interval", "long"),
        (Radio { guard_interval: GuardInterval::Double, ..ac() }, "guard_interval", "long"),
        (Radio { guard_interval: GuardInterval::Quadruple, ..n() }, "guard_interval", "long"),
        (Radio { nominal_rate: Some(Rate::mbps(216)), ..ax() }, "nominal_rate", "802.11n"),
        (Radio { packet_padding: PacketPadding::Us8, ..ac() }, "packet_padding", "802.11ax"),
        (Radio { extended_range: all, ..n() }, "extended_range", "802.11ax"),
        (Radio { extended_range: all, propagation: Propagation::Range, ..ax() }, "extended_range", "another"),
        (Radio { extended_range: all, channel_width: ChannelWidth::Mhz40, ..ax() }, "channel_width", "20 MHz"),
        (Radio { extended_range: all, streams: Some(2), ..ax() }, "streams", "write 1"),
        (Radio { extended_range: all, mcs: Some(3), ..ax() }, "mcs", "write 2"),
        (Radio { extended_range: Some(ExtendedRange::Upper), mcs: Some(1), ..ax() }, "mcs", "write 0"),
        (Radio { extended_range: all, data_rate: Some(Rate::mbps(30)), ..ax() }, "data_rate", "25.808823 Mb/s"),
        (Radio { data_rate: Some(Rate::mbps(100)), ..ax() }, "data_rate", "103.235294 Mb/s (MCS 8, `streams` 1)"),
    ];
    for (radio, key, says) in newer {
        let refusal = refused(&radio);
        assert!(refusal.key == key && refusal.why.contains(says), "{refusal:?}");
    }
    let basic = Radio { basic_rate: Some(Rate::kbps(6_500)), ..n() }.basic_mode();
    assert_eq!(basic.expect_err("control frames are no HT frames").key, "basic_rate");
    assert_eq!(n().node_mode(Some(Rate::mbps(26)), Some(3)).expect_err("two rates").key, "mcs");
}
