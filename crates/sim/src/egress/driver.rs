//! A node whose queues are those of a kernel above its MAC: what comes passes at once into a hardware queue without a limit,
//! where it waits as below mac80211's scheduler. The driver is told the airtime of the frames to and from each station.

use super::Egress;
use units::Duration;

/// Airtime that the driver was not told yet: by station, of frames that were sent, and received.
#[derive(Debug)]
pub(super) struct Aired(Vec<[Duration; 2]>);

impl Aired {
    /// Adds that of a frame.
    pub(super) fn add(&mut self, station: u32, received: bool, airtime: Duration) {
        debug_assert!((station as usize) < self.0.len(), "it has a radio");
        self.0[station as usize][usize::from(received)] += airtime;
    }
}

impl Egress {
    /// Makes it that of a driver, in a network of this many nodes.
    pub(crate) fn serve_driver(&mut self, nodes: usize) {
        debug_assert!(self.aired.is_none() && self.waiting() == 0, "it is new");
        self.aired = Some(Box::new(Aired(vec![[Duration::ZERO; 2]; nodes])));
        self.hardware.iter_mut().for_each(|hardware| hardware.open());
    }

    /// Is there a driver above?
    #[inline]
    pub(crate) fn has_driver(&self) -> bool {
        self.aired.is_some()
    }

    /// Takes the airtime of the frames that were sent to, or `received` from, a station since it was last taken.
    pub(crate) fn take_airtime(&mut self, station: u32, received: bool) -> Duration {
        let of = self.aired.as_mut().and_then(|aired| aired.0.get_mut(station as usize));
        of.map_or(Duration::ZERO, |of| std::mem::take(&mut of[usize::from(received)]))
    }
}
