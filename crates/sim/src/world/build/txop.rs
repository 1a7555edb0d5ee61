//! Checks that TXOP limits are long enough for the frames to be sent in them.

use super::routes;
use crate::engine::{FlowId, List, NodeId, Number as _};
use crate::mac::{BROADCAST, Conventions};
use crate::net::msdu_bytes;
use crate::world::error::BuildError;
use crate::world::state::{Flow, Node, Routing};

/// A TXOP has room for one exchange of a packet (the first) of each flow that uses it, at every node of its path;
/// where the path is yet to be found, at every node.
pub(super) fn check_txop(
    flows: &[Flow],
    nodes: &List<NodeId, Node>,
    routing: &Routing,
    rules: &Conventions,
) -> Result<(), BuildError> {
    for (flow, index) in flows.iter().zip((0..).map(FlowId::at)) {
        let limit = rules.access[usize::from(flow.category)].txop_limit;
        let Some(length) = flow.supply.first() else { continue };
        // AODV may lead a flow by any node; what goes by fixed routes is sent by those on them.
        let (senders, all): (Vec<u32>, _) = match routing {
            Routing::Static(routes) => (routes::radio_hops(nodes, routes, index).map(|(from, _)| from).collect(), 0),
            Routing::Aodv(_) => (Vec::new(), nodes.len()),
        };
        let senders = senders.into_iter().chain((flow.to == BROADCAST).then_some(flow.from.into()));
        for node in senders.chain((0..).take(all)) {
            let psdu = rules.mpdu(msdu_bytes(length));
            let needs = nodes[node.into()].station.exchange_of_one(flow.to, psdu, rules);
            if limit.is_zero() || needs <= limit {
                continue;
            }
            let key = ["voice", "video", "best_effort", "background"][usize::from(flow.category)];
            let message = format!(
                "a packet of flow `{}` and its acknowledgement take {needs} at node `{}`, the TXOP of its category \
                 ends after {limit}; set `mac.edca.{key}.txop_limit` to more, or to \"0 s\" for one frame a TXOP",
                flow.identity.name,
                nodes[node.into()].name
            );
            return Err(BuildError::new(format!("mac.edca.{key}.txop_limit"), message));
        }
    }
    Ok(())
}
