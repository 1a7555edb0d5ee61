//! The whole description: all tables of a network.

use super::{
    Access, Attachment, CategoryQueues, ClassQueues, Consumption, Flow, Mac, Marks, Mobility, MostBytes, Node,
    Placement, Radio, Role, Routing, Standard, Tcp, Wired,
};
use queue::Settings as Queue;
use std::borrow::Cow;
use units::{Bytes, Duration, Length, apply, settings, table};

/// A network and how long to run it.
#[apply(table)]
pub struct Network {
    /// Simulated time, warm-up included.
    #[serde(deserialize_with = "units::positive")]
    pub duration: Duration,
    /// Initial time without results.
    #[serde(default)]
    pub warmup: Duration,
    /// Physical layer and propagation.
    #[serde(default)]
    pub radio: Radio,
    /// Medium access of every node.
    #[serde(default)]
    pub mac: Mac,
    /// Routing.
    #[serde(default)]
    pub routing: Routing,
    /// Movement.
    #[serde(default)]
    pub mobility: Mobility,
    /// Nodes `n0`, `n1`, ..., placed by a rule; they come before those of `[[node]]`.
    pub nodes: Option<Placement>,
    /// Nodes placed one by one.
    #[serde(default)]
    pub node: Vec<Node>,
    /// Wired links.
    #[serde(default)]
    pub wired: Vec<Wired>,
    /// Queue of every node; `[node.queue]` overrides it key by key.
    #[serde(default)]
    pub queue: Queue,
    /// EDCA: overrides of `[queue]` and `[node.queue]` per access category, overridden by `[node.category_queue]`.
    #[serde(default)]
    pub category_queue: CategoryQueues,
    /// Without EDCA: a queue per service class at every node with a radio, `real-time` first; by default all classes
    /// share one queue. Overrides `[queue]` and `[node.queue]`; overridden by `[node.class_queue]`.
    pub class_queue: Option<ClassQueues>,
    /// Power draw of radios.
    pub consumption: Option<Consumption>,
    /// TCP parameters; `[flow.tcp]` overrides them key by key.
    #[serde(default)]
    pub tcp: Tcp,
    /// Traffic.
    #[serde(default)]
    pub flow: Vec<Flow>,
    /// Records besides totals.
    #[serde(default)]
    pub record: Record,
    /// Settings read so far.
    #[serde(skip)]
    pub marks: Marks,
}

impl Network {
    /// The files that the scenario names, each with the path of its key: `flow.call.traffic.file`.
    pub fn attachments(&mut self) -> Vec<(String, &mut Attachment)> {
        let movements = self.mobility.file.as_mut().map(|file| ("mobility.file".to_owned(), file));
        let recordings = self.flow.iter_mut().filter_map(|flow| {
            let file = flow.traffic.file.as_mut()?;
            Some((format!("flow.{}.traffic.file", flow.name), file))
        });
        movements.into_iter().chain(recordings).collect()
    }

    /// True if a table with a count of 0 has names that begin like this: a pattern may then match no node.
    pub(crate) fn may_have_none(&self, beginning: &str) -> bool {
        let none = self.node.iter().filter(|node| node.count == Some(0)).map(|node| node.name.as_str());
        let placed = self.nodes.as_ref().filter(|nodes| nodes.count == 0).map(|_| "n");
        none.chain(placed).any(|name| name.starts_with(beginning) || beginning.starts_with(name))
    }

    /// The same network, whose radio knows whether 802.11b stations are next to those of newer standards.
    pub(crate) fn of_generations(&self) -> Cow<'_, Self> {
        let old = |node: &Node| node.standard == Some(Standard::B) && node.role != Role::Wired;
        if self.radio.standard == Standard::B || !self.radio.is_low_band() || !self.node.iter().any(old) {
            return Cow::Borrowed(self);
        }
        Cow::Owned(Self { radio: Radio { beside_b: true, ..self.radio.clone() }, ..self.clone() })
    }

    /// The access method: by default as devices of the standard.
    pub fn access(&self) -> Access {
        self.mac.access.unwrap_or(if self.radio.standard.high_throughput() { Access::Edca } else { Access::Dcf })
    }

    /// Longest A-MPDU; the default is what devices of the standard support.
    pub fn ampdu(&self) -> MostBytes {
        self.mac.aggregation.ampdu.unwrap_or(match (self.radio.standard, self.access()) {
            (Standard::N, Access::Edca) => MostBytes::UpTo(Bytes::new(65_535)),
            (Standard::Ac, Access::Edca) => MostBytes::UpTo(Bytes::new(1_048_575)),
            (Standard::Ax, Access::Edca) => MostBytes::UpTo(Bytes::new(4_194_303)),
            _ => MostBytes::Off,
        })
    }

    /// The same network without a controller at any queue.
    #[must_use]
    pub fn without_controllers(mut self) -> Self {
        let classes = self.class_queue.iter_mut().flat_map(ClassQueues::described);
        let all = std::iter::once(&mut self.queue).chain(self.category_queue.described()).chain(classes);
        let of_nodes = self.node.iter_mut().flat_map(|node| {
            let several = node.category_queue.described().chain(node.class_queue.described());
            node.queue.iter_mut().chain(several)
        });
        let of_wires = self.wired.iter_mut().map(|wired| &mut wired.queue);
        for queue in all.chain(of_nodes).chain(of_wires) {
            queue.controller = control::Name::None;
        }
        self
    }
}

/// Records besides totals.
#[apply(settings)]
pub struct Record {
    /// Time between two points of a time series. Only a case's first seed records series, unless a claim needs more.
    /// Default: none.
    #[serde(deserialize_with = "units::positive")]
    pub series: Option<Duration>,
    /// Distributions of the delays of flows and queues, for charts with `x = "cdf"`.
    pub distributions: bool,
    /// Length of an overflow, such as a round-trip time: drops within this time after the first drop belong to the same
    /// overflow. Default: no record.
    #[serde(deserialize_with = "units::positive")]
    pub overflows: Option<Duration>,
    /// Records packet reception ratios of broadcast flows, in classes of distance of this width. Default: no record.
    #[serde(deserialize_with = "units::positive")]
    pub reception: Option<Length>,
    /// Packets by number of hops, with a routing protocol.
    pub hops: bool,
    /// Packets in flight at the end count as lost, pings whose reply is lost do not, as in documents that define
    /// loss as 1 - received / sent.
    pub in_flight_lost: bool,
}
