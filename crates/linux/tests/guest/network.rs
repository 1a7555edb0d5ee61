//! A server and a client in namespaces of their own, with this machine as the router between them and a slow link to
//! the client: a sender on the router itself would not fill its queue (TCP small queues).

use super::slow_link::{Pace, Terminal};
use super::{now, pause_until, shell};
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::mpsc::channel;
use std::thread::{JoinHandle, spawn};
use units::{Duration, Instant};

/// Address of the client.
pub(super) const CLIENT: &str = "10.8.2.2";
pub(super) const SERVER: &str = "server";
pub(super) const AT_CLIENT: &str = "client";
/// Most bytes carried at once.
const PART: usize = 1_500;

/// The server, the router's interface `sl0`, the link, and the client.
pub(super) struct Network {
    terminals: [Terminal; 2],
    relays: Vec<JoinHandle<()>>,
}

impl Network {
    /// Makes a link that carries so many bytes per second to the client, and everything back after a delay.
    pub(super) fn new(bytes_per_second: u64, round_trip: Duration) -> Self {
        let (to, near) = Terminal::new("sl0");
        let (from, far) = Terminal::new("sl1");
        shell("ip netns add server; ip netns add client; sysctl -qw net.ipv4.ip_forward=1");
        // Packets of 1500 bytes, not large ones that a card would split.
        shell("ip link add lan type veth peer name eth0 netns server; ip link set lan gso_max_segs 1 up");
        shell("ip addr add 10.8.1.1/24 dev lan");
        shell("ip -n server addr add 10.8.1.2/24 dev eth0; ip -n server link set eth0 gso_max_segs 1 up");
        shell("ip -n server route add default via 10.8.1.1");
        shell("ip addr add 10.8.2.1 peer 10.8.2.2 dev sl0; ip link set sl0 gso_max_segs 1");
        shell("ip link set sl1 netns client; ip -n client link set sl1 mtu 1500 up");
        shell("ip -n client addr add 10.8.2.2 peer 10.8.2.1 dev sl1; ip -n client route add default via 10.8.2.1");
        let copy = |file: &File| File::from(file.as_fd().try_clone_to_owned().unwrap());
        let (near_in, far_in) = (copy(&near), copy(&far));
        let forth = spawn(move || carry(near, far_in, bytes_per_second));
        let back = spawn(move || delay(far, near_in, round_trip));
        Self { terminals: [to, from], relays: vec![forth, back] }
    }

    pub(super) fn end(self) {
        drop(self.terminals);
        for relay in self.relays {
            relay.join().unwrap();
        }
        shell("ip link del lan; ip netns del server; ip netns del client");
    }
}

/// Runs a function on a thread in a namespace.
pub(super) fn within<T: Send + 'static>(namespace: &str, run: impl FnOnce() -> T + Send + 'static) -> JoinHandle<T> {
    let place = File::open(format!("/run/netns/{namespace}")).unwrap();
    spawn(move || {
        move_into_link_name_space(place.as_fd(), Some(LinkNameSpaceType::Network)).unwrap();
        run()
    })
}

/// The direction of the link that has its rate.
fn carry(mut from: File, mut to: File, bytes_per_second: u64) {
    let mut pace = Pace::new(Arc::new(AtomicU64::new(bytes_per_second)));
    let mut buffer = [0; PART];
    while let Some(bytes) = pace.read(&mut from, &mut buffer) {
        if to.write_all(bytes).is_err() {
            return;
        }
    }
}

/// The way back, which has a delay and no rate.
fn delay(mut from: File, mut to: File, by: Duration) {
    let (sender, receiver) = channel::<(Instant, Vec<u8>)>();
    let writer = spawn(move || {
        for (due, bytes) in receiver {
            pause_until(due);
            if to.write_all(&bytes).is_err() {
                return;
            }
        }
    });
    let mut buffer = [0; PART];
    while let Ok(length @ 1..) = from.read(&mut buffer) {
        if sender.send((now() + by, buffer[..length].to_vec())).is_err() {
            break;
        }
    }
    drop(sender);
    writer.join().unwrap();
}
