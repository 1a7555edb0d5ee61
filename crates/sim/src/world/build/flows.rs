//! Flows: what they are called, where they begin and end.

use super::admission;
use super::infrastructure::Infrastructure;
use super::sources::{self, Traffic};
use super::transport::{self, Answered};
use crate::config::{self, Network};
use crate::engine::{FlowId, Number as _};
use crate::mac::{BROADCAST, Conventions};
use crate::record::{FlowRecord, Identity};
use crate::world::error::BuildError;
use crate::world::state::{Flow, Role, Supply};
use queue::Ecn;
use std::collections::BTreeSet;
use units::Rate;

/// No network has more flows: what was hardly meant should not take minutes to build.
const MOST: usize = 10_000;
/// In `to`: the next of all nodes that `from` stands for, and after the last one the first.
const NEXT: &str = "next";

pub(super) fn flows(
    network: &Network,
    names: &[String],
    infrastructure: &Infrastructure,
    rules: &Conventions,
    seed: u64,
) -> Result<Vec<Flow>, BuildError> {
    let mut flows: Vec<Flow> = Vec::new();
    let mut answers: Vec<Option<Answered>> = Vec::new();
    let mut asking: Vec<Option<(&config::Admission, Rate)>> = Vec::new();
    for described in &network.flow {
        if described.category.is_some() && !rules.edca() {
            let message = "the DCF has no categories; set `access = \"edca\"` in `[mac]`, or leave `category` out";
            return Err(BuildError::new(format!("flow.{}.category", described.name), message));
        }
        let path = |key: &str| format!("flow.{}.{key}", described.name);
        let find = |name: &str, key: &str| match names.iter().position(|known| known == name) {
            Some(index) => Ok(u32::try_from(index).expect("nodes were counted before")),
            None => Err(BuildError::unknown_node(path(key), name, names.to_vec())),
        };
        let answered = transport::answered(described, network, rules)?;
        let traffic = Traffic::new(described, network.duration)?;
        let rate = admission::check(described, &traffic)?;
        let stations = || (0..).zip(names).filter(|(node, _)| infrastructure.is_station(*node));
        let mut add = |name: String, from: u32, to: u32| -> Result<(), BuildError> {
            if to == BROADCAST && !infrastructure.has_radio(from) {
                let message = format!("`{}` has no radio to send broadcasts with", names[from as usize]);
                return Err(BuildError::new(path("to"), message));
            }
            let tcp = answered.and_then(|answered| answered.settings);
            if flows.len() == MOST {
                let message = format!("more than {MOST} flows, those that `*` stands for counted one by one");
                return Err(BuildError::new(format!("flow.{}", described.name), message));
            }
            let supply = traffic.supply(&name, tcp, seed)?;
            let identity = identity(described, name, &names[from as usize], names.get(to as usize), traffic.is_drawn());
            flows.push(flow(described, identity, from, to, supply, rules));
            answers.push(answered);
            asking.push(described.admission.as_ref().zip(rate));
            Ok(())
        };
        if described.to == NEXT {
            for (from, to) in ring(described, stations())? {
                add(format!("{}-{}", described.name, names[from as usize]), from, to)?;
            }
            continue;
        }
        let to = match described.to.as_str() {
            name if name.ends_with('*') => None,
            "broadcast" => Some(BROADCAST),
            name => Some(find(name, "to")?),
        };
        let from = if described.from.ends_with('*') { None } else { Some(find(&described.from, "from")?) };
        match (from, to) {
            (Some(from), Some(to)) if from == to => {
                return Err(BuildError::new(path("to"), format!("flow `{}` ends where it starts", described.name)));
            }
            (Some(from), Some(to)) => match described.count {
                None => add(described.name.clone(), from, to)?,
                Some(0) => return Err(BuildError::new(path("count"), "no flow at all: leave the table out")),
                Some(count) => {
                    (1..=count).try_for_each(|number| add(format!("{}-{number}", described.name), from, to))?;
                }
            },
            _ if described.count.is_some() => {
                let message = "`*` makes a flow of every station already; leave `count` out";
                return Err(BuildError::new(path("count"), message));
            }
            (None, None) => {
                return Err(BuildError::new(path("to"), "`*` stands for all in `from` or in `to`, not both"));
            }
            (Some(one), None) | (None, Some(one)) => {
                let pattern = if from.is_some() { &described.to } else { &described.from };
                let beginning = pattern.trim_end_matches('*');
                let wanted = |(other, name): &(u32, &String)| *other != one && name.starts_with(beginning);
                for (other, name) in stations().filter(wanted) {
                    let (from, to) = if from.is_some() { (one, other) } else { (other, one) };
                    add(format!("{}-{name}", described.name), from, to)?;
                }
            }
        }
    }
    let mut known = BTreeSet::new();
    for Flow { identity: Identity { name, .. }, .. } in &flows {
        if !known.insert(name) {
            return Err(BuildError::new(format!("flow.{name}"), format!("two flows are called `{name}`")));
        }
    }
    for (index, answered) in answers.into_iter().enumerate() {
        if let Some(answered) = answered {
            let back = FlowId::at(flows.len());
            let back = transport::answer(&mut flows[index], FlowId::at(index), back, &answered, rules);
            flows.push(back);
        }
    }
    for (index, asked) in asking.into_iter().enumerate() {
        if let Some((described, rate)) = asked {
            let (number, next) = (FlowId::at(index), FlowId::at(flows.len()));
            let messages = admission::admit(&mut flows[index], number, next, described, rate, seed);
            flows.extend(messages);
        }
    }
    Ok(flows)
}

/// From where to where the flows go whose receiver is the next node.
fn ring<'n>(
    described: &config::Flow,
    stations: impl Iterator<Item = (u32, &'n String)>,
) -> Result<Vec<(u32, u32)>, BuildError> {
    let refuse = |message: String| Err(BuildError::new(format!("flow.{}.to", described.name), message));
    let (Some(beginning), None) = (described.from.strip_suffix('*'), described.count) else {
        let message = "`next` is the next of all that `from` stands for: write `from = \"up*\"` or `from = \"*\"`, without `count`";
        return refuse(message.to_owned());
    };
    let nodes: Vec<(u32, &String)> = stations.filter(|(_, name)| name.starts_with(beginning)).collect();
    if let [(_, alone)] = nodes[..] {
        return refuse(format!("`{alone}` has no next: a ring takes two nodes"));
    }
    let next = nodes.iter().cycle().skip(1);
    Ok(nodes.iter().zip(next).map(|(from, to)| (from.0, to.0)).collect())
}

/// What a flow called `name` is in the results; to no node is to all.
fn identity(described: &config::Flow, name: String, from: &str, to: Option<&String>, drawn: bool) -> Identity {
    Identity {
        from: from.to_owned(),
        to: to.map_or("broadcast", String::as_str).to_owned(),
        kind: sources::kind_name(described.traffic.kind),
        class: described.class,
        drawn,
        deadline: described.deadline,
        name,
    }
}

/// A flow between two nodes.
fn flow(described: &config::Flow, identity: Identity, from: u32, to: u32, supply: Supply, rules: &Conventions) -> Flow {
    let category = rules.index(described.category.unwrap_or_else(|| described.class.into()));
    let from = from.into();
    let dscp = described.class.into();
    Flow {
        identity,
        from,
        to,
        category,
        dscp,
        ecn: Ecn::NotEct,
        admission: None,
        role: Role::Data,
        supply,
        waiting: 0,
        record: FlowRecord::default(),
    }
}
