//! Packets in an egress, their possible receivers, and results of packets that have passed. The counts must balance.

use super::{Egress, Order};
use crate::config::Class;
use crate::engine::{Number as _, PortId};
use crate::net::Waiting;
use crate::results;
use units::{Bytes, Duration, Instant};

impl Egress {
    /// Restarts the statistics.
    pub(crate) fn restart_statistics(&mut self, now: Instant) {
        self.ports.iter_mut().for_each(|port| port.restart_statistics(now));
    }

    /// Returns the results of a port in a run that ends now, without results of a wired link.
    pub(crate) fn result(&self, port: PortId, name: String, now: Instant) -> results::QueueResult {
        let result = self.ports[port].result(name, now, self.ports.len() > 1);
        let scheduler = match self.order {
            Order::Mac80211(_) => "mac80211",
            Order::Turns(_) => "turns",
            Order::RoundRobin(_) => return result,
        };
        if self.layout.wire(port).is_some() {
            result
        } else {
            results::QueueResult { scheduler: scheduler.to_owned(), ..result }
        }
    }

    /// Returns the number of packets that wait in this egress.
    pub(crate) fn waiting(&self) -> u64 {
        let held: u64 = self.ports.iter().map(|port| port.queue.backlog().packets).sum();
        let handed_over = self.hardware.as_ref().map_or(0, |hardware| hardware.waiting().count() as u64);
        held + (self.signals.len() + self.sleepers.packets()) as u64 + handed_over
    }

    /// True if the estimated airtimes and loads of released packets equal the sums over the packets that wait for the
    /// MAC or are held by the MAC.
    pub(crate) fn balances(&self, airtime: Duration, load: u64) -> bool {
        let here = self.hardware.iter().flat_map(|hardware| hardware.waiting());
        let airtime = here.fold(airtime, |sum, passed| sum + passed.expected);
        airtime == self.order.pending() && self.hardware.as_ref().map_or(load == 0, |hardware| hardware.balances(load))
    }
}

impl Egress {
    /// Returns the number and the bytes of the packets in a category that wait for a receiver.
    pub(crate) fn waiting_for(&self, to: u32, category: u8) -> (u64, Bytes) {
        let backlog = self.ports[self.layout.port(to, category, Class::BestEffort)].queue.backlog();
        let in_hardware = self.hardware.iter().flat_map(|hardware| hardware.lengths(category, to));
        in_hardware.fold((backlog.packets, backlog.bytes), |(packets, bytes), length| (packets + 1, bytes + length))
    }

    /// Calls `tell` for the receivers, some more than once, to which the MAC could send packets of a category now.
    pub(crate) fn receivers(
        &mut self,
        now: Instant,
        category: u8,
        tell: &mut impl FnMut(u32),
        dropped: &mut impl FnMut(Waiting),
    ) {
        if let Some(hardware) = &self.hardware {
            return hardware.receivers(category).for_each(tell);
        }
        if self.layout.groups > 1 {
            let ready = self.layout.filled(category, &self.ports).filter(|&(_, at)| at <= now);
            let station = |(port, _): (PortId, Instant)| self.layout.stations.get(port.place() / self.layout.lanes);
            return ready.filter_map(station).copied().for_each(tell);
        }
        for port in self.layout.lanes_of(category).map(PortId::at) {
            let mut index = 0;
            while let Some(waiting) = self.ports[port].peek(now, index, dropped) {
                tell(waiting.to);
                index += 1;
            }
        }
    }
}
