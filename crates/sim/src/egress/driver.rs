//! A node whose queues are in a kernel above its MAC. Packets pass at once into a hardware queue without a limit and
//! wait there, as below mac80211's scheduler. The driver gets the airtime of the frames to and from each station.

use super::Egress;
use units::Duration;

/// A driver above the MAC: for each station, the unreported airtime of frames sent and of frames received.
#[derive(Debug)]
pub(crate) struct Driver(Box<[[Duration; 2]]>);

impl Driver {
    /// Adds the airtime of a frame to a station or, if `received`, from it.
    pub(super) fn add(&mut self, station: u32, received: bool, airtime: Duration) {
        debug_assert!((station as usize) < self.0.len(), "it has a radio");
        self.0[station as usize][usize::from(received)] += airtime;
    }

    /// Takes the airtime, since the last call, of the frames sent to a station or, if `received`, from it.
    pub(crate) fn take_airtime(&mut self, station: u32, received: bool) -> Duration {
        let of = self.0.get_mut(station as usize);
        of.map_or(Duration::ZERO, |of| std::mem::take(&mut of[usize::from(received)]))
    }
}

impl Egress {
    /// Makes this the egress of a driver, in a network of this many nodes.
    pub(crate) fn serve_driver(&mut self, nodes: usize) {
        debug_assert!(self.driver.is_none() && self.waiting() == 0, "it is new");
        self.driver = Some(Driver(vec![[Duration::ZERO; 2]; nodes].into()));
        self.hardware.iter_mut().for_each(|hardware| hardware.open());
    }
}
