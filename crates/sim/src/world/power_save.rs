//! Power save of stations (IEEE 802.11-2016, 11.2.3), as in Linux and phones.
//!
//! A station that has sent and received nothing for some time sends its access point a null frame and sleeps
//! (`net/mac80211/mlme.c`, dynamic power save). It wakes for beacons. If a beacon announces packets for it, it sends
//! another null frame, gets the packets, and sleeps again after its idle timeout. A packet to send wakes the station at
//! once; its frame tells the access point. Null frames contend in the highest category, like data frames. Beacons take
//! no airtime and are always heard. A sleeping station's radio senses the medium like that of a station awake, but
//! nothing is sent to the station.

use crate::config;
use crate::engine::NodeId;
use units::{Duration, Instant};

/// Time after which a station that could not announce its sleep tries again.
const AGAIN: Duration = Duration::from_millis(10);

#[derive(Debug)]
pub(crate) struct PowerSave {
    rules: config::PowerSave,
    pub(crate) access_point: NodeId,
    state: State,
    /// Time at which the station last had a packet to send or received a packet.
    active: Instant,
    /// Time of the station's next event. Other pending events are ignored.
    due: Instant,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Awake,
    /// The station announces that it sleeps from now on. `sent`: it has had packets to send since.
    Leaving {
        sent: bool,
    },
    Asleep,
}

/// Events that concern a station with power save.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Cue {
    /// The station's event is due. `busy`: it has packets to send. `awaited`: a beacon announces packets for it.
    Due { busy: bool, awaited: bool },
    /// The MAC has finished the null frame that announces sleep. `busy`: the station has packets to send.
    Told { delivered: bool, busy: bool },
    /// The station's MAC gets a packet to send.
    Sends,
}

/// What a station with power save does next.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Next {
    /// Time of its next event.
    pub(crate) at: Option<Instant>,
    /// What it tells the access point, if anything: true if it sleeps, false if it is awake.
    pub(crate) tells: Option<bool>,
}

impl PowerSave {
    /// Makes the state of a station that is awake.
    pub(crate) fn new(rules: config::PowerSave, access_point: NodeId) -> Self {
        Self { rules, access_point, state: State::Awake, active: Instant::ZERO, due: Instant::NEVER }
    }

    /// Begins power save. Returns the time of the first event.
    pub(crate) fn begin(&mut self) -> Instant {
        self.due = self.idle_at();
        self.due
    }

    pub(crate) fn is_asleep(&self) -> bool {
        self.state == State::Asleep
    }

    /// Records that the station has received a packet.
    pub(crate) fn receives(&mut self, now: Instant) {
        debug_assert!(!self.is_asleep(), "nothing is sent to a station that sleeps");
        debug_assert!(self.active <= now, "time does not run back");
        self.active = now;
    }

    /// Returns the time at which the station has been idle for long enough to sleep.
    fn idle_at(&self) -> Instant {
        self.active + self.rules.idle_timeout.get()
    }

    /// Returns the time of the next beacon for which the station wakes.
    fn beacon_after(&self, now: Instant) -> Instant {
        let every = self.rules.listen_interval.get();
        Instant::ZERO + every * (now.since(Instant::ZERO).div_floor(every) + 1)
    }

    pub(crate) fn learn(&mut self, now: Instant, cue: Cue) -> Next {
        debug_assert!(self.active <= now, "time does not run back");
        let next = match cue {
            Cue::Due { busy, awaited } => self.due(now, busy, awaited),
            Cue::Told { delivered, busy } => self.told(now, delivered, busy),
            Cue::Sends => {
                self.active = now;
                match self.state {
                    State::Awake => Next::default(),
                    State::Leaving { .. } => {
                        self.state = State::Leaving { sent: true };
                        Next::default()
                    }
                    State::Asleep => self.wake(now, false),
                }
            }
        };
        debug_assert!(next.at.is_none_or(|at| at >= now), "no event lies in the past");
        self.due = next.at.unwrap_or(self.due);
        next
    }

    fn due(&mut self, now: Instant, busy: bool, awaited: bool) -> Next {
        if self.due != now {
            return Next::default();
        }
        self.due = Instant::NEVER;
        if busy {
            self.active = now;
        }
        let idle_at = self.idle_at();
        match self.state {
            State::Leaving { .. } => Next::default(),
            State::Awake if busy => Next { at: Some(idle_at), tells: None },
            _ if awaited => self.wake(now, true),
            State::Asleep => Next { at: Some(self.beacon_after(now)), tells: None },
            State::Awake if idle_at > now => Next { at: Some(idle_at), tells: None },
            State::Awake => {
                self.state = State::Leaving { sent: false };
                Next { at: None, tells: Some(true) }
            }
        }
    }

    fn told(&mut self, now: Instant, delivered: bool, busy: bool) -> Next {
        let State::Leaving { sent } = self.state else { return Next::default() };
        match (delivered, sent || busy) {
            (true, false) => {
                self.state = State::Asleep;
                Next { at: Some(self.beacon_after(now)), tells: None }
            }
            // The station's next frame shows that the station is awake.
            (true, true) => self.wake(now, !busy),
            (false, _) => {
                self.state = State::Awake;
                Next { at: Some(now + AGAIN), tells: None }
            }
        }
    }

    /// Wakes the station until its idle timeout. `tells`: it tells its access point.
    fn wake(&mut self, now: Instant, tells: bool) -> Next {
        (self.state, self.active) = (State::Awake, now);
        Next { at: Some(self.idle_at()), tells: tells.then_some(false) }
    }
}
