//! BQM's expected throughput (4.1) for a run: a single connection's throughput over the hops that packets took.

use super::Fault;
use crate::study::{Bqm, Expectation};
use sim::config::Network;
use sim::results::Outcome;

/// Computes (4.1) for a run of `network`, weighted by the hops of the packets received: section 4.3.2, not the time of
/// the shortest path as in 4.3.1 (E15). Errors: a table without throughputs, or runs without the hops of their packets.
pub(super) fn of(settings: &Bqm, network: &Network, outcome: &Outcome) -> Result<Expectation, Fault> {
    let refuse = |key, message: &str| Err(Fault { key, message: message.to_owned() });
    let Some(last) = settings.throughput.last() else {
        return refuse("bqm.throughput", "expected at least the throughput over one hop");
    };
    if !network.record.hops {
        return refuse("bqm", "the model needs the hops of packets: write `hops = true` in `[record]`");
    }
    let longest = settings.throughput.len();
    let over = |place: usize| match settings.throughput.get(place) {
        Some(throughput) => throughput.as_bps() as f64,
        None => last.as_bps() as f64 * longest as f64 / (place + 1) as f64,
    };
    let counted = outcome.flows.iter().filter_map(|flow| flow.hops.as_ref()?.packets.as_ref());
    let (mut packets, mut sum) = (0.0, 0.0);
    for (place, &count) in counted.flat_map(|counts| counts.iter().enumerate()) {
        packets += count as f64;
        sum += count as f64 * over(place);
    }
    Ok(Expectation { expected_bps: (packets > 0.0).then(|| sum / packets) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Rate;

    fn network(more: &str) -> Network {
        let text = "duration = \"1 ns\"\n[routing]\nprotocol = \"aodv\"\n[nodes]\ncount = 3\nplacement = \"chain\"\n\
            spacing = \"30 m\"\n[[flow]]\nname = \"f\"\nfrom = \"n0\"\nto = \"n2\"\ncount = 2\n\
            traffic = { kind = \"cbr\", rate = \"8 b/s\", packet = \"100 B\" }\n";
        toml::from_str(&format!("{text}{more}")).unwrap()
    }

    #[test]
    fn every_packet_counts_with_the_throughput_over_its_hops() {
        let network = network("[record]\nhops = true\n");
        let mut outcome = sim::World::new(&network, 1).unwrap().finish();
        let settings = Bqm { throughput: vec![Rate::kbps(480), Rate::kbps(240), Rate::kbps(130)] };
        assert_eq!(of(&settings, &network, &outcome).unwrap().expected_bps, None);
        // 2 packets over one hop, 5 over two, 2 over three and 1 over four, which is not in the table: 3/4 of 130.
        for (flow, packets) in outcome.flows.iter_mut().zip([vec![2, 4, 1], vec![0, 1, 1, 1]]) {
            flow.hops.as_mut().unwrap().packets = Some(packets);
        }
        let expected = (2.0 * 480e3 + 5.0 * 240e3 + 2.0 * 130e3 + 97.5e3) / 10.0;
        let found = of(&settings, &network, &outcome).unwrap().expected_bps.unwrap();
        assert!((found - expected).abs() < 1e-6, "{found}");
    }

    #[test]
    fn what_it_needs_is_asked_for() {
        let blank = |network: &Network| sim::World::new(network, 1).unwrap().finish();
        let refused = |throughput: Vec<Rate>, network: &Network| {
            of(&Bqm { throughput }, network, &blank(network)).unwrap_err().key
        };
        assert_eq!(refused(Vec::new(), &network("[record]\nhops = true\n")), "bqm.throughput");
        assert_eq!(refused(vec![Rate::kbps(480)], &network("")), "bqm");
    }
}
