//! A receiver that plays a stream: it waits until its buffer is full, plays at the speed at which the stream was sent,
//! and stalls when the buffer is empty.

use crate::results::Played;
use units::{Duration, Instant};

/// The player of a flow. Positions in the stream are the times at which their packets were sent. A lost packet leaves a
/// gap, which is skipped.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Player {
    /// Buffer with which playback starts, and restarts after a stall.
    buffer: Duration,
    /// Time at which the stream ends.
    until: Instant,
    /// Last position that has arrived; `None` before the first packet.
    newest: Option<Instant>,
    state: State,
    stalls: u64,
    stalled: Duration,
}

#[derive(Clone, Copy, Debug)]
enum State {
    /// Stopped at this position since the given time; none before the start.
    Waiting { place: Instant, since: Option<Instant> },
    /// Playing each position this time after its packet was sent.
    Playing { behind: Duration },
}

impl Player {
    pub(crate) fn new(buffer: Duration, until: Instant) -> Self {
        let state = State::Waiting { place: Instant::ZERO, since: None };
        Self { buffer, until, newest: None, state, stalls: 0, stalled: Duration::ZERO }
    }

    /// Records the arrival of a packet that was sent at `sent`.
    pub(crate) fn receive(&mut self, now: Instant, sent: Instant) {
        self.advance(now);
        if self.newest.is_none() {
            self.state = State::Waiting { place: sent, since: None };
        }
        let newest = self.newest.map_or(sent, |newest| newest.max(sent));
        self.newest = Some(newest);
        if let State::Waiting { place, since } = self.state
            && newest.since(place) >= self.buffer
        {
            self.stalled += since.map_or(Duration::ZERO, |since| now.since(since));
            self.state = State::Playing { behind: now.since(place) };
        }
    }

    /// Checks whether the buffer has become empty before now.
    fn advance(&mut self, now: Instant) {
        if let (State::Playing { behind }, Some(place)) = (self.state, self.newest)
            && place + behind < now
        {
            self.stalls += 1;
            self.state = State::Waiting { place, since: Some(place + behind) };
        }
    }

    /// Returns the playback statistics up to the end of the stream or of the run, whichever comes first; a stall that
    /// has not ended counts until then.
    pub(crate) fn result(mut self, end: Instant) -> Played {
        let end = end.min(self.until);
        self.advance(end);
        let open = match self.state {
            State::Waiting { since: Some(since), .. } if since < end => end.since(since),
            State::Waiting { .. } | State::Playing { .. } => Duration::ZERO,
        };
        Played { stalls: self.stalls, stalled_s: (self.stalled + open).as_secs_f64() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(millis)
    }

    /// Plays packets (sent, arrived; in ms) until `end`, with a buffer of 50 ms.
    fn played(packets: impl IntoIterator<Item = (u64, u64)>, end: u64) -> (u64, f64) {
        let mut player = Player::new(Duration::from_millis(50), at(2_500));
        for (sent, arrived) in packets {
            player.receive(at(arrived), at(sent));
        }
        let Played { stalls, stalled_s } = player.result(at(end));
        (stalls, stalled_s)
    }

    /// Packets every 10 ms, from the first of these numbers to before the second, with this delay.
    fn every_10_ms(from: u64, to: u64, delay: u64) -> impl Iterator<Item = (u64, u64)> {
        (from..to).map(move |number| (10 * number, 10 * number + delay))
    }

    #[test]
    fn delay_that_stays_as_it_is_stalls_nothing_and_waiting_to_begin_is_no_stall() {
        for delay in [5, 500] {
            assert_eq!(played(every_10_ms(0, 100, delay), 990 + delay), (0, 0.0));
        }
    }

    #[test]
    fn it_stalls_for_what_exceeds_the_buffer_and_holds_as_much_again() {
        // Playback begins at 55 ms, when the packet of 50 ms is there. From 200 ms on packets take 100: that of 190 ms
        // is over at 245 ms. The next comes at 300 ms; at 340 ms it holds 50 ms from 190 ms on, and is 150 ms behind.
        let grows = || every_10_ms(0, 20, 5).chain(every_10_ms(20, 100, 100));
        assert_eq!(played(grows(), 1_090), (1, 0.095));
        // Then all of up to 140 ms is in time: 10 ms before the next, the one before is over.
        assert_eq!(played(grows().chain(every_10_ms(100, 200, 140)), 2_130), (1, 0.095));
        // Where delay rises by less than the buffer less a packet, nothing stalls.
        assert_eq!(played(every_10_ms(0, 20, 5).chain(every_10_ms(20, 100, 45)), 1_035), (0, 0.0));
    }

    #[test]
    fn a_lost_packet_is_played_over_and_a_stream_that_does_not_come_stalls_until_the_end() {
        assert_eq!(played(every_10_ms(0, 20, 5).chain(every_10_ms(22, 40, 5)), 395), (0, 0.0));
        // The stall is over at 190 + 55 ms.
        assert_eq!(played(every_10_ms(0, 20, 5), 1_245), (1, 1.0));
        // A stream that ends as described does not stall afterwards.
        assert_eq!(played(every_10_ms(0, 250, 5), 4_000), (0, 0.0));
        assert_eq!(played([], 1_000), (0, 0.0));
    }
}
