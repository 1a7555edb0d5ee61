//! State of a sender.

use crate::transport::tcp::bqm::Marks;
use crate::transport::tcp::congestion::Window;
use crate::transport::tcp::rack::Rack;
use crate::transport::tcp::recovery::LossRecovery;
use crate::transport::tcp::rto::{Backoff, Rto};
use crate::transport::tcp::scoreboard::Scoreboard;
use crate::transport::tcp::{Block, Report, Settings};
use units::{Duration, Instant};

/// Counts of a sender's actions so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    /// Segments with data or a FIN that were sent and had been sent before.
    pub(crate) retransmits: u64,
    /// Times that the retransmission timer expired, for a SYN too.
    pub(crate) timeouts: u64,
    /// Times that fast recovery began.
    pub(crate) recoveries: u64,
    /// Times that a congestion mark reduced the window.
    pub(crate) marks: u64,
    /// Tail loss probes that were sent.
    pub(crate) probes: u64,
    /// Times that the window fell to half or less.
    pub(crate) halvings: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    Closed,
    SynSent,
    Established,
}

/// What the next call of [`Sender::next`] sends, whatever the windows say.
#[derive(Clone, Copy, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "any of them may be due at the same time")]
pub(super) struct Due {
    pub(super) syn: bool,
    /// The first segment that is not acknowledged, again.
    pub(super) first: bool,
    /// A probe of a closed window.
    pub(super) probe: bool,
    /// A tail loss probe.
    pub(super) tail: bool,
    pub(super) ack: bool,
    /// With the next new data: the window was reduced.
    pub(super) cwr: bool,
}

/// The end of a connection that has data.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "they are independent facts")]
pub(crate) struct Sender {
    pub(super) settings: Settings,
    pub(super) state: State,
    pub(super) board: Scoreboard,
    /// Where losses are found by time.
    pub(super) rack: Option<Rack>,
    pub(super) window: Window,
    pub(super) recovery: LossRecovery,
    pub(super) rto: Rto,
    /// The number after the last octet supplied; `u64::MAX` for a source without end.
    pub(super) end: u64,
    pub(super) closing: bool,
    /// The receiver takes octets below this number.
    pub(super) allowed: u64,
    /// The largest window that the receiver ever offered.
    pub(super) most_allowed: u64,
    /// The window that the last acknowledgement offered.
    pub(super) offered: u64,
    /// An octet at or above SND.NXT was sent as a probe.
    pub(super) probed: bool,
    pub(super) due: Due,
    /// The retransmission timer or, with nothing outstanding, the persist timer.
    pub(super) timer: Instant,
    /// Time at which the reordering window of possibly lost segments ends.
    pub(super) reordering: Instant,
    pub(super) tail: Tail,
    /// Time at which data were last sent.
    pub(super) last_sent: Instant,
    /// Number of consecutive probes of a closed window.
    pub(super) probes: Backoff,
    /// The first octet outstanding when the retransmission timer last expired.
    pub(super) timed_out_at: u64,
    /// Only the congestion window kept data back when last asked.
    pub(super) limited: bool,
    pub(super) ecn: bool,
    /// One reduction a window: none until this is acknowledged (RFC 3168, 6.1.2).
    pub(super) reduced_at: u64,
    /// Time at which the window last fell because of a loss.
    pub(super) reduced_when: Instant,
    /// Without timestamps: an octet and when it was sent, for the round-trip time of its acknowledgement.
    pub(super) timed: Option<(u64, Instant)>,
    pub(super) echo: Option<Instant>,
    pub(super) sample: Option<Duration>,
    /// The receiver's last judgement of missing packets.
    pub(super) report: Option<Report>,
    /// Discard priorities, where packets have them.
    pub(super) marks: Option<Marks>,
    pub(super) counts: Counts,
}

/// The probe of a flight's tail.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tail {
    /// Time at which it is due (PTO).
    pub(super) at: Instant,
    /// A probe is out, and this was SND.NXT then (`TLP.end_seq`); whether it was sent before (`TLP.is_retrans`).
    pub(super) out: Option<(u64, bool)>,
}

impl Tail {
    pub(super) const NONE: Self = Self { at: Instant::NEVER, out: None };

    /// The probe repeated what ends with `block`.
    pub(super) fn sent(&self, block: Block) -> bool {
        self.out.is_some_and(|(end, _)| end == block.end)
    }

    /// Another timer takes its place.
    pub(super) fn cancel(&mut self) {
        self.at = Instant::NEVER;
    }
}

impl Sender {
    /// A connection that is not open yet.
    pub(crate) fn new(settings: &Settings) -> Self {
        Self {
            settings: *settings,
            state: State::Closed,
            board: Scoreboard::new(settings.segment.count()),
            rack: settings.has_rack().then(Rack::default),
            window: Window::new(settings),
            recovery: LossRecovery::new(settings.recovery),
            rto: Rto::new(settings.rto_min),
            end: 1,
            closing: false,
            allowed: 1,
            most_allowed: 0,
            offered: 0,
            probed: false,
            due: Due::default(),
            timer: Instant::NEVER,
            reordering: Instant::NEVER,
            tail: Tail::NONE,
            last_sent: Instant::ZERO,
            probes: Backoff::default(),
            timed_out_at: 0,
            limited: false,
            ecn: false,
            reduced_at: 0,
            reduced_when: Instant::ZERO,
            timed: None,
            echo: None,
            sample: None,
            report: None,
            marks: settings.bqm.map(|bqm| Marks::new(bqm, settings.segment.count())),
            counts: Counts::default(),
        }
    }

    /// All that was supplied is acknowledged, and the FIN if there is one.
    pub(crate) fn done(&self) -> bool {
        self.state == State::Established && self.board.una() == self.last()
    }

    /// Returns the counts of its actions so far.
    pub(crate) fn counts(&self) -> Counts {
        self.counts
    }

    /// The round-trip time that the last segment received gave, once.
    pub(crate) fn take_sample(&mut self) -> Option<Duration> {
        self.sample.take()
    }

    /// The smoothed round-trip time (RFC 6298, section 2).
    pub(crate) fn srtt(&self) -> Option<Duration> {
        self.rto.srtt()
    }

    /// What the receiver made of the losses that are now repaired; nothing after a timeout.
    pub(crate) fn verdict(&self) -> Option<Report> {
        self.report.filter(|_| self.recovery.is_fast())
    }

    /// The congestion window, in octets.
    pub(crate) fn cwnd(&self) -> u64 {
        self.window.cwnd()
    }

    #[cfg(test)]
    pub(crate) fn ssthresh(&self) -> u64 {
        self.window.ssthresh()
    }

    #[cfg(test)]
    pub(crate) fn una(&self) -> u64 {
        self.board.una()
    }

    #[cfg(test)]
    pub(crate) fn flight(&self) -> u64 {
        self.board.flight()
    }

    #[cfg(test)]
    pub(crate) fn timeout(&self) -> Duration {
        self.rto.timeout()
    }

    /// The number after the last octet to send, the FIN counted.
    pub(super) fn last(&self) -> u64 {
        self.end.saturating_add(u64::from(self.closing))
    }
}
