//! A network without radio: messages take a millisecond per hop, links exist or not, and every node with a link to the
//! sender overhears it.

mod by_hand;
mod graphs;

use super::header::Broken;
use super::route::{MOST_NODES, Route};
use super::{Action, Content, Context, Dsr, Failed, Header, Message, Output, Settings};
use crate::engine::{Arena, EventQueue, Handle, Purpose, Stream};
use crate::mac::BROADCAST;
use units::{Duration, Instant};

/// Time of a hop.
const HOP: Duration = Duration::from_millis(1);

#[derive(Clone, Copy, Debug)]
enum Event {
    /// A message leaves, after its delay.
    Leave {
        from: u32,
        message: Message,
    },
    /// A packet leaves, after its delay.
    Data {
        from: u32,
        packet: Handle,
        header: Header,
    },
    Timer {
        node: u32,
    },
}

/// Outcome of a data packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    UnderWay,
    Arrived { hops: u8 },
    Lost,
}

#[derive(Clone, Copy, Debug)]
struct Data {
    origin: u32,
    destination: u32,
    fate: Fate,
    hops: u8,
}

struct Net {
    given: Settings,
    nodes: Vec<Dsr>,
    links: Vec<Vec<u32>>,
    events: EventQueue<Event>,
    now: Instant,
    out: Output,
    packets: Arena<usize>,
    data: Vec<Data>,
    /// Messages that were sent, in order.
    sent: Vec<(u32, Message)>,
}

impl Net {
    fn new(count: u32, links: &[(u32, u32)], given: &Settings) -> Self {
        let node = |address| Dsr::new(address, given, Stream::new(7, &format!("n{address}"), Purpose::ROUTING));
        let mut net = Self {
            given: given.clone(),
            nodes: (0..count).map(node).collect(),
            links: vec![Vec::new(); count as usize],
            events: EventQueue::default(),
            now: Instant::ZERO,
            out: Output::default(),
            packets: Arena::default(),
            data: Vec::new(),
            sent: Vec::new(),
        };
        for &(a, b) in links {
            net.join(a, b);
        }
        net
    }

    /// Returns a chain of nodes with the RFC's rules and without random delays.
    fn chain(count: u32) -> Self {
        let links: Vec<_> = (1..count).map(|node| (node - 1, node)).collect();
        Self::new(count, &links, &Settings { jitter: Duration::ZERO, ..Settings::RFC })
    }

    fn join(&mut self, a: u32, b: u32) {
        if a != b && !self.links[a as usize].contains(&b) {
            self.links[a as usize].push(b);
            self.links[b as usize].push(a);
        }
    }

    fn cut(&mut self, a: u32, b: u32) {
        self.links[a as usize].retain(|&other| other != b);
        self.links[b as usize].retain(|&other| other != a);
    }

    /// Sends a packet and returns its number.
    fn send(&mut self, origin: u32, destination: u32) -> usize {
        self.data.push(Data { origin, destination, fate: Fate::UnderWay, hops: 0 });
        let number = self.data.len() - 1;
        let packet = self.packets.insert(number);
        self.tell(origin, |dsr, cx| dsr.originate(packet, destination, cx));
        number
    }

    fn tell<R>(&mut self, node: u32, act: impl FnOnce(&mut Dsr, &mut Context) -> R) -> R {
        let Self { given, nodes, out, now, .. } = self;
        let result = act(&mut nodes[node as usize], &mut Context { now: *now, given, out });
        for action in std::mem::take(&mut self.out.actions) {
            match action {
                Action::Send { message, after } => {
                    check(&message.header.route);
                    self.events.push(self.now + after, Event::Leave { from: node, message });
                }
                Action::Forward { packet, header, after } => {
                    check(&header.route);
                    assert_eq!(header.sender(), Some(node), "{header:?}");
                    self.events.push(self.now + after, Event::Data { from: node, packet, header });
                }
                Action::Discard { packet, .. } | Action::Displace { packet } => self.end(packet, Fate::Lost),
            }
        }
        let deadline = self.nodes[node as usize].deadline;
        if deadline < Instant::NEVER {
            self.events.push(deadline.max(self.now), Event::Timer { node });
        }
        result
    }

    fn end(&mut self, packet: Handle, fate: Fate) {
        let number = self.packets.remove(packet);
        assert_eq!(self.data[number].fate, Fate::UnderWay, "{number}");
        self.data[number].fate = fate;
    }

    fn run(&mut self, time: Duration) {
        let end = self.now + time;
        while self.events.next_time() <= end {
            let Some((at, event)) = self.events.pop() else { break };
            self.now = at;
            match event {
                Event::Timer { node } if self.nodes[node as usize].deadline <= self.now => self.tell(node, Dsr::timer),
                Event::Timer { .. } => {}
                Event::Leave { from, message } => self.leave(from, message),
                Event::Data { from, packet, header } => self.pass(from, packet, header),
            }
        }
        self.now = end;
    }

    fn leave(&mut self, from: u32, message: Message) {
        self.now += HOP;
        self.sent.push((from, message));
        let near = self.links[from as usize].clone();
        let to_all = matches!(message.content, Content::Request { .. });
        let next = if to_all { None } else { message.header.next() };
        if let Some(next) = next.filter(|next| !near.contains(next)) {
            let broken = self.nodes[from as usize].link_failed(next);
            return self.tell(from, |dsr, cx| dsr.message_failed(&message, broken, cx));
        }
        for node in near {
            if to_all || next == Some(node) {
                self.tell(node, |dsr, cx| dsr.receive(message, cx));
            } else {
                self.tell(node, |dsr, cx| dsr.overhear_message(&message, cx));
            }
        }
    }

    fn pass(&mut self, from: u32, packet: Handle, header: Header) {
        self.now += HOP;
        let number = self.packets.get(packet);
        let Data { origin, destination, .. } = self.data[number];
        let next = header.next().expect("a header has a next hop");
        let near = self.links[from as usize].clone();
        if !near.contains(&next) {
            let broken = self.nodes[from as usize].link_failed(next);
            let failed = Failed { packet: Some(packet), header, destination, own: origin == from };
            if !self.tell(from, |dsr, cx| dsr.packet_failed(&failed, cx)) {
                self.end(packet, Fate::Lost);
            }
            return self.tell(from, |dsr, cx| dsr.tell_of(broken, &header, cx));
        }
        for node in near.into_iter().filter(|&node| node != next) {
            self.tell(node, |dsr, cx| dsr.overhear_data(&header, cx));
        }
        let data = &mut self.data[number];
        data.hops = data.hops.saturating_add(1);
        let hops = data.hops;
        if next == destination {
            return self.end(packet, Fate::Arrived { hops });
        }
        assert!(hops < u8::MAX, "it goes round: {header:?}");
        match self.tell(next, |dsr, cx| dsr.forward(header, cx)) {
            Some(header) => self.events.push(self.now, Event::Data { from: next, packet, header }),
            None => self.end(packet, Fate::Lost),
        }
    }

    fn arrived(&self, number: usize) -> bool {
        matches!(self.data[number].fate, Fate::Arrived { .. })
    }
}

/// Checks that no node occurs twice, and that none is the address for all.
fn check(route: &Route) {
    let nodes = route.nodes();
    assert!(nodes.len() <= MOST_NODES && !nodes.contains(&BROADCAST));
    assert!(nodes.iter().enumerate().all(|(index, node)| !nodes[..index].contains(node)), "a loop: {route:?}");
}
