//! DNB, the distributed neighbourhood buffer: the nodes of a collision domain share one buffer. It is just large enough
//! to keep their channel in use (section 2.2 of the document, the slides of a talk; see `docs/controllers/wqm-dnb.md`).
//!
//! The document gives `B = R RTT` for the bottleneck collision domain, and splits `B` over the domain's nodes: `min sum
//! P_i(b_i) c_i` over `b_i >= 0` with `sum b_i = B`. The cost `c` grows with the hops that a packet has travelled. The
//! corresponding patent (US 8,638,686) adds that `R` is the largest number of packets that the domain carries in a
//! second, and a split into equal shares. What slides and patent leave open is reconstructed:
//!
//! - A collision domain is a node and those nodes that it hears and that have sent in the last interval. Each node
//!   reports its own domain in its notes, so a node knows the domains around it. The bottleneck is the busiest of these
//!   domains that includes this node.
//! - `R = 1 / min t` over the domain, where `t` is the channel time that a packet takes. `RTT` is `rtt` plus twice the
//!   sum of `t`, the domain's own part. `B` is at least `least` packets for each node.
//! - `P(b) = 1 / (b + 1)`, that of a saturated queue, and `c` is the number of hops. Packets are given one at a time,
//!   each to the node where one more reduces the cost most.
//! - A share smaller than an aggregate counts aggregates instead of packets.
//!
//! Names in parentheses are the document's.

use crate::{
    Controller, Heard, Invalid, Limit, Link, Links, Needs, Note, Orders, Period, Reads, Scheme, Seen, Sets, Site,
    frames, mix,
};
use core::num::NonZeroU32;
use serde::{Deserialize, Serialize};
use units::{Duration, Positive, Rate, with_defaults};

/// Largest buffer of a domain, in packets. It bounds the work of a split.
const MOST: f64 = 4_096.0;

with_defaults! {
    /// Parameters of DNB. The queue's `limit` is the upper bound.
    pub struct Params as "Dnb" {
        /// Round-trip time outside the collision domain, without queues (part of `RTT`). Default 0 s: the mesh alone.
        pub rtt: Duration,
        /// Minimum buffer of a node in packets. Default 2: the document's authors report shares of two to three.
        pub least: NonZeroU32 => 2,
        /// Cost of a drop (`cost_i`).
        pub cost: Cost = Cost::Hops,
        /// Channel time of a frame besides its data, as `wqm.overhead`. Default 190 us, reconstructed: 802.11n at 5
        /// GHz.
        pub overhead: Positive<Duration> => Duration::from_micros(190),
        /// Control interval, also between notes to neighbours, at least 100 us. Default 1 s, reconstructed.
        pub interval: Period => Duration::from_secs(1),
        /// Lifetime of a silent neighbour. Default 3 s, reconstructed: three notes lost.
        pub forget: Positive<Duration> => Duration::from_secs(3),
        /// Relative change of the domain's channel time that causes a new split. Default 0.2, reconstructed.
        pub change: Positive<f64> => 0.2,
        /// Longest time between splits. Default 5 s, reconstructed.
        pub refresh: Positive<Duration> => Duration::from_secs(5),
    }
}

/// The cost of a drop. The document says only that the cost grows with the hops.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "DnbCost"))]
#[serde(rename_all = "snake_case")]
pub enum Cost {
    /// Largest number of hops that a packet at this node has taken, including the next hop.
    #[default]
    Hops,
    /// Equal cost and shares (patent).
    Equal,
}

/// The controller.
#[derive(Clone, Debug)]
pub struct Dnb {
    params: Params,
    hard_limit: Limit,
    own: Link,
    /// Number of packets in the largest aggregate.
    aggregate: f64,
    split: Option<Split>,
    limit: Limit,
}

/// What the share was last computed from.
#[derive(Clone, Copy, Debug)]
struct Split {
    nodes: u64,
    times: f64,
    age: Duration,
}

impl Scheme for Dnb {
    type Params = Params;

    /// Builds the controller; every parameter set is valid.
    fn new(params: &Params, site: &Site) -> Result<Self, Invalid> {
        let hard_limit = site.hard_limit;
        let [node @ .., _, _, _, _] = mix(site.seed).to_le_bytes();
        let own = Link { node: u32::from_le_bytes(node), ..Link::default() };
        Ok(Self { params: params.clone(), hard_limit, own, aggregate: 1.0, split: None, limit: hard_limit })
    }
}

impl Controller for Dnb {
    fn needs(&self) -> Needs {
        let radio = Reads::LINK.and(Reads::AGGREGATES).and(Reads::HOPS);
        let reads = Reads::COUNTS.and(radio).and(Reads::NOTES);
        Needs::new(self.params.interval.get(), reads, Sets::LIMIT.and(Sets::NOTE))
    }

    fn begin(&self) -> Orders {
        self.hard_limit.into()
    }

    /// Returns the orders. A node that has sent nothing keeps its limit and sends no note.
    fn update(&mut self, seen: &Seen) -> Orders {
        if !self.observe(seen) {
            return self.limit.into();
        }
        let fresh = || seen.heard.iter().filter(|heard| heard.age <= self.params.forget.get());
        let neighbours = fresh().filter_map(|heard| heard.note.links.iter().next());
        let domain: Links = core::iter::once(self.own).chain(neighbours.copied()).collect();
        self.take_share(self.bottleneck(&domain, fresh()), seen.queue.length);
        let note = Note {
            domain: u16::try_from(domain.len()).unwrap_or(u16::MAX),
            hops: self.own.hops,
            rate: per_second(seen.queue.sent.bytes.bits(), seen.queue.length),
            backlog: seen.queue.backlog,
            links: domain,
        };
        Orders { note: Some(note), ..self.limit.into() }
    }
}

impl Dnb {
    /// Updates the node's own link from the interval. False if the node sent nothing.
    fn observe(&mut self, seen: &Seen) -> bool {
        let (radio, sent) = (seen.radio.unwrap_or_default(), seen.queue.sent);
        let rate = radio.phy_rate.as_bps() as f64;
        if sent.packets == 0 || radio.frames == 0 || rate <= 0.0 || seen.queue.length.is_zero() {
            return false;
        }
        let packets = sent.packets as f64;
        let bits = frames::bits(sent.bytes.count() as f64 / packets);
        let overhead = radio.frames as f64 * self.params.overhead.get().as_secs_f64();
        let time = (overhead + radio.mpdus as f64 * bits / rate) / packets;
        self.own = Link {
            time: Duration::from_nanos(rounded(time * 1e9)),
            packets: u32::try_from(rounded(packets / seen.queue.length.as_secs_f64())).unwrap_or(u32::MAX),
            hops: radio.hops.max(1),
            ..self.own
        };
        self.aggregate = frames::in_largest(&radio, bits);
        true
    }

    /// Returns the bottleneck: the busiest of this node's domain and the domains of neighbours that hear this node.
    fn bottleneck<'a>(&self, own: &'a Links, heard: impl Iterator<Item = &'a Heard>) -> &'a Links {
        let load =
            |links: &Links| links.iter().map(|link| link.time.as_secs_f64() * f64::from(link.packets)).sum::<f64>();
        let here = |links: &&Links| links.iter().any(|link| link.node == self.own.node);
        let others = heard.map(|heard| &heard.note.links).filter(here);
        others.fold(own, |most, other| if load(other) > load(most) { other } else { most })
    }

    /// Computes the node's share of the domain's buffer if a new split is due, and makes the share the limit.
    fn take_share(&mut self, domain: &Links, length: Duration) {
        let times = domain.iter().map(|link| link.time.as_secs_f64()).sum::<f64>();
        let nodes = domain.iter().fold(0, |sum: u64, link| sum.wrapping_add(mix(link.node.into())));
        if let Some(split) = &mut self.split {
            split.age += length;
            let changed = (times - split.times).abs() > self.params.change.get() * split.times;
            if split.nodes == nodes && !changed && split.age < self.params.refresh.get() {
                return;
            }
        }
        self.split = Some(Split { nodes, times, age: Duration::ZERO });
        let share = f64::from(self.share(domain));
        let packets = if share < self.aggregate { share * self.aggregate } else { share };
        self.limit = self.hard_limit.below(packets);
    }

    /// Returns `b_i`, this node's share of `B` in packets.
    fn share(&self, domain: &Links) -> u32 {
        let links = domain.by_hops();
        let shares = &mut [self.params.least.get(); Links::MOST][..links.len()];
        let given = u64::from(self.params.least.get()) * shares.len() as u64;
        for _ in given..self.buffer(domain) {
            let room = |share: &u32| (f64::from(*share) + 1.0) * (f64::from(*share) + 2.0);
            let gains = links.iter().zip(&*shares).map(|(link, share)| self.cost(link) / room(share));
            if let Some((place, _)) = gains.enumerate().max_by(|(_, one), (_, other)| one.total_cmp(other)) {
                shares[place] += 1;
            }
        }
        let own = links.iter().zip(&*shares).find(|(link, _)| link.node == self.own.node);
        own.map_or(self.params.least.get(), |(_, share)| *share)
    }

    /// Returns `B = R RTT` in packets.
    fn buffer(&self, domain: &Links) -> u64 {
        let times = || domain.iter().map(|link| link.time.as_secs_f64().max(1e-9));
        let (shortest, sum) = times().fold((f64::INFINITY, 0.0), |(least, sum), time| (time.min(least), sum + time));
        let packets = ((self.params.rtt.as_secs_f64() + 2.0 * sum) / shortest).min(MOST);
        let whole = rounded(packets);
        // Floating-point sums of equal times are not exact multiples, so tiny excesses are not rounded up.
        if packets - whole as f64 > 1e-6 { whole + 1 } else { whole }
    }

    fn cost(&self, link: &Link) -> f64 {
        match self.params.cost {
            Cost::Hops => f64::from(link.hops.max(1)),
            Cost::Equal => 1.0,
        }
    }
}

fn per_second(bits: u64, length: Duration) -> Rate {
    Rate::bps(rounded(bits as f64 / length.as_secs_f64()))
}

/// Rounds down to a whole number.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the cast floors and saturates")]
fn rounded(number: f64) -> u64 {
    number as u64
}

#[cfg(test)]
#[path = "dnb_tests.rs"]
mod tests;
