//! Nodes: by rule and one by one, each with its queue and station.

use super::super::{BuildError, Node, Queue};
use crate::config::{Network, Placement, Shape};
use crate::engine::{Purpose, Stream};
use crate::mac::{Conventions, Station};
use crate::record::{NodeRecord, QueueRecord};
use units::{Instant, Length};

/// A node as described; its position is none where the model of mobility places it.
pub(super) use crate::config::Node as Site;

/// All nodes: those placed by rule, then those placed one by one.
pub(super) fn sites(network: &Network) -> Result<Vec<Site>, BuildError> {
    let mut sites: Vec<Site> = Vec::new();
    if let Some(placement) = &network.nodes {
        for index in 0..placement.count {
            let position = placed(placement, index)?;
            sites.push(Site { name: format!("n{index}"), position, ..Site::default() });
        }
    }
    for node in &network.node {
        let path = format!("node.{}", node.name);
        if network.node.iter().filter(|other| other.name == node.name).count() > 1 {
            return Err(BuildError::new(path, format!("two nodes are called `{}`", node.name)));
        }
        if node.name.is_empty() || node.name == "*" || node.name == "broadcast" {
            return Err(BuildError::new(path, format!("a node cannot be called `{}`", node.name)));
        }
        match sites.iter_mut().find(|site| site.name == node.name) {
            Some(site) => *site = Site { position: node.position.or(site.position), ..node.clone() },
            None => sites.push(node.clone()),
        }
    }
    if sites.is_empty() {
        return Err(BuildError::new("", "there is no node: write `[nodes]` or `[[node]]`"));
    }
    Ok(sites)
}

/// Where the rule of placement, if there is one, puts the `index`-th node.
fn placed(placement: &Placement, index: u32) -> Result<Option<[Length; 2]>, BuildError> {
    match (placement.placement, placement.spacing) {
        (Some(shape), Some(spacing)) => Ok(Some(position(shape, index, placement.count, spacing.as_metres()))),
        (None, None) => Ok(None),
        (Some(_), None) => Err(BuildError::new("nodes.placement", "this placement needs a `spacing`")),
        (None, Some(_)) => Err(BuildError::new("nodes.spacing", "a `spacing` needs a `placement`")),
    }
}

/// Where the `index`-th of `count` nodes stands.
fn position(shape: Shape, index: u32, count: u32, spacing: f64) -> [Length; 2] {
    let (index, count) = (f64::from(index), f64::from(count));
    let [x, y] = match shape {
        Shape::Chain => [index * spacing, 0.0],
        Shape::Grid => {
            let columns = libm::ceil(libm::sqrt(count));
            let row = libm::floor(index / columns);
            [(index - row * columns) * spacing, row * spacing]
        }
        Shape::Circle if index < 0.5 => [0.0, 0.0],
        Shape::Circle => {
            let angle = 2.0 * core::f64::consts::PI * (index - 1.0) / (count - 1.0);
            [libm::cos(angle) * spacing, libm::sin(angle) * spacing]
        }
    };
    [Length::metres(x), Length::metres(y)]
}

pub(super) fn node(
    index: usize,
    site: &Site,
    network: &Network,
    rules: &Conventions,
    seed: u64,
) -> Result<Node, BuildError> {
    let queues = (0..rules.categories).map(|_| queue(site, network)).collect::<Result<_, _>>()?;
    let address = u32::try_from(index).map_err(|_| BuildError::new("nodes.count", "there are too many nodes"))?;
    let random = Stream::new(seed, &site.name, Purpose::Backoff);
    Ok(Node {
        name: site.name.clone(),
        station: Station::new(address, super::radio::mode(site, &network.radio)?, rules, random),
        armed: Instant::NEVER,
        queues,
        record: NodeRecord::default(),
    })
}

fn queue(site: &Site, network: &Network) -> Result<Queue, BuildError> {
    let settings = site.queue.as_ref().unwrap_or(&network.queue);
    let (fifo, controller) = settings.build().map_err(|invalid| {
        let table = if site.queue.is_some() { format!("node.{}.queue", site.name) } else { "queue".to_owned() };
        BuildError::new(format!("{table}.{}", invalid.parameter), format!("`{}` {}", invalid.parameter, invalid.why))
    })?;
    Ok(Queue { fifo, controller, saturated: Vec::new(), record: QueueRecord::default() })
}

/// What the queues of all nodes are called in time series.
pub(super) fn queue_names(names: &[String], rules: &Conventions) -> impl Iterator<Item = String> {
    names.iter().flat_map(move |name| {
        (0..rules.categories).map(move |category| {
            if rules.edca() { format!("{name} {}", rules.queue_name(category)) } else { name.clone() }
        })
    })
}
