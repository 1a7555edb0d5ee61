//! Results of a run: plain numbers with the unit in the name (SI). Keys are stable: tables, claims and frames use them.
//! This module is the reference of the format: it documents every number, in one file, although it is long.

mod series;

pub use series::{
    Distributions, EmulationSeries, FlowDistribution, FlowSeries, NodeDistribution, NodeSeries, Series, shares,
};

use crate::config::Class;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The outcome of one run.
#[serde_with::skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// Simulated time that the results cover (without the warm-up).
    pub simulated_s: f64,
    /// Events handled.
    pub events: u64,
    /// Warnings about parameters that may behave badly, each once.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// One entry per flow, in the scenario's order.
    pub flows: Vec<Flow>,
    /// One entry per node, in the scenario's order.
    pub nodes: Vec<Node>,
    /// The network as a whole.
    pub totals: Totals,
    /// Time series; absent unless the scenario asks for them.
    pub series: Option<Series>,
    /// Distributions of times; absent unless the scenario asks for them.
    pub distributions: Option<Distributions>,
}

/// The distribution of a time, in seconds. All zero where nothing was measured. Percentiles are exact to 0.1 %; mean and max exact.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Times {
    /// Arithmetic mean.
    pub mean: f64,
    /// 5th percentile.
    pub p5: f64,
    /// Median.
    pub p50: f64,
    /// 95th percentile.
    pub p95: f64,
    /// 99th percentile.
    pub p99: f64,
    /// 99.9th percentile.
    pub p999: f64,
    /// The longest.
    pub max: f64,
}

/// A level over time, each value weighted by its duration.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Level {
    /// Mean over time.
    pub mean: f64,
    /// The lowest at any moment.
    pub min: f64,
    /// The highest at any moment.
    pub max: f64,
    /// At the end.
    pub last: f64,
}

/// Results of a flow.
#[serde_with::skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Flow {
    /// The flow's name.
    pub name: String,
    /// The sending node.
    pub from: String,
    /// The receiving node.
    pub to: String,
    /// The kind of its traffic: `cbr`, `poisson`, `voice`, ...
    pub kind: String,
    /// The flow's service class; absent for `best-effort`.
    #[serde(default, skip_serializing_if = "units::is_default")]
    pub class: Class,
    /// Results of the flow's admission control, if it has any.
    pub admission: Option<Admission>,
    /// Packets that the source made. TCP: segments with data that were sent, including retransmissions. `ping`:
    /// requests.
    pub sent_packets: u64,
    /// Packets that reached the destination's application. TCP: segments with data that reached the receiver.
    pub received_packets: u64,
    /// Sent packets that are still in flight at the end, without acknowledgements and replies. TCP: segments with data.
    pub in_flight_packets: u64,
    /// Payload that the source made per second of simulated time; only where its rate or its packets' lengths are random.
    pub offered_bps: Option<f64>,
    /// Payload received per second of simulated time, whenever it was sent; over TCP in order, every byte once.
    pub goodput_bps: f64,
    /// TCP: bytes that reached the receiver per second, in order or not, each counted once. A byte that waits for an
    /// earlier byte counts here, but not yet in `goodput_bps`.
    pub carried_bps: Option<f64>,
    /// Lost / sent. A packet counts as lost if it was sent, was not received and is not in flight. A ping is also lost
    /// if its reply is. Of a broadcast, received is (packets sent by radio) * `reception_ratio`. With
    /// `record.in_flight_lost`: 1 - received / sent.
    pub loss_ratio: f64,
    /// Broadcasts: packet reception ratio, receptions at nodes in range / nodes in range, summed over the packets that
    /// were sent by radio. A node is in range if the mean power of the frame there, fading aside, is enough to be
    /// decoded; packets that other nodes receive by fading do not count. Zero if no node was in range.
    pub reception_ratio: Option<f64>,
    /// Broadcasts: packet reception ratio by distance at the end of the frame, with `record.reception`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub by_distance: Vec<DistanceClass>,
    /// One-way delay of the packets received.
    pub delay_s: Times,
    /// The flow's deadline; absent without one.
    pub deadline_s: Option<f64>,
    /// Packets received later than the deadline / packets received. Zero without a deadline.
    pub deadline_miss_ratio: f64,
    /// Largest one-way delay / deadline, above 1 if a packet was late. Zero without a deadline.
    pub deadline_use_ratio: f64,
    /// Packets received within the deadline / packets sent and not in flight; with `record.in_flight_lost` / all
    /// packets sent.
    pub data_yield: f64,
    /// Stalls of a receiver that plays the flow; only with `player_buffer`.
    pub player: Option<Played>,
    /// Causes of losses, for TCP of segments with data; only with a routing protocol, or if a wired link has a `loss`.
    pub lost_packets: Option<Lost>,
    /// Numbers of hops of the packets received; only with a routing protocol.
    pub hops: Option<FlowHops>,
    /// Round-trip times: TCP's samples (RFC 6298), with timestamps one per acknowledgement of new data; `ping`: of each
    /// reply. Absent for flows of other kinds, as the keys of TCP that follow.
    pub rtt_s: Option<Times>,
    /// TCP: the largest smoothed round-trip time (RFC 6298, section 2) of any connection.
    pub srtt_max_s: Option<f64>,
    /// TCP: segments with data or a FIN that were retransmitted.
    pub retransmits: Option<u64>,
    /// TCP: number of expired retransmission timers.
    pub timeouts: Option<u64>,
    /// TCP: number of fast recoveries.
    pub recoveries: Option<u64>,
    /// TCP: number of window reductions by a congestion mark (ECN).
    pub marks: Option<u64>,
    /// TCP: tail loss probes (RFC 8985, section 7) that were sent.
    pub tail_probes: Option<u64>,
    /// TCP: number of falls of the congestion window to half or less, by a loss, a mark or a timeout.
    pub window_halvings: Option<u64>,
    /// TCP with discard priorities: causes that the receiver assumed for lost packets.
    pub judged: Option<Judged>,
    /// TCP with discard priorities: largest number of drops of the same packet by queues.
    pub drops_of_one_packet: Option<u32>,
    /// TCP, `greedy` and `transfer`: opening time of the first connection, from the start of the run; only if it is
    /// random (`phase_jitter`).
    pub started_s: Option<f64>,
    /// TCP, `transfer` and `web`: connections opened.
    pub transfers: Option<u64>,
    /// Transfers of which everything arrived.
    pub transfers_completed: Option<u64>,
    /// Time from the opening of a connection until its last byte and its FIN had arrived in order.
    pub completion_s: Option<Times>,
    /// `ping`: replies that came back.
    pub replies: Option<u64>,
    /// `replay`: frames of the recording that are not replayed, by reason.
    pub left_out: Option<LeftOut>,
}

/// Frames of a recording that are not replayed, by reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LeftOut {
    /// Without an IP packet: ARP, spanning tree.
    pub not_ip: u64,
    /// Packets in `PPPoE`, MPLS or batman-adv, which are not opened; absent if there are none.
    #[serde(default, skip_serializing_if = "units::is_default")]
    pub tunnels: u64,
    /// 802.11 management and control frames, and data frames without data.
    pub management: u64,
    /// With a wrong checksum, according to radiotap.
    pub bad_fcs: u64,
    /// Repetitions of frames of which an earlier one was recorded, by transmitter, TID and sequence number.
    pub repeated: u64,
    /// Later 802.11 fragments of packets that are replayed by their first fragment.
    pub fragments: u64,
    /// Encrypted A-MSDUs, whose packets cannot be told apart.
    pub encrypted: u64,
    /// Frames or packets shorter than their headers say.
    pub malformed: u64,
    /// Forwarded packets, replayed each time because `tcpdump -i any` records all copies; absent if there are none.
    #[serde(default, skip_serializing_if = "units::is_default")]
    pub forwarded: u64,
}

/// Receptions of a flow's packets at nodes of a distance class. Nodes out of range count, too.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DistanceClass {
    /// Its upper end: `50 m`.
    pub name: String,
    /// The class's lower end, which does not belong to the class unless it is zero.
    pub from_m: f64,
    /// The class's upper end, which belongs to the class.
    pub to_m: f64,
    /// Nodes in the class, summed over the packets that were sent by radio.
    pub expected_receptions: u64,
    /// Nodes in the class that received the packet.
    pub receptions: u64,
    /// Receptions / expected receptions.
    pub reception_ratio: f64,
}

/// Stalls of a receiver that plays a stream, over the whole run. Waiting to begin is no stall.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Played {
    /// Number of times that the buffer ran empty.
    pub stalls: u64,
    /// Total time of the stalls, each until the buffer was full again.
    pub stalled_s: f64,
}

/// Packets of a flow that were lost, by cause.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Lost {
    /// Discarded by a queue: on arrival or by a shrinking limit.
    pub queue: u64,
    /// Given up by the MAC.
    pub retries: u64,
    /// Without a route, or after a failed search.
    pub no_route: u64,
    /// Packets that waited for a route for too long, or were dropped for later packets.
    pub buffer: u64,
    /// Waited in a queue for a next hop when the link there broke.
    pub link: u64,
    /// TTL exceeded.
    pub ttl: u64,
    /// Damaged on a wired link; only where such a link has a `loss`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub damage: Option<u64>,
}

/// Numbers of hops of a flow's received packets. All zero if none was received.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FlowHops {
    /// Mean over the packets.
    pub mean: f64,
    /// The fewest hops of a packet.
    pub min: u8,
    /// The most hops of a packet.
    pub max: u8,
    /// Number of packets over one hop, over two, and so on, up to the most; absent unless `record.hops` asks for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub packets: Option<Vec<u64>>,
}

/// Lost and retransmitted packets of a TCP flow, by the cause of the loss and by the cause that the receiver assumed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Judged {
    /// Packets that a queue dropped.
    pub queue: Verdicts,
    /// Packets lost outside of queues: on the air, on a link, or for lack of a route.
    pub other: Verdicts,
}

/// Lost packets by the cause that the receiver assumed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Verdicts {
    /// Assumed lost by congestion.
    pub congestion: u64,
    /// Assumed lost without congestion.
    pub wireless: u64,
    /// Retransmitted after a timeout, or before a report of the receiver.
    pub none: u64,
}

/// Results of a flow's admission, over the whole run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Admission {
    /// True if the flow was admitted at the end.
    pub admitted: bool,
    /// Time of the first admission, from the start of the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub admitted_s: Option<f64>,
    /// Time at which the flow was refused, or stopped after its admission.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused_s: Option<f64>,
    /// The end of the run for flows admitted at that time, else `refused_s`, so that all flows can be compared.
    pub until_s: Option<f64>,
    /// Random wait of the flow's first probe after a request to regulate (SWAN-1); absent without a wait.
    pub waited_s: Option<f64>,
    /// Probes sent.
    pub probes: u64,
    /// Probes whose answer did not come in time.
    pub unanswered_probes: u64,
    /// Packets that arrived marked.
    pub marked_packets: u64,
    /// Messages that asked to regulate.
    pub regulations: u64,
}

/// A move of a station to another access point.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Roam {
    /// Time at which the station left the previous access point, from the start of the run.
    pub left_s: f64,
    /// Time from which the station's data could flow again.
    pub joined_s: f64,
    /// The new access point.
    pub access_point: String,
}

/// Results of a node.
#[serde_with::skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Node {
    /// The node's name.
    pub name: String,
    /// The node's queues: one; under EDCA one per access category, with `[class_queue]` one per service class, the
    /// highest first; at an access point perhaps as many for each station; then one per wired link.
    pub queues: Vec<QueueResult>,
    /// The node's medium access; all zero where it has no radio.
    pub mac: Mac,
    /// Frames sent by radio to each neighbour, in the scenario's order: an access point's stations, a relay's next hops.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hops: Vec<Hop>,
    /// The moves of a station that roams. `phone@ap2` is the same station `phone` at another access point.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub roams: Vec<Roam>,
    /// The node's routing protocol; absent with static routes.
    pub routing: Option<Routing>,
    /// The overflows of the node's queues; absent unless `record.overflows` asks for them.
    pub overflows: Option<Overflows>,
    /// Energy that its radio drew; absent without `[consumption]`.
    pub energy: Option<Energy>,
}

/// Energy that a node's radio drew, by state. The times add up to the time that the results cover.
#[serde_with::skip_serializing_none]
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Energy {
    /// Energy in all states together.
    pub total_j: f64,
    /// Mean power over time.
    pub mean_w: f64,
    /// Energy while the radio sent, responses included.
    pub transmit_j: f64,
    /// Energy while other nodes kept the medium busy at the node.
    pub receive_j: f64,
    /// Energy while the medium was idle and the radio did not doze.
    pub listen_j: f64,
    /// Energy while it dozed.
    pub doze_j: f64,
    /// Time for which it sent.
    pub transmit_s: f64,
    /// Time for which other nodes kept the medium busy at the node.
    pub receive_s: f64,
    /// Time for which the medium was idle and the radio did not doze.
    pub listen_s: f64,
    /// Time for which it dozed.
    pub doze_s: f64,
    /// Packets served at the node's low transmission level; absent without such a level, like the next key.
    pub low: Option<EnergyLevel>,
    /// Packets served at its high transmission level.
    pub high: Option<EnergyLevel>,
    /// Number of packets at the node up to which the low level serves; absent if no controller sets it.
    pub low_up_to_packets: Option<Level>,
}

/// Packets that a node served at one transmission level. All zero if there were no such packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EnergyLevel {
    /// Packets that the MAC was done with, delivered or not.
    pub packets: u64,
    /// Mean time from a packet's hand-over to the MAC until its completion.
    pub service_mean_s: f64,
    /// Power drawn in that time, less the power of an idle node.
    pub power_w: f64,
}

/// Overflows of a node's queues, and the flows that they hit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Overflows {
    /// Number of overflows.
    pub count: u64,
    /// Dropped packets of flows, without acknowledgements and replies.
    pub dropped_packets: u64,
    /// Flows that lost a packet, each counted once per overflow.
    pub flows_hit: u64,
    /// TCP flows among these that lost at least half of the window that they had at their first loss.
    pub half_windows: u64,
}

/// Frames that a node sent by radio to one neighbour.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Hop {
    /// The neighbour.
    pub name: String,
    /// Data frames or aggregates sent, repetitions included.
    pub attempts: u64,
    /// Data frames, of aggregates MPDUs, that were sent again.
    pub repeated: u64,
    /// Packets acknowledged.
    pub delivered: u64,
    /// Packets given up after the last attempt.
    pub retry_drops: u64,
    /// Time spent sending to the neighbour: data, RTS, responses.
    pub airtime_s: f64,
    /// Mean time from the hand-over to the MAC until the ACK or final failure.
    pub service_mean_s: f64,
    /// The longest.
    pub service_max_s: f64,
    /// Mean time in the queue.
    pub sojourn_mean_s: f64,
    /// The longest.
    pub sojourn_max_s: f64,
}

/// Results of a node's routing protocol.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Routing {
    /// Messages handed to the queue, of every kind.
    pub packets: u64,
    /// Bytes of these packets with UDP and IP headers.
    pub bytes: u64,
    /// Route requests of its own.
    pub requests_sent: u64,
    /// Route requests of other nodes, passed on.
    pub requests_forwarded: u64,
    /// Route replies, its own and other nodes'.
    pub replies_sent: u64,
    /// Route errors.
    pub errors_sent: u64,
    /// Hello messages.
    pub hellos_sent: u64,
    /// Acknowledgements of replies.
    pub acks_sent: u64,
    /// Searches for a route that began.
    pub searches: u64,
    /// Local repairs that began.
    pub repairs: u64,
    /// Searches and repairs that found nothing.
    pub searches_failed: u64,
    /// Number of broken links with routes over them.
    pub link_failures: u64,
    /// Data packets of other nodes that the node sent by a new route after a link broke (DSR).
    #[serde(default, skip_serializing_if = "units::is_default")]
    pub salvaged: u64,
    /// Shorter routes that the node reported to senders (DSR).
    #[serde(default, skip_serializing_if = "units::is_default")]
    pub shortenings: u64,
}

/// Results of a queue.
#[serde_with::skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct QueueResult {
    /// `vo`, `vi`, `be` or `bk`, by its access category; `rt` or `be`, by its service class; `be` where there is one
    /// queue. Of a station at its access point: `s1`, or `s1-be` if the station has several queues. Of a wired link:
    /// `wired-to-ap`.
    pub name: String,
    /// Scheduler that chose the next packet: `turns` or `mac80211`, else the discipline.
    #[serde(default)]
    pub scheduler: String,
    /// The controller that set the queue's limit.
    pub controller: String,
    /// Packets that arrived, kept or not.
    pub arrived_packets: u64,
    /// Packets handed to the MAC, or to the wired link.
    pub sent_packets: u64,
    /// Packets discarded: on arrival, by a shrinking limit or by the discipline.
    pub dropped_packets: u64,
    /// Packets marked (ECN), by the discipline instead of being discarded or by order of the controller; absent without
    /// marks.
    pub marked_packets: Option<u64>,
    /// The limit in packets; absent if the limit is in bytes.
    pub limit_packets: Option<Level>,
    /// The limit in bytes; absent if the limit is in packets.
    pub limit_bytes: Option<Level>,
    /// Backlog over time.
    pub backlog_packets: Level,
    /// Share of the time in which the queue was empty.
    pub empty_ratio: f64,
    /// Time in the queue.
    pub sojourn_s: Times,
    /// From the hand-over to the MAC until the ACK or the final failure; on a wired link the transmission time. Absent
    /// if the node has one queue: then its time is the time of the node's MAC.
    pub service_s: Option<Times>,
    /// Time in the queue and in the MAC.
    pub nodal_delay_s: Times,
    /// The controller's target; absent without one.
    pub target_delay_s: Option<f64>,
    /// Packets with a nodal delay above the target / packets through the node. Zero without a target.
    pub target_miss_ratio: f64,
    /// Share of time in which the wired link sent; absent for a radio's queue.
    pub utilisation_ratio: Option<f64>,
}

/// Results of a medium access.
#[serde_with::skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Mac {
    /// Time from a packet's hand-over to the MAC until its ACK or final failure.
    pub service_s: Times,
    /// Data frames or aggregates sent, repetitions included, broadcasts not.
    pub attempts: u64,
    /// RTS frames sent.
    pub rts_attempts: u64,
    /// Data frames or aggregates sent that had no response.
    pub collisions: u64,
    /// Packets acknowledged.
    pub delivered: u64,
    /// Packets given up after the last attempt.
    pub retry_drops: u64,
    /// Frames received again and discarded.
    pub duplicates: u64,
    /// MPDUs whose fate is known, each attempt counted. Absent without aggregation, like the next two keys.
    pub mpdus: Option<u64>,
    /// MPDUs that were not acknowledged.
    pub lost_mpdus: Option<u64>,
    /// BlockAckReq frames sent.
    pub block_ack_requests: Option<u64>,
    /// T-MAC's requests sent. Absent without T-MAC, as are its grants.
    pub requests: Option<u64>,
    /// T-MAC's grants sent.
    pub grants: Option<u64>,
    /// Frames to several stations at once. Absent if there were none.
    pub multi_user: Option<MultiUser>,
    /// Frames that several stations sent at once because an access point triggered them. Absent if there were none.
    pub triggered: Option<MultiUser>,
    /// Time spent sending, responses included.
    pub airtime_s: f64,
    /// Share of time that the node sensed the medium busy, its own frames included.
    pub busy_ratio: f64,
    /// Unacknowledged / sent data frames (RTS where used).
    pub collision_probability: f64,
}

/// Frames to or of several stations at once (OFDMA). Each part with data counts as one of its sender's `attempts`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MultiUser {
    /// Number of PPDUs.
    pub ppdus: u64,
    /// The parts of these frames, each for one station.
    pub psdus: u64,
    /// Share of the parts' time that was padding behind their data, without preambles.
    pub padding_ratio: f64,
    /// Share of time and data subcarriers of the channel that carried data, without preambles.
    pub channel_use_ratio: f64,
}

/// The network as a whole.
#[serde_with::skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Totals {
    /// Sum of the flows' goodputs.
    pub goodput_bps: f64,
    /// Jain's index of the flows' goodputs: 1 for equal shares.
    pub jain_index: f64,
    /// Lost packets / sent packets, over all flows; a broadcast packet counts as lost by the share in its flow's
    /// `loss_ratio`.
    pub loss_ratio: f64,
    /// Packets received later than the deadline / packets received, over all flows.
    pub deadline_miss_ratio: f64,
    /// Packets received within the deadline / packets sent and not in flight, over all flows.
    pub data_yield: f64,
    /// Share of time in which at least one node was sending.
    pub channel_busy_ratio: f64,
    /// Data transmissions, repetitions included, of packets that did not arrive within their deadline / data transmissions.
    /// Each hop and each packet of an aggregate counts; acknowledgements and replies do not.
    pub wasted_transmission_ratio: f64,
    /// Messages of the routing protocol that nodes handed to their queues; absent with static routes.
    pub routing_packets: Option<u64>,
    /// Routing packets per data packet received. Zero if no data were received; absent with static routes.
    pub routing_overhead: Option<f64>,
    /// Totals of each access point's flows; only if there are several access points.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cells: Vec<CellTotals>,
}

/// The flows that pass one access point: those from or to the access point or its stations.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CellTotals {
    /// The access point.
    pub name: String,
    /// Sum of these flows' goodputs.
    pub goodput_bps: f64,
    /// Largest 99th percentile of these flows' delays.
    pub delay_p99_max_s: f64,
    /// Share of time that the access point sensed the medium busy, its own frames included.
    pub busy_ratio: f64,
}
