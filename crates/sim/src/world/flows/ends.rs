//! Sources and destinations of flows: named, at all stations, or drawn at random.

use crate::config::{self, HopRange};
use crate::engine::{Purpose, Stream};
use crate::mac::{BROADCAST, Frame};
use crate::net::Routes;
use crate::radio::Medium;
use crate::world::basis::Basis;
use crate::world::error::BuildError;
use units::refuse_if;

/// Largest number of flows. A mistaken number should not take minutes to build.
pub(crate) const MOST: usize = 10_000;

/// Value of `from` or `to` that stands for a random node.
const ANY: &str = "any";
/// Value of `to` that stands for the node after the flow's source; after the last node comes the first.
const NEXT: &str = "next";

/// Source and destination of a flow.
pub(crate) struct End {
    pub(crate) name: String,
    pub(crate) from: u32,
    pub(crate) to: u32,
}

/// What determines the sources and destinations of flows.
pub(crate) struct Ends<'a> {
    basis: Basis<'a>,
    /// For each node, the hops to each other node at the start of the run, `None` without a path to it. This list is
    /// filled only if ends are drawn.
    distances: Vec<Vec<Option<u32>>>,
}

impl<'a> Ends<'a> {
    pub(crate) fn new(basis: &Basis<'a>, medium: &Medium<Frame>) -> Self {
        let distances = if basis.network.flow.iter().any(are_drawn) {
            let neighbours = basis.infrastructure.neighbours(medium);
            (0..).zip(&neighbours).map(|(node, _)| Routes::distances(&neighbours, node)).collect()
        } else {
            Vec::new()
        };
        Self { basis: *basis, distances }
    }

    /// Returns the flows that one table describes. Errors: ends that do not exist, or that cannot be combined.
    pub(crate) fn of(&self, described: &config::Flow) -> Result<Vec<End>, BuildError> {
        let refuse = |key: &str, message: &str| Err(BuildError::new(format!("flow.{}.{key}", described.name), message));
        if are_drawn(described) {
            return self.drawn(described);
        }
        let message = "only ends drawn at random have a number of hops: write `from = \"any\"` or `to = \"any\"`";
        refuse_if!(described.hops.is_some(), refuse("hops", message));
        if described.to == NEXT {
            return self.ring(described);
        }
        let to = match described.to.as_str() {
            name if name.ends_with('*') => None,
            "broadcast" => Some(BROADCAST),
            name => Some(self.find(described, name, "to")?),
        };
        let from = match described.from.as_str() {
            name if name.ends_with('*') => None,
            name => Some(self.find(described, name, "from")?),
        };
        match (from, to) {
            (Some(from), Some(to)) if from == to => {
                refuse("to", &format!("flow `{}` ends where it starts", described.name))
            }
            (Some(from), Some(to)) => Ok(alike(described)?.into_iter().map(|name| End { name, from, to }).collect()),
            _ if described.count.is_some() => {
                refuse("count", "`*` makes a flow of every station already; leave `count` out")
            }
            (None, None) => refuse("to", "`*` stands for all in `from` or in `to`, not both"),
            (Some(one), None) | (None, Some(one)) => {
                let (key, pattern) = if from.is_some() { ("to", &described.to) } else { ("from", &described.from) };
                let called = self.called(described, pattern, key)?;
                let wanted = |(other, _): &(u32, &String)| *other != one;
                let flow = |(other, name): (u32, &String)| {
                    let (from, to) = if from.is_some() { (one, other) } else { (other, one) };
                    End { name: format!("{}-{name}", described.name), from, to }
                };
                Ok(called.into_iter().filter(wanted).map(flow).collect())
            }
        }
    }

    fn find(&self, described: &config::Flow, name: &str, key: &str) -> Result<u32, BuildError> {
        let unknown = || {
            let path = format!("flow.{}.{key}", described.name);
            BuildError::unknown_node(path, name, self.named().map(|(_, name)| name.clone()).collect())
        };
        self.named().find(|(_, known)| *known == name).map(|(node, _)| node).ok_or_else(unknown)
    }

    /// Returns the nodes that a scenario can name.
    fn named(&self) -> impl Iterator<Item = (u32, &'a String)> {
        let infrastructure = self.basis.infrastructure;
        (0..).zip(self.basis.names).filter(|(node, _)| infrastructure.is_described(*node))
    }

    fn stations(&self) -> impl Iterator<Item = (u32, &'a String)> {
        let infrastructure = self.basis.infrastructure;
        (0..).zip(self.basis.names).filter(|(node, _)| infrastructure.is_station(*node))
    }

    /// Returns the nodes that match a pattern with a star at its end: stations, and with a prefix also wired nodes.
    ///
    /// # Errors
    /// The pattern matches no node, and no table of nodes with `count = 0`.
    fn called(&self, described: &config::Flow, pattern: &str, key: &str) -> Result<Vec<(u32, &'a String)>, BuildError> {
        let beginning = pattern.strip_suffix('*').unwrap_or(pattern);
        let infrastructure = self.basis.infrastructure;
        let wanted = |node| infrastructure.is_station(node) || !beginning.is_empty() && !infrastructure.has_radio(node);
        let found = (0..).zip(self.basis.names).filter(|(node, name)| wanted(*node) && name.starts_with(beginning));
        let found: Vec<_> = found.collect();
        if found.is_empty() && !self.basis.network.may_have_none(beginning) {
            let known =
                (0..).zip(self.basis.names).filter(|(node, _)| wanted(*node)).map(|(_, name)| name.clone()).collect();
            return Err(BuildError::unknown_node(format!("flow.{}.{key}", described.name), pattern, known));
        }
        Ok(found)
    }

    /// Returns flows in a ring: from every node to the next.
    fn ring(&self, described: &config::Flow) -> Result<Vec<End>, BuildError> {
        let refuse = |message: String| Err(BuildError::new(format!("flow.{}.to", described.name), message));
        let (true, None) = (described.from.ends_with('*'), described.count) else {
            let message = "`next` needs a `from` that stands for several nodes: write `from = \"up*\"` or `from = \"*\"`, without `count`";
            return refuse(message.to_owned());
        };
        let nodes = self.called(described, &described.from, "from")?;
        if let [(_, alone)] = nodes[..] {
            return refuse(format!("`{alone}` has no next node: a ring needs at least two nodes"));
        }
        let next = nodes.iter().cycle().skip(1);
        let flow = |(from, to): (&(u32, &String), &(u32, &String))| End {
            name: format!("{}-{}", described.name, from.1),
            from: from.0,
            to: to.0,
        };
        Ok(nodes.iter().zip(next).map(flow).collect())
    }

    /// Returns flows with drawn ends. Each is drawn independently from all possible pairs.
    fn drawn(&self, described: &config::Flow) -> Result<Vec<End>, BuildError> {
        let refuse =
            |key: &str, message: String| Err(BuildError::new(format!("flow.{}.{key}", described.name), message));
        if ["broadcast", NEXT].contains(&described.to.as_str())
            || [&described.from, &described.to].iter().any(|end| end.ends_with('*'))
        {
            return refuse("to", "with `any` both ends are single nodes, drawn or given by name".to_owned());
        }
        if let Some(HopRange { from, to }) = described.hops
            && (from == 0 || from > to)
        {
            return refuse("hops", format!("`hops` needs 1 <= from <= to, but is {from} to {to}"));
        }
        let candidates = |end: &str, key: &str| match end {
            ANY => Ok(self.stations().map(|(node, _)| node).collect::<Vec<_>>()),
            name => self.find(described, name, key).map(|node| vec![node]),
        };
        let (from, to) = (candidates(&described.from, "from")?, candidates(&described.to, "to")?);
        let all = from.iter().flat_map(|&from| to.iter().map(move |&to| (from, to)));
        let pairs: Vec<_> = all.filter(|&(from, to)| from != to && self.fits(from, to, described.hops)).collect();
        let Some(last) = pairs.len().checked_sub(1) else {
            return match described.hops {
                None => refuse("from", "there are no two stations to draw its ends from".to_owned()),
                Some(HopRange { from, to }) => {
                    refuse("hops", format!("with this seed no two stations are {from} to {to} hops apart at the start"))
                }
            };
        };
        let draw = |name: String| {
            let drawn = Stream::new(self.basis.seed, &name, Purpose::ENDS).up_to(last as u64);
            let (from, to) = pairs[usize::try_from(drawn).expect("there are fewer pairs")];
            End { name, from, to }
        };
        Ok(alike(described)?.into_iter().map(draw).collect())
    }

    fn fits(&self, from: u32, to: u32, hops: Option<HopRange>) -> bool {
        let between = self.distances[from as usize][to as usize];
        hops.is_none_or(|wanted| between.is_some_and(|hops| (wanted.from..=wanted.to).contains(&hops)))
    }
}

fn are_drawn(flow: &config::Flow) -> bool {
    flow.from == ANY || flow.to == ANY
}

/// Returns the names of the flows that one table describes. The table has no `*`.
fn alike(described: &config::Flow) -> Result<Vec<String>, BuildError> {
    let name = &described.name;
    match described.count {
        None => Ok(vec![name.clone()]),
        Some(count) if count as usize > MOST => Err(too_many(described)),
        Some(count) => Ok((1..=count).map(|number| format!("{name}-{number}")).collect()),
    }
}

/// Makes the error for more flows than [`MOST`].
pub(crate) fn too_many(described: &config::Flow) -> BuildError {
    let message = format!("there are more than {MOST} flows; a `*` counts as one flow for each node that it names");
    BuildError::new(format!("flow.{}", described.name), message)
}
