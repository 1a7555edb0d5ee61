//! Notes: small broadcasts that a controller orders; every neighbour that receives one keeps it.
//!
//! A note goes directly to the MAC, in the highest access category, as management frames do (IEEE 802.11-2016,
//! 10.2.4.2), and waits in no queue: it must not wait for the queue that it describes, take a place in it, or be
//! counted in it. On the air it is a frame like any other.

use super::nodes::Node;
use super::state::{Event, World};
use super::watch::Witness;
use crate::config::Dscp;
use crate::engine::{Arena, Handle, NodeId, Stream};
use crate::mac::BROADCAST;
use crate::net::{Load, Packet, Waiting, network_bytes};
use crate::record::Ledger;
use crate::trace::TraceEventKind;
use control::{Heard, Neighbours, Note};
use queue::Ecn;
use units::{Bytes, Duration, Instant};

impl World {
    /// Takes a note that a controller orders.
    pub(crate) fn order_note(&mut self, node: NodeId, news: &Note) {
        let Some(neighbours) = &mut self.nodes[node].neighbours else { return };
        if let Some(due) = neighbours.order(self.now, news) {
            self.events.push(due, Event::Note { node });
        }
    }

    /// Sends a note that is due. It replaces the former one if that has not left yet.
    pub(crate) fn tell_note(&mut self, node: NodeId) {
        let Node { neighbours, egress, station, .. } = &mut self.nodes[node];
        let Some(news) = neighbours.as_mut().map(|neighbours| neighbours.due()) else { return };
        let length = note_bytes(&news);
        if let Some(former) = egress.note_mut() {
            let packet = self.packets.get_mut(former.packet);
            if let Load::Note(content) = packet.load {
                *self.posted.contents.get_mut(content) = news;
                (former.length, packet.length) = (length, length);
                return;
            }
        }
        let load = Load::Note(self.posted.contents.insert(news));
        self.posted.ledger.made += 1;
        let dscp = Dscp::SIGNALLING;
        let packet = self.packets.insert(Packet { ttl: 1, dscp, ..Packet::new(load, self.now, length) });
        let flow = u32::MAX;
        let created = self.now;
        station.held.take_turns();
        egress.post(Waiting { packet, to: BROADCAST, length, flow, dscp, ecn: Ecn::NotEct, created });
        self.witness_note(node, node, &news);
        self.serve(node);
    }

    /// Stores a neighbour's note.
    pub(super) fn take_note(&mut self, node: NodeId, from: u32, content: Handle) {
        let news = self.posted.contents.get(content);
        if let Some(neighbours) = &mut self.nodes[node].neighbours {
            neighbours.hear(self.now, from, &news);
            self.witness_note(node, from.into(), &news);
        }
    }

    /// Ends a note that has passed all listeners.
    pub(super) fn finish_note(&mut self, packet: Handle, content: Handle) {
        self.packets.remove(packet);
        self.posted.contents.remove(content);
        self.posted.ledger.finished += 1;
    }

    fn witness_note(&mut self, node: NodeId, from: NodeId, news: &Note) {
        let Self { watch, now, .. } = self;
        Witness { watch, now: *now, node }.saw(|| TraceEventKind::Note { from: from.into(), note: Box::new(*news) });
    }
}

/// Contents of notes in flight, and their counts.
#[derive(Debug, Default)]
pub(crate) struct Posted {
    pub(crate) contents: Arena<Note>,
    pub(crate) ledger: Ledger,
}

/// Length of a note's fields after the headers of UDP and IP: domain 2 B, hops 1 B and a byte of version; rate, packets
/// and bytes in the queue, 8 B each.
const FIELDS: Bytes = Bytes::new(28);
/// Length of each link in a note: node 4 B, time 4 B, packets per second 3 B, hops 1 B.
const LINK: Bytes = Bytes::new(12);

/// Length of a note's packet at the network layer.
pub(crate) fn note_bytes(note: &Note) -> Bytes {
    network_bytes(FIELDS + LINK * note.links.len() as u64)
}

/// A node's own note, its neighbours' newest notes, and its random stream.
#[derive(Debug)]
pub(crate) struct Notes {
    table: Neighbours,
    chance: Stream,
}

impl Notes {
    /// Neither a note to send nor one heard.
    pub(crate) fn new(chance: Stream) -> Self {
        Self { table: Neighbours::new(), chance }
    }

    /// As [`Neighbours::order`].
    pub(crate) fn order(&mut self, now: Instant, note: &Note) -> Option<Instant> {
        let Self { table, chance } = self;
        table.order(now, note, |most| Duration::from_nanos(chance.up_to(most.as_nanos())))
    }

    /// As [`Neighbours::due`].
    pub(crate) fn due(&mut self) -> Note {
        self.table.due()
    }

    /// As [`Neighbours::hear`].
    pub(crate) fn hear(&mut self, now: Instant, from: u32, note: &Note) {
        self.table.hear(now, from, note);
    }

    /// As [`Neighbours::heard`].
    pub(crate) fn heard(&mut self, now: Instant) -> &[Heard] {
        self.table.heard(now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::{Purpose, Stream};
    use crate::record::Gauge;
    use control::{Heard, Link, Reads};
    use units::{Duration, Instant};

    /// 802.11b without errors: nodes 20 m apart of which each hears only the next, by the two-ray model's sharp edge.
    const CHAIN: &str = "duration = \"10 s\"\n[radio]\nrange = \"30 m\"\ncarrier_sense_range = \"30 m\"\nerrors.model = \"none\"\n\
                         [nodes]\nplacement = \"chain\"\nspacing = \"20 m\"\n";
    /// 28 B of fields, UDP, IP, LLC and the MAC header with its check sum are 92 B: at the basic rate of 1 Mb/s, behind the
    /// long preamble.
    const NOTE: Duration = Duration::from_micros(192 + 736);

    /// A world with this description in which every node sends and stores notes.
    fn telling(text: &str) -> World {
        let mut world = World::new(&toml::from_str(text).expect("a description"), 1).expect("a network");
        let nodes = world.nodes.len();
        for node in world.nodes.iter_mut() {
            node.neighbours = Some(Box::new(Notes::new(Stream::new(1, &node.name, Purpose::Notes))));
            node.gauge = Gauge::new([(0.into(), Reads::RADIO, Some(Duration::ZERO))].into_iter(), nodes);
        }
        world
    }

    fn news(hops: u8) -> Note {
        Note { hops, ..Note::default() }
    }

    fn heard(world: &mut World, node: u32) -> Vec<Heard> {
        let now = world.now;
        world.nodes[node.into()].neighbours.as_mut().expect("it listens").heard(now).to_vec()
    }

    #[test]
    fn a_note_takes_its_air_time_and_reaches_those_in_range_and_no_others() {
        let mut world = telling(&(CHAIN.to_owned() + "count = 4\n"));
        world.watch(&[0, 1, 2, 3]);
        world.advance(Duration::from_secs(1));
        world.order_note(1.into(), &news(7));
        world.advance(Duration::from_secs(1));
        // On a medium that is idle it goes out when it is due, and is there when its last bit is, 67 ns later.
        let told: Vec<_> =
            world.take_events().into_iter().filter(|event| matches!(event.what, TraceEventKind::Note { .. })).collect();
        let due = told[0].at;
        assert!(due.since(Instant::ZERO + Duration::from_secs(1)) <= Duration::from_millis(10), "{due:?}");
        let arrives = due + NOTE + Duration::from_nanos(67);
        let seen: Vec<_> = told.iter().map(|event| (event.at, event.node, event.what.clone())).collect();
        let what = TraceEventKind::Note { from: 1, note: Box::new(news(7)) };
        assert_eq!(seen, [(due, 1, what.clone()), (arrives, 0, what.clone()), (arrives, 2, what)]);
        let age = world.now.since(arrives);
        assert_eq!(heard(&mut world, 0), [Heard { from: 1, age, note: news(7) }]);
        assert_eq!(heard(&mut world, 2), heard(&mut world, 0));
        assert!(heard(&mut world, 1).is_empty() && heard(&mut world, 3).is_empty());
        world.advance(Duration::from_millis(5));
        assert_eq!(heard(&mut world, 0)[0].age, age + Duration::from_millis(5));
        // Channel time, and a station heard; no packet, however long its MAC delay, and no data frame.
        let [sender, receiver] =
            [1, 0].map(|node: u32| world.seen_by_radio(node.into(), 0.into()).expect("it measures"));
        assert_eq!(
            [sender.sending, sender.busy, receiver.sending, receiver.busy],
            [NOTE, Duration::ZERO, Duration::ZERO, NOTE]
        );
        assert_eq!((sender.late, sender.frames, sender.hops, receiver.contenders), (0, 0, 0, 1));
        let queue = world.nodes[1.into()].egress.ports()[0.into()].queue();
        assert_eq!((queue.totals().arrived.packets, queue.totals().sent.packets), (0, 0));
        world.finish();
    }

    #[test]
    fn neighbours_that_order_notes_at_one_time_hear_each_other() {
        let mut world = telling(&(CHAIN.replace("20 m", "2 m") + "count = 8\n"));
        for _ in 0..10 {
            for node in 0..8_u32 {
                world.order_note(node.into(), &news(1));
            }
            world.advance(Duration::from_secs(1));
        }
        // Put off by up to 10 ms, eight notes of 1 ms contend as others do: few of them collide.
        let ages: Vec<_> = (0..8).flat_map(|node| heard(&mut world, node)).map(|heard| heard.age).collect();
        assert_eq!(ages.len(), 8 * 7, "each has heard each once at least");
        let fresh = ages.iter().filter(|age| **age < Duration::from_secs(1)).count();
        assert!(fresh >= 40, "{fresh} of the last 56 came in");
        world.finish();
    }

    #[test]
    fn a_note_overtakes_what_waits_and_the_last_that_is_ordered_is_the_one_told() {
        let full = "[[flow]]\nname = \"f\"\nfrom = \"n0\"\nto = \"n1\"\n\
                    traffic = { kind = \"saturated\", packet = \"1000 B\" }\n";
        let network = CHAIN.to_owned() + "count = 2\n[queue]\nlimit = 2\n" + full;
        let mut world = telling(&network);
        let mut silent = telling(&network);
        for hops in 1..=20 {
            world.order_note(0.into(), &news(hops));
            // No packet is sent twice: an exchange and its back-off take less than 2.5 ms, and a note waits for one at most.
            world.advance(Duration::from_millis(15));
            let age = heard(&mut world, 1).last().map(|heard| heard.age);
            assert!(age.is_none_or(|age| age <= Duration::from_millis(115 + 6)), "{age:?} after {hops}");
        }
        // One each 100 ms of 300 ms, and nothing was dropped to make room.
        silent.advance(Duration::from_millis(300));
        let sent = |world: &World| world.nodes[0.into()].egress.ports()[0.into()].queue().totals();
        assert_eq!((sent(&world).dropped.packets, world.posted.ledger.made), (0, 3));
        let lost = sent(&silent).sent.packets - sent(&world).sent.packets;
        // Each note and its back-off take as long as one exchange of 1.6 ms.
        assert!((1..=5).contains(&lost), "{lost} packets less");
        assert_eq!(heard(&mut world, 1).len(), 1);
        world.finish();
    }

    #[test]
    fn where_stations_have_queues_of_their_own_and_under_edca_a_note_goes_out_too() {
        for more in
            ["queues = \"per-station\"", "queues = \"mac80211\"", "queues = \"per-station\"\n[mac]\naccess = \"edca\""]
        {
            let mut world = telling(&format!(
                "duration = \"10 s\"\n[[node]]\nname = \"a\"\nposition = [\"5 m\", \"0 m\"]\n[[node]]\nname = \"b\"\n\
                 position = [\"0 m\", \"5 m\"]\n[[node]]\nname = \"ap\"\nrole = \"access-point\"\nposition = [\"0 m\", \"0 m\"]\n{more}\n\
                 [[flow]]\nname = \"down\"\nfrom = \"ap\"\nto = \"a\"\ntraffic = {{ kind = \"saturated\", packet = \"1000 B\" }}\n"
            ));
            world.advance(Duration::from_secs(1));
            world.order_note(2.into(), &news(3));
            world.advance(Duration::from_millis(30));
            for node in [0, 1] {
                assert_eq!(
                    heard(&mut world, node).iter().map(|heard| heard.note).collect::<Vec<_>>(),
                    [news(3)],
                    "{more}"
                );
            }
            world.finish();
        }
    }

    #[test]
    fn a_note_has_56_bytes_and_12_for_each_link() {
        // 28 of its own, 8 of UDP, 20 of IP.
        let note = Note { hops: 1, ..Note::default() };
        assert_eq!(note_bytes(&note), Bytes::new(56));
        let links = (1..=3).map(|node| Link { node, ..Link::default() }).collect();
        assert_eq!(note_bytes(&Note { links, ..note }), Bytes::new(92));
    }
}
