//! Traffic for the stress: two sockets of which every packet is counted, and streams of large packets.

use super::ground::KINDS;
use super::stress::Choices;
use super::{network, now, pause_until};
use rustix::net::sockopt::set_ip_tos;
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{JoinHandle, spawn};
use units::Duration;

/// As in `witness.bpf.c`.
const FIRST_PORT: u16 = 40_000;
/// Destination of the streams.
const SERVER: &str = "10.9.3.2:5000";
/// A stream that stands still for this long begins anew.
const PATIENCE: std::time::Duration = std::time::Duration::from_millis(500);

pub(super) struct Sent {
    /// Counts of each socket: packets that the kernel took, and calls that failed.
    pub(super) packets: [u64; 2],
    pub(super) refused: [u64; 2],
    /// Bytes received at the other end.
    pub(super) streamed: u64,
    /// Kept open, so that `unsent` tells what still waits.
    pub(super) sockets: [UdpSocket; 2],
}

pub(super) struct Traffic {
    enough: Arc<AtomicBool>,
    bursts: [JoinHandle<(UdpSocket, u64, u64)>; 2],
    streams: JoinHandle<()>,
    server: JoinHandle<u64>,
}

impl Traffic {
    pub(super) fn start(seed: u64) -> Self {
        // Enough for all packets of a queue; otherwise the socket would hold the sender back.
        std::fs::write("/proc/sys/net/core/wmem_default", "60000000").unwrap();
        let enough = Arc::new(AtomicBool::new(false));
        let bursts = [&["10.9.1.2:9", "10.9.2.2:9"] as &[&str], &["10.9.9.2:9"]];
        let mut port = FIRST_PORT;
        let bursts = bursts.map(|to| {
            let (enough, choices) = (Arc::clone(&enough), Choices(seed.wrapping_add(port.into())));
            let socket = UdpSocket::bind(("0.0.0.0", port)).unwrap();
            port += 1;
            spawn(move || burst(socket, to, choices, &enough))
        });
        let told = Arc::clone(&enough);
        let server = network::within("far", move || serve(&told));
        let told = Arc::clone(&enough);
        let streams = spawn(move || stream(&told));
        Self { enough, bursts, streams, server }
    }

    pub(super) fn end(self) -> Sent {
        self.enough.store(true, Ordering::Relaxed);
        self.streams.join().unwrap();
        let streamed = self.server.join().unwrap();
        let [first, second] = self.bursts.map(|burst| burst.join().unwrap());
        let (packets, refused) = ([first.1, second.1], [first.2, second.2]);
        Sent { packets, refused, streamed, sockets: [first.0, second.0] }
    }
}

/// Returns packets and failed calls.
fn burst(socket: UdpSocket, to: &[&str], mut choices: Choices, enough: &AtomicBool) -> (UdpSocket, u64, u64) {
    let (mut sent, mut refused) = (0, 0);
    while !enough.load(Ordering::Relaxed) {
        let place = choices.of(to);
        set_ip_tos(&socket, choices.of(&KINDS)).unwrap();
        for _ in 0..choices.below(60) {
            let length = usize::try_from(choices.below(1_400)).unwrap();
            match socket.send_to(&[0; 1_400][..length], place) {
                Ok(_) => sent += 1,
                Err(_) => refused += 1,
            }
        }
        pause_until(now() + Duration::from_nanos(choices.below(60_000_000)));
    }
    (socket, sent, refused)
}

fn stream(enough: &AtomicBool) {
    let address = SERVER.parse().unwrap();
    let part = vec![0; 65_536];
    while !enough.load(Ordering::Relaxed) {
        // The interface is down, or its queue is gone: again.
        let Ok(mut stream) = TcpStream::connect_timeout(&address, PATIENCE) else { continue };
        stream.set_write_timeout(Some(PATIENCE)).unwrap();
        while !enough.load(Ordering::Relaxed) && stream.write_all(&part).is_ok() {
            pause_until(now() + Duration::from_millis(20));
        }
    }
}

/// Returns the bytes received.
fn serve(enough: &AtomicBool) -> u64 {
    let listener = TcpListener::bind(SERVER).unwrap();
    listener.set_nonblocking(true).unwrap();
    let mut buffer = vec![0; 65_536];
    let mut bytes = 0;
    while !enough.load(Ordering::Relaxed) {
        let Ok((mut stream, _)) = listener.accept() else {
            pause_until(now() + Duration::from_millis(20));
            continue;
        };
        stream.set_nonblocking(false).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        while let Ok(length @ 1..) = stream.read(&mut buffer) {
            bytes += length as u64;
        }
    }
    bytes
}
