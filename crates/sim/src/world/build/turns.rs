//! The order of age among stations.

use crate::config::{Network, TurnsVariant};
use crate::mac::{AgeRules, Conventions, KEY};
use crate::net::{msdu_bytes, network_bytes};
use crate::radio::ACK;
use crate::world::error::BuildError;
use units::{Bytes, Duration};

/// Stations order themselves by the age of their packets, where the network asks for it: their frames carry keys then.
pub(super) fn order(network: &Network, rules: &mut Conventions) -> Result<(), BuildError> {
    let Some(given) = &network.mac.turns else { return Ok(()) };
    let refusal = |key: &str, message: &str| Err(BuildError::new(format!("mac.turns.{key}"), message));
    if !(0.0..=1.0).contains(&given.quorum) {
        return refusal("quorum", "`quorum` is a part of those asked: 0 to 1");
    }
    if given.attempts == 0 {
        return refusal("attempts", "`attempts` counts requests: 1 to 255");
    }
    if given.neighbours == 0 || given.neighbours > 8 {
        return refusal("neighbours", "a request asks 1 to 8 stations");
    }
    rules.key = KEY;
    rules.timing.ack = rules.timing.duration(rules.timing.basic, ACK + KEY);
    let exchange = exchange(network, rules);
    rules.turns = Some(AgeRules {
        requests: given.variant == TurnsVariant::Requests,
        quorum: given.quorum,
        attempts: given.attempts,
        request_wait: given.request_wait.unwrap_or(exchange * 2),
        deferral: given.deferral.unwrap_or(exchange),
        expiry: given.expiry.unwrap_or(exchange * 10),
        activity: given.activity,
        neighbours: given.neighbours.into(),
    });
    Ok(())
}

/// How long the longest frame exchange takes: of an aggregate, or of a packet of 1500 B at the network's rate.
fn exchange(network: &Network, rules: &Conventions) -> Duration {
    let timing = &rules.timing;
    if rules.block_ack() {
        return rules.aggregation.duration + timing.sifs + rules.block_ack_time() + timing.difs;
    }
    // A rate that is refused is refused where nodes are built.
    let mode = network.radio.data_mode().unwrap_or(timing.basic);
    let psdu = rules.mpdu(msdu_bytes(network_bytes(Bytes::new(1_472))));
    timing.duration(mode, psdu) + timing.sifs + timing.ack + timing.difs
}
