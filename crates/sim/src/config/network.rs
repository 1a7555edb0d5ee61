//! The whole description: all tables of a network.

use super::{
    Attachment, CategoryQueues, ClassQueues, Consumption, Flow, Mac, Mobility, Node, Placement, Radio, Record, Routing,
    Tcp, Wired,
};
use queue::Settings as Queue;
use serde::{Deserialize, Serialize};
use units::Duration;

/// A network and how long to run it.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Network {
    /// Simulated time, warm-up included.
    #[serde(deserialize_with = "units::positive")]
    pub duration: Duration,
    /// Results count only what happens after this much simulated time.
    #[serde(default)]
    pub warmup: Duration,
    /// The physical layer and the way that signals weaken.
    #[serde(default)]
    pub radio: Radio,
    /// The medium access control of every node.
    #[serde(default)]
    pub mac: Mac,
    /// How packets find their way.
    #[serde(default)]
    pub routing: Routing,
    /// How nodes move.
    #[serde(default)]
    pub mobility: Mobility,
    /// Nodes placed by rule, named `n0`, `n1`, ... They come before those of `[[node]]`.
    #[serde(default)]
    pub nodes: Option<Placement>,
    /// Nodes placed one by one.
    #[serde(default)]
    pub node: Vec<Node>,
    /// Links beside the radio.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub wired: Vec<Wired>,
    /// The queue of every node; `[node.queue]` overrides it key by key.
    #[serde(default)]
    pub queue: Queue,
    /// EDCA: the queues of access categories, where they differ from `[queue]` and `[node.queue]`, key by key;
    /// `[node.category_queue]` overrides them.
    #[serde(default, skip_serializing_if = "CategoryQueues::is_default")]
    pub category_queue: CategoryQueues,
    /// Without EDCA: every node with a radio has a queue for each service class, and the packets of class `real-time` go
    /// first. They differ from `[queue]` and `[node.queue]` key by key; `[node.class_queue]` overrides them. Without this
    /// table all classes share one queue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class_queue: Option<ClassQueues>,
    /// What nodes draw. Left out, no joules are counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub consumption: Option<Consumption>,
    /// TCP, for the flows with `transport = "tcp"`; `[flow.tcp]` overrides it key by key.
    #[serde(default, skip_serializing_if = "Tcp::is_default")]
    pub tcp: Tcp,
    /// The traffic.
    #[serde(default)]
    pub flow: Vec<Flow>,
    /// What to record besides totals.
    #[serde(default)]
    pub record: Record,
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
