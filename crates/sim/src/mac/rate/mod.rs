//! Rate control: the mode in which a station sends data to each of its peers.
//!
//! The algorithms are pure: they take the outcome of each transmission, the time and random draws, and return the mode
//! of the next transmission. A mode is kept until the next outcome, so the duration of a frame is known in advance.

mod arf;
mod minstrel;

use super::buffer::Size;
use super::{Agreement, BROADCAST, Conventions, Report};
use crate::config::{ChannelWidth, MissedBlockAck};
use crate::engine::Stream;
use crate::radio::{Format, Mimo, Mode, Timing};
use arf::{Arf, MOST_SUCCESSES, SUCCESSES};
pub(crate) use minstrel::Costs;
use minstrel::{Candidate, Minstrel};
use units::{Bytes, Duration, Instant};

#[derive(Clone, Copy, Debug)]
pub(crate) enum Algorithm {
    Arf,
    Aarf,
    Minstrel,
}

/// The modes in which a station sends to its peers.
#[derive(Debug)]
pub(crate) struct Rates {
    /// Address of the station.
    own: u32,
    /// Sets of modes to choose from, each with the slowest first. Without rate control a set has one mode, or a low and
    /// a high one.
    sets: Vec<Vec<Mode>>,
    /// For each peer in order of address, its set. Empty if all peers have the first set.
    of_peer: Vec<usize>,
    controls: Option<Controls>,
    /// Without rate control: index of the mode in its set. In a set of two modes the low mode has index 1.
    pub(crate) level: usize,
    /// The mode if the same one serves all peers and widths.
    only: Option<Mode>,
    /// The largest width of the next frames if it is limited.
    limit: Option<ChannelWidth>,
    /// Modes that a driver requests for a frame that is due, each with its receiver.
    told: Vec<(u32, Mode)>,
}

/// A station's rate control for all its peers.
#[derive(Debug)]
struct Controls {
    algorithm: Algorithm,
    /// For each set of modes, its candidates.
    candidates: Vec<Vec<Candidate>>,
    /// Peers in order of address.
    peers: Vec<(u32, Control)>,
    random: Stream,
}

/// State of rate control for one peer.
#[derive(Debug)]
enum Control {
    Arf(Arf),
    Minstrel(Box<Minstrel>),
}

impl Rates {
    /// Makes rates with one fixed mode per set. `of_peer` selects a peer's set by its address; if empty, the first set.
    pub(crate) fn fixed(sets: Vec<Vec<Mode>>, of_peer: Vec<usize>) -> Self {
        let only = if let [set] = &sets[..] { set.as_slice() } else { &[] };
        let only = if let &[mode] = only { Some(mode) } else { None };
        Self { own: 0, sets, of_peer, controls: None, level: 0, only, limit: None, told: Vec::new() }
    }

    /// Returns these rates, owned by this station.
    pub(super) fn of(self, own: u32) -> Self {
        Self { own, ..self }
    }

    /// Makes rates with two modes, [selected by the host](Self::level).
    pub(crate) fn of_two(high: Mode, low: Mode) -> Self {
        Self::fixed(vec![vec![high, low]], Vec::new())
    }

    /// Makes rate control that knows nothing of peers yet. Each set has modes to choose from, slowest first.
    pub(crate) fn new(
        algorithm: Algorithm,
        sets: Vec<Vec<Mode>>,
        of_peer: Vec<usize>,
        costs: &Costs,
        random: Stream,
    ) -> Self {
        let candidates = sets.iter().map(|set| set.iter().map(|&mode| costs.of(mode)).collect()).collect();
        let controls = Some(Controls { algorithm, candidates, peers: Vec::new(), random });
        Self { own: 0, sets, of_peer, controls, level: 0, only: None, limit: None, told: Vec::new() }
    }

    fn set(&self, to: u32) -> usize {
        self.of_peer.get(to as usize).copied().unwrap_or(0)
    }

    /// Returns the mode of the next data frame to a peer; for a peer without statistics the slowest mode.
    #[inline]
    pub(crate) fn mode(&self, to: u32) -> Mode {
        if let Some(mode) = self.only {
            return mode;
        }
        match (self.widest(to), self.limit) {
            (Mode::Mimo(mode), Some(_)) => Mode::Mimo(self.within_limit(mode)),
            (mode, _) => mode,
        }
    }

    /// Returns the [mode](Self::mode) of the next data frame to a peer as if its width were not limited.
    pub(crate) fn widest(&self, to: u32) -> Mode {
        if let Some(&(_, mode)) = self.told.iter().find(|&&(peer, _)| peer == to) {
            return mode;
        }
        self.sets[self.set(to)][self.controls.as_ref().map_or(self.level, |controls| controls.index(to))]
    }

    /// Returns the mode of the next data frame to this receiver, which may be all stations.
    pub(crate) fn mode_to(&self, to: u32, timing: &Timing) -> Mode {
        if to == BROADCAST { timing.broadcast } else { self.mode(to) }
    }

    /// Sets the mode in which the frame that is due goes to a peer.
    pub(crate) fn tell(&mut self, to: u32, mode: Mode) {
        debug_assert_ne!(to, BROADCAST, "broadcasts have the basic mode");
        self.only = None;
        match self.told.iter_mut().find(|(peer, _)| *peer == to) {
            Some((_, told)) => *told = mode,
            None => self.told.push((to, mode)),
        }
        debug_assert_eq!(self.widest(to), mode);
    }

    /// True if the driver requests a mode for the frame to a peer in which no aggregates are possible.
    pub(crate) fn sends_alone(&self, to: u32) -> bool {
        self.told.iter().any(|&(peer, mode)| peer == to && !matches!(mode, Mode::Mimo(_)))
    }

    /// Limits the width of the next frames.
    pub(crate) fn limit(&mut self, width: ChannelWidth) {
        (self.only, self.limit) = (None, Some(width));
    }

    /// Returns the mode in a channel that is not wider than the limit.
    pub(crate) fn within_limit(&self, mode: Mimo) -> Mimo {
        self.limit.map_or(mode, |width| mode.at_most(width))
    }

    /// Returns the mode of all data frames to a peer without rate control; with two modes the high one.
    pub(crate) fn fixed_mode(&self, to: u32) -> Option<Mode> {
        self.controls.is_none().then(|| self.sets[self.set(to)][0])
    }

    /// Returns the throughput in bit/s that rate control expects towards a peer; zero if unknown. Without Minstrel-HT,
    /// it is the mode's if all MPDUs arrive; `mpdus` is their number in a frame.
    pub(crate) fn expected_throughput(&self, to: u32, costs: &Costs, mpdus: f64) -> f64 {
        let minstrel = self.controls.as_ref().and_then(|controls| controls.minstrel(to));
        minstrel.map_or_else(|| costs.clean(self.mode(to), mpdus), Minstrel::expected)
    }

    /// Learns from the outcome of the data frames that were sent last.
    pub(crate) fn learn(&mut self, now: Instant, report: Report) {
        let set = self.set(report.to);
        if let Some(controls) = &mut self.controls {
            controls.learn(now, set, report);
        }
    }

    pub(crate) fn agreement<'a>(&self, to: u32, rules: &'a Conventions) -> &'a Agreement {
        rules.agreement(self.own, to)
    }

    /// True if several packets to a station can share a frame.
    pub(crate) fn aggregates(&self, to: u32, rules: &Conventions) -> bool {
        rules.aggregates() && (rules.formats.is_empty() || to == BROADCAST || self.agreement(to, rules).aggregates)
    }

    /// Returns the size of a frame with one MPDU of this length.
    pub(super) fn single(&self, to: u32, psdu: Bytes, rules: &Conventions) -> Size {
        if to == BROADCAST { Size::none(&Agreement::NONE) } else { Size::none(self.agreement(to, rules)) }.with(psdu)
    }

    /// Returns the duration of another station's BlockAck for data in this mode, or for a BlockAckReq.
    pub(crate) fn block_ack(&self, to: u32, mode: Mode, rules: &Conventions) -> Duration {
        rules.block_ack_duration(mode, self.agreement(to, rules))
    }

    /// Returns the mode of a BlockAckReq to a station, or of a control frame to all stations.
    pub(crate) fn control_mode(&self, to: u32, rules: &Conventions) -> Mode {
        let mode = self.mode_to(to, &rules.timing);
        let as_answers = rules.block_ack() && rules.aggregation.missed == MissedBlockAck::Request && to != BROADCAST;
        if as_answers { rules.timing.responses(mode).mode } else { rules.timing.control(mode) }
    }

    /// Returns the duration of data and of their response. A broadcast has no response.
    pub(super) fn exchange(&self, to: u32, size: Size, rules: &Conventions) -> Duration {
        let mode = self.mode_to(to, &rules.timing);
        rules.timing.duration(mode, size.psdu) + self.response_time(to, mode, size, rules)
    }

    /// Returns the time from the end of the data to the end of their response.
    pub(super) fn response_time(&self, to: u32, mode: Mode, size: Size, rules: &Conventions) -> Duration {
        match to {
            BROADCAST => Duration::ZERO,
            _ if size.frames > 1 => rules.timing.sifs + self.block_ack(to, mode, rules),
            _ => rules.timing.sifs + rules.timing.responses(mode).ack,
        }
    }

    /// Returns the duration of one data frame of `psdu` bytes and its acknowledgement.
    pub(crate) fn exchange_of_one(&self, to: u32, psdu: Bytes, rules: &Conventions) -> Duration {
        self.exchange(to, self.single(to, psdu, rules), rules)
    }

    /// Returns the mode to a station if its frames can share a PPDU with others' in this mode.
    pub(crate) fn shared_mode(&self, to: u32, rules: &Conventions) -> Option<Mimo> {
        self.shareable(self.mode_to(to, &rules.timing), to, rules)
    }

    /// Returns `mode` if frames to the station `to` can be sent in it within a PPDU to several stations.
    pub(crate) fn shareable(&self, mode: Mode, to: u32, rules: &Conventions) -> Option<Mimo> {
        let Mode::Mimo(mimo) = mode else { return None };
        let fits = mimo.format() == Format::He && mimo.extended_range().is_none();
        let fits = fits && self.agreement(to, rules).frames > 1;
        fits.then_some(mimo)
    }

    /// Returns the mode for frames to a station within a PPDU to several stations if all channels were idle.
    pub(crate) fn widest_shared_mode(&self, to: u32, rules: &Conventions) -> Option<Mimo> {
        self.shareable(self.widest(to), to, rules)
    }
}

impl Controls {
    fn index(&self, to: u32) -> usize {
        let known = self.peers.binary_search_by_key(&to, |&(address, _)| address);
        match known.map(|place| &self.peers[place].1) {
            Ok(Control::Arf(arf)) => arf.index,
            Ok(Control::Minstrel(minstrel)) => minstrel.index(),
            Err(_) => 0,
        }
    }

    fn minstrel(&self, to: u32) -> Option<&Minstrel> {
        let place = self.peers.binary_search_by_key(&to, |&(address, _)| address).ok()?;
        match &self.peers[place].1 {
            Control::Minstrel(minstrel) => Some(minstrel),
            Control::Arf(_) => None,
        }
    }

    fn learn(&mut self, now: Instant, set: usize, Report { to, sent, acknowledged }: Report) {
        let place = match self.peers.binary_search_by_key(&to, |&(address, _)| address) {
            Ok(place) => place,
            Err(place) => {
                let control = self.begin(now, set);
                self.peers.insert(place, (to, control));
                place
            }
        };
        match &mut self.peers[place].1 {
            Control::Arf(arf) => arf.report(acknowledged > 0),
            Control::Minstrel(minstrel) => minstrel.report(now, sent, acknowledged, &mut self.random),
        }
    }

    fn begin(&mut self, now: Instant, set: usize) -> Control {
        let candidates = &self.candidates[set];
        let top = candidates.len() - 1;
        match self.algorithm {
            Algorithm::Arf => Control::Arf(Arf::new(top, SUCCESSES)),
            Algorithm::Aarf => Control::Arf(Arf::new(top, MOST_SUCCESSES)),
            Algorithm::Minstrel => {
                Control::Minstrel(Box::new(Minstrel::new(candidates.clone(), now, &mut self.random)))
            }
        }
    }
}
