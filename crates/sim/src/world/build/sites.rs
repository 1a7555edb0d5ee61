//! Nodes as they are described: by rule and one by one.

use crate::config::{Network, Placement, Role, Shape};
use crate::world::error::BuildError;
use std::collections::{BTreeMap, BTreeSet};
use units::Length;

/// A node as described; its position is none where the model of mobility places it.
pub(super) use crate::config::Node as Site;

/// All nodes: those placed by rule, then those placed one by one; those without a radio last.
pub(super) fn sites(network: &Network) -> Result<Vec<Site>, BuildError> {
    let mut sites: Vec<Site> = Vec::new();
    if let Some(placement) = &network.nodes {
        for index in 0..placement.count {
            let position = placed(placement, index)?;
            sites.push(Site { name: format!("n{index}"), position, ..Site::default() });
        }
    }
    let placed: BTreeMap<String, usize> = sites.iter().map(|site| site.name.clone()).zip(0..).collect();
    let mut known = BTreeSet::new();
    let described: Vec<Site> = network.node.iter().flat_map(alike).collect();
    for node in &described {
        let path = format!("node.{}", node.name);
        if !known.insert(&node.name) {
            return Err(BuildError::new(path, format!("two nodes are called `{}`", node.name)));
        }
        if node.name.is_empty() || node.name.ends_with('*') || ["broadcast", "next"].contains(&node.name.as_str()) {
            return Err(BuildError::new(path, format!("a node cannot be called `{}`", node.name)));
        }
        match placed.get(&node.name).map(|&index| &mut sites[index]) {
            Some(site) => *site = Site { position: node.position.or(site.position), ..node.clone() },
            None => sites.push(node.clone()),
        }
    }
    if sites.is_empty() {
        return Err(BuildError::new("", "there is no node: write `[nodes]` or `[[node]]`"));
    }
    // The medium numbers the nodes that have a radio.
    sites.sort_by_key(|site| site.role == Role::Wired);
    Ok(sites)
}

/// The nodes that one table describes.
fn alike(node: &Site) -> Vec<Site> {
    match node.count {
        None => vec![node.clone()],
        Some(count) => {
            (1..=count).map(|number| Site { name: format!("{}{number}", node.name), ..node.clone() }).collect()
        }
    }
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
