//! Recordings: the intervals of a queue and a controller's decisions, one JSON object per line.

use crate::recorded::Decision;
use control::{AnyController, Controller as _, Reads};
use queue::Settings;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read as _};
use std::path::Path;
use thiserror::Error;

/// Largest length of a line, in bytes. An interval names its neighbours, of which there are hundreds at most.
const LONGEST_LINE: u64 = 1 << 20;
/// Largest number of lines: six days of intervals of 100 ms, which fill some gigabytes of memory.
const MOST_LINES: usize = 5_000_000;

/// Reasons why a recording is not replayed. `name` is the file's.
#[derive(Debug, Error)]
pub enum ReplayError {
    /// The file cannot be opened.
    #[error("cannot read {name}: {error}")]
    Open {
        /// The file.
        name: String,
        /// The system's error.
        error: io::Error,
    },
    /// The file is no recording.
    #[error("{name}: {error}")]
    Line {
        /// The file.
        name: String,
        /// The fault in the file.
        error: RecordingError,
    },
    /// There is no interval.
    #[error("{name} holds no interval")]
    Empty {
        /// The file.
        name: String,
    },
    /// The controller's settings are wrong.
    #[error("{0}")]
    Settings(String),
    /// The controller needs service times, and none were recorded.
    #[error("{name} holds no service times, which {controller} needs: record with --controller {controller}")]
    NoService {
        /// The file.
        name: String,
        /// The controller.
        controller: &'static str,
    },
    /// The controller needs the radio, and nothing of it was recorded.
    #[error(
        "{name} holds nothing of a radio, which {controller} needs: record with --controller {controller}, or simulate it \
         with --record-intervals"
    )]
    NoRadio {
        /// The file.
        name: String,
        /// The controller.
        controller: &'static str,
    },
}

/// Reasons why a recording cannot be read.
#[derive(Debug, Error)]
pub enum RecordingError {
    /// A line is no interval.
    #[error("line {line} is no interval of a recording: {why}")]
    Line {
        /// Its number, from 1.
        line: usize,
        /// The fault in the line.
        why: serde_json::Error,
    },
    /// Times are not in order.
    #[error("line {line} is an interval that does not end after the one before it")]
    Order {
        /// Its number, from 1.
        line: usize,
    },
    /// The recording is longer than the limit.
    #[error("line {line} {why}")]
    Long {
        /// The number of the line, from 1.
        line: usize,
        /// The limit that was exceeded.
        why: &'static str,
    },
    /// The file cannot be read to its end.
    #[error("line {line} cannot be read: {source}")]
    Read {
        /// Its number, from 1.
        line: usize,
        /// The system's error.
        source: io::Error,
    },
}

/// The contents of a file.
#[derive(Clone, Debug, PartialEq)]
pub struct Recording {
    /// Its intervals with the limits that followed, in order of time.
    pub decisions: Vec<Decision>,
    /// The number of the last line, from 1, if a full disk or a crash cut it off. That line is left out.
    pub cut: Option<usize>,
}

/// Reads a file with a recording of at least one interval.
///
/// # Errors
/// It cannot be read, or holds no interval.
pub fn open(path: &Path) -> Result<Recording, ReplayError> {
    let name = path.display().to_string();
    match File::open(path) {
        Ok(file) => read_all(&name, BufReader::new(file)),
        Err(error) => Err(ReplayError::Open { name, error }),
    }
}

/// Reads a recording of at least one interval, which is called `name` in messages.
///
/// # Errors
/// It is no recording, or holds no interval.
pub fn read_all(name: &str, recording: impl BufRead) -> Result<Recording, ReplayError> {
    let name = || name.to_owned();
    let recording = read(recording).map_err(|error| ReplayError::Line { name: name(), error })?;
    if recording.decisions.is_empty() { Err(ReplayError::Empty { name: name() }) } else { Ok(recording) }
}

/// Returns the warning about a last line that was cut off.
pub fn cut_off(name: &str, line: usize) -> String {
    format!("{name}: line {line}, the last, was cut off and is left out")
}

/// Reads a recording. Empty lines and a last line that was cut off are skipped.
///
/// # Errors
/// The first other line that is no interval.
pub fn read(mut recording: impl BufRead) -> Result<Recording, RecordingError> {
    let (mut decisions, mut text) = (Vec::new(), Vec::new());
    for line in 1.. {
        text.clear();
        let mut within = recording.by_ref().take(LONGEST_LINE + 1);
        if within.read_until(b'\n', &mut text).map_err(|source| RecordingError::Read { line, source })? == 0 {
            break;
        }
        if text.len() as u64 > LONGEST_LINE {
            return Err(RecordingError::Long { line, why: "is longer than 1 MiB: no interval of a recording is" });
        }
        if line > MOST_LINES {
            return Err(RecordingError::Long {
                line,
                why: "and what follows is too much to be read: cut it, as with `head -n 5000000`",
            });
        }
        if text.trim_ascii().is_empty() {
            continue;
        }
        match serde_json::from_slice::<Decision>(&text) {
            Ok(decision) => {
                if decisions.last().is_some_and(|last: &Decision| decision.at <= last.at) {
                    return Err(RecordingError::Order { line });
                }
                decisions.push(decision);
            }
            Err(why) if why.is_eof() && text.last() != Some(&b'\n') => {
                return Ok(Recording { decisions, cut: Some(line) });
            }
            Err(why) => return Err(RecordingError::Line { line, why }),
        }
    }
    Ok(Recording { decisions, cut: None })
}

/// Replays a recording, called `name` in messages, into the controller of `settings`. Returns the controller as it was
/// built, and its decisions.
///
/// # Errors
/// The settings are wrong, or the controller needs what was not recorded.
pub fn replay(
    name: &str,
    recording: &[Decision],
    settings: &Settings,
) -> Result<(AnyController, Vec<Decision>), ReplayError> {
    let seed = recording.first().map_or(0, |decision| decision.seed);
    let mut controller =
        settings.build_controller(seed).map_err(|invalid| ReplayError::Settings(invalid.to_string()))?;
    let reads = controller.needs().reads;
    let (name, who) = (name.to_owned(), controller.name().as_str());
    if reads.contains(Reads::AVERAGE) && recording.iter().all(|decision| decision.seen.service_ewma.is_none()) {
        return Err(ReplayError::NoService { name, controller: who });
    }
    if reads.any_of(Reads::RADIO) && recording.iter().all(|decision| decision.radio.is_none()) {
        return Err(ReplayError::NoRadio { name, controller: who });
    }
    let decided = decide(recording, &mut controller);
    Ok((controller, decided))
}

/// Returns the decisions of `controller` for the intervals of a recording. The recorded queue does not react: the
/// effect of another limit is not seen in the intervals that follow.
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
        let Recording { decisions: read, cut } = read(lines.join("\n").as_bytes()).unwrap();
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
        let read = |text: &str| read(text.as_bytes()).map_err(|error| error.to_string());
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
        let message = read(format!("{good}\n\n{{\"at\": \"1 s\"}}\n").as_bytes()).unwrap_err().to_string();
        assert!(message.starts_with("line 3 is no interval of a recording: missing field"), "{message}");
    }
}
