//! The kernel's FIFO disciplines as devices, for kernels without BPF disciplines.

use crate::device::claim::{claim, make_way};
use crate::device::contract::{Capabilities, Device};
use crate::device::estimate::Estimator;
use crate::device::former::Former;
use crate::device::looks::Looks;
use crate::device::observed::{Watched, header};
use crate::device::state::State;
use crate::device::wish::{Backend, Start, Wish};
use crate::error::{Error, Unfit};
use crate::kernel::Counters;
use crate::kernel::rtnetlink::Route;
use control::{Interval, Limit, Orders};
use queue::{DisciplineName, Settings};
use units::Instant;

/// A FIFO of the kernel. None discards waiting packets when its limit is lowered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kind {
    /// Limit in packets; an arriving packet is dropped when the queue is full.
    #[default]
    Pfifo,
    /// Limit in bytes that include link headers; an arriving packet is dropped when the queue is full.
    Bfifo,
    /// Limit in packets; the oldest packet is dropped when the queue is full. If the limit of a full queue is lowered,
    /// the queue keeps its length until fewer packets arrive than leave.
    PfifoHeadDrop,
}

impl Kind {
    /// Returns its name in `tc qdisc`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pfifo => "pfifo",
            Self::Bfifo => "bfifo",
            Self::PfifoHeadDrop => "pfifo_head_drop",
        }
    }

    /// Returns the FIFO for these settings.
    ///
    /// # Errors
    /// No FIFO of the kernel can hold them; the error names an alternative.
    pub fn of(settings: &Settings) -> Result<Self, Error> {
        match (settings.discipline, settings.limit) {
            (DisciplineName::DropTail, Limit::Packets(_)) => Ok(Self::Pfifo),
            (DisciplineName::DropTail, Limit::Bytes(_)) => Ok(Self::Bfifo),
            (DisciplineName::DropHead, Limit::Packets(_)) => Ok(Self::PfifoHeadDrop),
            (DisciplineName::DropHead, Limit::Bytes(_)) => {
                Err(Unfit::LimitInBytes { who_counts: "the kernel's drop-head queue counts" }.into())
            }
            (discipline, _) => Err(Unfit::Discipline { discipline }.into()),
        }
    }

    /// Returns the options that set `limit`, as `struct tc_fifo_qopt`.
    fn options(self, limit: Limit) -> Result<Vec<u8>, Error> {
        let number = match (self, limit) {
            (Self::Bfifo, Limit::Bytes(bytes)) => u32::try_from(bytes.count()).unwrap_or(u32::MAX),
            (Self::Pfifo | Self::PfifoHeadDrop, Limit::Packets(packets)) => packets,
            (kind, limit) => {
                return Err(Unfit::LimitInUnit { kind: kind.as_str(), limit }.into());
            }
        };
        Ok(number.to_ne_bytes().to_vec())
    }
}

/// A FIFO of the kernel that replaces the former queue.
#[derive(Debug)]
pub struct Fifo {
    watched: Watched,
    route: Route,
    kind: Kind,
    former: Former,
    state: Option<State>,
}

impl Fifo {
    /// Installs a FIFO of `kind`. Packets that wait in the former queue are lost, as in any change of a discipline.
    /// First restores what a killed agent left.
    ///
    /// # Errors
    /// There is no such interface, the privilege is missing, another agent is there, or the former queue could not be
    /// restored. If it is to be replaced, the kernel's default returns instead.
    pub fn attach(wish: &Wish, kind: Kind, start: &Start, looks: &Looks) -> Result<Self, Error> {
        let options = kind.options(start.orders.limit)?;
        let mut route = Route::open()?;
        let link = route.link(&wish.place.device)?;
        let (former, state, _) = claim(wish, &mut route, looks, &link, |_, _| false)?;
        let new = former.replacement(kind.as_str(), Some(options));
        let state = make_way(&former, state, &mut route, &new)?;
        let at_head = kind == Kind::PfifoHeadDrop;
        let estimator = Estimator::new(start.measures, header(&link), at_head, start.at, Counters::default());
        let (looks, handle, parent) = (looks.clone(), Some(new.handle), new.parent);
        let watched = Watched { looks, link, parent, handle, estimator, every: start.every };
        Ok(Self { watched, route, kind, former, state: Some(state) })
    }
}

impl Device for Fifo {
    fn name(&self) -> &str {
        &self.watched.link.name
    }

    fn look(&mut self, now: Instant) -> Result<(), Error> {
        self.watched.look(now)
    }

    fn take_interval(&mut self, now: Instant) -> Result<Interval, Error> {
        self.watched.look(now)?;
        Ok(self.watched.estimator.take())
    }

    fn apply(&mut self, orders: &Orders) -> Result<(), Error> {
        self.capabilities().allow(orders)?;
        let options = self.kind.options(orders.limit)?;
        self.route.change(&self.former.replacement(self.kind.as_str(), Some(options)))
    }

    fn restore(&mut self) -> Result<(), Error> {
        let Some(state) = self.state.take() else { return Ok(()) };
        state.end(&self.former, &mut self.route)
    }

    fn limit_segments(&mut self, segments: u32) -> Result<(), Error> {
        match &mut self.state {
            Some(state) => state.limit_segments(&mut self.former, &mut self.route, &self.watched.link, segments),
            None => Ok(()),
        }
    }

    fn adapt(&mut self, wish: &Wish, start: &Start) -> Result<bool, Error> {
        let serves = matches!(wish.backend, Backend::Auto | Backend::Fifo);
        if wish.dry_run || !serves || Kind::of(&wish.settings).ok() != Some(self.kind) {
            return Ok(false);
        }
        self.watched.measure(start);
        self.apply(&start.orders).map(|()| true)
    }

    fn capabilities(&self) -> Capabilities {
        self.watched.capabilities(self.kind.as_str())
    }
}

impl Drop for Fifo {
    fn drop(&mut self) {
        // A destructor returns no error. The state file stays, and the next agent or `sluice detach` tries again.
        let _ = self.restore();
    }
}
