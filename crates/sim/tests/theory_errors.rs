//! A lone sender whose frames are lost with a fixed ratio. Every mean follows by hand from the DCF's rules.

use crate::networks::run;

/// 802.11b, 1000 B at 11 Mb/s: frame 966 us, SIFS 10, ACK 304, DIFS 50, time-out 222, slot 20, in s.
const ACKNOWLEDGED_S: f64 = 1330e-6;
const LOST_S: f64 = 1188e-6;
const SLOT_S: f64 = 20e-6;

/// Returns the mean time of a packet in s, and the probability that it is delivered in at most 7 attempts. Of the packets, `e^i`
/// need attempt `i`, after half a window of slots.
fn packet(e: f64) -> (f64, f64) {
    let attempt = |i: i32| {
        let window = (32.0 * 2_f64.powi(i)).min(1024.0) - 1.0;
        e.powi(i) * (window / 2.0 * SLOT_S + (1.0 - e) * ACKNOWLEDGED_S + e * LOST_S)
    };
    ((0..7).map(attempt).sum(), 1.0 - e.powi(7))
}

/// The tolerances were set beforehand. In 200 s there are some 60,000 to 120,000 attempts: four deviations are 0.007 of a
/// probability and 1.5 % of a throughput. The larger part of the latter is the spread of the back-off.
#[test]
fn a_lone_senders_losses_cost_what_the_rules_say() {
    for e in [0.05, 0.2, 0.5] {
        let (seconds, delivered) = packet(e);
        let text = format!(
            "duration = \"201 s\"\nwarmup = \"1 s\"\n[radio]\npropagation = \"range\"\n\
             [radio.errors]\nmodel = \"fixed\"\npacket_error_ratio = {e}\n\
             [nodes]\ncount = 2\nplacement = \"chain\"\nspacing = \"30 cm\"\n\
             [[flow]]\nname = \"f\"\nfrom = \"n0\"\nto = \"n1\"\n\
             traffic = {{ kind = \"saturated\", packet = \"1000 B\" }}\n"
        );
        let outcome = run(&text, 1);
        let mac = &outcome.nodes[0].mac;
        let lost = mac.collisions as f64 / mac.attempts as f64;
        let throughput = outcome.totals.goodput_bps / (delivered * 8000.0 / seconds) - 1.0;
        let given_up = mac.retry_drops as f64 / (mac.retry_drops + mac.delivered) as f64;
        println!("{e}: {lost:.4} lost, {:+.2} % of throughput, {given_up:.4} given up", throughput * 100.0);
        assert!((lost - e).abs() < 0.007, "{e}: {lost} of the frames are lost");
        assert!(throughput.abs() < 0.015, "{e}: throughput differs by {throughput}");
        assert!((given_up - e.powi(7)).abs() < 0.007, "{e}: {given_up} of the packets are given up");
    }
}
