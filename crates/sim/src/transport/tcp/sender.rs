//! The end that has data.

use super::{Segment, Settings};
use units::{Duration, Instant};

/// What a sender has done so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    /// Segments with data that were sent, repetitions included.
    pub(crate) segments: u64,
    /// Segments with data that were sent again.
    pub(crate) retransmits: u64,
    /// Times that the retransmission timer expired.
    pub(crate) timeouts: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Closed,
    SynSent,
    Established,
}

/// The end of a connection that has data.
#[derive(Debug)]
pub(crate) struct Sender {
    settings: Settings,
    state: State,
    /// The lowest octet not acknowledged (SND.UNA).
    una: u64,
    /// The next octet to be sent (SND.NXT).
    nxt: u64,
    /// Numbers up to here are to be sent, `u64::MAX` for a source without end.
    end: u64,
    closing: bool,
    window: u64,
    again: bool,
    ack_due: bool,
    echo: Option<Instant>,
    timer: Instant,
    sample: Option<Duration>,
    srtt: Option<Duration>,
    counts: Counts,
}

impl Sender {
    /// A connection that is not open yet.
    pub(crate) fn new(settings: &Settings) -> Self {
        Self {
            settings: *settings,
            state: State::Closed,
            una: 0,
            nxt: 0,
            end: 1,
            closing: false,
            window: 0,
            again: false,
            ack_due: false,
            echo: None,
            timer: Instant::NEVER,
            sample: None,
            srtt: None,
            counts: Counts::default(),
        }
    }

    /// Opens the connection: the first segment is a SYN.
    pub(crate) fn open(&mut self, _now: Instant) {
        if self.state == State::Closed {
            self.state = State::SynSent;
            self.again = true;
        }
    }

    /// Gives more octets to send; `None`: always more.
    pub(crate) fn supply(&mut self, bytes: Option<u64>) {
        self.end = bytes.map_or(u64::MAX, |more| self.end.saturating_add(more));
    }

    /// Nothing more will be supplied: a FIN follows the last octet.
    pub(crate) fn close(&mut self) {
        self.closing = true;
    }

    /// Takes a segment of the receiver.
    pub(crate) fn receive(&mut self, now: Instant, segment: &Segment) {
        self.sample = None;
        let Some(ack) = segment.ack else { return };
        if ack > self.nxt || self.state == State::Closed {
            return;
        }
        if segment.syn {
            self.state = State::Established;
            self.ack_due = true;
        }
        self.echo = segment.stamp;
        self.window = segment.window;
        if ack > self.una {
            self.una = ack;
            self.sample = segment.echo.map(|stamp| now.since(stamp));
            self.srtt = self.sample.or(self.srtt);
            self.timer = if self.una == self.nxt { Instant::NEVER } else { now + self.settings.rto_min };
        }
    }

    /// When [`Self::expire`] is to be called.
    pub(crate) fn deadline(&self) -> Instant {
        self.timer
    }

    /// The deadline has come.
    pub(crate) fn expire(&mut self, now: Instant) {
        if now >= self.timer {
            self.timer = Instant::NEVER;
            self.counts.timeouts += 1;
            self.again = true;
        }
    }

    /// The next segment to send; called until there is none, after every other call.
    pub(crate) fn next(&mut self, now: Instant) -> Option<Segment> {
        if self.again {
            self.again = false;
            self.nxt = self.una;
        }
        let segment = match self.state {
            State::SynSent if self.nxt == 0 => Segment { syn: true, window: u64::from(u16::MAX), ..Segment::EMPTY },
            State::Established if self.nxt < self.una + self.cwnd().min(self.window) && self.nxt < self.last() => {
                self.data()
            }
            State::Established if self.ack_due => Segment { start: self.nxt, ack: Some(1), ..Segment::EMPTY },
            _ => return None,
        };
        self.ack_due = false;
        self.nxt = self.nxt.max(segment.end());
        if self.timer == Instant::NEVER && segment.end() > segment.start {
            self.timer = now + self.settings.rto_min;
        }
        self.counts.segments += u64::from(segment.length > 0);
        let stamp = self.settings.timestamps.then_some(now);
        Some(Segment { stamp, echo: self.echo, ..segment })
    }

    fn last(&self) -> u64 {
        self.end.saturating_add(u64::from(self.closing))
    }

    fn data(&self) -> Segment {
        let length = self.end.saturating_sub(self.nxt).min(self.settings.segment.count());
        Segment {
            start: self.nxt,
            length: u32::try_from(length).expect("a segment is shorter than 4 GB"),
            fin: self.closing && self.nxt + length == self.end,
            ack: Some(1),
            ..Segment::EMPTY
        }
    }

    /// All that was supplied is acknowledged, and the FIN if there is one.
    pub(crate) fn done(&self) -> bool {
        self.state == State::Established && self.una == self.last()
    }

    /// What it has done so far.
    pub(crate) fn counts(&self) -> Counts {
        self.counts
    }

    /// The round-trip time that the last segment received gave, once.
    pub(crate) fn take_sample(&mut self) -> Option<Duration> {
        self.sample.take()
    }

    /// The smoothed round-trip time (RFC 6298, section 2).
    pub(crate) fn srtt(&self) -> Option<Duration> {
        self.srtt
    }

    /// The congestion window, in octets.
    pub(crate) fn cwnd(&self) -> u64 {
        self.settings.segment.count() * u64::from(self.settings.initial_window)
    }
}
