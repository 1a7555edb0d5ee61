//! A medium in real time: packets of TUN devices enter when programs send them, and leave when they are due.

use super::host::Host;
use super::namespaces::{INSIDE, Inside, status, watch};
use super::node::Node;
use super::sight::Ready;
use super::tun::Site;
use super::unavailable::{Unavailable, failed};
use crate::ip::{self, Header};
use crate::medium::{Medium, is_group, is_local};
use crate::refused::NotSent;
use experiment::study::Emulation;
use linux::agent::signals::{Signals, Told};
use nix::sys::signal::SigSet;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::{Errno, read, write};
use rustix::process::{Pid, Signal, kill_process};
use rustix::time::{
    ClockId, Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, clock_gettime, timerfd_create,
    timerfd_settime,
};
use sim::results::EmulationSeries;
use std::io;
use std::net::IpAddr;
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command};
use std::time::Duration;
use thiserror::Error;

/// Events within this time are handled together. A busy network has one every few microseconds.
const TICK: Duration = Duration::from_micros(200);
/// Number of packets that are read from a device before the network continues.
const BATCH: usize = 64;
/// Simulated time between two looks at signals and devices in a network that is slower than real time.
const SLICE: Duration = Duration::from_millis(10);
/// Time in which a command may end by itself after Ctrl-C.
const GRACE: Duration = Duration::from_secs(1);
/// Number of leading bits that the IPv4 addresses of all nodes share.
const PREFIX_V4: u8 = 8;
const PREFIX_V6: u8 = 64;

/// When a delivery is late, and whether lateness is recorded as a time series.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rules {
    /// A packet is late if its delivery in real time is later than in simulated time by more than this.
    pub late: Duration,
    /// Length of a step of the time series, if there is one.
    pub step: Option<Duration>,
}

/// Measurements that the network's results lack: lateness and refused packets of an emulation.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report {
    /// Lateness of deliveries, and packets that were not carried.
    pub emulation: Emulation,
    /// Lateness over time, if it was requested.
    pub series: Option<EmulationSeries>,
    /// Duration of the emulation in real time.
    pub wall: Duration,
    /// Processor time that this process has used.
    pub cpu: Duration,
}

impl Report {
    fn new(rules: Rules) -> Self {
        let emulation = Emulation { late_after_s: rules.late.as_secs_f64(), ..Emulation::default() };
        Self { emulation, series: rules.step.map(|_| EmulationSeries::default()), ..Self::default() }
    }

    /// Counts a packet that was due at `at` and delivered by `late` later.
    fn take(&mut self, at: Duration, late: Duration, rules: Rules) {
        let (is_late, seconds) = (u64::from(late > rules.late), late.as_secs_f64());
        let Emulation { packets, late_packets, lateness_max_s, .. } = &mut self.emulation;
        *packets += 1;
        *late_packets += is_late;
        *lateness_max_s = lateness_max_s.max(seconds);
        if let (Some(series), Some(step)) = (&mut self.series, rules.step) {
            let number = usize::try_from(at.as_nanos() / step.as_nanos().max(1)).unwrap_or(usize::MAX);
            series.reach(number);
            series.late_packets[number] += is_late;
            series.lateness_max_s[number] = series.lateness_max_s[number].max(seconds);
        }
    }
}

/// How the emulation ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// The simulated time has passed.
    Over,
    /// The command ended with this exit status, as a shell gives it.
    Command(i32),
    /// The simulated time has passed before the command ended, which then ended at a signal with this exit status.
    CutOff(i32),
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
    /// The device that leads out of the namespaces, and the node that leads to this device, with its addresses.
    host: Option<(&'m OwnedFd, Ready)>,
    /// Time of the clock at which the network's time began.
    start: Duration,
    rules: Rules,
    report: Report,
    buffer: Vec<u8>,
}

/// Runs `medium` in real time until its end, until a signal, or until `command`, which runs in the first real node, has
/// ended. `begin` is called when the nodes are ready, `late` once at the first late delivery.
///
/// # Errors
/// The system refuses a call, or the command cannot be started.
pub fn run(
    inside: &Inside,
    medium: &mut Medium,
    command: Option<Command>,
    rules: Rules,
    begin: &mut dyn FnMut(&[Ready]),
    late: &mut dyn FnMut(Duration),
) -> Result<(Report, Ended), NotRun> {
    let signals = Signals::take_over().map_err(|error| failed("catch signals")(io::Error::other(error)))?;
    let of_node = |name: &str| Some(Ready { name: name.to_owned(), addresses: medium.addresses(name)? });
    let told: Vec<Ready> = medium.nodes().filter_map(of_node).collect();
    let mut nodes = Vec::new();
    for (place, Ready { name, addresses }) in told.iter().enumerate() {
        let [IpAddr::V4(v4), IpAddr::V6(v6)] = *addresses else { continue };
        let leads = medium.gateway().is_some_and(|gateway| gateway != name);
        let site = Site { v4: (v4, PREFIX_V4), v6: (v6, PREFIX_V6) };
        nodes.push(Node::new(place, &told, site, leads, medium.gateway().is_some())?);
    }
    let gateway = told.iter().find(|ready| medium.gateway() == Some(&ready.name)).cloned();
    let host = inside.0.as_ref().map(|Host(device)| device).zip(gateway);
    let timer = timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::CLOEXEC | TimerfdFlags::NONBLOCK);
    let timer = timer.map_err(failed("make a timer"))?;
    begin(&told);
    let start = |mut command: Command| {
        command.env_remove(INSIDE);
        nodes[0].start(hears_signals(command))
    };
    let mut child = command.map(start).transpose().map_err(NotRun::Command)?;
    let mut state = Loop {
        medium,
        nodes,
        host,
        start: clock(ClockId::Monotonic),
        rules,
        report: Report::new(rules),
        buffer: vec![0; usize::from(u16::MAX)],
    };
    let ended = state.turn(&signals, &timer, child.as_mut(), late)?;
    let ended = end(child.as_mut(), ended)?;
    let wall = state.elapsed();
    let Loop { medium, nodes, mut report, .. } = state;
    let Emulation { packets, late_packets, in_time_ratio, refused_packets, .. } = &mut report.emulation;
    refused_packets.device_full = nodes.iter().map(Node::dropped).sum();
    *in_time_ratio = if *packets == 0 { 1.0 } else { 1.0 - *late_packets as f64 / *packets as f64 };
    if let (Some(series), Some(step)) = (&mut report.series, rules.step) {
        let steps = medium.now().as_nanos().div_ceil(step.as_nanos().max(1));
        series.reach(usize::try_from(steps).unwrap_or(usize::MAX).saturating_sub(1));
    }
    (report.wall, report.cpu) = (wall, clock(ClockId::ProcessCPUTime));
    Ok((report, ended))
}

impl Loop<'_> {
    fn turn(
        &mut self,
        signals: &Signals,
        timer: &OwnedFd,
        mut child: Option<&mut Child>,
        late: &mut dyn FnMut(Duration),
    ) -> Result<Ended, Unavailable> {
        let watched = child.as_deref().map(watch).transpose()?;
        loop {
            let before = self.report.emulation.late_packets;
            self.give_out();
            self.take_in();
            if before == 0 && self.report.emulation.late_packets > 0 {
                late(Duration::from_secs_f64(self.report.emulation.lateness_max_s));
            }
            self.medium.sound().map_err(|why| failed("go on")(io::Error::other(why)))?;
            let Some(next) = self.medium.next_event() else { return Ok(Ended::Over) };
            self.arm(timer, next.max(self.medium.now() + TICK).min(self.medium.end()))?;
            let mut fds = vec![PollFd::new(signals, PollFlags::IN), PollFd::new(timer, PollFlags::IN)];
            fds.extend(self.nodes.iter().map(|node| PollFd::new(&node.device, PollFlags::IN)));
            fds.extend(self.host.iter().map(|(device, _)| PollFd::new(device, PollFlags::IN)));
            fds.extend(watched.iter().map(|ended| PollFd::new(ended, PollFlags::IN)));
            match poll(&mut fds, None) {
                Err(Errno::INTR) => continue,
                polled => polled.map_err(failed("wait for packets"))?,
            };
            if let Some(ended) = ended(&fds, signals, child.as_deref_mut())? {
                return Ok(ended);
            }
        }
    }

    /// Pushes packets that programs have sent, one batch per device: a flooded device must not delay other devices.
    fn take_in(&mut self) {
        for number in 0..=self.nodes.len() {
            for _ in 0..BATCH {
                let (device, name, passed) = match (self.nodes.get(number), &self.host) {
                    (Some(node), _) => (&node.device, &node.name, 0),
                    (None, Some((device, gateway))) => (*device, &gateway.name, 1),
                    (None, None) => break,
                };
                let Ok(length) = read(device, &mut self.buffer[..]) else { break };
                let packet = &mut self.buffer[..length];
                let at = clock(ClockId::Monotonic).saturating_sub(self.start).min(self.medium.now() + SLICE);
                let at = at.max(self.medium.now());
                let refused = &mut self.report.emulation.refused_packets;
                let header = Header::read(packet);
                // The gateway is a router.
                if passed > 0 && header.is_some_and(|header| is_group(header.to)) {
                    refused.multicast += 1;
                    continue;
                }
                if passed > 0 && !ip::carry(packet, header.map_or(0, |header| header.tos), passed) {
                    refused.ttl += 1;
                    continue;
                }
                match self.medium.send_packet(at, name, packet) {
                    Ok(())
                    | Err(
                        NotSent::Ended { .. }
                        | NotSent::Backwards { .. }
                        | NotSent::NotReal { .. }
                        | NotSent::Failed { .. },
                    ) => {}
                    Err(NotSent::NotIp { .. }) => refused.not_ip += 1,
                    Err(NotSent::TooLong { .. }) => refused.too_long += 1,
                    Err(NotSent::Elsewhere { .. } | NotSent::Itself { .. }) => refused.elsewhere += 1,
                    Err(NotSent::Absent { .. }) => refused.absent += 1,
                }
            }
        }
    }

    /// Delivers the packets that are due; in a network that lags behind, only those of some milliseconds.
    fn give_out(&mut self) {
        let begun = self.elapsed();
        while self.elapsed() < begun + SLICE && self.medium.now() < self.medium.end() {
            let until = self.elapsed().min(self.medium.now() + SLICE);
            self.give_out_until(until);
            if until + TICK >= self.elapsed() {
                break;
            }
        }
    }

    fn give_out_until(&mut self, until: Duration) {
        while let Some(mut delivery) = self.medium.poll(until) {
            let at = delivery.at;
            let Some(node) = self.nodes.iter().find(|node| node.name == delivery.to) else { continue };
            let is_for = |ready: &Ready| {
                let to = Header::read(&delivery.bytes).map(|header| header.to);
                ready.name == delivery.to
                    && to.is_some_and(|to| !ready.addresses.contains(&to) && !is_group(to) && !is_local(to))
            };
            let out = self.host.as_ref().filter(|(_, gateway)| is_for(gateway)).map(|(device, _)| *device);
            delivery.routers += u8::from(out.is_some());
            let Some(packet) = delivery.into_packet() else {
                self.report.emulation.refused_packets.ttl += 1;
                continue;
            };
            // A namespace whose programs do not read loses packets, as a host does.
            let _ = write(out.unwrap_or(&node.device), &packet);
            self.report.take(at, self.elapsed().saturating_sub(at), self.rules);
        }
    }

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

/// True if the emulation is over: a signal has come (the first of `fds`), or its command has ended (the last).
pub(super) fn ended(
    fds: &[PollFd],
    signals: &Signals,
    child: Option<&mut Child>,
) -> Result<Option<Ended>, Unavailable> {
    let is_ready = |fd: Option<&PollFd>| fd.is_some_and(|fd| !fd.revents().is_empty());
    if let Some(child) = child.filter(|_| is_ready(fds.last())) {
        return child.wait().map(|ended| Some(Ended::Command(status(ended)))).map_err(failed("wait for the command"));
    }
    let is_told = is_ready(fds.first()) && matches!(signals.read(), Ok(Some(Told::End | Told::Reload)));
    Ok(is_told.then_some(Ended::Interrupted))
}

/// Asks a command that runs on to end, and kills it if it has not ended within [`GRACE`].
pub(super) fn end(child: Option<&mut Child>, how: Ended) -> Result<Ended, Unavailable> {
    let Some(child) = child.filter(|_| matches!(how, Ended::Interrupted | Ended::Over)) else { return Ok(how) };
    let ended = watch(child)?;
    for signal in [Signal::TERM, Signal::KILL] {
        let _ = kill_process(Pid::from_child(child), signal);
        let grace = Timespec::try_from(GRACE).ok();
        let mut fds = [PollFd::new(&ended, PollFlags::IN)];
        if matches!(poll(&mut fds, grace.as_ref()), Ok(1)) {
            break;
        }
    }
    let status = child.wait().map(status).map_err(failed("wait for the command"))?;
    Ok(if how == Ended::Over { Ended::CutOff(status) } else { how })
}

/// Lets a command receive the signals that this process blocks, because it reads them itself.
pub(super) fn hears_signals(mut command: Command) -> Command {
    let unblock = || SigSet::empty().thread_set_mask().map_err(io::Error::from);
    // SAFETY: between fork and exec the closure makes one system call and allocates nothing.
    #[expect(unsafe_code, reason = "no other way to set the mask of a command and not our own")]
    unsafe {
        command.pre_exec(unblock);
    }
    command
}

pub(super) fn clock(clock: ClockId) -> Duration {
    Duration::try_from(clock_gettime(clock)).expect("these clocks begin at zero")
}
