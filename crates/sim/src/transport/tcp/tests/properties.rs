//! Properties that hold in any order of losses, delays, repetitions and late timers, and with any peer.

use super::link::To;
use crate::config::LossDetection;
use crate::config::bqm::{DiscardPattern as Pattern, Discriminator, Growth, Measure, Threshold, WirelessLoss};
use crate::engine::{Purpose, Stream};
use crate::transport::tcp::*;
use proptest::prelude::*;
use queue::Ecn;
use std::collections::BTreeMap;
use units::{Bytes, Duration, Instant};

/// A network that loses, delays and repeats segments for a time, and then delivers.
struct Network {
    luck: Stream,
    good_from: Instant,
    loss: f64,
    repetition: f64,
    jitter: Duration,
    late: Duration,
    /// On the way, by time and order.
    flying: BTreeMap<(Instant, u64), (To, Segment)>,
    sent: u64,
}

impl Network {
    fn carry(&mut self, now: Instant, to: To, segment: Segment) {
        let bad = now < self.good_from;
        if bad && self.luck.unit() < self.loss {
            return;
        }
        let copies = if bad && self.luck.unit() < self.repetition { 2 } else { 1 };
        for _ in 0..copies {
            let spread = if bad { self.luck.unit() * self.jitter.as_secs_f64() } else { 0.0 };
            let at = now + Duration::from_millis(10) + Duration::from_secs_f64(spread);
            self.flying.insert((at, self.sent), (to, segment));
            self.sent += 1;
        }
    }

    /// Returns the time at which a timer that is due at `deadline` is served.
    fn timer(&mut self, now: Instant, deadline: Instant) -> Instant {
        let late = if now < self.good_from { self.late } else { Duration::ZERO };
        if deadline == Instant::NEVER { deadline } else { deadline.max(now) + late }
    }
}

struct Connection {
    sender: Sender,
    receiver: Receiver,
    network: Network,
    now: Instant,
    arrived: u64,
}

impl Connection {
    /// Runs until nothing is left to happen or the transfer is done; returns the number of events.
    fn run(&mut self) -> u64 {
        for events in 0..1_000_000 {
            self.pump();
            if self.sender.done() {
                return events;
            }
            let flight = self.network.flying.first_key_value().map_or(Instant::NEVER, |(&(at, _), _)| at);
            let sender = self.network.timer(self.now, self.sender.deadline());
            let receiver = self.network.timer(self.now, self.receiver.deadline());
            self.now = flight.min(sender).min(receiver);
            assert!(self.now < Instant::NEVER, "nothing will ever happen again");
            if flight <= self.now {
                let (_, (to, segment)) = self.network.flying.pop_first().unwrap();
                match to {
                    To::Sender => self.sender.receive(self.now, &segment),
                    To::Receiver => {
                        let marked = segment.ecn != Ecn::NotEct && self.network.luck.unit() < 0.05;
                        self.arrived += self.receiver.receive(self.now, &segment, marked);
                        // Only what it hears, or a timer, gives a sender something to say.
                        assert_eq!(self.sender.next(self.now), None);
                    }
                }
            } else if sender <= self.now {
                self.sender.expire(self.now);
            } else {
                self.receiver.expire(self.now);
            }
        }
        panic!("no end in sight");
    }

    fn pump(&mut self) {
        while let Some(segment) = self.sender.next(self.now) {
            self.network.carry(self.now, To::Receiver, segment);
        }
        while let Some(segment) = self.receiver.next(self.now) {
            self.network.carry(self.now, To::Sender, segment);
        }
        assert!(self.sender.cwnd() >= 1);
    }
}

/// A path that delivers: a drop-tail queue before a link of fixed rate, with random losses and detours.
#[derive(Debug)]
struct Path {
    luck: Stream,
    /// Of a segment.
    service: Duration,
    buffer: usize,
    delay: Duration,
    loss: f64,
    detours: f64,
    detour: Duration,
    leaving: std::collections::VecDeque<Instant>,
}

impl Path {
    /// Returns the time at which a segment arrives, unless it is lost.
    fn carry(&mut self, now: Instant, to: To) -> Option<Instant> {
        let lost = self.luck.happens(self.loss);
        let detour = if self.luck.happens(self.detours) { self.detour } else { Duration::ZERO };
        if to == To::Sender {
            return (!lost).then_some(now + self.delay + detour);
        }
        while self.leaving.front().is_some_and(|&left| left <= now) {
            self.leaving.pop_front();
        }
        if lost || self.leaving.len() > self.buffer {
            return None;
        }
        let left = self.leaving.back().copied().unwrap_or(now) + self.service;
        self.leaving.push_back(left);
        Some(left + self.delay + detour)
    }
}

fn path() -> impl Strategy<Value = Path> {
    (any::<u64>(), 1u64..20_000, 1usize..200, 1u64..300, 0.0..0.1, 0.0..0.1, 0u64..200).prop_map(
        |(seed, service, buffer, delay, loss, detours, detour)| Path {
            luck: Stream::new(seed, "path", Purpose::RECEPTION),
            service: Duration::from_micros(service),
            buffer,
            delay: Duration::from_millis(delay),
            loss,
            detours,
            detour: Duration::from_millis(detour),
            leaving: std::collections::VecDeque::new(),
        },
    )
}

/// Time at which the sender last saw to the first segment outstanding, and its timeout then.
struct Care {
    una: u64,
    at: Instant,
    timeout: Duration,
    /// When its timer goes off.
    deadline: Instant,
}

impl Care {
    fn new(sender: &Sender, at: Instant) -> Self {
        Self { una: sender.una(), at, timeout: sender.timeout(), deadline: sender.deadline() }
    }

    /// What the sender does now. A timer that it lets run, as after the second partial acknowledgement of a recovery (RFC 6582,
    /// 3.2), began with a timeout that may have been longer.
    fn renew(&mut self, sender: &Sender, at: Instant) {
        let began = if self.deadline == sender.deadline() { self.timeout } else { Duration::ZERO };
        *self = Self::new(sender, at);
        self.timeout = self.timeout.max(began);
    }
}

fn settings() -> impl Strategy<Value = Settings> {
    let laws = [Congestion::Reno, Congestion::Cubic, Congestion::Bqm, Congestion::Prague, Congestion::Bbr];
    let congestion = prop::sample::select(laws.to_vec());
    let recovery = prop_oneof![Just(Recovery::Reno), Just(Recovery::NewReno), Just(Recovery::Sack)];
    let detection = prop_oneof![Just(LossDetection::RackTlp), Just(LossDetection::DuplicateAcks)];
    let slow_start = prop_oneof![Just(SlowStart::Bytes), Just(SlowStart::Acks)];
    let recovery = (recovery, detection, slow_start);
    let flags = (any::<bool>(), any::<bool>(), any::<bool>());
    let sizes = (1u64..2000, 1u32..20, 1u64..60_000);
    let times = (prop_oneof![Just(0u64), Just(200)], prop_oneof![Just(0u64), Just(200), Just(1000)]);
    let congestion = (congestion, prop::option::of(bias()));
    (congestion, recovery, flags, sizes, times).prop_map(|((congestion, bqm), recovery, flags, sizes, times)| {
        Settings {
            congestion,
            recovery: recovery.0,
            loss_detection: recovery.1,
            slow_start: recovery.2,
            recovery_end: match flags {
                (true, true, ..) => RecoveryEnd::Threshold,
                (true, false, ..) => RecoveryEnd::News,
                (false, ..) => RecoveryEnd::Counted,
            },
            friendly_growth: if flags.1 { FriendlyGrowth::CatchUp } else { FriendlyGrowth::Constant },
            rtt_samples: if flags.2 { RttSamples::Window } else { RttSamples::Each },
            ecn: flags.0,
            segment: Bytes::new(sizes.0),
            initial_window: sizes.1,
            advertised_window: Bytes::new(sizes.2),
            delayed_ack: Duration::from_millis(times.0),
            ack_burst: flags.0.then_some(Duration::from_micros(10)),
            small_queue: None,
            rto_min: Duration::from_millis(times.1),
            limited_transmit: flags.1,
            timestamps: flags.2,
            bqm,
        }
    })
}

fn bias() -> impl Strategy<Value = bqm::Settings> {
    let pattern = [Pattern::Eight, Pattern::Sixteen, Pattern::SixteenSparse, Pattern::Highest];
    let choices = (any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>());
    (prop::sample::select(pattern.to_vec()), 0u32..20, choices).prop_map(|(pattern, every, choices)| bqm::Settings {
        pattern,
        every: (every > 0).then_some(every),
        raise: choices.0,
        discriminator: if choices.1 { Discriminator::Ald } else { Discriminator::None },
        measure: if choices.2 { Measure::Highest } else { Measure::WithoutGap },
        wireless_loss: if choices.3 { WirelessLoss::OnePacket } else { WirelessLoss::None },
        growth: if choices.4 { Growth::UntilNext } else { Growth::UntilRegained },
        threshold: if choices.5 { Threshold::Reduced } else { Threshold::Half },
        single_duplicate: choices.0,
        lowest_at_once: choices.1,
    })
}

fn network() -> impl Strategy<Value = Network> {
    (any::<u64>(), 0u64..20_000, 0.0..0.6, 0.0..0.4, 0u64..300, 0u64..400).prop_map(
        |(seed, bad, loss, repetition, jitter, late)| Network {
            luck: Stream::new(seed, "network", Purpose::RECEPTION),
            good_from: Instant::ZERO + Duration::from_millis(bad),
            loss,
            repetition,
            jitter: Duration::from_millis(jitter),
            late: Duration::from_millis(late),
            flying: BTreeMap::new(),
            sent: 0,
        },
    )
}

impl std::fmt::Debug for Network {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        let Self { good_from, loss, repetition, jitter, late, .. } = self;
        write!(f, "good from {good_from:?}, loss {loss}, repetition {repetition}, jitter {jitter:?}, late {late:?}")
    }
}

proptest! {
    #[test]
    fn the_first_segment_is_sent_again_or_acknowledged_within_each_timeout(
        settings in settings(),
        mut path in path(),
        octets in 1u64..300_000,
    ) {
        // With a window of one octet each takes a round trip or, where it is lost, a timeout: at 0.3 s on average 300,000 take
        // about as long as the end is waited for.
        let octets = octets.min(20_000 * settings.segment.min(settings.advertised_window).count());
        let (mut sender, mut receiver) = (Sender::new(&settings), Receiver::new(&settings));
        let (mut now, mut arrived, mut sent) = (Instant::ZERO, 0, 0);
        let mut flying = BTreeMap::new();
        let mut care = Care::new(&sender, now);
        sender.supply(Some(octets));
        sender.close();
        sender.open(now);
        while !sender.done() {
            let (flight, probes) = (sender.flight(), sender.counts.probes);
            while let Some(segment) = sender.next(now) {
                let first = segment.start <= sender.una() && segment.end() > sender.una();
                if first || sender.counts.probes > probes || flight == 0 {
                    care.renew(&sender, now);
                }
                sent += 1;
                path.carry(now, To::Receiver).map(|at| flying.insert((at, sent), (To::Receiver, segment)));
            }
            while let Some(segment) = receiver.next(now) {
                sent += 1;
                path.carry(now, To::Sender).map(|at| flying.insert((at, sent), (To::Sender, segment)));
            }
            if sender.una() > care.una {
                care.renew(&sender, now);
            }
            // A fast retransmission that restarts the timer may have to wait for the pacing rate.
            let paced = u64::from(settings.congestion == Congestion::Bbr);
            let latest = care.at + care.timeout.max(sender.timeout()) * (1 + paced);
            prop_assert!(sender.flight() == 0 || now <= latest, "{:?} since {:?}", now, care.at);
            let flight = flying.first_key_value().map_or(Instant::NEVER, |(&(at, _), _)| at);
            now = flight.min(sender.deadline()).min(receiver.deadline());
            prop_assert!(now < Instant::NEVER && now < Instant::ZERO + Duration::from_secs(100_000), "no end in sight");
            if flight <= now {
                match flying.pop_first().unwrap().1 {
                    (To::Sender, segment) => sender.receive(now, &segment),
                    (To::Receiver, segment) => arrived += receiver.receive(now, &segment, false),
                }
            } else if sender.deadline() <= now {
                sender.expire(now);
            } else {
                receiver.expire(now);
            }
        }
        prop_assert_eq!(arrived, octets);
    }

    #[test]
    fn all_octets_arrive_once_whatever_the_network_does(
        settings in settings(),
        network in network(),
        parts in prop::collection::vec(0u64..40_000, 1..4),
    ) {
        let (sender, receiver) = (Sender::new(&settings), Receiver::new(&settings));
        let mut connection = Connection { sender, receiver, network, now: Instant::ZERO, arrived: 0 };
        connection.sender.open(Instant::ZERO);
        let mut supplied = 0;
        for (number, &part) in parts.iter().enumerate() {
            supplied += part;
            connection.sender.supply(Some(part));
            if number + 1 == parts.len() {
                connection.sender.close();
            }
            connection.run();
            prop_assert_eq!(connection.arrived, supplied);
        }
    }

    #[test]
    fn no_acknowledgement_however_false_breaks_the_sender(
        settings in settings(),
        told in prop::collection::vec((0u64..30_000, prop::collection::vec((0u64..40_000, 0u64..9000), 0..5), 0u64..70_000, any::<[bool; 4]>()), 1..200),
    ) {
        let mut sender = Sender::new(&settings);
        sender.supply(Some(20_000));
        sender.close();
        sender.open(Instant::ZERO);
        let mut now = Instant::ZERO;
        for (ack, blocks, window, [syn, ece, late, stamped]) in told {
            let mut sacks = Sacks::default();
            for &(start, length) in &blocks {
                sacks.push(Block { start, end: start + length });
            }
            let stamp = stamped.then_some(now);
            let segment = Segment { ack: Some(ack), sacks, window, syn, ece, stamp, echo: stamp, ..Segment::default() };
            sender.receive(now, &segment);
            let segments: Vec<Segment> = std::iter::from_fn(|| sender.next(now)).take(20_001).collect();
            prop_assert!(segments.len() <= 20_000, "no end of segments");
            for segment in &segments {
                prop_assert!(u64::from(segment.length) <= settings.segment.count() && segment.end() <= 20_002);
            }
            now += Duration::from_millis(7);
            if late {
                now = now.max(sender.deadline().min(now + Duration::from_secs(100)));
                sender.expire(now);
            }
        }
    }

    #[test]
    fn no_segment_however_false_breaks_the_receiver(
        settings in settings(),
        told in prop::collection::vec((0u64..6000, 0u32..900, any::<[bool; 4]>()), 1..300),
    ) {
        let mut receiver = Receiver::new(&settings);
        receiver.receive(Instant::ZERO, &Segment { syn: true, ..Segment::default() }, false);
        let mut reference = std::collections::BTreeSet::new();
        let mut delivered = 0;
        for (start, length, [syn, cwr, marked, old]) in told {
            let start = if old { start / 10 } else { start };
            let segment = Segment { start, length, ack: Some(1), syn, cwr, ..Segment::default() };
            if !syn {
                let next = 1 + delivered;
                let window = next..next + settings.advertised_window.count();
                reference.extend((segment.start..segment.end()).filter(|octet| window.contains(octet)));
            }
            delivered += receiver.receive(Instant::ZERO, &segment, marked);
            prop_assert!((1..=delivered).all(|octet| reference.contains(&octet)));
            prop_assert!(!reference.contains(&(delivered + 1)), "all that is in order is delivered");
            if let Some(answer) = receiver.next(Instant::ZERO) {
                prop_assert_eq!(answer.ack, Some(1 + delivered));
                for (number, block) in answer.sacks.blocks().iter().enumerate() {
                    let twice = number == 0 && settings.has_rack();
                    prop_assert!(block.start > 1 + delivered || twice);
                    prop_assert!((block.start.max(1)..block.end).all(|octet| reference.contains(&octet)));
                }
                prop_assert!(receiver.next(Instant::ZERO).is_none());
            }
        }
    }
}
