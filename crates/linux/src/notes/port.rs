//! Sockets that send and receive notes: one at each named interface, for datagrams to a multicast address of the link.
//! No call blocks, and each read takes a bounded number of notes.

use super::message::{LONGEST, read, write};
use crate::admission::message::{Neighbour, Peer};
use crate::admission::pace::{Pace, Standing, TURN, next_turn};
use crate::error::Error;
use crate::kernel::descriptor_of;
use crate::kernel::socket::{
    LOAD_BYTE, NETWORK_HEADER, RETURN, TTL, attach_filter, bind_to_interface, datagrams, interest, jump, rest,
    statement,
};
use control::{Heard, Neighbours, Note, Random};
use rustix::event::epoll::{self, EventData};
use rustix::io::Errno;
use rustix::net::sockopt::{set_ip_add_membership_with_ifindex, set_ip_multicast_loop, set_ip_multicast_ttl};
use rustix::net::{RecvFlags, SendFlags, bind, recvfrom, sendto};
use std::net::{Ipv4Addr, SocketAddrV4};
use std::os::fd::{AsFd as _, OwnedFd};
use units::{Duration, Instant};

/// Destination of notes: all routers of a mobile ad hoc network on the link (RFC 5498). No router forwards packets to
/// such an address (RFC 5771, section 4).
const GROUP: Ipv4Addr = Ipv4Addr::new(224, 0, 0, 109);
/// UDP port of notes, by one above the port of admission.
const PORT: u16 = 9_479;

/// Sockets of an agent. The descriptor is readable while there is something to read.
pub(crate) struct Port {
    epoll: OwnedFd,
    interfaces: Vec<Interface>,
    pace: Pace,
    /// Random numbers for the jitter of notes.
    chance: Random,
    /// Instant before which nothing is read.
    rests: Option<Instant>,
}

struct Interface {
    name: String,
    index: u32,
    socket: OwnedFd,
    neighbours: Box<Neighbours>,
    /// Instant at which the next note is sent.
    due: Option<Instant>,
}

descriptor_of!(Port, epoll);

impl Port {
    /// Starts without interfaces. `seed` sets the send jitter. Errors: the kernel refuses.
    pub(crate) fn open(seed: u64) -> Result<Self, Error> {
        let failed = Error::kernel("wait for notes");
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC).map_err(failed)?;
        let (interfaces, pace, chance) = (Vec::new(), Pace::default(), Random::new(seed));
        Ok(Self { epoll, interfaces, pace, chance, rests: None })
    }

    /// Sends and receives at these interfaces if they exist; `number` finds an interface. Returns the events.
    pub(crate) fn follow(
        &mut self,
        names: &[&str],
        number: impl Fn(&str) -> Option<u32>,
    ) -> Vec<(String, Result<(), Error>)> {
        // The epoll forgets a socket that is closed.
        self.interfaces.retain(|open| names.contains(&open.name.as_str()) && number(&open.name) == Some(open.index));
        let mut news = Vec::new();
        for &name in names {
            let Some(index) = number(name) else { continue };
            if self.interfaces.iter().any(|open| open.name == name) {
                continue;
            }
            let what = format!("exchange notes with neighbours at {name} (UDP port {PORT} of {GROUP})");
            let opened = self.listen(name, index).map_err(Error::kernel(&what));
            let add = |socket| {
                let (name, neighbours) = (name.to_owned(), Box::default());
                self.interfaces.push(Interface { name, index, socket, neighbours, due: None });
            };
            news.push((name.to_owned(), opened.map(add)));
        }
        news
    }

    fn listen(&self, name: &str, index: u32) -> Result<OwnedFd, Errno> {
        let socket = datagrams()?;
        bind_to_interface(&socket, name)?;
        // Passes only messages from a direct neighbour.
        let program = [
            statement(LOAD_BYTE, NETWORK_HEADER + 8),
            jump(TTL.into(), 0, 1),
            statement(RETURN, u32::MAX),
            statement(RETURN, 0),
        ];
        attach_filter(&socket, &program)?;
        set_ip_multicast_ttl(&socket, TTL.into())?;
        set_ip_multicast_loop(&socket, false)?;
        set_ip_add_membership_with_ifindex(&socket, &GROUP, &Ipv4Addr::UNSPECIFIED, index)?;
        // Messages to this machine's own address are not received.
        bind(&socket, &SocketAddrV4::new(GROUP, PORT))?;
        epoll::add(&self.epoll, &socket, EventData::new_u64(0), interest(self.rests))?;
        Ok(socket)
    }

    /// Returns when there is work next, even if no note arrives.
    pub(crate) fn next(&self) -> Instant {
        let due = self.interfaces.iter().filter_map(|open| open.due);
        self.rests.into_iter().chain(due).min().unwrap_or(Instant::NEVER)
    }

    /// Handles notes that have arrived, and sends those that are due.
    pub(crate) fn work(&mut self, now: Instant) {
        self.hear(now);
        for Interface { socket, neighbours, due, .. } in &mut self.interfaces {
            if due.is_some_and(|due| due <= now) {
                *due = None;
                // If a note cannot be sent, it is lost like any other.
                let _ = sendto(
                    socket.as_fd(),
                    &write(&neighbours.due()),
                    SendFlags::DONTWAIT,
                    &SocketAddrV4::new(GROUP, PORT),
                );
            }
        }
    }

    /// Reads the waiting notes, at most the same number from each interface.
    fn hear(&mut self, now: Instant) {
        if self.rests.is_some_and(|until| now < until) {
            return;
        }
        let mut any = false;
        for open in &mut self.interfaces {
            for _ in 0..TURN {
                let Some((address, bytes)) = receive(&open.socket) else { break };
                any = true;
                let from = Peer::Neighbour(Neighbour { index: open.index, address });
                if self.pace.allows(now, from, Standing::Stranger)
                    && let Ok(note) = read(&bytes)
                {
                    open.neighbours.hear(now, address.to_bits(), &note);
                }
            }
        }
        let sockets = self.interfaces.iter().map(|open| open.socket.as_fd());
        rest(&mut self.rests, any.then(|| next_turn(now)), &self.epoll, sockets);
    }

    /// Returns the newest note of each neighbour at the interface with this number; none if the interface is not named.
    pub(crate) fn heard(&mut self, now: Instant, index: u32) -> &[Heard] {
        let open = self.interfaces.iter_mut().find(|open| open.index == index);
        open.map_or(&[], |open| open.neighbours.heard(now))
    }

    /// Requests that this note be sent to the neighbours at the interface with this number.
    pub(crate) fn order(&mut self, now: Instant, index: u32, note: &Note) {
        let Some(open) = self.interfaces.iter_mut().find(|open| open.index == index) else { return };
        let chance = &mut self.chance;
        let jitter = |most: Duration| Duration::from_nanos(chance.bits() % (most.as_nanos() + 1));
        if let Some(due) = open.neighbours.order(now, note, jitter) {
            open.due = Some(due);
        }
    }
}

/// Reads one datagram and its sender. A datagram that is too long keeps an invalid length.
fn receive(socket: &OwnedFd) -> Option<(Ipv4Addr, Vec<u8>)> {
    let mut buffer = [0; LONGEST + 1];
    let (_, length, address) = recvfrom(socket, &mut buffer[..], RecvFlags::empty()).ok()?;
    let address = SocketAddrV4::try_from(address?).ok()?;
    Some((*address.ip(), buffer[..length].to_vec()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::now;
    use crate::kernel::rtnetlink::Route;
    use control::Link;
    use rustix::net::sockopt::set_ip_multicast_if;
    use std::net::UdpSocket;
    use std::process::Command;

    const A: Ipv4Addr = Ipv4Addr::new(10, 9, 1, 1);
    const B: Ipv4Addr = Ipv4Addr::new(10, 9, 1, 2);

    fn note(hops: u8) -> Note {
        let link = Link { node: hops.into(), ..Link::default() };
        Note { hops, links: [link].into_iter().collect(), ..Note::default() }
    }

    /// Runs a test in a network namespace of its own, if that needs no privilege.
    ///
    /// The first end of a link comes up later than the command for the second end returns, because a worker of the
    /// kernel does this. Packets sent before that are lost.
    #[test]
    fn notes_reach_the_neighbours_at_named_interfaces_and_nothing_else_is_heard() {
        let inside = "ip link add va type veth peer name vb && ip addr add 10.9.1.1/24 dev va && ip addr add 10.9.1.2/24 dev vb \
                      && ip link set va up && ip link set vb up && echo 1 > /proc/sys/net/ipv4/conf/all/accept_local \
                      && timeout 60 sh -c 'until ip link show va | grep -q \"state UP\"; do sleep 0.01; done' \
                      && exec \"$0\" --ignored --exact --nocapture notes::port::tests::inner";
        let own = std::env::current_exe().unwrap();
        let output = Command::new("unshare").args(["-rn", "sh", "-c", inside]).arg(own).output().unwrap();
        let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
        if said.contains("Operation not permitted") || said.contains("Unknown device type") {
            return;
        }
        assert!(output.status.success() && said.contains("1 passed"), "{said}");
    }

    /// Both ends of the link are in this namespace.
    #[test]
    #[ignore = "runs in a namespace"]
    fn inner() {
        let links = Route::open().unwrap().links().unwrap();
        let number = |name: &str| links.iter().find(|link| link.name == name).map(|link| link.index);
        let [va, vb] = ["va", "vb"].map(|name| number(name).unwrap());
        let [mut at_a, mut at_b] = [1, 2].map(|seed| Port::open(seed).unwrap());
        for (port, name) in [(&mut at_a, "va"), (&mut at_b, "vb")] {
            let news = port.follow(&[name, "none"], number);
            assert!(matches!(&news[..], [(opened, Ok(()))] if opened == name), "{news:?}");
        }
        let hear = |port: &mut Port, index| {
            let begun = now();
            while port.heard(now(), index).is_empty() && now().since(begun) < Duration::from_secs(5) {
                port.work(now());
            }
            let heard: Vec<(u32, Note)> =
                port.heard(now(), index).iter().map(|heard| (heard.from, heard.note)).collect();
            heard
        };

        // Only the last ordered note is sent, to the other end and within the largest jitter.
        at_a.order(now(), va, &note(1));
        at_a.order(now(), va, &note(2));
        at_a.order(now(), 77, &note(3));
        assert!(at_a.next() <= now() + Neighbours::JITTER);
        at_a.work(at_a.next());
        assert_eq!(at_a.next(), Instant::NEVER);
        assert_eq!(hear(&mut at_b, vb), [(A.to_bits(), note(2))]);
        at_a.work(now());
        assert!(at_a.heard(now(), va).is_empty(), "it does not hear itself");

        // As if a router had forwarded it; to this machine alone; cut off; of another version. Then a valid one.
        let stranger = UdpSocket::bind((B, 0)).unwrap();
        set_ip_multicast_if(&stranger, &B).unwrap();
        let group = (GROUP, PORT);
        let bytes = write(&note(4));
        stranger.set_multicast_ttl_v4(254).unwrap();
        stranger.send_to(&bytes, group).unwrap();
        stranger.set_multicast_ttl_v4(255).unwrap();
        let _ = stranger.send_to(&bytes, (A, PORT));
        stranger.send_to(&bytes[..bytes.len() - 1], group).unwrap();
        stranger.send_to(&[&[9], &bytes[1..]].concat(), group).unwrap();
        stranger.send_to(&write(&note(5)), group).unwrap();
        assert_eq!(hear(&mut at_a, va), [(B.to_bits(), note(5))]);

        // A sender may have fifty at once and then fifty per second, and continues after that.
        for hops in 0..=200 {
            stranger.send_to(&write(&note(hops)), group).unwrap();
        }
        let begun = now();
        while now().since(begun) < Duration::from_millis(200) {
            at_a.work(now());
        }
        let newest = at_a.heard(now(), va)[0].note.hops;
        assert!(newest < 200, "the last of 201 was taken");

        // An interface that is no longer named gets no notes.
        assert!(at_b.follow(&[], number).is_empty());
        assert!(at_b.heard(now(), vb).is_empty());
    }
}
