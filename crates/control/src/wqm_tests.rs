//! Tests with sizes worked out by hand, the document's packets in flight, and general properties.

extern crate std;

use super::*;
use crate::{Count, Interval};
use proptest::prelude::*;
use std::string::ToString;
use units::{Bytes, Rate};

/// Length of a packet with its framing: 1500 B, 12 kb.
const PACKET: u64 = 1_458;

fn wqm(json: &str) -> Wqm {
    Wqm::new(&serde_json::from_str(json).unwrap(), &Limit::Packets(1_000).into()).unwrap()
}

/// Returns a period of 100 ms at `mbps`, with aggregates of up to 64 kB, `busy_ms` of it taken by others, one other
/// station heard, a largest backlog of this many packets, and drops or not.
fn seen(mbps: u64, backlog_max: u64, busy_ms: u64) -> Seen<'static> {
    let count = |packets| Count { packets, bytes: Bytes::new(PACKET * packets) };
    let queue = Interval {
        length: Duration::from_millis(100),
        sent: count(900),
        dropped: count(1),
        backlog: count(backlog_max),
        backlog_max,
        ..Interval::default()
    };
    let radio = Radio {
        busy: Duration::from_millis(busy_ms),
        contenders: 1,
        phy_rate: Rate::mbps(mbps),
        aggregate_max: Bytes::new(65_535),
        ..Radio::default()
    };
    Seen { queue, radio: Some(radio), heard: &[] }
}

/// Returns the limits after each of this many periods with a full queue.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "sizes are small and whole")]
fn full<const N: usize>(wqm: &mut Wqm, mbps: u64, busy_ms: u64) -> [u32; N] {
    [(); N].map(|()| packets(&wqm.update(&seen(mbps, wqm.size as u64, busy_ms))))
}

fn packets(orders: &Orders) -> u32 {
    let Limit::Packets(packets) = orders.limit else { panic!("the hard limit is in packets") };
    packets
}

#[test]
fn it_begins_with_what_an_aggregate_and_its_acknowledgement_take() {
    // The hard limit holds until a rate is known.
    let mut fresh = wqm("{}");
    let none = Interval { length: Duration::from_millis(100), ..Interval::default() };
    assert_eq!(fresh.begin().limit, Limit::Packets(1_000));
    assert_eq!(fresh.update(&none.into()).limit, Limit::Packets(1_000));
    // 43 packets of 1500 B are 64.5 kB; ARTT is 0.19 ms + 516 kb / 300 Mb/s, and R ARTT / s = 43 + 57 / 12 = 47.75.
    assert_eq!(full::<1>(&mut fresh, 300, 0), [48]);
    // 54 Mb/s: 43 + 10.26 / 12 = 43.9, which takes 9.8 ms to drain alone.
    assert_eq!(full::<1>(&mut wqm("{}"), 54, 0), [44]);
    // An aggregate of 4 ms at 6.5 Mb/s has 3250 B: two packets, and 6.5 Mb/s for 10 ms are 5.4.
    let mut slow = seen(6, 0, 0);
    slow.radio.as_mut().unwrap().aggregate_max = Bytes::new(3_250);
    slow.radio.as_mut().unwrap().phy_rate = Rate::kbps(6_500);
    assert_eq!(packets(&wqm("{}").update(&slow)), 3, "2 + 1.235 / 12");
}

#[test]
fn an_aggregate_of_at_most_32_packets_is_the_least_size() {
    let of_32 = |mbps, backlog| {
        let mut seen = seen(mbps, backlog, 0);
        seen.radio.as_mut().unwrap().aggregate_mpdus_max = 32;
        seen
    };
    // 300 Mb/s: 32 + 0.19 ms * 300 Mb/s / 12 kb = 36.75 instead of 47.75.
    let mut wqm = wqm("{}");
    assert_eq!(packets(&wqm.update(&of_32(300, 0))), 37);
    // 20 Mb/s: 32 packets take 19.2 ms to drain, and the queue is not made shorter.
    let mut slow = self::wqm("{}");
    assert_eq!([(); 6].map(|()| packets(&slow.update(&of_32(20, 32)))), [32; 6]);
    // It grows only if there was room for fewer than an aggregate of 32: 4 of 37 waiting leave 33, and 5 leave 32.
    for (waiting, after) in [(4, 37), (5, 37 + 60)] {
        let mut seen = of_32(300, waiting);
        seen.queue.dropped = Count::default();
        let sizes = [(); 2].map(|()| packets(&wqm.update(&seen)));
        assert_eq!(sizes, [37, after], "(125 - 5) / 2");
    }
}

/// At 134 Mb/s, one flow's throughput in the document's table: 55.8 packets drain in 5 ms, 111.7 packets in 10 ms.
#[test]
fn a_full_queue_drains_within_the_times_and_the_sizes_fit_the_documents_table() {
    let mut grows = wqm("{}");
    // 43 + 25.46 / 12 = 45.1: it begins with 46, which lack 9.83 packets, then with 4.83, 1.83, 0.83.
    assert_eq!(full(&mut grows, 134, 0), [46, 46, 51, 51, 54, 54, 55, 55, 56, 56, 56]);
    let mut shrinks = wqm("{}");
    full::<1>(&mut shrinks, 134, 0);
    shrinks.size = 140.0;
    // 140 packets take 12.5 ms. The largest size is what drains in 10 ms, rounded up; that takes 10.03 ms.
    assert_eq!(full(&mut shrinks, 134, 0), [112, 111, 111, 111]);
    // Two aggregates with the hardware: 142 to 198 packets in flight, and the table's for 1 to 5 flows are among them.
    for (flows, (mbps, ms)) in
        (1_u32..).zip([(134.35, 13.1), (69.21, 13.47), (45.77, 14.19), (33.96, 14.91), (27.41, 14.93)])
    {
        let in_flight = f64::from(flows) * mbps * ms / 12.0;
        assert!((56.0 + 86.0..=112.0 + 86.0).contains(&in_flight), "{flows} flows: {in_flight}");
    }
}

#[test]
fn with_half_of_the_channel_the_aggregate_is_the_least() {
    // 134 Mb/s: 10 ms at half of it are 55.8 packets, and 43 of them take 7.7 ms.
    let mut wqm = wqm(r#"{"share":"equal"}"#);
    full::<1>(&mut wqm, 134, 0);
    wqm.size = 100.0;
    assert_eq!(full(&mut wqm, 134, 0), [100, 55, 55, 55], "halved by its gap of 44.2 packets, rounded up");
    wqm.size = 30.0;
    assert_eq!(full(&mut wqm, 134, 0), [43, 43, 43]);
}

#[test]
fn the_share_is_what_others_leave_and_at_least_the_equal_one() {
    // 60 ms of 100 ms are left: 6 ms at 134 Mb/s have 67 packets. Then 20 ms, but one of two has half: 55.8.
    let sizes = |busy_ms| {
        let mut wqm = wqm("{}");
        full::<1>(&mut wqm, 134, busy_ms);
        wqm.size = 100.0;
        full::<3>(&mut wqm, 134, busy_ms)
    };
    assert_eq!(sizes(40), [100, 67, 67]);
    assert_eq!(sizes(80), [100, 55, 55]);
}

#[test]
fn one_period_outside_the_times_changes_nothing() {
    let mut wqm = wqm("{}");
    full::<1>(&mut wqm, 134, 0);
    wqm.size = 100.0;
    // 200 packets take 17.9 ms, 60 take 5.4 ms.
    for backlog in [200, 60, 200, 60] {
        assert_eq!(packets(&wqm.update(&seen(134, backlog, 0))), 100);
    }
    wqm.update(&seen(134, 200, 0));
    // Half at most: 88.3 packets are too many.
    assert_eq!(packets(&wqm.update(&seen(134, 200, 0))), 50);
}

#[test]
fn a_queue_that_holds_nothing_back_does_not_grow() {
    let mut wqm = wqm("{}");
    full::<1>(&mut wqm, 300, 0);
    let mut idle = seen(300, 4, 0);
    idle.queue.dropped = Count::default();
    for _ in 0..4 {
        assert_eq!(packets(&wqm.update(&idle)), 48);
    }
    // 5 of 48 waiting leave no room for an aggregate of 43.
    idle.queue.backlog_max = 5;
    wqm.update(&idle);
    assert_eq!(packets(&wqm.update(&idle)), 48 + 60, "(125 - 5) / 2");
}

#[test]
fn the_unit_step_moves_by_one() {
    let mut wqm = wqm(r#"{"step":"unit"}"#);
    assert_eq!(full(&mut wqm, 134, 0), [46, 46, 47, 47, 48]);
    wqm.size = 112.0;
    assert_eq!(full(&mut wqm, 134, 40), [112, 111, 111, 110]);
}

#[test]
fn it_begins_anew_when_the_rate_has_changed_by_more_than_a_factor_of_two_and_after_a_second_without_packets() {
    let mut wqm = wqm("{}");
    full::<1>(&mut wqm, 300, 0);
    wqm.size = 120.0;
    // A quarter of the difference each time: 225.25 and 169.2 are more than half of 300, 127.1 is less, and begins with
    // 43 + 0.19 * 127.1 / 12 = 45.01.
    let mut slower = seen(1, 60, 0);
    slower.queue.dropped = Count::default();
    assert_eq!([(); 3].map(|()| packets(&wqm.update(&slower))), [120, 120, 46]);
    wqm.size = 60.0;
    let none = Interval { length: Duration::from_millis(100), ..Interval::default() };
    let after: std::vec::Vec<u32> = (0..11).map(|_| packets(&wqm.update(&none.into()))).collect();
    assert_eq!(after, [[60; 10].as_slice(), &[46]].concat());
}

#[test]
fn without_aggregates_and_at_a_slow_rate_two_packets_fit() {
    let mut slow = seen(1, 900, 0);
    slow.radio.as_mut().unwrap().aggregate_max = Bytes::new(2_332);
    let mut wqm = wqm("{}");
    assert_eq!([(); 3].map(|()| packets(&wqm.update(&slow))), [2; 3]);
    let limit = Limit::Bytes(Bytes::new(64_000));
    let mut wqm = Wqm::new(&Params::default(), &limit.into()).unwrap();
    assert_eq!(wqm.update(&slow).limit, Limit::Bytes(Bytes::new(3_000)));
}

#[test]
fn an_equal_share_needs_no_channel_time() {
    let reads = |params| wqm(params).needs().reads;
    assert_eq!(reads("{}"), reads(r#"{"share":"equal"}"#).and(Reads::MEDIUM));
    assert!(!reads(r#"{"share":"equal"}"#).contains(Reads::MEDIUM));
}

#[test]
fn the_times_are_in_order() {
    let params: Params = serde_json::from_str(r#"{"t_min":"11 ms"}"#).unwrap();
    let refused = Wqm::new(&params, &Limit::Packets(9).into()).unwrap_err();
    assert_eq!(refused.to_string(), "t_min must not be above t_max");
    assert!(serde_json::from_str::<Params>(r#"{"rate_weight":0}"#).is_err());
}

proptest! {
    #[test]
    fn every_size_is_in_bounds(
        periods in prop::collection::vec(
            (1_u64..10_000_000_000, 0_u64..2_000_000, 0_u64..100_000_000, 0_u32..100, 0_u64..5_000, 0_u64..2_000), 1..30,
        ),
        hard in 0_u32..5_000,
    ) {
        let mut wqm = Wqm::new(&Params::default(), &Limit::Packets(hard).into()).unwrap();
        for (bps, aggregate, busy, contenders, backlog_max, sent) in periods {
            let radio = Radio {
                busy: Duration::from_nanos(busy),
                contenders,
                phy_rate: Rate::bps(bps),
                aggregate_max: Bytes::new(aggregate),
                ..Radio::default()
            };
            let sent = Count { packets: sent, bytes: Bytes::new(700) * sent };
            let queue = Interval { length: Duration::from_millis(100), sent, backlog_max, ..Interval::default() };
            let limit = packets(&wqm.update(&Seen { queue, radio: Some(radio), heard: &[] }));
            let link = wqm.link.unwrap();
            let most = (link.rate * 0.01 / link.packet).ceil().max(wqm.least(&link));
            prop_assert!(f64::from(limit) <= most && limit <= hard);
            prop_assert!(limit >= hard.min(2) && f64::from(limit) >= link.aggregate.min(hard.into()));
        }
    }
}
