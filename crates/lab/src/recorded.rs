//! Turns a recording of a live queue into a scenario that has a link as fast as the measured one, and the offered load.
//!
//! - *Link*: a packet takes the service time that was measured in the interval in which it is sent. If service times
//!   were never measured, it takes the time between departures. An interval with neither, such as one in which nothing
//!   was sent, keeps the last value.
//! - *Load*: each interval has as many packets as arrived in it, evenly spaced. All have the recording's mean length.

use control::{AnyController, Controller as _, Heard, Limit, Name, Parameters, Reads, Stat};
use std::fmt;
use toml::Value;
use units::{Bytes, Duration, Rate, refuse_if};

/// An interval of a recording.
pub type Decision = control::Decision<Vec<Heard>>;

/// Length of the IP and UDP headers, which a flow's packets have in addition to their payload.
const HEADERS: u64 = 28;
/// Longest payload that a flow of a scenario can have.
const MOST_PAYLOAD: u64 = 2_268;
/// Payload instead of one that no scenario can have, as when a card segments packets (GSO).
const USUAL_PAYLOAD: u64 = 1_472;

/// Largest number of intervals, so that the file stays small enough to be read.
const MOST: usize = 100_000;
/// Number of values of each time series over the whole recording.
const SERIES: u64 = 500;

/// A part of the recording in which a value is constant.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Part {
    from: Duration,
    rate: Rate,
}

/// Returns the text of a scenario file made from the recording `of`.
///
/// # Errors
/// The recording does not have all required values.
pub fn scenario(recording: &[Decision], of: &str) -> Result<String, String> {
    let last = recording.last().ok_or("it holds no interval")?;
    if recording.len() > MOST {
        let intervals = recording.len();
        return Err(format!(
            "the recording has {intervals} intervals, but a scenario at most {MOST}: cut it by `head -n {MOST}`"
        ));
    }
    let order = recording.windows(2).position(|pair| pair[1].at <= pair[0].at);
    if let Some(before) = order {
        return Err(format!("interval {} does not end later than interval {}", before + 2, before + 1));
    }
    let (payload, cut) = payload(recording)?;
    let (link, load) = (link(recording, payload)?, load(recording, payload));
    let limit = recording.iter().map(|decision| decision.limit).max_by_key(|limit| limit.count()).unwrap_or(last.limit);
    Ok(text(&Copy { of, duration: last.at, payload, cut, link: &link, load: &load, limit }))
}

/// What goes into the file.
struct Copy<'c> {
    of: &'c str,
    duration: Duration,
    payload: Bytes,
    /// True if packets were longer than a scenario allows.
    cut: bool,
    link: &'c [Part],
    load: &'c [Part],
    limit: Limit,
}

/// Returns the mean payload of the packets that arrived, and whether it had to be changed.
fn payload(recording: &[Decision]) -> Result<(Bytes, bool), &'static str> {
    let (mut packets, mut bytes) = (0_u128, 0_u128);
    for arrived in recording.iter().map(|decision| decision.seen.arrived) {
        packets += u128::from(arrived.packets);
        bytes += u128::from(arrived.bytes.count());
    }
    refuse_if!(packets == 0, Err("no packet arrived while recording"));
    let mean = u64::try_from((bytes + packets / 2) / packets).unwrap_or(u64::MAX);
    let fits = (HEADERS + 1..=HEADERS + MOST_PAYLOAD).contains(&mean);
    Ok(if fits { (Bytes::new(mean - HEADERS), false) } else { (Bytes::new(USUAL_PAYLOAD), true) })
}

/// Returns the rates of the link at which a packet takes the measured time.
fn link(recording: &[Decision], payload: Bytes) -> Result<Vec<Part>, &'static str> {
    let bits = u128::from(payload.bits() + 8 * HEADERS) * 1_000_000_000;
    let some = |stat: Stat| (stat.n > 0 && !stat.mean.is_zero()).then_some(stat.mean);
    let served = recording.iter().any(|decision| some(decision.seen.service).is_some());
    let mut parts: Vec<Part> = Vec::new();
    for decision in recording {
        let stat = if served { decision.seen.service } else { decision.seen.departure_gap };
        let Some(time) = some(stat) else { continue };
        // This is the largest whole rate in bit/s at which a packet is not faster than measured.
        let rate = Rate::bps(u64::try_from((bits / u128::from(time.as_nanos())).max(1)).unwrap_or(u64::MAX));
        let from = if parts.is_empty() { Duration::ZERO } else { begin(decision) };
        if parts.last().is_none_or(|last| last.rate != rate) {
            parts.push(Part { from, rate });
        }
    }
    refuse_if!(
        parts.is_empty(),
        Err(
            "the recording does not show the link's speed: packets never queued, or no controller such as ebdp measured"
        )
    );
    Ok(parts)
}

/// Returns the payload rates with which each interval has the number of packets that arrived in it.
fn load(recording: &[Decision], payload: Bytes) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    let mut end = Duration::ZERO;
    let mut add = |from: Duration, rate: Rate| {
        if parts.last().is_none_or(|last| last.rate != rate) {
            parts.push(Part { from, rate });
        }
    };
    for decision in recording {
        let from = begin(decision).max(end);
        // Nothing is known about the time between intervals; a scenario begins at zero.
        if from > end {
            add(end, Rate::bps(0));
        }
        end = decision.at;
        let bits = u128::from(decision.seen.arrived.packets) * u128::from(payload.bits()) * 1_000_000_000;
        // The first packet begins the interval; all others are late, not early, so that it gets no extra packet.
        let rate = bits / u128::from((end - from).as_nanos().max(1));
        add(from, Rate::bps(u64::try_from(rate).unwrap_or(u64::MAX)));
    }
    parts
}

fn begin(decision: &Decision) -> Duration {
    decision.at.saturating_sub(decision.seen.length)
}

fn text(copy: &Copy) -> String {
    let Copy { of, duration, payload, cut, link, load, limit } = copy;
    let title = Value::String(format!("A copy of the link recorded in {of}"));
    let sizes = if *cut {
        "Its packets were longer than a scenario allows: they are replaced by as many of the usual length."
    } else {
        "All packets have the mean length of those that arrived."
    };
    let limit = match limit {
        Limit::Packets(packets) => packets.to_string(),
        Limit::Bytes(bytes) => format!("\"{bytes}\""),
    };
    let (link, load) = (Steps(link), Steps(load));
    let mut text = format!(
        "title = {title}\n\
         about = \"\"\"\n\
         A link as fast as the recorded one, with as many packets as arrived, interval by interval. {sizes}\n\
         Unlike TCP, the load does not respond to the queue: it is what arrived under the recorded limits.\n\
         \"\"\"\n\
         duration = \"{duration}\"\n\n\
         [[node]]\nname = \"sender\"\nrole = \"wired\"\n\n\
         [[node]]\nname = \"receiver\"\nrole = \"wired\"\n\n\
         [[wired]]\nbetween = [\"sender\", \"receiver\"]\nrate = \"{}\"\n{link}\n\
         [wired.queue]\nlimit = {limit}\n\n\
         [[flow]]\nname = \"load\"\nfrom = \"sender\"\nto = \"receiver\"\n\
         traffic = {{ kind = \"cbr\", rate = \"{}\", packet = \"{payload}\" }}\n{load}",
        link.0[0].rate, load.0[0].rate
    );
    text.push_str(&pictures(*duration));
    text
}

/// False for a controller that needs a radio or transmission levels: a wired link has neither.
fn works_on_a_wire(name: Name) -> bool {
    let built = AnyController::new(name, &Parameters::default(), &Limit::Packets(1).into());
    built.is_ok_and(|controller| !controller.needs().reads.any_of(Reads::RADIO.and(Reads::NOTES).and(Reads::LEVELS)))
}

const CHARTS: &str = include_str!("recorded/charts.toml");

/// Returns the keys for the scenario's variations and charts.
fn pictures(duration: Duration) -> String {
    let controllers: Vec<&str> =
        Name::ALL.iter().filter(|name| works_on_a_wire(**name)).map(|name| name.as_str()).collect();
    let step = Duration::from_nanos((duration.as_nanos() / SERIES).max(1));
    let text = format!("\n[record]\nseries = \"{step}\"\n\n[vary]\n\"wired.0.queue.controller\" = {controllers:?}\n");
    text + CHARTS
}

/// The parts after the first one, as values of the key `at` of a link or flow.
struct Steps<'s>(&'s [Part]);

impl fmt::Display for Steps<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.len() < 2 {
            return Ok(());
        }
        f.write_str("at = [\n")?;
        for Part { from, rate } in &self.0[1..] {
            writeln!(f, "    {{ time = \"{from}\", rate = \"{rate}\" }},")?;
        }
        f.write_str("]\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use control::{Count, Interval};
    use experiment::scenario::{Scenario, Wishes};
    use proptest::prelude::*;

    fn stat(micros: u64) -> Stat {
        Stat { n: u64::from(micros > 0), mean: Duration::from_micros(micros), ..Stat::default() }
    }

    fn decision(number: u64, packets: u64, size: u64, gap: Stat) -> Decision {
        let seen = Interval {
            length: Duration::from_millis(100),
            arrived: Count { packets, bytes: Bytes::new(packets * size) },
            departure_gap: gap,
            ..Interval::default()
        };
        Decision::new(Duration::from_millis(100 * number), &seen.into(), &Limit::Packets(50).into())
    }

    fn parsed(text: &str) -> Scenario {
        Scenario::parse("copy.toml", text.as_bytes(), &Wishes::default())
            .unwrap_or_else(|refusal| panic!("{refusal}\n{text}"))
    }

    #[test]
    fn a_packet_takes_as_long_as_was_measured_and_as_many_come() {
        // 1000 bytes in 1 ms are 8 Mb/s, in 2 ms 4 Mb/s; where no packet waited, the link keeps its rate.
        let recorded =
            [decision(1, 20, 1_000, stat(1_000)), decision(2, 0, 0, stat(0)), decision(3, 30, 1_000, stat(2_000))];
        let text = scenario(&recorded, "eth0.jsonl").unwrap();
        assert!(
            text.contains("rate = \"8 Mb/s\"\nat = [\n    { time = \"200 ms\", rate = \"4 Mb/s\" },\n]\n"),
            "{text}"
        );
        // 20 packets of 972 bytes of payload in 100 ms.
        let load = "traffic = { kind = \"cbr\", rate = \"1555200 b/s\", packet = \"972 B\" }";
        assert!(text.contains(&load.replace("1555200 b/s", &Rate::bps(1_555_200).to_string())), "{text}");
        let outcome = crate::run::run(&parsed(&text).base, 1, &()).unwrap().unwrap().outcome;
        assert_eq!(outcome.flows[0].sent_packets, 50);
    }

    #[test]
    fn service_times_count_where_there_are_any_and_a_pause_has_no_load() {
        let mut late = decision(9, 10, 500, stat(0));
        late.seen.service = stat(500);
        let text = scenario(&[decision(1, 5, 500, stat(700)), late], "a \"b\"").unwrap();
        assert!(text.contains("rate = \"8 Mb/s\"\n\n[wired.queue]"), "{text}");
        assert!(text.contains("{ time = \"100 ms\", rate = \"0 b/s\" }"), "{text}");
        let outcome = crate::run::run(&parsed(&text).base, 1, &()).unwrap().unwrap().outcome;
        assert_eq!(outcome.flows[0].sent_packets, 15);
    }

    #[test]
    fn packets_that_no_scenario_has_become_usual_ones() {
        let text = scenario(&[decision(1, 5, 65_000, stat(1_000))], "x").unwrap();
        assert!(text.contains("packet = \"1472 B\"") && text.contains("longer than a scenario allows"), "{text}");
        parsed(&text);
    }

    #[test]
    fn what_tells_too_little_is_refused() {
        let back = [decision(2, 9, 100, stat(9)), decision(1, 9, 100, stat(9))];
        for (recorded, why) in [
            (&[][..], "holds no interval"),
            (&[decision(1, 0, 0, stat(9))], "no packet arrived"),
            (&[decision(1, 9, 100, stat(0))], "the link's speed"),
            (&back, "interval 2 does not end later"),
        ] {
            assert!(scenario(recorded, "x").unwrap_err().contains(why), "{why}");
        }
    }

    proptest! {
        #[test]
        fn whatever_was_recorded_makes_a_scenario_that_can_be_read_or_is_refused(
            lines in proptest::collection::vec((1..u64::MAX / 4, any::<u64>(), any::<u64>(), any::<u64>(), any::<u64>()), 0..6),
        ) {
            let mut at = Duration::ZERO;
            let recorded: Vec<Decision> = lines.iter().map(|&(length, packets, bytes, gap, limit)| {
                at += Duration::from_nanos(length % (1 << (1 + length % 60)) + 1);
                let seen = Interval {
                    length: Duration::from_nanos(length >> (length % 50)),
                    arrived: Count { packets, bytes: Bytes::new(bytes) },
                    departure_gap: Stat { n: 1, mean: Duration::from_nanos(gap), ..Stat::default() },
                    ..Interval::default()
                };
                Decision::new(at, &seen.into(), &Limit::Bytes(Bytes::new(limit)).into())
            }).collect();
            if let Ok(text) = scenario(&recorded, "x") {
                // The copy may need more than can be run, but the refusal says so in words.
                if let Err(refusal) = Scenario::parse("copy.toml", text.as_bytes(), &Wishes::default()) {
                    prop_assert!(!refusal.to_string().contains("TOML"), "{refusal}");
                }
            }
        }
    }
}
