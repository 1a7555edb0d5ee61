//! Forecasts what today's queues and others would do at an access point, from what its radio tells: the modes and the traffic of
//! its stations, and how busy the channel is. What it does not tell is drawn: the neighbour, servers, other queues. Draws with
//! which today's queues do what was seen are kept, and simulated with the others, on the same random numbers.

mod draw;
mod seen;
mod told;

pub use seen::Air;

use draw::{Draw, Kind, LENGTH, WARMUP};
use experiment::scenario::{Scenario, Wishes};
use rayon::prelude::*;
use seen::{STEP, Shares, whole};
use serde::Serialize;
use sim::World;
use sim::results::{Flow, Outcome};

/// Draws that are simulated with today's queues. Half of them are kept at most.
pub const DRAWS: usize = 40;
/// Of those kept, the number for which the neighbour's growth is simulated.
const GROWN: usize = 4;
/// Events of all simulations together, about: a minute of one core.
const MOST_EVENTS: f64 = 100e6;
/// Steps that a recording has at least.
const ENOUGH: usize = WARMUP + LENGTH;
/// Draws that are further from what was seen are none of it, in tolerances.
const FAR: f64 = 6.0;
/// A queue that can be asked for: its name, and its settings of the access point.
pub type Queues = (&'static str, &'static [&'static str]);
/// All of them.
pub const ARMS: [Queues; 2] = [
    ("turns", &["node.ap.queues=turns"]),
    (
        "knobs",
        &["node.ap.mac80211.aql_low=2500 us", "node.ap.mac80211.aql_high=5 ms", "node.ap.mac80211.aql_threshold=12 ms"],
    ),
];

/// An interval that holds 80 % of what may come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Interval {
    /// Lower end.
    pub low: f64,
    /// Middle.
    pub mid: f64,
    /// Upper end.
    pub high: f64,
}

/// Forecast for the pings to a station: their slowest hundredth.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Pinged {
    /// Whether the station is a busy one, or one that does least.
    pub is_busy: bool,
    /// Round trip with today's queues, in seconds, of which 10 ms are the line to a server.
    pub now_s: Interval,
    /// Round trip with the arm.
    pub then_s: Interval,
    /// Ratio on the same draws.
    pub ratio: Interval,
}

/// Forecast for an arm.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Arm {
    /// Name.
    pub name: String,
    /// Pings: to a busy station, if there is one; to an idle one.
    pub pings: Vec<Pinged>,
    /// Ratio of the goodput of all stations.
    pub goodput: Interval,
}

/// A forecast.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Forecast {
    /// Why nothing can be told, and nothing was simulated.
    pub cannot: Option<&'static str>,
    /// Time that was seen, in seconds.
    pub seen_s: f64,
    /// Number of stations, and of those whose bitrates have no MCS.
    pub stations: usize,
    /// Those whose bitrates have no MCS.
    pub legacy: usize,
    /// Share of the air that others fill.
    pub foreign: f64,
    /// Draws that were kept.
    pub draws: usize,
    /// How far the nearest draw is from what was seen, in tolerances.
    pub distance: f64,
    /// Ratio of the first arm's pings to today's if the neighbour takes all of the air that it can.
    pub grown: Option<Interval>,
    /// The arms.
    pub arms: Vec<Arm>,
}

/// Measures of a simulation.
#[derive(Clone, Debug)]
struct Found {
    /// Round trips to the stations that are pinged, in seconds.
    pings: Vec<f64>,
    /// Goodput to and from the stations, in bit/s.
    goodput: [f64; 2],
    air: Shares,
    events: u64,
}

/// Forecasts arms from what was seen, by this number of draws ([`DRAWS`], or fewer in tests).
///
/// # Errors
/// What was seen makes no network.
pub fn forecast(air: &Air, arms: &[Queues], draws: usize) -> Result<Forecast, String> {
    let mut told = Forecast {
        seen_s: air.shares.len() as f64 * STEP,
        stations: air.interface.stations.len(),
        legacy: air.legacy,
        foreign: Shares::mean(&air.shares).foreign,
        ..Forecast::default()
    };
    told.cannot = match air.shares.len() {
        0 if air.bytes.is_empty() => Some(
            "iw tells who is there, but neither who sends when nor what others do: give a recording of some minutes",
        ),
        0 => Some("the driver does not survey the channel, so that others may fill it or not"),
        ..=ENOUGH => Some("so short a recording says little: give some minutes"),
        _ => None,
    };
    if told.cannot.is_some() {
        return Ok(told);
    }
    let first = simulated(air, &Draw::new(air, 0, LENGTH), &[])?;
    let runs = 1.5 * draws as f64 + (draws / 2 * arms.len() + 2 * GROWN) as f64;
    let events_per_step = first.events as f64 / (WARMUP + LENGTH) as f64;
    let length = whole(MOST_EVENTS / runs / events_per_step.max(1.0)).clamp(WARMUP + LENGTH / 3, ENOUGH) - WARMUP;
    let today = |number| fitted(air, Draw::new(air, number, length));
    let mut tried = (0..draws).into_par_iter().map(today).collect::<Result<Vec<(f64, Found, Draw)>, String>>()?;
    tried.sort_by(|one, other| one.0.total_cmp(&other.0));
    told.distance = tried[0].0;
    // What is twice as far as the nearest is no likely cause.
    let near = tried.iter().filter(|it| it.0 <= (2.0 * told.distance).max(2.0)).count();
    tried.truncate(near.clamp(5, (draws / 2).max(5)));
    told.draws = tried.len();
    let all = |draws: &[(f64, Found, Draw)], queues: Queues| {
        draws.par_iter().map(|(.., draw)| simulated(air, draw, queues.1)).collect::<Result<Vec<Found>, String>>()
    };
    let compared = |queues: &Queues| Ok(Arm::of(queues.0, air, &tried, &all(&tried, *queues)?));
    told.arms = arms.iter().map(compared).collect::<Result<_, String>>()?;
    if let (Some(queues), 0.02..) = (arms.first(), told.foreign) {
        tried.truncate(GROWN);
        tried.iter_mut().for_each(|it| it.2.kind = Kind::Down);
        let now = all(&tried, ("", &[]))?;
        for (today, now) in tried.iter_mut().zip(now) {
            today.1 = now;
        }
        let grown = Arm::of(queues.0, air, &tried, &all(&tried, *queues)?);
        told.grown = grown.pings.first().map(|ping| ping.ratio);
    }
    Ok(told)
}

/// Simulates a draw with today's queues; once more if the neighbour's load does not fill what it should. Also returns how far
/// it is from what was seen.
fn fitted(air: &Air, mut draw: Draw) -> Result<(f64, Found, Draw), String> {
    let seen = Shares::mean(&air.shares[draw.steps.clone()]).foreign;
    let mut found = simulated(air, &draw, &[])?;
    let scale = seen / found.air.foreign.max(1e-3);
    if matches!(draw.kind, Kind::Paced | Kind::Bursts) && !(0.8..1.25).contains(&scale) {
        draw.scale = scale.clamp(0.1, 10.0);
        found = simulated(air, &draw, &[])?;
    }
    Ok((air.distance(&draw, &found), found, draw))
}

/// Simulates a draw with these settings.
fn simulated(air: &Air, draw: &Draw, settings: &[&str]) -> Result<Found, String> {
    let text = air.scenario(draw)?;
    let [length, warmup] = [draw.steps.len(), WARMUP].map(|steps| steps as f64 * STEP);
    let mut set = vec![format!("duration={length:.1} s"), format!("warmup={warmup:.1} s")];
    set.extend(settings.iter().map(|&setting| setting.to_owned()));
    let wishes = Wishes { set, base_only: true, ..Wishes::default() };
    let scenario = Scenario::parse("forecast.toml", text.as_bytes(), &wishes).map_err(|refusal| refusal.to_string())?;
    let world = World::new(&scenario.base, draw.seed).map_err(|error| error.to_string())?;
    Ok(Found::of(&world.finish()))
}

impl Found {
    fn of(outcome: &Outcome) -> Self {
        // Without an answer a ping is as slow as can be.
        let rtt = |flow: &Flow| flow.rtt_s.map_or(outcome.simulated_s, |times| times.p99).max(1e-4);
        let pings = outcome.flows.iter().filter(|flow| flow.name.starts_with("ping"));
        let goodput = |is_down: bool| {
            let is_own = |flow: &&Flow| flow.name.starts_with("load") && flow.to.starts_with("sta") == is_down;
            outcome.flows.iter().filter(is_own).map(|flow| flow.goodput_bps).sum()
        };
        let (mut busy, mut sent, mut foreign) = (0.0, 0.0, 0.0);
        for node in &outcome.nodes {
            let share = node.mac.airtime_s / outcome.simulated_s;
            match &*node.name {
                "ap" => (busy, sent) = (node.mac.busy_ratio, share),
                name if name == "other" || name.starts_with("guest") => foreign += share,
                _ => {}
            }
        }
        let goodput = [goodput(true), goodput(false)];
        Self { pings: pings.map(rtt).collect(), goodput, air: Shares { busy, sent, foreign }, events: outcome.events }
    }
}

impl Arm {
    /// Compares an arm with today's queues.
    fn of(name: &str, air: &Air, now: &[(f64, Found, Draw)], then: &[Found]) -> Self {
        debug_assert_eq!(now.len(), then.len(), "each draw has both");
        let each = |of: &dyn Fn(&Found, &Found) -> f64| {
            let values: Vec<f64> = now.iter().zip(then).map(|((_, now, _), then)| of(now, then)).collect();
            Interval::of(&values)
        };
        let ping = |(place, &(_, is_busy)): (usize, &(usize, bool))| Pinged {
            is_busy,
            now_s: each(&|now, _| now.pings[place]),
            then_s: each(&|_, then| then.pings[place]),
            ratio: each(&|now, then| then.pings[place] / now.pings[place]),
        };
        let total = |found: &Found| found.goodput.iter().sum::<f64>().max(1.0);
        let pings = air.pinged.iter().enumerate().map(ping).collect();
        Self { name: name.to_owned(), pings, goodput: each(&|now, then| total(then) / total(now)) }
    }
}

impl Air {
    /// How far a simulation of today's queues is from what was seen in the same steps, in tolerances.
    fn distance(&self, draw: &Draw, found: &Found) -> f64 {
        let steps = draw.steps.start + WARMUP..draw.steps.end;
        let mut sum = 0.0;
        for (way, tolerance) in [(0, 0.1), (1, 0.15)] {
            // Headers and acknowledgements are no goodput.
            let seen = 0.96 * 8.0 * self.total(way, &steps) / (steps.len() as f64 * STEP);
            sum += (((found.goodput[way] + 1e6) / (seen + 1e6)).ln() / tolerance).powi(2);
        }
        let (seen, found) = (Shares::mean(&self.shares[steps]), found.air);
        for (found, seen) in [(found.busy, seen.busy), (found.sent, seen.sent), (found.foreign, seen.foreign)] {
            sum += ((found - seen) / 0.05).powi(2);
        }
        sum.sqrt()
    }
}

impl Interval {
    /// An interval of log-normal values, which holds the next one in 80 % by Student's t.
    fn of(values: &[f64]) -> Self {
        debug_assert!(values.len() > 1, "one value has no spread");
        let n = values.len() as f64;
        let logs: Vec<f64> = values.iter().map(|value| value.max(1e-9).ln()).collect();
        let mean = logs.iter().sum::<f64>() / n;
        let squares: f64 = logs.iter().map(|log| (log - mean).powi(2)).sum();
        // The 90 % quantile of t, within 2 % from three degrees of freedom on.
        let t = 1.2816 + 0.95 / (n - 1.0);
        let half = t * (squares / (n - 1.0) * (1.0 + 1.0 / n)).sqrt();
        Self { low: (mean - half).exp(), mid: mean.exp(), high: (mean + half).exp() }
    }
}
