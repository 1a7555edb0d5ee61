//! The driver `mac80211_hwsim`: its radios hand their frames to a process, which decides what becomes of them (generic
//! netlink family `MAC80211_HWSIM`, `mac80211_hwsim.h`).

use super::frame::{Address, Rates};
use linux::kernel::wire::{Request, attribute};
use rustix::io::Errno;
use rustix::net::netlink::SocketAddrNetlink;
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, netlink};
use std::collections::VecDeque;
use std::io;
use std::os::fd::OwnedFd;
use std::time::Duration;

/// Netlink's answer to a message: an error number of four bytes; if it is not zero, the message follows.
const ERROR: u16 = 2;
/// Flags of a message: it is a request; it must be answered in any case.
const REQUEST: u16 = 1;
const ANSWERED: u16 = 5;
const CONTROLLER: u16 = 0x10;
const GET_FAMILY: u8 = 3;
const FAMILY_ID: u16 = 1;
const FAMILY_NAME: u16 = 2;
const REGISTER: u8 = 1;
const FRAME: u8 = 2;
const STATUS: u8 = 3;
const RECEIVER: u16 = 1;
const TRANSMITTER: u16 = 2;
const CONTENT: u16 = 3;
const FLAGS: u16 = 4;
const RATE: u16 = 5;
const SIGNAL: u16 = 6;
const RATES: u16 = 7;
const COOKIE: u16 = 8;
/// Attribute of a status that ends a batch; the driver then pulls more. Unpatched hwsim does not read it.
const PULLS: u16 = 9;
/// Attribute of a frame or a status: airtime in microseconds. Unpatched hwsim does not read it.
const AIRTIME: u16 = 10;
const FREQUENCY: u16 = 19;
const RATE_FLAGS: u16 = 21;
/// Flags of a frame and of a status: it needs no acknowledgement; it was acknowledged.
pub(super) const NO_ACK: u32 = 2;
const ACKNOWLEDGED: u32 = 4;
const SIGNAL_DBM: i32 = -50;
/// Length of `nlmsghdr`, then of `nlmsghdr` with `genlmsghdr`.
const HEADER: usize = 16;
const GENERIC_HEADER: usize = 20;

/// The driver hands a frame over before it lists the frame as pending. It refuses a status that another processor
/// delivers in between, and then keeps the packet for ever. So a refused status is sent again after this time. The
/// number of times is bounded, because the driver also refuses statuses of frames that it has dropped.
const AGAIN_AFTER: Duration = Duration::from_millis(1);
const TIMES: u32 = 3;

/// Number of the medium's socket. If any netlink socket with this number is closed, of whatever protocol, the driver
/// continues without a medium. The kernel would give this process's number to its first socket of each protocol.
const PORT: u32 = 1 << 30;
/// Size of the buffer for messages of the kernel that were not read yet, in bytes.
const ROOM: usize = 16 << 20;
/// Messages are sent together up to this length, in bytes.
const TOGETHER: usize = 1 << 15;

/// A frame that a radio sends.
#[derive(Clone, Debug, Default)]
pub(super) struct Frame {
    pub(super) radio: Address,
    /// Bytes from the MAC header on, without the checksum.
    pub(super) content: Vec<u8>,
    pub(super) rates: Rates,
    pub(super) rate_flags: Vec<u8>,
    pub(super) flags: u32,
    pub(super) cookie: Vec<u8>,
    /// Frequency in MHz.
    pub(super) frequency: u32,
}

/// The driver, as its medium sees it.
#[derive(Debug)]
pub(super) struct Driver {
    pub(super) socket: OwnedFd,
    family: u16,
    buffer: Vec<u8>,
    /// Messages that will be sent together.
    outbox: Vec<u8>,
    /// Statuses that the driver refused, each with the time at which it is sent again.
    refused: VecDeque<(Duration, Vec<u8>)>,
}

impl Driver {
    /// Registers this process to get the frames of all radios that were made in this network namespace. `None` if the
    /// kernel has no such radios.
    pub(super) fn register() -> io::Result<Option<Self>> {
        let kind = Some(netlink::GENERIC);
        let socket = rustix::net::socket_with(AddressFamily::NETLINK, SocketType::RAW, SocketFlags::CLOEXEC, kind)?;
        rustix::net::bind(&socket, &SocketAddrNetlink::new(PORT, 0))?;
        rustix::net::sockopt::set_socket_recv_buffer_size_force(&socket, ROOM)?;
        let (buffer, outbox, refused) = (vec![0; 1 << 16], Vec::new(), VecDeque::new());
        let mut new = Self { socket, family: CONTROLLER, buffer, outbox, refused };
        let length = new.ask(&message(GET_FAMILY, CONTROLLER).with(FAMILY_NAME, b"MAC80211_HWSIM\0").finish(0))?;
        let found = new.buffer.get(GENERIC_HEADER..length).filter(|_| !new.is_error(length));
        let id = found.and_then(|bytes| attribute(bytes, FAMILY_ID)?.try_into().ok());
        let Some(family) = id.map(u16::from_ne_bytes) else { return Ok(None) };
        new.family = family;
        let length = new.ask(&Request::new(family, ANSWERED, &[REGISTER, 1, 0, 0]).finish(0))?;
        let code =
            new.buffer.get(HEADER..length).and_then(<[u8]>::first_chunk).map_or(0, |code| i32::from_ne_bytes(*code));
        if code == 0 { Ok(Some(new)) } else { Err(io::Error::from_raw_os_error(-code)) }
    }

    /// Sends a message, and waits for the kernel's answer.
    fn ask(&mut self, message: &[u8]) -> io::Result<usize> {
        rustix::net::send(&self.socket, message, SendFlags::empty())?;
        Ok(rustix::net::recv(&self.socket, &mut self.buffer[..], RecvFlags::empty())?.0)
    }

    fn is_error(&self, length: usize) -> bool {
        self.buffer[..length].get(4..6) == Some(&ERROR.to_ne_bytes())
    }

    /// Sends the messages that are in the outbox.
    pub(super) fn flush(&mut self) -> io::Result<()> {
        if !self.outbox.is_empty() {
            rustix::net::send(&self.socket, &self.outbox, SendFlags::empty())?;
            self.outbox.clear();
        }
        Ok(())
    }

    /// Takes the next frame; `None` if there is none now.
    pub(super) fn next(&mut self, now: Duration) -> io::Result<Option<Frame>> {
        loop {
            let length = match rustix::net::recv(&self.socket, &mut self.buffer[..], RecvFlags::DONTWAIT) {
                Ok((length, _)) => length,
                Err(Errno::AGAIN) => return Ok(None),
                Err(Errno::INTR) => continue,
                Err(error) => return Err(error.into()),
            };
            let message = &self.buffer[..length];
            if self.is_error(length) {
                self.is_refused(message[HEADER.min(length)..].to_vec(), now);
            } else if message.get(4..6) == Some(&self.family.to_ne_bytes()) && message.get(HEADER) == Some(&FRAME) {
                let of = |kind| attribute(&message[GENERIC_HEADER..], kind).unwrap_or_default();
                let number = |kind| of(kind).try_into().map_or(0, u32::from_ne_bytes);
                let Ok(radio) = of(TRANSMITTER).try_into() else { continue };
                return Ok(Some(Frame {
                    radio,
                    content: of(CONTENT).to_vec(),
                    rates: Rates::read(of(RATES)),
                    rate_flags: of(RATE_FLAGS).to_vec(),
                    flags: number(FLAGS),
                    cookie: of(COOKIE).to_vec(),
                    frequency: number(FREQUENCY),
                }));
            }
            // Other messages report a radio's addresses, or that a radio was removed.
        }
    }

    /// Keeps a status that the driver refused. Its sequence number counts the refusals. `answer`: error and message.
    fn is_refused(&mut self, mut answer: Vec<u8>, now: Duration) {
        let Some(error) = answer.first_chunk().map(|error| i32::from_ne_bytes(*error)) else { return };
        answer.drain(..size_of::<i32>());
        let (Some(number), Some(&STATUS)) = (answer.get(8..12), answer.get(HEADER)) else { return };
        let times = number.try_into().map_or(TIMES, u32::from_ne_bytes);
        if error != 0 && times < TIMES {
            answer[8..12].copy_from_slice(&(times + 1).to_ne_bytes());
            self.refused.push_back((now + AGAIN_AFTER, answer));
        }
    }

    /// Sends refused statuses that are due again. Returns when the next refused status is due.
    pub(super) fn again(&mut self, now: Duration) -> Option<Duration> {
        while self.refused.front().is_some_and(|(due, _)| *due <= now) {
            self.outbox.extend(self.refused.pop_front().map(|(_, bytes)| bytes).unwrap_or_default());
        }
        self.refused.front().map(|&(due, _)| due)
    }

    /// Delivers a frame to a radio, with the airtime of its sender's frames since the last delivery.
    pub(super) fn deliver(&mut self, to: Address, content: &[u8], frequency: u32, airtime: Duration) -> io::Result<()> {
        let message = message(FRAME, self.family).with(RECEIVER, &to).with(CONTENT, content);
        let message = message.with(RATE, &0_u32.to_ne_bytes()).with(SIGNAL, &SIGNAL_DBM.to_ne_bytes());
        let message = message.with(FREQUENCY, &frequency.to_ne_bytes());
        self.outbox.extend(charged(message, airtime).finish(0));
        if self.outbox.len() > TOGETHER { self.flush() } else { Ok(()) }
    }

    /// Reports to a frame's sender whether it was acknowledged, and how often it was sent. Also the airtime of frames
    /// to its receiver since the last report. The report may be the last of a batch.
    pub(super) fn report(&mut self, frame: &Frame, acknowledged: bool, times: u16, airtime: Duration, is_last: bool) {
        let flags = frame.flags & NO_ACK | if acknowledged { ACKNOWLEDGED } else { 0 };
        let rates = frame.rates.tried(times).0;
        let message = message(STATUS, self.family).with(TRANSMITTER, &frame.radio);
        let message = message.with(FLAGS, &flags.to_ne_bytes()).with(COOKIE, &frame.cookie);
        let message = message.with(SIGNAL, &SIGNAL_DBM.to_ne_bytes()).with(RATES, rates.as_flattened());
        let message = charged(message, airtime);
        let message = if is_last { message.with(PULLS, &1_u32.to_ne_bytes()) } else { message };
        self.outbox.extend(message.finish(0));
    }
}

/// Makes a generic netlink message: a request that the kernel answers only if there is an error.
fn message(command: u8, family: u16) -> Request {
    Request::new(family, REQUEST, &[command, 1, 0, 0])
}

/// Adds an airtime if it is above zero.
fn charged(message: Request, airtime: Duration) -> Request {
    let micros = u32::try_from(airtime.as_micros()).unwrap_or(u32::MAX);
    if micros == 0 { message } else { message.with(AIRTIME, &micros.to_ne_bytes()) }
}
