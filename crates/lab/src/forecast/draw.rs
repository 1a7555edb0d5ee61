//! Draws what a radio does not report, and writes the network of a draw.

use super::seen::{Air, STEP, Shares, whole};
use crate::interface;
use control::{Random, mix};
use std::fmt::Write as _;
use std::ops::Range;

/// Longest simulated time of a draw, and of its warm-up, in steps.
pub(super) const LENGTH: usize = 80;
pub(super) const WARMUP: usize = 20;
/// Busy share above which a channel counts as full, because contention leaves the rest idle; the next constant is the
/// share of a step above which other networks count as sending.
const FULL: f64 = 0.7;
const FOREIGN: f64 = 0.03;
/// Number of bytes in a step above which the traffic is more than a call.
const ACTIVE: f64 = 3_000.0;
/// Longest gap within a burst, in steps; the next constant is the length above which a burst counts as endless.
const GAP: usize = 2;
const ENDLESS: usize = 30;
/// Bytes of TCP acknowledgements, as a share of the bytes that they acknowledge.
pub(super) const ANSWERS: Range<f64> = 0.004..0.12;
/// Keys of a TCP flow without end.
const GREEDY: &str = "transport = \"tcp\"\ntraffic = { kind = \"greedy\" }";
/// The part of the network that is the same in all draws: servers, the line to them, and a neighbour.
const NETWORK: &str = include_str!("network.toml");

/// Kind of the neighbour's traffic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    None,
    /// Downloads without end.
    Down,
    /// An upload without end.
    Up,
    /// Packets without end.
    Saturated,
    /// Packets at random times, independent of each other.
    Paced,
    /// Downloads at the recorded times.
    Bursts,
}

/// Values that are drawn because no recording shows them.
#[derive(Clone, Debug)]
pub(super) struct Draw {
    pub(super) seed: u64,
    /// Steps of the recording that are simulated.
    pub(super) steps: Range<usize>,
    pub(super) kind: Kind,
    /// Factor of the neighbour's load with which it uses the recorded airtime.
    pub(super) scale: f64,
    /// The neighbour's MCS in tenths of the fastest one, and its number of stations.
    speed: u8,
    guests: u8,
    /// Number of connections of a download; a station's queue, and the line's; the one-way delay of far servers, in ms.
    connections: u8,
    queue: &'static str,
    buffer: &'static str,
    far: f64,
    /// True if the line is as fast as the largest recorded rate; only some recordings suggest this.
    is_line_slow: bool,
}

impl Draw {
    pub(super) fn new(air: &Air, number: usize, length: usize) -> Self {
        let mut random = Random::new(mix(number as u64 + 1));
        let room = air.shares.len().saturating_sub(WARMUP + length);
        let from = whole(random.unit() * room as f64);
        let steps = from..(from + WARMUP + length).min(air.shares.len());
        let mut pick = |of: u8| usize::from(random.below(of));
        let queues = ["limit = 400", "limit = 1000", "limit = 10240\ndiscipline = \"fq-codel\""];
        let mut draw = Self {
            seed: number as u64 + 1,
            steps,
            kind: Kind::None,
            scale: 1.0,
            speed: [3, 6, 9][pick(3)],
            guests: [1, 2, 3][pick(3)],
            connections: [1, 1, 1, 2, 4][pick(5)],
            queue: queues[pick(3)],
            far: [2.0, 4.0, 7.0, 12.0, 20.0, 30.0, 45.0][pick(7)],
            is_line_slow: pick(5) > 0,
            buffer: "",
        };
        let seen = &air.shares[draw.steps.clone()];
        let active = seen.iter().filter(|it| it.foreign > FOREIGN).count() as f64 / seen.len().max(1) as f64;
        draw.kind = match Shares::mean(seen).foreign {
            foreign if foreign < 0.01 => Kind::None,
            _ if active > 0.8 => [Kind::Down, Kind::Up, Kind::Saturated, Kind::Paced, Kind::Paced][pick(5)],
            _ => [Kind::Bursts, Kind::Bursts, Kind::Bursts, Kind::Paced][pick(4)],
        };
        let fair = "limit = 10240, discipline = \"fq-codel\"";
        draw.buffer = ["limit = 100", "limit = 300", "limit = 1000", fair][pick(4)];
        debug_assert!(draw.steps.end <= air.shares.len(), "a draw is within what was seen");
        draw
    }
}

impl Air {
    /// Returns the number of bytes to or from all stations in these steps.
    pub(super) fn total(&self, way: usize, steps: &Range<usize>) -> f64 {
        self.bytes.iter().map(|of| of[way][steps.clone()].iter().sum::<f64>()).sum()
    }

    /// Returns the line's rate in Mb/s if it equals the largest received rate: the channel was not full at that rate.
    fn line(&self) -> Option<f64> {
        let half_second = |half: usize| {
            let steps = 5 * half..5 * half + 5;
            (8.0 * self.total(0, &steps) / (5.0 * STEP), Shares::mean(&self.shares[steps]).busy)
        };
        let mut all: Vec<(f64, f64)> = (0..self.shares.len() / 5).map(half_second).collect();
        all.sort_by(|one, other| one.0.total_cmp(&other.0));
        let most = all.get(all.len() * 95 / 100)?.0;
        let busy: Vec<f64> = all.iter().filter(|it| it.0 > 0.8 * most).map(|it| it.1).collect();
        let is_full = busy.iter().sum::<f64>() / busy.len().max(1) as f64 > FULL;
        (!is_full && most > 2e6).then_some(most / 1e6)
    }

    pub(super) fn scenario(&self, draw: &Draw) -> Result<String, String> {
        let (mcs, rate) = self.interface.neighbour(draw.speed);
        let line = self.line().filter(|_| draw.is_line_slow).unwrap_or(1_000.0);
        let end = if draw.kind == Kind::None { NETWORK.find("[[node]]\nname = \"other\"") } else { None };
        let mut text = interface::cell(&self.interface, "For a forecast.")? + &NETWORK[..end.unwrap_or(NETWORK.len())];
        for (word, value) in [
            ("$queue", draw.queue),
            ("$buffer", draw.buffer),
            ("$line", format!("{line:.2}").as_str()),
            ("$far", draw.far.to_string().as_str()),
            ("$guests", draw.guests.to_string().as_str()),
            ("$mcs", mcs.to_string().as_str()),
        ] {
            text = text.replace(word, value);
        }
        for station in 0..self.interface.stations.len() {
            let server = if mix(draw.seed ^ station as u64).is_multiple_of(2) { "near" } else { "far" };
            let name = format!("sta{}", station + 1);
            for (way, from, to) in [(0, server, &*name), (1, &*name, server)] {
                for (number, load) in self.loads(draw, station, way).iter().enumerate() {
                    flow(&mut text, &format!("load {name} {way} {number}"), from, to, load);
                }
            }
        }
        let ping = traffic("ping", "packet = \"64 B\", every = \"20 ms\"");
        flow(&mut text, "ping", "near", &format!("sta{}", self.pinged + 1), &ping);
        // About half of the airtime is headers and gaps.
        self.neighbour(&mut text, draw, draw.scale * 0.6 * rate);
        Ok(text)
    }

    /// Returns each flow's TOML keys, towards (`way` 0) or from a station.
    fn loads(&self, draw: &Draw, station: usize, way: usize) -> Vec<String> {
        let [own, other] = [way, 1 - way].map(|way| &self.bytes[station][way][draw.steps.clone()]);
        let answers = other.iter().sum::<f64>() / own.iter().sum::<f64>().max(1.0);
        // Acknowledgements of the other direction are not part of this load.
        let part = ANSWERS.end / 2.0;
        let own: Vec<f64> = own.iter().zip(other).map(|(own, other)| (own - part * other).max(0.0)).collect();
        let rate = 8.0 * own.iter().sum::<f64>() / (own.len() as f64 * STEP);
        let bursts = bursts(&own, ACTIVE);
        if rate < 1e3 {
            return Vec::new();
        }
        if !ANSWERS.contains(&answers) || bursts.is_empty() {
            // Most traffic other than TCP is equal in both directions. The number of packets determines contention.
            let packet = self.packets[station].unwrap_or(if rate < 200e3 { 250.0 } else { 1_200.0 });
            return vec![traffic("poisson", &format!("rate = \"{rate:.0} b/s\", packet = \"{packet:.0} B\""))];
        }
        let load = |burst: &Range<usize>| {
            let (begins, ends) = (burst.start <= GAP, burst.end + GAP >= own.len());
            let is_endless = burst.len() >= if begins || ends { ENDLESS / 2 } else { ENDLESS };
            let [start, stop] = [burst.start, burst.end].map(|step| step as f64 * STEP);
            if !is_endless {
                return transfer(own[burst.clone()].iter().sum(), start);
            }
            let stop = if ends { String::new() } else { format!("\nstop = \"{stop:.2} s\"") };
            format!("{GREEDY}\nstart = \"{start:.2} s\"{stop}\ncount = {}", draw.connections)
        };
        bursts.iter().map(load).collect()
    }

    /// Writes the neighbour's traffic. `full`: the rate in bit/s that would fill the channel.
    fn neighbour(&self, text: &mut String, draw: &Draw, full: f64) {
        let seen: Vec<f64> = self.shares[draw.steps.clone()].iter().map(|it| it.foreign).collect();
        match draw.kind {
            Kind::None => {}
            Kind::Down => flow(text, "foreign", "theirs", "guest*", GREEDY),
            Kind::Up => flow(text, "foreign", "guest1", "theirs", GREEDY),
            Kind::Saturated => flow(text, "foreign", "other", "guest*", &traffic("saturated", "packet = \"1400 B\"")),
            Kind::Paced => {
                let rate = full * seen.iter().sum::<f64>() / seen.len() as f64;
                let paced = traffic("poisson", &format!("rate = \"{rate:.0} b/s\", packet = \"1400 B\""));
                flow(text, "foreign", "other", "guest1", &paced);
            }
            Kind::Bursts => {
                for (number, burst) in bursts(&seen, FOREIGN).into_iter().enumerate() {
                    let size = full * STEP / 8.0 * seen[burst.clone()].iter().sum::<f64>();
                    let transfer = transfer(size, burst.start as f64 * STEP);
                    flow(text, &format!("foreign {number}"), "theirs", "guest1", &transfer);
                }
            }
        }
    }
}

fn flow(text: &mut String, name: &str, from: &str, to: &str, keys: &str) {
    // Writing to a string cannot fail.
    let _ = writeln!(text, "[[flow]]\nname = \"{name}\"\nfrom = \"{from}\"\nto = \"{to}\"\n{keys}\n");
}

fn traffic(kind: &str, keys: &str) -> String {
    format!("traffic = {{ kind = \"{kind}\", {keys} }}")
}

fn transfer(size: f64, start: f64) -> String {
    let transfer = traffic("transfer", &format!("size = \"{size:.0} B\""));
    format!("transport = \"tcp\"\n{transfer}\nstart = \"{start:.2} s\"")
}

/// Returns the runs of steps in which a series is above `above`; short gaps are bridged.
fn bursts(series: &[f64], above: f64) -> Vec<Range<usize>> {
    let mut all: Vec<Range<usize>> = Vec::new();
    for (step, _) in series.iter().enumerate().filter(|(_, value)| **value > above) {
        match all.last_mut() {
            Some(last) if step <= last.end + GAP => last.end = step + 1,
            _ => all.push(step..step + 1),
        }
    }
    debug_assert!(all.windows(2).all(|pair| pair[0].end < pair[1].start), "bursts do not touch");
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bursts_are_joined_over_short_gaps() {
        let series = [0.0, 9.0, 9.0, 0.0, 0.0, 9.0, 0.0, 0.0, 0.0, 9.0];
        assert_eq!(bursts(&series, 1.0), [1..6, 9..10]);
    }

    /// 20 s of a download of 80 Mb/s with its acknowledgements, of a call, and of a page of three bursts.
    #[test]
    fn a_download_has_no_end_a_page_has_its_bytes_and_a_call_its_rate() {
        let burst = |at: usize| if at % 70 < 5 { 40e3 } else { 0.0 };
        let series = |of: &dyn Fn(usize) -> f64| (0..200).map(of).collect::<Vec<f64>>();
        let steady = |bytes: f64| series(&|_| bytes);
        let answered = |of: &dyn Fn(usize) -> f64| [series(of), series(&|at| 0.02 * of(at))];
        let bytes = vec![answered(&|_| 1e6), [steady(1e3), steady(1e3)], answered(&burst)];
        let shares = vec![Shares { busy: 0.5, sent: 0.4, foreign: 0.0 }; 200];
        let air = Air { bytes, shares, packets: vec![None; 3], ..Air::default() };
        let draw = Draw::new(&air, 1, LENGTH);
        assert_eq!(draw.kind, Kind::None);
        let greedy = air.loads(&draw, 0, 0);
        assert!(
            matches!(&greedy[..], [one] if one.contains("greedy") && one.contains("start = \"0.00 s\"")),
            "{greedy:?}"
        );
        assert_eq!(air.loads(&draw, 0, 1), Vec::<String>::new(), "its answers come by themselves");
        let call = air.loads(&draw, 1, 1);
        assert!(matches!(&call[..], [one] if one.contains("rate = \"75200 b/s\"")), "{call:?}");
        let page = air.loads(&draw, 2, 0);
        assert!(page.len() <= 2 && page.iter().all(|one| one.contains("transfer")), "{page:?}");
        // The channel was not full at 80 Mb/s: that is the line's rate.
        assert!((air.line().unwrap() - 80.1).abs() < 4.0);
    }
}
