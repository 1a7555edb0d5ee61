//! When a node is on the air.

use units::Instant;

/// Times at which a node is present; at other times it neither sends nor hears anything.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Presence {
    /// True if the node is off the air at the start.
    comes_later: bool,
    /// Times at which the node comes or goes, alternately, in order.
    turns: Vec<Instant>,
}

impl Presence {
    /// Presence of a node that is off the air until it comes.
    pub(crate) fn later() -> Self {
        Self { comes_later: true, turns: Vec::new() }
    }

    /// Adds a time at which the node comes or goes, not before the last added time.
    pub(crate) fn turn(&mut self, time: Instant, comes: bool) {
        if self.turns.is_empty() && !self.comes_later && comes {
            self.comes_later = true;
        }
        if comes == self.at(time) {
            return;
        }
        // Coming and going at the same time cancel out.
        if self.turns.last() == Some(&time) {
            self.turns.pop();
        } else {
            self.turns.push(time);
        }
    }

    /// Returns the times at which the node comes or goes.
    pub(crate) fn changes(&self) -> impl Iterator<Item = Instant> {
        self.turns.iter().copied()
    }

    /// True if it is on the air.
    pub(crate) fn at(&self, now: Instant) -> bool {
        let turned = self.turns.partition_point(|&turn| turn <= now);
        turned.is_multiple_of(2) != self.comes_later
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Duration;

    #[test]
    fn a_node_is_there_from_where_it_comes_until_it_goes() {
        let second = |seconds| Instant::ZERO + Duration::from_secs(seconds);
        let told = |turns: &[(u64, bool)]| {
            let mut presence = Presence::default();
            for &(time, comes) in turns {
                presence.turn(second(time), comes);
            }
            [0, 1, 2, 3, 4, 5].map(|time| u8::from(presence.at(second(time))))
        };
        assert_eq!(told(&[]), [1; 6]);
        assert_eq!(told(&[(2, true)]), [0, 0, 1, 1, 1, 1]);
        assert_eq!(told(&[(2, false)]), [1, 1, 0, 0, 0, 0]);
        assert_eq!(told(&[(0, true), (2, false)]), [1, 1, 0, 0, 0, 0]);
        assert_eq!(told(&[(1, true), (2, true), (3, false), (3, false), (5, true)]), [0, 1, 1, 0, 0, 1]);
        assert_eq!(told(&[(1, true), (3, false), (3, true)]), [0, 1, 1, 1, 1, 1]);
    }
}
