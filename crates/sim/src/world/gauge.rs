//! Feeds frames and packets to the gauges of nodes whose controllers read radio statistics.

use crate::engine::{Arena, Bitmap, Handle};
use crate::mac::{BROADCAST, Finished, Frame, Kind, Station};
use crate::net::{Load, Packet};
use crate::record::{Gauge, RealTime};
use units::{Duration, Instant};

impl Gauge {
    /// Records that the node begins a frame of this duration.
    pub(super) fn sends_frame(&mut self, now: Instant, frame: &Frame, length: Duration) {
        self.sends(now, length);
        if frame.to == BROADCAST {
            return;
        }
        match frame.kind {
            Kind::Data { psdu, .. } => self.sends_data(frame.mode, psdu, 1),
            Kind::Aggregate { psdu, frames } | Kind::Triggered { psdu, frames: frames @ 1.. } => {
                self.sends_data(frame.mode, psdu, frames.into());
            }
            _ => {}
        }
    }

    /// Records a frame of another node, or those of its MPDUs that have arrived.
    pub(super) fn hears_frame(&mut self, frame: &Frame, sender: &Station, intact: &Bitmap, packets: &Arena<Packet>) {
        let bytes = match frame.kind {
            // These frames name only their receiver.
            Kind::Cts | Kind::SharedCts | Kind::Ack | Kind::Grant => return,
            Kind::Data { packet, .. } => real_time_bytes(packets, RealTime::default(), packet),
            // Of several parts, a listener gets only its own.
            Kind::MultiUser { .. } if frame.to == BROADCAST => RealTime::default(),
            Kind::Aggregate { .. } | Kind::MultiUser { .. } | Kind::Triggered { .. } => {
                let mpdus = sender.held.in_flight_to(frame.to).zip(0..).filter(|&(_, index)| intact.has(index));
                mpdus.fold(RealTime::default(), |sum, (mpdu, _)| real_time_bytes(packets, sum, mpdu.packet))
            }
            _ => RealTime::default(),
        };
        self.hears(frame.from);
        self.real_time(bytes);
    }

    /// Records a packet that the MAC has finished. The MAC had it for `service`.
    pub(super) fn ends(&mut self, packet: &Packet, finished: Finished, service: Duration) {
        if packet.load.is_signal() {
            return;
        }
        self.finishes(service);
        self.real_time(RealTime::default().and(packet.dscp, packet.length));
        if finished.delivered && matches!(packet.load, Load::Flow(_)) {
            self.goes_on(packet.travelled() + 1);
        }
    }
}

/// Adds to `sum` the bytes of real-time packets in a frame, from the first packet on.
fn real_time_bytes(packets: &Arena<Packet>, sum: RealTime, first: Handle) -> RealTime {
    let chain = std::iter::successors(Some(first), |&packet| packets.get(packet).transit.next);
    chain.map(|packet| packets.get(packet)).fold(sum, |sum, packet| sum.and(packet.dscp, packet.length))
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::engine::{NodeId, PortId};
    use crate::world::state::World;
    use control::{Radio, Reads};
    use units::Rate;

    /// A world with this description and flows that start at 1 ms, in which every node measures; packets are late after
    /// `late_after` with the MAC.
    fn measuring(network: &str, flows: &[(&str, &str, &str)], late_after: Duration) -> World {
        let flow = |(from, to, more): &(&str, &str, &str)| {
            format!("[[flow]]\nname = \"{from}-{to}\"\nfrom = \"{from}\"\nto = \"{to}\"\nstart = \"1 ms\"\n{more}\n")
        };
        let text = network.to_owned() + &flows.iter().map(flow).collect::<String>();
        let network = toml::from_str(&text).expect("a description");
        let mut world = World::new(&network, 1).expect("a network that can be built");
        let nodes = world.nodes.len();
        for node in world.nodes.iter_mut() {
            let ports = node.egress.ports.numbers().map(|port| (port, Reads::RADIO, Some(late_after)));
            node.gauge = Gauge::new(ports, nodes);
        }
        world
    }

    /// Measurements of a port since the controller last read them.
    pub(in crate::world) fn seen_by_radio(world: &mut World, node: NodeId, port: PortId) -> Option<Radio> {
        let World { nodes, medium, rules, now, .. } = world;
        nodes[node].seen_by_radio(port, *now, || medium.busy_from_start(node.into(), *now), rules)
    }

    /// Measurements of the last port of each node over the second after the call.
    fn second(world: &mut World) -> Vec<Radio> {
        world.advance(Duration::from_secs(1));
        let nodes: Vec<NodeId> = world.nodes.numbers().collect();
        let mut told = |node| {
            let last = world.nodes[node].egress.ports.numbers().last();
            seen_by_radio(world, node, last.expect("it has ports"))
        };
        nodes.into_iter().map(|node| told(node).expect("it measures")).collect()
    }

    const fn us(n: u64) -> Duration {
        Duration::from_micros(n)
    }

    /// 802.11b at 11 Mb/s without errors, nodes 10 m apart.
    const CHAIN: &str = "duration = \"10 s\"\n[radio]\nerrors.model = \"none\"\n[nodes]\nplacement = \"chain\"\n\
                         spacing = \"10 m\"\n";
    const SLOW: &str = "traffic = { kind = \"cbr\", rate = \"80 kb/s\", packet = \"1000 B\" }";
    /// Durations on the air: 1064 B at 11 Mb/s, and an ACK, each after its preamble.
    const DATA: u64 = 192 + 774;
    const ACK: u64 = 192 + 112;

    #[test]
    fn the_time_of_an_interval_is_what_ten_exchanges_take_and_the_rest_is_idle() {
        let mut world = measuring(&(CHAIN.to_owned() + "count = 2\n"), &[("n0", "n1", SLOW)], Duration::MAX);
        for _ in 0..2 {
            let seen = second(&mut world);
            assert_eq!([seen[0].sending, seen[0].busy], [us(10 * DATA), us(10 * ACK)]);
            assert_eq!([seen[1].sending, seen[1].busy], [us(10 * ACK), us(10 * DATA)]);
            // Only data name their sender.
            assert_eq!([seen[0].contenders, seen[1].contenders], [0, 1]);
            let link = |radio: &Radio| (radio.phy_rate, radio.frames, radio.mpdus);
            assert_eq!(link(&seen[0]), (Rate::mbps(11), 10, 10));
            assert_eq!(link(&seen[1]), (Rate::bps(0), 0, 0));
            // 2304 B, and 28 B of MAC header and checksum.
            let largest = |radio: &Radio| (radio.aggregate_max.count(), radio.aggregate_mpdus_max);
            assert_eq!(seen.iter().map(largest).collect::<Vec<_>>(), [(2_332, 1); 2]);
        }
    }

    #[test]
    fn an_interval_that_ends_within_a_frame_has_the_part_up_to_there() {
        let mut world = measuring(&(CHAIN.to_owned() + "count = 2\n"), &[("n0", "n1", SLOW)], Duration::MAX);
        // The frame begins when the packet comes, at 1 ms, and is heard 33 ns later.
        world.advance(us(1_500));
        let mut read = |node: u32| seen_by_radio(&mut world, node.into(), 0.into()).expect("it measures");
        let [sender, receiver] = [read(0), read(1)];
        assert_eq!([sender.sending, sender.busy], [us(500), us(0)]);
        assert_eq!([receiver.sending, receiver.busy], [us(0), us(500) - Duration::from_nanos(33)]);
        // Reported values are not reported again.
        assert_eq!(read(0).sending, us(0));
    }

    #[test]
    fn the_end_of_the_warm_up_makes_no_difference_to_what_a_controller_sees() {
        let network = CHAIN.to_owned() + "count = 2\n";
        let mut warm = measuring(&format!("warmup = \"1200 us\"\n{network}"), &[("n0", "n1", SLOW)], Duration::MAX);
        let mut cold = measuring(&network, &[("n0", "n1", SLOW)], Duration::MAX);
        assert_eq!(second(&mut warm), second(&mut cold));
    }

    #[test]
    fn a_packet_is_late_whose_exchange_takes_longer_than_the_bound() {
        // Data, SIFS, ACK, and 10 m there and back at the speed of light.
        let delay = us(DATA + 10 + ACK) + Duration::from_nanos(2 * 33);
        for (bound, late) in [(delay, 0), (delay - Duration::from_nanos(1), 10)] {
            let mut world = measuring(&(CHAIN.to_owned() + "count = 2\n"), &[("n0", "n1", SLOW)], bound);
            assert_eq!(second(&mut world).iter().map(|radio| radio.late).collect::<Vec<_>>(), [late, 0]);
        }
    }

    #[test]
    fn real_time_packets_are_counted_by_whoever_sends_or_hears_them() {
        let call = "class = \"real-time\"\ntraffic = { kind = \"cbr\", rate = \"64 kb/s\", packet = \"160 B\" }";
        let flows = [("n0", "n1", call), ("n1", "n0", SLOW)];
        // A frame reaches 30 m, so that the fifth and sixth node do not hear the first.
        let network = CHAIN.replacen("[radio]\n", "[radio]\nrange = \"30 m\"\n", 1) + "count = 6\n";
        let mut world = measuring(&network, &flows, Duration::MAX);
        let seen = second(&mut world);
        let heard: Vec<u64> = seen.iter().map(|radio| radio.real_time.count()).collect();
        // 50 packets of 160 B and the headers of UDP and IP.
        let all = 50 * 188;
        assert_eq!(heard, [all, all, all, all, 0, 0]);
        assert_eq!(seen.iter().map(|radio| radio.contenders).collect::<Vec<_>>(), [1, 1, 2, 2, 1, 0]);
    }

    #[test]
    fn hops_are_those_that_a_packet_has_come_with_the_one_from_here() {
        let network = CHAIN.replacen("[radio]\n", "[radio]\nrange = \"10 m\"\n", 1) + "count = 4\n";
        let mut world = measuring(&network, &[("n0", "n3", SLOW), ("n1", "n0", SLOW)], Duration::MAX);
        let hops: Vec<u8> = second(&mut world).iter().map(|radio| radio.hops).collect();
        assert_eq!(hops, [1, 2, 3, 0]);
    }

    #[test]
    fn aggregates_count_once_with_their_mpdus_and_their_limit_is_the_tighter_one() {
        // 36 us of preamble, then 260 bits in each 4 us at MCS 7, of which 22 bits are for the scrambler and tail. Of a TXOP,
        // SIFS and a BlockAck at 24 Mb/s are the receiver's.
        let in_4_ms = (991 * 260 - 22) / 8;
        let in_txop = ((2_528 - 16 - 32 - 36) / 4 * 260 - 22) / 8;
        let none = "edca.background.txop_limit = \"0 s\"\n";
        let cases = [
            ("65535 B", 64, none, in_4_ms),
            ("30 kB", 64, none, 30_000),
            ("65535 B", 64, "", in_txop),
            ("65535 B", 8, none, in_4_ms),
        ];
        for (ampdu, frames, txop, largest) in cases {
            let network = format!(
                "duration = \"10 s\"\n[radio]\nstandard = \"802.11n\"\nfrequency = \"5.18 GHz\"\nmcs = 7\n\
                 errors.model = \"none\"\n[mac]\naccess = \"edca\"\naggregation = {{ ampdu = \"{ampdu}\", ampdu_frames = {frames} }}\n\
                 {txop}\
                 [nodes]\ncount = 2\nplacement = \"chain\"\nspacing = \"10 m\"\n"
            );
            let full =
                "category = \"background\"\ntraffic = { kind = \"cbr\", rate = \"80 Mb/s\", packet = \"1000 B\" }";
            let mut world = measuring(&network, &[("n0", "n1", full)], Duration::MAX);
            let seen = second(&mut world);
            assert_eq!((seen[0].aggregate_max.count(), seen[0].phy_rate), (largest, Rate::mbps(65)));
            assert_eq!(seen[0].aggregate_mpdus_max, frames);
            // 1000 B with headers, QoS control and delimiter are 1072 B.
            let most = (largest / 1_072).min(frames.into());
            let record = &world.nodes[0.into()].record;
            // Packets in flight have no report yet.
            let in_flight = world.nodes[0.into()].station.held.in_flight().count() as u64;
            assert_eq!((seen[0].frames, seen[0].mpdus), (record.mac.attempts, record.mpdus + in_flight));
            let mean = seen[0].mpdus as f64 / seen[0].frames as f64;
            assert!(mean > 0.95 * most as f64 && mean <= most as f64, "{mean} in a frame, {most} at most");
        }
    }
}
