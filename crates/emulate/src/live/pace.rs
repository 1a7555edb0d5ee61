//! A medium in real time: packets of TUN devices go in as they come, and come out when their time has come.

use super::namespaces::{INSIDE, Inside, Unavailable, failed, status};
use super::node::Node;
use crate::medium::{Delivery, Medium};
use crate::refused::NotSent;
use linux::agent::signals::{Signals, Told};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::{Errno, read, write};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open};
use rustix::time::{
    ClockId, Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, clock_gettime, timerfd_create,
    timerfd_settime,
};
use std::io;
use std::net::IpAddr;
use std::os::fd::OwnedFd;
use std::process::{Child, Command};
use std::time::Duration;
use thiserror::Error;

/// Events that come sooner after one another are handled together: a busy network has one every few microseconds.
const TICK: Duration = Duration::from_micros(200);
/// Packets that are read from a device before the network goes on.
const BATCH: usize = 64;
/// Time that a command has to end by itself after Ctrl-C.
const GRACE: Duration = Duration::from_secs(1);
const MTU: u16 = 1_500;

/// A real node that is ready.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ready {
    /// Name of the node.
    pub name: String,
    /// Its IPv4 and IPv6 address.
    pub addresses: [IpAddr; 2],
}

/// When a delivery is late.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bound {
    /// Real minus simulated time of delivery above which a packet is late.
    pub late: Duration,
}

/// How late packets were delivered: real minus simulated time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Lateness {
    /// Packets delivered.
    pub packets: u64,
    /// Those of them that were later than the bound.
    pub late: u64,
    /// The largest lateness.
    pub max: Duration,
}

impl Lateness {
    fn take(&mut self, late: Duration, bound: Bound) {
        self.packets += 1;
        self.late += u64::from(late > bound.late);
        self.max = self.max.max(late);
    }

    /// Share of packets within the bound; one without packets.
    pub fn in_time(&self) -> f64 {
        if self.packets == 0 { 1.0 } else { 1.0 - self.late as f64 / self.packets as f64 }
    }
}

/// Packets of programs that the network did not carry, by reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Refused {
    /// No packets of IPv4 or IPv6.
    pub not_ip: u64,
    /// Longer than the MTU.
    pub too_long: u64,
    /// To an address of no other real node: multicast and broadcast among them.
    pub elsewhere: u64,
    /// While their node was off the air.
    pub absent: u64,
    /// Whose TTL ran out on the way.
    pub ttl: u64,
    /// Which the kernel dropped in front of the device, because they came faster than they were read.
    pub device_full: u64,
}

/// What happened besides the results of the network.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Report {
    /// How late packets were delivered.
    pub lateness: Lateness,
    /// Packets that were not carried.
    pub refused: Refused,
    /// Processor time of this process.
    pub cpu: Duration,
}

/// How the emulation ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// The simulated time is over.
    Over,
    /// The command ended with this exit status, as a shell gives it.
    Command(i32),
    /// A signal asked for the end.
    Interrupted,
}

/// Why a medium does not run.
#[derive(Debug, Error)]
pub enum NotRun {
    /// The system refuses.
    #[error(transparent)]
    Unavailable(#[from] Unavailable),
    /// The command cannot be started.
    #[error("cannot run the command: {0}")]
    Command(io::Error),
}

struct Loop<'m> {
    medium: &'m mut Medium,
    nodes: Vec<Node>,
    /// Time of the clock at which the network's time began.
    start: Duration,
    bound: Bound,
    report: Report,
    buffer: Vec<u8>,
}

/// Runs `medium` in real time: until its end, until `command`, which runs in the first real node, has ended, or until a
/// signal. `begin` is called when the nodes are ready; `late` once, at the first late
/// delivery.
///
/// # Errors
/// The system refuses, or the command cannot be started.
pub fn run(
    _inside: &Inside,
    medium: &mut Medium,
    command: Option<Command>,
    bound: Bound,
    begin: &mut dyn FnMut(&[Ready]),
    late: &mut dyn FnMut(Duration),
) -> Result<(Report, Ended), NotRun> {
    let signals = Signals::take_over().map_err(|error| failed("take over signals")(io::Error::other(error)))?;
    let names: Vec<String> = medium.nodes().map(str::to_owned).collect();
    let mut nodes = Vec::new();
    let mut told = Vec::new();
    for (place, name) in names.iter().enumerate() {
        let Some([IpAddr::V4(v4), IpAddr::V6(v6)]) = medium.addresses(name) else { continue };
        nodes.push(Node::new(place, name, v4, v6, MTU)?);
        told.push(Ready { name: name.clone(), addresses: [v4.into(), v6.into()] });
    }
    let timer = timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::CLOEXEC | TimerfdFlags::NONBLOCK);
    let timer = timer.map_err(failed("make a timer"))?;
    begin(&told);
    let start = |mut command: Command| {
        command.env_remove(INSIDE);
        nodes[0].start(command)
    };
    let mut child = command.map(start).transpose().map_err(NotRun::Command)?;
    let mut state = Loop {
        medium,
        nodes,
        start: clock(ClockId::Monotonic),
        bound,
        report: Report::default(),
        buffer: vec![0; usize::from(u16::MAX)],
    };
    let ended = state.turn(&signals, &timer, child.as_mut(), late)?;
    if ended == Ended::Interrupted
        && let Some(child) = &mut child
    {
        end(child)?;
    }
    state.report.refused.device_full = state.nodes.iter().map(Node::dropped).sum();
    state.report.cpu = clock(ClockId::ProcessCPUTime);
    Ok((state.report, ended))
}

impl Loop<'_> {
    fn turn(
        &mut self,
        signals: &Signals,
        timer: &OwnedFd,
        mut child: Option<&mut Child>,
        late: &mut dyn FnMut(Duration),
    ) -> Result<Ended, Unavailable> {
        let watched = child.as_ref().map(|child| pidfd_open(Pid::from_child(child), PidfdFlags::empty())).transpose();
        let watched = watched.map_err(failed("watch a process"))?;
        loop {
            self.take_in();
            let before = self.report.lateness.late;
            self.give_out();
            if before == 0 && self.report.lateness.late > 0 {
                late(self.report.lateness.max);
            }
            let Some(next) = self.medium.next_event() else { return Ok(Ended::Over) };
            self.arm(timer, next.max(self.medium.now() + TICK).min(self.medium.end()))?;
            let mut fds = vec![PollFd::new(signals, PollFlags::IN), PollFd::new(timer, PollFlags::IN)];
            fds.extend(self.nodes.iter().map(|node| PollFd::new(&node.device, PollFlags::IN)));
            fds.extend(watched.iter().map(|ended| PollFd::new(ended, PollFlags::IN)));
            match poll(&mut fds, None) {
                Err(Errno::INTR) => continue,
                polled => polled.map_err(failed("wait for packets"))?,
            };
            let is_over = watched.is_some() && fds.last().is_some_and(|ended| !ended.revents().is_empty());
            let is_signal = !fds[0].revents().is_empty();
            if is_over && let Some(child) = &mut child {
                return child.wait().map(|ended| Ended::Command(status(ended))).map_err(failed("wait for the command"));
            }
            if is_signal && matches!(signals.read(), Ok(Some(Told::End | Told::Reload))) {
                return Ok(Ended::Interrupted);
            }
        }
    }

    /// Pushes what programs have sent: a batch of each device, so that one that floods does not hold up the others.
    fn take_in(&mut self) {
        for node in 0..self.nodes.len() {
            for _ in 0..BATCH {
                let Ok(length) = read(&self.nodes[node].device, &mut self.buffer[..]) else { break };
                let at = self.elapsed().max(self.medium.now());
                let refused = &mut self.report.refused;
                match self.medium.send_packet(at, &self.nodes[node].name, &self.buffer[..length]) {
                    Ok(()) | Err(NotSent::Ended { .. } | NotSent::Backwards { .. } | NotSent::NotReal { .. }) => {}
                    Err(NotSent::NotIp { .. }) => refused.not_ip += 1,
                    Err(NotSent::TooLong { .. }) => refused.too_long += 1,
                    Err(NotSent::Elsewhere { .. } | NotSent::Itself { .. }) => refused.elsewhere += 1,
                    Err(NotSent::Absent { .. }) => refused.absent += 1,
                }
            }
        }
    }

    /// Delivers the packets whose time has come.
    fn give_out(&mut self) {
        while let Some(delivery) = self.medium.poll(self.elapsed()) {
            let Delivery { at, .. } = delivery;
            let Some(to) = self.nodes.iter().position(|node| node.name == delivery.to) else { continue };
            let Some(packet) = delivery.into_packet() else {
                self.report.refused.ttl += 1;
                continue;
            };
            // A namespace whose programs do not read loses packets as a host does.
            let _ = write(&self.nodes[to].device, &packet);
            self.report.lateness.take(self.elapsed().saturating_sub(at), self.bound);
        }
    }

    /// Time since the network's time began.
    fn elapsed(&self) -> Duration {
        clock(ClockId::Monotonic).saturating_sub(self.start)
    }

    /// Sets the timer to this time of the network.
    fn arm(&self, timer: &OwnedFd, at: Duration) -> Result<(), Unavailable> {
        let value = Timespec::try_from(self.start + at);
        let value = value.map_err(|_| failed("set a timer")(io::Error::from(Errno::RANGE)))?;
        let once = Itimerspec { it_interval: Timespec::default(), it_value: value };
        timerfd_settime(timer, TimerfdTimerFlags::ABSTIME, &once).map(drop).map_err(failed("set a timer"))
    }
}

/// Asks a command to end, and ends it if it does not within [`GRACE`].
fn end(child: &mut Child) -> Result<(), Unavailable> {
    let pid = Pid::from_child(child);
    let ended = pidfd_open(pid, PidfdFlags::empty()).map_err(failed("watch a process"))?;
    for signal in [Signal::TERM, Signal::KILL] {
        let _ = kill_process(pid, signal);
        let grace = Timespec::try_from(GRACE).ok();
        let mut fds = [PollFd::new(&ended, PollFlags::IN)];
        if matches!(poll(&mut fds, grace.as_ref()), Ok(1)) {
            break;
        }
    }
    child.wait().map(drop).map_err(failed("wait for the command"))
}

fn clock(clock: ClockId) -> Duration {
    Duration::try_from(clock_gettime(clock)).expect("these clocks begin at zero")
}
