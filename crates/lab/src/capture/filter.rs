//! Selects the events of a trace: those of some flows, and those of some kinds.

use super::events::{EVENTS, name_of};
use crate::Error;
use experiment::measure::means;
use sim::trace::{Owner, Packet, Roster, TraceEvent, TraceEventKind};
use units::refuse_if;

/// Which flows and events to select; an empty list selects all.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    /// Names of flows, or the beginning of names and `*`; `routing` for packets of the routing protocol. A frame
    /// belongs to a flow if it carries a packet of the flow, an acknowledgement or a reply included. Control frames
    /// belong to no flow.
    pub flows: Vec<String>,
    /// Events with their names in the file, such as `delivered`.
    pub events: Vec<String>,
}

/// The filter with the indices of one network.
#[derive(Debug)]
pub(super) struct Sieve {
    events: Vec<String>,
    /// True for each flow that passes the filter, by index; `None` if all flows pass.
    flows: Option<Vec<bool>>,
    routing: bool,
}

impl Sieve {
    pub(super) fn new(filter: &Filter, roster: &Roster) -> Result<Self, Error> {
        const ROUTING: &str = "routing";
        for event in &filter.events {
            refuse_if!(!EVENTS.contains(&event.as_str()), Err(Error::unknown("event", event, EVENTS)));
        }
        let names = || roster.flows.iter().map(|flow| flow.name.as_str());
        for flow in &filter.flows {
            if flow != ROUTING && !names().any(|name| means(flow, name)) {
                return Err(Error::unknown("flow", flow, names()));
            }
        }
        let chosen = |name: &str| filter.flows.iter().any(|flow| means(flow, name));
        let flows = (!filter.flows.is_empty()).then(|| names().map(chosen).collect());
        Ok(Self { events: filter.events.clone(), flows, routing: chosen(ROUTING) })
    }

    pub(super) fn passes(&self, event: &TraceEvent) -> bool {
        if !self.events.is_empty() && !self.events.iter().any(|name| name == name_of(&event.what)) {
            return false;
        }
        let Some(flows) = &self.flows else { return true };
        let chosen = |flow: u32| flows.get(flow as usize).copied().unwrap_or(false);
        let ours = |packet: &Packet| match packet.of {
            Owner::Flow(flow) => chosen(flow),
            Owner::Routing => self.routing,
            Owner::Note | Owner::Null { .. } => false,
        };
        match &event.what {
            TraceEventKind::Sends(frame) | TraceEventKind::Hears(frame, _) | TraceEventKind::Spoilt(frame, _) => {
                frame.mpdus.iter().flat_map(|mpdu| &mpdu.packets).any(ours)
            }
            TraceEventKind::Queued(packet)
            | TraceEventKind::Marked(packet)
            | TraceEventKind::Dropped(packet, _)
            | TraceEventKind::Acknowledged(packet)
            | TraceEventKind::Delivered(packet, _) => ours(packet),
            TraceEventKind::Limit(_) | TraceEventKind::Note { .. } => false,
            TraceEventKind::Admission { flow, .. } => chosen(*flow),
        }
    }
}
