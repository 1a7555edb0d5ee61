//! The saturated cell of [`crate::dcf`] with A-MPDU and Block Ack: each transmission is an aggregate of `k` subframes.
//!
//! # What is solved
//!
//! Contention does not depend on an aggregate's content. A collision loses the whole aggregate and gets no response;
//! otherwise a Block Ack follows. So `tau` and `p` are those of the cell whose frame is the aggregate (Bianchi's fixed
//! point, or [`Freezing::Standard`]). A success delivers `k (1 - e)` MPDUs on average, where `e` is the error
//! probability of an MPDU in an aggregate without collision:
//!
//! `S = k (1 - e) L * (successes per second)`.
//!
//! With selective retry that mean is exact for any mix of old and new MPDUs. Each is delivered with probability `1 -
//! e`, whatever failed before, so no retransmission state is needed. The step from frames to aggregates is that of Y.
//! Lin, V. W. S. Wong, "Frame Aggregation and Optimal Frame Size Adaptation for IEEE 802.11n WLANs", GLOBECOM 2006
//! (only its abstract was available; the equations here are Sluice's own).
//!
//! # What is approximate
//!
//! - *Every aggregate has `k` subframes.* The Block Ack window (64 sequence numbers from the oldest unacknowledged one)
//!   can forbid that while an old MPDU keeps failing. At `e = 0.1` a Monte Carlo with that window sends 29.5 subframes
//!   on average for `k = 32`, and 34 subframes for `k = 64`. Shorter aggregates also take less time, so the throughput
//!   here is only 0.3 % and 1.4 % too high (one station, HT MCS 7; `tests/ampdu.rs`). The error grows with the fixed
//!   times of an exchange.
//! - *The Block Ack comes unless the aggregate collides.* A receiver that could read no MPDU sends none, and the sender
//!   then backs off as after a collision. This happens with probability `e^k`.
//! - *No MPDU is given up.* [`Cell::attempts`] limits the consecutive collisions after which the window is reset, not
//!   the transmissions of an MPDU. A limit on transmissions would leave the throughput unchanged.
//! - All assumptions of [`crate::dcf`]: stations are alike and all in range, and their attempts are independent.

use crate::Error;
use crate::dcf::{self, Cell, Freezing, Saturation};

/// Largest aggregate: the number of sequence numbers that a Block Ack's bitmap can cover (IEEE 802.11ax-2021, 9.3.1.8;
/// before HE 64).
pub const MAX_SUBFRAMES: u32 = 256;

/// Content of an aggregate that a station sends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Aggregate {
    /// `k`, the number of MPDUs in an aggregate; 1 to [`MAX_SUBFRAMES`].
    pub subframes: u32,
    /// `e`, the probability that an MPDU of an aggregate without collision is lost, 0 to 1. Losses are independent.
    pub mpdu_error: f64,
}

/// Long-run outcome of a saturated cell with aggregates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Aggregated {
    /// Contention of the aggregates. Its throughput counts one MPDU per aggregate, without errors.
    pub contention: Saturation,
    /// MPDUs delivered by the whole cell, in 1/s.
    pub delivered_per_second: f64,
    /// Payload delivered by the whole cell, in bit/s.
    pub throughput_bps: f64,
    /// Mean number of times that an MPDU is sent, collisions included: `1 / ((1 - p)(1 - e))`; infinite if `e = 1`.
    pub transmissions_per_mpdu: f64,
}

/// Solves the saturated cell of aggregates.
///
/// In `cell`, [`Cell::success`] lasts from the start of the aggregate of `k` subframes to the end of the DIFS after its
/// Block Ack. [`Cell::collision`] is for such an aggregate, too. [`Cell::payload`] is that of **one** MPDU.
///
/// One station is exact: `k (1 - e) payload / (success + slot * cw_min / 2)`.
///
/// # Errors
///
/// A parameter is outside its range, see [`Error`].
pub fn saturation(cell: &Cell, freezing: Freezing, aggregate: Aggregate) -> Result<Aggregated, Error> {
    let subframes = ((1..=MAX_SUBFRAMES).contains(&aggregate.subframes), Error::Subframes);
    Error::first([subframes, ((0.0..=1.0).contains(&aggregate.mpdu_error), Error::Probability)])?;
    let contention = dcf::saturation(cell, freezing)?;
    let survives = 1.0 - aggregate.mpdu_error;
    let delivered_per_second = f64::from(aggregate.subframes) * survives * contention.successes_per_second;
    Ok(Aggregated {
        contention,
        delivered_per_second,
        throughput_bps: delivered_per_second * cell.payload.bits() as f64,
        transmissions_per_mpdu: 1.0 / ((1.0 - contention.collision_probability) * survives),
    })
}
