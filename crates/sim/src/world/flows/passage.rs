//! Flows of real packets. The simulated packet is like any other; what the program sent stays beside it, in the flow,
//! until the packet arrives or is lost.

use super::ends::MOST;
use super::{Flow, Role, Supply};
use crate::config::{Class, Dscp};
use crate::engine::FlowId;
use crate::mac::Conventions;
use crate::net::Packet;
use crate::record::{FlowRecord, Identity};
use crate::world::error::BuildError;
use queue::Ecn;
use std::collections::{BTreeMap, VecDeque};

/// Factor of the datagram's part of the key that distinguishes flows: odd, its multiples are far apart.
const KEY_STEP: u32 = 0x9e37_79b9;

/// Frames may be traced after what they carry has arrived, if their acknowledgements were lost or they come to others
/// later: more packets than a frame and a window of frames carry.
const TRACED_LATER: usize = 4096;

/// Real packets of a flow that are on their way, by their numbers in the flow.
#[derive(Debug, Default)]
pub(crate) struct Passage {
    pub(crate) under_way: BTreeMap<u32, Kept>,
    /// The last ones that have arrived, if the run is watched.
    arrived: VecDeque<(u32, Box<[u8]>)>,
}

/// What is kept beside a simulated packet.
#[derive(Debug)]
pub(crate) struct Kept {
    pub(crate) bytes: Box<[u8]>,
    pub(crate) tos: u8,
    /// Index of its access category.
    pub(crate) category: u8,
    pub(crate) key: u32,
}

impl Passage {
    /// Drops what belongs to a lost packet.
    pub(crate) fn forget(&mut self, packet: &Packet) {
        self.under_way.remove(&packet.serial);
    }

    /// Keeps the bytes of an arrived packet for frames that are traced later.
    pub(crate) fn keep(&mut self, packet: &Packet, bytes: &[u8]) {
        if self.arrived.len() == TRACED_LATER {
            self.arrived.pop_front();
        }
        self.arrived.push_back((packet.serial, bytes.into()));
    }
}

impl Flow {
    /// What a real program sent as this packet, for traces.
    pub(crate) fn bytes(&self, packet: &Packet) -> Option<Box<[u8]>> {
        let Supply::Outside(passage) = &self.supply else { return None };
        let arrived = || passage.arrived.iter().rev().find(|(serial, _)| *serial == packet.serial);
        let under_way = passage.under_way.get(&packet.serial).map(|kept| &kept.bytes);
        under_way.or_else(|| arrived().map(|(_, bytes)| bytes)).cloned()
    }

    /// Access category of a real packet of this flow, no place at the head of a queue, and its key for queues.
    #[inline(never)]
    pub(crate) fn kept(&self, index: FlowId, packet: &Packet) -> (u8, bool, u32) {
        let kept = match &self.supply {
            Supply::Outside(passage) => passage.under_way.get(&packet.serial),
            _ => None,
        };
        let (category, key) = kept.map_or((self.category, 0), |kept| (kept.category, kept.key));
        (category, false, u32::from(index).wrapping_add(key.wrapping_mul(KEY_STEP)))
    }
}

/// Adds the flows between `real` nodes.
///
/// # Errors
/// A real node without another, or too many flows.
pub(super) fn add(
    flows: &mut Vec<Flow>,
    real: &[u32],
    names: &[String],
    rules: &Conventions,
) -> Result<(), BuildError> {
    let path = |node: u32| format!("node.{}.real", names[node as usize]);
    if let &[alone] = real {
        let message = format!("`{}` is the only real node: give another one `real = true`", names[alone as usize]);
        return Err(BuildError::new(path(alone), message));
    }
    if let Some(&first) = real.first()
        && flows.len() + real.len() * (real.len() - 1) > MOST
    {
        let message = format!("more than {MOST} flows, one from each real node to every other among them");
        return Err(BuildError::new(path(first), message));
    }
    for &from in real {
        for &to in real.iter().filter(|&&to| to != from) {
            let [sender, receiver] = [from, to].map(|node| names[node as usize].clone());
            let identity = Identity {
                name: format!("{sender}-{receiver}"),
                from: sender,
                to: receiver,
                kind: "real",
                class: Class::BestEffort,
                drawn: true,
                deadline: None,
                left_out: None,
            };
            flows.push(Flow {
                identity,
                from: from.into(),
                to,
                category: rules.index(Dscp::default().category()),
                dscp: Dscp::default(),
                ecn: Ecn::NotEct,
                admission: None,
                role: Role::Outside,
                supply: Supply::Outside(Box::default()),
                waiting: 0,
                record: FlowRecord::default(),
            });
        }
    }
    Ok(())
}
