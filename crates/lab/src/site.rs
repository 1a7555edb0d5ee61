//! Turns a list of access points and stations with their positions, in CSV or GeoJSON, into a scenario.
//!
//! Each column of CSV or property of GeoJSON is a key of `[[node]]`. Positions are `x`, `y` and perhaps `z` in metres,
//! or `lat` and `lon` in degrees. Points of GeoJSON (RFC 7946) are in degrees.

use serde_json::Value as Json;
use toml::{Table, Value};

/// Length of a degree of latitude in metres, on a sphere with the earth's mean radius.
const DEGREE: f64 = 6_371_008.8 * std::f64::consts::PI / 180.0;
/// Radio and traffic of the scenario. Lists of nodes do not contain them.
const NETWORK: &str = include_str!("site/network.toml");
const COMPARISON: &str = r#"[vary]
seeds = 3
queues = [
  { label = "as listed", set = {} },
  { label = "turns", set = { TURNS } },
]

[[table]]
title = "Delay and goodput"
rows = "queues"
cell = [
  { title = "worst RTT p99 (ms)", measure = "max(flows.ping*.rtt_s.p99)" },
  { title = "goodput (Mb/s)", measure = "totals.goodput_bps" },
]
"#;

/// A node with its position, in metres, or in degrees east, degrees north and metres.
struct Node {
    keys: Table,
    at: [f64; 3],
    is_access_point: bool,
}

/// True if a text is a list of nodes: GeoJSON, or CSV with positions.
pub fn is_site(text: &str) -> bool {
    separator(text).is_some() || is_json(text) && text.contains("\"FeatureCollection\"")
}

/// Returns the separator of CSV columns, if some columns are a position.
fn separator(text: &str) -> Option<u8> {
    let header = text.lines().next().unwrap_or_default();
    let has_position = |by: &u8| {
        let names: Vec<&str> = header.split(char::from(*by)).map(|name| name.trim().trim_matches('"')).collect();
        [["x", "y"], ["lat", "lon"]].iter().any(|pair| pair.iter().all(|name| names.contains(name)))
    };
    [b',', b';', b'\t'].into_iter().find(has_position)
}

fn is_json(text: &str) -> bool {
    text.trim_start().starts_with('{')
}

/// Returns the text of a scenario with the nodes of a list. `about`: where the list comes from.
///
/// # Errors
/// Names the invalid node, and says why.
pub fn scenario(text: &str, about: &str) -> Result<String, String> {
    let mut nodes = if is_json(text) { of_geojson(text)? } else { of_csv(text)? };
    let points: Vec<(Value, [f64; 3])> =
        nodes.iter().filter(|it| it.is_access_point).map(|it| (it.keys["name"].clone(), it.at)).collect();
    if points.is_empty() || points.len() == nodes.len() {
        return Err(format!(
            "{} of its {} nodes are access points; a site needs access points and stations",
            points.len(),
            nodes.len()
        ));
    }
    let mut parts = vec![format!("title = \"A site\"\nabout = {}\n{NETWORK}", Value::from(about))];
    for Node { keys, at, is_access_point } in &mut nodes {
        if *is_access_point {
            keys.entry("queues").or_insert("mac80211".into());
        } else if !keys.contains_key("access_point") {
            let far = |from: &[f64; 3]| (0..3).map(|axis| (from[axis] - at[axis]).powi(2)).sum::<f64>();
            let nearest = points.iter().min_by(|(_, one), (_, other)| far(one).total_cmp(&far(other)));
            keys.extend(nearest.map(|(name, _)| ("access_point".to_owned(), name.clone())));
        }
        keys.insert("position".into(), at.map(|metres| format!("{metres:.2} m")).to_vec().into());
        let node = Value::from(vec![std::mem::take(keys)]);
        parts.push(format!("{}\n", Table::from_iter([("node".to_owned(), node)])));
    }
    let mut turns = Vec::new();
    for (name, _) in points {
        parts.push(format!("[[wired]]\nbetween = [\"server\", {name}]\nrate = \"1 Gb/s\"\ndelay = \"5 ms\"\n\n"));
        let key = format!("node.{}.queues", name.as_str().unwrap_or_default());
        turns.push(format!("{} = \"turns\"", Value::from(key)));
    }
    parts.push(COMPARISON.replace("TURNS", &turns.join(", ")));
    Ok(parts.concat())
}

fn of_csv(text: &str) -> Result<Vec<Node>, String> {
    let by = separator(text).unwrap_or(b',');
    let mut reader = ::csv::ReaderBuilder::new().delimiter(by).trim(::csv::Trim::All).from_reader(text.as_bytes());
    let header = reader.headers().map_err(|error| error.to_string())?.clone();
    let mut nodes = Vec::new();
    let in_degrees = header.iter().any(|name| name == "lat");
    for record in reader.records() {
        let record = record.map_err(|error| error.to_string())?;
        let line = record.position().map_or(0, ::csv::Position::line);
        let wrong = |why: &str| format!("line {line}: {why}");
        let (mut at, mut is_placed) = ([f64::NAN, f64::NAN, 0.0], [false; 3]);
        let mut keys = Table::new();
        for (name, text) in header.iter().zip(&record).filter(|(_, text)| !text.is_empty()) {
            let axis = match name {
                "x" | "lon" => 0,
                "y" | "lat" => 1,
                "z" => 2,
                _ => {
                    // Numbers and truth values are as in TOML. Any other value is text.
                    let value: Result<Value, _> = text.parse();
                    let value = value.ok().filter(|value| value.is_integer() || value.is_float() || value.is_bool());
                    keys.insert(name.to_owned(), value.unwrap_or_else(|| text.into()));
                    continue;
                }
            };
            if std::mem::replace(&mut is_placed[axis], true) {
                return Err(wrong(&format!("`{name}` is a coordinate that another column gives, too")));
            }
            at[axis] = text.parse().map_err(|_| wrong(&format!("`{name}` must be a number, not `{text}`")))?;
        }
        nodes.push(node(keys, at).map_err(|why| wrong(&why))?);
    }
    if in_degrees { flatten(nodes) } else { Ok(nodes) }
}

fn of_geojson(text: &str) -> Result<Vec<Node>, String> {
    let json: Json = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let features = json["features"].as_array().ok_or("it has no `features`")?;
    let points = features.iter().filter(|feature| feature["geometry"]["type"] == "Point");
    let one = |(number, feature): (usize, &Json)| {
        let place = |axis: usize| feature["geometry"]["coordinates"][axis].as_f64();
        let (Some(lon), Some(lat)) = (place(0), place(1)) else {
            return Err(format!("point {number} has no coordinates"));
        };
        let mut keys = feature["properties"].clone();
        if let Some(keys) = keys.as_object_mut() {
            keys.retain(|_, value| !value.is_null());
        }
        let keys = Table::try_from(keys).map_err(|error| format!("point {number}: {error}"))?;
        node(keys, [lon, lat, place(2).unwrap_or(0.0)]).map_err(|why| format!("point {number}: {why}"))
    };
    flatten((1..).zip(points).map(one).collect::<Result<_, _>>()?)
}

/// Checks the name, role and position that each node must have. `sluice check` knows the other keys.
fn node(mut keys: Table, at: [f64; 3]) -> Result<Node, String> {
    if keys.get("name").and_then(Value::as_str).is_none_or(|name| name.is_empty() || name.contains(['.', '*'])) {
        return Err("a node needs a `name` that is text, without `.` and `*`".to_owned());
    }
    let is_access_point = match keys.remove("role") {
        None => false,
        Some(role) => match role.as_str() {
            Some("ap" | "access-point") => true,
            Some("sta" | "station") => false,
            _ => return Err(format!("the role {role} is neither `access-point` nor `station`")),
        },
    };
    if is_access_point {
        keys.insert("role".into(), "access-point".into());
    }
    if at.iter().any(|value| !value.is_finite()) {
        return Err("a node needs a position of finite numbers".to_owned());
    }
    Ok(Node { keys, at, is_access_point })
}

/// Turns degrees into metres from the south-western corner of all nodes, on the plane tangent to the earth there.
fn flatten(mut nodes: Vec<Node>) -> Result<Vec<Node>, String> {
    if let Some(Node { at: [lon, lat, _], .. }) =
        nodes.iter().find(|it| it.at[0].abs() > 180.0 || it.at[1].abs() > 90.0)
    {
        return Err(format!("latitude {lat} or longitude {lon} is out of range"));
    }
    // Longitudes count from a node, not from Greenwich, so that a site may lie across the 180th meridian.
    let from = nodes.first().map_or(0.0, |it| it.at[0]);
    for Node { at, .. } in &mut nodes {
        at[0] = (at[0] - from + 540.0).rem_euclid(360.0) - 180.0;
    }
    let least = |axis: usize| nodes.iter().map(|node| node.at[axis]).fold(f64::INFINITY, f64::min);
    let (west, south) = (least(0), least(1));
    for Node { at, .. } in &mut nodes {
        at[0] = (at[0] - west) * DEGREE * south.to_radians().cos();
        at[1] = (at[1] - south) * DEGREE;
    }
    Ok(nodes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use experiment::scenario::{Scenario, Wishes};
    use sim::config::{Network, Place};
    use units::Length;

    const CSV: &str = "name, role, x, y, z, channel, tx_power, mcs\nhall, ap, 0, 0, 2.5, 36, 17 dBm,\n\
                       lab, access-point, 40, 0, , 52, ,\nlaptop, , 12, 3, 1, , , 7\ndesk, station, 25, 0, , , ,\n";

    fn network(text: &str) -> Network {
        let text = scenario(text, "A list.").expect("a scenario");
        Scenario::parse("site.toml", text.as_bytes(), &Wishes::default())
            .unwrap_or_else(|why| panic!("{why}\n{text}"))
            .base
    }

    #[test]
    fn columns_are_keys_of_nodes_and_stations_join_the_nearest_access_point() {
        assert!(is_site(CSV));
        let network = network(CSV);
        let node = |name: &str| network.node.iter().find(|node| node.name == name).expect("it is listed");
        assert_eq!([node("laptop"), node("desk")].map(|it| it.access_point.as_deref()), [Some("hall"), Some("lab")]);
        let metres = Length::metres;
        assert_eq!(
            node("laptop").position,
            Some(Place { height: Some(metres(1.0)), ..Place::flat(metres(12.0), metres(3.0)) })
        );
        assert_eq!((node("hall").channel, node("lab").channel), (Some(36), Some(52)));
        assert!(node("hall").tx_power.is_some() && node("lab").tx_power.is_none());
        assert_eq!((network.node.len(), network.wired.len(), network.flow.len()), (5, 2, 2));
    }

    #[test]
    fn degrees_become_metres_east_and_north_of_the_south_western_corner() {
        let point = |name: &str, role: &str, lon: f64, lat: f64| {
            format!(
                "{{\"type\": \"Feature\", \"properties\": {{\"name\": \"{name}\", \"role\": \"{role}\"}}, \
                 \"geometry\": {{\"type\": \"Point\", \"coordinates\": [{lon}, {lat}]}}}}"
            )
        };
        let points = [point("a", "ap", 179.9995, 60.0), point("s", "sta", -179.9995, 60.001)].join(", ");
        let points = points.replace("\"role\": \"sta\"", "\"role\": null");
        let geojson = format!("{{\"type\": \"FeatureCollection\", \"features\": [{points}]}}");
        let csv = "\"name\"\trole\tlat\tlon\na\tap\t60.0\t179.9995\ns\tsta\t60.001\t-179.9995\n";
        assert!(is_site(&geojson) && is_site(csv));
        assert_eq!(scenario(&geojson, ""), scenario(csv, ""));
        let station = &network(csv).node[2];
        // A degree of latitude is 111.195 km, one of longitude half of it at 60 degrees north.
        let at = station.position.expect("it has one");
        assert_eq!([at.x, at.y], [55.60, 111.20].map(Length::metres));
        let queued = network(&geojson.replace("\"a\"", "\"a\", \"queue\": {\"limit\": 5}"));
        assert_eq!(queued.node.iter().map(|node| node.queue.is_some()).collect::<Vec<_>>(), [false, true, false]);
    }

    #[test]
    fn what_is_wrong_is_told_with_its_place() {
        for (text, said) in [
            ("name,x,y\na,1,2\n", "0 of its 1 nodes are access points"),
            ("name,role,x,y\na,ap,1,2\nb,router,1,2\n", "line 3: the role \"router\""),
            ("name,role,x,y\na,ap,east,2\n", "line 2: `x` must be a number, not `east`"),
            ("name,role,x,y\na,ap,inf,2\n", "line 2: a node needs a position of finite numbers"),
            ("name,role,x,y\na,ap,1,\n", "line 2: a node needs a position of finite numbers"),
            ("name;role;x;y\na;ap;3,5;2\n", "line 2: `x` must be a number, not `3,5`"),
            ("name,role,lat,lon\na,ap,100,2\n", "latitude 100 or longitude 2 is out of range"),
            ("name,role,x,y\n,ap,1,2\n", "line 2: a node needs a `name`"),
            ("name,role,x,y\na,ap,1\n", "line: 2"),
            ("name,role,x,y\nhall.1,ap,1,2\n", "line 2: a node needs a `name` that is text, without"),
            ("name,role,x,y\na,1,1,2\n", "line 2: the role 1 is neither"),
            ("name,role,lat,lon,x,y\na,ap,1,2,0,0\n", "line 2: `x` is a coordinate that another column gives"),
            ("{\"type\": \"FeatureCollection\"}", "it has no `features`"),
        ] {
            assert!(is_site(text), "{text}");
            let error = scenario(text, "").expect_err("wrong");
            assert!(error.contains(said), "{text}: {error}");
        }
        assert!(["", "{}", "Interface wlan0\n", "{\"at\": 1}\n"].iter().all(|other| !is_site(other)));
    }
}
