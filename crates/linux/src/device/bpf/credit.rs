//! Release by credit, for a device that never pushes back: mac80211 takes every packet at once, so that a queue above it
//! stays empty unless it keeps packets back by itself.

use units::Duration;

/// How much such a device may have: packets that were handed down to it and that it has not done with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Credit {
    /// So many packets at most, up to 256.
    pub packets: u32,
    /// And no more than the device is done with in this time, by its service times of late; two always.
    pub time: Duration,
    /// A packet that the device is not done with after this time is given up: a lost completion stops nothing.
    pub expiry: Duration,
    /// How often a queue that waits for credit looks for it.
    pub look_every: Duration,
}

impl Default for Credit {
    /// The longest frame of Wi-Fi lasts 5.5 ms (IEEE 802.11-2016, table 19-25): with 8 ms a whole one waits while another is
    /// on the air. A look every millisecond comes before the device runs dry. A retry chain is over long before 250 ms.
    fn default() -> Self {
        let [time, expiry, look_every] = [8, 250, 1].map(Duration::from_millis);
        Self { packets: 192, time, expiry, look_every }
    }
}

/// Packets of a queue that leave by credit, counted since the discipline was loaded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Below {
    /// The device took them.
    pub taken: u64,
    /// It is done with them, whatever became of them.
    pub completed: u64,
    /// Given up without a completion. What is neither is with the device.
    pub lost: u64,
}
