//! A program that asks for admission: its gate, and its messages to and from the agent of its machine.

use crate::admission::ledger::FORGOTTEN_AFTER;
use crate::admission::message::{Kind, LENGTH, Message, UNBOUNDED};
use crate::admission::port::program_name;
use crate::admission::supervised::Class;
use crate::error::Error;
use crate::kernel::{descriptor_of, random};
use control::{Act, FlowGate, Gate as _, GateParams};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketAddrUnix, SocketFlags, SocketType, bind, connect, recv, send,
    socket_with,
};
use rustix::time::Timespec;
use std::net::Ipv4Addr;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use units::{Instant, Rate};

/// Maximum number of messages per read.
const TURN: usize = 64;

/// What a program asks for.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// Rate that the flow needs, in network-layer bytes, so with UDP and IP headers.
    pub rate: Rate,
    /// Destination of the flow.
    pub destination: Ipv4Addr,
    /// Port at the destination; zero if it is not known.
    pub port: u16,
    /// Socket of this machine's agent. Only the agent's user can make sockets in its folder.
    pub agent: PathBuf,
    /// Parameters of the gate.
    pub gate: GateParams,
}

/// Events of the flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum News {
    /// A probe was sent.
    Probe,
    /// The flow is admitted.
    Admit(Path),
    /// The flow may continue: it was asked to regulate, and the path has room.
    Confirm(Path),
    /// The flow was asked to regulate.
    Regulate,
    /// The flow is refused, or must stop.
    Refuse(Why),
    /// Some sockets of the command could not be changed and keep their class.
    Unreached {
        /// Number of these sockets.
        sockets: usize,
    },
}

/// Contents of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Path {
    /// Lowest rate that any node of the path can admit; `None` if no node set a bound.
    pub bottleneck: Option<Rate>,
    /// Number of agents that the answer has passed.
    pub hops: u8,
}

/// Reasons for a refusal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// The path cannot carry the flow.
    Bottleneck(Path),
    /// No answer arrived.
    NoAnswer {
        /// True if an agent listens on this machine.
        has_agent: bool,
    },
}

/// Source of a flow. The descriptor is readable when a message has arrived.
#[derive(Debug)]
pub struct Source {
    wanted: Wanted,
    socket: OwnedFd,
    flow: u64,
    /// True unless the agent at the other end of the socket is known to be gone.
    has_agent: bool,
    gate: FlowGate,
    /// Instant until which the flow counts as newly admitted.
    new_until: Instant,
    /// Instant at which the program next tells the agent that the flow still exists.
    present: Instant,
}

descriptor_of!(Source, socket);

impl Source {
    /// Makes a source that has not probed yet. Errors: the kernel gives no socket or no random numbers.
    pub(crate) fn open(wanted: Wanted) -> Result<Self, Error> {
        let failed = Error::kernel("ask the agent of this machine");
        let (socket, flow) = (unnamed().map_err(failed)?, random()?);
        // Other hosts see the flow's and the socket's number; with another seed nobody can guess the gate's probes.
        let gate = FlowGate::new(&wanted.gate, random()?);
        let (new_until, present) = (Instant::ZERO, Instant::NEVER);
        Ok(Self { wanted, socket, flow, has_agent: false, gate, new_until, present })
    }

    /// Sends the first probe.
    pub(crate) fn ask(&mut self, now: Instant) -> Vec<News> {
        let act = self.gate.open(now, self.wanted.rate);
        self.present = now + FORGOTTEN_AFTER / 3;
        self.follow(now, act, None).into_iter().collect()
    }

    /// Returns the next instant at which there is something to do without a message.
    pub(crate) fn next(&self) -> Instant {
        let changes =
            if self.gate.is_admitted() && self.new_until != Instant::ZERO { self.new_until } else { Instant::NEVER };
        self.gate.deadline().min(self.present).min(changes)
    }

    pub(crate) fn class(&self, now: Instant) -> Class {
        match (self.gate.is_admitted(), self.gate.is_new(now)) {
            (false, _) => Class::BestEffort,
            (true, true) => Class::RealTimeNew,
            (true, false) => Class::RealTime,
        }
    }

    /// Handles messages that have arrived and deadlines that have passed.
    pub(crate) fn work(&mut self, now: Instant) -> Vec<News> {
        let mut news = Vec::new();
        for _ in 0..TURN {
            let mut buffer = [0; LENGTH + 1];
            let Ok((_, length)) = recv(&self.socket, &mut buffer[..], RecvFlags::empty()) else { break };
            if let Ok(message) = Message::read(&buffer[..length]) {
                self.take(now, &message, &mut news);
            }
        }
        if self.gate.deadline() <= now {
            let act = self.gate.elapsed(now);
            news.extend(self.follow(now, act, None));
        }
        if self.present <= now {
            self.present = now + FORGOTTEN_AFTER / 3;
            self.send(Kind::Present, 0, self.wanted.rate);
        }
        if self.new_until <= now {
            self.new_until = Instant::ZERO;
        }
        news
    }

    fn take(&mut self, now: Instant, message: &Message, news: &mut Vec<News>) {
        match message.kind {
            Kind::Answer => {
                let bottleneck = Some(message.bottleneck).filter(|bottleneck| *bottleneck != UNBOUNDED);
                let path = Path { bottleneck, hops: message.hops };
                let waited = self.gate.deadline();
                let act = self.gate.answered(now, message.number, message.bottleneck);
                news.extend(self.follow(now, act, Some(path)));
                // The gate no longer waits, so it has accepted the answer.
                if act == Act::Keep && waited != Instant::NEVER && self.gate.deadline() == Instant::NEVER {
                    news.push(News::Confirm(path));
                }
            }
            Kind::Regulate => {
                let waited = self.gate.deadline();
                let act = self.gate.regulated(now);
                if act != Act::Keep || self.gate.deadline() != waited {
                    news.push(News::Regulate);
                }
                news.extend(self.follow(now, act, None));
            }
            Kind::Probe | Kind::Present => {}
        }
    }

    /// Carries out the gate's decision.
    fn follow(&mut self, now: Instant, act: Act, answer: Option<Path>) -> Option<News> {
        match act {
            Act::Keep => None,
            Act::Probe { number } => {
                self.send(Kind::Probe, number, self.wanted.rate);
                Some(News::Probe)
            }
            Act::Admit => {
                self.new_until = now + self.wanted.gate.new_for;
                // Each node of the path keeps the flow's rate only for a short time unless this message arrives.
                self.present = now;
                answer.map(News::Admit)
            }
            Act::Refuse => {
                self.end();
                let no_answer = Why::NoAnswer { has_agent: self.has_agent };
                Some(News::Refuse(answer.map_or(no_answer, Why::Bottleneck)))
            }
        }
    }

    /// Tells the nodes of the path that the flow has ended or never began.
    fn end(&mut self) {
        self.present = Instant::NEVER;
        self.send(Kind::Present, 0, Rate::bps(0));
    }

    /// Sends a message. If it cannot be sent, it is lost like any other.
    fn send(&mut self, kind: Kind, number: u64, rate: Rate) {
        let Wanted { destination, port, .. } = self.wanted;
        let (source, destination) = (Ipv4Addr::UNSPECIFIED.into(), destination.into());
        let flow = self.flow;
        let message = Message { kind, hops: 0, number, bottleneck: UNBOUNDED, source, destination, port, flow, rate };
        let bytes = message.write();
        let mut sent = if self.has_agent { self.post(&bytes) } else { Err(Errno::NOTCONN) };
        // The next agent has another socket with the same path.
        if matches!(sent, Err(Errno::NOTCONN | Errno::CONNREFUSED)) {
            self.has_agent = random().is_ok_and(|name| self.connect(name).is_ok());
            if self.has_agent {
                sent = self.post(&bytes);
            }
        }
        self.has_agent &= sent != Err(Errno::CONNREFUSED);
    }

    /// Sends bytes. Waits a short time if other programs fill the agent's buffer.
    fn post(&self, bytes: &[u8]) -> Result<(), Errno> {
        let sent = send(&self.socket, bytes, SendFlags::empty());
        if sent == Err(Errno::AGAIN) {
            let most = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };
            poll(&mut [PollFd::new(&self.socket, PollFlags::OUT)], Some(&most))?;
            return send(&self.socket, bytes, SendFlags::empty()).map(drop);
        }
        sent.map(drop)
    }

    /// Connects a new socket to the agent, and only then names it after a number, so that no other program can send to
    /// it. The agent answers to this name. The former socket is closed: once an agent has died and refused a message,
    /// the kernel lets any program send to the socket.
    fn connect(&mut self, name: u64) -> Result<(), Errno> {
        self.socket = unnamed()?;
        connect(&self.socket, &SocketAddrUnix::new(&self.wanted.agent)?)?;
        bind(&self.socket, &SocketAddrUnix::new_abstract_name(program_name(name).as_bytes())?)
    }
}

/// Opens a socket without a name, to which no program can send.
fn unnamed() -> Result<OwnedFd, Errno> {
    socket_with(AddressFamily::UNIX, SocketType::DGRAM, SocketFlags::CLOEXEC | SocketFlags::NONBLOCK, None)
}

impl Drop for Source {
    fn drop(&mut self) {
        self.end();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::ErrorKind;
    use std::os::linux::net::SocketAddrExt as _;
    use std::os::unix::net::{SocketAddr, UnixDatagram};
    use units::Duration;

    #[test]
    fn nobody_but_the_agent_can_send_to_a_program_also_when_its_agent_has_died() {
        let folder = tempfile::tempdir().unwrap();
        let agent = folder.path().join("admission.sock");
        let wanted = Wanted {
            rate: Rate::kbps(100),
            destination: Ipv4Addr::new(10, 9, 0, 1),
            port: 5_004,
            agent: agent.clone(),
            gate: GateParams::default(),
        };
        let mut source = Source::open(wanted).unwrap();
        let forged =
            |name: &SocketAddr| UnixDatagram::unbound().unwrap().send_to_addr(b"forged", name).unwrap_err().kind();
        let name = |of: &UnixDatagram| {
            let (_, from) = of.recv_from(&mut [0; LENGTH]).unwrap();
            assert!(from.as_abstract_name().is_some_and(|name| name.starts_with(b"sluice-")));
            from
        };
        let first = UnixDatagram::bind(&agent).unwrap();
        source.ask(Instant::ZERO);
        let before = name(&first);
        assert_eq!(forged(&before), ErrorKind::PermissionDenied);
        drop(first);
        assert_eq!(forged(&before), ErrorKind::PermissionDenied);
        source.send(Kind::Present, 0, Rate::kbps(100));
        assert!(!source.has_agent);
        assert_eq!(forged(&before), ErrorKind::ConnectionRefused, "the name is given up");
        std::fs::remove_file(&agent).unwrap();
        let next = UnixDatagram::bind(&agent).unwrap();
        source.work(Instant::ZERO + Duration::from_secs(100));
        let after = name(&next);
        assert_eq!(forged(&after), ErrorKind::PermissionDenied);
        next.send_to_addr(b"from the agent", &after).unwrap();
    }
}
