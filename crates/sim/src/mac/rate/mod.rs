//! Rate control: the mode in which a station sends data to each of its peers.
//!
//! The algorithms are pure: they are told the outcome of each transmission, the time and random draws, and return the
//! mode of the next one. A mode stays until the next report, so that the length of a frame is known in advance.

mod aarf;
mod arf;
mod minstrel;

use super::Report;
use crate::engine::Stream;
use crate::radio::Mode;
use aarf::Aarf;
use arf::Arf;
pub(crate) use minstrel::Costs;
use minstrel::{Candidate, Minstrel};
use units::Instant;

/// A rate control algorithm.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Algorithm {
    Arf,
    Aarf,
    Minstrel,
}

/// Modes with which a station sends to its peers.
#[derive(Debug)]
pub(crate) struct Rates {
    /// Modes to choose from, slowest first; without rate control one, or a high and a low one.
    modes: Vec<Mode>,
    controls: Option<Controls>,
    /// Without rate control: index of the mode.
    level: usize,
}

/// Rate control of a station towards all its peers.
#[derive(Debug)]
struct Controls {
    algorithm: Algorithm,
    candidates: Vec<Candidate>,
    /// Peers in order of address.
    peers: Vec<(u32, Control)>,
    random: Stream,
}

/// The state towards one peer.
#[derive(Debug)]
enum Control {
    Arf(Arf),
    Aarf(Aarf),
    Minstrel(Box<Minstrel>),
}

impl Rates {
    /// One fixed mode.
    pub(crate) fn fixed(mode: Mode) -> Self {
        Self { modes: vec![mode], controls: None, level: 0 }
    }

    /// One of two modes, [selected by the host](Self::set_low).
    pub(crate) fn of_two(high: Mode, low: Mode) -> Self {
        Self { modes: vec![high, low], controls: None, level: 0 }
    }

    /// Selects the low mode of two, or the high one, for the next frames.
    pub(crate) fn set_low(&mut self, is_low: bool) {
        self.level = usize::from(is_low);
    }

    /// Rate control without statistics of peers; `modes` are those to choose from, slowest first.
    pub(crate) fn new(algorithm: Algorithm, modes: Vec<Mode>, costs: &Costs, random: Stream) -> Self {
        let candidates = modes.iter().map(|&mode| costs.of(mode)).collect();
        Self { modes, controls: Some(Controls { algorithm, candidates, peers: Vec::new(), random }), level: 0 }
    }

    /// Mode of the next data frame to a peer; the slowest to a peer without statistics.
    #[inline]
    pub(crate) fn mode(&self, to: u32) -> Mode {
        self.modes[self.controls.as_ref().map_or(self.level, |controls| controls.index(to))]
    }

    /// Mode of all data frames, without rate control; of two the high one.
    pub(crate) fn only_mode(&self) -> Option<Mode> {
        self.controls.is_none().then(|| self.modes[0])
    }

    /// Throughput that rate control expects towards a peer, in bit/s; zero while it knows nothing. Without Minstrel-HT
    /// that of the mode, as if frames of this many MPDUs all arrived.
    pub(crate) fn expected_throughput(&self, to: u32, costs: &Costs, mpdus: f64) -> f64 {
        let minstrel = self.controls.as_ref().and_then(|controls| controls.minstrel(to));
        minstrel.map_or_else(|| costs.clean(self.mode(to), mpdus), Minstrel::expected)
    }

    /// Learns from the outcome of the data frames that were sent last.
    pub(crate) fn learn(&mut self, now: Instant, report: Report) {
        if let Some(controls) = &mut self.controls {
            controls.learn(now, report);
        }
    }
}

impl Controls {
    fn index(&self, to: u32) -> usize {
        let known = self.peers.binary_search_by_key(&to, |&(address, _)| address);
        match known.map(|place| &self.peers[place].1) {
            Ok(Control::Arf(arf)) => arf.index(),
            Ok(Control::Aarf(aarf)) => aarf.index(),
            Ok(Control::Minstrel(minstrel)) => minstrel.index(),
            Err(_) => 0,
        }
    }

    fn minstrel(&self, to: u32) -> Option<&Minstrel> {
        let place = self.peers.binary_search_by_key(&to, |&(address, _)| address).ok()?;
        match &self.peers[place].1 {
            Control::Minstrel(minstrel) => Some(minstrel),
            Control::Arf(_) | Control::Aarf(_) => None,
        }
    }

    fn learn(&mut self, now: Instant, Report { to, sent, acknowledged }: Report) {
        let place = match self.peers.binary_search_by_key(&to, |&(address, _)| address) {
            Ok(place) => place,
            Err(place) => {
                let control = self.begin(now);
                self.peers.insert(place, (to, control));
                place
            }
        };
        match &mut self.peers[place].1 {
            Control::Arf(arf) => arf.report(acknowledged > 0),
            Control::Aarf(aarf) => aarf.report(acknowledged > 0),
            Control::Minstrel(minstrel) => minstrel.report(now, sent, acknowledged, &mut self.random),
        }
    }

    fn begin(&mut self, now: Instant) -> Control {
        let top = self.candidates.len() - 1;
        match self.algorithm {
            Algorithm::Arf => Control::Arf(Arf::new(top)),
            Algorithm::Aarf => Control::Aarf(Aarf::new(top)),
            Algorithm::Minstrel => {
                Control::Minstrel(Box::new(Minstrel::new(self.candidates.clone(), now, &mut self.random)))
            }
        }
    }
}
