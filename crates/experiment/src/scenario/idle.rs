//! Settings without effect: one that changes nothing in any case is a mistake, and is refused.
//!
//! A setting that some case uses stays, because a sweep chooses between disciplines, protocols and models. So does one
//! of a file's base, which several experiments share, and one of the file that only a key set from outside disables.

mod flow;
#[cfg(test)]
mod tests;

use super::cases::{Scenario, Wishes};
use super::document::{self, QUEUE_TABLES, Value};
use super::draft::Draft;
use super::refusal::Refusal;
use super::source::Source;
use control::{AnyController, Controller as _, Limit, Name, Parameters, Sets, Site};
use queue::Settings;
use queue::turns::Rule;
use sim::config::{
    Access, BProtection, Capture, ErrorModel, Flow, HardwareQueue, MobilityModel, MostBytes, Network, Node,
    Propagation, Protocol, Queues, Radio, RateAlgorithm, ReplyWait, Role, Route, RtsThreshold, Shape, Standard,
    TrafficKind, Transport, TurnsVariant, Wired,
};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeTable, DeValue};
use units::Duration;

/// Refuses the first setting that has no effect in any case.
pub(super) fn check(draft: &Draft, scenario: &Scenario) -> Result<(), Refusal> {
    let mut seen = Seen::of(draft, scenario)?;
    let set = !draft.set.is_empty() || !draft.source.sets.is_empty();
    if set && seen.first(&draft.source).is_some() {
        let alone = Draft::read(Source { sets: &[], ..draft.source }, &Wishes::default());
        if let Ok((alone, of_file)) = alone.and_then(|alone| alone.scenario("").map(|scenario| (alone, scenario))) {
            seen.all(&alone, &of_file)?;
        }
    }
    match seen.first(&draft.source) {
        None => Ok(()),
        Some(Idle { place, message, instead }) => {
            Err(draft.source.refuse(place.clone(), message.as_str()).note(instead.as_str()))
        }
    }
}

/// Returns the places of the settings that have no effect in any case: of keys, of tables of lists, and of the values that
/// the sweep gives to a key.
pub(super) fn places(draft: &Draft, scenario: &Scenario) -> Result<BTreeSet<usize>, Refusal> {
    let Seen { places, changed, .. } = Seen::of(draft, scenario)?;
    let is_idle = |place: &usize| places.get(place).is_some_and(Option::is_some);
    let values = changed.iter().filter(|&(_, first)| is_idle(first)).map(|(&value, _)| value);
    Ok(places.keys().copied().filter(is_idle).chain(values).collect())
}

/// A setting without effect.
#[derive(Debug)]
struct Idle {
    place: Range<usize>,
    message: String,
    instead: String,
}

/// The reason why a setting has no effect, as the end of a sentence after "has no effect: ", and the remedy.
struct Reason {
    why: String,
    instead: String,
}

#[expect(clippy::unnecessary_wraps, reason = "all that judge a setting return an option")]
fn reason(why: impl Into<String>, instead: impl Into<String>) -> Option<Reason> {
    Some(Reason { why: why.into(), instead: instead.into() })
}

/// Returns the reason that another setting must have this value.
fn needs(setting: &str) -> Option<Reason> {
    reason(format!("it belongs to `{setting}`"), format!("set `{setting}`, or leave it out"))
}

/// Part of a path that stands for a table of a list as a whole.
const ENTRY: &str = "[]";

/// The settings found at each place.
struct Seen {
    /// The fault at the place of each key; `None` once a case uses the key.
    places: BTreeMap<usize, Option<Idle>>,
    /// For each value that is set from outside or by the sweep, the place of the first value for the same key.
    changed: BTreeMap<usize, usize>,
    /// The end of the text: later places belong to keys set from outside.
    end: usize,
}

impl Seen {
    fn of(draft: &Draft, scenario: &Scenario) -> Result<Self, Refusal> {
        let mut first: BTreeMap<&str, usize> = BTreeMap::new();
        let changed = draft.changes().map(|change| {
            let start = change.value.span().start;
            (start, *first.entry(&change.path).or_insert(start))
        });
        let changed = changed.collect();
        let mut seen = Self { places: BTreeMap::new(), changed, end: draft.source.text.len() };
        seen.all(draft, scenario)?;
        Ok(seen)
    }

    fn all(&mut self, draft: &Draft, scenario: &Scenario) -> Result<(), Refusal> {
        let combinations = draft.combinations();
        let cases = combinations.iter().map(Vec::as_slice).zip(scenario.cases.iter().map(|case| &case.network));
        for (chosen, network) in std::iter::once(([].as_slice(), &scenario.base)).chain(cases) {
            self.walk(&draft.written_with(chosen)?, network);
        }
        // Cases that a short run leaves out belong to the file too.
        for chosen in draft.all_combinations().iter().filter(|chosen| !draft.vary.keeps(chosen)) {
            if let Ok(network) = draft.network_of(chosen) {
                self.walk(&draft.written_with(chosen)?, &network);
            }
        }
        Ok(())
    }

    /// Returns the first idle setting, of the file itself or set from outside.
    fn first(&self, source: &Source) -> Option<&Idle> {
        self.places.range(source.own()..).find_map(|(_, idle)| idle.as_ref())
    }

    fn walk(&mut self, root: &DeTable, network: &Network) {
        let mut names = Vec::new();
        controllers(root, &mut names);
        let at = At {
            network,
            controllers: &names,
            node: None,
            flow: None,
            wired: None,
            queue: None,
            index: 0,
            changed: false,
        };
        for (key, value) in root {
            let tables = entries(value).map(|(_, table)| table);
            match key.get_ref().as_ref() {
                "node" => {
                    for (table, node) in tables.zip(&network.node) {
                        self.table(table, &["node"], &At { node: Some(node), ..at });
                    }
                }
                "flow" => {
                    for (table, flow) in tables.zip(&network.flow) {
                        self.table(table, &["flow"], &At { flow: Some(flow), ..at });
                    }
                }
                "wired" => {
                    for (table, wired) in tables.zip(&network.wired) {
                        self.table(table, &["wired"], &At { wired: Some(wired), ..at });
                    }
                }
                _ => self.setting(key, value, &[], &at),
            }
        }
    }

    fn table(&mut self, table: &DeTable, above: &[&str], at: &At) {
        for (key, value) in table {
            self.setting(key, value, above, at);
        }
    }

    fn setting(&mut self, key: &Spanned<Cow<str>>, value: &Value, above: &[&str], at: &At) {
        let (span, name) = (key.span(), key.get_ref().as_ref());
        let place = document::place_of(&span, value);
        let known = self.known(&place, &span);
        let path = [above, &[name]].concat();
        let at = &At { changed: self.changed.contains_key(&place.start), ..*at };
        if let Some(reason) = obstacle(&path, at) {
            return self.idle(name, known, place, value, &reason);
        }
        // Tables made for a key set from outside share its place: only the key tells whether it acts.
        let within = matches!(value.get_ref(), DeValue::Table(_)) || entries(value).next().is_some();
        if !within || known <= self.end {
            self.places.insert(known, None);
        }
        // A key of the file needs only one effective value.
        if place.start <= self.end {
            self.places.insert(span.start, None);
        }
        if let DeValue::Table(inner) = value.get_ref() {
            return match name {
                "queue" => self.queue(inner, at),
                _ if QUEUE_TABLES.contains(&name) => {
                    let queues = inner.iter().filter_map(|(_, queue)| queue.get_ref().as_table());
                    queues.for_each(|queue| self.queue(queue, at));
                }
                _ => self.table(inner, &path, at),
            };
        }
        let entry = [path.as_slice(), &[ENTRY]].concat();
        for (index, (element, inner)) in entries(value).enumerate() {
            let (at, place) = (&At { index, ..*at }, element.span());
            if let Some(reason) = obstacle(&entry, at) {
                self.idle(name, place.start, place, element, &reason);
                continue;
            }
            if place.start <= self.end {
                self.places.insert(place.start, None);
            }
            self.table(inner, &path, at);
        }
    }

    /// Returns the place under which a setting is filed: a value set from outside or by the sweep is filed apart from
    /// the file's, whose key may be in use without it.
    fn known(&self, place: &Range<usize>, key: &Range<usize>) -> usize {
        let outside = (place.start > self.end).then_some(place.start);
        self.changed.get(&place.start).copied().or(outside).unwrap_or(key.start)
    }

    /// Marks a setting as idle with everything in it: a key set from outside may be in a table of the file.
    fn idle(&mut self, name: &str, known: usize, place: Range<usize>, value: &Value, reason: &Reason) {
        let message = format!("`{name}` has no effect: {}", reason.why);
        self.places.entry(known).or_insert(Some(Idle { place, message, instead: reason.instead.clone() }));
        let DeValue::Table(inner) = value.get_ref() else { return };
        for (key, value) in inner {
            let place = document::place_of(&key.span(), value);
            let known = self.known(&place, &key.span());
            self.idle(key.get_ref(), known, place, value, reason);
        }
    }

    fn queue(&mut self, table: &DeTable, at: &At) {
        let read = serde::Deserialize::deserialize(toml::de::Deserializer::from(Spanned::new(0..0, table.clone())));
        if let Ok(settings) = read {
            self.table(table, &["queue"], &At { queue: Some(&settings), ..*at });
        }
    }
}

/// Returns the tables of a list.
fn entries<'d, 's>(value: &'d Value<'s>) -> impl Iterator<Item = (&'d Value<'s>, &'d DeTable<'s>)> {
    let elements = value.get_ref().as_array().into_iter().flat_map(|array| array.iter());
    elements.filter_map(|element| Some((element, element.get_ref().as_table()?)))
}

/// Collects the names of the controllers of all queues.
fn controllers<'d>(table: &'d DeTable, names: &mut Vec<&'d str>) {
    for (key, value) in table {
        match value.get_ref() {
            DeValue::String(name) if key.get_ref() == "controller" => names.push(name),
            DeValue::Table(inner) => controllers(inner, names),
            DeValue::Array(elements) => {
                elements.iter().filter_map(|e| e.get_ref().as_table()).for_each(|inner| controllers(inner, names));
            }
            _ => {}
        }
    }
}

/// The context of a setting, as read: the network, and the node, flow or queue to which the setting belongs.
#[derive(Clone, Copy)]
struct At<'n> {
    network: &'n Network,
    controllers: &'n [&'n str],
    node: Option<&'n Node>,
    flow: Option<&'n Flow>,
    wired: Option<&'n Wired>,
    queue: Option<&'n Settings>,
    /// The number of the table in its list.
    index: usize,
    /// True if the value is set from outside or by the sweep, and switches off a setting of the file.
    changed: bool,
}

/// Returns the reason why the setting at `path` changes nothing here; queues of all tables have the path `queue`.
fn obstacle(path: &[&str], at: &At) -> Option<Reason> {
    let (first, rest) = path.split_first()?;
    match (*first, rest) {
        ("queue", [key, rest @ ..]) => of_queue(key, rest, at.queue?, at),
        ("radio", [key, rest @ ..]) => of_radio(key, rest, at.network),
        ("mac", rest) => of_mac(rest, at.network),
        ("routing", rest) => of_routing(rest, at),
        ("mobility", [key, ..]) => of_mobility(key, at.network.mobility.model),
        ("nodes", ["count"]) if places_no_node(at.network) => reason("`[nodes]` places no node", "leave the table out"),
        ("node", rest) => of_node(rest, at),
        ("flow", rest) => flow::of(rest, at.flow?, at),
        ("wired", ["at", ENTRY]) => late(at.wired?.at.get(at.index)?.time, at.network.duration),
        ("tcp", []) if flow::with_tcp(at.network).next().is_none() => {
            reason("no flow has `transport = \"tcp\"`", "give a flow that transport, or leave the table out")
        }
        ("tcp", [key, rest @ ..]) => flow::of_shared_tcp(key, rest, at),
        ("consumption", ["low"]) => of_low(at),
        ("record", ["reception"]) if at.network.flow.iter().all(|flow| flow.to != "broadcast") => {
            reason("no flow is broadcast", "write `to = \"broadcast\"` in a flow, or leave it out")
        }
        ("record", ["hops"]) if at.network.routing.protocol == Protocol::Static => {
            needs("routing.protocol = \"aodv\" or \"dsr\"")
        }
        _ => None,
    }
}

/// True if `[nodes]` has no node of its own and gives no other a place: random placement does.
fn places_no_node(network: &Network) -> bool {
    let is_placed = |node: &Node| node.position.is_none() && node.role != Role::Wired;
    network.nodes.as_ref().is_some_and(|nodes| {
        nodes.count == 0 && (nodes.placement != Some(Shape::Random) || !network.node.iter().any(is_placed))
    })
}

fn of_queue(key: &str, rest: &[&str], queue: &Settings, at: &At) -> Option<Reason> {
    let discipline = queue.discipline.as_str();
    let orders = |order| {
        queue.controller != Name::None
            && queue.build_controller(0).map_or(true, |controller| controller.needs().sets.contains(order))
    };
    let is_controller = Name::ALL.iter().any(|name| name.as_str() == key);
    let is_discipline = queue::DisciplineName::ALL.iter().any(|name| name.as_str().replace('-', "_") == key);
    match (key, rest) {
        (_, []) if is_controller && queue.controller.as_str() != key => of_another_controller(key, at),
        ("purge", []) if !orders(Sets::LIMIT) => reason(
            "no controller lowers the limit of this queue",
            "set a `controller` of the limit, or leave `purge` out",
        ),
        ("shaper_burst", []) if !orders(Sets::RATE) => reason(
            "no controller orders a rate for this queue",
            "set a `controller` of the rate, or leave `shaper_burst` out",
        ),
        ("pie", ["mark_ecnth"]) if queue.pie.as_ref().is_some_and(|pie| !pie.ecn) => needs("ecn = true"),
        ("red", ["interval"]) if queue.red.as_ref().is_some_and(|red| !red.adaptive) => needs("adaptive = true"),
        ("red", ["target_delay"]) if queue.red.as_ref().is_some_and(|red| red.min_th.is_some()) => {
            reason("`min_th` is set, which follows from it otherwise", "leave one of the two out")
        }
        (table, [key]) if is_controller => {
            let [why, cure] = queue.parameters().idle(table, key)?;
            reason(why, cure)
        }
        (_, []) if is_discipline && discipline.replace('-', "_") != key => {
            let setting = format!("discipline = \"{}\"", key.replace('_', "-"));
            reason(
                format!("these are parameters of the discipline `{}`, which no queue here has", key.replace('_', "-")),
                format!("the discipline is `{discipline}`; set `{setting}`, or take these out"),
            )
        }
        _ => None,
    }
}

fn of_another_controller(key: &str, at: &At) -> Option<Reason> {
    let mut used = at.controllers.to_vec();
    used.sort_unstable();
    used.dedup();
    let used = if used.is_empty() { "none".to_owned() } else { used.join(", ") };
    reason(
        format!("these are parameters of the controller `{key}`, which no queue here has"),
        format!("the queues' controller is: {used}; set `controller = \"{key}\"`, or take these out"),
    )
}

/// True if bit errors follow from powers and noise.
fn has_noise(network: &Network) -> bool {
    let radio = &network.radio;
    let by_default = radio.propagation != Propagation::Range && radio.nominal_rate.is_none();
    radio.errors.model.map_or(by_default, |model| matches!(model, ErrorModel::Nist | ErrorModel::Yans))
}

fn of_radio(key: &str, rest: &[&str], network: &Network) -> Option<Reason> {
    let radio = &network.radio;
    let no_powers = || {
        reason(
            "with `propagation = \"range\"` signals have no power",
            "choose a `propagation` with powers, or leave it out",
        )
    };
    let ranges = radio.propagation == Propagation::Range;
    match (key, rest) {
        ("antenna_height", []) if radio.propagation != Propagation::TwoRay => needs("propagation = \"two-ray\""),
        ("path_loss_exponent", []) if radio.propagation != Propagation::LogDistance => {
            needs("propagation = \"log-distance\"")
        }
        ("carrier_sense_range" | "carrier_sense_threshold", []) if sense_below_decoding(radio) => reason(
            "decoded frames count as sensed, and this detects no others",
            "write a longer range, or a lower threshold, than that of decoding, or leave it out",
        ),
        ("tx_power" | "receive_threshold" | "carrier_sense_threshold", []) if ranges => no_powers(),
        ("capture_threshold", []) if ranges && radio.capture_threshold.is_some_and(|ratio| ratio.as_db() > 0.0) => {
            no_powers()
        }
        // The times of 802.11n and ax depend on the band.
        ("frequency", []) if ranges && !radio.standard.high_throughput() => no_powers(),
        ("tx_power", []) if radio.range.is_some() && !has_noise(network) && radio.carrier_sense_threshold.is_none() => {
            reason(
                "`range` and `carrier_sense_range` set the thresholds relative to it, and no error model compares it \
                 with noise",
                "write `receive_threshold` instead of `range`, or leave `tx_power` out",
            )
        }
        ("data_rate" | "mcs", []) if network.mac.rate_control.algorithm != RateAlgorithm::Fixed => {
            // The streams of rate control may follow from it.
            let streams = match radio.standard {
                Standard::N => true,
                Standard::Ac | Standard::Ax => key == "data_rate" && radio.streams.is_none(),
                Standard::B | Standard::A | Standard::G => false,
            };
            let counts = streams
                || network.mac.turns.is_some()
                || radio.range.is_some() && radio.tx_power.is_none() && has_noise(network);
            if counts {
                return None;
            }
            reason(
                "rate control chooses the mode of data frames",
                "write `algorithm = \"fixed\"` in `[mac.rate_control]`, or leave it out",
            )
        }
        ("errors", ["noise_figure"]) if !has_noise(network) => reason(
            "no error model compares signals with noise",
            "set `model = \"nist\"` or `\"yans\"` in `[radio.errors]`, or leave it out",
        ),
        _ => None,
    }
}

/// True if carrier sense detects no more than is decoded, and decoded frames count as sensed.
fn sense_below_decoding(radio: &Radio) -> bool {
    let sensed_anyway = radio.propagation == Propagation::Range || radio.capture == Capture::StrongestPreamble;
    let is_shorter = radio.carrier_sense_range.zip(radio.range).is_some_and(|(sensed, decoded)| sensed < decoded);
    let thresholds = radio.carrier_sense_threshold.zip(radio.receive_threshold);
    sensed_anyway && (is_shorter || thresholds.is_some_and(|(sensed, decoded)| sensed.as_dbm() > decoded.as_dbm()))
}

/// True if RTS frames are sent.
fn asks(network: &Network) -> bool {
    let by_turns = network.mac.turns.as_ref().is_some_and(|turns| turns.variant == TurnsVariant::Requests);
    network.mac.rts_threshold != RtsThreshold::Off || network.radio.b_protection == BProtection::RtsCts || by_turns
}

fn of_mac(rest: &[&str], network: &Network) -> Option<Reason> {
    let mac = &network.mac;
    match rest {
        ["aggregation", "ampdu_frames" | "missed_block_ack" | "lifetime"] if network.ampdu() == MostBytes::Off => {
            reason("there are no A-MPDUs", "set `ampdu` to their longest size, or leave it out")
        }
        ["aggregation", "ampdu_duration"]
            if network.ampdu() == MostBytes::Off && mac.aggregation.amsdu == MostBytes::Off =>
        {
            reason("there are no aggregates", "set `ampdu` to their longest size, or leave it out")
        }
        ["long_retry_limit" | "answer_rts"] if !asks(network) => {
            reason("no RTS is ever sent", "set `rts_threshold`, or leave it out")
        }
        ["rts_threshold"] if network.radio.b_protection == BProtection::RtsCts => reason(
            "with `b_protection = \"rts-cts\"` an RTS precedes every data frame",
            "choose another `b_protection`, or leave it out",
        ),
        ["hardware_queue_per"]
            if mac.hardware_queue == HardwareQueue::Off
                && !network.node.iter().any(|node| matches!(node.queues, Some(Queues::Mac80211 | Queues::Turns))) =>
        {
            reason("there is no hardware queue", "set `hardware_queue` to its depth, or leave it out")
        }
        ["bandwidth"] if network.node.iter().all(|node| node.channel.is_none()) => {
            reason("all share one channel", "give access points a `channel`, or leave it out")
        }
        ["mu_edca", "cw_min" | "cw_max"] if mac.mu_edca.is_some_and(|given| given.aifsn == 0) => {
            reason("with an AIFSN of 0 there is no contention", "set `aifsn` to 2 to 15, or leave it out")
        }
        ["turns", "quorum" | "request_wait" | "activity" | "neighbours"]
            if mac.turns.as_ref().is_some_and(|turns| turns.variant == TurnsVariant::Table) =>
        {
            needs("variant = \"requests\"")
        }
        _ => None,
    }
}

fn of_routing(rest: &[&str], at: &At) -> Option<Reason> {
    let given = &at.network.routing.aodv;
    match rest {
        ["aodv", ..] if at.network.routing.protocol != Protocol::Aodv => needs("protocol = \"aodv\""),
        ["aodv", "repair_within" | "repair_by"] if !given.local_repair => needs("local_repair = true"),
        ["aodv", "purge_on_failure"] if !given.packet_failures && !given.message_failures => {
            needs("packet_failures = true")
        }
        ["aodv", "timeout_buffer"] if given.reply_wait != ReplyWait::TraversalTime => {
            needs("reply_wait = \"traversal-time\"")
        }
        ["aodv", "gratuitous_rrep"] if given.destination_only => needs("destination_only = false"),
        ["dsr", ..] if at.network.routing.protocol != Protocol::Dsr => needs("protocol = \"dsr\""),
        ["aodv" | "dsr", "category"] if at.network.access() != Access::Edca => needs("mac.access = \"edca\""),
        ["route", ENTRY] => unused_route(at.network.routing.route.get(at.index)?, at.network),
        _ => None,
    }
}

/// Checks a static route, which serves only flows and their replies.
fn unused_route(route: &Route, network: &Network) -> Option<Reason> {
    let stands_for = |pattern: &str, name: &str| match pattern.strip_suffix('*') {
        Some(beginning) => name.starts_with(beginning),
        None => pattern == name || matches!(pattern, "any" | "next"),
    };
    let goes = |flow: &Flow, from: &str, to: &str| stands_for(&flow.from, from) && stands_for(&flow.to, to);
    let is_used = network.flow.iter().any(|flow| {
        let answered = flow.transport == Transport::Tcp || flow.traffic.kind == TrafficKind::Ping;
        goes(flow, &route.from, &route.to)
            || (answered || flow.admission.is_some()) && goes(flow, &route.to, &route.from)
    });
    if is_used {
        return None;
    }
    reason(
        format!("no flow goes from `{}` to `{}`", route.from, route.to),
        "name the ends of a flow, or leave the path out: it is for packets from its first node to its last",
    )
}

fn of_mobility(key: &str, model: MobilityModel) -> Option<Reason> {
    match (key, model) {
        ("file", MobilityModel::Setdest | MobilityModel::Fcd) => None,
        ("file", _) => needs("model = \"setdest\" or \"fcd\""),
        ("area" | "speed" | "pause" | "start", model) if model != MobilityModel::RandomWaypoint => {
            needs("model = \"random-waypoint\"")
        }
        _ => None,
    }
}

fn of_node(rest: &[&str], at: &At) -> Option<Reason> {
    let node = at.node?;
    match rest {
        ["count"] if node.count == Some(0) && !at.changed && !is_named(node, at.network) => {
            reason("it makes no node", "leave the table out, or write at least 1")
        }
        [key @ ("position" | "consumption")] if node.role == Role::Wired => {
            reason(format!("`{}` has no radio", node.name), format!("leave `{key}` out, or choose another `role`"))
        }
        ["slow_station_codel"] | ["mac80211", ..] if node.queues != Some(Queues::Mac80211) => {
            needs("queues = \"mac80211\"")
        }
        ["turns", ..] if node.queues != Some(Queues::Turns) => needs("queues = \"turns\""),
        ["turns", "without"] => match node.turns.without? {
            Rule::ReceivedAirtime if node.role != Role::AccessPoint => needs("role = \"access-point\""),
            Rule::WideWindow if at.network.access() != Access::Edca => needs("mac.access = \"edca\""),
            _ => None,
        },
        ["waypoints", ENTRY] => late(node.waypoints.get(at.index)?.time, at.network.duration),
        ["consumption", "low"] => of_low(at),
        _ => None,
    }
}

/// True if a flow or a link names the nodes of a table, which may be none: `up*`.
fn is_named(node: &Node, network: &Network) -> bool {
    let ends = network.flow.iter().flat_map(|flow| [&flow.from, &flow.to]);
    let mut patterns = ends.chain(network.wired.iter().flat_map(|wired| &wired.between));
    patterns.any(|pattern| pattern.strip_suffix('*').is_some_and(|beginning| node.name.starts_with(beginning)))
}

/// Checks for a change after the end of the run.
fn late(time: Duration, end: Duration) -> Option<Reason> {
    if time < end {
        return None;
    }
    reason(format!("the run ends at {end}"), "write an earlier time, a longer `duration`, or leave it out")
}

/// Checks a setting for the low level, which only a controller of two levels uses.
fn of_low(at: &At) -> Option<Reason> {
    let site = Site { hard_limit: Limit::Packets(1), seed: 0 };
    let chooses = |name: Name| {
        let built = AnyController::new(name, &Parameters::default(), &site);
        built.is_ok_and(|controller| controller.needs().sets.contains(Sets::LEVEL))
    };
    if at.controllers.iter().filter_map(|name| name.parse().ok()).any(chooses) {
        return None;
    }
    let name = Name::ALL.iter().copied().find(|&name| chooses(name))?;
    let cure = format!("set `controller = \"{name}\"`, or leave the table out");
    reason("no controller chooses between two levels", cure)
}
