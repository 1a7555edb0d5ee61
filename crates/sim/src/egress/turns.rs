//! The order in which the MAC is given packets where it takes them from the ports themselves: the groups of ports by
//! turns, category by category.

use super::layout::Layout;
use crate::mac::CATEGORIES;

/// Whose turn it is.
#[derive(Debug, Default)]
pub(crate) struct Turns {
    /// By category, the group that was served last.
    last: [usize; CATEGORIES],
}

impl Turns {
    /// The port of a category that is served next: of those that are ready the one whose turn it is, group by group.
    #[inline]
    pub(super) fn next(&self, layout: &Layout, category: u8, ready: impl Fn(usize) -> bool) -> usize {
        let category = usize::from(category);
        if layout.groups == 1 {
            return category;
        }
        let last = self.last[category];
        let mut turns = (1..=layout.groups).map(|step| (last + step) % layout.groups * layout.categories + category);
        turns.find(|&port| ready(port)).unwrap_or(category)
    }

    /// A packet has left a port.
    #[inline]
    pub(super) fn served(&mut self, layout: &Layout, port: usize) {
        if layout.groups > 1 && port < layout.radio_ports() {
            self.last[port % layout.categories] = port / layout.categories;
        }
    }
}
