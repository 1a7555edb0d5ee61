//! Nodes on channels that overlap in part. Power is counted in each 20 MHz channel; a frame spreads its power evenly.
//!
//! A receiver decodes frames within its own channel that include its primary channel. Of a wider frame it decodes only
//! the preamble, or all of a control frame, which is repeated in every 20 MHz. The receiver's energy is that in the
//! channels of the frame that it decodes, otherwise in its primary channel. Signals in other channels do not disturb
//! it. For each secondary channel the receiver knows since when the channel is idle.

use super::reuse::Reuse;
use super::signal::Transmission;
use crate::config::ChannelWidth;
use crate::radio::band::Band;
use crate::radio::mode::Mode;
use crate::radio::reception::Shape;
use units::{Duration, Instant};

/// Power in attowatts from which the secondary channels of 20, 40 and 80 MHz are busy: -72 dBm, -72 dBm and -69 dBm
/// (IEEE 802.11-2020, 21.3.18.5.4).
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
    /// Power in each of the receiver's 20 MHz channels, the lowest first.
    energy: [u64; 8],
    /// Bitmask of the channels whose power is the receiver's energy.
    pub(super) counted: u64,
    /// Time from which a frame may use each secondary channel; `NEVER` while it is busy.
    usable: [Instant; 3],
    /// Idle part of the receiver's channel when the frame began that it is decoding.
    pub(super) before: ChannelWidth,
    /// Width of the last frame that the node received, within the part of the channel that was idle before the frame.
    pub(super) heard: ChannelWidth,
    pub(super) answerable: ChannelWidth,
}

/// Power of a frame that arrives at a node.
#[derive(Clone, Copy)]
pub(super) struct Share {
    /// Bitmask of the frame's channels, and of those among them to which the node listens.
    pub(super) sent: u64,
    pub(super) here: u64,
    /// Power in all channels, and in each of them, in attowatts.
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

    /// Returns the channels in which a node decodes the frame: all of the frame's, or only the primary one if the frame
    /// is duplicated or wider than the node's channel.
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

    /// Returns the widest channel that a frame may use now; secondary channels must have been idle for long enough.
    pub(super) fn idle(&self, now: Instant) -> ChannelWidth {
        const WIDER: [ChannelWidth; 3] = [ChannelWidth::Mhz40, ChannelWidth::Mhz80, ChannelWidth::Mhz160];
        let free = WIDER.into_iter().zip(self.usable).take_while(|&(_, usable)| usable <= now);
        free.last().map_or(ChannelWidth::Mhz20, |(width, _)| width).min(self.band.width())
    }

    /// True if each 20 MHz of a channel of this width has less than this power.
    pub(super) fn is_quiet(&self, width: ChannelWidth, power: u64) -> bool {
        let channels = self.band.at_most(width).all() >> self.band.first();
        (0..8).all(|place| channels >> place & 1 == 0 || self.energy[place] < power)
    }
}

impl Bands {
    /// Makes channels without signals, one for each node.
    pub(super) fn new(bands: Vec<Band>, pifs: Duration, reuse: Option<Reuse>) -> Self {
        Self { of: bands.into_iter().map(Tuned::new).collect(), pifs, reuse }
    }

    /// Returns the power in 20 MHz of a frame that a node decodes with this power.
    pub(super) fn each(&self, node: u32, power: u64) -> u64 {
        power / u64::from(self.of[node as usize].counted.count_ones())
    }

    /// Returns the power of a frame in a node's channels; `None` if the node listens to none of the frame's channels.
    pub(super) fn share<F>(&self, sent: &Transmission<F>, node: u32, power: u64) -> Option<Share> {
        let channels = self.of[sent.from as usize].band.channels(sent.shape.width);
        let here = channels & self.of[node as usize].band.all();
        let power = self.reuse.as_ref().map_or(power, |reuse| reuse.limited(sent, power));
        (here != 0).then(|| Share { sent: channels, here, power, each: power / u64::from(channels.count_ones()) })
    }
}
