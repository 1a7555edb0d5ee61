//! Two senders that do not hear each other (`n0`, `n2`) and their receiver between them (`n1`). The traces are checked by hand.
//!
//! Back-off is zero, so all times follow from the standard: data 966 us, ACK and CTS 304 us, RTS 352 us, SIFS 10 us, DIFS 50 us,
//! time-out 222 us after a frame's end, and 0.1 us of propagation.

use crate::networks::watched;
use sim::trace::{Kind, TraceEventKind};

/// A packet of `n0` for `n1` comes after a second, one of `n2` for it `later` microseconds after that. The frames sent.
fn sent(later: u32, mac: &str) -> Vec<(f64, String, &'static str)> {
    sent_in(3, [("n0", "n1", 0), ("n2", "n1", later)], "carrier_sense_range = \"40 m\"", mac)
}

/// In a chain of `count` nodes, 30 m apart, two packets go from a node to its neighbour; each arrives at its own number
/// of microseconds after 1 s. Returns the frames sent, as (microseconds after that second, node, frame).
fn sent_in(count: u32, packets: [(&str, &str, u32); 2], radio: &str, mac: &str) -> Vec<(f64, String, &'static str)> {
    let flow = |(from, to, later): (&str, &str, u32)| {
        format!(
            "[[flow]]\nname = \"{from}\"\nfrom = \"{from}\"\nto = \"{to}\"\nstart = \"{} us\"\n\
             traffic = {{ kind = \"cbr\", rate = \"8 kb/s\", packet = \"1000 B\" }}\n",
            1_000_000 + later
        )
    };
    let text = format!(
        "duration = \"1.1 s\"\n\
         [mac]\ncw_min = 0\ncw_max = 0\n{mac}\n\
         [radio]\nrange = \"30 m\"\n{radio}\n\
         [nodes]\ncount = {count}\nplacement = \"chain\"\nspacing = \"30 m\"\n{}{}",
        flow(packets[0]),
        flow(packets[1])
    );
    let (events, _) = watched(&text, &(0..count).collect::<Vec<_>>());
    let frames = events.into_iter().filter_map(|event| match event.what {
        TraceEventKind::Sends(frame) => Some((event.at, event.node, frame.kind)),
        _ => None,
    });
    let name = |kind| match kind {
        Kind::Rts => "RTS",
        Kind::Cts => "CTS",
        Kind::Ack => "ACK",
        Kind::Data => "DATA",
        Kind::BlockAckReq { .. }
        | Kind::BlockAck { .. }
        | Kind::Trigger { .. }
        | Kind::QueueSize { .. }
        | Kind::MultiBlockAck { .. } => "BLOCK ACK",
        Kind::Request { .. } | Kind::Grant => "TURN",
    };
    frames.map(|(at, node, kind)| ((at.as_secs_f64() - 1.0) * 1e6, format!("n{node}"), name(kind))).collect()
}

fn assert_sent(found: &[(f64, String, &'static str)], expected: &[(f64, &str, &str)]) {
    let same = found.len() == expected.len()
        && found.iter().zip(expected).all(|(a, b)| (a.0 - b.0).abs() < 0.01 && a.1 == b.1 && a.2 == b.2);
    assert!(same, "found {found:#?}\nexpected {expected:#?}");
}

#[test]
fn frames_of_hidden_senders_destroy_each_other_until_both_give_up() {
    // Each sends again 966 + 222 = 1188 us after it began, so that the frames overlap in all 7 attempts.
    let mut expected: Vec<(f64, &str, &str)> = Vec::new();
    for attempt in 0..7 {
        let start = f64::from(attempt) * 1188.0;
        expected.extend([(start, "n0", "DATA"), (start + 500.0, "n2", "DATA")]);
    }
    assert_sent(&sent(500, ""), &expected);
}

#[test]
fn the_receivers_ack_holds_the_hidden_sender_back() {
    // n1 has the frame at 966.1 and acknowledges it from 976.1 to 1280.1. n2's packet comes at 980, while n2 hears the ACK (until
    // 1280.2). n2 sends DIFS later, and n1 acknowledges 966.1 + 10 us after that.
    let expected = [(0.0, "n0", "DATA"), (976.1, "n1", "ACK"), (1330.2, "n2", "DATA"), (1330.2 + 976.1, "n1", "ACK")];
    assert_sent(&sent(980, ""), &expected);
}

#[test]
fn a_cts_reserves_the_medium_against_the_hidden_sender() {
    // n0's RTS ends at 352; n1 has it at 352.1 and clears from 362.1 to 666.1. n2 hears the CTS until 666.2 and is
    // reserved for 1604 - 10 - 304 = 1290 us, until 1956.2. n0 sends data at 676.2; n1 has it at 1642.3, acknowledges
    // from 1652.3 to 1956.3; n2 hears that end at 1956.4 and sends its RTS DIFS later.
    let expected = [
        (0.0, "n0", "RTS"),
        (362.1, "n1", "CTS"),
        (676.2, "n0", "DATA"),
        (1652.3, "n1", "ACK"),
        (2006.4, "n2", "RTS"),
        (2006.4 + 362.1, "n1", "CTS"),
        (2006.4 + 676.2, "n2", "DATA"),
        (2006.4 + 1652.3, "n1", "ACK"),
    ];
    assert_sent(&sent(500, "rts_threshold = \"500 B\""), &expected);
}

#[test]
fn a_hidden_rts_within_sifs_takes_the_cts_away_where_the_medium_has_to_be_idle_for_it() {
    // n1 has n0's RTS at 352.1 and owes a CTS at 362.1; n2's RTS reaches it at 357.1 and lasts until 709.1.
    let rts = "rts_threshold = \"500 B\"\n";
    let standard = sent(357, rts);
    assert_sent(&standard[..3], &[(0.0, "n0", "RTS"), (357.0, "n2", "RTS"), (362.1, "n1", "CTS")]);
    // Without a CTS each gives up 222 us after the end of its RTS and sends it again at once, 574 us after the last one: both 7
    // times. Each RTS of n0 begins while n1 receives one of n2's and spoils it, until n0 has given up at 3796.
    let mut expected = Vec::new();
    for attempt in 0..7 {
        let start = f64::from(attempt) * 574.0;
        expected.extend([(start, "n0", "RTS"), (start + 357.0, "n2", "RTS")]);
    }
    expected.extend([(3801.0 + 362.1, "n1", "CTS"), (3801.0 + 676.2, "n2", "DATA"), (3801.0 + 1652.3, "n1", "ACK")]);
    assert_sent(&sent(357, &format!("{rts}answer_rts = \"unless-busy\"")), &expected);
}

#[test]
fn a_signal_too_weak_to_be_decoded_holds_the_receiver_where_any_signal_can() {
    // n1 sends to n0, and 500 us later n4 to n3. n3 senses n1 at 60 m, 6 dB below n4, but cannot decode it.
    let run = |capture: &str| {
        let radio = format!("capture_threshold = \"5 dB\"\ncapture = \"{capture}\"");
        sent_in(5, [("n1", "n0", 0), ("n4", "n3", 500)], &radio, "")
    };
    let received = [(0.0, "n1", "DATA"), (500.0, "n4", "DATA"), (976.1, "n0", "ACK"), (1476.1, "n3", "ACK")];
    assert_sent(&run("first-frame"), &received);
    assert_sent(&run("strongest-preamble"), &received);
    // Both are lost at n3. n4 tries again after 966 + 222 us.
    let mut expected = received[..3].to_vec();
    expected.extend([(1688.0, "n4", "DATA"), (2664.1, "n3", "ACK")]);
    assert_sent(&run("any-signal"), &expected);
}
