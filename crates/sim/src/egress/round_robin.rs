//! Round robin over the groups of ports, category by category: the order in which the MAC is given packets where it takes
//! them from the ports themselves.

use super::layout::Layout;
use crate::engine::{Number as _, PortId};
use crate::mac::CATEGORIES;

/// Whose turn it is.
#[derive(Debug, Default)]
pub(crate) struct RoundRobin {
    /// By place in a group, the group that was served last.
    last: [usize; CATEGORIES],
}

impl RoundRobin {
    /// The port of a category that is served next: of those that are ready one of the highest class, and of these the one
    /// whose turn it is, group by group.
    #[inline]
    pub(super) fn next(&self, layout: &Layout, category: u8, ready: impl Fn(PortId) -> bool) -> PortId {
        let first = usize::from(category);
        if layout.groups == 1 && !layout.by_class {
            return PortId::at(first);
        }
        let mut order = layout.lanes_of(category).flat_map(|lane| {
            let last = self.last[lane];
            (1..=layout.groups).map(move |step| PortId::at((last + step) % layout.groups * layout.lanes + lane))
        });
        order.find(|&port| ready(port)).unwrap_or(PortId::at(first))
    }

    /// A packet has left a port.
    #[inline]
    pub(super) fn served(&mut self, layout: &Layout, port: PortId) {
        let port = port.place();
        if layout.groups > 1 && port < layout.radio_ports() {
            self.last[port % layout.lanes] = port / layout.lanes;
        }
    }
}
