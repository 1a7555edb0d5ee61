//! The state on which an exchange works.

use super::buffer::{Assembly, Limits, Size};
use super::contention::Contention;
use super::held::Held;
use super::step::Txop;
use super::{BROADCAST, Conventions, Frame, Kind, Rates};
use units::{Bytes, Duration, Instant};

/// Parts of a station that an exchange uses: the frames that the station holds, its modes, its TXOP and its contention.
pub(crate) struct Context<'s> {
    pub(super) now: Instant,
    pub(super) address: u32,
    pub(super) held: &'s mut Held,
    pub(super) rates: &'s Rates,
    pub(super) txop: &'s mut Txop,
    pub(super) contention: &'s mut Contention,
    pub(super) rules: &'s Conventions,
}

impl Context<'_> {
    /// A frame without data.
    pub(super) fn control(&self, kind: Kind, to: u32, reserves: Duration) -> Frame {
        let (from, category) = (self.address, self.held.holder);
        let announces = matches!(kind, Kind::Rts | Kind::Cts);
        let mode = if announces { self.rules.timing.announcing } else { self.rates.control_mode(to, self.rules) };
        Frame { kind, from, to, category, mode, reserves, sequence: 0, retry: false }
    }

    /// Returns the size of the frame that the host has assembled, or of the category's first frames within the limits.
    /// A single frame is sent whatever its length.
    pub(super) fn settled(&mut self, assembly: Option<Assembly>, longest: Bytes) -> Size {
        if let Some(assembly) = &assembly {
            self.held.assembled(assembly);
            return assembly.size;
        }
        let buffer = self.held.present();
        if buffer.mpdus.len() == 1 {
            return self.rates.single(buffer.to, buffer.mpdus[0].psdu, self.rules);
        }
        buffer.select(&Limits { agreement: *self.rates.agreement(buffer.to, self.rules), longest })
    }

    /// Returns the receiver of the data that are due, if others could share the PPDU.
    pub(crate) fn may_share(&self) -> Option<u32> {
        let buffer = self.held.present();
        let is_data = self.txop.fixed.is_none() && buffer.request.is_none() && !buffer.mpdus.is_empty();
        (is_data && buffer.to != BROADCAST && self.rates.shared_mode(buffer.to, self.rules).is_some())
            .then_some(buffer.to)
    }
}
