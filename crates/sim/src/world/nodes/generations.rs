//! Stations of several generations in one network. Two stations use the formats that both support.

use super::sites::Site;
use crate::config::{ChannelWidth, Network, Radio, RateAlgorithm, Role, Standard};
use crate::radio::{Format, Mode};
use crate::world::error::BuildError;
use crate::world::radio;

/// The radio of each node in order of address. Empty if all nodes are alike.
#[derive(Debug)]
pub(crate) struct Generations {
    radios: Vec<Radio>,
    /// MCS of access points' frames to each node.
    downlink: Vec<Option<u8>>,
}

impl Generations {
    /// Determines the generations of a network's nodes, except the wired ones.
    pub(crate) fn new(network: &Network, sites: &[Site]) -> Result<Self, BuildError> {
        let sites = || sites.iter().filter(|site| site.role != Role::Wired);
        let own: Vec<Option<Radio>> = sites().map(|site| radio::own(site, &network.radio)).collect::<Result<_, _>>()?;
        let downlink: Vec<Option<u8>> = sites().map(|site| site.downlink_mcs).collect();
        if own.iter().all(Option::is_none) && downlink.iter().all(Option::is_none) {
            return Ok(Self { radios: Vec::new(), downlink });
        }
        let alike = |site: &Site| match (site.data_rate, site.mcs) {
            (None, None) => network.radio.clone(),
            (data_rate, mcs) => Radio { data_rate, mcs, nominal_rate: None, ..network.radio.clone() },
        };
        let radios = own.into_iter().zip(sites()).map(|(own, site)| own.unwrap_or_else(|| alike(site)));
        let found = Self { radios: radios.collect(), downlink };
        found.check_extended(sites())?;
        for (site, place) in sites().zip(0..).filter(|(site, _)| site.downlink_mcs.is_some()) {
            let refuse = |why: String| Err(BuildError::new(format!("node.{}.downlink_mcs", site.name), why));
            if site.role != Role::Station || network.mac.rate_control.algorithm != RateAlgorithm::Fixed {
                return refuse("the key is only for stations without rate control; leave it out".to_owned());
            }
            let mut senders = sites().zip(0..).filter(|(site, _)| site.role == Role::AccessPoint).peekable();
            if senders.peek().is_none() {
                return refuse("without an access point the senders need `mcs`: write it at these nodes".to_owned());
            }
            if let Some(why) = senders.find_map(|(_, sender)| found.towards(sender, place).data_mode().err()) {
                return refuse(why.why);
            }
        }
        Ok(found)
    }

    /// Refuses extended range at a node if no other node supports it.
    fn check_extended<'s>(&self, sites: impl Iterator<Item = &'s Site>) -> Result<(), BuildError> {
        for (site, place) in sites.zip(0..).filter(|(site, _)| site.extended_range.is_some()) {
            let mut others = self.radios.iter().zip(0..).filter(|&(_, other)| other != place);
            if !others.any(|(radio, _)| radio.standard == Standard::Ax) {
                let why = "no other node has 802.11ax; leave `extended_range` or the other nodes' `standard` out";
                return Err(BuildError::new(format!("node.{}.extended_range", site.name), why));
            }
        }
        Ok(())
    }

    /// True if the network has frames of extended range.
    pub(crate) fn extend(&self, network: &Network) -> bool {
        network.radio.extended_range.is_some() || self.radios.iter().any(|radio| radio.extended_range.is_some())
    }

    /// True if frames from a node and to it have extended range.
    pub(crate) fn extends(&self, node: u32, network: &Network) -> bool {
        self.radios.get(node as usize).unwrap_or(&network.radio).extended_range.is_some()
    }

    /// Returns the radio settings of one node towards another.
    fn towards(&self, from: usize, to: usize) -> Radio {
        let common = self.radios[from].common(&self.radios[to]);
        Radio { mcs: self.downlink[to].or(common.mcs), ..common }
    }

    pub(crate) fn width(&self, node: u32, network: &Network) -> ChannelWidth {
        self.radios.get(node as usize).unwrap_or(&network.radio).channel_width
    }

    /// Returns, for each node in order of address, whether it uses LDPC.
    pub(crate) fn ldpc(&self, network: &Network, nodes: usize) -> Vec<bool> {
        (0..nodes).map(|node| self.radios.get(node).unwrap_or(&network.radio).has_ldpc()).collect()
    }

    /// Returns the largest number of streams of a node.
    pub(crate) fn streams(&self, node: u32, network: &Network) -> u8 {
        self.radios.get(node as usize).unwrap_or(&network.radio).streams.unwrap_or(1)
    }

    /// Returns each node's PPDU format in order of address, `None` before 802.11n. Empty if all formats are equal.
    pub(crate) fn formats(&self) -> Vec<Option<Format>> {
        self.radios.iter().map(|radio| Format::of(radio.standard)).collect()
    }

    /// Returns each node's standard in order of address, if some node cannot decode the formats of all other nodes.
    pub(crate) fn standards(&self) -> Option<Vec<Standard>> {
        let all = || self.radios.iter().map(|radio| radio.standard);
        let newest = all().max()?;
        all().any(|own| own < newest && !own.high_throughput()).then(|| all().collect())
    }

    /// Returns the modes of a node towards all other nodes: the different sets of modes, and the set for each node.
    /// `modes` gives the modes of a radio, `all` those of the node itself.
    pub(crate) fn of(
        &self,
        node: u32,
        all: Vec<Mode>,
        modes: impl Fn(&Radio) -> Vec<Mode>,
    ) -> (Vec<Vec<Mode>>, Vec<usize>) {
        if self.radios.len() <= node as usize {
            return (vec![all], Vec::new());
        }
        let mut sets: Vec<Vec<Mode>> = vec![all];
        let of_peer = (0..self.radios.len()).map(|peer| {
            let common = modes(&self.towards(node as usize, peer));
            sets.iter().position(|known| *known == common).unwrap_or_else(|| {
                sets.push(common);
                sets.len() - 1
            })
        });
        let of_peer = of_peer.collect();
        (sets, of_peer)
    }
}
