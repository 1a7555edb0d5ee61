//! Errors of models of medium access.

use core::fmt;
use units::Duration;

/// A parameter outside its range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// No station, a class or group without stations, or more of them than are solved.
    Stations,
    /// A station without access categories, or with more than four.
    Categories,
    /// An AIFSN outside 1 to 15.
    Aifsn,
    /// `cw_min` is zero, `cw_max` below it or above 65535.
    Windows,
    /// No attempt, or more than 255.
    Attempts,
    /// A slot, frame, success or collision takes no time, or one of the times is more than a minute.
    Times,
    /// `q` is above 1, a rate of arrivals is infinite, or one of them is below 1e-90.
    Arrivals,
    /// No subframe in an aggregate, or more than 64.
    Subframes,
    /// A probability outside 0 to 1.
    Probability,
    /// No device is busy for more than a nanosecond in a second.
    Idle,
    /// No number of best-effort devices gives real time this target delay.
    Target,
    /// The frame of a hidden pair is too short: the time-out outlasts a frame and a SIFS, or SIFS and ACK outlast a
    /// frame and the time-out. A station could then hear an ACK to the other before it counts slots.
    Short,
    /// A hidden pair has too many states: the times have too small a common divisor for its windows.
    States,
}

impl fmt::Display for Error {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Stations => "every class needs a station, and all together are at most the model's MAX_STATIONS",
            Self::Categories => "a station has 1 to 4 access categories",
            Self::Aifsn => "an AIFSN is 1 to 15",
            Self::Windows => "the windows must satisfy 1 <= cw_min <= cw_max <= 65535",
            Self::Attempts => "the attempts must be 1 to 255, or unlimited",
            Self::Times => "slot, frame, success and collision must take time, and at most a minute",
            Self::Arrivals => "q must be above 0 and at most 1, a rate of arrivals above 0 and finite",
            Self::Subframes => "an aggregate has 1 to 256 subframes",
            Self::Probability => "a probability must be 0 to 1",
            Self::Idle => "at least one device must be busy now and then",
            Self::Target => "the target delay is below that without best effort, or above that with all that is solved",
            Self::Short => "the frame is too short beside the ACK and its time-out",
            Self::States => "too many states: round the times, or take smaller windows",
        })
    }
}

impl core::error::Error for Error {}

impl Error {
    /// Returns the error of the first check that fails.
    pub(crate) fn first<const N: usize>(checks: [(bool, Self); N]) -> Result<(), Self> {
        checks.into_iter().find(|(holds, _)| !holds).map_or(Ok(()), |(_, error)| Err(error))
    }
}

/// Do the windows of a back-off satisfy 1 <= `cw_min` <= `cw_max` <= 65535?
pub(crate) fn are_windows(cw_min: u32, cw_max: u32) -> bool {
    cw_min > 0 && (cw_min..=65_535).contains(&cw_max)
}

/// Is it a limit of attempts that a MAC can have?
pub(crate) fn is_limit(attempts: Option<u32>) -> bool {
    attempts.is_none_or(|attempts| (1..=255).contains(&attempts))
}

/// Is it at most a minute? This keeps sums of times far from the end of a 64-bit count of nanoseconds.
pub(crate) fn is_short(time: Duration) -> bool {
    time <= Duration::from_secs(60)
}

/// The same of something that takes time.
pub(crate) fn takes_time(time: Duration) -> bool {
    !time.is_zero() && is_short(time)
}
