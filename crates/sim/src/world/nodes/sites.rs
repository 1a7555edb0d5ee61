//! Makes the list of all nodes from those that a scenario describes with a rule or one by one.

use crate::config::{Network, Place, Placement, Role, Shape};
use crate::engine::{Purpose, Stream};
use crate::world::error::BuildError;
use std::collections::{BTreeMap, BTreeSet};
use units::{Length, refuse_if};

/// A node as the scenario describes it. It has no position if the mobility model places it.
pub(crate) use crate::config::Node as Site;

/// Returns all nodes: first those that a rule places, then those placed one by one. Nodes without a radio are last.
pub(crate) fn sites(network: &Network, seed: u64) -> Result<Vec<Site>, BuildError> {
    let mut sites: Vec<Site> = Vec::new();
    if let Some(placement) = &network.nodes {
        for index in 0..placement.count {
            let name = format!("n{index}");
            let position = placed(placement, index, &name, seed)?;
            sites.push(Site { name, position, ..Site::default() });
        }
    }
    let placed: BTreeMap<String, usize> = sites.iter().map(|site| site.name.clone()).zip(0..).collect();
    let mut known = BTreeSet::new();
    for node in network.node.iter().flat_map(alike) {
        let path = format!("node.{}", node.name);
        if !known.insert(node.name.clone()) {
            return Err(BuildError::new(path, format!("two nodes are called `{}`", node.name)));
        }
        let reserved = ["broadcast", "next", "any"];
        if node.name.is_empty() || node.name.ends_with('*') || reserved.contains(&node.name.as_str()) {
            return Err(BuildError::new(path, format!("a node cannot be called `{}`", node.name)));
        }
        match placed.get(&node.name).map(|&index| &mut sites[index]) {
            Some(site) => *site = Site { position: node.position.or(site.position), ..node },
            None => sites.push(Site { position: node.position.or(scattered(network, &node, seed)), ..node }),
        }
    }
    refuse_if!(sites.is_empty(), Err(BuildError::new("", "there is no node: write `[nodes]` or `[[node]]`")));
    // The medium numbers only nodes with a radio, so these come first.
    sites.sort_by_key(|site| site.role == Role::Wired);
    Ok(sites)
}

/// Returns the position that random placement gives to a node without one.
fn scattered(network: &Network, node: &Site, seed: u64) -> Option<Place> {
    let placement = network.nodes.as_ref().filter(|placement| placement.placement == Some(Shape::Random))?;
    (node.role != Role::Wired)
        .then(|| position(Shape::Random, 0, placement, Stream::new(seed, &node.name, Purpose::MOTION)))
}

/// Returns the nodes that one table describes.
fn alike(node: &Site) -> Vec<Site> {
    match node.count {
        None => vec![node.clone()],
        Some(count) => {
            (1..=count).map(|number| Site { name: format!("{}{number}", node.name), ..node.clone() }).collect()
        }
    }
}

/// Returns the position that the placement rule gives to the node `name` with this index, if there is a rule.
fn placed(placement: &Placement, index: u32, name: &str, seed: u64) -> Result<Option<Place>, BuildError> {
    check_placement(placement)?;
    let random = Stream::new(seed, name, Purpose::MOTION);
    Ok(placement.placement.map(|shape| position(shape, index, placement, random)))
}

/// Refuses keys that belong to other placement rules.
fn check_placement(placement: &Placement) -> Result<(), BuildError> {
    let refuse = |key: &str, message: &str| Err(BuildError::new(format!("nodes.{key}"), message));
    match (placement.placement, placement.spacing, placement.area) {
        (Some(Shape::Random), _, None) => {
            refuse("placement", "random placement needs an `area`, as `area = [\"1500 m\", \"300 m\"]`")
        }
        (Some(Shape::Random), Some(_), _) => refuse("spacing", "random placement needs an `area`; leave `spacing` out"),
        (Some(Shape::Random), None, Some(sides)) if sides.iter().any(|side| side.as_metres() <= 0.0) => {
            refuse("area", "sides are above zero")
        }
        (Some(Shape::Chain | Shape::Grid | Shape::Circle) | None, _, Some(_)) => {
            refuse("area", "an `area` needs `placement = \"random\"`")
        }
        (Some(_), None, None) => refuse("placement", "this placement needs a `spacing`"),
        (Some(_), Some(spacing), _) if spacing.as_metres() < 0.0 => refuse(
            "spacing",
            "a distance must be zero or more; for another direction give each `[[node]]` a `position`",
        ),
        (None, Some(_), None) => refuse("spacing", "a `spacing` needs a `placement`"),
        (Some(_), _, _) | (None, None, None) => Ok(()),
    }
}

/// Returns the position of the `index`-th node, drawn with its own random numbers.
fn position(shape: Shape, index: u32, placement: &Placement, mut random: Stream) -> Place {
    let spacing = placement.spacing.map_or(0.0, Length::as_metres);
    let (index, count) = (f64::from(index), f64::from(placement.count));
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
        Shape::Random => placement.area.map_or([0.0; 2], |sides| sides.map(|side| side.as_metres() * random.unit())),
    };
    Place::flat(Length::metres(x), Length::metres(y))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_negative_spacing_is_refused_at_its_key() {
        for shape in ["chain", "grid", "circle"] {
            let text =
                format!("duration = \"1 s\"\nnodes = {{ count = 3, placement = \"{shape}\", spacing = \"-1 m\" }}\n");
            let network: Network = toml::from_str(&text).expect("a description");
            let error = sites(&network, 1).expect_err("a distance");
            assert_eq!(error.path(), Some("nodes.spacing"), "{error}");
        }
    }

    #[test]
    fn random_places_are_also_for_nodes_described_one_by_one() {
        let text = "duration = \"1 s\"\n[nodes]\ncount = 1\nplacement = \"random\"\narea = [\"30 m\", \"10 m\"]\n\
            [[node]]\nname = \"up\"\ncount = 3\n[[node]]\nname = \"x\"\nposition = [\"70 m\", \"0 m\"]\n\
            [[node]]\nname = \"server\"\nrole = \"wired\"\n";
        let network: Network = toml::from_str(text).expect("a description");
        let sites = sites(&network, 1).expect("places");
        let at = |name: &str| sites.iter().find(|site| site.name == name)?.position;
        let places: BTreeSet<String> = ["n0", "up1", "up2", "up3"].map(|name| format!("{:?}", at(name))).into();
        assert_eq!(places.len(), 4, "each has its own: {places:?}");
        assert!(["up1", "up3"].iter().all(|name| at(name).is_some_and(|place| place.x.as_metres() < 30.0)));
        assert_eq!(at("x"), Some(Place::flat(Length::metres(70.0), Length::metres(0.0))));
        assert_eq!(at("server"), None);
    }

    #[test]
    fn random_places_are_drawn_for_each_seed_and_lie_evenly_on_the_rectangle() {
        let text =
            "duration = \"1 s\"\n[nodes]\ncount = 2000\nplacement = \"random\"\narea = [\"1500 m\", \"300 m\"]\n";
        let network: Network = toml::from_str(text).expect("a description");
        let places = |seed| -> Vec<[f64; 2]> {
            let sites = sites(&network, seed).expect("places");
            let metres = |place: Place| [place.x, place.y].map(Length::as_metres);
            sites.iter().map(|site| metres(site.position.expect("it is placed"))).collect()
        };
        let drawn = places(1);
        assert_eq!(drawn, places(1));
        assert_ne!(drawn, places(2));
        for (axis, side) in [(0, 1500.0), (1, 300.0)] {
            assert!(drawn.iter().all(|place| (0.0..=side).contains(&place[axis])));
            // Of 2000 uniform places 500 lie in each quarter, with a deviation of sqrt(2000 / 4 * 3 / 4) = 19.
            for quarter in [0.0, 0.25, 0.5, 0.75] {
                let inside = |place: &&[f64; 2]| ((quarter * side)..((quarter + 0.25) * side)).contains(&place[axis]);
                let count = drawn.iter().filter(inside).count();
                assert!((430..=570).contains(&count), "{count}");
            }
        }
    }
}
