//! Recordings: the intervals of a queue with the controller's decisions, one JSON object per line.

use crate::Error;
use crate::recorded::Decision;
use control::{AnyController, Controller as _, Reads};
use queue::Settings;
use std::fmt::Display;
use std::fs::File;
use std::io::{BufRead, BufReader, Read as _};
use std::path::Path;

/// Largest length of a line, in bytes. An interval contains its neighbours' notes, at most some hundreds.
const LONGEST_LINE: u64 = 1 << 20;
/// Largest number of lines: six days of intervals of 100 ms. They take some gigabytes of memory.
const MOST_LINES: usize = 5_000_000;

/// Start of a line with readings of a radio. Such lines lie between the intervals of a queue.
const AIR: &[u8] = b"{\"air\":";

/// What was read from a file.
#[derive(Clone, Debug, PartialEq)]
pub struct Recording {
    /// The recording's intervals, each with the limit that the controller then set, in order of time.
    pub decisions: Vec<Decision>,
    /// Number of the last line, from 1, if a full disk or a crash has cut it off. The line is left out.
    pub cut: Option<usize>,
}

/// Reads a file with a recording of at least one interval.
///
/// # Errors
/// The recording cannot be read, or it has no interval.
pub fn open(path: &Path) -> Result<Recording, Error> {
    let name = path.display().to_string();
    match File::open(path) {
        Ok(file) => read_all(&name, BufReader::new(file)),
        Err(error) => Err(Error::Wrong(format!("cannot read {name}: {error}"))),
    }
}

/// Reads a recording of at least one interval, which is called `name` in messages.
///
/// # Errors
/// The file is no recording, or it has no interval.
pub fn read_all(name: &str, recording: impl BufRead) -> Result<Recording, Error> {
    let recording = read(recording).map_err(|why| Error::Wrong(format!("{name}: {why}")))?;
    if recording.decisions.is_empty() { Err(Error::Wrong(format!("{name} holds no interval"))) } else { Ok(recording) }
}

/// Returns the warning about a last line that was cut off.
pub fn cut_off(name: &str, line: usize) -> String {
    format!("{name}: the last line ({line}) was cut off and is left out")
}

/// Reads a recording. Empty lines, readings of a radio, and a last line that was cut off are skipped.
///
/// # Errors
/// The first line that is neither an interval nor one of these.
pub fn read(mut recording: impl BufRead) -> Result<Recording, String> {
    let (mut decisions, mut text) = (Vec::new(), Vec::new());
    for line in 1.. {
        text.clear();
        let mut within = recording.by_ref().take(LONGEST_LINE + 1);
        let refused = |why: &dyn Display| Err(format!("line {line} {why}"));
        match within.read_until(b'\n', &mut text) {
            Ok(0) => break,
            Ok(_) if text.len() as u64 > LONGEST_LINE => {
                return refused(&"is longer than 1 MiB, so it cannot be an interval of a recording");
            }
            Ok(_) if line > MOST_LINES => {
                return refused(&"exceeds the limit of 5000000 lines: cut the recording, as with `head -n 5000000`");
            }
            Ok(_) => {}
            Err(error) => return refused(&format_args!("cannot be read: {error}")),
        }
        // The radio's readings serve forecasts.
        if text.trim_ascii().is_empty() || text.starts_with(AIR) {
            continue;
        }
        match serde_json::from_slice::<Decision>(&text) {
            Ok(decision) => {
                if decisions.last().is_some_and(|last: &Decision| decision.at <= last.at) {
                    return refused(&"is an interval that does not end after the previous interval");
                }
                decisions.push(decision);
            }
            Err(why) if why.is_eof() && text.last() != Some(&b'\n') => {
                return Ok(Recording { decisions, cut: Some(line) });
            }
            Err(why) => return refused(&format_args!("is not an interval of a recording: {why}")),
        }
    }
    Ok(Recording { decisions, cut: None })
}

/// Gives a recording, called `name` in messages, to the controller of `settings` again. Returns the controller as it
/// was built, and its decisions.
///
/// # Errors
/// The settings are invalid, or the controller needs measurements that were not recorded.
pub fn replay(
    name: &str,
    recording: &[Decision],
    settings: &Settings,
) -> Result<(AnyController, Vec<Decision>), Error> {
    let seed = recording.first().map_or(0, |decision| decision.seed);
    let mut controller = settings.build_controller(seed).map_err(|invalid| Error::Wrong(invalid.to_string()))?;
    let reads = controller.needs().reads;
    let who = controller.name().as_str();
    let lacks = |what: &str, more: &str| {
        let why = format!("{name} holds {what}, but {who} needs them: record with --controller {who}{more}");
        Err(Error::Wrong(why))
    };
    if reads.contains(Reads::AVERAGE) && recording.iter().all(|decision| decision.seen.service_ewma.is_none()) {
        return lacks("no service times", "");
    }
    if reads.any_of(Reads::RADIO) && recording.iter().all(|decision| decision.radio.is_none()) {
        return lacks("no readings of a radio", ", or simulate it with queue.controller and --record-intervals");
    }
    let decided = decide(recording, &mut controller);
    Ok((controller, decided))
}

/// Returns the decisions of `controller` for the intervals of a recording. The recorded queue does not react: later
/// intervals do not show what another limit would do.
pub fn decide(recording: &[Decision], controller: &mut AnyController) -> Vec<Decision> {
    let one = |recorded: &Decision| {
        if let Some(limit) = recorded.begin_from {
            controller.begin_from(limit);
        }
        let orders = controller.update(&recorded.seen());
        recorded.clone().with(&orders)
    };
    recording.iter().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use control::{Count, Interval, Limit, Name, Parameters, Stat};
    use units::{Bytes, Duration};

    fn recorded() -> Vec<Decision> {
        let count = |packets| Count { packets, bytes: Bytes::new(packets * 1_000) };
        let stat = |ms| Stat { n: 1, mean: Duration::from_millis(ms), ..Stat::default() };
        let seen = |k: u64| Interval {
            length: Duration::from_millis(100),
            arrived: count(k + 20),
            sent: count(k + 10),
            departure_gap: stat(5),
            sojourn: stat(50 * k),
            ..Interval::default()
        };
        let mut controller =
            AnyController::new(Name::Adth, &Parameters::default(), &Limit::Packets(1_000).into()).unwrap();
        let at = |k: u64| Duration::from_millis(100 * (k + 1));
        let decide = |k| Decision::new(at(k), &seen(k).into(), &controller.update(&seen(k).into()));
        (0..12).map(decide).collect()
    }

    #[test]
    fn the_same_controller_decides_the_same_over_a_recording() {
        let recorded = recorded();
        let lines: Vec<String> = recorded.iter().map(|decision| serde_json::to_string(decision).unwrap()).collect();
        // Readings of a radio lie between the intervals.
        let lines = lines.join("\n{\"air\":{\"stations\":[]},\"at_s\":0.1}\n");
        let Recording { decisions: read, cut } = read(lines.as_bytes()).unwrap();
        assert_eq!((&read, cut), (&recorded, None));
        let mut controller =
            AnyController::new(Name::Adth, &Parameters::default(), &Limit::Packets(1_000).into()).unwrap();
        assert_eq!(decide(&read, &mut controller), recorded);
        assert!(recorded.iter().any(|decision| decision.limit != recorded[0].limit), "the limit never moved");
    }

    #[test]
    fn a_last_line_that_was_cut_off_anywhere_is_left_out_and_no_other() {
        let lines: Vec<String> =
            recorded()[..3].iter().map(|decision| serde_json::to_string(decision).unwrap()).collect();
        let whole = lines.join("\n");
        let before = lines[0].len() + lines[1].len() + 2;
        for end in before + 1..whole.len() {
            let read = read(&whole.as_bytes()[..end]).unwrap();
            assert_eq!((read.decisions.as_slice(), read.cut), (&recorded()[..2], Some(3)), "{end}");
        }
        let read = |text: &str| read(text.as_bytes());
        assert_eq!(read(&whole[..before]).unwrap().cut, None, "a line that is not there was not cut off");
        assert!(read(&format!("{}\n{}", &lines[0][..50], lines[1])).unwrap_err().starts_with("line 1 "));
        assert!(
            read(&(whole[..before + 50].to_owned() + "\n")).unwrap_err().starts_with("line 3 "),
            "a line was ended"
        );
    }

    #[test]
    fn a_line_that_is_no_interval_is_named() {
        let good = serde_json::to_string(&recorded()[0]).unwrap();
        let message = read(format!("{good}\n\n{{\"at\": \"1 s\"}}\n").as_bytes()).unwrap_err();
        assert!(message.starts_with("line 3 is not an interval of a recording: missing field"), "{message}");
    }
}
