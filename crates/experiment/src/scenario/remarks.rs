//! Warnings about a case that depend on its settings, so that its network cannot give them.

use super::cases::{Case, Scenario};
use sim::config::{Network, Node, Queues, Role, Standard};

impl Scenario {
    /// Warns of settings of a case that do less than they seem to.
    pub(crate) fn remarks(&self, case: &Case) -> impl Iterator<Item = String> {
        self.missed(case).into_iter().chain(band(&case.network)).chain(channel(&case.network))
    }

    /// Warns of keys of `[queue]` that this case changes but that affect no access point in any case.
    fn missed(&self, case: &Case) -> Option<String> {
        let is_scheduled = |node: &Node| matches!(node.queues, Some(Queues::Mac80211 | Queues::Turns));
        let misses = |network: &Network| {
            let mut nodes = network.node.iter().filter(|node| node.role == Role::AccessPoint).peekable();
            nodes.peek().is_some() && nodes.all(is_scheduled)
        };
        let is_missed = |key: &&String| {
            let mut with = self.cases.iter().filter(|case| case.set.contains_key(*key));
            key.starts_with("queue.") && with.all(|case| misses(&case.network))
        };
        // The setting names these access points, so it has the requested effect.
        let is_heard =
            |key: &&String| case.set[*key].trim_matches('"') == "turns" && key.as_str() == "queue.controller";
        let keys: Vec<&str> =
            case.set.keys().filter(|key| is_missed(key) && !is_heard(key)).map(String::as_str).collect();
        let name = &case.network.node.iter().find(|node| is_scheduled(node))?.name;
        (!keys.is_empty()).then(|| {
            format!(
                "{}: has no effect on packets that `{name}` sends by radio, because the node's `queues` \
                comes first; `--set node.{name}.queues=one` changes this",
                keys.join(", ")
            )
        })
    }
}

const RADAR: &str = "a band with radar (DFS): access points must first listen for radar, and leave a channel that has \
    it; this is not simulated";

/// Warns if the number of an access point's channel is in a band at 5 GHz whose rules are not simulated.
fn channel(network: &Network) -> Option<String> {
    let is_high = network.radio.frequency.is_some_and(|frequency| frequency.as_hertz() >= 5_925_000_000);
    let with_radar = |node: &&Node| matches!(node.channel, Some(52..=64 | 100..=144)) && !is_high;
    let node = network.node.iter().find(with_radar)?;
    Some(format!("node.{}.channel: {} is in {RADAR}", node.name, node.channel?))
}

/// Warns of rules that are not simulated in the band of a frequency.
fn band(network: &Network) -> Option<String> {
    let frequency = network.radio.frequency?;
    let mut standards = network.node.iter().filter_map(|node| node.standard).chain([network.radio.standard]);
    let told = match frequency.as_hertz() / 1_000_000 {
        5925..=7125 if standards.any(|standard| standard != Standard::Ax) => {
            "the 6 GHz band, where standards before 802.11ax may not send"
        }
        0..100 | 8000.. => "no band of 802.11",
        5250..=5350 | 5470..=5725 => RADAR,
        _ => return None,
    };
    Some(format!("radio.frequency: {frequency} is in {told}"))
}
