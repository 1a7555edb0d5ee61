//! A grid over the nodes' positions, so that far nodes do not slow the search for nodes near a position.

use crate::motion::Position;

/// Nodes by square cells. Only occupied cells take memory, however large the plane is.
#[derive(Debug)]
pub(super) struct Grid {
    /// The side of a cell, in metres.
    side: f64,
    /// (row, column, node), sorted.
    cells: Vec<(i64, i64, u32)>,
}

impl Grid {
    /// An empty grid. The best side is the distance of the queries; any side gives correct results.
    pub(super) fn new(side: f64) -> Self {
        // Finite, so that no quotient below is undefined.
        Self { side: side.clamp(1.0, f64::MAX / 4.0), cells: Vec::new() }
    }

    /// Puts nodes 0, 1, ... at `positions`, replacing their former ones.
    pub(super) fn fill(&mut self, positions: impl Iterator<Item = Position>) {
        let cells =
            positions.zip(0..).map(|(position, node)| (cell(position.y, self.side), cell(position.x, self.side), node));
        self.cells.clear();
        self.cells.extend(cells);
        self.cells.sort_unstable();
    }

    /// Calls `found` with every node within `radius` of `position`, and with some farther nodes.
    pub(super) fn around(&self, position: Position, radius: f64, mut found: impl FnMut(u32)) {
        // Rounding keeps order: a node within the radius is never in a cell before the first or after the last.
        let [bottom, top] = [position.y - radius, position.y + radius].map(|y| cell(y, self.side));
        let [left, right] = [position.x - radius, position.x + radius].map(|x| cell(x, self.side));
        let mut rest = &self.cells[self.cells.partition_point(|&(row, ..)| row < bottom)..];
        while let Some(&(row, ..)) = rest.first()
            && row <= top
        {
            rest = &rest[rest.partition_point(|&(at, column, _)| (at, column) < (row, left))..];
            let here = rest.partition_point(|&(at, column, _)| (at, column) <= (row, right));
            rest[..here].iter().for_each(|&(.., node)| found(node));
            rest = &rest[rest.partition_point(|&(at, ..)| at <= row)..];
        }
    }
}

#[expect(clippy::cast_possible_truncation, reason = "a float-to-integer cast saturates")]
fn cell(coordinate: f64, side: f64) -> i64 {
    libm::floor(coordinate / side) as i64
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn nobody_within_the_radius_is_missed_and_nobody_is_found_twice(
            positions in prop::collection::vec((-1e3..1e3, -1e3..1e3), 0..60),
            at in (-1e3..1e3, -1e3..1e3),
            radius in prop_oneof![0.0..100.0, 0.0..1e9, Just(f64::MAX / 4.0)],
            side in prop_oneof![0.0..100.0, 0.0..1e9, Just(f64::INFINITY)],
        ) {
            let positions: Vec<Position> = positions.into_iter().map(|(x, y)| Position { x, y, z: 0.0 }).collect();
            let at = Position { x: at.0, y: at.1, z: 0.0 };
            let mut grid = Grid::new(side);
            grid.fill(positions.iter().copied());
            let mut found = Vec::new();
            grid.around(at, radius, |node| found.push(node));
            found.sort_unstable();
            prop_assert!(found.windows(2).all(|pair| pair[0] < pair[1]));
            for (position, node) in positions.iter().zip(0..) {
                prop_assert!(position.distance(at) > radius || found.contains(&node), "node {} is missed", node);
            }
        }
    }

    #[test]
    fn places_beyond_all_cells_are_found_too() {
        let far = |x: f64| Position { x, y: -1e300, z: 0.0 };
        let mut grid = Grid::new(1.0);
        grid.fill([far(1e300), far(-1e300), Position::default()].into_iter());
        let mut found = Vec::new();
        grid.around(far(1e300), 5.0, |node| found.push(node));
        assert_eq!(found, [0]);
    }
}
