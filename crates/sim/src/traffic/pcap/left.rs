//! What of a recording is not replayed, and why.

use crate::results::LeftOut;

/// Why a frame is left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reason {
    NotIp,
    Tunnel,
    Management,
    BadFcs,
    Repeated,
    Fragment,
    Encrypted,
    Malformed,
}

impl LeftOut {
    pub(super) fn count(&mut self, reason: Reason) {
        *match reason {
            Reason::NotIp => &mut self.not_ip,
            Reason::Tunnel => &mut self.tunnels,
            Reason::Management => &mut self.management,
            Reason::BadFcs => &mut self.bad_fcs,
            Reason::Repeated => &mut self.repeated,
            Reason::Fragment => &mut self.fragments,
            Reason::Encrypted => &mut self.encrypted,
            Reason::Malformed => &mut self.malformed,
        } += 1;
    }

    /// The reasons that there are, for people, with their numbers of frames.
    pub fn reasons(&self) -> Vec<(u64, &'static str)> {
        let all = [
            (self.not_ip, "without an IP packet"),
            (self.tunnels, "of PPPoE, MPLS or batman-adv, which are not opened"),
            (self.management, "of 802.11 without data"),
            (self.bad_fcs, "with a wrong check sum"),
            (self.repeated, "sent again"),
            (self.fragments, "with later fragments"),
            (self.encrypted, "encrypted, of unknown lengths"),
            (self.malformed, "damaged"),
        ];
        all.into_iter().filter(|(frames, _)| *frames > 0).collect()
    }
}
