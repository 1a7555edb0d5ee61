//! Forecasts what other queues at an access point would change, from readings of its radio: the modes and the traffic
//! of its stations, and how busy the channel is. What the readings do not show is drawn at random: the neighbour,
//! servers, other queues. Draws in which today's queues behave as recorded are kept. They are simulated with the other
//! queues on the same random numbers.

mod draw;
mod seen;
mod told;

pub use seen::Air;

use draw::{ANSWERS, Draw, Kind, LENGTH, WARMUP};
use experiment::scenario::{Scenario, Wishes};
use rayon::prelude::*;
use seen::{STEP, Shares, whole};
use serde::Serialize;
use sim::World;
use sim::results::Outcome;

/// Number of draws that are simulated with today's queues. At most half of them are kept.
pub const DRAWS: usize = 40;
/// Smallest number of draws that reproduce the readings; the next constant is their largest distance in tolerances.
const FEWEST: usize = 3;
const FAR: f64 = 6.0;
/// Number of kept draws in which growth of the neighbour's load is simulated, too.
const GROWN: usize = 4;
/// Round-trip time of the line to a server, in s.
const LINE: f64 = 0.01;
/// Approximate number of events of all simulations together: a minute of one core.
const MOST_EVENTS: f64 = 100e6;
/// Smallest number of steps that a recording must have.
const ENOUGH: usize = WARMUP + LENGTH;
/// A queue of a forecast: its name, and the settings of the access point for it.
pub type Queues = (&'static str, &'static [&'static str]);
/// All queues that a forecast can compare with today's.
pub const ARMS: [Queues; 2] = [
    ("turns", &["node.ap.queues=turns"]),
    (
        "knobs",
        &["node.ap.mac80211.aql_low=2500 us", "node.ap.mac80211.aql_high=5 ms", "node.ap.mac80211.aql_threshold=12 ms"],
    ),
];

/// An 80 % prediction interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Interval {
    /// Lower end of the interval.
    pub low: f64,
    /// Middle of the interval.
    pub mid: f64,
    /// Upper end of the interval.
    pub high: f64,
}

/// What an arm (another queue) changes for the slowest hundredth of the pings to a station.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Arm {
    /// Name.
    pub name: String,
    /// Round-trip time with today's queues, in s, including 10 ms for the line to a server.
    pub now_s: Interval,
    /// Round-trip time with the arm (queue), in s.
    pub then_s: Interval,
    /// Ratio of the two round-trip times in the same draws.
    pub ratio: Interval,
    /// The same ratio without the line, as for an echo from the access point itself.
    pub echo: Interval,
    /// Ratio of the goodput of all stations, with the arm to today's.
    pub goodput: Interval,
}

/// The result of a forecast.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Forecast {
    /// Why there is no forecast; `None` if there is one. Without a forecast nothing was simulated.
    pub cannot: Option<&'static str>,
    /// Number of stations.
    pub stations: usize,
    /// Number of stations whose bitrates have no MCS.
    pub legacy: usize,
    /// Share of airtime that other networks use, 0 to 1.
    pub foreign: f64,
    /// Number of draws that were kept.
    pub draws: usize,
    /// Distance of the nearest draw from the readings, in tolerances.
    pub distance: f64,
    /// Ratio of the round-trip time with the first arm to today's if the neighbour takes all the airtime that it can.
    pub grown: Option<Interval>,
    /// Effect of each arm.
    pub arms: Vec<Arm>,
}

/// Results of a simulation.
#[derive(Clone, Debug)]
struct Found {
    /// 99th percentile of the pings' round-trip times, in s.
    rtt: f64,
    /// Goodput to and from the stations, in bit/s.
    goodput: [f64; 2],
    air: Shares,
    events: u64,
}

/// Forecasts the effect of arms (queues) from the readings, with this number of draws ([`DRAWS`], or fewer in tests).
///
/// # Errors
/// The recording yields no network.
pub fn forecast(air: &Air, arms: &[Queues], draws: usize) -> Result<Forecast, String> {
    let mut told = Forecast {
        stations: air.interface.stations.len(),
        legacy: air.legacy,
        foreign: Shares::mean(&air.shares).foreign,
        ..Forecast::default()
    };
    told.cannot = match air.shares.len() {
        0 if air.bytes.is_empty() => {
            Some("iw lists the stations, but neither their traffic nor that of other cells: record some minutes")
        }
        0 => Some("the driver does not report how busy other cells keep the channel (its survey)"),
        1..=ENOUGH => Some("the recording is too short: record some minutes"),
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
    // Draws at more than twice the distance of the nearest one are unlikely causes of the readings.
    tried.retain(|it| it.0 <= (2.0 * told.distance).max(2.0));
    tried.truncate(draws / 2);
    told.draws = tried.len();
    if told.distance > FAR || tried.len() < FEWEST {
        told.cannot = Some("hardly any simulated network reproduces the measurements");
        return Ok(told);
    }
    let all = |draws: &[(f64, Found, Draw)], queues: Queues| {
        draws.par_iter().map(|(.., draw)| simulated(air, draw, queues.1)).collect::<Result<Vec<Found>, String>>()
    };
    let compared = |queues: &Queues| Ok(Arm::of(queues.0, &tried, &all(&tried, *queues)?));
    told.arms = arms.iter().map(compared).collect::<Result<_, String>>()?;
    if let (Some(queues), 0.02..) = (arms.first(), told.foreign) {
        tried.truncate(GROWN);
        for (.., draw) in &mut tried {
            draw.kind = Kind::Down;
        }
        let now = all(&tried, ("", &[]))?;
        for (today, now) in tried.iter_mut().zip(now) {
            today.1 = now;
        }
        told.grown = Some(Arm::of(queues.0, &tried, &all(&tried, *queues)?).ratio);
    }
    Ok(told)
}

/// Simulates a draw with today's queues; again with another load of the neighbour if it does not use the recorded
/// airtime. Also returns the draw's distance from the readings.
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
        let mut found = Self { rtt: 0.0, goodput: [0.0; 2], air: Shares::default(), events: outcome.events };
        for flow in &outcome.flows {
            match &*flow.name {
                // A ping without an answer counts as the slowest possible one.
                "ping" => found.rtt = flow.rtt_s.map_or(outcome.simulated_s, |times| times.p99),
                name if name.starts_with("load") => {
                    found.goodput[usize::from(flow.from.starts_with("sta"))] += flow.goodput_bps;
                }
                _ => {}
            }
        }
        for node in &outcome.nodes {
            let share = node.mac.airtime_s / outcome.simulated_s;
            match &*node.name {
                "ap" => (found.air.busy, found.air.sent) = (node.mac.busy_ratio, share),
                name if name == "other" || name.starts_with("guest") => found.air.foreign += share,
                _ => {}
            }
        }
        found
    }
}

impl Arm {
    /// Compares an arm (queue) with today's.
    fn of(name: &str, now: &[(f64, Found, Draw)], then: &[Found]) -> Self {
        debug_assert_eq!(now.len(), then.len(), "each draw has both");
        let each = |of: &dyn Fn(&Found, &Found) -> f64| {
            Interval::of(
                &now.iter().zip(then).map(|((_, now, _), then)| of(now, then).max(1e-9).ln()).collect::<Vec<_>>(),
            )
        };
        let total = |found: &Found| found.goodput.iter().sum::<f64>().max(1.0);
        Self {
            name: name.to_owned(),
            now_s: each(&|now, _| now.rtt),
            then_s: each(&|_, then| then.rtt),
            ratio: each(&|now, then| then.rtt / now.rtt),
            echo: each(&|now, then| (then.rtt - LINE) / (now.rtt - LINE)),
            goodput: each(&|now, then| total(then) / total(now)),
        }
    }
}

impl Air {
    /// Returns how far a simulation of today's queues is from the readings in the same steps, in tolerances.
    fn distance(&self, draw: &Draw, found: &Found) -> f64 {
        let steps = draw.steps.start + WARMUP..draw.steps.end;
        let mut sum = 0.0;
        for (way, tolerance) in [(0, 0.1), (1, 0.15)] {
            // Goodput includes no headers and no acknowledgements.
            let bytes = (self.total(way, &steps) - ANSWERS.end / 2.0 * self.total(1 - way, &steps)).max(0.0);
            let seen = 0.96 * 8.0 * bytes / (steps.len() as f64 * STEP);
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
    /// Returns an 80 % prediction interval for the next of some values, from their logarithms and Student's t.
    fn of(logs: &[f64]) -> Self {
        debug_assert!(logs.len() > 1, "one value has no spread");
        let n = logs.len() as f64;
        let mean = logs.iter().sum::<f64>() / n;
        let squares: f64 = logs.iter().map(|log| (log - mean).powi(2)).sum();
        // This is the 90 % quantile of t, within 1 % from two degrees of freedom on.
        let t = 1.2816 + (0.85 + 0.75 / (n - 1.0)) / (n - 1.0);
        let half = t * (squares / (n - 1.0) * (1.0 + 1.0 / n)).sqrt();
        Self { low: (mean - half).exp(), mid: mean.exp(), high: (mean + half).exp() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Logarithms 0, 1 and 2: mean 1, deviation 1, and t of two degrees of freedom.
    #[test]
    fn an_interval_is_by_students_t() {
        let Interval { low, mid, high } = Interval::of(&[0.0, 1.0, 2.0]);
        let half = 1.886 * (4.0_f64 / 3.0).sqrt();
        for (found, right) in [(low, 1.0 - half), (mid, 1.0), (high, 1.0 + half)] {
            assert!((found.ln() - right).abs() < 0.02, "{found} {right}");
        }
    }
}
