//! The hidden pair: two saturated senders that do not hear each other, and one receiver that both hear. Basic access, or
//! RTS and CTS before every frame.
//!
//! # What is solved
//!
//! This is the exact process, by enumeration of its Markov chain, without a published model or assumptions of
//! independence. This is possible because the senders influence each other in only two ways: frames that overlap are
//! both lost, and the receiver's answers freeze the other's back-off.
//!
//! One step of the chain is one attempt, in the order of their starts. The state, at the start of a frame of station X:
//! the stages of X and of the other, Y; the time `delta` until Y's next start as planned; and if X's frame is *doomed*,
//! because it began during Y's last frame or before the answer to it. Then, counted from the start of X:
//!
//! - `delta < frame`: the frames overlap. X fails and Y is doomed.
//! - `frame <= delta <= frame + SIFS + turn-around`: X succeeds unless doomed. Y begins before it can react to the ACK,
//!   and the receiver, which sends, cannot receive: Y is doomed.
//! - later: X succeeds unless doomed. Y hears the ACK, keeps the slots that it has not completed, and counts on a DIFS
//!   after the ACK, from the same moment as X.
//!
//! A station that fails continues to count after its ACK time-out, and draws by its next stage; one that succeeds draws
//! from the first window. All draws are uniform, so that a step adds evenly spaced ranges, and the chain is iterated to
//! its stationary distribution over all `delta` on the grid of the times' common divisor. For 802.11b with windows up
//! to 1023 that is a million states and a few seconds of work.
//!
//! # With RTS and CTS
//!
//! The frame that contends is the RTS, and what Y hears in the third case is the CTS: its NAV ends with the ACK, so
//! that the whole exchange stands where the ACK stood. In the second case Y is *deaf*: it has missed the CTS and knows
//! nothing of the frame that follows. Its RTS, if longer than CTS and SIFS, overlaps X's frame; so may its next ones.
//! Such a frame of X is lost. The chain has states for this case: X's frame is on the air, lost already or not, and Y
//! will begin `delta` after its start.
//!
//! # What is assumed
//!
//! There is no propagation delay and no capture; a station that does not hear a frame does not defer to it. No EIFS
//! occurs: the senders hear no frames that they cannot read. A frame that begins at the very end of another does not
//! overlap it. In reality propagation delays decide such a case, which matters where all times are whole microseconds:
//! for 802.11a with 1000 B, counting it as an overlap lowers the throughput by 4 %.

mod chain;
mod stages;

use crate::Error;
use crate::error::{are_windows, is_limit, is_short, takes_time};
use chain::{Chain, Means};
use units::{Bytes, Duration};

/// The largest chain that is enumerated: pairs of stages times the points of time. The bound keeps the memory below 200
/// MB.
pub const MAX_STATES: u64 = 8_000_000;

/// Two alike hidden senders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pair {
    /// The first window: a back-off is drawn uniformly from `0..=cw_min` slots. At least 1.
    pub cw_min: u32,
    /// The window grows by `2 CW + 1` at each failure up to this one; `cw_min` to 65535.
    pub cw_max: u32,
    /// Failures of the contending frame after which it is given up, 1 to 255; `None` for no limit.
    pub attempts: Option<u32>,
    /// Length of a back-off slot.
    pub slot: Duration,
    /// Time on the air of a data frame.
    pub frame: Duration,
    /// RTS and CTS before every data frame.
    pub handshake: Option<Handshake>,
    /// Time between a frame and its answer.
    pub sifs: Duration,
    /// Time on the air of an ACK.
    pub ack: Duration,
    /// Time from the end of the ACK to the moment from which back-off slots count.
    pub difs: Duration,
    /// Time from the end of a frame until its sender counts slots again if no answer arrives.
    pub timeout: Duration,
    /// A station that is due to send within this time after another frame reaches it still sends (aRxTxTurnaroundTime).
    pub turnaround: Duration,
    /// Payload of a success, as counted in the throughput.
    pub payload: Bytes,
}

/// The exchange of RTS and CTS before a data frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Handshake {
    /// Time on the air of an RTS.
    pub rts: Duration,
    /// Time on the air of a CTS.
    pub cts: Duration,
    /// Failures of the data frame after its CTS after which it is given up, 1 to 255; the RTS has its own count.
    pub data_attempts: u32,
}

/// Long-run outcome of two senders that do not hear each other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outcome {
    /// Share of the frames (with [`Pair::handshake`], of the RTSs) initiated by a station that lead to an ACK.
    pub success_probability: f64,
    /// Share of the frames given up after too many failures, 0 to 1.
    pub drop_probability: f64,
    /// Successful frames of both senders together, in 1/s.
    pub successes_per_second: f64,
    /// Payload delivered by both senders together, in bit/s.
    pub throughput_bps: f64,
}

/// Solves the chain of the two senders' back-offs, both of which always have a frame to send.
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

/// The change of a step, summed over all states, at which the outcome is settled to six digits and more.
const SETTLED: f64 = 1e-8;

/// The pair forgets its start within tens of frames; the cap is for degenerate windows.
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

/// A station that hears an answer to the other is counting slots, not waiting for a time-out.
fn answers_find_all_counting(pair: &Pair) -> bool {
    let (first, failed) = (pair.first(), pair.first() + pair.timeout);
    let after_answer = pair.sifs + pair.handshake.map_or(pair.ack, |handshake| handshake.cts);
    pair.timeout <= first + pair.sifs
        && after_answer <= failed
        // With a handshake: the deaf station's next start comes after the start of the data, its count before the ACK.
        && pair.until_data() <= failed
        && (pair.handshake.is_none() || failed + pair.turnaround <= pair.until_data() + pair.frame)
        && pair.sifs + pair.ack <= failed
}
