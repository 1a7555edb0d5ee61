//! A network without radio: messages take a millisecond per hop, links exist or not, and none is lost by chance.

mod conventions;
mod graphs;
mod second_flow;
mod traces;

use super::action::ALL;
use super::message::Unreachable;
use super::table::State;
use super::{Action, Aodv, Context, Ends, Message, Output, Settings};
use crate::config;
use crate::engine::{Arena, EventQueue, Handle, Purpose, Stream};
use crate::net::LossCause;
use units::{Duration, Instant};

/// Time of a hop.
const HOP: Duration = Duration::from_millis(1);

#[derive(Clone, Copy, Debug)]
enum Event {
    /// A message leaves, after its random delay.
    Leave {
        from: u32,
        to: u32,
        message: Message,
    },
    Arrive {
        from: u32,
        to: u32,
        message: Message,
    },
    Data {
        from: Option<u32>,
        at: u32,
        packet: Handle,
    },
    Timer {
        node: u32,
    },
}

/// Outcome of a data packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    UnderWay,
    Arrived {
        hops: u8,
    },
    Lost(LossCause),
    /// The link broke under it.
    Failed,
}

#[derive(Clone, Copy, Debug)]
struct Data {
    origin: u32,
    destination: u32,
    fate: Fate,
    hops: u8,
}

/// Decides whether a message from one node to another is lost.
type Loses = dyn FnMut(u32, u32, &Message) -> bool;

struct Net {
    now: Instant,
    settings: Settings,
    nodes: Vec<Aodv>,
    links: Vec<Vec<u32>>,
    events: EventQueue<Event>,
    out: Output,
    packets: Arena<usize>,
    data: Vec<Data>,
    /// Messages sent, one per line.
    log: Vec<String>,
    /// Loss of every message over every link.
    loses: Box<Loses>,
}

fn chain(nodes: u32) -> Vec<(u32, u32)> {
    (1..nodes).map(|node| (node - 1, node)).collect()
}

fn plain() -> config::Aodv {
    config::Aodv::default()
}

impl Net {
    /// A network without random delays.
    fn new(nodes: u32, links: &[(u32, u32)], given: &config::Aodv) -> Self {
        let settings = Settings { jitter: Duration::ZERO, ..Settings::new(given) };
        let new = |node: u32| Aodv::new(node, &settings, Stream::new(1, &node.to_string(), Purpose::ROUTING));
        let nodes: Vec<Aodv> = (0..nodes).map(new).collect();
        let mut net = Self {
            now: Instant::ZERO,
            links: vec![Vec::new(); nodes.len()],
            nodes,
            settings,
            events: EventQueue::default(),
            out: Output::default(),
            packets: Arena::default(),
            data: Vec::new(),
            log: Vec::new(),
            loses: Box::new(|_, _, _| false),
        };
        for &(a, b) in links {
            net.join(a, b);
        }
        (0..u32::try_from(net.nodes.len()).unwrap()).for_each(|node| net.arm(node));
        net
    }

    fn join(&mut self, a: u32, b: u32) {
        self.links[a as usize].push(b);
        self.links[b as usize].push(a);
    }

    fn cut(&mut self, a: u32, b: u32) {
        self.links[a as usize].retain(|&other| other != b);
        self.links[b as usize].retain(|&other| other != a);
    }

    /// Sends a new packet and returns its number.
    fn send(&mut self, origin: u32, destination: u32) -> usize {
        let number = self.data.len();
        self.data.push(Data { origin, destination, fate: Fate::UnderWay, hops: 0 });
        let packet = self.packets.insert(number);
        self.events.push(self.now, Event::Data { from: None, at: origin, packet });
        number
    }

    /// Hands over a packet from a neighbour, whether or not there is a route for it.
    fn stray(&mut self, from: u32, at: u32, destination: u32) {
        let number = self.data.len();
        self.data.push(Data { origin: from, destination, fate: Fate::UnderWay, hops: 1 });
        let packet = self.packets.insert(number);
        self.events.push(self.now, Event::Data { from: Some(from), at, packet });
    }

    fn run(&mut self, span: Duration) {
        let until = self.now + span;
        while self.events.next_time() <= until
            && let Some((now, event)) = self.events.pop()
        {
            self.now = now;
            self.handle(event);
            self.check_loops();
            self.check_numbers();
        }
        self.now = until;
    }

    fn handle(&mut self, event: Event) {
        match event {
            Event::Leave { from, to, message } => self.leave(from, to, message),
            Event::Arrive { from, to, message } => self.tell(to, |node, cx| node.receive(message, from, cx)),
            Event::Data { from, at, packet } => self.pass(from, at, packet),
            Event::Timer { node } if self.nodes[node as usize].deadline <= self.now => self.tell(node, Aodv::timer),
            Event::Timer { .. } => {}
        }
    }

    fn leave(&mut self, from: u32, to: u32, message: Message) {
        let receivers = if to == ALL { self.links[from as usize].clone() } else { vec![to] };
        for to_one in receivers {
            let linked = self.links[from as usize].contains(&to_one);
            if linked && !(self.loses)(from, to_one, &message) {
                self.events.push(self.now + HOP, Event::Arrive { from, to: to_one, message });
            } else if to != ALL {
                self.tell(from, |node, cx| {
                    node.message_failed(&message, to_one, cx);
                });
            }
        }
    }

    /// Handles a data packet at a node.
    fn pass(&mut self, previous: Option<u32>, at: u32, packet: Handle) {
        let number = self.packets.get(packet);
        let Data { origin, destination, hops: travelled, .. } = self.data[number];
        if at == destination {
            self.end(packet, Fate::Arrived { hops: self.data[number].hops });
            return;
        }
        let ends = Ends { origin, destination, previous, travelled };
        match self.nodes[at as usize].route(&ends, self.now, &self.settings) {
            Some(next) => self.forward(at, next, packet),
            None => self.tell(at, |node, cx| node.unroutable(packet, &ends, cx)),
        }
    }

    fn forward(&mut self, at: u32, next: u32, packet: Handle) {
        let number = self.packets.get(packet);
        let Data { origin, destination, hops: travelled, .. } = self.data[number];
        if self.links[at as usize].contains(&next) {
            self.data[number].hops += 1;
            self.events.push(self.now + HOP, Event::Data { from: Some(at), at: next, packet });
            return;
        }
        let ends = Ends { origin, destination, previous: None, travelled };
        let mut kept = false;
        self.tell(at, |node, cx| kept = node.packet_failed(Some(packet), next, &ends, cx));
        if !kept {
            self.end(packet, Fate::Failed);
        }
    }

    fn end(&mut self, packet: Handle, fate: Fate) {
        let number = self.packets.remove(packet);
        assert_eq!(self.data[number].fate, Fate::UnderWay, "a packet ends once");
        self.data[number].fate = fate;
    }

    fn tell(&mut self, node: u32, act: impl FnOnce(&mut Aodv, &mut Context)) {
        let Self { settings, nodes, out, now, .. } = self;
        act(&mut nodes[node as usize], &mut Context { now: *now, settings, out });
        for action in std::mem::take(&mut self.out.actions) {
            match action {
                Action::Send { message, to, after } => {
                    self.note(node, to, &message);
                    self.events.push(self.now + after, Event::Leave { from: node, to, message });
                }
                Action::Forward { packet, to } => self.forward(node, to, packet),
                Action::Discard { packet, why } => self.end(packet, Fate::Lost(why)),
                Action::Displace { packet } => self.end(packet, Fate::Lost(LossCause::Buffer)),
            }
        }
        self.arm(node);
    }

    fn arm(&mut self, node: u32) {
        let deadline = self.nodes[node as usize].deadline;
        if deadline != Instant::NEVER {
            self.events.push(deadline, Event::Timer { node });
        }
    }

    /// `0>*` means from node 0 to all. Sequence numbers follow `#`, hop counts `h`, the TTL `t`; `?` is unknown.
    fn note(&mut self, from: u32, to: u32, message: &Message) {
        let to = if to == ALL { "*".to_owned() } else { to.to_string() };
        let sequence = |sequence: Option<u32>| sequence.map_or("?".to_owned(), |known| known.to_string());
        let what = match message {
            Message::Request(r) => format!(
                "RREQ {} #{} for {} #{} h{} t{}",
                r.originator,
                r.originator_sequence,
                r.destination,
                sequence(r.destination_sequence),
                r.hops,
                r.ttl
            ),
            Message::Reply(r) => {
                format!("RREP {} #{} for {} h{}", r.destination, r.destination_sequence, r.originator, r.hops)
            }
            Message::Hello { sequence } => format!("HELLO #{sequence}"),
            Message::Error { unreachable, no_delete } => {
                let list = self.out.lists.get(*unreachable).iter();
                let list: Vec<String> = list
                    .map(|&Unreachable { destination, sequence: number }| {
                        format!("{destination} #{}", sequence(number))
                    })
                    .collect();
                format!("RERR {}{}", list.join(", "), if *no_delete { " N" } else { "" })
            }
            Message::ReplyAck => "RREP-ACK".to_owned(),
        };
        self.log.push(format!("{from}>{to} {what}"));
    }

    /// Returns the messages sent since the last call.
    fn sent(&mut self) -> Vec<String> {
        std::mem::take(&mut self.log)
    }

    /// Returns the next hop in a node's table for a destination now.
    fn next(&self, node: u32, destination: u32) -> Option<u32> {
        let route = self.nodes[node as usize].table.find(destination)?;
        (route.state == State::Valid && route.expires > self.now).then_some(route.next)
    }

    /// Follows the next hops of all nodes to all destinations and checks that there are no loops.
    fn check_loops(&self) {
        let nodes = u32::try_from(self.nodes.len()).unwrap();
        for destination in 0..nodes {
            assert_eq!(self.next(destination, destination), None, "{destination} has a route to itself");
            for start in (0..nodes).filter(|&start| start != destination) {
                let (mut at, mut steps) = (start, 0);
                while at != destination
                    && let Some(next) = self.next(at, destination)
                {
                    at = next;
                    steps += 1;
                    assert!(steps <= nodes, "a loop on the way from {start} to {destination} at {:?}", self.now);
                }
            }
        }
    }

    /// Checks that no node's number for another is more than one ahead of that node's own, and not ahead at all while
    /// the route is valid: only then is a node's next request always new enough for all others (6.1, 6.5).
    fn check_numbers(&self) {
        let ahead = |a: u32, b: u32| a.wrapping_sub(b).cast_signed();
        for node in &self.nodes {
            for destination in &self.nodes {
                let Some(route) = node.table.find(destination.address) else { continue };
                let Some(number) = route.sequence else { continue };
                let most = i32::from(route.state != State::Valid || !route.known);
                assert!(
                    ahead(number, destination.sequence) <= most,
                    "{} has number {number} for {}, whose own is {}, at {:?}",
                    node.address,
                    destination.address,
                    destination.sequence,
                    self.now
                );
            }
        }
    }

    /// Checks that every packet has ended, is held by a node, or is in the air.
    fn check_packets(&self) {
        let under_way = self.data.iter().filter(|data| data.fate == Fate::UnderWay).count();
        assert_eq!(under_way, self.packets.live());
    }

    fn arrived(&self) -> usize {
        self.data.iter().filter(|data| matches!(data.fate, Fate::Arrived { .. })).count()
    }
}
