//! Sending in order of age: the parameters of the rules, and a station's part.

use super::keys::{Key, Table, Tells};
use units::{Duration, Instant};

/// Parameters of the rules, the same at every station.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct TmacRules {
    /// True if requests and grants precede data; otherwise only heard keys are used.
    pub(crate) requests: bool,
    /// `q`: share of the asked stations that have to grant, 0 to 1.
    pub(crate) quorum: f64,
    /// `K`: number of failed requests after which data are sent by plain DCF.
    pub(crate) attempts: u8,
    /// `T_req`: longest wait of a refused station before it asks again.
    pub(crate) request_wait: Duration,
    /// `T_frame`: deferral of a station for each older key that it knows.
    pub(crate) deferral: Duration,
    /// `T_exp`: lifetime of a key that was heard.
    pub(crate) expiry: Duration,
    /// `T_act`: neighbours heard sending data or a request within this time are asked.
    pub(crate) activity: Duration,
    /// Largest number of stations asked, the receiver included.
    pub(crate) neighbours: usize,
}

#[derive(Debug, Default)]
pub(crate) struct TmacState {
    pub(in crate::mac) rules: TmacRules,
    /// Key of the oldest packet of the node, as last reported by the host.
    pub(in crate::mac) own: Option<Key>,
    /// Keys in the present or last frame.
    pub(crate) tells: Tells,
    pub(in crate::mac) table: Table,
    /// The stations that its last request asks, the receiver first.
    pub(in crate::mac) asked: Vec<u32>,
    pub(in crate::mac) grants: usize,
    pub(in crate::mac) granted_by_receiver: bool,
    /// Refused requests since it last sent data.
    pub(in crate::mac) refused: u8,
    /// After a refused request: earliest moment of the next request, unless a younger key is heard.
    pub(in crate::mac) hold: Instant,
    /// While the station defers: the time since which no older packet was seen being sent.
    pub(in crate::mac) deferring: Option<Instant>,
}

impl TmacState {
    /// Index of a neighbour in its last request.
    pub(crate) fn place_of(&self, neighbour: u32) -> Option<usize> {
        self.asked.iter().position(|&asked| asked == neighbour)
    }

    pub(in crate::mac) fn granted(&mut self, from: u32) {
        self.grants += 1;
        self.granted_by_receiver |= self.asked.first() == Some(&from);
        debug_assert!(!self.asked.is_empty(), "grants are asked for");
        debug_assert!(self.grants <= self.asked.len(), "each of those asked grants once");
    }

    /// Resets refusals and deferral when it sends data.
    pub(in crate::mac) fn served(&mut self) {
        self.refused = 0;
        self.hold = Instant::ZERO;
        self.deferring = None;
    }
}
