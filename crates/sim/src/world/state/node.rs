//! A node as it runs.

use crate::egress::Egress;
use crate::engine::{FlowId, List, PortId};
use crate::mac::Station;
use crate::net::Notes;
use crate::record::{EnergyAccount, Gauge, NodeRecord};
use units::{Bytes, Instant};

/// A node: its station, its egress, and what was counted.
pub(crate) struct Node {
    pub(crate) name: String,
    pub(crate) access_point: bool,
    /// Off the air: it has not come yet, or has gone.
    pub(crate) absent: bool,
    pub(crate) station: Station,
    /// Time at which the earliest pending `Deadline` event of the station fires; later ones are stale.
    pub(crate) armed: Instant,
    pub(crate) egress: Egress,
    /// By port: saturated flows that begin there, while they last, with their payload. A packet that leaves is replaced at
    /// once, one that is discarded with the next that leaves.
    pub(crate) saturated: List<PortId, Vec<(FlowId, Bytes)>>,
    /// By port: when the earliest pending `Ready` event fires; later ones are stale.
    pub(crate) ready: List<PortId, Instant>,
    /// Ports of the nodes before this one.
    pub(crate) ports_before: usize,
    pub(crate) record: NodeRecord,
    /// Radio statistics, for controllers that use them.
    pub(crate) gauge: Option<Box<Gauge>>,
    /// Energy account, where energy is counted.
    pub(crate) energy: Option<Box<EnergyAccount>>,
    /// What it has to tell its neighbours and has heard of them, for controllers that order notes or look at them.
    pub(crate) neighbours: Option<Box<Notes>>,
}
