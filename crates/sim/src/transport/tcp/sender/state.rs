//! State of a sender.

use crate::transport::tcp::bqm::Marks;
use crate::transport::tcp::congestion::Window;
use crate::transport::tcp::delivery::Delivery;
use crate::transport::tcp::pacer::Pacer;
use crate::transport::tcp::rack::Rack;
use crate::transport::tcp::recovery::LossRecovery;
use crate::transport::tcp::rto::{Backoff, Rto};
use crate::transport::tcp::scoreboard::Scoreboard;
use crate::transport::tcp::{Block, Congestion, Report, Settings};
use units::{Duration, Instant};

/// Counts of a sender's actions so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    /// Segments with data or a FIN that were sent again.
    pub(crate) retransmits: u64,
    /// Retransmission timeouts, including those of a SYN.
    pub(crate) timeouts: u64,
    /// Fast recoveries.
    pub(crate) recoveries: u64,
    /// Window reductions by a congestion mark.
    pub(crate) marks: u64,
    /// Tail loss probes.
    pub(crate) probes: u64,
    /// Reductions of the window to half or less.
    pub(crate) halvings: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    Closed,
    SynSent,
    Established,
}

/// Forced action of the next call of [`Sender::next`], whatever the windows allow.
#[derive(Clone, Copy, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "any of them may be due at the same time")]
pub(super) struct Due {
    pub(super) syn: bool,
    /// Repeat the first unacknowledged segment.
    pub(super) first: bool,
    /// Probe a closed window.
    pub(super) probe: bool,
    /// Send a tail loss probe.
    pub(super) tail: bool,
    pub(super) ack: bool,
    /// Set CWR on the next new data, because the window was reduced.
    pub(super) cwr: bool,
}

/// The sending end of a connection.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "they are independent facts")]
pub(crate) struct Sender {
    pub(super) settings: Settings,
    pub(super) state: State,
    pub(super) board: Scoreboard,
    /// Loss detection by time, if used.
    pub(super) rack: Option<Rack>,
    pub(super) window: Window,
    /// Measurement of the delivery rate, if used.
    pub(super) delivery: Option<Delivery>,
    pub(super) pacer: Pacer,
    pub(super) recovery: LossRecovery,
    pub(super) rto: Rto,
    /// The number after the last octet supplied; `u64::MAX` for a source without end.
    pub(super) end: u64,
    pub(super) closing: bool,
    /// End of the octets that the receiver accepts.
    pub(super) allowed: u64,
    /// The largest window that the receiver ever offered.
    pub(super) most_allowed: u64,
    /// The window that the last acknowledgement offered.
    pub(super) offered: u64,
    /// True if an octet at or above SND.NXT was sent as a probe.
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
    /// Octets below TCP in the sender's node.
    pub(super) held: u64,
    /// True if only the congestion window limited sending at the last call.
    pub(super) limited: bool,
    pub(super) ecn: bool,
    /// End of the window reduced for marks: no further reduction until this octet is acknowledged (RFC 3168, 6.1.2).
    pub(super) reduced_at: u64,
    /// Octets that arrived with a mark, by the last acknowledgement.
    pub(super) marked: u64,
    /// Time at which the window last fell because of a loss.
    pub(super) reduced_when: Instant,
    /// Without timestamps: an octet and its send time, for the round-trip time of the octet's acknowledgement.
    pub(super) timed: Option<(u64, Instant)>,
    pub(super) echo: Option<Instant>,
    /// Round-trip sample of the last received segment, until it is used.
    pub(crate) sample: Option<Duration>,
    /// The receiver's last judgement of missing packets.
    pub(super) report: Option<Report>,
    /// The packets' discard priorities, if any.
    pub(super) marks: Option<Marks>,
    /// Octets in which packets of priority 0 are still to be retransmitted at once.
    pub(super) lowest: Block,
    /// Counts of the sender's actions so far.
    pub(crate) counts: Counts,
}

/// Tail loss probe of a flight.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tail {
    /// Time at which the probe is due (PTO).
    pub(super) at: Instant,
    /// While a probe is in flight: SND.NXT at its transmission (`TLP.end_seq`), and whether its octets had been sent
    /// before (`TLP.is_retrans`).
    pub(super) out: Option<(u64, bool)>,
}

impl Tail {
    pub(super) const NONE: Self = Self { at: Instant::NEVER, out: None };

    /// Records that the probe repeats the segment that ends with `block`.
    pub(super) fn sent(&self, block: Block) -> bool {
        self.out.is_some_and(|(end, _)| end == block.end)
    }

    /// Stops the probe timer for another timer.
    pub(super) fn cancel(&mut self) {
        self.at = Instant::NEVER;
    }
}

impl Sender {
    /// A connection that is not yet open.
    pub(crate) fn new(settings: &Settings) -> Self {
        Self {
            settings: *settings,
            state: State::Closed,
            board: Scoreboard::new(settings.segment.count()),
            rack: settings.has_rack().then(Rack::default),
            window: Window::new(settings),
            delivery: (settings.congestion == Congestion::Bbr).then(Delivery::default),
            pacer: Pacer::new(),
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
            held: 0,
            limited: false,
            ecn: false,
            reduced_at: 0,
            marked: 0,
            reduced_when: Instant::ZERO,
            timed: None,
            echo: None,
            sample: None,
            report: None,
            marks: settings.bqm.map(|bqm| Marks::new(bqm, settings.segment.count())),
            lowest: Block { start: 0, end: 0 },
            counts: Counts::default(),
        }
    }

    /// True if all supplied octets, and the FIN if there is one, are acknowledged.
    pub(crate) fn done(&self) -> bool {
        self.state == State::Established && self.board.una == self.last()
    }

    /// The smoothed round-trip time (RFC 6298, section 2).
    pub(crate) fn srtt(&self) -> Option<Duration> {
        self.rto.srtt
    }

    /// The receiver's verdict on the losses that are now repaired; none after a timeout.
    pub(crate) fn verdict(&self) -> Option<Report> {
        self.report.filter(|_| self.recovery.is_fast())
    }

    /// The congestion window, in octets.
    pub(crate) fn cwnd(&self) -> u64 {
        self.window.cwnd
    }

    #[cfg(test)]
    pub(crate) fn ssthresh(&self) -> u64 {
        self.window.ssthresh
    }

    #[cfg(test)]
    pub(crate) fn una(&self) -> u64 {
        self.board.una
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
