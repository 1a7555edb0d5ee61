//! Receptions of a flow whose packets go to all nodes in range.

use super::ratio;
use crate::motion::Motion;
use crate::results::DistanceClass;
use units::{Instant, Length};

/// Receptions of a broadcast flow. Each packet is expected at every node in range at the end of its frame.
#[derive(Clone, Debug, Default)]
pub(crate) struct Receptions {
    /// Packets that were sent by radio.
    sent: u64,
    /// Nodes in range, summed over the sent packets.
    expected: u64,
    /// The nodes in this class that received the packet.
    received: u64,
    /// By distance class: nodes in the class, in range or not, and nodes of the class that received the packet. Empty
    /// unless asked for.
    classes: Vec<[u64; 2]>,
}

impl Receptions {
    /// Counts packets that were sent to this number of nodes in range.
    pub(crate) fn expect(&mut self, in_range: u64) {
        self.sent += 1;
        self.expected += in_range;
    }

    /// Counts a node in range that received a packet.
    pub(crate) fn receive(&mut self) {
        self.received += 1;
    }

    /// Counts a node in a distance class, at the end of a frame.
    pub(crate) fn expect_at(&mut self, class: usize) {
        self.class(class)[0] += 1;
    }

    /// Counts a node in a distance class that received a packet.
    pub(crate) fn receive_at(&mut self, class: usize) {
        self.class(class)[1] += 1;
    }

    fn class(&mut self, class: usize) -> &mut [u64; 2] {
        if class >= self.classes.len() {
            self.classes.resize(class + 1, [0; 2]);
        }
        &mut self.classes[class]
    }

    /// Share of the expected receptions that took place. Zero if none was expected.
    pub(crate) fn ratio(&self) -> f64 {
        ratio(self.received, self.expected)
    }

    /// Packets received, as the mean over the nodes that should receive them.
    pub(crate) fn packets(&self) -> f64 {
        self.sent as f64 * self.ratio()
    }

    /// Receptions by distance, in classes of this width.
    pub(crate) fn by_distance(&self, width: Length) -> Vec<DistanceClass> {
        let edge = |class: usize| class as f64 * width.as_metres();
        let class = |(class, &[nodes, received]): (usize, &[u64; 2])| DistanceClass {
            name: format!("{} m", edge(class + 1)),
            from_m: edge(class),
            to_m: edge(class + 1),
            expected_receptions: nodes,
            receptions: received,
            reception_ratio: ratio(received, nodes),
        };
        self.classes.iter().enumerate().map(class).collect()
    }
}

/// Distances between nodes at the ends of frames.
#[derive(Debug)]
pub(crate) struct Distances {
    pub(crate) motion: Motion,
    /// Of a distance class.
    pub(crate) width: Length,
}

/// Relative precision of a distance: a node 50 m away belongs to those within 50 m.
const ROUNDING: f64 = 1e-9;

impl Distances {
    /// The distance class of every other node.
    pub(crate) fn classes(&mut self, from: u32, now: Instant) -> impl Iterator<Item = usize> {
        let nodes = u32::try_from(self.motion.nodes()).expect("fewer than 2^32 nodes");
        (0..nodes).filter(move |&to| to != from).map(move |to| self.class(from, to, now))
    }

    /// The distance class of a node: class 0 is at most one width away, class 1 one to two widths, and so on.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked when the network is built")]
    pub(crate) fn class(&mut self, from: u32, to: u32, now: Instant) -> usize {
        let metres = self.motion.position(from, now).distance(self.motion.position(to, now));
        let widths = metres / self.width.as_metres() * (1.0 - ROUNDING);
        (libm::ceil(widths) as usize).saturating_sub(1)
    }
}
