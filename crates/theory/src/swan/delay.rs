//! Model A (section IV-A): the mean MAC delay that follows from the devices' busy shares and Little's law,
//!
//! (6) `D_mac = (p_on,1 n_1 + p_on,2 n_2) / S`: a busy device has one packet at its head.
//!
//! # Where it holds
//!
//! The model is valid if several devices are busy. The mean slot of (5) counts a device's transmissions only for the
//! share of time in which the device is busy, although its packet is there all of that time. So the delay of a single,
//! seldom busy device is too short: less than the airtime of its packet, in the limit `(W + 1) / 2` slots.

use super::{Channel, MAX_DEVICES};
use crate::Error;

/// Devices that are alike.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Class {
    /// `n_i`: number of devices; 0 if there is no such class.
    pub devices: u32,
    /// `p_on,i`: share of the time in which one device is busy; 0 to 1.
    pub busy: f64,
}

/// Attempts of the devices of a class.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Attempts {
    /// `tau_i`: probability that a busy device transmits in a slot.
    pub tau: f64,
    /// `p_i`: probability that a transmission collides.
    pub collision_probability: f64,
}

/// Long-run state of the channel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outcome {
    /// Attempts of each class; `None` if it has no devices.
    pub attempts: [Option<Attempts>; 2],
    /// `P_tr`: probability that at least one device transmits in a slot.
    pub transmission_probability: f64,
    /// `P_s`: probability that exactly one device transmits, given that at least one transmits.
    pub success_probability: f64,
    /// `S`: packets of all devices together, per second.
    pub packets_per_second: f64,
    /// `D_mac`, in s: time from when a packet becomes the device's first to its success, averaged over all packets of
    /// both classes.
    pub mac_delay_s: f64,
}

/// Mean number of busy devices below which the channel counts as idle: one nanosecond in a second.
const LEAST_BUSY: f64 = 1e-9;

/// Solves (1) to (6) for class 1 (real time) and class 2 (best effort) with measured busy shares of the time.
///
/// # Errors
///
/// There is no device, or more than [`MAX_DEVICES`]. A busy share is no probability, or no device is ever busy. Windows
/// or times are outside their ranges. See [`Error`].
pub fn mac_delay(channel: &Channel, classes: [Class; 2]) -> Result<Outcome, Error> {
    channel.check()?;
    let total: u64 = classes.iter().map(|class| u64::from(class.devices)).sum();
    let busy_devices: f64 = classes.iter().map(|class| f64::from(class.devices) * class.busy).sum();
    Error::first([
        ((1..=u64::from(MAX_DEVICES)).contains(&total), Error::Stations),
        (classes.iter().all(|class| (0.0..=1.0).contains(&class.busy)), Error::Probability),
        (busy_devices >= LEAST_BUSY, Error::Idle),
    ])?;
    let contention = channel.settle(classes.map(|class| f64::from(class.devices)), classes.map(|class| class.busy));
    let p = contention.collision_probabilities();
    let attempts = [0, 1].map(|i| {
        let attempts = Attempts { tau: contention.tau[i], collision_probability: p[i] };
        (classes[i].devices > 0).then_some(attempts)
    });
    let (transmission, success) = (contention.transmission(), contention.successes().iter().sum::<f64>());
    // (5), where the numerator P_s P_tr is written out; then (6).
    let packets_per_second = success / contention.mean_slot_s(channel);
    Ok(Outcome {
        attempts,
        transmission_probability: transmission,
        success_probability: (success / transmission).min(1.0),
        packets_per_second,
        mac_delay_s: busy_devices / packets_per_second,
    })
}
