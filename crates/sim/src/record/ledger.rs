//! Counts of every flow and every node.

use super::hops::Hops;
use super::{Player, Receptions, Summary, TransportRecord, ratio, share};
use crate::config::Class;
use crate::mac::BROADCAST;
use crate::net::{LossCause, Packet};
use crate::radio::Mode;
use crate::results::{Flow, FlowDistribution, FlowHops, LeftOut, Lost, Mac, MultiUser, NodeDistribution, Times};
use queue::Completion;
use units::{Bytes, Duration};

/// A flow's counts. The counts of the ledgers run from the start to the end; all other counts begin after the warm-up.
#[derive(Debug, Default)]
pub(crate) struct FlowRecord {
    pub(crate) sent: u64,
    /// Payload of the packets.
    pub(crate) offered: Bytes,
    pub(crate) received: u64,
    /// Payload that arrived, including packets made during the warm-up.
    pub(crate) bytes: Bytes,
    pub(crate) late: u64,
    /// Number of data transmissions of the flow's packets.
    pub(crate) transmissions: u64,
    /// Transmissions of packets that arrived in time, counted until their arrival.
    pub(crate) useful_transmissions: u64,
    pub(crate) delay: Summary,
    pub(crate) hops: HopCounts,
    pub(crate) lost: Lost,
    pub(crate) ledger: Ledger,
    /// Packets without data (SYN, FIN and acknowledgements of TCP), which are in no other count.
    pub(crate) bare: Ledger,
    /// For TCP flows and pings.
    pub(crate) transport: Option<Box<TransportRecord>>,
    /// Nodes that should receive each packet, if they are several.
    pub(crate) receivers: u64,
    /// Only of broadcast flows.
    pub(crate) receptions: Option<Box<Receptions>>,
    /// For flows with a player; counted from the start.
    pub(crate) player: Option<Box<Player>>,
}

/// Account of a flow's packets: made = finished + lost + in flight.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Ledger {
    pub(crate) made: u64,
    /// Packets that reached the destination; of a broadcast: packets sent.
    pub(crate) finished: u64,
    /// Packets discarded by a queue, or given up by the MAC without having arrived.
    pub(crate) lost: u64,
}

impl Ledger {
    pub(crate) fn on_their_way(self) -> u64 {
        self.made - self.finished - self.lost
    }
}

/// Outcome of the packets that a flow has sent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fates {
    pub(crate) in_flight: u64,
    /// Packets whose fate is known.
    pub(crate) decided: u64,
    pub(crate) lost: f64,
}

/// Description of a flow, for its results.
#[derive(Debug, Default)]
pub(crate) struct Identity {
    pub(crate) name: String,
    pub(crate) from: String,
    pub(crate) to: String,
    pub(crate) kind: String,
    pub(crate) class: Class,
    /// True if the flow's load is drawn at random.
    pub(crate) drawn: bool,
    pub(crate) deadline: Option<Duration>,
    /// Frames of a replayed recording that are left out; none if the flow replays no recording.
    pub(crate) left_out: Option<LeftOut>,
}

impl FlowRecord {
    pub(crate) fn distribution(&self, name: &str, shares: &[f64]) -> FlowDistribution {
        let of = |summary: fn(&TransportRecord) -> &Summary| {
            self.transport.as_ref().map_or_else(Vec::new, |transport| summary(transport).quantiles(shares))
        };
        FlowDistribution {
            name: name.to_owned(),
            delay_s: self.delay.quantiles(shares),
            rtt_s: of(|transport| &transport.rtt),
            completion_s: of(|transport| &transport.completion),
        }
    }

    /// Records the arrival of a packet.
    pub(crate) fn receive(&mut self, delay: Duration, deadline: Option<Duration>, packet: &Packet) {
        self.receive_all(delay, deadline, packet, 1);
    }

    /// Counts the arrival of several packets like this one.
    pub(crate) fn receive_all(&mut self, delay: Duration, deadline: Option<Duration>, packet: &Packet, packets: u32) {
        let late = deadline.is_some_and(|deadline| delay > deadline);
        let (late, in_time) = if late { (packets, 0) } else { (0, packets) };
        self.received += u64::from(packets);
        self.late += u64::from(late);
        self.useful_transmissions += u64::from(packet.transmissions) * u64::from(in_time);
        self.delay.record_all(delay, packets);
        self.hops.record(packet.travelled() + 1, packets);
    }

    /// Records a lost packet; `bare` marks a TCP packet without data.
    pub(crate) fn lose(&mut self, why: LossCause, bare: bool) {
        self.ledger.lost += 1;
        if bare {
            self.bare.lost += 1;
            return;
        }
        let count = match why {
            LossCause::Queue => &mut self.lost.queue,
            LossCause::Retries => &mut self.lost.retries,
            LossCause::NoRoute => &mut self.lost.no_route,
            LossCause::Buffer => &mut self.lost.buffer,
            LossCause::Link => &mut self.lost.link,
            LossCause::Ttl => &mut self.lost.ttl,
            LossCause::Damage => self.lost.damage.get_or_insert(0),
        };
        *count += 1;
    }

    /// Packets lost since the start of the run.
    pub(crate) fn lost_so_far(&self) -> u64 {
        self.ledger.lost - self.bare.lost
    }

    /// Fates of the packets sent. `older`: packets of the warm-up that are still in flight, which do not count.
    pub(crate) fn fates(&self, older: u64) -> Fates {
        let on_their_way = self.ledger.on_their_way() - self.bare.on_their_way();
        debug_assert!(on_their_way >= older, "those of the warm-up are among them");
        let in_flight = on_their_way - older;
        Fates { in_flight, decided: self.sent.saturating_sub(in_flight), lost: self.missing(in_flight) }
    }

    /// Packets sent that were neither received nor are in flight; of a broadcast the mean over its receivers.
    pub(crate) fn missing(&self, in_flight: u64) -> f64 {
        let each = self.received as f64 / self.receivers.max(1) as f64;
        let received = self.receptions.as_ref().map_or(each, |receptions| receptions.packets());
        (self.sent as f64 - in_flight as f64 - received).max(0.0)
    }

    /// Packets that were received within the deadline; of a broadcast the mean over the nodes that should receive them.
    pub(crate) fn in_time(&self) -> f64 {
        let in_time = self.received - self.late;
        match &self.receptions {
            Some(receptions) => receptions.packets() * ratio(in_time, self.received),
            None => in_time as f64 / self.receivers.max(1) as f64,
        }
    }

    /// Restarts the counts; the ledgers and the player continue.
    pub(crate) fn restart(&mut self) {
        let (mut transport, player) = (self.transport.take(), self.player.take());
        if let Some(transport) = &mut transport {
            transport.restart();
        }
        let receptions = self.receptions.as_ref().map(|_| Box::default());
        let Self { ledger, bare, receivers, .. } = *self;
        *self = Self { ledger, bare, transport, receivers, receptions, player, ..Self::default() };
    }

    pub(crate) fn result(&self, identity: &Identity, fates: Fates, covered: Duration) -> Flow {
        let delay_s = self.delay.times();
        let per_second = |volume: Bytes| volume.bits() as f64 / covered.as_secs_f64();
        let deadline_s = identity.deadline.map(Duration::as_secs_f64);
        let mut flow = Flow {
            name: identity.name.clone(),
            from: identity.from.clone(),
            to: identity.to.clone(),
            kind: identity.kind.clone(),
            class: identity.class,
            sent_packets: self.sent,
            received_packets: self.received,
            in_flight_packets: fates.in_flight,
            offered_bps: identity.drawn.then(|| per_second(self.offered)),
            goodput_bps: per_second(self.bytes),
            loss_ratio: share(fates.lost, self.sent),
            reception_ratio: self.receptions.as_ref().map(|receptions| receptions.ratio()),
            delay_s,
            deadline_s,
            deadline_miss_ratio: ratio(self.late, self.received),
            deadline_use_ratio: deadline_s.map_or(0.0, |deadline| delay_s.max / deadline),
            data_yield: share(self.in_time(), fates.decided),
            left_out: identity.left_out,
            ..Flow::default()
        };
        if let Some(transport) = &self.transport {
            transport.report(&mut flow, covered);
        }
        flow
    }
}

/// Numbers of hops of arrived packets.
#[derive(Clone, Debug, Default)]
pub(crate) struct HopCounts {
    /// Number of packets by their hops, from one hop on.
    over: Vec<u64>,
}

impl HopCounts {
    fn record(&mut self, hops: u8, packets: u32) {
        let place = usize::from(hops.saturating_sub(1));
        if place >= self.over.len() {
            self.over.resize(place + 1, 0);
        }
        self.over[place] += u64::from(packets);
    }

    /// Result; `all` adds the number of packets for each number of hops.
    pub(crate) fn result(&self, all: bool) -> FlowHops {
        let sum = (1..).zip(&self.over).map(|(hops, packets)| hops * packets).sum();
        let fewest = (1..).zip(&self.over).find(|&(_, packets)| *packets > 0);
        FlowHops {
            mean: ratio(sum, self.over.iter().sum()),
            min: fewest.map_or(0, |(hops, _)| hops),
            max: u8::try_from(self.over.len()).unwrap_or(u8::MAX),
            packets: all.then(|| self.over.clone()),
        }
    }
}

/// Counts of a node since the end of the warm-up.
#[derive(Debug, Default)]
pub(crate) struct NodeRecord {
    /// Service time of notes, which come from no port.
    pub(crate) service: Summary,
    /// Counts that go into results unchanged; all other results are computed from the other fields.
    pub(crate) mac: Mac,
    pub(crate) unanswered_rts: u64,
    pub(crate) requests: u64,
    pub(crate) grants: u64,
    pub(crate) mpdus: u64,
    pub(crate) lost_mpdus: u64,
    pub(crate) block_ack_requests: u64,
    pub(crate) airtime: Duration,
    pub(crate) hops: Hops,
    /// PPDUs to several stations, if there were any.
    pub(crate) shared: Option<SharedPpdus>,
    /// PPDUs that several stations sent after the node's trigger for data, if there were any.
    pub(crate) triggered: Option<SharedPpdus>,
}

/// PPDUs to or from several stations. Times exclude the preamble.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SharedPpdus {
    pub(crate) ppdus: u64,
    parts: u64,
    /// Sums over the parts: duration of their data, and of the data with padding.
    data: Duration,
    padded: Duration,
    /// Subcarriers times nanoseconds of data, and of the whole channel.
    used: u128,
    whole: u128,
}

impl SharedPpdus {
    /// Counts a part of a PPDU: the duration of its data, and of the payload to which all parts are padded.
    pub(crate) fn add(&mut self, mode: Mode, data: Duration, payload: Duration) {
        self.parts += 1;
        self.data += data;
        self.padded += payload;
        if let Mode::Mimo(mode) = mode {
            self.used += u128::from(mode.subcarriers() * data.as_nanos());
        }
    }

    /// Counts a PPDU on this number of data subcarriers; each part is padded to `payload`.
    pub(crate) fn begin(&mut self, subcarriers: u64, payload: Duration) {
        self.ppdus += 1;
        self.whole += u128::from(subcarriers * payload.as_nanos());
    }

    fn result(&self) -> MultiUser {
        let share = |part: f64, whole: f64| if whole > 0.0 { part / whole } else { 0.0 };
        MultiUser {
            ppdus: self.ppdus,
            psdus: self.parts,
            padding_ratio: 1.0 - share(self.data.as_secs_f64(), self.padded.as_secs_f64()),
            channel_use_ratio: share(self.used as f64, self.whole as f64),
        }
    }
}

impl NodeRecord {
    /// Counts packets with which this node's MAC is done, all sent to one node. The packets were acknowledged or
    /// broadcast if `delivered`, else given up.
    #[inline]
    pub(crate) fn finish(&mut self, to: u32, delivered: bool, completion: &Completion) {
        let packets = u64::from(completion.packets);
        if !delivered {
            self.mac.retry_drops += packets;
        } else if to != BROADCAST {
            self.mac.delivered += packets;
        }
        if to != BROADCAST {
            self.hops.to(to).complete(delivered, completion);
        }
    }

    /// Result. `ports`: records of the radio ports; `aggregates`, `tmac`: whether this network uses them.
    pub(crate) fn mac_result<'r>(
        &self,
        ports: impl Iterator<Item = &'r QueueRecord>,
        busy: Duration,
        covered: Duration,
        aggregates: bool,
        tmac: bool,
    ) -> Mac {
        let mut service = self.service.clone();
        ports.for_each(|port| service.add(&port.service));
        // With RTS/CTS it is the RTS that collides.
        let (failed, sent) = match self.mac.rts_attempts {
            0 => (self.mac.collisions, self.mac.attempts),
            rts => (self.unanswered_rts, rts),
        };
        Mac {
            service_s: service.times(),
            mpdus: aggregates.then_some(self.mpdus),
            lost_mpdus: aggregates.then_some(self.lost_mpdus),
            block_ack_requests: aggregates.then_some(self.block_ack_requests),
            requests: tmac.then_some(self.requests),
            grants: tmac.then_some(self.grants),
            multi_user: self.shared.as_ref().map(SharedPpdus::result),
            triggered: self.triggered.as_ref().map(SharedPpdus::result),
            airtime_s: self.airtime.as_secs_f64(),
            busy_ratio: busy.as_secs_f64() / covered.as_secs_f64(),
            collision_probability: ratio(failed, sent),
            ..self.mac.clone()
        }
    }
}

/// Packets of a queue since the end of the warm-up, each counted when the MAC is done with it.
#[derive(Debug, Default)]
pub(crate) struct QueueRecord {
    service: Summary,
    sojourn: Summary,
    nodal: Summary,
    above_target: u64,
    completed: u64,
}

impl QueueRecord {
    /// Records packets with which the MAC is done; `target` is their controller's target delay.
    pub(crate) fn complete(&mut self, completion: &Completion, target: Option<Duration>) {
        let &Completion { waited, service, packets } = completion;
        let nodal = completion.nodal();
        self.completed += u64::from(packets);
        if target.is_some_and(|target| nodal > target) {
            self.above_target += u64::from(packets);
        }
        self.service.record_all(service, packets);
        self.sojourn.record_all(waited, packets);
        self.nodal.record_all(nodal, packets);
    }

    pub(crate) fn target_miss_ratio(&self) -> f64 {
        ratio(self.above_target, self.completed)
    }

    pub(crate) fn service(&self) -> Times {
        self.service.times()
    }

    pub(crate) fn distribution(&self, name: String, shares: &[f64]) -> NodeDistribution {
        NodeDistribution {
            name,
            sojourn_s: self.sojourn.quantiles(shares),
            nodal_delay_s: self.nodal.quantiles(shares),
        }
    }

    /// Returns the distributions of sojourn time and nodal delay.
    pub(crate) fn waits(&self) -> (Times, Times) {
        (self.sojourn.times(), self.nodal.times())
    }
}
