//! Durations of frame exchanges on a channel without other traffic. They are the inputs of analytic models of the DCF.

use super::settings::Refusal;
use super::timing::{MAC_OVERHEAD, Timing};
use crate::config::{Mac, Radio, RtsThreshold};
use units::{Bytes, Duration};

/// Durations for a unicast packet under the DCF that is alone in its frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exchange {
    /// One back-off slot.
    pub slot: Duration,
    /// Smallest contention window: a back-off is drawn from 0 to this number of slots.
    pub cw_min: u16,
    /// Largest contention window, in slots.
    pub cw_max: u16,
    /// Time from the first bit until another node may count slots: RTS and CTS if used, data frame, ACK and DIFS.
    pub success: Duration,
    /// This time if there is no response to the first frame: this frame (RTS if used, otherwise data) and DIFS.
    pub collision: Duration,
}

impl Exchange {
    /// Computes the durations for a packet of `packet` bytes without the MAC's header, but with those of IP and LLC.
    ///
    /// # Errors
    /// The standard does not have such a rate.
    pub fn new(radio: &Radio, mac: &Mac, packet: Bytes) -> Result<Self, String> {
        let refused = |refusal: Refusal| refusal.why;
        let timing = Timing::new(radio).map_err(refused)?;
        let psdu = packet + MAC_OVERHEAD;
        let mode = radio.data_mode().map_err(refused)?;
        let data = timing.duration(mode, psdu);
        let announced = matches!(mac.rts_threshold, RtsThreshold::Above(threshold) if psdu > threshold);
        let (before, first) = if announced {
            (timing.rts + timing.sifs + timing.cts + timing.sifs, timing.rts)
        } else {
            (Duration::ZERO, data)
        };
        let cw_min = mac.cw_min.unwrap_or(timing.cw_min);
        Ok(Self {
            slot: timing.slot,
            cw_min,
            cw_max: mac.cw_max.unwrap_or(timing.cw_max.max(cw_min)),
            success: before + data + timing.sifs + timing.responses(mode).ack + timing.difs,
            collision: first + timing.difs,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Preamble, Standard};
    use units::Rate;

    /// 512 B of UDP at 11 Mb/s: 512 + 8 + 20 + 8 below the MAC's 28, 576 B in 419 us.
    #[test]
    fn a_packet_lasts_as_long_as_its_frames_by_hand() {
        let us = Duration::from_micros;
        let [data_rate, slow, fast] = [11_000, 1_000, 11_000].map(|kbps| Some(Rate::kbps(kbps)));
        let long = Radio { standard: Standard::B, data_rate, basic_rate: slow, ..Radio::default() };
        let packet = Bytes::new(548);
        let of = |radio: &Radio, rts_threshold| {
            Exchange::new(radio, &Mac { rts_threshold, ..Mac::default() }, packet).expect("rates of 802.11b")
        };
        // 192 + 419, SIFS 10, ACK 304, DIFS 50.
        let basic = of(&long, RtsThreshold::Off);
        assert_eq!((basic.success, basic.collision), (us(975), us(661)));
        assert_eq!((basic.slot, basic.cw_min, basic.cw_max), (us(20), 31, 1023));
        // RTS 352, CTS 304, two SIFS.
        let announced = of(&long, RtsThreshold::Above(Bytes::new(0)));
        assert_eq!((announced.success, announced.collision), (us(1651), us(402)));
        // The threshold is of the frame with its header: 576 B.
        assert_eq!(of(&long, RtsThreshold::Above(Bytes::new(576))), basic);
        assert_eq!(of(&long, RtsThreshold::Above(Bytes::new(575))), announced);
        // Short preambles of 96 us, and an ACK at 11 Mb/s: 96 + 419 + 10 + 96 + 11 + 50.
        let short = Radio { preamble: Preamble::Short, basic_rate: fast, ..long };
        assert_eq!(of(&short, RtsThreshold::Off).success, us(682));
    }
}
