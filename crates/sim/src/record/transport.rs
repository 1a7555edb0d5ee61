//! Counts of TCP flows and pings, in addition to every flow's counts.

use super::{Losses, Summary};
use crate::results::Flow;
use crate::transport::tcp::Counts;
use units::{Bytes, Duration};

/// Service of a transport to its application, which determines the results.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Service {
    #[default]
    /// Requests and their replies.
    Echo,
    /// A connection without end.
    Stream,
    /// Connections that each have an end.
    Transfers,
}

/// Counts of a flow whose packets are answered, since the end of the warm-up.
#[derive(Debug, Default)]
pub(crate) struct TransportRecord {
    service: Service,
    pub(crate) rtt: Summary,
    pub(crate) srtt_max: Duration,
    /// Data that arrived, in order or not, each byte once.
    pub(crate) carried: Bytes,
    pub(crate) counts: Counts,
    pub(crate) transfers: u64,
    pub(crate) completed: u64,
    pub(crate) completion: Summary,
    pub(crate) replies: u64,
    /// Fates of losses, if packets have discard priorities.
    pub(crate) losses: Option<Losses>,
}

impl TransportRecord {
    /// Creates the counts, with an account of each lost packet if `losses` is given.
    pub(crate) fn new(service: Service, losses: Option<Losses>) -> Self {
        Self { service, losses, ..Self::default() }
    }

    /// Adds the difference between two states of a sender's counts.
    pub(crate) fn count(&mut self, now: Counts, before: Counts) {
        let Counts { retransmits, timeouts, recoveries, marks, probes, halvings } = &mut self.counts;
        *retransmits += now.retransmits - before.retransmits;
        *timeouts += now.timeouts - before.timeouts;
        *recoveries += now.recoveries - before.recoveries;
        *marks += now.marks - before.marks;
        *probes += now.probes - before.probes;
        *halvings += now.halvings - before.halvings;
    }

    pub(crate) fn restart(&mut self) {
        let mut losses = self.losses.take();
        losses.iter_mut().for_each(Losses::restart);
        *self = Self::new(self.service, losses);
    }

    /// Adds the results of this service over the time `covered` to a flow's results.
    pub(crate) fn report(&self, flow: &mut Flow, covered: Duration) {
        flow.rtt_s = Some(self.rtt.times());
        if self.service == Service::Echo {
            flow.replies = Some(self.replies);
            return;
        }
        flow.carried_bps = Some(self.carried.bits() as f64 / covered.as_secs_f64());
        flow.srtt_max_s = Some(self.srtt_max.as_secs_f64());
        flow.retransmits = Some(self.counts.retransmits);
        flow.timeouts = Some(self.counts.timeouts);
        flow.recoveries = Some(self.counts.recoveries);
        flow.marks = Some(self.counts.marks);
        flow.tail_probes = Some(self.counts.probes);
        flow.window_halvings = Some(self.counts.halvings);
        flow.judged = self.losses.as_ref().map(|losses| losses.judged);
        flow.drops_of_one_packet = self.losses.as_ref().map(|losses| losses.most);
        if self.service == Service::Transfers {
            flow.transfers = Some(self.transfers);
            flow.transfers_completed = Some(self.completed);
            flow.completion_s = Some(self.completion.times());
        }
    }
}
