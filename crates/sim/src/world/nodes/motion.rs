//! Builds the movement of nodes.

use super::roaming::Family;
use super::sites::Site;
use crate::config::{Mobility, MobilityModel, Network, Place, Speeds};
use crate::engine::{Purpose, Stream};
use crate::motion::{Command, Form, Motion, Movement, Order, Position, RandomWaypoint, Walk, read};
use crate::world::error::BuildError;
use units::{Duration, Instant, Length, refuse_if};

/// Shortest time in which a node may cross its area. Faster nodes are a mistake and would change direction too often.
const SHORTEST_CROSSING: Duration = Duration::from_millis(1);
/// Lowest speed, in metres per second. A node that needs a day for 100 m counts as standing still.
const SLOWEST: f64 = 0.001;
/// Longest side of an area in metres.
const LONGEST_SIDE: f64 = 1e9;

/// Returns the movement of all nodes with a radio. The nodes of a family move like its first node.
pub(crate) fn motion(network: &Network, sites: &[Site], families: &[Family], seed: u64) -> Result<Motion, BuildError> {
    let mobility = &network.mobility;
    let followers = || families.iter().flat_map(|family| std::iter::repeat_n(family.home(), family.nodes.len() - 1));
    let sites = &sites[..sites.len() - followers().count()];
    let mut movements = match mobility.model {
        MobilityModel::Setdest => movements(mobility, Form::Setdest, sites)?,
        MobilityModel::Fcd => movements(mobility, Form::Fcd, sites)?,
        MobilityModel::Static | MobilityModel::RandomWaypoint => vec![None; sites.len()],
    };
    if mobility.model != MobilityModel::Static && sites.iter().all(|site| site.position.is_some()) {
        let message =
            "no node moves: each has a `placement` or `position`; leave those out for the model to place them";
        return Err(BuildError::new("mobility.model", message));
    }
    let walks = sites.iter().zip(&mut movements).map(|(site, movement)| match (site.position, movement.take()) {
        (Some(position), None) => itinerary(site, site.marks.read("position", position).into()),
        (None, Some(Movement { start, commands, presence })) => {
            Ok(Walk::scripted(start, commands).with_presence(presence))
        }
        (Some(_), Some(_)) => {
            let message = format!("the movement file moves `{}` too: leave `position` out", site.name);
            Err(BuildError::new(format!("node.{}.position", site.name), message))
        }
        (None, None) if !site.waypoints.is_empty() => {
            let message = format!("`{}` needs a `position` at which its waypoints begin", site.name);
            Err(BuildError::new(format!("node.{}.waypoints", site.name), message))
        }
        (None, None) => match mobility.model {
            MobilityModel::RandomWaypoint => random_waypoint(mobility, &site.name, seed),
            MobilityModel::Setdest | MobilityModel::Fcd => {
                let message = format!("the movement file has no start for node `{}`", site.name);
                Err(BuildError::new("mobility.file", message))
            }
            MobilityModel::Static => {
                let message = format!("node `{}` has no position", site.name);
                let given = network.node.iter().any(|node| node.name == site.name);
                let path = if given { format!("node.{}", site.name) } else { "nodes".to_owned() };
                Err(BuildError::new(path, message))
            }
        },
    });
    let mut walks = walks.collect::<Result<Vec<_>, _>>()?;
    for home in followers() {
        walks.push(walks[home as usize].clone());
    }
    Ok(Motion::new(walks))
}

impl From<Place> for Position {
    fn from(place: Place) -> Self {
        Self { x: place.x.as_metres(), y: place.y.as_metres(), z: place.height.map_or(0.0, Length::as_metres) }
    }
}

/// Returns the movement of a node that stands still or follows its waypoints.
fn itinerary(site: &Site, start: Position) -> Result<Walk, BuildError> {
    if site.waypoints.windows(2).any(|pair| pair[0].time >= pair[1].time) {
        let message = "waypoints must be in order of `time`";
        return Err(BuildError::new(format!("node.{}.waypoints", site.name), message));
    }
    let commands = site.waypoints.iter().map(|waypoint| {
        let Position { x, y, z } = waypoint.position.into();
        let height = waypoint.position.height.map(|_| z);
        let order = Order::Go { x, y, z: height, speed: waypoint.speed.as_metres_per_second() };
        Command { time: Instant::ZERO + waypoint.time, order }
    });
    Ok(Walk::scripted(start, commands.collect()))
}

fn random_waypoint(mobility: &Mobility, name: &str, seed: u64) -> Result<Walk, BuildError> {
    let missing = |key: &str, example: &str| {
        BuildError::new("mobility.model", format!("random waypoint needs `{key}`, as `{key} = {example}`"))
    };
    let area =
        mobility.marks.read("area", mobility.area).ok_or_else(|| missing("area", "[\"1500 m\", \"300 m\"]"))?.into();
    let Speeds { from, to } = mobility
        .marks
        .read("speed", mobility.speed)
        .ok_or_else(|| missing("speed", "{ from = \"1 m/s\", to = \"20 m/s\" }"))?;
    let (slowest, fastest) = (from.as_metres_per_second(), to.as_metres_per_second());
    check_walk(area, slowest, fastest)?;
    let start = mobility.marks.read("start", mobility.start);
    let pause = mobility.marks.read("pause", mobility.pause);
    let random = Stream::new(seed, name, Purpose::MOTION);
    Ok(Walk::random(RandomWaypoint::new(area, slowest, fastest, pause, random), start))
}

fn check_walk(area: Position, slowest: f64, fastest: f64) -> Result<(), BuildError> {
    if [area.x, area.y].into_iter().any(|side| side <= 0.0 || side > LONGEST_SIDE) {
        return Err(BuildError::new("mobility.area", "sides must be above zero and at most 1000000 km"));
    }
    if slowest > fastest {
        return Err(BuildError::new("mobility.speed", "`from` is the slowest speed: it is above `to`"));
    }
    let message = "below 1 mm/s a leg lasts for days; give a node that stands still a `position`";
    refuse_if!(slowest < SLOWEST, Err(BuildError::new("mobility.speed.from", message)));
    if Position::default().distance(area) < fastest * SHORTEST_CROSSING.as_secs_f64() {
        return Err(BuildError::new("mobility.speed.to", "at this speed a node crosses the area within a millisecond"));
    }
    Ok(())
}

/// Returns each node's movements in the movement file. If the scenario has nodes of all numbers in the file, node 3 of
/// the file is node 3 of the scenario, counted from 0. If nodes are missing, or if the file has names, its nodes are
/// those of the scenario without a position, in order.
fn movements(mobility: &Mobility, form: Form, sites: &[Site]) -> Result<Vec<Option<Movement>>, BuildError> {
    let Some(file) = mobility.marks.read("file", &mobility.file) else {
        return Err(BuildError::new("mobility.model", "this model needs a `file`"));
    };
    let refuse = |message: String| BuildError::new("mobility.file", message);
    let bytes = file.content().ok_or_else(|| refuse(format!("`{}` has not been read", file.path())))?;
    let movements = read(bytes, form).map_err(|fault| {
        refuse(format!("`{}`, {fault}", file.path())).with_note(format!("the line reads: {}", fault.text))
    })?;
    let number = |name: &String| name.parse().ok().filter(|&number: &usize| number < sites.len());
    let numbers: Option<Vec<usize>> = match form {
        Form::Setdest => movements.nodes.iter().map(|(name, _)| number(name)).collect(),
        Form::Fcd => None,
    };
    let places = numbers.unwrap_or_else(|| (0..sites.len()).filter(|&site| sites[site].position.is_none()).collect());
    if places.len() < movements.nodes.len() {
        let message = format!(
            "`{}` moves {} nodes, but the scenario has only {} without a position",
            file.path(),
            movements.nodes.len(),
            places.len()
        );
        return Err(refuse(message));
    }
    let mut found = vec![None; sites.len()];
    for (place, (_, movement)) in places.into_iter().zip(movements.nodes) {
        found[place] = Some(movement);
    }
    Ok(found)
}
