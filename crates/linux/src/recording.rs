//! Recordings: the intervals of a queue and what a controller decided, one JSON object a line.

pub use control::Decision;

use control::{Controller, LimitController as _};
use std::io::BufRead;

/// Why a recording cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum RecordingError {
    /// A line is no interval.
    #[error("line {line} is no interval of a recording: {why}")]
    Line {
        /// Its number, from 1.
        line: usize,
        /// What is wrong with it.
        why: serde_json::Error,
    },
    /// The file cannot be read to its end.
    #[error("line {line} cannot be read: {source}")]
    Read {
        /// Its number, from 1.
        line: usize,
        /// What the system said.
        source: std::io::Error,
    },
}

/// Reads a recording. Empty lines are passed over.
///
/// # Errors
/// The first line that is no interval.
pub fn read(recording: impl BufRead) -> Result<Vec<Decision>, RecordingError> {
    let mut decisions = Vec::new();
    for (text, line) in recording.lines().zip(1..) {
        let text = text.map_err(|source| RecordingError::Read { line, source })?;
        if !text.trim().is_empty() {
            decisions.push(serde_json::from_str(&text).map_err(|why| RecordingError::Line { line, why })?);
        }
    }
    Ok(decisions)
}

/// What `controller` decides when it sees the intervals of a recording. The queue of the recording stays as it was: a
/// limit that would have changed it is not seen in the intervals that follow.
pub fn replay(recording: &[Decision], controller: &mut Controller) -> Vec<Decision> {
    let decide = |recorded: &Decision| {
        if let Some(limit) = recorded.begin_from {
            controller.begin_from(limit);
        }
        Decision { limit: controller.update(&recorded.seen), ..*recorded }
    };
    recording.iter().map(decide).collect()
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
        let mut controller = Controller::new(Name::Adth, &Parameters::default(), Limit::Packets(1_000)).unwrap();
        let at = |k: u64| Duration::from_millis(100 * (k + 1));
        let decide = |k| Decision { at: at(k), seen: seen(k), limit: controller.update(&seen(k)), begin_from: None };
        (0..12).map(decide).collect()
    }

    #[test]
    fn the_same_controller_decides_the_same_over_a_recording() {
        let recorded = recorded();
        let lines: Vec<String> = recorded.iter().map(|decision| serde_json::to_string(decision).unwrap()).collect();
        let read = read(lines.join("\n").as_bytes()).unwrap();
        assert_eq!(read, recorded);
        let mut controller = Controller::new(Name::Adth, &Parameters::default(), Limit::Packets(1_000)).unwrap();
        assert_eq!(replay(&read, &mut controller), recorded);
        assert!(recorded.iter().any(|decision| decision.limit != recorded[0].limit), "the limit never moved");
    }

    #[test]
    fn a_line_that_is_no_interval_is_named() {
        let good = serde_json::to_string(&recorded()[0]).unwrap();
        let message = read(format!("{good}\n\n{{\"at\": \"1 s\"}}\n").as_bytes()).unwrap_err().to_string();
        assert!(message.starts_with("line 3 is no interval of a recording: missing field"), "{message}");
    }
}
