//! The driver `mac80211_hwsim`: its radios hand their frames to a process, which decides their fate (generic netlink
//! family `MAC80211_HWSIM`, Linux's `mac80211_hwsim.h`).

use super::now;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::netlink::SocketAddrNetlink;
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, netlink};
use std::collections::VecDeque;
use std::os::fd::OwnedFd;
use units::{Duration, Instant};

/// Netlink's answer to a message: an error number of four bytes, and the message if that is not zero.
const ERROR: u16 = 2;
/// Flag of a message that is answered in any case.
const ANSWER: u8 = 4;
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
const FREQUENCY: u16 = 19;
/// Flag of a status: the frame was acknowledged.
const ACKNOWLEDGED: u32 = 4;
const SIGNAL_DBM: i32 = -50;
/// Length of `nlmsghdr`, and of that and `genlmsghdr`.
const HEADER: usize = 16;
const GENERIC_HEADER: usize = 20;

/// The driver lists a frame as pending only after it has handed it over. It refuses a status that another processor brings
/// in between, and then keeps the packet for ever. So a refused status is sent again after this time. It is sent again so
/// often at most, because the driver also refuses the status of a frame that it has dropped.
const AGAIN_AFTER: Duration = Duration::from_millis(100);
const TIMES: u32 = 3;

/// Number of the medium's socket. The driver goes on without a medium when any netlink socket of the medium's number is
/// closed, of whatever protocol, and the kernel would give this process's number to the first socket of each.
const PORT: u32 = 1 << 30;

/// A frame that a radio sends.
#[derive(Debug, Default)]
pub(super) struct Frame {
    /// Number of the radio.
    pub(super) from: usize,
    /// Bytes from the MAC header on, without checksum.
    pub(super) content: Vec<u8>,
    rates: Vec<u8>,
    cookie: Vec<u8>,
    frequency: Vec<u8>,
}

impl Frame {
    /// Tells whether it is a data frame.
    pub(super) fn is_data(&self) -> bool {
        self.content[0] & 0x0c == 8
    }

    /// Returns the receiver; `None` for a broadcast.
    pub(super) fn to(&self) -> Option<usize> {
        (self.content[4] & 1 == 0).then(|| usize::from(self.content[8]))
    }
}

/// The driver, as its medium sees it.
#[derive(Debug)]
pub(super) struct Driver {
    socket: OwnedFd,
    family: u16,
    buffer: Vec<u8>,
    /// Statuses that were refused, and when they are sent again.
    refused: VecDeque<(Instant, Vec<u8>)>,
    /// Statuses that were accepted only when they were sent again.
    pub(super) early: u64,
}

impl Driver {
    /// Registers this process for the frames of all radios in this network namespace.
    pub(super) fn register() -> Self {
        let kind = Some(netlink::GENERIC);
        let socket = rustix::net::socket_with(AddressFamily::NETLINK, SocketType::RAW, SocketFlags::CLOEXEC, kind);
        let socket = socket.unwrap();
        rustix::net::bind(&socket, &SocketAddrNetlink::new(PORT, 0)).unwrap();
        rustix::net::sockopt::set_socket_recv_buffer_size_force(&socket, 16 << 20).unwrap();
        let (buffer, refused) = (vec![0; 1 << 16], VecDeque::new());
        let mut new = Self { socket, family: CONTROLLER, buffer, refused, early: 0 };
        new.send(&Message::new(GET_FAMILY).with(FAMILY_NAME, b"MAC80211_HWSIM\0"));
        let length = new.receive().unwrap();
        let id = attribute(&new.buffer[GENERIC_HEADER..length], FAMILY_ID).unwrap();
        new.family = u16::from_ne_bytes(id.try_into().unwrap());
        new.send(&Message::new(REGISTER));
        new
    }

    fn send(&self, message: &Message) {
        let mut bytes = message.0.clone();
        let length = u32::try_from(bytes.len()).unwrap();
        bytes[..4].copy_from_slice(&length.to_ne_bytes());
        bytes[4..6].copy_from_slice(&self.family.to_ne_bytes());
        rustix::net::send(&self.socket, &bytes, SendFlags::empty()).unwrap();
    }

    fn receive(&mut self) -> Result<usize, Errno> {
        rustix::net::recv(&self.socket, &mut self.buffer[..], RecvFlags::DONTWAIT).map(|(length, _)| length)
    }

    /// Waits up to this time for a frame, and takes one.
    pub(super) fn next(&mut self, wait: Duration) -> Option<Frame> {
        while self.refused.front().is_some_and(|(due, _)| *due <= now()) {
            let (_, bytes) = self.refused.pop_front().unwrap();
            rustix::net::send(&self.socket, &bytes, SendFlags::empty()).unwrap();
        }
        let nanos = i64::try_from(wait.as_nanos()).unwrap();
        let timeout = Timespec { tv_sec: nanos / 1_000_000_000, tv_nsec: nanos % 1_000_000_000 };
        let mut ready = [PollFd::new(&self.socket, PollFlags::IN)];
        if !matches!(poll(&mut ready, Some(&timeout)), Ok(1..)) {
            return None;
        }
        let length = self.receive().ok()?;
        let message = &self.buffer[..length];
        let kind = u16::from_ne_bytes([message[4], message[5]]);
        if kind == ERROR {
            let about = message[HEADER + 4..].to_vec();
            if message[HEADER..HEADER + 4] == [0; 4] {
                self.early += 1;
            } else {
                self.is_refused(about);
            }
            return None;
        }
        // Other messages are about a radio's addresses, or about one that goes and takes no more frames.
        if kind != self.family || message[HEADER] != FRAME {
            return None;
        }
        let of = |kind| attribute(&message[GENERIC_HEADER..], kind).unwrap_or_default().to_vec();
        let from = usize::from(of(TRANSMITTER)[4]);
        Some(Frame { from, content: of(CONTENT), rates: of(RATES), cookie: of(COOKIE), frequency: of(FREQUENCY) })
    }

    /// Keeps a status that the driver refused; its sequence number tells how often.
    fn is_refused(&mut self, mut bytes: Vec<u8>) {
        let (Some(number), Some(&STATUS)) = (bytes.get(8..12), bytes.get(HEADER)) else { return };
        let times = u32::from_ne_bytes(number.try_into().unwrap());
        if times < TIMES {
            bytes[6] |= ANSWER;
            bytes[8..12].copy_from_slice(&(times + 1).to_ne_bytes());
            self.refused.push_back((now() + AGAIN_AFTER, bytes));
        }
    }

    /// Delivers the frame to a radio.
    pub(super) fn deliver(&self, frame: &Frame, to: usize) {
        let receiver = [0x42, 0, 0, 0, u8::try_from(to).unwrap(), 0];
        let message = Message::new(FRAME).with(RECEIVER, &receiver).with(CONTENT, &frame.content);
        let message = message.with(RATE, &0_u32.to_ne_bytes()).with(SIGNAL, &SIGNAL_DBM.to_ne_bytes());
        self.send(&message.with(FREQUENCY, &frame.frequency));
    }

    /// Reports the frame's fate to the radio that sent it, and how many times it was sent: always at the first of its rates.
    pub(super) fn report(&self, frame: &Frame, attempts: u32, is_acknowledged: bool) {
        let transmitter = [0x42, 0, 0, 0, u8::try_from(frame.from).unwrap(), 0];
        let flags = if is_acknowledged { ACKNOWLEDGED } else { 0 };
        let message = Message::new(STATUS).with(TRANSMITTER, &transmitter).with(FLAGS, &flags.to_ne_bytes());
        let message = message.with(COOKIE, &frame.cookie).with(SIGNAL, &SIGNAL_DBM.to_ne_bytes());
        let mut rates = frame.rates.clone();
        for (position, rate) in rates.as_chunks_mut::<2>().0.iter_mut().enumerate() {
            *rate = if position == 0 { [rate[0], u8::try_from(attempts).unwrap()] } else { NO_RATE };
        }
        self.send(&message.with(RATES, &rates));
    }
}

/// A rate that was not tried: its index is -1.
const NO_RATE: [u8; 2] = [0xff, 0];

/// Makes a message of generic netlink, without its length and family.
struct Message(Vec<u8>);

impl Message {
    fn new(command: u8) -> Self {
        let mut bytes = vec![0; GENERIC_HEADER];
        // A request without an answer if nothing is wrong.
        bytes[6] = 1;
        bytes[HEADER] = command;
        bytes[HEADER + 1] = 1;
        Self(bytes)
    }

    fn with(mut self, kind: u16, value: &[u8]) -> Self {
        self.0.extend(u16::try_from(value.len() + 4).unwrap().to_ne_bytes());
        self.0.extend(kind.to_ne_bytes());
        self.0.extend(value);
        self.0.resize(self.0.len().next_multiple_of(4), 0);
        self
    }
}

fn attribute(mut bytes: &[u8], wanted: u16) -> Option<&[u8]> {
    loop {
        let length = usize::from(u16::from_ne_bytes(bytes.get(..2)?.try_into().unwrap()));
        let kind = u16::from_ne_bytes(bytes.get(2..4)?.try_into().unwrap()) & 0x3fff;
        let value = bytes.get(4..length)?;
        if kind == wanted {
            return Some(value);
        }
        bytes = bytes.get(length.next_multiple_of(4)..)?;
    }
}
