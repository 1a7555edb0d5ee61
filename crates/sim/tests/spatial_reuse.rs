//! Cells on one channel that ignore one another's weak frames (OBSS PD).

use crate::networks::{goodputs, pair, refusal, run, sends, watched};
use proptest::prelude::*;
use sim::trace::{Kind, TraceEvent, TraceEventKind};
use units::{Duration, Instant};

/// Two cells this far apart. Each has an access point and a station 3 m from it, with saturated flows in both directions.
///
/// Free space takes 46.7 dB in the first metre at 5.18 GHz: of 15 dBm, -75.0 dBm arrive over 146 m, and -41.3 dBm over 3 m.
fn cells(metres: u32, obss_pd: Option<f64>) -> String {
    let level = obss_pd.map_or(String::new(), |level| format!("obss_pd = \"{level} dBm\"\n"));
    let mut text = format!(
        "duration = \"300 ms\"\nwarmup = \"100 ms\"\n\
         [radio]\nstandard = \"802.11ax\"\nmcs = 4\npropagation = \"free-space\"\n[mac]\n{level}\
         [mac.edca.best_effort]\ntxop_limit = \"0 s\"\n"
    );
    for (name, at) in [("left", 0), ("right", metres)] {
        text += &pair(name, at, "channel = 36");
    }
    text
}

#[test]
fn cells_that_ignore_one_another_send_at_once() {
    let alone = goodputs(&run(&cells(146, None), 1));
    let reused = goodputs(&run(&cells(146, Some(-72.0)), 1));
    let (shared, both): (f64, f64) = (alone.iter().sum(), reused.iter().sum());
    assert!(both > 1.8 * shared, "{alone:?}, {reused:?}");
}

/// Power in dBm of data of a station's own access point, which arrive above -50 dBm.
fn heard(event: &TraceEvent) -> Option<f64> {
    match &event.what {
        TraceEventKind::Hears(frame, it) if frame.kind == Kind::Data => Some(it.as_dbm()).filter(|&it| it > -50.0),
        _ => None,
    }
}

/// At a level of -72 dBm power is limited to 21 - 10 = 11 dBm: 4 dB less than 15 dBm. What is sent while the neighbour sends
/// begins at least AIFS after the end of its HE-SIG-A, 32 us after its start, or in the same slot.
#[test]
fn an_ignored_frame_costs_its_preamble_and_four_decibels() {
    let (events, _) = watched(&cells(146, Some(-72.0)), &[0, 1, 2, 3]);
    let sent = |node: u32| {
        let of = sends(events.iter().filter(|event| event.node == node).cloned().collect()).into_iter();
        let data = of.filter(|(_, frame)| frame.kind == Kind::Data).map(|(at, frame)| (at, frame.length));
        data.collect::<Vec<(Instant, Duration)>>()
    };
    let (left, right) = (sent(0), sent(2));
    let mut beside = 0;
    for &(at, _) in &left {
        for &(start, length) in right.iter().filter(|&&(start, length)| start <= at && at < start + length) {
            let since = at.since(start);
            beside += usize::from(since > Duration::from_micros(9));
            let after = Duration::from_micros(32 + 43);
            assert!(since < Duration::from_micros(10) || since >= after, "{since:?} of {length:?}");
        }
    }
    assert!(beside > 10, "{beside} of {}", left.len());
    let mut powers: Vec<f64> = events.iter().filter(|event| event.node == 1).filter_map(heard).collect();
    powers.sort_unstable_by(f64::total_cmp);
    powers.dedup_by(|one, other| (*one - *other).abs() < 1e-3);
    let &[limited, full] = powers.as_slice() else { panic!("{powers:?}") };
    assert!((full - limited - 4.0).abs() < 1e-3 && (full + 41.3).abs() < 0.1, "{powers:?}");
}

/// At -72 dBm an access point with three streams keeps 25 - 10 = 15 dBm, 3 dB less than its 18 dBm. One with two streams keeps 11
/// dBm, 7 dB less (26.10.2.4).
#[test]
fn an_access_point_with_more_than_two_streams_may_send_with_four_decibels_more() {
    for (streams, less) in [(2, 7.0), (3, 3.0)] {
        let text = cells(146, Some(-72.0)).replace("mcs = 4\n", &format!("mcs = 4\nstreams = {streams}\n"));
        let text = text.replace("[radio]\n", "[radio]\ntx_power = \"18 dBm\"\n");
        let text = text.replace("position = [\"146 m\"", "position = [\"206 m\"");
        let (events, _) = watched(&text, &[1]);
        let all = events.iter().filter_map(heard);
        let (least, most) = all.fold((0.0, -99.0), |(least, most), dbm| (dbm.min(least), dbm.max(most)));
        assert!((most - least - less).abs() < 1e-3, "{streams} streams: {least} to {most} dBm");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8))]

    /// Frames above the level are not ignored: the results are the same to the last bit.
    #[test]
    fn a_level_below_all_signals_changes_nothing(seed in 1_u64..1_000, metres in 5_u32..30, level in -82.0..-63.0) {
        let of = |level| goodputs(&run(&cells(metres, level), seed));
        prop_assert_eq!(of(Some(level)), of(None));
    }
}

#[test]
fn what_has_nothing_to_ignore_is_refused() {
    let text = cells(146, Some(-72.0));
    let (alone, _) = text.split_once("[[node]]\nname = \"right\"").expect("a second cell");
    for (text, expected) in [
        (cells(146, Some(-50.0)), "between -82 and -62 dBm"),
        (cells(146, Some(-83.0)), "between -82 and -62 dBm"),
        (alone.to_owned(), "no frames of other access points' cells"),
        (text.replace("802.11ax", "802.11ac"), "came with 802.11ax"),
        (text.replace("mcs = 4\n", "mcs = 4\nrange = \"500 m\"\n"), "set `tx_power` too"),
        (
            text.replace("channel = 36\n", "").replace("propagation = \"free-space\"", "propagation = \"range\""),
            "no powers",
        ),
    ] {
        let (_, why) = refusal(&text);
        assert!(why.contains(expected), "{why}");
    }
}
