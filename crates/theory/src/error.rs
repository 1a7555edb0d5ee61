//! Errors of models of medium access.

use units::Duration;

/// A parameter outside its range.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say what they are")]
pub enum Error {
    /// There is no station, a class or group has none, or there are more stations than the solver allows.
    #[error("each class has at least one station, and all classes together at most the model's MAX_STATIONS")]
    Stations,
    #[error("a station must have from 1 to 4 access categories")]
    Categories,
    #[error("an AIFSN must be from 1 to 15")]
    Aifsn,
    #[error("the windows must satisfy 1 <= cw_min <= cw_max <= 65535")]
    Windows,
    #[error("the limit of attempts must be from 1 to 255, or none")]
    Attempts,
    #[error("the times of slot, frame, success and collision must be above zero and at most one minute")]
    Times,
    /// `q` is above 1, a rate of arrivals is infinite, or `q` or a rate is below 1e-90.
    #[error("q must be above 0 and at most 1, and an arrival rate must be above 0 and finite")]
    Arrivals,
    #[error("an aggregate must have from 1 to 256 subframes")]
    Subframes,
    #[error("a probability must be from 0 to 1")]
    Probability,
    /// No device is busy for more than a nanosecond in a second.
    #[error("at least one device must have a busy time above zero")]
    Idle,
    /// The target delay of real time can be met with no number of best-effort devices, or with any.
    #[error("the target delay must lie between the delay without best-effort devices and the model's longest delay")]
    Target,
    /// The frame of a hidden pair is too short. The time-out is longer than a frame and a SIFS, or SIFS and ACK are
    /// longer than a frame and the time-out. A station could then receive an ACK for the other before it counts slots.
    #[error("the frame is too short compared with the ACK and its time-out")]
    Short,
    /// A hidden pair has too many states: the common divisor of its times is too small for its windows.
    #[error("the model has too many states: round the times, or set smaller windows")]
    States,
}

impl Error {
    /// Returns the error of the first pair whose check is false.
    pub(crate) fn first<const N: usize>(checks: [(bool, Self); N]) -> Result<(), Self> {
        checks.into_iter().find(|(holds, _)| !holds).map_or(Ok(()), |(_, error)| Err(error))
    }
}

/// True if the windows of a back-off satisfy 1 <= `cw_min` <= `cw_max` <= 65535.
pub(crate) fn are_windows(cw_min: u32, cw_max: u32) -> bool {
    cw_min > 0 && (cw_min..=65_535).contains(&cw_max)
}

/// True if a MAC can have this limit of attempts.
pub(crate) fn is_limit(attempts: Option<u32>) -> bool {
    attempts.is_none_or(|attempts| (1..=255).contains(&attempts))
}

/// True if the time is at most a minute: sums of such times stay far below the largest 64-bit count of nanoseconds.
pub(crate) fn is_short(time: Duration) -> bool {
    time <= Duration::from_secs(60)
}

/// True for a time of at most a minute that is not zero.
pub(crate) fn takes_time(time: Duration) -> bool {
    !time.is_zero() && is_short(time)
}
