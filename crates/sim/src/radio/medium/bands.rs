//! Nodes on channels that overlap in part. Power is counted by 20 MHz channels; a frame spreads its power evenly.
//!
//! A receiver decodes frames that begin in its primary channel, within its own channel. Of a wider frame the receiver
//! decodes only the preamble, or all of a control frame, which every 20 MHz carries. The receiver's energy is the
//! energy in the channels of the frame that it decodes, else in its primary channel; signals in other channels do not
//! disturb it. For each secondary channel the receiver knows since when it is idle.

use super::reuse::Reuse;
use super::signal::Transmission;
use crate::config::ChannelWidth;
use crate::radio::band::Band;
use crate::radio::mode::Mode;
use crate::radio::reception::Shape;
use units::{Duration, Instant};

/// Power in attowatts from which a secondary channel of 20, 40 and 80 MHz is busy: -72 dBm, of the last -69 dBm (IEEE
/// 802.11-2020, 21.3.18.5.4).
const BUSY: [u64; 3] = [63_095_734, 63_095_734, 125_892_541];

pub(super) struct Bands {
    pub(super) of: Vec<Tuned>,
    /// Time for which a secondary channel has to be idle before a frame.
    pub(super) pifs: Duration,
    /// Rules of spatial reuse, if there are any.
    pub(super) reuse: Option<Reuse>,
}

/// A node's channel.
pub(super) struct Tuned {
    pub(super) band: Band,
    /// Power in each of the receiver's 20 MHz channels, from the lowest on.
    energy: [u64; 8],
    /// Channels whose power is the receiver's energy.
    pub(super) counted: u64,
    /// Time from which a frame may use each secondary channel; `NEVER` while it is busy.
    usable: [Instant; 3],
    /// Idle part of the receiver's channel at the start of the frame that it decodes.
    pub(super) before: ChannelWidth,
    /// Width of the frame that the node received last, within the part of the channel that was idle before.
    pub(super) heard: ChannelWidth,
    pub(super) answerable: ChannelWidth,
}

/// Power of a frame that arrives at a node.
#[derive(Clone, Copy)]
pub(super) struct Share {
    /// Channels of the frame, and which of them the node listens to.
    pub(super) sent: u64,
    pub(super) here: u64,
    /// Power in all channels and in each of them, in attowatts.
    pub(super) power: u64,
    pub(super) each: u64,
}

impl Share {
    pub(super) fn within(&self, channels: u64) -> u64 {
        self.each * u64::from((self.here & channels).count_ones())
    }

    /// True if the node listens to all channels of the frame.
    pub(super) fn is_whole(&self) -> bool {
        self.here == self.sent
    }

    /// The channels in which a node decodes the frame: all channels, or only the primary if the frame is wider than the
    /// node's channel or duplicated.
    pub(super) fn decoded(&self, shape: &Shape, primary: u64) -> u64 {
        if self.is_whole() && matches!(shape.mode, Mode::Mimo(_)) { self.sent } else { primary }
    }
}

impl Tuned {
    fn new(band: Band) -> Self {
        let (counted, usable) = (band.primary(), [Instant::ZERO; 3]);
        let narrow = ChannelWidth::Mhz20;
        Self { band, energy: [0; 8], counted, usable, before: narrow, heard: narrow, answerable: narrow }
    }

    pub(super) fn energy_in(&self, channels: u64) -> u64 {
        let channels = channels >> self.band.first();
        (0..8).filter(|place| channels >> place & 1 == 1).map(|place| self.energy[place]).sum()
    }

    /// Changes the power in the channels of a frame that begins or ends at this node.
    pub(super) fn change(&mut self, share: &Share, now: Instant, pifs: Duration, change: impl Fn(u64, u64) -> u64) {
        let here = share.here >> self.band.first();
        for place in (0..8).filter(|place| here >> place & 1 == 1) {
            self.energy[place] = change(self.energy[place], share.each);
        }
        for (place, channels) in self.band.secondary().into_iter().enumerate() {
            let busy = self.energy_in(channels) >= BUSY[place];
            if busy {
                self.usable[place] = Instant::NEVER;
            } else if self.usable[place] == Instant::NEVER {
                self.usable[place] = now + pifs;
            }
        }
    }

    /// The widest channel that a frame may use now, given how long the secondary channels have been idle.
    pub(super) fn idle(&self, now: Instant) -> ChannelWidth {
        const WIDER: [ChannelWidth; 3] = [ChannelWidth::Mhz40, ChannelWidth::Mhz80, ChannelWidth::Mhz160];
        let free = WIDER.into_iter().zip(self.usable).take_while(|&(_, usable)| usable <= now);
        free.last().map_or(ChannelWidth::Mhz20, |(width, _)| width).min(self.band.width())
    }

    /// True if no 20 MHz of a channel of this width has at least this power.
    pub(super) fn is_quiet(&self, width: ChannelWidth, power: u64) -> bool {
        let channels = self.band.at_most(width).all() >> self.band.first();
        (0..8).all(|place| channels >> place & 1 == 0 || self.energy[place] < power)
    }
}

impl Bands {
    /// Silent channels: one for each node.
    pub(super) fn new(bands: Vec<Band>, pifs: Duration, reuse: Option<Reuse>) -> Self {
        Self { of: bands.into_iter().map(Tuned::new).collect(), pifs, reuse }
    }

    /// Power in 20 MHz of a frame that a node decodes with this power.
    pub(super) fn each(&self, node: u32, power: u64) -> u64 {
        power / u64::from(self.of[node as usize].counted.count_ones())
    }

    /// The power of a frame that arrives at a node in its channels, if the node listens there.
    pub(super) fn share<F>(&self, sent: &Transmission<F>, node: u32, power: u64) -> Option<Share> {
        let channels = self.of[sent.from as usize].band.channels(sent.shape.width);
        let here = channels & self.of[node as usize].band.all();
        let power = self.reuse.as_ref().map_or(power, |reuse| reuse.limited(sent, power));
        (here != 0).then(|| Share { sent: channels, here, power, each: power / u64::from(channels.count_ones()) })
    }
}
