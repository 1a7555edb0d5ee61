//! Builds flows: names, sources and destinations, start and end.

use super::answers::{self, Answered};
use super::ends::{End, Ends, MOST, too_many};
use super::supply::Traffic;
use super::{Flow, Role, Supply, asking};
use crate::config::{self, Dscp, Protocol, Queues};
use crate::engine::{FlowId, Number as _};
use crate::mac::{BROADCAST, Conventions, Frame};
use crate::radio::Medium;
use crate::record::{FlowRecord, Identity, Player};
use crate::world::basis::Basis;
use crate::world::error::BuildError;
use std::collections::BTreeSet;
use units::{Instant, Rate, refuse_if};

pub(crate) fn flows(basis: &Basis, medium: &Medium<Frame>) -> Result<Vec<Flow>, BuildError> {
    let Basis { network, names, infrastructure, rules, seed, .. } = *basis;
    let mut flows: Vec<Flow> = Vec::new();
    let mut answers: Vec<Option<Answered>> = Vec::new();
    let mut asking: Vec<Option<(&config::Admission, Rate)>> = Vec::new();
    let ends = Ends::new(basis, medium);
    for described in &network.flow {
        if described.category.is_some() && !rules.edca() {
            let message = "the DCF has no categories; set `access = \"edca\"` in `[mac]`, or leave `category` out";
            return Err(BuildError::new(format!("flow.{}.category", described.name), message));
        }
        let answered = answers::answered(described, basis)?;
        let traffic = Traffic::new(described, network.duration)?;
        let rate = asking::check(described, &traffic)?;
        check_player(described, answered.is_some())?;
        for End { name, from, to } in ends.of(described)? {
            if to == BROADCAST && !infrastructure.has_radio(from) {
                let message = format!("`{}` has no radio to send broadcasts with", names[from as usize]);
                return Err(BuildError::new(format!("flow.{}.to", described.name), message));
            }
            if basis.sites[from as usize].queues == Some(Queues::Driver) {
                let message = format!("`{}` has `queues = \"driver\"`: only its kernel sends", names[from as usize]);
                return Err(BuildError::new(format!("flow.{}.from", described.name), message));
            }
            let tcp = answered.and_then(|answered| answered.settings);
            refuse_if!(flows.len() == MOST, Err(too_many(described)));
            let supply = traffic.supply(&name, tcp, seed)?;
            let identity = identity(described, name, &names[from as usize], names.get(to as usize), &traffic);
            flows.push(flow(described, identity, from, to, supply, rules));
            answers.push(answered);
            asking.push(described.admission.as_ref().zip(rate));
        }
    }
    add_real(&mut flows, basis)?;
    let mut known = BTreeSet::new();
    for Flow { identity: Identity { name, .. }, .. } in &flows {
        if !known.insert(name) {
            return Err(BuildError::new(format!("flow.{name}"), format!("two flows are called `{name}`")));
        }
    }
    for (index, answered) in answers.into_iter().enumerate() {
        if let Some(answered) = answered {
            let back = FlowId::at(flows.len());
            let back = answers::answer(&mut flows[index], FlowId::at(index), back, &answered, rules);
            flows.push(back);
        }
    }
    for (index, asked) in asking.into_iter().enumerate() {
        if let Some((described, rate)) = asked {
            let (number, next) = (FlowId::at(index), FlowId::at(flows.len()));
            let messages = asking::admit(&mut flows[index], number, next, described, rate, seed);
            flows.extend(messages);
        }
    }
    // These flows come last, so that the scenario's flows keep their numbers, by which queues distinguish flows.
    let to_all = (0..).zip(basis.sites).filter(|(_, site)| site.real && site.queues != Some(Queues::Driver));
    let receivers = (to_all.clone().count() as u64).saturating_sub(1);
    flows.extend(to_all.map(|(node, _)| outside(node, (BROADCAST, receivers), Role::ToAll, basis)));
    Ok(flows)
}

/// Refuses a player for any flow other than a stream over UDP to one node.
fn check_player(described: &config::Flow, answered: bool) -> Result<(), BuildError> {
    let refuse = |message| Err(BuildError::new(format!("flow.{}.player_buffer", described.name), message));
    match described.player_buffer {
        Some(_) if answered => refuse("`player_buffer` needs a one-way flow over UDP"),
        Some(_) if described.to == "broadcast" => refuse("`player_buffer` needs one receiver; this flow is broadcast"),
        Some(_) | None => Ok(()),
    }
}

/// Returns how the results describe the flow `name`. Without a destination it goes to all nodes.
fn identity(described: &config::Flow, name: String, from: &str, to: Option<&String>, traffic: &Traffic) -> Identity {
    Identity {
        from: from.to_owned(),
        to: to.map_or("broadcast", String::as_str).to_owned(),
        kind: described.traffic.kind.to_string(),
        class: described.class,
        drawn: traffic.is_drawn(),
        left_out: traffic.left_out(),
        deadline: described.deadline,
        name,
    }
}

/// Makes a flow between two nodes.
fn flow(described: &config::Flow, identity: Identity, from: u32, to: u32, supply: Supply, rules: &Conventions) -> Flow {
    let category = rules.index(described.category.unwrap_or_else(|| described.class.into()));
    let until = described.stop.map_or(Instant::NEVER, |stop| Instant::ZERO + stop);
    let player = described.player_buffer.map(|buffer| Box::new(Player::new(buffer, until)));
    let receptions = (to == BROADCAST).then(Box::default);
    let record = FlowRecord { receptions, player, ..FlowRecord::default() };
    let way = (category, described.class.into());
    Flow { record, ..Flow::new(identity, (from.into(), to), way, Role::Data, supply) }
}

/// Adds the flows between `real` nodes.
///
/// # Errors
/// There is only one real node, or there are too many flows.
fn add_real(flows: &mut Vec<Flow>, basis: &Basis) -> Result<(), BuildError> {
    let Basis { network, sites, names, .. } = *basis;
    let real: Vec<u32> = sites.iter().zip(0..).filter(|(site, _)| site.real).map(|(_, node)| node).collect();
    let path = |node: u32| format!("node.{}.real", names[node as usize]);
    if let &[alone] = &real[..] {
        let message = format!("`{}` is the only real node: set `real = true` for a second node", names[alone as usize]);
        return Err(BuildError::new(path(alone), message));
    }
    if let Some(&first) = real.first()
        && flows.len() + real.len() * real.len() > MOST
    {
        let message = format!("there are more than {MOST} flows, including one for each ordered pair of real nodes");
        return Err(BuildError::new(path(first), message));
    }
    let driven = |&node: &u32| sites[node as usize].queues == Some(Queues::Driver);
    if let (Some(&other), true) = (real.iter().find(|node| !driven(node)), real.iter().any(driven)) {
        let message = "some real nodes have `queues = \"driver\"`: write it at all real nodes or at none".to_owned();
        return Err(BuildError::new(path(other), message));
    }
    if let (Some(&first), true) = (real.iter().find(|node| driven(node)), network.routing.protocol != Protocol::Static)
    {
        let message = "a kernel finds its own routes: write `protocol = \"static\"` in `[routing]`".to_owned();
        return Err(BuildError::new(format!("node.{}.queues", names[first as usize]), message));
    }
    for &from in &real {
        let all = driven(&from).then_some(BROADCAST);
        let others = real.iter().copied().filter(|&to| to != from).chain(all);
        flows.extend(others.map(|to| outside(from, (to, 0), Role::Outside, basis)));
    }
    Ok(())
}

/// Makes a flow of real packets to `to`, which stands for `receivers` nodes.
fn outside(from: u32, (to, receivers): (u32, u64), role: Role, basis: &Basis) -> Flow {
    let name = |node: u32| basis.names.get(node as usize).map_or("broadcast", String::as_str).to_owned();
    let [sender, receiver] = [from, to].map(name);
    let identity = Identity {
        name: format!("{sender}-{receiver}"),
        from: sender,
        to: receiver,
        kind: "real".to_owned(),
        drawn: true,
        ..Identity::default()
    };
    let way = (basis.rules.index(Dscp::default().category()), Dscp::default());
    let record = FlowRecord { receivers, ..FlowRecord::default() };
    Flow { record, ..Flow::new(identity, (from.into(), to), way, role, Supply::Outside(Box::default())) }
}
