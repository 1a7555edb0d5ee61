//! Forecasts of simulated access points, which are given what Linux shows: survey, modes, bytes.

use experiment::homes::Home;
use experiment::scenario::{Scenario, Wishes};
use lab::forecast::{ARMS, Air, DRAWS, Interval, forecast};
use serde_json::{Value, json};
use sim::World;
use sim::config::Network;
use sim::radio::{Format, Mode};
use sim::results::Outcome;
use sim::trace::{Frame, Kind, TraceEventKind};
use units::Duration;

/// Simulated time of a true outcome after its warm-up, in seconds.
const TRUTH: u64 = 60;
const STEP: Duration = Duration::from_millis(100);

/// Reads a network with these settings.
fn network(text: &str, seconds: u64, set: &[&str]) -> Network {
    let mut set: Vec<String> = set.iter().map(|&it| it.to_owned()).collect();
    set.extend([format!("duration={} s", seconds + 4), "warmup=4 s".to_owned(), "record.series=100 ms".to_owned()]);
    let wishes = Wishes { set, base_only: true, ..Wishes::default() };
    Scenario::parse("truth.toml", text.as_bytes(), &wishes).expect("a scenario").base
}

/// Counters of a station at its access point.
#[derive(Clone, Default)]
struct Counts {
    sent: u64,
    frames: usize,
    received: u64,
    airtime: Duration,
    modes: [Option<Mode>; 2],
}

/// Simulates an access point, and returns the recording that `sluice record` would write there.
fn recorded(network: &Network, seed: u64) -> (Outcome, String) {
    let mut world = World::new(network, seed).expect("a network");
    let nodes = world.roster().nodes;
    let place = |name: &str| {
        u32::try_from(nodes.iter().position(|node| node.name == name).expect("it is there")).expect("few nodes")
    };
    let ap = place("ap");
    let is_own = |node: u32| {
        let name = &nodes[node as usize].name;
        network.node.iter().any(|it| {
            it.count.map_or(it.name == *name, |_| name.starts_with(&it.name))
                && it.access_point.as_deref().is_none_or(|of| of == "ap")
                && it.role == sim::config::Role::Station
        })
    };
    world.watch(&[ap]);
    let mut stations = vec![Counts::default(); nodes.len()];
    let (mut sending, mut samples) = (Duration::ZERO, Vec::new());
    while !world.finished() {
        world.advance(STEP);
        for event in world.take_events() {
            match event.what {
                TraceEventKind::Sends(frame) => {
                    sending += frame.length;
                    if let (Kind::Data, Some(to)) = (frame.kind, frame.to) {
                        let station = &mut stations[to as usize];
                        station.sent += bytes(&frame, false);
                        station.frames += frame.mpdus.iter().filter(|mpdu| !mpdu.retry).count();
                        station.modes[0] = Some(frame.mode);
                    }
                }
                TraceEventKind::Hears(frame, _) if frame.kind == Kind::Data && frame.to == Some(ap) => {
                    let station = &mut stations[frame.from as usize];
                    station.received += bytes(&frame, true);
                    station.airtime += frame.length;
                    station.modes[1] = Some(frame.mode);
                }
                _ => {}
            }
        }
        samples.push((sending, stations.clone()));
    }
    let outcome = world.finish();
    let series = outcome.series.as_ref().expect("the settings ask for them");
    let busy = &series
        .nodes
        .iter()
        .find(|it| it.name.starts_with("ap") && !it.busy_ratio.is_empty())
        .expect("a radio")
        .busy_ratio;
    let (mut active_s, mut busy_s, mut text) = (0.0, 0.0, String::new());
    for ((sending, counts), ratio) in samples.iter().zip(busy) {
        active_s += 0.1;
        busy_s += 0.1 * ratio;
        let station = |node: u32| {
            let Counts { sent, frames, received, airtime, modes } = &counts[node as usize];
            json!({
                "address": nodes[node as usize].name, "sent_bytes": sent, "sent_frames": frames, "received_bytes": received,
                "received_airtime_s": airtime.as_secs_f64(), "sent_mode": mode(modes[0]), "received_mode": mode(modes[1]),
            })
        };
        let stations: Vec<Value> =
            (0..u32::try_from(nodes.len()).expect("few nodes")).filter(|&node| is_own(node)).map(station).collect();
        let air = json!({
            "role": "access point", "channel_mhz": network.radio.frequency.map_or(5_180, |it| it.as_hertz() / 1_000_000), "channel_active_s": active_s, "channel_busy_s": busy_s,
            "channel_sending_s": sending.as_secs_f64(), "stations": stations,
        });
        text += &json!({ "air": air, "at_s": active_s }).to_string();
        text.push('\n');
    }
    (outcome, text)
}

fn bytes(frame: &Frame, again: bool) -> u64 {
    let mpdus = frame.mpdus.iter().filter(|mpdu| if again { mpdu.intact } else { !mpdu.retry });
    mpdus.flat_map(|mpdu| &mpdu.packets).map(|packet| packet.length.count()).sum()
}

fn mode(mode: Option<Mode>) -> Option<Value> {
    let Some(Mode::Mimo(mimo)) = mode else { return None };
    let format = match mimo.format() {
        Format::Ht => "HT",
        Format::Vht => "VHT",
        Format::He => "HE",
    };
    let (width, guard) = (mimo.width().mhz(), mimo.guard().nanos() as f64 / 1e9);
    Some(json!({
        "format": format, "mcs": mimo.mcs(), "streams": mimo.streams(), "width_mhz": width, "guard_interval_s": guard,
    }))
}

/// Returns the slowest hundredth of the pings of a flow, in seconds.
fn p99(outcome: &Outcome, flow: &str) -> Option<f64> {
    Some(outcome.flows.iter().find(|it| it.name == flow)?.rtt_s?.p99)
}

/// Returns a number from the environment.
#[allow(clippy::disallowed_methods, reason = "which homes are measured is no result")]
fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|it| it.parse().ok()).unwrap_or(default)
}

/// A comparison of a forecast with what happened.
struct Row {
    truth: [f64; 2],
    now: Interval,
    then: Interval,
    ratio: Interval,
    verdict: &'static str,
    has_neighbour: bool,
}

impl Row {
    fn true_ratio(&self) -> f64 {
        self.truth[1] / self.truth[0]
    }

    fn says(&self) -> bool {
        matches!(self.verdict, "faster" | "slower")
    }

    fn is_right(&self) -> bool {
        (self.ratio.mid > 1.0) == (self.true_ratio() > 1.0)
    }
}

/// Compares over homes, for each arm and each of the stations that a home pings.
#[test]
#[ignore = "make nightly: twenty minutes of simulated homes"]
fn of_homes_nobody_tuned_to() {
    let (first, homes) = (number("FIRST", 2001), number("HOMES", 24));
    let (mut rows, mut refused) = (Vec::new(), 0);
    for home in first..first + homes {
        let text = Home::draw(home).text;
        let (today, recording) = recorded(&network(&text, TRUTH, &[]), 1);
        let mut air = match Air::read(&recording) {
            Ok(air) => air,
            Err(why) => {
                println!("home {home}: {why}");
                refused += 1;
                continue;
            }
        };
        // A home pings a station that downloads, or else one that is idle.
        let is_busy = today.flows.iter().any(|flow| flow.name == "ping busy");
        let flow = if is_busy { "ping busy" } else { "ping idle" };
        let asked = &today.flows.iter().find(|it| it.name == flow).expect("it is in every home").to;
        air.pinged = air.interface.stations.iter().position(|it| it.address == *asked).expect("it is there");
        let forecast = forecast(&air, &ARMS, DRAWS).expect("a forecast");
        println!(
            "home {home}: foreign {:.2}, {} draws at {:.1}, {}",
            forecast.foreign,
            forecast.draws,
            forecast.distance,
            Home::draw(home).traits.join(", "),
        );
        for (arm, (_, settings)) in forecast.arms.iter().zip(ARMS) {
            let truth = World::new(&network(&text, TRUTH, settings), 1).expect("a network").finish();
            let (Some(now), Some(then)) = (p99(&today, flow), p99(&truth, flow)) else { continue };
            println!(
                "  {:5} {flow}: {:.1} -> {:.1} ({:.2}); forecast {:.1} [{:.1} {:.1}] -> {:.1} [{:.1} {:.1}] ({:.2} [{:.2} {:.2}])",
                arm.name,
                1e3 * now,
                1e3 * then,
                then / now,
                1e3 * arm.now_s.mid,
                1e3 * arm.now_s.low,
                1e3 * arm.now_s.high,
                1e3 * arm.then_s.mid,
                1e3 * arm.then_s.low,
                1e3 * arm.then_s.high,
                arm.ratio.mid,
                arm.ratio.low,
                arm.ratio.high,
            );
            rows.push((
                arm.name.clone(),
                is_busy,
                Row {
                    truth: [now, then],
                    now: arm.now_s,
                    then: arm.then_s,
                    ratio: arm.ratio,
                    verdict: arm.verdict(),
                    has_neighbour: forecast.foreign > 0.2,
                },
            ));
        }
    }
    println!("{homes} homes from {first} on, {refused} refused");
    for (arm, _) in ARMS {
        for is_busy in [true, false] {
            let of: Vec<&Row> = rows.iter().filter(|it| it.0 == arm && it.1 == is_busy).map(|it| &it.2).collect();
            print_scores(&format!("{arm}, ping {}", if is_busy { "busy" } else { "idle" }), &of);
        }
    }
    let quiet = rows.iter().filter(|it| !it.2.has_neighbour).map(|it| &it.2).collect::<Vec<_>>();
    print_scores("without a heavy neighbour", &quiet);
    let all: Vec<&Row> = rows.iter().map(|it| &it.2).collect();
    print_scores("all", &all);
    // Where the forecast states better or worse, it is right in 95 %.
    let says = all.iter().filter(|row| row.says());
    let wrong = says.clone().filter(|row| !row.is_right()).count();
    assert!(20 * wrong <= says.count(), "{wrong} wrong");
}

fn print_scores(what: &str, rows: &[&Row]) {
    let count = |is: &dyn Fn(&Row) -> bool| rows.iter().filter(|row| is(row)).count();
    let is_big = |row: &Row| (row.true_ratio() - 1.0).abs() > 0.2;
    let is_near = |forecast: f64, truth: f64| (forecast / truth - 1.0).abs() < 0.25;
    println!(
        "{what}: {} measures; says better or worse {}, right {}; of {} changes above 20 % says so {}, sign right {}; p99 within 25 %: \
         now {}, then {}; intervals hold the truth: now {}, then {}",
        rows.len(),
        count(&Row::says),
        count(&|row| row.says() && row.is_right()),
        count(&is_big),
        count(&|row| is_big(row) && row.says()),
        count(&|row| is_big(row) && row.is_right()),
        count(&|row| is_near(row.now.mid, row.truth[0])),
        count(&|row| is_near(row.then.mid, row.truth[1])),
        count(&|row| (row.now.low..=row.now.high).contains(&row.truth[0])),
        count(&|row| (row.then.low..=row.then.high).contains(&row.truth[1])),
    );
}

/// A cell, with a neighbour that is paced: NEIGHBOUR.
const CELL: &str = r#"
title = "A cell to be forecast"
duration = "14 s"
[radio]
standard = "802.11ac"
channel_width = "80 MHz"
streams = 2
propagation = "range"
[mac.edca.best_effort]
txop_limit = "0 s"
[[node]]
name = "ap"
role = "access-point"
position = ["0 m", "0 m"]
queues = "mac80211"
[[node]]
name = "sta"
count = STATIONS
access_point = "ap"
position = ["3 m", "0 m"]
mcs = 7
downlink_mcs = 7
[[node]]
name = "server"
role = "wired"
[[wired]]
between = ["server", "ap"]
rate = "1 Gb/s"
delay = "5 ms"
queue.limit = 20000
[[node]]
name = "other"
role = "access-point"
position = ["0 m", "5 m"]
queues = "mac80211"
[[node]]
name = "guest"
access_point = "other"
position = ["1 m", "5 m"]
mcs = 7
downlink_mcs = 7
[[flow]]
name = "down"
from = "server"
to = "sta1"
transport = "tcp"
traffic = { kind = "greedy" }
[[flow]]
name = "too"
from = "server"
to = "sta2"
transport = "tcp"
traffic = { kind = "greedy" }
[[flow]]
name = "theirs"
from = "other"
to = "guest"
traffic = { kind = "poisson", rate = "NEIGHBOUR Mb/s", packet = "1400 B" }
[[flow]]
name = "ping"
from = "server"
to = "sta*"
traffic = { kind = "ping", packet = "64 B", every = "100 ms" }
"#;

fn cell(stations: u32, neighbour: u32) -> String {
    CELL.replace("STATIONS", &stations.to_string()).replace("NEIGHBOUR", &neighbour.to_string())
}

/// One thread and two threads compute the same forecast, which is near the true outcome.
#[test]
fn a_forecast_has_the_same_bytes_on_one_and_two_threads() {
    let narrow = cell(2, 5).replace("80 MHz", "20 MHz").replace("streams = 2", "streams = 1");
    let (today, recording) = recorded(&network(&narrow, 10, &[]), 1);
    let air = Air::read(&recording).expect("a recording");
    let told = [1, 2].map(|threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        serde_json::to_string(&pool.install(|| forecast(&air, &ARMS[..1], 6)).expect("a forecast")).unwrap()
    });
    assert_eq!(told[0], told[1]);
    let told: Value = serde_json::from_str(&told[0]).unwrap();
    let (now, true_now) = (told["arms"][0]["now_s"]["mid"].as_f64().unwrap(), p99(&today, "ping-sta1").unwrap());
    assert!((0.5..2.0).contains(&(now / true_now)), "{now} for {true_now}: {told}");
    // The draws that reproduce the measurements agree. Those of an unlimited neighbour were once kept: turns at 1.07 s.
    let ratio = &told["arms"][0]["ratio"];
    assert!(ratio["high"].as_f64().unwrap() < 1.0, "{told}");
    assert_eq!(Air::read(&recording.repeat(2)), Err("contains several recordings: give one"));
    // Without a survey there is no forecast.
    let blind = recording.replace("channel_active_s", "unknown");
    let told = forecast(&Air::read(&blind).unwrap(), &ARMS, 6).unwrap();
    assert!(told.says().starts_with("Cannot tell, because the driver does not report how busy"), "{}", told.says());
}
