//! Positions of a network's nodes, for pictures. No run is needed.

use super::error::BuildError;
use super::nodes::infrastructure::Infrastructure;
use super::nodes::{motion, roaming, sites};
use crate::config::Network;
use crate::motion::{Motion, Position};
use crate::radio::Reach;
use crate::world::radio;
use units::Instant;

/// The positions of the nodes of a network over time.
#[derive(Debug)]
pub struct Plan {
    nodes: u32,
    motion: Motion,
    reach: Reach,
}

impl Plan {
    /// Computes the plan of a network with a seed.
    ///
    /// # Errors
    /// If the description of the nodes contradicts itself. The error names the key.
    pub fn new(network: &Network, seed: u64) -> Result<Self, BuildError> {
        let network = &*network.of_generations();
        let mut sites = sites::sites(network, seed)?;
        let families = roaming::families(&mut sites)?;
        let infrastructure = Infrastructure::new(network, &sites, &families)?;
        let with_radio = infrastructure.with_radio(&sites);
        let motion = motion::motion(network, with_radio, &families, seed)?;
        let names: Vec<String> = sites.iter().map(|site| site.name.clone()).collect();
        let channel = radio::channel(&network.radio, &names, seed)?;
        let reach = Reach::new(&network.radio, motion.nodes(), motion.heights(), &channel);
        let described = (0..infrastructure.radios()).filter(|&node| infrastructure.is_described(node)).count();
        Ok(Self { nodes: u32::try_from(described).unwrap_or(u32::MAX), motion, reach })
    }

    /// Returns how far nodes are heard.
    pub fn reach(&self) -> &Reach {
        &self.reach
    }

    /// Returns the positions of the nodes with a radio at `now`, in the scenario's order: x, y and height, in metres.
    /// `now` must not be earlier than in the previous call.
    pub fn at(&mut self, now: Instant) -> Vec<[f64; 3]> {
        let place = |node| {
            let Position { x, y, z } = self.motion.position(node, now);
            [x, y, z]
        };
        (0..self.nodes).map(place).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Duration;

    #[test]
    fn nodes_are_where_they_are_placed_and_go_where_their_waypoints_lead() {
        let text = "duration = \"1 s\"\n[nodes]\ncount = 2\nplacement = \"chain\"\nspacing = \"30 m\"\n\
            [[node]]\nname = \"walker\"\nposition = [\"0 m\", \"5 m\", \"2 m\"]\n\
            waypoints = [{ time = \"1 s\", position = [\"10 m\", \"5 m\"], speed = \"5 m/s\" }]\n\
            [[node]]\nname = \"server\"\nrole = \"wired\"\n[[wired]]\nbetween = [\"server\", \"n0\"]\nrate = \"1 Gb/s\"\n";
        let network: Network = toml::from_str(text).expect("a description");
        let mut plan = Plan::new(&network, 1).expect("places");
        let at = |plan: &mut Plan, seconds| plan.at(Instant::ZERO + Duration::from_secs(seconds));
        let shown = |place: &[f64; 3]| format!("{place:.3?}");
        let places: Vec<String> = at(&mut plan, 0).iter().map(shown).collect();
        assert_eq!(places, ["[0.000, 0.000, 0.000]", "[30.000, 0.000, 0.000]", "[0.000, 5.000, 2.000]"]);
        assert_eq!(shown(&at(&mut plan, 2)[2]), "[5.000, 5.000, 2.000]");
        assert_eq!(shown(&at(&mut plan, 9)[2]), "[10.000, 5.000, 2.000]");
    }
}
