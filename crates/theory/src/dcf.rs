//! The saturated 802.11 cell: `n` alike stations that always have a frame to send and are all in range of each other.
//! There is no capture and no noise.
//!
//! Two conventions for frozen back-off counters are solved, see [`Freezing`]. The sources have these short names here:
//!
//! - *Bianchi*: G. Bianchi, "Performance Analysis of the IEEE 802.11 Distributed Coordination Function", IEEE JSAC
//!   18(3), 2000.
//! - *Remarks*: G. Bianchi, I. Tinnirello, "Remarks on IEEE 802.11 DCF Performance Analysis", IEEE Communications
//!   Letters 9(8), 2005: any back-off law and a finite retry limit, without the two-dimensional chain. (The retry limit
//!   itself was first modelled by H. Wu et al., "IEEE 802.11 Distributed Coordination Function (DCF): Analysis and
//!   Enhancement", ICC 2002.)
//! - *Chapter*: the same authors' later text, chapter 4 "Performance Study of IEEE 802.11 DCF and IEEE 802.11e EDCA" of
//!   B. Bing (ed.), "Emerging Technologies in Wireless LANs", 2008. **Equation numbers below are this text's**, unless
//!   another is named. It contains the results of both papers above, and (39) to (42), which were published as
//! - *Refinements*: I. Tinnirello, G. Bianchi, Y. Xiao, "Refinements on IEEE 802.11 Distributed Coordination Function
//!   Modeling Approaches", IEEE Trans. Vehicular Technology 59(3), 2010 (only its abstract was available).

pub(crate) mod backoff;
mod bianchi;
mod chain;
mod cycle;
mod standard;

use crate::Error;
use crate::error::{are_windows, is_limit, is_short, takes_time};
use units::{Bytes, Duration};

/// The largest cell that is solved. The work for [`Freezing::Standard`] grows with the cube of the number of stations.
pub const MAX_STATIONS: u32 = 256;

/// A saturated cell.
///
/// Example: 802.11b with the long preamble, 11 Mb/s, a UDP payload of 1000 bytes and ACKs at 1 Mb/s:
///
/// ```
/// use theory::dcf::{Cell, Freezing, saturation};
/// use units::{Bytes, Duration, Rate};
///
/// let us = Duration::from_micros;
/// let (preamble, sifs, difs, slot) = (us(192), us(10), us(50), us(20));
/// // UDP 8, IP 20, LLC/SNAP 8, MAC header 24, FCS 4. The PHY sends whole microseconds (ceiling in its TXTIME).
/// let frame = Bytes::new(1000 + 8 + 20 + 8 + 24 + 4);
/// assert_eq!(frame, Bytes::new(1064));
/// let data = preamble + us(Rate::mbps(11).time_for(frame).as_nanos().div_ceil(1000));
/// let ack = preamble + Rate::mbps(1).time_for(Bytes::new(14));
/// assert_eq!((data, ack), (us(966), us(304)));
///
/// let cell = Cell {
///     stations: 10,
///     cw_min: 31,
///     cw_max: 1023,
///     attempts: Some(7),
///     slot,
///     success: data + sifs + ack + difs,
///     collision: data + difs,
///     payload: Bytes::new(1000),
/// };
/// assert_eq!((cell.success, cell.collision), (us(1330), us(1016)));
///
/// // ACK time-out: SIFS + slot + aRxPHYStartDelay (192 us here), counted from the end of the frame; slots at once.
/// let colliders_resume = data + sifs + slot + us(192);
/// let cell = saturation(&cell, Freezing::Standard { colliders_resume })?;
/// assert!((cell.collision_probability - 0.282).abs() < 0.005);
/// assert!((cell.throughput_bps / 5.02e6 - 1.0).abs() < 0.01);
/// # Ok::<(), theory::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cell {
    /// Number of stations that compete; 1 to [`MAX_STATIONS`].
    pub stations: u32,
    /// The first window: a back-off is drawn uniformly from `0..=cw_min` slots. At least 1 (with 0 the first winner
    /// would keep the medium for ever).
    pub cw_min: u32,
    /// Largest window, `cw_min` to 65535: a collision changes `CW` to `2 CW + 1`, but not above this value.
    pub cw_max: u32,
    /// Number of transmissions after which a frame is given up; 1 to 255 (the range of the retry limits in the
    /// standard's MIB). `None` for no limit. The next frame then starts at `cw_min`.
    pub attempts: Option<u32>,
    /// Duration of a back-off slot; not zero.
    pub slot: Duration,
    /// Duration of a success: from the start of a data frame without overlap to the moment from which back-off slots
    /// count again (frame, SIFS, ACK and DIFS). It is the same for all stations, and contains no back-off slot.
    pub success: Duration,
    /// Duration of a collision: from its start to the moment from which the *bystanders* count slots again (the frame
    /// and a DIFS, or an EIFS if they saw a frame begin and could not read it). It contains no slot. All frames have
    /// equal length. [`Freezing::Standard`] says when the colliders resume.
    pub collision: Duration,
    /// Payload of a success, as the throughput counts it.
    pub payload: Bytes,
}

/// Convention for back-off counters during a busy period.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Freezing {
    /// As in *Bianchi*: the busy period is one more slot, in which all counters decrease by one. All stations resume
    /// together, and all may use the first slot.
    Bianchi,
    /// As in the standard: a counter decreases only at the end of an idle slot. A bystander's counter is at least one,
    /// or it would have transmitted too, so a bystander cannot use the first slot after a busy period. Only the winner
    /// can use it, by drawing 0, and then has no competitor.
    Standard {
        /// Duration of a collision: from its start to the moment from which the *colliders* count slots again if the
        /// medium stays idle (the frame and the ACK time-out, and a DIFS if the MAC waits one after the time-out). It
        /// may be shorter or longer than [`Cell::collision`]. The two grids of slots coincide only if the difference is
        /// a whole number of slots, to the nanosecond.
        colliders_resume: Duration,
    },
}

/// Long-run outcome of a saturated cell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Saturation {
    /// Probability that a station transmits in a slot that it may use. With [`Freezing::Bianchi`] these are all slots,
    /// busy ones included. With [`Freezing::Standard`] they exclude the first slot after a busy period, and slots of a
    /// station that has just collided.
    pub tau: f64,
    /// Share of the transmitted frames that collide, 0 to 1.
    pub collision_probability: f64,
    /// Share of the frames given up after [`Cell::attempts`] collisions. The collisions of a frame are taken as
    /// independent, as in the models.
    pub drop_probability: f64,
    /// Successful frames of the whole cell, in 1/s.
    pub successes_per_second: f64,
    /// Payload delivered by the whole cell, in bit/s.
    pub throughput_bps: f64,
}

/// Solves the saturated cell under the given convention for counters.
///
/// One station is exact: the throughput is `payload / (success + slot * cw_min / 2)`.
///
/// # Errors
///
/// A parameter is outside its range, see [`Error`].
pub fn saturation(cell: &Cell, freezing: Freezing) -> Result<Saturation, Error> {
    check(cell, freezing)?;
    Ok(match freezing {
        Freezing::Bianchi => bianchi::solve(cell),
        Freezing::Standard { colliders_resume } => standard::solve(cell, colliders_resume),
    })
}

fn check(cell: &Cell, freezing: Freezing) -> Result<(), Error> {
    let resumes_soon = match freezing {
        Freezing::Bianchi => true,
        Freezing::Standard { colliders_resume } => is_short(colliders_resume),
    };
    let times = [cell.slot, cell.success, cell.collision].into_iter().all(takes_time);
    Error::first([
        ((1..=MAX_STATIONS).contains(&cell.stations), Error::Stations),
        (are_windows(cell.cw_min, cell.cw_max), Error::Windows),
        (is_limit(cell.attempts), Error::Attempts),
        (times && resumes_soon, Error::Times),
    ])
}

impl Cell {
    /// Returns the outcome, given the model's solution and its successes per second.
    fn saturation(&self, tau: f64, collision_probability: f64, successes_per_second: f64) -> Saturation {
        let dropped = |attempts| libm::pow(collision_probability, f64::from(attempts));
        Saturation {
            tau,
            collision_probability,
            drop_probability: self.attempts.map_or(0.0, dropped),
            successes_per_second,
            throughput_bps: successes_per_second * self.payload.bits() as f64,
        }
    }
}
