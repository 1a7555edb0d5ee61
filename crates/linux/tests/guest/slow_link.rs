//! A slow link with back-pressure: SLIP over a pseudo-terminal whose other end is read at a given rate. The driver
//! stops while a packet does not fit into the terminal, so that the queue builds up in the discipline.

use super::{now, pause_until, shell};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use std::fs::File;
use std::io::Read;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::{JoinHandle, spawn};
use units::{Duration, Instant};

/// Special bytes of SLIP (RFC 1055).
const END: u8 = 0xc0;
const ESC: u8 = 0xdb;
const ESC_END: u8 = 0xdc;
/// Most bytes that a pseudo-terminal holds: 8 KiB on the way and 4 KiB to be read.
pub(super) const BELOW_THE_QUEUE: u64 = 12 * 1_024;
/// The terminal asks for more when 128 bytes are left to be read, so the driver takes at most this many at once
/// (`n_tty`, since what is to be read fits into a page).
pub(super) const CHUNK: u64 = 4 * 1_024;
/// Largest delay of a reader's wake-up.
const LATE: Duration = Duration::from_millis(5);
/// Offset of the payload of a UDP packet: no options.
const PAYLOAD: usize = 28;

/// An interface `sl0`, `sl1`, ... over a pseudo-terminal. It goes when this and its other end are dropped.
pub(super) struct Terminal {
    attacher: Child,
}

impl Terminal {
    /// Makes interface `name`, which must be the first free one, and the end where its bytes come out.
    pub(super) fn new(name: &str) -> (Self, File) {
        shell("modprobe slip");
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        let path = ptsname(&master, Vec::new()).unwrap().into_string().unwrap();
        let mut attach = Command::new("ldattach");
        let attacher = attach.args(["-d", "SLIP", &path]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        shell(&format!(
            "until ip link show {name} > /dev/null 2>&1; do sleep 0.01; done; ip link set {name} mtu 1500 up"
        ));
        (Self { attacher }, File::from(master))
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // It may have ended by itself; there is nothing else to be done in a drop.
        let _ = self.attacher.kill();
        let _ = self.attacher.wait();
    }
}

/// Reads at the link's rate.
pub(super) struct Pace {
    bytes_per_second: Arc<AtomicU64>,
    due: Instant,
}

impl Pace {
    pub(super) fn new(bytes_per_second: Arc<AtomicU64>) -> Self {
        Self { bytes_per_second, due: now() }
    }

    /// Returns some bytes, once the link has carried them; none when the interface is gone.
    pub(super) fn read<'a>(&mut self, from: &mut File, buffer: &'a mut [u8]) -> Option<&'a [u8]> {
        // An error is the end: nobody holds the other side any more.
        let Ok(length @ 1..) = from.read(buffer) else { return None };
        // A reader that woke up late makes up for it, but not for an idle link.
        let idle_since = Instant::from_nanos(now().as_nanos().saturating_sub(LATE.as_nanos()));
        let rate = self.bytes_per_second.load(Ordering::Relaxed);
        self.due = self.due.max(idle_since) + Duration::from_nanos(length as u64 * 1_000_000_000 / rate);
        pause_until(self.due);
        Some(&buffer[..length])
    }
}

/// The receiving end; ends when the interface is gone.
pub(super) struct SlowLink {
    reader: JoinHandle<Received>,
    bytes_per_second: Arc<AtomicU64>,
    terminal: Terminal,
}

/// Packets that came out of the link.
#[derive(Clone, Debug, Default)]
pub(super) struct Received {
    pub(super) packets: u64,
    /// Send time of each, and time until its last byte came.
    pub(super) delays: Vec<(Instant, Duration)>,
    /// Second byte of each header: code point and ECN.
    pub(super) tos: Vec<u8>,
    /// Port that sent each.
    pub(super) port: Vec<u16>,
    /// Headers whose checksum is wrong.
    pub(super) wrong: u64,
}

impl SlowLink {
    /// Makes interface `sl0` with the address 10.9.9.1, at this rate in bytes per second.
    pub(super) fn new(bytes_per_second: u64) -> Self {
        let (terminal, master) = Terminal::new("sl0");
        shell("ip addr add 10.9.9.1 peer 10.9.9.2 dev sl0");
        let bytes_per_second = Arc::new(AtomicU64::new(bytes_per_second));
        let pace = Pace::new(Arc::clone(&bytes_per_second));
        Self { reader: spawn(move || receive(master, pace)), bytes_per_second, terminal }
    }

    /// Sets the rate in bytes per second.
    pub(super) fn set_rate(&self, bytes_per_second: u64) {
        self.bytes_per_second.store(bytes_per_second, Ordering::Relaxed);
    }

    /// Ends the link, which removes its interface.
    pub(super) fn end(self) -> Received {
        drop(self.terminal);
        self.reader.join().unwrap()
    }
}

fn receive(mut master: File, mut pace: Pace) -> Received {
    let (mut received, mut packet, mut escaped) = (Received::default(), Vec::new(), false);
    let mut buffer = [0; 512];
    while let Some(bytes) = pace.read(&mut master, &mut buffer) {
        for &byte in bytes {
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
        self.tos.push(packet[1]);
        self.port.push(u16::from_be_bytes([packet[20], packet[21]]));
        let sum: u32 = packet[..20].chunks(2).map(|word| u32::from(u16::from_be_bytes([word[0], word[1]]))).sum();
        self.wrong += u64::from((sum & 0xffff) + (sum >> 16) != 0xffff);
    }

    /// Packets that were sent at or after a time.
    pub(super) fn mean_delay(&self, from: Instant) -> Duration {
        let (n, sum) = self
            .delays
            .iter()
            .filter(|(sent, _)| *sent >= from)
            .fold((0, Duration::ZERO), |(n, sum), (_, delay)| (n + 1, sum + *delay));
        sum / n.max(1)
    }
}
