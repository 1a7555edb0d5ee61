//! A slow link with back-pressure: SLIP over a pseudo-terminal whose other end is read at a given rate. The driver takes
//! no packet while one does not fit into the terminal, so that the queue forms in the discipline.

use super::{now, pause_until, shell};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use std::fs::File;
use std::io::Read;
use std::os::fd::OwnedFd;
use std::thread::{JoinHandle, spawn};
use units::{Duration, Instant};

/// Special bytes of SLIP (RFC 1055).
const END: u8 = 0xc0;
const ESC: u8 = 0xdb;
const ESC_END: u8 = 0xdc;
/// What a pseudo-terminal holds at most: 8 KiB on the way and 4 KiB to be read.
pub(super) const BELOW_THE_QUEUE: u64 = 12 * 1_024;
/// How late a reader may wake up.
const LATE: Duration = Duration::from_millis(5);
/// Where the payload of a UDP packet begins: no options.
const PAYLOAD: usize = 28;

/// The receiving end; ends when the interface is gone.
pub(super) struct SlowLink {
    reader: JoinHandle<Received>,
    attacher: u32,
}

/// What came out of the link.
#[derive(Clone, Debug, Default)]
pub(super) struct Received {
    pub(super) packets: u64,
    /// When each was sent, and from then until its last byte came.
    pub(super) delays: Vec<(Instant, Duration)>,
}

impl SlowLink {
    /// Makes interface `sl0` with the address 10.9.9.1, that carries so many bytes a second.
    pub(super) fn new(bytes_per_second: u64) -> Self {
        shell("modprobe slip");
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        let name = ptsname(&master, Vec::new()).unwrap().into_string().unwrap();
        shell(&format!("ldattach SLIP {name}; until ip link show sl0 > /dev/null 2>&1; do sleep 0.01; done"));
        shell("ip link set sl0 mtu 1500 up; ip addr add 10.9.9.1 peer 10.9.9.2 dev sl0");
        let attacher = shell("pidof ldattach").trim().parse().unwrap();
        Self { reader: spawn(move || read(master, bytes_per_second)), attacher }
    }

    /// Ends the link, which takes its interface away.
    pub(super) fn end(self) -> Received {
        shell(&format!("kill {}", self.attacher));
        self.reader.join().unwrap()
    }
}

fn read(master: OwnedFd, bytes_per_second: u64) -> Received {
    let mut master = File::from(master);
    let (mut received, mut packet, mut escaped) = (Received::default(), Vec::new(), false);
    let mut buffer = [0; 512];
    let mut due = now();
    // An error is the end: nobody holds the other side any more.
    while let Ok(length @ 1..) = master.read(&mut buffer) {
        // A reader that woke up late makes up for it, but not for an idle link.
        let idle_since = Instant::from_nanos(now().as_nanos().saturating_sub(LATE.as_nanos()));
        due = due.max(idle_since) + Duration::from_nanos(length as u64 * 1_000_000_000 / bytes_per_second);
        pause_until(due);
        for &byte in &buffer[..length] {
            match byte {
                END if packet.is_empty() => {}
                END => {
                    received.take(&packet);
                    packet.clear();
                }
                ESC => escaped = true,
                byte if escaped => {
                    packet.push(if byte == ESC_END { END } else { ESC });
                    escaped = false;
                }
                byte => packet.push(byte),
            }
        }
    }
    received
}

impl Received {
    fn take(&mut self, packet: &[u8]) {
        self.packets += 1;
        let Some(stamp) = packet.get(PAYLOAD..PAYLOAD + 8) else { return };
        let sent = Instant::from_nanos(u64::from_be_bytes(stamp.try_into().unwrap()));
        // Something else that the kernel sent.
        if sent > now() {
            return;
        }
        self.delays.push((sent, now().since(sent)));
    }

    /// Of the packets that were sent at or after a time.
    pub(super) fn mean_delay(&self, from: Instant) -> Duration {
        let (n, sum) = self
            .delays
            .iter()
            .filter(|(sent, _)| *sent >= from)
            .fold((0, Duration::ZERO), |(n, sum), (_, delay)| (n + 1, sum + *delay));
        sum / n.max(1)
    }
}
