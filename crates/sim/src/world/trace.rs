//! Tells what happens at the nodes that are watched.

use super::World;
use crate::engine::Handle;
use crate::mac::{BROADCAST, Frame, Kind};
use crate::net::{Load, Loss, Packet};
use crate::radio::{Heard, Signal};
use crate::trace::{self, Cause, Event, Mpdu, Owner, Roster, RosterFlow, RosterNode, What};
use units::{Instant, Power};

/// The nodes that are watched, and what happened there since the last call of [`World::take_events`].
#[derive(Debug, Default)]
pub(super) struct Watch {
    nodes: Vec<bool>,
    events: Vec<Event>,
}

impl Watch {
    fn watches(&self, node: u32) -> bool {
        self.nodes[node as usize]
    }
}

/// Sees what happens at a node at a moment.
pub(super) struct Witness<'a> {
    pub(super) watch: &'a mut Option<Box<Watch>>,
    pub(super) now: Instant,
    pub(super) node: u32,
}

impl Witness<'_> {
    /// Tells it, if the node is watched.
    #[inline]
    pub(super) fn saw(&mut self, what: impl FnOnce() -> What) {
        if let Some(watch) = self.watch
            && watch.watches(self.node)
        {
            watch.events.push(Event { at: self.now, node: self.node, what: what() });
        }
    }
}

impl World {
    /// Tells all that happens at `nodes` (by their place in the scenario) from now on; see
    /// [`take_events`](Self::take_events). What is not taken grows with time.
    pub fn watch(&mut self, nodes: &[u32]) {
        let mut watch = Watch { nodes: vec![false; self.nodes.len()], ..Watch::default() };
        for &node in nodes {
            if let Some(watched) = watch.nodes.get_mut(node as usize) {
                *watched = true;
            }
        }
        self.watch = Some(Box::new(watch));
    }

    /// What happened since the last call at the nodes that are watched.
    pub fn take_events(&mut self) -> Vec<Event> {
        self.watch.as_mut().map(|watch| std::mem::take(&mut watch.events)).unwrap_or_default()
    }

    /// Who takes part.
    pub fn roster(&self) -> Roster {
        let node = |node: &super::Node| RosterNode { name: node.name.clone(), access_point: false };
        let flow = |flow: &super::Flow| RosterFlow {
            name: flow.identity.name.clone(),
            from: flow.from,
            to: (flow.to != BROADCAST).then_some(flow.to),
        };
        Roster {
            nodes: self.nodes.iter().map(node).collect(),
            flows: self.flows.iter().map(flow).collect(),
            frequency: self.frequency,
        }
    }

    /// A node begins to send.
    #[inline]
    pub(super) fn note_sent(&mut self, node: u32, frame: &Frame) {
        if self.watch.as_ref().is_some_and(|watch| watch.watches(node)) {
            let what = What::Sends(self.picture(frame));
            self.report(self.now, node, what);
        }
    }

    /// A frame has passed a listener.
    #[inline]
    pub(super) fn note_heard(&mut self, of: Handle, heard: &Heard<Frame>) {
        if self.watch.as_ref().is_some_and(|watch| watch.watches(heard.node)) {
            self.picture_heard(of, heard);
        }
    }

    fn picture_heard(&mut self, of: Handle, heard: &Heard<Frame>) {
        let frame = self.medium.frame(of);
        let picture = self.picture(&frame);
        let power = Power::watts(heard.power as f64 * 1e-18);
        let what = match heard.what {
            Signal::Good(..) => What::Hears(picture, power),
            Signal::Bad { header_read: true } => What::Spoilt(picture, power),
            Signal::Bad { header_read: false } | Signal::Noise | Signal::Nothing => return,
        };
        let length = self.rules.timing.duration(frame.mode, frame.psdu());
        let start = Instant::ZERO + (self.now.since(Instant::ZERO) - length);
        self.report(start, heard.node, what);
    }

    fn report(&mut self, at: Instant, node: u32, what: What) {
        if let Some(watch) = &mut self.watch {
            watch.events.push(Event { at, node, what });
        }
    }

    fn picture(&self, frame: &Frame) -> trace::Frame {
        let (kind, mpdus) = match frame.kind {
            Kind::Rts => (trace::Kind::Rts, Vec::new()),
            Kind::Cts => (trace::Kind::Cts, Vec::new()),
            Kind::Ack => (trace::Kind::Ack, Vec::new()),
            Kind::Data { packet, psdu } => {
                let mpdu = Mpdu {
                    sequence: frame.sequence,
                    retry: frame.retry,
                    category: self.rules.category(frame.category),
                    length: psdu,
                    intact: true,
                    packets: vec![self.packets.get(packet).picture()],
                };
                (trace::Kind::Data, vec![mpdu])
            }
        };
        trace::Frame {
            kind,
            from: frame.from,
            to: (frame.to != BROADCAST).then_some(frame.to),
            reserves: frame.reserves,
            length: self.rules.timing.duration(frame.mode, frame.psdu()),
            mode: frame.mode,
            mpdus,
        }
    }
}

impl Packet {
    /// The packet, as it is told.
    pub(super) fn picture(&self) -> trace::Packet {
        let of = match self.load {
            Load::Flow(flow) => Owner::Flow(flow),
            Load::Routing { .. } => Owner::Routing,
        };
        trace::Packet { id: u64::from(self.serial), of, length: self.length }
    }
}

impl From<Loss> for Cause {
    fn from(loss: Loss) -> Self {
        match loss {
            Loss::Queue => Self::Queue,
            Loss::Retries => Self::Retries,
            Loss::NoRoute => Self::NoRoute,
            Loss::Buffer => Self::Buffer,
            Loss::Link => Self::Link,
            Loss::Ttl => Self::Ttl,
        }
    }
}
