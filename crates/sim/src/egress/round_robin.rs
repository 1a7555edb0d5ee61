//! Round robin over the groups of ports, for each category: the scheduler of nodes whose MAC takes packets directly
//! from the ports.
//!
//! A turn is one exchange of frames, successful or not. If the end of a TXOP cuts an exchange short, the group keeps
//! the rest of its turn. This is a deficit round robin (Shreedhar and Varghese, 1996) in shares of a full exchange.

use super::layout::Layout;
use crate::engine::{Number as _, PortId};
use crate::mac::CATEGORIES;

/// A full exchange, in units of the balance.
pub(crate) const EXCHANGE: u32 = 1 << 16;

/// State of the round robin.
#[derive(Debug, Default)]
pub(crate) struct RoundRobin {
    /// For each index of a port within its group, the group that was served last.
    last: [usize; CATEGORIES],
    /// For each port, the exchanges that its group may still send in its turn. If negative, the next turn is shorter.
    balance: Vec<i64>,
}

impl RoundRobin {
    /// Returns the port of a category that is served next: among the ready ports of the highest class, the next group
    /// in round-robin order.
    #[inline]
    pub(super) fn next(&self, layout: &Layout, category: u8, ready: impl Fn(PortId) -> bool) -> PortId {
        let first = usize::from(category);
        if layout.groups == 1 && !layout.by_class {
            return PortId::at(first);
        }
        let mut order = layout.lanes_of(category).flat_map(|lane| {
            let last = self.last[lane];
            let goes_on = usize::from(!self.goes_on(last * layout.lanes + lane));
            (goes_on..=layout.groups).map(move |step| PortId::at((last + step) % layout.groups * layout.lanes + lane))
        });
        order.find(|&port| ready(port)).unwrap_or(PortId::at(first))
    }

    /// True if the group that was served last continues its turn.
    fn goes_on(&self, port: usize) -> bool {
        self.balance.get(port).is_some_and(|&balance| balance > 0)
    }

    /// Records an exchange of a port.
    pub(super) fn served(&mut self, layout: &Layout, port: PortId) {
        let port = port.place();
        if layout.groups > 1 && port < layout.radio_ports() {
            self.charge(layout, port);
        }
    }

    /// Records an exchange of a port among several groups.
    #[inline(never)]
    fn charge(&mut self, layout: &Layout, port: usize) {
        self.balance.resize(layout.radio_ports(), 0);
        let (group, lane) = (port / layout.lanes, port % layout.lanes);
        let last = self.last[lane] * layout.lanes + lane;
        if last != port || !self.goes_on(port) {
            // A group that has nothing more to send loses the rest of its turn.
            self.balance[last] = self.balance[last].min(0);
            self.balance[port] += i64::from(EXCHANGE);
            self.last[lane] = group;
        }
        self.balance[port] -= i64::from(EXCHANGE);
        debug_assert!(self.last[lane] == group && group < layout.groups);
    }

    /// Records that the end of a TXOP has cut `rest` off a full exchange of a port.
    pub(super) fn cut_off(&mut self, port: PortId, rest: u32) {
        debug_assert!(rest <= EXCHANGE, "a part of an exchange");
        if let Some(balance) = self.balance.get_mut(port.place()) {
            *balance += i64::from(rest);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout(groups: usize) -> Layout {
        Layout { groups, stations: (0..u32::try_from(groups).expect("few")).collect(), ..Layout::by_category(1) }
    }

    #[test]
    fn whoever_gets_the_rest_of_a_txop_keeps_its_turn() {
        let (layout, mut turns, mut sent) = (layout(2), RoundRobin::default(), [0_u64; 2]);
        // Every other exchange is the rest of a TXOP, a tenth of a full one.
        for exchange in 0..2_000 {
            let port = turns.next(&layout, 0, |_| true);
            turns.served(&layout, port);
            let rest = if exchange % 2 == 0 { 0 } else { EXCHANGE - EXCHANGE / 10 };
            turns.cut_off(port, rest);
            sent[port.place()] += u64::from(EXCHANGE - rest);
        }
        let [one, other] = sent.map(|sent| sent as f64 / f64::from(EXCHANGE));
        assert!((one - other).abs() <= 2.0, "{one} and {other} exchanges");
    }

    #[test]
    fn full_exchanges_go_round() {
        let (layout, mut turns) = (layout(3), RoundRobin::default());
        let mut order = |ready: [bool; 3]| {
            let port = turns.next(&layout, 0, |port| ready[port.place()]);
            turns.served(&layout, port);
            port.place()
        };
        assert_eq!((0..5).map(|_| order([true; 3])).collect::<Vec<_>>(), [1, 2, 0, 1, 2]);
        assert_eq!((0..3).map(|_| order([false, true, true])).collect::<Vec<_>>(), [1, 2, 1]);
    }
}
