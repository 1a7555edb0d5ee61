//! Notes: small broadcasts that a controller orders. Every neighbour that receives a note stores it.
//!
//! A note goes directly to the MAC, in the highest access category, as management frames do (IEEE 802.11-2016,
//! 10.2.4.2). It must not wait in the queue that it describes, nor take up space or be counted in it. On the air a note
//! is a frame like any other.

use crate::config::Dscp;
use crate::egress::Egress;
use crate::engine::{Arena, Handle, Stream};
use crate::mac::{BROADCAST, Station};
use crate::net::{Load, Packet, Waiting, network_bytes};
use crate::record::Ledger;
use control::{Neighbours, Note};
use queue::Ecn;
use units::{Bytes, Duration, Instant};

/// Contents of the notes in flight, and counts of notes and null frames.
#[derive(Debug, Default)]
pub(crate) struct Posted {
    contents: Arena<Note>,
    pub(crate) ledger: Ledger,
}

impl Posted {
    /// Posts and returns a node's note, which is due. It replaces the previous note if that has not been sent yet.
    pub(crate) fn tell(
        &mut self,
        now: Instant,
        (notes, egress, station): (&mut Notes, &mut Egress, &mut Station),
        packets: &mut Arena<Packet>,
    ) -> Option<Note> {
        let news = notes.table.due();
        let length = note_bytes(&news);
        if let Some(former) = egress.note_mut() {
            let packet = packets.get_mut(former.packet);
            if let Load::Note(content) = packet.load {
                *self.contents.get_mut(content) = news;
                (former.length, packet.length) = (length, length);
                return None;
            }
        }
        let load = Load::Note(self.contents.insert(news));
        station.held.take_turns();
        egress.post(self.made(now, load, BROADCAST, length, packets));
        Some(news)
    }

    /// Makes the null frame with which a station tells its access point whether it sleeps from now on.
    pub(crate) fn null(&mut self, now: Instant, sleeps: bool, to: u32, packets: &mut Arena<Packet>) -> Waiting {
        self.made(now, Load::Null { sleeps }, to, Bytes::new(0), packets)
    }

    /// Frees a null frame that its station has finished. True if it announced that the station sleeps.
    pub(crate) fn told(&mut self, packet: Handle, packets: &mut Arena<Packet>) -> bool {
        let packet = packets.remove(packet);
        self.ledger.lost += u64::from(!packet.transit.accepted);
        matches!(packet.load, Load::Null { sleeps: true })
    }

    /// Makes a note or a null frame; it goes one hop.
    fn made(&mut self, created: Instant, load: Load, to: u32, length: Bytes, packets: &mut Arena<Packet>) -> Waiting {
        debug_assert!(load.is_signal(), "all else waits in a port");
        self.ledger.made += 1;
        let dscp = Dscp::SIGNALLING;
        let packet = packets.insert(Packet { ttl: 1, dscp, ..Packet::new(load, created, length) });
        Waiting { packet, to, length, flow: u32::MAX, dscp, ecn: Ecn::NotEct, created }
    }

    pub(crate) fn content(&self, content: Handle) -> Note {
        self.contents.get(content)
    }

    /// Frees a note after its last tail.
    pub(crate) fn finish(&mut self, packets: &mut Arena<Packet>, packet: Handle, content: Handle) {
        debug_assert!(self.ledger.on_their_way() > 0, "a note that ends was made");
        debug_assert!(self.contents.live() > 0, "it has its content until it ends");
        packets.remove(packet);
        self.contents.remove(content);
        self.ledger.finished += 1;
    }
}

/// Length of a note's fields after the headers of UDP and IP: domain 2 B, hops 1 B, version 1 B, and 8 B each for the
/// rate, the packets and the bytes in the queue.
const FIELDS: Bytes = Bytes::new(28);
/// Length of each link in a note: node 4 B, time 4 B, packets per second 3 B and hops 1 B.
const LINK: Bytes = Bytes::new(12);

/// Length of a note's packet at the network layer.
pub(crate) fn note_bytes(note: &Note) -> Bytes {
    network_bytes(FIELDS + LINK * note.links.len() as u64)
}

/// A node's own note, the newest notes of its neighbours, and its random numbers.
#[derive(Debug)]
pub(crate) struct Notes {
    pub(crate) table: Neighbours,
    chance: Stream,
}

impl Notes {
    /// Starts with no note to send and no note heard.
    pub(crate) fn new(chance: Stream) -> Self {
        Self { table: Neighbours::new(), chance }
    }

    /// Stores the note that a controller orders, like [`Neighbours::order`].
    pub(crate) fn order(&mut self, now: Instant, note: &Note) -> Option<Instant> {
        let Self { table, chance } = self;
        table.order(now, note, |most| Duration::from_nanos(chance.up_to(most.as_nanos())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::{NodeId, Purpose, Stream};
    use crate::record::Gauge;
    use crate::trace::TraceEventKind;
    use crate::world::gauge::tests::seen_by_radio;
    use crate::world::state::{Event, World};
    use control::{Heard, Link, Reads};
    use units::{Duration, Instant};

    /// 802.11b without errors: nodes 20 m apart of which each hears only the next, by the two-ray model's sharp edge.
    const CHAIN: &str = "duration = \"10 s\"\n[radio]\nrange = \"30 m\"\ncarrier_sense_range = \"30 m\"\nerrors.model = \"none\"\n\
                         [nodes]\nplacement = \"chain\"\nspacing = \"20 m\"\n";
    /// Airtime of a note: 92 B with its fields (28 B), UDP, IP, LLC and the MAC header with its checksum, at the basic rate of
    /// 1 Mb/s, after the long preamble.
    const NOTE: Duration = Duration::from_micros(192 + 736);

    /// A world with this description in which every node sends and stores notes.
    fn telling(text: &str) -> World {
        let mut world = World::new(&toml::from_str(text).expect("a description"), 1).expect("a network");
        let nodes = world.nodes.len();
        for node in world.nodes.iter_mut() {
            node.neighbours = Some(Box::new(Notes::new(Stream::new(1, &node.name, Purpose::NOTES))));
            node.gauge = Gauge::new([(0.into(), Reads::RADIO, Some(Duration::ZERO))].into_iter(), nodes);
        }
        world
    }

    fn news(hops: u8) -> Note {
        Note { hops, ..Note::default() }
    }

    /// A controller of a node orders a note.
    fn order(world: &mut World, node: u32, news: &Note) {
        let node = NodeId::from(node);
        let due = world.nodes[node].neighbours.as_mut().expect("it tells").order(world.now, news);
        if let Some(due) = due {
            world.events.push(due, Event::Note { node });
        }
    }

    fn heard(world: &mut World, node: u32) -> Vec<Heard> {
        let now = world.now;
        world.nodes[node.into()].neighbours.as_mut().expect("it listens").table.heard(now).to_vec()
    }

    #[test]
    fn a_note_takes_its_air_time_and_reaches_those_in_range_and_no_others() {
        let mut world = telling(&(CHAIN.to_owned() + "count = 4\n"));
        world.watch(&[0, 1, 2, 3]);
        world.advance(Duration::from_secs(1));
        order(&mut world, 1, &news(7));
        world.advance(Duration::from_secs(1));
        // On an idle medium the note is sent when it is due, and has arrived when its last bit has, 67 ns later.
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
            [1, 0].map(|node: u32| seen_by_radio(&mut world, node.into(), 0.into()).expect("it measures"));
        assert_eq!(
            [sender.sending, sender.busy, receiver.sending, receiver.busy],
            [NOTE, Duration::ZERO, Duration::ZERO, NOTE]
        );
        assert_eq!((sender.late, sender.frames, sender.hops, receiver.contenders), (0, 0, 0, 1));
        let queue = &world.nodes[1.into()].egress.ports[0.into()].queue;
        assert_eq!((queue.totals().arrived.packets, queue.totals().sent.packets), (0, 0));
        world.finish();
    }

    #[test]
    fn neighbours_that_order_notes_at_one_time_hear_each_other() {
        let mut world = telling(&(CHAIN.replace("20 m", "2 m") + "count = 8\n"));
        for _ in 0..10 {
            for node in 0..8_u32 {
                order(&mut world, node, &news(1));
            }
            world.advance(Duration::from_secs(1));
        }
        // Delayed by up to 10 ms, eight notes of 1 ms contend as others do: few of them collide.
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
            order(&mut world, 0, &news(hops));
            // No packet is sent twice: an exchange and its back-off take less than 2.5 ms, and a note waits for one at most.
            world.advance(Duration::from_millis(15));
            let age = heard(&mut world, 1).last().map(|heard| heard.age);
            assert!(age.is_none_or(|age| age <= Duration::from_millis(115 + 6)), "{age:?} after {hops}");
        }
        // One each 100 ms of 300 ms, and nothing was dropped to make room.
        silent.advance(Duration::from_millis(300));
        let sent = |world: &World| world.nodes[0.into()].egress.ports[0.into()].queue.totals();
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
            order(&mut world, 2, &news(3));
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
