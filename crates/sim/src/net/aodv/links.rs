//! Links to neighbours (RFC 3561, 6.8 to 6.10).

use super::settings::{HELLO_INTERVAL, Settings};
use crate::engine::Stream;
use units::{Duration, Instant};

/// The neighbours that are being monitored.
#[derive(Debug)]
pub(super) struct Links {
    /// Time at which the node last sent a message to all.
    pub(super) broadcast: Instant,
    /// Time at which to check next whether a hello is due; `NEVER` without hellos.
    pub(super) hello: Instant,
    /// Neighbours that have sent hellos, each with the time at which its link will count as broken.
    pub(super) greeted: Vec<(u32, Instant)>,
    /// Neighbours that owe an RREP-ACK, each with the end of the wait.
    pub(super) awaited: Vec<(u32, Instant)>,
}

impl Links {
    pub(super) fn new(settings: &Settings, random: &mut Stream) -> Self {
        let hello = if settings.given.hello {
            Instant::ZERO + Duration::from_nanos(random.up_to(HELLO_INTERVAL.as_nanos()))
        } else {
            Instant::NEVER
        };
        Self { broadcast: Instant::ZERO, hello, greeted: Vec::new(), awaited: Vec::new() }
    }

    pub(super) fn deadline(&self) -> Instant {
        let watched = self.greeted.iter().chain(&self.awaited).map(|&(_, until)| until).min();
        self.hello.min(watched.unwrap_or(Instant::NEVER))
    }

    /// Records a hello. From now on more hellos are expected from this neighbour.
    pub(super) fn greeted(&mut self, neighbour: u32, until: Instant) {
        match self.greeted.iter_mut().find(|(known, _)| *known == neighbour) {
            Some((_, expected)) => *expected = until,
            None => self.greeted.push((neighbour, until)),
        }
    }

    pub(super) fn acknowledged(&mut self, neighbour: u32) {
        self.awaited.retain(|&(awaited, _)| awaited != neighbour);
    }
}
