//! The end that gets the data.

use super::{Sacks, Segment, Settings};
use units::Instant;

/// The end of a connection that gets the data.
#[derive(Debug)]
pub(crate) struct Receiver {
    settings: Settings,
    /// The next octet in order (RCV.NXT).
    nxt: u64,
    answer: Option<bool>,
    /// When a delayed acknowledgement is due.
    timer: Instant,
    echo: Option<Instant>,
}

impl Receiver {
    /// A receiver that waits for a connection.
    pub(crate) fn new(settings: &Settings) -> Self {
        Self { settings: *settings, nxt: 0, answer: None, timer: Instant::NEVER, echo: None }
    }

    /// Takes a segment of the sender, with what the network's mark on it said (CE). Gives the octets that are newly in order,
    /// for the application.
    pub(crate) fn receive(&mut self, _now: Instant, segment: &Segment, _congestion_experienced: bool) -> u64 {
        if segment.end() == segment.start {
            return 0;
        }
        self.answer = Some(segment.syn);
        self.echo = segment.stamp;
        if segment.start > self.nxt || segment.end() <= self.nxt {
            return 0;
        }
        let fresh = segment.end() - self.nxt - u64::from(segment.syn) - u64::from(segment.fin);
        self.nxt = segment.end();
        fresh
    }

    /// When [`Self::expire`] is to be called.
    pub(crate) fn deadline(&self) -> Instant {
        self.timer
    }

    /// The deadline has come.
    pub(crate) fn expire(&mut self, _now: Instant) {
        self.timer = Instant::NEVER;
    }

    /// The next segment to send; called until there is none, after every other call.
    pub(crate) fn next(&mut self, now: Instant) -> Option<Segment> {
        let syn = self.answer.take()?;
        Some(Segment {
            start: u64::from(!syn),
            syn,
            ack: Some(self.nxt),
            window: self.settings.advertised_window.count(),
            sacks: Sacks::NONE,
            stamp: self.settings.timestamps.then_some(now),
            echo: self.echo,
            ..Segment::EMPTY
        })
    }
}
