//! Two ends over one link of fixed rate with a drop-tail buffer. The return path has the same delay and is never full.

use crate::engine::{Purpose, Stream};
use crate::transport::tcp::*;
use std::collections::VecDeque;
use units::{Bytes, Duration, Instant, Rate};

/// Losses of data segments on the link, besides those at the full buffer.
pub(super) enum Lost {
    None,
    /// Each with this probability.
    Random(f64),
    /// The last of each this many.
    Every(u64),
}

/// A link, and how long it is observed.
pub(super) struct Link {
    pub(super) rate: Rate,
    /// One-way delay, the same in both directions.
    pub(super) delay: Duration,
    /// Largest number of packets behind the one being sent.
    pub(super) buffer: usize,
    pub(super) lost: Lost,
    pub(super) from: Duration,
    pub(super) to: Duration,
}

/// Observations over that time.
#[derive(Debug, Default)]
pub(super) struct Seen {
    /// Octets per second that reached the application.
    pub(super) goodput: f64,
    /// The mean congestion window over time, in octets.
    pub(super) window: f64,
    pub(super) losses: u64,
}

/// Agreement of a measurement with theory, or of two programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Holds,
    /// They do not agree; the test says why.
    Differs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum To {
    Sender,
    Receiver,
}

/// The two ends of a connection with unlimited data.
pub(super) trait Ends {
    type Packet;
    fn deadline(&mut self, now: Instant) -> Instant;
    fn expire(&mut self, now: Instant);
    /// The next packet and its length at the network layer.
    fn next(&mut self, now: Instant) -> Option<(To, Self::Packet, Bytes)>;
    /// Delivers a packet; returns the octets that are new to the application.
    fn arrive(&mut self, now: Instant, to: To, packet: Self::Packet) -> u64;
    fn window(&self) -> u64;
}

/// Packets on the way, in order of arrival.
type Way<P> = VecDeque<(Instant, P)>;

/// Runs a connection over the link.
pub(super) fn watch<E: Ends>(ends: &mut E, link: &Link) -> Seen {
    let [from, to] = [link.from, link.to].map(|after| Instant::ZERO + after);
    let mut bottleneck = Bottleneck::new(link);
    let (mut there, mut back): (Way<E::Packet>, Way<E::Packet>) = Default::default();
    let (mut now, mut octets, mut area, mut seen) = (Instant::ZERO, 0, 0.0, Seen::default());
    while now < to {
        while let Some((end, packet, length)) = ends.next(now) {
            match end {
                To::Sender => back.push_back((now + link.delay, packet)),
                To::Receiver => match bottleneck.carry(now, length) {
                    Some(at) => there.push_back((at, packet)),
                    None => seen.losses += u64::from(now >= from),
                },
            }
        }
        let arrivals = [&there, &back].map(|way| way.front().map_or(Instant::NEVER, |&(at, _)| at));
        let next = arrivals[0].min(arrivals[1]).min(ends.deadline(now));
        if next > from {
            area += ends.window() as f64 * next.min(to).since(now.max(from)).as_secs_f64();
        }
        now = next;
        let arrived = if arrivals[0] == now {
            there.pop_front().map(|(_, packet)| ends.arrive(now, To::Receiver, packet))
        } else if arrivals[1] == now {
            back.pop_front().map(|(_, packet)| ends.arrive(now, To::Sender, packet))
        } else {
            ends.expire(now);
            None
        };
        octets += arrived.filter(|_| now > from && now <= to).unwrap_or(0);
    }
    let seconds = to.since(from).as_secs_f64();
    Seen { goodput: octets as f64 / seconds, window: area / seconds, ..seen }
}

/// The queue in front of the link.
struct Bottleneck<'a> {
    link: &'a Link,
    /// Time at which each packet that waits or is being sent will have left.
    leaving: VecDeque<Instant>,
    luck: Stream,
    count: u64,
}

impl<'a> Bottleneck<'a> {
    fn new(link: &'a Link) -> Self {
        let luck = Stream::new(1, "link", Purpose::RECEPTION);
        Self { link, leaving: VecDeque::new(), luck, count: 0 }
    }

    /// Returns the time at which a packet arrives at the other side, unless it is lost.
    fn carry(&mut self, now: Instant, length: Bytes) -> Option<Instant> {
        while self.leaving.front().is_some_and(|&left| left <= now) {
            self.leaving.pop_front();
        }
        self.count += 1;
        let lost = match self.link.lost {
            Lost::None => false,
            Lost::Random(probability) => self.luck.happens(probability),
            Lost::Every(packets) => self.count.is_multiple_of(packets),
        };
        if lost || self.leaving.len() > self.link.buffer {
            return None;
        }
        let start = self.leaving.back().copied().unwrap_or(now);
        let left = start + self.link.rate.time_for(length);
        self.leaving.push_back(left);
        Some(left + self.link.delay)
    }
}

/// This crate's two ends.
pub(super) struct Ours {
    sender: Sender,
    receiver: Receiver,
    /// Times and values of round-trip samples.
    pub(super) round_trips: Vec<(Instant, Duration)>,
}

/// IPv4 header.
const IP: Bytes = Bytes::new(20);

impl Ours {
    pub(super) fn new(settings: &Settings) -> Self {
        let (mut sender, receiver) = (Sender::new(settings), Receiver::new(settings));
        sender.supply(None);
        sender.open(Instant::ZERO);
        Self { sender, receiver, round_trips: Vec::new() }
    }

    pub(super) fn counts(&self) -> Counts {
        self.sender.counts
    }
}

impl Ends for Ours {
    type Packet = Segment;

    fn deadline(&mut self, _now: Instant) -> Instant {
        self.sender.deadline().min(self.receiver.deadline())
    }

    fn expire(&mut self, now: Instant) {
        self.sender.expire(now);
        self.receiver.expire(now);
    }

    fn next(&mut self, now: Instant) -> Option<(To, Segment, Bytes)> {
        let data = self.sender.next(now).map(|segment| (To::Receiver, segment));
        let (to, segment) = data.or_else(|| self.receiver.next(now).map(|segment| (To::Sender, segment)))?;
        Some((to, segment, segment.header() + IP + Bytes::new(u64::from(segment.length))))
    }

    fn arrive(&mut self, now: Instant, to: To, segment: Segment) -> u64 {
        match to {
            To::Receiver => {
                let fresh = self.receiver.receive(now, &segment, false);
                // Only what it hears, or a timer, gives a sender something to say.
                assert_eq!(self.sender.next(now), None);
                fresh
            }
            To::Sender => {
                self.sender.receive(now, &segment);
                self.round_trips.extend(self.sender.sample.map(|sample| (now, sample)));
                0
            }
        }
    }

    fn window(&self) -> u64 {
        self.sender.cwnd()
    }
}
