//! A simulated network that carries the packets of real programs, in virtual time.

use crate::ip::{self, Header};
use crate::refused::{NotLoaded, NotSent};
use experiment::scenario::{Scenario, Wishes};
use lab::Error;
use lab::capture::{Files, Wanted};
use lab::files::{self, Folder};
use lab::home;
use sim::config::{Network, Queues};
use sim::radio::Format;
use sim::results::Outcome;
use sim::{Arrival, Datagram, Way, World};
use std::collections::{BTreeMap, VecDeque};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::path::Path;
use std::time::Duration;
use units::{Bytes, Instant};

/// Length of the headers of UDP and IPv4 with which [`Medium::send`] sends datagrams.
const HEADERS: usize = 28;
/// Broadcast address of the network that has the nodes' IPv4 addresses.
const BROADCAST: Ipv4Addr = Ipv4Addr::new(10, 255, 255, 255);
/// The machine behind a gateway has the addresses of the node with this number, which no scenario has.
const HOST: u32 = 0x00ff_fffd;
/// Largest number of learnt addresses that are kept.
const MOST_LEARNT: usize = 4_096;
/// Prefix of the nodes' IPv6 addresses: a unique local one (RFC 4193).
const PREFIX: [u16; 3] = [0xfd73, 0x6c75, 0x6963];

/// A scenario's network that takes packets at its real nodes and returns them at their destinations.
///
/// Times count from the start of the run. The same scenario, seed and pushes give the same deliveries to the last bit.
///
/// ```
/// use emulate::Medium;
/// use std::time::Duration;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let home = r#"
/// title = "A laptop and its access point"
/// duration = "10 s"
/// radio.standard = "802.11n"
/// node = [
///     { name = "ap", role = "access-point", position = ["0 m", "0 m"], real = true },
///     { name = "laptop", position = ["5 m", "0 m"], real = true },
/// ]
/// "#;
/// let mut air = Medium::read("home.toml", home, 1, &[])?;
/// air.send(Duration::ZERO, "laptop", "ap", b"hello", 0)?;
/// let delivery = air.poll(Duration::from_secs(1)).expect("nothing else is on the air");
/// assert_eq!((delivery.to.as_str(), &delivery.bytes[..]), ("ap", &b"hello"[..]));
/// assert!(delivery.at < Duration::from_millis(1));
/// # Ok(())
/// # }
/// ```
pub struct Medium {
    world: World,
    /// Names of all nodes, in the scenario's order.
    names: Vec<String>,
    ways: Vec<Way>,
    /// Addresses, besides their own, from which real nodes have sent: link-local, or of hosts behind the nodes.
    learnt: BTreeMap<IpAddr, u32>,
    end: Duration,
    newest: Option<Format>,
    /// Packets that have arrived and were not pulled yet.
    waiting: VecDeque<Delivery>,
    /// The gateway, if there is one.
    gateway: Option<u32>,
    captures: Option<Files>,
    /// Why the captures are not complete.
    lost: Option<Error>,
}

/// A packet that has arrived at a real node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// Time at which the packet arrived.
    pub at: Duration,
    /// Time at which the packet was pushed.
    pub sent: Duration,
    /// Name of the node at which the packet was pushed.
    pub from: String,
    /// Name of the node at which the packet arrived.
    pub to: String,
    /// The bytes that were pushed.
    pub bytes: Vec<u8>,
    /// DSCP (upper six bits) and ECN field as pushed. The ECN field is 3 (congestion experienced) if a queue marked it.
    pub tos: u8,
    /// Number of routers that the packet passed: nodes between its ends, except access points.
    pub routers: u8,
}

impl Delivery {
    /// Returns the ECN field: 0 for no ECN support, 1 for ECT(1), 2 for ECT(0), 3 for congestion experienced.
    pub fn ecn(&self) -> u8 {
        self.tos & 3
    }

    /// Returns the IP packet that was given to [`Medium::send_packet`], as it arrives: with its ECN field, and with its
    /// TTL reduced by the routers that it passed. `None` if the TTL ran out on the way.
    pub fn into_packet(self) -> Option<Vec<u8>> {
        let Self { mut bytes, tos, routers, .. } = self;
        ip::carry(&mut bytes, tos, routers).then_some(bytes)
    }
}

impl Medium {
    /// Loads a scenario's network, without its variations: from a file, or the built-in scenario with this id (`home`).
    /// Keys are set as by `sluice run --set`: `duration=20 s`.
    ///
    /// # Errors
    /// The scenario or a key has a fault, no node is real, or there is neither such a file nor such an id.
    pub fn open(target: &str, seed: u64, set: &[&str]) -> Result<Self, NotLoaded> {
        let (path, wishes) = (Path::new(target), wishes(set));
        let is_file = path.exists() || !home::is_word(path);
        let found = if is_file { files::load(path, &wishes)? } else { home::built_in(target, &wishes)? };
        Self::new(&found.base, seed)
    }

    /// Like [`open`](Self::open), from the text of a scenario, which is called `name` in errors.
    ///
    /// # Errors
    /// The errors of [`open`](Self::open).
    pub fn read(name: &str, text: &str, seed: u64, set: &[&str]) -> Result<Self, NotLoaded> {
        let read = Scenario::read(name, name, text.as_bytes(), &Folder(Path::new("")), &wishes(set));
        Self::new(&read?.base, seed)
    }

    /// Builds a network.
    ///
    /// # Errors
    /// The network cannot be built, or has no real node.
    pub fn new(network: &Network, seed: u64) -> Result<Self, NotLoaded> {
        if has_radios(network) { Err(NotLoaded::Driven) } else { Self::of_radios(network, seed) }
    }

    /// Builds a network that is the medium of a kernel's radios, one for each real node.
    ///
    /// # Errors
    /// Those of [`new`](Self::new).
    pub fn of_radios(network: &Network, seed: u64) -> Result<Self, NotLoaded> {
        let world = World::new(network, seed)?;
        let ways: Vec<Way> = world.ways().collect();
        if ways.is_empty() {
            return Err(NotLoaded::NoRealNode);
        }
        let names = world.roster().nodes.into_iter().map(|node| node.name).collect();
        let end = Duration::from_nanos(network.duration.as_nanos());
        let (waiting, learnt) = (VecDeque::new(), BTreeMap::new());
        let newest = Format::of(network.radio.standard);
        Ok(Self { world, names, ways, learnt, end, newest, waiting, gateway: None, captures: None, lost: None })
    }

    #[cfg(target_os = "linux")]
    pub(crate) fn world(&mut self) -> &mut World {
        &mut self.world
    }

    /// Returns the node's newest format of frames with several streams, if it has any.
    #[cfg(target_os = "linux")]
    pub(crate) fn newest(&self) -> Option<Format> {
        self.newest
    }

    /// From now on writes captures of nodes, as `sluice run --pcap` does. Real packets in them are complete.
    ///
    /// # Errors
    /// There is no such node, or a file cannot be written.
    pub fn capture(&mut self, wanted: &Wanted) -> Result<(), Error> {
        self.captures = Some(Files::begin(&mut self.world, wanted)?);
        Ok(())
    }

    /// Ends the captures.
    ///
    /// # Errors
    /// The captures could not be completed.
    pub fn end_capture(&mut self) -> Result<(), Error> {
        let ended = self.captures.take().map_or(Ok(()), Files::end);
        self.lost.take().map_or(ended, Err)
    }

    /// Makes the real node `name` the gateway. It gets packets whose destination address no node has.
    ///
    /// # Errors
    /// There is no real node of this name.
    pub fn lead(&mut self, name: &str) -> Result<(), NotSent> {
        self.gateway = Some(self.find(name)?);
        Ok(())
    }

    /// Returns the name of the gateway.
    pub fn gateway(&self) -> Option<&str> {
        self.gateway.map(|node| self.names[node as usize].as_str())
    }

    /// Returns the names of the real nodes, in the scenario's order.
    pub fn nodes(&self) -> impl Iterator<Item = &str> {
        self.real().map(|node| self.names[node as usize].as_str())
    }

    fn real(&self) -> impl Iterator<Item = u32> {
        self.ways.iter().filter(|way| way.to == World::ALL).map(|way| way.from)
    }

    /// Returns a real node's IPv4 and IPv6 address for [`send_packet`](Self::send_packet), as in captures.
    pub fn addresses(&self, node: &str) -> Option<[IpAddr; 2]> {
        self.find(node).ok().map(addresses)
    }

    /// Returns the IPv4 and IPv6 address of the machine to which a gateway leads.
    pub fn host() -> [IpAddr; 2] {
        addresses(HOST)
    }

    /// Returns the time up to which the network has been simulated.
    pub fn now(&self) -> Duration {
        since_start(self.world.now())
    }

    /// Returns the time at which the run ends.
    pub fn end(&self) -> Duration {
        self.end
    }

    /// Pushes a UDP datagram with this payload at the node `from` for the node `to`, or for `broadcast`. On the air it
    /// has headers of UDP and IPv4. `tos`: DSCP (upper six bits) and ECN field (1 is ECT(1), 2 is ECT(0)).
    ///
    /// Packets that arrive until `now` are returned by [`poll`](Self::poll).
    ///
    /// # Errors
    /// The network does not accept the packet, and stays unchanged.
    pub fn send(&mut self, now: Duration, from: &str, to: &str, payload: &[u8], tos: u8) -> Result<(), NotSent> {
        let (from, to) = (self.find(from)?, if to == "broadcast" { World::ALL } else { self.find(to)? });
        let length = Bytes::new((payload.len() + HEADERS) as u64);
        self.push(now, from, to, Datagram { bytes: payload.into(), length, tos, key: 0 })
    }

    /// Pushes an IP packet at the node `from`. It goes to the real node with its destination
    /// [address](Self::addresses), or to the [gateway](Self::lead). It waits in the queue for its DSCP and flow.
    /// Multicast and broadcast packets go to all real nodes; access points pass them on, routers do not.
    ///
    /// # Errors
    /// The network does not accept the packet, and stays unchanged.
    pub fn send_packet(&mut self, now: Duration, from: &str, packet: &[u8]) -> Result<(), NotSent> {
        let from = self.find(from)?;
        let Some(Header { from: source, to, length, tos, key }) = Header::read(packet) else {
            return Err(NotSent::NotIp { length: packet.len() });
        };
        let is_known = |address| (0..).zip(&self.names).any(|(node, _)| addresses(node).contains(&address));
        // Every other address is behind the gateway.
        let is_new = !is_known(source) && (is_local(source) || Some(from) != self.gateway);
        if is_new && (self.learnt.len() < MOST_LEARNT || self.learnt.contains_key(&source)) {
            self.learnt.insert(source, from);
        }
        let near = self.real().find(|&node| addresses(node).contains(&to)).or_else(|| self.learnt.get(&to).copied());
        let far = self.gateway.filter(|_| !is_local(to) && !is_known(to));
        let node = is_group(to).then_some(World::ALL).or(near).or(far).ok_or(NotSent::Elsewhere { to })?;
        let (bytes, length) = (packet[..length].into(), Bytes::new(length as u64));
        self.push(now, from, node, Datagram { bytes, length, tos, key })
    }

    fn push(&mut self, now: Duration, from: u32, to: u32, datagram: Datagram) -> Result<(), NotSent> {
        self.sound()?;
        if datagram.length > World::MTU {
            return Err(NotSent::TooLong { length: datagram.length.count(), most: World::MTU.count() });
        }
        if from == to {
            return Err(NotSent::Itself { name: self.names[from as usize].clone() });
        }
        if now >= self.end {
            return Err(NotSent::Ended { end: self.end });
        }
        if now < self.now() {
            return Err(NotSent::Backwards { now, network: self.now() });
        }
        while self.now() < now {
            self.run_to(now);
        }
        let way = self.ways.iter().find(|way| (way.from, way.to) == (from, to)).expect("one leads from each to each");
        if self.world.outside().inject(*way, datagram) {
            Ok(())
        } else {
            Err(NotSent::Absent { name: self.names[from as usize].clone() })
        }
    }

    /// Returns the first packet that has arrived by `until` and was not pulled yet. The network is simulated only up to
    /// that arrival, so that an answer leaves at that time. Without an arrival it is simulated up to `until`.
    pub fn poll(&mut self, until: Duration) -> Option<Delivery> {
        if self.waiting.is_empty() && self.now() <= until {
            self.run_to(until);
        }
        if self.waiting.front().is_some_and(|delivery| delivery.at <= until) { self.waiting.pop_front() } else { None }
    }

    /// Returns the time of the network's next event; no packet arrives before it. It is the time of the next
    /// [`poll`](Self::poll) if nothing is pushed. `None` after the end.
    pub fn next_event(&self) -> Option<Duration> {
        match self.waiting.front() {
            Some(delivery) => Some(delivery.at),
            None if self.world.finished() => None,
            None => Some(since_start(self.world.next_event())),
        }
    }

    /// Ends the run now and returns its results, as every run does. Flows of real packets have the kind `real`.
    pub fn finish(self) -> Outcome {
        self.world.stop()
    }

    /// Checks that no discipline that the program registered has failed. Each push checks this, too.
    ///
    /// # Errors
    /// Says why a discipline has failed.
    pub fn sound(&self) -> Result<(), NotSent> {
        sim::sound(&self.world).map_err(|why| NotSent::Failed { why: why.to_string() })
    }

    /// Continues the run to `until`, but pauses after the first arrival.
    fn run_to(&mut self, until: Duration) {
        let until = u64::try_from(until.as_nanos()).unwrap_or(u64::MAX);
        self.world.run_to(Instant::ZERO + units::Duration::from_nanos(until));
        if let Some(files) = &mut self.captures
            && let Err(error) = files.take(&mut self.world)
        {
            self.lost.get_or_insert(error);
        }
        while let Some(arrival) = self.world.outside().take_arrival() {
            let Arrival { way, sent, at, bytes, tos, routers } = arrival;
            let [from, to] = [way.from, way.to].map(|node| self.names[node as usize].clone());
            let (at, sent, bytes) = (since_start(at), since_start(sent), bytes.into_vec());
            self.waiting.push_back(Delivery { at, sent, from, to, bytes, tos, routers });
        }
    }

    /// Returns the index of a real node.
    fn find(&self, name: &str) -> Result<u32, NotSent> {
        self.real()
            .find(|&node| self.names[node as usize] == name)
            .ok_or_else(|| NotSent::NotReal { name: name.to_owned(), known: self.nodes().map(str::to_owned).collect() })
    }
}

/// True if a kernel's radios send from nodes of the network.
pub fn has_radios(network: &Network) -> bool {
    network.node.iter().any(|node| node.queues == Some(Queues::Driver))
}

/// Requests the network alone, with these keys set.
fn wishes(set: &[&str]) -> Wishes {
    let set = set.iter().map(|&set| set.to_owned()).collect();
    Wishes { set, base_only: true, ..Wishes::default() }
}

/// Returns the time from the beginning of the network's time to an instant.
pub(crate) fn since_start(at: Instant) -> Duration {
    Duration::from_nanos(at.as_nanos())
}

/// True for an address that is valid on one link only, so that no router passes its packets on (RFC 4291, 2.5.6).
pub(crate) fn is_local(address: IpAddr) -> bool {
    matches!(address, IpAddr::V6(six) if six.is_unicast_link_local())
}

/// True for an address of a group or of all nodes.
pub(crate) fn is_group(to: IpAddr) -> bool {
    to.is_multicast() || to == Ipv4Addr::BROADCAST || to == BROADCAST
}

fn addresses(node: u32) -> [IpAddr; 2] {
    let [_, b, c, d] = (node + 1).to_be_bytes();
    let [high, low] = [u16::from_be_bytes([0, b]), u16::from_be_bytes([c, d])];
    let six = Ipv6Addr::new(PREFIX[0], PREFIX[1], PREFIX[2], 0, 0, 0, high, low);
    [Ipv4Addr::new(10, b, c, d).into(), six.into()]
}
