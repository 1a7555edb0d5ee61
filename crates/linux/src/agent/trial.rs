//! The live world of a trial: one interface, governed by each arm in turn, and the measurements. Queues are installed
//! and restored as in `attach`, so that `detach`, `attach` or the next trial restores the queue after a kill.

use crate::agent::Host;
use crate::agent::confine::{Opens, confine};
use crate::agent::detach::restore_left;
use crate::agent::governor::{Governor, Round};
use crate::agent::links::Links;
use crate::agent::signals::{Signals, Told};
use crate::device::claim::{claim, make_way};
use crate::device::contract::Keeps;
use crate::device::driver::linked;
use crate::device::former::Former;
use crate::device::lock::FileLock;
use crate::device::looks::Looks;
use crate::device::state::{State, agent_at, detach_command, make_state_folder, namespace};
use crate::device::wish::{Place, Wish};
use crate::error::{Error, Taken, Unfit};
use crate::kernel::connections::round_trips;
use crate::kernel::echo::{Echo, neighbours};
use crate::kernel::nl80211::Wireless;
use crate::kernel::now;
use crate::kernel::routes::{NextHop, Routes};
use crate::kernel::rtnetlink::Route;
use crate::telemetry::Decision;
use crate::telemetry::events::AgentEvent;
use crate::telemetry::stations::look;
use crate::telemetry::status::Status;
use crate::trial::{About, Host as World, Sample};
use queue::Settings;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use std::net::Ipv4Addr;
use std::ops::ControlFlow;
use units::{Duration, Instant, refuse_if};

/// Disciplines of the kernel that can be an arm, each with the kernel's defaults.
pub const DISCIPLINES: [&str; 4] = ["fq_codel", "cake", "fq", "pfifo"];

/// Queues that can be tried at an interface.
#[derive(Clone, Debug, PartialEq)]
pub enum Arm {
    /// The present queue.
    Default,
    /// A discipline of the kernel.
    Discipline(&'static str),
    /// The queue that `attach` sets up for this request.
    Attach(Box<Wish>),
}

/// An interface during a trial.
pub struct Live<'s> {
    place: Place,
    arms: Vec<Arm>,
    signals: &'s Signals,
    links: Links,
    looks: Looks,
    routes: Routes,
    wireless: Option<Wireless>,
    echo: Echo,
    present: Option<Present>,
    heard: Heard,
    /// Counters at the last reading: bytes, then frames to stations and how many of these were given up.
    counters: (u64, [u64; 2]),
    /// Keeps other trials away until it is dropped.
    #[expect(dead_code, reason = "only held")]
    lock: FileLock,
}

/// The arm that is set up.
struct Present {
    governor: Governor,
    /// The queue that a discipline of the kernel replaced; `None` if the arm is no such discipline.
    replaced: Option<(Former, State)>,
}

/// Queueing delays that the governor reports, in seconds.
#[derive(Debug, Default)]
struct Heard(Vec<f64>);

impl Host for Heard {
    fn decided(&mut self, _: &Status, decision: &Decision) -> ControlFlow<()> {
        let sojourn = decision.seen.sojourn;
        self.0.extend((sojourn.n > 0).then(|| sojourn.mean.as_secs_f64()));
        ControlFlow::Continue(())
    }

    fn happened(&mut self, _: &AgentEvent) {}
}

impl<'s> Live<'s> {
    /// Prepares a trial: restores what a killed trial left and, if `pings` is empty, finds hosts that may answer
    /// echoes. Then gives up the privileges that no arm needs.
    ///
    /// # Errors
    /// There is no such interface, another trial or agent runs, no host to ping is known, or a privilege is missing.
    pub fn open(place: Place, arms: Vec<Arm>, pings: Vec<Ipv4Addr>, signals: &'s Signals) -> Result<Self, Error> {
        let link = Route::open()?.link(&place.device)?;
        make_state_folder(&place.state_folder)?;
        let lock = place.state_folder.join(format!("{}.{}.trial.lock", place.device, namespace()?));
        let lock = FileLock::at(lock)?.ok_or_else(|| Taken::Trial { device: place.device.clone() })?;
        if let Some(agent) = agent_at(&place.state_folder, &place.device, place.parent)? {
            let detach = detach_command(&place.device, place.parent);
            return Err(Taken::Governed { device: place.device, process: Some(agent.process), detach }.into());
        }
        restore_left(&place.state_folder, &place.device, place.parent)?;
        let to = if pings.is_empty() { neighbours(link.index)? } else { pings };
        refuse_if!(to.is_empty(), Err(Unfit::Silent { device: place.device }.into()));
        let echo = Echo::open(&place.device, to)?;
        let (links, looks, routes) = (Links::open()?, Looks::open()?, Routes::open()?);
        let (wireless, present, heard, counters) = (Wireless::open().ok(), None, Heard::default(), (0, [0; 2]));
        let mut live =
            Self { place, arms, signals, links, looks, routes, wireless, echo, present, heard, counters, lock };
        live.counters = live.count()?;
        confine(Keeps::most(), Opens::Netlink)?;
        Ok(live)
    }

    /// Describes the network of the trial.
    pub fn about(&self) -> About {
        let air = look(&self.place.device).ok().flatten();
        About {
            kernel: rustix::system::uname().release().to_string_lossy().into_owned(),
            driver: linked(&self.place.device, "device/driver"),
            generation: air.as_ref().and_then(|air| air.newest.standard()).map(str::to_owned),
            stations: air.map_or(0, |air| air.stations.len()),
        }
    }

    /// Waits until the agent has work to do, at most until this instant.
    fn wait(&mut self, until: Instant) -> Result<(), Error> {
        let governor = self.present.as_ref().map_or(Instant::NEVER, |present| present.governor.next());
        let until = until.min(governor).min(self.echo.next());
        let time = std::time::Duration::from_nanos(until.since(now()).as_nanos().max(1)).try_into().ok();
        let mut ready = [
            PollFd::new(self.signals, PollFlags::IN),
            PollFd::new(&self.links, PollFlags::IN),
            PollFd::new(&self.echo, PollFlags::IN),
        ];
        match poll(&mut ready, time.as_ref()) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(errno) => return Err(Error::kernel("wait for echoes")(errno)),
        }
        if !ready[1].revents().is_empty() {
            self.links.refresh()?;
            self.govern(now(), Governor::follow)?;
        }
        Ok(())
    }

    fn govern(
        &mut self,
        at: Instant,
        what: impl FnOnce(&mut Governor, &mut Round) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let Some(present) = &mut self.present else { return Ok(()) };
        let (links, looks) = (&self.links, &self.looks);
        what(&mut present.governor, &mut Round { host: &mut self.heard, links, looks, notes: None, now: at })
    }

    /// Reads the counters of the interface and of its stations.
    fn count(&mut self) -> Result<(u64, [u64; 2]), Error> {
        let device = &self.place.device;
        // Unlike `/sys`, it shows this thread's network namespace. Sent bytes are eight numbers after received ones.
        let table = std::fs::read_to_string("/proc/thread-self/net/dev").unwrap_or_default();
        let row = table.lines().filter_map(|line| line.trim().split_once(':')).find(|(name, _)| name == device);
        let numbers = row.map(|(_, row)| row.split_whitespace().filter_map(|number| number.parse::<u64>().ok()));
        let bytes = numbers.map(|numbers| numbers.step_by(8).take(2).sum::<u64>());
        let bytes = bytes.ok_or_else(|| Error::Gone { name: device.clone() })?;
        let index = self.links.named(device).map(|link| link.index);
        let peers = self.wireless.as_mut().zip(index).and_then(|(wireless, index)| wireless.peers(index).ok());
        let mut frames = [0; 2];
        for peer in peers.unwrap_or_default() {
            let both = [peer.sent_frames, peer.failed_frames].map(|count| u64::from(count.unwrap_or(0)));
            frames = [0, 1].map(|at| frames[at] + both[at]);
        }
        Ok((bytes, frames))
    }
}

impl World for Live<'_> {
    type Error = Error;

    fn set_up(&mut self, arm: usize) -> Result<(), Error> {
        self.restore()?;
        let now = now();
        let observing = || Wish { dry_run: true, ..Wish::new(self.place.clone(), Settings::default()) };
        let (wish, replaced) = match &self.arms[arm] {
            Arm::Default => (observing(), None),
            Arm::Attach(wish) => ((**wish).clone(), None),
            Arm::Discipline(kind) => {
                let (mut route, wish) = (Route::open()?, observing());
                let link = route.link(&self.place.device)?;
                let (former, state, _) = claim(&wish, &mut route, &self.looks, &link, |_, _| false)?;
                let state = make_way(&former, state, &mut route, &former.replacement(kind, None))?;
                (wish, Some((former, state)))
            }
        };
        // From here on `restore` undoes this change.
        self.present = Some(Present { governor: Governor::new(wish, 0, now)?, replaced });
        self.govern(now, Governor::take_up)?;
        debug_assert!(self.present.as_ref().is_some_and(|present| present.governor.is_governing()), "it is set up");
        Ok(())
    }

    fn restore(&mut self) -> Result<(), Error> {
        let Some(Present { mut governor, replaced }) = self.present.take() else { return Ok(()) };
        let ended = governor.end(false, &mut self.heard);
        let restored = replaced.map_or(Ok(()), |(former, state)| state.end(&former, &mut Route::open()?));
        ended.and(restored)
    }

    fn sample(&mut self, time: Duration) -> Result<Option<Sample>, Error> {
        let until = now() + time;
        loop {
            let at = now();
            if self.signals.read()?.is_some_and(|told| told != Told::Nothing) {
                return Ok(None);
            }
            if self.present.as_ref().is_some_and(|present| present.governor.next() <= at) {
                self.govern(at, |governor, round| governor.work(round).map(drop))?;
            }
            self.echo.work(at);
            if at >= until {
                break;
            }
            self.wait(until)?;
        }
        let (bytes, frames) = self.count()?;
        let before = std::mem::replace(&mut self.counters, (bytes, frames));
        let index = self.links.named(&self.place.device).map(|link| link.index);
        let mut is_here = |peer| matches!(self.routes.next_hop(peer), Ok(Some(NextHop::Via { index: via, .. })) if Some(via) == index);
        let tcp = round_trips().unwrap_or_default().into_iter();
        Ok(Some(Sample {
            rtts: std::mem::take(&mut self.echo.rtts),
            lost: std::mem::take(&mut self.echo.lost),
            tcp_rtts: tcp.filter(|(peer, _)| is_here(*peer)).map(|(_, rtt)| rtt).collect(),
            sojourns: std::mem::take(&mut self.heard.0),
            bytes: bytes.saturating_sub(before.0),
            frames: [0, 1].map(|at| frames[at].saturating_sub(before.1[at])),
        }))
    }
}

impl Drop for Live<'_> {
    fn drop(&mut self) {
        // A destructor returns no error. The state file stays, and `sluice detach` tries again.
        let _ = self.restore();
    }
}
