//! Stations that roam. At each access point such a station is a separate node, with its own queues, rates and sessions.
//! One of these nodes at a time is present. The times of moves depend only on signals, so all are known at the start.

use super::sites::Site;
use crate::config::{Network, Queues, Roaming, Role};
use crate::motion::{Motion, Presence};
use crate::radio::{Channel, Signals};
use crate::world::error::BuildError;
use units::{Duration, Instant, Power, refuse_if};

/// Interval of beacons. A station checks the signal at each beacon.
const BEACON: Duration = Duration::from_micros(102_400);
/// Number of missed beacons in a row after which Linux gives up an access point (`beacon_loss_count`).
const LOST: u32 = 7;
/// While the signal is good, searches are rarer by this factor (`bgscan="simple:30:-65:300"`).
const SELDOM: u64 = 10;

/// The nodes of a roaming station, one for each access point.
#[derive(Clone, Debug)]
pub(crate) struct Family {
    /// The station's node at each access point. The first node stands for the station in flows and results.
    pub(crate) nodes: Vec<u32>,
    access_points: Vec<u32>,
    /// True if the station begins at the strongest access point; false if it begins at the first one.
    seeks_first: bool,
}

/// A move of a station from one of its nodes to another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Turn {
    pub(crate) to: u32,
    pub(crate) access_point: u32,
    pub(crate) leaves: Instant,
    pub(crate) comes: Instant,
}

impl Family {
    pub(crate) fn home(&self) -> u32 {
        self.nodes[0]
    }

    /// Returns the indices and signals of the access points that the station can decode now, the strongest last.
    fn heard(&self, signals: &mut Signals, now: Instant) -> Vec<(usize, Power)> {
        let pairs = (0..).zip(self.access_points.iter().zip(&self.nodes));
        let mut heard: Vec<_> =
            pairs.filter_map(|(at, (&from, &to))| Some((at, signals.decoded(from, to, now)?))).collect();
        // Among equally strong access points the first one is sorted last.
        heard.sort_by(|(one, power), (other, than)| power.as_watts().total_cmp(&than.as_watts()).then(other.cmp(one)));
        heard
    }

    fn turn(&self, place: usize, leaves: Instant, outage: Duration) -> Turn {
        Turn { to: self.nodes[place], access_point: self.access_points[place], leaves, comes: leaves + outage }
    }

    /// Returns the station's moves that follow from signal strength.
    fn by_signal(&self, roaming: &Roaming, signals: &mut Signals, end: Instant) -> Vec<Turn> {
        let (mut now, mut turns) = (Instant::ZERO, Vec::new());
        let mut at = 0;
        if let (true, Some(&(strongest, _))) = (self.seeks_first, self.heard(signals, now).last()) {
            at = strongest;
        }
        turns.push(self.turn(at, now, Duration::ZERO));
        let (mut missed, mut was_good, mut searched) = (0, true, now);
        now += BEACON;
        while now < end {
            let heard = self.heard(signals, now);
            let signal = heard.iter().find(|&&(place, _)| place == at).map(|&(_, signal)| signal);
            missed = if signal.is_some() { 0 } else { missed + 1 };
            let is_good = signal.is_some_and(|signal| signal.as_watts() >= roaming.threshold.as_watts());
            let rests = roaming.scan_interval.get() * if is_good { SELDOM } else { 1 };
            let is_due = missed >= LOST || (signal.is_some() && was_good && !is_good) || now.since(searched) >= rests;
            was_good = is_good;
            let looked = now;
            now += BEACON;
            if !is_due {
                continue;
            }
            searched = looked;
            let Some(&(best, than)) = heard.last().filter(|&&(best, _)| best != at) else { continue };
            let better = |signal: Power| than.as_watts() >= signal.as_watts() * roaming.hysteresis.as_ratio();
            // While the station misses beacons it knows no signal to compare with.
            if signal.map_or(missed >= LOST, better) {
                turns.push(self.turn(best, searched, roaming.outage.get()));
                (at, missed, was_good) = (best, 0, true);
                now = now.max(searched + roaming.outage.get() + BEACON);
            }
        }
        turns
    }

    /// Returns the station's moves that the scenario lists.
    fn by_hand(&self, roaming: &Roaming, site: &Site, sites: &[Site]) -> Result<Vec<Turn>, BuildError> {
        let mut turns = vec![self.turn(0, Instant::ZERO, Duration::ZERO)];
        for (step, index) in roaming.moves.iter().zip(0..) {
            let refuse = |key: &str, message: String| {
                Err(BuildError::new(format!("node.{}.roaming.moves.{index}.{key}", site.name), message))
            };
            let named = |&&node: &&u32| sites[node as usize].name == step.access_point;
            let Some(place) = self.access_points.iter().position(|node| named(&node)) else {
                return refuse("access_point", format!("there is no access point `{}`", step.access_point));
            };
            let last = turns.last().expect("it begins somewhere");
            let turn = self.turn(place, Instant::ZERO + step.time, roaming.outage.get());
            if turn.to == last.to {
                return refuse("access_point", format!("`{}` is at `{}` already", site.name, step.access_point));
            }
            if turn.leaves <= last.comes {
                return refuse(
                    "time",
                    format!("moves must be in order, each more than {} after the previous move", roaming.outage.get()),
                );
            }
            turns.push(turn);
        }
        Ok(turns)
    }
}

/// Adds the nodes of roaming stations after all other nodes with a radio.
pub(crate) fn families(sites: &mut Vec<Site>) -> Result<Vec<Family>, BuildError> {
    let is_access_point = |(_, site): &(u32, &Site)| site.role == Role::AccessPoint;
    let name = |(node, site): (u32, &Site)| (node, site.name.clone());
    let access_points: Vec<(u32, String)> = (0..).zip(&*sites).filter(is_access_point).map(name).collect();
    let mut families = Vec::new();
    let described = sites.iter().filter(|site| site.role != Role::Wired).count();
    let mut radios = described;
    for home in 0..described {
        if sites[home].roaming.is_none() {
            continue;
        }
        check(&sites[home], access_points.len())?;
        let first = sites[home].access_point.clone();
        let mut order = access_points.clone();
        order.sort_by_key(|(_, name)| first.as_ref().is_some_and(|first| name != first));
        sites[home].access_point.get_or_insert(order[0].1.clone());
        let mut family =
            Family { nodes: vec![number(home)], access_points: vec![order[0].0], seeks_first: first.is_none() };
        for (access_point, name) in &order[1..] {
            let site = &sites[home];
            let there = Site {
                name: format!("{}@{name}", site.name),
                access_point: Some(name.clone()),
                real: false,
                roaming: None,
                ..site.clone()
            };
            if sites.iter().any(|other| other.name == there.name) {
                let message = format!("roaming gives this name to `{}` at `{name}`; choose another", sites[home].name);
                return Err(BuildError::new(format!("node.{}", there.name), message));
            }
            sites.insert(radios, there);
            family.nodes.push(number(radios));
            family.access_points.push(*access_point);
            radios += 1;
        }
        families.push(family);
    }
    debug_assert!(families.iter().all(|family| family.nodes.len() == access_points.len()), "one at each");
    Ok(families)
}

fn number(place: usize) -> u32 {
    u32::try_from(place).expect("fewer than 2^32 nodes")
}

/// Refuses settings that a roaming station cannot have.
fn check(site: &Site, access_points: usize) -> Result<(), BuildError> {
    let refusals = [
        (site.role != Role::Station, "roaming", "only stations roam"),
        (access_points < 2, "roaming", "there is no other access point to roam to"),
        (
            site.power_save.is_some(),
            "power_save",
            "a station that roams cannot sleep in the model; leave `power_save` or `roaming` out",
        ),
        (site.consumption.is_some(), "consumption", "the energy of a station that roams is not counted"),
        (
            site.queues == Some(Queues::Driver),
            "queues",
            "the kernel decides where its station roams; leave `roaming` out",
        ),
    ];
    let refusal = refusals.into_iter().find(|&(refused, ..)| refused);
    refusal.map_or(Ok(()), |(_, key, why)| Err(BuildError::new(format!("node.{}.{key}", site.name), why)))
}

/// Returns the names of all nodes. The nodes of a family have the same name.
pub(crate) fn alike(names: &[String], families: &[Family]) -> Vec<String> {
    let mut alike = names.to_vec();
    for family in families {
        family.nodes.iter().for_each(|&node| alike[node as usize].clone_from(&names[family.home() as usize]));
    }
    alike
}

/// Returns the moves of each family, its start first, and the movement of all nodes; a family's nodes take turns.
pub(crate) fn turns(
    network: &Network,
    (sites, families): (&[Site], &[Family]),
    motion: Motion,
    channel: &Channel,
) -> Result<(Motion, Vec<Vec<Turn>>), BuildError> {
    if families.is_empty() {
        return Ok((motion, Vec::new()));
    }
    let mut signals = Signals::new(&network.radio, motion.clone(), channel);
    let end = Instant::ZERO + network.duration;
    let of = |family: &Family| {
        let site = &sites[family.home() as usize];
        let refuse = |message: &str| Err(BuildError::new(format!("node.{}.roaming", site.name), message));
        let roaming = site.roaming.as_ref().expect("it roams");
        let told = motion.presence(family.home()).is_some();
        refuse_if!(told, refuse("the movement file sets when nodes are present: leave `roaming` out"));
        refuse_if!(network.radio.rooms.is_some(), refuse("walls are for nodes that stand still; leave `rooms` out"));
        let by_hand = !roaming.moves.is_empty();
        site.marks.read_where(&[(!by_hand, &["roaming.threshold", "roaming.hysteresis", "roaming.scan_interval"])]);
        if by_hand {
            return family.by_hand(roaming, site, sites);
        }
        if !network.radio.propagation.has_powers() {
            return refuse("`propagation = \"range\"` has no powers to compare: set `moves` or another propagation");
        }
        Ok(family.by_signal(roaming, &mut signals, end))
    };
    let turns = families.iter().map(of).collect::<Result<Vec<_>, _>>()?;
    let motion = motion.with_presence(presence(families, &turns));
    Ok((motion, turns))
}

/// Returns when the nodes of roaming stations are present.
fn presence(families: &[Family], turns: &[Vec<Turn>]) -> impl Iterator<Item = (u32, Presence)> {
    let of = |(family, turns): (&Family, &Vec<Turn>)| {
        let of_node = |&node: &u32| {
            let mut presence = if turns[0].to == node { Presence::default() } else { Presence::later() };
            for pair in turns.windows(2) {
                if pair[0].to == node {
                    presence.turn(pair[1].leaves, false);
                }
                if pair[1].to == node {
                    presence.turn(pair[1].comes, true);
                }
            }
            (node, presence)
        };
        family.nodes.iter().map(of_node).collect::<Vec<_>>()
    };
    families.iter().zip(turns).flat_map(of)
}
