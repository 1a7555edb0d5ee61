//! A station's exchanges with each receiver: their agreement, modes and durations.

use super::Rates;
use crate::config::MissedBlockAck;
use crate::mac::buffer::Size;
use crate::mac::{Agreement, BROADCAST, Conventions};
use crate::radio::{Format, Mimo, Mode};
use units::{Bytes, Duration};

impl Rates {
    pub(crate) fn agreement<'a>(&self, to: u32, rules: &'a Conventions) -> &'a Agreement {
        rules.agreement(self.own, to)
    }

    /// True if packets to a station share frames.
    pub(crate) fn aggregates(&self, to: u32, rules: &Conventions) -> bool {
        rules.aggregates() && (rules.formats.is_empty() || to == BROADCAST || self.agreement(to, rules).aggregates)
    }

    /// The size of a frame with one MPDU of this length.
    pub(in crate::mac) fn single(&self, to: u32, psdu: Bytes, rules: &Conventions) -> Size {
        if to == BROADCAST { Size::none(&Agreement::NONE) } else { Size::none(self.agreement(to, rules)) }.with(psdu)
    }

    /// Duration of another station's BlockAck for data of this mode, or for a request.
    pub(crate) fn block_ack(&self, to: u32, mode: Mode, rules: &Conventions) -> Duration {
        rules.block_ack_duration(mode, self.agreement(to, rules))
    }

    /// Mode of a BlockAckReq to a station, or of a control frame to all.
    pub(crate) fn control_mode(&self, to: u32, rules: &Conventions) -> Mode {
        let mode = self.mode_to(to, &rules.timing);
        let as_answers = rules.block_ack() && rules.aggregation.missed == MissedBlockAck::Request && to != BROADCAST;
        if as_answers { rules.timing.responses(mode).mode } else { rules.timing.control(mode) }
    }

    /// Returns the duration of data and their response; a broadcast has no response.
    pub(in crate::mac) fn exchange(&self, to: u32, size: Size, rules: &Conventions) -> Duration {
        let mode = self.mode_to(to, &rules.timing);
        rules.timing.duration(mode, size.psdu) + self.response_time(to, mode, size, rules)
    }

    /// Time from the end of data to the end of their response.
    pub(in crate::mac) fn response_time(&self, to: u32, mode: Mode, size: Size, rules: &Conventions) -> Duration {
        match to {
            BROADCAST => Duration::ZERO,
            _ if size.frames > 1 => rules.timing.sifs + self.block_ack(to, mode, rules),
            _ => rules.timing.sifs + rules.timing.responses(mode).ack,
        }
    }

    /// Duration of one data frame of `psdu` bytes and its acknowledgement.
    pub(crate) fn exchange_of_one(&self, to: u32, psdu: Bytes, rules: &Conventions) -> Duration {
        self.exchange(to, self.single(to, psdu, rules), rules)
    }

    /// Returns the mode to a station in which its frames can share a PPDU with others'.
    pub(crate) fn shared_mode(&self, to: u32, rules: &Conventions) -> Option<Mimo> {
        self.shareable(self.mode_to(to, &rules.timing), to, rules)
    }

    /// Returns a mode to a station, if others can share a PPDU in this mode.
    pub(crate) fn shareable(&self, mode: Mode, to: u32, rules: &Conventions) -> Option<Mimo> {
        let Mode::Mimo(mimo) = mode else { return None };
        let fits = mimo.format() == Format::He && mimo.extended_range().is_none();
        let fits = fits && self.agreement(to, rules).frames > 1;
        fits.then_some(mimo)
    }

    /// Returns the mode to a station in which others could share a PPDU if all channels were idle.
    pub(crate) fn widest_shared_mode(&self, to: u32, rules: &Conventions) -> Option<Mimo> {
        self.shareable(self.widest(to), to, rules)
    }
}
