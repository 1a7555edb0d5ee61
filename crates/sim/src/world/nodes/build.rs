//! Builds nodes, each with its ports and its station.

use super::sites::Site;
use super::{Node, access};
use crate::config::{
    Category, Class, LowLevel, Mac80211, Network, Ofdma, Protocol, Queues, Radio, RateAlgorithm, Role, Standard,
};
use crate::egress::{Egress, Layout, Order, Port, Sleepers};
use crate::engine::{List, NodeId, Number as _, PortId, Purpose, Stream};
use crate::mac::{Algorithm, Conventions, Costs, Rates, Station, Uplink};
use crate::radio::Mode;
use crate::record::{Gauge, NodeRecord};
use crate::world::basis::Basis;
use crate::world::energy::{self, EnergyAccount, low_mode};
use crate::world::error::BuildError;
use crate::world::notes::Notes;
use crate::world::power_save::PowerSave;
use crate::world::radio;
use control::{Controller as _, Reads, Sets};
use queue::Shaper;
use queue::turns::Rule;
use units::{Duration, Instant, refuse_if};

/// Builds all nodes, with their ports and stations.
pub(crate) fn nodes(basis: &Basis) -> Result<List<NodeId, Node>, BuildError> {
    let Basis { network, sites, infrastructure, rules, seed, .. } = *basis;
    let mut nodes = List::default();
    let mut ports_before = 0;
    for (index, site) in sites.iter().enumerate() {
        let address = u32::try_from(index).map_err(|_| BuildError::new("nodes.count", "there are too many nodes"))?;
        let layout = layout(site, address, basis)?;
        let mut chance = Stream::new(seed, &site.name, Purpose::QUEUES);
        let order = order(site, &layout, rules);
        let settings = order.settings();
        // A category with several ports cannot follow the contention parameters of all of them.
        let alone = layout.groups == 1 && !layout.by_class;
        let consumption = energy::consumption(network, site, &layout);
        // A wired node has no radio with which it could measure or send notes.
        let (reads, at_any) = match layout.radio_ports() {
            0 => (MEASURED, CARRIED_OUT),
            _ => (MEASURED.and(Reads::RADIO).and(Reads::NOTES), CARRIED_OUT.and(Sets::NOTE)),
        };
        let sets = if alone { at_any.and(Sets::ACCESS) } else { at_any };
        let low = consumption.as_ref().and_then(|described| described.low.as_ref());
        let (reads, sets) = low.map_or((reads, sets), |_| (reads.and(Reads::LEVELS), sets.and(Sets::LEVEL)));
        let mut ports: List<PortId, Port> = List::default();
        for port in (0..layout.radio_ports()).map(PortId::at) {
            let (settings, table) = match &settings {
                Some(settings) => (settings, "queue".to_owned()),
                None => described(site, network, layout.class(port), rules.category(layout.category(port)))?,
            };
            ports.push(built(settings, &table, reads, sets, &mut chance)?);
        }
        for (_, wire) in &layout.wires {
            let link = infrastructure.table(*wire);
            ports.push(built(&network.wired[link].queue, &format!("wired.{link}.queue"), reads, at_any, &mut chance)?);
        }
        let count = ports.len();
        let has_levels = ports.iter().any(|port| port.needs().sets.contains(Sets::LEVEL));
        site.marks.read_where(&[
            (consumption.is_some(), &["consumption"]),
            (has_levels, &["consumption.low"]),
            (site.role != Role::Wired, &["edca"]),
        ]);
        network.marks.read_where(&[(has_levels, &["consumption.low"])]);
        let needs = || ports.iter().map(Port::needs);
        let looking = ports.numbers().zip(needs()).map(|(port, needs)| (port, needs.reads, needs.late_after));
        let gauge = Gauge::new(looking, sites.len());
        let tells = needs().any(|needs| needs.reads.contains(Reads::NOTES) || needs.sets.contains(Sets::NOTE));
        let neighbours = tells.then(|| Box::new(Notes::new(Stream::new(seed, &site.name, Purpose::NOTES))));
        let random = Stream::new(seed, &site.name, Purpose::BACKOFF);
        let rates = rates(address, site, low, basis)?;
        let mut station = Station::new(address, rates, rules, random);
        if site.edca.is_some() || site.standard == Some(Standard::B) {
            station.contention.configure(access::access(network, Some(site), &rules.timing)?.0);
        }
        if site.mac80211.airtime_weight.get() < Duration::from_micros(1) {
            let key = format!("node.{}.mac80211.airtime_weight", site.name);
            return Err(BuildError::new(key, "the weight must be at least 1 us"));
        }
        let mut egress = Egress::new(ports, layout, order, &network.mac);
        if site.queues == Some(Queues::Driver) {
            egress.serve_driver(sites.len());
        }
        let sleeps = |&station: &u32| sites[station as usize].power_save.is_some();
        if infrastructure.stations(address).any(|station| sleeps(&station)) {
            egress.sleepers = Sleepers::new(infrastructure.stations(address).filter(sleeps));
        }
        if egress.has_turns() {
            station.held.take_turns();
        }
        if rules.shares_downlink() && site.role == Role::AccessPoint {
            station.downlink = Some(Box::default());
            station.held.take_turns();
        }
        if rules.ofdma == Ofdma::Both {
            station.uplink = Some(Box::new(Uplink::new(site.role == Role::AccessPoint)));
        }
        nodes.push(Node {
            name: site.name.clone(),
            absent: false,
            access_point: site.role == Role::AccessPoint,
            own_access_point: infrastructure.access_point(address),
            station,
            armed: Instant::NEVER,
            egress,
            saturated: vec![Vec::new(); count].into(),
            ready: vec![Instant::NEVER; count].into(),
            ports_before,
            record: NodeRecord::default(),
            gauge,
            energy: consumption
                .as_ref()
                .map(|described| Box::new(EnergyAccount::new(described, site.power_save.is_some()))),
            neighbours,
            power_save: power_save(site, address, basis)?,
        });
        ports_before += count;
    }
    Ok(nodes)
}

/// Returns the order in which a node's ports are served.
fn order(site: &Site, layout: &Layout, rules: &Conventions) -> Order {
    match site.queues {
        Some(Queues::Mac80211) => {
            let is_patient = site.marks.read("slow_station_codel", site.slow_station_codel);
            let patience = is_patient.then(|| Costs::new(&rules.timing));
            Order::mac80211(layout, site.marks.read("mac80211", site.mac80211), patience)
        }
        Some(Queues::Turns) => {
            let acts = match site.turns.without {
                Some(Rule::ReceivedAirtime) => site.role == Role::AccessPoint,
                Some(Rule::WideWindow) => rules.edca(),
                _ => true,
            };
            site.marks.read_where(&[(acts, &["turns.without"])]);
            Order::turns(layout, site.marks.read("turns", site.turns), site.role == Role::AccessPoint)
        }
        // Packets pass at once: the kernel above the driver has the limits.
        Some(Queues::Driver) => {
            let [aql_low, aql_high, aql_threshold] = [Duration::from_secs(1_000_000); 3];
            Order::mac80211(layout, Mac80211 { aql_low, aql_high, aql_threshold, ..Mac80211::default() }, None)
        }
        Some(Queues::One | Queues::PerStation) | None => Order::round_robin(),
    }
}

/// Returns a node's power save if the node can sleep.
fn power_save(site: &Site, node: u32, basis: &Basis) -> Result<Option<Box<PowerSave>>, BuildError> {
    let Some(described) = site.power_save else { return Ok(None) };
    let refuse = |message: String| Err(BuildError::new(format!("node.{}.power_save", site.name), message));
    let least = described.idle_timeout.get().min(described.listen_interval.get());
    match basis.infrastructure.access_point(node) {
        _ if least < Duration::from_millis(1) => {
            refuse("`idle_timeout` and `listen_interval` must be at least 1 ms".to_owned())
        }
        _ if site.queues == Some(Queues::Driver) => {
            refuse(format!("the kernel of `{}` decides about its power save: leave this table out", site.name))
        }
        None => refuse(format!("`{}` has no access point to buffer its packets: only stations can sleep", site.name)),
        Some(_) if basis.rules.shares_downlink() => {
            refuse("sleep with OFDMA is not simulated: leave `mac.ofdma` out".to_owned())
        }
        Some(access_point) => Ok(Some(Box::new(PowerSave::new(described, access_point.into())))),
    }
}

/// Returns the layout of a node's ports.
fn layout(site: &Site, node: u32, basis: &Basis) -> Result<Layout, BuildError> {
    let Basis { network, infrastructure, rules, .. } = *basis;
    let refuse = |key: String, message: &str| Err(BuildError::new(key, message));
    let of_node = format!("node.{}.class_queue", site.name);
    let mut layout = match network.class_queue {
        Some(_) if rules.edca() => {
            let message = "EDCA, the default of 802.11n, has a queue per access category; packets of class `real-time` \
                           use that of `voice`: write `[category_queue]`, or `access = \"dcf\"` in `[mac]`";
            return refuse("class_queue".to_owned(), message);
        }
        Some(_) if matches!(site.queues, Some(Queues::Mac80211 | Queues::Turns | Queues::Driver)) => {
            let message = "mac80211 and turns know categories, not classes: write `access = \"edca\"` in `[mac]` instead \
                           of `[class_queue]`";
            return refuse(format!("node.{}.queues", site.name), message);
        }
        Some(_) => Layout::by_class(),
        None if !site.class_queue.is_default() => {
            return refuse(of_node, "one node alone cannot have classes: write `[class_queue]` for all nodes");
        }
        None => Layout::by_category(rules.categories),
    };
    layout.wires = infrastructure.wires_of(node).collect();
    if site.role == Role::Wired {
        layout.groups = 0;
    }
    if site.queues.is_some_and(|queues| queues != Queues::One) {
        layout.stations = infrastructure.receivers(node);
        let is_from = |from: &str| from.strip_suffix('*').map_or(from == site.name, |head| site.name.starts_with(head));
        let broadcasts = network.flow.iter().any(|flow| flow.to == "broadcast" && is_from(&flow.from))
            || network.routing.protocol != Protocol::Static
            || site.queues == Some(Queues::Driver)
            || infrastructure.access_point(node).is_none() && basis.sites.iter().any(|site| site.real);
        layout.groups = (layout.stations.len() + usize::from(broadcasts)).max(1);
    }
    Ok(layout)
}

/// Returns the settings of a node's radio port and the name of their table: of a class, of a category, or of the node.
fn described<'n>(
    site: &'n Site,
    network: &'n Network,
    class: Option<Class>,
    category: Option<Category>,
) -> Result<(&'n queue::Settings, String), BuildError> {
    if let (Some(class), Some(shared)) = (class, &network.class_queue) {
        for (queues, at) in
            [(&site.class_queue, format!("node.{}.class_queue", site.name)), (shared, "class_queue".to_owned())]
        {
            if let (Some(own), key) = queues.of(class) {
                return Ok((own, format!("{at}.{key}")));
            }
        }
    }
    for (queues, at) in [
        (&site.category_queue, format!("node.{}.category_queue", site.name)),
        (&network.category_queue, "category_queue".to_owned()),
    ] {
        match category.map(|category| queues.of(category)) {
            Some((Some(own), key)) => return Ok((own, format!("{at}.{key}"))),
            None if !queues.is_default() => {
                return Err(BuildError::new(at, "the DCF has one category: write `access = \"edca\"` in `[mac]`"));
            }
            Some((None, _)) | None => {}
        }
    }
    Ok(match &site.queue {
        Some(own) => (own, format!("node.{}.queue", site.name)),
        None => (&network.queue, "queue".to_owned()),
    })
}

/// Quantities that every port measures, and orders that every port carries out.
const MEASURED: Reads =
    Reads::COUNTS.and(Reads::SOJOURN).and(Reads::GAP).and(Reads::SERVICE).and(Reads::AVERAGE).and(Reads::OCCUPANCY);
const CARRIED_OUT: Sets = Sets::LIMIT.and(Sets::RATE).and(Sets::MARK);

/// Builds a port with the settings of `table`. It measures `reads` and carries out orders in `sets`.
fn built(
    settings: &queue::Settings,
    table: &str,
    reads: Reads,
    sets: Sets,
    chance: &mut Stream,
) -> Result<Port, BuildError> {
    let (queue, controller) = settings.build(chance.up_to(u64::MAX)).map_err(|invalid| {
        BuildError::new(format!("{table}.{}", invalid.parameter), format!("`{}` {}", invalid.parameter, invalid.why))
    })?;
    if let Some(lacking) = controller.needs().obstacle(reads, sets) {
        let name = controller.name();
        return Err(BuildError::new(format!("{table}.controller"), format!("`{name}` cannot be simulated: {lacking}")));
    }
    Ok(Port::new(queue, controller, Shaper::new(settings.burst())))
}

/// Returns the modes of a node: a fixed mode, two levels, or the modes among which rate control chooses.
fn rates(address: u32, site: &Site, low: Option<&LowLevel>, basis: &Basis) -> Result<Rates, BuildError> {
    let Basis { network, generations, rules, seed, .. } = *basis;
    let mode = radio::mode(site, &network.radio)?;
    if let Some(low) = low {
        if generations.standards().is_some() {
            let why = "a low level needs nodes of one standard; leave `low` or the nodes' `standard` out";
            return Err(BuildError::new(format!("node.{}.consumption.low", site.name), why));
        }
        return Ok(Rates::of_two(mode, low_mode(site, network, rules, low)?));
    }
    let (algorithm, modes): (_, fn(&Radio) -> Vec<Mode>) = match network.mac.rate_control.algorithm {
        RateAlgorithm::Fixed => {
            let one = |radio: &Radio| radio.data_mode().into_iter().collect();
            let (sets, of_peer) = generations.of(address, vec![mode], one);
            return Ok(Rates::fixed(sets, of_peer));
        }
        RateAlgorithm::Arf => (Algorithm::Arf, Radio::ladder),
        RateAlgorithm::Aarf => (Algorithm::Aarf, Radio::ladder),
        RateAlgorithm::MinstrelHt => (Algorithm::Minstrel, Radio::all_modes),
    };
    if site.data_rate.is_some() || site.mcs.is_some() {
        let why = "rate control chooses the mode; leave `data_rate` and `mcs` of nodes out";
        return Err(BuildError::new(format!("node.{}", site.name), why));
    }
    let why = "a nominal rate has no slower rates; write `mcs`, or `algorithm = \"fixed\"`";
    refuse_if!(network.radio.nominal_rate.is_some(), Err(BuildError::new("mac.rate_control.algorithm", why)));
    let random = Stream::new(seed, &site.name, Purpose::RATE_CONTROL);
    let all = radio::own(site, &network.radio)?.map_or_else(|| modes(&network.radio), |own| modes(&own));
    let (sets, of_peer) = generations.of(address, all, modes);
    Ok(Rates::new(algorithm, sets, of_peer, &Costs::new(&rules.timing), random))
}
