//! Widths of frames in networks whose nodes have their own channels.

use crate::config::{Bandwidth, ChannelWidth};
use crate::engine::{Handle, NodeId};
use crate::mac::{Asks, Conventions, Frame, Kind};
use crate::radio::{Medium, Mode, Shape};
use crate::world::nodes::Node;
use crate::world::state::World;
use units::Instant;

impl Node {
    /// Decides the width of a TXOP that this node has won. False if the node has to wait for secondary channels; one of
    /// its other categories may then have given up a frame after an internal collision. In all functions of this
    /// module, `node` is the node's own number.
    #[cold]
    pub(super) fn settles_width(
        &mut self,
        node: NodeId,
        medium: &mut Medium<Frame>,
        now: Instant,
        rules: &Conventions,
    ) -> bool {
        let widths = [medium.idle_width(node.into(), now), medium.width(node.into())];
        let begins = self.station.settles_width(now, widths, rules);
        if begins == Some(true) {
            medium.begin_txop(node.into());
        }
        begins != Some(false)
    }

    /// Sets the channels of a frame of this node: those of its mode, or of the data or frame to which it belongs.
    #[cold]
    pub(super) fn in_band(
        &self,
        node: NodeId,
        frame: &Frame,
        shape: Shape,
        medium: &Medium<Frame>,
        rules: &Conventions,
    ) -> Shape {
        let width = match (frame.mode, frame.kind) {
            (Mode::Mimo(mode), _) | (_, Kind::Trigger { response: Mode::Mimo(mode), .. }) => mode.width(),
            (_, Kind::Cts) if frame.to == frame.from => self.station.exchange_width(rules),
            (
                _,
                Kind::Rts | Kind::BlockAckReq { .. } | Kind::Request { .. } | Kind::Trigger { asks: Asks::Clear, .. },
            ) => self.station.exchange_width(rules),
            (_, Kind::Cts) => medium.answerable_width(node.into()),
            (_, Kind::SharedCts | Kind::Ack | Kind::BlockAck { .. } | Kind::MultiBlockAck { .. } | Kind::Grant) => {
                medium.heard_width(node.into())
            }
            _ => ChannelWidth::Mhz20,
        };
        let responds = match frame.kind {
            Kind::Cts => frame.to != frame.from,
            Kind::SharedCts | Kind::Ack | Kind::BlockAck { .. } | Kind::Triggered { .. } | Kind::Grant => true,
            _ => false,
        };
        let limited = medium.limits(node.into(), responds);
        Shape { width: width.min(medium.width(node.into())), limited, ..shape }
    }

    /// True if the node may answer a trigger: the whole channel of its answer is idle. A CTS after an RTS reports the
    /// idle channels. After a MU-RTS, and with static bandwidth, a CTS is sent only if all channels are idle.
    #[cold]
    pub(super) fn may_answer(
        &mut self,
        node: NodeId,
        frame: &Frame,
        medium: &Medium<Frame>,
        now: Instant,
        rules: &Conventions,
    ) -> bool {
        let idle = match (frame.kind, frame.mode) {
            (kind @ (Kind::Cts | Kind::SharedCts), _)
                if matches!(kind, Kind::SharedCts) || rules.bandwidth == Some(Bandwidth::Static) =>
            {
                medium.answerable_width(node.into()) == medium.heard_width(node.into())
            }
            (Kind::Triggered { .. }, Mode::Mimo(mode)) => {
                let quiet = medium.is_quiet(node.into(), mode.width());
                if quiet {
                    self.station.rates.limit(mode.width());
                }
                quiet
            }
            _ => true,
        };
        if !idle {
            self.station.withholds(now, rules);
        }
        idle
    }
}

impl World {
    /// Handles the time at which listeners know a frame's BSS colour, so that some ignore the rest of the frame.
    #[inline(never)]
    pub(crate) fn colour(&mut self, of: Handle) {
        let mut index = 0;
        while let Some((node, turned_idle)) = self.medium.ignores(of, &mut index, self.now) {
            let node = NodeId::from(node);
            let answer = self.nodes[node].station.missed_response(self.now, &self.rules);
            self.count_outcome(node, answer);
            if turned_idle {
                self.nodes[node].station.turned_idle(self.now, &self.rules);
            }
            self.serve(node);
        }
    }
}
