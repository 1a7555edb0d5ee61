//! Frames of nodes on channels of their own: how wide they are.

use crate::config::{Bandwidth, ChannelWidth};
use crate::engine::{Handle, NodeId};
use crate::mac::{Asks, Frame, Kind};
use crate::radio::{Mode, Shape};
use crate::world::state::World;

impl World {
    /// Settles the width of a TXOP that a node has won. False if it has to wait for secondary channels.
    #[cold]
    pub(super) fn settles_width(&mut self, node: NodeId) -> bool {
        if !self.nodes[node].station.has_won() {
            return true;
        }
        let idle = self.medium.idle_width(node.into(), self.now);
        let station = &mut self.nodes[node].station;
        let wanted = station.wanted_width().unwrap_or_else(|| self.medium.width(node.into()));
        if self.rules.bandwidth == Some(Bandwidth::Static) && idle < wanted {
            station.begins_later(self.now, &self.rules);
            // Another category may have given up a frame in an internal collision.
            self.finish_frames(node);
            self.serve(node);
            return false;
        }
        station.rates.limit(idle);
        self.medium.begin_txop(node.into());
        true
    }

    /// A frame in the channels that it takes: those of its mode, or of the data or the frame that it goes with.
    #[cold]
    pub(super) fn in_band(&self, node: NodeId, frame: &Frame, shape: Shape) -> Shape {
        let width = match (frame.mode, frame.kind) {
            (Mode::Mimo(mode), _) | (_, Kind::Trigger { response: Mode::Mimo(mode), .. }) => mode.width(),
            (_, Kind::Cts) if frame.to == frame.from => self.nodes[node].station.exchange_width(&self.rules),
            (
                _,
                Kind::Rts | Kind::BlockAckReq { .. } | Kind::Request { .. } | Kind::Trigger { asks: Asks::Clear, .. },
            ) => self.nodes[node].station.exchange_width(&self.rules),
            (_, Kind::Cts) => self.medium.answerable_width(node.into()),
            (_, Kind::SharedCts | Kind::Ack | Kind::BlockAck { .. } | Kind::MultiBlockAck { .. } | Kind::Grant) => {
                self.medium.heard_width(node.into())
            }
            _ => ChannelWidth::Mhz20,
        };
        let responds = match frame.kind {
            Kind::Cts => frame.to != frame.from,
            Kind::SharedCts | Kind::Ack | Kind::BlockAck { .. } | Kind::Triggered { .. } | Kind::Grant => true,
            _ => false,
        };
        let limited = self.medium.limits(node.into(), responds);
        Shape { width: width.min(self.medium.width(node.into())), limited, ..shape }
    }

    /// The listeners of a frame know its colour: some ignore the rest.
    #[inline(never)]
    pub(crate) fn colour(&mut self, of: Handle) {
        let mut index = 0;
        while let Some((node, turned_idle)) = self.medium.ignores(of, &mut index, self.now) {
            let node = NodeId::from(node);
            let answer = self.nodes[node].station.ignores(self.now, &self.rules);
            self.count_outcome(node, answer);
            if turned_idle {
                self.nodes[node].station.turned_idle(self.now, &self.rules);
            }
            self.serve(node);
        }
    }

    /// True if a node may answer a trigger: all of the channel in which it would is idle. A CTS says which of the channels of
    /// an RTS are; after a MU-RTS, and with static bandwidth, there is none unless all are.
    #[cold]
    pub(super) fn may_answer(&mut self, node: NodeId, frame: &Frame) -> bool {
        let idle = match (frame.kind, frame.mode) {
            (kind @ (Kind::Cts | Kind::SharedCts), _)
                if matches!(kind, Kind::SharedCts) || self.rules.bandwidth == Some(Bandwidth::Static) =>
            {
                self.medium.answerable_width(node.into()) == self.medium.heard_width(node.into())
            }
            (Kind::Triggered { .. }, Mode::Mimo(mode)) => {
                let quiet = self.medium.is_quiet(node.into(), mode.width());
                if quiet {
                    self.nodes[node].station.rates.limit(mode.width());
                }
                quiet
            }
            _ => true,
        };
        if !idle {
            self.nodes[node].station.withholds(self.now, &self.rules);
            self.arm(node);
        }
        idle
    }

    /// A node that has got its CTS sends its data, and the rest of its TXOP, no wider than that.
    #[cold]
    pub(super) fn narrow(&mut self, node: NodeId) {
        let width = self.medium.heard_width(node.into());
        self.nodes[node].station.narrow_to(width, &self.rules);
    }
}
