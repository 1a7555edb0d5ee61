//! The hidden pair: two saturated senders that do not hear each other, and one receiver that both hear. They use basic
//! access, or RTS and CTS before every frame.
//!
//! # What is solved
//!
//! The process is solved exactly, by enumeration of its Markov chain, without a published model or assumptions of
//! independence. This is possible because the senders influence each other in only two ways. Frames that overlap are
//! both lost, and the receiver's answers to one sender freeze the other's back-off.
//!
//! One step of the chain is one attempt, in the order in which attempts start. The state at the start of a frame of
//! station X: the stages of X and of the other, Y; the time `delta` until Y's next planned start; and if X's frame is
//! *doomed*, as it began during Y's last frame or before the answer to it. Then, counted from the start of X:
//!
//! - `delta < frame`: the frames overlap. X fails and Y is doomed.
//! - `frame <= delta <= frame + SIFS + turn-around`: X succeeds unless doomed. Y begins before it can react to the ACK.
//!   The receiver is sending and cannot receive, so Y is doomed.
//! - later: X succeeds unless doomed. Y hears the ACK and keeps the slots that it has not completed. It counts again
//!   from a DIFS after the ACK, from the same moment as X.
//!
//! A station that fails counts again after its ACK time-out and draws from the window of its next stage. One that
//! succeeds draws from the first window. All draws are uniform, so a step adds evenly spaced ranges. The chain is
//! iterated to its stationary distribution over all `delta`, in units of the times' common divisor. For 802.11b with
//! windows up to 1023 that is a million states and a few seconds of work.
//!
//! # With RTS and CTS
//!
//! The frame that contends is the RTS, and in the third case Y hears the CTS. Y's NAV then ends with the ACK, so the
//! whole exchange takes the place of the ACK. In the second case Y is *deaf*: it has missed the CTS and knows nothing
//! of the frame that follows. If Y's RTS is longer than CTS and SIFS, it overlaps X's frame, and so may its next ones.
//! Such a frame of X is lost. The chain has states for this: X's frame is on the air, already lost or not, and Y will
//! begin `delta` after its start.
//!
//! # What is assumed
//!
//! There is no propagation delay and no capture. A station that does not hear a frame does not defer to it. There is no
//! EIFS, because the senders hear no frames that they cannot read. A frame that begins at the very end of another does
//! not overlap it. In reality propagation delays decide this case. It matters if all times are whole microseconds:
//! counting it as an overlap lowers the throughput of 802.11a with 1000 B by 4 %.

mod chain;
mod stages;

use crate::Error;
use crate::error::{are_windows, is_limit, is_short, takes_time};
use chain::{Chain, Means};
use units::{Bytes, Duration};

/// The largest chain that is enumerated: the number of pairs of stages times the number of points in time. It keeps the
/// memory below 200 MB.
pub const MAX_STATES: u64 = 8_000_000;

/// Two alike hidden senders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pair {
    /// The first window: a back-off is drawn uniformly from `0..=cw_min` slots. At least 1.
    pub cw_min: u32,
    /// Largest window, `cw_min` to 65535: each failure changes `CW` to `2 CW + 1` up to it.
    pub cw_max: u32,
    /// Number of failures of the contending frame after which it is given up, 1 to 255; `None` for no limit.
    pub attempts: Option<u32>,
    /// Duration of a back-off slot.
    pub slot: Duration,
    /// Duration of a data frame on the air.
    pub frame: Duration,
    /// Duration of RTS and CTS if they precede every data frame.
    pub handshake: Option<Handshake>,
    /// Time between a frame and its answer.
    pub sifs: Duration,
    /// Duration of an ACK on the air.
    pub ack: Duration,
    /// Time from the end of the ACK to the moment from which back-off slots count.
    pub difs: Duration,
    /// Time from the end of a frame until its sender counts slots again if no answer arrives.
    pub timeout: Duration,
    /// A station that is due to send within this time after a frame reaches it still sends (aRxTxTurnaroundTime).
    pub turnaround: Duration,
    /// Payload of a success, as the throughput counts it.
    pub payload: Bytes,
}

/// The exchange of RTS and CTS before a data frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Handshake {
    /// Duration of an RTS on the air.
    pub rts: Duration,
    /// Duration of a CTS on the air.
    pub cts: Duration,
    /// Number of failures of a data frame, each after a CTS, until it is given up; 1 to 255. The RTS has its own count.
    pub data_attempts: u32,
}

/// Long-run outcome of two senders that do not hear each other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outcome {
    /// Share of a station's frames (with [`Pair::handshake`], of its RTSs) that lead to an ACK, 0 to 1.
    pub success_probability: f64,
    /// Share of the frames given up after too many failures, 0 to 1.
    pub drop_probability: f64,
    /// Successful frames of both senders together, in 1/s.
    pub successes_per_second: f64,
    /// Payload delivered by both senders together, in bit/s.
    pub throughput_bps: f64,
}

/// Solves the chain of the back-offs of two senders that always have a frame to send.
///
/// # Errors
///
/// A parameter is outside its range, see [`Error`].
pub fn saturation(pair: &Pair) -> Result<Outcome, Error> {
    check(pair)?;
    let (chain, tick) = Chain::of(pair)?;
    let mut now = vec![0.0; chain.states()];
    now[0] = 1.0;
    let mut means = Means::default();
    for _ in 0..MOST_STEPS {
        let next;
        (next, means) = chain.step(&now);
        let distance: f64 = now.iter().zip(&next).map(|(a, b)| (a - b).abs()).sum();
        now = next;
        if distance < SETTLED {
            break;
        }
    }
    let successes_per_second = means.successes / (means.elapsed * tick.as_secs_f64());
    Ok(Outcome {
        success_probability: means.successes / means.attempts,
        drop_probability: means.given_up / (means.given_up + means.successes),
        successes_per_second,
        throughput_bps: successes_per_second * pair.payload.bits() as f64,
    })
}

/// The outcome is settled to at least six digits if the changes of all states in a step add up to less than this.
const SETTLED: f64 = 1e-8;

/// Largest number of steps. The pair forgets its start within tens of frames; only degenerate windows need more.
const MOST_STEPS: u32 = 2000;

impl Pair {
    /// Duration of the frame that contends.
    fn first(&self) -> Duration {
        self.handshake.map_or(self.frame, |handshake| handshake.rts)
    }

    /// Returns the time from the end of the RTS to the start of the data frame.
    fn until_data(&self) -> Duration {
        self.handshake.map_or(Duration::ZERO, |handshake| self.sifs + handshake.cts + self.sifs)
    }
}

fn check(pair: &Pair) -> Result<(), Error> {
    let of_data = pair.handshake.map(|handshake| handshake.data_attempts);
    let cts = pair.handshake.map_or(Duration::ZERO, |handshake| handshake.cts);
    let times = [pair.slot, pair.frame, pair.first()].into_iter().all(takes_time)
        && [pair.sifs, pair.ack, pair.difs, pair.timeout, pair.turnaround, cts].into_iter().all(is_short);
    Error::first([
        (are_windows(pair.cw_min, pair.cw_max), Error::Windows),
        (is_limit(pair.attempts) && is_limit(of_data), Error::Attempts),
        (times, Error::Times),
        (times && answers_find_all_counting(pair), Error::Short),
    ])
}

/// True if a station that hears an answer to the other counts slots and waits for no time-out.
fn answers_find_all_counting(pair: &Pair) -> bool {
    let (first, failed) = (pair.first(), pair.first() + pair.timeout);
    let after_answer = pair.sifs + pair.handshake.map_or(pair.ack, |handshake| handshake.cts);
    pair.timeout <= first + pair.sifs
        && after_answer <= failed
        // With a handshake: a deaf station's next start comes after the start of the data; it counts before the ACK.
        && pair.until_data() <= failed
        && (pair.handshake.is_none() || failed + pair.turnaround <= pair.until_data() + pair.frame)
        && pair.sifs + pair.ack <= failed
}
