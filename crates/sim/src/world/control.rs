//! Runs the controllers' decisions and carries out their orders.

use super::nodes::Node;
use super::places::{Asked, Place};
use super::state::{Event, World};
use super::witness::{Witness, told_every};
use crate::engine::{NodeId, PortId};
use crate::trace::{Decision, TraceEventKind};
use control::{Orders, Reads};

impl World {
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

#[cfg(test)]
mod tests {
    use super::*;
    use control::{Access, Limit};
    use units::{Duration, Rate};

    /// Length in bits of a packet of 1000 B with the headers of UDP and IP.
    const PACKET: f64 = 8_224.0;

    /// A world from its description.
    fn world(text: &str) -> World {
        World::new(&toml::from_str(text).expect("a description"), 1).expect("a network that can be built")
    }

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
