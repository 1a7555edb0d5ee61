//! Frames of nodes on channels of their own: how wide they are.

use crate::config::{Bandwidth, ChannelWidth};
use crate::engine::{Handle, NodeId};
use crate::mac::{Asks, Conventions, Frame, Kind};
use crate::radio::{Medium, Mode, Shape};
use crate::world::nodes::Node;
use crate::world::state::World;
use units::Instant;

impl Node {
    /// Settles the width of a TXOP that it has won. False if it has to wait for secondary channels; another category may
    /// then have given up a frame in an internal collision. `node`, here and below: its own number.
    #[cold]
    pub(super) fn settles_width(
        &mut self,
        node: NodeId,
        medium: &mut Medium<Frame>,
        now: Instant,
        rules: &Conventions,
    ) -> bool {
        let station = &mut self.station;
        if !station.has_won() {
            return true;
        }
        let idle = medium.idle_width(node.into(), now);
        let wanted = station.wanted_width().unwrap_or_else(|| medium.width(node.into()));
        if rules.bandwidth == Some(Bandwidth::Static) && idle < wanted {
            station.begins_later(now, rules);
            return false;
        }
        station.rates.limit(idle);
        medium.begin_txop(node.into());
        true
    }

    /// Its frame in the channels that it takes: those of its mode, or of the data or the frame that it goes with.
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

    /// True if it may answer a trigger: all of the channel in which it would is idle. A CTS says which of the channels of
    /// an RTS are; after a MU-RTS, and with static bandwidth, there is none unless all are.
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
}
