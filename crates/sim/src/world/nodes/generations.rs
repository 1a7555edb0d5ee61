//! Stations of several generations in one network: what each can send and receive. Two of them use what both have.

use super::sites::Site;
use crate::config::{Network, Radio, Role};
use crate::radio::{Format, Mode};
use crate::world::error::BuildError;
use crate::world::radio;

/// The radio of each node, by address; none if all nodes are alike.
#[derive(Debug)]
pub(crate) struct Generations(Vec<Radio>);

impl Generations {
    /// Those of a network's nodes, without the wired ones.
    pub(crate) fn new(network: &Network, sites: &[Site]) -> Result<Self, BuildError> {
        let sites = sites.iter().filter(|site| site.role != Role::Wired);
        let own: Vec<Option<Radio>> = sites.map(|site| radio::own(site, &network.radio)).collect::<Result<_, _>>()?;
        if own.iter().all(Option::is_none) {
            return Ok(Self(Vec::new()));
        }
        Ok(Self(own.into_iter().map(|own| own.unwrap_or_else(|| network.radio.clone())).collect()))
    }

    /// PPDU format of each node, by address; empty if all are alike.
    pub(crate) fn formats(&self) -> Vec<Format> {
        self.0.iter().map(|radio| Format::of(radio.standard).unwrap_or(Format::Ht)).collect()
    }

    /// The modes that a node has towards each other one: the different sets, and by address which. `modes`: those of a
    /// radio, `all` that of the node itself.
    pub(crate) fn of(
        &self,
        node: u32,
        all: Vec<Mode>,
        modes: impl Fn(&Radio) -> Vec<Mode>,
    ) -> (Vec<Vec<Mode>>, Vec<usize>) {
        let Some(own) = self.0.get(node as usize) else { return (vec![all], Vec::new()) };
        let mut sets: Vec<Vec<Mode>> = vec![all];
        let of_peer = self.0.iter().map(|peer| {
            let common = modes(&own.common(peer));
            sets.iter().position(|known| *known == common).unwrap_or_else(|| {
                sets.push(common);
                sets.len() - 1
            })
        });
        let of_peer = of_peer.collect();
        (sets, of_peer)
    }
}
