//! To whom a node could send now.

use super::Egress;
use crate::config::Class;
use crate::engine::{Number as _, PortId};
use crate::net::Waiting;
use units::{Bytes, Instant};

impl Egress {
    /// Number and bytes of the packets that wait in a category for a receiver.
    pub(crate) fn waiting_for(&self, to: u32, category: u8) -> (u64, Bytes) {
        let backlog = self.ports[self.layout.port(to, category, Class::BestEffort)].queue.backlog();
        let in_hardware = self.hardware.iter().flat_map(|hardware| hardware.lengths(category, to));
        in_hardware.fold((backlog.packets, backlog.bytes), |(packets, bytes), length| (packets + 1, bytes + length))
    }

    /// Tells the receivers, some more than once, to which the MAC could send packets of a category now.
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
