//! Rules for frames on the air in any network: no node sends and receives at once, reservations are respected, nothing is decoded
//! below the threshold, and every decoded frame was sent.

use crate::networks::network;
use proptest::prelude::*;
use sim::World;
use sim::trace::{Frame, Kind, TraceEvent, TraceEventKind};
use std::fmt::Write as _;
use units::{Duration, Instant};

/// The weakest power that is decoded, in dBm.
const THRESHOLD: f64 = -80.0;
/// SIFS at 2.4 and 5 GHz; then what propagation over a few hundred metres may add.
const SIFS: [Duration; 2] = [Duration::from_micros(10), Duration::from_micros(16)];
const SLACK: Duration = Duration::from_micros(2);

/// Nodes in a square of some 700 m, where a signal reaches some 200 m; flows between them use AODV.
#[derive(Clone, Debug)]
struct Drawn {
    places: Vec<(u16, u16)>,
    flows: Vec<(usize, usize, u16, u16)>,
    /// 802.11b, 802.11a with EDCA, 802.11n and ax with aggregates.
    standard: usize,
    rts: bool,
}

fn drawn() -> impl Strategy<Value = Drawn> {
    let place = (0_u16..700, 0_u16..700);
    (3_usize..9).prop_flat_map(move |nodes| {
        let flow = (0..nodes, 1..nodes, 20_u16..1500, 50_u16..5000);
        let flows = prop::collection::vec(flow, 1..6);
        (prop::collection::vec(place.clone(), nodes), flows, 0_usize..4, any::<bool>())
            .prop_map(|(places, flows, standard, rts)| Drawn { places, flows, standard, rts })
    })
}

impl Drawn {
    fn sifs(&self) -> Duration {
        SIFS[usize::from(self.standard > 0)]
    }

    fn text(&self) -> String {
        let radio = [
            "standard = \"802.11b\"",
            "standard = \"802.11a\"",
            "standard = \"802.11n\"\nfrequency = \"5.18 GHz\"",
            "standard = \"802.11ax\"\nchannel_width = \"80 MHz\"",
        ];
        let aggregates = "access = \"edca\"\naggregation = { ampdu = \"20 kB\" }";
        let access = ["", "access = \"edca\"", aggregates, aggregates];
        let rts = if self.rts { "0 B" } else { "off" };
        let mut text = format!(
            "duration = \"300 ms\"\n[routing]\nprotocol = \"aodv\"\n\
             [radio]\n{}\nreceive_threshold = \"{THRESHOLD} dBm\"\n[mac]\nrts_threshold = \"{rts}\"\n{}\n",
            radio[self.standard], access[self.standard]
        );
        for (index, (x, y)) in self.places.iter().enumerate() {
            let _ = writeln!(text, "[[node]]\nname = \"n{index}\"\nposition = [\"{x} m\", \"{y} m\"]");
        }
        for (index, (from, step, packet, rate)) in self.flows.iter().enumerate() {
            let to = (from + step) % self.places.len();
            let category = ["voice", "video", "best-effort", "background"][index % 4];
            let category = if self.standard > 0 { format!("category = \"{category}\"\n") } else { String::new() };
            let _ = writeln!(
                text,
                "[[flow]]\nname = \"f{index}\"\nfrom = \"n{from}\"\nto = \"n{to}\"\n{category}\
                 traffic = {{ kind = \"poisson\", rate = \"{rate} kb/s\", packet = \"{packet} B\" }}"
            );
        }
        text
    }
}

/// Returns all events in the order in which they end.
fn events(drawn: &Drawn) -> Vec<TraceEvent> {
    let mut world = World::new(&network(&drawn.text()), 3).expect("a network that can be built");
    let nodes: Vec<u32> = (0..).take(drawn.places.len()).collect();
    world.watch(&nodes);
    world.advance(Duration::MAX);
    let events = world.take_events();
    world.finish();
    events
}

/// A frame at a node.
#[derive(Clone, Debug)]
struct Seen {
    from: Instant,
    until: Instant,
    frame: Frame,
}

/// Returns what `node` sent and what it decoded.
fn seen_at(node: usize, events: &[TraceEvent]) -> (Vec<Seen>, Vec<Seen>) {
    let (mut sent, mut heard) = (Vec::new(), Vec::new());
    for event in events.iter().filter(|event| event.node as usize == node) {
        let seen = |frame: &Frame| Seen { from: event.at, until: event.at + frame.length, frame: frame.clone() };
        match &event.what {
            TraceEventKind::Sends(frame) => sent.push(seen(frame)),
            TraceEventKind::Hears(frame, _) => heard.push(seen(frame)),
            _ => {}
        }
    }
    (sent, heard)
}

/// Returns the first frame that a node began although it knew that the medium was reserved.
fn against_a_reservation(node: usize, sent: &[Seen], heard: &[Seen], drawn: &Drawn) -> Option<Seen> {
    let sifs = drawn.sifs();
    let to_me = |seen: &&Seen| seen.frame.to.is_some_and(|to| to as usize == node);
    sent.iter()
        .find(|own| {
            let before: Vec<&Seen> = heard.iter().filter(|other| other.until <= own.from).collect();
            // An acknowledgement is always due. What follows a response to this node continues its exchange.
            let last_to_me = before.iter().rev().find(|seen| to_me(seen));
            let goes_on = last_to_me.is_some_and(|last| {
                own.from.since(last.until) <= sifs + SLACK && !matches!(last.frame.kind, Kind::Rts | Kind::Data)
            });
            if goes_on || matches!(own.frame.kind, Kind::Ack | Kind::BlockAck { .. }) {
                return false;
            }
            // A CTS answers an RTS that found the medium without reservations, SIFS before.
            let moment = if own.frame.kind == Kind::Cts { last_to_me.map(|rts| rts.until) } else { Some(own.from) };
            let others = before.iter().filter(|other| !to_me(other));
            let Some(last) = others.max_by_key(|other| other.until + other.frame.reserves) else { return false };
            // Under EDCA it answers the station whose exchange has reserved the medium (10.22.2.4).
            let its_holder = |rts: &Seen| [Some(last.frame.from), last.frame.to].contains(&Some(rts.frame.from));
            if own.frame.kind == Kind::Cts && drawn.standard > 0 && last_to_me.is_some_and(|rts| its_holder(rts)) {
                return false;
            }
            moment.is_some_and(|moment| last.until + last.frame.reserves > moment)
        })
        .cloned()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn what_is_seen_on_the_air_keeps_the_rules(drawn in drawn()) {
        let events = events(&drawn);
        for event in &events {
            if let TraceEventKind::Hears(_, power) = &event.what {
                prop_assert!(power.as_dbm() >= THRESHOLD - 1e-6, "decoded at {} dBm", power.as_dbm());
            }
        }
        for node in 0..drawn.places.len() {
            let (sent, heard) = seen_at(node, &events);
            for own in &sent {
                let overlaps = heard.iter().find(|other| other.from < own.until && own.from < other.until);
                prop_assert!(overlaps.is_none(), "n{node} decodes {overlaps:?} while it sends {own:?}");
            }
            prop_assert!(sent.windows(2).all(|pair| pair[0].until <= pair[1].from), "n{node} sends two frames at once");
            for other in &heard {
                let source = &events.iter().find(|event| {
                    event.node == other.frame.from
                        && event.at < other.from
                        && other.from.since(event.at) <= SLACK
                        && matches!(&event.what, TraceEventKind::Sends(frame) if frame.kind == other.frame.kind)
                });
                prop_assert!(source.is_some(), "n{node} decodes {other:?}, which nobody sent");
            }
            let wrong = against_a_reservation(node, &sent, &heard, &drawn);
            prop_assert!(wrong.is_none(), "n{node} sends {wrong:?} though the medium is reserved");
        }
    }
}
