//! A real kernel's 802.11 over a simulated network. The network is the medium of `mac80211_hwsim`'s radios, and the MAC
//! below each radio. Radios are the nodes with `queues = "driver"`, in the scenario's order.

mod frame;
mod netlink;

use super::namespaces::watch;
use super::pace::{Ended, NotRun, clock, end, ended, hears_signals};
use super::unavailable::{Unavailable, failed};
use crate::medium::{Medium, since_start};
use frame::{Address, Header};
use linux::agent::signals::Signals;
use netlink::{Driver, Frame};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::time::{ClockId, Timespec};
use sim::radio::Format;
use sim::{Arrival, Datagram, Status, Way, World};
use std::collections::BTreeMap;
use std::io;
use std::process::{Child, Command};
use std::time::Duration;
use units::{Bytes, Instant};

/// Length of the headers of QoS data and LLC, which the simulated frame has in addition.
const HEADERS: usize = 26 + 8;
/// Smallest length of a simulated packet: that of the headers of UDP and IPv4.
const LEAST: usize = 28;

/// Counts of the radios' frames.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Number of frames to one radio that were acknowledged.
    pub acknowledged: u64,
    /// Number of frames to one radio that were given up.
    pub failed: u64,
    /// Number of frames to all radios.
    pub to_all: u64,
    /// Number of frames that the network does not carry: too long, or not from or to a radio of the scenario.
    pub refused: u64,
}

struct Radios<'m> {
    medium: &'m mut Medium,
    driver: Driver,
    /// Flow between two radios, by its ends.
    ways: BTreeMap<(u32, u32), Way>,
    /// Node of each radio, by the radio's number.
    nodes: Vec<u32>,
    /// Number of the radio of each interface, by the interface's address.
    addresses: BTreeMap<Address, u32>,
    /// Frames within the network; the key is both ends and the frame's number.
    sent: BTreeMap<(u32, u32, u32), Frame>,
    newest: Option<Format>,
    /// Time of the clock at which the network's time began.
    start: Duration,
    counts: Counts,
}

/// Runs `medium` as the medium of hwsim's radios until its end, until `command` has ended, or until a signal.
///
/// # Errors
/// The kernel has no such radios, or the system refuses.
pub fn radios(medium: &mut Medium, command: Option<Command>) -> Result<(Counts, Ended), NotRun> {
    let signals = Signals::take_over().map_err(|error| failed("catch signals")(io::Error::other(error)))?;
    let driver = Driver::register().map_err(failed("reach the driver of simulated radios"))?;
    let driver = driver.ok_or(Unavailable::NoRadios)?;
    // With this timer slack waits end on time; with the kernel's default they end up to 50 us late.
    let _ = std::fs::write("/proc/self/timerslack_ns", "1");
    let ways: BTreeMap<(u32, u32), Way> = medium.world().ways().map(|way| ((way.from, way.to), way)).collect();
    let mut nodes: Vec<u32> = ways.keys().map(|&(from, _)| from).collect();
    nodes.dedup();
    let mut child = command.map(|command| hears_signals(command).spawn()).transpose().map_err(NotRun::Command)?;
    let start = clock(ClockId::Monotonic);
    let (addresses, sent, newest) = (BTreeMap::new(), BTreeMap::new(), medium.newest());
    let counts = Counts::default();
    let mut radios = Radios { medium, driver, ways, nodes, addresses, sent, newest, start, counts };
    let turned = radios.turn(&signals, child.as_mut());
    let ended = end(child.as_mut(), *turned.as_ref().unwrap_or(&Ended::Interrupted))?;
    Ok((radios.counts, turned.map(|_| ended)?))
}

impl Radios<'_> {
    fn turn(&mut self, signals: &Signals, mut child: Option<&mut Child>) -> Result<Ended, Unavailable> {
        let watched = child.as_deref().map(watch).transpose()?;
        loop {
            self.advance().map_err(failed("talk to the driver of simulated radios"))?;
            if self.world().finished() {
                return Ok(Ended::Over);
            }
            let now = self.elapsed();
            let again = self.driver.again(now);
            self.driver.flush().map_err(failed("talk to the driver of simulated radios"))?;
            let next = since_start(self.world().next_event());
            let wait = again.map_or(next, |again| again.min(next)).saturating_sub(now);
            let wait = Timespec::try_from(wait).map_err(|_| failed("wait")(io::Error::from(Errno::RANGE)))?;
            let mut fds = vec![PollFd::new(signals, PollFlags::IN)];
            fds.push(PollFd::new(&self.driver.socket, PollFlags::IN));
            fds.extend(watched.iter().map(|ended| PollFd::new(ended, PollFlags::IN)));
            match poll(&mut fds, Some(&wait)) {
                Err(Errno::INTR) => continue,
                polled => polled.map_err(failed("wait for frames"))?,
            };
            if let Some(ended) = ended(&fds, signals, child.as_deref_mut())? {
                return Ok(ended);
            }
        }
    }

    fn world(&mut self) -> &mut World {
        self.medium.world()
    }

    fn elapsed(&self) -> Duration {
        clock(ClockId::Monotonic).saturating_sub(self.start)
    }

    /// Simulates the network until the present. It pauses at each event for the kernel, which may answer at once.
    fn advance(&mut self) -> io::Result<()> {
        let now = self.elapsed();
        let until = Instant::from_nanos(u64::try_from(now.as_nanos()).unwrap_or(u64::MAX));
        loop {
            self.world().run_to(until);
            let told = self.give_out()?;
            let at_end = self.world().now() >= until || self.world().finished();
            let took = self.take_in()?;
            if at_end && !told && !took {
                return Ok(());
            }
        }
    }

    /// Hands out the arrivals and statuses of this instant. True if there were any.
    fn give_out(&mut self) -> io::Result<bool> {
        let mut told = false;
        while let Some(Arrival { way, bytes, .. }) = self.world().outside().take_arrival() {
            told = true;
            let airtime = self.world().outside().take_airtime(way.to, way.from, true);
            let Some(number) = self.nodes.iter().position(|&node| node == way.to) else { continue };
            let [high, low] = u16::try_from(number).unwrap_or(u16::MAX).to_be_bytes();
            // The frame's frequency follows its bytes.
            let Some((content, frequency)) = bytes.split_last_chunk().map(|(c, f)| (c, u32::from_ne_bytes(*f))) else {
                continue;
            };
            let airtime = Duration::from_nanos(airtime.as_nanos());
            self.driver.deliver([0x42, 0, 0, high, low, 0], content, frequency, airtime)?;
        }
        let statuses: Vec<Status> = std::iter::from_fn(|| self.world().outside().take_status()).collect();
        for (place, &Status { way, number, acknowledged, transmissions, .. }) in statuses.iter().enumerate() {
            told = true;
            let Some(frame) = self.sent.remove(&(way.from, way.to, number)) else { continue };
            let is_for_all = !self.nodes.contains(&way.to);
            let airtime = if is_for_all {
                units::Duration::ZERO
            } else {
                self.world().outside().take_airtime(way.from, way.to, false)
            };
            let count = match (is_for_all, acknowledged) {
                (true, _) => &mut self.counts.to_all,
                (false, true) => &mut self.counts.acknowledged,
                (false, false) => &mut self.counts.failed,
            };
            *count += 1;
            let is_last = statuses[place + 1..].iter().all(|other| other.way.from != way.from);
            let airtime = Duration::from_nanos(airtime.as_nanos());
            self.driver.report(&frame, acknowledged && !is_for_all, transmissions.max(1), airtime, is_last);
        }
        self.driver.flush()?;
        Ok(told)
    }

    /// Takes the frames that the kernel has sent. True if there were any.
    fn take_in(&mut self) -> io::Result<bool> {
        let (mut took, now) = (false, self.elapsed());
        while let Some(frame) = self.driver.next(now)? {
            took = true;
            if let Err(frame) = self.submit(frame) {
                self.counts.refused += 1;
                self.driver.report(&frame, false, 1, Duration::ZERO, true);
            }
        }
        self.driver.flush()?;
        Ok(took)
    }

    /// Gives a frame to the network. Returns the frame if the network does not carry it.
    fn submit(&mut self, frame: Frame) -> Result<(), Frame> {
        let number = |address: Address| usize::from(u16::from_be_bytes([address[3], address[4]]));
        let (Some(header), Some(&from)) = (Header::read(&frame.content), self.nodes.get(number(frame.radio))) else {
            return Err(frame);
        };
        if let Some(transmitter) = header.transmitter {
            self.addresses.insert(transmitter, from);
        }
        // Until an interface sends its first frame, it counts as having its radio's address.
        let first = || self.nodes.get(number(header.receiver)).copied();
        let to = if header.is_for_all() {
            World::ALL
        } else {
            let Some(to) = self.addresses.get(&header.receiver).copied().or_else(first) else { return Err(frame) };
            to
        };
        let length = Bytes::new(frame.content.len().saturating_sub(HEADERS).max(LEAST) as u64);
        let Some(&way) = self.ways.get(&(from, to)).filter(|_| length <= World::FRAME) else { return Err(frame) };
        let bytes = [&frame.content[..], &frame.frequency.to_ne_bytes()].concat().into();
        let series = frame.rates.series(&frame.rate_flags, frame.frequency, self.newest);
        let datagram = Datagram { bytes, length, tos: header.tos(), key: 0 };
        match self.world().outside().submit(way, datagram, series) {
            Some(number) => {
                self.sent.insert((from, to, number), frame);
                Ok(())
            }
            None => Err(frame),
        }
    }
}
