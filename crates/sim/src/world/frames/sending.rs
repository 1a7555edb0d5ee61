//! Counts of the frames that a node sends.

use crate::engine::{Arena, FlowId, Handle, List};
use crate::mac::{Announced, Answer, Asks, BROADCAST, Conventions, Frame, Kind, Unanswered};
use crate::net::{Load, Packet};
use crate::record::NodeRecord;
use crate::results::Mac;
use crate::world::flows::Flow;
use crate::world::nodes::Node;
use units::{Duration, Instant};

/// How a frame counts at its sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sort {
    /// An answer to another station's frame, without data.
    Response,
    /// A frame without data that is not an answer.
    Control,
    /// A frame with a broadcast packet.
    Broadcast,
    /// A frame with this packet.
    Packet(Handle),
    /// Frames for one station. The sender holds them until the answer is due.
    Held,
    /// Frames for several stations side by side. The sender holds them.
    Parts,
}

impl Node {
    /// Counts a frame that the node begins to send. Returns how it counts, and its duration if it is already known or
    /// depends on more than mode and length.
    #[inline]
    pub(super) fn begins(&mut self, frame: &Frame, now: Instant, rules: &Conventions) -> (Sort, Option<Duration>) {
        let NodeRecord { mac, block_ack_requests, requests, grants, .. } = &mut self.record;
        let Mac { attempts, rts_attempts, .. } = mac;
        let (count, sort) = match frame.kind {
            Kind::Ack => {
                // ACKs are half of all frames.
                let lasts = (frame.mode == rules.timing.basic).then(|| rules.timing.responses(frame.mode).ack);
                return (Sort::Response, lasts);
            }
            Kind::Cts | Kind::SharedCts | Kind::BlockAck { .. } => (None, Sort::Response),
            Kind::Grant => (Some(grants), Sort::Response),
            Kind::Rts | Kind::Trigger { asks: Asks::Clear, .. } => (Some(rts_attempts), Sort::Control),
            Kind::BlockAckReq { .. } => (Some(block_ack_requests), Sort::Control),
            Kind::Request { .. } => (Some(requests), Sort::Control),
            Kind::Trigger { .. } | Kind::MultiBlockAck { .. } => (None, Sort::Control),
            Kind::Data { .. } if frame.to == BROADCAST => (None, Sort::Broadcast),
            Kind::Data { packet, .. } => (Some(attempts), Sort::Packet(packet)),
            Kind::Aggregate { .. } => (Some(attempts), Sort::Held),
            Kind::Triggered { frames, .. } => {
                *attempts += u64::from(frames > 0);
                let lasts = self.station.uplink.as_ref().and_then(|uplink| uplink.asked).map(|round| round.lasts);
                return (if frames > 0 { Sort::Held } else { Sort::Control }, lasts);
            }
            Kind::MultiUser { .. } => return (Sort::Parts, Some(self.count_parts(frame, now, rules))),
        };
        if let Some(count) = count {
            *count += 1;
        }
        (sort, None)
    }

    /// Counts the outcome of the station's own frames.
    #[inline(never)]
    pub(super) fn count_own(&mut self, now: Instant, answer: &Answer) {
        let Self { record, egress, station, .. } = self;
        if let Some(Announced { to, category, airtime }) = answer.announced {
            // A driver reports each attempt, and mac80211 charges each with the whole frame.
            egress.on_air(now, to, category, false, || airtime);
        }
        match answer.failed {
            Some(Unanswered::Data) => record.mac.collisions += 1,
            Some(Unanswered::Rts) => record.unanswered_rts += 1,
            Some(Unanswered::BlockAckReq) | None => {}
        }
        if let Some(report) = answer.report {
            record.mpdus += u64::from(report.sent);
            record.lost_mpdus += u64::from(report.sent - report.acknowledged);
            station.rates.learn(now, report);
        }
    }
}

/// Counts the sending of a data frame's packets.
#[inline]
pub(super) fn count_transmission(
    first: Handle,
    packets: &mut Arena<Packet>,
    flows: &mut List<FlowId, Flow>,
    warmup: Instant,
) {
    let mut next = Some(first);
    while let Some(handle) = next {
        let packet = packets.get_mut(handle);
        next = packet.transit.next;
        packet.transmissions = packet.transmissions.saturating_add(1);
        if let Load::Flow(flow) = packet.load
            && packet.created >= warmup
        {
            flows[flow].record.transmissions += 1;
        }
    }
}
