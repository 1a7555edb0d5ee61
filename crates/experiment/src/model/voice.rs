//! The E-model (crate `theory`) for a run: how users would rate its calls.

use super::{Fault, described};
use crate::measure::means;
use crate::study::{Call, Voice};
use sim::config::{Network, TrafficKind};
use sim::results::{Flow, FlowDistribution, Outcome, shares};
use theory::emodel::{G711_CONCEALED, rating};
use units::Duration;

/// Length of speech in a packet if the flow does not set it.
const PACKETISATION: Duration = Duration::from_millis(20);

/// Returns the ratings of the calls in a run of `network`. Errors: a name is not that of a call, or the runs have no
/// distributions of delays.
pub(super) fn of(settings: &Voice, network: &Network, outcome: &Outcome) -> Result<Vec<Call>, Fault> {
    let Some(distributions) = &outcome.distributions else {
        let message = "ratings need the distribution of delays: write `distributions = true` in `[record]`".to_owned();
        return Err(Fault { key: "voice", message });
    };
    let named = outcome.flows.iter().zip(&distributions.flows).filter(|(flow, _)| means(&settings.flows, &flow.name));
    let calls: Vec<Call> =
        named.filter_map(|(flow, delays)| Some(call(packetisation(network, flow)?, flow, delays))).collect();
    if calls.is_empty() {
        let message = format!("no flow with traffic of kind `voice` is called `{}`", settings.flows);
        return Err(Fault { key: "voice.flows", message });
    }
    Ok(calls)
}

/// Returns the length of speech in a packet of a flow; `None` if the flow is no call.
fn packetisation(network: &Network, flow: &Flow) -> Option<Duration> {
    let traffic = &described(network, flow)?.traffic;
    (traffic.kind == TrafficKind::Voice).then(|| traffic.packetisation.unwrap_or(PACKETISATION))
}

/// Rates a call whose receiver plays each packet at a fixed time after it was sent. The time is the one with the best
/// rating: with a longer time more packets arrive soon enough, with a shorter one speech is heard sooner. Packets in
/// flight at the end are not counted.
fn call(packetisation: Duration, flow: &Flow, delays: &FlowDistribution) -> Call {
    let judged = flow.sent_packets.saturating_sub(flow.in_flight_packets).max(flow.received_packets);
    let arrived = flow.received_packets as f64 / judged as f64;
    let played = shares().into_iter().zip(&delays.delay_s).map(|(share, &delay_s)| {
        let missing = 1.0 - share * arrived;
        (rating(packetisation + Duration::from_secs_f64(delay_s), missing, G711_CONCEALED), delay_s, missing)
    });
    let best = played.max_by(|one, other| one.0.total_cmp(&other.0));
    Call {
        name: flow.name.clone(),
        rating: best.map(|(rating, ..)| rating),
        playout_s: best.map(|(_, delay_s, _)| delay_s),
        missing_ratio: best.map(|(.., missing)| missing),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn network(traffic: &str, more: &str) -> Network {
        let text = format!(
            "duration = \"1 ns\"\n[nodes]\ncount = 2\nplacement = \"chain\"\nspacing = \"10 m\"\n[[flow]]\nname = \"call\"\n\
             from = \"n0\"\nto = \"n1\"\ncount = 2\ntraffic = {{ {traffic} }}\n{more}"
        );
        toml::from_str(&text).unwrap()
    }

    const RECORD: &str = "[record]\ndistributions = true\n";

    fn rated(network: &Network, judged: (u64, u64, u64), delay_s: Vec<f64>) -> Vec<Call> {
        let mut outcome = sim::World::new(network, 1).unwrap().finish();
        let flow = &mut outcome.flows[1];
        (flow.sent_packets, flow.received_packets, flow.in_flight_packets) = judged;
        outcome.distributions.as_mut().unwrap().flows[1].delay_s = delay_s;
        of(&Voice { flows: "call*".to_owned() }, network, &outcome).unwrap()
    }

    fn near(found: Option<f64>, expected: f64) {
        assert!(found.is_some_and(|found| (found - expected).abs() < 1e-9), "{found:?}, expected {expected}");
    }

    #[test]
    fn a_call_is_played_when_it_is_best() {
        // All packets take 30 ms, except one in a hundred (1 s): leaving it out costs 3.6, waiting for it more than 50.
        let calls = rated(&network("kind = \"voice\"", RECORD), (100, 100, 0), {
            let late = shares().into_iter().map(|share| if share > 0.99 { 1.0 } else { 0.03 });
            late.collect()
        });
        assert_eq!(calls.iter().map(|call| call.name.as_str()).collect::<Vec<_>>(), ["call-1", "call-2"]);
        assert_eq!(calls[0].rating, None, "nothing arrived");
        near(calls[1].playout_s, 0.03);
        near(calls[1].missing_ratio, 0.01);
        // 20 ms of speech fill a packet.
        near(calls[1].rating, rating(Duration::from_millis(50), 0.01, G711_CONCEALED));
    }

    #[test]
    fn lost_packets_are_missing_and_those_on_their_way_are_not() {
        let network = network("kind = \"voice\", packetisation = \"40 ms\"", RECORD);
        let calls = rated(&network, (1_000, 950, 40), vec![0.01; shares().len()]);
        near(calls[1].missing_ratio, 10.0 / 960.0);
        near(calls[1].rating, rating(Duration::from_millis(50), 10.0 / 960.0, G711_CONCEALED));
    }

    #[test]
    fn what_it_needs_is_asked_for() {
        let refused = |network: &Network, flows: &str| {
            let outcome = sim::World::new(network, 1).unwrap().finish();
            of(&Voice { flows: flows.to_owned() }, network, &outcome).unwrap_err().key
        };
        let cbr = "kind = \"cbr\", rate = \"64 kb/s\", packet = \"160 B\"";
        assert_eq!(refused(&network("kind = \"voice\"", ""), "call*"), "voice");
        assert_eq!(refused(&network("kind = \"voice\"", RECORD), "cal"), "voice.flows");
        assert_eq!(refused(&network(cbr, RECORD), "call*"), "voice.flows");
    }
}
