//! Builds the transport of flows: UDP, TCP or echo requests; refuses settings that contradict each other.

use super::{Flow, Role, Supply};
use crate::config::{self, Category, Class, Congestion, LossDetection, Marks, Recovery, Tcp, TrafficKind, Transport};
use crate::engine::FlowId;
use crate::mac::Conventions;
use crate::net::{MOST_SEGMENT, ip_bytes};
use crate::record::{Identity, Losses, Service, TransportRecord};
use crate::transport::tcp::{Segment, Settings};
use crate::world::basis::Basis;
use crate::world::error::BuildError;
use units::{Bytes, Duration, Instant, refuse_if};

/// The largest window that TCP can advertise (RFC 7323, 2.3).
const MOST_WINDOW: Bytes = Bytes::new(1 << 30);
/// Largest initial window in segments. All of it is sent at once.
const MOST_INITIAL_WINDOW: u32 = 10_000;
/// The longest TCP header with options: its length is given in four bits, counting words (RFC 9293, 3.1).
const LONGEST_HEADER: Bytes = Bytes::new(60);

/// Transport of a flow, and with it the kind of answers to its packets.
#[derive(Clone, Copy)]
pub(crate) struct Answered {
    pub(crate) service: Service,
    pub(crate) settings: Option<Settings>,
    /// Access category of the answers, if it differs from the flow's.
    pub(crate) category: Option<Category>,
}

/// Returns the transport of a flow and its answers. Errors: the transport does not have this kind of traffic, a
/// broadcast would be answered, or settings of TCP cannot be used.
pub(crate) fn answered(flow: &config::Flow, basis: &Basis) -> Result<Option<Answered>, BuildError> {
    let Basis { network, rules, .. } = *basis;
    check_kind(flow)?;
    let kind = flow.traffic.kind;
    let tcp = flow.transport == Transport::Tcp;
    if !tcp && kind != TrafficKind::Ping {
        return Ok(None);
    }
    if flow.to == "broadcast" {
        let what = if tcp { "TCP cannot broadcast" } else { "all nodes would answer a broadcast ping at once" };
        let message = format!("{what}: name a node, or `*` for a flow to every station");
        return Err(BuildError::new(format!("flow.{}.to", flow.name), message));
    }
    if !tcp {
        return Ok(Some(Answered { service: Service::Echo, settings: None, category: None }));
    }
    let own = flow.tcp.unwrap_or_default();
    let path = |key: &str, own: bool| if own { format!("flow.{}.tcp.{key}", flow.name) } else { format!("tcp.{key}") };
    let merged = own.over(&network.tcp);
    if flow.class == Class::RealTime && merged.bqm.is_some() {
        let message = "discard priorities and the class `real-time` both use the code point: leave one of them out";
        return Err(BuildError::new(path("bqm", own.bqm.is_some()), message));
    }
    let settings = settings(&merged, &flow.marks)
        .map_err(|(key, message)| BuildError::new(path(key, given(&own, key)), message))?;
    network.marks.read("tcp", ());
    if merged.ack_category.is_some() && !rules.edca() {
        let message = "the DCF has no categories; set `access = \"edca\"` in `[mac]`, or leave `ack_category` out";
        return Err(BuildError::new(path("ack_category", own.ack_category.is_some()), message));
    }
    let service = if kind == TrafficKind::Greedy { Service::Stream } else { Service::Transfers };
    Ok(Some(Answered { service, settings: Some(settings), category: merged.ack_category }))
}

/// Makes the flow `back` of answers to `there`, the flow with this `index`, and returns it.
pub(crate) fn answer(there: &mut Flow, index: FlowId, back: FlowId, answered: &Answered, rules: &Conventions) -> Flow {
    let (asked, role, longest) = match answered.service {
        // A reply is as long as its request.
        Service::Echo => (Role::Request { back }, Role::Reply { of: index }, there.supply.first().unwrap_or_default()),
        Service::Stream | Service::Transfers => {
            (Role::Stream { back }, Role::Acknowledgement { of: index }, ip_bytes(LONGEST_HEADER))
        }
    };
    there.role = asked;
    let losses = answered.settings.and_then(|settings| settings.bqm).map(|_| Losses::default());
    there.record.transport = Some(Box::new(TransportRecord::new(answered.service, losses)));
    let Identity { name, from, to, kind, class, .. } = &there.identity;
    let (name, from, to) = (name.clone(), to.clone(), from.clone());
    let identity = Identity { name, from, to, kind: kind.clone(), class: *class, ..Identity::default() };
    let category = answered.category.map_or(there.category, |category| rules.index(category));
    let ends = (there.to.into(), there.from.into());
    Flow::new(identity, ends, (category, there.dscp), role, Supply::Answers { longest })
}

/// Refuses kinds of traffic that lack the required TCP, and kinds that do not exist over TCP.
fn check_kind(flow: &config::Flow) -> Result<(), BuildError> {
    let refuse = |key: &str, message: &str| Err(BuildError::new(format!("flow.{}.{key}", flow.name), message));
    let config::Traffic { kind, packet, rate, .. } = &flow.traffic;
    match (flow.transport, kind) {
        (Transport::Udp, TrafficKind::Greedy) => refuse(
            "traffic.kind",
            "`greedy` sends what TCP allows: add `transport = \"tcp\"`, or use `saturated` over UDP",
        ),
        (Transport::Udp, TrafficKind::Transfer) => refuse(
            "traffic.kind",
            "a transfer retransmits lost data: add `transport = \"tcp\"`, or send bursts over UDP by `web`",
        ),
        (Transport::Udp, _) if flow.tcp.is_some() => {
            refuse("tcp", "this flow has no TCP: add `transport = \"tcp\"`, or leave the table out")
        }
        (Transport::Udp, _) | (Transport::Tcp, TrafficKind::Greedy | TrafficKind::Transfer) => Ok(()),
        (Transport::Tcp, TrafficKind::Ping) => refuse("transport", "pings use ICMP, not TCP; leave `transport` out"),
        (Transport::Tcp, TrafficKind::Web) => match (packet, rate) {
            (Some(_), _) => refuse(
                "traffic.packet",
                "TCP cuts a burst into segments: set `segment` in `[tcp]`, and leave `packet` out",
            ),
            (_, Some(_)) => refuse("traffic.rate", "TCP sets the pace of a burst itself: leave `rate` out"),
            _ => Ok(()),
        },
        (Transport::Tcp, _) => refuse(
            "transport",
            "this traffic sets its own sending times, which TCP does not keep: use `greedy`, `transfer` or `web`, or \
             leave `transport` out",
        ),
    }
}

/// Returns the settings of TCP, with defaults for absent keys. Error: the key that cannot be used, and the reason.
fn settings(described: &Tcp, marks: &Marks) -> Result<Settings, (&'static str, String)> {
    let settings = Settings::from(described);
    let Settings { congestion, recovery, timestamps, .. } = settings;
    let follows = congestion == Congestion::Bqm;
    let followed = [
        "tcp.bqm.discriminator",
        "tcp.bqm.every",
        "tcp.bqm.measure",
        "tcp.bqm.wireless_loss",
        "tcp.bqm.growth",
        "tcp.bqm.threshold",
        "tcp.bqm.single_duplicate",
    ];
    marks.read_where(&[
        (recovery == Recovery::Sack, &["tcp.loss_detection"]),
        (congestion == Congestion::Cubic, &["tcp.friendly_growth"]),
        (congestion != Congestion::Bbr, &["tcp.slow_start", "tcp.recovery_end"]),
        (timestamps, &["tcp.rtt_samples"]),
        (congestion != Congestion::Prague, &["tcp.ecn"]),
        (follows, &followed),
        (follows && recovery == Recovery::NewReno, &["tcp.bqm.lowest_at_once"]),
    ]);
    let stamp = timestamps.then_some(Instant::ZERO);
    let most = MOST_SEGMENT.count() - Segment { stamp, ..Segment::default() }.header().count();
    if described.loss_detection == Some(LossDetection::RackTlp) && recovery != Recovery::Sack {
        let message = "RACK needs selective acknowledgements: set `recovery = \"sack\"`, or leave `loss_detection` out";
        return Err(("loss_detection", message.to_owned()));
    }
    if described.bqm.is_some_and(|bqm| bqm.every == Some(0)) {
        return Err(("bqm.every", "it must be at least 1: one packet of this many has priority 0".to_owned()));
    }
    refuse_if!(settings.segment.count() == 0, Err(("segment", "segments need a payload of at least 1 B".to_owned())));
    if settings.segment.count() > most {
        return Err((
            "segment",
            format!("a segment in one 802.11 frame carries at most {most} B; fragments are not simulated"),
        ));
    }
    if settings.initial_window == 0 {
        return Err(("initial_window", "the initial window must have at least 1 segment".to_owned()));
    }
    if settings.initial_window > MOST_INITIAL_WINDOW {
        let message = format!("more than {MOST_INITIAL_WINDOW} segments at once exceed any queue; RFC 6928 sends 10");
        return Err(("initial_window", message));
    }
    if settings.advertised_window > MOST_WINDOW {
        return Err(("advertised_window", "a TCP header can advertise at most 1024 MiB (RFC 7323, 2.3)".to_owned()));
    }
    refuse_if!(settings.rto_min == Duration::ZERO, Err(("rto_min", "a timeout must be above zero".to_owned())));
    Ok(settings)
}

/// True if the key is in the flow's own table.
fn given(own: &Tcp, key: &str) -> bool {
    match key {
        "loss_detection" => own.loss_detection.is_some(),
        "bqm" => own.bqm.is_some(),
        "bqm.every" => own.bqm.is_some_and(|bqm| bqm.every.is_some()),
        "segment" => own.segment.is_some(),
        "initial_window" => own.initial_window.is_some(),
        "advertised_window" => own.advertised_window.is_some(),
        _ => own.rto_min.is_some(),
    }
}
