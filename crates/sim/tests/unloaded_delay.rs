//! Delays of a single packet on an idle network, computed by hand from the standard's times.

use crate::networks::{chain, one_packet, run};

/// 1000 B of payload: 1064 B of MAC frame, 774 us at 11 Mb/s after 192 us of preamble.
const DATA_US: f64 = 966.0;
/// Time after each hop except the last: SIFS, an ACK at 1 Mb/s, and DIFS.
const TURN_US: f64 = 10.0 + 304.0 + 50.0;
/// 30 m at the speed of light, in whole nanoseconds.
const PROPAGATION_US: f64 = 0.1;

fn expected_us(hops: f64) -> f64 {
    hops * (DATA_US + PROPAGATION_US) + (hops - 1.0) * TURN_US
}

fn delay_us(hops: u32, mac: &str, seed: u64) -> f64 {
    let text = chain(hops + 1, "2 s", "") + mac + &one_packet(hops + 1);
    let outcome = run(&text, seed);
    assert_eq!((outcome.flows[0].sent_packets, outcome.flows[0].received_packets), (1, 1));
    outcome.flows[0].delay_s.max * 1e6
}

#[test]
fn without_backoff_one_two_and_three_hops_are_exact_to_the_microsecond() {
    for hops in [1, 2, 3] {
        let found = delay_us(hops, "[mac]\ncw_min = 0\n", 1);
        assert!((found - expected_us(f64::from(hops))).abs() < 1e-3, "{hops} hops: {found} us");
    }
}

#[test]
fn an_idle_medium_is_taken_at_once_and_a_relay_adds_whole_slots() {
    for seed in 0..20 {
        assert!((delay_us(1, "", seed) - expected_us(1.0)).abs() < 1e-3);
        let slots = (delay_us(2, "", seed) - expected_us(2.0)) / 20.0;
        assert!((slots - slots.round()).abs() < 1e-3 && (-0.5..31.5).contains(&slots), "{slots} slots");
    }
}
