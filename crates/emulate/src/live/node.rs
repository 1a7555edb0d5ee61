//! A real node: a thread that stays in the node's network namespace and starts commands there.

use super::sight::{Ready, narrow};
use super::tun::{self, Site};
use super::unavailable::{Unavailable, failed};
use linux::kernel::routes;
use nix::sched::{CloneFlags, unshare};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::os::fd::OwnedFd;
use std::process::{Child, Command};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::{fs, io, thread};

/// Beginning of these threads' names; the node's index among the real nodes follows. [`visit`](super::visit) uses the
/// names to find the namespaces.
pub(super) const THREAD: &str = "node-";

pub(super) struct Node {
    pub(super) name: String,
    pub(super) device: OwnedFd,
    asks: Sender<Ask>,
}

enum NoDevice {
    /// `/dev/net/tun` cannot be used.
    Tun(io::Error),
    /// The node cannot be set up.
    SetUp(io::Error),
}

enum Ask {
    Start(Command, Sender<io::Result<Child>>),
    Dropped(Sender<u64>),
}

impl Node {
    /// Makes the namespaces and the device of real node number `place`, counted from 0. `leads`: all other addresses
    /// are behind the device, too. `named`: names are resolved in the node.
    pub(super) fn new(place: usize, all: &[Ready], site: Site, leads: bool, named: bool) -> Result<Self, Unavailable> {
        let (name, nodes) = (all[place].name.clone(), all.to_vec());
        let (tell, told) = channel();
        let (asks, asked) = channel();
        let keep = move || {
            let made = device(site, leads);
            let own = unshare(CloneFlags::CLONE_NEWNS).map_err(io::Error::from);
            let _ = own.and_then(|()| narrow(&nodes, named));
            let is_made = made.is_ok();
            if tell.send(made).is_ok() && is_made {
                answer(&asked);
            }
        };
        thread::Builder::new().name(format!("{THREAD}{place}")).spawn(keep).map_err(failed("start a thread"))?;
        let device = match told.recv() {
            Ok(Ok(device)) => device,
            Ok(Err(NoDevice::Tun(error))) => return Err(Unavailable::Tun(error)),
            Ok(Err(NoDevice::SetUp(error))) => return Err(Unavailable::Node { node: name, error }),
            Err(_) => return Err(failed("start a thread")(io::Error::from(io::ErrorKind::BrokenPipe))),
        };
        Ok(Self { name, device, asks })
    }

    pub(super) fn start(&self, command: Command) -> io::Result<Child> {
        let gone = |_| io::Error::from(io::ErrorKind::BrokenPipe);
        let (tell, told) = channel();
        self.asks.send(Ask::Start(command, tell)).map_err(|_| io::Error::from(io::ErrorKind::BrokenPipe))?;
        told.recv().map_err(gone)?
    }

    /// Returns how many packets the kernel dropped because its queue before the device was full.
    pub(super) fn dropped(&self) -> u64 {
        let (tell, told) = channel();
        let asked = self.asks.send(Ask::Dropped(tell));
        asked.ok().and_then(|()| told.recv().ok()).unwrap_or_default()
    }
}

/// Makes the network namespace of this thread, and its device.
fn device(site: Site, leads: bool) -> Result<OwnedFd, NoDevice> {
    unshare(CloneFlags::CLONE_NEWNET).map_err(|errno| NoDevice::SetUp(errno.into()))?;
    let device = tun::make(tun::NAME).map_err(NoDevice::Tun)?;
    let set_up = || {
        tun::start("lo")?;
        tun::set_up(tun::NAME, site)?;
        let index = tun::index(tun::NAME)?;
        let everywhere = [(Ipv4Addr::UNSPECIFIED.into(), 0), (Ipv6Addr::UNSPECIFIED.into(), 0)];
        let groups = [(Ipv4Addr::new(224, 0, 0, 0).into(), 4), (Ipv4Addr::BROADCAST.into(), 32)];
        for (to, bits) in groups.into_iter().chain(everywhere.into_iter().filter(|_| leads)) {
            let added = routes::add(to, bits, index).map_err(io::Error::other);
            // A kernel may have no IPv6.
            added.or_else(|error| if IpAddr::is_ipv6(&to) { Ok(()) } else { Err(error) })?;
        }
        Ok(())
    };
    set_up().map_err(NoDevice::SetUp)?;
    Ok(device)
}

fn answer(asked: &Receiver<Ask>) {
    for ask in asked {
        // The thread that asked may have ended.
        match ask {
            Ask::Start(mut command, tell) => drop(tell.send(command.spawn())),
            Ask::Dropped(tell) => drop(tell.send(dropped().unwrap_or_default())),
        }
    }
}

/// Reads the count from the namespace's statistics: it is the twelfth number of the device's line.
fn dropped() -> Option<u64> {
    let text = fs::read_to_string("/proc/thread-self/net/dev").ok()?;
    let line = text.lines().find_map(|line| line.trim_start().strip_prefix(tun::NAME)?.strip_prefix(':'))?;
    line.split_whitespace().nth(11)?.parse().ok()
}
