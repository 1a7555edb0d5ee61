//! Runs the controllers' decisions and carries out their orders. A learning agent or a host program may give the orders
//! in place of a controller.
//!
//! The run pauses whenever an outside decision is due. The results do not depend on who decides: the same orders at the
//! same times give the same results as a controller that gives them.

use super::error::BuildError;
use super::nodes::{Node, port_name};
use super::places::{Asked, Governed, Place, Places, full_name};
use super::state::{Event, World};
use super::witness::{Witness, told_every};
use crate::engine::{NodeId, PortId};
use crate::trace::{Decision, TraceEventKind};
use control::{Controller as _, Orders, Period, Reads};

impl World {
    /// Finds the queue called `name`, which is a node's name and the queue's name in its results: `ap be`. The node's
    /// name alone suffices for the only queue of its radio that packets of a flow may pass, or else of its links.
    ///
    /// # Errors
    /// If no queue has this name, no flow passes it, or the node has several queues.
    pub fn place(&self, name: &str) -> Result<Place, BuildError> {
        let Self { nodes, flows, routing, rules, .. } = self;
        Places { nodes, flows, routing, rules }.find(name)
    }

    /// Lets an outside program decide about a queue from now on, every `interval`. For each decision the run pauses,
    /// [`asked`](Self::asked) returns the measurements, and [`order`](Self::order) takes the decision.
    ///
    /// # Errors
    /// If the queue has a controller.
    ///
    /// # Panics
    /// If this network does not have the queue.
    pub fn steer(&mut self, place: Place, interval: Period) -> Result<(), BuildError> {
        let (node, port): (NodeId, PortId) = place.into();
        if self.nodes[node].egress.ports[port].interval().is_some() {
            let message = format!(
                "the queue `{}` already has a controller: leave its `controller` out",
                full_name(&self.nodes, &self.rules, place)
            );
            return Err(BuildError::new("", message));
        }
        self.nodes[node].egress.ports[port].steer(self.now, interval.get());
        self.events.push(self.now + interval.get(), Event::Control { node, port });
        Ok(())
    }

    /// Returns the queues whose controllers decide at intervals, ordered by node and then by queue.
    pub fn governed(&self) -> Vec<Governed> {
        let of_node = |number: NodeId| {
            let node: &Node = &self.nodes[number];
            let ports = &node.egress.ports;
            let governed = ports.numbers().filter(|&port| ports[port].interval().is_some());
            let described = |port: PortId| Governed {
                place: Place { node: number.into(), queue: port.into() },
                node: node.name.clone(),
                queue: port_name(&self.nodes, node, port, &self.rules),
                limit: ports[port].queue.limit(),
                target: ports[port].controller.target_delay(),
            };
            governed.map(described).collect::<Vec<_>>()
        };
        self.nodes.numbers().flat_map(of_node).collect()
    }

    /// Returns the first decision that is due. [`advance`](Self::advance) returns when one becomes due.
    pub fn asked(&mut self) -> Option<Asked> {
        (!self.asked.is_empty()).then(|| self.asked.remove(0))
    }

    /// Carries out what an outside program has decided after it was [`asked`](Self::asked).
    pub fn order(&mut self, asked: &Asked, orders: &Orders) {
        let &Asked { place, seen } = asked;
        let (node, port): (NodeId, PortId) = place.into();
        self.accounts(node).witness.saw(|| {
            let Place { queue, .. } = place;
            TraceEventKind::Limit(Box::new(Decision { queue, seen, radio: None, heard: Vec::new(), orders: *orders }))
        });
        self.carry_out_orders(node, port, orders);
    }

    /// Handles the end of a controller's interval. The run pauses for a decision by an outside program.
    pub(crate) fn control(&mut self, node: NodeId, port: PortId) {
        let Self { nodes, events, watch, now, medium, rules, .. } = self;
        let of = &mut nodes[node];
        if let Some(seen) = of.egress.ports[port].steered(*now) {
            if let Some(interval) = of.egress.ports[port].interval() {
                events.push(*now + interval, Event::Control { node, port });
            }
            self.asked.push(Asked { place: Place { node: node.into(), queue: port.into() }, seen });
            self.until = self.now;
            return;
        }
        let radio = of.seen_by_radio(port, *now, || medium.busy_from_start(node.into(), *now), rules);
        let Node { egress, neighbours, .. } = of;
        let controlled = &mut egress.ports[port];
        let heard = match neighbours {
            Some(neighbours) if controlled.needs().reads.contains(Reads::NOTES) => neighbours.table.heard(*now),
            Some(_) | None => &[],
        };
        let (seen, orders) = controlled.decide(*now, radio, heard);
        let queue = port.into();
        Witness { watch, now: *now, node }
            .saw(|| TraceEventKind::Limit(Box::new(Decision { queue, seen, radio, heard: heard.to_vec(), orders })));
        events.push(*now + told_every(controlled), Event::Control { node, port });
        self.carry_out_orders(node, port, &orders);
    }

    /// Carries out the orders of a port's controller.
    pub(super) fn carry_out_orders(&mut self, node: NodeId, port: PortId, orders: &Orders) {
        let now = self.now;
        let (of, rules, mut accounts) = self.node_and_accounts(node);
        of.egress.ports[port].obey(now, orders, &mut accounts.dropping());
        if let Some(due) = of.obey(port, orders, now, rules) {
            debug_assert!(due >= now, "a note that is ordered is told later");
            self.events.push(due, Event::Note { node });
        }
        self.refill(node, port, None);
        self.resume(node, port);
    }
}

/// Checks that no discipline that the host program [registered](queue::register) has failed.
///
/// # Errors
/// The first failure, with an empty path. A queue whose discipline failed drops all packets.
pub fn sound(world: &World) -> Result<(), BuildError> {
    // Hosts call this often, and most programs have registered no discipline.
    if !queue::own::is_used() {
        return Ok(());
    }
    let fault = world.nodes.iter().find_map(|node| node.egress.ports.iter().find_map(|port| port.queue.fault()));
    fault.map_or(Ok(()), |why| Err(BuildError::new("", why)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Network;
    use control::{Access, Limit};
    use units::{Duration, Rate};

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
        let place = world.place("n1").expect("a queue");
        assert_eq!(place, Place { node: 1, queue: 0 });
        world.steer(place, period()).expect("no controller");
        let mut times = Vec::new();
        while !world.finished() {
            world.advance(Duration::from_secs(10));
            let Some(asked) = world.asked() else { continue };
            assert_eq!((asked.place, asked.seen.length), (place, INTERVAL));
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
        steered.steer(steered.place("n1").expect("a queue"), period()).expect("no controller");
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
        let nodes: Vec<_> = governed.iter().map(|place| (place.node.as_str(), place.queue.as_str())).collect();
        assert_eq!(nodes, [("n0", "be"), ("n1", "be"), ("n2", "be"), ("far", "be")]);
        assert_eq!(governed[3].place, Place { node: 3, queue: 0 });
        assert_eq!((governed[0].limit, governed[0].target), (Limit::Packets(200), Some(Duration::from_millis(200))));
        let without = World::new(&network.without_controllers(), 1).expect("a network");
        assert_eq!(without.governed(), []);
    }

    #[test]
    fn only_queues_that_nobody_decides_upon_can_be_steered() {
        let relay = Place { node: 1, queue: 0 };
        let mut with_controller = world(&CHAIN.replace("[queue]", "[queue]\ncontroller = \"adth\""));
        assert!(with_controller.steer(relay, period()).is_err());
        let mut plain = world(CHAIN);
        plain.steer(relay, period()).expect("once");
        let twice = plain.steer(relay, period()).expect_err("twice").to_string();
        assert_eq!(twice, "the queue `n1 be` already has a controller: leave its `controller` out");
    }

    /// A refusal and the names that it offers.
    fn refused(world: &World, name: &str) -> (String, Vec<String>) {
        let error = world.place(name).expect_err("no such place");
        (error.to_string(), error.unknown().expect("names").known.clone())
    }

    #[test]
    fn the_queues_of_edca_have_names_and_those_that_no_flow_passes_are_refused() {
        let text = CHAIN.replace("[queue]", "[mac]\naccess = \"edca\"\n[queue]");
        let world = world(&text);
        let relay = Place { node: 1, queue: 2 };
        assert_eq!((world.place("n1").unwrap(), world.place("n1 be").unwrap()), (relay, relay));
        assert_eq!(refused(&world, "n1 vo"), ("no flow passes the queue `n1 vo`".into(), vec!["n1 be".into()]));
        let (message, known) = refused(&world, "n2");
        assert_eq!(message, "no flow passes the queues of `n2`");
        assert_eq!(known, ["n0 be", "n1 be"]);
        let (message, known) = refused(&world, "n1 bee");
        assert_eq!(message, "there is no node or queue `n1 bee`");
        assert_eq!(known, ["n0", "n1", "n2", "n0 be", "n1 be"]);
    }

    #[test]
    fn a_node_whose_queues_several_flows_pass_does_not_name_one() {
        let second = "[[flow]]\nname = \"call\"\nfrom = \"n2\"\nto = \"n0\"\ncategory = \"voice\"\n\
                      traffic = { kind = \"cbr\", rate = \"64 kb/s\", packet = \"160 B\" }\n";
        let text = CHAIN.replace("[queue]", "[mac]\naccess = \"edca\"\n[queue]") + second;
        let (message, known) = refused(&world(&text), "n1");
        assert_eq!(message, "flows pass several queues of `n1`");
        assert_eq!(known, ["n1 vo", "n1 be"]);
    }

    #[test]
    fn stations_links_and_the_way_back_have_queues() {
        let text = "duration = \"1 s\"\n[radio]\nstandard = \"802.11g\"\n[[node]]\nname = \"ap\"\n\
            position = [\"0 m\", \"0 m\"]\nrole = \"access-point\"\nqueues = \"per-station\"\n\
            [[node]]\nname = \"s1\"\nposition = [\"5 m\", \"0 m\"]\nrole = \"station\"\n\
            [[node]]\nname = \"s2\"\nposition = [\"0 m\", \"5 m\"]\nrole = \"station\"\n\
            [[node]]\nname = \"server\"\nrole = \"wired\"\n\
            [[wired]]\nbetween = [\"server\", \"ap\"]\nrate = \"100 Mb/s\"\ndelay = \"5 ms\"\n\
            [[flow]]\nname = \"down\"\nfrom = \"server\"\nto = \"s2\"\ntransport = \"tcp\"\n\
            traffic = { kind = \"greedy\" }\n";
        let world = world(text);
        let place = |name: &str| world.place(name).map(|Place { node, queue }| (node, queue)).unwrap();
        // Acknowledgements go back by the station and the access point's link.
        assert_eq!(["ap", "ap s2", "ap wired-to-server", "s2"].map(place), [(0, 1), (0, 1), (0, 2), (2, 0)]);
        assert_eq!([place("server"), place("server wired-to-ap")], [(3, 0); 2]);
        let (message, known) = refused(&world, "ap s1");
        assert_eq!(message, "no flow passes the queue `ap s1`");
        assert_eq!(known, ["ap s2", "ap wired-to-server"]);
    }

    #[test]
    fn every_node_may_relay_where_routes_are_yet_to_be_found() {
        let world = world(&CHAIN.replace("[queue]", "[routing]\nprotocol = \"aodv\"\n[queue]"));
        assert!((0..3).all(|node| world.place(&format!("n{node}")) == Ok(Place { node, queue: 0 })));
    }

    /// Length in bits of a packet of 1000 B with the headers of UDP and IP.
    const PACKET: f64 = 8_224.0;

    /// Two stations that always have a packet for the access point, which has one for each and for the wired server.
    fn busy() -> World {
        let flow = |name: &str, from: &str, to: &str| {
            format!(
                "[[flow]]\nname = \"{name}\"\nfrom = \"{from}\"\nto = \"{to}\"\n\
                 traffic = {{ kind = \"saturated\", packet = \"1000 B\" }}\n"
            )
        };
        let network = "duration = \"20 s\"\n[[node]]\nname = \"ap\"\nrole = \"access-point\"\nqueues = \"per-station\"\n\
                       position = [\"0 m\", \"0 m\"]\n[[node]]\nname = \"a\"\nposition = [\"5 m\", \"0 m\"]\n\
                       [[node]]\nname = \"b\"\nposition = [\"0 m\", \"5 m\"]\n[[node]]\nname = \"server\"\nrole = \"wired\"\n\
                       [[wired]]\nbetween = [\"server\", \"ap\"]\nrate = \"10 Mb/s\"\n";
        let flows = [("up", "a", "ap"), ("to-a", "ap", "a"), ("to-b", "ap", "b"), ("out", "ap", "server")];
        world(&flows.iter().fold(network.to_owned(), |text, (name, from, to)| text + &flow(name, from, to)))
    }

    fn order(world: &mut World, node: u32, port: u32, rate: Option<Rate>) {
        let orders = Orders { rate, ..Orders::from(Limit::Packets(1_000)) };
        world.carry_out_orders(node.into(), port.into(), &orders);
    }

    /// Packets of every flow that have arrived so far.
    fn arrived(world: &World) -> Vec<f64> {
        world.flows.iter().map(|flow| flow.record.received as f64).collect()
    }

    #[test]
    fn a_port_keeps_its_rate_whatever_it_is_for_and_the_others_have_what_is_left() {
        let mut free = busy();
        free.advance(Duration::from_secs(10));
        let mut held = busy();
        for (node, port, kbps) in [(0, 0, 300), (0, 2, 2_000), (1, 0, 500)] {
            order(&mut held, node, port, Some(Rate::kbps(kbps)));
        }
        held.advance(Duration::from_secs(10));
        let (free, held) = (arrived(&free), arrived(&held));
        // Bursts and packets on their way make some packets more or less in 10 s.
        for (flow, rate) in [(0, 500e3), (1, 300e3), (3, 2e6)] {
            let expected = rate * 10.0 / PACKET;
            assert!((held[flow] - expected).abs() < 5.0, "{held:?} of flow {flow}, {expected} by its rate");
            assert!(free[flow] > 1.1 * expected, "{free:?} without a rate");
        }
        assert!(held[2] > 1.5 * free[2], "{held:?} beside {free:?}");
    }

    #[test]
    fn a_rate_moves_while_the_run_goes_on() {
        for (node, port, flow) in [(0, 2, 3), (1, 0, 0)] {
            let mut world = busy();
            let mut counted = vec![0.0];
            for rate in [Some(Rate::kbps(400)), Some(Rate::bps(0)), Some(Rate::kbps(200)), None] {
                order(&mut world, node, port, rate);
                world.advance(Duration::from_secs(4));
                counted.push(arrived(&world)[flow]);
            }
            let each: Vec<f64> = counted.windows(2).map(|pair| pair[1] - pair[0]).collect();
            for (count, expected) in each.iter().zip([400e3, 0.0, 200e3]) {
                assert!((count - expected * 4.0 / PACKET).abs() < 5.0, "{each:?}");
            }
            assert!(each[3] > 2.0 * each[0], "{each:?}: no longer held back");
        }
    }

    #[test]
    fn a_port_that_is_held_back_costs_one_event_a_packet() {
        let flow = "[[flow]]\nname = \"f\"\nfrom = \"n0\"\nto = \"n1\"\n\
                    traffic = { kind = \"cbr\", rate = \"4 Mb/s\", packet = \"1000 B\" }\n";
        let network = "duration = \"10 s\"\n[nodes]\ncount = 2\nplacement = \"chain\"\nspacing = \"5 m\"\n";
        let mut free = world(&format!("{network}{flow}"));
        free.advance(Duration::from_secs(10));
        let mut held = world(&format!("{network}{flow}"));
        order(&mut held, 0, 0, Some(Rate::kbps(400)));
        held.advance(Duration::from_secs(10));
        let [free_packets, held_packets] = [&free, &held].map(|world| arrived(world)[0]);
        // Of each packet that was sent: its exchange. Of those that were not: no more than that they were made.
        let exchange = (free.handled as f64 - free_packets) / free_packets;
        let expected = 5_000.0 + held_packets * (exchange + 1.0);
        assert!((held.handled as f64) < 1.01 * expected, "{} events, {expected} by these accounts", held.handled);
    }

    /// Two stations with a saturated flow each from 1 ms on, under EDCA as the table says.
    fn contending(edca: &str) -> World {
        let flow = |from: &str| {
            format!(
                "[[flow]]\nname = \"{from}\"\nfrom = \"{from}\"\nto = \"n0\"\nstart = \"1 ms\"\n\
                 traffic = {{ kind = \"saturated\", packet = \"1000 B\" }}\n"
            )
        };
        world(&format!(
            "duration = \"20 s\"\n[radio]\nstandard = \"802.11a\"\n[mac]\naccess = \"edca\"\n[mac.edca]\n{edca}\n\
             [nodes]\ncount = 3\nplacement = \"circle\"\nspacing = \"5 m\"\n{}{}",
            flow("n1"),
            flow("n2")
        ))
    }

    fn order_access(world: &mut World, node: u32, access: Option<Access>) {
        let orders = Orders { access, ..Orders::from(Limit::Packets(1_000)) };
        world.nodes[node.into()].order_access(2.into(), &orders, &world.rules);
    }

    const LONG: Access = Access { aifsn: 5, cw_min: 63, cw_max: 127, txop: Duration::ZERO };

    #[test]
    fn ordered_or_configured_a_category_contends_alike() {
        let mut configured = contending("best_effort = { aifsn = 5, cw_min = 63, cw_max = 127, txop_limit = \"0 s\" }");
        let mut ordered = contending("");
        let mut other = contending("");
        (1..=2).for_each(|node| order_access(&mut ordered, node, Some(LONG)));
        for world in [&mut configured, &mut ordered, &mut other] {
            world.advance(Duration::from_secs(5));
        }
        assert_eq!((configured.handled, arrived(&configured)), (ordered.handled, arrived(&ordered)));
        assert_ne!(other.handled, ordered.handled);
    }

    #[test]
    fn a_category_contends_otherwise_from_the_order_on_and_as_configured_without_one() {
        let none = "best_effort.txop_limit = \"0 s\"";
        let mut world = contending(none);
        let mut counted = vec![vec![0.0, 0.0]];
        for access in [None, Some(LONG), None] {
            order_access(&mut world, 1, access);
            world.advance(Duration::from_secs(5));
            counted.push(arrived(&world));
        }
        let share = |pair: &[Vec<f64>]| (pair[1][0] - pair[0][0]) / (pair[1][1] - pair[0][1]);
        let shares: Vec<f64> = counted.windows(2).map(share).collect();
        assert!((0.9..1.1).contains(&shares[0]) && (0.9..1.1).contains(&shares[2]), "{shares:?}");
        // 7.5 slots on average become 31.5, and they begin two slots later.
        assert!(shares[1] < 0.25, "{shares:?}");
    }
}
