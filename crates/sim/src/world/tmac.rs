//! Reads T-MAC's parameters from the description.

use super::error::BuildError;
use crate::config::{Network, TurnsVariant};
use crate::mac::{Conventions, KEY, TmacRules};
use crate::net::{msdu_bytes, network_bytes};
use units::{Bytes, Duration, refuse_if};

/// Sets T-MAC's rules if the network uses T-MAC. Frames then have a key field.
pub(super) fn set_rules(network: &Network, rules: &mut Conventions) -> Result<(), BuildError> {
    let Some(given) = &network.mac.turns else { return Ok(()) };
    let refusal = |key: &str, message: &str| Err(BuildError::new(format!("mac.turns.{key}"), message));
    refuse_if!(
        !(0.0..=1.0).contains(&given.quorum),
        refusal("quorum", "`quorum` is a share of the stations asked: it must be 0 to 1")
    );
    refuse_if!(given.attempts == 0, refusal("attempts", "`attempts` counts requests: it must be 1 to 255"));
    refuse_if!(given.neighbours == 0 || given.neighbours > 8, refusal("neighbours", "a request asks 1 to 8 stations"));
    rules.key = KEY;
    rules.timing.lengthen_responses(KEY);
    let exchange = exchange(network, rules);
    let requests = given.variant == TurnsVariant::Requests;
    let of_requests = ["turns.quorum", "turns.request_wait", "turns.activity", "turns.neighbours"];
    network.mac.marks.read_where(&[(requests, &of_requests)]);
    rules.tmac = Some(TmacRules {
        requests,
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

/// Returns the duration of the longest frame exchange: with an aggregate, or with 1500 B at the network's rate.
fn exchange(network: &Network, rules: &Conventions) -> Duration {
    let timing = &rules.timing;
    if rules.block_ack() {
        let block_ack = rules.block_ack_duration(timing.basic, &rules.agreements[rules.newest as usize]);
        return rules.aggregation.duration + timing.sifs + block_ack + timing.difs;
    }
    // Where nodes are built, an invalid rate is refused.
    let mode = network.radio.data_mode().unwrap_or(timing.basic);
    let psdu = rules.mpdu(msdu_bytes(network_bytes(Bytes::new(1_472))));
    timing.duration(mode, psdu) + timing.sifs + timing.responses(mode).ack + timing.difs
}
