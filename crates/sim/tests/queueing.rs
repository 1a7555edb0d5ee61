//! Waiting times compared with queueing theory.

use crate::networks::run;
use theory::queueing::Mg1;
use units::Rate;

/// Data, SIFS, ACK, twice the propagation delay; then DIFS before the next packet can go.
const EXCHANGE_S: f64 = 966e-6 + 10e-6 + 304e-6 + 2e-9;
const DIFS_S: f64 = 50e-6;

/// Without back-off a lone sender is a server with constant service time: an exchange and the DIFS that must follow it. Poisson
/// packets then wait as in M/D/1. The nodal delay is measured: the wait and the exchange.
#[test]
fn poisson_packets_at_a_sender_without_backoff_wait_as_in_md1() {
    for load in [0.3, 0.6, 0.8, 0.9] {
        let service = EXCHANGE_S + DIFS_S;
        let rate = Rate::bps(8_000_000).scaled(load / service / 1000.0);
        let text = format!(
            "duration = \"2000 s\"\n[mac]\ncw_min = 0\ncw_max = 0\n\
             [nodes]\ncount = 2\nplacement = \"chain\"\nspacing = \"30 cm\"\n\
             [queue]\nlimit = 100000\n\
             [[flow]]\nname = \"f\"\nfrom = \"n0\"\nto = \"n1\"\n\
             traffic = {{ kind = \"poisson\", rate = \"{rate}\", packet = \"1000 B\" }}\n"
        );
        let outcome = run(&text, 1);
        let found = outcome.nodes[0].queues[0].nodal_delay_s.mean - EXCHANGE_S;
        let arrivals = rate.as_bps() as f64 / 8000.0;
        let expected = Mg1::new(arrivals, service, 0.0).expect("a stable queue").mean_wait_s();
        let error = found / expected - 1.0;
        println!("load {load}: {found} against {expected} ({error:+.4})");
        assert!(error.abs() < 0.02, "load {load}: {error}");
    }
}
