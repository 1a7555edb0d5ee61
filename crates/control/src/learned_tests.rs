//! Tests of the table lookup by hand, and bounds that hold for all measurements.

extern crate std;

use super::*;
use crate::{Count, Stat};
use proptest::prelude::*;
use std::string::{String, ToString};
use std::vec::Vec;

fn read(json: &str) -> Params {
    serde_json::from_str(json).unwrap()
}

/// Bins of delays below and from the target on; of backlogs below and from half of the limit on.
const SMALL: &str = r#"{"delay_edges":[1.0],"backlog_edges":[0.5],"factors":[[1.0,1.3],[0.75,0.5]]}"#;

fn learned(json: &str, hard_limit: Limit) -> Learned {
    Learned::new(&read(json), &hard_limit.into()).unwrap()
}

fn seen(nodal_ms: u64, packets: u64) -> Interval {
    let time = Duration::from_millis(nodal_ms);
    let backlog = Count { packets, bytes: Bytes::new(1_000) * packets };
    Interval {
        length: Duration::from_millis(100),
        nodal: Stat { n: 1, mean: Duration::ZERO, max: time, last: Duration::ZERO },
        backlog,
        ..Interval::default()
    }
}

#[test]
fn the_limit_is_multiplied_by_what_stands_in_the_bins() {
    let mut learned = learned(SMALL, Limit::Packets(1_000));
    assert_eq!(learned.begin().limit, Limit::Packets(1_000), "the queue's own, as in the training");
    let mut limit = |nodal_ms, packets| learned.update(&seen(nodal_ms, packets).into()).limit;
    assert_eq!(limit(300, 600), Limit::Packets(500));
    assert_eq!(limit(300, 249), Limit::Packets(375));
    assert_eq!(limit(300, 0), Limit::Packets(281), "281.25: below 1 it is rounded down");
    assert_eq!(limit(100, 100), Limit::Packets(281));
    assert_eq!(limit(100, 141), Limit::Packets(366), "365.3: above 1 it is rounded up");
    assert_eq!(limit(0, 366), Limit::Packets(476));
    assert_eq!(limit(0, 476), Limit::Packets(619));
    assert_eq!(limit(0, 619), Limit::Packets(805));
    assert_eq!(limit(0, 805), Limit::Packets(1_000), "never above the hard limit");
}

#[test]
fn a_value_at_an_edge_belongs_to_the_bin_above() {
    let limit = |nodal_ms, packets| {
        let mut learned = learned(SMALL, Limit::Packets(1_000));
        learned.update(&seen(nodal_ms, packets).into()).limit
    };
    assert_eq!((limit(199, 0), limit(200, 0)), (Limit::Packets(1_000), Limit::Packets(750)));
    assert_eq!((limit(200, 499), limit(200, 500)), (Limit::Packets(750), Limit::Packets(500)));
}

/// In 32 bits 0.1 is larger than 0.1, and 0.7 is smaller: the first lies at its edge, the second does not reach it.
#[test]
fn values_are_of_32_bits_as_an_agent_sees_them() {
    let limit = |edge: &str, packets| {
        let table = std::format!(r#"{{"delay_edges":[],"backlog_edges":[{edge}],"factors":[[1.0,0.5]]}}"#);
        learned(&table, Limit::Packets(1_000)).update(&seen(0, packets).into()).limit
    };
    assert_eq!(limit("0.1", 100), Limit::Packets(500));
    assert_eq!(limit("0.7", 700), Limit::Packets(1_000));
    assert_eq!(limit("0.7", 701), Limit::Packets(500));
}

#[test]
fn the_limit_moves_by_a_packet_at_least_and_never_below_one() {
    let mut learned =
        learned(r#"{"delay_edges":[1.0],"backlog_edges":[],"factors":[[1.001],[0.999]]}"#, Limit::Packets(3));
    let mut limit = |nodal_ms| learned.update(&seen(nodal_ms, 0).into()).limit;
    assert_eq!([limit(300), limit(300), limit(300)], [2, 1, 1].map(Limit::Packets));
    assert_eq!([limit(0), limit(0), limit(0)], [2, 3, 3].map(Limit::Packets));
    let mut none = Learned::new(&Params::default(), &Limit::Packets(0).into()).unwrap();
    assert_eq!(none.update(&seen(0, 0).into()).limit, Limit::Packets(0), "the hard limit wins");
}

#[test]
fn a_limit_in_bytes_is_compared_with_the_bytes_that_wait() {
    let mut learned = learned(SMALL, Limit::Bytes(Bytes::new(10_000)));
    let mut limit = |nodal_ms, packets| learned.update(&seen(nodal_ms, packets).into()).limit;
    assert_eq!(limit(300, 5), Limit::Bytes(Bytes::new(5_000)));
    assert_eq!(limit(300, 2), Limit::Bytes(Bytes::new(3_750)));
    assert_eq!(limit(300, 3), Limit::Bytes(Bytes::new(1_875)));
    assert_eq!(limit(300, 3), Limit::Bytes(Bytes::new(1_500)), "a packet");
    assert_eq!(limit(0, 1), Limit::Bytes(Bytes::new(1_950)));
}

#[test]
fn the_delay_of_the_table_is_the_one_that_it_names() {
    let mut by_wait = learned(&SMALL.replacen('{', r#"{"delay":"sojourn_mean","#, 1), Limit::Packets(1_000));
    assert_eq!(by_wait.needs().reads, Reads::COUNTS.and(Reads::SOJOURN));
    assert_eq!(by_wait.update(&seen(300, 0).into()).limit, Limit::Packets(1_000));
    let wait = Stat { n: 1, mean: Duration::from_millis(200), ..Stat::default() };
    let waited = Interval { sojourn: wait, ..Interval::default() };
    assert_eq!(by_wait.update(&waited.into()).limit, Limit::Packets(750));
    let mut by_node = learned(SMALL, Limit::Packets(1_000));
    assert_eq!(by_node.needs().reads, Reads::COUNTS.and(Reads::SERVICE));
    assert_eq!(by_node.update(&waited.into()).limit, Limit::Packets(1_000));
    let mut strict = learned(&SMALL.replacen('{', r#"{"target_delay":"50 ms","#, 1), Limit::Packets(1_000));
    assert_eq!(strict.update(&seen(60, 0).into()).limit, Limit::Packets(750));
    assert_eq!(strict.target_delay(), Some(Duration::from_millis(50)));
}

/// Delays are cut off as in the training.
#[test]
fn a_delay_beyond_ten_targets_is_one_of_ten() {
    let limit = |edge: &str| {
        let table = std::format!(r#"{{"delay_edges":[{edge}],"backlog_edges":[],"factors":[[1.0],[0.5]]}}"#);
        learned(&table, Limit::Packets(1_000)).update(&seen(60_000, 0).into()).limit
    };
    assert_eq!([limit("10.0"), limit("10.5")], [500, 1_000].map(Limit::Packets));
}

#[test]
fn what_is_no_table_is_refused_by_its_key() {
    let refused = |json: &str| Learned::new(&read(json), &Limit::Packets(400).into()).unwrap_err().to_string();
    let edges = "must be numbers above zero that ascend";
    assert_eq!(refused(r#"{"delay_edges":[0.5,0.5,0.8,1,1.5]}"#), String::from("delay_edges ") + edges);
    assert_eq!(refused(r#"{"backlog_edges":[0.9,0.5,0.05]}"#), String::from("backlog_edges ") + edges);
    assert_eq!(refused(r#"{"backlog_edges":[0,0.5,0.9]}"#), String::from("backlog_edges ") + edges);
    assert_eq!(
        refused(r#"{"delay_edges":[1]}"#),
        "factors must have a row for each bin of the delay: one more than delay_edges"
    );
    assert_eq!(
        refused(r#"{"delay_edges":[1],"factors":[[1,1,1,1],[1,1,1]]}"#),
        "factors must have in each row a factor for each bin of the backlog: one more than backlog_edges"
    );
    for factor in ["0", "-1"] {
        let table = std::format!(r#"{{"delay_edges":[],"backlog_edges":[],"factors":[[{factor}]]}}"#);
        assert_eq!(refused(&table), "factors must be numbers above zero");
    }
    // Files of TOML can hold these.
    for number in [f64::NAN, f64::INFINITY] {
        let factors = List::new(&[List::new(&[number]).unwrap()]).unwrap();
        let params = Params { delay_edges: List::default(), backlog_edges: List::default(), factors, ..read("{}") };
        assert!(Learned::new(&params, &Limit::Packets(400).into()).is_err());
        let params = Params { delay_edges: List::new(&[0.1, 0.2, 0.3, 0.4, number]).unwrap(), ..read("{}") };
        assert!(Learned::new(&params, &Limit::Packets(400).into()).is_err());
    }
    let unknown = serde_json::from_str::<Params>(r#"{"edges":[1]}"#).unwrap_err().to_string();
    assert!(unknown.starts_with("unknown field `edges`"), "{unknown}");
}

fn table() -> impl Strategy<Value = Params> {
    let edges = || prop::collection::btree_set(1_u32..20_000, 0..MOST_BINS);
    (edges(), edges()).prop_flat_map(|(delays, backlogs)| {
        let row = prop::collection::vec(prop_oneof![1e-9..1e9_f64, 0.5..2.0_f64], backlogs.len() + 1);
        let rows = prop::collection::vec(row, delays.len() + 1);
        let scaled = |edges: &std::collections::BTreeSet<u32>| {
            List::new(&edges.iter().map(|&edge| f64::from(edge) / 1e3).collect::<Vec<_>>()).unwrap()
        };
        rows.prop_map(move |rows| Params {
            delay_edges: scaled(&delays),
            backlog_edges: scaled(&backlogs),
            factors: List::new(&rows.iter().map(|row| List::new(row).unwrap()).collect::<Vec<_>>()).unwrap(),
            ..Params::default()
        })
    })
}

proptest! {
    /// For every table: the limit stays between a packet and the hard limit, and moves in the direction of the factor.
    #[test]
    fn no_table_leads_out_of_the_limits(
        params in table(),
        intervals in prop::collection::vec((any::<u64>(), any::<u64>()), 1..30),
        hard in 1_u32.., in_bytes: bool,
    ) {
        let hard_bytes = Bytes::new(1_500) * u64::from(hard);
        let hard_limit = if in_bytes { Limit::Bytes(hard_bytes) } else { Limit::Packets(hard) };
        let mut learned = Learned::new(&params, &hard_limit.into()).unwrap();
        let least = if in_bytes { PACKET_BYTES } else { 1 };
        for (delay, waiting) in intervals {
            let nodal = Stat { max: Duration::from_nanos(delay), ..Stat::default() };
            let backlog = Count { packets: waiting, bytes: Bytes::new(waiting) };
            let seen = Interval { backlog, nodal, ..Interval::default() };
            let (before, factor) = (learned.limit, learned.factor(&seen));
            prop_assert!(params.factors.iter().any(|row| row.contains(&factor)));
            let limit = learned.update(&seen.into()).limit.count();
            prop_assert!((least..=hard_limit.count()).contains(&limit));
            prop_assert!(factor > 1.0 || limit <= before, "{} from {} by {}", limit, before, factor);
            prop_assert!(factor < 1.0 || limit >= before, "{} from {} by {}", limit, before, factor);
        }
    }

    #[test]
    fn a_table_is_read_as_it_is_written(params in table()) {
        let text = serde_json::to_string(&params).unwrap();
        prop_assert_eq!(serde_json::from_str::<Params>(&text).unwrap(), params);
    }
}
