//! Links between nodes: for every sender its listeners, the nearest first.
//!
//! The links of nodes that stand still are computed once. A sender's listeners are computed again when it starts to
//! send if it or others may have moved. A frame keeps the distances at its start; nothing is computed between two
//! frames. A node that is off the air has no links, and no other node has a link to it.

use super::channel::Channel;
use super::propagation::{BOOST, Link, Model, Reception};
use crate::config::Radio;
use crate::motion::{Motion, Position};
use units::{Duration, Instant};

/// Links are kept until a distance may have changed by more than this, in metres.
const TOLERANCE: f64 = 0.01;
/// Share by which a neighbourhood is larger than the range that counts, so that it stays valid for a while.
const SKIN: f64 = 0.125;
/// Number of neighbours above which a new sort is cheaper than inserting each in order.
const MANY: usize = 64;

/// All links. They are updated one sender at a time.
pub(crate) struct Links {
    of: Vec<Vec<Link>>,
    pub(crate) reception: Reception,
    /// The lowest power, in attowatts, at which frames of some format are decoded. Other formats may need more.
    least: u64,
    /// State for links of moving nodes; `None` if no node ever moves.
    pub(super) moving: Option<Box<Moving>>,
}

/// What is needed to compute links again.
pub(super) struct Moving {
    model: Model,
    motion: Motion,
    grid: Grid,
    filled: Instant,
    senders: Vec<Sender>,
    /// Time for which links are valid.
    lasts: Duration,
    /// Time for which neighbourhoods and the grid are valid.
    skin_lasts: Duration,
    /// Number of [changes](Motion::changes) when the grid was last filled.
    filled_before: usize,
}

/// A sender's links, and its neighbourhood: the nodes in its range and in the margin around it.
#[derive(Default)]
struct Sender {
    links_made: Instant,
    near: Vec<Near>,
    near_made: Instant,
    /// Number of [changes](Motion::changes) when both were last made.
    made_before: usize,
}

#[derive(Clone, Copy)]
struct Near {
    delay: Duration,
    node: u32,
    metres: f64,
    height: f64,
}

impl Links {
    /// Computes the links of all nodes at their initial positions.
    pub(crate) fn new(radio: &Radio, mut motion: Motion, channel: &Channel) -> Self {
        let nodes = motion.nodes();
        let model = Model::new(radio, nodes, motion.heights(), channel);
        let reception = model.reception();
        let least = if channel.extended { reception.receive.div_ceil(BOOST) } else { u64::MAX };
        let reach = model.reach();
        let mut grid = Grid::new(reach);
        let start = Instant::ZERO;
        grid.fill(nodes_of(nodes).map(|node| motion.position(node, start)));
        let top_speed = motion.top_speed;
        if top_speed <= 0.0 && motion.changes.is_empty() {
            let mut of = Vec::with_capacity(nodes);
            let mut links = Vec::new();
            for from in nodes_of(nodes) {
                let position = motion.position(from, start);
                grid.around(position, reach, |to| {
                    if to != from && channel.joins(from, to) {
                        links.extend(model.link((position, motion.position(to, start)), from, to));
                    }
                });
                links.sort_unstable_by_key(|link: &Link| (link.delay, link.to));
                // The copy has no spare capacity.
                of.push(links.clone());
                links.clear();
            }
            return Self { of, reception, least, moving: None };
        }
        let mut moving = Moving {
            filled: start,
            senders: nodes_of(nodes).map(|_| Sender::default()).collect(),
            lasts: Duration::from_secs_f64(TOLERANCE / 2.0 / top_speed),
            // The time is rounded down, so that rounding never lets a neighbour enter unnoticed.
            skin_lasts: Duration::from_secs_f64(0.999 * SKIN * reach / 2.0 / top_speed),
            filled_before: 0,
            model,
            motion,
            grid,
        };
        let mut of = vec![Vec::new(); nodes];
        for (links, from) in of.iter_mut().zip(0..) {
            moving.find_neighbourhood(from, start);
            moving.make(from, links, start);
        }
        Self { of, reception, least, moving: Some(Box::new(moving)) }
    }

    /// Makes constant links, as given.
    #[cfg(test)]
    pub(crate) fn fixed(of: Vec<Vec<Link>>, reception: Reception) -> Self {
        Self { of, reception, least: u64::MAX, moving: None }
    }

    /// Returns the listeners of `from`.
    pub(crate) fn of(&self, from: u32) -> &[Link] {
        &self.of[from as usize]
    }

    /// Returns those listeners of `from` that can decode its frames in some format.
    pub(crate) fn decoding(&self, from: u32) -> impl Iterator<Item = &Link> {
        self.of(from).iter().filter(|link| link.decodable || link.power >= self.least)
    }

    pub(crate) fn nodes(&self) -> usize {
        self.of.len()
    }

    /// Returns an upper bound of the propagation delay of signals that are decoded.
    pub(crate) fn longest_delay(&self) -> Duration {
        if let Some(moving) = &self.moving {
            return Model::delay(moving.model.decodable_reach().min(moving.motion.extent()));
        }
        let decodable = nodes_of(self.of.len()).flat_map(|from| self.decoding(from));
        decodable.map(|link| link.delay).max().unwrap_or_default()
    }

    /// Computes the listeners of `from` again if a distance may have changed by more than a centimetre.
    pub(crate) fn refresh(&mut self, from: u32, now: Instant) {
        let Some(moving) = &mut self.moving else { return };
        let sender = &moving.senders[from as usize];
        let changed = moving.motion.changes.get(sender.made_before).is_some_and(|&next| next <= now);
        if changed || now.since(sender.links_made) > moving.lasts {
            if changed || now.since(sender.near_made) > moving.skin_lasts {
                moving.find_neighbourhood(from, now);
            }
            moving.make(from, &mut self.of[from as usize], now);
        }
    }
}

impl Moving {
    /// Collects all nodes that can come into the range of `from` while its neighbourhood is valid.
    fn find_neighbourhood(&mut self, from: u32, now: Instant) {
        let Self { model, motion, grid, senders, .. } = self;
        let made_before = motion.changes.partition_point(|&change| change <= now);
        if made_before > self.filled_before || now.since(self.filled) > self.skin_lasts {
            grid.fill(nodes_of(motion.nodes()).map(|node| motion.position(node, now)));
            (self.filled, self.filled_before) = (now, made_before);
        }
        let Sender { near, near_made, made_before: of_sender, .. } = &mut senders[from as usize];
        *of_sender = made_before;
        let radius = model.reach() * (1.0 + SKIN);
        let since_filled = motion.top_speed * now.since(self.filled).as_secs_f64();
        let position = motion.position(from, now);
        near.clear();
        grid.around(position, radius + since_filled, |node| {
            if node != from && position.distance(motion.position(node, now)) <= radius {
                near.push(Near { delay: Duration::ZERO, node, metres: 0.0, height: 0.0 });
            }
        });
        *near_made = now;
    }

    /// Computes the links of `from` to the nodes in its neighbourhood.
    fn make(&mut self, from: u32, links: &mut Vec<Link>, now: Instant) {
        let Self { model, motion, senders, .. } = self;
        let Sender { links_made, near, .. } = &mut senders[from as usize];
        let position: Position = motion.position(from, now);
        for other in near.iter_mut() {
            let there = motion.position(other.node, now);
            (other.metres, other.height) = (position.distance(there), there.z);
            other.delay = Model::delay(other.metres);
        }
        sort(near);
        links.clear();
        *links_made = now;
        if !motion.is_present(from, now) {
            return;
        }
        let reach = model.reach();
        let within = near.iter().filter(|other| other.metres <= reach && motion.is_present(other.node, now));
        let link = |other: &Near| {
            model.link_with((other.delay, other.metres, 1.0), (position.z, other.height), from, other.node)
        };
        links.extend(within.filter_map(link));
    }
}

/// Sorts nodes by distance. Their order has changed little since the last time.
fn sort(near: &mut [Near]) {
    if near.len() >= MANY {
        near.sort_unstable_by_key(|other| (other.delay, other.node));
        return;
    }
    for end in 1..near.len() {
        let moved = near[end];
        let mut at = end;
        while at > 0 && (near[at - 1].delay, near[at - 1].node) > (moved.delay, moved.node) {
            near[at] = near[at - 1];
            at -= 1;
        }
        near[at] = moved;
    }
}

fn nodes_of(count: usize) -> std::ops::Range<u32> {
    0..u32::try_from(count).expect("fewer than 2^32 nodes")
}

/// Nodes in square cells. Only occupied cells take memory, however large the plane is.
#[derive(Debug)]
pub(super) struct Grid {
    /// Side of a cell, in metres.
    side: f64,
    /// Row, column and node of each entry, sorted.
    cells: Vec<(i64, i64, u32)>,
}

impl Grid {
    /// Makes an empty grid. Queries are fastest if `side` is their distance; any side gives correct results.
    pub(super) fn new(side: f64) -> Self {
        // The side is finite, so that no quotient below is undefined.
        Self { side: side.clamp(1.0, f64::MAX / 4.0), cells: Vec::new() }
    }

    /// Puts nodes 0, 1, ... at `positions`; their former positions are replaced.
    pub(super) fn fill(&mut self, positions: impl Iterator<Item = Position>) {
        let cells =
            positions.zip(0..).map(|(position, node)| (cell(position.y, self.side), cell(position.x, self.side), node));
        self.cells.clear();
        self.cells.extend(cells);
        self.cells.sort_unstable();
    }

    /// Calls `found` with every node within `radius` of `position`, and with some nodes farther away.
    pub(super) fn around(&self, position: Position, radius: f64, mut found: impl FnMut(u32)) {
        // Rounding keeps the order: a node within the radius is never in a cell before the first or after the last.
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
mod tests;

#[cfg(test)]
mod index_tests {
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
