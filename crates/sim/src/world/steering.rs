//! Decisions from outside: orders of a learning agent or of a host program, in a controller's place.
//!
//! The run pauses whenever a decision is due. It is no part of the run's results who decided: the same orders at the same
//! moments give the same results as a controller that gives them.

use super::error::BuildError;
use super::nodes::Node;
use super::state::{Event, World};
use super::watch::Witness;
use crate::egress::Port;
use crate::engine::{NodeId, PortId};
use crate::trace::{Decision, TraceEventKind};
use control::{Interval, Limit, Orders, Period};
use units::Duration;

/// An interval of a queue is over, and someone outside decides what holds from now on; see
/// [`steer`](crate::World::steer).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Asked {
    /// The node, by its place in the scenario.
    pub node: u32,
    /// The queue: its place among those of the node.
    pub queue: u32,
    /// Measurements of the queue.
    pub seen: Interval,
}

/// A queue with a controller that decides at intervals.
#[derive(Clone, Debug, PartialEq)]
pub struct Governed {
    /// The name of its node.
    pub node: String,
    /// The queue: its place among those of the node.
    pub queue: u32,
    /// Limit before the first decision.
    pub limit: Limit,
    /// The delay that its controller aims at; none of one that aims at none.
    pub target: Option<Duration>,
}

impl World {
    /// Someone outside decides upon a node's queue from now on, every `interval`: the run then pauses, [`asked`](Self::asked)
    /// says what was measured, and [`order`](Self::order) takes the decision. Gives the node's place in the scenario.
    ///
    /// # Errors
    /// If there is no such node or queue, or if the queue has a controller.
    pub fn steer(&mut self, node: &str, queue: u32, interval: Period) -> Result<u32, BuildError> {
        let Some(number) = self.nodes.numbers().find(|&number| self.nodes[number].name == node) else {
            let known = self.nodes.iter().map(|node| node.name.clone()).collect();
            return Err(BuildError::unknown_node("", node, known));
        };
        let port = self.nodes[number].egress.ports().numbers().nth(queue as usize);
        let Some(port) = port else {
            return Err(BuildError::new("", format!("`{node}` has fewer queues than {}", queue + 1)));
        };
        let described = self.nodes[number].egress.port_mut(port);
        if described.interval().is_some() {
            let message = format!("the queue of `{node}` has a controller, which decides by itself");
            return Err(BuildError::new("", message));
        }
        described.steer(self.now, interval.get());
        self.events.push(self.now + interval.get(), Event::Control { node: number, port });
        Ok(number.into())
    }

    /// The queues whose controllers decide at intervals, by node and then by queue.
    pub fn governed(&self) -> Vec<Governed> {
        let of_node = |node: &Node| {
            let name = node.name.clone();
            let governed = node.egress.ports().iter().zip(0..).filter(|(port, _)| port.interval().is_some());
            let described = |(port, queue): (&Port, u32)| {
                let (limit, target) = (port.queue().limit(), port.target_delay());
                Governed { node: name.clone(), queue, limit, target }
            };
            governed.map(described).collect::<Vec<_>>()
        };
        self.nodes.iter().flat_map(of_node).collect()
    }

    /// The first decision that is due; where one becomes due, [`advance`](Self::advance) returns.
    pub fn asked(&mut self) -> Option<Asked> {
        (!self.asked.is_empty()).then(|| self.asked.remove(0))
    }

    /// What holds at a queue from now on, by decision of someone outside who was [`asked`](Self::asked).
    pub fn order(&mut self, asked: &Asked, orders: &Orders) {
        let (node, port) = (NodeId::from(asked.node), PortId::from(asked.queue));
        let Self { watch, now, .. } = self;
        Witness { watch, now: *now, node }.saw(|| {
            let &Asked { queue, seen, .. } = asked;
            TraceEventKind::Limit(Box::new(Decision { queue, seen, radio: None, heard: Vec::new(), orders: *orders }))
        });
        self.carry_out_orders(node, port, orders);
    }

    /// An interval is over that someone outside decides upon: the run pauses.
    pub(super) fn ask_outside(&mut self, node: NodeId, port: PortId, seen: Interval) {
        if let Some(interval) = self.nodes[node].egress.ports()[port].interval() {
            self.events.push(self.now + interval, Event::Control { node, port });
        }
        self.asked.push(Asked { node: node.into(), queue: port.into(), seen });
        self.until = self.now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Network;
    use control::Limit;
    use units::Duration;

    const CHAIN: &str = "duration = \"3 s\"\n[radio]\nrange = \"30 m\"\n[nodes]\nplacement = \"chain\"\ncount = 3\n\
                         spacing = \"30 m\"\n[queue]\nlimit = 200\ndiscipline = \"drop-head\"\n\
                         [[flow]]\nname = \"f\"\nfrom = \"n0\"\nto = \"n2\"\n\
                         traffic = { kind = \"cbr\", rate = \"4 Mb/s\", packet = \"1000 B\" }\n";
    const INTERVAL: Duration = Duration::from_millis(100);

    fn world(text: &str) -> World {
        World::new(&toml::from_str(text).expect("a description"), 1).expect("a network")
    }

    fn period() -> Period {
        Period::new(INTERVAL).expect("long enough")
    }

    #[test]
    fn the_run_pauses_at_each_interval_and_goes_on_as_ordered() {
        let mut world = world(CHAIN);
        assert_eq!(world.steer("n1", 0, period()).expect("a queue"), 1);
        let mut times = Vec::new();
        while !world.finished() {
            world.advance(Duration::from_secs(10));
            let Some(asked) = world.asked() else { continue };
            assert_eq!((asked.node, asked.queue, asked.seen.length), (1, 0, INTERVAL));
            times.push(world.now().since(units::Instant::ZERO));
            world.order(&asked, &Limit::Packets(3).into());
        }
        assert_eq!(times, (1..30).map(|step| INTERVAL * step).collect::<Vec<_>>());
        let outcome = world.finish();
        let limit = outcome.nodes[1].queues[0].limit_packets.expect("in packets");
        assert_eq!((limit.last, limit.max), (3.0, 200.0));
    }

    #[test]
    fn decisions_that_change_nothing_give_the_run_without_any() {
        let mut steered = world(CHAIN);
        steered.steer("n1", 0, period()).expect("a queue");
        while !steered.finished() {
            steered.advance_a_little();
            while let Some(asked) = steered.asked() {
                steered.order(&asked, &Limit::Packets(200).into());
            }
        }
        let (ours, plain) = (steered.finish(), world(CHAIN).finish());
        assert_eq!((ours.flows, ours.nodes), (plain.flows, plain.nodes));
    }

    #[test]
    fn a_network_tells_which_queues_have_controllers_and_loses_them() {
        let text = format!(
            "{CHAIN}[[node]]\nname = \"far\"\nposition = [\"90 m\", \"0 m\"]\n[node.queue]\ncontroller = \"adth\"\n"
        )
        .replace("[queue]", "[queue]\ncontroller = \"adth\"");
        let network: Network = toml::from_str(&text).expect("a description");
        let governed = World::new(&network, 1).expect("a network").governed();
        let nodes: Vec<_> = governed.iter().map(|place| (place.node.as_str(), place.queue)).collect();
        assert_eq!(nodes, [("n0", 0), ("n1", 0), ("n2", 0), ("far", 0)]);
        assert_eq!((governed[0].limit, governed[0].target), (Limit::Packets(200), Some(Duration::from_millis(200))));
        let without = World::new(&network.without_controllers(), 1).expect("a network");
        assert_eq!(without.governed(), []);
    }

    #[test]
    fn only_queues_that_nobody_decides_upon_can_be_steered() {
        let mut with_controller = world(&CHAIN.replace("[queue]", "[queue]\ncontroller = \"adth\""));
        assert!(with_controller.steer("n1", 0, period()).is_err());
        let mut plain = world(CHAIN);
        assert!(plain.steer("n9", 0, period()).expect_err("no such node").unknown().is_some());
        assert!(plain.steer("n1", 1, period()).is_err());
        plain.steer("n1", 0, period()).expect("once");
        assert!(plain.steer("n1", 0, period()).is_err());
    }
}
