//! Receivers' judgement of losses, compared with the true causes.

use crate::net::LossCause;
use crate::results::{Judged, Verdicts};
use crate::transport::tcp::Report;
use std::collections::BTreeMap;

/// The lost packets of a TCP flow with discard priorities.
#[derive(Debug, Default)]
pub(crate) struct Losses {
    /// Lost packets by connection and first octet.
    packets: BTreeMap<(u32, u64), Loss>,
    pub(super) judged: Judged,
    /// Largest number of drops of one packet by queues.
    pub(super) most: u32,
}

#[derive(Debug, Default)]
struct Loss {
    /// Number of times that queues dropped the packet.
    drops: u32,
    /// Cause of the packet's last loss, if it has not been sent again since.
    pending: Option<LossCause>,
}

impl Losses {
    /// Records the loss of a data packet.
    pub(crate) fn lose(&mut self, connection: u32, start: u64, why: LossCause) {
        let loss = self.packets.entry((connection, start)).or_default();
        loss.pending = Some(why);
        if why == LossCause::Queue {
            loss.drops += 1;
            self.most = self.most.max(loss.drops);
        }
    }

    /// Records that data are sent, perhaps again, with the receiver's verdict on missing packets; none after a timeout.
    pub(crate) fn send(&mut self, connection: u32, start: u64, verdict: Option<Report>) {
        let Some(why) = self.packets.get_mut(&(connection, start)).and_then(|loss| loss.pending.take()) else { return };
        let verdicts = if why == LossCause::Queue { &mut self.judged.queue } else { &mut self.judged.other };
        let Verdicts { congestion, wireless, none } = verdicts;
        *match verdict {
            Some(Report::Congestion { .. }) => congestion,
            Some(Report::Wireless) => wireless,
            None => none,
        } += 1;
    }

    /// Restarts the counts; lost packets stay lost.
    pub(super) fn restart(&mut self) {
        (self.judged, self.most) = (Judged::default(), 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_loss_is_judged_once_when_it_is_repaired() {
        let mut losses = Losses::default();
        let congestion = Some(Report::Congestion { reached: 0 });
        losses.send(0, 1, None);
        for why in [LossCause::Queue, LossCause::Queue, LossCause::Retries] {
            losses.lose(0, 1001, why);
            losses.send(0, 1001, congestion);
            losses.send(0, 1001, congestion);
        }
        losses.lose(1, 1001, LossCause::Queue);
        losses.send(0, 1001, congestion);
        losses.send(1, 1001, Some(Report::Wireless));
        losses.lose(0, 2001, LossCause::NoRoute);
        losses.send(0, 2001, None);
        let queue = Verdicts { congestion: 2, wireless: 1, none: 0 };
        let other = Verdicts { congestion: 1, wireless: 0, none: 1 };
        assert_eq!((losses.judged, losses.most), (Judged { queue, other }, 2));
    }
}
