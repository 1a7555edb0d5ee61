//! Describes frames for traces.

use super::flows::Flow;
use super::flows::connections::Connections;
use super::nodes::Node;
use super::routing::Routing;
use crate::engine::{Arena, Bitmap, FlowId, List, NodeId};
use crate::mac::{BROADCAST, Conventions, Frame, Kind, Scoreboard};
use crate::net::{Load, Packet};
use crate::radio::Mode;
use crate::trace::{self, Mpdu};
use units::{Bytes, Duration};

/// References to the state that holds what frames contain.
#[derive(Clone, Copy)]
pub(super) struct Scene<'a> {
    pub(super) nodes: &'a List<NodeId, Node>,
    pub(super) rules: &'a Conventions,
    pub(super) packets: &'a Arena<Packet>,
    pub(super) connections: &'a Connections,
    pub(super) flows: &'a List<FlowId, Flow>,
    pub(super) routing: &'a Routing,
}

impl Scene<'_> {
    /// Describes a frame. `intact` has a bit for each MPDU.
    pub(super) fn frame(self, frame: &Frame, intact: &Bitmap) -> trace::Frame {
        let (kind, mpdus) = match frame.kind {
            Kind::Rts => (trace::Kind::Rts, Vec::new()),
            Kind::Cts | Kind::SharedCts => (trace::Kind::Cts, Vec::new()),
            Kind::Ack => (trace::Kind::Ack, Vec::new()),
            Kind::Request { asked, .. } => (trace::Kind::Request { asked }, Vec::new()),
            Kind::Grant => (trace::Kind::Grant, Vec::new()),
            Kind::BlockAckReq { start } => (trace::Kind::BlockAckReq { start }, Vec::new()),
            Kind::BlockAck { long } => {
                let station = &self.nodes[NodeId::from(frame.from)].station;
                let Scoreboard { start, arrived } = station.held.scoreboard(frame.to, frame.category);
                (trace::Kind::BlockAck { start, bitmap: arrived, long }, Vec::new())
            }
            Kind::Trigger { asks, users, .. } => (trace::Kind::Trigger { asks, users }, Vec::new()),
            Kind::MultiBlockAck { stations, whole, long } => {
                (trace::Kind::MultiBlockAck { stations, whole, long }, Vec::new())
            }
            Kind::Triggered { frames: 0, .. } => {
                let bytes = self.nodes[NodeId::from(frame.from)].queued(frame.to, frame.category, self.rules);
                let category = self.rules.category(frame.category);
                (trace::Kind::QueueSize { category, bytes }, Vec::new())
            }
            Kind::Data { .. } | Kind::Aggregate { .. } | Kind::MultiUser { .. } | Kind::Triggered { .. } => {
                (trace::Kind::Data, self.mpdus(frame, intact))
            }
        };
        let (mode, psdu, length) = self.on_the_air(frame);
        let to = (frame.to != BROADCAST).then_some(frame.to);
        trace::Frame { kind, from: frame.from, to, reserves: frame.reserves, length, mode, psdu, mpdus }
    }

    /// Returns mode, length and duration of a frame, or of a station's part of it.
    fn on_the_air(self, frame: &Frame) -> (Mode, Bytes, Duration) {
        let station = &self.nodes[NodeId::from(frame.from)].station;
        let (mode, psdu) = (frame.mode, frame.psdu(self.rules.key));
        match frame.kind {
            Kind::MultiUser { .. } => {
                let (mode, psdu) = station.held.part(frame.to).unwrap_or((mode, psdu));
                let lasts = station.downlink.as_ref().map(|downlink| downlink.duration(&station.held, self.rules));
                (mode, psdu, lasts.unwrap_or_default())
            }
            Kind::Triggered { .. } => {
                let asked = station.uplink.as_ref().and_then(|uplink| uplink.asked);
                let lasts = asked.map_or(Duration::ZERO, |round| round.lasts);
                (mode, psdu, lasts)
            }
            _ => (mode, psdu, self.rules.timing.duration(mode, psdu)),
        }
    }

    /// Returns the data frames in a frame. The sender holds them as long as the frame is in the air, except a
    /// broadcast's packet, which leaves its sender with the last bit.
    fn mpdus(self, frame: &Frame, intact: &Bitmap) -> Vec<Mpdu> {
        let category = self.rules.category(frame.category);
        let packets = |first| {
            let chain = std::iter::successors(Some(first), |&packet| self.packets.get(packet).transit.next);
            let picture = |handle| {
                let packet = self.packets.get(handle);
                let options = self.routing.picture(handle, &packet);
                let real = if let Load::Flow(flow) = packet.load { self.flows[flow].bytes(&packet) } else { None };
                trace::Packet { options, real, ..self.connections.picture(&packet) }
            };
            chain.map(picture).collect()
        };
        if let Kind::Data { packet, psdu } = frame.kind {
            let single = self.rules.agreement(frame.from, frame.to).single;
            let length = if frame.to == BROADCAST { psdu } else { psdu - single };
            let (sequence, retry, intact) = (frame.sequence, frame.retry, intact.has(0));
            return vec![Mpdu { sequence, retry, category, length, intact, packets: packets(packet) }];
        }
        let mpdus = self.nodes[NodeId::from(frame.from)].station.held.in_flight_to(frame.to).zip(0..);
        let picture = |(mpdu, index): (&crate::mac::Mpdu, usize)| Mpdu {
            sequence: mpdu.sequence,
            retry: mpdu.retry,
            category,
            length: mpdu.psdu,
            intact: intact.has(index),
            packets: packets(mpdu.packet),
        };
        mpdus.map(picture).collect()
    }
}
