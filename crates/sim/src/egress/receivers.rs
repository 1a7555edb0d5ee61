//! To whom a node could send now.

use super::Egress;
use crate::engine::{Number as _, PortId};
use crate::net::Waiting;
use units::Instant;

impl Egress {
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
            let ready = self.ready_ports(category).filter(|&(_, at)| at <= now);
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
