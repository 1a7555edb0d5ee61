//! Sending in order of age: the parameters of the rules, and a station's part.

use super::keys::{Key, Table, Tells};
use units::{Duration, Instant};

/// Parameters of the rules, the same at every station.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TmacRules {
    /// Requests and grants precede data; else the keys that were heard are all.
    pub(crate) requests: bool,
    /// `q`: so great a part of those asked has to grant.
    pub(crate) quorum: f64,
    /// `K`: number of failed requests after which data are sent by plain DCF.
    pub(crate) attempts: u8,
    /// `T_req`: how long a refused station waits at most before it asks again.
    pub(crate) request_wait: Duration,
    /// `T_frame`: how long a station defers for each older key that it knows.
    pub(crate) deferral: Duration,
    /// `T_exp`: how long a key that was heard counts.
    pub(crate) expiry: Duration,
    /// `T_act`: who was heard sending data or a request within this time is asked.
    pub(crate) activity: Duration,
    /// The most that are asked, the receiver included.
    pub(crate) neighbours: usize,
}

/// A station's part in the order of age.
#[derive(Debug, Default)]
pub(crate) struct TmacState {
    /// The oldest packet of the node, as the host said last.
    pub(in crate::mac) own: Option<Key>,
    /// What the frame tells that it sends, or sent last.
    pub(in crate::mac) tells: Tells,
    pub(in crate::mac) table: Table,
    /// Whom its last request asks, the receiver first.
    pub(in crate::mac) asked: Vec<u32>,
    pub(in crate::mac) grants: usize,
    pub(in crate::mac) granted_by_receiver: bool,
    /// Requests in vain since it sent data last.
    pub(in crate::mac) refused: u8,
    /// After a refused request: not before this moment, if no younger key is heard.
    pub(in crate::mac) hold: Instant,
    /// It defers, and no older packet was seen to go since this moment.
    pub(in crate::mac) deferring: Option<Instant>,
}

impl TmacState {
    /// What the frame tells that it sends, or sent last.
    pub(crate) fn tells(&self) -> Tells {
        self.tells
    }

    /// It begins to send a frame that tells this.
    pub(crate) fn tell(&mut self, tells: Tells) {
        self.tells = tells;
    }

    /// The place of a neighbour in its last request.
    pub(crate) fn place_of(&self, neighbour: u32) -> Option<usize> {
        self.asked.iter().position(|&asked| asked == neighbour)
    }

    /// It sends data: what was refused or waited for is over.
    pub(in crate::mac) fn served(&mut self) {
        self.refused = 0;
        self.hold = Instant::ZERO;
        self.deferring = None;
    }
}
