//! T-MAC's parameters, and a station's state. Symbols are those of `docs/tmac.md`.

use super::keys::{Key, Table, Tells};
use units::{Duration, Instant};

/// Parameters of the rules, the same at every station.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct TmacRules {
    /// True if requests and grants precede data; false if stations use only the keys that they have heard.
    pub(crate) requests: bool,
    /// `q`: share of the asked stations that have to grant, 0 to 1.
    pub(crate) quorum: f64,
    /// `K`: number of failed requests after which data are sent by plain DCF.
    pub(crate) attempts: u8,
    /// `T_req`: longest wait of a station whose request was refused before it asks again.
    pub(crate) request_wait: Duration,
    /// `T_frame`: time by which a station defers for each older key that it knows.
    pub(crate) deferral: Duration,
    /// `T_exp`: time for which a key that was heard is valid.
    pub(crate) expiry: Duration,
    /// `T_act`: a request asks neighbours that were heard sending data or a request within this time.
    pub(crate) activity: Duration,
    /// Largest number of stations that a request asks, the receiver included.
    pub(crate) neighbours: usize,
}

#[derive(Debug, Default)]
pub(crate) struct TmacState {
    pub(in crate::mac) rules: TmacRules,
    /// Key of the node's oldest packet, as last reported by the host.
    pub(in crate::mac) own: Option<Key>,
    /// What the present or last frame says of its sender's packets.
    pub(crate) tells: Tells,
    pub(in crate::mac) table: Table,
    /// The stations that the last request of this station asks, the receiver first.
    pub(in crate::mac) asked: Vec<u32>,
    pub(in crate::mac) grants: usize,
    pub(in crate::mac) granted_by_receiver: bool,
    /// Number of refused requests since the station last sent data.
    pub(in crate::mac) refused: u8,
    /// After a refused request: earliest time of the next request, unless the station hears a younger key.
    pub(in crate::mac) hold: Instant,
    /// While the station defers: time since which it has seen no older packet being sent.
    pub(in crate::mac) deferring: Option<Instant>,
}

impl TmacState {
    /// Returns the index of a neighbour in the station's last request.
    pub(crate) fn place_of(&self, neighbour: u32) -> Option<usize> {
        self.asked.iter().position(|&asked| asked == neighbour)
    }

    pub(in crate::mac) fn granted(&mut self, from: u32) {
        self.grants += 1;
        self.granted_by_receiver |= self.asked.first() == Some(&from);
        debug_assert!(!self.asked.is_empty(), "grants are asked for");
        debug_assert!(self.grants <= self.asked.len(), "each of those asked grants once");
    }

    /// Resets refusals and deferral because the station sends data.
    pub(in crate::mac) fn served(&mut self) {
        self.refused = 0;
        self.hold = Instant::ZERO;
        self.deferring = None;
    }
}
